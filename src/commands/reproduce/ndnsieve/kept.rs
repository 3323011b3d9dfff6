//! What is kept of each run: rates per 100 ms, delays, drops, path changes, and counts that claims ask for.

use serde::{Deserialize, Serialize};
use tidegate_core::event::{Cause, Event};
use tidegate_core::records::{LinkSamples, RunRecord};
use tidegate_core::units::Time;
use tidegate_report::measures::jain_index;
use tidegate_report::stats;
use tidegate_sim::plan::Plan;

use super::super::finished::nanos;
use super::invariants::{self, Invariants};

/// Length of a bin of every rate over time, s.
pub(super) const BIN_S: f64 = 0.1;
const BIN_NANOS: u64 = 100_000_000;

/// What the claims need of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Content received by each flow in each bin, Mbit/s.
    pub(super) flows: Vec<Vec<f64>>,
    /// Sent towards R1 by R2 (interface 260) and R3 (261) in each bin, Mbit/s; empty without such a link.
    pub(super) upstream: [Vec<f64>; 2],
    /// Full delays of each flow.
    pub(super) delays: Vec<Delays>,
    /// Packets that full queues dropped.
    pub(super) dropped: f64,
    /// Paths changed at routers.
    pub(super) moves: Vec<Move>,
    /// What only a trace with every packet shows.
    pub(super) invariants: Option<Invariants>,
}

/// The first Interest of a segment to its Data, over one flow's segments, ms.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Delays {
    pub(super) mean: f64,
    pub(super) deviation: f64,
    /// 5th, 25th, 50th, 75th and 95th percentile.
    pub(super) box_values: [f64; 5],
}

/// A router sends a prefix on another way from now on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Move {
    #[serde(with = "nanos")]
    pub(super) at: Time,
    pub(super) node: u32,
    pub(super) prefix: u32,
}

impl Kept {
    pub(super) fn of(plan: &Plan, run: RunRecord) -> Self {
        let bins = usize::try_from(run.ended.as_nanos().div_ceil(BIN_NANOS)).unwrap_or(0);
        Self {
            flows: content(plan, &run, bins),
            upstream: ["r2", "r3"].map(|from| towards_r1(&run, from)),
            delays: delays(&run),
            dropped: run.events.iter().filter(|record| is_overflow(&record.event)).count() as f64,
            moves: run.events.iter().filter_map(moved).collect(),
            invariants: invariants::of(plan, &run),
        }
    }

    /// Content of all flows together in each bin, Mbit/s.
    pub(super) fn total(&self) -> Vec<f64> {
        let bins = self.flows.first().map_or(0, Vec::len);
        (0..bins).map(|bin| self.flows.iter().map(|flow| flow[bin]).sum()).collect()
    }

    /// Mean content of all flows together, Mbit/s.
    pub(super) fn throughput(&self) -> f64 {
        stats::mean(&self.total())
    }

    /// Standard deviation of the total over its mean, from `from_s` on.
    pub(super) fn variation(&self, from_s: f64) -> f64 {
        let late = since(&self.total(), from_s).to_vec();
        stats::standard_deviation(&late) / stats::mean(&late)
    }

    /// Largest mean of the total over one second, Mbit/s.
    pub(super) fn peak(&self) -> f64 {
        let total = self.total();
        total.windows(10).map(stats::mean).fold(f64::NAN, f64::max)
    }

    /// Jain's index of the flows' content from `from_s` on.
    pub(super) fn fairness(&self, from_s: f64) -> f64 {
        let shares: Vec<f64> = self.flows.iter().map(|flow| since(flow, from_s).iter().sum()).collect();
        jain_index(&shares).unwrap_or(f64::NAN)
    }

    /// Mean over the flows of their mean full delays, ms.
    pub(super) fn delay(&self) -> f64 {
        stats::mean(&self.delays.iter().map(|delays| delays.mean).collect::<Vec<f64>>())
    }

    /// Part of what R1 received through interface 261, from one instant to another.
    pub(super) fn share_of_261(&self, from_s: f64, to_s: f64) -> f64 {
        let sum = |face: usize| {
            let bins = self.upstream[face].iter().enumerate();
            let inside = |bin: &usize| {
                let start = *bin as f64 * BIN_S;
                start >= from_s && start + BIN_S <= to_s + BIN_S / 2.0
            };
            bins.filter(|(bin, _)| inside(bin)).map(|(_, rate)| rate).sum::<f64>()
        };
        sum(1) / (sum(0) + sum(1))
    }

    /// The same from the first path change on; NaN without a change.
    pub(super) fn share_of_261_after_move(&self) -> f64 {
        let first = self.moves.first();
        first.map_or(f64::NAN, |first| self.share_of_261(first.at.as_secs_f64(), f64::INFINITY))
    }

    /// Most changes of one prefix at one router within `dwell_s`.
    pub(super) fn moves_within(&self, dwell_s: f64) -> f64 {
        let within = |first: &Move| {
            let near = |other: &&Move| {
                (other.node, other.prefix) == (first.node, first.prefix)
                    && other.at >= first.at
                    && other.at.since(first.at).as_secs_f64() < dwell_s
            };
            self.moves.iter().filter(near).count()
        };
        self.moves.iter().map(within).max().unwrap_or(0) as f64
    }
}

/// The bins from `from_s` on.
fn since(bins: &[f64], from_s: f64) -> &[f64] {
    let first = (from_s / BIN_S).round() as usize;
    bins.get(first..).unwrap_or(&[])
}

fn content(plan: &Plan, run: &RunRecord, bins: usize) -> Vec<Vec<f64>> {
    let mut flows = vec![vec![0.0; bins]; run.flows.len()];
    for record in &run.events {
        let Event::DataReceived { flow, .. } = record.event else { continue };
        let bin = usize::try_from(record.time.as_nanos() / BIN_NANOS).unwrap_or(usize::MAX);
        let (flow, payload) = (flow as usize, plan.flows[flow as usize].payload.get());
        if let Some(rate) = flows[flow].get_mut(bin) {
            *rate += payload as f64 * 8e-6 / BIN_S;
        }
    }
    flows
}

fn towards_r1(run: &RunRecord, from: &str) -> Vec<f64> {
    let link = run.links.iter().position(|link| link.from == from && link.to == "r1");
    let Some(link) = link else { return Vec::new() };
    let LinkSamples { link: links, sent_bytes, .. } = &run.link_samples;
    let sent = links.iter().zip(sent_bytes).filter(|(other, _)| **other as usize == link);
    let counts: Vec<u64> = [0].into_iter().chain(sent.map(|(_, bytes)| *bytes)).collect();
    counts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * 8e-6 / BIN_S).collect()
}

fn delays(run: &RunRecord) -> Vec<Delays> {
    let mut all = vec![Vec::new(); run.flows.len()];
    for record in &run.events {
        if let Event::DataReceived { flow, full_delay, .. } = record.event {
            all[flow as usize].push(full_delay.as_millis_f64());
        }
    }
    all.into_iter().map(Delays::of).collect()
}

impl Delays {
    fn of(mut delays: Vec<f64>) -> Self {
        delays.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let place = (part * delays.len().saturating_sub(1) as f64).round() as usize;
            delays.get(place).copied().unwrap_or(f64::NAN)
        };
        Self {
            mean: stats::mean(&delays),
            deviation: stats::standard_deviation(&delays),
            box_values: [0.05, 0.25, 0.5, 0.75, 0.95].map(at),
        }
    }
}

/// Whether a queue had no room: an Interest that a shaper holds until its Data has come another way is no loss.
fn is_overflow(event: &Event) -> bool {
    matches!(event, Event::Dropped { cause: Cause("queue full"), .. })
}

fn moved(record: &tidegate_core::records::EventRecord) -> Option<Move> {
    let Event::PathMoved { name, .. } = record.event else { return None };
    Some(Move { at: record.time, node: record.node, prefix: name.prefix.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(at_ms: u64, node: u32) -> Move {
        Move { at: Time::from_nanos(at_ms * 1_000_000), node, prefix: 7 }
    }

    fn kept(moves: Vec<Move>) -> Kept {
        let flows = vec![vec![0.0, 4.0, 6.0, 6.0], vec![0.0, 4.0, 2.0, 2.0]];
        let upstream = [vec![8.0, 8.0, 0.0, 8.0], vec![0.0, 0.0, 8.0, 0.0]];
        Kept { flows, upstream, delays: Vec::new(), dropped: 0.0, moves, invariants: None }
    }

    #[test]
    fn the_part_of_an_interface_is_taken_from_the_first_move_on() {
        assert_eq!(kept(vec![moved(150, 1), moved(300, 1)]).share_of_261_after_move(), 0.5);
        assert_eq!(kept(vec![moved(150, 1)]).share_of_261_after_move(), 0.5);
        assert!(kept(Vec::new()).share_of_261_after_move().is_nan());
        assert_eq!(kept(Vec::new()).share_of_261(0.0, f64::INFINITY), 0.25);
    }

    #[test]
    fn moves_count_together_at_one_router_within_the_dwell_time_only() {
        assert_eq!(kept(vec![moved(0, 1), moved(4999, 2), moved(5000, 1)]).moves_within(5.0), 1.0);
        assert_eq!(kept(vec![moved(0, 1), moved(4999, 1), moved(9000, 1)]).moves_within(5.0), 2.0);
        assert_eq!(kept(Vec::new()).moves_within(5.0), 0.0);
    }

    #[test]
    fn rates_are_those_of_all_flows_and_fairness_that_of_what_comes_late() {
        let kept = kept(Vec::new());
        assert_eq!((kept.total(), kept.throughput()), (vec![0.0, 8.0, 8.0, 8.0], 6.0));
        assert_eq!(kept.variation(0.1), 0.0);
        assert_eq!((kept.fairness(0.2), kept.fairness(0.0)), (0.8, 576.0 / (2.0 * (256.0 + 64.0))));
    }
}
