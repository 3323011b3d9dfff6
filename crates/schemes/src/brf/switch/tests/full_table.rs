//! What happens to flows that find no place.

use super::*;
use crate::brf::rate_code::GRANTED_RATE;

fn full(entries: f64) -> Bench {
    let settings = [("table_entries", Setting::Number(entries)), ("make_before_break", Setting::Bool(false))];
    let mut bench = Bench::with(&settings);
    let flows = entries as u32;
    (1..=flows).for_each(|number| {
        bench.open(0, number, true);
    });
    bench.run(20, 100, &flows_at(flows, GIVEN));
    bench
}

/// So many flows that share `rate`.
fn flows_at(flows: u32, rate: f64) -> Vec<(u32, f64)> {
    (1..=flows).map(|number| (number, rate / f64::from(flows))).collect()
}

fn class(bench: &Bench, number: u32) -> SegmentClass {
    let mut data = Bench::segment(bench.data, number, TcpFlags::ACK, 1448, 1);
    data.hop.put(GRANTED_RATE, 0);
    bench.switch.borrow().class(&data)
}

#[test]
fn a_flow_that_found_no_place_goes_with_the_others_however_it_is_marked() {
    let mut bench = full(1.0);
    bench.syn(100_000, 2, true);
    assert_eq!(bench.syn_ack(110_000, 2), None);
    bench.marked(120_000, 2, true);
    assert_eq!((class(&bench, 1), class(&bench, 2)), (SegmentClass::Brf, SegmentClass::Other));
    assert_eq!(bench.ack(120_000, 2), None, "it is granted nothing");
    // Such flows have a share, that of one flow, until a second after their last data.
    let shares = bench.switch.borrow().ports[0].shares();
    assert!((shares.brf - GIVEN / 2.0).abs() < 1.0 && (shares.other - 0.625e6).abs() < 1.0, "{shares:?}");
    assert!(is_near(bench.ack(121_000, 1), GIVEN / 2.0));
    bench.run(121, 1_300, &[(1, GIVEN / 2.0)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0, "{}", bench.granted(1));
}

#[test]
fn a_flood_that_is_refused_leaves_every_flow_its_share() {
    let mut bench = full(3.0);
    for at_ms in 100..200 {
        (0..1_000).for_each(|syn| bench.syn(at_ms * 1_000, 1_000 * at_ms as u32 + syn, syn % 2 == 0));
        bench.run(at_ms, at_ms + 1, &flows_at(3, GIVEN));
    }
    bench.run(200, 300, &flows_at(3, GIVEN));
    for number in 1..=3 {
        assert!((bench.granted(number) - GIVEN / 3.0).abs() < 1.0, "{number}: {}", bench.granted(number));
        assert!(is_near(bench.ack(330_000, number), GIVEN / 3.0), "{number}");
    }
}

#[test]
fn a_flood_of_data_that_is_refused_takes_the_share_of_one_flow() {
    let mut bench = full(3.0);
    for at_ms in 100..200 {
        (0..100).for_each(|data| bench.data(at_ms * 1_000, 1_000 * at_ms as u32 + data));
        bench.run(at_ms, at_ms + 1, &flows_at(3, 0.75 * GIVEN));
    }
    for number in 1..=3 {
        assert!((bench.granted(number) - GIVEN / 4.0).abs() < 1.0, "{number}: {}", bench.granted(number));
    }
}

#[test]
fn a_flow_whose_begin_was_not_seen_is_granted_the_average_share_whatever_was_learnt() {
    let mut bench = Bench::with(&AT_ONCE);
    for flow in 0..6 {
        let (begin, number) = (400 * u64::from(flow), flow + 1);
        bench.open(begin, number, true);
        bench.run(begin + 20, begin + 380, &[(number, 5e4)]);
        bench.close(begin + 380, number);
    }
    let guessed = bench.open(2_500, 10, true).expect("it is granted something");
    assert!(guessed < GIVEN / 4.0, "{guessed}");
    bench.close(2_550, 10);
    bench.data(2_600_000, 11);
    assert!(is_near(bench.ack(2_601_000, 11), GIVEN));
}
