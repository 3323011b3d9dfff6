//! Runs for the tests of measures.

use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::{FlowSamples, RunRecord};
use tidegate_core::rng::Seed;
use tidegate_core::units::{Span, Time};
use tidegate_papers::expression::parse;
use tidegate_papers::value::MeasureValue;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::run;
use tidegate_sim::scenario;

use super::Run;

/// The first `seconds` of a scenario, with every event.
pub(super) fn recorded(text: &str, seconds: u64, set: &[(&str, &str)]) -> (Plan, RunRecord) {
    let set: Vec<(String, String)> =
        set.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let mut plan =
        scenario::parse("test.toml", text, &set, SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
    plan.recorded = EventMask::ALL;
    plan.duration = Span::from_secs(seconds);
    let record = run(&plan, Seed(1));
    (plan, record)
}

/// The value of a measure.
///
/// # Errors
/// Those of the measure.
pub(super) fn value((plan, record): &(Plan, RunRecord), measure: &str) -> Result<MeasureValue, String> {
    let measure = parse(measure).expect("an expression");
    super::value(&Run { plan, record }, &measure).map(|found| found.expect("a value"))
}

/// The value of a measure that is a number.
pub(super) fn number(run: &(Plan, RunRecord), measure: &str) -> f64 {
    value(run, measure).expect("it can be computed").number().expect("a number")
}

/// The points of a measure that is a series.
pub(super) fn points(run: &(Plan, RunRecord), measure: &str) -> Vec<(f64, f64)> {
    match value(run, measure).expect("it can be computed") {
        MeasureValue::Series(points) => points,
        other => panic!("no series: {other:?}"),
    }
}

/// Samples of two flows every `period_s` seconds: `set` adds the value given for a row of a flow.
pub(super) fn samples<T: Copy>(
    period_s: f64,
    values: [&[T]; 2],
    set: fn(&mut FlowSamples, T),
) -> FlowSamples {
    let mut samples = FlowSamples::default();
    for row in 0..values[0].len() {
        for (flow, values) in values.iter().enumerate() {
            samples.time.push(Time::ZERO + Span::from_secs_f64(period_s * (row + 1) as f64));
            samples.flow.push(flow as u32);
            set(&mut samples, values[row]);
        }
    }
    samples
}
