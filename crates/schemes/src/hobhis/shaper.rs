//! The gate of an upstream face: the Data queue of a flow sets the gap between its Interests.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::interest_queues::{LineKey, Lines};
use super::shaping::Flows;
use super::{Feedback, Params};

/// Interval before a flow is examined again whose rate is not above zero (source).
const RETRY: Span = Span::from_micros(100);
/// Maximum interval after which a gap is recomputed.
const LOOK: Span = Span::from_millis(10);

/// The gate of one face.
#[derive(Debug)]
pub(super) struct HobhisShaper {
    face: FaceId,
    params: Params,
    flows: Rc<RefCell<Flows>>,
    lines: Lines,
    /// Earliest time at which an Interest may be due.
    wake: Option<Time>,
}

/// Time at which the next Interest of a line may leave.
enum Due {
    /// At this time, or at the next wake-up after it.
    At(Time),
    /// Not before the Data queue of the flow becomes shorter.
    Unknown,
}

impl HobhisShaper {
    pub(super) fn new(face: FaceId, params: Params, flows: Rc<RefCell<Flows>>) -> Self {
        let lines = Lines::new(params.order);
        Self { face, params, flows, lines, wake: None }
    }

    /// Time at which an Interest of `flow` may leave by `line`.
    fn due(&self, cx: &Context<'_>, line: LineKey, flow: FlowKey) -> Due {
        let left_at = self.lines.left_at(line);
        let flows = self.flows.borrow();
        match flows.slowest(cx, flow, self.face) {
            // No downstream face used recently: there is no Data queue to control yet.
            None => Due::At(left_at),
            // The link itself spaces the Interests then; a gap would add to it (source).
            Some((_, rate)) if rate >= flows.capacity(cx, self.face) => Due::At(left_at),
            Some((_, rate)) if rate <= 0.0 => Due::Unknown,
            Some((_, rate)) => Due::At(left_at + Span::from_secs_f64(1.0 / rate)),
        }
    }

    fn line_of(&self, cx: &Context<'_>, flow: FlowKey) -> LineKey {
        let downstream = self.flows.borrow().slowest(cx, flow, self.face).map(|(face, _)| face);
        self.lines.line_of(flow, downstream)
    }

    /// Releases the Interests of `line` that have become due since `from`; a late wake-up does not lower the rate.
    fn release(&mut self, cx: &Context<'_>, line: LineKey, from: Time, releases: &mut Releases) {
        while let Some(flow) = self.lines.head(line) {
            let due = match self.due(cx, line, flow) {
                Due::At(due) if due <= cx.now => due.max(from),
                _ => break,
            };
            self.lines.pop(line, flow, due);
            releases.release(flow, 1);
        }
    }

    fn rearm(&mut self, cx: &Context<'_>) {
        let heads = self.lines.busy().into_iter().filter_map(|line| Some((line, self.lines.head(line)?)));
        let look = |(line, flow)| match self.due(cx, line, flow) {
            // The rate changes with the queue, so a long gap is computed again while it runs.
            Due::At(due) => due.clamp(cx.now, cx.now + LOOK),
            Due::Unknown => cx.now + RETRY,
        };
        self.wake = heads.map(look).min();
    }
}

impl FaceGate for HobhisShaper {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, pending: PitId, interest: &mut Header) -> GateVerdict {
        let flow = interest.name.prefix;
        self.flows.borrow_mut().see_interest(self.face, interest.size().get() as f64);
        let line = self.line_of(cx, flow);
        let is_first = self.lines.head(line).is_none();
        // An Interest that finds others in its line must not overtake them, even when one is due.
        if is_first && matches!(self.due(cx, line, flow), Due::At(due) if due <= cx.now) {
            self.lines.pass(line, flow, cx.now);
            return GateVerdict::Admit;
        }
        if self.lines.waiting() >= self.params.limit.get() as usize {
            return self.params.refusal.verdict();
        }
        self.lines.push(line, flow, pending);
        self.rearm(cx);
        GateVerdict::Hold(flow)
    }

    fn on_data_in(&mut self, cx: &mut Context<'_>, _: PitId, data: &mut Header, rtt: Option<Span>) {
        let size = data.size().get() as f64;
        self.flows.borrow_mut().see_data(data.name.prefix, self.face, size, rtt, cx.now);
    }

    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, _: DataSource) {
        let mut flows = self.flows.borrow_mut();
        flows.queues.see(self.face, data.name.prefix, cx.now);
        if self.params.feedback == Feedback::Rate {
            let rate = flows.fair_rate(cx, data.name.prefix, self.face, data.size().get() as f64);
            data.hop.put(Signal::STAMPING_RATE, (rate * 1e3) as u32);
        }
    }

    fn on_withdrawn(&mut self, cx: &mut Context<'_>, pending: PitId, held: Option<FlowKey>) {
        if let Some(flow) = held {
            self.lines.remove(flow, pending);
            self.rearm(cx);
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        let from = self.wake.unwrap_or(cx.now);
        for line in self.lines.busy() {
            self.release(cx, line, from, releases);
        }
        self.rearm(cx);
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn held_limit(&self) -> Packets {
        self.params.limit
    }
}
