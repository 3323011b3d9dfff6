//! NFD's exponential suppression of retransmissions: at first 10 ms after the last one went upstream, doubled
//! with each that is let through, up to 250 ms.

use tidegate_core::pit::PitEntry;
use tidegate_core::units::{Span, Time};

/// The pauses; the pause of one Interest stands in its PIT entry.
#[derive(Clone, Copy, Debug)]
pub struct RetransmissionSuppression {
    /// First pause.
    pub first: Span,
    /// Longest pause.
    pub limit: Span,
    /// Growth per retransmission let through.
    pub growth: f64,
}

/// What an Interest for a PIT entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first: nobody was asked yet.
    First,
    /// A retransmission that may go upstream.
    Again,
    /// A retransmission that comes too soon.
    Suppress,
}

impl RetransmissionSuppression {
    /// Looks at an Interest that arrived now and moves the entry's pause on.
    pub fn step(&self, now: Time, entry: &mut PitEntry) -> Step {
        let Some(last_sent) = entry.last_sent() else {
            return Step::First;
        };
        let pause = entry.suppression().unwrap_or(self.first);
        if now.since(last_sent) < pause {
            entry.set_suppression(pause);
            return Step::Suppress;
        }
        entry.set_suppression(pause.scale(self.growth).min(self.limit));
        Step::Again
    }
}
