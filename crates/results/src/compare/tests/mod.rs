//! Comparisons of invented runs whose truth is known.

use tidegate_core::observe::records::{FlowRecord, RunRecord};
use tidegate_core::units::{ByteCount, Time};

use super::*;
use crate::measures::find;

mod chance;
mod missing;

/// Numbers of a normal distribution, from a fixed generator.
struct Normal(u64);

impl Normal {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let (radius, angle) = ((-2.0 * self.uniform().ln()).sqrt(), std::f64::consts::TAU * self.uniform());
        radius * angle.cos()
    }
}

/// A run of one second with this goodput and so many retransmissions.
fn run(seed: u64, goodput_mbps: f64, retransmissions: u64) -> RunRecord {
    let flow = FlowRecord {
        delivered_payload: ByteCount::new((goodput_mbps * 125_000.0).round() as u64),
        retransmissions,
        ..FlowRecord::default()
    };
    RunRecord { seed, ended: Time::from_nanos(1_000_000_000), flows: vec![flow], ..RunRecord::default() }
}

/// Variants whose goodput is what their seed brings, times a factor, with a little noise of their own.
fn variants(factors: &[(&str, f64)], seeds: u64, start: u64) -> Vec<Variant> {
    let mut normal = Normal(start);
    let shared: Vec<f64> = (0..seeds).map(|_| 10.0 + normal.next()).collect();
    let runs = |factor: f64, normal: &mut Normal| -> Vec<RunRecord> {
        let pairs = (1..).zip(&shared);
        pairs.map(|(seed, shared)| run(seed, factor * shared + 0.1 * normal.next(), 0)).collect()
    };
    let variant = |(label, factor): &(&str, f64)| Variant {
        label: (*label).to_owned(),
        runs: runs(*factor, &mut normal),
    };
    factors.iter().map(variant).collect()
}

fn goodput(variants: &[Variant], reference: usize) -> Comparison {
    let measures = [find("goodput_mbps").expect("a measure"), find("retransmissions").expect("a measure")];
    Comparison::of(variants, &measures, Setup { reference, looks: 1 })
}

fn first(comparison: &Comparison, variant: usize) -> &Tested {
    comparison.measures[0].pairs[variant].as_ref().expect("not the reference")
}

#[test]
fn a_planted_difference_is_found_through_the_noise_that_seeds_share() {
    let comparison = goodput(&variants(&[("a", 1.0), ("b", 1.05)], 10, 7), 0);
    let tested = first(&comparison, 1);
    assert_eq!(tested.finding, Finding::Significant);
    let Ratio::Between { low, high, .. } = tested.pair.ratio else { panic!("bounded") };
    assert!(low < 1.05 && 1.05 < high && high - low < 0.03, "{low} to {high}");
    // The means alone would not tell: their intervals overlap.
    let estimates = &comparison.measures[0].estimates;
    assert!(estimates[0].high() > estimates[1].low());
}

#[test]
fn equal_variants_give_a_false_finding_in_about_one_of_twenty_families() {
    let false_findings = (0..400u64).filter(|start| {
        let comparison =
            goodput(&variants(&[("a", 1.0), ("b", 1.0), ("c", 1.0), ("d", 1.0)], 10, 1 + 97 * start), 0);
        (1..4).any(|index| first(&comparison, index).finding == Finding::Significant)
    });
    // At most 5 % = 20 expected; 33 or more would have a chance of less than 0.5 %.
    let count = false_findings.count();
    assert!((2..33).contains(&count), "{count} of 400");
}

#[test]
fn the_interval_of_the_ratio_covers_the_truth_as_often_as_stated() {
    let covered = (0..1000u64).filter(|start| {
        let comparison = goodput(&variants(&[("a", 1.0), ("b", 1.2)], 10, 3 + 131 * start), 0);
        let Ratio::Between { low, high, .. } = first(&comparison, 1).pair.ratio else { return false };
        low <= 1.2 && 1.2 <= high
    });
    // 95 % ± three standard errors of 0.7 %.
    let count = covered.count();
    assert!((929..=971).contains(&count), "{count} of 1000");
}

#[test]
fn the_looks_of_a_search_that_stops_early_cover_the_truth_at_least_as_often_as_they_say() {
    let laid_down = looks(10, 40);
    let covers = |confidence: f64| {
        let runs = 1000u64;
        let covered = (0..runs).filter(|start| {
            let mut normal = Normal(5 + 61 * start);
            let values: Vec<f64> = (0..40).map(|_| 1.0 + 0.1 * normal.next()).collect();
            // Tempting: it stops at the first look at which the interval looks narrow.
            let mut estimates = laid_down.iter().map(|seeds| Estimate::at(&values[..*seeds], confidence));
            let stopped = estimates.clone().find(|estimate| estimate.half_width < 0.05 * estimate.mean);
            let estimate = stopped.or(estimates.next_back()).expect("a look");
            estimate.low() <= 1.0 && 1.0 <= estimate.high()
        });
        covered.count() as f64 / runs as f64
    };
    let (plain, sound) = (covers(0.95), covers(confidence(laid_down.len())));
    assert!(plain < 0.945, "looking again and again costs nothing here: {plain}");
    assert!(sound >= 0.95, "{sound}");
}

#[test]
fn the_order_of_the_variants_does_not_matter() {
    let given = variants(&[("a", 1.0), ("b", 1.05), ("c", 0.9)], 10, 7);
    let turned = [given[2].clone(), given[0].clone(), given[1].clone()];
    let (straight, turned) = (goodput(&given, 0), goodput(&turned, 1));
    for (one, other) in [(1, 2), (2, 0)] {
        let (one, other) = (first(&straight, one), first(&turned, other));
        assert_eq!((&one.pair, one.p, one.finding), (&other.pair, other.p, other.finding));
    }
}

/// The cells of variant `index` of measure `measure`: difference, ratio, p, effect, runs, verdict.
fn cells(comparison: &Comparison, measure: usize, index: usize) -> Vec<String> {
    let noun = comparison.measures[measure].measure.noun;
    let rows: Vec<Vec<String>> = comparison_rows(comparison).rows().collect();
    let first = rows.iter().position(|row| row[0].starts_with(noun)).expect("a row of the measure");
    rows[first + index][3..].to_vec()
}

#[test]
fn turning_a_comparison_round_turns_the_ratio_and_the_verdict() {
    let given = variants(&[("a", 1.0), ("b", 1.5)], 10, 7);
    let [more, less] = [0, 1].map(|reference| cells(&goodput(&given, reference), 0, 1 - reference));
    assert!(more[1].starts_with("1.5") && more[5] == "better", "{more:?}");
    assert!(less[1].starts_with("0.66") && less[5] == "worse", "{less:?}");
    let facts = goodput(&given, 0);
    let facts = pair_facts(&facts, &facts.measures[0], 1).expect("a pair");
    assert!(facts.starts_with("goodput [Mbit/s], b against a: difference 5."), "{facts}");
    assert!(facts.contains(", ratio 1.5") && facts.ends_with(", runs 10, verdict better"), "{facts}");
}

#[test]
fn zeros_have_a_difference_and_no_ratio() {
    let with = |label: &str, retransmissions: [u64; 3]| Variant {
        label: label.to_owned(),
        runs: (1..).zip(retransmissions).map(|(seed, count)| run(seed, 10.0, count)).collect(),
    };
    let of = |ours: [u64; 3], theirs: [u64; 3]| {
        let comparison = goodput(&[with("a", theirs), with("b", ours)], 0);
        let cells = cells(&comparison, 1, 1);
        [0, 1, 5].map(|place| cells[place].clone())
    };
    assert_eq!(of([5; 3], [5; 3]), ["0", "", "equal"]);
    assert_eq!(of([0; 3], [90, 100, 110]), ["-100 ± 25", "0", "better"]);
    assert_eq!(of([90, 100, 110], [0; 3]), ["100 ± 25", "", "worse"]);
    assert_eq!(of([10; 3], [20; 3]), ["-10", "0.5", "better in every run"]);
    let idle = goodput(&[with("a", [0; 3]), with("b", [0; 3])], 0);
    let note = "Zero in every run, without a row: retransmissions.".to_owned();
    assert!(method(&idle).contains(&note) && comparison_rows(&idle).rows().count() == 2);
}

#[test]
fn a_missing_value_is_left_out_and_counted() {
    let mut given = variants(&[("a", 1.0), ("b", 1.0)], 10, 7);
    given[1].runs[3].flows.clear();
    let comparison = goodput(&given, 0);
    assert_eq!((first(&comparison, 1).pair.n, first(&comparison, 1).left_out), (9, 1));
    assert_eq!(cells(&comparison, 0, 1)[4], "9 of 10");
    let means: Vec<String> = comparison_rows(&comparison).rows().map(|row| row[2].clone()).collect();
    assert!(!means[0].contains("runs") && means[1].ends_with("(9 of 10 runs)"), "{means:?}");
}

fn judged(now: &[Variant], then: &[Variant], tolerance: f64) -> Vec<BaselineChange> {
    let baseline = Baseline::of(&goodput(then, 0), "invented", 1, "c0de", &[]);
    let judgements = baseline.judge(&goodput(now, 0), tolerance);
    judgements
        .iter()
        .filter(|judgement| judgement.measure.name == "goodput_mbps")
        .map(|judgement| judgement.change)
        .collect()
}

#[test]
fn a_baseline_separates_better_from_worse_from_noise() {
    let then = variants(&[("a", 1.0)], 10, 7);
    assert_eq!(judged(&then, &then, 0.0), [BaselineChange::WithinNoise]);
    assert_eq!(judged(&variants(&[("a", 0.9)], 10, 7), &then, 0.01), [BaselineChange::Worse]);
    assert_eq!(judged(&variants(&[("a", 1.1)], 10, 7), &then, 0.01), [BaselineChange::Better]);
    assert_eq!(judged(&variants(&[("a", 0.9)], 10, 7), &then, 0.2), [BaselineChange::WithinNoise]);
    assert_eq!(judged(&variants(&[("other", 0.9)], 10, 7), &then, 0.0), []);
}

#[test]
fn a_baseline_comes_back_from_its_file_to_the_bit_and_a_broken_one_is_refused() {
    let comparison = goodput(&variants(&[("a", 1.0), ("b", 1.0 / 3.0)], 3, 7), 0);
    let baseline =
        Baseline::of(&comparison, "invented", 1, "c0de", &["x = 1\n".to_owned(), "x = 2\n".to_owned()]);
    let text = baseline.to_text();
    assert_eq!(Baseline::read(&text, 1).as_ref(), Ok(&baseline));
    let broken = |from: &str, to: &str| Baseline::read(&text.replace(from, to), 1).expect_err(to);
    assert!(broken("\"format\": 2", "\"format\": 1").starts_with("format 1 is not known"));
    let other = Baseline::read(&text, 2).expect_err("refused");
    assert!(other.starts_with("its values have semantics 1 and results schema "), "{other}");
    assert!(broken("\"results_schema\": ", "\"results_schema\": 9").contains("and results schema 9"));
    assert!(broken("\"seeds\"", "\"sedes\"").contains("unknown field `sedes`"));
    assert!(broken("    1,", "").contains("has 3 values for 2 seeds"));
    assert!(Baseline::read("", 1).is_err() && Baseline::read("[[[[", 1).is_err());
}

#[test]
fn a_baseline_with_other_seeds_is_compared_as_a_whole() {
    let then = variants(&[("a", 1.0)], 12, 7);
    let later = |factor: f64| {
        let mut now = variants(&[("a", factor)], 12, 1234);
        now[0].runs.iter_mut().for_each(|run| run.seed += 100);
        now
    };
    assert_eq!(judged(&later(1.0), &then, 0.0), [BaselineChange::WithinNoise]);
    assert_eq!(judged(&later(0.7), &then, 0.0), [BaselineChange::Worse]);
}

#[test]
fn results_that_do_not_vary_are_judged_by_the_tolerance() {
    let fixed = |goodput: f64| {
        vec![Variant { label: "a".to_owned(), runs: (1..4).map(|seed| run(seed, goodput, 0)).collect() }]
    };
    assert_eq!(judged(&fixed(9.95), &fixed(10.0), 0.01), [BaselineChange::WithinNoise]);
    assert_eq!(judged(&fixed(9.8), &fixed(10.0), 0.01), [BaselineChange::Worse]);
}

#[test]
fn runs_that_do_not_vary_have_a_ratio_without_an_interval() {
    for (ours, theirs) in [(7.033, 6.692), (0.1, 0.3), (1e-9, 3e9), (1.0 / 3.0, 0.7)] {
        let pair = Pair::of(&[ours; 10], &[theirs; 10], 0.95);
        let stated = table::ratio(&pair.ratio);
        assert!(
            !stated.is_empty() && !stated.contains('±') && !stated.contains("to"),
            "{ours} / {theirs}: {stated}"
        );
    }
}
