//! Figures over time, of the samples in the tables.

use tidegate_core::records::{LinkSamples, RunRecord};

use super::RateSteps;
use crate::quantities;
use crate::samples::Aligned;

/// Bins over a run, at most.
const MOST_BINS: f64 = 1000.0;

/// One quantity of every flow or link direction.
pub(super) struct Plot {
    pub(super) y_label: &'static str,
    pub(super) note: String,
    pub(super) names: Vec<String>,
    /// How large each part is, for keeping the largest.
    pub(super) sizes: Vec<f64>,
    pub(super) data: Aligned,
}

/// The quantity called `name`; `None` if there is none.
pub(super) fn plot(run: &RunRecord, rates: &[RateSteps], name: &str) -> Option<Plot> {
    let bins = format!("Bins of {} ms.", crate::text::number(bin_s(run) * 1e3));
    Some(match name {
        "throughput" => flows(run, "throughput [Mbit/s]", bins, quantities::throughput(run, bin_s(run))),
        "rtt" => flows(run, "round-trip time [ms]", String::new(), quantities::round_trips(run)),
        "window" => flows(run, "window [packets]", String::new(), quantities::windows(run)),
        "in-flight" => flows(run, "in flight [packets]", String::new(), quantities::in_flight(run)),
        "queue" => links(run, "queue [packets]", String::new(), quantities::queues(run)),
        "marks" => links(run, "marked packets [1/s]", bins, per_second(run, |link| &link.marked_packets)),
        "drops" => links(run, "dropped packets [1/s]", bins, per_second(run, |link| &link.dropped_packets)),
        "utilisation" => links(run, "utilisation [%]", bins, quantities::utilisation(run, rates, bin_s(run))),
        "jain" => Plot {
            y_label: "Jain index [1]",
            note: "Of throughput in windows of 1 s, over the flows that got or awaited Data.".into(),
            names: vec!["Jain index".into()],
            sizes: vec![1.0],
            data: quantities::jain(run, 1.0),
        },
        _ => return None,
    })
}

fn flows(run: &RunRecord, y_label: &'static str, note: String, data: Aligned) -> Plot {
    Plot {
        y_label,
        note,
        names: run.flows.iter().map(|flow| flow.name.clone()).collect(),
        sizes: run.flows.iter().map(|flow| flow.delivered_payload.get() as f64).collect(),
        data,
    }
}

fn links(run: &RunRecord, y_label: &'static str, note: String, data: Aligned) -> Plot {
    let peak =
        |series: &Vec<Option<f64>>| series.iter().flatten().fold(0.0, |peak: f64, value| peak.max(*value));
    Plot {
        y_label,
        note,
        names: run.links.iter().map(|link| format!("{} → {}", link.from, link.to)).collect(),
        sizes: super::without_idle(data.series.iter().map(peak).collect()),
        data,
    }
}

/// Length of a bin, s: 100 ms, longer in long runs.
fn bin_s(run: &RunRecord) -> f64 {
    0.1 * (run.ended.as_secs_f64() / (MOST_BINS * 0.1)).ceil().max(1.0)
}

/// Packets per second of a count, for all link directions.
fn per_second(run: &RunRecord, count: fn(&LinkSamples) -> &Vec<u32>) -> Aligned {
    let mut rates = quantities::counted(run, bin_s(run), count);
    let bin_s = bin_s(run);
    rates.series.iter_mut().flatten().flatten().for_each(|packets| *packets /= bin_s);
    rates
}
