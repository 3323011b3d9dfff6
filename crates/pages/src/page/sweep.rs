//! The page of `tidegate sweep`: every measure over the parameter that is a number, and every point.

use super::common::{self, Section};
use super::document::{self, Scripts};
use super::tables::text_table;
use crate::figure::{BarSeries, Figure, FigureKind, Series};
use crate::markup::{Escaped, Markup};
use tidegate_results::measures::RunMeasure;
use tidegate_results::stats::Estimate;
use tidegate_results::tables::{Parameter, Point, RunContext, numbers};
use tidegate_results::text::{self, counted, sweep_rows};

/// Lines or bars of one colour each in a figure, at most.
const MAX_SERIES: usize = 12;

/// Content of the page of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepPage<'a> {
    /// Title, mostly the scenario's name.
    pub title: &'a str,
    /// Points in the order of the grid.
    pub points: &'a [Point],
    /// Parameters with one value per point.
    pub parameters: &'a [Parameter],
    /// Measures that are worth showing.
    pub measures: &'a [&'static RunMeasure],
    /// The command that makes these results again.
    pub command: &'a str,
    /// Scenario text and version of the results' meaning.
    pub context: &'a RunContext,
}

/// One offline HTML file about a sweep, with the figures that it shows.
pub fn sweep_page(page: &SweepPage<'_>) -> (String, Vec<Figure>) {
    let figures: Vec<Figure> = page.measures.iter().map(|measure| figure(page, measure)).collect();
    let mut body = Markup::default();
    let seeds = page.points.first().map_or(0, |point| point.runs.len());
    body.add(format_args!(
        "<header><p class=\"kicker\">Tidegate sweep</p><h1>{}</h1><p class=\"facts\">{} · {} each · \
         results schema {} · semantics {}{}</p></header>\n",
        Escaped(page.title),
        counted(page.points.len(), "point"),
        counted(seeds, "seed"),
        tidegate_results::RESULTS_SCHEMA,
        page.context.semantics,
        Escaped(&document::code(&page.context.code))
    ));
    let mut measures = Markup::default();
    document::figures(&mut measures, &figures);
    let seeds = page.points.first().map_or(&[][..], |point| &point.runs);
    let sections = [
        Section { id: "measures", title: "Measures", content: measures },
        Section { id: "points", title: "Points", content: table(page) },
        common::schemes(page.context),
        common::provenance(page.command, page.context, &text::seeds(seeds)),
    ];
    common::sections(&mut body, &sections, false);
    (document::document(&format!("{}: sweep", page.title), &body.0, &Scripts::Plain), figures)
}

/// The parameter with the most values among those that are numbers, with these.
fn across(parameters: &[Parameter]) -> Option<(usize, &'static str, Vec<f64>)> {
    let numeric = parameters.iter().enumerate().filter_map(|(index, parameter)| {
        let (_, unit, values) = numbers(&parameter.values)?;
        let mut distinct = values.clone();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        (distinct.len() > 1).then_some((distinct.len(), (index, unit, values)))
    });
    // Of equal ones the first.
    numeric.rev().max_by_key(|(count, _)| *count).map(|(_, found)| found)
}

fn figure(page: &SweepPage<'_>, measure: &'static RunMeasure) -> Figure {
    let bracketed = |name: &str, unit: &str| match unit {
        "" => format!("{name} [1]"),
        unit => format!("{name} [{unit}]"),
    };
    let across = across(page.parameters);
    let along = across.as_ref().map_or(0, |(index, ..)| *index);
    let groups = groups(page.parameters, along);
    let left_out = match groups.len().saturating_sub(MAX_SERIES) {
        0 => String::new(),
        more => format!(" {more} more combinations are shown in the table only."),
    };
    let is_partial = |point: &Point| (1..point.runs.len()).contains(&point.estimate(measure).n);
    let survivors = match page.points.iter().any(is_partial) {
        true => {
            " Some points are means over only those of their runs that have a value; the table gives their number."
        }
        false => "",
    };
    let shown = groups.iter().take(MAX_SERIES);
    let estimate = |point: &usize| page.points[*point].estimate(measure);
    let (x_label, kind) = match &across {
        Some((index, unit, values)) => {
            let line = |(name, points): &(String, Vec<usize>)| {
                let mut points: Vec<(f64, Estimate)> =
                    points.iter().map(|point| (values[*point], estimate(point))).collect();
                // The order of the grid is that of the command line, which may not ascend.
                points.sort_by(|left, right| left.0.total_cmp(&right.0));
                Series { name: name.clone(), points, ..Series::default() }
            };
            let key = &page.parameters[*index].key;
            (bracketed(key, unit), FigureKind::Lines { series: shown.map(line).collect() })
        }
        None => {
            let names = distinct(page.parameters.first().map_or(&[][..], |parameter| &parameter.values));
            let bars = |(name, points): &(String, Vec<usize>)| {
                let value = |group: &String| {
                    let point =
                        points.iter().find(|point| page.parameters[along].values[**point] == *group)?;
                    Some(estimate(point)).filter(|estimate| estimate.n > 0)
                };
                BarSeries {
                    name: name.clone(),
                    values: names.iter().map(value).collect(),
                    published: Vec::new(),
                }
            };
            let series = shown.map(bars).collect();
            (String::new(), FigureKind::Bars { groups: names.clone(), series })
        }
    };
    Figure {
        id: measure.name.to_owned(),
        title: capitalised(measure.noun),
        caption: format!("{} Mean over the seeds with its 95 % interval.{survivors}{left_out}", measure.text),
        x_label,
        y_label: bracketed(measure.noun, measure.unit),
        kind,
    }
}

fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn distinct(values: &[String]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for value in values {
        if !distinct.contains(value) {
            distinct.push(value.clone());
        }
    }
    distinct
}

/// Points that differ in parameter `along` alone, by the values of the others.
fn groups(parameters: &[Parameter], along: usize) -> Vec<(String, Vec<usize>)> {
    let count = parameters.first().map_or(0, |parameter| parameter.values.len());
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for point in 0..count {
        let others = parameters.iter().enumerate().filter(|(index, _)| *index != along);
        let values: Vec<&str> = others.map(|(_, parameter)| parameter.values[point].as_str()).collect();
        let name = if values.is_empty() { "all".to_owned() } else { values.join(", ") };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    groups
}

fn table(page: &SweepPage<'_>) -> Markup {
    let mut body = Markup::default();
    let caption = "Mean ± 95 % interval over the seeds; no interval: the same in every run.";
    let label = |measure: &RunMeasure| text::with_unit(measure.noun, measure.unit);
    let rows = sweep_rows(page.parameters, page.points, page.measures, label);
    text_table(&mut body, "Points", caption, &rows);
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(key: &str, values: &[&str]) -> Parameter {
        Parameter { key: key.to_owned(), values: values.iter().map(|value| (*value).to_owned()).collect() }
    }

    #[test]
    fn the_axis_is_the_number_with_the_most_values_and_the_rest_make_lines() {
        let parameters = [
            parameter("scheme", &["icp", "icp", "icp", "fixed", "fixed", "fixed"]),
            parameter("rate", &["5Mbps", "1Gbps", "10Mbps", "5Mbps", "1Gbps", "10Mbps"]),
        ];
        let (index, unit, values) = across(&parameters).expect("rates are numbers");
        assert_eq!((index, unit, &values[..3]), (1, "Mbit/s", &[5.0, 1000.0, 10.0][..]));
        let expected = [("icp".to_owned(), vec![0, 1, 2]), ("fixed".to_owned(), vec![3, 4, 5])];
        assert_eq!(groups(&parameters, 1), expected);
        assert!(across(&parameters[..1]).is_none());
    }
}
