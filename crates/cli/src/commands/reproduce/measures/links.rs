//! Measures of the directions of links, named `from>to`.

use tidegate_results::measures::utilisation;

use super::flows::summary;
use super::{AT, Answer, Arguments, MeasureFunction, NONE, Of, Run, measure_table};

measure_table! {
    "sent_bytes" [] NONE, Link(|link, _| Some(link.sent_bytes.get() as f64)),
        "Bytes sent on a link.";
    "dropped_packets" [] NONE, Link(|link, _| Some(link.dropped_packets as f64)),
        "Packets dropped by the queue of a link or the gates in front of it.";
    "lost_packets" [] NONE, Link(|link, _| Some(link.lost_packets as f64)),
        "Packets lost in transmission on a link.";
    "peak_queue_packets" [] NONE, Link(|link, _| Some(link.peak_queue_packets as f64)),
        "Maximum number of packets waiting in the queue of a link.";
    "queue_delay_ms" ["at" AT] NONE, Links(queue_delay),
        "Queueing delay of a link, ms; at = mean, min, p50, p95, p99 or max.";
    "utilisation" [] NONE, Link(utilisation),
        "Bits sent on a link divided by bits possible, 0 to 1.";
    "queued_bytes" [] NONE, LinkSample(|samples, row| f64::from(samples.queue_bytes[row])),
        "Series: queue length at each sample, bytes; sum over the links.";
    "queued_packets" [] NONE, LinkSample(|samples, row| f64::from(samples.queue_packets[row])),
        "Series: queue length at each sample, packets; sum over the links.";
    "sent_series" [] NONE, LinkSample(|samples, row| samples.sent_bytes[row] as f64),
        "Series: bytes sent up to each sample; sum over the links.";
    "dropped_series" [] NONE, LinkSample(|samples, row| f64::from(samples.dropped_packets[row])),
        "Series: packets dropped up to each sample; sum over the links.";
    "sent_mbps" [] NONE, Links(sent_mbps),
        "Series: rate since the previous sample, Mbit/s, at the middle of this time; sum over the links.";
}

fn queue_delay(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let at = call.word("at")?;
    call.each(run, |link| summary(&run.record.links[link].queue_delay, at))
}

/// Time and value of each sample of one link.
pub(super) fn points(run: &Run<'_>, link: usize, of: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let samples = &run.record.link_samples;
    let rows = (0..samples.time.len()).filter(|row| samples.link[*row] as usize == link);
    rows.map(|row| (samples.time[row].as_secs_f64(), of(row))).collect()
}

fn sent_mbps(run: &Run<'_>, call: &Arguments<'_>) -> Answer {
    let rates = |link: usize| -> Vec<(f64, f64)> {
        let sent = points(run, link, |row| run.record.link_samples.sent_bytes[row] as f64);
        // Nothing was sent at time 0, for which there is no sample.
        let whole: Vec<(f64, f64)> = [(0.0, 0.0)].into_iter().chain(sent).collect();
        whole
            .windows(2)
            .map(|pair| {
                let (from, to) = (pair[0], pair[1]);
                // The mean rate of an interval is plotted at its middle.
                ((from.0 + to.0) / 2.0, (to.1 - from.1) * 8e-6 / (to.0 - from.0))
            })
            .collect()
    };
    call.added(run, rates)
}
