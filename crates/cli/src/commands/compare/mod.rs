//! `tidegate compare`: runs variants of one scenario with the same seeds and reports differences with their
//! significance.

mod baseline;
mod limits;
mod output;
mod search;
mod variants;

use std::num::NonZero;
use std::path::PathBuf;

use tidegate_results::compare::Baseline;
use tidegate_results::measures::{self, RUN_MEASURES, RunMeasure};
use tidegate_results::tables::RunContext;
use tidegate_sim::plan::Plan;

use super::{Overrides, note_replaced, read_plan, refuse_incomplete};
use crate::Session;
use crate::command_line::{quoted, word};
use crate::exit::{Exit, Failure, Outcome};
use crate::kept_results::KeptResults;
use crate::parameter_grid::{self, Axis};
use crate::results::context;
use crate::store::Store;
use search::Search;
use variants::VariantPlan;

/// Arguments of the command `tidegate compare`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Scenario file in TOML format.
    scenario: PathBuf,
    #[command(flatten)]
    overrides: Overrides,
    /// Whole schemes to compare: each fills all of its roles, overriding the scenario, and router parts of other
    /// schemes are removed; a note lists them.
    #[arg(long, value_name = "A,B,...", conflicts_with = "vary")]
    schemes: Option<String>,
    /// Consumers or TCP senders to compare: only these are replaced; routers and queues do not change.
    #[arg(long, value_name = "A,B,...", conflicts_with_all = ["vary", "schemes"])]
    consumers: Option<String>,
    /// Change the scheme of this flow only; may be given several times. With --schemes, routers and queues get the
    /// parts of the scheme in addition to those of other flows' schemes.
    #[arg(long, value_name = "NAME")]
    flow: Vec<String>,
    /// Compare even if a role lacks a role that it depends on, such as a consumer without its router part.
    #[arg(long)]
    allow_incomplete: bool,
    /// Key of the scenario and the values to compare, such as `topology.bottleneck.queue.limit=20pkt,100pkt`.
    #[arg(long, value_name = "KEY=V1,V2,...", value_parser = |text: &str| parameter_grid::parse_axis("--vary", text))]
    vary: Option<Axis>,
    /// Variant with which the others are compared; the first by default.
    #[arg(long, value_name = "VARIANT")]
    reference: Option<String>,
    /// Number of seeds; by default the scenario's, at least 10.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: Option<u64>,
    /// Measures to compare; all by default.
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', value_parser = measure)]
    measures: Vec<&'static RunMeasure>,
    /// Add seeds until the half-width of each mean's confidence interval is below this fraction of the mean, such as
    /// 2%, for the measures of --measures, or for goodput and delay by default.
    #[arg(long, value_name = "PART", value_parser = part_above_zero)]
    until_ci: Option<f64>,
    /// Maximum number of seeds with --until-ci.
    #[arg(long, value_name = "N", default_value_t = 100, requires = "until_ci", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    max_seeds: u64,
    /// Save the results as a baseline with this name, or in this file if it ends in .json.
    #[arg(long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Compare the results with a saved baseline; exit code 3 if a measure is worse or missing.
    #[arg(long, value_name = "NAME")]
    baseline: Option<String>,
    /// Maximum relative change of a measure that is not a regression, such as 1%.
    #[arg(long, value_name = "PART", default_value = "0%", value_parser = part, requires = "baseline")]
    tolerance: f64,
    /// Directory under which results are written.
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    out: PathBuf,
    /// Directory of finished runs; `store` in the directory of results by default.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Number of threads; one per core by default. Results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
}

fn measure(text: &str) -> Result<&'static RunMeasure, String> {
    measures::find(text.trim()).ok_or_else(|| {
        let known: Vec<&str> = RUN_MEASURES.iter().map(|measure| measure.name).collect();
        format!("measure {text:?} is not known; known: {}", known.join(", "))
    })
}

/// Parses a fraction, such as `2%` or `0.02`.
fn part(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text:?} is not a fraction; write it like 2% or 0.02");
    let text = text.trim();
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    let part = number.trim().parse::<f64>().map_err(|_| wrong())? * scale;
    if (0.0..=1.0).contains(&part) { Ok(part) } else { Err(wrong()) }
}

/// As [`part`], above 0: no interval of results that vary is narrower.
fn part_above_zero(text: &str) -> Result<f64, String> {
    let part = part(text)?;
    if part > 0.0 { Ok(part) } else { Err(format!("{text:?} is not above 0; write it like 2% or 0.02")) }
}

impl Arguments {
    fn store(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(|| self.out.join("store"))
    }

    /// Refuses a measure that is listed twice: Holm's correction would count it as two.
    fn refuse_repeated_measure(&self) -> Result<(), Failure> {
        let mut names = self.measures.iter().map(|measure| measure.name).enumerate();
        let is_earlier = |(place, name): &(usize, &str)| {
            self.measures[..*place].iter().any(|measure| measure.name == *name)
        };
        match names.find(is_earlier) {
            Some((_, name)) => Err(Failure::usage(format!("--measures: {name:?} is listed twice"))),
            None => Ok(()),
        }
    }

    /// The command that makes the same results again.
    fn command_line(&self) -> String {
        let mut line = format!("tidegate compare {}", word(&self.scenario.display().to_string()));
        // Options without influence on the results, such as --threads, are omitted.
        let mut add = |option: &str, value: &str| line.push_str(&format!(" {option} {}", quoted(value)));
        self.overrides.set.iter().for_each(|(key, value)| add("--set", &format!("{key}={value}")));
        self.schemes.iter().for_each(|schemes| add("--schemes", schemes));
        self.consumers.iter().for_each(|schemes| add("--consumers", schemes));
        self.flow.iter().for_each(|flow| add("--flow", flow));
        self.vary.iter().for_each(|axis| add("--vary", &axis.written()));
        self.reference.iter().for_each(|reference| add("--reference", reference));
        self.seeds.iter().for_each(|seeds| add("--seeds", &seeds.to_string()));
        if !self.measures.is_empty() {
            let names: Vec<&str> = self.measures.iter().map(|measure| measure.name).collect();
            add("--measures", &names.join(","));
        }
        if let Some(part) = self.until_ci {
            add("--until-ci", &part.to_string());
            add("--max-seeds", &self.max_seeds.to_string());
        }
        if let Some(name) = &self.baseline {
            add("--baseline", name);
            add("--tolerance", &self.tolerance.to_string());
        }
        self.store.iter().for_each(|store| add("--store", &store.display().to_string()));
        if self.allow_incomplete {
            line.push_str(" --allow-incomplete");
        }
        line
    }
}

/// A comparison that can be made.
struct Prepared {
    base: Plan,
    variants: Vec<VariantPlan>,
    /// Index of the variant with which the others are compared.
    reference: usize,
    /// Baseline that the results are compared with, if requested.
    baseline: Option<Baseline>,
    /// File to which the results are saved as a baseline.
    saved: Option<PathBuf>,
}

impl Prepared {
    /// Reads scenario, variants and baseline, so that errors in them are reported before the first run.
    fn read(session: &Session, arguments: &Arguments) -> Result<Self, Failure> {
        arguments.refuse_repeated_measure()?;
        let has_baseline = arguments.baseline.is_some() || arguments.save_baseline.is_some();
        let base = read_plan(session, &arguments.scenario, &arguments.overrides.set)?;
        let variants = arguments.variants(session, &base, has_baseline)?;
        if !arguments.allow_incomplete {
            refuse_incomplete(variants.iter().map(|variant| (variant.label.clone(), &variant.plan)))?;
        }
        let reference = match &arguments.reference {
            None => 0,
            Some(label) => variants.iter().position(|variant| variant.label == *label).ok_or_else(|| {
                let known: Vec<&str> = variants.iter().map(|variant| variant.label.as_str()).collect();
                Failure::usage(format!(
                    "--reference {label:?} is not a variant; variants: {}",
                    known.join(", ")
                ))
            })?,
        };
        let held = arguments.baseline.as_ref();
        let baseline = held.map(|name| baseline::read(&arguments.out, name, &variants)).transpose()?;
        let saved = arguments.save_baseline.as_ref();
        let saved = saved.map(|name| baseline::to_save(&arguments.out, name)).transpose()?;
        Ok(Self { base, variants, reference, baseline, saved })
    }

    fn find(
        &self,
        session: &Session,
        arguments: &Arguments,
        store: &Store,
    ) -> Result<search::SearchResult, Failure> {
        let search = Search::new(arguments, &self.variants[self.reference].plan);
        let mut found = search.run(session, store, &self.variants, self.reference)?;
        found.note = limits::with_note(found.note.take(), &self.variants, &found.runs);
        Ok(found)
    }

    fn hold(&self, found: &search::SearchResult, tolerance: f64) -> Option<output::Held<'_>> {
        self.baseline.as_ref().map(|baseline| output::Held {
            judgements: baseline.judge(&found.comparison, tolerance),
            code: &baseline.code,
            unmatched: baseline.unmatched(&found.comparison.labels),
        })
    }

    fn output<'a>(
        &'a self,
        found: &'a search::SearchResult,
        held: Option<output::Held<'a>>,
        context: RunContext,
    ) -> output::ComparisonOutput<'a> {
        let Self { base, variants, saved, .. } = self;
        output::ComparisonOutput { base, variants, found, held, saved: saved.as_deref(), context }
    }
}

/// Runs the command `tidegate compare`.
pub(crate) fn run(session: &Session, arguments: &Arguments) -> Outcome {
    let prepared = Prepared::read(session, arguments)?;
    note_replaced(session, prepared.variants.iter().map(|variant| &variant.plan));
    let store = Store::make(&arguments.store())?;
    let found = prepared.find(session, arguments, &store)?;
    let held = prepared.hold(&found, arguments.tolerance);
    if let Some(path) = &prepared.saved {
        if path.exists() {
            session.note(&format!("baseline {} is replaced", path.display()));
        }
        baseline::write(path, &prepared.variants, &found.comparison)?;
    }
    let is_worse =
        held.iter().flat_map(|held| &held.judgements).any(|judgement| judgement.change.is_regression());
    let results = prepared.output(&found, held, context(&prepared.base.text));
    results.write(session, arguments, &store)?;
    Ok(if is_worse { Exit::Unexpected } else { Exit::Ok })
}

/// The page of the results in `kept`, made from stored runs and the figures in the folder; nothing is run.
pub(crate) fn page_again(
    session: &Session,
    kept: &KeptResults,
    arguments: Arguments,
) -> Result<String, Failure> {
    let arguments = Arguments {
        // The kept scenario is written with its overrides applied; they are not applied a second time.
        scenario: kept.scenario(),
        overrides: Overrides::default(),
        out: kept.out(),
        ..arguments
    };
    let prepared = Prepared::read(session, &arguments)?;
    let store = Store::of_code(&arguments.store(), &kept.context.code);
    let found = prepared.find(session, &arguments, &store);
    let found = found.map_err(|failure| kept.refused(&failure, &arguments.command_line()))?;
    let held = prepared.hold(&found, arguments.tolerance);
    let results = prepared.output(&found, held, kept.context.clone());
    results.page(&kept.figures()?, &kept.command, &store)
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn a_part_is_a_percentage_or_a_number_up_to_one() {
        assert_eq!((part("2%"), part(" 0.5 "), part("0%")), (Ok(0.02), Ok(0.5), Ok(0.0)));
        for text in ["", "%", "2", "-1%", "nan", "101%", "2 percent"] {
            assert!(part(text).is_err(), "{text:?}");
        }
    }
}
