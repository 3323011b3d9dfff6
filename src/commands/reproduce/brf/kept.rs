//! What is kept of each run: what every flow had delivered at each sample, its pace and round trip, queues and drops.

use serde::{Deserialize, Serialize};
use tidegate_core::event::{Cause, Event};
use tidegate_core::records::{FlowRecord, LinkRecord, RunRecord};
use tidegate_core::units::Span;
use tidegate_report::stats::mean;
use tidegate_sim::plan::Plan;

/// Bytes of a full segment on the wire.
const WIRE_BYTES: f64 = 1514.0;

/// What the claims need of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// In the order of the scenario.
    pub(super) flows: Vec<FlowKept>,
    /// Time between samples, s; the first one is taken after it.
    pub(super) period_s: f64,
    /// Bytes that wait in routers on the way to receivers, at each sample.
    pub(super) queued_bytes: Vec<u32>,
    /// Packets that routers dropped on the way to receivers, until each sample.
    pub(super) dropped: Vec<u32>,
    /// Bytes sent to the receiver until each sample.
    pub(super) sent_bytes: Vec<u64>,
    /// Most packets that waited at once in one router.
    pub(super) peak_packets: u64,
    /// Time that packets wait at the router where they wait longest, ms: half, 95 % and 99 % of them no longer.
    pub(super) wait_ms: [f64; 3],
    /// Bytes of ACKs that receivers sent for each byte that came to them.
    pub(super) ack_part: f64,
    /// What was estimated of what, the estimate, and the truth; if the scenario asks for it.
    pub(super) estimates: Vec<(String, f64, f64)>,
}

/// One flow of one run; the columns have one row per sample.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowKept {
    /// Its SYN leaves, s.
    pub(super) start_s: f64,
    /// Content per segment, bit.
    segment_bits: f64,
    /// Segments that had arrived.
    delivered: Vec<u32>,
    /// Rate that pacing lets through, segments per second; infinite without one.
    paced: Vec<f32>,
    /// Smoothed round trip, ms; zero before there is one.
    rtt_ms: Vec<f32>,
    /// Segments outstanding.
    pub(super) in_flight: Vec<u32>,
    /// From its start until the receiver had everything, ms; `None` if it had not.
    pub(super) completion_ms: Option<f64>,
    /// Longest round trip of a segment that left once, ms.
    pub(super) longest_ms: f64,
}

impl Kept {
    pub(super) fn of(plan: &Plan, run: RunRecord) -> Self {
        let towards: Vec<usize> =
            (0..run.links.len()).step_by(2).filter(|link| is_routers(&run.links[*link])).collect();
        let worst = towards.iter().map(|link| &run.links[*link]).max_by_key(|link| link.queue_delay.p95);
        let mut kept = Self {
            flows: (0..plan.flows.len()).map(|flow| FlowKept::of(plan, &run, flow)).collect(),
            period_s: plan.sampling.map_or(f64::NAN, Span::as_secs_f64),
            peak_packets: towards.iter().map(|link| run.links[*link].peak_queue_packets).max().unwrap_or(0),
            estimates: run.events.iter().filter_map(|row| estimate(&row.event)).collect(),
            wait_ms: worst.map_or([f64::NAN; 3], |link| {
                let delay = &link.queue_delay;
                [delay.p50, delay.p95, delay.p99].map(Span::as_millis_f64)
            }),
            ack_part: ack_part(&run),
            ..Self::default()
        };
        kept.keep_links(&run, &towards);
        kept
    }

    fn keep_links(&mut self, run: &RunRecord, towards: &[usize]) {
        let samples = &run.link_samples;
        // Only the last router of each scenario sends to a receiver.
        let last = towards.iter().copied().find(|link| run.links[*link].to.starts_with('c'));
        for row in 0..samples.time.len() {
            let link = samples.link[row] as usize;
            if link == 0 {
                self.queued_bytes.push(0);
                self.dropped.push(0);
                self.sent_bytes.push(0);
            }
            if let (true, Some(queued), Some(dropped)) =
                (towards.contains(&link), self.queued_bytes.last_mut(), self.dropped.last_mut())
            {
                *queued += samples.queue_bytes[row];
                *dropped += samples.dropped_packets[row];
            }
            if let (true, Some(sent)) = (Some(link) == last, self.sent_bytes.last_mut()) {
                *sent = samples.sent_bytes[row];
            }
        }
    }

    /// Samples taken by `time_s`.
    fn rows(&self, time_s: f64) -> usize {
        ((time_s / self.period_s).round().max(0.0) as usize).min(self.queued_bytes.len())
    }

    /// Time of the last sample, s.
    pub(super) fn end_s(&self) -> f64 {
        self.queued_bytes.len() as f64 * self.period_s
    }

    /// Mbit/s of content of one flow between two times.
    pub(super) fn goodput_mbps(&self, flow: usize, from_s: f64, to_s: f64) -> f64 {
        let Some(flow) = self.flows.get(flow) else { return f64::NAN };
        let bits = flow.segment_bits
            * f64::from(flow.delivered_by(self.rows(to_s)) - flow.delivered_by(self.rows(from_s)));
        bits * 1e-6 / (to_s - from_s)
    }

    /// Mbit/s of content of one flow from the first sample with Data on.
    pub(super) fn throughput_mbps(&self, flow: usize) -> f64 {
        let first =
            self.flows.get(flow).and_then(|flow| flow.delivered.iter().position(|segments| *segments > 0));
        let Some(first) = first else { return 0.0 };
        self.goodput_mbps(flow, (first + 1) as f64 * self.period_s, self.end_s())
    }

    /// Goodput of all flows together.
    pub(super) fn total_mbps(&self, from_s: f64, to_s: f64) -> f64 {
        (0..self.flows.len()).map(|flow| self.goodput_mbps(flow, from_s, to_s)).sum()
    }

    /// Part of what all flows got that this one did.
    pub(super) fn share(&self, flow: usize) -> f64 {
        self.goodput_mbps(flow, 0.0, self.end_s()) / self.total_mbps(0.0, self.end_s())
    }

    /// Jain's index of the flows' goodputs.
    pub(super) fn jain(&self, from_s: f64, to_s: f64) -> f64 {
        let rates = (0..self.flows.len()).map(|flow| self.goodput_mbps(flow, from_s, to_s));
        let (sum, squares) =
            rates.fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
        sum * sum / (self.flows.len() as f64 * squares)
    }

    /// When the last flow starts, s.
    pub(super) fn start_s(&self) -> f64 {
        self.flows.iter().map(|flow| flow.start_s).fold(0.0, f64::max)
    }

    /// From the last flow's start to the first `window_s` over which Jain's index is `least`, s; until the last such window
    /// of the run if there is none.
    pub(super) fn converged_s(&self, least: f64, window_s: f64) -> f64 {
        let start_s = self.start_s();
        let last_s = self.end_s() - window_s;
        // Windows begin with a sample.
        let mut from_s = (start_s / self.period_s).ceil() * self.period_s;
        while from_s < last_s {
            if self.jain(from_s, from_s + window_s) >= least {
                return from_s - start_s;
            }
            from_s += self.period_s;
        }
        last_s - start_s
    }

    /// From one round trip after the start of `flow` until the paced rates of all flows that have started are within 10 %
    /// of each other and stay so for 1 s, ms; the time until the next start if they do not by then.
    pub(super) fn agreed_ms(&self, flow: usize, rtt_s: f64) -> f64 {
        let since_s = self.flows.get(flow).map_or(f64::NAN, |flow| flow.start_s) + rtt_s;
        let until_s = self.flows.get(flow + 1).map_or(self.end_s(), |next| next.start_s);
        let mut agreed_from = None;
        for row in self.rows(since_s)..self.rows(until_s) {
            let time_s = (row + 1) as f64 * self.period_s;
            if !self.flows[..=flow].iter().map(|flow| flow.paced[row]).collect::<Range>().is_within(0.1) {
                agreed_from = None;
                continue;
            }
            let from_s = *agreed_from.get_or_insert(time_s);
            if time_s - from_s >= 1.0 {
                return (from_s - since_s).max(0.0) * 1e3;
            }
        }
        (until_s - since_s) * 1e3
    }

    /// Packets that routers dropped, percent of all that came to the bottleneck from `from_s` on.
    pub(super) fn dropped_percent(&self, from_s: f64) -> f64 {
        let before = self.rows(from_s).checked_sub(1);
        let since = |column: &dyn Fn(usize) -> f64| {
            let last = self.dropped.len().checked_sub(1).map_or(f64::NAN, column);
            last - before.map_or(0.0, column)
        };
        let dropped = since(&|row| f64::from(self.dropped[row]));
        let sent = since(&|row| self.sent_bytes[row] as f64) / WIRE_BYTES;
        100.0 * dropped / (dropped + sent)
    }

    /// Time and smoothed round trip of the first flow above `empty_ms`, ms, every `pause_s` between two times.
    pub(super) fn delays(&self, empty_ms: f64, pause_s: f64, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let Some(flow) = self.flows.first() else { return Vec::new() };
        let step = (pause_s / self.period_s).round().max(1.0) as usize;
        let first = self.rows(from_s).max(step);
        let rows = (first..=self.rows(to_s)).step_by(step).map(|row| row - 1);
        rows.filter(|row| flow.rtt_ms[*row] > 0.0)
            .map(|row| ((row + 1) as f64 * self.period_s, f64::from(flow.rtt_ms[row]) - empty_ms))
            .collect()
    }

    /// Mean time between two spells of at most `most` segments outstanding, s, from `from_s` on; NaN with fewer than two.
    pub(super) fn between_dips_s(&self, most: u32, from_s: f64) -> f64 {
        let Some(flow) = self.flows.first() else { return f64::NAN };
        let is_low = |row: usize| flow.in_flight[row] <= most;
        let begins: Vec<f64> = (self.rows(from_s).max(1)..self.rows(self.end_s()))
            .filter(|row| is_low(*row) && !is_low(row - 1))
            .map(|row| row as f64 * self.period_s)
            .collect();
        mean(&begins.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>())
    }

    /// Time, s, and goodput, Mbit/s, of one flow in each `bin_s`.
    pub(super) fn goodputs(&self, flow: usize, bin_s: f64) -> Vec<(f64, f64)> {
        let bins = (self.end_s() / bin_s).floor() as usize;
        (0..bins)
            .map(|bin| {
                let from_s = bin as f64 * bin_s;
                (from_s + bin_s / 2.0, self.goodput_mbps(flow, from_s, from_s + bin_s))
            })
            .collect()
    }

    /// Time, s, and paced rate of content, Mbit/s, of one flow at each sample between two times.
    pub(super) fn paces(&self, flow: usize, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
        let Some(flow) = self.flows.get(flow) else { return Vec::new() };
        (self.rows(from_s)..self.rows(to_s))
            .map(|row| {
                ((row + 1) as f64 * self.period_s, f64::from(flow.paced[row]) * flow.segment_bits * 1e-6)
            })
            .collect()
    }

    /// Most bytes that waited in routers between two times.
    pub(super) fn max_queued(&self, from_s: f64, to_s: f64) -> f64 {
        let rows = self.rows(from_s)..self.rows(to_s);
        self.queued_bytes[rows].iter().copied().max().map_or(f64::NAN, f64::from)
    }

    /// For how long more than `bytes` waited, s, between two times.
    pub(super) fn queued_above_s(&self, bytes: f64, from_s: f64, to_s: f64) -> f64 {
        let rows = self.rows(from_s)..self.rows(to_s);
        let above = self.queued_bytes[rows].iter().filter(|queued| f64::from(**queued) > bytes);
        above.count() as f64 * self.period_s
    }
}

fn estimate(event: &Event) -> Option<(String, f64, f64)> {
    match *event {
        Event::Estimated { what: Cause(what), estimate, truth, .. } => {
            Some((what.to_owned(), estimate, truth))
        }
        _ => None,
    }
}

/// Whether a link leaves a router.
fn is_routers(link: &LinkRecord) -> bool {
    link.from.starts_with('r')
}

/// Bytes towards the sender for each towards the receiver, on the link of the receiver.
fn ack_part(run: &RunRecord) -> f64 {
    let sent = |to_receiver: bool| -> f64 {
        let ends = |link: &&LinkRecord| {
            if to_receiver { link.to.starts_with('c') } else { link.from.starts_with('c') }
        };
        run.links.iter().filter(ends).map(|link| link.sent_bytes.get() as f64).sum()
    };
    sent(false) / sent(true)
}

impl FlowKept {
    fn of(plan: &Plan, run: &RunRecord, flow: usize) -> Self {
        let samples = &run.flow_samples;
        let record: &FlowRecord = &run.flows[flow];
        let mut kept = Self {
            start_s: record.start.as_secs_f64(),
            segment_bits: plan.flows[flow].payload.get() as f64 * 8.0,
            completion_ms: record.completion_time().map(|time| time.as_secs_f64() * 1e3),
            longest_ms: record.last_delay.max.as_secs_f64() * 1e3,
            ..Self::default()
        };
        for row in (0..samples.time.len()).filter(|row| samples.flow[*row] as usize == flow) {
            kept.delivered.push(u32::try_from(samples.delivered_segments[row]).unwrap_or(u32::MAX));
            kept.paced.push(samples.pacing_per_second[row]);
            kept.rtt_ms.push((samples.smoothed_rtt[row].as_secs_f64() * 1e3) as f32);
            kept.in_flight.push(samples.in_flight_packets[row]);
        }
        kept
    }

    /// Segments that had arrived after so many samples.
    fn delivered_by(&self, rows: usize) -> u32 {
        rows.checked_sub(1).and_then(|row| self.delivered.get(row)).copied().unwrap_or(0)
    }
}

/// Smallest and largest of some rates.
struct Range {
    least: f32,
    most: f32,
}

impl FromIterator<f32> for Range {
    fn from_iter<I: IntoIterator<Item = f32>>(rates: I) -> Self {
        rates.into_iter().fold(Self { least: f32::INFINITY, most: 0.0 }, |range, rate| Self {
            least: range.least.min(rate),
            most: range.most.max(rate),
        })
    }
}

impl Range {
    fn is_within(&self, part: f32) -> bool {
        self.most.is_finite() && self.most <= (1.0 + part) * self.least
    }
}

#[cfg(test)]
mod tests;
