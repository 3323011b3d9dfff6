//! `board.toml`: figures and tables of a paper, declared by expressions over cells.

use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::error::Errors;
use tidegate_settings::fields::Fields;
use tidegate_settings::keys::{Format, KeyKind};
use tidegate_settings::read_context::ReadContext;

use crate::expression::{Binding, PlacedExpression, Range};
use crate::items::{binding, expression, expression_within, key_tables, read_file, text};

key_tables! {
    ROOT "board" {
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
    /// Means over groups.
    Bars,
    /// Points of a series of one run.
    Curves,
    /// Cumulative fraction of a list of one run.
    Cdf,
    /// Boxes with quartiles.
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
    /// One expression for all groups, or one for each.
    pub values: Vec<PlacedExpression>,
    /// Published values by group, NaN for none; of lines pairs of x and y one after another.
    pub published: Vec<f64>,
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
    /// Expression whose value is shown; `None` for a column of texts.
    pub value: Option<PlacedExpression>,
    /// A text for each row in place of a value.
    pub text: Vec<Vec<Cell>>,
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

fn figure(fields: &Fields<'_>) -> Option<FigurePlan> {
    let drawing = fields.word("kind", &KINDS);
    let series: Vec<SeriesPlan> = fields.tables("series", &SERIES).iter().filter_map(series).collect();
    let groups = match drawing? {
        Drawing::Lines => fields.item("points").map(|item| settings(fields.context, item)),
        Drawing::Bars => fields.item("groups").map(|item| groups(fields.context, item)),
        Drawing::Curves | Drawing::Cdf | Drawing::Boxes => Some(Groups::None),
    };
    if groups.is_none() {
        fields.refuse_missing(if drawing? == Drawing::Lines { "\"points\"" } else { "\"groups\"" });
    }
    let groups = groups?;
    let has_points = |one: &SeriesPlan| drawing == Some(Drawing::Curves) && !one.points.is_empty();
    // Curves may have fixed points, such as those of a published curve, in place of an expression.
    if let Some(one) = series.iter().find(|one| !has_points(one) && one.is_wrong_for(&groups)) {
        let message = match &groups {
            Groups::Names(names) => {
                format!("series {:?} needs {} values, one for each group", one.name, names.len())
            }
            _ => format!("series {:?} needs y", one.name),
        };
        fields.refuse("series", message);
    }
    Some(FigurePlan {
        bindings: bindings(fields),
        id: fields.text("id")?,
        at: fields.place_of("id").into(),
        title: fields.text("title")?,
        caption: fields.text("caption").unwrap_or_default(),
        drawing: drawing?,
        x_label: fields.text("x_label").unwrap_or_default(),
        y_label: fields.text("y_label")?,
        is_full: fields.flag("full").unwrap_or(false),
        groups,
        series,
        is_x_logarithmic: fields.flag("is_x_logarithmic").unwrap_or(false),
        x_min: fields.number("x_min").unwrap_or(f64::NEG_INFINITY),
    })
}

impl SeriesPlan {
    /// Whether the number of its expressions differs from the one that the groups need.
    fn is_wrong_for(&self, groups: &Groups) -> bool {
        match groups {
            Groups::Names(names) => self.values.len() != names.len(),
            Groups::None | Groups::Settings(_) => self.values.len() != 1,
        }
    }
}

/// Reads a series; `None` if one of its expressions cannot be read.
fn series(fields: &Fields<'_>) -> Option<SeriesPlan> {
    let one = fields.item("y").and_then(|item| expression(fields.context, item));
    let each = fields.list("values").iter().map(|item| expression(fields.context, item));
    // A y that cannot be read is `Some(None)`: the series is `None` then, and not one without values.
    let given = fields.item("y").map(|_| one);
    Some(SeriesPlan {
        bindings: bindings(fields),
        name: fields.text("name")?,
        values: given.into_iter().chain(each).collect::<Option<_>>()?,
        published: fields.list("published").iter().flat_map(|item| numbers(fields.context, item)).collect(),
        points: fields.list("points").iter().filter_map(|item| point(fields.context, item)).collect(),
        along: fields.item("along").and_then(|item| binding(fields.context, item)),
        is_aside: fields.flag("aside").unwrap_or(false),
    })
}

fn table(fields: &Fields<'_>) -> Option<TablePlan> {
    let texts = |key: &str| -> Vec<String> {
        fields.list(key).iter().filter_map(|item| text(fields.context, item).map(str::to_owned)).collect()
    };
    let row = |item: &Item| match &item.value {
        TomlValue::List(items) => items.iter().filter_map(|item| cell(fields.context, item)).collect(),
        _ => Vec::new(),
    };
    let table = TablePlan {
        title: title(fields.context, fields.item("title")?),
        is_full: fields.flag("full").unwrap_or(false),
        rows: rows(fields),
        heads: texts("heads"),
        columns: fields.tables("columns", &COLUMN).iter().filter_map(column).collect(),
        cells: fields.list("cells").iter().map(row).collect(),
        is_of_claims: fields.flag("claims").unwrap_or(false),
    };
    let is_free = !table.cells.is_empty();
    if let Some(rows) = table.rows.iter().find(|rows| !is_free && rows.len() != table.heads.len()) {
        let message = format!("{} heads for {} columns of labels", table.heads.len(), rows.len());
        fields.refuse("heads", message);
    }
    if let Some(row) = table.cells.iter().find(|row| is_free && row.len() != table.heads.len()) {
        fields.refuse(
            "cells",
            format!("a row has {} cells and there are {} heads", row.len(), table.heads.len()),
        );
    }
    Some(table)
}

/// Variables of the rows: one list of texts, or several.
fn rows(fields: &Fields<'_>) -> Vec<Vec<Binding>> {
    let one = |items: &[Item]| items.iter().filter_map(|item| binding(fields.context, item)).collect();
    let items = fields.list("rows");
    let several = |item: &Item| match &item.value {
        TomlValue::List(items) => Some(one(items)),
        _ => None,
    };
    let lists: Vec<Vec<Binding>> = items.iter().filter_map(several).collect();
    // A list without inner lists is the short form of a single combination.
    if lists.is_empty() { vec![one(items)] } else { lists }
}

fn column(fields: &Fields<'_>) -> Option<TableColumn> {
    let value = |key: &str| fields.item(key).and_then(|item| expression(fields.context, item));
    let text = fields.list("text").iter().map(|item| title(fields.context, item));
    let column = TableColumn {
        bindings: bindings(fields),
        head: fields.text("head")?,
        value: value("y"),
        text: text.collect(),
        not_done: value("not_done"),
    };
    if fields.item("y").is_none() && column.text.is_empty() {
        fields.refuse_missing("\"y\"");
    }
    Some(column)
}

fn cell(context: &ReadContext<'_>, item: &Item) -> Option<Cell> {
    let text = text(context, item)?;
    match text.strip_prefix('=') {
        Some(rest) => expression_within(context, item, rest, 1).map(Cell::Value),
        None => Some(Cell::Text(text.to_owned())),
    }
}

/// Splits a title into texts and the expressions of `{= expression}`.
fn title(context: &ReadContext<'_>, item: &Item) -> Vec<Cell> {
    let Some(whole) = text(context, item) else { return Vec::new() };
    let mut cells = Vec::new();
    let mut at = 0;
    while let Some(start) = whole[at..].find("{=").map(|found| at + found) {
        // A bracket without its end is text, such as part of a formula in a title.
        let Some(end) = whole[start..].find('}').map(|found| start + found) else { break };
        cells.push(Cell::Text(whole[at..start].to_owned()));
        cells.extend(expression_within(context, item, &whole[start + 2..end], start + 2).map(Cell::Value));
        at = end + 1;
    }
    cells.push(Cell::Text(whole[at..].to_owned()));
    cells
}

/// The variables of `for`: a text or a list of texts.
fn bindings(fields: &Fields<'_>) -> Vec<Binding> {
    let Some(item) = fields.item("for") else { return Vec::new() };
    match &item.value {
        TomlValue::List(items) => items.iter().filter_map(|item| binding(fields.context, item)).collect(),
        _ => binding(fields.context, item).into_iter().collect(),
    }
}

fn settings(context: &ReadContext<'_>, item: &Item) -> Groups {
    binding(context, item).map_or(Groups::None, Groups::Settings)
}

fn groups(context: &ReadContext<'_>, item: &Item) -> Groups {
    match &item.value {
        TomlValue::List(items) => {
            Groups::Names(items.iter().filter_map(|item| text(context, item).map(str::to_owned)).collect())
        }
        _ => settings(context, item),
    }
}

/// A number, or the numbers of a list.
fn numbers(context: &ReadContext<'_>, item: &Item) -> Vec<f64> {
    match &item.value {
        TomlValue::Number(number) => vec![number.value],
        TomlValue::List(items) => items.iter().flat_map(|item| numbers(context, item)).collect(),
        other => {
            context.refuse(item.place, format!("a number is expected; this is {}", other.kind()));
            Vec::new()
        }
    }
}

fn point(context: &ReadContext<'_>, item: &Item) -> Option<(f64, f64)> {
    match numbers(context, item).as_slice() {
        [x, y] => Some((*x, *y)),
        other => context.refused(item.place, format!("a point is [x, y]; this has {} numbers", other.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"format = 1
[[figure]]
id = "fig1{letter}"
title = "Fig. 1"
kind = "lines"
for = "t in tick"
x_label = "alpha [1]"
y_label = "loss [1]"
points = "a in alpha"
series = [{ for = "s in scheme", name = "{s}", y = "loss[grid, s, t, a]", published = [[1, 0.5], [2, nan]] }]
[[figure]]
id = "table1"
title = "TablePlan 1"
kind = "bars"
y_label = "loss [1]"
groups = ["one", "two"]
series = [{ name = "ours", values = ["loss[one]", "loss[two]"], published = [0.1, nan] }]
[[table]]
title = "At most {= max(loss[one]) } of it"
rows = ["s in scheme"]
heads = ["scheme"]
columns = [{ head = "loss", y = "loss[one, s]", not_done = "open[one, s]" }, { head = "published", text = ["a", "b"] }]
[[table]]
title = "Free"
full = true
heads = ["", "value"]
cells = [["one", "=loss[one]"]]
"#;

    #[test]
    fn figures_and_tables_have_their_words_and_expressions() {
        let board = Board::parse("board.toml", TEXT).unwrap_or_else(|errors| panic!("{errors}"));
        let [lines, bars] = board.figures.as_slice() else { panic!("two figures") };
        assert_eq!((lines.id.as_str(), lines.bindings[0].axis.as_str()), ("fig1{letter}", "tick"));
        assert_eq!(lines.series[0].published[..3], [1.0, 0.5, 2.0]);
        assert_eq!(bars.groups, Groups::Names(vec!["one".to_owned(), "two".to_owned()]));
        assert!(bars.series[0].published[1].is_nan());
        let names = |is_full| -> Vec<String> {
            let sources = board.sources(is_full);
            sources.iter().map(|(around, source)| format!("{} {}", around.len(), source.expression)).collect()
        };
        let quick = [
            "3 loss[grid, s, t, a]",
            "0 loss[one]",
            "0 loss[two]",
            "0 max(loss[one])",
            "1 loss[one, s]",
            "1 open[one, s]",
        ];
        assert_eq!(names(false), quick);
        assert_eq!(names(true)[6..], ["0 loss[one]"]);
        for (_, source) in board.sources(true) {
            let start = &TEXT[source.at.start..];
            let text = source.expression.to_string();
            let first = &text[..text.find(['[', '(']).unwrap_or(0)];
            assert!(start.trim_start().starts_with(first), "{text} is not at {start:.40}");
        }
    }

    #[track_caller]
    fn assert_refused(from: &str, to: &str, place: &str, message: &str) {
        assert!(TEXT.contains(from), "{from}");
        let errors = Board::parse("b.toml", &TEXT.replacen(from, to, 1)).expect_err("wrong");
        assert_eq!(crate::first_of(&errors), (place.to_owned(), message.to_owned()));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        assert_refused("loss[grid, s,", "loss[grid s,", "10:63", "'s' where ']' or ',' is expected");
        assert_refused("\"t in tick\"", "\"t of tick\"", "6:10", "'o' where \"in\" is expected");
        assert_refused(
            "points = \"a in alpha\"\n",
            "",
            "2:1",
            "\"points\" is missing; [[figure]] requires it",
        );
        assert_refused(", \"loss[two]\"", "", "17:10", "series \"ours\" needs 2 values, one for each group");
        assert_refused("heads = [\"scheme\"]", "heads = []", "21:9", "0 heads for 1 columns of labels");
        assert_refused(
            "[\"one\", \"=loss[one]\"]",
            "[\"one\"]",
            "27:9",
            "a row has 1 cells and there are 2 heads",
        );
        assert_refused("y = \"loss[one, s]\", ", "", "22:12", "\"y\" is missing; columns requires it");
        assert_refused("[1, 0.5]", "[1, \"x\"]", "10:92", "a number is expected; this is a text");
    }
}
