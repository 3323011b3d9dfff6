//! RACK: a segment is lost when one that left later has arrived and enough time has passed (RFC 8985, section 6).

use super::super::options::stamp;
use super::detector::Facts;
use super::rtt::RoundTrip;
use super::scoreboard::{Departure, Record, Scoreboard};
use crate::ndn::packet::Millis;
use crate::units::{Span, Time};

/// Number of segments acknowledged selectively from which no reordering is allowed for, until some was
/// observed (section 6.2).
const DUP_THRESHOLD: u32 = 3;
/// Recoveries without a DSACK after which the reordering window shrinks again (section 6.2, step 4).
const PERSIST: u8 = 16;

/// State of RACK loss detection (RFC 8985).
#[derive(Clone, Debug, Default)]
pub(super) struct Rack {
    /// RACK.segment, by its place among all departures, where the RFC has the time and, within one, the sequence number.
    newest: Option<u64>,
    /// RACK.rtt: RTT of the segment that was sent last among those delivered.
    rtt: Span,
    /// RACK.fack: highest position delivered.
    highest: u64,
    has_reordering: bool,
    /// RACK.reo_wnd_mult minus one: widenings of the reordering window.
    widened: u32,
    persist: u8,
    /// SND.NXT at the last DSACK that counted.
    dsack_round: Option<u64>,
    reorder_at: Option<Time>,
}

impl Rack {
    /// Steps 2 and 3: `record` was delivered by an ACK that echoes `echo`, if it echoes anything.
    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        record: &Record,
        echo: Option<Millis>,
        min: Option<Span>,
    ) {
        let was_resent = record.retransmissions > 0;
        if record.end > self.highest {
            self.highest = record.end;
        // A segment that was sent once and arrives behind a later one has been overtaken.
        } else if record.end < self.highest && !was_resent {
            self.has_reordering = true;
        }
        let rtt = now.since(record.sent_at);
        let is_ambiguous =
            echo.is_some_and(|echo| echo < stamp(record.sent_at)) || min.is_some_and(|min| rtt < min);
        // The ACK may answer an earlier transmission, and RACK.rtt would be too short.
        if was_resent && is_ambiguous {
            return;
        }
        if self.newest.is_none_or(|order| record.order > order) {
            self.newest = Some(record.order);
            self.rtt = rtt;
        }
    }

    /// Step 4: an ACK reported a duplicate.
    pub(super) fn on_dsack(&mut self, acked: u64, next: u64) {
        if self.dsack_round.is_some_and(|round| acked >= round) {
            self.dsack_round = None;
        }
        // The window widens at most once per round trip, however many duplicates are reported.
        if self.dsack_round.is_none() {
            self.dsack_round = Some(next);
            self.widened = self.widened.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Step 4: a recovery ended.
    pub(super) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.widened = 0;
        }
    }

    /// Step 5: takes what is lost off the flight and notes when to look again. That is when the first segment may be found
    /// lost; the RFC waits for the last of those in question.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        trip: &RoundTrip,
        facts: Facts,
        lost: &mut Vec<u64>,
    ) {
        self.reorder_at = None;
        while let Some(Departure { number, order, at }) = board.oldest_departure() {
            // Departures are in order: neither this segment nor a later one was overtaken by a delivered one.
            if self.newest.is_none_or(|newest| order >= newest) {
                break;
            }
            let due = at + self.rtt + self.reordering_window(board, trip, facts.in_recovery);
            if due > facts.now {
                self.reorder_at = Some(due);
                break;
            }
            board.lose(number);
            lost.push(number);
        }
    }

    /// Whether a segment is lost when the retransmission timer has expired (section 6.3).
    pub(super) fn is_lost_at_timeout(&self, record: &Record, now: Time, window: Span) -> bool {
        record.sent_at + self.rtt + window <= now
    }

    /// RACK.reo_wnd: the time that reordered segments may still take (RFC 8985, section 6.2).
    pub(super) fn reordering_window(&self, board: &Scoreboard, trip: &RoundTrip, in_recovery: bool) -> Span {
        // Step 4: without observed reordering three segments above a gap suffice, as with duplicate ACKs.
        if !self.has_reordering && (in_recovery || board.sacked_count() >= DUP_THRESHOLD) {
            return Span::ZERO;
        }
        let min = trip.min().unwrap_or(Span::ZERO);
        let window = min * (u64::from(self.widened) + 1) / 4;
        window.min(trip.smoothed().unwrap_or(Span::MAX))
    }

    /// Time at which [`detect`](Self::detect) may find more losses.
    pub(super) fn reorder_at(&self) -> Option<Time> {
        self.reorder_at
    }

    /// Stops the detection until the next ACK.
    pub(super) fn rest(&mut self) {
        self.reorder_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate::Snapshot;
    use super::super::rtt::TimeoutBounds;
    use super::super::rtt_variation::TimeoutRule;
    use super::*;

    const fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + ms(millis)
    }

    struct Bench {
        board: Scoreboard,
        rack: Rack,
        trip: RoundTrip,
    }

    impl Bench {
        /// Five segments of 100 bytes left at 0, 1, .. 4 ms; the round trip is 40 ms.
        fn new() -> Self {
            let mut board = Scoreboard::new(0);
            for n in 0..5 {
                board.send_new(at(n), 100, Snapshot::default());
            }
            let mut trip = RoundTrip::new(TimeoutRule::default(), TimeoutBounds::default());
            trip.sample(ms(40), &(0..500));
            Self { board, rack: Rack::default(), trip }
        }

        fn sack(&mut self, millis: u64, numbers: std::ops::Range<u64>) -> Vec<u64> {
            let Self { board, rack, trip } = self;
            board.select(numbers.start * 100..numbers.end * 100, |_, record| {
                rack.on_delivered(at(millis), record, None, trip.min());
            });
            self.look(millis, false)
        }

        fn look(&mut self, millis: u64, in_recovery: bool) -> Vec<u64> {
            let mut lost = Vec::new();
            let facts = Facts { now: at(millis), in_recovery, mss: 100 };
            self.rack.detect(&mut self.board, &self.trip, facts, &mut lost);
            lost
        }
    }

    #[test]
    fn a_quarter_of_the_least_round_trip_is_waited_before_three_segments_have_passed() {
        let mut bench = Bench::new();
        assert_eq!(bench.sack(41, 1..2), []);
        // Segment 0 left at 0 ms: 40 ms and a quarter of 40 ms.
        assert_eq!(bench.rack.reorder_at(), Some(at(50)));
        assert_eq!((bench.look(49, false), bench.look(50, false)), (vec![], vec![0]));
        assert_eq!(bench.rack.reorder_at(), None);
    }

    #[test]
    fn three_segments_passed_are_enough_and_so_is_a_recovery() {
        let mut bench = Bench::new();
        assert_eq!(bench.sack(41, 1..4), [0]);
        let mut bench = Bench::new();
        assert_eq!(bench.sack(41, 1..2), []);
        assert_eq!(bench.look(41, true), [0]);
    }

    #[test]
    fn seen_reordering_keeps_the_wait() {
        let mut bench = Bench::new();
        bench.sack(42, 2..3);
        bench.sack(43, 1..2);
        assert_eq!(bench.sack(44, 3..5), [], "segment 1 came after segment 2");
        assert_eq!(bench.rack.reorder_at(), Some(at(50)));
        bench.rack.on_dsack(0, 500);
        bench.rack.on_dsack(0, 500);
        assert_eq!(bench.look(44, true), []);
        // Twice the wait after a round with a DSACK, counted once; not more than the smoothed round trip.
        assert_eq!(bench.rack.reorder_at(), Some(at(60)));
        (0..9).for_each(|round| bench.rack.on_dsack(500 + round, 501 + round));
        bench.look(44, true);
        assert_eq!(bench.rack.reorder_at(), Some(at(80)));
        (0..16).for_each(|_| bench.rack.on_recovered());
        bench.look(44, true);
        assert_eq!(bench.rack.reorder_at(), Some(at(50)));
    }

    #[test]
    fn a_lost_retransmission_is_found_by_the_same_rule() {
        let mut bench = Bench::new();
        assert_eq!(bench.sack(41, 1..4), [0]);
        bench.board.send_again(at(41), 0, Snapshot::default());
        assert_eq!(bench.sack(44, 4..5), [], "segment 4 left before the retransmission");
        bench.board.send_new(at(42), 100, Snapshot::default());
        assert_eq!(bench.sack(82, 5..6), [0]);
    }

    #[test]
    fn a_retransmission_that_left_behind_new_data_in_one_instant_is_not_lost_when_that_arrives() {
        let mut bench = Bench::new();
        assert_eq!(bench.sack(41, 1..4), [0]);
        bench.board.send_new(at(41), 100, Snapshot::default());
        bench.board.send_again(at(41), 0, Snapshot::default());
        bench.board.send_new(at(41), 100, Snapshot::default());
        assert_eq!(bench.sack(81, 4..6), []);
        assert_eq!(bench.sack(81, 6..7), [0]);
    }

    #[test]
    fn an_answer_to_the_first_transmission_says_nothing_of_the_second() {
        let mut bench = Bench::new();
        bench.board.lose(0);
        bench.board.send_again(at(41), 0, Snapshot::default());
        let record = *bench.board.get(0).expect("outstanding");
        bench.rack.on_delivered(at(45), &record, None, Some(ms(40)));
        assert_eq!(bench.rack.newest, None, "4 ms is no round trip");
        bench.rack.on_delivered(at(85), &record, Some(Millis(40)), Some(ms(40)));
        assert_eq!(bench.rack.newest, None, "its time stamp is older");
        bench.rack.on_delivered(at(85), &record, Some(Millis(41)), Some(ms(40)));
        assert_eq!((bench.rack.newest, bench.rack.rtt), (Some(record.order), ms(44)));
    }
}
