//! Comparison of variants of one scenario with the same seeds: differences, their size, and whether chance
//! explains it.

mod baseline;
mod coverage;
mod holm;
mod json;
mod pair;
mod sequential;
mod table;

pub use baseline::{Baseline, BaselineChange, BaselineVariant, Judgement};
pub use holm::{holm, holm_among};
pub use json::{comparison_json, judgement_json};
pub use pair::{Finding, Pair, Ratio, outliers};
pub use sequential::{FEWEST, confidence, looks, relative_half_width};
pub use table::{
    comparison_rows, comparison_table, judgement_rows, judgement_table, method, pair_facts, warnings,
};

use tidegate_core::observe::records::RunRecord;

use crate::measures::{Better, RunMeasure};
use crate::stats::{Estimate, mean, paired_differences};

/// Chance of any false finding in a family of tests.
pub const ALPHA: f64 = 0.05;

/// Runs of one variant, one per seed.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name of the variant.
    pub label: String,
    /// Its runs; all variants have the same seeds in the same order.
    pub runs: Vec<RunRecord>,
}

/// Variants and parameters of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Index of the variant that the others are compared with.
    pub reference: usize,
    /// Maximum number of looks at the results, 1 unless seeds are added until they suffice.
    pub looks: usize,
}

/// Comparison of several variants.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the variants.
    pub labels: Vec<String>,
    /// Index of the variant that the others are compared with.
    pub reference: usize,
    /// Seeds, the same for all.
    pub seeds: Vec<u64>,
    /// Number of looks at the results that was fixed in advance.
    pub looks: usize,
    /// Number of tests corrected together: one for each measure and each variant but the reference, whether
    /// or not it was possible.
    pub family: usize,
    /// Number of runs of each variant in which no Data arrived.
    pub without_data: Vec<usize>,
    /// One for each measure.
    pub measures: Vec<Measured>,
}

/// One measure of all variants.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The measure of this row.
    pub measure: &'static RunMeasure,
    /// Its values per variant and seed; `None` where it is not defined.
    pub values: Vec<Vec<Option<f64>>>,
    /// Mean of each variant over the seeds in which it is defined.
    pub estimates: Vec<Estimate>,
    /// Each variant compared with the reference; `None` for the reference itself, and without common seeds.
    pub pairs: Vec<Option<Tested>>,
}

/// A variant compared with the reference.
#[derive(Clone, Debug)]
pub struct Tested {
    /// Difference, ratio and test.
    pub pair: Pair,
    /// Probability, corrected for the whole family.
    pub p: Option<f64>,
    /// Conclusion from the test.
    pub finding: Finding,
    /// Number of seeds in which one of both has no value.
    pub left_out: usize,
    /// Seeds whose difference is an outlier among the seeds.
    pub outliers: Vec<u64>,
}

impl Comparison {
    /// Compares every variant with the reference by each of `measures`, including those without any value.
    ///
    /// # Panics
    /// When there is no such reference.
    pub fn of(variants: &[Variant], measures: &[&'static RunMeasure], setup: Setup) -> Self {
        let confidence = confidence(setup.looks);
        let measured =
            measures.iter().map(|measure| Measured::of(variants, measure, setup.reference, confidence));
        let is_silent = |run: &&RunRecord| {
            // A run without flows has no Data to miss.
            !run.flows.is_empty() && run.flows.iter().all(|flow| flow.delivered_payload.get() == 0)
        };
        let without_data = |variant: &Variant| variant.runs.iter().filter(is_silent).count();
        let mut comparison = Self {
            labels: variants.iter().map(|variant| variant.label.clone()).collect(),
            reference: setup.reference,
            seeds: variants[setup.reference].runs.iter().map(|run| run.seed).collect(),
            looks: setup.looks,
            family: 0,
            without_data: variants.iter().map(without_data).collect(),
            measures: measured.collect(),
        };
        comparison.correct();
        comparison
    }

    /// Corrects the p values of all tests together and draws the conclusions.
    fn correct(&mut self) {
        let looks = self.looks as f64;
        self.family = self.measures.len() * self.labels.len().saturating_sub(1);
        let mut tested: Vec<&mut Tested> =
            self.measures.iter_mut().flat_map(|measured| &mut measured.pairs).flatten().collect();
        let raw: Vec<Option<f64>> = tested.iter().map(|tested| tested.pair.p).collect();
        for (tested, corrected) in tested.iter_mut().zip(holm_among(&raw, self.family)) {
            // Each look was allowed its part of the error.
            tested.p = corrected.map(|p| (p * looks).min(1.0));
            tested.finding = tested.pair.finding(tested.p);
        }
    }

    /// The measure `name`, if it is compared.
    pub fn measured(&self, name: &str) -> Option<&Measured> {
        self.measures.iter().find(|measured| measured.measure.name == name)
    }

    /// Name of the variant that the others are compared with.
    pub fn reference_label(&self) -> &str {
        &self.labels[self.reference]
    }
}

impl Measured {
    /// Whether it is zero in every run and this is unremarkable, so that its rows are left out.
    fn is_idle(&self) -> bool {
        // No goodput at all is a result; no drops at all is the normal case.
        self.measure.better != Better::More && self.values.iter().flatten().all(|value| *value == Some(0.0))
    }

    fn of(variants: &[Variant], measure: &'static RunMeasure, reference: usize, confidence: f64) -> Self {
        let values: Vec<Vec<Option<f64>>> = variants
            .iter()
            .map(|variant| variant.runs.iter().map(|run| (measure.of)(run)).collect())
            .collect();
        let seeds: Vec<u64> = variants[reference].runs.iter().map(|run| run.seed).collect();
        let estimate = |values: &Vec<Option<f64>>| {
            Estimate::at(&values.iter().copied().flatten().collect::<Vec<f64>>(), confidence)
        };
        let pair = |(index, ours): (usize, &Vec<Option<f64>>)| {
            (index != reference).then(|| Tested::of(ours, &values[reference], &seeds, confidence)).flatten()
        };
        Self {
            measure,
            estimates: values.iter().map(estimate).collect(),
            pairs: values.iter().enumerate().map(pair).collect(),
            values: values.clone(),
        }
    }
}

impl Tested {
    /// Whether the pair's own test finds a difference that does not remain after the correction for all
    /// tests: its interval excludes equality, but the finding is not significant.
    fn is_undone_by_correction(&self) -> bool {
        let difference = &self.pair.difference;
        self.finding == Finding::Unclear
            && difference.has_interval()
            && (difference.low() > 0.0 || difference.high() < 0.0)
    }

    /// Conclusion of the test in a few words, for a table.
    pub fn verdict(&self, better: Better) -> &'static str {
        let (is_more, is_less) = (self.pair.ours > self.pair.theirs, self.pair.ours < self.pair.theirs);
        let is_better = match better {
            Better::More if is_more || is_less => Some(is_more),
            Better::Less if is_more || is_less => Some(is_less),
            _ => None,
        };
        match (self.finding, is_better) {
            (Finding::Equal, _) => "equal",
            (Finding::Unclear, _) if self.is_undone_by_correction() => "not significant after correction",
            (Finding::Unclear, _) => "not significant",
            (Finding::Untested, _) => "not tested: one run",
            (Finding::Coinciding, _) => "not tested: equal differences",
            (Finding::Significant, Some(true)) => "better",
            (Finding::Significant, Some(false)) => "worse",
            (Finding::Significant, None) => "differs",
            (Finding::Fixed, Some(true)) => "better in every run",
            (Finding::Fixed, Some(false)) => "worse in every run",
            (Finding::Fixed, None) => "differs in every run",
        }
    }

    fn of(ours: &[Option<f64>], theirs: &[Option<f64>], seeds: &[u64], confidence: f64) -> Option<Self> {
        let common: Vec<(f64, f64, u64)> = ours
            .iter()
            .zip(theirs)
            .zip(seeds)
            .filter_map(|((our, their), seed)| Some(((*our)?, (*their)?, *seed)))
            .collect();
        if common.is_empty() {
            return None;
        }
        let ours: Vec<f64> = common.iter().map(|(our, ..)| *our).collect();
        let theirs: Vec<f64> = common.iter().map(|(_, their, _)| *their).collect();
        let differences = paired_differences(&ours, &theirs);
        let far = outliers(&differences, mean(&ours).abs().max(mean(&theirs).abs()));
        let mut pair = Pair::of(&ours, &theirs, confidence);
        // Whether a variant varies is not known from a part of its runs.
        pair.is_constant &= common.len() == seeds.len();
        Some(Self {
            p: pair.p,
            finding: pair.finding(pair.p),
            left_out: seeds.len() - common.len(),
            outliers: far.into_iter().map(|place| common[place].2).collect(),
            pair,
        })
    }
}

#[cfg(test)]
mod tests;
