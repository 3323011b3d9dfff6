//! Queue of lost segments in the order of their retransmission.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::outstanding::{Outstanding, SegmentState};
use super::profile::RetransmitOrder;

/// The queue. Segments that arrive or are given up stay in it and are skipped; an empty queue owns no memory.
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

    /// The next segment that still waits according to `outstanding` and is not held back.
    pub(super) fn pop(&mut self, outstanding: &Outstanding, is_held: impl Fn(u32) -> bool) -> Option<u32> {
        let waits = |segment| outstanding.get(segment).is_some_and(|slot| slot.state == SegmentState::Queued);
        match self {
            Self::ByLoss(queue) => {
                while queue.front().is_some_and(|segment| !waits(*segment)) {
                    queue.pop_front();
                }
                // Held segments keep their place; only what no longer waits is removed from the front.
                let place = queue.iter().position(|segment| waits(*segment) && !is_held(*segment))?;
                queue.remove(place)
            }
            Self::BySegment(queue) => {
                let mut held = Vec::new();
                let next = loop {
                    match queue.pop() {
                        Some(Reverse(segment)) if !waits(segment) => {}
                        Some(Reverse(segment)) if is_held(segment) => held.push(Reverse(segment)),
                        other => break other.map(|Reverse(segment)| segment),
                    }
                };
                // A heap has no search, so held segments are taken out and put back.
                queue.extend(held);
                next
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// Segments 0 to 3 sent, and lost in this order.
    fn lost(queue: &mut RetransmitQueue, order: [u32; 4]) -> Outstanding {
        let mut outstanding = Outstanding::default();
        (0..4).for_each(|_| outstanding.send_new(Time::ZERO, Time::ZERO, 0));
        for segment in order {
            outstanding.lose(segment);
            queue.push(segment);
        }
        outstanding
    }

    #[test]
    fn what_is_held_back_is_passed_over_and_keeps_its_place() {
        for (order, expected) in
            [(RetransmitOrder::ByLoss, [1, 3, 0]), (RetransmitOrder::BySegment, [0, 1, 3])]
        {
            let mut queue = RetransmitQueue::new(order);
            let mut outstanding = lost(&mut queue, [2, 1, 3, 0]);
            assert_eq!(queue.pop(&outstanding, |_| true), None, "{order:?}");
            for segment in expected {
                assert_eq!(queue.pop(&outstanding, |held| held == 2), Some(segment), "{order:?}");
                outstanding.receive(segment);
            }
            assert_eq!(queue.pop(&outstanding, |held| held == 2), None, "{order:?}");
            assert_eq!(queue.pop(&outstanding, |_| false), Some(2), "{order:?}");
        }
    }

    #[test]
    fn what_arrived_meanwhile_is_not_requested_again() {
        for order in [RetransmitOrder::ByLoss, RetransmitOrder::BySegment] {
            let mut queue = RetransmitQueue::new(order);
            let mut outstanding = lost(&mut queue, [0, 1, 2, 3]);
            outstanding.receive(0);
            outstanding.receive(2);
            let rest: Vec<u32> = std::iter::from_fn(|| queue.pop(&outstanding, |_| false)).collect();
            assert_eq!(rest, [1, 3], "{order:?}");
        }
    }
}
