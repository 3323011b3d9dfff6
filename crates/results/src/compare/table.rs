//! A comparison as plain text.

use std::collections::BTreeMap;

use super::confidence;
use super::{ALPHA, Comparison, Judgement, Measured, Tested, coverage, judgement_sentence, summary};
use crate::stats::Estimate;
use crate::text::{Align, Screen, TextTable, number, over_runs, short, with_unit};

/// Verdict on two variants that have no run with a value of both.
pub const NOT_COMPARABLE: &str = "not comparable";

/// Seeds below which intervals are wide and tests weak.
const FEW_SEEDS: usize = 10;

/// Sentences about every variant, then the table of all measures, then how to read it.
pub fn comparison_table(comparison: &Comparison, screen: Screen) -> String {
    let mut text = String::new();
    for sentence in summary(comparison) {
        text.push_str(&format!("{sentence}\n"));
    }
    text.push_str(&format!("\n{}\n", table(comparison, screen)));
    for sentence in method(comparison) {
        text.push_str(&format!("{sentence}\n"));
    }
    text + &warning_box(&warnings(comparison))
}

/// A box with warnings: a single one as a line, several as a list under one heading.
fn warning_box(warnings: &[String]) -> String {
    match warnings {
        [] => String::new(),
        [warning] => format!("warning: {warning}\n"),
        several => {
            let lines: String = several.iter().map(|warning| format!("- {warning}\n")).collect();
            format!("\nwarnings:\n{lines}")
        }
    }
}

/// Whether a mean or difference that the table shows is over several runs and has no interval.
fn is_any_constant(comparison: &Comparison) -> bool {
    let shown = comparison.measures.iter().filter(|measured| !measured.is_idle());
    shown.into_iter().any(|measured| {
        let differences = measured.pairs.iter().flatten().map(|tested| &tested.pair.difference);
        measured.estimates.iter().chain(differences).any(|estimate| estimate.deterministic)
    })
}

fn table(comparison: &Comparison, screen: Screen) -> String {
    let mut table = TextTable::new(&[
        ("measure", Align::Left),
        ("variant", Align::Left),
        ("mean", Align::Right),
        ("difference", Align::Right),
        ("p", Align::Right),
        ("effect", Align::Right),
        ("", Align::Left),
    ]);
    for measured in comparison.measures.iter().filter(|measured| !measured.is_idle()) {
        for (index, label) in comparison.labels.iter().enumerate() {
            let name = if index == 0 { with_bracketed_unit(measured) } else { String::new() };
            let mean = over_runs(&measured.estimates[index], comparison.seeds.len());
            let cells = match &measured.pairs[index] {
                Some(tested) => tested_cells(measured, tested),
                None if index == comparison.reference => Default::default(),
                None => [String::new(), String::new(), String::new(), NOT_COMPARABLE.to_owned()],
            };
            table.row([name, label.clone(), mean].into_iter().chain(cells));
        }
    }
    table.render(screen)
}

fn with_bracketed_unit(measured: &Measured) -> String {
    match measured.measure.unit {
        "" => measured.measure.noun.to_owned(),
        unit => format!("{} [{unit}]", measured.measure.noun),
    }
}

/// Difference, corrected p, effect size, verdict.
fn tested_cells(measured: &Measured, tested: &Tested) -> [String; 4] {
    [
        short(&tested.pair.difference),
        tested.p.map_or_else(String::new, p_value),
        tested.pair.effect.map_or_else(String::new, |effect| format!("{effect:.2}")),
        tested.verdict(measured.measure.better).to_owned(),
    ]
}

/// A probability for reading.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Method of the comparison, in sentences.
pub fn method(comparison: &Comparison) -> Vec<String> {
    let (seeds, family) = (comparison.seeds.len(), comparison.family);
    let level = number(100.0 * confidence(comparison.looks));
    let reference = comparison.reference_label();
    if seeds == 1 {
        let sentence = "One seed, the same for every variant: no interval and no test, so chance may explain any difference.";
        return vec![sentence.to_owned()];
    }
    let constant = if is_any_constant(comparison) { "; without interval: the same in every run" } else { "" };
    let mut sentences = vec![
        format!("{seeds} seeds, the same for every variant, so each is held against {reference} run by run."),
        format!("Means and differences: ± {level} % interval (Student's t){constant}."),
        format!("Ratios of means: {level} % interval for pairs (Fieller)."),
        format!(
            "p: paired t test, two-sided, corrected (Holm) for {family} tests, one for each measure and variant, made or \
             not; clear below {ALPHA}."
        ),
        "Better or worse without p: neither variant varies. Not tested: the runs vary, but all differences are equal."
            .to_owned(),
        "Effect: mean difference over the standard deviation of the differences (Cohen's d).".to_owned(),
    ];
    if comparison.looks > 1 {
        let looks = comparison.looks;
        sentences.push(format!(
            "Seeds were added until intervals were narrow enough. {looks} looks were laid down before the first run, \
             each with an equal part of the error, so intervals and p hold at whichever look it stopped."
        ));
    }
    sentences
}

/// Caveats that a reader should know before the numbers.
pub fn warnings(comparison: &Comparison) -> Vec<String> {
    let seeds = comparison.seeds.len();
    let mut warnings = coverage::without_data(comparison);
    let varies = |estimate: &Estimate| estimate.n > 1 && !estimate.deterministic;
    let is_random = comparison.measures.iter().flat_map(|measured| &measured.estimates).any(varies);
    if !is_random && seeds > 1 {
        warnings.push(
            "there is no random variation between seeds; vary = { start = true, delay = 0.01 } in [scenario] adds some"
                .to_owned(),
        );
    } else if seeds < FEW_SEEDS {
        let are_few = match seeds {
            1 => "1 seed tells nothing of chance".to_owned(),
            _ => format!("{seeds} seeds are few"),
        };
        warnings.push(format!("{are_few}; {FEW_SEEDS} or more give narrower intervals"));
    }
    warnings.extend(coverage::survivors(comparison));
    // Of a few differences, the modified z-score calls any one far.
    if seeds >= FEW_SEEDS {
        warnings.extend(far_off(comparison));
    }
    warnings
}

/// Every test with what it is about.
fn tests(comparison: &Comparison) -> impl Iterator<Item = (String, &Tested)> {
    comparison.measures.iter().flat_map(|measured| {
        let labels = comparison.labels.iter();
        let tested =
            labels.zip(&measured.pairs).filter_map(|(label, tested)| Some((label, tested.as_ref()?)));
        tested.map(|(label, tested)| (format!("{} of {label}", measured.measure.noun), tested))
    })
}

/// Sentences about seeds whose differences are outliers, with all measures concerned.
fn far_off(comparison: &Comparison) -> Vec<String> {
    let mut by_seeds: BTreeMap<&[u64], Vec<String>> = BTreeMap::new();
    for (what, tested) in tests(comparison).filter(|(_, tested)| !tested.outliers.is_empty()) {
        by_seeds.entry(&tested.outliers).or_default().push(what);
    }
    let sentence = |(seeds, what): (&[u64], Vec<String>)| {
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let word = if seeds.len() == 1 { "seed" } else { "seeds" };
        format!("{word} {}: far from the others in {}; look at such a run", seeds.join(", "), what.join(", "))
    };
    by_seeds.into_iter().map(sentence).collect()
}

/// Verdicts against a baseline: sentences for what changed, then the table.
pub fn judgement_table(judgements: &[Judgement], screen: Screen) -> String {
    let mut table = TextTable::new(&[
        ("variant", Align::Left),
        ("measure", Align::Left),
        ("baseline", Align::Right),
        ("now", Align::Right),
        ("change", Align::Right),
        ("p", Align::Right),
        ("", Align::Left),
    ]);
    let mean = |mean: f64, unit| if mean.is_nan() { "-".to_owned() } else { with_unit(number(mean), unit) };
    let is_news = |judgement: &&Judgement| judgement.change != super::BaselineChange::WithinNoise;
    for judgement in judgements.iter().filter(is_news) {
        let Judgement { label, measure, tested, relative, change, .. } = judgement;
        table.row([
            label.clone(),
            measure.noun.to_owned(),
            mean(tested.pair.theirs, measure.unit),
            mean(tested.pair.ours, measure.unit),
            relative.map_or_else(|| "-".to_owned(), |relative| format!("{:+.2} %", 100.0 * relative)),
            tested.p.map_or_else(String::new, p_value),
            change.word().to_owned(),
        ]);
    }
    let news: Vec<&Judgement> = judgements.iter().filter(is_news).collect();
    let quiet = judgements.len() - news.len();
    if news.is_empty() {
        return format!("all {quiet} measures are within noise\n");
    }
    let sentences: String = news.into_iter().map(|judgement| judgement_sentence(judgement) + "\n").collect();
    format!("{sentences}\n{}{quiet} further measures are within noise\n", table.render(screen))
}
