use super::*;
use crate::ndn::name::NameTable;
use crate::units::Span;

const MSS: u16 = 1000;

fn setup() -> ReceiverSetup {
    ReceiverSetup {
        name: Name::whole(NameTable::ROOT),
        mss: MSS,
        buffer: ByteCount::new(100_000),
        reads_at_once: true,
        ack_policy: AckPolicy { quick: 0, ..AckPolicy::default() },
        ecn: true,
        echo: EcnEcho::Latched,
        ack_option: ByteCount::ZERO,
        initial_sequence: 7,
        clock: Clock::FINE,
    }
}

/// A receiver after the handshake; the sender's first byte has the number 1.
fn open(setup: ReceiverSetup) -> Receiver {
    let mut receiver = Receiver::new(setup);
    receiver.on_segment(Time::ZERO, &header(0, 0, TcpFlags::SYN, 5));
    let answer = receiver.poll().expect("SYN-ACK");
    let Kind::Tcp(segment) = answer.header.kind else { panic!("{answer:?}") };
    assert_eq!((segment.seq, segment.ack, segment.flags.0), (7, 1, 0x12));
    receiver
}

fn header(seq: u32, payload: u16, flags: TcpFlags, stamp: u32) -> Header {
    let segment = TcpSegment {
        seq,
        ack: 8,
        timestamp: stamp,
        echo: 0,
        payload,
        window: 0,
        flags,
        ecn: Ecn::NotCapable,
    };
    let size = segment_size(ByteCount::new(u64::from(payload)), &TcpOptions::default());
    Header::new(Name::whole(NameTable::ROOT), Kind::Tcp(segment), size)
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Segment `number`, sent with its arrival's time stamp.
fn give(receiver: &mut Receiver, millis: u64, number: u32) {
    receiver.on_segment(at(millis), &header(1 + number * 1000, MSS, TcpFlags::ACK, millis as u32));
}

/// Acknowledged number and SACK blocks of every ACK that leaves.
fn acks(receiver: &mut Receiver) -> Vec<(TcpSegment, Vec<(u32, u32)>)> {
    std::iter::from_fn(|| receiver.poll())
        .map(|ack| match ack.header.kind {
            Kind::Tcp(segment) => (segment, ack.options.sack.iter().collect()),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn numbers(receiver: &mut Receiver) -> Vec<u32> {
    acks(receiver).into_iter().map(|(segment, _)| segment.ack).collect()
}

#[test]
fn every_second_segment_is_acknowledged_and_a_single_one_after_40_ms() {
    let mut receiver = open(setup());
    give(&mut receiver, 10, 0);
    assert_eq!((numbers(&mut receiver), receiver.next_wake()), (vec![], Some(at(50))));
    give(&mut receiver, 11, 1);
    assert_eq!((numbers(&mut receiver), receiver.next_wake()), (vec![2001], None));
    give(&mut receiver, 20, 2);
    receiver.on_wake(at(59));
    assert_eq!(numbers(&mut receiver), []);
    receiver.on_wake(at(60));
    assert_eq!((numbers(&mut receiver), receiver.received().get()), (vec![3001], 3000));
}

#[test]
fn the_first_segments_are_acknowledged_at_once() {
    let mut receiver =
        open(ReceiverSetup { ack_policy: AckPolicy { quick: 3, ..AckPolicy::default() }, ..setup() });
    (0..5).for_each(|number| give(&mut receiver, 10, number));
    assert_eq!(numbers(&mut receiver), [1001, 2001, 3001, 5001]);
}

#[test]
fn a_gap_and_its_end_are_reported_at_once() {
    let mut receiver = open(setup());
    give(&mut receiver, 10, 1);
    let ack = acks(&mut receiver);
    assert_eq!((ack[0].0.ack, ack[0].1.clone()), (1, vec![(1001, 2001)]));
    give(&mut receiver, 11, 3);
    assert_eq!(acks(&mut receiver)[0].1, [(3001, 4001), (1001, 2001)]);
    give(&mut receiver, 12, 0);
    let ack = acks(&mut receiver);
    assert_eq!((ack[0].0.ack, ack[0].1.clone()), (2001, vec![(3001, 4001)]));
}

#[test]
fn the_echoed_stamp_is_that_of_the_first_segment_not_acknowledged() {
    let mut receiver = open(setup());
    give(&mut receiver, 10, 0);
    give(&mut receiver, 15, 1);
    // RFC 7323 §4.3 (A): of two segments that one ACK answers, the earlier counts.
    let echoed = |receiver: &mut Receiver| acks(receiver).iter().map(|(ack, _)| ack.echo).collect::<Vec<_>>();
    assert_eq!(echoed(&mut receiver), [10]);
    give(&mut receiver, 20, 3);
    // (B): a segment behind a gap does not.
    assert_eq!(echoed(&mut receiver), [10]);
    give(&mut receiver, 30, 2);
    // (C): the one that fills it does.
    assert_eq!(echoed(&mut receiver), [30]);
}

#[test]
fn a_mark_is_reported_until_the_sender_has_reduced() {
    let mut receiver =
        open(ReceiverSetup { ack_policy: AckPolicy { every: 1, ..setup().ack_policy }, ..setup() });
    let mut reported = Vec::new();
    for (number, mark, flags) in [(0, 0, TcpFlags::ACK), (1, 1, TcpFlags::ACK), (2, 0, TcpFlags::ACK)] {
        let mut packet = header(1 + number * 1000, MSS, flags, 1);
        packet.hop.raise_mark(mark);
        receiver.on_segment(at(1), &packet);
    }
    receiver.on_segment(at(1), &header(3001, MSS, TcpFlags::ACK | TcpFlags::CWR, 1));
    reported.extend(acks(&mut receiver).iter().map(|(ack, _)| ack.flags.has(TcpFlags::ECE)));
    assert_eq!(reported, [false, true, true, false]);
}

#[test]
fn an_exact_echo_parts_marked_from_unmarked_segments() {
    let mut receiver = open(ReceiverSetup { echo: EcnEcho::Exact, ..setup() });
    for (number, mark) in [(0, 0), (1, 1), (2, 1), (3, 1), (4, 0)] {
        let mut packet = header(1 + number * 1000, MSS, TcpFlags::ACK, 1);
        packet.hop.raise_mark(mark);
        receiver.on_segment(at(1), &packet);
    }
    let reported: Vec<(u32, bool)> =
        acks(&mut receiver).iter().map(|(ack, _)| (ack.ack, ack.flags.has(TcpFlags::ECE))).collect();
    assert_eq!(reported, [(1001, false), (2001, true), (4001, true), (5001, false)]);
}

#[test]
fn a_full_buffer_closes_the_window_and_reading_two_segments_opens_it() {
    let mut receiver = open(ReceiverSetup { buffer: ByteCount::new(4000), reads_at_once: false, ..setup() });
    (0..4).for_each(|number| give(&mut receiver, 10, number));
    let windows: Vec<u16> = acks(&mut receiver).iter().map(|(ack, _)| ack.window).collect();
    assert_eq!(windows, [2000, 0]);
    // Beyond the window: not taken, but answered.
    give(&mut receiver, 11, 4);
    assert_eq!((numbers(&mut receiver), receiver.received().get()), (vec![4001], 4000));
    receiver.read(at(12), ByteCount::new(1000));
    assert_eq!(numbers(&mut receiver), []);
    receiver.read(at(12), ByteCount::new(1000));
    assert_eq!(acks(&mut receiver)[0].0.window, 2000);
}

#[test]
fn a_window_over_64_kib_is_scaled() {
    let receiver = open(ReceiverSetup { buffer: ByteCount::new(1 << 20), ..setup() });
    // 2^20 / 2^5 = 32768 fits 16 bits, 2^20 / 2^4 does not.
    assert_eq!(receiver.window.scale(), 5);
}

#[test]
fn a_probe_of_a_closed_window_is_answered() {
    let mut receiver = open(setup());
    receiver.on_segment(at(1), &header(0, 0, TcpFlags::ACK, 1));
    assert_eq!(numbers(&mut receiver), [1]);
    receiver.on_segment(at(1), &header(1, 0, TcpFlags::ACK, 1));
    assert_eq!(numbers(&mut receiver), [], "the ACK of the handshake");
}

#[test]
fn the_receiver_closes_with_the_sender_and_reports_it_again_when_requested_again() {
    let mut receiver = open(setup());
    let fin = header(1, 500, TcpFlags::ACK | TcpFlags::FIN, 1);
    receiver.on_segment(at(1), &fin);
    let ack = acks(&mut receiver);
    assert_eq!((ack[0].0.ack, ack[0].0.seq, ack[0].0.flags.0), (502, 8, 0x11));
    assert_eq!(receiver.received().get(), 500);
    receiver.on_segment(at(2), &fin);
    assert_eq!(acks(&mut receiver)[0].0.flags.0, 0x11);
    assert!(!receiver.is_closed());
    let mut last = header(502, 0, TcpFlags::ACK, 1);
    if let Kind::Tcp(segment) = &mut last.kind {
        segment.ack = 9;
    }
    receiver.on_segment(at(3), &last);
    assert!(receiver.is_closed());
}

#[test]
fn nothing_is_taken_before_a_syn_and_a_repeated_syn_is_answered_again() {
    let mut receiver = Receiver::new(setup());
    give(&mut receiver, 1, 0);
    assert_eq!((numbers(&mut receiver), receiver.received().get()), (vec![], 0));
    let mut receiver = open(setup());
    receiver.on_segment(at(5), &header(0, 0, TcpFlags::SYN, 5));
    assert_eq!(numbers(&mut receiver), [1]);
}

#[test]
fn a_window_that_the_application_opens_by_less_than_two_segments_stays_as_it_was() {
    let mut receiver = open(ReceiverSetup {
        buffer: ByteCount::new(10_000),
        reads_at_once: false,
        ack_policy: AckPolicy { every: 1, quick: 0, ..AckPolicy::default() },
        ..setup()
    });
    let windows = |receiver: &mut Receiver| -> Vec<u16> {
        acks(receiver).into_iter().map(|(segment, _)| segment.window).collect()
    };
    (0..5).for_each(|number| give(&mut receiver, 10, number));
    assert_eq!(windows(&mut receiver), [9000, 8000, 7000, 6000, 5000]);
    receiver.read(at(20), ByteCount::new(1500));
    assert_eq!(windows(&mut receiver), [], "not worth an ACK");
    give(&mut receiver, 30, 5);
    assert_eq!(windows(&mut receiver), [4000], "nor a word on the next one");
    receiver.read(at(40), ByteCount::new(500));
    assert_eq!(windows(&mut receiver), [6000]);
}

#[test]
fn the_answer_to_a_repeated_syn_echoes_its_own_time_stamp() {
    let mut receiver = Receiver::new(setup());
    receiver.on_segment(at(10), &header(0, 0, TcpFlags::SYN, 5));
    receiver.on_segment(at(1010), &header(0, 0, TcpFlags::SYN, 1005));
    let echoed: Vec<u32> = acks(&mut receiver).into_iter().map(|(segment, _)| segment.echo).collect();
    assert_eq!(echoed, [5, 1005]);
}

#[test]
fn only_a_receiver_that_takes_part_grants_ecn_and_only_if_requested() {
    let answer = |ecn, flags| {
        let mut receiver = Receiver::new(ReceiverSetup { ecn, ..setup() });
        receiver.on_segment(Time::ZERO, &header(0, 0, flags, 5));
        acks(&mut receiver)[0].0.flags.0
    };
    let requests = TcpFlags::SYN | TcpFlags::ECE | TcpFlags::CWR;
    assert_eq!((answer(true, requests), answer(false, requests)), (0x52, 0x12));
    assert_eq!((answer(true, TcpFlags::SYN), answer(true, TcpFlags::SYN | TcpFlags::ECE)), (0x12, 0x12));
}
