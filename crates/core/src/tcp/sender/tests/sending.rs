use super::bench::{Bench, MSS};
use crate::ndn::packet::TcpFlags;
use crate::scheme::congestion::Pacing;
use crate::tcp::Source;
use crate::tcp::options::TcpOptions;
use crate::tcp::sender::SenderSettings;
use crate::units::{BitRate, ByteCount, Span};

fn endless(window: f64) -> Bench {
    Bench::new(window, Source::Endless, SenderSettings::default()).open(u16::MAX)
}

#[test]
fn the_window_is_filled_and_every_ack_makes_room() {
    let mut bench = endless(4.0);
    assert_eq!(bench.sent(), [0, 1, 2, 3]);
    bench.set(140);
    bench.ack(2, &[], 120);
    assert_eq!(bench.sent(), [4, 5]);
    assert_eq!(bench.sender.view().in_flight, 4);
}

#[test]
fn a_delivery_reports_the_whole_ack() {
    let mut bench = endless(6.0);
    bench.sent();
    bench.set(141);
    bench.ack(2, &[(3, 4)], 120);
    let delivery = bench.deliveries()[0];
    assert_eq!((delivery.newly_acked, delivery.newly_sacked, delivery.newly_lost), (2, 1, 0));
    assert_eq!((delivery.segment, delivery.size, delivery.in_flight_before), (3, ByteCount::new(3000), 6));
    assert_eq!((delivery.rtt, delivery.delivered_at_send), (Some(Span::from_millis(21)), 0));
    let rate = delivery.rate.expect("a sample");
    assert_eq!((rate.delivered, rate.interval, rate.in_flight_at_send), (3, Span::from_millis(21), 4));
    let view = bench.sender.view();
    // Segment 2 and 4 to 5 under way; 2 to 5 not acknowledged cumulatively.
    assert_eq!((view.in_flight, bench.sender.flight(), view.delivered), (3, 4, 3));
}

#[test]
fn the_receivers_window_holds_the_sender_back_and_is_probed_when_closed() {
    let mut bench = Bench::new(10.0, Source::Endless, SenderSettings::default()).open(2500);
    assert_eq!(bench.sent(), [0, 1], "half a segment waits while something is under way");
    bench.set(140);
    bench.give(2000, 0, TcpFlags::ACK, TcpOptions::default(), 120);
    // The right edge of 2500 stays, so that half a segment goes out alone.
    assert_eq!(bench.segments().iter().map(|(tcp, _)| tcp.payload).collect::<Vec<_>>(), [500]);
    bench.set(160);
    bench.give(2500, 0, TcpFlags::ACK, TcpOptions::default(), 140);
    assert_eq!(bench.sent(), []);
    assert!(bench.sender.is_source_limited());
    let rto = bench.sender.view().rto;
    let mut probes = Vec::new();
    for _ in 0..3 {
        bench.now = bench.sender.next_wake().expect("a probe is due");
        bench.with(|sender, cx| sender.on_wake(cx));
        probes.extend(bench.segments().iter().map(|(tcp, _)| (bench.now, tcp.payload)));
    }
    let waits: Vec<Span> = probes.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    assert_eq!(waits, [rto * 2, rto * 4]);
    assert!(probes.iter().all(|(_, payload)| *payload == 0));
    bench.give(2500, 9000, TcpFlags::ACK, TcpOptions::default(), 140);
    assert_eq!(bench.segments().len(), 9);
}

#[test]
fn a_rate_spreads_segments_and_bursts_keep_the_rate() {
    // 1000 bytes per millisecond.
    let pacing = Pacing::Rate(BitRate::from_mbps(8.0));
    let times = |burst| {
        let settings = SenderSettings { burst, ..SenderSettings::default() };
        let mut bench = Bench::paced(1e6, pacing, Source::Endless, settings).open(u16::MAX);
        assert_eq!(bench.sent().len(), burst as usize);
        bench.run_to(132).iter().map(|(at, _)| *at as u64).collect::<Vec<_>>()
    };
    assert_eq!(times(1), (121..=132).collect::<Vec<_>>());
    assert_eq!(times(4), [124, 124, 124, 124, 128, 128, 128, 128, 132, 132, 132, 132]);
}

#[test]
fn a_window_gathers_a_burst_or_a_third_of_itself_before_it_sends() {
    let after_acks = |window: f64, burst, at_first| -> Vec<usize> {
        let settings = SenderSettings { burst, ..SenderSettings::default() };
        let mut bench = Bench::new(window, Source::Endless, settings).open(u16::MAX);
        assert_eq!(bench.sent().len(), at_first);
        bench.set(140);
        let left = |number| {
            bench.ack(number, &[], 120);
            bench.sent().len()
        };
        (1..=8).map(left).collect()
    };
    assert_eq!(after_acks(24.0, 1, 24), [1; 8]);
    assert_eq!(after_acks(24.0, 4, 24), [0, 0, 0, 4, 0, 0, 0, 4]);
    // Two bursts, and one segment less than a third of the window is free.
    assert_eq!(after_acks(9.0, 4, 8), [0, 3, 0, 0, 3, 0, 0, 3]);
}

#[test]
fn a_burst_is_not_gathered_when_no_ack_is_to_come() {
    let settings = SenderSettings { burst: 8, ..SenderSettings::default() };
    let mut bench =
        Bench::new(8.0, Source::File(ByteCount::new(10 * u64::from(MSS))), settings).open(u16::MAX);
    assert_eq!(bench.sent().len(), 8);
    bench.set(140);
    bench.ack(8, &[], 120);
    assert_eq!(bench.sent(), [8, 9]);
}

#[test]
fn a_constant_source_limits_the_sender_and_its_rate_samples_report_it() {
    let source = Source::Constant(BitRate::from_mbps(0.8)); // a segment per 10 ms
    let mut bench = Bench::new(10.0, source, SenderSettings::default()).open(u16::MAX);
    assert_eq!(bench.sent(), [0]);
    assert!(bench.sender.is_source_limited());
    let times: Vec<u64> = bench.run_to(139).iter().map(|(at, _)| *at as u64).collect();
    assert_eq!(times, [130]);
    bench.set(140);
    bench.ack(1, &[], 120);
    bench.set(150);
    bench.ack(2, &[], 130);
    let limited: Vec<bool> =
        bench.deliveries().iter().map(|delivery| delivery.rate.expect("a sample").is_app_limited).collect();
    // The first left before anything was known; the second while nothing more was there.
    assert_eq!(limited, [false, true]);
}

#[test]
fn a_full_window_is_not_the_sources_limit() {
    let mut bench = endless(3.0);
    bench.sent();
    assert!(!bench.sender.is_source_limited());
}

#[test]
fn a_mark_is_reported_with_the_ack_and_answered_once_per_window() {
    let mut bench = endless(4.0);
    bench.sent();
    bench.set(140);
    let mut answered = Vec::new();
    for number in [1, 2, 5] {
        bench.give(
            number * u32::from(MSS),
            u16::MAX,
            TcpFlags::ACK | TcpFlags::ECE,
            TcpOptions::default(),
            120,
        );
        answered.extend(bench.segments().iter().map(|(tcp, _)| tcp.flags.has(TcpFlags::CWR)));
    }
    // Segments 4 and 5 leave with the first two ACKs, 6 to 8 with the third, which acknowledges what left meanwhile.
    assert_eq!(answered, [true, false, true, false, false]);
    assert!(bench.deliveries().iter().all(|delivery| delivery.mark == 1));
    assert_eq!(bench.sender.stats().marks, 3);
}
