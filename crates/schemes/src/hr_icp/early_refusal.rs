//! Early refusal of Interests by an active queue management rule.

use tidegate_core::prelude::*;

use super::codel::Codel;
use super::pie::Pie;
use super::{Params, RefusalRule};

/// Early refusal at one face.
#[derive(Debug)]
pub(super) enum EarlyRefusal {
    /// No Interest is refused early.
    Nothing,
    /// Refuses at random, by PIE.
    Pie(Pie),
    /// Refuses one arriving Interest at each signal, by CoDel.
    Codel(Codel),
}

impl EarlyRefusal {
    pub(super) fn new(params: &Params, draws: Rng) -> Self {
        match params.queue {
            RefusalRule::DropTail => Self::Nothing,
            RefusalRule::Pie => Self::Pie(Pie::new(params.delay_target, params.burst, draws)),
            RefusalRule::Codel => Self::Codel(Codel::new(params.delay_target, params.delay_interval)),
        }
    }

    /// Whether an Interest that arrives is refused.
    pub(super) fn refuses(&mut self, now: Time) -> bool {
        match self {
            Self::Nothing => false,
            Self::Pie(pie) => pie.refuses(),
            Self::Codel(codel) => codel.refuses(now),
        }
    }

    /// Records that an Interest arrived and waits.
    pub(super) fn arrive(&mut self, now: Time) {
        if let Self::Pie(pie) = self {
            pie.start(now);
        }
    }

    /// Records that an Interest that waited for `sojourn` leaves, with `waiting` others behind it.
    pub(super) fn depart(&mut self, now: Time, sojourn: Span, waiting: usize) {
        match self {
            Self::Nothing => {}
            Self::Pie(pie) => pie.depart(now, waiting),
            Self::Codel(codel) => codel.depart(now, sojourn),
        }
    }

    /// Records that the face is idle and no Interest waits.
    pub(super) fn rest(&mut self) {
        if let Self::Codel(codel) = self {
            codel.rest();
        }
    }

    /// Makes the updates that are due; `waiting` is the number of waiting Interests.
    pub(super) fn on_wake(&mut self, now: Time, waiting: usize) {
        if let Self::Pie(pie) = self {
            pie.on_wake(now, waiting);
        }
    }

    /// Time of the next update; `None` for never.
    pub(super) fn next_wake(&self) -> Option<Time> {
        match self {
            Self::Pie(pie) => pie.next_wake(),
            Self::Nothing | Self::Codel(_) => None,
        }
    }
}
