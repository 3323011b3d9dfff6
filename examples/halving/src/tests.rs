//! How an outside scheme is tested: a case by hand, what holds for every scheme, a text on record, and a scenario.

use tidegate_core::observe::records::RunRecord;
use tidegate_core::prelude::*;
use tidegate_sim::scenario;
use tidegate_testkit::driver::Driver;
use tidegate_testkit::golden::Golden;
use tidegate_testkit::steps::{data, follow, lost, marked};
use tidegate_testkit::{constant_rtt, invariants};

use super::SCHEME;

#[test]
fn the_window_grows_by_one_packet_per_round_trip_and_halves_once_in_it() {
    let mut driver = Driver::new(&SCHEME, &[]);
    // 2 + 1/2, then half of it; the second mark belongs to the same round trip.
    let steps = [(data(40, 0, 4), 2.5), (marked(41, 1, 5), 1.25), (marked(42, 2, 5), 1.25)];
    follow(&mut driver, &steps);
    // Segment 5 was sent after the decrease: a new round trip. The window is never below one packet.
    follow(&mut driver, &[(lost(80, 5, 7, LossSignal::Timeout), 1.0), (data(90, 6, 9), 2.0)]);
}

#[test]
fn what_holds_for_every_consumer_holds_for_this_one() {
    invariants::check_consumer(&SCHEME);
}

#[test]
fn the_course_on_a_path_of_constant_delay_stays_as_recorded() {
    let mut golden = Golden::at(concat!(env!("CARGO_MANIFEST_DIR"), "/golden"));
    golden.compare("constant_rtt.txt", &constant_rtt::trace(&SCHEME));
    golden.finish();
}

const SCENARIO: &str = r#"format = 1
[scenario]
name = "halving"
duration = "20s"
[topology]
builtin = "linear"
routers = 1
link = { rate = "10Mbps", delay = "10ms", queue = { limit = "60pkt", disciplines = ["codel-mark"] } }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = { name = "halving", initial_window = 4 }
"#;

fn run() -> RunRecord {
    let schemes: Vec<_> = tidegate_schemes::SCHEMES.iter().copied().chain([&SCHEME]).collect();
    let plan = scenario::parse("halving.toml", SCENARIO, &[], &schemes).expect("the scheme is known");
    tidegate_sim::run::run(&plan, Seed(1))
}

#[test]
fn this_scheme_fills_a_link_and_backs_off_on_marks() {
    let run = run();
    let flow = &run.flows[0];
    let megabits = flow.delivered_segments as f64 * 1024.0 * 8.0 / 1e6;
    assert!(megabits / 20.0 > 8.0, "{} Mbit/s of 10", megabits / 20.0);
    assert!(flow.marks > 3, "{} marks", flow.marks);
    let windows = &run.flow_samples.window_packets;
    let falls = windows.windows(2).filter(|pair| pair[1] < 0.6 * pair[0]).count();
    assert!(falls >= 3, "{falls} halvings in {} samples", windows.len());
}

#[test]
fn a_parameter_of_this_scheme_is_checked_like_any_other() {
    let schemes: Vec<_> = [&SCHEME].into_iter().chain(tidegate_schemes::SCHEMES.iter().copied()).collect();
    let wrong = [("flow.0.scheme.beta".to_owned(), "2".to_owned())];
    let errors = scenario::parse("halving.toml", SCENARIO, &wrong, &schemes).expect_err("out of range");
    assert!(errors.to_string().contains("beta"), "{errors}");
}
