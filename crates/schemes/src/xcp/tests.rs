//! XCP through one bottleneck.


use super::gate::{from_zig_zag, to_zig_zag};
use super::*;
use tidegate_testkit::dumbbell::{Bottleneck, Dumbbell, DumbbellFlow, PAYLOAD, WIRE, mean, seconds};

fn path(flows: Vec<DumbbellFlow>) -> Dumbbell {
    Dumbbell::new(Bottleneck::new(50.0, 1000).behind(&SCHEME, &[]), flows)
}

fn fairness(shares: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = (shares.iter().sum(), shares.iter().map(|share| share * share).sum());
    sum * sum / (shares.len() as f64 * squares)
}

#[test]
fn flows_of_different_round_trips_fill_the_line_and_share_it_equally() {
    let mut path = path([20, 40, 80].map(|rtt_ms| DumbbellFlow::of(&SCHEME, &[], rtt_ms)).into());
    let goodputs = path.goodputs(10.0, 30.0);
    let total: f64 = goodputs.iter().sum();
    assert!(total > 0.95 * 50.0 * PAYLOAD / WIRE, "{goodputs:?}");
    assert!(fairness(&goodputs) > 0.98, "{goodputs:?}");
    let queued = path.trace(40.0, Span::from_millis(7), |path| f64::from(path.queued()));
    // A tenth of the 206 packets that 50 Mbit/s hold in 50 ms.
    assert!(mean(&queued) < 20.0, "{} packets wait", mean(&queued));
    assert_eq!(path.queue_stats().dropped, 0);
}

#[test]
fn a_flow_alone_fills_the_line_within_a_second() {
    let mut path = path(vec![DumbbellFlow::of(&SCHEME, &[], 40)]);
    let goodput = path.goodputs(1.0, 3.0)[0];
    assert!(goodput > 0.95 * 50.0 * PAYLOAD / WIRE, "{goodput}");
    assert_eq!((path.queue_stats().dropped, path.stats(0).retransmissions), (0, 0));
}

#[test]
fn a_flow_that_comes_later_gets_its_share() {
    let late = DumbbellFlow { start: seconds(5.0), ..DumbbellFlow::of(&SCHEME, &[], 40) };
    let mut path = path(vec![DumbbellFlow::of(&SCHEME, &[], 40), late]);
    let goodputs = path.goodputs(15.0, 20.0);
    assert!(fairness(&goodputs) > 0.98, "{goodputs:?}");
    assert_eq!(path.queue_stats().dropped, 0);
}

#[test]
fn without_a_router_that_answers_the_window_stays() {
    let mut path = Dumbbell::new(Bottleneck::new(50.0, 1000), vec![DumbbellFlow::of(&SCHEME, &[], 40)]);
    path.run(seconds(2.0));
    assert_eq!((path.window(0), path.in_flight(0)), (2.0, 2));
}

#[test]
fn changes_of_either_sign_survive_the_signal() {
    for (value, code) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (1 << 24, 1 << 25), (i32::MIN, u32::MAX)] {
        assert_eq!((to_zig_zag(value), from_zig_zag(code)), (code, value));
    }
}
