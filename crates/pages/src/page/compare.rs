//! The page of `tidegate compare`: what was found in sentences, then figures, then every number.

use super::document::{self, Scripts};
use super::parts::{self, Section};
use super::plots;
use super::seeds::SeedPlots;
use super::timeline::Timeline;
use super::variant_plots::Beside;
use crate::figure::Figure;
use crate::markup::{Escaped, Markup};
use tidegate_results::compare::{
    BaselineChange, Comparison, Finding, Judgement, Measured, NOT_COMPARABLE, Tested, judgement_sentence,
    method, summary, times, warnings,
};
use tidegate_results::tables::RunContext;
use tidegate_results::text;

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
    /// Figures, the most telling one first.
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
        section("found", "What was found", found(page)),
        section("baseline", "Against the baseline", baseline(page.judgements, page.unmatched)),
        section("runs", "Runs", figures(page.figures)),
        section("measures", "Measures", measures(page.comparison)),
        section("time", "Over time", over_time(page, beside.as_ref())),
        section("reading", "How to read this", reading(page.comparison)),
        parts::schemes(page.context),
        parts::provenance(page.command, page.context, &text::seed_list(&page.comparison.seeds)),
    ];
    parts::sections(&mut body, &sections, false);
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
        if seeds.len() == 1 { "1 seed".to_owned() } else { format!("{} seeds", seeds.len()) },
        tidegate_results::RESULTS_SCHEMA,
        page.context.semantics,
        Escaped(&document::code(&page.context.code))
    ));
}

fn found(page: &ComparePage<'_>) -> Markup {
    let mut body = Markup("<ul class=\"findings\">\n".to_owned());
    for sentence in summary(page.comparison) {
        body.add(format_args!("<li>{}</li>\n", Escaped(&sentence)));
    }
    body.0.push_str("</ul>\n");
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
    let news: Vec<&Judgement> =
        judgements.iter().filter(|judgement| judgement.change != BaselineChange::WithinNoise).collect();
    body.0.push_str("<ul>\n");
    for judgement in &news {
        body.add(format_args!("<li>{}</li>\n", Escaped(&judgement_sentence(judgement))));
    }
    let quiet = judgements.len() - news.len();
    body.add(format_args!("<li>{quiet} measures are within noise</li>\n"));
    for sentence in unmatched {
        body.add(format_args!("<li>{}</li>\n", Escaped(sentence)));
    }
    body.0.push_str("</ul>\n");
    body
}

fn figures(figures: &[Figure]) -> Markup {
    let mut body = Markup::default();
    if !figures.is_empty() {
        document::figures(&mut body, figures);
    }
    body
}

fn measures(comparison: &Comparison) -> Markup {
    let mut body = Markup::default();
    body.add(format_args!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Measures\"><table>\
         <caption>Each variant beside {}.</caption>\n<thead><tr><th scope=\"col\">Measure</th><th scope=\"col\">Variant\
         </th><th scope=\"col\" class=\"number\">Mean</th><th scope=\"col\" class=\"number\">Difference</th>\
         <th scope=\"col\" class=\"number\">Times</th><th scope=\"col\" class=\"number\">p, corrected</th>\
         <th scope=\"col\" class=\"number\">Effect</th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n",
        Escaped(comparison.reference_label())
    ));
    for measured in comparison.measures.iter().filter(|measured| !measured.is_idle()) {
        for index in 0..comparison.labels.len() {
            measure_row(&mut body, comparison, measured, index);
        }
    }
    body.0.push_str("</tbody></table></div>\n");
    let idle: Vec<&str> = comparison
        .measures
        .iter()
        .filter(|measured| measured.is_idle())
        .map(|measured| measured.measure.noun)
        .collect();
    if !idle.is_empty() {
        body.add(format_args!(
            "<p class=\"note\">Zero in every run, so not listed: {}.</p>\n",
            Escaped(&idle.join(", "))
        ));
    }
    body
}

fn measure_row(body: &mut Markup, comparison: &Comparison, measured: &Measured, index: usize) {
    body.0.push_str("<tr>");
    if index == 0 {
        let measure = measured.measure;
        let unit = if measure.unit.is_empty() { String::new() } else { format!(" [{}]", measure.unit) };
        body.add(format_args!(
            "<th scope=\"rowgroup\" rowspan=\"{}\" title=\"{}\">{}<span class=\"soft\">{}</span></th>",
            comparison.labels.len(),
            Escaped(measure.text),
            Escaped(measure.noun),
            Escaped(&unit)
        ));
    }
    body.add(format_args!(
        "<td>{}</td><td class=\"number\">{}</td>",
        Escaped(&comparison.labels[index]),
        Escaped(&text::over_runs(&measured.estimates[index], comparison.seeds.len()))
    ));
    match &measured.pairs[index] {
        Some(tested) => tested_cells(body, measured, tested),
        None if index == comparison.reference => {
            body.0.push_str("<td></td><td></td><td></td><td></td><td class=\"soft\">reference</td>")
        }
        None => body.add(format_args!(
            "<td></td><td></td><td></td><td></td><td class=\"soft\">{NOT_COMPARABLE}</td>"
        )),
    }
    body.0.push_str("</tr>\n");
}

fn tested_cells(body: &mut Markup, measured: &Measured, tested: &Tested) {
    let factor = times(&tested.pair.ratio)
        .filter(|_| tested.finding != Finding::Equal)
        .map_or_else(String::new, |(factor, is_more)| format!("{factor} {}", measured.measure.word(is_more)));
    let verdict = tested.verdict(measured.measure.better);
    let class = match verdict {
        "better" => "agrees",
        "worse" => "differs",
        "equal" | "not clear" => "reduced",
        _ => "direction",
    };
    body.add(format_args!(
        "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
         <td class=\"number\">{}</td><td><b class=\"verdict {class}\">{verdict}</b></td>",
        Escaped(&text::short(&tested.pair.difference)),
        Escaped(&factor),
        Escaped(&tested.p.map_or_else(String::new, tidegate_results::compare::p_value)),
        tested.pair.effect.map_or_else(String::new, |effect| format!("{effect:.2}")),
    ));
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
    let mut body = Markup("<ul>\n".to_owned());
    for sentence in method(comparison) {
        body.add(format_args!("<li>{}</li>\n", Escaped(&sentence)));
    }
    body.0.push_str("</ul>\n<dl>\n");
    for measured in &comparison.measures {
        let measure = measured.measure;
        let unit = if measure.unit.is_empty() { String::new() } else { format!(" [{}]", measure.unit) };
        body.add(format_args!(
            "<div><dt><code>{}</code>{}</dt><dd>{}</dd></div>\n",
            Escaped(measure.name),
            Escaped(&unit),
            Escaped(measure.text)
        ));
    }
    body.0.push_str("</dl>\n");
    body
}
