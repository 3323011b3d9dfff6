//! Pending entries by face: how many each has caused, oldest first, and all that may hold a record of it.
//!
//! Faces of one peer have one share, so that a peer has no more of the table by using many ports.
//!
//! Nothing is searched when an entry ends. Lists keep its number until they have doubled, so that every change costs
//! amortised constant time, and the end of a face costs the number of its own entries.

use std::collections::{BTreeMap, VecDeque};

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

/// Address of a peer, in any encoding: faces with the same one have one share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SharePeer(pub u128);

/// The largest of several numbers of entries, give or take a factor of two.
#[derive(Clone, Copy, Debug, Default)]
struct Largest<T> {
    of: T,
    /// Its number of entries when it was found.
    found_with: u32,
}

impl<T: Copy> Largest<T> {
    /// The number of entries of `of` has become `count`, that of the largest is `largest`.
    fn note(&mut self, of: T, count: u32, largest: u32) {
        if count > largest {
            *self = Self { of, found_with: count };
        }
    }

    /// Looks for the largest again if it has lost half of its entries.
    fn renew(&mut self, count: u32, all: impl Iterator<Item = (T, u32)>) {
        if count <= self.found_with / 2
            && let Some((of, found_with)) = all.max_by_key(|(_, count)| *count)
        {
            *self = Self { of, found_with };
        }
    }
}

/// Faces whose entries count together.
#[derive(Debug, Default)]
struct Share {
    peer: Option<SharePeer>,
    count: u32,
    /// Those that have caused an entry, and all faces of the peer.
    faces: Vec<FaceId>,
    largest: Largest<FaceId>,
}

/// Entries of one face.
#[derive(Debug, Default)]
struct FaceEntries {
    /// Number of its share; `None` before its first entry unless it was put into that of a peer.
    share: Option<u32>,
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
    /// All shares by their number.
    shares: Vec<Share>,
    /// Numbers of shares without a face.
    unused: Vec<u32>,
    by_peer: BTreeMap<SharePeer, u32>,
    largest: Largest<u32>,
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

    /// Number of pending entries of a share.
    fn total(&self, share: u32) -> u32 {
        self.shares.get(share as usize).map_or(0, |share| share.count)
    }

    /// The entries of a face that has none count together with those of all faces of `peer`.
    pub(super) fn put_into(&mut self, face: FaceId, peer: SharePeer) {
        if self.face(face).share.is_some() {
            return;
        }
        let share = self.by_peer.get(&peer).copied().unwrap_or_else(|| self.open(Some(peer)));
        self.by_peer.insert(peer, share);
        self.enter(face, share);
    }

    /// The share of a face, which is one of its own unless it was put into another.
    fn share_of(&mut self, face: FaceId) -> u32 {
        if let Some(share) = self.face(face).share {
            return share;
        }
        let share = self.open(None);
        self.enter(face, share);
        share
    }

    fn enter(&mut self, face: FaceId, share: u32) {
        self.face(face).share = Some(share);
        let share = &mut self.shares[share as usize];
        if share.faces.is_empty() {
            share.largest.of = face;
        }
        share.faces.push(face);
    }

    fn open(&mut self, peer: Option<SharePeer>) -> u32 {
        let share = Share { peer, ..Share::default() };
        match self.unused.pop() {
            Some(number) => {
                self.shares[number as usize] = share;
                number
            }
            None => {
                self.shares.push(share);
                self.shares.len() as u32 - 1
            }
        }
    }

    /// A face with `count` entries leaves its share, which ends with the last.
    fn leave(&mut self, face: FaceId, number: u32, count: u32) {
        let share = &mut self.shares[number as usize];
        share.count -= count;
        share.faces.retain(|other| *other != face);
        if let (true, Some(other)) = (share.largest.of == face, share.faces.first()) {
            // Looked for again before it is used.
            share.largest = Largest { of: *other, found_with: u32::MAX };
        }
        if share.faces.is_empty() {
            if let Some(peer) = share.peer.take() {
                self.by_peer.remove(&peer);
            }
            self.unused.push(number);
        }
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
        let number = self.share_of(face);
        let entries = self.face(face);
        entries.count += 1;
        entries.caused.push_back((id, serial));
        let count = entries.count;
        if entries.caused.len() > FEW.max(2 * count as usize) {
            let causes = &self.causes;
            self.faces[face.index()].caused.retain(|known| is_pending(causes, *known));
        }
        let share = &mut self.shares[number as usize];
        share.count += 1;
        let total = share.count;
        let largest = self.faces[share.largest.of.index()].count;
        share.largest.note(face, count, largest);
        let largest = self.total(self.largest.of);
        self.largest.note(number, total, largest);
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
        let entries = self.face(face);
        entries.count -= 1;
        if let Some(share) = entries.share {
            self.shares[share as usize].count -= 1;
        }
    }

    /// The oldest entry of the face with most entries in the largest share, and that face. `None` unless the share has at least
    /// two entries more than that of `face`, or is that of `face`, and its face has two more than `face`: so two do not displace
    /// each other's entries in turn. Largest is a share that has at least half as many as any other.
    pub(super) fn displaceable(&mut self, face: FaceId) -> Option<(u32, FaceId)> {
        let own = self.faces.get(face.index()).and_then(|entries| entries.share);
        let own_total = own.map_or(0, |share| self.total(share));
        let largest = self.largest_share();
        let share = if self.total(largest) >= own_total.saturating_add(2) { largest } else { own? };
        let owner = self.largest_face(share);
        if Some(share) == own && self.count(owner) < self.count(face).saturating_add(2) {
            return None;
        }
        let causes = &self.causes;
        let caused = &mut self.faces[owner.index()].caused;
        while caused.front().is_some_and(|known| !is_pending(causes, *known)) {
            caused.pop_front();
        }
        caused.front().map(|(id, _)| (*id, owner))
    }

    fn largest_share(&mut self) -> u32 {
        let count = self.total(self.largest.of);
        self.largest.renew(count, (0..).zip(self.shares.iter().map(|share| share.count)));
        self.largest.of
    }

    /// The face of a share that has at least half as many entries as any other of it.
    fn largest_face(&mut self, share: u32) -> FaceId {
        let (share, faces) = (&mut self.shares[share as usize], &self.faces);
        let count_of = |face: FaceId| faces[face.index()].count;
        let count = count_of(share.largest.of);
        share.largest.renew(count, share.faces.iter().map(|face| (*face, count_of(*face))));
        share.largest.of
    }

    /// Removes a face: none of its entries counts for it any more. Returns all that may hold a record of it, some of them
    /// more than once.
    pub(super) fn remove_face(&mut self, face: FaceId) -> Vec<u32> {
        let FaceEntries { share, count, caused, joined, .. } = std::mem::take(self.face(face));
        if let Some(share) = share {
            self.leave(face, share, count);
        }
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
            + self.shares.capacity() * size_of::<Share>()
            + self.shares.iter().map(|share| share.faces.capacity() * size_of::<FaceId>()).sum::<usize>()
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
    fn faces_of_one_peer_have_one_share() {
        let mut shares = Shares::default();
        let ports: Vec<FaceId> = (10..40).map(FaceId).collect();
        ports.iter().for_each(|port| shares.put_into(*port, SharePeer(7)));
        for (id, port) in (0..300).zip(ports.iter().cycle()) {
            shares.begin(id, *port);
        }
        (300..500).for_each(|id| shares.begin(id, HONEST));
        // Each port has 10 entries, far fewer than the honest face, but together they have 300.
        for id in 500..550 {
            let (oldest, owner) = shares.displaceable(HONEST).expect("the ports have more");
            assert!(ports.contains(&owner), "{owner:?}");
            shares.end(oldest);
            shares.begin(id, HONEST);
        }
        assert_eq!((shares.count(HONEST), shares.displaceable(HONEST)), (250, None));
    }

    #[test]
    fn a_face_displaces_entries_of_another_face_of_its_peer() {
        let mut shares = Shares::default();
        [FLOOD, OTHER].into_iter().for_each(|face| shares.put_into(face, SharePeer(7)));
        (0..100).for_each(|id| shares.begin(id, FLOOD));
        assert_eq!(shares.displaceable(OTHER), Some((0, FLOOD)));
        assert_eq!(shares.displaceable(FLOOD), None);
    }

    #[test]
    fn a_face_that_takes_the_number_of_another_is_in_no_share_of_the_other() {
        let mut shares = Shares::default();
        [FLOOD, HONEST].into_iter().for_each(|face| shares.put_into(face, SharePeer(7)));
        (0..10).for_each(|id| shares.begin(id, FLOOD));
        shares.begin(10, HONEST);
        shares.remove_face(FLOOD);
        (20..50).for_each(|id| shares.begin(id, FLOOD));
        (60..90).for_each(|id| shares.begin(id, HONEST));
        assert_eq!(shares.displaceable(OTHER).map(|(_, face)| face), Some(HONEST));
    }

    #[test]
    fn the_share_of_a_peer_ends_with_its_last_face() {
        let mut shares = Shares::default();
        for (face, id) in [(FLOOD, 1), (OTHER, 2)] {
            shares.put_into(face, SharePeer(7));
            shares.begin(id, face);
        }
        shares.remove_face(FLOOD);
        assert_eq!((shares.total(0), shares.by_peer.len()), (1, 1));
        shares.remove_face(OTHER);
        assert_eq!((shares.total(0), shares.by_peer.len()), (0, 0));
        // The number of the face may be that of an application now.
        shares.begin(3, FLOOD);
        shares.put_into(HONEST, SharePeer(7));
        shares.begin(4, HONEST);
        assert_eq!(shares.shares.len(), 2);
        assert_eq!((shares.total(0), shares.total(1)), (1, 1));
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
