//! Output of a comparison: text, JSON, tables and page.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::Watched;
use tidegate_core::rng::Seed;
use tidegate_pages::figure::{Figure, compare as figures, write_figures};
use tidegate_pages::page::{ComparePage, SeedPlots, compare_page};
use tidegate_results::compare::{
    Comparison, Judgement, Variant, comparison_json, comparison_table, judgement_json, judgement_table,
};
use tidegate_results::tables::{Parameter, Point, RunContext, point_tables};
use tidegate_results::text::Screen;

use tidegate_sim::plan::Plan;
use tidegate_sim::roles;
use tidegate_sim::run::watch;

use super::Arguments;
use super::search::SearchResult;
use super::variants::VariantPlan;
use crate::code::{CODE_FILE, code, short};
use crate::exit::Failure;
use crate::page::COMMAND;
use crate::plans::{about_scheme, installed};
use crate::results::{cannot, file_name, keep_scenario, replace_files};
use crate::store::Store;
use crate::{Format, SEMANTICS, Session};

/// Results of a comparison with their files.
pub(super) struct ComparisonOutput<'a> {
    /// The scenario as it is written, overrides applied.
    pub(super) base: &'a Plan,
    /// Plans of the variants, in order.
    pub(super) variants: &'a [VariantPlan],
    /// Runs and their comparison.
    pub(super) found: &'a SearchResult,
    /// Comparison with a baseline, if there is one.
    pub(super) held: Option<Held<'a>>,
    /// File to which these results are saved as a baseline.
    pub(super) saved: Option<&'a Path>,
    /// Metadata of the tables.
    pub(super) context: RunContext,
}

/// A comparison with a baseline.
pub(super) struct Held<'a> {
    /// Verdicts on all measures of common variants.
    pub(super) judgements: Vec<Judgement>,
    /// The code that computed the baseline.
    pub(super) code: &'a str,
    /// Sentences about variants that are only here or only there.
    pub(super) unmatched: Vec<String>,
}

impl Held<'_> {
    fn text(&self, screen: Screen) -> String {
        let origin = match self.code == code() {
            true => "of the same code".to_owned(),
            false => format!("code {}; now {}", short(self.code), short(code())),
        };
        let unmatched: String = self.unmatched.iter().map(|sentence| format!("{sentence}\n")).collect();
        let table = judgement_table(&self.judgements, screen);
        format!("\nagainst the baseline ({origin}):\n{}{unmatched}", table.trim_start_matches('\n'))
    }
}

/// The seed whose samples and delays are plotted.
fn first_seed(comparison: &Comparison) -> Seed {
    Seed(comparison.seeds.first().copied().unwrap_or_default())
}

impl ComparisonOutput<'_> {
    /// Writes tables, figures and the page, and prints the comparison.
    pub(super) fn write(
        &self,
        session: &Session,
        arguments: &Arguments,
        store: &Store,
    ) -> Result<(), Failure> {
        let folder = arguments.out.join(self.folder_name());
        // Written beside the results and then moved, so that an interruption leaves the old results whole.
        let new = store.temporary();
        self.tables(&new)?;
        let (figures, command, json) = (self.figures(), arguments.command_line(), self.json(&folder));
        for (name, content) in [
            ("report.html", self.page(&figures, &command, store)?),
            ("figures.json", write_figures(&figures)),
            (COMMAND, command + "\n"),
            (CODE_FILE, code().to_owned()),
            ("comparison.json", format!("{json}\n")),
        ] {
            let path = new.join(name);
            fs::write(&path, content).map_err(|why| cannot("write", &path, &why))?;
        }
        replace_files(&new, &folder)?;
        keep_scenario(&folder, self.base)?;
        session.show(&match session.format {
            Format::Text => self.text(&folder, session.screen),
            Format::Json => format!("{json}\n"),
        });
        Ok(())
    }

    /// The tables of all runs, with a column for the variant.
    fn tables(&self, folder: &Path) -> Result<(), Failure> {
        let points: Vec<Point> =
            self.found.runs.iter().map(|variant| Point { runs: variant.runs.clone() }).collect();
        let values = self.variants.iter().map(|variant| variant.label.clone()).collect();
        let parameter = Parameter { key: "variant".to_owned(), values };
        point_tables(&points, &[parameter], &self.context).write(folder).map_err(Failure::error)
    }

    /// The figures; each variant runs once more, because stored runs do not contain the delay of every
    /// packet.
    fn figures(&self) -> Vec<Figure> {
        let SearchResult { comparison, runs, .. } = self.found;
        // The seed of the plots over time, so that all figures show the same run.
        let seed = first_seed(comparison);
        let watched: Vec<(&str, Watched)> = self
            .variants
            .iter()
            .map(|variant| (variant.label.as_str(), watch(&variant.plan, seed, EventMask::NONE, &mut |_| {})))
            .collect();
        let delays = figures::delays(watched.iter().map(|(label, watched)| (*label, watched)));
        figures::goodput_over_delay(runs).into_iter().chain(delays).collect()
    }

    /// The page around `figures`, with the `command` that makes the results; samples are those in `store`.
    pub(super) fn page(&self, figures: &[Figure], command: &str, store: &Store) -> Result<String, Failure> {
        let SearchResult { comparison, note, .. } = self.found;
        let samples = self.sampled(store, first_seed(comparison))?;
        let seeds = self.seed_plots(store, &samples)?;
        let labelled = self.variants.iter().map(|variant| (variant.label.clone(), &variant.plan));
        Ok(compare_page(&ComparePage {
            title: &self.base.name,
            comparison,
            note: note.as_deref().unwrap_or_default(),
            judgements: self.held.as_ref().map_or(&[], |held| held.judgements.as_slice()),
            unmatched: self.held.as_ref().map_or(&[], |held| held.unmatched.as_slice()),
            figures,
            samples: &samples,
            seeds: seeds.as_ref(),
            command,
            context: &RunContext { installed: installed(labelled), ..self.context.clone() },
        }))
    }

    /// The run of every variant with this seed, with its samples.
    fn sampled(&self, store: &Store, seed: Seed) -> Result<Vec<Variant>, Failure> {
        let sampled = |variant: &VariantPlan| {
            let run = store.recall(&variant.identity, seed, &variant.plan.name, true)?;
            Ok(Variant { label: variant.label.clone(), runs: vec![run] })
        };
        self.variants.iter().map(sampled).collect()
    }

    /// The plots of several seeds, of which `first` is one; `None` for a single seed.
    fn seed_plots(&self, store: &Store, first: &[Variant]) -> Result<Option<SeedPlots>, Failure> {
        let others: Vec<u64> =
            // The first seed is in `first`.
            self.found.comparison.seeds.iter().copied().take(SeedPlots::MAX_SEEDS).skip(1).collect();
        let mut plots = match others.is_empty() {
            true => None,
            false => SeedPlots::of_variants(first, others.len()),
        };
        if let Some(plots) = &mut plots {
            for seed in others {
                let variants = self.sampled(store, Seed(seed))?;
                plots.add(&variants.into_iter().flat_map(|variant| variant.runs).collect::<Vec<_>>());
            }
        }
        Ok(plots)
    }

    /// Name of the results folder, which depends on variants, code and semantics.
    fn folder_name(&self) -> String {
        let mut hash = blake3::Hasher::new();
        hash.update(&SEMANTICS.to_le_bytes());
        hash.update(code().as_bytes());
        for variant in self.variants {
            hash.update(variant.identity.hash.as_bytes());
        }
        format!("{}-compare-{}", file_name(&self.base.name), &hash.finalize().to_hex()[..8])
    }

    fn text(&self, folder: &Path, screen: Screen) -> String {
        let mut text = String::new();
        if self.variants.len() > 1 {
            text.push_str(&comparison_table(&self.found.comparison, screen));
        }
        if let Some(note) = &self.found.note {
            text.push_str(&format!("{note}\n"));
        }
        text.extend(self.held.iter().map(|held| held.text(screen)));
        let report = folder.join("report.html");
        text.push_str(&format!("\ntables  {}\nreport  {}\n", folder.display(), report.display()));
        text.extend(self.saved.iter().map(|path| format!("baseline  {}\n", path.display())));
        text
    }

    fn json(&self, folder: &Path) -> Value {
        let unmatched = self.held.iter().flat_map(|held| &held.unmatched);
        json!({
            "folder": folder.display().to_string(),
            "code": code(),
            "comparison": comparison_json(&self.found.comparison),
            "installed": self.variants.iter().map(about_schemes).collect::<Value>(),
            "note": self.found.note.as_deref(),
            "baseline": self.held.as_ref().map_or(Value::Null, |held| judgement_json(&held.judgements)),
            "baseline_code": self.held.as_ref().map(|held| held.code),
            "baseline_unmatched": unmatched.collect::<Vec<_>>(),
            "saved_baseline": self.saved.map_or(Value::Null, |path| Value::from(path.display().to_string())),
        })
    }
}

/// Schemes of a variant with their roles, and the roles that they replaced.
fn about_schemes(variant: &VariantPlan) -> Value {
    let roles = roles::installed(&variant.plan);
    json!({
        "variant": variant.label,
        "schemes": roles.iter().map(about_scheme).collect::<Value>(),
        "replaced": variant.plan.replaced,
    })
}
