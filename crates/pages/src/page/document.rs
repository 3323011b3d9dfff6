//! The page around a body, and the parts that several pages have.

use tidegate_results::definitions::{DEFINITIONS, OF_COUNTS};
use tidegate_results::text::Facts;

use crate::figure::{self, Figure};
use crate::markup::{Escaped, Markup};
use crate::script::to_script;

/// All warnings in one box; nothing without any.
pub(super) fn warnings(body: &mut Markup, warnings: &[String]) {
    match warnings {
        [] => {}
        [warning] => body.add(format_args!("<p class=\"warning\">{}</p>\n", Escaped(warning))),
        several => {
            body.0.push_str("<ul class=\"warning\">\n");
            several.iter().for_each(|warning| body.add(format_args!("<li>{}</li>\n", Escaped(warning))));
            body.0.push_str("</ul>\n");
        }
    }
}

/// CSS class that recolours series `index` on dark ground.
pub(super) fn class(index: usize) -> usize {
    index % figure::COLOURS.len()
}

/// Scripts of a page.
pub(super) enum Scripts {
    /// Copy buttons, but no plots.
    Plain,
    /// Plots too, with this data.
    Plots(serde_json::Value),
}

/// The text of the whole HTML page.
pub(super) fn document(title: &str, body: &str, scripts: &Scripts) -> String {
    let mut page = Markup::default();
    page.add(format_args!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n",
        Escaped(title)
    ));
    // 30 kB that a page without plots does not need; a page has no external files, so that it works offline.
    if matches!(scripts, Scripts::Plots(_)) {
        page.0.push_str(include_str!("../../vendor/uplot/uPlot.min.css"));
        page.0.push('\n');
    }
    page.0.push_str(include_str!("page.css"));
    // Follows the system's setting unless the page's button overrides it; never applies to print.
    // Included twice: a media query and a class cannot share one rule.
    const DARK: &str = include_str!("dark.css");
    page.add(format_args!(
        "@media screen and (prefers-color-scheme: dark) {{ :root:not(.light) {{\n{DARK}}} }}\n\
         @media screen {{ :root.dark {{\n{DARK}}} }}\n"
    ));
    page.0.push_str(
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n\
         <main id=\"content\">\n<button type=\"button\" id=\"theme\" hidden></button>\n",
    );
    page.0.push_str(body);
    page.0.push_str("</main>\n");
    if let Scripts::Plots(data) = scripts {
        page.add(format_args!(
            "<script type=\"application/json\" id=\"panels\">{}</script>\n",
            to_script(data)
        ));
        page.0.push_str("<script>\n/* uPlot 1.6.32, MIT licence, https://github.com/leeoniya/uPlot */\n");
        page.0.push_str(include_str!("../../vendor/uplot/uPlot.iife.min.js"));
        page.0.push_str("\n</script>\n<script>\n");
        page.0.push_str(include_str!("plots.js"));
        page.0.push_str("</script>\n");
    }
    page.0.push_str("<script>\n");
    page.0.push_str(include_str!("page.js"));
    page.0.push_str("</script>\n</body>\n</html>\n");
    page.0
}

/// A figure with its title and caption; `more` is markup below the caption.
pub(super) fn figure(page: &mut Markup, figure: &Figure, more: &str) {
    page.add(format_args!(
        "<figure id=\"{}\"><h3>{}</h3><div class=\"scroll\" tabindex=\"0\">{}</div><figcaption>{}{more}</figcaption></figure>\n",
        Escaped(&figure.id),
        Escaped(&figure.title),
        figure.inline_svg(),
        Escaped(&figure.caption)
    ));
}

/// Figures side by side.
pub(super) fn figures(page: &mut Markup, figures: &[Figure]) {
    page.0.push_str("<div class=\"figures\">\n");
    figures.iter().for_each(|shown| figure(page, shown, ""));
    page.0.push_str("</div>\n");
}

/// The command that makes the page again, with a button that copies it.
pub(super) fn command_line(page: &mut Markup, command: &str) {
    page.add(format_args!(
        "<div class=\"command\"><span class=\"label\">Reproduce this</span><code>{}</code>\
         <button type=\"button\" class=\"copy\">Copy</button></div>\n",
        Escaped(command)
    ));
}

/// The first digits of a code's identity for a page's head, behind a separator; nothing without one. The parts of an
/// identity are separated by `-`.
pub(super) fn code(identity: &str) -> String {
    if identity.is_empty() {
        return String::new();
    }
    // An executable with schemes from outside has a second part.
    let parts = identity.split('-').map(|part| part.get(..8).unwrap_or(part));
    format!(" · code {}", parts.collect::<Vec<_>>().join("-"))
}

/// The definitions of all columns, folded unless `is_open`.
pub(super) fn glossary(page: &mut Markup, is_open: bool) {
    page.0.push_str("<section id=\"glossary\"><h2>Glossary</h2>\n");
    page.0.push_str(if is_open { "<details open><summary>" } else { "<details><summary>" });
    page.add(format_args!(
        "Definitions of the {} columns of tables and files</summary>\n<p>{OF_COUNTS}</p>\n",
        DEFINITIONS.len()
    ));
    definitions(
        page,
        DEFINITIONS.iter().map(|definition| (definition.name, definition.unit, definition.text)),
    );
    page.0.push_str("</details></section>\n");
}

/// Definitions as name, unit and text; each has the anchor `def-NAME`.
pub(super) fn definitions<'a>(page: &mut Markup, all: impl Iterator<Item = (&'a str, &'a str, &'a str)>) {
    page.0.push_str("<dl>\n");
    for (name, unit, text) in all {
        let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
        page.add(format_args!(
            "<div id=\"def-{0}\"><dt><code>{0}</code>{1}</dt><dd>{2}</dd></div>\n",
            Escaped(name),
            Escaped(&unit),
            Escaped(text)
        ));
    }
    page.0.push_str("</dl>\n");
}

/// Labelled facts; nothing without any.
pub(super) fn facts(page: &mut Markup, facts: &Facts) {
    if facts.is_empty() {
        return;
    }
    page.0.push_str("<dl>\n");
    for (label, value) in facts.iter() {
        page.add(format_args!("<div><dt>{}</dt><dd>{}</dd></div>\n", Escaped(label), Escaped(value)));
    }
    page.0.push_str("</dl>\n");
}

/// A list of sentences; nothing without any.
pub(super) fn list(page: &mut Markup, items: &[String]) {
    if !items.is_empty() {
        page.0.push_str("<ul>\n");
        items.iter().for_each(|item| page.add(format_args!("<li>{}</li>\n", Escaped(item))));
        page.0.push_str("</ul>\n");
    }
}
