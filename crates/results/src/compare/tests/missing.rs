//! What was not measured in every run, and what must not be concluded from the others.

use super::*;
use crate::text::Screen;

/// Runs of one file: completed after so many seconds, or not.
fn files(label: &str, completed: &[Option<u64>]) -> Variant {
    let file = |(seed, completed): (u64, &Option<u64>)| {
        let mut run = run(seed, 10.0, 0);
        run.flows[0].segments = Some(100);
        run.flows[0].completed = completed.map(|seconds| Time::from_nanos(seconds * 1_000_000_000));
        run
    };
    Variant { label: label.to_owned(), runs: (1..).zip(completed).map(file).collect() }
}

/// Runs in which nothing arrived.
fn dead(label: &str, seeds: u64) -> Variant {
    Variant { label: label.to_owned(), runs: (1..=seeds).map(|seed| run(seed, 0.0, seed)).collect() }
}

fn of(variants: &[Variant], names: &[&str]) -> Comparison {
    let measures: Vec<_> = names.iter().map(|name| find(name).expect("a measure")).collect();
    Comparison::of(variants, &measures, Setup { reference: 0, looks: 1 })
}

#[test]
fn a_mean_over_the_survivors_says_of_how_many_runs_it_is() {
    let variants = [files("a", &[Some(17), Some(18), None]), files("b", &[None; 3])];
    let comparison = of(&variants, &["completion_s", "goodput_mbps"]);
    let text = comparison_table(&comparison, Screen::PLAIN);
    assert!(text.contains("(2 of 3 runs)"), "{text}");
    assert!(
        text.contains("- means and tests of completion time are over the runs that have a value"),
        "{text}"
    );
    assert!(text.contains("not comparable"), "{text}");
    let json = comparison_json(&comparison).to_string();
    assert!(json.contains("\"n\":2,\"deterministic\":false,\"runs\":3"), "{json}");
}

#[test]
fn variants_that_share_no_measured_run_are_not_called_equal() {
    let verdict = |ours: &[Option<u64>], theirs: &[Option<u64>]| {
        let variants = [files("a", theirs), files("b", ours)];
        let cells = cells(&of(&variants, &["completion_s"]), 0, 1);
        (cells[4].clone(), cells[5].clone())
    };
    let all = [Some(7), Some(8), Some(9)];
    let texts = |runs: &str, verdict: &str| (runs.to_owned(), verdict.to_owned());
    assert_eq!(verdict(&[None; 3], &all), texts("", "not comparable"));
    assert_eq!(verdict(&[None; 3], &[None; 3]), texts("", "not comparable"));
    // Equal where both have a value, which is not everywhere.
    assert_eq!(verdict(&[Some(7), Some(8), None], &all), texts("2 of 3", "equal"));
}

#[test]
fn a_difference_over_a_part_of_the_runs_has_their_number() {
    let variants = [
        files("a", &[Some(17), Some(18), Some(19), Some(18)]),
        files("b", &[Some(37), Some(35), None, Some(38)]),
    ];
    assert_eq!(cells(&of(&variants, &["completion_s"]), 0, 1)[4..], ["3 of 4", "worse"]);
}

#[test]
fn variants_without_data_are_named_and_their_rows_stay() {
    let names = ["goodput_mbps", "full_delay_ms", "jain", "dropped_packets"];
    let text = comparison_table(&of(&[dead("a", 3), dead("b", 3)], &names), Screen::PLAIN);
    assert!(text.contains("- no Data arrived with a, b\n"), "{text}");
    let row =
        |name: &str| text.lines().find(|line| line.starts_with(name) && line.contains("  a  ")).expect(name);
    assert!(row("goodput [Mbit/s]").contains("  0  "), "{text}");
    assert!(row("delay [ms]").contains("  -  ") && row("fairness").contains("  -  "), "{text}");
    // No drops are no news.
    assert!(!text.contains("drops by queues  "), "{text}");
    let mut half = [dead("a", 2), dead("b", 2)];
    half[1].runs[0] = run(1, 10.0, 0);
    let warnings = warnings(&of(&half, &names));
    assert!(warnings.contains(&"no Data arrived with a".to_owned()), "{warnings:?}");
    assert!(warnings.contains(&"no Data arrived in 1 of 2 runs of b".to_owned()), "{warnings:?}");
}

fn changes(then: &[Option<u64>], now: &[Option<u64>], tolerance: f64) -> Vec<(BaselineChange, String)> {
    let one = |completed| of(&[files("a", completed)], &["completion_s"]);
    let judgements = Baseline::of(&one(then), "invented", 1, "c0de", &[]).judge(&one(now), tolerance);
    let table = judgement_rows(&judgements);
    let mut rows = table.rows().map(|row| row[6..].join(", "));
    let mut row = |change| if change == BaselineChange::WithinNoise { None } else { rows.next() };
    judgements
        .iter()
        .map(|judgement| judgement.change)
        .map(|change| (change, row(change).unwrap_or_default()))
        .collect()
}

#[test]
fn a_measure_that_vanished_is_gone_and_a_regression() {
    let all = [Some(15), Some(16), Some(15)];
    let gone = |runs: &str| vec![(BaselineChange::Gone, format!("{runs}, gone"))];
    assert_eq!(changes(&all, &[None; 3], 0.0), gone("3 of 3, 0 of 3"));
    assert_eq!(changes(&all, &[Some(15), None, Some(15)], 0.0), gone("3 of 3, 2 of 3"));
    assert!(BaselineChange::Gone.is_regression() && !BaselineChange::New.is_regression());
    // A third of the runs is within a tolerance of a half; what no run has any more is not.
    assert_eq!(changes(&all, &[Some(15), None, Some(15)], 0.5)[0].0, BaselineChange::WithinNoise);
    assert_eq!(changes(&all, &[None; 3], 0.5)[0].0, BaselineChange::Gone);
    assert_eq!(changes(&[None; 3], &[None; 3], 0.0), []);
    assert_eq!(changes(&[None; 3], &all, 0.0)[0].0, BaselineChange::New);
    let table = |then, now| {
        let one = |completed| of(&[files("a", completed)], &["completion_s"]);
        judgement_table(
            &Baseline::of(&one(then), "invented", 1, "c0de", &[]).judge(&one(now), 0.0),
            Screen::PLAIN,
        )
    };
    assert!(!table(&all, &[None; 3]).contains("NaN") && !table(&[None; 3], &all).contains("NaN"));
}

#[test]
fn what_coincides_with_a_baseline_shifted_by_a_constant_is_judged_by_the_tolerance() {
    let shifted = changes(&[Some(10), Some(12)], &[Some(13), Some(15)], 0.01);
    assert_eq!(shifted[0].0, BaselineChange::Worse);
    assert_eq!(changes(&[Some(10), Some(12)], &[Some(13), Some(15)], 0.5)[0].0, BaselineChange::WithinNoise);
}
