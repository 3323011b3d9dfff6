//! The timing wheel, on which entries expire to the millisecond.

use super::slab::Slab;
use super::{NONE, PitId};
use crate::ndn::packet::Millis;
use crate::units::Time;

/// Milliseconds since the start, wrapping after 49 days; compared only over shorter distances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tick(u32);

impl Tick {
    /// The first tick that is not before `at`.
    pub(super) fn not_before(at: Time) -> Self {
        Self((at.as_nanos().saturating_add(999_999) / 1_000_000) as u32)
    }

    /// The last tick that is not after `at`.
    pub(super) fn not_after(at: Time) -> Self {
        Self((at.as_nanos() / 1_000_000) as u32)
    }

    /// The first tick that is not before `now + span`; at most [`LONGEST`] from now, so that it never wraps
    /// into the past, whatever lifetime a peer chose.
    pub(super) fn after(now: Time, span: Millis) -> Self {
        Self(Self::not_before(now).0.wrapping_add(span.0.min(LONGEST.0)))
    }

    pub(super) fn is_after(self, other: Self) -> bool {
        // The sign of the wrapped difference orders ticks less than 2^31 ms apart, which `LONGEST` ensures.
        (self.0.wrapping_sub(other.0) as i32) > 0
    }

    /// Milliseconds from `earlier` to here.
    pub(super) fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }
}

/// Maximum time an entry can stay, 12.4 days: a quarter of the range of ticks.
pub(super) const LONGEST: Millis = Millis(1 << 30);

/// Slots of the timing wheel, one millisecond each; longer lifetimes take more than one turn.
const SLOTS: usize = 1024;

/// Doubly linked lists of entries by the millisecond in which they end, modulo the number of slots.
///
/// `previous` of a list's first entry is `HEAD | slot`, so that unlinking needs no search.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Empty until the first entry comes.
    slots: Vec<Slot>,
    /// One bit per slot that is not empty.
    occupied: [u64; SLOTS / 64],
    /// Number of entries in all slots.
    linked: u32,
    /// Last tick whose entries have been examined.
    done: Tick,
    /// Time of the next call that may find something, [`Time::MAX`] when nothing is linked; the start of
    /// `wake_tick`.
    wake: Time,
    wake_tick: Tick,
}

/// Neighbours of an entry.
#[derive(Clone, Copy)]
pub(super) struct Links {
    pub previous: u32,
    pub next: u32,
}

/// The entries that end in one millisecond of any turn.
#[derive(Clone, Copy, Debug)]
struct Slot {
    head: u32,
    /// No entry of the list ends before it; without it entries of later turns would cause a wake-up in each
    /// turn.
    earliest: Tick,
}

/// Marks a `previous` that is a slot.
const HEAD: u32 = 1 << 31;

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            slots: Vec::new(),
            occupied: [0; SLOTS / 64],
            linked: 0,
            done: Tick::default(),
            wake: Time::MAX,
            wake_tick: Tick::default(),
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>()
    }

    /// Time of the next call that may find something; [`Time::MAX`] when nothing is linked.
    #[inline]
    pub(super) fn wake(&self) -> Time {
        self.wake
    }

    /// Puts an entry that is not linked into its slot.
    pub(super) fn link(&mut self, id: u32, expires: Tick, slab: &mut Slab, now: Time) {
        let links = self.enter(id, expires, now);
        slab.get_mut(id).set_links(expires, links);
        if links.next != NONE {
            slab.get_mut(links.next).previous = id;
        }
    }

    /// As [`link`](Self::link), but for the changes in entries: the links are to be set, and the next entry's.
    #[inline(always)]
    pub(super) fn enter(&mut self, id: u32, expires: Tick, now: Time) -> Links {
        if self.linked == 0 {
            self.start(now);
        }
        self.linked += 1;
        // What has ended already is looked at with the next tick.
        let due = if expires.is_after(self.done) { expires } else { Tick(self.done.0.wrapping_add(1)) };
        let index = due.0 as usize % SLOTS;
        let slot = &mut self.slots[index];
        let next = std::mem::replace(&mut slot.head, id);
        if next == NONE {
            slot.earliest = due;
            self.occupied[index / 64] |= 1 << (index % 64);
        } else if slot.earliest.is_after(due) {
            slot.earliest = due;
        }
        if self.wake_tick.is_after(due) {
            self.wake_at(due, now);
        }
        Links { previous: HEAD | index as u32, next }
    }

    #[cold]
    fn wake_at(&mut self, tick: Tick, now: Time) {
        self.wake_tick = tick;
        self.wake = time_of(tick, now);
    }

    /// Begins to turn at `now`; nothing is linked, however long ago the last entry was.
    #[cold]
    fn start(&mut self, now: Time) {
        let tick = Tick::not_after(now);
        if self.slots.is_empty() {
            self.slots = vec![Slot { head: NONE, earliest: tick }; SLOTS];
        }
        self.done = tick;
        // After every tick that may follow.
        self.wake_tick = Tick(tick.0.wrapping_add(u32::MAX / 2));
    }

    /// Joins the neighbours of an entry that gave up its links; one that was not linked has no `previous`.
    #[inline(always)]
    pub(super) fn leave(&mut self, Links { previous, next }: Links, slab: &mut Slab) {
        if previous == NONE {
            return;
        }
        self.linked -= 1;
        if next != NONE {
            slab.get_mut(next).previous = previous;
        }
        if previous & HEAD == 0 {
            slab.get_mut(previous).next = next;
            return;
        }
        let slot = (previous & !HEAD) as usize;
        self.slots[slot].head = next;
        if next == NONE {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
        }
    }

    pub(super) fn advance(&mut self, now: Time, slab: &mut Slab, expired: &mut Vec<PitId>) {
        let target = Tick::not_after(now);
        if self.linked == 0 {
            self.wake = Time::MAX;
            return;
        }
        if !target.is_after(self.done) {
            return;
        }
        let first = expired.len();
        // More than a turn needs no second look: each slot holds the entries of all turns.
        let passed = (target.since(self.done) as usize).min(SLOTS);
        for step in 1..=passed {
            let slot = self.done.0.wrapping_add(step as u32) as usize % SLOTS;
            if self.occupied[slot / 64] & (1 << (slot % 64)) != 0
                && !self.slots[slot].earliest.is_after(target)
            {
                self.take_slot(slot, target, slab, expired);
            }
        }
        let before = self.done;
        self.done = target;
        // After all slots, because `take_slot` walks lists that unlinking would change.
        for id in &expired[first..] {
            let links = slab.get_mut(id.0).take_links();
            self.leave(links, slab);
        }
        if passed == SLOTS {
            // A late call finds entries of several turns.
            expired[first..].sort_by_key(|id| slab.get(id.0).expires.since(before));
        }
        self.wake = Time::MAX;
        if let Some(due) = self.next_due() {
            self.wake_at(due, now);
        }
    }

    /// Appends what ends in `slot` up to `target`, in order of arrival.
    fn take_slot(&mut self, slot: usize, target: Tick, slab: &Slab, expired: &mut Vec<PitId>) {
        let before = expired.len();
        let mut earliest = None;
        let mut at = self.slots[slot].head;
        while at != NONE {
            let entry = slab.get(at);
            if !entry.expires.is_after(target) {
                expired.push(PitId(at));
            } else if earliest.is_none_or(|earliest: Tick| earliest.is_after(entry.expires)) {
                earliest = Some(entry.expires);
            }
            at = entry.next;
        }
        if let Some(earliest) = earliest {
            self.slots[slot].earliest = earliest;
        }
        // The list is in reverse order of arrival.
        expired[before..].reverse();
    }

    /// The first tick after `done` at which an entry may end. Slots whose entries all end in a
    /// later turn are skipped; at most one turn of slots is examined.
    fn next_due(&self) -> Option<Tick> {
        let turn = Tick(self.done.0.wrapping_add(SLOTS as u32));
        let mut first: Option<Tick> = None;
        let mut ahead = 0;
        while let Some(next) = self.next_occupied(ahead) {
            ahead = next;
            let slot = self.done.0.wrapping_add(ahead) as usize % SLOTS;
            let earliest = self.slots[slot].earliest;
            if !earliest.is_after(turn) {
                return Some(earliest);
            }
            if first.is_none_or(|first| first.is_after(earliest)) {
                first = Some(earliest);
            }
        }
        first
    }

    /// The next slot that is not empty more than `ahead` milliseconds after `done`, within one turn; its
    /// distance in milliseconds.
    fn next_occupied(&self, ahead: u32) -> Option<u32> {
        let mut step = ahead + 1;
        while step <= SLOTS as u32 {
            let slot = self.done.0.wrapping_add(step) as usize % SLOTS;
            let bits = self.occupied[slot / 64] >> (slot % 64);
            if bits != 0 {
                let found = step + bits.trailing_zeros();
                return (found <= SLOTS as u32).then_some(found);
            }
            step += 64 - (slot % 64) as u32;
        }
        None
    }
}

/// The start of the millisecond `tick`, which is not before `now`.
#[inline]
fn time_of(tick: Tick, now: Time) -> Time {
    let ahead = u64::from(tick.since(Tick::not_after(now)));
    Time::from_nanos((now.as_nanos() / 1_000_000 + ahead).saturating_mul(1_000_000))
}
