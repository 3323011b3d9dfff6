//! A scenario's expectations, held against the mean over its runs.

use tidegate_core::records::{FlowRecord, RunRecord};
use tidegate_report::measures;
use tidegate_report::stats;
use tidegate_sim::plan::{Comparison, Expectation};

/// Every expectation that does not hold, as a sentence.
pub(crate) fn failures(expectations: &[Expectation], runs: &[RunRecord]) -> Vec<String> {
    expectations.iter().filter_map(|expectation| failure(expectation, runs)).collect()
}

fn failure(expectation: &Expectation, runs: &[RunRecord]) -> Option<String> {
    let Expectation { measure, comparison, bound } = expectation;
    let values: Vec<f64> = runs.iter().map(|run| value(measure, run)).collect();
    let mean = stats::mean(&values);
    let (holds, word) = match comparison {
        Comparison::AtLeast => (mean >= *bound, ">="),
        Comparison::AtMost => (mean <= *bound, "<="),
        Comparison::Above => (mean > *bound, ">"),
        Comparison::Below => (mean < *bound, "<"),
    };
    (!holds).then(|| format!("{measure} = {mean:.6}, expected {word} {bound}"))
}

/// The measure over all flows of a run; NaN, which meets no expectation, where it is not defined.
fn value(measure: &str, run: &RunRecord) -> f64 {
    let sum = |of: fn(&FlowRecord) -> u64| run.flows.iter().map(of).sum::<u64>() as f64;
    match measure {
        "jain" => measures::run_jain_index(run).unwrap_or(f64::NAN),
        "goodput_mbps" => measures::goodputs(run).iter().sum(),
        "completion_s" => measures::completion_mean_s(run).unwrap_or(f64::NAN),
        "retransmissions" => sum(|flow| flow.retransmissions),
        "timeouts" => sum(|flow| flow.timeouts),
        "marks" => sum(|flow| flow.marks),
        "loss_notices" => sum(|flow| flow.loss_notices),
        "dropped_packets" => run.links.iter().map(|link| link.dropped_packets).sum::<u64>() as f64,
        "lost_packets" => run.links.iter().map(|link| link.lost_packets).sum::<u64>() as f64,
        "utilisation" => {
            let busiest = run.links.iter().filter_map(|link| measures::utilisation(link, run.ended));
            busiest.fold(f64::NAN, f64::max)
        }
        "full_delay_ms" => measures::delay_mean_ms(run, |flow| flow.full_delay).unwrap_or(f64::NAN),
        _ => f64::NAN,
    }
}
