//! The scheme that the book adds does what the book says.

#[path = "../../examples/halving.rs"]
#[allow(dead_code, reason = "main is the example's own")]
mod halving;

use tidegate_core::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_sim::scenario;

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
    let schemes: Vec<_> = tidegate_schemes::SCHEMES.iter().copied().chain([&halving::SCHEME]).collect();
    let plan = scenario::parse("halving.toml", SCENARIO, &[], &schemes).expect("the scheme is known");
    tidegate_sim::run::run(&plan, Seed(1))
}

#[test]
fn the_scheme_of_the_book_fills_a_link_and_backs_off_on_marks() {
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
fn a_parameter_of_the_scheme_of_the_book_is_checked_like_any_other() {
    let schemes: Vec<_> =
        [&halving::SCHEME].into_iter().chain(tidegate_schemes::SCHEMES.iter().copied()).collect();
    let wrong = [("flow.0.scheme.beta".to_owned(), "2".to_owned())];
    let errors = scenario::parse("halving.toml", SCENARIO, &wrong, &schemes).expect_err("out of range");
    assert!(errors.to_string().contains("beta"), "{errors}");
}
