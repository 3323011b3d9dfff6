//! Loss detection by counting segments that arrived behind a gap, and further retransmissions of a recovery
//! (RFC 6675, section 4).

use super::scoreboard::Scoreboard;

/// DupThresh: ranges above a lost segment.
const DUP_THRESHOLD: u64 = 3;

/// Progress of the loss detection, and the retransmissions of the current recovery.
#[derive(Clone, Debug, Default)]
pub(super) struct SackLoss {
    /// Every segment below that was not acknowledged has been found lost once; a retransmission is not found lost again.
    below: u64,
    /// HighRxt: the number after the highest that this recovery sent again in order.
    resent: u64,
    rescue: Rescue,
}

/// The rescue retransmission of a recovery (RescueRxt).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rescue {
    /// Nothing was retransmitted yet.
    #[default]
    Early,
    /// It may leave once this segment, the first that was sent again, is acknowledged.
    After(u64),
    /// The rescue retransmission has left; a recovery has only one.
    Spent,
}

/// A retransmission of something that was not found lost (section 4, `NextSeg`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    /// A segment below the highest one acknowledged selectively: rule 3.
    Hole(u64),
    /// The last outstanding segment, so that an ACK reports those before it: rule 4.
    Rescue(u64),
}

impl SackLoss {
    /// Takes what is lost off the flight: three ranges, or more than two full segments of `mss` bytes, were acknowledged
    /// selectively above it.
    pub(super) fn detect(&mut self, board: &mut Scoreboard, mss: u16, lost: &mut Vec<u64>) {
        let below = lost_below(board, u64::from(mss)).unwrap_or(0);
        let from = self.below.max(board.numbers().start);
        for number in from..below {
            if board.lose(number).is_some() {
                lost.push(number);
            }
        }
        self.below = self.below.max(below);
    }

    /// A fast recovery begins.
    pub(super) fn on_recovery(&mut self) {
        (self.resent, self.rescue) = (0, Rescue::Early);
    }

    /// Segment `number` is sent again: found lost, or by rule 3.
    pub(super) fn on_retransmission(&mut self, number: u64) {
        self.resent = self.resent.max(number + 1);
        if self.rescue == Rescue::Early {
            self.rescue = Rescue::After(number);
        }
    }

    /// The rescue retransmission leaves.
    pub(super) fn on_rescue(&mut self) {
        self.rescue = Rescue::Spent;
    }

    /// `NextSeg`'s rules 3 and 4, when nothing is lost and nothing new may leave.
    pub(super) fn extra(&self, board: &Scoreboard) -> Option<Extra> {
        let may_rescue = matches!(self.rescue, Rescue::After(number) if board.numbers().start > number);
        let rescue = || board.last_missing().filter(|_| may_rescue).map(Extra::Rescue);
        board.next_hole(self.resent).map(Extra::Hole).or_else(rescue)
    }
}

/// Number of the segment below which nothing that is missing can still be under way.
fn lost_below(board: &Scoreboard, mss: u64) -> Option<u64> {
    let (mut ranges, mut length) = (0, 0);
    for range in board.sacked() {
        ranges += 1;
        // The last ones of a range are as good as all: the sum only has to pass two segments.
        length += range
            .clone()
            .rev()
            .take(DUP_THRESHOLD as usize)
            .filter_map(|number| board.get(number))
            .map(|record| u64::from(record.length))
            .sum::<u64>();
        if ranges >= DUP_THRESHOLD || length > (DUP_THRESHOLD - 1) * mss {
            return Some(range.start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::rate::Snapshot;
    use super::*;
    use crate::units::Time;

    /// Segments of 100 bytes, of which those in `sacked` were acknowledged; what is lost.
    fn lost(board: &mut Scoreboard, rule: &mut SackLoss, sacked: &[u64]) -> Vec<u64> {
        for number in sacked {
            board.select(number * 100..(number + 1) * 100, |_, _| {});
        }
        let mut lost = Vec::new();
        rule.detect(board, 100, &mut lost);
        lost
    }

    fn board() -> Scoreboard {
        let mut board = Scoreboard::new(0);
        (0..12).for_each(|_| _ = board.send_new(Time::ZERO, 100, Snapshot::default()));
        board
    }

    #[test]
    fn two_segments_behind_a_gap_are_too_few_and_three_are_enough() {
        let (mut board, mut rule) = (board(), SackLoss::default());
        assert_eq!(lost(&mut board, &mut rule, &[1, 2]), []);
        assert_eq!(lost(&mut board, &mut rule, &[3]), [0]);
    }

    #[test]
    fn every_gap_counts_what_lies_above_it() {
        let (mut board, mut rule) = (board(), SackLoss::default());
        // Above 4: 5 and 6; above 0 and 1 in addition 2 and 3.
        assert_eq!(lost(&mut board, &mut rule, &[2, 3, 5, 6]), [0, 1]);
        assert_eq!(lost(&mut board, &mut rule, &[8]), [4]);
        assert_eq!(lost(&mut board, &mut rule, &[10]), [], "above 7 are 8 and 10");
        assert_eq!(lost(&mut board, &mut rule, &[11]), [7]);
    }

    #[test]
    fn three_ranges_of_short_segments_are_enough() {
        let mut board = Scoreboard::new(0);
        (0..8).for_each(|_| _ = board.send_new(Time::ZERO, 10, Snapshot::default()));
        let mut rule = SackLoss::default();
        let mut found = Vec::new();
        for number in [1, 3] {
            board.select(number * 10..(number + 1) * 10, |_, _| {});
            rule.detect(&mut board, 100, &mut found);
        }
        assert_eq!(found, []);
        board.select(50..60, |_, _| {});
        rule.detect(&mut board, 100, &mut found);
        assert_eq!(found, [0]);
    }

    #[test]
    fn a_retransmission_is_not_found_lost_again() {
        let (mut board, mut rule) = (board(), SackLoss::default());
        assert_eq!(lost(&mut board, &mut rule, &[1, 2, 3]), [0]);
        board.send_again(Time::ZERO, 0, Snapshot::default());
        assert_eq!(lost(&mut board, &mut rule, &[4, 5, 6]), []);
        assert_eq!(lost(&mut board, &mut rule, &[8, 9, 10]), [7]);
    }
}
