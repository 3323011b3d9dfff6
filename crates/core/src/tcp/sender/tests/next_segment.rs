use super::bench::{Bench, Received};
use crate::scheme::congestion::{LossSignal, Recovery};
use crate::tcp::Source;
use crate::tcp::sender::{Detection, SenderSettings};
use crate::units::ByteCount;

/// So many whole segments, the last with a FIN, left at 120 ms; a window of 20 is 10 in recovery.
fn file(segments: u32, detection: Detection) -> Bench {
    let settings = SenderSettings { detection, ..SenderSettings::default() };
    let source = Source::File(ByteCount::new(u64::from(segments) * 1000));
    let mut bench = Bench::immediate_with(20.0, source, settings).open(u16::MAX);
    assert_eq!(bench.sent().len(), segments as usize);
    bench.set(141);
    bench
}

#[test]
fn without_anything_else_a_hole_is_filled_that_was_not_found_lost() {
    let mut bench = file(12, Detection::Sack);
    // Above 5 there is 6 alone, 7 to 11 are under way.
    bench.ack(0, &[(6, 7), (1, 5)], 120);
    assert_eq!(bench.trouble(), [gap(0), enter(12)]);
    assert_eq!(bench.sent(), [0, 5]);
    // 0, and 7 to 11, and 5 as it left at first and again.
    assert_eq!(bench.sender.view().in_flight, 8);
    bench.ack(0, &[(6, 9), (1, 5)], 120);
    assert_eq!((bench.trouble(), bench.sent()), (vec![gap(5)], vec![]), "it is under way again");
    assert_eq!(bench.sender.view().in_flight, 5, "0, 5, 9, 10, 11");
    bench.ack(6, &[(6, 9)], 141);
    assert_eq!(bench.sender.view().in_flight, 3);
}

#[test]
fn a_hole_that_was_filled_in_vain_is_sent_again_after_the_timeout() {
    let mut bench = file(12, Detection::Sack);
    bench.ack(0, &[(6, 7), (1, 5)], 120);
    assert_eq!(bench.sent(), [0, 5]);
    bench.ack(1, &[], 141);
    let left = bench.run_to(600);
    assert_eq!((left[0].1, bench.sender.view().in_flight), (5, 1), "{left:?}");
}

#[test]
fn holes_are_filled_as_the_window_allows() {
    let mut bench = file(20, Detection::Sack);
    // Lost is 0 alone. In flight are 4 to 17 and 19: more than 10.
    bench.ack(0, &[(18, 19), (1, 4)], 120);
    assert_eq!((bench.sent(), bench.sender.view().in_flight), (vec![], 15));
    bench.ack(0, &[(1, 13), (18, 19)], 120);
    // 13 to 17, 19, and 0; then 13, 14 and 15 twice.
    assert_eq!((bench.sent(), bench.sender.view().in_flight), (vec![0, 13, 14, 15], 10));
}

#[test]
fn the_last_segment_is_sent_again_once_in_a_recovery_when_the_first_retransmission_has_come() {
    let mut bench = file(6, Detection::Sack);
    bench.ack(0, &[(1, 4)], 120);
    assert_eq!(bench.sent(), [0], "4 and 5 are above everything that came");
    bench.set(162);
    bench.ack(4, &[], 141);
    assert_eq!((bench.sent(), bench.sender.view().in_flight), (vec![5], 2));
    bench.set(170);
    bench.ack(5, &[], 141);
    assert_eq!((bench.sent(), bench.sender.stats().rescues), (vec![], 1));
}

#[test]
fn the_rescue_of_a_recovery_waits_for_the_first_retransmission_of_that_recovery() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let file = Source::File(ByteCount::new(13_000));
    let mut bench = Bench::immediate_with(8.0, file, settings).open(u16::MAX);
    bench.sent();
    bench.set(141);
    bench.ack(0, &[(1, 6)], 120);
    assert_eq!(bench.sent(), [0, 8]);
    bench.set(162);
    bench.ack(9, &[], 141);
    assert_eq!(bench.sent(), [9, 10, 11, 12]);
    bench.set(183);
    bench.ack_with_fin(9, 10, 12, 162);
    assert_eq!(bench.sent(), [9], "of which it is the last segment, too");
}

#[test]
fn new_data_comes_before_holes_and_rescues() {
    let settings = SenderSettings { detection: Detection::Sack, ..SenderSettings::default() };
    let mut bench = Bench::immediate_with(20.0, Source::Endless, settings).open(u16::MAX);
    bench.sent();
    bench.set(141);
    bench.ack(0, &[(16, 17), (1, 15)], 120);
    // In flight are 15, 17, 18 and 19 beside them.
    assert_eq!(bench.sent(), [0, 20, 21, 22, 23, 24]);
}

#[test]
fn rack_leaves_both_to_the_clock() {
    let mut bench = file(12, Detection::RackTlp);
    bench.ack(0, &[(6, 7), (1, 4)], 120);
    assert_eq!(bench.trouble(), [gap(0), gap(4), gap(5), enter(12)]);
    assert_eq!(bench.sent(), [0, 4, 5]);
    bench.set(162);
    bench.ack(11, &[], 141);
    assert_eq!((bench.trouble(), bench.sent()), (vec![gap(11)], vec![11]), "it left before them");
    assert_eq!(bench.sender.stats().rescues, 0);
}

fn gap(number: u32) -> Received {
    Received::Loss(number, LossSignal::Gap)
}

fn enter(flight: u32) -> Received {
    Received::Recovery(Recovery::Enter { flight })
}
