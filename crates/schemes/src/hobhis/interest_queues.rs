//! Waiting Interests: one line per downstream face, in which flows take turns or are served in the order of arrival.

use std::collections::{BTreeMap, VecDeque};

use tidegate_core::prelude::*;

use super::Order;

/// Downstream face of a line; `None` if it is unknown, and for the one line of [`Order::Arrival`].
pub(super) type LineKey = Option<FaceId>;

/// The Interests of one upstream face.
#[derive(Debug)]
pub(super) struct Lines {
    order: Order,
    lines: BTreeMap<LineKey, Line>,
    next_ticket: u64,
}

/// Interests for one downstream face.
#[derive(Debug, Default)]
struct Line {
    /// Held Interests by flow, with the ticket of each.
    flows: BTreeMap<FlowKey, VecDeque<(u64, PitId)>>,
    /// Flow that was served last.
    served: Option<FlowKey>,
    /// Departure time of the last Interest.
    left_at: Time,
}

impl Line {
    fn head(&self, order: Order) -> Option<FlowKey> {
        use std::ops::Bound::{Excluded, Unbounded};
        match order {
            Order::Arrival => {
                // Tickets rise with arrivals, so the lowest one in front is the oldest Interest of all flows.
                let ticket = |(_, waiting): &(&FlowKey, &VecDeque<(u64, PitId)>)| waiting.front().copied();
                self.flows.iter().min_by_key(ticket).map(|(flow, _)| *flow)
            }
            Order::Turns => {
                let after = self.served.and_then(|served| self.flows.range((Excluded(served), Unbounded)).next());
                after.or_else(|| self.flows.first_key_value()).map(|(flow, _)| *flow)
            }
        }
    }

    fn remove(&mut self, flow: FlowKey, is_intended: impl Fn(&PitId) -> bool) {
        let Some(waiting) = self.flows.get_mut(&flow) else { return };
        if let Some(place) = waiting.iter().position(|(_, pending)| is_intended(pending)) {
            waiting.remove(place);
        }
        if waiting.is_empty() {
            self.flows.remove(&flow);
        }
    }
}

impl Lines {
    pub(super) fn new(order: Order) -> Self {
        Self { order, lines: BTreeMap::new(), next_ticket: 0 }
    }

    /// Line of an Interest of `flow` whose Data goes to `downstream`: that of the other waiting Interests of the
    /// flow, if there are any.
    pub(super) fn line_of(&self, flow: FlowKey, downstream: Option<FaceId>) -> LineKey {
        // Even if its downstream face has changed: Interests of one flow in two lines would be reordered.
        let own = self.lines.iter().find(|(_, line)| line.flows.contains_key(&flow));
        let free = if self.order == Order::Turns { downstream } else { None };
        own.map_or(free, |(key, _)| *key)
    }

    /// Interests that wait in all lines.
    pub(super) fn waiting(&self) -> usize {
        self.lines.values().flat_map(|line| line.flows.values()).map(VecDeque::len).sum()
    }

    /// Lines with waiting Interests.
    pub(super) fn busy(&self) -> Vec<LineKey> {
        self.lines.iter().filter(|(_, line)| !line.flows.is_empty()).map(|(key, _)| *key).collect()
    }

    /// The flow that is next in `line`.
    pub(super) fn head(&self, line: LineKey) -> Option<FlowKey> {
        self.lines.get(&line)?.head(self.order)
    }

    /// Departure time of the last Interest of `line`; time 0 before the first.
    pub(super) fn left_at(&self, line: LineKey) -> Time {
        self.lines.get(&line).map_or(Time::ZERO, |line| line.left_at)
    }

    /// Records that an Interest of `flow` left by `line` at `at` without waiting.
    pub(super) fn pass(&mut self, line: LineKey, flow: FlowKey, at: Time) {
        let line = self.lines.entry(line).or_default();
        (line.served, line.left_at) = (Some(flow), at);
    }

    /// Appends the Interest of `pending` to `line`.
    pub(super) fn push(&mut self, line: LineKey, flow: FlowKey, pending: PitId) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.lines.entry(line).or_default().flows.entry(flow).or_default().push_back((ticket, pending));
    }

    /// Removes the oldest Interest of `flow`, the head of `line`, which leaves at `at`.
    pub(super) fn pop(&mut self, line: LineKey, flow: FlowKey, at: Time) {
        let Some(line) = self.lines.get_mut(&line) else { return };
        line.remove(flow, |_| true);
        (line.served, line.left_at) = (Some(flow), at);
    }

    /// Removes the Interest of `pending` wherever it waits.
    pub(super) fn remove(&mut self, flow: FlowKey, pending: PitId) {
        self.lines.values_mut().for_each(|line| line.remove(flow, |waiting| *waiting == pending));
    }
}
