//! NFD's exponential suppression of retransmissions: at first 10 ms after the last one went upstream, doubled
//! with each that is let through, up to 250 ms.
//!
//! The pause of a whole entry stands in the PIT entry; that of one upstream follows from its out-record.

use tidegate_core::face::FaceId;
use tidegate_core::params;
use tidegate_core::pit::PitEntry;
use tidegate_core::units::{Span, Time};

/// What a strategy with this suppression does differently from NFD's.
pub const DEVIATION: &str = "An out-record stays open as long as its entry, NFD's only for the lifetime of its last Interest; it matters where lifetimes differ or are shorter than the pause of suppressed retransmissions.";

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
    /// The first: nobody was asked yet, or everybody refused.
    First,
    /// A retransmission that may go upstream.
    Again,
    /// A retransmission that comes too soon.
    Suppress,
}

impl Params {
    /// Looks at an Interest that arrived now and moves the entry's pause on.
    ///
    /// As long as one upstream may still answer, the pause counts from the last Interest to any of them, those
    /// that refused included; a first Interest leaves the pause as it is.
    pub fn step(&self, now: Time, entry: &mut PitEntry) -> Step {
        let Some(last_sent) = entry.last_sent() else {
            return Step::First;
        };
        if entry.out_records().all(|record| record.nacked.is_some()) {
            return Step::First;
        }
        let pause = entry.suppression().unwrap_or(self.suppression);
        if now.since(last_sent) < pause {
            entry.set_suppression(pause);
            return Step::Suppress;
        }
        entry.set_suppression(self.longer(pause));
        Step::Again
    }

    /// As [`step`](Self::step), for the upstream `face` alone; a refusal does not shorten its pause.
    pub fn step_upstream(&self, now: Time, entry: &PitEntry, face: FaceId) -> Step {
        let Some(record) = entry.out_record(face) else {
            return Step::First;
        };
        let pause = (0..record.retransmissions).fold(self.suppression, |pause, _| self.longer(pause));
        if now.since(record.sent_at) < pause { Step::Suppress } else { Step::Again }
    }

    fn longer(&self, pause: Span) -> Span {
        pause.scale(self.suppression_growth).min(self.suppression_limit)
    }
}
