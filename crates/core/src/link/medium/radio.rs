//! One radio: a FIFO per receiver, and the choice of the frames that are sent together.

use std::collections::VecDeque;

use super::dcf::Contention;
use super::frame::{Frame, FrameOutcome, Sent};
use super::phy::Phy;
use super::setup::MediumSetup;
use crate::units::{ByteCount, Span};

/// Frames that one Block ACK can answer.
const BLOCK: usize = 64;
/// Size of the delimiter before each MPDU of an A-MPDU, which begins at a multiple of it, bytes.
const DELIMITER: u64 = 4;

/// A station's radio, with its queues of frames.
#[derive(Debug)]
pub(super) struct Radio {
    pub(super) contention: Contention,
    /// Queues by receiver, as far as there was a frame for one.
    queues: Vec<VecDeque<QueuedFrame>>,
    /// Number of frames in all queues.
    waiting: usize,
    /// Receiver of the last transmission.
    receiver: usize,
    /// Number of frames at the head of its queue that are sent together until all are delivered or given up;
    /// zero between transmissions.
    batch: usize,
}

#[derive(Clone, Copy, Debug)]
struct QueuedFrame {
    size: u64,
    tag: u64,
}

/// Durations of the parts of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lasts {
    /// Airtime of the PPDU with the data.
    pub(super) data: Span,
    /// ACK or Block ACK.
    pub(super) ack: Span,
}

/// Limits and overhead of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    phy: Phy,
    overhead: u64,
    /// Maximum size of an A-MPDU, bytes; `None` without aggregation.
    max: Option<u64>,
}

impl Framing {
    pub(super) fn new(setup: &MediumSetup) -> Self {
        let phy = Phy::new(setup);
        let max = setup.aggregate.map(|max| max.get().min(phy.max_bytes()));
        Self { phy, overhead: setup.overhead.get(), max }
    }

    /// Bytes of an MPDU.
    pub(super) fn mpdu(&self, size: ByteCount) -> u64 {
        size.get().saturating_add(self.overhead)
    }

    /// Time of a lone ACK.
    pub(super) fn ack(&self) -> Span {
        self.phy.ack
    }

    /// Frames from the head that are sent together.
    fn batch(&self, queue: &VecDeque<QueuedFrame>) -> usize {
        let Some(max) = self.max else { return queue.len().min(1) };
        let mut bytes = 0;
        let fits = |frame: &&QueuedFrame| {
            bytes = lengthened(bytes, self.overhead + frame.size);
            bytes <= max
        };
        // At least one frame, as a single one may exceed the limit of an A-MPDU.
        queue.iter().take(BLOCK).take_while(fits).count().max(queue.len().min(1))
    }

    /// Whether a queue with frames holds a whole transmission.
    fn is_full(&self, queue: &VecDeque<QueuedFrame>) -> bool {
        self.max.is_none() || queue.len() >= BLOCK || self.batch(queue) < queue.len()
    }

    /// Time of frames sent together; one alone is no A-MPDU.
    fn lasts<'q>(&self, frames: impl ExactSizeIterator<Item = &'q QueuedFrame>) -> Lasts {
        let together = frames.len() > 1;
        let mpdus = frames.map(|frame| self.overhead + frame.size);
        let bytes = if together { mpdus.fold(0, lengthened) } else { mpdus.sum() };
        let ack = if together { self.phy.block_ack } else { self.phy.ack };
        Lasts { data: self.phy.data_time(ByteCount::new(bytes)), ack }
    }
}

/// Bytes of an A-MPDU of `bytes` with one more MPDU.
fn lengthened(bytes: u64, mpdu: u64) -> u64 {
    bytes.next_multiple_of(DELIMITER) + DELIMITER + mpdu
}

impl Radio {
    pub(super) fn new(contention: Contention) -> Self {
        Self { contention, queues: Vec::new(), waiting: 0, receiver: 0, batch: 0 }
    }

    /// Whether all queues of the radio are empty.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Frames that wait for `to`.
    pub(super) fn waiting(&self, to: usize) -> usize {
        self.queues.get(to).map_or(0, VecDeque::len)
    }

    /// Whether no further frame can be sent together with those that wait for `to`.
    pub(super) fn is_full(&self, framing: &Framing, to: usize) -> bool {
        self.queues.get(to).is_some_and(|queue| !queue.is_empty() && framing.is_full(queue))
    }

    /// Appends a frame, of 65 535 B at most.
    pub(super) fn push(&mut self, frame: &Frame) {
        if self.queues.len() <= frame.to {
            self.queues.resize_with(frame.to + 1, VecDeque::new);
        }
        self.queues[frame.to].push_back(QueuedFrame { size: frame.size.get(), tag: frame.tag });
        self.waiting += 1;
    }

    /// Begins a transmission: the failed one again, otherwise that of the next receiver in turn.
    pub(super) fn begin(&mut self, framing: &Framing) -> Lasts {
        if self.batch == 0 {
            let count = self.queues.len();
            let turns = (1..=count).map(|turn| (self.receiver + turn) % count);
            let next = turns.into_iter().find(|to| !self.queues[*to].is_empty());
            self.receiver = next.unwrap_or(self.receiver);
            self.batch = self.queues.get(self.receiver).map_or(0, |queue| framing.batch(queue));
        }
        match self.queues.get(self.receiver) {
            Some(queue) => framing.lasts(queue.iter().take(self.batch)),
            None => framing.lasts(std::iter::empty()),
        }
    }

    /// Ends the transmission and reports the outcome of its frames.
    pub(super) fn end(&mut self, from: usize, outcome: FrameOutcome, reported: &mut Vec<Sent>) {
        self.take(from, self.receiver, self.batch, outcome, reported);
        self.batch = 0;
    }

    /// Whether the frames of the transmission have not been forgotten.
    pub(super) fn has_batch(&self) -> bool {
        self.batch > 0
    }

    /// Gives up all that waits for `to`.
    pub(super) fn forget(&mut self, from: usize, to: usize, reported: &mut Vec<Sent>) {
        self.take(from, to, self.waiting(to), FrameOutcome::GivenUp, reported);
        if self.receiver == to && self.batch > 0 {
            self.batch = 0;
            // The frame of the failed attempts is gone, so the next one begins with the minimum window.
            self.contention.start_over();
        }
    }

    fn take(
        &mut self,
        from: usize,
        to: usize,
        count: usize,
        outcome: FrameOutcome,
        reported: &mut Vec<Sent>,
    ) {
        let Some(queue) = self.queues.get_mut(to) else { return };
        let frames = queue.drain(..count.min(queue.len()));
        self.waiting -= frames.len();
        reported.extend(frames.map(|frame| Sent { tag: frame.tag, from, to, outcome }));
    }
}
