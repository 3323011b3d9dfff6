//! Rates of links over time, as the events of a plan change them.

use std::collections::BTreeMap;

use tidegate_core::units::{BitRate, ByteCount, Span, Time};
use tidegate_sim::plan::{Change, Plan};

use super::flow_path::PathDirection;

/// The rate of a direction as the run begins.
pub(super) fn rate(plan: &Plan, (link, direction): PathDirection) -> BitRate {
    plan.links[link].rate[direction]
}

/// Changes of rate of each link that has some, in order of time.
pub(super) struct Rates(BTreeMap<usize, Vec<(Time, BitRate)>>);

impl Rates {
    /// Collects the rates of all link directions over time.
    pub(super) fn of(plan: &Plan) -> Self {
        let mut changes: BTreeMap<usize, Vec<(Time, BitRate)>> = BTreeMap::new();
        for event in &plan.events {
            if let Change::LinkRate { link, rate } = event.change {
                changes.entry(link).or_default().push((event.at, rate));
            }
        }
        Self(changes)
    }

    /// Time from `start` until `direction`, if it is never idle, has sent `size`.
    pub(super) fn time_to_send(
        &self,
        plan: &Plan,
        direction: PathDirection,
        start: Time,
        size: ByteCount,
    ) -> Span {
        let (mut now, mut left, mut rate) = (start, size, rate(plan, direction));
        for &(at, new) in self.0.get(&direction.0).into_iter().flatten() {
            let sent = rate.bytes_in(at.since(now));
            if sent >= left {
                break;
            }
            left = ByteCount::new(left.get() - sent.get());
            // A change before `start` sets the rate but takes no time.
            (now, rate) = (now.max(at), new);
        }
        now.since(start) + rate.time_to_send(left)
    }
}
