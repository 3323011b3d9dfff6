//! What one radio sends to whom, in which order, and together with what.

use crate::medium::harness::{Told, medium, run_until_idle};
use tidegate_core::link::medium::{Frame, FrameOutcome, MediumSetup, Sent};
use tidegate_core::units::{ByteCount, Span, Time};

fn tags(reported: &[Told]) -> Vec<u64> {
    reported.iter().map(|reported| reported.tag).collect()
}

#[test]
fn receivers_of_a_radio_take_turns_and_each_gets_its_frames_in_order() {
    let mut medium = medium(&MediumSetup::default(), 4, 1);
    for (to, tag) in [(1, 10), (1, 11), (1, 12), (1, 13), (3, 30), (3, 31), (2, 20)] {
        medium.offer(Time::ZERO, 0, Frame { to, size: ByteCount::new(100), tag });
    }
    assert_eq!(medium.waiting(0, 1), 4);
    assert_eq!(tags(&run_until_idle(&mut medium)), [10, 20, 30, 11, 31, 12, 13]);
}

#[test]
fn a_frame_that_is_sent_again_keeps_the_turn_of_its_receiver() {
    // Both stations always collide, so that each frame takes all its attempts.
    let setup = MediumSetup { cw_min: 0, cw_max: 0, attempts: 2, ..Default::default() };
    let mut medium = medium(&setup, 4, 1);
    for from in [0, 1] {
        for (to, tag) in [(2, 20), (3, 30), (2, 21), (3, 31)] {
            medium.offer(Time::ZERO, from, Frame { to, size: ByteCount::new(100), tag });
        }
    }
    let reported = run_until_idle(&mut medium);
    assert_eq!(tags(&reported), [20, 20, 30, 30, 21, 21, 31, 31]);
    assert!(reported.iter().all(|reported| reported.outcome == FrameOutcome::GivenUp));
    assert_eq!(medium.airtime().transmissions, 2 * 4 * 2);
}

#[test]
fn an_aggregate_holds_what_fits_and_is_reported_as_one() {
    // MPDUs of 538 B: with delimiters and padding to multiples of 4 B, three are 2 * 544 + 542 = 1630 B.
    let last_of = |max| {
        let setup = MediumSetup { aggregate: Some(ByteCount::new(max)), cw_min: 0, ..Default::default() };
        let mut medium = medium(&setup, 2, 1);
        for tag in 0..5 {
            medium.offer(Time::ZERO, 0, Frame { to: 1, size: ByteCount::new(500), tag });
        }
        let reported = run_until_idle(&mut medium);
        assert_eq!(tags(&reported), [0, 1, 2, 3, 4]);
        let first = reported[0].at;
        (reported.iter().filter(|reported| reported.at == first).count(), first.since(Time::ZERO))
    };
    // 1630 B are 13 062 bits, 56 symbols of 234; 1086 B are 8710 bits, 38 symbols. A Block ACK is 32 us.
    assert_eq!(last_of(1630), (3, Span::from_micros(36 + 56 * 4 + 16 + 32)));
    assert_eq!(last_of(1629), (2, Span::from_micros(36 + 38 * 4 + 16 + 32)));
    // One alone gets an ACK, also if it is longer than the most.
    assert_eq!(last_of(600), (1, Span::from_micros(36 + 19 * 4 + 16 + 28)));
    assert_eq!(last_of(1), (1, Span::from_micros(36 + 19 * 4 + 16 + 28)));
}

#[test]
fn a_frame_alone_has_no_delimiter() {
    let setup = MediumSetup { aggregate: Some(ByteCount::new(65_535)), ..Default::default() };
    let mut medium = medium(&setup, 2, 1);
    medium.offer(Time::ZERO, 0, Frame { to: 1, size: ByteCount::new(514), tag: 1 });
    // 552 B are 4438 bits, 19 symbols of 234; a delimiter would need the twentieth.
    let reported = run_until_idle(&mut medium);
    assert_eq!(reported[0].at, Time::ZERO + Span::from_micros(36 + 19 * 4 + 16 + 28));
}

#[test]
fn an_aggregate_has_at_most_64_frames_and_ends_within_the_longest_ppdu() {
    let first_of = |mcs, size| {
        let setup = MediumSetup { mcs, aggregate: Some(ByteCount::new(65_535)), ..Default::default() };
        let mut medium = medium(&setup, 2, 1);
        for tag in 0..200 {
            medium.offer(Time::ZERO, 0, Frame { to: 1, size: ByteCount::new(size), tag });
        }
        let reported = run_until_idle(&mut medium);
        reported.iter().filter(|other| other.at == reported[0].at).count()
    };
    assert_eq!(first_of(7, 100), 64);
    // 1544 B each in 65 535 B, of which MCS 0 sends (5484 - 36) us * 26 bits / 4 us in time: 4423 B.
    assert_eq!(first_of(15, 1500), 42);
    assert_eq!(first_of(0, 1500), 2);
}

#[test]
fn what_is_forgotten_is_given_up_and_the_rest_goes_on() {
    let mut medium = medium(&MediumSetup { cw_min: 0, ..Default::default() }, 4, 1);
    for (to, tag) in [(1, 10), (2, 20), (1, 11), (2, 21)] {
        medium.offer(Time::ZERO, 0, Frame { to, size: ByteCount::new(1500), tag });
    }
    let mut reported: Vec<Sent> = Vec::new();
    medium.on_event(Time::ZERO, &mut reported);
    assert_eq!(reported, []);
    // Frame 10 is on the air and takes its time; 11 waits behind it.
    medium.forget(0, 1, &mut reported);
    let given_up = |tag| Sent { tag, from: 0, to: 1, outcome: FrameOutcome::GivenUp };
    assert_eq!(reported, [given_up(10), given_up(11)]);
    assert_eq!((medium.waiting(0, 1), medium.waiting(0, 2)), (0, 2));
    assert_eq!(medium.next_event(), Some(Time::ZERO + Span::from_micros(292)));
    let rest = run_until_idle(&mut medium);
    assert_eq!(tags(&rest), [20, 21]);
    assert_eq!(rest[0].at, Time::ZERO + Span::from_micros(292 + 34 + 292));
    assert_eq!((medium.airtime().transmissions, medium.airtime().delivered), (3, 2));
}

#[test]
fn a_frame_behind_one_that_was_forgotten_on_the_air_is_sent_itself() {
    let mut medium = medium(&MediumSetup { cw_min: 0, ..Default::default() }, 3, 1);
    let frame = |to, tag| Frame { to, size: ByteCount::new(1500), tag };
    medium.offer(Time::ZERO, 0, frame(1, 10));
    let mut reported = Vec::new();
    medium.on_event(Time::ZERO, &mut reported);
    medium.forget(0, 2, &mut reported);
    assert_eq!(reported, [], "another receiver's");
    medium.forget(0, 1, &mut reported);
    medium.offer(Time::from_nanos(5), 0, frame(1, 11));
    let second = Span::from_micros(292 + 34 + 292);
    assert_eq!(
        run_until_idle(&mut medium),
        [Told { at: Time::ZERO + second, tag: 11, outcome: FrameOutcome::Delivered }]
    );
}

#[test]
fn a_receiver_that_is_forgotten_leaves_the_frame_of_another_on_the_air() {
    let mut medium = medium(&MediumSetup { cw_min: 0, ..Default::default() }, 3, 1);
    for (to, tag) in [(1, 10), (2, 20)] {
        medium.offer(Time::ZERO, 0, Frame { to, size: ByteCount::new(1500), tag });
    }
    medium.on_event(Time::ZERO, &mut Vec::new());
    medium.forget(0, 2, &mut Vec::new());
    assert_eq!(tags(&run_until_idle(&mut medium)), [10]);
    assert_eq!(medium.airtime().transmissions, 1);
}

#[test]
fn attempts_of_a_forgotten_frame_do_not_count_for_the_next() {
    // Both radios always send together; the first frame of radio 0 is forgotten during or after one of three attempts.
    let setup = MediumSetup { cw_min: 0, cw_max: 0, attempts: 3, ..Default::default() };
    for forgotten_at in [0, 292].map(|micros| Time::ZERO + Span::from_micros(micros)) {
        let mut medium = medium(&setup, 3, 1);
        let frame = |tag| Frame { to: 2, size: ByteCount::new(1500), tag };
        (0..2).for_each(|from| medium.offer(Time::ZERO, from, frame(from as u64)));
        let mut reported = Vec::new();
        medium.on_event(forgotten_at, &mut reported);
        medium.forget(0, 2, &mut reported);
        medium.offer(forgotten_at, 0, frame(7));
        let last: Vec<_> =
            run_until_idle(&mut medium).iter().map(|reported| (reported.tag, reported.outcome)).collect();
        assert_eq!(last, [(1, FrameOutcome::GivenUp), (7, FrameOutcome::Delivered)], "{forgotten_at}");
    }
}

#[test]
fn forgetting_all_of_a_radio_that_waits_for_its_backoff_leaves_nothing_to_do() {
    let mut medium = medium(&MediumSetup::default(), 2, 1);
    for tag in 0..2 {
        medium.offer(Time::ZERO, 0, Frame { to: 1, size: ByteCount::new(1500), tag });
    }
    let mut reported = Vec::new();
    medium.on_event(Time::ZERO + Span::from_micros(292), &mut reported);
    assert_eq!((reported.len(), medium.next_event().is_some()), (1, true));
    medium.forget(0, 1, &mut reported);
    assert_eq!((reported.len(), medium.next_event()), (2, None));
}

#[test]
fn what_nobody_can_send_is_given_up_at_once() {
    let mut medium = medium(&MediumSetup::default(), 2, 1);
    let offers = [(0, 2, 1), (2, 0, 1), (1, 1, 1), (0, 1, 65_498), (0, 1, u64::MAX)];
    for (tag, (from, to, size)) in (0..).zip(offers) {
        medium.offer(Time::from_nanos(5), from, Frame { to, size: ByteCount::new(size), tag });
    }
    assert_eq!(medium.next_event(), Some(Time::from_nanos(5)));
    let reported = run_until_idle(&mut medium);
    assert_eq!(tags(&reported), [0, 1, 2, 3, 4]);
    assert!(reported.iter().all(|reported| reported.outcome == FrameOutcome::GivenUp));
    medium.offer(Time::from_nanos(5), 0, Frame { to: 1, size: ByteCount::new(65_497), tag: 9 });
    assert_eq!(run_until_idle(&mut medium)[0].outcome, FrameOutcome::Delivered);
}
