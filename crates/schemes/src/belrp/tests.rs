//! Ends of links by hand: what they write, and what they want sent again.

use super::*;

fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

fn belrp() -> Belrp {
    Belrp::new(Params::from_settings(&tidegate_core::scheme::params::Settings::default()).expect("defaults"))
}

fn part(packet: u64, index: u32) -> Part {
    Part { packet, index, sequence: 10 * packet + u64::from(index), bytes: 1000, resends: 0 }
}

fn send(end: &mut Belrp, now: Time, part: Part) -> Labels {
    end.on_send(now, Some(part), 1500 - part.bytes, &mut LinkActions::default())
}

fn acks(acks: &[u64]) -> Labels {
    Labels { acks: acks.to_vec(), bytes: FIELD * acks.len() as u32, ..Labels::default() }
}

fn receive(end: &mut Belrp, now: Time, sequence: Option<u64>, labels: &Labels) -> (bool, LinkActions) {
    let mut actions = LinkActions::default();
    (end.on_receive(now, sequence, labels, &mut actions), actions)
}

fn wake(end: &mut Belrp, now: Time) -> LinkActions {
    let mut actions = LinkActions::default();
    end.on_wake(now, &mut actions);
    actions
}

fn numbered(number: u64) -> Labels {
    Labels { number: Some(number), bytes: FIELD, ..Labels::default() }
}

#[test]
fn a_packet_that_is_given_up_ends_with_its_own_frames_and_no_others() {
    let mut end = belrp();
    for (packet, index, resends) in [(0, 0, 3), (1, 0, 0), (0, 1, 0), (1, 1, 3), (2, 0, 0), (0, 2, 1)] {
        send(&mut end, ms(packet), Part { resends, ..part(packet, index) });
    }
    let actions = wake(&mut end, ms(1_000));
    assert_eq!((actions.given_up, actions.resends), (vec![0], vec![]));
    assert_eq!(end.of_packets.iter().copied().collect::<Vec<_>>(), [(1, 1), (1, 3), (2, 4)]);
    assert!(receive(&mut end, ms(1_000), None, &acks(&[4])).1.given_up.is_empty());
    let actions = wake(&mut end, ms(5_000));
    assert_eq!((actions.given_up, actions.resends.len()), (vec![1], 1));
    assert!(end.unacked.is_empty() && end.of_packets.is_empty() && end.due.is_empty());
}

#[test]
fn acknowledgements_ride_on_frames_that_have_room_or_go_alone_after_a_wait() {
    let mut end = belrp();
    for number in 0..50 {
        assert!(receive(&mut end, ms(100 + number / 10), Some(number), &numbered(number)).0);
    }
    assert_eq!(end.next_wake(), Some(ms(105)));
    // 500 bytes are free beside the part: 12 for its own number, 40 acks.
    let labels = send(&mut end, ms(104), part(0, 0));
    assert_eq!((labels.number, labels.acks.len(), labels.bytes), (Some(0), 40, 492));
    assert_eq!(labels.acks, (0..40).collect::<Vec<u64>>());
    assert_eq!(wake(&mut end, ms(105)).notices, 1);
    let mut actions = LinkActions::default();
    let alone = end.on_send(ms(105), None, 100, &mut actions);
    assert_eq!((alone.number, alone.acks.len(), alone.bytes, actions.notices), (None, 8, 96, 1));
    let rest = end.on_send(ms(105), None, 100, &mut LinkActions::default());
    assert_eq!(rest.acks, [48, 49]);
    // Nothing waits: the next wake-up is the timeout of the part, and that of acks finds nothing to do.
    assert_eq!(end.next_wake(), Some(ms(1_104)));
}

#[test]
fn three_later_acks_make_a_transmission_count_as_lost() {
    let mut end = belrp();
    for index in 0..5 {
        send(&mut end, ms(0), part(0, index));
    }
    let (_, received) = receive(&mut end, ms(20), None, &acks(&[1, 2]));
    assert_eq!((received.resends, received.releases), (vec![], vec![part(0, 1), part(0, 2)]));
    let (_, received) = receive(&mut end, ms(21), None, &acks(&[4]));
    assert_eq!((received.resends, received.releases), (vec![part(0, 0)], vec![part(0, 4)]));
    // It goes again under the number 5; 3 has one later ack, then two, then three.
    let again = Part { resends: 1, ..part(0, 0) };
    assert_eq!(send(&mut end, ms(21), again).number, Some(5));
    assert_eq!(receive(&mut end, ms(40), None, &acks(&[5])).1.resends, []);
    send(&mut end, ms(41), part(1, 0));
    assert_eq!(receive(&mut end, ms(60), None, &acks(&[6])).1.resends, [part(0, 3)]);
    assert_eq!(receive(&mut end, ms(61), None, &acks(&[3, 6, 77])).1, LinkActions::default());
}

#[test]
fn a_timeout_follows_the_samples_of_frames_sent_once() {
    let mut end = belrp();
    send(&mut end, ms(0), part(0, 0));
    assert_eq!(end.next_wake(), Some(ms(1_000)));
    receive(&mut end, ms(100), None, &acks(&[0]));
    assert_eq!(end.next_wake(), None);
    // 100 + 4 * 50 ms.
    send(&mut end, ms(200), part(1, 0));
    assert_eq!(end.next_wake(), Some(ms(500)));
    assert_eq!(wake(&mut end, ms(499)), LinkActions::default());
    assert_eq!(wake(&mut end, ms(500)).resends, [part(1, 0)]);
    // Sent again: its acknowledgement is no sample.
    send(&mut end, ms(500), Part { resends: 1, ..part(1, 0) });
    receive(&mut end, ms(501), None, &acks(&[2]));
    send(&mut end, ms(600), part(2, 0));
    assert_eq!(end.next_wake(), Some(ms(900)));
}

#[test]
fn after_three_retries_the_packet_is_given_up_with_all_its_parts() {
    let mut end = belrp();
    send(&mut end, ms(0), part(0, 1));
    send(&mut end, ms(0), part(1, 0));
    for resends in 0..=3 {
        send(&mut end, ms(1), Part { resends, ..part(0, 0) });
        let number = 2 + u64::from(resends);
        let mut actions = LinkActions::default();
        end.lose(number, &mut actions);
        let is_last = resends == 3;
        assert_eq!((actions.resends.len(), actions.given_up.len()), if is_last { (0, 1) } else { (1, 0) });
    }
    // Of the packet given up nothing is left; the other one still waits.
    assert_eq!(end.unacked.keys().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(end.due.len(), 1);
}

#[test]
fn a_sequence_that_comes_again_within_a_timeout_is_not_new_but_acknowledged() {
    let mut end = belrp();
    assert!(receive(&mut end, ms(0), Some(7), &numbered(1)).0);
    assert!(!receive(&mut end, ms(1_000), Some(7), &numbered(2)).0);
    assert_eq!(end.acks, [1, 2]);
    // What is older than that is forgotten after the look, so that 8 makes forget 7, but 7 does not.
    assert!(!receive(&mut end, ms(1_001), Some(7), &numbered(3)).0);
    assert!(receive(&mut end, ms(2_002), Some(8), &numbered(4)).0);
    assert!(receive(&mut end, ms(2_003), Some(7), &numbered(5)).0);
}
