//! BBR on 100 Mbit/s and 20 ms, where the product is 166 packets: what it fills, what it leaves waiting, what it loses.
//!
//! The numbers with a tolerance were worked out or measured with another model before the first run here.

use tidegate_core::prelude::*;
use tidegate_schemes::{tcp_bbr1, tcp_bbr3};

use tidegate_testkit::dumbbell::{Bottleneck, Dumbbell, DumbbellFlow, DumbbellLoss, WIRE, mean, seconds};

/// Packets per second of the line.
const PER_SECOND: f64 = 100e6 / 8.0 / WIRE;
/// Packets in flight on the empty path: 20 ms, and the packet on the line.
const PRODUCT: f64 = PER_SECOND * 0.020 + 1.0;

/// Without what BBR adds for ACKs in lumps.
const NO_LUMPS: &[(&str, Setting)] = &[("aggregation_gain", Setting::Number(0.0))];
const NO_POLICER: &[(&str, Setting)] = &[("finds_policers", Setting::Bool(false))];

fn bbr1(given: &[(&str, Setting)]) -> DumbbellFlow {
    DumbbellFlow::of(&tcp_bbr1::SCHEME, given, 20)
}

fn bbr3() -> DumbbellFlow {
    DumbbellFlow::of(&tcp_bbr3::SCHEME, &[], 20)
}

fn lossy(loss: f64, seed: u64) -> Bottleneck {
    Bottleneck { loss: DumbbellLoss::Random(loss), seed, ..Bottleneck::new(100.0, 1_000) }
}

/// Goodput of a minute, mean of seeds, Mbit/s.
fn minute(loss: f64, seeds: std::ops::Range<u64>, flow: impl Fn() -> DumbbellFlow) -> f64 {
    let goodput = |seed| Dumbbell::new(lossy(loss, seed), vec![flow()]).goodputs(0.0, 60.0)[0];
    mean(&seeds.map(goodput).collect::<Vec<_>>())
}

#[track_caller]
fn within(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() <= part, "{value}, expected {expected} to within {part}");
}

/// Packets dropped of those offered.
fn dropped(path: &Dumbbell) -> f64 {
    path.queue_stats().dropped as f64 / path.queue_stats().offered as f64
}

#[test]
fn a_lone_flow_fills_the_path_and_its_queue_is_that_of_a_probe() {
    let mut path = Dumbbell::new(Bottleneck::new(100.0, 1_000), vec![bbr1(&[])]);
    within(path.goodputs(2.0, 30.0)[0], 94.35, 0.02);
    let queue = path.trace(34.0, Span::from_millis(1), |path| f64::from(path.queued()));
    let delay = |packets: f64| packets / PER_SECOND * 1e3;
    let max = queue.iter().copied().fold(0.0, f64::max);
    // A quarter of the product above the mean, 5 ms, with each probe.
    assert!((2.0..=6.0).contains(&delay(mean(&queue))), "{} ms", delay(mean(&queue)));
    let bump = delay(max - mean(&queue));
    assert!((3.0..=7.0).contains(&bump), "{bump} ms");
    assert_eq!((path.queue_stats().dropped, path.stats(0).retransmissions), (0, 0));
}

#[test]
fn startup_leaves_less_than_its_gain_and_three_bursts_waiting() {
    let mut path = Dumbbell::new(Bottleneck::new(100.0, 100_000), vec![bbr1(NO_LUMPS)]);
    path.run(seconds(2.0));
    let burst = (2.885 * 0.99 * PER_SECOND / 1_024.0).floor();
    // Rounded up to whole segments, and to even ones.
    let max = 1.885 * PRODUCT + 3.0 * burst + 2.0;
    let peak = f64::from(path.queue_stats().peak);
    assert!(peak <= max && peak > 0.9 * max, "{peak} of {max}");
}

#[test]
fn no_more_is_in_flight_than_twice_the_product_and_the_quanta() {
    // The pace of a probe makes the longest bursts; rounded up, evened, and two to probe with.
    let burst = (1.25 * 0.99 * PER_SECOND / 1_024.0).floor();
    let max = 2.0 * PRODUCT + 3.0 * burst + 4.0;
    for (loss, buffer) in [(0.0, 1_000), (0.0, 100_000), (0.05, 1_000)] {
        let bottleneck = Bottleneck { loss: DumbbellLoss::Random(loss), ..Bottleneck::new(100.0, buffer) };
        let mut path = Dumbbell::new(bottleneck, vec![bbr1(NO_LUMPS)]);
        path.run(seconds(2.0));
        let seen = path.trace(25.0, Span::from_micros(500), |path| path.in_flight(0));
        let peak = f64::from(seen.into_iter().max().unwrap_or(0));
        assert!(peak <= max, "{peak} of {max} at {loss}");
    }
}

#[test]
fn a_line_that_becomes_slower_is_given_twice_the_product_of_before_and_the_quanta() {
    let mut path = Dumbbell::new(Bottleneck::new(100.0, 100_000), vec![bbr1(NO_LUMPS)]);
    path.run(seconds(5.0));
    path.set_rate(BitRate::from_mbps(25.0));
    // For ten round trips the largest rate is that of before, and the smallest round trip as well.
    let seen = path.trace(6.0, Span::from_micros(500), |path| path.in_flight(0));
    let peak = f64::from(seen.into_iter().max().unwrap_or(0));
    let burst = (1.25 * 0.99 * PER_SECOND / 1_024.0).floor();
    let max = 2.0 * PRODUCT + 3.0 * burst + 4.0;
    assert!(peak <= max && peak > 2.0 * PRODUCT, "{peak} of {max}");
}

#[test]
fn a_buffer_that_is_never_filled_makes_no_difference() {
    for loss in [0.0, 0.02] {
        let run = |buffer| {
            let bottleneck =
                Bottleneck { loss: DumbbellLoss::Random(loss), ..Bottleneck::new(100.0, buffer) };
            let mut path = Dumbbell::new(bottleneck, vec![bbr1(&[])]);
            path.run(seconds(30.0));
            (path.received(0), path.stats(0))
        };
        assert_eq!(run(1_000), run(100_000), "at {loss}");
    }
}

#[test]
fn random_loss_costs_what_is_lost_up_to_a_tenth() {
    for (loss, expected) in [(0.02, 93.3), (0.05, 89.9), (0.10, 85.5)] {
        let goodput = minute(loss, 1..3, || bbr1(&[]));
        within(goodput, expected, 0.03);
        assert!(goodput > 80.0);
    }
}

#[test]
fn above_that_it_is_the_search_for_policers_that_gives_the_rate_up() {
    // A loss of 18 % looks like a policer's: 22 % of what is delivered. The expected numbers are those of a BBR that
    // does not look for one.
    for (loss, expected) in [(0.15, 76.0), (0.18, 67.0)] {
        within(minute(loss, 1..3, || bbr1(NO_POLICER)), expected, 0.15);
    }
    let with = minute(0.18, 1..3, || bbr1(&[]));
    assert!(with < 30.0, "{with}");
}

/// Percent dropped of what five flows send in a minute that start two seconds apart.
fn five_flows(given: &[(&str, Setting)], buffer: u32, seed: u64) -> f64 {
    let flows = (0..5).map(|n| DumbbellFlow { start: seconds(2.0 * f64::from(n)), ..bbr1(given) }).collect();
    let mut path = Dumbbell::new(Bottleneck { seed, ..Bottleneck::new(100.0, buffer) }, flows);
    path.run(seconds(60.0));
    100.0 * dropped(&path)
}

#[test]
fn five_flows_that_start_one_after_the_other_lose_some_at_a_thousand_packets_and_none_at_a_hundred_thousand()
{
    let mean_of = |given| mean(&[1, 2, 3, 4].map(|seed| five_flows(given, 1_000, seed)));
    // 2.4 to 3.1 % of the model that the band is from, which knows of no ACKs in lumps; what BBR adds for them since
    // Linux 5.1 fills the buffer further while the flows join: 4 % (3.1 to 6.0 %).
    let (without, with) = (mean_of(NO_LUMPS), mean_of(&[]));
    assert!((0.5..=3.5).contains(&without), "{without} %");
    assert!(with > without, "{with} % and {without} %");
    assert_eq!(five_flows(&[], 100_000, 1), 0.0);
}

#[test]
fn the_flow_of_the_longer_round_trip_takes_most() {
    let shares: Vec<f64> = (1..5)
        .map(|seed| {
            let flows = vec![DumbbellFlow::of(&tcp_bbr1::SCHEME, &[], 100), bbr1(&[])];
            let mut path = Dumbbell::new(Bottleneck { seed, ..Bottleneck::new(100.0, 10_000) }, flows);
            let goodputs = path.goodputs(0.0, 60.0);
            100.0 * goodputs[0] / (goodputs[0] + goodputs[1])
        })
        .collect();
    assert!((85.0..=95.0).contains(&mean(&shares)), "{shares:?} %");
}

#[test]
fn version_3_fills_a_path_without_loss_and_bears_a_tenth_of_a_percent() {
    let mut path = Dumbbell::new(Bottleneck::new(100.0, 1_000), vec![bbr3()]);
    let goodput = path.goodputs(2.0, 30.0)[0];
    assert!(goodput > 0.96 * 95.6, "{goodput}");
    assert_eq!(path.queue_stats().dropped, 0);
    let goodput = minute(0.001, 1..3, bbr3);
    assert!(goodput > 85.0, "{goodput}");
}

#[test]
fn version_3_gives_way_to_random_loss_above_its_threshold() {
    let at: Vec<f64> = [0.01, 0.05, 0.10].into_iter().map(|loss| minute(loss, 1..3, bbr3)).collect();
    assert!(at[0] > 2.0 * at[1] && at[1] > at[2], "{at:?}");
    assert!(at[1] < 50.0 && at[2] < 25.0, "{at:?}");
}

#[test]
fn version_3_loses_less_than_version_1_among_its_own() {
    let run = |flow: fn() -> DumbbellFlow| {
        let flows = (0..5).map(|n| DumbbellFlow { start: seconds(2.0 * f64::from(n)), ..flow() }).collect();
        let mut path = Dumbbell::new(Bottleneck::new(100.0, 333), flows);
        path.run(seconds(40.0));
        100.0 * dropped(&path)
    };
    let (one, three) = (run(|| bbr1(&[])), run(bbr3));
    assert!(three < one, "{three} % and {one} %");
}
