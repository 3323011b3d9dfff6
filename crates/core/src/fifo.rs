//! A first-in-first-out queue in a ring whose length is a power of two. Every packet passes through two of them per hop.

/// First in, first out. `Option<T>` should be as small as `T`, as it is for a pointer, or places take more memory.
#[derive(Debug)]
pub(crate) struct Fifo<T> {
    /// A power of two of places, or none at all.
    places: Box<[Option<T>]>,
    /// Number of items removed since the start, from which the place of the first follows.
    head: usize,
    len: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self { places: Box::default(), head: 0, len: 0 }
    }
}

impl<T> Fifo<T> {
    /// Number of items in the queue.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The place of the item that `ahead` others precede.
    #[inline(always)]
    const fn place(&self, ahead: usize) -> usize {
        // In an empty list of places, this is the number of no place.
        self.head.wrapping_add(ahead) & self.places.len().wrapping_sub(1)
    }

    /// The item that `ahead` others precede.
    #[inline(always)]
    pub(crate) fn get(&self, ahead: usize) -> Option<&T> {
        self.places.get(self.place(ahead)).filter(|_| ahead < self.len)?.as_ref()
    }

    /// The item that leaves next.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<&T> {
        self.places.get(self.place(0))?.as_ref()
    }

    /// Puts an item at the end.
    #[inline(always)]
    pub(crate) fn push_back(&mut self, item: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.places[place] = Some(item);
        self.len += 1;
    }

    /// Removes the first item.
    #[inline(always)]
    pub(crate) fn pop_front(&mut self) -> Option<T> {
        let place = self.place(0);
        let item = self.places.get_mut(place)?.take()?;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        Some(item)
    }

    /// Puts an item before all at the end for which `is_later`; returns the number of items before it.
    pub(crate) fn insert_before(&mut self, item: T, is_later: impl Fn(&T) -> bool) -> usize {
        self.push_back(item);
        let mut ahead = self.len - 1;
        while ahead > 0 && self.get(ahead - 1).is_some_and(&is_later) {
            self.places.swap(self.place(ahead), self.place(ahead - 1));
            ahead -= 1;
        }
        ahead
    }

    /// The items in their order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|ahead| self.get(ahead))
    }

    /// Removes all items of the queue.
    pub(crate) fn clear(&mut self) {
        while self.pop_front().is_some() {}
    }

    #[cold]
    fn grow(&mut self) {
        let places = (self.len * 2).max(4);
        let mut items = Vec::with_capacity(places);
        items.extend(std::iter::from_fn(|| self.pop_front()).map(Some));
        (self.head, self.len) = (0, items.len());
        items.resize_with(places, || None);
        self.places = items.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Seed};
    use std::collections::VecDeque;

    #[test]
    fn random_operations_match_the_standard_queue() {
        let mut rng = Rng::stream(Seed(1), "fifo");
        let (mut fifo, mut model) = (Fifo::default(), VecDeque::new());
        for number in 0..50_000u64 {
            match rng.below(20) {
                0..=8 => {
                    fifo.push_back(number);
                    model.push_back(number);
                }
                9..=16 => assert_eq!(fifo.pop_front(), model.pop_front()),
                17 | 18 => {
                    let place = model.partition_point(|other| *other <= number / 2);
                    // A place by value is defined in a sorted queue only.
                    if model.iter().is_sorted() {
                        assert_eq!(fifo.insert_before(number / 2, |other| *other > number / 2), place);
                        model.insert(place, number / 2);
                    }
                }
                _ if rng.below(100) == 0 => {
                    fifo.clear();
                    model.clear();
                }
                _ => {}
            }
            assert_eq!((fifo.len(), fifo.is_empty()), (model.len(), model.is_empty()));
            assert_eq!((fifo.front(), fifo.get(fifo.len())), (model.front(), None));
            assert_eq!(fifo.get(model.len() / 2), model.get(model.len() / 2));
        }
        assert!(fifo.iter().eq(&model));
    }
}
