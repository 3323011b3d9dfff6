//! Actions at the end of a round, and in congestion.

use tidegate_core::prelude::*;
use crate::brf::messages::Congestion;

use super::Port;
use crate::brf::allocator;
use crate::brf::elimination::Drain;
use crate::brf::flow::{SegmentClass, Flow};
use crate::brf::flow_table::FlowNumber;
use crate::brf::state_machine::{Phase, Step};

/// Bounds of a round (eq. 15).
const SHORTEST_ROUND: Span = Span::from_millis(5);
const LONGEST_ROUND: Span = Span::from_millis(500);
/// Round of a device without BRF flows.
const QUIET_ROUND: Span = Span::from_millis(100);
/// Number of judgements after which the demand of a flow is known.
const JUDGEMENTS: usize = 3;
/// A congestion without updates ends after this time plus four polls, as the controller may have failed.
const CONGESTION_LASTS: Span = Span::from_millis(200);

impl Port {
    /// End of the present round; `None` without flows.
    pub(in crate::brf) fn round_ends(&self) -> Option<Time> {
        self.round_ends
    }

    /// Runs what is due at `now`; `rate` is the present rate of the device.
    pub(in crate::brf) fn tick(&mut self, now: Time, rate: BitRate) {
        let capacity = rate.as_bps() as f64 / 8.0;
        if capacity != self.capacity {
            self.capacity = capacity;
            self.recount(now);
            // A new allocation during a congestion would raise the rates that eq. 16 to 18 have lowered.
            if self.machine.phase() == Phase::Reduce { self.fit(now) } else { self.allocate(now) }
        }
        if self.round_ends.is_some_and(|at| at <= now) {
            self.end_round(now);
        }
    }

    pub(super) fn begin_round(&mut self, now: Time) {
        let numbers = self.active(now);
        let longest = self.longest_rtt(&numbers, None);
        let length = if numbers.is_empty() { QUIET_ROUND } else { longest };
        self.round_ends = Some(now + length.clamp(SHORTEST_ROUND, LONGEST_ROUND));
    }

    fn end_round(&mut self, now: Time) {
        self.table.sweep(now);
        // Before the allocation, which needs the demands of this round.
        self.judge(now);
        if self.machine.phase() == Phase::Reduce
            && now.since(self.congestion.1) > CONGESTION_LASTS + self.params.poll * 4
        {
            self.machine.on_clear();
        }
        self.recount(now);
        match self.machine.on_round() {
            Step::Wait => {}
            Step::Allocate => {
                self.allocate(now);
                self.machine.on_allocated();
            }
            Step::Reduce => self.reduce(now),
        }
        self.round_ends = None;
        if !self.table.is_empty() || super::counts(self.udp_at, now) {
            self.begin_round(now);
        }
    }

    /// Measures every flow, and trains the predictor with those whose demand is known well enough.
    fn judge(&mut self, now: Time) {
        let rules = self.params.measure_rules();
        for flow in self.table.flows_mut().filter(|flow| flow.class == SegmentClass::Brf && flow.is_active(now)) {
            let is_judged = flow.meter.end_round(now, rules);
            if is_judged && flow.meter.judgements() >= JUDGEMENTS && !flow.is_measured {
                self.verdicts.extend(flow.teach(&mut self.predictor));
            }
        }
    }

    /// Maximum RTT of the flows (eq. 15), except for the flow `without`.
    pub(super) fn longest_rtt(&self, numbers: &[FlowNumber], without: Option<FlowNumber>) -> Span {
        let counted: Vec<FlowNumber> =
            numbers.iter().copied().filter(|number| Some(*number) != without).collect();
        self.flows_of(&counted).map(Flow::rtt).max().unwrap_or(Span::ZERO).min(LONGEST_ROUND)
    }

    /// Allocates rates by eq. 14.
    pub(super) fn allocate(&mut self, now: Time) {
        let numbers = self.active(now);
        let claims: Vec<_> = self.flows_of(&numbers).map(Flow::claim).collect();
        let rates = allocator::share_out(self.params.mode, self.shares.brf, self.params.headroom, &claims);
        self.grant(&numbers, &rates);
    }

    /// Scales reduced rates down to a bandwidth that has fallen; they do not rise with one that rises.
    fn fit(&mut self, now: Time) {
        let numbers = self.active(now);
        let granted: f64 = self.flows_of(&numbers).map(|flow| flow.rate).sum();
        if granted > self.shares.brf {
            let factor = self.shares.brf / granted;
            let rates: Vec<f64> = self.flows_of(&numbers).map(|flow| flow.rate * factor).collect();
            self.grant(&numbers, &rates);
        }
    }

    /// Reduces rates by eq. 16 to 18.
    fn reduce(&mut self, now: Time) {
        let numbers = self.active(now);
        // Flows of the class that is served first do not drain the queue of the other class.
        let spared = |flow: &Flow| self.params.priorities && flow.meter.is_limited();
        let limited: f64 = self.flows_of(&numbers).filter(|flow| spared(flow)).map(|flow| flow.rate).sum();
        let (granted, real) = self
            .flows_of(&numbers)
            .filter(|flow| !spared(flow))
            .fold((0.0, 0.0), |(granted, real), flow| (granted + flow.rate, real + flow.claim().real()));
        let drain = Drain {
            form: self.params.mode,
            capacity: (self.shares.brf - limited).max(0.0),
            time: self.longest_rtt(&numbers, None).max(SHORTEST_ROUND).scale(self.params.drain),
            min: self.params.min_share,
        };
        let (factor, step) = (drain.factor(self.congestion.0, granted, real), drain.step(self.congestion.0, granted));
        let rate = |flow: &Flow| {
            // A rate below the floor already is not raised by a reduction.
            let min = flow.floor().min(flow.rate);
            let reduced = (flow.rate * factor + step).clamp(min, self.capacity.max(min));
            if spared(flow) { flow.rate } else { reduced }
        };
        let rates: Vec<f64> = self.flows_of(&numbers).map(rate).collect();
        self.grant(&numbers, &rates);
    }

    /// Applies the result of a congestion detector.
    pub(in crate::brf) fn on_congestion(&mut self, now: Time, state: Congestion) {
        if state == Congestion::Clear {
            if self.machine.on_clear() {
                self.allocate(now);
            }
            return;
        }
        self.congestion = (state, now);
        if self.machine.phase() != Phase::Init && self.machine.on_congestion() {
            self.reduce(now);
        }
    }
}
