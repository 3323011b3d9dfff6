//! Loss detection by the order of Data: an Interest is lost when Data of a sufficiently later one has arrived.
//!
//! Source: RFC 8985 (RACK), §6.2: the reordering window, its growth, and what answers to retransmissions show.
//! Deviation: RACK notices retransmissions that were too early by DSACK; here Data within the minimum RTT of a
//! retransmission answers an earlier Interest. A content store on the way can answer a retransmission as fast; the window
//! then grows without need, up to its maximum.

use tidegate_core::prelude::*;

/// Initial reordering window, and the step of its growth, of the minimum RTT.
const STEP: f64 = 0.25;

/// Maximum reordering window, steps: two minimum RTTs, for links that repeat lost frames.
const MAX_STEPS: u32 = 8;

/// Retransmissions that were not too early, after which the window is the initial one again.
const PERSISTENCE: u32 = 16;

/// Order in which Interests left and were answered.
#[derive(Debug)]
pub struct Reordering {
    newest: Time,
    steps: u32,
    grown_at: Time,
    /// Retransmissions that were not too early until the window shrinks.
    left: u32,
}

impl Default for Reordering {
    fn default() -> Self {
        Self { newest: Time::ZERO, steps: 1, grown_at: Time::ZERO, left: 0 }
    }
}

impl Reordering {
    /// Data of an Interest that was sent once, at `sent_at`, has arrived.
    pub fn take_first(&mut self, sent_at: Time) {
        self.newest = self.newest.max(sent_at);
    }

    /// Data of an Interest that was sent several times, last at `sent_at`, has arrived; `round_trip` is the minimum RTT.
    /// Returns whether it may answer the last one.
    pub fn take_repeated(&mut self, now: Time, sent_at: Time, round_trip: Span) -> bool {
        if now.since(sent_at) < round_trip {
            self.left = PERSISTENCE;
            // Those of one round trip were sent by the same rule.
            if now.since(self.grown_at) >= round_trip {
                (self.steps, self.grown_at) = ((self.steps + 1).min(MAX_STEPS), now);
            }
            return false;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.steps = 1;
        }
        self.take_first(sent_at);
        true
    }

    /// Whether Data has arrived whose Interest left later than this one by more than the reordering window.
    pub fn is_overtaken(&self, sent: &Sent, round_trip: Span) -> bool {
        sent.at + round_trip.scale(STEP * f64::from(self.steps)) < self.newest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(40);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn is_overtaken(order: &Reordering, sent_at: u64) -> bool {
        order.is_overtaken(&Sent::first(0, at(sent_at)), RTT)
    }

    #[test]
    fn data_of_a_retransmission_overtakes_unless_it_answers_an_earlier_interest() {
        let mut order = Reordering::default();
        assert!(!order.take_repeated(at(139), at(100), RTT) && !is_overtaken(&order, 0));
        assert!(order.take_repeated(at(140), at(100), RTT) && is_overtaken(&order, 0));
    }

    #[test]
    fn the_window_grows_a_quarter_per_round_trip_with_early_retransmissions_and_shrinks_after_sixteen_others()
    {
        let mut order = Reordering::default();
        order.take_first(at(10_000));
        let mut windows = Vec::new();
        for round in 0..10 {
            windows.push((0..200).find(|ms| is_overtaken(&order, 10_000 - ms - 1)));
            for _ in 0..3 {
                order.take_repeated(at(1_000 + 40 * round), at(990 + 40 * round), RTT);
            }
        }
        assert_eq!(windows, [10, 20, 30, 40, 50, 60, 70, 80, 80, 80].map(Some));
        for _ in 0..15 {
            order.take_repeated(at(2_000), at(1_900), RTT);
        }
        assert!(!is_overtaken(&order, 9_980));
        order.take_repeated(at(2_000), at(1_900), RTT);
        assert!(is_overtaken(&order, 9_980));
    }
}
