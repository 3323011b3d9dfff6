//! A loss timer around the mean round trip of a sliding window: BBR-CD's.
//!
//! Source: MILCOM 2021 (BBR-CD), §III-B: the mean and some standard deviations.

use tidegate_core::prelude::*;

use crate::toolbox::rate::sliding_window::Recent;

/// Doublings at most, as in ndnSIM.
const MAX_DOUBLINGS: u32 = 6;

/// Numbers of a loss timer.
#[derive(Clone, Copy, Debug)]
pub struct LossTimerSettings {
    /// Length of the window, mean round trips (beta).
    pub round_trips: f64,
    /// Standard deviations above the mean (alpha).
    pub deviations: f64,
    /// The timer lies at least this far above the mean.
    pub min_margin: Span,
    /// The timer, and the round trip that the window is measured by, before the first sample.
    pub initial: Span,
}

/// The mean round trip and when an Interest counts as lost. The last samples stay while no other comes.
#[derive(Debug)]
pub struct LossTimer {
    settings: LossTimerSettings,
    rtts: Recent,
    /// Times that it has doubled since the last round trip.
    doublings: u32,
    /// Time of the last doubling or of the last round trip.
    since: Time,
}

impl LossTimer {
    /// A timer without samples, with these settings.
    pub fn new(settings: LossTimerSettings) -> Self {
        Self { settings, rtts: Recent::default(), doublings: 0, since: Time::ZERO }
    }

    /// Adds an RTT sample, which also ends a back-off.
    pub fn take(&mut self, now: Time, rtt: Span) {
        self.rtts.add(now, rtt.as_nanos(), self.window());
        self.end_back_off(now);
    }

    /// An Interest that left at `sent_at` counts as lost: the timer doubles until the next round trip comes, once for
    /// all Interests that left before it had doubled, unless a round trip came since the Interest left (RFC 6298,
    /// 5.5). Where round trips become longer than the timer all at once, every Interest would else be sent again
    /// before its Data comes, and as such Data give no round trip (Karn), the timer would never adapt.
    pub fn back_off(&mut self, now: Time, sent_at: Time) {
        // One doubling per flight: the Interests sent before the last doubling expired under the shorter
        // timer.
        if sent_at >= self.since {
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
            self.since = now;
        }
    }

    /// Ends a back-off without a sample, when Data shows that the path works.
    pub fn end_back_off(&mut self, now: Time) {
        self.doublings = 0;
        self.since = now;
    }

    /// Mean round trip; `None` before the first sample.
    pub fn mean(&self) -> Option<Span> {
        self.rtts.mean().map(Span::from_nanos)
    }

    /// Length of the window of samples.
    pub fn window(&self) -> Span {
        self.mean().unwrap_or(self.settings.initial).scale(self.settings.round_trips)
    }

    /// Time after which an Interest counts as lost.
    pub fn timeout(&self) -> Span {
        let timeout = match self.mean() {
            None => self.settings.initial,
            Some(mean) => {
                let deviation = Span::from_nanos(self.rtts.deviation());
                // Equal samples have deviation 0; without a minimum margin the smallest jitter would count as
                // a loss.
                mean + deviation.scale(self.settings.deviations).max(self.settings.min_margin)
            }
        };
        timeout * (1u64 << self.doublings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer() -> LossTimer {
        let ms = Span::from_millis;
        let settings =
            LossTimerSettings { round_trips: 8.0, deviations: 10.0, min_margin: ms(5), initial: ms(1000) };
        let mut timer = LossTimer::new(settings);
        timer.take(at(10), ms(10));
        timer
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn it_doubles_once_for_all_that_left_together_and_a_round_trip_ends_that() {
        let mut timer = timer();
        let mut after = |now: u64, sent_at: u64| {
            timer.back_off(at(now), at(sent_at));
            timer.timeout().as_nanos() / 1_000_000
        };
        assert_eq!([after(30, 9), after(30, 11), after(31, 12), after(61, 31)], [15, 30, 30, 60]);
        assert_eq!(
            [after(200, 61), after(400, 200), after(700, 400), after(1_500, 700)],
            [120, 240, 480, 960]
        );
        assert_eq!(after(3_000, 1_500), 960);
        timer.take(at(3_100), Span::from_millis(10));
        assert_eq!(timer.timeout(), Span::from_millis(15));
    }
}
