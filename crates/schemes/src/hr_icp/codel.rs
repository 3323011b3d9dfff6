//! CoDel at the tail: while Interests wait too long, single arriving Interests are refused.
//!
//! Source: `ndn-shaper-net-device-face`, which differs from RFC 8289: it decides at the head and refuses at the tail.

use tidegate_core::prelude::*;

use crate::toolbox::queue::control_law;

/// The rule of one face.
#[derive(Debug)]
pub(super) struct Codel {
    target: Span,
    interval: Span,
    /// Time from which a queue that is still above the target counts as too long.
    above_until: Option<Time>,
    is_refusing: bool,
    next: Time,
    count: u32,
}

impl Codel {
    pub(super) fn new(target: Span, interval: Span) -> Self {
        Self { target, interval, above_until: None, is_refusing: false, next: Time::ZERO, count: 0 }
    }

    /// Whether an Interest that arrives is refused.
    pub(super) fn refuses(&mut self, now: Time) -> bool {
        if !self.is_refusing || now < self.next {
            return false;
        }
        self.count = self.count.saturating_add(1);
        self.next += control_law::pause(self.interval, self.count);
        true
    }

    /// Records that an Interest that waited for `sojourn` leaves.
    pub(super) fn depart(&mut self, now: Time, sojourn: Span) {
        if sojourn < self.target {
            if self.is_refusing {
                self.rest();
            }
        } else if !self.is_refusing {
            match self.above_until {
                None => self.above_until = Some(now + self.interval),
                Some(until) if now >= until && self.may_enter(now, until) => self.enter(now),
                Some(_) => {}
            }
        }
    }

    /// Whether refusing may begin: soon after the last refusal, or after two intervals above the target.
    fn may_enter(&self, now: Time, until: Time) -> bool {
        self.is_recent(now) || now.since(until) >= self.interval
    }

    fn is_recent(&self, now: Time) -> bool {
        now.since(self.next) < self.interval
    }

    fn enter(&mut self, now: Time) {
        self.is_refusing = true;
        // As in the pseudocode of 2012: a queue that returns soon starts near the refusal rate that
        // controlled it.
        self.count = if self.is_recent(now) && self.count > 2 { self.count - 2 } else { 0 };
        self.next = now;
    }

    /// Ends the state in which Interests are refused.
    pub(super) fn rest(&mut self) {
        if self.is_refusing {
            self.above_until = None;
            self.is_refusing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Span = Span::from_millis(20);
    const LONG: Span = Span::from_millis(25);

    fn ms(at: u64) -> Time {
        Time::ZERO + Span::from_millis(at)
    }

    #[test]
    fn refusals_begin_two_intervals_above_the_target_and_come_closer() {
        let mut codel = Codel::new(TARGET, Span::from_millis(100));
        // The next refusal is at 0: nothing was refused recently.
        for at in [1_000, 1_100, 1_150, 1_199] {
            codel.depart(ms(at), LONG);
            assert!(!codel.refuses(ms(at)), "{at}");
        }
        codel.depart(ms(1_200), LONG);
        // At 1200, then 100 / sqrt(1) later, then 100 / sqrt(2).
        let refused: Vec<u64> = (1_200..1_400).filter(|at| codel.refuses(ms(*at))).collect();
        assert_eq!(refused, [1_200, 1_300, 1_371]);
    }

    #[test]
    fn a_short_wait_or_an_empty_queue_ends_them() {
        let refusing = || {
            let mut codel = Codel::new(TARGET, Span::from_millis(100));
            [1_000, 1_200].into_iter().for_each(|at| codel.depart(ms(at), LONG));
            assert!(codel.refuses(ms(1_200)));
            codel
        };
        let mut short = refusing();
        short.depart(ms(1_290), Span::from_millis(19));
        assert!(!short.refuses(ms(1_300)));
        let mut empty = refusing();
        empty.rest();
        assert!(!empty.refuses(ms(1_300)));
    }
}
