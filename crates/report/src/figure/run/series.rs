//! Figures over time, of the samples in the tables.

use tidegate_core::records::RunRecord;

use super::RateSteps;
use crate::measures;
use crate::samples::{self, Aligned};

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
        "throughput" => flows(run, "throughput [Mbit/s]", bins, throughput(run)),
        "rtt" => flows(run, "round-trip time [ms]", String::new(), samples::round_trips(run)),
        "window" => flows(run, "window [packets]", String::new(), samples::windows(run)),
        "in-flight" => flows(run, "in flight [packets]", String::new(), in_flight(run)),
        "queue" => links(run, "queue [packets]", String::new(), samples::queues(run)),
        "marks" => links(run, "marked packets [1/s]", bins, marks(run).rates(bin_s(run), &ones(run))),
        "drops" => links(run, "dropped packets [1/s]", bins, drops(run).rates(bin_s(run), &ones(run))),
        "utilisation" => links(run, "utilisation [%]", bins, utilisation(run, rates)),
        "jain" => Plot {
            y_label: "Jain index [1]",
            note: format!("Of throughput among active flows. {bins}"),
            names: vec!["Jain index".into()],
            sizes: vec![1.0],
            data: jain(run),
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

fn throughput(run: &RunRecord) -> Aligned {
    let megabits = run
        .flows
        .iter()
        .map(|flow| flow.delivered_payload.get() as f64 * 8e-6 / flow.delivered_segments.max(1) as f64);
    samples::delivered(run).rates(bin_s(run), &megabits.collect::<Vec<f64>>())
}

fn ones(run: &RunRecord) -> Vec<f64> {
    vec![1.0; run.links.len()]
}

fn in_flight(run: &RunRecord) -> Aligned {
    let samples = &run.flow_samples;
    Aligned::of_rows(&samples.time, &samples.flow, run.flows.len(), |row| {
        samples.in_flight_packets.get(row).map(|count| f64::from(*count))
    })
}

fn link_column(run: &RunRecord, value: impl Fn(usize) -> Option<f64>) -> Aligned {
    let samples = &run.link_samples;
    Aligned::of_rows(&samples.time, &samples.link, run.links.len(), value)
}

fn marks(run: &RunRecord) -> Aligned {
    link_column(run, |row| run.link_samples.marked_packets.get(row).map(|count| f64::from(*count)))
}

fn drops(run: &RunRecord) -> Aligned {
    link_column(run, |row| run.link_samples.dropped_packets.get(row).map(|count| f64::from(*count)))
}

/// Bits sent over those that the link's rate allowed in each bin, %.
fn utilisation(run: &RunRecord, rates: &[RateSteps]) -> Aligned {
    let sent = link_column(run, |row| run.link_samples.sent_bytes.get(row).map(|bytes| *bytes as f64));
    let mut used = sent.rates(bin_s(run), &vec![800.0; run.links.len()]);
    let none = RateSteps::default();
    for (index, series) in used.series.iter_mut().enumerate() {
        let steps = rates.get(index).unwrap_or(&none);
        let mut from_s = sent.time_s.first().copied().unwrap_or(0.0);
        for (to_s, value) in used.time_s.iter().zip(series) {
            let bits = steps.bits(from_s, *to_s);
            *value = value.map(|value| value * (to_s - from_s) / bits).filter(|value| value.is_finite());
            from_s = *to_s;
        }
    }
    used
}

/// The Jain index of the throughput of all flows that have begun and not ended.
fn jain(run: &RunRecord) -> Aligned {
    let rates = throughput(run);
    let is_active = |flow: usize, time_s: f64| {
        let flow = &run.flows[flow];
        let has_ended = flow.completed.is_some_and(|end| end.as_secs_f64() < time_s);
        flow.start.as_secs_f64() < time_s && !has_ended
    };
    let index = |row: usize| {
        let time_s = rates.time_s[row];
        let active = rates.series.iter().enumerate().filter(|(flow, _)| is_active(*flow, time_s));
        let values: Vec<f64> = active.filter_map(|(_, series)| series.get(row).copied().flatten()).collect();
        measures::jain_index(&values)
    };
    let series = vec![(0..rates.time_s.len()).map(index).collect()];
    Aligned { time_s: rates.time_s.clone(), series }
}
