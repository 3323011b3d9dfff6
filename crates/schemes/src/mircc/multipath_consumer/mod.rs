//! The consumer of several paths: the primary rate on the best one, the secondary rate on every other.
//!
//! Joining the n flows of a path takes its rate from C/n to C/(n + 1). Where another path offers something between the
//! two, elections never end if the margin m has (1 + m)² < (n + 1)/n; a margin of 0.42 is enough for every n.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::path_table::ANY;
use super::{PRIMARY, Params, SECONDARY};
use crate::toolbox::rate::rate_follower::RateFollower;
use crate::mircc::{FLOW_CLASS, PATH_CHOICE, STAMPING_RATE_SECONDARY};
use crate::toolbox::forwarding::path_label::PATH_LABEL;

/// Maximum number of paths in use.
const MAX_PATHS: usize = 16;
/// Minimum number of RTTs between two elections.
const TERM: u64 = 2;

#[derive(Debug)]
pub(super) struct MultipathConsumer {
    params: Params,
    /// Sends at the sum of all rates.
    follower: RateFollower,
    /// Paths keyed by label.
    paths: BTreeMap<u32, PathRates>,
    primary: Option<u32>,
    elected_at: Time,
    /// Interests that are due to search for new paths; a fraction accumulates to one.
    unexplored: f64,
}

/// Rates in thousandths of an Interest per second.
#[derive(Clone, Copy, Debug)]
struct PathRates {
    primary: u32,
    secondary: u32,
    received_at: Time,
    /// Interests still due to its share of those sent, in Interests times the sum of all rates.
    credit: i64,
}

impl PathRates {
    /// The rate at which this path is used.
    fn rate(&self, is_primary: bool) -> u32 {
        if is_primary { self.primary } else { self.secondary }
    }
}

impl MultipathConsumer {
    pub(super) fn new(params: Params, follower: RateFollower) -> Self {
        let (paths, elected_at) = (BTreeMap::new(), Time::ZERO);
        Self { params, follower, paths, primary: None, elected_at, unexplored: 0.0 }
    }

    /// Sum of the rates of all paths.
    fn total(&self) -> u64 {
        self.paths.iter().map(|(label, path)| u64::from(path.rate(self.primary == Some(*label)))).sum()
    }

    /// The path of the next Interest: each in proportion to its rate.
    fn next_path(&mut self) -> u32 {
        self.unexplored += self.params.exploring;
        if self.unexplored >= 1.0 {
            self.unexplored -= 1.0;
            return ANY;
        }
        // At most `MAX_PATHS` rates of 32 bits, so the sum fits.
        let (total, primary) = (self.total() as i64, self.primary);
        for (label, path) in &mut self.paths {
            path.credit += i64::from(path.rate(primary == Some(*label)));
        }
        let max = self.paths.iter_mut().max_by_key(|(_, path)| path.credit);
        max.map_or(ANY, |(label, path)| {
            // The path chosen gives up the credits of the whole turn, so that shares follow the rates over
            // time.
            path.credit -= total;
            *label
        })
    }

    /// Records the rates on a Data of a path; paths without recent Data are removed.
    fn note(&mut self, now: Time, label: u32, primary: u32, secondary: u32) {
        let memory = self.params.memory;
        self.paths.retain(|other, path| *other == label || now.since(path.received_at) <= memory);
        if self.paths.len() < MAX_PATHS || self.paths.contains_key(&label) {
            let credit = self.paths.get(&label).map_or(0, |path| path.credit);
            self.paths.insert(label, PathRates { primary, secondary, received_at: now, credit });
        }
    }

    /// The path with the highest primary rate becomes the primary one, if it is better by the margin and the last
    /// election is long enough ago.
    fn elect(&mut self, now: Time, rtt: Span) {
        let Some((best, rate)) =
            self.paths.iter().map(|(label, path)| (*label, path.primary)).max_by_key(|(_, rate)| *rate)
        else {
            return;
        };
        let is_due = match self.primary.and_then(|label| self.paths.get(&label)) {
            None => true,
            Some(path) => {
                let is_better = f64::from(rate) > f64::from(path.primary) * (1.0 + self.params.margin);
                is_better && now.since(self.elected_at) >= rtt * TERM
            }
        };
        if is_due {
            (self.primary, self.elected_at) = (Some(best), now);
        }
    }
}

impl CongestionController for MultipathConsumer {
    fn window(&self) -> f64 {
        self.follower.window()
    }

    fn pacing(&self) -> Pacing {
        self.follower.pacing()
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        self.follower.on_sent(cx, sent, hop, flow);
        let path = self.next_path();
        let is_primary = self.primary.is_none_or(|primary| primary == path);
        hop.put(PATH_CHOICE, path);
        hop.put(FLOW_CLASS, if is_primary { PRIMARY } else { SECONDARY });
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let on_data = |signal| delivery.hop.get(signal);
        let Some(primary) = on_data(Signal::STAMPING_RATE) else { return };
        match on_data(PATH_LABEL) {
            Some(label) if label != ANY => {
                let secondary = on_data(STAMPING_RATE_SECONDARY).unwrap_or_default();
                self.note(cx.now, label, primary, secondary);
                self.elect(cx.now, flow.smoothed_rtt.unwrap_or_default());
                self.follower.follow(u32::try_from(self.total()).unwrap_or(u32::MAX));
            }
            // The routers stamp one rate and no paths, or the Data comes from a content store close by.
            _ if self.paths.is_empty() => self.follower.on_delivery(cx, delivery, flow),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
