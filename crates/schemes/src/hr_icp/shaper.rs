//! The gate of a face: Interests leave in the order of their arrival, spaced by their rate.

use std::collections::VecDeque;

use tidegate_core::prelude::*;

use super::meter::FaceMeter;
use super::early_refusal::EarlyRefusal;
use super::Params;

/// All flows wait in one line.
const LINE: FlowKey = NameTable::ROOT;

/// An Interest that waits.
#[derive(Clone, Copy, Debug)]
struct QueuedInterest {
    pending: PitId,
    size: ByteCount,
    since: Time,
}

/// The gate of one face.
#[derive(Debug)]
pub(super) struct HrIcpShaper {
    params: Params,
    meter: FaceMeter,
    refusing: EarlyRefusal,
    line: VecDeque<QueuedInterest>,
    /// Earliest time at which the next Interest may leave.
    free_at: Time,
}

impl HrIcpShaper {
    pub(super) fn new(face: FaceId, params: Params, draws: Rng) -> Self {
        let (meter, refusing) = (FaceMeter::new(face, params.interval), EarlyRefusal::new(&params, draws));
        Self { params, meter, refusing, line: VecDeque::new(), free_at: Time::ZERO }
    }

    /// Sends an Interest of `size` at `at`, which may lie a little in the past, and computes the gap behind it.
    fn leave(&mut self, cx: &Context<'_>, size: ByteCount, sojourn: Span, at: Time) {
        self.refusing.depart(cx.now, sojourn, self.line.len());
        self.meter.see_interest_out(size.get() as f64);
        // Read even if it is not used: the call also updates the size of incoming Interests, which `load`
        // needs.
        let observed = self.meter.demand(cx);
        let demand = if self.params.measure_demand { observed } else { f64::INFINITY };
        let rate = self.meter.load(cx).shaped(demand, self.params.headroom);
        self.free_at = at + Span::from_secs_f64(8.0 * size.get() as f64 / rate);
    }
}

impl FaceGate for HrIcpShaper {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, pending: PitId, interest: &mut Header) -> GateVerdict {
        let size = interest.size();
        if self.line.is_empty() && self.free_at <= cx.now {
            // As in the source when the face becomes idle: no Interest waited in between.
            self.refusing.rest();
        }
        if self.line.len() >= self.params.limit.get() as usize || self.refusing.refuses(cx.now) {
            return self.params.refusal.verdict();
        }
        if self.line.is_empty() && self.free_at <= cx.now {
            self.leave(cx, size, Span::ZERO, cx.now);
            return GateVerdict::Admit;
        }
        self.line.push_back(QueuedInterest { pending, size, since: cx.now });
        self.refusing.arrive(cx.now);
        GateVerdict::Hold(LINE)
    }

    fn on_data_in(&mut self, _: &mut Context<'_>, _: PitId, data: &mut Header, _: Option<Span>) {
        self.meter.see_data_in(data.size().get() as f64);
    }

    fn on_data_out(&mut self, _: &mut Context<'_>, data: &mut Header, _: DataSource) {
        self.meter.see_data_out(data.size().get() as f64);
    }

    fn on_nack_in(&mut self, _: &mut Context<'_>, _: PitId, _: NackReason) {
        self.meter.see_nack_in();
    }

    fn on_withdrawn(&mut self, _: &mut Context<'_>, pending: PitId, held: Option<FlowKey>) {
        if held.is_some() {
            self.line.retain(|waiting| waiting.pending != pending);
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        self.refusing.on_wake(cx.now, self.line.len());
        while self.free_at <= cx.now {
            let Some(QueuedInterest { size, since, .. }) = self.line.pop_front() else { break };
            // From the planned time: a late wake-up must not lower the rate.
            self.leave(cx, size, cx.now.since(since), self.free_at);
            releases.release(LINE, 1);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        let line = (!self.line.is_empty()).then_some(self.free_at);
        line.into_iter().chain(self.refusing.next_wake()).min()
    }

    fn held_limit(&self) -> Packets {
        self.params.limit
    }
}
