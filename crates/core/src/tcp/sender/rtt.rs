//! Round-trip time and retransmission timeout of a TCP sender (RFC 6298, section 2).

use std::ops::Range;

use super::rtt_variation::{Spread, TimeoutRule};
use crate::units::Span;

/// Bounds of the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutBounds {
    /// Timeout before the first sample: 1 s (section 2.1).
    pub initial: Span,
    /// Minimum: 1 s in the RFC (section 2.4), 200 ms in Linux, which adds it to the smoothed round trip.
    pub min: Span,
    /// Maximum: at least 60 s in the RFC (section 2.5), 120 s in Linux.
    pub max: Span,
}

impl Default for TimeoutBounds {
    /// The bounds of Linux, which are below those of RFC 6298.
    fn default() -> Self {
        Self { initial: Span::from_secs(1), min: Span::from_millis(200), max: Span::from_secs(120) }
    }
}

/// Estimate of the round-trip time, and the timeout that follows from it.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    bounds: TimeoutBounds,
    /// SRTT of RFC 6298; `None` before the first sample.
    smoothed: Option<Span>,
    spread: Spread,
    min: Option<Span>,
    rto: Span,
}

impl RoundTrip {
    pub(super) fn new(rule: TimeoutRule, bounds: TimeoutBounds) -> Self {
        Self {
            smoothed: None,
            spread: Spread::new(rule, bounds.min),
            min: None,
            rto: bounds.initial.min(bounds.max),
            bounds,
        }
    }

    /// A segment that left once was acknowledged after `rtt`, with the positions `outstanding` left, from SND.UNA to
    /// SND.NXT. Ends a backoff (section 5.7 lets it last until then).
    pub(super) fn sample(&mut self, rtt: Span, outstanding: &Range<u64>) {
        self.note_min(rtt);
        self.smooth(rtt, outstanding);
    }

    /// Takes the round trip of a segment that was sent once for the minimum alone.
    pub(super) fn note_min(&mut self, rtt: Span) {
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
    }

    /// As [`sample`](Self::sample), for a time that is too coarse for the minimum.
    pub(super) fn smooth(&mut self, rtt: Span, outstanding: &Range<u64>) {
        // RTTVAR is updated with SRTT before the sample (RFC 6298, section 2.3).
        self.spread.take_in(self.smoothed, rtt, outstanding);
        let smoothed = self.smoothed.map_or(rtt, |smoothed| (smoothed * 7 + rtt) / 8);
        self.smoothed = Some(smoothed);
        self.rto = self.spread.timeout(smoothed, self.bounds.min).min(self.bounds.max);
    }

    /// The retransmission timer expired (section 5.5).
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.bounds.max);
    }

    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// Minimum of all samples of the connection.
    pub(super) fn min(&self) -> Option<Span> {
        self.min
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// A round trip of its own for each of `samples`, ms; the last timeout.
    fn after(rule: TimeoutRule, bounds: TimeoutBounds, samples: &[u64]) -> RoundTrip {
        let mut trip = RoundTrip::new(rule, bounds);
        for (at, rtt) in samples.iter().enumerate() {
            trip.sample(ms(*rtt), &(2 * at as u64..2 * at as u64 + 1));
        }
        trip
    }

    #[test]
    fn the_timeout_is_the_smoothed_time_and_four_variations() {
        let bounds = TimeoutBounds::default();
        for rule in [TimeoutRule::Linux, TimeoutRule::Rfc6298] {
            let trip = after(rule, bounds, &[]);
            assert_eq!((trip.rto(), trip.smoothed()), (ms(1000), None));
            let trip = after(rule, bounds, &[100]);
            // Variation 50 ms: 100 + 200.
            assert_eq!((trip.rto(), trip.smoothed(), trip.min()), (ms(300), Some(ms(100)), Some(ms(100))));
            let trip = after(rule, bounds, &[100, 180]);
            // Variation 0.75 x 50 + 0.25 x 80 = 57.5 ms, smoothed 110 ms.
            assert_eq!((trip.rto(), trip.smoothed(), trip.min()), (ms(340), Some(ms(110)), Some(ms(100))));
        }
    }

    #[test]
    fn linux_adds_the_least_timeout_to_the_round_trip_and_the_rfc_bounds_the_sum_by_it() {
        let steady = |rule, rtt| {
            let trip = after(rule, TimeoutBounds::default(), &[rtt; 100]);
            trip.rto().as_millis_f64().round()
        };
        assert_eq!([20, 100, 300].map(|rtt| steady(TimeoutRule::Rfc6298, rtt)), [200.0, 200.0, 301.0]);
        // At 300 ms what is left of the first round trip's deviation fades.
        assert_eq!([20, 100, 300].map(|rtt| steady(TimeoutRule::Linux, rtt)), [220.0, 300.0, 500.0]);
    }

    #[test]
    fn the_timeout_keeps_its_bounds_and_doubles_until_a_sample() {
        let bounds = TimeoutBounds { max: ms(700), ..TimeoutBounds::default() };
        for (rule, first) in [(TimeoutRule::Linux, 220), (TimeoutRule::Rfc6298, 200)] {
            let mut trip = after(rule, bounds, &[20]);
            let mut timeouts = vec![trip.rto()];
            for _ in 0..3 {
                trip.back_off();
                timeouts.push(trip.rto());
            }
            assert_eq!(timeouts, [ms(first), ms(2 * first), ms(700), ms(700)]);
            trip.sample(ms(20), &(0..1));
            assert_eq!(trip.rto(), ms(first));
            assert_eq!(after(rule, bounds, &[900]).rto(), ms(700));
        }
    }

    #[test]
    fn a_steady_round_trip_leaves_the_granularity() {
        let bounds = TimeoutBounds { min: Span::ZERO, ..TimeoutBounds::default() };
        assert_eq!(after(TimeoutRule::Rfc6298, bounds, &[50; 100]).rto(), ms(51));
        let linux = after(TimeoutRule::Linux, bounds, &[50; 200]).rto();
        assert!(linux >= ms(51) && linux < ms(52), "{linux}");
    }

    #[test]
    fn a_coarse_sample_gives_no_smallest_time() {
        let mut trip = RoundTrip::new(TimeoutRule::default(), TimeoutBounds::default());
        trip.smooth(ms(50), &(0..1));
        assert_eq!((trip.smoothed(), trip.min()), (Some(ms(50)), None));
    }
}
