//! The content stores and servers of a run's nodes, if any.

use tidegate_core::observe::records::{NodeRecord, RunRecord};

use super::Screen;
use super::rows::Row;
use crate::stats::Estimate;

/// A measure of one node; `None` where it has no value.
type NodeMeasure = fn(&NodeRecord) -> Option<f64>;

const NODE_MEASURES: [(&str, NodeMeasure); 5] = [
    ("cache_hits", |node| Some(node.cache_hits as f64)),
    ("cache_misses", |node| Some(node.cache_misses as f64)),
    ("cache_hit_ratio", hit_ratio),
    ("cached_packets", |node| Some(node.cached_packets as f64)),
    ("service_drops", |node| Some(node.service_drops as f64)),
];

/// Maximum number of rows; all nodes are in the tables on disk.
const MAX_ROWS: usize = 24;

fn hit_ratio(node: &NodeRecord) -> Option<f64> {
    let lookups = node.cache_hits + node.cache_misses;
    (lookups > 0).then(|| node.cache_hits as f64 / lookups as f64)
}

/// Indices of nodes whose content store or server was used in any of the runs.
fn busy(runs: &[RunRecord]) -> Vec<usize> {
    let is_busy = |node: &NodeRecord| {
        node.cache_hits + node.cache_misses + node.cached_packets + node.service_drops > 0
    };
    let nodes = runs.first().map_or(0, |run| run.nodes.len());
    (0..nodes).filter(|index| runs.iter().any(|run| run.nodes.get(*index).is_some_and(is_busy))).collect()
}

/// Measures of the nodes with content stores or servers.
pub(super) fn rows(runs: &[RunRecord]) -> Vec<Row<'_>> {
    let nodes = runs.first().map_or(&[][..], |run| run.nodes.as_slice());
    let row = |index: usize| {
        let estimate =
            |of: NodeMeasure| Estimate::of_present(runs.iter().map(|run| of(run.nodes.get(index)?)));
        let values = NODE_MEASURES.map(|(name, of)| (name, estimate(of))).to_vec();
        Row { name: &nodes[index].name, scheme: None, values }
    };
    busy(runs).into_iter().map(row).collect()
}

/// A table of the nodes with content stores or servers, and an empty line; nothing without any.
pub(super) fn table(runs: &[RunRecord], screen: Screen) -> String {
    let rows = rows(runs);
    let more = match rows.len().saturating_sub(MAX_ROWS) {
        _ if rows.is_empty() => return String::new(),
        0 => String::new(),
        more => format!("and {more} more nodes, in nodes.parquet\n"),
    };
    let table = super::rows::table("node", &rows[..rows.len().min(MAX_ROWS)], runs.len());
    format!("{}{more}\n", table.render(screen))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(hits: u64, misses: u64) -> RunRecord {
        let plain = NodeRecord { name: "r1".into(), pit_peak_entries: 9, ..NodeRecord::default() };
        let cache =
            NodeRecord { name: "r2".into(), cache_hits: hits, cache_misses: misses, ..NodeRecord::default() };
        RunRecord { nodes: vec![plain, cache], ..RunRecord::default() }
    }

    #[test]
    fn only_nodes_whose_store_or_server_did_anything_are_listed() {
        let table = table(&[run(30, 10)], Screen::PLAIN);
        assert_eq!(table.lines().count(), 4, "{table}");
        let cells: Vec<&str> = table.lines().nth(2).expect("a row").split_whitespace().collect();
        assert_eq!(cells, ["r2", "30", "10", "0.75", "0", "0"]);
        assert_eq!(
            super::super::rows::json(&rows(&[run(30, 10)]), 1).to_string().matches("\"name\"").count(),
            1
        );
    }

    #[test]
    fn runs_without_stores_have_no_such_table() {
        assert_eq!(super::table(&[run(0, 0)], Screen::PLAIN), "");
        assert_eq!(super::table(&[], Screen::PLAIN), "");
    }

    #[test]
    fn a_ratio_over_several_runs_has_an_interval() {
        let table = table(&[run(30, 10), run(20, 20)], Screen::PLAIN);
        assert!(table.contains("0.6 ± ") || table.contains("0.62 ± "), "{table}");
    }
}
