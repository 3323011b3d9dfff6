//! What is kept of each run: who was done when, what was sent again, gaps between Interests, queues.

use serde::{Deserialize, Serialize};
use tidegate_core::event::Event;
use tidegate_core::math::square;
use tidegate_core::records::RunRecord;
use tidegate_core::units::Time;
use tidegate_report::stats::mean;
use tidegate_sim::plan::Plan;

/// Quantiles that are kept of gaps: 0, 1/1000, ... 1.
pub(super) const QUANTILES: usize = 1000;

/// What the claims need of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// In the order of the scenario.
    pub(super) flows: Vec<FlowKept>,
    /// Gaps between one Interest and the next, all flows, ms: quantiles, ascending; empty without Interests.
    pub(super) gaps_ms: Vec<f64>,
    /// Bytes that wait for the two media, mean over the time until the last flow was done: for the consumers' cell and
    /// for the producer's.
    pub(super) queued_bytes: [f64; 2],
    /// Interests per second and consumer in the second half of the time that the producer was off.
    pub(super) outage_rate: f64,
}

/// One consumer of one run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowKept {
    /// From its start to its last Data, s; the time until the run ended if that did not come.
    pub(super) delivery_s: f64,
    pub(super) is_complete: bool,
    /// Content, bits per second of that time.
    pub(super) goodput: f64,
    pub(super) interests: u64,
    pub(super) retransmissions: u64,
}

impl Kept {
    pub(super) fn of(plan: &Plan, run: RunRecord) -> Self {
        let flows: Vec<FlowKept> = run.flows.iter().map(|flow| FlowKept::of(flow, run.ended)).collect();
        Self { gaps_ms: gaps(&run), queued_bytes: queues(&run), outage_rate: outage_rate(plan, &run), flows }
    }

    /// Sum over consumers, Mbit/s (the paper's footnote 3).
    pub(super) fn goodput_mbps(&self) -> f64 {
        self.flows.iter().map(|flow| flow.goodput * 1e-6).sum()
    }

    pub(super) fn mean_delivery_s(&self) -> f64 {
        mean(&self.deliveries())
    }

    pub(super) fn deliveries(&self) -> Vec<f64> {
        self.flows.iter().map(|flow| flow.delivery_s).collect()
    }

    /// Part of all Interests that were sent again.
    pub(super) fn retransmitted(&self) -> f64 {
        let sum = |of: fn(&FlowKept) -> u64| self.flows.iter().map(of).sum::<u64>() as f64;
        sum(|flow| flow.retransmissions) / sum(|flow| flow.interests)
    }

    /// Jain's index of the consumers' goodputs.
    pub(super) fn jain(&self) -> f64 {
        let sum: f64 = self.flows.iter().map(|flow| flow.goodput).sum();
        let squares: f64 = self.flows.iter().map(|flow| square(flow.goodput)).sum();
        sum * sum / (self.flows.len() as f64 * squares)
    }

    /// Part of the gaps within these bounds, ms.
    pub(super) fn gaps_within(&self, from_ms: f64, to_ms: f64) -> f64 {
        let within = self.gaps_ms.iter().filter(|gap| (from_ms..=to_ms).contains(*gap)).count();
        within as f64 / self.gaps_ms.len() as f64
    }

    /// The gap that this part of all is not above, ms.
    pub(super) fn gap(&self, part: f64) -> f64 {
        let place = (part * QUANTILES as f64).round() as usize;
        self.gaps_ms.get(place).copied().unwrap_or(f64::NAN)
    }

    /// Whether all consumers got the file.
    pub(super) fn is_complete(&self) -> bool {
        self.flows.iter().all(|flow| flow.is_complete)
    }
}

impl FlowKept {
    fn of(flow: &tidegate_core::records::FlowRecord, ended: Time) -> Self {
        let delivery = flow.completed.unwrap_or(ended).since(flow.start).as_secs_f64();
        Self {
            delivery_s: delivery,
            is_complete: flow.completed.is_some(),
            goodput: flow.delivered_payload.get() as f64 * 8.0 / delivery,
            interests: flow.interests,
            retransmissions: flow.retransmissions,
        }
    }
}

/// When each Interest of each flow left.
fn sent(run: &RunRecord) -> Vec<Vec<Time>> {
    let mut sent = vec![Vec::new(); run.flows.len()];
    for record in &run.events {
        if let Event::InterestSent { flow, .. } = record.event {
            sent[flow as usize].push(record.time);
        }
    }
    sent
}

fn gaps(run: &RunRecord) -> Vec<f64> {
    let of_flow = |times: Vec<Time>| -> Vec<f64> {
        times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64() * 1e3).collect()
    };
    let mut all: Vec<f64> = sent(run).into_iter().flat_map(of_flow).collect();
    all.sort_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else { return Vec::new() };
    (0..=QUANTILES).map(|place| all[place * last / QUANTILES]).collect()
}

fn queues(run: &RunRecord) -> [f64; 2] {
    let done = run.flows.iter().map(|flow| flow.completed.unwrap_or(run.ended)).max().unwrap_or(run.ended);
    let samples = &run.link_samples;
    let (mut sums, mut last) = ([0.0; 2], 0);
    for row in 0..samples.time.len() {
        if samples.time[row] > done {
            break;
        }
        let link = &run.links[samples.link[row] as usize];
        let is_producers = link.from == "p1" || link.to == "p1";
        sums[usize::from(is_producers)] += f64::from(samples.queue_bytes[row]);
        last = row + 1;
    }
    let instants = last as f64 / run.links.len() as f64;
    sums.map(|sum| sum / instants)
}

/// NaN without an outage.
fn outage_rate(plan: &Plan, run: &RunRecord) -> f64 {
    let [off, on] = plan.events.as_slice() else { return f64::NAN };
    let from = off.at + on.at.since(off.at).scale(0.5);
    let waiting: Vec<usize> = (0..run.flows.len())
        .filter(|flow| run.flows[*flow].completed.is_none_or(|completed| completed > on.at))
        .collect();
    let sent = sent(run);
    let count: usize =
        waiting.iter().map(|flow| sent[*flow].iter().filter(|at| (from..on.at).contains(*at)).count()).sum();
    count as f64 / waiting.len() as f64 / on.at.since(from).as_secs_f64()
}
