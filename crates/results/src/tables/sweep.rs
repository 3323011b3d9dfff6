//! Tables of a sweep: those of all its runs with one column per parameter, and one row per point.

use std::fs;
use std::io::BufWriter;
use std::path::Path;

use tidegate_core::observe::records::RunRecord;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span};

use super::build::build_summaries;
use super::folder::FolderFault;
use super::{Column, ColumnData, ResultTable, RunContext};
use crate::measures::{RUN_MEASURES, RunMeasure};
use crate::stats::Estimate;

/// A parameter of a sweep with its value at each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Path of the value in the scenario.
    pub key: String,
    /// Its value at each point, texts without quotes.
    pub values: Vec<String>,
}

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Its runs, one per seed.
    pub runs: Vec<RunRecord>,
}

impl Point {
    /// Mean and interval of `measure` over the runs in which it has a value.
    pub fn estimate(&self, measure: &RunMeasure) -> Estimate {
        Estimate::of_present(self.runs.iter().map(measure.of))
    }
}

/// The tables of a sweep.
#[derive(Debug)]
pub struct PointTables {
    /// `runs`, `flows` and `links` of all points, then `points`.
    pub tables: Vec<ResultTable>,
}

/// The tables of `points`, in their order; every list of values in `parameters` has one per point.
///
/// # Panics
/// When a parameter has not one value per point.
pub fn point_tables(points: &[Point], parameters: &[Parameter], context: &RunContext) -> PointTables {
    let columns: Vec<Typed> = parameters.iter().map(Typed::of).collect();
    let runs: Vec<RunRecord> = points.iter().flat_map(|point| point.runs.iter().cloned()).collect();
    let point_of_run: Vec<u32> = (0u32..)
        .zip(points)
        .flat_map(|(index, point)| std::iter::repeat_n(index, point.runs.len()))
        .collect();
    let widened = |table: ResultTable| {
        let rows = rows_per_run(&table, &runs);
        let of_row: Vec<u32> = point_of_run
            .iter()
            .zip(rows)
            .flat_map(|(point, rows)| std::iter::repeat_n(*point, rows))
            .collect();
        let first = [point_column(of_row.clone())].into_iter();
        let more = columns.iter().map(|column| column.column(&of_row));
        ResultTable::new(table.name, first.chain(more).chain(table.columns).collect(), context)
    };
    let mut tables: Vec<ResultTable> = build_summaries(&runs, context).into_iter().map(widened).collect();
    tables.push(points_table(points, &columns, context));
    PointTables { tables }
}

impl PointTables {
    /// Writes each table as Parquet into `folder`, and `points.csv`.
    ///
    /// # Errors
    /// When the system refuses to write.
    pub fn write(&self, folder: &Path) -> Result<(), FolderFault> {
        fs::create_dir_all(folder).map_err(FolderFault::io(folder))?;
        for table in &self.tables {
            let path = folder.join(format!("{}.parquet", table.name));
            let file = fs::File::create(&path).map_err(FolderFault::io(&path))?;
            let written = table.write_parquet(BufWriter::new(file));
            written.map_err(|fault| FolderFault::content(&path, fault.to_string()))?;
        }
        let mut csv = Vec::new();
        let path = folder.join("points.csv");
        if let Some(points) = self.tables.last() {
            points.write_csv(&mut csv).map_err(FolderFault::io(&path))?;
        }
        fs::write(&path, csv).map_err(FolderFault::io(&path))
    }
}

/// Rows of each run in one of its tables.
fn rows_per_run(table: &ResultTable, runs: &[RunRecord]) -> Vec<usize> {
    let rows = |run: &RunRecord| match table.name {
        "flows" => run.flows.len(),
        "links" => run.links.len(),
        _ => 1,
    };
    runs.iter().map(rows).collect()
}

fn point_column(points: Vec<u32>) -> Column {
    let text = "Position of the point in the sweep, from 0; the last key changes fastest.";
    Column::own(["point".to_owned(), String::new(), text.to_owned()], ColumnData::U32(points), None)
}

/// A parameter's values as numbers in one unit, or as texts.
struct Typed {
    name: [String; 3],
    values: Values,
}

enum Values {
    Numbers(Vec<f64>),
    Texts(Vec<String>),
}

impl Typed {
    fn of(parameter: &Parameter) -> Self {
        let key = &parameter.key;
        let name = |suffix: &str, unit: &str| {
            [format!("{key}{suffix}"), unit.to_owned(), format!("Value of the scenario's {key}.")]
        };
        match numbers(&parameter.values) {
            Some((suffix, unit, values)) => {
                Self { name: name(suffix, unit), values: Values::Numbers(values) }
            }
            None => Self { name: name("", ""), values: Values::Texts(parameter.values.clone()) },
        }
    }

    fn column(&self, points: &[u32]) -> Column {
        let data = match &self.values {
            Values::Numbers(values) => {
                ColumnData::F64(points.iter().map(|point| values[*point as usize]).collect())
            }
            Values::Texts(values) => {
                let mut names: Vec<String> = Vec::new();
                let index =
                    points.iter().map(|point| index_of(&mut names, &values[*point as usize])).collect();
                ColumnData::Text { names, index }
            }
        };
        Column::own(self.name.clone(), data, None)
    }
}

/// Index of `name` in `names`, which is extended if it is new.
fn index_of(names: &mut Vec<String>, name: &str) -> u32 {
    let found = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    found as u32
}

/// Function that reads a value as a number of one unit.
type ReadNumber = fn(&str) -> Option<f64>;

/// The values as numbers of one unit, with the suffix of a column's name and the unit; `None` if they are not.
pub fn numbers(values: &[String]) -> Option<(&'static str, &'static str, Vec<f64>)> {
    const UNITS: [(&str, &str, ReadNumber); 5] = [
        ("", "", |text| text.parse().ok().filter(|number: &f64| number.is_finite())),
        ("_mbps", "Mbit/s", |text| text.parse().ok().map(BitRate::as_mbps)),
        ("_ms", "ms", |text| text.parse().ok().map(Span::as_millis_f64)),
        ("_bytes", "B", |text| text.parse().ok().map(|size: ByteCount| size.get() as f64)),
        ("_packets", "packets", |text| text.parse().ok().map(|count: Packets| f64::from(count.get()))),
    ];
    let read = |read: &ReadNumber| values.iter().map(|value| read(value)).collect::<Option<Vec<f64>>>();
    UNITS.iter().find_map(|(suffix, unit, of)| Some((*suffix, *unit, read(of)?)))
}

fn points_table(points: &[Point], parameters: &[Typed], context: &RunContext) -> ResultTable {
    let all: Vec<u32> = (0u32..).zip(points).map(|(index, _)| index).collect();
    let count = points.iter().map(|point| point.runs.len() as u32).collect();
    let runs = ["runs", "runs", "Runs at this point, one per seed."].map(str::to_owned);
    let mut columns = vec![point_column(all.clone())];
    columns.extend(parameters.iter().map(|parameter| parameter.column(&all)));
    columns.push(Column::own(runs, ColumnData::U32(count), None));
    for measure in &RUN_MEASURES {
        let estimates: Vec<Estimate> = points.iter().map(|point| point.estimate(measure)).collect();
        columns.extend(estimate_columns(measure, &estimates));
    }
    ResultTable::new("points", columns, context)
}

/// Mean of a measure, half the width of its 95 % interval, and the number of runs of both.
fn estimate_columns(measure: &RunMeasure, estimates: &[Estimate]) -> [Column; 3] {
    let column = |name: String, text: String, values: Vec<f64>| {
        let present = values.iter().map(|value| value.is_finite()).collect();
        let values = values.into_iter().map(|value| if value.is_finite() { value } else { 0.0 }).collect();
        Column::own([name, measure.unit.to_owned(), text], ColumnData::F64(values), Some(present))
    };
    let means = estimates.iter().map(|estimate| estimate.mean).collect();
    let half_widths = estimates.iter().map(|estimate| estimate.half_width).collect();
    let runs = estimates.iter().map(|estimate| estimate.n as u32).collect();
    let runs_text =
        format!("Runs of the point in which {} has a value: those that its mean is over.", measure.name);
    [
        column(measure.name.to_owned(), format!("Mean over the point's runs that have a value. {}", measure.text), means),
        column(
            format!("{}_half_width", measure.name),
            "Half the width of the mean's 95 % interval (Student's t); 0 when it did not vary, missing for one run."
                .to_owned(),
            half_widths,
        ),
        Column::own([format!("{}_runs", measure.name), "runs".to_owned(), runs_text], ColumnData::U32(runs), None),
    ]
}

#[cfg(test)]
mod tests {
    use tidegate_core::observe::records::FlowRecord;
    use tidegate_core::units::Time;

    use super::*;

    fn numbers_of(values: &[&str]) -> Option<(&'static str, Vec<f64>)> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        numbers(&values).map(|(suffix, _, values)| (suffix, values))
    }

    #[test]
    fn a_point_says_over_how_many_of_its_runs_a_mean_is() {
        let runs = |goodput: [bool; 3]| {
            let run = |(seed, has_flow)| {
                let flows = if has_flow { vec![FlowRecord::default()] } else { Vec::new() };
                RunRecord { seed, flows, ended: Time::from_nanos(1), ..RunRecord::default() }
            };
            Point { runs: (1..).zip(goodput).map(run).collect() }
        };
        let points = [runs([true; 3]), runs([true, false, true]), runs([false; 3])];
        let tables = point_tables(&points, &[], &RunContext::default());
        let points = tables.tables.last().expect("points");
        let cells = |name: &str| {
            let column = points.column(name).expect(name);
            (0..3).map(|row| format!("{:?}", column.cell(row))).collect::<Vec<String>>()
        };
        assert_eq!(cells("goodput_mbps_runs"), ["Count(3)", "Count(2)", "Count(0)"]);
        assert_eq!(cells("goodput_mbps"), ["Number(0.0)", "Number(0.0)", "Missing"]);
    }

    #[test]
    fn quantities_of_one_kind_become_numbers_in_one_unit() {
        assert_eq!(numbers_of(&["1Gbps", "500kbps"]), Some(("_mbps", vec![1000.0, 0.5])));
        assert_eq!(numbers_of(&["1s", "15ms"]), Some(("_ms", vec![1000.0, 15.0])));
        assert_eq!(numbers_of(&["3", "0.5"]), Some(("", vec![3.0, 0.5])));
        assert_eq!(numbers_of(&["8pkt"]), Some(("_packets", vec![8.0])));
        assert_eq!(numbers_of(&["icp", "3"]), None);
        assert_eq!(numbers_of(&["8pkt", "8kB"]), None);
    }
}
