//! Gates that decide by chance: no Interest is lost track of, and every one let through or held hears its end.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::gate::{FaceGate, FlowKey, GateVerdict, Releases};
use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::ndn::packet::{Header, Kind, NackReason, Packet};
use tidegate_core::ndn::pit::PitId;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{Packets, Span, Time};

use crate::forwarding::harness::{Instead, Router, Script, data, interest_with, ms, nack};

/// Upstream faces; those below and above have no gates.
const UPSTREAMS: [u16; 3] = [3, 4, 5];
const SEGMENTS: u32 = 12;

/// A gate that keeps its own account.
#[derive(Debug)]
struct Whim {
    rng: Rng,
    /// Entries that owe this gate an end.
    open: BTreeSet<PitId>,
    /// Held Interests by flow.
    held: BTreeMap<FlowKey, u32>,
    now: Time,
}

impl Whim {
    fn end(&mut self, pending: PitId) {
        self.open.remove(&pending);
    }

    fn holds(&self) -> u32 {
        self.held.values().sum()
    }
}

#[derive(Debug)]
struct WhimAt(Rc<RefCell<Whim>>);

impl FaceGate for WhimAt {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, pending: PitId, _: &mut Header) -> GateVerdict {
        let mut whim = self.0.borrow_mut();
        whim.now = cx.now;
        match whim.rng.below(8) {
            0 => GateVerdict::Nack(NackReason::Congestion),
            1 => GateVerdict::Drop,
            2..5 => {
                let flow = PrefixId(whim.rng.below(3));
                *whim.held.entry(flow).or_default() += 1;
                whim.open.insert(pending);
                GateVerdict::Hold(flow)
            }
            _ => {
                whim.open.insert(pending);
                GateVerdict::Admit
            }
        }
    }

    fn on_data_in(&mut self, _: &mut Context<'_>, pending: PitId, _: &mut Header, _: Option<Span>) {
        self.0.borrow_mut().end(pending);
    }

    fn on_nack_in(&mut self, _: &mut Context<'_>, pending: PitId, _: NackReason) {
        self.0.borrow_mut().end(pending);
    }

    fn on_expiry(&mut self, _: &mut Context<'_>, pending: PitId) {
        self.0.borrow_mut().end(pending);
    }

    fn on_withdrawn(&mut self, _: &mut Context<'_>, pending: PitId, held: Option<FlowKey>) {
        let mut whim = self.0.borrow_mut();
        whim.end(pending);
        if let Some(flow) = held {
            *whim.held.get_mut(&flow).expect("it held one of this flow") -= 1;
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        let mut whim = self.0.borrow_mut();
        whim.now = cx.now;
        let flow = PrefixId(whim.rng.below(3));
        let count = whim.rng.below(3);
        releases.release(flow, count);
        let held = whim.held.entry(flow).or_default();
        *held = held.saturating_sub(count);
    }

    fn next_wake(&self) -> Option<Time> {
        let whim = self.0.borrow();
        (whim.holds() > 0).then(|| whim.now + Span::from_millis(7))
    }

    fn held_limit(&self) -> Packets {
        Packets::new(3)
    }
}

/// A router with gates by chance at its upstream faces, and the world around it.
struct History {
    router: Router,
    rng: Rng,
    gates: Vec<(u16, Rc<RefCell<Whim>>)>,
    now_ms: u64,
    nonce: u32,
    /// Interests that left through each upstream face.
    left: BTreeMap<u16, u64>,
    last: BTreeMap<u16, Packet<u32>>,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::stream(Seed(seed), "gates");
        let straggler = Span::from_millis(u64::from(rng.below(2) * 50));
        let [resends, asks_elsewhere] = [0.5, 0.5].map(|part| rng.chance(part));
        let script = Script { resends, asks_elsewhere, straggler, ..Script::default() };
        let mut router = Router::scripted(&UPSTREAMS[..1 + rng.below(3) as usize], script);
        let mut gates = Vec::new();
        for face in UPSTREAMS {
            let whims: Vec<_> = (0..rng.below(3)).map(|place| whim(seed, face, place)).collect();
            let boxed = |whim: &Rc<RefCell<Whim>>| Box::new(WhimAt(Rc::clone(whim))) as Box<dyn FaceGate>;
            router.forwarder.set_gates(FaceId(face), whims.iter().map(boxed).collect());
            gates.extend(whims.into_iter().map(|whim| (face, whim)));
        }
        let (left, last) = (BTreeMap::new(), BTreeMap::new());
        Self { router, rng, gates, now_ms: 0, nonce: 0, left, last }
    }

    fn count(&mut self, sent: Vec<(u16, Packet<u32>)>) {
        for (face, packet) in sent.into_iter().filter(|(face, _)| UPSTREAMS.contains(face)) {
            if matches!(packet.header.kind, Kind::Interest(_)) {
                *self.left.entry(face).or_default() += 1;
                self.last.insert(face, packet);
            }
        }
    }

    fn step(&mut self) {
        let name = self.router.name(self.rng.below(SEGMENTS));
        let upstream = UPSTREAMS[self.rng.below(3) as usize];
        match self.rng.below(10) {
            0..5 => self.request(name),
            5 | 6 => {
                let sent = self.router.receive(self.now_ms, upstream, data(name, 0));
                self.count(sent);
            }
            7 => {
                if let Some(refused) = self.last.get(&upstream).cloned() {
                    let refusal = nack(&refused, NackReason::Congestion);
                    let sent = self.router.receive(self.now_ms, upstream, refusal);
                    self.count(sent);
                }
            }
            8 if self.rng.chance(0.1) => {
                self.router.clear_held(self.now_ms, upstream);
            }
            _ => {
                let span_ms = u64::from(self.rng.below(30));
                self.pass(span_ms);
            }
        }
        self.check();
    }

    fn request(&mut self, name: Name) {
        self.nonce += 1;
        let lifetime = 1 + self.rng.below(200);
        let packet = interest_with(name, self.nonce, |interest| interest.lifetime.0 = lifetime);
        let face = self.rng.below(3) as u16;
        if self.rng.chance(0.5) {
            let instead = Instead::Face(UPSTREAMS[self.rng.below(3) as usize]);
            self.router.script.borrow_mut().after_refusals = [instead].into();
        }
        let sent = self.router.receive(self.now_ms, face, packet);
        self.count(sent);
    }

    /// Lets time pass as a driver does: never past a wake-up.
    fn pass(&mut self, span_ms: u64) {
        let end = self.now_ms + span_ms;
        while let Some(at) = self.router.forwarder.next_wake().filter(|at| *at <= ms(end)) {
            self.now_ms = self.now_ms.max(at.as_nanos().div_ceil(1_000_000));
            let sent = self.router.wake(self.now_ms);
            self.count(sent);
        }
        self.now_ms = end;
    }

    fn check(&self) {
        for face in UPSTREAMS {
            let gates = self.gates.iter().filter(|(at, _)| *at == face);
            let held: u32 = gates.clone().map(|(_, whim)| whim.borrow().holds()).sum();
            if gates.count() == 0 {
                continue;
            }
            let stats = self.router.forwarder.gate_stats(FaceId(face));
            assert!(stats.balances(), "{stats:?}");
            assert_eq!(stats.passed, self.left.get(&face).copied().unwrap_or(0), "{stats:?}");
            assert_eq!(stats.waiting, u64::from(held), "{stats:?}");
        }
    }
}

fn whim(seed: u64, face: u16, place: u32) -> Rc<RefCell<Whim>> {
    let rng = Rng::stream(Seed(seed), &format!("gate {face} {place}"));
    Rc::new(RefCell::new(Whim { rng, open: BTreeSet::new(), held: BTreeMap::new(), now: Time::ZERO }))
}

#[test]
fn gates_of_any_whim_lose_no_interest_and_see_every_end() {
    let (mut waited, mut refused) = (0, 0);
    for seed in 0..300 {
        let mut history = History::new(seed);
        for _ in 0..300 {
            history.step();
        }
        history.pass(1_000);
        assert_eq!(history.router.pending(), 0, "seed {seed}");
        for (face, whim) in &history.gates {
            let stats = history.router.forwarder.gate_stats(FaceId(*face));
            assert_eq!(stats.waiting, 0, "seed {seed}");
            assert_eq!(whim.borrow().open, BTreeSet::new(), "seed {seed}, face {face}");
            waited += stats.released;
            refused += stats.refused;
        }
    }
    assert!(waited > 1_000 && refused > 1_000, "{waited} released, {refused} refused");
}
