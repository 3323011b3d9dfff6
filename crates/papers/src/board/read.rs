//! Reads the figures and tables of a board, and refuses what would be left out of them.

use tidegate_settings::document::{Item, TomlValue};
use tidegate_settings::fields::Fields;
use tidegate_settings::read_context::ReadContext;

use super::texts::{Braces, check_texts, with_expressions};
use super::{COLUMN, Cell, Drawing, FigurePlan, Groups, KINDS, SERIES, SeriesPlan, TableColumn, TablePlan};
use crate::expression::Binding;
use crate::items::{binding, expression, expression_within, text, words_of};

/// Keys of a figure that belong to some kinds of figures only.
const FIGURE_KEYS: &[(&str, &[Drawing])] = &[
    ("points", &[Drawing::Lines]),
    ("groups", &[Drawing::Bars]),
    ("is_x_logarithmic", &[Drawing::Cdf]),
    ("x_min", &[Drawing::Cdf]),
];

/// Keys of a series that belong to some kinds of figures only.
const SERIES_KEYS: &[(&str, &[Drawing])] = &[
    ("values", &[Drawing::Bars]),
    ("published", &[Drawing::Lines, Drawing::Bars]),
    ("points", &[Drawing::Curves]),
    ("along", &[Drawing::Lines]),
    ("aside", &[Drawing::Lines]),
];

pub(super) fn figure(fields: &Fields<'_>) -> Option<FigurePlan> {
    let drawing = fields.word("kind", &KINDS)?;
    refuse_of_other_kinds(fields, FIGURE_KEYS, drawing);
    let bindings = bindings(fields);
    let around: Vec<&Binding> = bindings.iter().collect();
    refuse_twice(fields, "for", &around);
    check_texts(fields, &["id", "title", "caption"], Braces::Variables(&around));
    check_texts(fields, &["x_label", "y_label"], Braces::Kept);
    let groups = match drawing {
        Drawing::Lines => fields.item("points").map(|item| settings(fields.context, item)),
        Drawing::Bars => fields.item("groups").map(|item| groups(fields.context, item)),
        Drawing::Curves | Drawing::Cdf | Drawing::Boxes => Some(Groups::None),
    };
    if groups.is_none() {
        fields.refuse_missing(if drawing == Drawing::Lines { "\"points\"" } else { "\"groups\"" });
    }
    let groups = groups?;
    refuse_empty(fields, "series");
    let read = |fields: &Fields<'_>| series(fields, drawing, &groups, &around);
    Some(FigurePlan {
        series: fields.tables("series", &SERIES).iter().filter_map(read).collect(),
        id: fields.text("id")?,
        at: fields.place_of("id").into(),
        title: words_of(fields, "title")?,
        caption: fields.text("caption").unwrap_or_default(),
        drawing,
        x_label: fields.text("x_label").unwrap_or_default(),
        y_label: words_of(fields, "y_label")?,
        is_full: fields.flag("full").unwrap_or(false),
        is_x_logarithmic: fields.flag("is_x_logarithmic").unwrap_or(false),
        x_min: fields.number("x_min").unwrap_or(f64::NEG_INFINITY),
        groups,
        bindings,
    })
}

fn refuse_of_other_kinds(fields: &Fields<'_>, keys: &[(&str, &[Drawing])], drawing: Drawing) {
    for (key, drawings) in keys.iter().filter(|(_, drawings)| !drawings.contains(&drawing)) {
        let Some(entry) = fields.entry(key) else { continue };
        let words: Vec<&str> = drawings.iter().map(|drawing| word(*drawing)).collect();
        let message = format!(
            "{key} belongs to figures of the kind {}; this one is of the kind {}",
            words.join(" or "),
            word(drawing)
        );
        fields.context.refuse(entry.place, message);
    }
}

fn word(drawing: Drawing) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == drawing).map_or("", |(_, word)| word)
}

/// Refuses a list without elements.
fn refuse_empty(fields: &Fields<'_>, key: &str) {
    if let Some(Item { value: TomlValue::List(items), .. }) = fields.item(key)
        && items.is_empty()
    {
        fields.refuse(key, format!("{key} is empty; it needs at least one element"));
    }
}

/// Refuses all but the first of the keys that are given, each of which replaces the others.
fn refuse_together(fields: &Fields<'_>, keys: &[&str]) {
    let given: Vec<_> = keys.iter().filter_map(|key| fields.entry(key)).collect();
    if let [first, others @ ..] = given.as_slice() {
        for other in others {
            let message = format!("{} and {} exclude each other; remove one of them", first.key, other.key);
            fields.context.refuse(other.place, message);
        }
    }
}

impl Groups {
    /// The message about a series called `name` with `count` expressions, if these groups need another number.
    fn wrong_count(&self, name: &str, count: usize) -> Option<String> {
        match self {
            Self::Names(names) if names.len() != count => {
                Some(format!("series {name:?} needs {} values, one for each group", names.len()))
            }
            Self::None | Self::Settings(_) if count != 1 => Some(format!("series {name:?} needs y")),
            _ => None,
        }
    }

    /// The message about `count` published values, if there are `groups` bars.
    pub fn wrong_published(count: usize, groups: usize) -> Option<String> {
        (count != 0 && count != groups)
            .then(|| format!("{count} published values for {groups} groups; write nan where there is none"))
    }
}

/// Reads a series of a figure with these variables around it; `None` if one of its expressions cannot be read.
fn series(fields: &Fields<'_>, drawing: Drawing, groups: &Groups, around: &[&Binding]) -> Option<SeriesPlan> {
    refuse_of_other_kinds(fields, SERIES_KEYS, drawing);
    refuse_together(fields, &["y", "values", "points"]);
    let bindings = bindings(fields);
    let around: Vec<&Binding> = around.iter().copied().chain(&bindings).collect();
    refuse_twice(fields, "for", &around);
    check_texts(fields, &["name"], Braces::Variables(&around));
    let one = fields.item("y").map(|item| expression(fields.context, item));
    let each = fields.list("values").iter().map(|item| expression(fields.context, item));
    let published = fields.list("published").iter();
    let plan = SeriesPlan {
        name: words_of(fields, "name")?,
        at: fields.place_of("name").into(),
        values: one.into_iter().chain(each).collect::<Option<_>>()?,
        published: if drawing == Drawing::Lines {
            let points: Vec<_> = published.filter_map(|item| point(fields.context, item)).collect();
            if points.iter().any(|(x, y)| x.is_nan() || y.is_nan()) {
                fields.refuse("published", "a published point is not a number; leave it out");
            }
            points.into_iter().flat_map(|(x, y)| [x, y]).collect()
        } else {
            published.filter_map(|item| number(fields.context, item)).collect()
        },
        published_at: fields.place_of("published").into(),
        points: fields.list("points").iter().filter_map(|item| point(fields.context, item)).collect(),
        along: fields.item("along").and_then(|item| binding(fields.context, item)),
        is_aside: fields.flag("aside").unwrap_or(false),
        bindings,
    };
    refuse_empty(fields, "published");
    check_points(fields, &plan.points);
    // Curves may have fixed points, such as those of a published curve, in place of an expression.
    let has_points = drawing == Drawing::Curves && fields.item("points").is_some();
    let wrong = groups.wrong_count(&plan.name, plan.values.len()).filter(|_| !has_points);
    if let Some(message) = wrong {
        fields.context.refuse(fields.place, message);
    }
    if let (Drawing::Bars, Groups::Names(names)) = (drawing, groups)
        && let Some(message) = Groups::wrong_published(fields.list("published").len(), names.len())
    {
        fields.refuse("published", message);
    }
    Some(plan)
}

/// Refuses fixed points that cannot be drawn as a curve.
fn check_points(fields: &Fields<'_>, points: &[(f64, f64)]) {
    refuse_empty(fields, "points");
    if points.iter().any(|(x, y)| x.is_nan() || y.is_nan()) {
        fields.refuse("points", "a point of a curve is not a number");
    }
    if let Some(pair) = points.windows(2).find(|pair| pair[1].0 < pair[0].0) {
        fields.refuse("points", format!("x descends from {} to {}; it has to ascend", pair[0].0, pair[1].0));
    }
}

pub(super) fn table(fields: &Fields<'_>) -> Option<TablePlan> {
    let is_of_claims = fields.flag("claims").unwrap_or(false);
    refuse_other_content(fields, is_of_claims);
    let row = |item: &Item| match &item.value {
        TomlValue::List(items) => Some(items.iter().filter_map(|item| cell(fields.context, item)).collect()),
        other => {
            fields.context.refuse(item.place, format!("a row is a list of texts; this is {}", other.kind()));
            None
        }
    };
    let table = TablePlan {
        title: with_expressions(fields.context, fields.item("title")?),
        is_full: fields.flag("full").unwrap_or(false),
        rows: rows(fields),
        heads: fields.list("heads").iter().filter_map(|item| plain_text(fields.context, item)).collect(),
        columns: fields.tables("columns", &COLUMN).iter().filter_map(column).collect(),
        cells: fields.list("cells").iter().filter_map(row).collect(),
        is_of_claims,
    };
    let is_free = fields.item("cells").is_some();
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

/// Refuses a table without content, and one with keys that its content leaves out.
fn refuse_other_content(fields: &Fields<'_>, is_of_claims: bool) {
    ["rows", "columns", "cells"].iter().for_each(|key| refuse_empty(fields, key));
    let all: &[&[&str]] = if is_of_claims {
        &[&["claims", "rows"], &["claims", "columns"], &["claims", "cells"], &["claims", "heads"]]
    } else {
        &[&["cells", "rows"], &["cells", "columns"]]
    };
    all.iter().for_each(|keys| refuse_together(fields, keys));
    if !is_of_claims && fields.item("columns").is_none() && fields.item("cells").is_none() {
        fields.refuse_missing("\"columns\", \"cells\" or \"claims\"");
    }
    if let (Some(entry), Some([])) =
        (fields.entry("cells"), fields.item("heads").map(|_| fields.list("heads")))
    {
        fields.context.refuse(entry.place, "cells need heads");
    }
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
    if !lists.is_empty() && lists.len() != items.len() {
        fields.refuse("rows", "rows are texts, or lists of texts, and not both");
    }
    // A list without inner lists is the short form of a single combination.
    let lists = if lists.is_empty() { vec![one(items)] } else { lists };
    lists.iter().for_each(|list| refuse_twice(fields, "rows", &list.iter().collect::<Vec<_>>()));
    lists
}

/// Refuses two variables of one name.
fn refuse_twice(fields: &Fields<'_>, key: &str, bindings: &[&Binding]) {
    let is_twice = |(place, one): &(usize, &&Binding)| {
        bindings[..*place].iter().any(|other| other.variable == one.variable)
    };
    if let Some((_, one)) = bindings.iter().enumerate().find(is_twice) {
        fields.refuse(key, format!("variable {} is declared twice", one.variable));
    }
}

fn column(fields: &Fields<'_>) -> Option<TableColumn> {
    refuse_empty(fields, "text");
    refuse_together(fields, &["text", "y"]);
    refuse_together(fields, &["text", "not_done"]);
    let value = |key: &str| fields.item(key).and_then(|item| expression(fields.context, item));
    let bindings = bindings(fields);
    let around: Vec<&Binding> = bindings.iter().collect();
    refuse_twice(fields, "for", &around);
    check_texts(fields, &["head"], Braces::Variables(&around));
    if fields.item("y").is_none() && fields.item("text").is_none() {
        fields.refuse_missing("\"y\"");
    }
    Some(TableColumn {
        head: words_of(fields, "head")?,
        at: fields.place_of("head").into(),
        value: value("y"),
        text: fields.list("text").iter().map(|item| with_expressions(fields.context, item)).collect(),
        text_at: fields.place_of("text").into(),
        not_done: value("not_done"),
        bindings,
    })
}

fn cell(context: &ReadContext<'_>, item: &Item) -> Option<Cell> {
    match text(context, item)?.strip_prefix('=') {
        Some(rest) => expression_within(context, item, rest, 1).map(Cell::Value),
        None => plain_text(context, item).map(Cell::Text),
    }
}

/// A text in which nothing is replaced.
fn plain_text(context: &ReadContext<'_>, item: &Item) -> Option<String> {
    Braces::Kept.check(context, item);
    text(context, item).map(str::to_owned)
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
            if items.is_empty() {
                context.refuse(item.place, "groups is empty; it needs at least one element");
            }
            let names: Vec<String> = items.iter().filter_map(|item| plain_text(context, item)).collect();
            if names.iter().any(|name| name.trim().is_empty()) {
                context.refuse(item.place, "a name of groups is empty; a text is needed");
            }
            Groups::Names(names)
        }
        _ => settings(context, item),
    }
}

/// A finite number, or NaN where a published value is missing.
fn number(context: &ReadContext<'_>, item: &Item) -> Option<f64> {
    match &item.value {
        TomlValue::Number(number) if !number.value.is_infinite() => Some(number.value),
        TomlValue::Number(_) => context.refused(item.place, "an infinite number cannot be drawn"),
        other => {
            context.refuse(item.place, format!("a number is expected; this is {}", other.kind()));
            None
        }
    }
}

fn point(context: &ReadContext<'_>, item: &Item) -> Option<(f64, f64)> {
    match &item.value {
        TomlValue::List(items) => match items.as_slice() {
            [x, y] => Some((number(context, x)?, number(context, y)?)),
            other => {
                context.refuse(item.place, format!("a point is [x, y]; this has {} numbers", other.len()));
                None
            }
        },
        other => {
            context.refuse(item.place, format!("a point is [x, y]; this is {}", other.kind()));
            None
        }
    }
}
