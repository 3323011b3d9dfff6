//! Runs of every variant, with more seeds at each look until intervals are narrow enough.

use tidegate_core::rng::Seed;
use tidegate_results::compare::{Comparison, FEWEST, Setup, Variant, looks, relative_half_width};
use tidegate_results::measures::{RUN_MEASURES, RunMeasure};
use tidegate_results::stats::Estimate;
use tidegate_results::text::counted;
use tidegate_sim::plan::Plan;

use super::Arguments;
use super::variants::VariantPlan;
use crate::Session;
use crate::batch::{self, Required};
use crate::commands::threads;
use crate::exit::{Exit, Failure};
use crate::store::{Found, Store};

/// Measures whose intervals end the search, unless others are selected.
const SEARCHED: [&str; 2] = ["goodput_mbps", "full_delay_ms"];

/// Search for the number of seeds, with its stop condition.
#[derive(Debug)]
pub(super) struct Search {
    first_seed: u64,
    /// Numbers of seeds after which the intervals are examined.
    looks: Vec<usize>,
    /// Maximum half-width of an interval relative to its mean.
    target: Option<f64>,
    /// Reason why the number of seeds differs from the requested one; empty if it does not.
    remark: String,
    measures: Vec<&'static RunMeasure>,
    searched: Vec<&'static RunMeasure>,
    threads: usize,
}

/// Result of a search.
#[derive(Debug)]
pub(super) struct SearchResult {
    /// Comparison of the variants in all runs.
    pub(super) comparison: Comparison,
    /// Runs of the variants, without samples.
    pub(super) runs: Vec<Variant>,
    /// Note on the search, if there was one.
    pub(super) note: Option<String>,
}

impl Search {
    /// Takes the numbers of seeds from the command line and the plan.
    pub(super) fn new(arguments: &Arguments, plan: &Plan) -> Self {
        let written = plan.seeds.len().max(FEWEST);
        let seeds = arguments.seeds.map_or(written, |seeds| seeds as usize);
        let max = arguments.max_seeds as usize;
        let looks = match arguments.until_ci {
            None => vec![seeds],
            Some(_) => looks(seeds.max(FEWEST), max),
        };
        let has_end = plan.flows.iter().any(|flow| flow.demand.has_end());
        // Without a finite flow no run has a completion time, and its rows would be empty.
        let all =
            || RUN_MEASURES.iter().filter(|measure| has_end || measure.name != "completion_s").collect();
        let usual = || RUN_MEASURES.iter().filter(|measure| SEARCHED.contains(&measure.name)).collect();
        let chosen = &arguments.measures;
        Self {
            first_seed: plan.seeds.first().map_or(1, |seed| seed.0),
            looks,
            target: arguments.until_ci,
            remark: arguments.until_ci.map_or_else(String::new, |_| remark(arguments.seeds, max)),
            measures: if chosen.is_empty() { all() } else { chosen.clone() },
            searched: if chosen.is_empty() { usual() } else { chosen.clone() },
            threads: threads(arguments.threads),
        }
    }

    /// Runs the missing runs and compares the variants.
    pub(super) fn run(
        &self,
        session: &Session,
        store: &Store,
        variants: &[VariantPlan],
        reference: usize,
    ) -> Result<SearchResult, Failure> {
        let mut last = None;
        for count in &self.looks {
            let seeds: Vec<Seed> = (self.first_seed..).take(*count).map(Seed).collect();
            self.fill(session, store, variants, &seeds)?;
            let runs = recall(store, variants, &seeds)?;
            // Every look is a further chance to stop on a narrow interval by luck, for which the confidence
            // is raised.
            let setup = Setup { reference, looks: self.looks.len() };
            let comparison = Comparison::of(&runs, &self.measures, setup);
            let open = self.target.map(|target| self.open(&comparison, target));
            let note = open.as_ref().map(|open| open.note(*count) + &self.remark);
            last = Some(SearchResult { comparison, runs, note });
            if open.is_none_or(|open| open.is_empty()) {
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
        let required = |variant: usize, seed: Seed| {
            let VariantPlan { plan, identity, .. } = &variants[variant];
            Required { plan, identity, seed }
        };
        // Seed by seed: after an interruption, most stored seeds have all variants, and comparisons are
        // paired.
        let all = seeds.iter().flat_map(|seed| (0..variants.len()).map(|variant| (variant, *seed)));
        let all: Vec<(usize, Seed)> = all.collect();
        let is_missing = |(variant, seed): &&(usize, Seed)| {
            store.look(&variants[*variant].identity, *seed) != Found::Whole
        };
        let missing: Vec<(usize, Seed)> = all.iter().filter(is_missing).copied().collect();
        let jobs: Vec<Required<'_>> =
            missing.iter().map(|(variant, seed)| required(*variant, *seed)).collect();
        let filled = batch::fill(session, store, &jobs, all.len() - missing.len(), self.threads)?;
        let name = |place: usize| {
            let (variant, seed) = missing[place];
            format!("{}, seed {}", variants[variant].label, seed.0)
        };
        match batch::failures(&filled.failed, name) {
            // Means over the remaining runs would be over other seeds than those requested.
            Some(message) => Err(Failure { exit: Exit::Partial, message }),
            None => Ok(()),
        }
    }

    /// Conditions that are not yet met.
    fn open(&self, comparison: &Comparison, target: f64) -> Open {
        let mut open = Open { target, wide: Vec::new(), unmeasured: Vec::new() };
        for measured in self.searched.iter().filter_map(|measure| comparison.measured(measure.name)) {
            for (index, label) in comparison.labels.iter().enumerate() {
                let estimate = &measured.estimates[index];
                let what = || format!("{} of {label}", measured.measure.noun);
                if estimate.n == 0 {
                    open.unmeasured.push(what());
                // Counted as open: a few equal values of a random run do not prove a width of zero.
                } else if is_chance(comparison, index, estimate)
                    || relative_half_width(estimate).is_none_or(|width| width > target)
                {
                    open.wide.push(what());
                }
            }
        }
        open
    }
}

/// Whether a few values are equal by chance: other measures of the variant vary.
fn is_chance(comparison: &Comparison, variant: usize, estimate: &Estimate) -> bool {
    let varies = || comparison.measures.iter().any(|measured| measured.estimates[variant].has_interval());
    estimate.deterministic && estimate.n < FEWEST && varies()
}

/// Variants and measures that need more seeds.
#[derive(Debug)]
struct Open {
    /// Maximum half-width of an interval relative to its mean.
    target: f64,
    /// Measures whose intervals are wider than the target.
    wide: Vec<String>,
    /// Measures that no run has.
    unmeasured: Vec<String>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.wide.is_empty() && self.unmeasured.is_empty()
    }

    fn note(&self, seeds: usize) -> String {
        let target = 100.0 * self.target;
        let with = counted(seeds, "seed");
        if self.is_empty() {
            return format!("every interval is narrower than ± {target} % with {with}");
        }
        let part = |what: &str, of: &[String]| (!of.is_empty()).then(|| format!("{what}: {}", of.join(", ")));
        let parts = [
            part("without a value in any run are", &self.unmeasured),
            part(&format!("wider than ± {target} % are"), &self.wide),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        format!("with {with}, the maximum allowed, {}", parts.join("; "))
    }
}

/// Remark if a search uses another number of seeds than `--seeds` requests.
fn remark(requested: Option<u64>, max: usize) -> String {
    match requested.map(|seeds| seeds as usize) {
        Some(seeds) if seeds > max => format!(" (--max-seeds {max} counts, not --seeds {seeds})"),
        Some(seeds) if seeds < FEWEST && seeds < max => {
            format!(" (a search begins with {} seeds, not with --seeds {seeds})", FEWEST.min(max))
        }
        _ => String::new(),
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
