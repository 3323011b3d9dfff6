//! The measures of MIRCC, on samples and events made by hand.

use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::Event;
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::units::{Span, Time};
use tidegate_sim::plan::Plan;

use super::testing::{number, points, recorded, samples, value};

const DUMBBELL: &str = include_str!("../../../../scenarios/papers/mircc/dumbbell.toml");

fn paced(rates: [&[f32]; 2]) -> (Plan, RunRecord) {
    let (plan, record) = recorded(DUMBBELL, 1, &[]);
    let flow_samples = samples(0.4, rates, |samples, rate| samples.pacing_per_second.push(rate));
    (plan, RunRecord { flow_samples, ..record })
}

const SETTLED: &str = "mircc.settled_s(target = 100, within = 0.1, from = 0.5, until = 6)";

#[test]
fn rates_are_settled_after_the_last_sample_that_is_not_near_the_target() {
    // Samples are 0.4 s apart; 80 at 0.8 s is the last one away from the target.
    let near = [100.0; 5];
    assert_eq!(
        number(&paced([&[50.0, 95.0, 105.0, 100.0, 100.0], &[90.0, 80.0, 100.0, 100.0, 100.0]]), SETTLED),
        0.8
    );
    // Near from the start on.
    assert_eq!(number(&paced([&near, &near]), SETTLED), 0.5);
    // Never, and near for less than a second at the end.
    assert_eq!(number(&paced([&[50.0; 5], &near]), SETTLED), 6.0);
    assert_eq!(number(&paced([&[50.0, 50.0, 50.0, 100.0, 100.0], &near]), SETTLED), 6.0);
}

fn event(at_ms: u64, event: Event) -> EventRecord {
    EventRecord { time: Time::from_nanos(at_ms * 1_000_000), node: 0, event }
}

/// Four Interests of the first flow at 0.4 s; the first and the last get Data.
fn one_burst() -> (Plan, RunRecord) {
    let (mut plan, record) = recorded(DUMBBELL, 1, &[]);
    plan.flows[0].start = Time::ZERO;
    plan.flows[0].stop = Some(Time::from_nanos(500_000_000));
    let name = |segment| Name::segment(PrefixId(0), segment);
    let sent = |segment| Event::InterestSent { flow: 0, name: name(segment), retransmission: false };
    let received = |segment| Event::DataReceived {
        flow: 0,
        name: name(segment),
        full_delay: Span::from_millis(50),
        last_delay: Span::from_millis(50),
        mark: 0,
        retransmissions: 0,
        hops: 3,
    };
    let sent = (0..4).map(|segment| event(400, sent(segment)));
    let received = [0, 3].map(|segment| event(450, received(segment)));
    let events = sent.chain(received).collect();
    (plan, RunRecord { events, ..record })
}

/// Parts of Interests lost by bins; `None` for a bin without Interests.
fn losses(measure: &str) -> Vec<Option<f64>> {
    let points = points(&one_burst(), measure);
    points.into_iter().map(|(_, lost)| (!lost.is_nan()).then_some(lost)).collect()
}

#[test]
fn losses_count_when_interests_left_or_when_they_were_due() {
    let as_sent = losses("mircc.loss_as_sent(C1-P1, bin = 0.16)");
    assert_eq!(as_sent, [None, None, Some(0.5), None]);
    // Due at 0.1, 0.2, 0.3 and 0.4 s.
    let as_due = losses("mircc.loss_as_due(C1-P1, bin = 0.16)");
    assert_eq!(as_due, [Some(0.0), Some(1.0), Some(0.0), None]);
}

#[test]
fn a_bin_that_is_too_short_and_several_flows_are_refused() {
    let run = one_burst();
    let wrong = value(&run, "mircc.loss_as_sent(C1-P1, bin = 0.0001)").expect_err("too short");
    assert_eq!(wrong, "bin is a length of at least 0.001 s");
    let wrong = value(&run, "mircc.loss_as_sent(bin = 0.1)").expect_err("several");
    assert_eq!(wrong, "mircc.loss_as_sent is of one flow, and this names 2");
}
