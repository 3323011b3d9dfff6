//! BBR's cycle of pacing gains.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00, §4.3.

use tidegate_core::prelude::*;

/// Pacing gains of the eight phases of ProbeBW; their mean is 1.
pub const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phase that a cycle never begins with: at the beginning there is no queue to drain.
const DRAINING: usize = 1;

/// Conditions by which BBR ends a phase.
#[derive(Clone, Copy, Debug)]
pub struct CycleInput {
    /// Packets in flight before the arrival.
    pub in_flight: f64,
    /// Whether a loss was detected since the arrival before.
    pub has_lost: bool,
}

/// Phase of a flow in the cycle of gains.
#[derive(Debug)]
pub struct GainCycle {
    phase: usize,
    since: Time,
}

impl GainCycle {
    /// A cycle that begins at `now` in any phase but that of 3/4, chosen by `lot`: a number that BBR draws uniformly
    /// from 0 to 6; other numbers are reduced modulo 7.
    pub fn begin(now: Time, lot: u64) -> Self {
        let phase = (lot % (GAINS.len() as u64 - 1)) as usize;
        Self { phase: if phase >= DRAINING { phase + 1 } else { phase }, since: now }
    }

    /// Pacing gain of the phase.
    pub fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    /// Whether the phase has lasted longer than `length`.
    pub fn has_lasted(&self, now: Time, length: Span) -> bool {
        now.since(self.since) > length
    }

    /// Whether BBR ends the phase: after a minimum RTT, the probing one only once its target is in flight or a loss
    /// was detected, the draining one as soon as the flight is within the target. `target` returns the target flight
    /// for a gain, packets.
    pub fn is_over(&self, now: Time, rtprop: Span, seen: &CycleInput, target: impl Fn(f64) -> f64) -> bool {
        let (gain, is_long) = (self.gain(), self.has_lasted(now, rtprop));
        if gain > 1.0 {
            // A phase of 5/4 without 5/4 of the product in flight has not probed yet; a loss shows that the
            // path is full.
            is_long && (seen.has_lost || seen.in_flight >= target(gain))
        } else if gain < 1.0 {
            // The queue of the probing phase is gone; draining further would leave the link idle.
            is_long || seen.in_flight <= target(1.0)
        } else {
            is_long
        }
    }

    /// Begins the next phase at `now`.
    pub fn advance(&mut self, now: Time) {
        self.phase = (self.phase + 1) % GAINS.len();
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_gain_of_a_cycle_is_one_and_none_begins_with_the_draining_phase() {
        assert_eq!(GAINS.iter().sum::<f64>() / 8.0, 1.0);
        let mut begun = Vec::new();
        for lot in 0..7 {
            let mut cycle = GainCycle::begin(Time::ZERO, lot);
            begun.push(cycle.phase);
            let mut sum = 0.0;
            for _ in 0..8 {
                sum += cycle.gain();
                cycle.advance(Time::ZERO);
            }
            assert_eq!(sum, 8.0);
        }
        assert_eq!(begun, [0, 2, 3, 4, 5, 6, 7]);
        assert!(begun.iter().all(|phase| GAINS[*phase] >= 1.0));
    }

    #[test]
    fn the_probing_phase_waits_for_its_target_and_the_draining_one_does_not_wait_for_the_round_trip() {
        let (rtt, target) = (Span::from_millis(10), |gain: f64| gain * 40.0);
        let after = |ms: u64| Time::ZERO + Span::from_millis(ms);
        let seen = |in_flight: f64| CycleInput { in_flight, has_lost: false };
        let mut cycle = GainCycle::begin(Time::ZERO, 0);
        assert!(!cycle.is_over(after(10), rtt, &seen(50.0), target), "no longer than the round trip");
        assert!(!cycle.is_over(after(11), rtt, &seen(49.0), target));
        assert!(cycle.is_over(after(11), rtt, &seen(50.0), target));
        assert!(cycle.is_over(after(11), rtt, &CycleInput { in_flight: 1.0, has_lost: true }, target));
        cycle.advance(after(11));
        assert!(!cycle.is_over(after(12), rtt, &seen(41.0), target));
        assert!(cycle.is_over(after(12), rtt, &seen(40.0), target));
        assert!(cycle.is_over(after(22), rtt, &seen(41.0), target));
        cycle.advance(after(22));
        assert!(!cycle.is_over(after(32), rtt, &seen(1.0), target));
        assert!(cycle.is_over(after(33), rtt, &seen(99.0), target));
    }
}
