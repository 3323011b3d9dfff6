//! CoDel's state of one queue: whether delays have been too long for too long, and which packet is the signal.
//!
//! Paper: RFC 8289, the pseudocode of its section 5; the loop over several packets is one decision per packet here.

use tidegate_core::prelude::*;

use crate::toolbox::queue::control_law;

/// CoDel's state of one queue.
#[derive(Clone, Debug)]
pub struct CodelState {
    /// Time at which a queue above the target has been so for an interval; [`Time::MAX`] while it is below.
    first_above: Time,
    drop_next: Time,
    count: u32,
    last_count: u32,
    is_dropping: bool,
    /// A drop was made and the time of the next one is not known before the following packet.
    next_is_open: bool,
}

/// Action on a packet that CoDel selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodelSignal {
    /// It is marked and sent.
    Mark,
    /// The packet is dropped.
    Drop,
}

impl CodelState {
    /// State of a queue whose delay is below the target.
    pub fn new() -> Self {
        Self {
            first_above: Time::MAX,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            is_dropping: false,
            next_is_open: false,
        }
    }

    /// Records a packet that waited less than the target, or that leaves at most one packet behind.
    pub fn on_good(&mut self) {
        self.first_above = Time::MAX;
        self.leave_drop_state();
    }

    /// Returns whether a packet that waited longer than the target and leaves others behind is selected; `signal` is
    /// the action on a selected packet.
    pub fn on_above(&mut self, now: Time, interval: Span, signal: CodelSignal) -> bool {
        if self.first_above == Time::MAX {
            self.first_above = now + interval;
        }
        // RFC 8289 leaves the dropping state whenever `ok_to_drop` is false, also right after a good packet.
        if now < self.first_above {
            self.leave_drop_state();
            return false;
        }
        if !self.is_dropping {
            self.enter_drop_state(now, interval);
            return true;
        }
        // The packet behind a dropped one is above the target too, so the dropping state lasts.
        if std::mem::take(&mut self.next_is_open) {
            self.drop_next += control_law::pause(interval, self.count);
        }
        if now < self.drop_next {
            return false;
        }
        self.choose_again(interval, signal);
        true
    }

    fn leave_drop_state(&mut self) {
        self.is_dropping = false;
        self.next_is_open = false;
    }

    /// Starts near the drop rate that controlled the queue in the last dropping state, if that was recent.
    fn enter_drop_state(&mut self, now: Time, interval: Span) {
        self.is_dropping = true;
        // Drops that were necessary in the last dropping state; the queue is probably the same one (RFC 8289,
        // `count - lastcount`).
        let grown = self.count.saturating_sub(self.last_count);
        let is_recent = now.since(self.drop_next) < interval * 16;
        self.count = if grown > 1 && is_recent { grown } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + control_law::pause(interval, self.count);
    }

    fn choose_again(&mut self, interval: Span, signal: CodelSignal) {
        self.count = self.count.saturating_add(1);
        match signal {
            CodelSignal::Mark => self.drop_next += control_law::pause(interval, self.count),
            // After a drop RFC 8289 computes the next time only if the packet behind it is above the target
            // as well; that packet is seen in the next call.
            CodelSignal::Drop => self.next_is_open = true,
        }
    }
}

impl Default for CodelState {
    fn default() -> Self {
        Self::new()
    }
}
