//! Labels of frames without reliability: acknowledgements for the peer, and numbers from whose acknowledgements the rate of
//! the path is estimated.
//!
//! The fields are those of NDNLPv2 reliability. A peer that does not have them ignores them, and is sent at any rate. The end
//! that opened the face begins; the other end numbers its frames once it has received a number, so that applications that
//! read bare packets only get no others.

use std::collections::VecDeque;

use tidegate_core::units::{Span, Time};
use tidegate_wire::{FrameBatch, LABEL_LEN, LinkFrame, write_acks};

use crate::path_rate::PathRate;

/// Maximum time that an acknowledgement waits for a frame to go with. Longer ones would look like a queue on the path.
const ACK_DELAY: Span = Span::from_millis(1);

/// Maximum number of acknowledgements that wait; beyond it the oldest are not sent.
const MAX_ACKS: usize = 1_024;

/// Maximum number of acknowledgements in a frame of their own.
const ACKS_ALONE: usize = 64;

/// Departure of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Time of the departure.
    pub now: Time,
    /// Whether the packet waited for its device, which could have taken more then.
    pub has_waited: bool,
}

impl Departure {
    /// A packet that leaves at once.
    pub const fn at(now: Time) -> Self {
        Self { now, has_waited: false }
    }
}

/// Labels of one face over UDP.
#[derive(Debug)]
pub(crate) struct PathLabels {
    /// Estimator of the path; `None` if its rate is not to be estimated.
    pub rate: Option<PathRate>,
    /// Whether this end may number frames.
    may_number: bool,
    /// Number of the next labelled frame.
    next: u64,
    acks: VecDeque<u64>,
    /// Time at which acknowledgements leave alone.
    ack_at: Option<Time>,
    is_ack_due: bool,
    /// Whether acknowledgements have arrived since the last call of `take_news`.
    has_news: bool,
}

impl PathLabels {
    /// Labels of a face that this end opened, or did not.
    pub fn new(is_estimated: bool, is_opener: bool) -> Self {
        Self {
            rate: is_estimated.then(PathRate::new),
            may_number: is_opener,
            next: 0,
            acks: VecDeque::new(),
            ack_at: None,
            is_ack_due: false,
            has_news: false,
        }
    }

    /// Whether the frames of a packet that leaves now need labels.
    #[inline]
    pub fn needs_labels(&self, now: Time) -> bool {
        !self.acks.is_empty() || self.needs_number(now)
    }

    #[inline]
    fn needs_number(&self, now: Time) -> bool {
        self.may_number && self.rate.as_ref().is_some_and(|rate| rate.needs_label(now))
    }

    /// Whether this end opened the face or has received a number.
    pub fn may_number(&self) -> bool {
        self.may_number
    }

    /// Appends the frames of one packet: acknowledgements on all as far as they fit, a number on the last.
    pub fn send(&mut self, departure: Departure, frames: &[LinkFrame], mtu: usize, batch: &mut FrameBatch) {
        let now = departure.now;
        let number = self.needs_number(now).then_some(self.next);
        for (index, frame) in frames.iter().enumerate() {
            let own = number.filter(|_| index + 1 == frames.len());
            let room = frame.room(mtu).saturating_sub(usize::from(own.is_some()));
            let acks = self.take_acks(room);
            frame.write(own, &acks, batch);
        }
        if let (Some(rate), Some(number)) = (&mut self.rate, number) {
            self.next += 1;
            rate.on_label(now, number, !departure.has_waited);
        }
    }

    /// A frame that left under a number of NDNLPv2 reliability serves as a labelled one.
    pub fn adopt(&mut self, departure: Departure, number: u64) {
        if let Some(rate) = self.rate.as_mut().filter(|rate| rate.needs_label(departure.now)) {
            rate.on_label(departure.now, number, !departure.has_waited);
        }
    }

    /// Frames of `bytes` have left.
    #[inline]
    pub fn count_sent(&mut self, bytes: usize) {
        if let Some(rate) = &mut self.rate {
            rate.on_sent(bytes);
        }
    }

    fn take_acks(&mut self, room: usize) -> Vec<u64> {
        let count = room.min(self.acks.len());
        let acks = self.acks.drain(..count).collect();
        if self.acks.is_empty() {
            (self.ack_at, self.is_ack_due) = (None, false);
        }
        acks
    }

    /// A frame with the number `number` arrived.
    pub fn note(&mut self, now: Time, number: u64) {
        self.may_number = true;
        if self.acks.len() == MAX_ACKS {
            self.acks.pop_front();
        }
        self.acks.push_back(number);
        self.ack_at = self.ack_at.or(Some(now + ACK_DELAY));
    }

    /// Acknowledgements of the peer arrived.
    #[inline]
    pub fn take(&mut self, now: Time, acks: &[u64]) {
        let Some(rate) = &mut self.rate else { return };
        acks.iter().for_each(|number| rate.on_ack(now, *number));
        self.has_news |= !acks.is_empty();
    }

    /// Whether the estimate may have changed since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    /// Whether [`serve`](Self::serve) has something to send.
    pub fn has_due(&self) -> bool {
        self.is_ack_due
    }

    /// Sends acknowledgements that found no other frame.
    pub fn serve(&mut self, mtu: usize, batch: &mut FrameBatch) {
        while self.is_ack_due && !self.acks.is_empty() {
            let acks = self.take_acks(ACKS_ALONE.min(mtu.saturating_sub(4) / LABEL_LEN).max(1));
            write_acks(&acks, batch);
        }
    }

    /// Time of the next call to [`on_wake`](Self::on_wake).
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        // Only a face that waits for acknowledgements needs a timer for their absence.
        let silent = self.rate.as_ref().filter(|rate| rate.is_full()).and_then(PathRate::expires_at);
        [self.ack_at.filter(|_| !self.is_ack_due), silent].into_iter().flatten().min()
    }

    /// Runs what is due.
    pub fn on_wake(&mut self, now: Time) {
        self.is_ack_due |= self.ack_at.is_some_and(|at| at <= now);
        if let Some(rate) = &mut self.rate {
            rate.expire(now);
            self.has_news = true;
        }
    }
}
