//! Runs of every variant, more and more seeds until intervals are narrow enough.

use tidegate_core::rng::Seed;
use tidegate_report::compare::{Comparison, FEWEST, Setup, Variant, looks, relative_half_width};
use tidegate_report::measures::{RUN_MEASURES, RunMeasure};
use tidegate_sim::plan::Plan;

use super::Arguments;
use super::variants::VariantPlan;
use crate::Session;
use crate::batch::{self, Wanted};
use crate::commands::threads;
use crate::exit::{Exit, Failure};
use crate::store::{Found, Store};

/// Measures whose intervals end the search, unless some are chosen.
const SEARCHED: [&str; 2] = ["goodput_mbps", "full_delay_ms"];

/// How many seeds, and when there are enough.
#[derive(Debug)]
pub(super) struct Search {
    first_seed: u64,
    /// Numbers of seeds at which is looked.
    looks: Vec<usize>,
    /// Half of an interval's width over its mean that is narrow enough.
    target: Option<f64>,
    measures: Vec<&'static RunMeasure>,
    searched: Vec<&'static RunMeasure>,
    threads: usize,
}

/// What came out.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) comparison: Comparison,
    pub(super) runs: Vec<Variant>,
    /// What is to be said of the search, if there was one.
    pub(super) note: Option<String>,
}

impl Search {
    pub(super) fn new(arguments: &Arguments, plan: &Plan) -> Self {
        let written = plan.seeds.len().max(FEWEST);
        let seeds = arguments.seeds.map_or(written, |seeds| seeds as usize);
        let looks = match arguments.until_ci {
            None => vec![seeds],
            Some(_) => looks(seeds.max(FEWEST), arguments.max_seeds as usize),
        };
        let all = || RUN_MEASURES.iter().collect();
        let usual = || RUN_MEASURES.iter().filter(|measure| SEARCHED.contains(&measure.name)).collect();
        let chosen = &arguments.measures;
        Self {
            first_seed: plan.seeds.first().map_or(1, |seed| seed.0),
            looks,
            target: arguments.until_ci,
            measures: if chosen.is_empty() { all() } else { chosen.clone() },
            searched: if chosen.is_empty() { usual() } else { chosen.clone() },
            threads: threads(arguments.threads),
        }
    }

    /// Runs what is missing and compares.
    pub(super) fn run(
        &self,
        session: &Session,
        store: &Store,
        variants: &[VariantPlan],
        reference: usize,
    ) -> Result<Outcome, Failure> {
        let mut last = None;
        for count in &self.looks {
            let seeds: Vec<Seed> = (self.first_seed..).take(*count).map(Seed).collect();
            self.fill(session, store, variants, &seeds)?;
            let runs = recall(store, variants, &seeds)?;
            let setup = Setup { reference, looks: self.looks.len() };
            let comparison = Comparison::of(&runs, &self.measures, setup);
            let wide = self.too_wide(&comparison);
            let is_enough = wide.is_empty();
            let note = self.target.map(|target| note(target, *count, &wide));
            last = Some(Outcome { comparison, runs, note });
            if is_enough {
                break;
            }
        }
        last.ok_or_else(|| Failure::usage("no seeds"))
    }

    fn fill(
        &self,
        session: &Session,
        store: &Store,
        variants: &[VariantPlan],
        seeds: &[Seed],
    ) -> Result<(), Failure> {
        let wanted = |variant: usize, seed: Seed| {
            let VariantPlan { plan, identity, .. } = &variants[variant];
            Wanted { plan, identity, seed }
        };
        // Seed by seed, so that an early end leaves pairs.
        let all = seeds.iter().flat_map(|seed| (0..variants.len()).map(|variant| (variant, *seed)));
        let all: Vec<(usize, Seed)> = all.collect();
        let is_missing = |(variant, seed): &&(usize, Seed)| {
            store.look(&variants[*variant].identity, *seed) != Found::Whole
        };
        let missing: Vec<(usize, Seed)> = all.iter().filter(is_missing).copied().collect();
        let jobs: Vec<Wanted<'_>> = missing.iter().map(|(variant, seed)| wanted(*variant, *seed)).collect();
        let filled = batch::fill(session, store, &jobs, all.len() - missing.len(), self.threads)?;
        let name = |place: usize| {
            let (variant, seed) = missing[place];
            format!("{}, seed {}", variants[variant].label, seed.0)
        };
        match batch::failures(&filled.failed, name) {
            // Means over what is left would be of other seeds than those asked for.
            Some(message) => Err(Failure { exit: Exit::Partial, message }),
            None => Ok(()),
        }
    }

    /// Names of variants and measures whose intervals are wider than asked for; none without a search.
    fn too_wide(&self, comparison: &Comparison) -> Vec<String> {
        let Some(target) = self.target else { return Vec::new() };
        let mut wide = Vec::new();
        for measured in self.searched.iter().filter_map(|measure| comparison.measured(measure.name)) {
            for (label, estimate) in comparison.labels.iter().zip(&measured.estimates) {
                if relative_half_width(estimate).is_none_or(|width| width > target) {
                    wide.push(format!("{} of {label}", measured.measure.noun));
                }
            }
        }
        wide
    }
}

fn note(target: f64, seeds: usize, wide: &[String]) -> String {
    let target = 100.0 * target;
    match wide {
        [] => format!("every interval is narrower than ± {target} % with {seeds} seeds"),
        wide => {
            format!("with {seeds} seeds, the most allowed, wider than ± {target} % are: {}", wide.join(", "))
        }
    }
}

fn recall(store: &Store, variants: &[VariantPlan], seeds: &[Seed]) -> Result<Vec<Variant>, Failure> {
    let variant = |variant: &VariantPlan| {
        let run = |seed: &Seed| store.recall(&variant.identity, *seed, &variant.plan.name, false);
        Ok(Variant {
            label: variant.label.clone(),
            runs: seeds.iter().map(run).collect::<Result<_, Failure>>()?,
        })
    };
    variants.iter().map(variant).collect()
}
