//! A link that changes its rate while a queue is drained.

use super::*;

#[test]
fn rates_that_are_reduced_follow_a_link_that_slows_down_and_do_not_rise_with_one_that_speeds_up() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.run(20, 100, &[(1, GIVEN)]);
    let state = Congestion::Queue(ByteCount::new(20_000));
    bench.directive(100, &Directive::Congestion { face: DOWN, state });
    let reduced = bench.granted(1);
    assert!(reduced < 0.7 * GIVEN);
    let mut at_rate = |mbps, at_us| {
        bench.gates.faces[0].set_rate(BitRate::from_mbps(mbps));
        bench.ack(at_us, 1)
    };
    assert!(at_rate(20.0, 100_500).is_none_or(|rate| rate <= reduced), "not while the queue stands");
    assert!(is_near(at_rate(4.0, 101_000), GIVEN * 0.4));
    bench.directive(102, &Directive::Congestion { face: DOWN, state: Congestion::Clear });
    assert!((bench.granted(1) - GIVEN * 0.4).abs() < 1.0);
}
