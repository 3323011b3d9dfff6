//! Common parts of the pages of runs, sweeps and comparisons: contents, the schemes in use, and the
//! provenance of the results.

use tidegate_core::scheme::whole::Installed;

use super::document;
use super::tables::text_table;
use crate::markup::{Escaped, Markup};
use tidegate_results::tables::RunContext;
use tidegate_results::text::{Align, Facts, TextTable};

/// Maximum number of names of places in one cell of the table of schemes.
const MAX_PLACES: usize = 8;

/// A part of a page with a place in its list of contents.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) content: Markup,
}

/// Adds the sections that are not empty, after a list of links to them and, `with_glossary`, to the glossary.
pub(super) fn sections(body: &mut Markup, sections: &[Section], with_glossary: bool) {
    let shown = || sections.iter().filter(|section| !section.content.0.is_empty());
    let glossary = with_glossary.then_some(("glossary", "Glossary"));
    body.0.push_str("<nav aria-label=\"Contents\"><ul>\n");
    for (id, title) in shown().map(|section| (section.id, section.title)).chain(glossary) {
        body.add(format_args!("<li><a href=\"#{id}\">{title}</a></li>\n"));
    }
    body.0.push_str("</ul></nav>\n");
    for Section { id, title, content } in shown() {
        body.add(format_args!("<section id=\"{id}\"><h2>{title}</h2>\n{}</section>\n", content.0));
    }
}

/// The schemes in use with their roles and places.
pub(super) fn schemes(context: &RunContext) -> Section {
    let mut content = Markup::default();
    if !context.installed.is_empty() {
        let has_variants = context.installed.iter().any(|(variant, _)| !variant.is_empty());
        let head = ["Variant", "Role", "Scheme", "Flows, nodes, links"];
        let mut table = TextTable::new(&head.map(|name| (name, Align::Left))[usize::from(!has_variants)..]);
        for (variant, Installed { role, scheme, at }) in &context.installed {
            let mut places = at.iter().take(MAX_PLACES).map(String::as_str).collect::<Vec<_>>().join(", ");
            if at.len() > MAX_PLACES {
                places.push_str(&format!(" and {} more", at.len() - MAX_PLACES));
            }
            let variant = if variant.is_empty() { "all" } else { variant };
            let variant = has_variants.then(|| variant.to_owned());
            table.row(variant.into_iter().chain([role.to_string(), scheme.clone(), places]));
        }
        text_table(&mut content, "Schemes", "Scheme of each role, with the places where it is used.", &table);
    }
    Section { id: "schemes", title: "Schemes", content }
}

/// Provenance of the results, with which they can be reproduced; `seeds` is empty for results that were not
/// simulated.
pub(super) fn provenance(command: &str, context: &RunContext, seeds: &str) -> Section {
    let mut content = Markup::default();
    document::command_line(&mut content, command);
    let mut facts = Facts::default();
    facts.add("Version", concat!("tidegate ", env!("CARGO_PKG_VERSION")));
    facts.add("Results schema", tidegate_results::RESULTS_SCHEMA);
    if !seeds.is_empty() {
        facts.add("Semantics (version of the simulation results)", context.semantics);
        facts.add("Code (hash of the sources that computed the results)", &context.code);
        facts.add("Seeds", seeds);
    }
    document::facts(&mut content, &facts);
    let repeated = match seeds.is_empty() {
        false => "The same scenario and seed give the same results on any machine and any number of threads.",
        true => "Measured on real sockets: another run of the same command gives other numbers.",
    };
    content.add(format_args!("<p class=\"note\">{repeated}</p>\n"));
    if !context.scenario_text.is_empty() {
        content.add(format_args!(
            "<details><summary>Scenario, full text</summary><pre>{}</pre></details>\n",
            Escaped(&context.scenario_text)
        ));
    }
    Section { id: "provenance", title: "Provenance", content }
}
