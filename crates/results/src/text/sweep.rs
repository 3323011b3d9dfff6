//! The table of a sweep: values of the parameters, and means of measures, one row for each point.

use super::{TextTable, over_runs};
use crate::measures::RunMeasure;
use crate::tables::{Parameter, Point};

/// A row for each point: the values of the parameters, then the measures under these labels.
pub fn sweep_rows(
    parameters: &[Parameter],
    points: &[Point],
    measures: &[&'static RunMeasure],
    label: impl Fn(&RunMeasure) -> String,
) -> TextTable {
    let labels: Vec<String> = measures.iter().map(|measure| label(measure)).collect();
    let keys: Vec<&str> = parameters.iter().map(|parameter| parameter.key.as_str()).collect();
    let mut table = TextTable::of(&keys, &labels.iter().map(String::as_str).collect::<Vec<_>>());
    for (index, point) in points.iter().enumerate() {
        let values = measures.iter().map(|measure| over_runs(&point.estimate(measure), point.runs.len()));
        table.row(parameters.iter().map(|parameter| parameter.values[index].clone()).chain(values));
    }
    table
}
