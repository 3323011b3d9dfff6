//! Segments that were requested and have not all arrived: a ring from the lowest missing one on.
//!
//! First Interests leave in the order of segments, so the ring itself is the send order; only retransmissions
//! need a list, from which stale entries are removed when it is read.

use std::collections::VecDeque;

use crate::units::{Span, Time};

/// State of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentState {
    /// Its Interest is outstanding.
    InFlight,
    /// Its Interest was lost; the segment waits for its retransmission.
    Queued,
    /// The Data of the segment has arrived.
    Received,
    /// It was given up and will not be requested again.
    Abandoned,
}

/// State and times of one segment.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Time of its first Interest.
    pub first_sent: Time,
    /// Time of its last Interest.
    pub last_sent: Time,
    /// Last instant at which that Interest does not count as lost, if fixed when it left; else [`Time::MAX`].
    pub deadline: Time,
    /// Distinct segments received when that Interest left.
    pub delivered_at_send: u32,
    /// Interests after the first; saturates.
    pub retransmissions: u16,
    /// State of the segment.
    pub state: SegmentState,
    /// Whether that Interest was refused at once, which the controller was notified of then.
    pub is_refused: bool,
}

const _: () = assert!(size_of::<Slot>() <= 32);

impl Slot {
    fn is_missing(&self) -> bool {
        matches!(self.state, SegmentState::InFlight | SegmentState::Queued)
    }

    fn is_first_in_flight(&self) -> bool {
        self.state == SegmentState::InFlight && self.retransmissions == 0
    }
}

/// The table of segments. An empty one owns no memory.
#[derive(Debug, Default)]
pub struct Outstanding {
    /// Segment of the first slot: the lowest that is missing or was never requested.
    base: u32,
    slots: VecDeque<Slot>,
    /// No segment below it is in flight for the first time, so searches for the oldest Interest begin here.
    cursor: u32,
    /// Retransmitted segments, in the order of sending; some may have arrived or been retransmitted since.
    resent: VecDeque<(u32, Time)>,
}

impl Outstanding {
    /// Lowest segment that is missing or was never requested.
    #[inline]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Lowest segment that was never requested.
    #[inline]
    pub fn next_segment(&self) -> u32 {
        self.base + self.slots.len() as u32
    }

    /// Slot of `segment`; `None` below [`base`](Self::base) and for segments that were never requested.
    #[inline]
    pub fn get(&self, segment: u32) -> Option<&Slot> {
        self.slots.get(segment.checked_sub(self.base)? as usize)
    }

    #[inline]
    fn get_mut(&mut self, segment: u32) -> Option<&mut Slot> {
        self.slots.get_mut(segment.checked_sub(self.base)? as usize)
    }

    /// Records that the next new segment is requested at `now`.
    #[inline]
    pub fn send_new(&mut self, now: Time, deadline: Time, delivered: u32) {
        self.slots.push_back(Slot {
            first_sent: now,
            last_sent: now,
            deadline,
            delivered_at_send: delivered,
            retransmissions: 0,
            state: SegmentState::InFlight,
            is_refused: false,
        });
    }

    /// Records that a queued segment is retransmitted at `now`.
    pub fn send_again(&mut self, segment: u32, now: Time, deadline: Time, delivered: u32) {
        let Some(slot) = self.get_mut(segment) else { return };
        slot.last_sent = now;
        slot.deadline = deadline;
        slot.delivered_at_send = delivered;
        slot.retransmissions = slot.retransmissions.saturating_add(1);
        slot.state = SegmentState::InFlight;
        slot.is_refused = false;
        self.drop_stale_resent();
        self.resent.push_back((segment, now));
    }

    /// Records the arrival of `segment`. Returns its previous slot, `None` unless it was missing.
    #[inline]
    pub fn receive(&mut self, segment: u32) -> Option<Slot> {
        self.finish(segment, SegmentState::Received)
    }

    /// Gives `segment` up: it will not be requested again.
    pub fn abandon(&mut self, segment: u32) {
        self.finish(segment, SegmentState::Abandoned);
    }

    #[inline]
    fn finish(&mut self, segment: u32, state: SegmentState) -> Option<Slot> {
        let slot = self.get_mut(segment).filter(|slot| slot.is_missing())?;
        let before = *slot;
        slot.state = state;
        while self.slots.front().is_some_and(|slot| !slot.is_missing()) {
            self.slots.pop_front();
            self.base += 1;
        }
        Some(before)
    }

    /// Marks the Interest for `segment` as lost.
    pub fn lose(&mut self, segment: u32) {
        if let Some(slot) = self.get_mut(segment) {
            slot.state = SegmentState::Queued;
        }
    }

    /// Marks the Interest for `segment` as refused at once; its timer decides what follows.
    pub fn refuse(&mut self, segment: u32) {
        if let Some(slot) = self.get_mut(segment) {
            slot.is_refused = true;
        }
    }

    /// Removes all segments from `end` on; returns the numbers that were in flight and queued.
    pub fn truncate(&mut self, end: u32) -> (u32, u32) {
        let (mut in_flight, mut queued) = (0, 0);
        while self.next_segment() > end {
            match self.slots.pop_back().map(|slot| slot.state) {
                Some(SegmentState::InFlight) => in_flight += 1,
                Some(SegmentState::Queued) => queued += 1,
                Some(_) => {}
                None => break,
            }
        }
        // `lose_overdue` takes the slots from the cursor on, so it must not lie behind the last one.
        self.cursor = self.cursor.min(self.next_segment());
        (in_flight, queued)
    }

    /// The segment whose outstanding Interest is the oldest, with its time.
    pub fn oldest(&mut self) -> Option<(u32, Time)> {
        self.advance_cursor();
        self.drop_stale_resent();
        let first = self.get(self.cursor).map(|slot| (self.cursor, slot.last_sent));
        let again = self.resent.front().copied();
        match (first, again) {
            // At equal times the retransmission is the older one, as in `lose_overdue`.
            (Some(first), Some(again)) => Some(if again.1 <= first.1 { again } else { first }),
            (first, again) => first.or(again),
        }
    }

    /// Loses every segment whose deadline lies before `now` and appends it to `lost`, what was sent again
    /// first. Returns the earliest deadline of the others, [`Time::MAX`] if there is none.
    pub fn lose_overdue(&mut self, now: Time, lost: &mut Vec<u32>) -> Time {
        let mut earliest = Time::MAX;
        let mut look = |segment: u32, slot: &mut Slot| {
            if slot.deadline < now {
                slot.state = SegmentState::Queued;
                lost.push(segment);
            } else {
                earliest = earliest.min(slot.deadline);
            }
        };
        let (base, slots) = (self.base, &mut self.slots);
        self.resent.retain(|&(segment, sent)| {
            // A segment below `base` wraps to an index beyond the end, where there is no slot.
            let index = segment.wrapping_sub(base) as usize;
            let Some(slot) = slots.get_mut(index).filter(|slot| is_live(slot, sent)) else { return false };
            look(segment, slot);
            slot.state == SegmentState::InFlight
        });
        self.advance_cursor();
        let behind = (self.cursor - self.base) as usize;
        for (segment, slot) in (self.cursor..).zip(self.slots.range_mut(behind..)) {
            if slot.is_first_in_flight() {
                look(segment, slot);
            }
        }
        earliest
    }

    /// Moves the cursor up to the first segment in flight for the first time, or to the end.
    fn advance_cursor(&mut self) {
        self.cursor = self.cursor.max(self.base);
        while self.get(self.cursor).is_some_and(|slot| !slot.is_first_in_flight()) {
            self.cursor += 1;
        }
    }

    fn drop_stale_resent(&mut self) {
        while let Some(&(segment, sent)) = self.resent.front() {
            if self.get(segment).is_some_and(|slot| is_live(slot, sent)) {
                break;
            }
            self.resent.pop_front();
        }
    }

    #[cfg(test)]
    fn resent_len(&self) -> usize {
        self.resent.len()
    }
}

/// Whether the Interest that left at `sent` is still the outstanding one.
fn is_live(slot: &Slot, sent: Time) -> bool {
    slot.state == SegmentState::InFlight && slot.last_sent == sent && slot.retransmissions > 0
}

/// The first instant after `time` that is a whole number of `period`s after `start`.
pub fn next_tick(start: Time, period: Span, time: Time) -> Time {
    if time == Time::MAX {
        return Time::MAX;
    }
    start + period * (time.since(start).as_nanos() / period.as_nanos().max(1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Segments 0..count, sent at 0, 10, 20, ... with a deadline of 100 later.
    fn table(count: u32) -> Outstanding {
        let mut table = Outstanding::default();
        for segment in 0..count {
            let now = at(u64::from(segment) * 10);
            table.send_new(now, now + Span::from_nanos(100), 0);
        }
        table
    }

    #[test]
    fn the_ring_shrinks_only_when_the_lowest_segment_arrives() {
        let mut table = table(4);
        assert!(table.receive(1).is_some() && table.receive(2).is_some());
        assert_eq!((table.base(), table.next_segment()), (0, 4));
        assert!(table.receive(0).is_some());
        assert_eq!((table.base(), table.next_segment()), (3, 4));
    }

    #[test]
    fn a_segment_arrives_once_and_only_if_it_was_requested() {
        let mut table = table(2);
        assert!(table.receive(1).is_some());
        assert!(table.receive(1).is_none() && table.receive(2).is_none());
        assert!(table.receive(0).is_some());
        assert!(table.receive(0).is_none());
    }

    #[test]
    fn the_oldest_interest_may_be_a_retransmission() {
        let mut table = table(3);
        table.lose(0);
        assert_eq!(table.oldest(), Some((1, at(10))));
        table.send_again(0, at(15), Time::MAX, 0);
        assert_eq!(table.oldest(), Some((1, at(10))));
        table.receive(1);
        assert_eq!(table.oldest(), Some((0, at(15))));
        table.receive(0);
        assert_eq!(table.oldest(), Some((2, at(20))));
    }

    #[test]
    fn only_what_is_past_its_deadline_is_lost_and_the_next_deadline_is_reported() {
        let mut table = table(4);
        let mut lost = Vec::new();
        assert_eq!(table.lose_overdue(at(110), &mut lost), at(110));
        assert_eq!(lost, [0]);
        table.send_again(0, at(115), at(125), 0);
        table.receive(2);
        lost.clear();
        assert_eq!(table.lose_overdue(at(126), &mut lost), at(130));
        assert_eq!(lost, [0, 1]);
    }

    #[test]
    fn what_lies_behind_the_final_segment_is_forgotten() {
        let mut table = table(6);
        table.lose(4);
        table.receive(5);
        assert_eq!(table.truncate(3), (1, 1));
        assert_eq!(table.next_segment(), 3);
        assert_eq!(table.truncate(3), (0, 0));
    }

    #[test]
    fn stale_retransmissions_do_not_pile_up() {
        let mut table = table(1);
        for round in 1..1000 {
            table.lose(0);
            table.send_again(0, at(round * 10), Time::MAX, 0);
        }
        assert_eq!(table.resent_len(), 1);
    }

    #[test]
    fn ticks_are_counted_from_the_start_and_lie_after_the_time() {
        let period = Span::from_nanos(10);
        assert_eq!(next_tick(at(3), period, at(3)), at(13));
        assert_eq!(next_tick(at(3), period, at(12)), at(13));
        assert_eq!(next_tick(at(3), period, at(13)), at(23));
        assert_eq!(next_tick(at(3), period, Time::MAX), Time::MAX);
    }
}
