//! Variation of round-trip times, and the allowance for it in the retransmission timeout.

use std::ops::Range;

use crate::units::Span;

/// Granularity of the clock that every timeout allows for, G of RFC 6298, section 2.
const GRANULARITY: Span = Span::from_millis(1);

/// Rule for the length of the retransmission timeout and the restart of its timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeoutRule {
    /// Linux: the smoothed round trip plus four mean deviations, at least the minimum timeout. The sum
    /// follows the largest of each round trip; a round trip shorter than before widens them an eighth as much
    /// as a longer one. The timer starts again when data is acknowledged in order, when the first outstanding
    /// segment is retransmitted, and when a segment that was sent before it is acknowledged selectively.
    ///
    /// Deviation: Linux has a single timer for the timeout, the probe of the tail and the reordering, so that a timeout
    /// waits for those to be over; here each has its own.
    #[default]
    Linux,
    /// RFC 6298: the minimum applies to the sum, and the timer restarts when data is acknowledged in order
    /// (section 5.3).
    Rfc6298,
}

/// Allowance that a timeout adds to the smoothed round trip.
#[derive(Clone, Debug)]
pub(super) enum Spread {
    Linux(Peaks),
    /// RTTVAR of RFC 6298.
    Rfc6298(Span),
}

impl Spread {
    /// State before the first sample, for a timeout of at least `min`.
    pub(super) fn new(rule: TimeoutRule, min: Span) -> Self {
        match rule {
            TimeoutRule::Linux => Self::Linux(Peaks::new(min.max(GRANULARITY))),
            TimeoutRule::Rfc6298 => Self::Rfc6298(Span::ZERO),
        }
    }

    /// A round trip took `rtt`, with `smoothed` before it; `outstanding` are the positions from SND.UNA to SND.NXT.
    pub(super) fn take_in(&mut self, smoothed: Option<Span>, rtt: Span, outstanding: &Range<u64>) {
        match (self, smoothed) {
            (Self::Linux(peaks), None) => peaks.begin(rtt, outstanding),
            (Self::Linux(peaks), Some(smoothed)) => peaks.take_in(smoothed, rtt, outstanding),
            (Self::Rfc6298(variation), None) => *variation = rtt / 2,
            (Self::Rfc6298(variation), Some(smoothed)) => {
                *variation = (*variation * 3 + smoothed.abs_diff(rtt)) / 4;
            }
        }
    }

    /// Timeout after the round trip `smoothed`, without an upper bound.
    pub(super) fn timeout(&self, smoothed: Span, min: Span) -> Span {
        match self {
            Self::Linux(peaks) => smoothed + peaks.allowance,
            Self::Rfc6298(variation) => (smoothed + GRANULARITY.max(*variation * 4)).max(min),
        }
    }
}

/// The largest deviations of round trips, smoothed from one round trip to the next.
#[derive(Clone, Debug)]
pub(super) struct Peaks {
    /// Minimum of the allowance.
    min: Span,
    /// Four times the smoothed mean deviation.
    deviations: Span,
    /// Maximum of `deviations` in this round trip, at least `min`.
    peak: Span,
    allowance: Span,
    /// The current round trip ends when SND.UNA exceeds this position.
    until: u64,
}

impl Peaks {
    fn new(min: Span) -> Self {
        Self { min, deviations: Span::ZERO, peak: min, allowance: min, until: 0 }
    }

    /// Sets the allowance to twice the first round trip, so that the timeout is three of them.
    fn begin(&mut self, rtt: Span, outstanding: &Range<u64>) {
        self.deviations = rtt * 2;
        self.allowance = self.min.max(self.deviations);
        (self.peak, self.until) = (self.allowance, outstanding.end);
    }

    fn take_in(&mut self, smoothed: Span, rtt: Span, outstanding: &Range<u64>) {
        let (error, mean) = (smoothed.abs_diff(rtt), self.deviations / 4);
        // `deviations` is four times the mean deviation, so a gain of 1/4 adds the whole difference.
        if error <= mean {
            self.deviations = self.deviations - (mean - error);
        } else {
            // A queue that drains is no reason to wait longer.
            let part = if rtt < smoothed { 8 } else { 1 };
            self.deviations += (error - mean) / part;
        }
        self.peak = self.peak.max(self.deviations);
        self.allowance = self.allowance.max(self.peak);
        // Once per round trip a quarter of what exceeds the latest maximum is given up.
        if outstanding.start > self.until {
            self.allowance = self.allowance - (self.allowance - self.peak) / 4;
            (self.peak, self.until) = (self.min, outstanding.end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// Allowances after a first round trip of 100 ms, each of `rtts` that were smoothed to 100 ms, in a round trip of its own.
    fn allowances(min: u64, rtts: &[u64]) -> Vec<Span> {
        let mut peaks = Peaks::new(ms(min));
        peaks.begin(ms(100), &(1..10));
        let reported = |(at, rtt): (usize, &u64)| {
            peaks.take_in(ms(100), ms(*rtt), &(10 * at as u64 + 11..10 * at as u64 + 20));
            peaks.allowance
        };
        rtts.iter().enumerate().map(reported).collect()
    }

    #[test]
    fn the_allowance_is_the_floor_when_round_trips_are_alike() {
        let calm = allowances(200, &[100; 9]);
        assert_eq!(calm, [ms(200); 9]);
        let low = allowances(10, &[100; 60]);
        assert!(low.is_sorted_by(|before, after| before >= after), "{low:?}");
        assert!(low[59] < ms(11) && low[59] >= ms(10), "{}", low[59]);
    }

    #[test]
    fn a_longer_round_trip_widens_it_eight_times_as_much_as_a_shorter_one() {
        // Four deviations are 200 ms, one is 50: 90 ms off are 40 more.
        assert_eq!(allowances(10, &[190]), [ms(240)]);
        assert_eq!(allowances(10, &[10]), [ms(205)]);
    }

    #[test]
    fn a_quarter_of_what_is_too_much_goes_with_each_round_trip() {
        let mut peaks = Peaks::new(ms(10));
        peaks.begin(ms(100), &(1..10));
        // The first round trip has the peak of 200 ms; in the next, deviations fall to 150 and 112.5 ms.
        peaks.take_in(ms(100), ms(100), &(11..20));
        assert_eq!(peaks.allowance, ms(200));
        peaks.take_in(ms(100), ms(100), &(15..25));
        assert_eq!(
            (peaks.allowance, peaks.peak),
            (ms(200), Span::from_micros(112_500)),
            "the same round trip"
        );
        peaks.take_in(ms(100), ms(100), &(21..30));
        assert_eq!(peaks.allowance, ms(200) - Span::from_micros(87_500) / 4);
    }
}
