//! NFD's exponential suppression of retransmissions: for 10 ms after the last Interest upstream at first, doubled
//! with each retransmission that is forwarded, up to 250 ms.
//!
//! The suppression interval of a whole entry is stored in the PIT entry; that of one upstream follows from its
//! out-record.

use tidegate_core::prelude::*;

/// Deviation of a strategy with this suppression from NFD.
pub const DEVIATION: &str = "An out-record stays open as long as its PIT entry, in NFD only for the lifetime of its last Interest; this matters where lifetimes differ or are shorter than the suppression interval.";

params! {
    /// Initial interval after an Interest in which its retransmissions are suppressed.
    suppression: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Upper bound of the suppression interval.
    suppression_limit: Span = Span::from_millis(250), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Growth of the suppression interval with every retransmission that is forwarded.
    suppression_growth: f64 = 2.0, "factor", 1.0..=100.0;
}

/// Classification of an Interest for a PIT entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The first: there is no out-record, or all were refused.
    First,
    /// A retransmission that may go upstream.
    Again,
    /// A retransmission that comes too soon.
    Suppress,
}

impl Params {
    /// Classifies an Interest that arrives now and updates the suppression interval of the entry.
    ///
    /// As long as one upstream may still answer, the interval counts from the last Interest to any of them, including
    /// those that refused; a first Interest does not change it.
    pub fn step(&self, now: Time, entry: &mut PitEntry) -> Step {
        let Some(last_sent) = entry.last_sent() else {
            return Step::First;
        };
        // No upstream can answer any more: NFD treats the Interest as new and suppresses nothing.
        if entry.out_records().all(|record| record.nacked.is_some()) {
            return Step::First;
        }
        let pause = entry.suppression().unwrap_or(self.suppression);
        if now.since(last_sent) < pause {
            // A suppressed Interest does not lengthen the interval; only one that is forwarded does.
            entry.set_suppression(pause);
            return Step::Suppress;
        }
        entry.set_suppression(self.longer(pause));
        Step::Again
    }

    /// As [`step`](Self::step), for the upstream `face` only; a refusal does not shorten its interval.
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
