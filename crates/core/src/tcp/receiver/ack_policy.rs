//! Acknowledgement policy of a receiver, and its echo of congestion marks.

use crate::units::{Span, Time};

/// Delayed acknowledgements (RFC 9293, section 3.8.6.3, RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPolicy {
    /// Segments per ACK, at least 1; 1 acknowledges each.
    pub every: u32,
    /// Maximum delay of an ACK; the RFC requires less than 500 ms.
    pub delay: Span,
    /// Segments at the start of the connection that are acknowledged at once.
    pub quick: u32,
}

impl Default for AckPolicy {
    /// Linux: every second segment, 40 ms at most, the first 16 at once.
    fn default() -> Self {
        Self { every: 2, delay: Span::from_millis(40), quick: 16 }
    }
}

/// Echo of congestion marks to the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnEcho {
    /// ECE is set on every ACK from a mark on until the sender confirms its reduction (RFC 3168, section 6.1.3).
    #[default]
    Latched,
    /// Exactly for the segments that were marked (RFC 8257, section 3.2).
    Exact,
}

/// Counts the segments that wait for an ACK.
#[derive(Clone, Debug)]
pub(super) struct AckTimer {
    ack_policy: AckPolicy,
    waiting: u32,
    due: Option<Time>,
    quick_left: u32,
}

impl AckTimer {
    pub(super) fn new(ack_policy: AckPolicy) -> Self {
        Self { quick_left: ack_policy.quick, ack_policy, waiting: 0, due: None }
    }

    /// Counts another segment; returns whether its ACK leaves at once.
    pub(super) fn count(&mut self, now: Time) -> bool {
        self.waiting += 1;
        // The delay runs from the first segment that waits; a later one must not extend it.
        self.due = self.due.or(Some(now + self.ack_policy.delay));
        // In slow start the sender's window grows with every ACK, so a delayed one would slow its start.
        if self.quick_left > 0 {
            self.quick_left -= 1;
            return true;
        }
        self.waiting >= self.ack_policy.every.max(1)
    }

    pub(super) fn clear(&mut self) {
        (self.waiting, self.due) = (0, None);
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.due
    }
}

/// State of ECE for the next ACK.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    form: EcnEcho,
    is_set: bool,
    has_changed: bool,
}

impl Echo {
    pub(super) fn new(form: EcnEcho) -> Self {
        Self { form, is_set: false, has_changed: false }
    }

    /// Whether segments that wait for an ACK have to be acknowledged before a segment with another mark: an
    /// ACK reports one state for all that it acknowledges (RFC 8257, section 3.2).
    pub(super) fn must_report_before(&self, is_marked: bool) -> bool {
        self.form == EcnEcho::Exact && self.is_set != is_marked
    }

    /// Takes in the mark of a segment; `has_reduced` is its CWR.
    pub(super) fn take_in(&mut self, is_marked: bool, has_reduced: bool) {
        self.has_changed = self.must_report_before(is_marked);
        self.is_set = match self.form {
            EcnEcho::Exact => is_marked,
            EcnEcho::Latched => is_marked || (self.is_set && !has_reduced),
        };
    }

    /// Whether the ACK is immediate, because the marks changed (RFC 8257, section 3.2).
    pub(super) fn is_urgent(&self) -> bool {
        self.has_changed
    }

    pub(super) fn reports(&self) -> bool {
        self.is_set
    }
}
