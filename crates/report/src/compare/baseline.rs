//! Results that were put aside, to hold later ones against: better, within noise, or worse.

use std::collections::BTreeMap;

use super::pair::Pair;
use super::{ALPHA, Comparison, Finding, Tested, holm};
use crate::measures::{Better, RunMeasure, find};
use crate::stats::{mean, standard_deviation, t_two_sided};

/// Results that were put aside: values of every measure by variant and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// Name of the scenario.
    pub scenario: String,
    /// Version of the results' meaning by which it was made.
    pub semantics: u32,
    /// Its variants.
    pub variants: Vec<BaselineVariant>,
}

/// One variant of a baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BaselineVariant {
    /// What it is called.
    pub label: String,
    /// What tells its scenario from others.
    pub identity: String,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Values by name of the measure, one per seed; NaN where it was not defined.
    pub values: BTreeMap<String, Vec<f64>>,
}

/// How a measure stands to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It improved.
    Better,
    /// It did not change, or by no more than chance or the tolerance explains.
    WithinNoise,
    /// It got worse.
    Worse,
    /// It changed, and nothing says which way is better.
    Changed,
}

impl Change {
    /// In a sentence.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::WithinNoise => "within noise",
            Self::Worse => "worse",
            Self::Changed => "changed",
        }
    }
}

/// One measure of one variant beside its baseline.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The variant.
    pub label: String,
    /// The measure.
    pub measure: &'static RunMeasure,
    /// Now beside then.
    pub tested: Tested,
    /// Change of the mean over what it was; `None` where it was zero.
    pub relative: Option<f64>,
    /// Whether the same seeds were compared one by one, else all with all (Welch's test).
    pub is_paired: bool,
    /// The verdict.
    pub change: Change,
}

impl Baseline {
    /// Puts a comparison aside; `identities` has one for each variant.
    pub fn of(comparison: &Comparison, scenario: &str, semantics: u32, identities: &[String]) -> Self {
        let variant = |(index, label): (usize, &String)| BaselineVariant {
            label: label.clone(),
            identity: identities.get(index).cloned().unwrap_or_default(),
            seeds: comparison.seeds.clone(),
            values: comparison
                .measures
                .iter()
                .map(|measured| {
                    let values = measured.values[index].iter().map(|value| value.unwrap_or(f64::NAN));
                    (measured.measure.name.to_owned(), values.collect())
                })
                .collect(),
        };
        let variants = comparison.labels.iter().enumerate().map(variant).collect();
        Self { scenario: scenario.to_owned(), semantics, variants }
    }

    /// Holds every variant of `now` that the baseline has against it; all tests are corrected together.
    ///
    /// A change counts when it is larger than `tolerance`, a part of the earlier mean, and chance does not
    /// explain it. Where nothing varies, the tolerance alone decides.
    pub fn judge(&self, now: &Comparison, tolerance: f64) -> Vec<Judgement> {
        let mut judgements = Vec::new();
        for (index, label) in now.labels.iter().enumerate() {
            let Some(then) = self.variants.iter().find(|variant| variant.label == *label) else { continue };
            for measured in &now.measures {
                let before = then.values.get(measured.measure.name);
                let before =
                    before.map(|values| then.seeds.iter().copied().zip(values.iter().copied()).collect());
                let ours = now.seeds.iter().copied().zip(measured.values[index].iter().copied());
                let ours = ours.filter_map(|(seed, value)| Some((seed, value?))).collect();
                judgements.extend(before.and_then(|before| beside(label, measured.measure, &ours, &before)));
            }
        }
        decide(&mut judgements, tolerance);
        judgements
    }
}

type BySeed = Vec<(u64, f64)>;

/// One measure now and then, not yet judged; `None` if one of both has no value.
fn beside(label: &str, measure: &'static RunMeasure, now: &BySeed, then: &BySeed) -> Option<Judgement> {
    let then: BTreeMap<u64, f64> = then.iter().copied().filter(|(_, value)| value.is_finite()).collect();
    if now.is_empty() || then.is_empty() || find(measure.name).is_none() {
        return None;
    }
    let common: Vec<(f64, f64)> =
        now.iter().filter_map(|(seed, value)| Some((*value, *then.get(seed)?))).collect();
    let is_paired = common.len() >= 2 || (common.len() == now.len() && common.len() == then.len());
    let pair = if is_paired {
        let (ours, theirs): (Vec<f64>, Vec<f64>) = common.iter().copied().unzip();
        Pair::of(&ours, &theirs, 1.0 - ALPHA)
    } else {
        let ours: Vec<f64> = now.iter().map(|(_, value)| *value).collect();
        unpaired(&ours, &then.values().copied().collect::<Vec<f64>>())
    };
    let relative = (pair.theirs != 0.0).then(|| (pair.ours - pair.theirs) / pair.theirs);
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
        change: Change::WithinNoise,
    })
}

/// Two sets of runs without common seeds: means, and Welch's test (B. L. Welch, Biometrika 34, 1947).
fn unpaired(ours: &[f64], theirs: &[f64]) -> Pair {
    let means = Pair::of(&[mean(ours)], &[mean(theirs)], 1.0 - ALPHA);
    let part = |values: &[f64]| standard_deviation(values).powi(2) / values.len() as f64;
    let (our_part, their_part) = (part(ours), part(theirs));
    let error = our_part + their_part;
    if !(error > 0.0) {
        return means;
    }
    let freedom = error.powi(2)
        / (our_part.powi(2) / (ours.len() - 1) as f64 + their_part.powi(2) / (theirs.len() - 1) as f64);
    let t = (mean(ours) - mean(theirs)) / error.sqrt();
    Pair { n: ours.len().min(theirs.len()), p: Some(t_two_sided(t, freedom)), ..means }
}

fn decide(judgements: &mut [Judgement], tolerance: f64) {
    let raw: Vec<f64> = judgements.iter().filter_map(|judgement| judgement.tested.pair.p).collect();
    let mut corrected = holm(&raw).into_iter();
    for judgement in judgements {
        let tested = &mut judgement.tested;
        tested.p = tested.pair.p.and_then(|_| corrected.next());
        tested.finding = tested.pair.finding(tested.p);
        let is_large = match judgement.relative {
            Some(relative) => relative.abs() > tolerance,
            None => tested.pair.ours != tested.pair.theirs,
        };
        // Two results that do not vary differ or not; one run beside another cannot tell noise.
        let is_sound = matches!(tested.finding, Finding::Significant | Finding::Fixed)
            || (tested.finding == Finding::Untested && tested.pair.p.is_none());
        judgement.change = match judgement.measure.better {
            _ if !is_large || !is_sound => Change::WithinNoise,
            Better::Neither => Change::Changed,
            Better::More if tested.pair.ours > tested.pair.theirs => Change::Better,
            Better::Less if tested.pair.ours < tested.pair.theirs => Change::Better,
            Better::More | Better::Less => Change::Worse,
        };
    }
}
