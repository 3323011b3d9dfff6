//! The gate of an upstream face: counts Interests, and writes its rate on the Data that returns.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::control::{RateRule, PeriodSample};
use super::Params;

/// Weight of a new value in a mean.
const GAIN: f64 = 1.0 / 8.0;
/// Assumed size of a Data packet before the first one arrives, bytes.
const EXPECTED_DATA: f64 = 1_100.0;
/// Response time before the first one is known, seconds.
const EXPECTED_DELAY: f64 = 0.1;

/// Direction of Data through the node; shared by its gates.
#[derive(Debug, Default)]
pub(super) struct Passing {
    /// The face through which the Data came that is being forwarded.
    from: Option<FaceId>,
    /// Faces through which an upstream's Data left in its period.
    downstreams: BTreeMap<FaceId, BTreeSet<FaceId>>,
}

/// The gate of one face.
#[derive(Debug)]
pub(super) struct Reporter {
    face: FaceId,
    period: Span,
    rule: RateRule,
    passing: Rc<RefCell<Passing>>,
    /// Interests per second; `None` before the first Interest.
    rate: Option<f64>,
    /// Interests of this period.
    requested: u32,
    period_began: Time,
    data_size: f64,
    delay: f64,
    wake: Option<Time>,
}

impl Reporter {
    pub(super) fn new(face: FaceId, params: Params, passing: Rc<RefCell<Passing>>) -> Self {
        let Params { period, utilisation, alpha, beta, .. } = params;
        Self {
            face,
            period,
            rule: RateRule { utilisation, alpha, beta },
            passing,
            rate: None,
            requested: 0,
            period_began: Time::ZERO,
            data_size: EXPECTED_DATA,
            delay: EXPECTED_DELAY,
            wake: None,
        }
    }

    /// Incoming capacity of the link, Data packets per second, at least 1.
    fn capacity(&self, cx: &Context<'_>) -> f64 {
        (cx.face(self.face).incoming_rate().as_bps() as f64 / (8.0 * self.data_size)).max(1.0)
    }

    /// Data waiting at the longest queue among the downstream faces of this period, packets.
    fn queue(&self, cx: &Context<'_>) -> f64 {
        // Removed, not read: the next period collects its own faces.
        let faces = self.passing.borrow_mut().downstreams.remove(&self.face).unwrap_or_default();
        let longest = faces.iter().map(|face| cx.face(*face).queued_bytes().get()).max();
        longest.unwrap_or(0) as f64 / self.data_size
    }
}

impl FaceGate for Reporter {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, _: PitId, _: &mut Header) -> GateVerdict {
        self.requested = self.requested.saturating_add(1);
        // An idle face has no timer; its first Interest begins a period, so that idle time does not lower the
        // measured rate.
        if self.wake.is_none() {
            self.period_began = cx.now;
            self.wake = Some(cx.now + self.period);
        }
        GateVerdict::Admit
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, _: PitId, data: &mut Header, rtt: Option<Span>) {
        self.data_size += GAIN * (data.size().get() as f64 - self.data_size);
        if let Some(rtt) = rtt {
            self.delay += GAIN * (rtt.as_secs_f64().max(1e-6) - self.delay);
        }
        self.passing.borrow_mut().from = Some(self.face);
        // Before the end of the first period no load is measured, so the link is offered as a whole.
        let rate = self.rate.unwrap_or_else(|| self.capacity(cx));
        data.hop.put(Signal::STAMPING_RATE, (rate * 1e3) as u32);
    }

    fn on_data_out(&mut self, _: &mut Context<'_>, _: &mut Header, source: DataSource) {
        let mut passing = self.passing.borrow_mut();
        if let (DataSource::Face, Some(from)) = (source, passing.from) {
            passing.downstreams.entry(from).or_default().insert(self.face);
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        let period = cx.now.since(self.period_began).as_secs_f64().max(1e-9);
        let (capacity, requested) = (self.capacity(cx), f64::from(std::mem::take(&mut self.requested)) / period);
        let seen = PeriodSample { period, capacity, requested, queue: self.queue(cx), delay: self.delay };
        let rate = self.rule.next(self.rate.unwrap_or(capacity), seen);
        self.rate = Some(rate);
        self.period_began = cx.now;
        // Without Interests the rate grows up to the capacity and then stays.
        let is_moving = requested > 0.0 || (rate < capacity && self.rule.alpha > 0.0);
        self.wake = is_moving.then_some(cx.now + self.period);
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }
}
