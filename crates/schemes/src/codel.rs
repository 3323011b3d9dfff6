//! CoDel: drops (or marks) packets while waiting times stay above a target.
//!
//! Paper: RFC 8289.

use tidegate_core::prelude::*;

use crate::toolbox::queue::codel_state::{CodelSignal, CodelState};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "codel",
    summary: "drops packets while the queueing delay stays above a target",
    paper: "RFC 8289",
    provenance: Provenance::Paper,
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(Codel::new(Params::from_settings(settings)?)))),
    marking: Marking::If("mark", "true"),
    ..Scheme::NONE
};

params! {
    /// Acceptable standing queueing delay (TARGET).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time that the delay has to stay above the target before the first drop; also the initial interval between drops
    /// (INTERVAL).
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Whether packets are marked instead of dropped; TCP segments only if they are ECN-capable.
    mark: bool = false;
}

#[derive(Debug)]
struct Codel {
    params: Params,
    state: CodelState,
    /// Size of the largest packet seen; a queue of at most that size counts as empty.
    max: ByteCount,
}

impl Codel {
    fn new(params: Params) -> Self {
        Self { params, state: CodelState::new(), max: ByteCount::ZERO }
    }
}

impl QueueDiscipline for Codel {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // A notice overtakes the bulk packets, so its short wait is not a sample of the queue.
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        // RFC 8289 compares the backlog with the MTU; as in Linux, the largest packet seen takes its place.
        self.max = self.max.max(packet.size());
        if sojourn < self.params.target || queue.queued_bytes() <= self.max {
            self.state.on_good();
            return Verdict::Pass;
        }
        // A TCP segment without ECN would be sent on unchanged by a mark, so it is dropped instead.
        let marks = self.params.mark && packet.may_be_marked();
        let signal = if marks { CodelSignal::Mark } else { CodelSignal::Drop };
        match self.state.on_above(cx.now, self.params.interval, signal) {
            true if marks => Verdict::Mark(1, Cause("codel")),
            true => Verdict::Drop(Cause("codel")),
            false => Verdict::Pass,
        }
    }
}
