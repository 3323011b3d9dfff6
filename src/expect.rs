//! A scenario's expectations, held against the mean over its runs.

use tidegate_core::records::{FlowRecord, LinkRecord, RunRecord};
use tidegate_report::measures;
use tidegate_report::stats;
use tidegate_sim::plan::{Comparison, Expectation};

/// Every expectation that does not hold, as a sentence.
pub(crate) fn failures(expectations: &[Expectation], runs: &[RunRecord]) -> Vec<String> {
    expectations.iter().filter_map(|expectation| failure(expectation, runs)).collect()
}

fn failure(expectation: &Expectation, runs: &[RunRecord]) -> Option<String> {
    let Expectation { measure, comparison, bound } = expectation;
    // A measure that is not defined in a run, such as the completion of an unfinished flow, meets no bound.
    let values: Option<Vec<f64>> = runs.iter().map(|run| value(measure, run)).collect();
    let Some(values) = values else {
        return Some(format!(
            "{measure} is not defined in every run (a flow is unfinished, or nothing arrived)"
        ));
    };
    let mean = stats::mean(&values);
    let (holds, word) = match comparison {
        Comparison::AtLeast => (mean >= *bound, ">="),
        Comparison::AtMost => (mean <= *bound, "<="),
        Comparison::Above => (mean > *bound, ">"),
        Comparison::Below => (mean < *bound, "<"),
    };
    (!holds).then(|| format!("{measure} = {mean:.6}, expected {word} {bound}"))
}

/// One of [`MEASURES`](tidegate_sim::plan::MEASURES) over all flows of a run; `None` where it is not defined.
fn value(measure: &str, run: &RunRecord) -> Option<f64> {
    let flows = |of: fn(&FlowRecord) -> u64| Some(run.flows.iter().map(of).sum::<u64>() as f64);
    let links = |of: fn(&LinkRecord) -> u64| Some(run.links.iter().map(of).sum::<u64>() as f64);
    match measure {
        "completion_s" => measures::completion_mean_s(run),
        "dropped_packets" => links(|link| link.dropped_packets),
        "full_delay_ms" => measures::delay_mean_ms(run, |flow| flow.full_delay),
        "goodput_mbps" => Some(measures::goodputs(run).iter().sum()),
        "jain" => measures::run_jain_index(run),
        "loss_notices" => flows(|flow| flow.loss_notices),
        "lost_packets" => links(|link| link.lost_packets),
        "marks" => flows(|flow| flow.marks),
        "retransmissions" => flows(|flow| flow.retransmissions),
        "timeouts" => flows(|flow| flow.timeouts),
        "utilisation" => {
            run.links.iter().filter_map(|link| measures::utilisation(link, run.ended)).reduce(f64::max)
        }
        other => unreachable!("measure {other:?} was refused when the scenario was read"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::{BitRate, ByteCount, Time};
    use tidegate_sim::plan::MEASURES;

    fn run() -> RunRecord {
        let flow = FlowRecord { timeouts: 3, ..FlowRecord::default() };
        let link = |sent| LinkRecord {
            rate: BitRate::from_mbps(8.0),
            sent_bytes: ByteCount::new(sent),
            dropped_packets: 2,
            ..LinkRecord::default()
        };
        RunRecord {
            ended: Time::from_nanos(1_000_000_000),
            flows: vec![flow.clone(), flow],
            links: vec![link(250_000), link(500_000)],
            ..RunRecord::default()
        }
    }

    #[test]
    fn every_measure_a_scenario_may_name_can_be_asked_for() {
        MEASURES.iter().for_each(|measure| _ = value(measure, &run()));
    }

    #[test]
    fn counts_are_summed_and_the_busiest_link_counts() {
        let values = ["timeouts", "dropped_packets", "utilisation"].map(|measure| value(measure, &run()));
        assert_eq!(values, [Some(6.0), Some(4.0), Some(0.5)]);
    }

    #[test]
    fn a_bound_is_met_or_the_sentence_says_both_numbers() {
        let expect = |comparison, bound| {
            failures(&[Expectation { measure: "timeouts", comparison, bound }], &[run(), run()])
        };
        assert_eq!(expect(Comparison::AtLeast, 6.0), Vec::<String>::new());
        assert_eq!(expect(Comparison::Above, 6.0), ["timeouts = 6.000000, expected > 6"]);
    }

    #[test]
    fn what_is_not_defined_meets_no_bound() {
        let expectation = Expectation { measure: "completion_s", comparison: Comparison::Above, bound: 0.0 };
        let failed = failures(&[expectation], &[run()]);
        assert!(failed[0].starts_with("completion_s is not defined in every run"), "{failed:?}");
    }
}
