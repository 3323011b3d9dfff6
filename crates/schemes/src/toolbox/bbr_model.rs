//! What BBR and its relatives share: rounds, the delivery rate of a packet, the full pipe, the cycle of gains.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00. Rates are packets per second: the size of a packet falls out
//! of window and gap alike.

use tidegate_core::congestion::{Delivery, FlowView, Pacing};
use tidegate_core::units::{Span, Time};

/// Parts of a packet per second in which rates are kept, so that they are whole numbers.
const MICRO: f64 = 1e6;
/// Highest rate kept, millionths of a packet per second: far above any link's.
const HIGHEST: f64 = 1e14;

/// A rate, millionths of a packet per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketRate(pub u64);

impl PacketRate {
    /// Packets per second.
    pub fn per_second(self) -> f64 {
        self.0 as f64 / MICRO
    }

    /// Packets that come within `span`: with a round trip, the bandwidth-delay product.
    pub fn packets_in(self, span: Span) -> f64 {
        self.per_second() * span.as_secs_f64()
    }

    /// One Interest at a time, `gain` times as fast; unpaced at rate 0.
    pub fn pacing(self, gain: f64) -> Pacing {
        let per_second = gain * self.per_second();
        if per_second <= 0.0 {
            return Pacing::Unpaced;
        }
        Pacing::Gap(Span::from_secs_f64(1.0 / per_second).clamp(Span::from_nanos(1), LONGEST_GAP))
    }
}

/// Longest gap between two Interests, so that a rate near 0 still tells when it has risen.
const LONGEST_GAP: Span = Span::from_secs(10);

/// What was delivered from the sending of the Interest to its Data, per second of that time (`rtt`); the Data itself
/// counts.
pub fn delivery_rate(delivery: &Delivery, flow: &FlowView, rtt: Span) -> PacketRate {
    let delivered = flow.delivered.saturating_sub(delivery.delivered_at_send).max(1);
    let seconds = rtt.max(Span::from_nanos(1)).as_secs_f64();
    PacketRate((delivered as f64 / seconds * MICRO).min(HIGHEST) as u64)
}

/// Counts round trips: one ends when the first Data of an Interest arrives that left after the last one's end.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Segments received at the end of the last round.
    ended_at: u64,
}

impl Rounds {
    /// Whether this Data ends a round.
    pub fn ends(&mut self, delivery: &Delivery, flow: &FlowView) -> bool {
        let ends = delivery.delivered_at_send >= self.ended_at;
        if ends {
            self.ended_at = flow.delivered;
        }
        ends
    }

    /// The round now under way begins anew.
    pub fn restart(&mut self, flow: &FlowView) {
        self.ended_at = flow.delivered;
    }
}

/// When the pipe is full: so many rounds one after the other in which the rate hardly grew.
#[derive(Debug)]
pub struct FullPipe {
    growth: f64,
    rounds: u32,
    reached: PacketRate,
    flat: u32,
}

impl FullPipe {
    /// Full after `rounds` rounds without a growth to `growth` times the rate.
    pub const fn new(growth: f64, rounds: u32) -> Self {
        Self { growth, rounds, reached: PacketRate(0), flat: 0 }
    }

    /// A round ended with the estimate `rate`.
    pub fn end_round(&mut self, rate: PacketRate) {
        if self.is_full() {
            return;
        }
        if rate.per_second() >= self.growth * self.reached.per_second() {
            (self.reached, self.flat) = (rate, 0);
        } else {
            self.flat += 1;
        }
    }

    /// Whether it was found full once.
    pub const fn is_full(&self) -> bool {
        self.flat >= self.rounds
    }
}

/// Pacing gains of the eight phases of ProbeBW; their mean is 1.
pub const GAINS: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The phase that a cycle never begins with: nothing stands in the queue for it to drain.
const DRAINING: usize = 1;

/// Where a flow stands in the cycle of gains.
#[derive(Debug)]
pub struct GainCycle {
    phase: usize,
    since: Time,
}

impl GainCycle {
    /// Begins at `now` in any phase but that of 3/4. BBR draws it; consumers have nothing to draw from, so `lot`, any
    /// number, decides.
    pub fn begin(now: Time, lot: u64) -> Self {
        let phase = (lot % (GAINS.len() as u64 - 1)) as usize;
        Self { phase: if phase >= DRAINING { phase + 1 } else { phase }, since: now }
    }

    /// Pacing gain of the phase.
    pub fn gain(&self) -> f64 {
        GAINS[self.phase]
    }

    /// Whether the phase has lasted `length`.
    pub fn has_lasted(&self, now: Time, length: Span) -> bool {
        now.since(self.since) >= length
    }

    /// The next phase begins.
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
    fn a_pipe_is_full_after_three_rounds_in_a_row_of_little_growth() {
        let mut pipe = FullPipe::new(1.25, 3);
        // 124 is less than 1.25 times 100; 125 is not.
        for (rate, is_full) in
            [(100, false), (124, false), (124, false), (125, false), (156, false), (1, false)]
        {
            pipe.end_round(PacketRate(rate));
            assert_eq!(pipe.is_full(), is_full, "{rate}");
        }
        pipe.end_round(PacketRate(156));
        assert!(pipe.is_full());
        pipe.end_round(PacketRate(10_000));
        assert!(pipe.is_full(), "found full once");
    }

    #[test]
    fn a_rate_gives_window_and_gap() {
        let rate = PacketRate(250_000_000);
        assert_eq!(rate.packets_in(Span::from_millis(40)), 10.0);
        assert_eq!(rate.pacing(2.0), Pacing::Gap(Span::from_millis(2)));
        assert_eq!(PacketRate(0).pacing(1.0), Pacing::Unpaced);
        assert_eq!(PacketRate(1).pacing(1.0), Pacing::Gap(LONGEST_GAP));
    }
}
