//! Pending entries by face: how many each has caused, oldest first, and all that may hold a record of it.
//!
//! Nothing is searched when an entry ends. Lists keep its number until they have doubled, so that every change costs
//! amortised constant time, and the end of a face costs the number of its own entries.

use std::collections::VecDeque;

use super::slab::Slab;
use crate::ndn::face::FaceId;

/// Number of entries in a list from which those without meaning are looked for.
const FEW: usize = 64;

/// The face that caused an entry.
#[derive(Clone, Copy, Debug, Default)]
struct Cause {
    /// Face whose share the entry counts for; `None` if no entry has the number, or its face is gone.
    face: Option<FaceId>,
    /// Number of entries that began before, modulo 2^32: tells this entry from earlier ones of its number.
    serial: u32,
}

/// Entries of one face.
#[derive(Debug, Default)]
struct FaceEntries {
    /// Number of entries that it has caused and that are pending now.
    count: u32,
    /// Those, oldest first, each with its serial number; others are among them that have ended.
    caused: VecDeque<(u32, u32)>,
    /// Entries that got a record of the face later; others are among them that have ended.
    joined: Vec<u32>,
    /// Length of `joined` at which those without a record of the face are removed.
    crowded: usize,
}

/// Entries of all faces of one PIT.
#[derive(Debug, Default)]
pub(super) struct Shares {
    /// The cause of each entry, indexed by its number.
    causes: Vec<Cause>,
    /// The entries of each face, indexed by its number.
    faces: Vec<FaceEntries>,
    serial: u32,
    /// A face that has at least half as many entries as any other.
    largest: FaceId,
    /// Number of its entries when it was found.
    found_with: u32,
}

impl Shares {
    fn face(&mut self, face: FaceId) -> &mut FaceEntries {
        if self.faces.len() <= face.index() {
            self.faces.resize_with(face.index() + 1, FaceEntries::default);
        }
        &mut self.faces[face.index()]
    }

    /// Number of pending entries that `face` has caused.
    pub(super) fn count(&self, face: FaceId) -> u32 {
        self.faces.get(face.index()).map_or(0, |entries| entries.count)
    }

    /// The entry `id` counts for `face` from now on.
    pub(super) fn begin(&mut self, id: u32, face: FaceId) {
        self.end(id);
        self.serial = self.serial.wrapping_add(1);
        if self.causes.len() <= id as usize {
            self.causes.resize(id as usize + 1, Cause::default());
        }
        let (serial, causes) = (self.serial, &mut self.causes);
        causes[id as usize] = Cause { face: Some(face), serial };
        let entries = self.face(face);
        entries.count += 1;
        entries.caused.push_back((id, serial));
        let count = entries.count;
        if entries.caused.len() > FEW.max(2 * count as usize) {
            let causes = &self.causes;
            self.faces[face.index()].caused.retain(|known| is_pending(causes, *known));
        }
        if count > self.count(self.largest) {
            (self.largest, self.found_with) = (face, count);
        }
    }

    /// The entry `id` has got a record of `face`.
    pub(super) fn join(&mut self, id: u32, face: FaceId, slab: &Slab) {
        let entries = self.face(face);
        if entries.joined.last() == Some(&id) {
            return;
        }
        entries.joined.push(id);
        if entries.joined.len() > FEW.max(entries.crowded) {
            entries.joined.retain(|id| slab.get(*id).involves(face));
            entries.crowded = 2 * entries.joined.len();
        }
    }

    /// The entry `id` counts for `face` unless it counts for another face already.
    pub(super) fn inherit(&mut self, id: u32, face: FaceId) {
        if self.causes.get(id as usize).is_none_or(|cause| cause.face.is_none()) {
            self.begin(id, face);
        }
    }

    /// The entry `id` has ended.
    pub(super) fn end(&mut self, id: u32) {
        let Some(face) = self.causes.get_mut(id as usize).and_then(|cause| cause.face.take()) else { return };
        self.face(face).count -= 1;
    }

    /// The oldest entry of a face that has at least half as many as any other, and that face; `None` unless it has at least two more than
    /// `face`, so that two faces do not displace each other's entries in turn.
    pub(super) fn displaceable(&mut self, face: FaceId) -> Option<(u32, FaceId)> {
        if self.count(self.largest) <= self.found_with / 2 {
            self.find_largest();
        }
        if self.count(self.largest) < self.count(face).saturating_add(2) {
            return None;
        }
        let causes = &self.causes;
        let caused = &mut self.faces[self.largest.index()].caused;
        while caused.front().is_some_and(|known| !is_pending(causes, *known)) {
            caused.pop_front();
        }
        caused.front().map(|(id, _)| (*id, self.largest))
    }

    #[cold]
    fn find_largest(&mut self) {
        let counts = (0..).map(FaceId).zip(self.faces.iter().map(|entries| entries.count));
        let (largest, count) = counts.max_by_key(|(_, count)| *count).unwrap_or_default();
        (self.largest, self.found_with) = (largest, count);
    }

    /// Removes a face: none of its entries counts for it any more. Returns all that may hold a record of it, some of them
    /// more than once.
    pub(super) fn remove_face(&mut self, face: FaceId) -> Vec<u32> {
        let FaceEntries { caused, joined, .. } = std::mem::take(self.face(face));
        let mut involved = joined;
        for known in caused {
            if is_pending(&self.causes, known) {
                self.causes[known.0 as usize].face = None;
                involved.push(known.0);
            }
        }
        involved
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let lists = self.faces.iter().map(|entries| {
            entries.caused.capacity() * size_of::<(u32, u32)>() + entries.joined.capacity() * size_of::<u32>()
        });
        self.causes.capacity() * size_of::<Cause>()
            + self.faces.capacity() * size_of::<FaceEntries>()
            + lists.sum::<usize>()
    }
}

/// Whether an entry of a list is the one that was meant, and pending.
fn is_pending(causes: &[Cause], (id, serial): (u32, u32)) -> bool {
    let cause = causes[id as usize];
    cause.face.is_some() && cause.serial == serial
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOD: FaceId = FaceId(0);
    const HONEST: FaceId = FaceId(1);
    const OTHER: FaceId = FaceId(2);

    fn with(entries: &[(FaceId, u32)]) -> Shares {
        let mut shares = Shares::default();
        let mut id = 0;
        for (face, count) in entries {
            (0..*count).for_each(|_| {
                shares.begin(id, *face);
                id += 1;
            });
        }
        shares
    }

    #[test]
    fn the_end_of_a_face_lists_its_own_entries_and_not_those_of_others() {
        let mut shares = with(&[(FLOOD, 100_000), (HONEST, 3), (FLOOD, 100_000)]);
        assert_eq!(shares.remove_face(HONEST), [100_000, 100_001, 100_002]);
        assert_eq!((shares.count(HONEST), shares.count(FLOOD)), (0, 200_000));
    }

    #[test]
    fn the_oldest_pending_entry_of_the_largest_share_goes_first() {
        let mut shares = with(&[(HONEST, 5), (FLOOD, 100), (OTHER, 4)]);
        shares.end(5);
        assert_eq!(shares.displaceable(HONEST), Some((6, FLOOD)));
        assert_eq!(shares.displaceable(FLOOD), None);
        (6..100).for_each(|id| shares.end(id));
        // Five are left of each: neither displaces the other's.
        assert_eq!((shares.count(FLOOD), shares.displaceable(HONEST)), (5, None));
        shares.end(4);
        shares.end(3);
        assert_eq!(shares.displaceable(HONEST), Some((100, FLOOD)));
    }

    #[test]
    fn lists_stay_in_proportion_to_what_is_pending() {
        let mut shares = Shares::default();
        for id in (0..10).cycle().take(100_000) {
            shares.begin(id, FLOOD);
        }
        assert!(shares.faces[0].caused.len() <= 65, "{}", shares.faces[0].caused.len());
        assert!(shares.memory_bytes() < 4_000, "{}", shares.memory_bytes());
        assert_eq!(shares.count(FLOOD), 10);
    }
}
