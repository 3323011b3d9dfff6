//! An arena: packets in one list of places, each known by its number.
//!
//! A packet keeps its place from its creation to its end. Pipelines, queues and lines pass its number on and change the
//! header in place. Queues and lines are lists, which link packets by numbers beside them and have no memory of their
//! own. A driver has one arena for all packets that its nodes and links exchange.

use std::ops::{Index, IndexMut};

use crate::units::Time;

/// Number of a packet in its [`Arena`].
///
/// There is one number for each packet: it cannot be copied, so that a packet is in one place of the program at a time. A
/// number that is dropped leaves its packet in the arena; [`Arena::end`] ends it.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "the packet stays in its arena until it is ended"]
pub struct PacketId(u32);

impl PacketId {
    /// A number without an arena.
    #[cfg(test)]
    pub(crate) const fn numbered(number: u32) -> Self {
        Self(number)
    }

    #[inline(always)]
    const fn index(&self) -> usize {
        self.0 as usize
    }
}

/// What an [`Arena`] stores.
pub trait Stored {
    /// The value; what stays behind holds no memory of its own.
    fn take(&mut self) -> Self;
}

/// A list of places for packets or frames. Places are used again, the one freed last first.
#[derive(Debug)]
pub struct Arena<T> {
    items: Vec<T>,
    links: Vec<Neighbours>,
    /// The place freed last, `NONE` if there is no free one.
    free: u32,
}

/// Position of a packet in its [`List`], or of a free place among the free ones.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    time: Time,
    next: u32,
    previous: u32,
}

// Four share a cache line.
const _: () = assert!(size_of::<Neighbours>() == 16);

const NONE: u32 = u32::MAX;

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { items: Vec::new(), links: Vec::new(), free: NONE }
    }
}

impl<T: Stored> Arena<T> {
    /// Puts a packet into a free place.
    ///
    /// # Panics
    /// If 2^32 - 1 packets are there.
    #[inline]
    pub fn insert(&mut self, item: T) -> PacketId {
        let free = self.free as usize;
        let (Some(place), Some(link)) = (self.items.get_mut(free), self.links.get(free)) else {
            return self.append(item);
        };
        *place = item;
        PacketId(std::mem::replace(&mut self.free, link.next))
    }

    #[cold]
    fn append(&mut self, item: T) -> PacketId {
        let number = u32::try_from(self.items.len()).ok().filter(|number| *number != NONE);
        self.items.push(item);
        self.links.push(Neighbours { time: Time::ZERO, next: NONE, previous: NONE });
        PacketId(number.expect("fewer than 2^32 packets"))
    }

    /// Ends a packet; its place is free.
    #[inline]
    pub fn end(&mut self, packet: PacketId) {
        drop(self.take(packet));
    }

    /// Takes a packet out.
    #[inline]
    pub fn take(&mut self, packet: PacketId) -> T {
        let index = packet.index();
        self.links[index].next = std::mem::replace(&mut self.free, packet.0);
        self.items[index].take()
    }

    /// A further packet like this one.
    pub fn copy(&mut self, packet: &PacketId) -> PacketId
    where
        T: Clone,
    {
        let copy = self[packet].clone();
        self.insert(copy)
    }

    /// Number of packets in the arena, counted one by one.
    pub fn count(&self) -> usize {
        let free = std::iter::successors(self.links.get(self.free as usize), |link| {
            self.links.get(link.next as usize)
        });
        self.items.len() - free.count()
    }
}

impl<T> Index<&PacketId> for Arena<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, packet: &PacketId) -> &T {
        &self.items[packet.index()]
    }
}

impl<T> IndexMut<&PacketId> for Arena<T> {
    #[inline(always)]
    fn index_mut(&mut self, packet: &PacketId) -> &mut T {
        &mut self.items[packet.index()]
    }
}

/// Packets of one arena in an order, each with a time.
#[derive(Debug)]
pub(crate) struct List {
    /// The first packet; `NONE` in an empty list, so that the check of its number finds that, too.
    head: u32,
    /// The last packet, if there is one.
    tail: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { head: NONE, tail: NONE }
    }
}

impl List {
    #[inline(always)]
    pub(crate) const fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Number of packets, counted one by one.
    pub(crate) fn count<T>(&self, arena: &Arena<T>) -> usize {
        self.iter(arena).count()
    }

    /// The first packet with its time.
    #[inline(always)]
    pub(crate) fn first<'a, T>(&self, arena: &'a Arena<T>) -> Option<(&'a T, Time)> {
        let first = self.head as usize;
        Some((arena.items.get(first)?, arena.links.get(first)?.time))
    }

    /// Time of the first packet.
    #[inline(always)]
    pub(crate) fn first_time<T>(&self, arena: &Arena<T>) -> Option<Time> {
        arena.links.get(self.head as usize).map(|link| link.time)
    }

    /// Time of the last packet.
    pub(crate) fn last_time<T>(&self, arena: &Arena<T>) -> Option<Time> {
        (!self.is_empty()).then(|| arena.links[self.tail as usize].time)
    }

    /// Puts a packet at the end; returns whether it is the first.
    #[inline(always)]
    pub(crate) fn push_back<T>(&mut self, arena: &mut Arena<T>, packet: PacketId, time: Time) -> bool {
        arena.links[packet.index()] = Neighbours { time, next: NONE, previous: self.tail };
        let is_first = self.is_empty();
        if is_first {
            self.head = packet.0;
        } else {
            arena.links[self.tail as usize].next = packet.0;
        }
        self.tail = packet.0;
        is_first
    }

    /// Removes the first packet.
    #[inline(always)]
    pub(crate) fn pop_front<T>(&mut self, arena: &Arena<T>) -> Option<(PacketId, Time)> {
        self.pop_until(arena, Time::MAX)
    }

    /// Removes the first packet if its time is not after `limit`.
    #[inline(always)]
    pub(crate) fn pop_until<T>(&mut self, arena: &Arena<T>, limit: Time) -> Option<(PacketId, Time)> {
        let link = arena.links.get(self.head as usize)?;
        if link.time > limit {
            return None;
        }
        let packet = PacketId(std::mem::replace(&mut self.head, link.next));
        Some((packet, link.time))
    }

    /// Puts a packet before all at the end that have a later time; returns whether it is the first.
    pub(crate) fn insert_by_time<T>(&mut self, arena: &mut Arena<T>, packet: PacketId, time: Time) -> bool {
        let later = self.backwards(arena).take_while(|place| arena.links[*place as usize].time > time);
        let Some(next) = later.last() else { return self.push_back(arena, packet, time) };
        let previous = arena.links[next as usize].previous;
        let is_first = next == self.head;
        if is_first {
            self.head = packet.0;
        } else {
            arena.links[previous as usize].next = packet.0;
        }
        arena.links[next as usize].previous = packet.0;
        arena.links[packet.index()] = Neighbours { time, next, previous };
        is_first
    }

    /// The packets in their order, with their times.
    pub(crate) fn iter<'a, T>(
        &self,
        arena: &'a Arena<T>,
    ) -> impl Iterator<Item = (&'a T, Time)> + use<'a, T> {
        let mut place = self.head as usize;
        std::iter::from_fn(move || {
            let (item, link) = (arena.items.get(place)?, arena.links.get(place)?);
            place = link.next as usize;
            Some((item, link.time))
        })
    }

    /// The places from the last to the first.
    fn backwards<'a, T>(&self, arena: &'a Arena<T>) -> impl Iterator<Item = u32> + use<'a, T> {
        let last = (!self.is_empty()).then_some(self.tail);
        let head = self.head;
        // The first one's link to a packet before it is that of a packet which has left.
        let previous = move |place: &u32| (*place != head).then(|| arena.links[*place as usize].previous);
        std::iter::successors(last, previous)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Seed};
    use crate::units::Span;
    use std::collections::VecDeque;

    impl Stored for u64 {
        fn take(&mut self) -> Self {
            std::mem::take(self)
        }
    }

    #[test]
    fn a_freed_place_is_used_next_and_what_is_left_is_counted() {
        let mut arena = Arena::default();
        let [first, second] = [1, 2].map(|item| arena.insert(item));
        let place = first.0;
        assert_eq!((arena[&first], arena[&second], arena.count()), (1, 2, 2));
        assert_eq!((arena.take(first), arena.count()), (1, 1));
        let third = arena.copy(&second);
        assert_eq!((third.0, arena[&third], arena.count()), (place, 2, 2));
        arena.end(second);
        arena.end(third);
        assert_eq!(arena.count(), 0);
    }

    #[test]
    fn random_operations_on_two_lists_match_standard_queues() {
        let mut rng = Rng::stream(Seed(1), "lists");
        let mut arena = Arena::default();
        let mut lists: [(List, VecDeque<(u64, Time)>); 2] = Default::default();
        let at = |nanos| Time::ZERO + Span::from_nanos(nanos);
        for number in 0..50_000u64 {
            let (list, model) = &mut lists[rng.below(2) as usize];
            match rng.below(20) {
                0..=8 => {
                    let packet = arena.insert(number);
                    list.push_back(&mut arena, packet, at(number));
                    model.push_back((number, at(number)));
                }
                9..=16 => {
                    let popped = list.pop_front(&arena).map(|(packet, time)| (arena.take(packet), time));
                    assert_eq!(popped, model.pop_front());
                }
                17 | 18 => {
                    let time = at(number.saturating_sub(u64::from(rng.below(60))));
                    let later = model.iter().rev().take_while(|(_, other)| *other > time).count();
                    let place = model.len() - later;
                    let packet = arena.insert(number);
                    assert_eq!(list.insert_by_time(&mut arena, packet, time), place == 0);
                    model.insert(place, (number, time));
                }
                _ if rng.below(100) == 0 => {
                    while let Some((packet, _)) = list.pop_front(&arena) {
                        arena.end(packet);
                    }
                    model.clear();
                }
                _ => {}
            }
            assert_eq!((list.count(&arena), list.is_empty()), (model.len(), model.is_empty()));
            assert_eq!(list.first(&arena).map(|(item, time)| (*item, time)), model.front().copied());
            assert_eq!(list.first_time(&arena), model.front().map(|(_, time)| *time));
            assert_eq!(list.last_time(&arena), model.back().map(|(_, time)| *time));
        }
        for (list, model) in &lists {
            assert!(list.iter(&arena).map(|(item, time)| (*item, time)).eq(model.iter().copied()));
        }
        assert_eq!(arena.count(), lists.iter().map(|(list, _)| list.count(&arena)).sum());
    }
}
