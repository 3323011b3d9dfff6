//! Measures of the directions of links, named `from>to`.

use tidegate_core::observe::records::LinkRecord;
use tidegate_papers::value::Value;
use tidegate_results::measures;

use super::flows::summary;
use super::{Arguments, Measure, Run, added, measure};

type Answer = Result<Option<Value>, String>;

pub(super) const MEASURES: &[Measure] = &[
    measure("sent_bytes", &[], "Bytes that a link put on the wire.", |run, call| {
        of_record(run, call, |link| link.sent_bytes.get() as f64)
    }),
    measure(
        "dropped_packets",
        &[],
        "Packets that the queue of a link or the gates before it dropped.",
        |run, call| of_record(run, call, |link| link.dropped_packets as f64),
    ),
    measure("lost_packets", &[], "Packets lost on the wire of a link.", |run, call| {
        of_record(run, call, |link| link.lost_packets as f64)
    }),
    measure(
        "peak_queue_packets",
        &[],
        "Most packets that waited at once in the queue of a link.",
        |run, call| of_record(run, call, |link| link.peak_queue_packets as f64),
    ),
    measure(
        "queue_delay_ms",
        &["at"],
        "Waiting time in the queue of a link, ms; at = mean, min, p50, p95, p99 or max.",
        |run, call| {
            let at = call.word("at", &["mean", "min", "p50", "p95", "p99", "max"])?;
            call.each(call.links(run)?, |link| summary(&run.record.links[link].queue_delay, at))
        },
    ),
    measure(
        "utilisation",
        &[],
        "Bits that a link sent over those it could have sent, 0 to 1.",
        |run, call| {
            call.each(call.links(run)?, |link| {
                measures::utilisation(&run.record.links[link], run.record.ended)
            })
        },
    ),
    measure(
        "queued_bytes",
        &[],
        "Series: bytes that wait at each sample, sum over the links.",
        |run, call| sampled(run, call, |row| f64::from(run.record.link_samples.queue_bytes[row])),
    ),
    measure(
        "queued_packets",
        &[],
        "Series: packets that wait at each sample, sum over the links.",
        |run, call| sampled(run, call, |row| f64::from(run.record.link_samples.queue_packets[row])),
    ),
    measure("sent_series", &[], "Series: bytes sent by each sample, sum over the links.", |run, call| {
        sampled(run, call, |row| run.record.link_samples.sent_bytes[row] as f64)
    }),
    measure(
        "dropped_series",
        &[],
        "Series: packets dropped by each sample, sum over the links.",
        |run, call| sampled(run, call, |row| f64::from(run.record.link_samples.dropped_packets[row])),
    ),
    measure(
        "sent_mbps",
        &[],
        "Series: bytes sent from one sample to the next, Mbit/s, sum over the links.",
        sent_mbps,
    ),
];

fn of_record(run: &Run<'_>, call: &Arguments<'_>, of: fn(&LinkRecord) -> f64) -> Answer {
    call.each(call.links(run)?, |link| Some(of(&run.record.links[link])))
}

/// Time and value of each sample of one link.
fn points(run: &Run<'_>, link: usize, of: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let samples = &run.record.link_samples;
    let rows = (0..samples.time.len()).filter(|row| samples.link[*row] as usize == link);
    rows.map(|row| (samples.time[row].as_secs_f64(), of(row))).collect()
}

fn sampled(run: &Run<'_>, call: &Arguments<'_>, of: impl Fn(usize) -> f64) -> Answer {
    added(call.links(run)?.into_iter().map(|link| points(run, link, &of)))
}

fn sent_mbps(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let rates = |link: usize| -> Vec<(f64, f64)> {
        let sent = points(run, link, |row| run.record.link_samples.sent_bytes[row] as f64);
        let whole: Vec<(f64, f64)> = [(0.0, 0.0)].into_iter().chain(sent).collect();
        whole
            .windows(2)
            .map(|pair| {
                let (from, to) = (pair[0], pair[1]);
                ((from.0 + to.0) / 2.0, (to.1 - from.1) * 8e-6 / (to.0 - from.0))
            })
            .collect()
    };
    added(call.links(run)?.into_iter().map(rates))
}
