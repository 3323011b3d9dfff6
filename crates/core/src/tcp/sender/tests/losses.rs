use super::bench::{Bench, Received};
use crate::ndn::packet::TcpFlags;
use crate::scheme::congestion::{LossSignal, Recovery};
use crate::tcp::Source;
use crate::tcp::options::TcpOptions;
use crate::tcp::sender::{Detection, SenderSettings};
use crate::units::{BitRate, ByteCount, Span};

fn bench(window: f64, settings: SenderSettings) -> Bench {
    opened(Bench::new(window, Source::Endless, settings), window)
}

fn immediate(window: f64) -> Bench {
    opened(Bench::immediate(window), window)
}

fn opened(bench: Bench, window: f64) -> Bench {
    let mut bench = bench.open(u16::MAX);
    assert_eq!(bench.sent().len(), window as usize);
    bench
}

fn gap(number: u32) -> Received {
    Received::Loss(number, LossSignal::Gap)
}

fn enter(flight: u32) -> Received {
    Received::Recovery(Recovery::Enter { flight })
}

fn timeout(flight: u32) -> Received {
    Received::Recovery(Recovery::Timeout { flight })
}

#[test]
fn three_segments_behind_a_gap_begin_a_recovery_that_ends_when_all_is_acknowledged() {
    for detection in [Detection::RackTlp, Detection::Sack] {
        let mut bench = bench(10.0, SenderSettings { detection, ..SenderSettings::default() });
        bench.set(141);
        bench.ack(0, &[(1, 3)], 120);
        assert_eq!((bench.trouble(), bench.sent()), (vec![], vec![10, 11]), "limited transmit");
        bench.ack(0, &[(1, 4)], 120);
        assert_eq!(bench.trouble(), [gap(0), enter(12)], "{detection:?}");
        assert_eq!(bench.sent(), [0]);
        bench.set(160);
        bench.ack(11, &[], 141);
        assert_eq!(bench.trouble(), [], "segment 11 left before the recovery");
        bench.set(162);
        bench.ack(12, &[], 141);
        assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Exit)]);
        assert_eq!(bench.sender.view().in_flight, 0);
    }
}

#[test]
fn one_ack_may_end_a_recovery_and_begin_the_next() {
    let mut bench = immediate(8.0);
    bench.set(141);
    bench.ack(0, &[(1, 6)], 120);
    // The window is 4: segments 6 and 7 under way, room for the lost one and a new one.
    assert_eq!(bench.sent(), [0, 8]);
    bench.received();
    bench.set(162);
    // Segment 8, which left with the retransmission, has arrived; 6 and 7 have not.
    bench.ack(6, &[(8, 9)], 141);
    assert_eq!(bench.trouble(), [gap(6), gap(7)], "the same recovery up to segment 7");
    assert_eq!(bench.sent(), [6, 7, 9, 10]);
    bench.set(183);
    bench.ack(9, &[(10, 11)], 162);
    assert_eq!(bench.trouble(), [gap(9), Received::Recovery(Recovery::Exit), enter(2)]);
    assert_eq!((bench.sent(), bench.sender.stats().recoveries), (vec![9, 11], 2));
}

#[test]
fn what_the_controller_shrinks_to_is_reached_in_proportion() {
    let mut bench = bench(20.0, SenderSettings::default());
    bench.set(141);
    let mut left = Vec::new();
    for end in 2..20 {
        bench.ack(0, &[(1, end)], 120);
        left.push(bench.sent().len());
    }
    // Two by limited transmit; then half as much leaves as arrives: 21 outstanding less the two acknowledged before.
    assert_eq!(left[..3], [1, 1, 1]);
    assert!(left[3..].iter().all(|count| *count <= 1), "{left:?}");
    assert_eq!(left[2..].iter().sum::<usize>(), 8, "{left:?}");
    assert_eq!(bench.sender.window(), 10.0);
}

#[test]
fn a_window_that_holds_at_once_stops_the_sender_until_the_flight_has_shrunk() {
    let mut bench = immediate(20.0);
    bench.set(141);
    let mut left = Vec::new();
    for end in 2..20 {
        bench.ack(0, &[(1, end)], 120);
        left.push(bench.sent().len());
    }
    // 22 left, 3 arrived and 1 is lost: 18 in flight fall to 9 before the lost one leaves, with the 12th ACK.
    let mut expected = vec![1, 1];
    expected.extend([0; 9]);
    expected.extend([1; 7]);
    assert_eq!(left, expected);
}

#[test]
fn the_reordering_timer_finds_a_loss_without_an_ack() {
    let mut bench = bench(2.0, SenderSettings::default());
    bench.set(141);
    bench.ack(0, &[(1, 2)], 120);
    assert_eq!(bench.sent(), [2]);
    // Round trip 21 ms and a quarter of the least one, 20 ms, after 120 ms.
    assert_eq!(bench.run_to(150), [(146.0, 0)]);
    assert_eq!(bench.trouble(), [gap(0), enter(3)]);
}

#[test]
fn a_tail_is_probed_after_two_round_trips_and_the_loss_behind_it_repaired_without_a_timeout() {
    let source = Source::File(ByteCount::new(4000));
    let mut bench = Bench::new(10.0, source, SenderSettings::default()).open(u16::MAX);
    assert_eq!(bench.sent(), [0, 1, 2, 3]);
    bench.set(140);
    bench.ack(2, &[], 120);
    // 2 and 3 are lost. Smoothed round trip 20 ms: the last one again at 180 ms.
    assert_eq!(bench.run_to(200), [(180.0, 3)]);
    bench.ack_with_fin(2, 3, 3, 180);
    // It left 60 ms before the probe did: lost at once.
    assert_eq!(bench.sent(), [2]);
    assert_eq!((bench.sender.stats().timeouts, bench.sender.stats().probes), (0, 1));
}

#[test]
fn the_probe_of_a_single_segment_waits_for_a_delayed_ack() {
    let settings = SenderSettings { max_ack_delay: Span::from_millis(50), ..SenderSettings::default() };
    let mut bench = Bench::new(10.0, Source::File(ByteCount::new(1000)), settings).open(u16::MAX);
    assert_eq!(bench.sent(), [0]);
    // Two round trips of 20 ms, and the 50 ms that the receiver may wait.
    assert_eq!(bench.run_to(250), [(210.0, 0)]);
}

#[test]
fn a_flight_is_probed_once_and_no_later_than_its_timeout() {
    // Two round trips of 20 ms and 300 ms more are beyond the timeout of 220 ms.
    let settings = SenderSettings { max_ack_delay: Span::from_millis(300), ..SenderSettings::default() };
    let mut bench = Bench::new(10.0, Source::File(ByteCount::new(1000)), settings).open(u16::MAX);
    assert_eq!(bench.sent(), [0]);
    // The probe takes the timer's place, which then runs out itself.
    let left = bench.run_to(600);
    assert_eq!(left[0], (340.0, 0));
    assert_eq!((bench.sender.stats().probes, left.len()), (1, 2), "{left:?}");
    assert!(bench.sender.stats().timeouts >= 1);
}

#[test]
fn at_a_timeout_what_left_within_a_round_trip_is_not_taken_for_lost() {
    // A segment each 50 ms, of which the first alone comes through.
    let source = Source::Constant(BitRate::from_mbps(0.16));
    let mut bench = Bench::new(10.0, source, SenderSettings::default()).open(u16::MAX);
    assert_eq!(bench.sent(), [0]);
    bench.set(140);
    bench.ack(1, &[], 120);
    let mut left = Vec::new();
    let mut now = 140;
    while bench.sender.stats().timeouts == 0 {
        now += 1;
        left.extend(bench.run_to(now));
    }
    let timeout = Received::Loss(1, LossSignal::Timeout);
    let lost: Vec<Received> =
        bench.trouble().into_iter().filter(|received| matches!(received, Received::Loss(..))).collect();
    assert!(lost.contains(&timeout), "{lost:?}");
    let (last_at, last) = left.iter().copied().max_by_key(|(_, number)| *number).expect("some left");
    // A round trip is 20 ms, a quarter of which is for reordering.
    assert!((now as f64) < last_at + 25.0, "the last one left at {last_at}, the timeout was at {now}");
    assert!(!lost.contains(&Received::Loss(last, LossSignal::Timeout)), "{lost:?} of {left:?}");
    assert_eq!(lost.len() as u32, last - 1);
}

#[test]
fn without_probes_a_tail_waits_for_the_timeout() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = Bench::new(10.0, Source::File(ByteCount::new(2000)), settings).open(u16::MAX);
    assert_eq!(bench.sent(), [0, 1]);
    assert_eq!(bench.run_to(339), []);
    // One segment in the window of a timeout; the next waits twice as long.
    assert_eq!(bench.run_to(800), [(340.0, 0), (780.0, 0)]);
    let lost = |number| Received::Loss(number, LossSignal::Timeout);
    assert_eq!(bench.trouble(), [lost(0), lost(1), timeout(2), lost(0), timeout(2)]);
    assert_eq!(bench.sender.stats().timeouts, 2);
}

#[test]
fn what_waited_behind_a_segment_that_left_again_gives_no_round_trip() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = bench(4.0, settings);
    // All four arrive; their ACKs are lost. The first leaves again, and its ACK tells of them all.
    assert_eq!(bench.run_to(340), [(340.0, 0)]);
    bench.deliveries();
    bench.set(360);
    bench.ack(4, &[], 340);
    let trips: Vec<_> = bench.deliveries().iter().map(|delivery| delivery.rtt).collect();
    assert_eq!(trips, [None], "220 ms, of which 200 were the wait for the timer");
    let smoothed = bench.sender.view().smoothed_rtt.expect("a sample").as_millis_f64();
    assert!((smoothed - 20.0).abs() < 1.0, "by its time stamp: {smoothed}");
}

#[test]
fn a_timeout_ends_when_what_was_outstanding_is_acknowledged() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = bench(4.0, settings);
    assert_eq!(bench.run_to(340), [(340.0, 0)]);
    bench.received();
    bench.set(361);
    bench.ack(1, &[], 340);
    assert_eq!((bench.sent(), bench.trouble()), (vec![1], vec![]));
    bench.set(382);
    bench.ack(4, &[], 361);
    assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Exit)]);
}

#[test]
fn an_old_time_stamp_shows_that_nothing_was_lost() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = bench(4.0, settings);
    assert_eq!(bench.run_to(340), [(340.0, 0)]);
    bench.received();
    bench.set(350);
    // The answer to the first transmission at 120 ms, late.
    bench.ack(1, &[], 120);
    assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Spurious)]);
    assert_eq!(bench.sender.view().in_flight, 3, "the others are under way");
    bench.set(351);
    bench.ack(4, &[], 120);
    assert_eq!(bench.trouble(), []);
}

/// A recovery that began when 16 segments were under way, at 171 ms: what left before it is acknowledged up to segment 12, and
/// segments 16 to 19 have left since.
fn late_in_a_recovery() -> Bench {
    let mut bench = immediate(16.0);
    bench.set(141);
    bench.ack(0, &[(1, 10)], 120);
    assert_eq!(bench.sent(), [0, 16]);
    bench.set(150);
    bench.ack(0, &[(1, 12)], 120);
    assert_eq!(bench.sent(), [17, 18]);
    bench.set(162);
    bench.ack(12, &[], 141);
    assert_eq!(bench.sent(), [12, 13, 14, 15, 19]);
    bench.set(171);
    bench
}

#[test]
fn the_answer_to_a_retransmission_of_one_recovery_does_not_undo_the_next() {
    let mut bench = late_in_a_recovery();
    bench.ack(12, &[(17, 18)], 141);
    assert_eq!(bench.sent(), [16, 20], "still the first recovery");
    bench.received();
    bench.set(183);
    bench.ack(16, &[(17, 18)], 162);
    assert_eq!(bench.trouble(), [gap(18), Received::Recovery(Recovery::Exit), enter(5)]);
    assert_eq!(bench.sent()[0], 18);
    bench.set(192);
    // Segment 16 as it left at 171 ms, before 18 left again, but not for the first time either.
    bench.ack(18, &[], 171);
    assert_eq!((bench.trouble(), bench.sender.stats().spurious), (vec![gap(19)], 0));
}

#[test]
fn a_loss_sent_again_before_the_recovery_ends_begins_the_next() {
    let mut bench = late_in_a_recovery();
    // Segment 16, which left after the recovery began, is lost: it belongs to the next one.
    bench.ack(12, &[(17, 18)], 141);
    assert_eq!((bench.trouble().last(), bench.sent()), (Some(&gap(16)), vec![16, 20]));
    bench.set(172);
    bench.ack(12, &[(17, 19)], 141);
    bench.sent();
    bench.set(183);
    bench.ack(16, &[(17, 19)], 162);
    assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Exit), enter(6)]);
    bench.set(192);
    bench.ack(19, &[], 171);
    assert_eq!(bench.trouble(), [gap(19)], "it left before 16 left again");
}

#[test]
fn only_segments_that_left_once_give_the_round_trip_exactly() {
    let mut bench = bench(10.0, SenderSettings::default());
    bench.set(141);
    bench.ack(0, &[(1, 4)], 120);
    assert_eq!(bench.sent(), [0, 10]);
    bench.received();
    let before = bench.sender.view().smoothed_rtt.expect("a sample");
    bench.set(181);
    bench.ack(4, &[], 141);
    assert_eq!(bench.deliveries()[0].rtt, None);
    // By its time stamp: 40 ms, an eighth of it.
    assert_eq!(bench.sender.view().smoothed_rtt, Some((before * 7 + Span::from_millis(40)) / 8));
}

#[test]
fn a_lost_retransmission_costs_rack_no_timeout() {
    let again = |detection| {
        let mut bench = bench(10.0, SenderSettings { detection, ..SenderSettings::default() });
        bench.set(141);
        bench.ack(0, &[(1, 4)], 120);
        assert_eq!(bench.sent(), [0, 10]);
        // Segment 0 is lost again; 10, which left behind it, arrives.
        bench.set(162);
        bench.ack(0, &[(10, 11), (1, 10)], 120);
        bench.sent()
    };
    assert!(again(Detection::RackTlp).contains(&0));
    assert!(!again(Detection::Sack).contains(&0));
}

#[test]
fn a_recovery_whose_every_retransmission_came_twice_is_undone_once() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = opened(Bench::immediate_with(12.0, Source::Endless, settings), 12.0);
    bench.set(141);
    bench.ack(0, &[(4, 5), (2, 3)], 120);
    bench.ack(0, &[(4, 8), (2, 3)], 120);
    assert_eq!(bench.trouble(), [gap(0), gap(1), gap(3), enter(12)]);
    bench.ack(0, &[(4, 11), (2, 3)], 120);
    assert_eq!(bench.sent(), [0, 1, 3, 12, 13]);
    bench.received();
    bench.set(162);
    // The originals came late, and what told of the first was lost: time stamps are those of the retransmissions.
    bench.ack(11, &[(0, 1)], 141);
    bench.ack(11, &[(3, 4)], 141);
    assert_eq!(bench.trouble(), []);
    bench.ack(11, &[(1, 2)], 141);
    assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Spurious)]);
    bench.ack(11, &[(1, 2)], 141);
    bench.ack(14, &[], 141);
    assert_eq!((bench.trouble(), bench.sender.stats().spurious), (vec![], 1));
}

#[test]
fn a_recovery_is_undone_after_its_end_too_but_not_once_the_next_has_begun_or_a_mark_came() {
    let after = |has_next: bool, flags: TcpFlags| {
        let mut bench =
            bench(10.0, SenderSettings { detection: Detection::Sack, ..SenderSettings::default() });
        bench.set(141);
        bench.ack(0, &[(1, 4)], 120);
        assert_eq!(bench.sent(), [0, 10]);
        bench.set(162);
        bench.ack(11, &[], 141);
        assert_eq!(bench.trouble().last(), Some(&Received::Recovery(Recovery::Exit)));
        assert_eq!(bench.sent().len(), 5);
        if has_next {
            bench.ack(11, &[(12, 15)], 162);
            assert_eq!(bench.trouble(), [gap(11), enter(5)]);
            bench.sent();
        }
        bench.give(11_000, u16::MAX, TcpFlags::ACK | flags, TcpOptions::default(), 141);
        bench.ack(11, &[(0, 1)], 141);
        bench.trouble()
    };
    assert_eq!(after(false, TcpFlags::default()), [Received::Recovery(Recovery::Spurious)]);
    assert_eq!(after(true, TcpFlags::default()), []);
    assert_eq!(after(false, TcpFlags::ECE), []);
}

#[test]
fn a_recovery_that_time_stamps_have_undone_is_not_undone_by_what_came_twice() {
    let mut bench = bench(10.0, SenderSettings::default());
    bench.set(141);
    bench.ack(0, &[(1, 4)], 120);
    bench.sent();
    bench.received();
    bench.set(150);
    bench.ack(4, &[], 120);
    assert_eq!(bench.trouble(), [Received::Recovery(Recovery::Spurious)]);
    bench.set(162);
    bench.ack(4, &[(0, 1)], 141);
    assert_eq!((bench.trouble(), bench.sender.stats().spurious), (vec![], 1));
}
