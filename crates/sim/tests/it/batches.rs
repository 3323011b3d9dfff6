//! Batches whose runs do not all end well.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tidegate_core::context::Context;
use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::{CongestionController, FlowView, Sent};
use tidegate_core::scheme::signal::HopSignals;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{Job, Quiet, RunProgress, run, run_batch};
use tidegate_sim::scenario;

use crate::one_link;

/// Panics at the first Interest.
#[derive(Debug)]
struct Broken;

impl CongestionController for Broken {
    fn window(&self) -> f64 {
        1.0
    }

    fn on_sent(&mut self, _: &mut Context<'_>, _: &Sent, _: &mut HopSignals, _: &FlowView) {
        panic!("this scheme is broken");
    }
}

static BROKEN: Scheme =
    Scheme { name: "broken", summary: "panics", consumer: Some(|_| Ok(Box::new(Broken))), ..Scheme::NONE };

fn plan(scheme: &str) -> Plan {
    let schemes: Vec<&'static Scheme> = tidegate_schemes::SCHEMES.iter().copied().chain([&BROKEN]).collect();
    let text = one_link(
        "duration = \"1s\"",
        "rate = \"10Mbps\"\ndelay = \"5ms\"",
        &format!("scheme = \"{scheme}\"\nsize = \"50kB\""),
    );
    scenario::parse("test.toml", &text, &[], &schemes).unwrap_or_else(|errors| panic!("{errors}"))
}

#[derive(Default)]
struct Received {
    finished: AtomicUsize,
    failed: Mutex<Vec<(usize, String)>>,
    /// Runs after which nothing more is wanted.
    enough: usize,
}

impl RunProgress for Received {
    fn finished(&self, _: usize, _: &RunRecord) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self, place: usize, why: &str) {
        self.failed.lock().expect("nobody panics with it").push((place, why.to_owned()));
    }

    fn is_cancelled(&self) -> bool {
        self.enough > 0 && self.finished.load(Ordering::Relaxed) >= self.enough
    }
}

fn jobs<'a>(plans: &'a [Plan]) -> Vec<Job<'a>> {
    plans.iter().map(|plan| Job { plan, seed: Seed(3) }).collect()
}

#[test]
fn a_run_that_panics_is_reported_and_the_others_finish() {
    let plans = ["fixed", "broken", "icp", "broken"].map(plan);
    for threads in [1, 3] {
        let received = Received::default();
        let kept = run_batch(&jobs(&plans), threads, &received, |_, run| run);
        let is_there: Vec<bool> = kept.iter().map(Option::is_some).collect();
        assert_eq!(is_there, [true, false, true, false]);
        assert!(kept[2].as_ref() == Some(&run(&plans[2], Seed(3))));
        let mut failed = received.failed.into_inner().expect("nobody panics with it");
        failed.sort();
        let expected = [1, 3].map(|place| (place, "this scheme is broken".to_owned()));
        assert_eq!(failed, expected);
    }
}

#[test]
#[should_panic(expected = "run 0 of the batch panicked: this scheme is broken")]
fn who_does_not_listen_panics_with_the_run() {
    run_batch(&jobs(&[plan("broken")]), 1, &Quiet, |_, run| run);
}

#[test]
fn a_batch_that_is_cancelled_gives_up_what_is_under_way() {
    let plans = ["fixed", "icp", "fixed"].map(plan);
    let received = Received { enough: 1, ..Received::default() };
    let kept = run_batch(&jobs(&plans), 1, &received, |_, run| run);
    let is_there: Vec<bool> = kept.iter().map(Option::is_some).collect();
    assert_eq!(is_there, [true, false, false]);
}
