//! `board.toml`: figures and tables of a paper, declared by expressions over cells.

mod read;
mod texts;

use tidegate_settings::error::Errors;
use tidegate_settings::keys::{Format, KeyKind};

use crate::expression::{Binding, PlacedExpression, Range};
use crate::items::{key_tables, read_file};
use read::{figure, table};

key_tables! {
    ROOT "board.toml" {
        "format" Must: KeyKind::Count(1, 1), "Version of this format: 1.";
        "figure" May: KeyKind::List(&KeyKind::Table(&FIGURE)), "Figures, in the order of the page.";
        "table" May: KeyKind::List(&KeyKind::Table(&TABLE)), "Tables, in the order of the page.";
    }
    FIGURE "[[figure]]" {
        "id" Must: KeyKind::Text, "Short name without spaces, used as file name.";
        "title" Must: KeyKind::Text, "Title of the figure.";
        "caption" Else(""): KeyKind::Text, "Explanation of the figure and its conditions.";
        "kind" Must: KeyKind::Words(|| words(&KINDS)), "Kind of drawing.";
        "x_label" Else(""): KeyKind::Text, "Label of the x axis, with unit.";
        "y_label" Must: KeyKind::Text, "Label of the y axis, with unit.";
        "for" May: KeyKind::Any, "One figure for each setting: \"t in tick\", or a list of such texts.";
        "full" May: KeyKind::Bool, "Whether the figure is drawn with --full only.";
        "points" May: KeyKind::Text, "lines: settings along x, such as \"a in alpha\".";
        "groups" May: KeyKind::Any, "bars: settings along x, or a list of names.";
        "series" Must: KeyKind::List(&KeyKind::Table(&SERIES)), "Data series of the figure.";
        "is_x_logarithmic" May: KeyKind::Bool, "cdf: whether the x axis is logarithmic.";
        "x_min" May: KeyKind::Number(0.0, f64::INFINITY), "cdf: minimum x; smaller values are drawn there.";
    }
    SERIES "series" {
        "name" Must: KeyKind::Text, "Name in the legend; {s} is replaced by the label of a variable's setting.";
        "for" May: KeyKind::Any, "One series for each setting: \"s in scheme\", or a list of such texts.";
        "y" May: KeyKind::Text, "Expression whose value is drawn.";
        "values" May: KeyKind::List(&KeyKind::Text), "bars with a list of names as groups: an expression for each.";
        "published" May: KeyKind::List(&KeyKind::Any),
            "Published values: bars, a number for each group, nan for none; lines, points [x, y].";
        "points" May: KeyKind::List(&KeyKind::Any), "curves: fixed points [x, y] instead of y.";
        "along" May: KeyKind::Text, "lines: settings along x instead of those of the figure.";
        "aside" May: KeyKind::Bool, "lines: whether the series is omitted where it is above all others.";
    }
    TABLE "[[table]]" {
        "title" Must: KeyKind::Text, "Title of the table; {= expression} is replaced by its value.";
        "full" May: KeyKind::Bool, "Whether the table is written with --full only.";
        "rows" May: KeyKind::List(&KeyKind::Any),
            "Settings whose combinations are the rows: [\"s in scheme\"]; or a list of such lists, one after another.";
        "heads" May: KeyKind::List(&KeyKind::Text), "Heads of the columns with the row labels.";
        "columns" May: KeyKind::List(&KeyKind::Table(&COLUMN)), "Columns after those with the row labels.";
        "cells" May: KeyKind::List(&KeyKind::List(&KeyKind::Text)), "Rows of texts; a text that begins with = is an expression.";
        "claims" May: KeyKind::Bool, "Whether the table has a row for each claim and a column for each alternative.";
    }
    COLUMN "columns" {
        "head" Must: KeyKind::Text, "Head of the column; {l} is replaced by the label of a variable's setting.";
        "for" May: KeyKind::Any, "One column for each setting: \"l in loss\", or a list of such texts.";
        "y" May: KeyKind::Text, "Expression whose value is shown.";
        "text" May: KeyKind::List(&KeyKind::Text), "Text of each row, instead of y.";
        "not_done" May: KeyKind::Text, "Expression; the number of seeds in which it is above 0 is shown as not done.";
    }
}

static FORMAT: Format = Format {
    root: &ROOT,
    version: 1,
    synonyms: &[("figures", "figure"), ("tables", "table"), ("legend", "name"), ("row", "rows")],
};

const KINDS: [(Drawing, &str); 5] = [
    (Drawing::Lines, "lines"),
    (Drawing::Bars, "bars"),
    (Drawing::Curves, "curves"),
    (Drawing::Cdf, "cdf"),
    (Drawing::Boxes, "boxes"),
];

fn words(all: &[(Drawing, &'static str)]) -> Vec<&'static str> {
    all.iter().map(|(_, word)| *word).collect()
}

/// Everything in a `board.toml`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    /// Figures in the order of the page.
    pub figures: Vec<FigurePlan>,
    /// Tables in the order of the page.
    pub tables: Vec<TablePlan>,
}

/// Kind of the drawing of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drawing {
    /// Means over the number of a setting.
    Lines,
    /// Means over named groups.
    Bars,
    /// Points of a series of one run.
    Curves,
    /// Cumulative fraction of a list of one run.
    Cdf,
    /// Boxes from quartile to quartile.
    Boxes,
}

/// A figure, or one for each setting of its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct FigurePlan {
    /// Variables: there is a figure for each combination of their settings.
    pub bindings: Vec<Binding>,
    /// Short name, also that of its file; `{s}` in it is the label of a variable's setting.
    pub id: String,
    /// Place of its id in the file.
    pub at: Range,
    /// Title, with variables in braces.
    pub title: String,
    /// Explanation under the figure, with variables in braces.
    pub caption: String,
    /// Kind of the drawing.
    pub drawing: Drawing,
    /// Label of the x axis with its unit.
    pub x_label: String,
    /// Label of the y axis with its unit.
    pub y_label: String,
    /// Whether it belongs to a full study only.
    pub is_full: bool,
    /// Positions along x of lines and bars.
    pub groups: Groups,
    /// Lines, groups of bars, curves or boxes.
    pub series: Vec<SeriesPlan>,
    /// Of a cdf: whether x is logarithmic.
    pub is_x_logarithmic: bool,
    /// Of a cdf: the minimum x; smaller values are drawn there.
    pub x_min: f64,
}

/// Positions along the x axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Groups {
    /// Numbers, which need no names.
    None,
    /// The settings of an axis.
    Settings(Binding),
    /// Names that the board lists.
    Names(Vec<String>),
}

/// One series, or one for each setting of its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesPlan {
    /// Variables: there is a series for each combination of their settings.
    pub bindings: Vec<Binding>,
    /// Name in the legend, with variables in braces.
    pub name: String,
    /// Place of the name in the file.
    pub at: Range,
    /// One expression for all groups, or one for each.
    pub values: Vec<PlacedExpression>,
    /// Published values by group, NaN for none; of lines pairs of x and y one after another.
    pub published: Vec<f64>,
    /// Place of the published values in the file.
    pub published_at: Range,
    /// Fixed points in place of values.
    pub points: Vec<(f64, f64)>,
    /// Positions along x in place of those of the figure.
    pub along: Option<Binding>,
    /// Whether the series is omitted if it is above all others.
    pub is_aside: bool,
}

/// A table of values or of texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TablePlan {
    /// Title: texts, and expressions whose values are put between them.
    pub title: Vec<Cell>,
    /// Whether it belongs to a full study only.
    pub is_full: bool,
    /// Variables of the rows: all combinations of the first list, then those of the next.
    pub rows: Vec<Vec<Binding>>,
    /// Heads of the columns with labels, or of all columns of free cells.
    pub heads: Vec<String>,
    /// Columns with values, on the right of the labels.
    pub columns: Vec<TableColumn>,
    /// Rows of free cells.
    pub cells: Vec<Vec<Cell>>,
    /// Whether its rows are the claims.
    pub is_of_claims: bool,
}

/// A text or the value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text without changes.
    Text(String),
    /// An expression whose value is shown.
    Value(PlacedExpression),
}

impl Cell {
    fn source(&self) -> Option<&PlacedExpression> {
        match self {
            Self::Value(source) => Some(source),
            Self::Text(_) => None,
        }
    }
}

/// A column, or one for each setting of its variables.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Variables: there is a column for each combination of their settings.
    pub bindings: Vec<Binding>,
    /// Head of the column, with variables in braces.
    pub head: String,
    /// Place of the head in the file.
    pub at: Range,
    /// Expression whose value is shown; `None` for a column of texts.
    pub value: Option<PlacedExpression>,
    /// A text for each row in place of a value.
    pub text: Vec<Vec<Cell>>,
    /// Place of these texts in the file.
    pub text_at: Range,
    /// Expression that is above 0 in seeds that are counted as not done.
    pub not_done: Option<PlacedExpression>,
}

impl Board {
    /// Reads the text of the file called `source_name` in messages.
    ///
    /// # Errors
    /// All errors of the text, with their lines.
    pub fn parse(source_name: &str, text: &str) -> Result<Self, Errors> {
        read_file(source_name, text, &FORMAT, |root| {
            Some(Self {
                figures: root.tables("figure", &FIGURE).iter().filter_map(figure).collect(),
                tables: root.tables("table", &TABLE).iter().filter_map(table).collect(),
            })
        })
    }

    /// All expressions in the order of the file, each with the variables around it; with `is_full` also those
    /// of a full study.
    pub fn sources(&self, is_full: bool) -> Vec<(Vec<&Binding>, &PlacedExpression)> {
        let mut all = Vec::new();
        for figure in self.figures.iter().filter(|figure| is_full || !figure.is_full) {
            let along = match &figure.groups {
                Groups::Settings(binding) => Some(binding),
                Groups::None | Groups::Names(_) => None,
            };
            for series in &figure.series {
                // A series with settings of its own along x is computed over those only.
                let along = series.along.as_ref().or(along);
                let around = || figure.bindings.iter().chain(&series.bindings).chain(along).collect();
                all.extend(series.values.iter().map(|value| (around(), value)));
            }
        }
        for table in self.tables.iter().filter(|table| is_full || !table.is_full) {
            let free = table.title.iter().chain(table.cells.iter().flatten());
            all.extend(free.filter_map(|cell| cell.source().map(|source| (Vec::new(), source))));
            for column in &table.columns {
                for rows in &table.rows {
                    // Free cells have no variables around them; those of a grid have those of row and column.
                    let around = || rows.iter().chain(&column.bindings).collect();
                    all.extend(column.value.iter().chain(&column.not_done).map(|value| (around(), value)));
                }
                let free = column.text.iter().flatten();
                all.extend(free.filter_map(|cell| cell.source().map(|source| (Vec::new(), source))));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests;
