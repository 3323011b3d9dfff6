//! Expectations of a scenario, compared with the mean over its runs.

use tidegate_core::observe::records::RunRecord;
use tidegate_results::measures;
use tidegate_results::stats;
use tidegate_sim::plan::{ComparisonOperator, Expectation};

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
        ComparisonOperator::AtLeast => (mean >= *bound, ">="),
        ComparisonOperator::AtMost => (mean <= *bound, "<="),
        ComparisonOperator::Above => (mean > *bound, ">"),
        ComparisonOperator::Below => (mean < *bound, "<"),
    };
    (!holds).then(|| format!("{measure} = {mean:.6}, expected {word} {bound}"))
}

/// One of [`MEASURES`](tidegate_sim::plan::MEASURES) over all flows of a run; `None` where it is not defined.
fn value(measure: &str, run: &RunRecord) -> Option<f64> {
    measures::find(measure).and_then(|measure| (measure.of)(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::observe::records::FlowRecord;
    use tidegate_sim::plan::MEASURES;

    fn run() -> RunRecord {
        let flow = FlowRecord { timeouts: 3, ..FlowRecord::default() };
        RunRecord { flows: vec![flow.clone(), flow], ..RunRecord::default() }
    }

    #[test]
    fn every_measure_a_scenario_may_name_can_be_requested() {
        let unknown: Vec<_> = MEASURES.iter().filter(|measure| measures::find(measure).is_none()).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn a_bound_is_met_or_the_sentence_says_both_numbers() {
        let expect = |comparison, bound| {
            failures(&[Expectation { measure: "timeouts", comparison, bound }], &[run(), run()])
        };
        assert_eq!(expect(ComparisonOperator::AtLeast, 6.0), Vec::<String>::new());
        assert_eq!(expect(ComparisonOperator::Above, 6.0), ["timeouts = 6.000000, expected > 6"]);
    }

    #[test]
    fn what_is_not_defined_meets_no_bound() {
        let expectation =
            Expectation { measure: "completion_s", comparison: ComparisonOperator::Above, bound: 0.0 };
        let failed = failures(&[expectation], &[run()]);
        assert!(failed[0].starts_with("completion_s is not defined in every run"), "{failed:?}");
    }
}
