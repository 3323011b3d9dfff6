//! Least frequently used: the Data that answered the fewest Interests since its insertion leaves first, of
//! several the one used least recently. Counts of evicted Data are forgotten (in-cache LFU).
//!
//! Places of one count form a list, the lists stand in the order of their counts: every step takes constant
//! time (Shah, Mitra & Matani 2010).

use super::order::NONE;

/// A place in the list of its count.
#[derive(Clone, Copy, Debug)]
struct ListPlace {
    list: u32,
    newer: u32,
    older: u32,
}

/// All places of one count.
#[derive(Clone, Copy, Debug)]
struct Counted {
    count: u64,
    /// The list of the next higher count that exists.
    above: u32,
    below: u32,
    newest: u32,
    oldest: u32,
}

#[derive(Debug)]
pub(super) struct Lfu {
    places: Vec<ListPlace>,
    lists: Vec<Counted>,
    /// Indices in `lists` that are free to be used again.
    free: Vec<u32>,
    /// The list of the lowest count.
    lowest: u32,
}

impl Default for Lfu {
    fn default() -> Self {
        Self { places: Vec::new(), lists: Vec::new(), free: Vec::new(), lowest: NONE }
    }
}

impl Lfu {
    pub(super) fn enter(&mut self, slot: u32) {
        if slot as usize == self.places.len() {
            self.places.push(ListPlace { list: NONE, newer: NONE, older: NONE });
        }
        let list = match self.lowest {
            lowest if lowest != NONE && self.lists[lowest as usize].count == 0 => lowest,
            _ => self.insert_list(0, NONE),
        };
        self.push(list, slot);
    }

    pub(super) fn touch(&mut self, slot: u32) {
        let list = self.places[slot as usize].list;
        let Counted { count, above, .. } = self.lists[list as usize];
        let next = match above {
            above if above != NONE && self.lists[above as usize].count == count + 1 => above,
            _ => self.insert_list(count + 1, list),
        };
        // The list of the next count is looked up first, because the place's own list may vanish with it.
        self.unlink(slot);
        self.push(next, slot);
    }

    pub(super) fn renew(&mut self, _: u32) {}

    pub(super) fn leave(&mut self) -> u32 {
        let slot = self.lists[self.lowest as usize].oldest;
        self.unlink(slot);
        slot
    }

    /// Makes the list of `count` just above the list `below`, or lowest of all.
    fn insert_list(&mut self, count: u64, below: u32) -> u32 {
        let above = if below == NONE { self.lowest } else { self.lists[below as usize].above };
        let list = Counted { count, above, below, newest: NONE, oldest: NONE };
        let place = self.free.pop().unwrap_or(self.lists.len() as u32);
        match self.lists.get_mut(place as usize) {
            Some(free) => *free = list,
            None => self.lists.push(list),
        }
        self.join(below, place);
        self.join(place, above);
        place
    }

    /// Makes two lists neighbours, of which one may be missing.
    fn join(&mut self, below: u32, above: u32) {
        match below {
            NONE => self.lowest = above,
            below => self.lists[below as usize].above = above,
        }
        if above != NONE {
            self.lists[above as usize].below = below;
        }
    }

    fn push(&mut self, list: u32, slot: u32) {
        let old = std::mem::replace(&mut self.lists[list as usize].newest, slot);
        self.places[slot as usize] = ListPlace { list, newer: NONE, older: old };
        match old {
            NONE => self.lists[list as usize].oldest = slot,
            old => self.places[old as usize].newer = slot,
        }
    }

    /// Takes a place out of its list, and the list out of all if it was the last.
    fn unlink(&mut self, slot: u32) {
        let ListPlace { list, newer, older } = self.places[slot as usize];
        match newer {
            NONE => self.lists[list as usize].newest = older,
            newer => self.places[newer as usize].older = older,
        }
        match older {
            NONE => self.lists[list as usize].oldest = newer,
            older => self.places[older as usize].newer = newer,
        }
        if self.lists[list as usize].newest == NONE {
            let Counted { above, below, .. } = self.lists[list as usize];
            self.join(below, above);
            self.free.push(list);
        }
    }

    /// Takes a place out; the place of the highest number gets its number.
    pub(super) fn remove(&mut self, slot: u32) {
        self.unlink(slot);
        let last = self.places.len() as u32 - 1;
        if last != slot {
            let ListPlace { list, newer, older } = self.places[last as usize];
            self.places[slot as usize] = ListPlace { list, newer, older };
            match newer {
                NONE => self.lists[list as usize].newest = slot,
                newer => self.places[newer as usize].older = slot,
            }
            match older {
                NONE => self.lists[list as usize].oldest = slot,
                older => self.places[older as usize].newer = slot,
            }
        }
        self.places.pop();
    }
}
