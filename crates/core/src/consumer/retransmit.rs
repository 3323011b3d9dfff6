//! Lost segments in the order in which they are asked for again.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::outstanding::{Outstanding, State};
use super::shell::RetransmitOrder;

/// The queue. What arrives or is forgotten meanwhile stays in it and is skipped; empty, it owns no memory.
#[derive(Debug)]
pub(super) enum RetransmitQueue {
    ByLoss(VecDeque<u32>),
    BySegment(BinaryHeap<Reverse<u32>>),
}

impl RetransmitQueue {
    pub(super) fn new(order: RetransmitOrder) -> Self {
        match order {
            RetransmitOrder::ByLoss => Self::ByLoss(VecDeque::new()),
            RetransmitOrder::BySegment => Self::BySegment(BinaryHeap::new()),
        }
    }

    pub(super) fn push(&mut self, segment: u32) {
        match self {
            Self::ByLoss(queue) => queue.push_back(segment),
            Self::BySegment(queue) => queue.push(Reverse(segment)),
        }
    }

    /// The next segment that still waits according to `outstanding`.
    pub(super) fn pop(&mut self, outstanding: &Outstanding) -> Option<u32> {
        loop {
            let segment = match self {
                Self::ByLoss(queue) => queue.pop_front(),
                Self::BySegment(queue) => queue.pop().map(|Reverse(segment)| segment),
            }?;
            if outstanding.get(segment).is_some_and(|slot| slot.state == State::Queued) {
                return Some(segment);
            }
        }
    }
}
