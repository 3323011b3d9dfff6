//! The page of `tidegate compare`: the table of all measures, then figures.

use super::common::{self, Section};
use super::document::{self, Scripts};
use super::plots;
use super::seeds::SeedPlots;
use super::tables;
use super::timeline::Timeline;
use super::variant_plots::Beside;
use crate::figure::Figure;
use crate::markup::{Escaped, Markup};
use tidegate_results::compare::{Comparison, Judgement, comparison_rows, judgement_rows, method, warnings};
use tidegate_results::tables::RunContext;
use tidegate_results::text::{self, counted};

/// Content of a comparison page.
#[derive(Clone, Copy, Debug)]
pub struct ComparePage<'a> {
    /// Title, mostly the scenario's name.
    pub title: &'a str,
    /// Comparison shown on the page.
    pub comparison: &'a Comparison,
    /// Note on the search for the number of seeds; empty for none.
    pub note: &'a str,
    /// Verdicts against a baseline; none without one.
    pub judgements: &'a [Judgement],
    /// Sentences about variants that are only here or only in the baseline.
    pub unmatched: &'a [String],
    /// Figures, the most important one first.
    pub figures: &'a [Figure],
    /// One run of each variant with its samples, in the order of the variants.
    pub samples: &'a [tidegate_results::compare::Variant],
    /// Samples of the other seeds for the plots; `None` shows those of the first alone.
    pub seeds: Option<&'a SeedPlots>,
    /// The command that makes these results again.
    pub command: &'a str,
    /// Scenario text and version of the results' meaning.
    pub context: &'a RunContext,
}

/// One offline HTML file about a comparison.
pub fn compare_page(page: &ComparePage<'_>) -> String {
    let mut body = Markup::default();
    header(&mut body, page);
    let beside = Beside::of(page.samples);
    let section = |id, title, content| Section { id, title, content };
    let sections = [
        section("found", "Results", found(page)),
        section("baseline", "Comparison with the baseline", baseline(page.judgements, page.unmatched)),
        section("runs", "Runs", figures(page.figures)),
        section("time", "Over time", over_time(page, beside.as_ref())),
        section("reading", "How to read this", reading(page.comparison)),
        common::schemes(page.context),
        common::provenance(page.command, page.context, &text::seed_list(&page.comparison.seeds)),
    ];
    // No glossary: the section on reading has the definitions of all measures.
    common::sections(&mut body, &sections, false);
    let data = beside
        .map(|Beside { panels, end_s, .. }| plots::data(&panels, end_s, &Timeline::default(), page.seeds));
    let scripts = data.map_or(Scripts::Plain, Scripts::Plots);
    document::document(&format!("{}: comparison", page.title), &body.0, &scripts)
}

fn header(body: &mut Markup, page: &ComparePage<'_>) {
    let Comparison { seeds, labels, .. } = page.comparison;
    body.add(format_args!(
        "<header><p class=\"kicker\">Tidegate comparison</p><h1>{}</h1><p class=\"facts\">{} · {}, the same for \
         all · results schema {} · semantics {}{}</p></header>\n",
        Escaped(page.title),
        Escaped(&labels.join(", ")),
        counted(seeds.len(), "seed"),
        tidegate_results::RESULTS_SCHEMA,
        page.context.semantics,
        Escaped(&document::code(&page.context.code))
    ));
}

fn found(page: &ComparePage<'_>) -> Markup {
    let mut body = Markup::default();
    let caption = format!("Each variant compared with {}.", page.comparison.reference_label());
    tables::text_table(&mut body, "Measures", &caption, &comparison_rows(page.comparison));
    if !page.note.is_empty() {
        body.add(format_args!("<p>{}</p>\n", Escaped(page.note)));
    }
    document::warnings(&mut body, &warnings(page.comparison));
    body
}

fn baseline(judgements: &[Judgement], unmatched: &[String]) -> Markup {
    let mut body = Markup::default();
    if judgements.is_empty() {
        return body;
    }
    let rows = judgement_rows(judgements);
    let caption =
        format!("Within noise: {} of {} measures.", judgements.len() - rows.rows().count(), judgements.len());
    tables::text_table(&mut body, "Baseline", &caption, &rows);
    document::list(&mut body, unmatched);
    body
}

fn figures(figures: &[Figure]) -> Markup {
    let mut body = Markup::default();
    if !figures.is_empty() {
        document::figures(&mut body, figures);
    }
    body
}

fn over_time(page: &ComparePage<'_>, beside: Option<&Beside>) -> Markup {
    let mut body = Markup::default();
    let seed = page.samples.iter().flat_map(|variant| &variant.runs).map(|run| run.seed).next();
    let Some(seed) = seed else { return body };
    body.add(format_args!("<p class=\"note\" id=\"seed-shown\">Runs with seed {seed}.</p>\n"));
    if let Some(seeds) = page.seeds {
        seeds.describe(&mut body, page.comparison.seeds.len());
    }
    if let Some(Beside { panels, .. }) = beside {
        plots::place(&mut body, panels, &Timeline::default());
    } else {
        body.0.push_str("<p class=\"note\">The runs were not sampled.</p>\n");
    }
    body
}

fn reading(comparison: &Comparison) -> Markup {
    let mut body = Markup::default();
    document::list(&mut body, &method(comparison));
    let measures = comparison.measures.iter().map(|measured| measured.measure);
    document::definitions(&mut body, measures.map(|measure| (measure.name, measure.unit, measure.text)));
    body
}
