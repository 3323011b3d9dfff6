//! Gates at live faces, by a scheme for tests alone.

use std::collections::VecDeque;

use tidegate_core::context::Context;
use tidegate_core::ndn::gate::{FaceGate, FlowKey, GateVerdict, Releases};
use tidegate_core::ndn::packet::{Header, NackReason};
use tidegate_core::ndn::pit::PitId;
use tidegate_core::scheme::{RouterParts, Scheme};
use tidegate_core::units::{Span, Time};
use tidegate_schemes::SCHEMES;

use super::bench::{Forwarder, interest};

static LATER: Scheme = Scheme {
    name: "later",
    router: Some(|_, node| Ok(RouterParts::default().with_gates(node, |_| Later::default()))),
    ..Scheme::NONE
};

static NEVER: Scheme = Scheme {
    name: "never",
    router: Some(|_, node| Ok(RouterParts::default().with_gates(node, |_| Never))),
    ..Scheme::NONE
};

/// Holds every Interest and lets one go each millisecond.
#[derive(Debug, Default)]
struct Later {
    waiting: VecDeque<FlowKey>,
    wake: Option<Time>,
}

impl FaceGate for Later {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, _: PitId, interest: &mut Header) -> GateVerdict {
        self.waiting.push_back(interest.name.prefix);
        self.wake.get_or_insert(cx.now + Span::from_millis(1));
        GateVerdict::Hold(interest.name.prefix)
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        let first = self.waiting.pop_front();
        first.into_iter().for_each(|flow| releases.release(flow, 1));
        self.wake = (!self.waiting.is_empty()).then(|| cx.now + Span::from_millis(1));
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }
}

/// Refuses every Interest.
#[derive(Debug)]
struct Never;

impl FaceGate for Never {
    fn on_interest_out(&mut self, _: &mut Context<'_>, _: PitId, _: &mut Header) -> GateVerdict {
        GateVerdict::Nack(NackReason::Congestion)
    }
}

fn forwarder(part: &str) -> Forwarder {
    let schemes: Vec<&'static Scheme> = SCHEMES.iter().copied().chain([&LATER, &NEVER]).collect();
    let parts = format!("[face_defaults]\nrouter_parts = [{part:?}]");
    Forwarder::start_with(&format!("gates-{part}"), &parts, &schemes)
}

#[test]
fn what_a_gate_holds_leaves_by_the_forwarders_own_clock_when_nothing_else_happens() {
    let forwarder = forwarder("later");
    let name = [8, 1, b'g'];
    let mut producer = forwarder.producer(&name);
    let mut consumer = forwarder.application();
    const MANY: u32 = 20;
    for segment in 0..MANY {
        consumer.send(&interest(&name, segment));
    }
    // None is answered: only the forwarder's own alarms make it go on.
    let (mut inbox, until) = (Vec::new(), producer.now() + Span::from_secs(10));
    while inbox.len() < MANY as usize {
        assert!(producer.now() < until, "only {} Interests come", inbox.len());
        producer.exchange(Some(until), &mut inbox).expect("connected");
    }
}

#[test]
fn what_a_gate_refuses_comes_back_as_a_nack_and_the_management_is_answered_nevertheless() {
    let forwarder = forwarder("never");
    let name = [8, 1, b'g'];
    let _producer = forwarder.producer(&name);
    let mut consumer = forwarder.application();
    consumer.send(&interest(&name, 1));
    assert!(consumer.take_in().fields.nack.is_some());
}
