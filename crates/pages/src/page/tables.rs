//! Tables of a page: a column is a defined column of the results, a cell its mean over the runs.

use std::collections::BTreeMap;

use crate::markup::{Escaped, Markup};
use tidegate_results::definitions;
use tidegate_results::stats::Estimate;
use tidegate_results::tables::{ResultTable, TableCell};
use tidegate_results::text::{self, Align, TextTable};

/// Opens a table that scrolls within the page; `label` names it for screen readers.
pub(super) fn open_table(page: &mut Markup, label: &str, caption: &str) {
    page.add(format_args!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>",
        Escaped(label)
    ));
    if !caption.is_empty() {
        page.add(format_args!("<caption>{}</caption>", Escaped(caption)));
    }
}

/// Adds a table of plain text; the words of a column `verdict` are coloured.
pub(super) fn text_table(page: &mut Markup, label: &str, caption: &str, table: &TextTable) {
    let class = |align: Align| if align == Align::Right { " class=\"number\"" } else { "" };
    open_table(page, label, caption);
    page.0.push_str("\n<thead><tr>");
    for (name, align) in table.head() {
        page.add(format_args!("<th scope=\"col\"{}>{}</th>", class(*align), Escaped(name)));
    }
    page.0.push_str("</tr></thead>\n<tbody>\n");
    for row in table.rows() {
        page.0.push_str("<tr>");
        for (cell, (name, align)) in row.iter().zip(table.head()) {
            let cell = Escaped(cell);
            match name.as_str() {
                "verdict" => {
                    page.add(format_args!("<td><b class=\"{}\">{cell}</b></td>", verdict_class(cell.0)))
                }
                _ => page.add(format_args!("<td{}>{cell}</td>", class(*align))),
            }
        }
        page.0.push_str("</tr>\n");
    }
    page.0.push_str("</tbody></table></div>\n");
}

/// Class with the colour and sign of a verdict, equal to those of claims.
fn verdict_class(verdict: &str) -> &'static str {
    match verdict.split([' ', ':']).next() {
        Some("better" | "new") => "verdict agrees",
        Some("worse" | "gone") => "verdict differs",
        Some("differs" | "changed") => "verdict direction",
        Some("reference") => "soft",
        _ => "verdict reduced",
    }
}

/// One HTML table made from a result table, with one row per flow or link.
pub(super) struct Shown<'a> {
    /// The result table, all runs below each other.
    pub(super) table: &'a ResultTable,
    /// Column that identifies the rows of one run: `flow` or `link`.
    pub(super) key: &'static str,
    /// Columns that are shown, in this order.
    pub(super) columns: &'a [&'static str],
    /// Caption above the table.
    pub(super) caption: String,
}

impl Shown<'_> {
    /// Adds the table, or a note if it has no rows.
    pub(super) fn add(&self, page: &mut Markup) {
        let rows_by_key = self.rows_by_key();
        if rows_by_key.is_empty() {
            page.0.push_str("<p class=\"note\">None.</p>\n");
            return;
        }
        let (columns, idle): (Vec<&str>, Vec<&str>) =
            self.columns.iter().partition(|name| !self.is_zero(name));
        open_table(page, &self.caption, &format!("{}{}", self.caption, zero_note(&idle)));
        page.0.push_str("\n<thead><tr>");
        for name in &columns {
            head(page, name);
        }
        page.0.push_str("</tr></thead>\n<tbody>\n");
        for rows in rows_by_key.values() {
            page.0.push_str("<tr>");
            for name in &columns {
                self.cell(page, name, rows);
            }
            page.0.push_str("</tr>\n");
        }
        page.0.push_str("</tbody></table></div>\n");
    }

    /// Whether the column is a count that is zero in every row.
    fn is_zero(&self, name: &str) -> bool {
        let column = self.table.column(name);
        column.is_some_and(|column| (0..self.table.rows()).all(|row| column.cell(row) == TableCell::Count(0)))
    }

    /// Rows of every key, in the order of the keys.
    fn rows_by_key(&self) -> BTreeMap<u64, Vec<usize>> {
        let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let Some(column) = self.table.column(self.key) else { return rows };
        for row in 0..self.table.rows() {
            if let TableCell::Count(key) = column.cell(row) {
                rows.entry(key).or_default().push(row);
            }
        }
        rows
    }

    /// Adds the cell of the column `name` for the row of each run.
    fn cell(&self, page: &mut Markup, name: &str, rows: &[usize]) {
        let Some(column) = self.table.column(name) else { return };
        let cells: Vec<TableCell<'_>> = rows.iter().map(|row| column.cell(*row)).collect();
        // Texts, such as names, are equal in all runs.
        if let Some(TableCell::Text(text)) = cells.first() {
            page.add(format_args!("<td class=\"text\">{}</td>", Escaped(text)));
        } else {
            let estimate = estimate(&cells);
            let shown =
                if estimate.n == 0 { "–".to_owned() } else { text::over_runs(&estimate, cells.len()) };
            page.add(format_args!("<td class=\"number\">{}</td>", Escaped(&shown)));
        }
    }
}

/// Sentence with the columns that are omitted because they are zero in every row.
fn zero_note(names: &[&str]) -> String {
    if names.is_empty() {
        return String::new();
    }
    let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
    format!(" Zero in every row: {}.", labels.join(", "))
}

/// Estimate over the cells of one row in all runs in which it has a number.
fn estimate(cells: &[TableCell<'_>]) -> Estimate {
    Estimate::of_present(cells.iter().map(|cell| number(*cell)))
}

fn number(cell: TableCell<'_>) -> Option<f64> {
    match cell {
        TableCell::Count(count) => Some(count as f64),
        TableCell::Short(number) => Some(f64::from(number)),
        TableCell::Number(number) => Some(number),
        TableCell::Bool(is_true) => Some(f64::from(u8::from(is_true))),
        TableCell::Missing | TableCell::Text(_) => None,
    }
}

/// A column head that shows its definition and leads to the glossary.
fn head(page: &mut Markup, name: &str) {
    let Some(definition) = definitions::find(name) else { return };
    // Columns without a unit are texts, except for these numbers.
    let is_text = definition.unit.is_empty()
        && !matches!(name, "utilisation" | "jain_index" | "timeouts" | "marks" | "nacks");
    let label = label(name);
    page.add(format_args!(
        "<th scope=\"col\"{}><a class=\"def\" href=\"#def-{}\" title=\"{}\">{}</a>",
        if is_text { "" } else { " class=\"number\"" },
        Escaped(name),
        Escaped(definition.text),
        Escaped(&label)
    ));
    if !matches!(definition.unit, "" | "packets" | "segments" | "flows") {
        page.add(format_args!(" <small>{}</small>", Escaped(definition.unit)));
    }
    page.0.push_str("</th>");
}

/// Label of a column without its unit: `full_delay_p95_ms` is `full delay p95`.
pub(super) fn label(name: &str) -> String {
    let stem =
        ["_ms", "_s", "_mbps", "_packets", "_bytes"].iter().find_map(|suffix| name.strip_suffix(suffix));
    stem.unwrap_or(name).replace('_', " ").replace("jain", "Jain")
}

/// A column of one run-level table as an estimate over all runs.
pub(super) fn run_level(table: &ResultTable, name: &str) -> Estimate {
    let Some(column) = table.column(name) else { return Estimate::NONE };
    let cells: Vec<TableCell<'_>> = (0..table.rows()).map(|row| column.cell(row)).collect();
    estimate(&cells)
}
