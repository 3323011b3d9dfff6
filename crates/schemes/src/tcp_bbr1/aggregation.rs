//! Additional window, beyond the bandwidth-delay product, for aggregated ACKs.

use tidegate_core::units::Time;

use super::Params;
use crate::toolbox::rate::ack_epoch::AckEpoch;
use crate::toolbox::rate::bbr_model::PacketRate;

/// Largest recent excess of acknowledged segments over what the rate explains.
#[derive(Debug, Default)]
pub(super) struct Aggregation {
    epoch: AckEpoch,
    /// Largest excess of the current window of rounds and of the one before, segments.
    max: [f64; 2],
    /// Rounds of the current window.
    rounds: u32,
}

impl Aggregation {
    /// Begins a new epoch, as nothing was in flight.
    pub(super) fn restart(&mut self, now: Time) {
        self.epoch.restart(now);
    }

    /// Records the end of a round.
    pub(super) fn end_round(&mut self, params: &Params) {
        self.rounds += 1;
        if self.rounds >= params.aggregation_rounds {
            self.rounds = 0;
            // Two windows in turn, so that a maximum lasts for one to two windows of rounds without a list of
            // samples.
            self.max = [0.0, self.max[0]];
        }
    }

    /// Records `newly` delivered segments, with a window of `window` and the estimate `rate`.
    pub(super) fn take(&mut self, now: Time, rate: PacketRate, newly: u32, window: f64) {
        let excess = self.epoch.excess(now, rate, newly).min(window);
        self.max[0] = self.max[0].max(excess);
    }

    /// Segments to be added to the window.
    pub(super) fn allowance(&self, rate: PacketRate, params: &Params) -> f64 {
        let required = params.aggregation_gain * self.max[0].max(self.max[1]);
        required.min(rate.packets_in(params.aggregation_time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::prelude::*;

    #[test]
    fn the_largest_excess_of_five_to_ten_rounds_is_added_up_to_100_ms_of_the_rate_and_to_the_window() {
        let params = Params::from_settings(&Settings::default()).expect("defaults");
        let rate = PacketRate::over(1, Span::from_millis(1));
        let mut aggregation = Aggregation::default();
        aggregation.take(Time::ZERO, rate, 30, 20.0);
        assert_eq!(aggregation.allowance(rate, &params), 20.0, "no more than the window");
        assert_eq!(aggregation.allowance(PacketRate(rate.0 / 10), &params), 10.0, "no more than 100 ms");
        let mut rounds = 0;
        while aggregation.allowance(rate, &params) > 0.0 {
            aggregation.end_round(&params);
            rounds += 1;
        }
        assert_eq!(rounds, 10, "the window of five rounds that it came in, and the next");
    }
}
