//! `mode = "literal"`: what the paper has, and guards.

use super::*;

/// 10 Mbps, all of it, bytes/s.
const ALL: f64 = 1.25e6;

fn literal(more: &[(&str, Setting)]) -> Bench {
    let mode = [("mode", Setting::Text("literal".into()))];
    Bench::with(&[&mode[..], more].concat())
}

#[test]
fn all_of_the_link_is_granted_and_a_newcomer_is_not_held_back() {
    let mut bench = literal(&[]);
    assert!(is_near(bench.open(0, 1, true), ALL));
    bench.run(20, 100, &[(1, ALL)]);
    assert!(is_near(bench.open(100, 2, true), ALL / 2.0));
    let mut held = literal(&[("make_before_break", Setting::Bool(true))]);
    held.open(0, 1, true);
    held.run(20, 100, &[(1, ALL)]);
    assert_eq!(held.open(100, 2, true), Some(0.0), "asked for by name");
}

#[test]
fn a_grant_that_moved_waits_for_the_round_trip() {
    let waits = |bench: &mut Bench| {
        bench.open(0, 1, true);
        bench.run(20, 100, &[(1, ALL)]);
        let written =
            (100_000..120_000).step_by(500).find(|at_us| bench.ack(*at_us, 1).is_some()).expect("one is due");
        bench.open(130, 2, true);
        bench.switch.borrow_mut().ports[0].tick(Time::ZERO + Span::from_millis(131), BitRate::from_mbps(5.0));
        (written, bench.ack(written + 15_000, 1))
    };
    let (written, early) = waits(&mut literal(&[]));
    assert_eq!(early, None, "written at {written} us");
    let (_, early) = waits(&mut literal(&[("feedback_step", Setting::Number(0.05))]));
    assert!(early.is_some(), "asked for by name");
}

#[test]
fn flows_that_rest_count_in_equation_8() {
    let shares_after_a_rest = |bench: &mut Bench| {
        bench.open(0, 1, true);
        bench.open(0, 2, false);
        bench.run(20, 1_010, &[(1, ALL / 2.0)]);
        bench.run(1_010, 1_500, &[(1, ALL)]);
        bench.granted(1)
    };
    assert!((shares_after_a_rest(&mut literal(&[])) - ALL / 2.0).abs() < 1.0);
    let uncounted = [("count_idle", Setting::Bool(false))];
    assert!((shares_after_a_rest(&mut literal(&uncounted)) - ALL).abs() < 1.0);
}

#[test]
fn what_is_not_tcp_has_no_term_in_equation_8() {
    let granted_beside_interests = |bench: &mut Bench| {
        bench.open(0, 1, true);
        bench.gates.at(20_000, |cx| bench.switch.borrow_mut().ports[0].on_other(cx.now));
        bench.granted(1)
    };
    assert!((granted_beside_interests(&mut literal(&[])) - ALL).abs() < 1.0);
    let part = [("udp_share", Setting::Number(0.05))];
    assert!((granted_beside_interests(&mut literal(&part)) - 0.95 * ALL).abs() < 1.0);
}
