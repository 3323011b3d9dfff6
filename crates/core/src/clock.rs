//! Clock of a node: the granularity of its timers.
//!
//! Everything with a due time (pacing, timeouts, the wake-ups of gates and disciplines) happens at the first
//! tick at or after it. Reactions to an arriving packet or to the application need no clock and happen at
//! once. A link sends by itself. Paper: Kato et al., FedCSIS 2020, section III.B and, for the flush, section
//! V.A.

use crate::units::{Span, Time};

/// Times at which the timers of a node fire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time between two ticks; zero for a clock without ticks.
    period: Span,
    /// First tick, less than a period after the start.
    phase: Span,
    flushes: bool,
}

impl Clock {
    /// Exact timers: everything happens when it is due.
    pub const FINE: Self = Self { period: Span::ZERO, phase: Span::ZERO, flushes: false };

    /// Ticks at `phase` after the start and every `period` from there on; a period of zero makes a fine
    /// clock. With `flush_on_arrival` an arriving Data, Nack or loss notice also runs everything that is due
    /// by then in forwarder, gates, queues, and the consumer that it is for.
    pub fn coarse(period: Span, phase: Span, flush_on_arrival: bool) -> Self {
        // Reduced to less than a period, so that the first tick is the first multiple after the start. A fine
        // clock has none.
        let phase = Span::from_nanos(phase.as_nanos().checked_rem(period.as_nanos()).unwrap_or(0));
        Self { period, phase, flushes: flush_on_arrival }
    }

    /// Whether everything happens when it is due.
    #[inline]
    pub fn is_fine(&self) -> bool {
        self.period == Span::ZERO
    }

    /// Whether an arriving packet runs all timers that are already due.
    #[inline]
    pub fn flushes_on_arrival(&self) -> bool {
        self.flushes
    }

    /// Time at which something due at `at` happens: the first tick not before it. [`Time::MAX`] stays.
    #[inline]
    pub fn tick_from(&self, at: Time) -> Time {
        if self.is_fine() || at == Time::MAX { at } else { self.round_up(at) }
    }

    /// Latest due time that has been served at `now`: the last tick, time zero before the first.
    #[inline]
    pub fn ticked(&self, now: Time) -> Time {
        if self.is_fine() { now } else { self.round_down(now) }
    }

    fn round_up(&self, at: Time) -> Time {
        let (at, phase) = (at.as_nanos(), self.phase.as_nanos());
        let ticks = at.saturating_sub(phase).div_ceil(self.period.as_nanos());
        Time::from_nanos(ticks.saturating_mul(self.period.as_nanos()).saturating_add(phase))
    }

    fn round_down(&self, now: Time) -> Time {
        let since_first = now.as_nanos().checked_sub(self.phase.as_nanos());
        let into = |since: u64| since % self.period.as_nanos();
        since_first.map_or(Time::ZERO, |since| Time::from_nanos(now.as_nanos() - into(since)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Seed};

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn what_is_due_between_two_ticks_waits_for_the_second() {
        let clock = Clock::coarse(Span::from_nanos(100), Span::from_nanos(30), false);
        for (due, tick, ticked) in [(0, 30, 0), (30, 30, 30), (31, 130, 30), (130, 130, 130), (229, 230, 130)]
        {
            assert_eq!((clock.tick_from(at(due)), clock.ticked(at(due))), (at(tick), at(ticked)), "{due}");
        }
        assert_eq!(clock.tick_from(Time::MAX), Time::MAX);
    }

    #[test]
    fn a_fine_clock_changes_nothing() {
        for clock in [Clock::FINE, Clock::coarse(Span::ZERO, Span::from_secs(1), false)] {
            assert_eq!((clock.tick_from(at(17)), clock.ticked(at(17))), (at(17), at(17)));
        }
    }

    #[test]
    fn a_phase_beyond_the_period_is_the_same_phase() {
        let clock = Clock::coarse(Span::from_nanos(100), Span::from_nanos(230), false);
        assert_eq!(clock.tick_from(at(0)), at(30));
    }

    #[test]
    fn a_tick_is_at_most_a_period_away_and_stays_where_it_is() {
        let mut rng = Rng::stream(Seed(3), "clock");
        for _ in 0..10_000 {
            let period = 1 + u64::from(rng.below(1_000_000));
            let clock = Clock::coarse(Span::from_nanos(period), Span::from_nanos(rng.bits() >> 30), false);
            let now = at(rng.bits() >> (1 + rng.below(60)));
            let (tick, ticked) = (clock.tick_from(now), clock.ticked(now));
            assert!(ticked <= now && now <= tick && tick.since(now).as_nanos() < period, "{clock:?} {now}");
            assert_eq!((clock.tick_from(tick), clock.ticked(tick)), (tick, tick), "{clock:?} {now}");
        }
    }
}
