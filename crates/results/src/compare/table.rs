//! A comparison as plain text.

use std::collections::BTreeMap;

use super::confidence;
use super::{ALPHA, BaselineChange, Comparison, Finding, Judgement, Measured, Ratio, Tested, coverage};
use crate::stats::{Estimate, ROUNDING};
use crate::text::{Align, Screen, TextTable, number, number_with_error, over_runs, short, with_unit};

/// Number of seeds below which intervals are wide and tests weak.
const FEW_SEEDS: usize = 10;

/// The table of all measures, the method, and warnings.
pub fn comparison_table(comparison: &Comparison, screen: Screen) -> String {
    let notes: String = method(comparison).iter().map(|note| format!("{note}\n")).collect();
    let table = comparison_rows(comparison).render(screen);
    format!("{table}\n{notes}{}", warning_box(&warnings(comparison)))
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

/// Labels of the cells that [`tested_cells`] fills.
const TESTED: [(&str, Align); 6] = [
    ("difference", Align::Right),
    ("ratio", Align::Right),
    ("p", Align::Right),
    ("effect", Align::Right),
    ("runs", Align::Right),
    ("verdict", Align::Left),
];

/// A row for each measure and variant: its mean, and the comparison with the reference.
pub fn comparison_rows(comparison: &Comparison) -> TextTable {
    let mut head = vec![("measure", Align::Left), ("variant", Align::Left), ("mean", Align::Right)];
    head.extend(TESTED);
    let mut table = TextTable::new(&head);
    for measured in comparison.measures.iter().filter(|measured| !measured.is_idle()) {
        for (index, label) in comparison.labels.iter().enumerate() {
            let name = if index == 0 { with_bracketed_unit(measured) } else { String::new() };
            let mean = over_runs(&measured.estimates[index], comparison.seeds.len());
            let verdict =
                |text: &str| [[""; 5].as_slice(), &[text]].concat().into_iter().map(str::to_owned).collect();
            let cells: Vec<String> = match &measured.pairs[index] {
                Some(tested) => tested_cells(measured, tested).into(),
                None if index == comparison.reference => verdict("reference"),
                None => verdict("not comparable"),
            };
            table.row([name, label.clone(), mean].into_iter().chain(cells));
        }
    }
    table
}

fn with_bracketed_unit(measured: &Measured) -> String {
    match measured.measure.unit {
        "" => measured.measure.noun.to_owned(),
        unit => format!("{} [{unit}]", measured.measure.noun),
    }
}

/// Comparison of a pair, in the order of [`TESTED`].
fn tested_cells(measured: &Measured, tested: &Tested) -> [String; 6] {
    let pair = &tested.pair;
    let runs = match tested.left_out {
        0 => pair.n.to_string(),
        left_out => format!("{} of {}", pair.n, pair.n + left_out),
    };
    [
        short(&pair.difference),
        if tested.finding == Finding::Equal { String::new() } else { ratio(&pair.ratio) },
        tested.p.map_or_else(String::new, p_value),
        pair.effect.map_or_else(String::new, |effect| format!("{effect:.2}")),
        runs,
        tested.verdict(measured.measure.better).to_owned(),
    ]
}

/// The comparison of variant `index` with the reference in one line of labelled values, for programs that print single
/// pairs; `None` for the reference itself and without common runs.
pub fn pair_facts(comparison: &Comparison, measured: &Measured, index: usize) -> Option<String> {
    let tested = measured.pairs.get(index)?.as_ref()?;
    let cells = TESTED.iter().zip(tested_cells(measured, tested)).filter(|(_, cell)| !cell.is_empty());
    let facts: Vec<String> = cells.map(|((label, _), cell)| format!("{label} {cell}")).collect();
    let (label, reference) = (&comparison.labels[index], comparison.reference_label());
    Some(format!("{}, {label} against {reference}: {}", with_bracketed_unit(measured), facts.join(", ")))
}

/// A probability as text.
fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// Ratio of the means with its interval: after `±` if both sides are about equally wide, otherwise with both
/// ends.
pub(super) fn ratio(ratio: &Ratio) -> String {
    let (value, low, high) = match *ratio {
        Ratio::Between { value, low, high } => (value, low, high),
        Ratio::Open { value } => return number(value),
        Ratio::None => return String::new(),
    };
    let (below, above) = (value - low, high - value);
    // Means of equal runs differ by rounding only.
    if above.max(below) <= ROUNDING * value {
        return number(value);
    }
    let half_width = 0.5 * (below + above);
    let (shown, error) = number_with_error(value, half_width);
    // Fieller's interval is not symmetric; `±` is used only where that does not show.
    if (above - below).abs() <= 0.2 * half_width {
        return format!("{shown} ± {error}");
    }
    let [low, high] = [low, high].map(|end| number_with_error(end, half_width).0);
    format!("{shown} ({low} to {high})")
}

/// Method of the comparison, in sentences.
pub fn method(comparison: &Comparison) -> Vec<String> {
    let (seeds, family) = (comparison.seeds.len(), comparison.family);
    let level = number(100.0 * confidence(comparison.looks));
    let reference = comparison.reference_label();
    if seeds == 1 {
        let sentence = "One seed, the same for every variant: there is no interval and no test, and any difference may be random.";
        return [sentence.to_owned()].into_iter().chain(idle(comparison)).collect();
    }
    let constant = if is_any_constant(comparison) { "; no interval: the same in every run" } else { "" };
    let mut sentences = vec![
        format!("{seeds} seeds, the same for every variant, so that each is compared with {reference} run by run."),
        format!("Means and differences: ± {level} % interval (Student's t){constant}."),
        format!("Ratio: mean divided by that of {reference}, with the {level} % interval for pairs (Fieller)."),
        format!(
            "p: paired t test, two-sided, corrected (Holm) for {family} tests, one for each measure and variant, \
             including those that could not be made; significant below {ALPHA}."
        ),
        "Verdict without p: neither variant varies between seeds. Not tested: the runs vary, but all differences are equal. \
         Not significant after correction: the interval of the pair alone excludes equality."
            .to_owned(),
        "Effect: mean difference over the standard deviation of the differences (Cohen's d).".to_owned(),
    ];
    sentences.extend(idle(comparison));
    if comparison.looks > 1 {
        let looks = comparison.looks;
        sentences.push(format!(
            "Seeds were added until the intervals were narrow enough. {looks} interim tests were planned before the first \
             run, each with an equal part of the error probability, so that intervals and p are valid at any of them."
        ));
    }
    sentences
}

/// Measures that are zero in every run, which have no row.
fn idle(comparison: &Comparison) -> Option<String> {
    let idle = comparison.measures.iter().filter(|measured| measured.is_idle());
    let nouns: Vec<&str> = idle.map(|measured| measured.measure.noun).collect();
    (!nouns.is_empty()).then(|| format!("Zero in every run, without a row: {}.", nouns.join(", ")))
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
            1 => "1 seed does not show random variation".to_owned(),
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

/// Every test with the name of its measure and variant.
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
        format!("{word} {}: far from the others in {}; inspect such a run", seeds.join(", "), what.join(", "))
    };
    by_seeds.into_iter().map(sentence).collect()
}

/// A row for each measure that changed from its baseline by more than noise.
pub fn judgement_rows(judgements: &[Judgement]) -> TextTable {
    let right = |name| (name, Align::Right);
    let mut table = TextTable::new(&[
        ("variant", Align::Left),
        ("measure", Align::Left),
        right("baseline"),
        right("now"),
        right("change"),
        right("p"),
        right("runs then"),
        right("runs now"),
        ("verdict", Align::Left),
    ]);
    let mean = |mean: f64, unit| if mean.is_nan() { "-".to_owned() } else { with_unit(number(mean), unit) };
    for judgement in judgements.iter().filter(|judgement| judgement.change != BaselineChange::WithinNoise) {
        let Judgement { label, measure, tested, relative, change, .. } = judgement;
        let [then, now] = judgement.coverage.map(|(n, runs)| format!("{n} of {runs}"));
        table.row([
            label.clone(),
            measure.noun.to_owned(),
            mean(tested.pair.theirs, measure.unit),
            mean(tested.pair.ours, measure.unit),
            relative.map_or_else(|| "-".to_owned(), |relative| format!("{:+.2} %", 100.0 * relative)),
            tested.p.map_or_else(String::new, p_value),
            then,
            now,
            change.word().to_owned(),
        ]);
    }
    table
}

/// Verdicts against a baseline: a table of changed measures, and the number of unchanged ones.
pub fn judgement_table(judgements: &[Judgement], screen: Screen) -> String {
    let rows = judgement_rows(judgements);
    let (news, all) = (rows.rows().count(), judgements.len());
    match news {
        0 => format!("within noise: all {all} measures\n"),
        news => format!("\n{}within noise: {} further measures\n", rows.render(screen), all - news),
    }
}
