//! The event queue: a calendar of equal time slots over linked lists, with a heap for distant events.
//!
//! A key is 64 bits of time, 38 bits of sequence and 26 bits of target, so that one comparison orders events
//! by time and, within an instant, by the order in which they were scheduled. The slots' width follows the
//! density of events; it affects speed only, never the order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_core::units::Time;

/// Declares the kinds, and lists them in the order of their numbers.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// Action that an event starts in the world.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum EventKind {
            $($(#[$doc])* $kind,)*
        }

        const LISTED: &[EventKind] = &[$(EventKind::$kind),*];
    };
}

kinds! {
    /// A packet reaches the far end of a link direction.
    Arrival,
    /// A link direction has sent a packet or frame.
    Sent,
    /// A timer of the queue of a link direction.
    QueueWake,
    /// A timer of a node.
    NodeWake,
    /// A timer of a consumer.
    ConsumerWake,
    /// A timer of an end of a connection.
    SideWake,
    /// A change of the timeline.
    Change,
    /// A sample of the queues and flows.
    Sample,
    /// A router has processed a packet.
    Served,
    /// A report reaches the network controller.
    Report,
    /// A directive reaches its router.
    Directive,
    /// A timer of the network controller.
    ControllerWake,
    /// A timer of the agents of a router.
    AgentWake,
    /// A producer has made an answer.
    Processed,
    /// A frame reaches the far end of its link direction.
    FrameArrival,
    /// A timer of the link service of a direction.
    LinkWake,
    /// An event of an 802.11 channel.
    Medium,
}

/// Every kind by its number; numbers without a kind never occur.
const KINDS: [EventKind; 1 << KIND_BITS] = {
    let mut kinds = [EventKind::Medium; 1 << KIND_BITS];
    let mut number = 0;
    while number < LISTED.len() {
        kinds[number] = LISTED[number];
        number += 1;
    }
    kinds
};

/// Action of an event, and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTarget(u32);

impl EventTarget {
    fn of(kind: EventKind, index: usize) -> Self {
        debug_assert!(index < 1 << INDEX_BITS);
        Self((index as u32) << KIND_BITS | kind as u32)
    }

    /// Action of the event.
    #[inline]
    pub fn kind(self) -> EventKind {
        KINDS[self.0 as usize & (KINDS.len() - 1)]
    }

    /// Whether it is the action of most events; takes fewer steps than [`kind`](Self::kind).
    #[inline]
    pub fn is_arrival(self) -> bool {
        self.0 & ((1 << KIND_BITS) - 1) == EventKind::Arrival as u32
    }

    /// Number of the receiver among those of its kind, less than 2^21; 0 if there is only one.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 >> KIND_BITS) as usize
    }
}

const KIND_BITS: u32 = 5;
const INDEX_BITS: u32 = 21;
const TARGET_BITS: u32 = KIND_BITS + INDEX_BITS;
const SEQUENCE_BITS: u32 = 64 - TARGET_BITS;

/// Slots of the calendar.
const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;
/// Width of a slot at the start, 2^13 ns.
const FIRST_SHIFT: u32 = 13;
/// Maximum width of a slot, 2^30 ns.
const LAST_SHIFT: u32 = 30;
/// Number of events after which the width may be adapted again.
const ADAPT_EVERY: u64 = 8192;
/// Maximum number of open events in the list; further ones go into a heap.
const MAX_LISTED: usize = 64;
/// Slots are widened if more than one event in this number lay beyond the calendar's range.
const FAR_SHARE: u64 = 32;
/// Slots are narrowed if more than one event in this number shared a slot with an earlier one.
const BESIDE_SHARE: u64 = 16;
/// Number of adaptations after which a width that was too narrow may be tried again.
const FORGET_AFTER: u32 = 64;
/// Sequence number from which all events are numbered anew, early enough that none reaches 2^38.
const RENUMBER_AT: u64 = 1 << (SEQUENCE_BITS - 1);
/// Stands for no entry in links between entries.
const NONE: u32 = u32::MAX;

/// An event in a slot's list.
#[derive(Clone, Copy, Debug)]
struct SlotEntry {
    key: u128,
    next: u32,
}

fn parts(key: u128) -> (Time, EventTarget) {
    (Time::from_nanos((key >> 64) as u64), EventTarget(key as u32 & ((1 << TARGET_BITS) - 1)))
}

/// Events that are still to come.
#[derive(Debug)]
pub struct EventQueue {
    sequence: u64,
    /// Events of the open slot and of slots before it, latest first.
    open: Vec<u128>,
    /// Further open events, where inserting into the list would move too many; none while the list is empty.
    overflow: BinaryHeap<Reverse<u128>>,
    /// Number of the open slot, counted from time zero.
    at: u64,
    shift: u32,
    heads: Box<[u32; SLOTS]>,
    /// One bit per slot that has events.
    occupied: [u64; WORDS],
    /// One bit per word of `occupied` that is not zero.
    words: u64,
    entries: Vec<SlotEntry>,
    free: u32,
    /// Events beyond the last slot.
    far: BinaryHeap<Reverse<u128>>,
    /// Slot of the first of them; the largest number for none.
    far_slot: u64,
    /// Slots are not narrowed below this width: at the next narrower one too many events were far.
    narrowest: u32,
    /// Number of adaptations so far.
    adaptations: u32,
    /// Number of events that had been added at the last adaptation.
    adapted_at: u64,
    /// Events since the last adaptation that were in a slot with another when it was opened, or entered one that was open.
    beside: u64,
    /// Events that went beyond the last slot since the last adaptation.
    sent_far: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            sequence: 0,
            open: Vec::new(),
            overflow: BinaryHeap::new(),
            at: 0,
            shift: FIRST_SHIFT,
            heads: Box::new([NONE; SLOTS]),
            occupied: [0; WORDS],
            words: 0,
            entries: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
            far_slot: u64::MAX,
            narrowest: 0,
            adaptations: 0,
            adapted_at: 0,
            beside: 0,
            sent_far: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event before [`Time::MAX`], which stands for never.
    pub fn push(&mut self, at: Time, kind: EventKind, index: usize) {
        self.sequence += 1;
        debug_assert!(self.sequence < 1 << SEQUENCE_BITS && at < Time::MAX);
        let low = self.sequence << TARGET_BITS | u64::from(EventTarget::of(kind, index).0);
        self.place(u128::from(at.as_nanos()) << 64 | u128::from(low));
    }

    /// Removes the earliest event that is not after `limit`.
    #[inline(always)]
    pub fn take_until(&mut self, limit: Time) -> Option<(Time, EventTarget)> {
        if self.open.is_empty()
            && let Some(key) = self.take_single(limit)
        {
            return Some(parts(key));
        }
        self.take_open(limit)
    }

    /// The earliest of the open events, after opening the next slot if there are none.
    #[inline(never)]
    fn take_open(&mut self, limit: Time) -> Option<(Time, EventTarget)> {
        if self.open.is_empty() && !self.open_next() {
            return None;
        }
        if !self.overflow.is_empty() {
            return self.take_from_overflow(limit);
        }
        let (at, target) = parts(*self.open.last()?);
        if at > limit {
            return None;
        }
        self.open.pop();
        Some((at, target))
    }

    /// The earliest of the open events when some of them are in the heap.
    #[cold]
    fn take_from_overflow(&mut self, limit: Time) -> Option<(Time, EventTarget)> {
        let Reverse(first) = *self.overflow.peek()?;
        let is_listed = self.open.last().is_some_and(|listed| *listed < first);
        let key = if is_listed { *self.open.last()? } else { first };
        if parts(key).0 > limit {
            return None;
        }
        if is_listed {
            self.open.pop();
        } else {
            self.overflow.pop();
        }
        if self.open.is_empty() {
            self.open.extend(self.overflow.pop().map(|Reverse(key)| key));
        }
        Some(parts(key))
    }

    /// Removes the only event of the next slot without opening the slot; `None` if it has several, if a far event may
    /// come first, or after `limit`.
    #[inline(always)]
    fn take_single(&mut self, limit: Time) -> Option<u128> {
        let next = self.next_occupied()?;
        let slot = next as usize % SLOTS;
        let index = self.heads[slot];
        let entry = self.entries.get_mut(index as usize)?;
        let key = entry.key;
        // `open_next` brings far events near that could come first.
        let is_near = next + SLOTS as u64 <= self.far_slot;
        if entry.next != NONE || !is_near || parts(key).0 > limit {
            return None;
        }
        entry.next = self.free;
        self.free = index;
        self.heads[slot] = NONE;
        self.clear_bit(slot);
        self.at = next;
        Some(key)
    }

    #[inline(always)]
    fn place(&mut self, key: u128) {
        let number = (key >> 64) as u64 >> self.shift;
        let is_near = number.wrapping_sub(self.at + 1) < SLOTS as u64 - 1;
        match self.entries.get_mut(self.free as usize) {
            Some(entry) if is_near => {
                let slot = number as usize % SLOTS;
                let index = std::mem::replace(&mut self.free, entry.next);
                *entry = SlotEntry { key, next: self.heads[slot] };
                self.heads[slot] = index;
                self.occupied[slot / 64] |= 1 << (slot % 64);
                self.words |= 1 << (slot / 64);
            }
            _ => self.place_elsewhere(key, number),
        }
    }

    /// Places an event that is not near, or for which there is no free entry.
    #[inline(never)]
    fn place_elsewhere(&mut self, key: u128, slot: u64) {
        // A slot may have been opened whose events lie after the limit of `take_until`, so new events can lie
        // before it.
        if slot <= self.at {
            self.insert_open(key);
        } else if slot - self.at < SLOTS as u64 {
            self.free = self.entries.len() as u32;
            self.entries.push(SlotEntry { key: 0, next: NONE });
            self.place(key);
        } else {
            self.send_far(key, slot);
        }
    }

    #[cold]
    fn send_far(&mut self, key: u128, slot: u64) {
        self.far.push(Reverse(key));
        self.far_slot = self.far_slot.min(slot);
        self.sent_far += 1;
    }

    fn insert_open(&mut self, key: u128) {
        self.beside += u64::from(!self.open.is_empty());
        // Insertion moves the events behind it, which is quadratic when thousands share one slot.
        if self.open.len() >= MAX_LISTED {
            return self.overflow.push(Reverse(key));
        }
        let place = self.open.iter().rposition(|other| *other > key).map_or(0, |place| place + 1);
        self.open.insert(place, key);
    }

    /// Opens the next slot that has events; false when there are none at all.
    fn open_next(&mut self) -> bool {
        if self.sequence - self.adapted_at >= ADAPT_EVERY {
            self.adapt();
            // A rebuild opens the first slot of the new width.
            if !self.open.is_empty() {
                return true;
            }
        }
        let near = self.next_occupied().unwrap_or(u64::MAX);
        let next = near.min(self.far_slot);
        if next == u64::MAX {
            return false;
        }
        self.at = next;
        self.take_slot(next as usize % SLOTS);
        self.bring_near();
        self.beside += (self.open.len() as u64).saturating_sub(1);
        true
    }

    /// Moves far events that have come within the calendar's range.
    fn bring_near(&mut self) {
        while self.far_slot < self.at + SLOTS as u64 {
            if let Some(Reverse(key)) = self.far.pop() {
                self.place(key);
            }
            self.far_slot = self.far.peek().map_or(u64::MAX, |Reverse(key)| (key >> 64) as u64 >> self.shift);
        }
    }

    /// Moves a slot's list to the open events.
    #[inline]
    fn take_slot(&mut self, slot: usize) {
        let mut index = std::mem::replace(&mut self.heads[slot], NONE);
        // The list has the event added last first, which mostly is the latest.
        let mut is_sorted = true;
        while let Some(entry) = self.entries.get_mut(index as usize) {
            let key = entry.key;
            let following = std::mem::replace(&mut entry.next, self.free);
            self.free = index;
            is_sorted &= self.open.last().is_none_or(|last| *last > key);
            self.open.push(key);
            index = following;
        }
        if !is_sorted {
            self.open.sort_unstable_by(|a, b| b.cmp(a));
        }
        self.clear_bit(slot);
    }

    #[inline]
    fn clear_bit(&mut self, slot: usize) {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        if self.occupied[slot / 64] == 0 {
            self.words &= !(1 << (slot / 64));
        }
    }

    /// Number of the next slot after the open one that has events.
    #[inline(always)]
    fn next_occupied(&self) -> Option<u64> {
        let next = self.at + 1;
        let rest = self.occupied[next as usize % SLOTS / 64] >> (next % 64);
        if rest != 0 { Some(next + u64::from(rest.trailing_zeros())) } else { self.next_occupied_word(next) }
    }

    /// The first slot with events in the words after that of slot `next`, then around to it.
    #[inline(never)]
    fn next_occupied_word(&self, next: u64) -> Option<u64> {
        if self.words == 0 {
            return None;
        }
        let start = next as usize % SLOTS;
        let turned = self.words.rotate_right((start / 64) as u32 + 1);
        let word = (start / 64 + 1 + turned.trailing_zeros() as usize) % WORDS;
        let slot = word * 64 + self.occupied[word].trailing_zeros() as usize;
        Some(next + ((slot + SLOTS - start) % SLOTS) as u64)
    }

    /// Halves or doubles the slots' width. An event alone in its slot costs least, one too far for the slots most.
    #[cold]
    fn adapt(&mut self) {
        if self.sequence >= RENUMBER_AT {
            return self.renumber();
        }
        let (events, beside, far) = (self.sequence - self.adapted_at, self.beside, self.sent_far);
        (self.adapted_at, self.beside, self.sent_far) = (self.sequence, 0, 0);
        self.adaptations = self.adaptations.wrapping_add(1);
        if self.adaptations.is_multiple_of(FORGET_AFTER) {
            self.narrowest = 0;
        }
        if far > events / FAR_SHARE && self.shift < LAST_SHIFT {
            // Otherwise the width would alternate where both limits are exceeded.
            self.narrowest = self.shift + 1;
            self.rebuild(self.shift + 1);
        } else if beside > events / BESIDE_SHARE && self.shift > self.narrowest {
            self.rebuild(self.shift - 1);
        }
    }

    /// Numbers all events anew, in their order.
    fn renumber(&mut self) {
        let mut keys = self.take_all();
        keys.sort_unstable();
        let low = (1_u128 << TARGET_BITS) - 1;
        for (key, number) in keys.iter_mut().zip(1_u128..) {
            *key = *key >> 64 << 64 | number << TARGET_BITS | *key & low;
        }
        (self.sequence, self.adapted_at) = (keys.len() as u64, keys.len() as u64);
        self.place_all(keys, self.shift);
    }

    fn rebuild(&mut self, shift: u32) {
        let keys = self.take_all();
        self.place_all(keys, shift);
    }

    /// Removes all events, in an order that has no meaning.
    fn take_all(&mut self) -> Vec<u128> {
        let mut keys: Vec<u128> = self.far.drain().map(|Reverse(key)| key).collect();
        keys.append(&mut self.open);
        keys.extend(self.overflow.drain().map(|Reverse(key)| key));
        for head in self.heads.iter_mut() {
            let mut index = std::mem::replace(head, NONE);
            while index != NONE {
                keys.push(self.entries[index as usize].key);
                index = self.entries[index as usize].next;
            }
        }
        self.entries.clear();
        self.free = NONE;
        self.far_slot = u64::MAX;
        self.occupied = [0; WORDS];
        self.words = 0;
        keys
    }

    /// Adds events to an empty calendar, with this width of slots.
    fn place_all(&mut self, keys: Vec<u128>, shift: u32) {
        let first = keys.iter().min().map_or(0, |key| (key >> 64) as u64);
        self.shift = shift;
        self.at = first >> shift;
        for key in keys {
            self.place(key);
        }
        // `place` has counted events again that are not new.
        (self.sent_far, self.beside) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::rng::{Rng, Seed};

    fn push(events: &mut EventQueue, at: u64, index: u32) {
        events.push(Time::from_nanos(at), EventKind::Change, index as usize);
    }

    fn event(at: u64, index: u32) -> Option<(Time, EventTarget)> {
        Some((Time::from_nanos(at), EventTarget::of(EventKind::Change, index as usize)))
    }

    #[test]
    fn a_key_holds_the_largest_index_of_every_kind() {
        let mut events = EventQueue::default();
        let max = (1 << INDEX_BITS) - 1;
        for kind in KINDS {
            events.push(Time::ZERO, kind, max);
            assert_eq!(events.take_until(Time::ZERO), Some((Time::ZERO, EventTarget::of(kind, max))));
        }
    }

    #[test]
    fn events_come_by_time_and_then_in_the_order_requested() {
        let mut events = EventQueue::default();
        for (at, target) in [(5, 1), (3, 2), (5, 3), (3, 4)] {
            push(&mut events, at, target);
        }
        let mut order = Vec::new();
        while let Some((_, target)) = events.take_until(Time::MAX) {
            order.push(target.index());
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
                push(&mut events, at, step);
                model.push((at, step));
            } else {
                let (index, &(at, target)) =
                    model.iter().enumerate().min_by_key(|(_, entry)| **entry).expect("not empty");
                model.remove(index);
                now = at;
                assert_eq!(events.take_until(Time::MAX), event(at, target));
            }
        }
    }

    #[test]
    fn dense_and_sparse_stretches_match_a_sorted_list() {
        for (seed, reach) in [(1, 40), (2, 3_000_000), (3, 4_000_000_000)] {
            let mut rng = Rng::stream(Seed(seed), "stretches");
            let mut events = EventQueue::default();
            let mut model = std::collections::BTreeSet::new();
            let mut now = 0;
            for step in 0..60_000u32 {
                if model.len() < 200 && (model.is_empty() || rng.chance(0.55)) {
                    let at = now + u64::from(rng.below(reach));
                    push(&mut events, at, step);
                    model.insert((at, step));
                } else {
                    let (at, target) = model.pop_first().expect("not empty");
                    now = at;
                    assert_eq!(events.take_until(Time::MAX), event(at, target), "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn an_event_that_is_added_before_an_opened_slot_comes_first() {
        // Events that share a slot, that come by the hundred, and that are alone in their slot.
        for (seed, reach, most) in [(4, 30, 1), (5, 100_000, 100), (6, 20_000, 100), (7, 3_000_000, 1)] {
            let mut rng = Rng::stream(Seed(seed), "limits");
            let mut events = EventQueue::default();
            let mut model = std::collections::BTreeSet::new();
            let (mut now, mut number) = (0, 0);
            for _ in 0..20_000 {
                if model.len() < 300 {
                    let at = now + u64::from(rng.below(reach));
                    let burst = if rng.chance(0.1) { most } else { 1 };
                    for _ in 0..burst {
                        push(&mut events, at, number);
                        model.insert((at, number));
                        number += 1;
                    }
                }
                let limit = now + u64::from(rng.below(reach / 2));
                let expected = model.first().copied().filter(|(at, _)| *at <= limit);
                let found = events.take_until(Time::from_nanos(limit));
                assert_eq!(found, expected.and_then(|(at, number)| event(at, number)), "seed {seed}");
                // After a refusal the time is the limit, and new events may lie before the slot that was opened.
                now = expected.map_or(limit, |(at, _)| at);
                expected.inspect(|first| assert!(model.remove(first)));
            }
        }
    }

    /// The width of slots after 100,000 events of which `pending` are always to come, at most `reach` ns ahead.
    fn shift_after(pending: u32, reach: u32) -> u32 {
        let mut rng = Rng::stream(Seed(7), "width");
        let mut events = EventQueue::default();
        (0..pending).for_each(|number| push(&mut events, u64::from(rng.below(reach)), number));
        for _ in 0..100_000 {
            let (at, target) = events.take_until(Time::MAX).expect("events are pending");
            push(&mut events, at.as_nanos() + u64::from(rng.below(reach)), target.index() as u32);
        }
        events.shift
    }

    #[test]
    fn slots_are_narrow_where_events_are_dense_and_wide_where_they_are_far_apart() {
        assert!(shift_after(1000, 1_000_000) < FIRST_SHIFT);
        // Most events enter a slot that is open.
        assert!(shift_after(1000, 500) < FIRST_SHIFT);
        assert!(shift_after(50, 1_000_000_000) > FIRST_SHIFT);
        // Dense and far at once: the width at which few events are far is kept.
        let reach = 1_000_000_000;
        assert!(SLOTS as u64 * (1 << shift_after(20_000, reach)) >= u64::from(reach) / 2);
    }

    #[test]
    fn numbering_anew_keeps_the_order_of_one_instant() {
        let mut events = EventQueue { sequence: RENUMBER_AT - 100, ..EventQueue::default() };
        let mut taken = Vec::new();
        // More events than between two adaptations; a hundred of them at each instant.
        (0..300).for_each(|target| push(&mut events, u64::from(target / 100) * 10_000, target));
        for target in 300..3 * ADAPT_EVERY as u32 {
            taken.extend(events.take_until(Time::MAX).map(|(_, target)| target.index() as u32));
            push(&mut events, u64::from(target / 100) * 10_000, target);
        }
        assert!(events.sequence < RENUMBER_AT, "{}", events.sequence);
        assert!(taken.iter().copied().eq(0..taken.len() as u32));
    }

    #[test]
    fn many_events_of_one_instant_come_in_the_order_requested() {
        let mut events = EventQueue::default();
        for target in 0..10_000 {
            push(&mut events, 0, target);
        }
        for target in 0..10_000 {
            assert_eq!(events.take_until(Time::MAX), event(0, target));
            push(&mut events, 1, 10_000 + target);
        }
        assert_eq!(events.take_until(Time::MAX), event(1, 10_000));
    }

    #[test]
    fn an_event_after_the_limit_stays() {
        let mut events = EventQueue::default();
        push(&mut events, 9, 1);
        assert_eq!(events.take_until(Time::from_nanos(8)), None);
        assert_eq!(events.take_until(Time::from_nanos(9)), event(9, 1));
        assert_eq!(events.take_until(Time::MAX), None);
    }
}
