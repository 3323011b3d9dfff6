//! What may be said without a test, and what must not.

use super::*;

/// Runs of one variant that differ in their retransmissions alone.
fn with(label: &str, retransmissions: &[u64]) -> Variant {
    let runs = (1..).zip(retransmissions).map(|(seed, count)| run(seed, 10.0, *count)).collect();
    Variant { label: label.to_owned(), runs }
}

fn verdict(comparison: &Comparison, measure: usize) -> &'static str {
    let measured = &comparison.measures[measure];
    measured.pairs[1].as_ref().expect("not the reference").verdict(measured.measure.better)
}

#[test]
fn differences_that_are_equal_up_to_rounding_do_not_vary() {
    let theirs = [123.7, 246.9, 0.3];
    let ours = theirs.map(|value| value + 122.683_392);
    let rounded: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| our - their).collect();
    assert!(rounded.iter().any(|difference| *difference != rounded[0]), "rounding is in play");
    let pair = Pair::of(&ours, &theirs, 0.95);
    assert_eq!((pair.p, pair.effect, pair.difference.has_interval()), (None, None, false));
    // A nanosecond in a tenth of a second is no rounding.
    let pair = Pair::of(&[100.000_001, 100.000_003, 100.000_002], &[100.0; 3], 0.95);
    assert!(pair.p.is_some() && pair.difference.has_interval());
}

#[test]
fn values_that_are_equal_up_to_rounding_are_equal() {
    let pair = Pair::of(&[0.1 + 0.2, 0.3, 0.3], &[0.3, 0.3, 0.3], 0.95);
    assert_eq!((pair.finding(None), pair.p, pair.difference.mean), (Finding::Equal, None, 0.0));
    assert!(Estimate::of(&[0.1 + 0.2, 0.3, 0.3]).deterministic);
    assert!(!Estimate::of(&[0.300_000_001, 0.3, 0.3]).deterministic);
}

#[test]
fn rounding_makes_no_outlier() {
    let theirs = [40.4, 254.2, 229.2, 76.6, 148.7, 134.9, 195.5];
    let mut ours = theirs.map(|value| value + 122.683_392);
    ours[6] += 1e-5;
    let runs = |values: [f64; 7]| (1..).zip(values).map(|(seed, value)| run(seed, value, 0)).collect();
    let variants = [("a", theirs), ("b", ours)]
        .map(|(label, values)| Variant { label: label.to_owned(), runs: runs(values) });
    assert_eq!(first(&goodput(&variants, 0), 1).outliers, [0u64; 0]);
}

#[test]
fn differences_that_coincide_although_the_runs_vary_are_not_tested() {
    let comparison = goodput(&[with("a", &[200, 240]), with("b", &[267, 307])], 0);
    let cells = cells(&comparison, 1, 1);
    assert_eq!((cells[0].as_str(), cells[5].as_str()), ("67", "not tested: equal differences"));
}

#[test]
fn where_neither_variant_varies_the_difference_needs_no_test() {
    let comparison = goodput(&[with("a", &[200; 3]), with("b", &[267; 3])], 0);
    assert_eq!(verdict(&comparison, 1), "worse in every run");
    // Two constant runs out of three do not show that nothing varies.
    let runs = |goodput| (1..4).map(|seed| run(seed, goodput, 0)).collect();
    let mut variants = [("a", 10.0), ("b", 12.0)]
        .map(|(label, value)| Variant { label: label.to_owned(), runs: runs(value) });
    assert_eq!(verdict(&goodput(&variants, 0), 0), "better in every run");
    variants[1].runs[2].flows.clear();
    assert_eq!(verdict(&goodput(&variants, 0), 0), "not tested: equal differences");
}

#[test]
fn the_family_of_tests_does_not_depend_on_what_came_out() {
    let mut varied = variants(&[("a", 1.0), ("b", 1.02)], 10, 7);
    let raw = first(&goodput(&varied, 0), 1).pair.p.expect("it varies");
    let corrected = |variants: &[Variant]| {
        let comparison = goodput(variants, 0);
        (comparison.family, first(&comparison, 1).p.expect("it varies"))
    };
    // Retransmissions are zero everywhere, differ by the same, or vary without a difference in the mean.
    let idle = corrected(&varied);
    assert_eq!(idle, (2, (2.0 * raw).min(1.0)));
    for (seed, run) in (0u64..).zip(&mut varied[1].runs) {
        run.flows[0].retransmissions = 5 + (seed % 2) * 10;
    }
    for run in &mut varied[0].runs {
        run.flows[0].retransmissions = 10;
    }
    assert_eq!(corrected(&varied), idle);
}

#[test]
fn one_run_has_differences_without_a_test() {
    let of = |theirs: u64, ours: u64| {
        let comparison = goodput(&[with("a", &[theirs]), with("b", &[ours])], 0);
        let cells = cells(&comparison, 1, 1);
        assert!(cells[2].is_empty() && cells[3].is_empty(), "{cells:?}");
        let notes = method(&comparison).join("\n") + &warnings(&comparison).join("\n");
        assert!(!notes.contains("1 seeds") && !notes.contains("Holm"), "{notes}");
        (cells[0].clone(), cells[5].clone())
    };
    assert_eq!(of(0, 52), ("52".to_owned(), "not tested: one run".to_owned()));
    assert_eq!(of(9, 0), ("-9".to_owned(), "not tested: one run".to_owned()));
    assert_eq!(of(9, 9), ("0".to_owned(), "equal".to_owned()));
}

#[test]
fn a_difference_that_only_the_correction_decides_against_reports_it() {
    // The raw p of the goodput is between 0.025 and 0.05, so that two tests together undo it.
    let start = (1..500u64).find(|start| {
        let comparison = goodput(&variants(&[("a", 1.0), ("b", 1.01)], 10, 7 + 13 * start), 0);
        first(&comparison, 1).pair.p.is_some_and(|p| (0.026..0.049).contains(&p))
    });
    let comparison = goodput(&variants(&[("a", 1.0), ("b", 1.01)], 10, 7 + 13 * start.expect("one")), 0);
    let Ratio::Between { low, high, .. } = first(&comparison, 1).pair.ratio else { panic!("bounded") };
    assert!(low > 1.0 || high < 1.0, "{low} to {high}");
    assert_eq!(verdict(&comparison, 0), "not significant after correction");
}

#[test]
fn several_warnings_stand_under_one_heading() {
    let mut given = variants(&[("a", 1.0), ("b", 1.0)], 5, 7);
    given[1].runs[3].flows.clear();
    let text = comparison_table(&goodput(&given, 0), crate::text::Screen::PLAIN);
    assert_eq!(text.matches("warning").count(), 1, "{text}");
    assert!(text.contains("\nwarnings:\n- 5 seeds are few"), "{text}");
}

#[test]
fn what_has_no_interval_is_explained_only_where_something_has_none() {
    let states = |variants: &[Variant]| {
        method(&goodput(variants, 0)).iter().any(|sentence| sentence.contains("no interval"))
    };
    let varied = variants(&[("a", 1.0), ("b", 1.1)], 10, 7);
    assert!(!states(&varied), "retransmissions are not listed, all else varies");
    assert!(states(&[with("a", &[200; 3]), with("b", &[267; 3])]));
}
