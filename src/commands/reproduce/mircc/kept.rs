//! What is kept of each run: rates, what was sent and lost per bin, wake-ups.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tidegate_core::event::Event;
use tidegate_core::records::RunRecord;
use tidegate_core::units::Time;
use tidegate_sim::plan::Plan;

/// Length of a bin of the losses, s (Figures 6 and 8).
pub(super) const BIN_S: f64 = 0.1;

/// What the claims need of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept {
    /// In the order of the scenario.
    pub(super) flows: Vec<FlowKept>,
    /// Content of all flows together, Mbit/s, over the first one's session.
    pub(super) goodput_mbps: f64,
    /// Wake-ups of the first consumer's node per second of its session.
    pub(super) wakeups_per_s: f64,
}

/// One flow of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowKept {
    /// Time, s, and rate asked at, Interests/s, at each sample of the session.
    pub(super) rates: Vec<(f64, f64)>,
    /// All Interests.
    pub(super) total: Bin,
    /// Interests by the bin in which they fell due.
    pub(super) due: Vec<Bin>,
    /// Interests by the bin in which they left.
    pub(super) left: Vec<Bin>,
}

/// Interests, and those of them that no Data came for in time, which is before their timeout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Bin {
    pub(super) sent: u32,
    pub(super) lost: u32,
}

impl Bin {
    /// Part that was lost; NaN when nothing left.
    pub(super) fn loss(self) -> f64 {
        f64::from(self.lost) / f64::from(self.sent)
    }
}

impl Kept {
    pub(super) fn of(plan: &Plan, run: RunRecord) -> Self {
        let session = plan
            .flows
            .first()
            .map_or(1.0, |flow| flow.stop.unwrap_or(run.ended).since(flow.start).as_secs_f64());
        let delivered: u64 = plan
            .flows
            .iter()
            .zip(&run.flows)
            .map(|(flow, record)| flow.payload.get() * record.delivered_segments)
            .sum();
        let wakeups =
            plan.flows.first().and_then(|flow| run.nodes.get(flow.consumer)).map_or(0, |node| node.wakeups);
        Self {
            flows: (0..plan.flows.len()).map(|flow| FlowKept::of(plan, &run, flow)).collect(),
            goodput_mbps: delivered as f64 * 8e-6 / session,
            wakeups_per_s: wakeups as f64 / session,
        }
    }

    /// Part of all Interests that brought no Data.
    pub(super) fn loss(&self) -> f64 {
        let sum = |of: fn(&FlowKept) -> u32| self.flows.iter().map(of).sum();
        Bin { sent: sum(|flow| flow.total.sent), lost: sum(|flow| flow.total.lost) }.loss()
    }

    /// First time from `from_s` on at which all rates are within `part` of `target` and stay so for a second; `until_s`
    /// if there is none before.
    pub(super) fn settled(&self, target: f64, part: f64, from_s: f64, until_s: f64) -> f64 {
        let is_near = |rate: f64| (rate - target).abs() <= part * target;
        let mut times: Vec<(f64, bool)> = self
            .flows
            .iter()
            .flat_map(|flow| flow.between(from_s, until_s).map(|(time, rate)| (time, is_near(rate))))
            .collect();
        times.sort_by(|left, right| left.0.total_cmp(&right.0));
        let mut since = from_s;
        for (time, near) in times {
            if time - since >= 1.0 {
                return since;
            }
            if !near {
                since = time;
            }
        }
        until_s
    }
}

impl FlowKept {
    fn of(plan: &Plan, run: &RunRecord, flow: usize) -> Self {
        let planned = &plan.flows[flow];
        let stop = planned.stop.unwrap_or(run.ended);
        let samples = &run.flow_samples;
        let rows = (0..samples.time.len()).filter(|row| samples.flow[*row] as usize == flow);
        let in_session = |at: Time| planned.start < at && at <= stop;
        let rates = rows
            .filter(|row| in_session(samples.time[*row]))
            .map(|row| (samples.time[row].as_secs_f64(), f64::from(samples.pacing_per_second[row])))
            .collect();
        let record = &run.flows[flow];
        let count = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let answered = record.delivered_segments + record.duplicates;
        let lost = count(record.interests.saturating_sub(answered));
        let bursts = bursts(run, flow as u32);
        Self {
            rates,
            total: Bin { sent: count(record.interests), lost },
            due: binned(stop, due(&bursts, planned.start)),
            left: binned(stop, left(&bursts)),
        }
    }

    /// Samples after `from_s` up to `to_s`.
    fn between(&self, from_s: f64, to_s: f64) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.rates.iter().copied().filter(move |(time, _)| *time > from_s && *time <= to_s)
    }

    /// Mean rate, Interests/s.
    pub(super) fn rate(&self, from_s: f64, to_s: f64) -> f64 {
        let rates: Vec<f64> = self.between(from_s, to_s).map(|(_, rate)| rate).collect();
        tidegate_report::stats::mean(&rates)
    }

    /// Part of all Interests that brought no Data, not even a late one.
    pub(super) fn loss(&self) -> f64 {
        self.total.loss()
    }
}

/// Bins in which everything was lost.
pub(super) fn dead(bins: &[Bin]) -> f64 {
    bins.iter().filter(|bin| bin.sent > 0 && bin.sent == bin.lost).count() as f64
}

/// What left at one instant: when, and of each Interest whether it was lost.
type Burst = (Time, Vec<bool>);

/// Bursts of `flow` in order; nothing is asked for twice.
fn bursts(run: &RunRecord, flow: u32) -> Vec<Burst> {
    let data = run.events.iter().filter_map(|record| match record.event {
        Event::DataReceived { flow: of, name, .. } if of == flow => Some(name.segment.0),
        _ => None,
    });
    let answered: BTreeSet<u32> = data.collect();
    let mut bursts: Vec<Burst> = Vec::new();
    for record in &run.events {
        let Event::InterestSent { flow: of, name, .. } = record.event else { continue };
        if of != flow {
            continue;
        }
        let is_lost = !answered.contains(&name.segment.0);
        match bursts.last_mut() {
            Some((at, interests)) if *at == record.time => interests.push(is_lost),
            _ => bursts.push((record.time, vec![is_lost])),
        }
    }
    bursts
}

/// Seconds at which each Interest left, and whether it was lost.
fn left(bursts: &[Burst]) -> impl Iterator<Item = (f64, bool)> + '_ {
    bursts.iter().flat_map(|(at, interests)| interests.iter().map(|is_lost| (at.as_secs_f64(), *is_lost)))
}

/// The same by when it fell due: what leaves at one tick did so one after the other since the tick before.
fn due(bursts: &[Burst], start: Time) -> Vec<(f64, bool)> {
    let mut before = start.as_secs_f64();
    let mut all = Vec::new();
    for (at, interests) in bursts {
        let at = at.as_secs_f64();
        let gap = (at - before) / interests.len() as f64;
        all.extend((1..).zip(interests).map(|(place, is_lost)| (before + gap * f64::from(place), *is_lost)));
        before = at;
    }
    all
}

fn binned(stop: Time, interests: impl IntoIterator<Item = (f64, bool)>) -> Vec<Bin> {
    let bin_of = |at: f64| (at / BIN_S) as usize;
    let mut bins = vec![Bin::default(); bin_of(stop.as_secs_f64()) + 1];
    for (at, is_lost) in interests {
        if let Some(bin) = bins.get_mut(bin_of(at)) {
            bin.sent += 1;
            bin.lost += u32::from(is_lost);
        }
    }
    bins
}
