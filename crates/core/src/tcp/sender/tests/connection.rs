use super::bench::Bench;
use crate::ndn::packet::Ecn;
use crate::ndn::packet::TcpFlags;
use crate::tcp::Source;
use crate::tcp::options::{SynOptions, TcpOptions};
use crate::tcp::sender::SenderSettings;
use crate::units::{ByteCount, Span, Time};

fn file(length: u64) -> Bench {
    Bench::new(10.0, Source::File(ByteCount::new(length)), SenderSettings::default())
}

#[test]
fn a_syn_is_repeated_after_one_second_and_then_twice_as_late() {
    let mut bench = file(1000);
    let mut times = Vec::new();
    for _ in 0..3 {
        bench.now = bench.sender.next_wake().expect("something is due");
        bench.with(|sender, cx| sender.on_wake(cx));
        times.extend(bench.segments().iter().map(|(tcp, _)| (bench.now.as_nanos() / 1_000_000, tcp.flags.0)));
    }
    assert_eq!(times, [(0, 2), (1000, 2), (3000, 2)]);
    assert_eq!(bench.sender.stats().timeouts, 2);
}

#[test]
fn the_answer_to_the_syn_gives_round_trip_window_and_segment_size() {
    let mut bench = file(5000);
    bench.set(100);
    bench.poll();
    bench.set(130);
    let syn = SynOptions { mss: 500, window_scale: 3 };
    let options = TcpOptions { syn: Some(syn), ..TcpOptions::default() };
    bench.give(0, 1200, TcpFlags::SYN | TcpFlags::ACK, options, 100);
    assert_eq!(bench.sender.view().smoothed_rtt, Some(Span::from_millis(30)));
    let left: Vec<u16> = bench.segments().iter().map(|(tcp, _)| tcp.payload).collect();
    // The handshake's ACK, then what fits 1200 bytes; a SYN's window is not scaled.
    assert_eq!(left, [0, 500, 500]);
    bench.set(150);
    bench.give(1000, 500, TcpFlags::ACK, TcpOptions::default(), 130);
    // 500 units of 8 bytes.
    assert_eq!(bench.segments().iter().map(|(tcp, _)| tcp.payload).collect::<Vec<_>>(), [500; 8]);
}

#[test]
fn a_file_ends_with_a_fin_and_both_directions_close() {
    let mut bench = file(2500).open(u16::MAX);
    assert_eq!(bench.poll(), [(0, 0, 0x10), (0, 1000, 0x10), (1, 1000, 0x10), (2, 500, 0x11)]);
    bench.set(140);
    bench.give(2501, u16::MAX, TcpFlags::ACK, TcpOptions::default(), 120);
    let at = Time::ZERO + Span::from_millis(140);
    assert_eq!((bench.sender.completed_at(), bench.sender.is_closed()), (Some(at), false));
    bench.set(150);
    bench.give(2501, u16::MAX, TcpFlags::ACK | TcpFlags::FIN, TcpOptions::default(), 120);
    assert!(bench.sender.is_closed());
    let last = bench.segments();
    assert_eq!((last.len(), last[0].0.ack, last[0].0.flags.0), (1, 2, 0x10));
    assert_eq!(bench.sender.next_wake(), None);
    bench.give(2501, u16::MAX, TcpFlags::ACK | TcpFlags::FIN, TcpOptions::default(), 120);
    assert_eq!(bench.segments().len(), 1, "the receiver asks again");
}

#[test]
fn an_empty_file_is_a_fin_alone() {
    let mut bench = file(0).open(u16::MAX);
    assert_eq!(bench.poll(), [(0, 0, 0x10), (0, 0, 0x11)]);
}

#[test]
fn what_acknowledges_data_that_never_left_is_not_accepted() {
    let mut bench = file(2500).open(u16::MAX);
    bench.poll();
    bench.ack(9, &[], 120);
    bench.ack(0, &[(1, 9), (7, 3)], 120);
    let view = bench.sender.view();
    assert_eq!((view.delivered, view.in_flight), (0, 3));
}

#[test]
fn a_syn_without_an_answer_opens_nothing() {
    let mut bench = file(2500);
    bench.poll();
    bench.ack(0, &[], 0);
    bench.give(7, u16::MAX, TcpFlags::SYN | TcpFlags::ACK, TcpOptions::default(), 0);
    assert_eq!(bench.poll(), []);
}

#[test]
fn segments_may_be_marked_only_when_the_syn_requested_it_and_the_answer_agreed() {
    let data = |requested, answer: TcpFlags| {
        let mut bench = Bench::requester(requested);
        let syn = bench.segments()[0].0;
        bench.give(0, u16::MAX, TcpFlags::SYN | TcpFlags::ACK | answer, TcpOptions::default(), 0);
        let left = bench.segments();
        assert_eq!((syn.ecn, left[0].0.ecn), (Ecn::NotCapable, Ecn::NotCapable), "SYN and bare ACK");
        (syn.flags.0, left[1].0.ecn)
    };
    let none = TcpFlags::default();
    assert_eq!(data(Ecn::NotCapable, none), (0x02, Ecn::NotCapable));
    assert_eq!(data(Ecn::Classic, none), (0xC2, Ecn::NotCapable));
    assert_eq!(data(Ecn::Classic, TcpFlags::ECE), (0xC2, Ecn::Classic));
    assert_eq!(data(Ecn::LowLatency, TcpFlags::ECE), (0xC2, Ecn::LowLatency));
    assert_eq!(data(Ecn::Classic, TcpFlags::ECE | TcpFlags::CWR), (0xC2, Ecn::NotCapable), "a mirror");
}

#[test]
fn feedback_on_an_ack_that_a_later_one_overtook_is_not_reported() {
    let mut bench = file(100_000).open(u16::MAX);
    bench.poll();
    bench.set(140);
    let near_the_end = u32::MAX - 1;
    for (number, stamp, rate) in [
        (1, near_the_end, 100),
        (1, near_the_end, 101), // A duplicate of the same millisecond may be later.
        (3, near_the_end, 50),
        (2, near_the_end, 102),     // By its ACK.
        (3, near_the_end - 1, 103), // By its time stamp.
        (2, 1, 60),                 // Time stamps wrap around; nothing is new to this ACK but its time.
        (3, near_the_end, 104),
        (3, 2, 70),
    ] {
        bench.feedback(number, stamp, rate);
    }
    assert_eq!(bench.rates(), [100, 101, 50, 60, 70]);
}
