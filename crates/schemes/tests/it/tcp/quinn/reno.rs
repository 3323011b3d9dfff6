//! Reno and quinn's NewReno have the same window after every event.
//!
//! What differs is kept out of the histories, or told to one of them alone:
//! - quinn keeps what was acknowledged towards the next segment of window over a reduction, ours begins anew: congestion
//!   comes when a window has just grown, so that nothing is left over (but see the case by hand);
//! - ours grows from one segment after a timeout, quinn from two: ours hears of one ACK more, the retransmission's;
//! - ours has a limit per ACK in slow start (RFC 3465), which quinn has not: it is set out of reach;
//! - ours goes down to one segment for a mark, quinn to two: windows stay above;
//! - quinn does not begin anew after a rest (RFC 5681 §4.1): there is none.

use quinn_proto::congestion::NewRenoConfig;
use tidegate_core::prelude::*;

use super::pair::{INITIAL, Pair, SEGMENT};
use crate::tcp::*;

fn pair(rtt: Span) -> Pair {
    let mut rival = NewRenoConfig::default();
    rival.initial_window(INITIAL * u64::from(SEGMENT));
    Pair::new("tcp-reno", &[("limit", Setting::Number(1e6)), ("ecn", on(true))], rival, rtt)
}

#[track_caller]
fn same(pair: &Pair, what: &str) {
    assert_eq!(pair.ours.window(), pair.theirs(), "after {what} at {:?}", pair.now);
}

/// ACKs until the window has grown to an even number of segments, of which a half is whole.
fn grow_to_even(pair: &mut Pair) {
    loop {
        let before = pair.ours.window();
        pair.wait_for(1);
        pair.ack(1, false);
        same(pair, "an ACK");
        if pair.ours.window() > before && pair.ours.window() % 2.0 == 0.0 {
            return;
        }
    }
}

/// Losses and marks cost a round trip in which nothing counts; of a timeout only the retransmission comes back.
fn congest(pair: &mut Pair, draw: &mut Rng) {
    let (what, old) = (draw.below(4), draw.below(6));
    match what {
        0 | 1 => pair.lose(),
        2 => pair.mark(),
        _ => pair.time_out(),
    }
    if what == 3 {
        pair.now += pair.rtt;
        pair.ack_retransmission();
    }
    same(pair, ["a loss", "a loss", "a mark", "a timeout"][what as usize]);
    for _ in 0..old {
        pair.now += Span::from_millis(1);
        if what < 3 {
            pair.old_ack(what == 2);
        }
        same(pair, "an ACK of what was sent before");
    }
    pair.recover();
    pair.now += pair.rtt;
}

fn history(seed: u64) -> u32 {
    let mut draw = Rng::stream(Seed(seed), "reno");
    let mut pair = pair(Span::from_millis(20 + u64::from(draw.below(180))));
    let mut congestions = 0;
    while pair.now < Span::from_secs(180) {
        let segments = if pair.ours.window() < 80.0 { draw.below(400) } else { 0 };
        let until = pair.now + Span::from_secs(10);
        let mut acked = 0;
        while acked < segments && pair.now < until {
            let count = 1 + draw.below(4).saturating_sub(1);
            acked += count;
            pair.wait_for(count);
            pair.ack(count, draw.below(20) == 0);
            same(&pair, "an ACK");
        }
        grow_to_even(&mut pair);
        congest(&mut pair, &mut draw);
        congestions += 1;
    }
    congestions
}

#[test]
fn reno_has_the_window_of_quinn_after_every_event_of_a_history() {
    let congestions: u32 = (0..80).map(history).sum();
    assert!(congestions > 80 * 20, "{congestions}");
}

#[test]
fn what_was_acknowledged_before_a_loss_counts_for_quinn_and_not_for_ours() {
    let mut pair = pair(Span::from_millis(100));
    pair.now += pair.rtt;
    pair.lose();
    pair.recover();
    pair.now += pair.rtt;
    // Of a window of 5, 4 are acknowledged; the next loss is at a window of 5.
    (0..4).for_each(|_| pair.ack(1, false));
    pair.lose();
    pair.recover();
    same(&pair, "a loss at 5");
    assert_eq!(pair.ours.window(), 2.5);
    pair.now += pair.rtt;
    // With the four, one is enough for quinn, and two and a half are left over; ours needs three.
    pair.ack(1, false);
    assert_eq!((pair.ours.window(), pair.theirs()), (2.5, 3.5));
    pair.ack(2, false);
    assert_eq!((pair.ours.window(), pair.theirs()), (3.5, 4.5));
}

#[test]
fn two_segments_are_the_least_after_a_loss() {
    let mut pair = pair(Span::from_millis(100));
    for window in [5.0, 2.5, 2.0, 2.0] {
        pair.now += pair.rtt;
        pair.lose();
        pair.recover();
        same(&pair, "a loss");
        assert_eq!(pair.ours.window(), window);
    }
}
