//! The gate of one upstream face: an Interest above the limit is refused, and the strategy looks for another face.

use tidegate_core::prelude::*;

use super::limit::FaceLimit;

/// The gate of one face.
#[derive(Debug)]
pub(super) struct LimitGate {
    face: FaceId,
    expected_data: ByteCount,
    limit: FaceLimit,
}

impl LimitGate {
    pub(super) fn new(face: FaceId, expected_data: ByteCount, limit: FaceLimit) -> Self {
        Self { face, expected_data, limit }
    }

    /// Data per second that the link can bring.
    fn capacity(&self, cx: &Context<'_>) -> f64 {
        cx.face(self.face).incoming_rate().as_bps() as f64 / (8.0 * self.expected_data.get() as f64)
    }
}

impl FaceGate for LimitGate {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, pending: PitId, _: &mut Header) -> GateVerdict {
        // Computed for each packet, as the rate of a link may change in a run.
        let capacity = self.capacity(cx);
        if self.limit.admits(cx.now, pending, capacity) {
            GateVerdict::Admit
        } else {
            GateVerdict::Nack(NackReason::Congestion)
        }
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, pending: PitId, _: &mut Header, rtt: Option<Span>) {
        let capacity = self.capacity(cx);
        self.limit.on_data(cx.now, pending, rtt, capacity);
    }

    fn on_nack_in(&mut self, cx: &mut Context<'_>, pending: PitId, reason: NackReason) {
        let capacity = self.capacity(cx);
        self.limit.on_nack(cx.now, pending, reason == NackReason::Congestion, capacity);
    }

    fn on_expiry(&mut self, _: &mut Context<'_>, pending: PitId) {
        // An expiry is not a Nack: a pending limit gets its place back, and nothing is lowered.
        self.limit.give_back(pending);
    }

    fn on_withdrawn(&mut self, _: &mut Context<'_>, pending: PitId, _: Option<FlowKey>) {
        self.limit.give_back(pending);
    }
}
