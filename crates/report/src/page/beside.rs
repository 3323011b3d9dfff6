//! Plots over time of several variants on one axis: throughput, round-trip time and the queue that matters.

use std::collections::BTreeMap;

use tidegate_core::records::{LinkRecord, RunRecord};
use tidegate_core::units::Span;

use super::panels::{self, Panel, Panels};
use crate::compare::Variant;
use crate::quantities;
use crate::samples::Aligned;

/// Variants in one plot, at most.
const MAX_VARIANTS: usize = 14;

/// The panels of the first run of each variant, and the time that they show, s; `None` when none was sampled.
pub(super) fn panels(variants: &[Variant]) -> Option<(Panels, f64)> {
    let shown: Vec<(&str, &RunRecord)> = variants
        .iter()
        .filter_map(|variant| Some((variant.label.as_str(), variant.runs.first()?)))
        .take(MAX_VARIANTS)
        .collect();
    let end_s = shown.iter().map(|(_, run)| run.ended.as_secs_f64()).fold(0.0, f64::max);
    let left_out = match variants.len() - shown.len() {
        0 => String::new(),
        more => format!(" {more} variants are not shown."),
    };
    let panel = |id, [title, quantity, unit]: [&'static str; 3], note: String, data: Vec<Aligned>| Panel {
        id,
        title,
        quantity,
        unit,
        note: note + &left_out,
        names: shown.iter().map(|(label, _)| (*label).to_owned()).collect(),
        places: (0..shown.len()).collect(),
        colours: (0..shown.len()).collect(),
        is_stepped: false,
        data: joined(&data),
    };
    let of = |column: &dyn Fn(&RunRecord) -> Aligned| shown.iter().map(|(_, run)| column(run)).collect();
    let mut drawn = Vec::new();
    if shown.iter().any(|(_, run)| !run.flow_samples.time.is_empty()) {
        // One width of bins for all, so that their instants are the same.
        let bin_s = panels::bin_s(end_s);
        let bins = format!(
            "Payload of distinct segments over bins of {} ms, all flows.",
            crate::text::number(bin_s * 1e3)
        );
        drawn.push(panel(
            "throughput",
            ["Throughput", "throughput", "Mbit/s"],
            bins,
            of(&|run| throughput(run, bin_s)),
        ));
        let note = "Mean over the flows.".to_owned();
        drawn.push(panel(
            "rtt",
            ["Smoothed round-trip time", "round-trip time", "ms"],
            note,
            of(&|run| combined(quantities::round_trips(run), mean)),
        ));
    }
    if let Some((from, to)) = longest_queue(shown.iter().map(|(_, run)| *run)) {
        let queue = |run: &RunRecord| {
            let link = run.links.iter().position(|link| (link.from.as_str(), link.to.as_str()) == (from, to));
            let all = quantities::queues(run);
            let series = link.and_then(|link| all.series.get(link).cloned()).unwrap_or_default();
            Aligned { series: vec![series], ..all }
        };
        drawn.push(panel(
            "queue",
            ["Queue length", "queue length", "packets"],
            format!("{from} → {to}."),
            of(&queue),
        ));
    }
    (!drawn.is_empty()).then(|| (Panels { shown: drawn, idle: Vec::new() }, end_s))
}

/// Goodput of all flows together, Mbit/s.
fn throughput(run: &RunRecord, bin_s: f64) -> Aligned {
    combined(quantities::throughput(run, bin_s), sum)
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// All series as one: at each instant `of` those that have a value.
fn combined(data: Aligned, of: fn(&[f64]) -> f64) -> Aligned {
    let at = |row: usize| {
        let values: Vec<f64> = data.series.iter().filter_map(|series| series[row]).collect();
        (!values.is_empty()).then(|| of(&values))
    };
    Aligned { series: vec![(0..data.time_s.len()).map(at).collect()], time_s: data.time_s.clone() }
}

/// The first series of each of `data` over one time axis.
fn joined(data: &[Aligned]) -> Aligned {
    // Instants are multiples of a nanosecond, which tells equal ones apart from their rounding.
    let nanos = |time_s: f64| (time_s * 1e9).round() as u64;
    let mut rows: BTreeMap<u64, Vec<Option<f64>>> = BTreeMap::new();
    for (index, aligned) in data.iter().enumerate() {
        let Some(series) = aligned.series.first() else { continue };
        for (time_s, value) in aligned.time_s.iter().zip(series) {
            rows.entry(nanos(*time_s)).or_insert_with(|| vec![None; data.len()])[index] = *value;
        }
    }
    let series = (0..data.len()).map(|index| rows.values().map(|row| row[index]).collect()).collect();
    Aligned { time_s: rows.keys().map(|nanos| *nanos as f64 / 1e9).collect(), series }
}

/// Ends of the link direction whose packets wait longest over all variants; `None` without samples of links.
fn longest_queue<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Option<(&'a str, &'a str)> {
    let mut waits: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for run in runs.filter(|run| !run.link_samples.time.is_empty()) {
        for LinkRecord { from, to, queue_delay, .. } in &run.links {
            *waits.entry((from, to)).or_default() += queue_delay.mean;
        }
    }
    // Of equal ones the first by name.
    waits.into_iter().rev().max_by_key(|(_, wait)| *wait).map(|(ends, _)| ends)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(time_s: &[f64], values: &[f64]) -> Aligned {
        Aligned { time_s: time_s.to_vec(), series: vec![values.iter().map(|value| Some(*value)).collect()] }
    }

    #[test]
    fn variants_of_different_length_share_one_time_axis() {
        let joined =
            joined(&[aligned(&[0.1, 0.2, 0.3], &[1.0, 2.0, 3.0]), aligned(&[0.1, 0.3], &[5.0, 6.0])]);
        assert_eq!(joined.time_s, [0.1, 0.2, 0.3]);
        assert_eq!(joined.series, [vec![Some(1.0), Some(2.0), Some(3.0)], vec![Some(5.0), None, Some(6.0)]]);
    }

    #[test]
    fn a_mean_is_over_the_flows_that_have_a_value() {
        let data =
            Aligned { time_s: vec![0.1, 0.2], series: vec![vec![Some(2.0), None], vec![Some(4.0), None]] };
        assert_eq!(combined(data, mean).series, [vec![Some(3.0), None]]);
    }
}
