//! What pages of runs, sweeps and comparisons share: parts with links to them, the schemes in use, and what made the
//! results.

use tidegate_core::scheme::whole::Installed;

use super::document;
use crate::markup::{Escaped, Markup};
use tidegate_results::tables::RunContext;

/// Names of places in one cell of the table of schemes.
const MAX_PLACES: usize = 8;

/// A part of a page with a place in its list of contents.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) content: Markup,
}

/// Puts the parts that have something to show, after a list of links to them and, `with_glossary`, to the glossary.
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
        let head = if has_variants { "<th scope=\"col\">Variant</th>" } else { "" };
        content.add(format_args!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Schemes\"><table><caption>What scheme fills which \
             role, and where.</caption><thead><tr>{head}<th scope=\"col\">Role</th><th scope=\"col\">Scheme</th>\
             <th scope=\"col\">Flows, nodes, links</th></tr></thead><tbody>\n"
        ));
        for (variant, installed) in &context.installed {
            scheme_row(&mut content, has_variants.then_some(variant), installed);
        }
        content.0.push_str("</tbody></table></div>\n");
    }
    Section { id: "schemes", title: "Schemes", content }
}

fn scheme_row(content: &mut Markup, variant: Option<&String>, Installed { role, scheme, at }: &Installed) {
    content.0.push_str("<tr>");
    if let Some(variant) = variant {
        let shown = if variant.is_empty() { "all" } else { variant };
        content.add(format_args!("<td>{}</td>", Escaped(shown)));
    }
    let listed = at.iter().take(MAX_PLACES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = at.len().saturating_sub(MAX_PLACES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    content.add(format_args!(
        "<td>{role}</td><td>{}</td><td>{}{more}</td></tr>\n",
        Escaped(scheme),
        Escaped(&listed)
    ));
}

/// What made these results, so that anyone can make them again; `seeds` is empty for what was not simulated.
pub(super) fn provenance(command: &str, context: &RunContext, seeds: &str) -> Section {
    let mut content = Markup::default();
    document::command_line(&mut content, command);
    content.0.push_str("<dl>\n");
    let mut fact = |name: &str, value: &str| {
        content.add(format_args!("<div><dt>{name}</dt><dd>{}</dd></div>\n", Escaped(value)));
    };
    fact("Version", concat!("tidegate ", env!("CARGO_PKG_VERSION")));
    fact("Results schema", &tidegate_results::RESULTS_SCHEMA.to_string());
    if !seeds.is_empty() {
        fact("Semantics: version of what results mean", &context.semantics.to_string());
        fact("Code: hash of the sources that computed the results", &context.code);
        fact("Seeds", seeds);
    }
    let repeated = match seeds.is_empty() {
        false => "Equal scenario and seed give equal results, on any machine and any number of threads.",
        true => "Measured on real sockets: another run of the same command gives other numbers.",
    };
    content.add(format_args!("</dl>\n<p class=\"note\">{repeated}</p>\n"));
    if !context.scenario_text.is_empty() {
        content.add(format_args!(
            "<details><summary>Scenario, full text</summary><pre>{}</pre></details>\n",
            Escaped(&context.scenario_text)
        ));
    }
    Section { id: "provenance", title: "Provenance", content }
}
