//! Grants of other switches, for flows whose ACKs come by here.

use super::*;

fn receive(bench: &mut Bench, at_ms: u64, origin: u32, sequence: u32, rate: f64) {
    let (flow, origin) = (Name::segment(bench.data, 1), NodeId(origin));
    let rate = BitRate::from_bps((rate * 8.0) as u64);
    bench.directive(at_ms, &Directive::Grant(FlowGrant { origin, sequence, flow, rate }));
}

#[test]
fn of_several_switches_that_show_a_flow_the_least_counts() {
    let mut bench = Bench::new();
    for step in 0..4u64 {
        let at_ms = 10 * step;
        receive(&mut bench, at_ms, 7, step as u32, 5e5);
        assert!(is_near(bench.ack(at_ms * 1000 + 100, 1), 5e5), "{step}");
        receive(&mut bench, at_ms + 5, 8, 100 + step as u32, 9e5);
        assert!(is_near(bench.ack(at_ms * 1000 + 5_100, 1), 5e5), "{step}");
    }
    // The lesser one is silent.
    (1..=4).for_each(|step| receive(&mut bench, 500 * step, 8, 200 + step as u32, 9e5));
    assert!(is_near(bench.ack(2_029_000, 1), 5e5));
    assert!(is_near(bench.ack(2_031_000, 1), 9e5));
}

#[test]
fn a_restarted_switch_is_trusted_once_older_grants_have_expired() {
    let mut bench = Bench::new();
    receive(&mut bench, 0, 7, 1_000, 5e5);
    receive(&mut bench, 100, 7, 1, 2e5);
    assert!(is_near(bench.ack(101_000, 1), 5e5), "it may be old");
    receive(&mut bench, 260, 7, 2, 3e5);
    assert!(is_near(bench.ack(261_000, 1), 3e5), "it has started anew");
    receive(&mut bench, 270, 7, 3, 4e5);
    assert!(is_near(bench.ack(271_000, 1), 4e5));
}

#[test]
fn what_many_switches_give_takes_bounded_memory() {
    let mut bench = Bench::with(&[("table_entries", Setting::Number(10.0))]);
    (0..1_000).for_each(|origin| receive(&mut bench, 0, origin, 1, 5e5));
    assert_eq!(bench.switch.borrow().foreign.len(), 10);
    receive(&mut bench, 3_000, 5_000, 1, 2e5);
    assert!(is_near(bench.ack(3_001_000, 1), 2e5), "what has run out makes room");
}
