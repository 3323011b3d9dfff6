//! Who gets the channel when, in cases worked by hand: 1500 B last 248 us at 58.5 Mbit/s, their ACK 28 us.

use crate::medium::harness::{Told, medium, run_until_idle};
use tidegate_core::link::medium::{Access, Frame, FrameOutcome, MediumSetup};
use tidegate_core::units::{ByteCount, Span, Time};

const DATA: u64 = 248;
const SIFS: u64 = 16;
const ACK: u64 = 28;
const DIFS: u64 = 34;
const EXCHANGE: u64 = DATA + SIFS + ACK;

const fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

const fn frame(to: usize, tag: u64) -> Frame {
    Frame { to, size: ByteCount::new(1500), tag }
}

/// No backoff ever.
fn no_backoff() -> MediumSetup {
    MediumSetup { cw_min: 0, cw_max: 0, ..Default::default() }
}

fn delivered(micros: u64, tag: u64) -> Told {
    Told { at: at(micros), tag, outcome: FrameOutcome::Delivered }
}

#[test]
fn a_frame_at_an_idle_medium_goes_at_once_and_is_reported_at_the_end_of_its_ack() {
    let mut medium = medium(&MediumSetup::default(), 2, 1);
    assert_eq!(medium.next_event(), None);
    medium.offer(at(9_000), 0, frame(1, 7));
    assert_eq!((medium.next_event(), medium.waiting(0, 1)), (Some(at(9_000)), 1));
    assert_eq!(run_until_idle(&mut medium), [delivered(9_000 + EXCHANGE, 7)]);
    let airtime = medium.airtime();
    assert_eq!((airtime.transmissions, airtime.retries, airtime.delivered), (1, 0, 1));
    assert_eq!((airtime.busy, medium.waiting(0, 1)), (Span::from_micros(EXCHANGE), 0));
}

#[test]
fn a_frame_within_a_slot_goes_at_the_next_and_one_within_difs_at_its_end() {
    let mut medium = medium(&no_backoff(), 2, 1);
    medium.offer(at(10), 0, frame(1, 1));
    assert_eq!(run_until_idle(&mut medium), [delivered(18 + EXCHANGE, 1)]);
    let idle_from = 18 + EXCHANGE;
    medium.offer(at(idle_from + 10), 0, frame(1, 2));
    assert_eq!(medium.next_event(), Some(at(idle_from + DIFS)));
    assert_eq!(run_until_idle(&mut medium), [delivered(idle_from + DIFS + EXCHANGE, 2)]);
}

#[test]
fn a_frame_at_a_busy_medium_draws_a_backoff_and_one_at_an_idle_medium_does_not() {
    let waits = |offered_at| {
        let first_wait = |seed| {
            let mut medium = medium(&MediumSetup::default(), 3, seed);
            medium.offer(at(0), 0, frame(2, 1));
            medium.on_event(at(0), &mut Vec::new());
            medium.offer(at(offered_at), 1, frame(2, 2));
            medium.on_event(at(EXCHANGE), &mut Vec::new());
            medium.next_event().expect("the second waits").since(at(EXCHANGE + DIFS)).as_nanos() / 9_000
        };
        let waits: std::collections::BTreeSet<u64> = (0..200).map(first_wait).collect();
        waits.into_iter().collect::<Vec<_>>()
    };
    let all: Vec<u64> = (0..16).collect();
    assert_eq!(waits(EXCHANGE / 2), all);
    // What answers at the end of the ACK came while it was sent.
    assert_eq!(waits(EXCHANGE), all);
    assert_eq!(waits(EXCHANGE + 1), [0]);
}

#[test]
fn a_station_waits_out_the_backoff_after_its_own_transmission_also_if_it_had_no_frame() {
    let wait = |seed, offered_at| {
        let mut medium = medium(&MediumSetup::default(), 2, seed);
        medium.offer(at(0), 0, frame(1, 1));
        run_until_idle(&mut medium);
        medium.offer(at(offered_at), 0, frame(1, 2));
        medium.next_event().expect("it waits").since(at(EXCHANGE + DIFS)).as_nanos() / 9_000
    };
    for seed in 0..200 {
        let drawn = wait(seed, EXCHANGE);
        assert!(drawn <= 15);
        assert_eq!(wait(seed, EXCHANGE + DIFS + 3 * 9), drawn.max(3), "seed {seed}");
        assert_eq!(wait(seed, EXCHANGE + DIFS + 20 * 9), 20, "seed {seed}");
    }
}

#[test]
fn stations_that_send_in_one_slot_collide_until_they_give_up() {
    // 3038 B are 104 symbols. Each attempt lasts as long as the longest and EIFS, which is SIFS, ACK and DIFS.
    let longest = 36 + 104 * 4;
    for sizes in [[1500, 3000], [3000, 1500]] {
        let mut medium = medium(&MediumSetup { attempts: 3, ..no_backoff() }, 3, 1);
        for (from, size) in sizes.into_iter().enumerate() {
            medium.offer(at(0), from, Frame { to: 2, size: ByteCount::new(size), tag: from as u64 });
        }
        let told_at = at(3 * (longest + SIFS + ACK) + 2 * DIFS);
        let given_up = |tag| Told { at: told_at, tag, outcome: FrameOutcome::GivenUp };
        assert_eq!(run_until_idle(&mut medium), [given_up(0), given_up(1)]);
        let airtime = medium.airtime();
        assert_eq!((airtime.transmissions, airtime.collisions, airtime.retries), (6, 3, 4));
        assert_eq!((airtime.delivered, airtime.given_up), (0, 2));
        // The wait for an ACK that does not come is not busy.
        assert_eq!(airtime.busy, Span::from_micros(3 * longest));
    }
}

/// Radio 0 has sent a second time behind its first, so it had drawn 0 and radio 1, which came during the first, 1.
/// Slot in which the third transmission begins, and whose it is; `None` for a collision.
fn third_transmission(access: Access, seed: u64) -> Option<(u64, Option<usize>)> {
    let setup = MediumSetup { access, cw_min: 1, cw_max: 1, ..Default::default() };
    let (mut medium, mut sent) = (medium(&setup, 3, seed), Vec::new());
    (0..5).for_each(|tag| medium.offer(at(0), 0, frame(2, tag)));
    medium.on_event(at(0), &mut sent);
    (10..15).for_each(|tag| medium.offer(at(1), 1, frame(2, tag)));
    let second = at(EXCHANGE + DIFS);
    medium.on_event(second + Span::from_micros(EXCHANGE), &mut sent);
    if !sent.iter().map(|sent| sent.tag).eq([0, 1]) {
        return None;
    }
    let third = medium.next_event()?;
    medium.on_event(third + Span::from_micros(EXCHANGE), &mut sent);
    let slot = third.since(second + Span::from_micros(EXCHANGE + DIFS)).as_nanos() / 9_000;
    Some((slot, sent.get(2).map(|sent| sent.from)))
}

#[test]
fn the_slot_behind_a_transmission_is_its_senders_with_dcf_and_everybodys_with_edca() {
    let all = |access| {
        let thirds = (0..200).filter_map(|seed| third_transmission(access, seed));
        thirds.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>()
    };
    // Radio 0 draws 0 or 1. Radio 1 still has its 1 with DCF; with EDCA the busy slot took it.
    assert_eq!(all(Access::Dcf), [(0, Some(0)), (1, None)]);
    assert_eq!(all(Access::Edca { aifsn: 2 }), [(0, None), (0, Some(1))]);
}

#[test]
fn aifs_is_longer_than_difs_by_its_slots() {
    for aifsn in 1..=15 {
        let mut medium = medium(&MediumSetup { access: Access::Edca { aifsn }, ..no_backoff() }, 2, 1);
        medium.offer(at(0), 0, frame(1, 1));
        medium.offer(at(0), 0, frame(1, 2));
        let second = EXCHANGE + SIFS + 9 * u64::from(aifsn) + EXCHANGE;
        assert_eq!(run_until_idle(&mut medium), [delivered(EXCHANGE, 1), delivered(second, 2)]);
    }
}
