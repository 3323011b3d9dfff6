//! Bounds set by losses between probes, until the next probe (When not Probing for Bandwidth).

use super::latest::Latest;
use crate::toolbox::rate::bbr_model::PacketRate;

/// bw_shortterm and inflight_shortterm, both without bound at first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShortTerm {
    /// `None` for no bound.
    pub(super) rate: Option<PacketRate>,
    /// Segments; infinite for no bound.
    pub(super) in_flight: f64,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self { rate: None, in_flight: f64::INFINITY }
    }
}

impl ShortTerm {
    /// Lowers the bounds after a round with losses to what it delivered, but not below `beta` times the former
    /// bounds, which are `max` and `window` at first.
    pub(super) fn lower(&mut self, latest: &Latest, beta: f64, max: PacketRate, window: f64) {
        // The first loss since the last probe bounds by the model itself.
        let rate = self.rate.unwrap_or(max);
        self.rate = Some(latest.rate.max(rate.scale(beta)));
        let in_flight = if self.in_flight.is_finite() { self.in_flight } else { window };
        self.in_flight = (latest.delivered as f64).max(beta * in_flight);
    }

    /// Raises the bounds to at least those of `saved`.
    pub(super) fn raise(&mut self, saved: Self) {
        // `None` is no bound: if either has none, neither has the result.
        self.rate = self.rate.zip(saved.rate).map(|(rate, saved)| rate.max(saved));
        self.in_flight = self.in_flight.max(saved.in_flight);
    }

    /// The given rate, limited by this bound.
    pub(super) fn bound(&self, rate: PacketRate) -> PacketRate {
        self.rate.map_or(rate, |bound| rate.min(bound))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latest(rate: u64, delivered: u64) -> Latest {
        let mut latest = Latest::default();
        (latest.rate, latest.delivered) = (PacketRate(rate), delivered);
        latest
    }

    #[test]
    fn a_lossy_round_lowers_the_bounds_to_what_it_delivered_and_by_three_tenths_at_most() {
        let mut bounds = ShortTerm::default();
        assert_eq!(bounds.bound(PacketRate(1_000)), PacketRate(1_000));
        bounds.lower(&latest(900, 40), 0.7, PacketRate(1_000), 100.0);
        assert_eq!(bounds, ShortTerm { rate: Some(PacketRate(900)), in_flight: 70.0 });
        bounds.lower(&latest(100, 60), 0.7, PacketRate(1_000), 100.0);
        assert_eq!(bounds, ShortTerm { rate: Some(PacketRate(630)), in_flight: 60.0 });
        assert_eq!((bounds.bound(PacketRate(1_000)), bounds.bound(PacketRate(10))), (PacketRate(630), PacketRate(10)));
        bounds.raise(ShortTerm { rate: Some(PacketRate(700)), in_flight: 50.0 });
        assert_eq!(bounds, ShortTerm { rate: Some(PacketRate(700)), in_flight: 60.0 });
        bounds.raise(ShortTerm::default());
        assert_eq!(bounds, ShortTerm::default());
    }
}
