//! Measures of the flows, nodes or media of a run, as a table and as JSON.

use super::{Align, TextTable, over_runs, over_runs_json};
use crate::stats::Estimate;
use serde_json::Value;

/// Measures of one flow, node or medium.
pub(super) struct Row<'a> {
    /// Name of the element.
    pub(super) name: &'a str,
    /// Scheme of a flow.
    pub(super) scheme: Option<&'a str>,
    /// Measures with their estimates over the runs.
    pub(super) values: Vec<(&'static str, Estimate)>,
}

/// The rows as a table, with `kind` at the head of the names.
pub(super) fn table(kind: &str, rows: &[Row<'_>], runs: usize) -> TextTable {
    let first = rows.first();
    let mut head = vec![(kind, Align::Left)];
    head.extend(first.and_then(|row| row.scheme).map(|_| ("scheme", Align::Left)));
    head.extend(first.iter().flat_map(|row| &row.values).map(|(name, _)| (*name, Align::Right)));
    let mut table = TextTable::new(&head);
    for row in rows {
        let names = [row.name].into_iter().chain(row.scheme).map(str::to_owned);
        table.row(names.chain(row.values.iter().map(|(_, estimate)| over_runs(estimate, runs))));
    }
    table
}

/// The rows as a list of objects.
pub(super) fn json(rows: &[Row<'_>], runs: usize) -> Value {
    let object = |row: &Row<'_>| {
        let mut entries = vec![("name", row.name.into())];
        entries.extend(row.scheme.map(|scheme| ("scheme", scheme.into())));
        entries.extend(row.values.iter().map(|(name, estimate)| (*name, over_runs_json(estimate, runs))));
        Value::from_iter(entries)
    };
    rows.iter().map(object).collect::<Value>()
}
