//! Saved results, with which later ones are compared: better, within noise, or worse.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tidegate_core::math::square;

use super::pair::Pair;
use super::{ALPHA, Comparison, Finding, Tested, holm_among};
use crate::measures::{Better, RunMeasure};
use crate::stats::{Estimate, mean, standard_deviation, t_two_sided};

/// Version of the file of a baseline.
const FORMAT: u32 = 2;

/// Saved results: values of every measure by variant and seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Version of its file.
    format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Version of the results' meaning by which it was made.
    pub semantics: u32,
    /// Version of the measures' definitions by which it was made, [`crate::RESULTS_SCHEMA`].
    pub results_schema: u32,
    /// Identity of the code that computed it.
    pub code: String,
    /// Variants of the saved comparison.
    pub variants: Vec<BaselineVariant>,
}

/// Header fields that every version of the file has.
#[derive(Deserialize)]
struct Version {
    format: u32,
    #[serde(rename = "variants")]
    // Required, so that other files with a `format` are no baseline.
    _variants: IgnoredAny,
}

/// One variant of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineVariant {
    /// Name of the variant.
    pub label: String,
    /// Its scenario in canonical form.
    pub scenario: String,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Values by name of the measure, one per seed; none where it was not defined.
    pub values: BTreeMap<String, Vec<Option<f64>>>,
}

/// Change of a measure against its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaselineChange {
    /// The measure improved by more than chance and the tolerance explain.
    Better,
    /// It did not change, or by no more than chance or the tolerance explains.
    WithinNoise,
    /// The measure got worse by more than chance and the tolerance explain.
    Worse,
    /// It changed, and the measure has no better direction.
    Changed,
    /// Runs that had a value have none now, such as those that no longer complete.
    Gone,
    /// No run had a value, now some have one.
    New,
}

impl BaselineChange {
    /// Word for the change in a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::WithinNoise => "within noise",
            Self::Worse => "worse",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::New => "new",
        }
    }

    /// Whether the change is a regression of the current program.
    pub fn is_regression(self) -> bool {
        matches!(self, Self::Worse | Self::Gone)
    }
}

/// One measure of one variant compared with its baseline.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Label of the variant.
    pub label: String,
    /// The measure that is compared.
    pub measure: &'static RunMeasure,
    /// Comparison of the new value with the baseline.
    pub tested: Tested,
    /// Change of the mean divided by its earlier value; `None` if that was zero.
    pub relative: Option<f64>,
    /// Whether runs of the same seeds were compared in pairs; otherwise all with all (Welch's test).
    pub is_paired: bool,
    /// Runs with a value and all runs, then and now.
    pub coverage: [(usize, usize); 2],
    /// Fraction of the runs with an earlier value that have none now.
    pub lost: f64,
    /// Result of the comparison.
    pub change: BaselineChange,
}

impl Baseline {
    /// Saves a comparison as a baseline; `scenarios` has the canonical scenario of each variant.
    pub fn of(
        comparison: &Comparison,
        scenario: &str,
        semantics: u32,
        code: &str,
        scenarios: &[String],
    ) -> Self {
        let variant = |(index, label): (usize, &String)| BaselineVariant {
            label: label.clone(),
            scenario: scenarios.get(index).cloned().unwrap_or_default(),
            seeds: comparison.seeds.clone(),
            values: comparison
                .measures
                .iter()
                .map(|measured| (measured.measure.name.to_owned(), measured.values[index].clone()))
                .collect(),
        };
        let variants = comparison.labels.iter().enumerate().map(variant).collect();
        Self {
            format: FORMAT,
            scenario: scenario.to_owned(),
            semantics,
            results_schema: crate::RESULTS_SCHEMA,
            code: code.to_owned(),
            variants,
        }
    }

    /// The text of its file.
    pub fn to_text(&self) -> String {
        // No map with keys that are not text and no failing type is in it.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Reads the text of a file whose values have the meaning of this program's, by `semantics`.
    ///
    /// # Errors
    /// The error, with line and column if it is not JSON of this shape.
    pub fn read(text: &str, semantics: u32) -> Result<Self, String> {
        // First, so that another format is reported as such and not by its unknown fields.
        let Version { format, .. } = serde_json::from_str(text).map_err(|why| why.to_string())?;
        if format != FORMAT {
            return Err(format!("format {format} is not known; this program reads format {FORMAT}"));
        }
        let read: Self = serde_json::from_str(text).map_err(|why| why.to_string())?;
        let (then, now) = ((read.semantics, read.results_schema), (semantics, crate::RESULTS_SCHEMA));
        if then != now {
            return Err(format!(
                "its values have semantics {} and results schema {}, those of this program {} and {}, so that the two \
                 cannot be compared",
                then.0, then.1, now.0, now.1
            ));
        }
        for variant in &read.variants {
            let uneven = variant.values.iter().find(|(_, values)| values.len() != variant.seeds.len());
            if let Some((name, values)) = uneven {
                let (label, seeds) = (&variant.label, variant.seeds.len());
                return Err(format!("{label}: {name} has {} values for {seeds} seeds", values.len()));
            }
        }
        Ok(read)
    }

    /// Whether the text is a baseline of this or another format.
    pub fn is_one(text: &str) -> bool {
        serde_json::from_str::<Version>(text).is_ok()
    }

    /// Sentences about variants that are only in the baseline or only among the `labels` of a comparison.
    pub fn unmatched(&self, labels: &[String]) -> Vec<String> {
        let then = self.variants.iter().map(|variant| &variant.label);
        let gone = then
            .filter(|label| !labels.contains(label))
            .map(|label| format!("{label} is only in the baseline"));
        let is_new = |label: &&String| self.variants.iter().all(|variant| variant.label != **label);
        gone.chain(labels.iter().filter(is_new).map(|label| format!("{label} is not in the baseline")))
            .collect()
    }

    /// Compares every variant of `now` that the baseline has with it; all tests are corrected together.
    ///
    /// A change counts if it is larger than `tolerance`, a fraction of the earlier mean, and chance does not
    /// explain it. Without a test only the tolerance decides. A measure is gone if a larger fraction of the
    /// runs that had it than the tolerance no longer has it.
    pub fn judge(&self, now: &Comparison, tolerance: f64) -> Vec<Judgement> {
        let mut judgements = Vec::new();
        for (index, label) in now.labels.iter().enumerate() {
            let Some(then) = self.variants.iter().find(|variant| variant.label == *label) else { continue };
            for measured in &now.measures {
                let Some(values) = then.values.get(measured.measure.name) else { continue };
                let before = by_seed(&then.seeds, values);
                let ours = by_seed(&now.seeds, &measured.values[index]);
                let Some(judgement) = beside(label, measured.measure, &ours, &before) else { continue };
                let coverage = [(before.len(), then.seeds.len()), (ours.len(), now.seeds.len())];
                let lost = lost(&before, &ours, &now.seeds);
                judgements.push(Judgement { coverage, lost, ..judgement });
            }
        }
        decide(&mut judgements, tolerance);
        judgements
    }
}

type BySeed = BTreeMap<u64, f64>;

fn by_seed(seeds: &[u64], values: &[Option<f64>]) -> BySeed {
    let pairs = seeds.iter().zip(values).filter_map(|(seed, value)| Some((*seed, (*value)?)));
    pairs.filter(|(_, value)| value.is_finite()).collect()
}

/// Fraction of the runs with a value `then` that have none `now`; 0 without common seeds, unless no run has a
/// value.
fn lost(then: &BySeed, now: &BySeed, seeds: &[u64]) -> f64 {
    let again = || seeds.iter().filter(|seed| then.contains_key(seed));
    match (then.len(), now.len()) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        _ => again().filter(|seed| !now.contains_key(seed)).count() as f64 / again().count().max(1) as f64,
    }
}

/// One measure now and then, not yet judged; `None` if neither has a value.
fn beside(label: &str, measure: &'static RunMeasure, now: &BySeed, then: &BySeed) -> Option<Judgement> {
    if now.is_empty() && then.is_empty() {
        return None;
    }
    let common: Vec<(f64, f64)> =
        // Seeds of one side only cannot be paired.
        now.iter().filter_map(|(seed, value)| Some((*value, *then.get(seed)?))).collect();
    let is_alone = now.is_empty() || then.is_empty();
    let is_paired =
        // A paired test needs two pairs; with fewer, pairing would leave out runs for nothing.
        is_alone || common.len() >= 2 || (common.len() == now.len() && common.len() == then.len());
    let pair = if is_paired {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = common.iter().copied().unzip();
        let pair = Pair::of(&ours, &theirs, 1.0 - ALPHA);
        // The side that has values is shown, although there is no pair.
        if is_alone { Pair { ours: all_mean(now), theirs: all_mean(then), ..pair } } else { pair }
    } else {
        unpaired(&now.values().copied().collect::<Vec<f64>>(), &then.values().copied().collect::<Vec<f64>>())
    };
    let relative = (!is_alone && pair.theirs != 0.0).then(|| (pair.ours - pair.theirs) / pair.theirs);
    Some(Judgement {
        label: label.to_owned(),
        measure,
        tested: Tested {
            p: pair.p,
            finding: Finding::Untested,
            left_out: now.len().saturating_sub(if is_paired { common.len() } else { now.len() }),
            outliers: Vec::new(),
            pair,
        },
        relative,
        is_paired,
        coverage: [(0, 0); 2],
        lost: 0.0,
        change: BaselineChange::WithinNoise,
    })
}

fn all_mean(values: &BySeed) -> f64 {
    mean(&values.values().copied().collect::<Vec<f64>>())
}

/// Two sets of runs without common seeds: means, and Welch's test (B. L. Welch, Biometrika 34, 1947).
fn unpaired(ours: &[f64], theirs: &[f64]) -> Pair {
    let means = Pair::of(&[mean(ours)], &[mean(theirs)], 1.0 - ALPHA);
    let varies = |values: &[f64]| Estimate::of(values).has_interval();
    let part = |values: &[f64]| match varies(values) {
        true => square(standard_deviation(values)) / values.len() as f64,
        false => 0.0,
    };
    let (our_part, their_part) = (part(ours), part(theirs));
    let error = our_part + their_part;
    // Welch's t needs a variance of each side, and divides by their sum.
    if ours.len() < 2 || theirs.len() < 2 || error <= 0.0 {
        return means;
    }
    let freedom = square(error)
        / (square(our_part) / (ours.len() - 1) as f64 + square(their_part) / (theirs.len() - 1) as f64);
    let t = (mean(ours) - mean(theirs)) / error.sqrt();
    Pair { n: ours.len().min(theirs.len()), p: Some(t_two_sided(t, freedom)), ..means }
}

fn decide(judgements: &mut [Judgement], tolerance: f64) {
    let raw: Vec<Option<f64>> = judgements.iter().map(|judgement| judgement.tested.pair.p).collect();
    let corrected = holm_among(&raw, judgements.len());
    for (judgement, corrected) in judgements.iter_mut().zip(corrected) {
        let tested = &mut judgement.tested;
        tested.p = corrected;
        tested.finding = tested.pair.finding(tested.p);
        let is_large = match judgement.relative {
            Some(relative) => relative.abs() > tolerance,
            None => tested.pair.ours != tested.pair.theirs,
        };
        // Without a test, as for one run each, the tolerance separates a change from noise.
        let is_sound = match tested.finding {
            Finding::Significant | Finding::Fixed | Finding::Coinciding => true,
            Finding::Untested => tested.pair.p.is_none(),
            Finding::Equal | Finding::Unclear => false,
        };
        judgement.change = match judgement.measure.better {
            // Before the means: those of the remaining runs may seem better.
            _ if judgement.lost > tolerance => BaselineChange::Gone,
            _ if judgement.coverage[0].0 == 0 => BaselineChange::New,
            _ if !is_large || !is_sound => BaselineChange::WithinNoise,
            Better::Neither => BaselineChange::Changed,
            Better::More if tested.pair.ours > tested.pair.theirs => BaselineChange::Better,
            Better::Less if tested.pair.ours < tested.pair.theirs => BaselineChange::Better,
            Better::More | Better::Less => BaselineChange::Worse,
        };
    }
}
