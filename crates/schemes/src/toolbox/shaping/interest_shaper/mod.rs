//! Shapes the Interests of a face: a token bucket releases them at a rate, and those beyond it wait in a queue per
//! flow.
//!
//! One Interest brings back one Data, so that Interests at the right pace keep the queue for Data at the other end
//! of the link short (Carofiglio, Gallo and Muscariello, ICN workshop 2012). The
//! bucket counts what the Interests will bring, or the Interests themselves. Flows that wait take turns, one Interest
//! each.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use tidegate_core::prelude::*;

use crate::toolbox::shaping::token_bucket::TokenBucket;

/// Quantity that a shaper's rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapedUnit {
    /// The requested Data, each of the mean size of the Data received through the face.
    Data,
    /// The Interests themselves, each of its own size.
    Interests,
}

/// Settings of a shaper.
#[derive(Clone, Copy, Debug)]
pub struct ShaperSetup {
    /// Quantity that the rate counts.
    pub measure: ShapedUnit,
    /// Maximum burst after an idle time, bytes of the measure, at least one. A packet larger than that waits for a
    /// full bucket and costs as much.
    pub depth: ByteCount,
    /// Assumed size of a Data packet before the first one arrives.
    pub expected_data: ByteCount,
    /// Maximum number of waiting Interests.
    pub limit: Packets,
}

/// Weight of a new Data in the mean size.
const GAIN: f64 = 1.0 / 8.0;

/// A waiting Interest of one flow.
#[derive(Clone, Copy, Debug)]
struct QueuedInterest {
    pending: PitId,
    size: ByteCount,
}

/// State of the shaper of one face; without a rate every Interest passes.
#[derive(Debug)]
pub struct InterestShaper {
    setup: ShaperSetup,
    bucket: Option<TokenBucket>,
    mean_data: f64,
    flows: BTreeMap<FlowKey, VecDeque<QueuedInterest>>,
    /// Flow that was served last.
    served: Option<FlowKey>,
    wake: Option<Time>,
}

impl InterestShaper {
    /// A shaper without a rate.
    pub fn new(setup: ShaperSetup) -> Self {
        let depth = ByteCount::new(setup.depth.get().max(1));
        Self {
            setup: ShaperSetup { depth, ..setup },
            bucket: None,
            mean_data: setup.expected_data.get() as f64,
            flows: BTreeMap::new(),
            served: None,
            wake: None,
        }
    }

    /// Shapes to `rate` from `now` on, with a full bucket if there was no shaping before; `None` ends the shaping and
    /// releases all that waits. Rate 0 releases nothing.
    pub fn set_rate(&mut self, rate: Option<BitRate>, now: Time) {
        match (&mut self.bucket, rate) {
            (_, None) => self.bucket = None,
            (Some(bucket), Some(rate)) => bucket.set_rate(rate, now),
            (bucket, Some(rate)) => *bucket = Some(TokenBucket::new(rate, self.setup.depth, now)),
        }
        self.rearm(now);
    }

    /// Whether a rate is set.
    pub fn is_shaping(&self) -> bool {
        self.bucket.is_some()
    }

    /// Number of Interests that wait.
    pub fn waiting(&self) -> usize {
        self.flows.values().map(VecDeque::len).sum()
    }

    /// Admits an Interest at `now`, or queues it behind the others of its flow.
    fn admit(&mut self, pending: PitId, flow: FlowKey, size: ByteCount, now: Time) -> GateVerdict {
        // While others wait a new Interest must queue, even if tokens suffice, or it would overtake them.
        if self.flows.is_empty() && self.take(size, now) {
            return GateVerdict::Admit;
        }
        self.flows.entry(flow).or_default().push_back(QueuedInterest { pending, size });
        self.rearm(now);
        GateVerdict::Hold(flow)
    }

    /// Releases the Interests that the bucket allows at `now`.
    fn release(&mut self, now: Time, releases: &mut Releases) {
        while let Some((flow, first)) = self.next_in_turn() {
            if !self.take(first.size, now) {
                break;
            }
            self.served = Some(flow);
            self.remove(flow, first.pending);
            releases.release(flow, 1);
        }
        self.rearm(now);
    }

    /// The next flow by number, and its oldest Interest.
    fn next_in_turn(&self) -> Option<(FlowKey, QueuedInterest)> {
        // Searched from the last flow served rather than by an index: flows come and go between two turns.
        use std::ops::Bound::{Excluded, Unbounded};
        let after = self.served.and_then(|served| self.flows.range((Excluded(served), Unbounded)).next());
        let (flow, waiting) = after.or_else(|| self.flows.first_key_value())?;
        Some((*flow, *waiting.front()?))
    }

    fn remove(&mut self, flow: FlowKey, pending: PitId) {
        let Some(waiting) = self.flows.get_mut(&flow) else { return };
        // Nearly always the first: one scan for the few that end before their turn.
        match waiting.iter().position(|waiting| waiting.pending == pending) {
            Some(place) => waiting.remove(place),
            None => return,
        };
        if waiting.is_empty() {
            self.flows.remove(&flow);
        }
    }

    /// Cost of an Interest of `size` in the bucket.
    fn cost(&self, size: ByteCount) -> ByteCount {
        let cost = match self.setup.measure {
            ShapedUnit::Data => ByteCount::new(self.mean_data.round() as u64),
            ShapedUnit::Interests => size,
        };
        // A cost above the depth could never be paid, and the flow would wait for ever.
        cost.min(self.setup.depth)
    }

    fn take(&mut self, size: ByteCount, now: Time) -> bool {
        let cost = self.cost(size);
        self.bucket.as_mut().is_none_or(|bucket| bucket.take(cost, now))
    }

    fn rearm(&mut self, now: Time) {
        let next = self.next_in_turn().map(|(_, first)| self.cost(first.size));
        self.wake = next.and_then(|cost| match &mut self.bucket {
            // Shaping has ended, so all that waits may leave at the next wake-up.
            None => Some(now),
            Some(bucket) => bucket.wait(cost, now).map(|wait| now + wait),
        });
    }
}

/// A shaper at its face; the scheme's other parts on the node may hold it too, and set its rate.
#[derive(Clone, Debug)]
pub struct ShaperGate(pub Rc<RefCell<InterestShaper>>);

impl FaceGate for ShaperGate {
    fn on_interest_out(
        &mut self,
        cx: &mut Context<'_>,
        pending: PitId,
        interest: &mut Header,
    ) -> GateVerdict {
        self.0.borrow_mut().admit(pending, interest.name.prefix, interest.size(), cx.now)
    }

    fn on_data_in(&mut self, _: &mut Context<'_>, _: PitId, data: &mut Header, _: Option<Span>) {
        let mean = &mut self.0.borrow_mut().mean_data;
        *mean += GAIN * (data.size().get() as f64 - *mean);
    }

    fn on_withdrawn(&mut self, cx: &mut Context<'_>, pending: PitId, held: Option<FlowKey>) {
        if let Some(flow) = held {
            let mut shaper = self.0.borrow_mut();
            shaper.remove(flow, pending);
            shaper.rearm(cx.now);
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        self.0.borrow_mut().release(cx.now, releases);
    }

    fn next_wake(&self) -> Option<Time> {
        self.0.borrow().wake
    }

    fn held_limit(&self) -> Packets {
        self.0.borrow().setup.limit
    }
}

#[cfg(test)]
mod tests;
