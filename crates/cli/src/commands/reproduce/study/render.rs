//! Figures and tables of a board, from the values of all runs.

use std::fmt::Arguments;

use tidegate_pages::figure::{BarSeries, BoxStats, Curve, Figure, FigureKind, Series};
use tidegate_papers::board::{self, Drawing, Groups};
use tidegate_papers::experiments::AxisSetting;
use tidegate_papers::expression::{Binding, Expression, PlacedExpression, Range};
use tidegate_papers::formula::{Bindings, Formula, Leaf, SeedColumn};
use tidegate_papers::function::Function;
use tidegate_papers::value::MeasureValue;
use tidegate_results::stats::{self, Estimate};
use tidegate_results::text::{Align, TextTable, short};

use super::cells::CellId;
use super::{Results, Study, UNDEFINED};
use crate::commands::reproduce::Extent;
use crate::exit::Failure;

/// A table with its title.
type Titled = (String, TextTable);

/// A figure with its variables replaced.
struct Shown<'a> {
    plan: &'a board::FigurePlan,
    id: String,
}

/// Variables with their settings and the labels of these.
#[derive(Clone, Default)]
pub(super) struct Around {
    scope: Bindings,
    labels: Vec<(String, String)>,
    /// Place among all combinations of the innermost variables.
    place: usize,
}

impl Around {
    /// The text with `{v}` replaced by the label of the setting of v, and `{letter}` by a, b, c and so on.
    pub(super) fn filled(&self, text: &str) -> String {
        let letter = char::from_u32('a' as u32 + u32::try_from(self.place % 26).unwrap_or(0)).unwrap_or('a');
        let text = text.replace("{letter}", &letter.to_string());
        self.labels.iter().fold(text, |text, (name, label)| text.replace(&format!("{{{name}}}"), label))
    }

    /// The labels of all settings, for messages.
    fn shown_labels(&self) -> String {
        self.labels.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn with(&self, binding: &Binding, setting: &AxisSetting) -> Self {
        let mut around = self.clone();
        around.scope.push((binding.variable.clone(), setting.name.clone()));
        around.labels.push((binding.variable.clone(), setting.label.clone()));
        around
    }
}

impl Results<'_> {
    /// The figures of the board, in its order.
    pub(in super::super) fn figures(&self) -> Result<Vec<Figure>, Failure> {
        let Some(board) = &self.study.board else { return Ok(Vec::new()) };
        let mut figures = Vec::new();
        for figure in board.figures.iter().filter(|figure| self.is_shown(figure.is_full)) {
            for around in self.around(&Around::default(), &figure.bindings)? {
                figures.push(self.figure(figure, &around)?);
            }
        }
        Ok(figures)
    }

    /// The tables of the board, in its order; without a board a table of each experiment.
    pub(in super::super) fn tables(&self) -> Result<Vec<Titled>, Failure> {
        let Some(board) = &self.study.board else { return self.tables_of_experiments() };
        let shown = board.tables.iter().filter(|table| self.is_shown(table.is_full));
        shown.map(|table| self.table(table)).collect()
    }

    pub(super) fn is_shown(&self, is_full: bool) -> bool {
        !is_full || self.study.extent == Extent::Full
    }

    pub(super) fn settings(&self, binding: &Binding) -> Result<Vec<AxisSetting>, Failure> {
        let found = self.study.experiments.settings_of(binding);
        found.map_err(|message| self.study.board_text.at(binding.at, message))
    }

    /// All combinations of the settings of variables; the last variable changes fastest.
    pub(super) fn around(&self, outer: &Around, bindings: &[Binding]) -> Result<Vec<Around>, Failure> {
        let mut all = vec![outer.clone()];
        for binding in bindings {
            let settings = self.settings(binding)?;
            let with = |around: &Around| -> Vec<Around> {
                settings.iter().map(|setting| around.with(binding, setting)).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        all.iter_mut().enumerate().for_each(|(place, around)| around.place = place);
        Ok(all)
    }

    /// The values of an expression of the board.
    fn value(&self, source: &PlacedExpression, around: &Around) -> Result<SeedColumn, Failure> {
        let text = &self.study.board_text;
        let formula = Formula::resolve(&source.expression, &around.scope, &self.study.experiments)
            .map_err(|fault| text.fault(source.at, fault))?;
        let column = self
            .column(&formula, None, self.is_optional(&source.expression))
            .map_err(|fault| text.fault(source.at, fault))?;
        column.ok_or_else(|| text.at(source.at, "a cell of it was not run".to_owned()))
    }

    /// The samples of an expression; `part` is the part of the board that shows them, for messages.
    fn numbers(
        &self,
        source: &PlacedExpression,
        around: &Around,
        part: Arguments<'_>,
    ) -> Result<Vec<f64>, Failure> {
        let text = &self.study.board_text;
        let samples = self.value(source, around)?.samples().map_err(|message| text.at(source.at, message))?;
        self.check_finite(source, samples.iter().copied(), part)?;
        Ok(samples)
    }

    fn estimate(
        &self,
        source: &PlacedExpression,
        around: &Around,
        part: Arguments<'_>,
    ) -> Result<Estimate, Failure> {
        self.numbers(source, around, part).map(|samples| Estimate::of(&samples))
    }

    /// Whether the value may be undefined or infinite.
    fn is_optional(&self, expression: &Expression) -> bool {
        // Reduced runs may be too short for a measure.
        self.study.extent == Extent::Reduced
            || matches!(expression, Expression::Apply(Function::Optional, ..))
    }

    /// Refuses numbers that `part` cannot show, unless the expression permits them.
    fn check_finite(
        &self,
        source: &PlacedExpression,
        mut numbers: impl Iterator<Item = f64>,
        part: Arguments<'_>,
    ) -> Result<(), Failure> {
        if self.is_optional(&source.expression) {
            return Ok(());
        }
        if numbers.all(f64::is_finite) {
            return Ok(());
        }
        let message = format!("{part}: {UNDEFINED}; optional(...) around it accepts this");
        Err(self.study.board_text.at(source.at, message))
    }

    fn figure(&self, plan: &board::FigurePlan, around: &Around) -> Result<Figure, Failure> {
        let figure = &Shown { plan, id: around.filled(&plan.id) };
        let mut series: Vec<(Around, &board::SeriesPlan)> = Vec::new();
        for one in &plan.series {
            series.extend(self.around(around, &one.bindings)?.into_iter().map(|around| (around, one)));
        }
        let kind = match plan.drawing {
            Drawing::Lines => self.lines(figure, &series)?,
            Drawing::Bars => self.bars(figure, &series)?,
            Drawing::Curves => FigureKind::Curves { curves: self.curves(figure, &series)? },
            Drawing::Cdf => FigureKind::Cdf {
                curves: self.curves(figure, &series)?,
                is_x_logarithmic: plan.is_x_logarithmic,
            },
            Drawing::Boxes => {
                let boxes = series.iter().map(|(around, one)| self.box_of(figure, one, around));
                FigureKind::Boxes { boxes: boxes.collect::<Result<_, _>>()? }
            }
        };
        Ok(Figure {
            id: figure.id.clone(),
            title: around.filled(&plan.title),
            caption: around.filled(&plan.caption),
            x_label: plan.x_label.clone(),
            y_label: plan.y_label.clone(),
            kind,
        })
    }

    /// The settings along x, with the values of a series at each of them.
    fn along(
        &self,
        figure: &Shown<'_>,
        series: &board::SeriesPlan,
        around: &Around,
    ) -> Result<Vec<(String, Estimate)>, Failure> {
        let groups = series.along.clone().map(Groups::Settings);
        let estimate = |value: &PlacedExpression, around: &Around, at: &str| {
            let (id, name) = (&figure.id, around.filled(&series.name));
            self.estimate(value, around, format_args!("figure {id:?}, series {name:?} at {at:?}"))
        };
        match groups.as_ref().unwrap_or(&figure.plan.groups) {
            Groups::Settings(binding) => {
                let settings = self.settings(binding)?;
                let value = |setting: &AxisSetting| {
                    let around = around.with(binding, setting);
                    Ok((setting.name.clone(), estimate(&series.values[0], &around, &setting.label)?))
                };
                settings.iter().map(value).collect()
            }
            Groups::Names(names) => {
                let pairs = names.iter().zip(&series.values);
                pairs.map(|(name, value)| Ok((name.clone(), estimate(value, around, name)?))).collect()
            }
            Groups::None => Ok(Vec::new()),
        }
    }

    fn lines(
        &self,
        figure: &Shown<'_>,
        series: &[(Around, &board::SeriesPlan)],
    ) -> Result<FigureKind, Failure> {
        let line = |(around, one): &(Around, &board::SeriesPlan)| {
            let points = self.along(figure, one, around)?.into_iter();
            // `check_places` has refused other names.
            let x = |(name, estimate): (String, Estimate)| (name.parse().unwrap_or(f64::NAN), estimate);
            Ok(Series {
                name: around.filled(&one.name),
                points: points.map(x).collect(),
                published: one.published.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
                ..Series::default()
            })
        };
        let mut lines: Vec<Series> = series.iter().map(line).collect::<Result<_, Failure>>()?;
        // After all lines are known: a line is compared with those that stay.
        set_aside(&mut lines, &series.iter().map(|(_, one)| one.is_aside).collect::<Vec<bool>>());
        Ok(FigureKind::Lines { series: lines })
    }

    fn bars(
        &self,
        figure: &Shown<'_>,
        series: &[(Around, &board::SeriesPlan)],
    ) -> Result<FigureKind, Failure> {
        let groups = match &figure.plan.groups {
            Groups::Settings(binding) => {
                self.settings(binding)?.into_iter().map(|setting| setting.label).collect()
            }
            Groups::Names(names) => names.clone(),
            Groups::None => Vec::new(),
        };
        let bar = |(around, one): &(Around, &board::SeriesPlan)| {
            let values: Vec<Option<Estimate>> =
                self.along(figure, one, around)?.into_iter().map(|(_, estimate)| Some(estimate)).collect();
            let published = |group: usize| one.published.get(group).copied().filter(|value| !value.is_nan());
            Ok(BarSeries {
                name: around.filled(&one.name),
                published: (0..values.len()).map(published).collect(),
                values,
            })
        };
        Ok(FigureKind::Bars { groups, series: series.iter().map(bar).collect::<Result<_, Failure>>()? })
    }

    fn curves(
        &self,
        figure: &Shown<'_>,
        series: &[(Around, &board::SeriesPlan)],
    ) -> Result<Vec<Curve>, Failure> {
        let curve = |(around, one): &(Around, &board::SeriesPlan)| {
            let name = around.filled(&one.name);
            let Some(source) = one.values.first() else { return Ok(Curve::new(name, one.points.clone())) };
            let column = self.value(source, around)?;
            let points = match column.first() {
                Some(MeasureValue::Series(points)) => points.clone(),
                Some(MeasureValue::List(list)) if figure.plan.drawing == Drawing::Cdf => {
                    parts(list, figure.plan.x_min)
                }
                // NaN stands for a measure without a value, whatever its kind is.
                Some(MeasureValue::Number(number))
                    if number.is_nan() && self.is_optional(&source.expression) =>
                {
                    Vec::new()
                }
                other => {
                    let required = if figure.plan.drawing == Drawing::Cdf { "a list" } else { "a series" };
                    let found = other.map_or("nothing", MeasureValue::kind);
                    let message = format!("a curve is drawn of {required}; this is {found}");
                    return Err(self.study.board_text.at(source.at, message));
                }
            };
            if figure.plan.is_x_logarithmic && points.iter().any(|(x, _)| *x <= 0.0) {
                let message =
                    "a logarithmic axis has no place for 0 and negative values; x_min draws them at that x";
                return Err(self.study.board_text.at(source.at, message.to_owned()));
            }
            // The list of a cdf is drawn from `x_min` on, which would replace NaN. A curve without points has no value.
            let numbers = column.first().map_or(Vec::new(), MeasureValue::numbers);
            let numbers = numbers.into_iter().chain(points.iter().map(|(x, _)| *x));
            let numbers = numbers.chain(points.is_empty().then_some(f64::NAN));
            self.check_finite(source, numbers, format_args!("figure {:?}, series {name:?}", figure.id))?;
            Ok(Curve::new(name, points))
        };
        series.iter().map(curve).collect()
    }

    fn box_of(
        &self,
        figure: &Shown<'_>,
        series: &board::SeriesPlan,
        around: &Around,
    ) -> Result<BoxStats, Failure> {
        let Some(source) = series.values.first() else {
            return Err(Failure::error("a box needs y"));
        };
        let lists: Vec<Vec<f64>> = match self.value(source, around)? {
            SeedColumn::Same(value) => vec![value.numbers()],
            SeedColumn::Seeds(values, _) => values.iter().map(MeasureValue::numbers).collect(),
        };
        let name = around.filled(&series.name);
        let numbers = lists.iter().flat_map(|list| if list.is_empty() { &[f64::NAN][..] } else { list });
        self.check_finite(source, numbers.copied(), format_args!("figure {:?}, series {name:?}", figure.id))?;
        // One number per seed makes a box over the seeds. Lists make a box over their values, whose extremes
        // depend on the number of values, so that its whiskers are percentiles.
        let is_of_seeds = lists.iter().all(|list| list.len() == 1);
        let (lists, parts) = if is_of_seeds {
            (vec![lists.concat()], [0.0, 0.25, 0.5, 0.75, 1.0])
        } else {
            (lists, [0.05, 0.25, 0.5, 0.75, 0.95])
        };
        let over = |of: &dyn Fn(&[f64]) -> f64| {
            stats::mean(&lists.iter().map(|list| of(list)).collect::<Vec<f64>>())
        };
        let [low, first_quartile, median, third_quartile, high] =
            parts.map(|part| over(&|list| quantile(list, part)));
        Ok(BoxStats { name, low, first_quartile, median, third_quartile, high, mean: over(&stats::mean) })
    }

    fn table(&self, table: &board::TablePlan) -> Result<Titled, Failure> {
        let part = format_args!("title of a table");
        let title: Vec<String> =
            table.title.iter().map(|cell| self.shown(cell, part)).collect::<Result<_, _>>()?;
        let title = title.concat();
        let made = if table.is_of_claims {
            self.table_of_claims()
        } else if table.cells.is_empty() {
            self.grid(table, &title)?
        } else {
            self.free(table, &title)?
        };
        Ok((title, made))
    }

    fn shown(&self, cell: &board::Cell, part: Arguments<'_>) -> Result<String, Failure> {
        match cell {
            board::Cell::Text(text) => Ok(text.clone()),
            board::Cell::Value(source) => Ok(short(&self.estimate(source, &Around::default(), part)?)),
        }
    }

    fn free(&self, table: &board::TablePlan, title: &str) -> Result<TextTable, Failure> {
        let is_number = |column: usize| matches!(table.cells[0].get(column), Some(board::Cell::Value(_)));
        let align = |column| if is_number(column) { Align::Right } else { Align::Left };
        let heads: Vec<(&str, Align)> =
            table.heads.iter().enumerate().map(|(column, head)| (head.as_str(), align(column))).collect();
        let mut made = TextTable::new(&heads);
        for (number, row) in (1..).zip(&table.cells) {
            let cells = row.iter().zip(&table.heads).map(|(cell, head)| {
                self.shown(cell, format_args!("table {title:?}, row {number}, column {head:?}"))
            });
            made.row(cells.collect::<Result<Vec<String>, Failure>>()?);
        }
        Ok(made)
    }

    /// A row for every combination of settings.
    fn grid(&self, table: &board::TablePlan, title: &str) -> Result<TextTable, Failure> {
        let mut columns: Vec<(String, &board::TableColumn, Around)> = Vec::new();
        for column in &table.columns {
            for around in self.around(&Around::default(), &column.bindings)? {
                columns.push((around.filled(&column.head), column, around));
            }
        }
        let mut rows = Vec::new();
        for bindings in &table.rows {
            rows.extend(self.around(&Around::default(), bindings)?);
        }
        let side = |is_right: bool| if is_right { Align::Right } else { Align::Left };
        // Numbers are aligned on the right, so that digits of equal weight are below each other.
        let is_numbers = |column: usize| rows.iter().all(|row: &Around| is_number(&row.labels[column].1));
        let heads = table.heads.iter().enumerate();
        let labels = heads.map(|(column, head)| (head.as_str(), side(is_numbers(column))));
        let is_right = |cell: &board::Cell| match cell {
            board::Cell::Text(text) => text.is_empty() || is_number(text),
            board::Cell::Value(_) => true,
        };
        let align = |column: &board::TableColumn| side(column.text.iter().flatten().all(is_right));
        let values = columns.iter().map(|(head, column, _)| (head.as_str(), align(column)));
        let mut made = TextTable::new(&labels.chain(values).collect::<Vec<_>>());
        for (place, row) in rows.iter().enumerate() {
            let mut cells: Vec<String> = row.labels.iter().map(|(_, label)| label.clone()).collect();
            for (head, column, around) in &columns {
                let mut both = row.clone();
                both.scope.extend(around.scope.iter().cloned());
                let labels = row.shown_labels();
                let part = format_args!("table {title:?}, row {labels:?}, column {head:?}");
                cells.push(self.cell(column, &both, place, part)?);
            }
            made.row(cells);
        }
        Ok(made)
    }

    fn cell(
        &self,
        column: &board::TableColumn,
        around: &Around,
        row: usize,
        part: Arguments<'_>,
    ) -> Result<String, Failure> {
        let Some(value) = &column.value else {
            let cells = column.text.get(row).map_or(&[][..], Vec::as_slice);
            return cells.iter().map(|cell| self.shown(cell, part)).collect();
        };
        let text = short(&self.estimate(value, around, part)?);
        let not_done = match &column.not_done {
            None => 0,
            Some(source) => self
                .numbers(source, around, part)?
                .into_iter()
                .filter(|is_not_done| *is_not_done > 0.0)
                .count(),
        };
        Ok(if not_done == 0 { text } else { format!("{text} ({not_done} not done)") })
    }

    /// Values of claims under the alternatives, beside those under the assumed conditions.
    fn table_of_claims(&self) -> TextTable {
        let Study { paper, formulas, experiments, .. } = self.study;
        let mut columns =
            vec![("claim", Align::Left), ("quantity", Align::Left), ("as assumed", Align::Right)];
        let labels = experiments.alternatives.iter().map(|one| (one.label.as_str(), Align::Right));
        columns.extend(labels);
        let mut table = TextTable::new(&columns);
        for (claim, (_, formula)) in paper.claims.iter().zip(formulas) {
            // A quantity without a value under one condition is left open there only.
            let of = |alternative| {
                let column = self.column(formula, alternative, false).ok().flatten()?;
                column.samples().ok().map(|samples| short(&Estimate::of(&samples)))
            };
            let under: Vec<Option<String>> =
                (0..experiments.alternatives.len()).map(|place| of(Some(place))).collect();
            if under.iter().any(Option::is_some) {
                let values = [of(None)].into_iter().chain(under);
                let shown = values.map(|value| value.unwrap_or_else(|| "-".to_owned()));
                table.row([claim.id.clone(), claim.quantity.clone()].into_iter().chain(shown));
            }
        }
        table
    }

    /// One table per experiment: its cells with the quantities that claims use.
    fn tables_of_experiments(&self) -> Result<Vec<Titled>, Failure> {
        let experiments = self.study.experiments.list.iter().enumerate();
        let mut tables = Vec::new();
        for (number, experiment) in experiments {
            let used = self.study.used(number);
            // The claim's own text: `quantity` has the definitions of [measure] expanded.
            let head =
                |leaf: &Leaf| leaf.name.rsplit_once('[').map_or(&*leaf.name, |(name, _)| name).to_owned();
            let heads: Vec<String> = used.iter().map(|(_, leaf)| head(leaf)).collect();
            let axes = experiment.axes.iter().map(|axis| (axis.name.as_str(), Align::Left));
            let values = heads.iter().map(|head| (head.as_str(), Align::Right));
            let mut table = TextTable::new(&axes.chain(values).collect::<Vec<_>>());
            for (place, point) in self.study.points.iter().filter(|(place, _)| place.experiment == number) {
                let settings = experiment.settings(place.cell);
                let mut row: Vec<String> = settings.iter().map(|setting| setting.label.clone()).collect();
                for (whole, leaf) in &used {
                    row.push(self.quantity_of(place, point.plan.seeds.len(), (*whole, leaf))?);
                }
                table.row(row);
            }
            tables.push((experiment.name.clone(), table));
        }
        Ok(tables)
    }

    /// A quantity of a cell with this number of seeds, as text; `leaf` is in the claim at `whole`.
    fn quantity_of(
        &self,
        cell: &CellId,
        seeds: usize,
        (whole, leaf): (Range, &Leaf),
    ) -> Result<String, Failure> {
        let runs = self.values.get(cell).map_or(&[][..], Vec::as_slice);
        let name = leaf.quantity.to_string();
        let samples: Vec<f64> =
            runs.iter().filter_map(|values| values.get(&name)?.as_ref()?.number()).collect();
        // A mean over some of the seeds would appear as one over all of them; a list has no mean.
        if samples.len() != seeds {
            return Ok("-".to_owned());
        }
        let may_be_undefined =
            self.study.sources.iter().any(|one| one.formula.at == whole && one.may_be_undefined);
        if self.study.extent != Extent::Reduced
            && !may_be_undefined
            && samples.iter().any(|sample| !sample.is_finite())
        {
            let message = format!("{} is not a finite number in all runs of the experiment", leaf.name);
            return Err(self.study.claims_text.at(leaf.at.behind(whole.start), message));
        }
        Ok(short(&Estimate::of(&samples)))
    }
}

fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// Cumulative parts of a list.
fn parts(list: &[f64], x_min: f64) -> Vec<(f64, f64)> {
    let mut list = list.to_vec();
    list.sort_by(f64::total_cmp);
    // The largest value is at 1; a single one would divide by zero.
    let last = list.len().saturating_sub(1).max(1) as f64;
    list.iter().enumerate().map(|(place, x)| (x.max(x_min), place as f64 / last)).collect()
}

fn quantile(list: &[f64], part: f64) -> f64 {
    let of = tidegate_papers::function::Function::Quantile;
    let value = of.of(&[MeasureValue::List(list.to_vec()), MeasureValue::Number(part)]);
    value.ok().and_then(|value| value.number()).unwrap_or(f64::NAN)
}

/// Omits a line that is not of the paper if all of its values are above all others, which it would flatten.
fn set_aside(lines: &mut [Series], may_be: &[bool]) {
    let means = |line: &Series| line.points.iter().map(|(_, estimate)| estimate.mean).collect::<Vec<f64>>();
    let others = lines.iter().zip(may_be).filter(|(_, may_be)| !**may_be);
    let highest = others.flat_map(|(line, _)| means(line)).fold(f64::NEG_INFINITY, f64::max);
    for (line, may_be) in lines.iter_mut().zip(may_be) {
        // A line that crosses the others is worth its space.
        line.is_aside = *may_be && means(line).iter().all(|mean| *mean > highest);
    }
}
