//! RCP through one bottleneck.


use super::*;
use tidegate_testkit::dumbbell::{Bottleneck, Dumbbell, DumbbellFlow, PAYLOAD, WIRE, mean, seconds};

fn path(flows: Vec<DumbbellFlow>) -> Dumbbell {
    Dumbbell::new(Bottleneck::new(50.0, 1000).behind(&SCHEME, &[]), flows)
}

#[test]
fn each_of_n_flows_gets_an_nth_and_the_queue_stays_empty() {
    for count in [1_u32, 2, 5] {
        let mut path = path((0..count).map(|_| DumbbellFlow::of(&SCHEME, &[], 40)).collect());
        let goodputs = path.goodputs(5.0, 15.0);
        let share = 0.95 * 50.0 / f64::from(count) * PAYLOAD / WIRE;
        for goodput in &goodputs {
            assert!((goodput / share - 1.0).abs() < 0.02, "{count}: {goodputs:?}, {share} each");
        }
        let queued = path.trace(20.0, Span::from_millis(7), |path| f64::from(path.queued()));
        assert!(mean(&queued) < f64::from(count), "{count}: {} packets wait", mean(&queued));
        assert_eq!((path.queue_stats().dropped, path.stats(0).retransmissions), (0, 0));
    }
}

#[test]
fn round_trips_make_no_difference() {
    let mut path = path(vec![DumbbellFlow::of(&SCHEME, &[], 20), DumbbellFlow::of(&SCHEME, &[], 100)]);
    let goodputs = path.goodputs(10.0, 20.0);
    assert!((goodputs[0] / goodputs[1] - 1.0).abs() < 0.02, "{goodputs:?}");
}

#[test]
fn a_flow_that_comes_later_has_its_share_within_a_second_and_what_it_leaves_is_taken() {
    let late = DumbbellFlow { start: seconds(5.0), stop: Some(seconds(10.0)), ..DumbbellFlow::of(&SCHEME, &[], 40) };
    let mut path = path(vec![DumbbellFlow::of(&SCHEME, &[], 40), late]);
    let (alone, share) = (0.95 * 50.0 * PAYLOAD / WIRE, 0.95 * 25.0 * PAYLOAD / WIRE);
    let before = path.goodputs(3.0, 5.0)[0];
    let both = path.goodputs(6.0, 9.0);
    let after = path.goodputs(12.0, 14.0)[0];
    let close = |seen: f64, expected: f64| (seen / expected - 1.0).abs() < 0.03;
    assert!(close(before, alone) && close(after, alone), "{before}, {after}: {alone}");
    assert!(close(both[0], share) && close(both[1], share), "{both:?}: {share} each");
}

#[test]
fn the_rate_follows_the_line() {
    let mut path = path(vec![DumbbellFlow::of(&SCHEME, &[], 40)]);
    path.run(seconds(5.0));
    path.set_rate(BitRate::from_mbps(20.0));
    let goodput = path.goodputs(8.0, 12.0)[0];
    assert!((goodput / (0.95 * 20.0 * PAYLOAD / WIRE) - 1.0).abs() < 0.02, "{goodput}");
}

#[test]
fn without_a_router_that_gives_a_rate_the_first_window_stays() {
    let mut path = Dumbbell::new(Bottleneck::new(50.0, 1000), vec![DumbbellFlow::of(&SCHEME, &[], 40)]);
    path.run(seconds(2.0));
    assert_eq!((path.window(0), path.in_flight(0)), (10.0, 10));
}
