//! Plots over time of several variants on one axis: throughput, round-trip time and the longest queue.

use std::collections::BTreeMap;

use tidegate_core::observe::records::{LinkRecord, RunRecord};
use tidegate_core::units::Span;

use crate::panels::{self, Panel, Panels};
use crate::sample_series;
use crate::thinning::Aligned;
use tidegate_results::compare::Variant;
use tidegate_results::stats::mean;

/// Maximum number of variants in one plot.
const MAX_VARIANTS: usize = 14;

/// Series of one run of each variant.
pub(super) struct Beside {
    pub(super) panels: Panels,
    /// The end of the longest run, s.
    pub(super) end_s: f64,
    /// One width of bins for all, so that their instants are the same, s.
    bin_s: f64,
    /// Ends of the link direction whose queue is plotted.
    queue: Option<(String, String)>,
}

impl Beside {
    /// The panels of the first run of each variant; `None` when none was sampled.
    pub(super) fn of(variants: &[Variant]) -> Option<Self> {
        let shown =
            variants.iter().filter_map(|variant| Some((variant.label.as_str(), variant.runs.first()?)));
        // Variants without a run have been filtered out, so that labels and runs correspond.
        let (labels, runs): (Vec<&str>, Vec<&RunRecord>) = shown.take(MAX_VARIANTS).unzip();
        let end_s = runs.iter().map(|run| run.ended.as_secs_f64()).fold(0.0, f64::max);
        let queue = longest_queue(runs.iter().copied());
        let mut beside = Self { panels: Panels::default(), end_s, bin_s: panels::bin_s(end_s), queue };
        let left_out = match variants.len() - runs.len() {
            0 => String::new(),
            more => format!(" {more} variants are not shown."),
        };
        for (id, [title, quantity, unit], note) in beside.drawn(&runs) {
            let panel = Panel {
                id,
                title,
                quantity,
                unit,
                note: note + &left_out,
                names: labels.iter().map(|label| (*label).to_owned()).collect(),
                places: (0..runs.len()).collect(),
                colours: (0..runs.len()).collect(),
                is_stepped: false,
                data: beside.data(id, &runs),
            };
            beside.panels.shown.push(panel);
        }
        (!beside.panels.shown.is_empty()).then_some(beside)
    }

    /// Id, words and note of the panels for which these runs have samples.
    fn drawn(&self, runs: &[&RunRecord]) -> Vec<(&'static str, [&'static str; 3], String)> {
        let mut drawn = Vec::new();
        if runs.iter().any(|run| !run.flow_samples.time.is_empty()) {
            let bin_ms = tidegate_results::text::number(self.bin_s * 1e3);
            let bins = format!("Payload of distinct segments over bins of {bin_ms} ms, all flows.");
            drawn.push(("throughput", ["Throughput", "throughput", "Mbit/s"], bins));
            let words = ["Smoothed round-trip time", "round-trip time", "ms"];
            drawn.push(("rtt", words, "Mean over the flows.".to_owned()));
        }
        if let Some((from, to)) = &self.queue {
            drawn.push(("queue", ["Queue length", "queue length", "packets"], format!("{from} → {to}.")));
        }
        drawn
    }

    /// The series of the panel `id`, one of each run.
    fn data(&self, id: &str, runs: &[&RunRecord]) -> Aligned {
        let column = |run: &&RunRecord| match id {
            "throughput" => combined(sample_series::throughput(run, self.bin_s), sum),
            "rtt" => combined(sample_series::round_trips(run), mean),
            _ => self.queue_of(run),
        };
        joined(&runs.iter().map(column).collect::<Vec<_>>())
    }

    fn queue_of(&self, run: &RunRecord) -> Aligned {
        let is_shown = |link: &LinkRecord| {
            self.queue.as_ref().is_some_and(|(from, to)| link.from == *from && link.to == *to)
        };
        let all = sample_series::queues(run);
        let series = run.links.iter().position(is_shown).and_then(|link| all.series.get(link).cloned());
        Aligned { series: vec![series.unwrap_or_default()], ..all }
    }

    /// The series of all panels in the runs of another seed, one of each variant in their order.
    pub(super) fn series_of(&self, runs: &[RunRecord]) -> Vec<Aligned> {
        let runs: Vec<&RunRecord> = runs.iter().take(MAX_VARIANTS).collect();
        self.panels.shown.iter().map(|panel| self.data(panel.id, &runs)).collect()
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// All series as one: `of` the values at each instant.
fn combined(data: Aligned, of: fn(&[f64]) -> f64) -> Aligned {
    let at = |row: usize| {
        let values: Vec<f64> = data.series.iter().filter_map(|series| series[row]).collect();
        (!values.is_empty()).then(|| of(&values))
    };
    Aligned { series: vec![(0..data.time_s.len()).map(at).collect()], time_s: data.time_s.clone() }
}

/// The first series of each of `data` over one time axis.
fn joined(data: &[Aligned]) -> Aligned {
    // Instants are multiples of a nanosecond, so that rounding to it makes equal ones comparable.
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
fn longest_queue<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> Option<(String, String)> {
    let mut waits: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for run in runs.filter(|run| !run.link_samples.time.is_empty()) {
        for LinkRecord { from, to, queue_delay, .. } in &run.links {
            *waits.entry((from, to)).or_default() += queue_delay.mean;
        }
    }
    // Of equal ones the first by name.
    waits
        .into_iter()
        .rev()
        .max_by_key(|(_, wait)| *wait)
        .map(|((from, to), _)| (from.to_owned(), to.to_owned()))
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
