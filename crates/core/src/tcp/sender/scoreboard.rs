//! Segments sent and not yet acknowledged: one record per segment (RFC 6675, section 2).
//!
//! Every operation costs amortised constant or logarithmic time in the segments outstanding: of a SACK block only the new
//! part is looked at, and departures are kept in order, so that the oldest is found without a search.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use super::super::options::MAX_SACK_BLOCKS;
use super::super::ranges::RangeSet;
use super::rate::Snapshot;
use crate::units::Time;

/// Assumed location of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SackState {
    InFlight,
    /// Found lost, not sent again since.
    Lost,
    Sacked,
}

/// A segment that left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Record {
    /// Position after its last.
    pub(super) end: u64,
    /// Positions that it occupies.
    pub(super) length: u16,
    pub(super) state: SackState,
    /// Found lost once, and sent again or not.
    pub(super) is_missing: bool,
    /// In flight twice: retransmitted in addition to a transmission that was not found lost.
    pub(super) is_doubled: bool,
    /// Times that it was sent again.
    pub(super) retransmissions: u16,
    pub(super) first_sent: Time,
    pub(super) sent_at: Time,
    /// Place of its last departure among all departures: segments that leave in one instant have an order too, which in
    /// a simulation is no rare case, and a retransmission may leave behind later data.
    pub(super) order: u64,
    pub(super) snapshot: Snapshot,
}

impl Record {
    pub(super) fn new(end: u64, length: u16, sent_at: Time, order: u64, snapshot: Snapshot) -> Self {
        let state = SackState::InFlight;
        Self {
            end,
            length,
            state,
            is_missing: false,
            is_doubled: false,
            retransmissions: 0,
            first_sent: sent_at,
            sent_at,
            order,
            snapshot,
        }
    }

    /// Transmissions under way of a segment in flight.
    fn copies(&self) -> u32 {
        1 + u32::from(self.is_doubled)
    }

    /// Position of the first byte of the segment.
    pub(super) fn start(&self) -> u64 {
        self.end - u64::from(self.length)
    }
}

/// Last departure of a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departure {
    pub(super) number: u64,
    /// Its place among all departures.
    pub(super) order: u64,
    pub(super) at: Time,
}

/// The segments between SND.UNA and SND.NXT, with their state.
#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    records: VecDeque<Record>,
    /// Number of the first record.
    first: u64,
    /// SND.UNA: first position that is not acknowledged.
    acked: u64,
    /// SND.NXT: next position to send.
    next: u64,
    /// Numbers of the segments that were acknowledged selectively.
    sacked: RangeSet,
    /// Blocks of the last ACK that had some: most of them are repeated in the next one.
    known: [Range<u64>; MAX_SACK_BLOCKS],
    lost: BTreeSet<u64>,
    in_flight: u32,
    sacked_count: u32,
    /// Segments that were found lost and did not arrive since.
    missing: u32,
    /// Number and order of departures, oldest first; a later departure or an arrival makes an entry stale.
    departures: VecDeque<(u64, u64)>,
    /// Number of departures so far, retransmissions included.
    departed: u64,
}

impl Scoreboard {
    /// An empty scoreboard; `next` is the first position to send.
    pub(super) fn new(next: u64) -> Self {
        Self {
            records: VecDeque::new(),
            first: 0,
            acked: next,
            next,
            sacked: RangeSet::default(),
            known: Default::default(),
            lost: BTreeSet::new(),
            in_flight: 0,
            sacked_count: 0,
            missing: 0,
            departures: VecDeque::new(),
            departed: 0,
        }
    }

    /// A new segment of `length` positions leaves; gives its number.
    pub(super) fn send_new(&mut self, now: Time, length: u16, snapshot: Snapshot) -> u64 {
        let number = self.next_number();
        self.next += u64::from(length);
        self.records.push_back(Record::new(self.next, length, now, self.departed, snapshot));
        self.departures.push_back((number, self.departed));
        self.departed += 1;
        self.in_flight += 1;
        number
    }

    /// Segment `number`, lost or in flight, leaves again.
    pub(super) fn send_again(&mut self, now: Time, number: u64, snapshot: Snapshot) {
        let Some(record) = Self::index(self.first, number).and_then(|at| self.records.get_mut(at)) else {
            return;
        };
        match record.state {
            SackState::Sacked => return,
            SackState::InFlight => {}
            SackState::Lost => {
                self.lost.remove(&number);
                self.in_flight += 1;
            }
        }
        record.state = SackState::InFlight;
        record.retransmissions = record.retransmissions.saturating_add(1);
        (record.sent_at, record.order, record.snapshot) = (now, self.departed, snapshot);
        self.departures.push_back((number, self.departed));
        self.departed += 1;
    }

    /// Removes everything before the position `acked`, and passes each segment that was not known to have arrived to
    /// `reported`, in its state before.
    pub(super) fn acknowledge(&mut self, acked: u64, mut reported: impl FnMut(u64, &Record)) {
        self.acked = self.acked.max(acked.min(self.next));
        // A segment that is acknowledged in part stays outstanding as a whole.
        while let Some(record) = self.records.front().filter(|record| record.end <= self.acked) {
            match record.state {
                SackState::Sacked => self.sacked_count -= 1,
                SackState::InFlight => self.in_flight -= record.copies(),
                SackState::Lost => _ = self.lost.remove(&self.first),
            }
            if record.state != SackState::Sacked {
                reported(self.first, record);
                self.missing -= u32::from(record.is_missing);
            }
            self.records.pop_front();
            self.first += 1;
        }
        self.sacked.remove_below(self.first);
        while self.departures.front().is_some_and(|(number, _)| *number < self.first) {
            self.departures.pop_front();
        }
    }

    /// Number of segments that end at or before `limit`. Mostly all have one length, and a division gives it
    /// without a search.
    fn count_ended(&self, limit: u64) -> usize {
        let Some(first) = self.records.front() else { return 0 };
        let guess = (limit.saturating_sub(first.start()) / u64::from(first.length.max(1))) as usize;
        let ends_by = |index: usize| self.records.get(index).map(|record| record.end <= limit);
        let is_right = (guess == 0 || ends_by(guess - 1) == Some(true)) && ends_by(guess) != Some(true);
        if is_right && guess <= self.records.len() {
            return guess;
        }
        self.records.partition_point(|record| record.end <= limit)
    }

    /// As [`select`](Self::select), for all blocks of an ACK.
    pub(super) fn select_all(
        &mut self,
        blocks: [Range<u64>; MAX_SACK_BLOCKS],
        mut reported: impl FnMut(u64, &Record),
    ) {
        for block in &blocks {
            if !self.known.contains(block) {
                self.select(block.clone(), &mut reported);
            }
        }
        // A block beyond SND.NXT was not counted but may become valid, so it must not be remembered.
        if blocks.iter().all(|block| block.end <= self.next) {
            self.known = blocks;
        }
    }

    /// The positions in `block` arrived; reports as [`acknowledge`](Self::acknowledge) does. A segment counts
    /// when one block covers all of it.
    pub(super) fn select(&mut self, block: Range<u64>, mut reported: impl FnMut(u64, &Record)) {
        // Below SND.UNA a block reports a duplicate, beyond SND.NXT it is an error: neither delivers
        // anything.
        if block.start < self.acked || block.end > self.next {
            return;
        }
        let is_first = self.records.front().is_some_and(|first| first.start() >= block.start);
        // The segment with the position before the block may reach into it, but is not covered as a whole.
        let from = if is_first { 0 } else { 1 + self.count_ended(block.start - 1) };
        let to = self.count_ended(block.end);
        let Self { records, first, lost, in_flight, sacked, sacked_count, missing, .. } = self;
        sacked.insert(*first + from as u64..*first + to.max(from) as u64, |fresh| {
            for number in fresh {
                let Some(record) = records.get_mut((number - *first) as usize) else { continue };
                reported(number, record);
                match record.state {
                    SackState::InFlight => *in_flight -= record.copies(),
                    SackState::Lost => _ = lost.remove(&number),
                    SackState::Sacked => continue,
                }
                *missing -= u32::from(std::mem::take(&mut record.is_missing));
                record.state = SackState::Sacked;
                *sacked_count += 1;
            }
        });
    }

    /// A transmission of segment `number` is lost; `None` when it is not in flight. It waits to be sent again unless another
    /// transmission is under way.
    pub(super) fn lose(&mut self, number: u64) -> Option<Record> {
        let record = Self::index(self.first, number).and_then(|at| self.records.get_mut(at))?;
        if record.state != SackState::InFlight {
            return None;
        }
        self.missing += u32::from(!std::mem::replace(&mut record.is_missing, true));
        self.in_flight -= 1;
        if !std::mem::take(&mut record.is_doubled) {
            record.state = SackState::Lost;
            self.lost.insert(number);
        }
        Some(*record)
    }

    /// As [`lose`](Self::lose), for every transmission of it.
    pub(super) fn lose_all(&mut self, number: u64) -> Option<Record> {
        let first = self.lose(number);
        self.lose(number).or(first)
    }

    /// Records that segment `number` is sent in addition to its transmission under way: both count (section 4, `SetPipe`).
    pub(super) fn double(&mut self, number: u64) {
        let record = Self::index(self.first, number).and_then(|at| self.records.get_mut(at));
        if let Some(record) =
            record.filter(|record| record.state == SackState::InFlight && !record.is_doubled)
        {
            record.is_doubled = true;
            self.in_flight += 1;
        }
    }

    /// The first segment in flight from `from` on, below the highest one acknowledged selectively.
    pub(super) fn next_hole(&self, from: u64) -> Option<u64> {
        let above = self.sacked.descending().next()?.start;
        let mut number = from.max(self.first);
        while number < above {
            match self.sacked.around(number) {
                Some(range) => number = range.end,
                None if self.get(number)?.state == SackState::InFlight => return Some(number),
                None => number += 1,
            }
        }
        None
    }

    /// The last segment outstanding that was not acknowledged selectively.
    pub(super) fn last_missing(&self) -> Option<u64> {
        let last = self.next_number().checked_sub(1)?;
        let last = self.sacked.around(last).map_or(Some(last), |range| range.start.checked_sub(1))?;
        (last >= self.first).then_some(last)
    }

    /// Cancels all losses: segments that wait for retransmission are in flight again.
    pub(super) fn find_all(&mut self) {
        self.missing = 0;
        self.records.iter_mut().for_each(|record| record.is_missing = false);
        for number in std::mem::take(&mut self.lost) {
            let Some(record) = Self::index(self.first, number).and_then(|at| self.records.get_mut(at)) else {
                continue;
            };
            record.state = SackState::InFlight;
            self.in_flight += 1;
            // Its own entry may have been removed when the segment was lost.
            self.departures.push_back((number, record.order));
        }
    }

    /// The segment in flight that left longest ago.
    pub(super) fn oldest_departure(&mut self) -> Option<Departure> {
        while let Some((number, order)) = self.departures.front().copied() {
            if let Some(record) = self.get(number)
                && record.state == SackState::InFlight
                && record.order == order
            {
                return Some(Departure { number, order, at: record.sent_at });
            }
            self.departures.pop_front();
        }
        None
    }

    pub(super) fn get(&self, number: u64) -> Option<&Record> {
        self.records.get(Self::index(self.first, number)?)
    }

    /// The first segment that was found lost and not sent again.
    pub(super) fn next_lost(&self, mut may_leave: impl FnMut(u64) -> bool) -> Option<u64> {
        // Most often none is lost, and an iterator over an empty tree costs more than this question.
        if self.lost.is_empty() {
            return None;
        }
        self.lost.iter().copied().find(|number| may_leave(*number))
    }

    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Whether a segment that was found lost has not arrived since, sent again or not.
    pub(super) fn has_missing(&self) -> bool {
        self.missing > 0
    }

    /// Numbers of the segments outstanding.
    pub(super) fn numbers(&self) -> Range<u64> {
        self.first..self.next_number()
    }

    /// Number of the next new segment.
    pub(super) fn next_number(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// Segments acknowledged selectively, as ranges of numbers, the highest first.
    pub(super) fn sacked(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.sacked.descending()
    }

    pub(super) fn sacked_count(&self) -> u32 {
        self.sacked_count
    }

    /// Segments that left and are neither acknowledged nor lost: `pipe` of RFC 6675. One that was sent again counts once,
    /// but for [`double`](Self::double).
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Positions from SND.UNA to SND.NXT.
    pub(super) fn outstanding(&self) -> Range<u64> {
        self.acked..self.next
    }

    /// SND.UNA: first position that is not acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.acked
    }

    /// SND.NXT: next position to send.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    fn index(first: u64, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(first)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_comes_again_is_known_and_one_of_what_has_not_left_is_not() {
        let mut board = Scoreboard::new(1);
        board.send_new(Time::ZERO, 1000, Snapshot::default());
        board.send_new(Time::ZERO, 1000, Snapshot::default());
        let select = |board: &mut Scoreboard, block: Range<u64>| {
            let mut reported = Vec::new();
            board.select_all([block, 0..0, 0..0], |number, _| reported.push(number));
            reported
        };
        assert_eq!(select(&mut board, 1001..2001), [1]);
        assert_eq!(select(&mut board, 1001..2001), []);
        assert_eq!(select(&mut board, 1001..3001), [], "the third has not left");
        board.send_new(Time::ZERO, 1000, Snapshot::default());
        assert_eq!(select(&mut board, 1001..3001), [2]);
        assert_eq!(board.sacked_count(), 2);
    }

    #[test]
    fn a_lost_segment_that_arrived_after_all_is_not_sent_again() {
        let mut board = Scoreboard::new(1);
        for _ in 0..4 {
            board.send_new(Time::ZERO, 1000, Snapshot::default());
        }
        assert!(board.lose(1).is_some() && board.lose(2).is_some());
        assert_eq!((board.next_lost(|_| true), board.in_flight()), (Some(1), 2));
        let mut reported = Vec::new();
        board.select(1001..2001, |number, record| reported.push((number, record.state)));
        assert_eq!(reported, [(1, SackState::Lost)]);
        assert_eq!((board.next_lost(|_| true), board.in_flight()), (Some(2), 2));
        board.select(2001..3001, |_, _| {});
        assert_eq!((board.next_lost(|_| true), board.has_lost()), (None, false));
    }
}
