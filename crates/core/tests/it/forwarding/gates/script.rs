//! A gate that does what a test wrote down and writes down what it is told.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::gate::{DataSource, FaceGate, FlowKey, GateVerdict, Releases};
use tidegate_core::ndn::packet::{Header, NackReason};
use tidegate_core::ndn::pit::PitId;
use tidegate_core::scheme::control::Message;
use tidegate_core::scheme::signal::Signal;
use tidegate_core::units::{Packets, Span, Time};

use crate::forwarding::harness::{FLOW_CLASS, Router};

#[derive(Debug)]
pub struct GateScript {
    /// Verdicts in order; Interests after the last are admitted.
    pub verdicts: VecDeque<GateVerdict>,
    /// What the next wake-up lets go.
    pub releases: Vec<(FlowKey, u32)>,
    pub wake: Option<Time>,
    pub limit: u32,
    /// Words for what it was told, in order.
    pub reported: Vec<String>,
}

impl Default for GateScript {
    fn default() -> Self {
        Self { verdicts: VecDeque::new(), releases: Vec::new(), wake: None, limit: 100, reported: Vec::new() }
    }
}

#[derive(Debug)]
struct Scripted(Rc<RefCell<GateScript>>);

impl Scripted {
    fn note(&self, word: String) {
        self.0.borrow_mut().reported.push(word);
    }
}

impl FaceGate for Scripted {
    fn on_interest_out(&mut self, _: &mut Context<'_>, _: PitId, interest: &mut Header) -> GateVerdict {
        interest.hop.put(FLOW_CLASS, 7);
        self.note(format!("out {}", interest.name.segment.0));
        self.0.borrow_mut().verdicts.pop_front().unwrap_or(GateVerdict::Admit)
    }

    fn on_data_in(&mut self, _: &mut Context<'_>, _: PitId, data: &mut Header, rtt: Option<Span>) {
        data.hop.put(Signal::STAMPING_RATE, 9);
        self.note(format!("data after {rtt:?}"));
    }

    fn on_data_out(&mut self, _: &mut Context<'_>, data: &mut Header, source: DataSource) {
        data.hop.raise_mark(3);
        self.note(format!("data out from {source:?}"));
    }

    fn on_nack_in(&mut self, _: &mut Context<'_>, _: PitId, reason: NackReason) {
        self.note(format!("nack {reason:?}"));
    }

    fn on_expiry(&mut self, _: &mut Context<'_>, _: PitId) {
        self.note("expiry".to_owned());
    }

    fn on_withdrawn(&mut self, _: &mut Context<'_>, _: PitId, held: Option<FlowKey>) {
        self.note(format!("withdrawn, held {}", held.is_some()));
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        self.note(format!("wake at {}", cx.now));
        let mut script = self.0.borrow_mut();
        script.wake = None;
        script.releases.drain(..).for_each(|(flow, count)| releases.release(flow, count));
    }

    fn on_directive(&mut self, _: &mut Context<'_>, directive: &dyn Message) {
        self.note(format!("{directive:?}"));
    }

    fn next_wake(&self) -> Option<Time> {
        self.0.borrow().wake
    }

    fn held_limit(&self) -> Packets {
        Packets::new(self.0.borrow().limit)
    }
}

/// A gate as a test holds it.
pub type Gate = Rc<RefCell<GateScript>>;

/// A gate that gives `verdicts` in order, then admits.
pub fn gate(verdicts: impl IntoIterator<Item = GateVerdict>) -> Gate {
    Rc::new(RefCell::new(GateScript { verdicts: verdicts.into_iter().collect(), ..GateScript::default() }))
}

/// Puts `gates` in this order at `face`.
pub fn install(router: &mut Router, face: u16, gates: &[&Gate]) {
    let boxed = |gate: &&Gate| Box::new(Scripted(Rc::clone(gate))) as Box<dyn FaceGate>;
    router.forwarder.set_gates(FaceId(face), gates.iter().map(boxed).collect());
}

/// A router with `gate` at face 3, its only upstream.
pub fn gated(gate: &Gate) -> Router {
    let mut router = Router::new(&[3]);
    install(&mut router, 3, &[gate]);
    router
}

pub fn reported(gate: &Gate) -> Vec<String> {
    std::mem::take(&mut gate.borrow_mut().reported)
}
