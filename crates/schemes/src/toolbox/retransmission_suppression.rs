//! NFD's exponential suppression of retransmissions: at first 10 ms after the last one went upstream, doubled
//! with each that is let through, up to 250 ms. The pause of one Interest stands in its PIT entry.

use tidegate_core::params;
use tidegate_core::pit::PitEntry;
use tidegate_core::units::{Span, Time};

params! {
    /// Shortest pause before a retransmission goes upstream.
    suppression: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Longest pause before a retransmission goes upstream.
    suppression_limit: Span = Span::from_millis(250), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Growth of the pause with every retransmission let through.
    suppression_growth: f64 = 2.0, "factor", 1.0..=100.0;
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

impl Params {
    /// Looks at an Interest that arrived now and moves the entry's pause on.
    pub fn step(&self, now: Time, entry: &mut PitEntry) -> Step {
        let Some(last_sent) = entry.last_sent() else {
            return Step::First;
        };
        let pause = entry.suppression().unwrap_or(self.suppression);
        if now.since(last_sent) < pause {
            entry.set_suppression(pause);
            return Step::Suppress;
        }
        entry.set_suppression(pause.scale(self.suppression_growth).min(self.suppression_limit));
        Step::Again
    }
}
