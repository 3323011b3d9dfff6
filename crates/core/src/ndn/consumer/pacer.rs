//! Spreads departures over time in whole nanoseconds, so that a rate is met exactly over any length of time.

use crate::scheme::congestion::Pacing;
use crate::units::{BitRate, ByteCount, Span, Time};

/// Bit-nanoseconds per byte: 8 bits times 10^9 ns.
const BIT_NANOS: u64 = 8_000_000_000;

/// Equal steps of a whole number of nanoseconds and a fraction; the fraction is carried, never rounded away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cadence {
    whole: u64,
    /// Fraction of a nanosecond per step, in units of 1/`of`.
    part: u64,
    of: u64,
    carry: u64,
}

impl Cadence {
    /// A step per `payload` at `rate`; never-ending steps at rate zero.
    pub fn of_rate(rate: BitRate, payload: ByteCount) -> Self {
        let of = rate.as_bps();
        match (payload.get().checked_mul(BIT_NANOS), of) {
            (_, 0) | (None, _) => Self { whole: rate.time_to_send(payload).as_nanos(), ..Self::default() },
            (Some(bit_nanos), _) => Self { whole: bit_nanos / of, part: bit_nanos % of, of, carry: 0 },
        }
    }

    /// Steps of the constant length `gap`.
    pub fn of_gap(gap: Span) -> Self {
        Self { whole: gap.as_nanos(), ..Self::default() }
    }

    /// Length of a step on average, ns.
    fn mean_nanos(&self) -> f64 {
        let part = if self.of == 0 { 0.0 } else { self.part as f64 / self.of as f64 };
        self.whole as f64 + part
    }

    /// Length of the next step; fractions of a nanosecond are carried over.
    #[inline]
    pub fn step(&mut self) -> Span {
        // A rate may use all 64 bits, so the sum is compared without being formed.
        let is_whole = self.part != 0 && self.carry >= self.of - self.part;
        self.carry = if is_whole { self.carry - (self.of - self.part) } else { self.carry + self.part };
        Span::from_nanos(self.whole.saturating_add(u64::from(is_whole)))
    }
}

/// Decides when the next Interest of a paced flow may leave.
#[derive(Clone, Debug)]
pub struct Pacer {
    payload: ByteCount,
    pacing: Pacing,
    cadence: Cadence,
    /// Due time of the last departure; the next one is a step later.
    last: Time,
    due: Time,
    has_departed: bool,
    /// Whether only the pacer delays an Interest: a late wake-up then does not lower the rate.
    is_waiting: bool,
    /// Number of Interests that fell due before the rate changed, the last of them at `last`, and wait for a
    /// tick of the clock.
    owed: u32,
}

/// Maximum number of Interests that a tick can release, so that an unlimited rate stays bounded.
const MAX_OWED: u32 = 1 << 20;

impl Pacer {
    /// A pacer whose rates count `payload` bytes per Interest.
    pub fn new(payload: ByteCount) -> Self {
        Self {
            payload,
            pacing: Pacing::Unpaced,
            cadence: Cadence::default(),
            last: Time::ZERO,
            due: Time::ZERO,
            has_departed: false,
            is_waiting: false,
            owed: 0,
        }
    }

    /// Adopts a new rate under a clock with ticks. Interests that fell due up to `now` at the rate before
    /// stay due, although no tick has released them yet, and the very first Interest falls due now.
    pub fn take_on(&mut self, now: Time, pacing: Pacing) {
        if pacing == self.pacing {
            return;
        }
        while self.is_waiting && self.due <= now && self.owed < MAX_OWED {
            self.owed += 1;
            self.last = self.due;
            self.due += self.cadence.step();
        }
        self.has_departed |= self.owed > 0;
        self.change(pacing);
        if !self.has_departed {
            self.due = now;
        }
    }

    /// Whether an Interest that the window lets through may leave at `now`; if not, it waits.
    #[inline]
    pub fn admits(&mut self, now: Time, pacing: Pacing) -> bool {
        if pacing != self.pacing {
            self.change(pacing);
        }
        if self.next_due() > now {
            self.is_waiting = true;
            return false;
        }
        true
    }

    /// An Interest leaves at `now`.
    #[inline]
    pub fn depart(&mut self, now: Time) {
        self.has_departed = true;
        if self.owed > 0 {
            self.owed -= 1;
            return;
        }
        if self.pacing == Pacing::Unpaced {
            self.last = now;
            return;
        }
        // From the due time, so that late wake-ups do not add up. Without a waiting Interest the time was not
        // used, and is lost.
        self.last = if self.is_waiting { self.due } else { now };
        self.due = self.last + self.cadence.step();
        self.is_waiting = true;
    }

    /// Discards credit while nothing could be sent even without pacing.
    #[inline]
    pub fn rest(&mut self) {
        self.is_waiting = false;
        self.owed = 0;
    }

    /// Time at which the waiting Interest may leave; `None` if none waits for the pacer.
    #[inline]
    pub fn wake(&self) -> Option<Time> {
        self.is_waiting.then_some(self.next_due())
    }

    /// Interests per second that `pacing` lets leave; infinite without pacing.
    pub fn per_second(&self, pacing: Pacing) -> f64 {
        match pacing {
            Pacing::Unpaced => f64::INFINITY,
            _ => 1e9 / self.cadence_of(pacing).mean_nanos(),
        }
    }

    fn cadence_of(&self, pacing: Pacing) -> Cadence {
        match pacing {
            Pacing::Unpaced => Cadence::default(),
            Pacing::Rate(rate) => Cadence::of_rate(rate, self.payload),
            Pacing::Gap(gap) => Cadence::of_gap(gap),
        }
    }

    #[inline]
    fn next_due(&self) -> Time {
        if self.owed > 0 { self.last } else { self.due }
    }

    /// A new rate counts from the last departure.
    fn change(&mut self, pacing: Pacing) {
        self.pacing = pacing;
        self.cadence = self.cadence_of(pacing);
        if pacing == Pacing::Unpaced {
            self.rest();
        }
        self.due = if self.has_departed { self.last + self.cadence.step() } else { Time::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THIRD: Pacing = Pacing::Rate(BitRate::from_bps(24));

    /// Departures of a sender that always has data and is woken exactly at its wake-up times.
    fn departures(pacer: &mut Pacer, pacing: Pacing, count: usize) -> Vec<u64> {
        let mut now = Time::from_nanos(5);
        let mut times = Vec::new();
        while times.len() < count {
            if pacer.admits(now, pacing) {
                pacer.depart(now);
                times.push(now.as_nanos());
            } else {
                now = pacer.wake().expect("an Interest waits");
            }
        }
        times
    }

    #[test]
    fn a_rate_that_does_not_divide_a_second_is_met_without_drift() {
        // 1 byte at 24 bit/s: a third of a second, never a nanosecond short after three.
        let times = departures(&mut Pacer::new(ByteCount::new(1)), THIRD, 3001);
        assert_eq!(times[..4], [5, 333_333_338, 666_666_671, 1_000_000_005]);
        assert_eq!(times[3000], 1_000_000_000_005);
    }

    #[test]
    fn a_gap_is_kept() {
        let gap = Pacing::Gap(Span::from_nanos(7));
        assert_eq!(departures(&mut Pacer::new(ByteCount::new(1)), gap, 3), [5, 12, 19]);
    }

    #[test]
    fn a_late_wake_sends_all_that_fell_due() {
        let mut pacer = Pacer::new(ByteCount::new(1));
        let gap = Pacing::Gap(Span::from_nanos(10));
        assert!(pacer.admits(Time::ZERO, gap));
        pacer.depart(Time::ZERO);
        assert!(!pacer.admits(Time::ZERO, gap));
        let late = Time::from_nanos(35);
        let mut sent = 0;
        while pacer.admits(late, gap) {
            pacer.depart(late);
            sent += 1;
        }
        assert_eq!((sent, pacer.wake()), (3, Some(Time::from_nanos(40))));
    }

    #[test]
    fn a_closed_window_earns_no_burst() {
        let mut pacer = Pacer::new(ByteCount::new(1));
        let gap = Pacing::Gap(Span::from_nanos(10));
        assert!(pacer.admits(Time::from_nanos(1), gap));
        pacer.depart(Time::from_nanos(1));
        pacer.rest();
        let late = Time::from_nanos(36);
        assert!(pacer.admits(late, gap));
        pacer.depart(late);
        assert!(!pacer.admits(late, gap));
        assert_eq!(pacer.wake(), Some(Time::from_nanos(46)));
    }

    #[test]
    fn a_faster_rate_counts_from_the_last_departure() {
        let mut pacer = Pacer::new(ByteCount::new(1));
        assert!(pacer.admits(Time::from_nanos(100), Pacing::Gap(Span::from_secs(1))));
        pacer.depart(Time::from_nanos(100));
        assert!(!pacer.admits(Time::from_nanos(150), Pacing::Gap(Span::from_nanos(60))));
        assert_eq!(pacer.wake(), Some(Time::from_nanos(160)));
    }

    #[test]
    fn rate_zero_never_admits_a_second_departure() {
        let mut pacer = Pacer::new(ByteCount::new(1));
        let stopped = Pacing::Rate(BitRate::from_bps(0));
        assert!(pacer.admits(Time::ZERO, stopped));
        pacer.depart(Time::ZERO);
        assert!(!pacer.admits(Time::from_nanos(u64::MAX / 2), stopped));
    }

    #[test]
    fn the_largest_rate_does_not_overflow() {
        let mut cadence = Cadence::of_rate(BitRate::from_bps(u64::MAX), ByteCount::new(1 << 20));
        let total: Span = (0..10_000).map(|_| cadence.step()).sum();
        // 2^20 bytes x 8e9 x 10^4 / (2^64 - 1) = 4.547 ns.
        assert_eq!(total, Span::from_nanos(4));
    }
}
