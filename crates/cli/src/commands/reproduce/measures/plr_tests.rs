//! The measures of PLR, on events made by hand.

use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::units::{Span, Time};
use tidegate_papers::value::MeasureValue;
use tidegate_sim::plan::Plan;

use super::testing::{number, recorded, value};

const LINEAR: &str = include_str!("../../../../scenarios/papers/plr/linear.toml");

fn name(segment: u32) -> Name {
    Name::segment(PrefixId(0), segment)
}

fn run_of(events: impl IntoIterator<Item = (u64, Event)>) -> (Plan, RunRecord) {
    let (plan, record) = recorded(LINEAR, 1, &[]);
    let event = |(at_ms, event)| EventRecord { time: Time::from_nanos(at_ms * 1_000_000), node: 1, event };
    let events = events.into_iter().map(event).collect();
    (plan, RunRecord { events, ..record })
}

fn received(segment: u32, full_delay_ms: u64) -> Event {
    Event::DataReceived {
        flow: 0,
        name: name(segment),
        full_delay: Span::from_millis(full_delay_ms),
        last_delay: Span::from_millis(full_delay_ms),
        mark: 0,
        retransmissions: 0,
        hops: 3,
    }
}

fn list(run: &(Plan, RunRecord), measure: &str) -> Vec<f64> {
    match value(run, measure).expect("it can be computed") {
        MeasureValue::List(values) => values,
        other => panic!("no list: {other:?}"),
    }
}

#[test]
fn a_lost_segment_accumulates_from_the_next_one_that_was_not_lost() {
    let lost = |segment| Event::LossDetected { flow: 0, name: name(segment), cause: Cause("loss notice") };
    // Segments 1 and 2 are lost and sent at 10 ms; 3 arrives at 60 ms. A second detection does not count.
    let run = run_of([
        (50, lost(1)),
        (55, lost(2)),
        (60, received(3, 40)),
        (70, lost(1)),
        (75, received(2, 65)),
        (90, received(1, 80)),
    ]);
    let rounded = |measure: &str| -> Vec<f64> { list(&run, measure).iter().map(|ms| ms.round()).collect() };
    assert_eq!(rounded("plr.lost_ms(of = accumulation)"), [30.0, 15.0]);
    assert_eq!(rounded("plr.lost_ms(of = detection)"), [40.0, 45.0]);
}

#[test]
fn a_storage_counts_until_its_packets_leave_it() {
    let stored = |segment| Event::Stored { face: 2, name: name(segment) };
    let released = |segment| Event::Released { face: 2, name: name(segment) };
    let dropped = Event::Dropped {
        face: 2,
        name: name(2),
        size: tidegate_core::units::ByteCount::new(1040),
        cause: Cause("stored too long"),
    };
    let run = run_of([
        (1, stored(1)),
        (2, stored(2)),
        (5, released(1)),
        (6, stored(3)),
        (8, dropped),
        (9, stored(4)),
        (16, released(3)),
    ]);
    assert_eq!(list(&run, "plr.stored"), [4.0, 10.0]);
    assert_eq!(number(&run, "plr.stored(of = max)"), 2.0);
}
