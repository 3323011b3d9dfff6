//! A comparison as plain text.

use super::{ALPHA, Comparison, Finding, Judgement, Measured, Tested, judgement_sentence, pair_sentence};
use super::{confidence, sentence};
use crate::stats::Estimate;
use crate::text::{Align, TextTable, number, short, with_unit};

/// Seeds below which intervals are wide and tests weak.
const FEW_SEEDS: usize = 10;

/// Sentences about every variant that differs, then the table of all measures, then how to read it.
pub fn comparison_table(comparison: &Comparison) -> String {
    let mut text = String::new();
    for sentence in findings(comparison) {
        text.push_str(&format!("{sentence}\n"));
    }
    text.push_str(&format!("\n{}\n{}", table(comparison), method(comparison)));
    for warning in warnings(comparison) {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

/// One sentence per variant and measure, measures in order, without those that are zero everywhere.
pub(crate) fn findings(comparison: &Comparison) -> Vec<String> {
    let Comparison { labels, reference, measures, .. } = comparison;
    let mut found = Vec::new();
    for measured in measures.iter().filter(|measured| !is_idle(measured)) {
        found
            .extend((0..labels.len()).filter_map(|index| pair_sentence(measured, index, labels, *reference)));
    }
    found
}

/// Whether a measure is zero in every run, so that there is nothing to say.
pub(crate) fn is_idle(measured: &Measured) -> bool {
    measured.values.iter().flatten().flatten().all(|value| *value == 0.0)
}

fn table(comparison: &Comparison) -> String {
    let mut table = TextTable::new(&[
        ("measure", Align::Left),
        ("variant", Align::Left),
        ("mean", Align::Right),
        ("difference", Align::Right),
        ("p", Align::Right),
        ("effect", Align::Right),
        ("", Align::Left),
    ]);
    for measured in comparison.measures.iter().filter(|measured| !is_idle(measured)) {
        for (index, label) in comparison.labels.iter().enumerate() {
            let name = if index == 0 { with_bracketed_unit(measured) } else { String::new() };
            let mean = short(&measured.estimates[index]);
            let tested = measured.pairs[index].as_ref();
            let cells = tested.map_or_else(Default::default, |tested| tested_cells(measured, tested));
            table.row([name, label.clone(), mean].into_iter().chain(cells));
        }
    }
    table.render()
}

fn with_bracketed_unit(measured: &Measured) -> String {
    match measured.measure.unit {
        "" => measured.measure.noun.to_owned(),
        unit => format!("{} [{unit}]", measured.measure.noun),
    }
}

/// Difference, corrected p, effect size, verdict.
fn tested_cells(measured: &Measured, tested: &Tested) -> [String; 4] {
    let verdict = match tested.finding {
        Finding::Equal => "equal",
        Finding::Unclear => "not clear",
        Finding::Untested => "not tested",
        Finding::Significant | Finding::Fixed => {
            sentence::judged(measured.measure.better, tested).unwrap_or("differs")
        }
    };
    [
        short(&tested.pair.difference),
        tested.p.map_or_else(String::new, p_value),
        tested.pair.effect.map_or_else(String::new, |effect| format!("{effect:.2}")),
        verdict.to_owned(),
    ]
}

/// A probability for reading.
pub(crate) fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// How the numbers came about, in sentences.
pub fn method(comparison: &Comparison) -> String {
    let seeds = comparison.seeds.len();
    let level = 100.0 * confidence(comparison.looks);
    let mut text = format!(
        "{seeds} seeds, the same for every variant, so each is compared with {} run by run. Means and differences ± \
         {} % interval (Student's t); ratios of means with Fieller's interval for pairs. p: paired t test, two-sided, \
         by Holm corrected for all {} tests of this table, clear below {ALPHA}. Effect: mean difference over its \
         standard deviation. No interval: does not vary.\n",
        comparison.reference_label(),
        number(level),
        comparison.family,
    );
    if comparison.looks > 1 {
        text.push_str(&format!(
            "Seeds were added until intervals were narrow enough: {} looks were laid down before the first run, and \
             each has an equal part of the error, so intervals and p hold at whichever look it stopped.\n",
            comparison.looks
        ));
    }
    text
}

/// What a reader should know before believing the numbers.
pub fn warnings(comparison: &Comparison) -> Vec<String> {
    let seeds = comparison.seeds.len();
    let mut warnings = Vec::new();
    let varies = |estimate: &Estimate| estimate.n > 1 && !estimate.deterministic;
    let is_random = comparison.measures.iter().flat_map(|measured| &measured.estimates).any(varies);
    if !is_random && seeds > 1 {
        warnings.push(
            "nothing differs between seeds; vary = { start = true, delay = 0.01 } in [scenario] makes them differ"
                .to_owned(),
        );
    } else if seeds < FEW_SEEDS {
        warnings.push(format!("{seeds} seeds are few; {FEW_SEEDS} or more give narrower intervals"));
    }
    for measured in &comparison.measures {
        for (label, tested) in comparison.labels.iter().zip(&measured.pairs) {
            let Some(tested) = tested else { continue };
            let what = format!("{}, {label}", measured.measure.noun);
            if tested.left_out > 0 {
                let (left_out, seeds) = (tested.left_out, comparison.seeds.len());
                warnings.push(format!(
                    "{what}: not defined in {left_out} of {seeds} seeds, which are left out; that may favour one side"
                ));
            }
            if !tested.outliers.is_empty() {
                let seeds: Vec<String> = tested.outliers.iter().map(u64::to_string).collect();
                warnings.push(format!(
                    "{what}: the difference with seed {} is far from the others; look at that run",
                    seeds.join(", ")
                ));
            }
        }
    }
    warnings
}

/// Verdicts against a baseline: sentences for what changed, then the table.
pub fn judgement_table(judgements: &[Judgement]) -> String {
    let mut table = TextTable::new(&[
        ("variant", Align::Left),
        ("measure", Align::Left),
        ("baseline", Align::Right),
        ("now", Align::Right),
        ("change", Align::Right),
        ("p", Align::Right),
        ("", Align::Left),
    ]);
    for judgement in judgements {
        let Judgement { label, measure, tested, relative, change, .. } = judgement;
        table.row([
            label.clone(),
            measure.noun.to_owned(),
            with_unit(number(tested.pair.theirs), measure.unit),
            with_unit(number(tested.pair.ours), measure.unit),
            relative.map_or_else(|| "-".to_owned(), |relative| format!("{:+.2} %", 100.0 * relative)),
            tested.p.map_or_else(String::new, p_value),
            change.word().to_owned(),
        ]);
    }
    let changed = judgements.iter().filter(|judgement| judgement.change != super::Change::WithinNoise);
    let mut text: String = changed.map(|judgement| judgement_sentence(judgement) + "\n").collect();
    if text.is_empty() {
        text.push_str("everything is within noise of the baseline\n");
    }
    format!("{text}\n{}", table.render())
}
