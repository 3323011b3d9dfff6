//! The special measures of ndnSieve find what they are for, and nothing where the scheme is as it should be.

use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::units::Time;
use tidegate_sim::plan::Plan;

use super::testing::{self, number};

const MULTIPATH1: &str = include_str!("../../../../scenarios/papers/ndnsieve/multipath1.toml");

/// Three seconds of the second scenario, with every event.
fn recorded(set: &[(&str, &str)]) -> (Plan, RunRecord) {
    testing::recorded(MULTIPATH1, 3, set)
}

const FALSE_MARKS: &str = "ndnsieve.false_marks(load = 0.9, queue = 20)";
const CALCULATOR: &str = "ndnsieve.work(count = calculator)";

#[test]
fn the_scheme_as_it_stands_breaks_nothing_and_works_at_all() {
    let run = recorded(&[]);
    for measure in [FALSE_MARKS, CALCULATOR, "ndnsieve.odd_steps", "ndnsieve.work(count = search)"] {
        assert_eq!(number(&run, measure), 0.0, "{measure}");
    }
    let (detection, filter) =
        (number(&run, "ndnsieve.work(count = detection)"), number(&run, "ndnsieve.work(count = filter)"));
    assert!(detection > 2.0 && detection <= 4.0 && filter > 0.0 && filter <= 1.0);
}

#[test]
fn marks_from_a_short_queue_are_found() {
    assert!(number(&recorded(&[("router.router_parts.*.th2", "0.05")]), FALSE_MARKS) > 10.0);
}

#[test]
fn marks_at_a_low_load_are_found() {
    assert!(number(&recorded(&[("router.router_parts.*.th1", "0.1")]), FALSE_MARKS) > 10.0);
}

#[test]
fn signals_of_severe_congestion_that_are_acted_on_are_found() {
    assert!(number(&recorded(&[("controller.scheme.th2", "0.9")]), CALCULATOR) > 0.0);
}

#[test]
fn steps_of_a_part_of_a_packet_are_found() {
    assert!(number(&recorded(&[("flow.*.scheme.form", "\"ssr\"")]), "ndnsieve.odd_steps") > 10.0);
}

#[test]
fn moves_count_together_at_one_router_within_the_time_only() {
    let moved = |(at_ms, node): (u64, u32)| EventRecord {
        time: Time::from_nanos(at_ms * 1_000_000),
        node,
        event: Event::PathMoved { name: Name::whole(PrefixId(7)), from: 0, to: 1, cause: Cause("metric") },
    };
    let (plan, record) = recorded(&[]);
    for (moves, max) in [
        (vec![(0, 1), (4999, 2), (5000, 1)], 1.0),
        (vec![(0, 1), (4999, 1), (9000, 1)], 2.0),
        (Vec::new(), 0.0),
    ] {
        let events = moves.into_iter().map(moved).collect();
        let run = (plan.clone(), RunRecord { events, ..record.clone() });
        assert_eq!(number(&run, "ndnsieve.moves_within(seconds = 5)"), max);
    }
}
