//! The event queue: a four-ary heap of packed keys, where a taken event leaves a hole for the next push.
//!
//! A key is 64 bits of time, 40 bits of sequence and 24 bits of target, so that one comparison orders events
//! by time and, within an instant, by the order in which they were asked for.

use tidegate_core::units::Time;

/// What an event is for; the number is the world's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target(pub u32);

/// Targets that a key can hold.
pub const MAX_TARGETS: usize = 1 << TARGET_BITS;

const TARGET_BITS: u32 = 24;
const SEQUENCE_BITS: u32 = 40;
const ARITY: usize = 4;

/// Events that are still to come.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: Vec<u128>,
    sequence: u64,
    /// The root was taken and is not filled yet.
    hole: bool,
}

impl EventQueue {
    /// Adds an event. The sequence lasts for 10^12 events.
    #[inline]
    pub fn push(&mut self, at: Time, target: Target) {
        self.sequence += 1;
        debug_assert!(self.sequence < 1 << SEQUENCE_BITS && (target.0 as usize) < MAX_TARGETS);
        let key =
            u128::from(at.as_nanos()) << 64 | u128::from(self.sequence << TARGET_BITS) | u128::from(target.0);
        if std::mem::take(&mut self.hole) {
            self.sift_down(key);
        } else {
            self.heap.push(key);
            self.sift_up();
        }
    }

    /// Takes the earliest event that is not after `limit`.
    #[inline]
    pub fn take_until(&mut self, limit: Time) -> Option<(Time, Target)> {
        if std::mem::take(&mut self.hole) {
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sift_down(last);
            }
        }
        let key = *self.heap.first()?;
        let at = Time::from_nanos((key >> 64) as u64);
        if at > limit {
            return None;
        }
        self.hole = true;
        Some((at, Target(key as u32 & (MAX_TARGETS as u32 - 1))))
    }

    fn sift_up(&mut self) {
        let mut at = self.heap.len() - 1;
        let key = self.heap[at];
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Puts `key` in place of the root and moves it down to where it belongs.
    #[inline]
    fn sift_down(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= heap.len() {
                break;
            }
            let last = (first + ARITY).min(heap.len());
            let mut least = first;
            let mut least_key = heap[first];
            for (child, child_key) in (first..last).zip(&heap[first..last]) {
                if *child_key < least_key {
                    least = child;
                    least_key = *child_key;
                }
            }
            if key <= least_key {
                break;
            }
            heap[at] = least_key;
            at = least;
        }
        heap[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::rng::{Rng, Seed};

    #[test]
    fn events_come_by_time_and_then_in_the_order_asked_for() {
        let mut events = EventQueue::default();
        for (at, target) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
            events.push(Time::from_nanos(at), Target(target));
        }
        let mut order = Vec::new();
        while let Some((_, target)) = events.take_until(Time::MAX) {
            order.push(target.0);
        }
        assert_eq!(order, [2, 4, 1, 3]);
    }

    #[test]
    fn random_pushes_and_takes_match_a_sorted_list() {
        let mut rng = Rng::stream(Seed(3), "events");
        let mut events = EventQueue::default();
        let mut model: Vec<(u64, u32)> = Vec::new();
        let mut now = 0;
        for step in 0..20_000u32 {
            if rng.chance(0.52) || model.is_empty() {
                let at = now + u64::from(rng.below(50));
                events.push(Time::from_nanos(at), Target(step % MAX_TARGETS as u32));
                model.push((at, step));
            } else {
                let (index, &(at, target)) =
                    model.iter().enumerate().min_by_key(|(_, entry)| **entry).expect("not empty");
                model.remove(index);
                now = at;
                assert_eq!(events.take_until(Time::MAX), Some((Time::from_nanos(at), Target(target))));
            }
        }
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut events = EventQueue::default();
        events.push(Time::from_nanos(9), Target(1));
        assert_eq!(events.take_until(Time::from_nanos(8)), None);
        assert_eq!(events.take_until(Time::from_nanos(9)), Some((Time::from_nanos(9), Target(1))));
        assert_eq!(events.take_until(Time::MAX), None);
    }
}
