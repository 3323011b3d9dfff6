//! Round-trip time and retransmission timeout of a TCP sender (RFC 6298).

use crate::units::Span;

/// Granularity of the clock that the timeout allows for, G in §2.
const GRANULARITY: Span = Span::from_millis(1);

/// Bounds of the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutBounds {
    /// Before the first sample: 1 s (§2.1).
    pub initial: Span,
    /// Smallest: 1 s in the RFC (§2.4), 200 ms in Linux.
    pub least: Span,
    /// Largest: at least 60 s in the RFC (§2.5), 120 s in Linux.
    pub most: Span,
}

impl Default for TimeoutBounds {
    /// Linux.
    fn default() -> Self {
        Self { initial: Span::from_secs(1), least: Span::from_millis(200), most: Span::from_secs(120) }
    }
}

/// What is known of the round trip.
#[derive(Clone, Debug)]
pub(super) struct RoundTrip {
    bounds: TimeoutBounds,
    /// SRTT.
    smoothed: Option<Span>,
    /// RTTVAR.
    variation: Span,
    least: Option<Span>,
    rto: Span,
}

impl RoundTrip {
    pub(super) fn new(bounds: TimeoutBounds) -> Self {
        Self {
            smoothed: None,
            variation: Span::ZERO,
            least: None,
            rto: bounds.initial.min(bounds.most),
            bounds,
        }
    }

    /// A segment that left once was acknowledged after `rtt`. Ends a backoff (§5.7 lets it last until then).
    pub(super) fn sample(&mut self, rtt: Span) {
        self.note_least(rtt);
        self.smooth(rtt);
    }

    /// A segment that left once took `rtt`; only the smallest counts.
    pub(super) fn note_least(&mut self, rtt: Span) {
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// As [`sample`](Self::sample), but too coarse to tell the smallest time.
    pub(super) fn smooth(&mut self, rtt: Span) {
        let smoothed = match self.smoothed {
            None => {
                self.variation = rtt / 2;
                rtt
            }
            Some(smoothed) => {
                self.variation = (self.variation * 3 + smoothed.abs_diff(rtt)) / 4;
                (smoothed * 7 + rtt) / 8
            }
        };
        self.smoothed = Some(smoothed);
        let rto = smoothed + GRANULARITY.max(self.variation * 4);
        self.rto = rto.max(self.bounds.least).min(self.bounds.most);
    }

    /// The timer ran out (§5.5).
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.bounds.most);
    }

    pub(super) fn rto(&self) -> Span {
        self.rto
    }

    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// Smallest sample of the connection.
    pub(super) fn least(&self) -> Option<Span> {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn the_timeout_is_the_smoothed_time_and_four_variations() {
        let mut trip = RoundTrip::new(TimeoutBounds::default());
        assert_eq!((trip.rto(), trip.smoothed()), (ms(1000), None));
        trip.sample(ms(100));
        // Variation 50 ms: 100 + 200.
        assert_eq!((trip.rto(), trip.smoothed(), trip.least()), (ms(300), Some(ms(100)), Some(ms(100))));
        trip.sample(ms(180));
        // Variation 0.75 x 50 + 0.25 x 80 = 57.5 ms, smoothed 110 ms.
        assert_eq!((trip.rto(), trip.smoothed(), trip.least()), (ms(340), Some(ms(110)), Some(ms(100))));
    }

    #[test]
    fn the_timeout_keeps_its_bounds_and_doubles_until_a_sample() {
        let mut trip = RoundTrip::new(TimeoutBounds { most: ms(700), ..TimeoutBounds::default() });
        trip.sample(ms(20));
        let mut timeouts = vec![trip.rto()];
        for _ in 0..3 {
            trip.back_off();
            timeouts.push(trip.rto());
        }
        assert_eq!(timeouts, [ms(200), ms(400), ms(700), ms(700)]);
        trip.sample(ms(20));
        assert_eq!(trip.rto(), ms(200));
    }

    #[test]
    fn a_steady_round_trip_leaves_the_granularity() {
        let bounds = TimeoutBounds { least: Span::ZERO, ..TimeoutBounds::default() };
        let mut trip = RoundTrip::new(bounds);
        (0..100).for_each(|_| trip.sample(ms(50)));
        assert_eq!(trip.rto(), ms(51));
    }

    #[test]
    fn a_coarse_sample_tells_no_smallest_time() {
        let mut trip = RoundTrip::new(TimeoutBounds::default());
        trip.smooth(ms(50));
        assert_eq!((trip.smoothed(), trip.least()), (Some(ms(50)), None));
    }
}
