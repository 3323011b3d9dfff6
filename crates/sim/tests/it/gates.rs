//! Gates of routers in whole runs: schemes for tests alone that pace, shape and decide by whim.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceView;
use tidegate_core::ndn::gate::{FaceGate, FlowKey, GateStats, GateVerdict, Releases};
use tidegate_core::ndn::packet::{Header, NackReason};
use tidegate_core::ndn::pit::PitId;
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{EventRecord, RunRecord};
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::{DeviceSetup, RouterParts, Scheme};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_schemes::toolbox::shaping::interest_shaper::{
    InterestShaper, ShapedUnit, ShaperGate, ShaperSetup,
};
use tidegate_sim::plan::Plan;
use tidegate_sim::scenario;
use tidegate_sim::world::World;

/// Interests leave the pacer this far apart, whatever their flow.
const GAP: Span = Span::from_millis(2);

static PACER: Scheme = Scheme {
    name: "pacer",
    router: Some(|_, node| Ok(RouterParts::default().with_gates(node, |_| Pacer::default()))),
    ..Scheme::NONE
};

static WHIM: Scheme = Scheme {
    name: "whim",
    uses_randomness: true,
    router: Some(|_, node| {
        let whim = |name| {
            move |device: &DeviceSetup| Whim { draws: device.streams.under("whim/").stream(name), wake: None }
        };
        Ok(RouterParts::default().with_gates(node, whim("first")).with_gates(node, whim("second")))
    }),
    ..Scheme::NONE
};

/// The toolbox's shaper at 4 Mbit/s of Data.
static SHAPER: Scheme = Scheme {
    name: "shaper",
    router: Some(|_, node| {
        let setup = ShaperSetup {
            measure: ShapedUnit::Data,
            depth: ByteCount::new(2_000),
            expected_data: ByteCount::new(2_000),
            limit: Packets::new(100),
        };
        Ok(RouterParts::default().with_gates(node, |_| {
            let mut shaper = InterestShaper::new(setup);
            shaper.set_rate(Some(BitRate::from_mbps(4.0)), Time::ZERO);
            ShaperGate(Rc::new(RefCell::new(shaper)))
        }))
    }),
    ..Scheme::NONE
};

/// Keeps every Interest in the queue's side store until it is too old.
static KEEPER: Scheme = Scheme {
    name: "keeper",
    router: Some(|_, node| Ok(RouterParts::default().with_disciplines(node, |_| Keeper))),
    ..Scheme::NONE
};

#[derive(Debug)]
struct Keeper;

impl QueueDiscipline for Keeper {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        _: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        let until = cx.now + Span::from_millis(10);
        actions.wake_at(until);
        Verdict::Hold(until)
    }
}

#[derive(Debug, Default)]
struct Pacer {
    waiting: VecDeque<FlowKey>,
    free_at: Time,
}

impl FaceGate for Pacer {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, _: PitId, interest: &mut Header) -> GateVerdict {
        if self.waiting.is_empty() && self.free_at <= cx.now {
            self.free_at = cx.now + GAP;
            return GateVerdict::Admit;
        }
        let flow = interest.name.prefix;
        self.waiting.push_back(flow);
        GateVerdict::Hold(flow)
    }

    fn on_withdrawn(&mut self, _: &mut Context<'_>, _: PitId, held: Option<FlowKey>) {
        let place = held.and_then(|flow| self.waiting.iter().position(|waiting| *waiting == flow));
        place.map(|place| self.waiting.remove(place));
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        if let Some(flow) = self.waiting.pop_front() {
            releases.release(flow, 1);
            self.free_at = cx.now + GAP;
        }
    }

    fn next_wake(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(self.free_at)
    }
}

#[derive(Debug)]
struct Whim {
    draws: Rng,
    wake: Option<Time>,
}

impl FaceGate for Whim {
    fn on_interest_out(&mut self, cx: &mut Context<'_>, _: PitId, interest: &mut Header) -> GateVerdict {
        match self.draws.below(20) {
            0 => GateVerdict::Nack(NackReason::Congestion),
            1 => GateVerdict::Drop,
            2..8 => {
                self.wake.get_or_insert(cx.now + Span::from_micros(1 + u64::from(self.draws.below(9_000))));
                GateVerdict::Hold(interest.name.prefix)
            }
            _ => GateVerdict::Admit,
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, releases: &mut Releases) {
        for flow in 0..4 {
            releases.release(tidegate_core::ndn::name::PrefixId(flow), self.draws.below(4));
        }
        self.wake = self.draws.chance(0.8).then(|| cx.now + Span::from_millis(3));
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    fn held_limit(&self) -> Packets {
        Packets::new(5)
    }
}

/// Two flows over a chain of two routers, whose parts are `parts`.
fn chain(parts: &str, more: &str) -> Plan {
    let schemes: Vec<&'static Scheme> =
        SCHEMES.iter().copied().chain([&PACER, &SHAPER, &WHIM, &KEEPER]).collect();
    let text = format!(
        "format = 1\n[scenario]\nname = \"gates\"\nduration = \"2s\"\nevents = [\"dropped\", \"stored\", \
         \"released\"]\n[topology]\nbuiltin = \"linear\"\nrouters = 2\nlink = {{ rate = \"10Mbps\", delay = \
         \"1ms\" }}\n[router]\nrouter_parts = [{parts:?}]\n[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\nprefix = \
         \"/a\"\nscheme = {{ name = \"fixed\", window = 40 }}\n[[flow]]\nconsumer = \"c1\"\nproducer = \"p1\"\n\
         prefix = \"/b\"\nscheme = {{ name = \"fixed\", window = 20 }}\n{more}"
    );
    scenario::parse("test.toml", &text, &[], &schemes).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// Runs `plan` in steps of a millisecond, after each of which every packet is accounted for. Directions are c1-r1,
/// r1-c1, r1-r2, r2-r1, r2-p1, p1-r2.
fn run(plan: &Plan, seed: u64) -> (RunRecord, Vec<GateStats>) {
    let mut world = World::new(plan, Seed(seed));
    while !world.is_over() {
        world.step_until(world.now() + Span::from_millis(1));
        for (ledger, gates) in world.ledgers().iter().zip(world.gate_stats()) {
            assert!(ledger.balances() && gates.balances(), "{:?}: {ledger:?} {gates:?}", world.now());
        }
    }
    let stats = world.gate_stats();
    (world.into_record(plan, Seed(seed)), stats)
}

fn stored_events(record: &RunRecord) -> (u64, u64) {
    let count = |required: fn(&Event) -> bool| {
        record.events.iter().filter(|record| required(&record.event)).count() as u64
    };
    (
        count(|event| matches!(event, Event::Stored { .. })),
        count(|event| matches!(event, Event::Released { .. })),
    )
}

#[test]
fn a_pacer_at_a_router_sets_the_pace_of_its_flows() {
    let (record, stats) = run(&chain("pacer", ""), 1);
    // The first Interest takes less than 2 ms to the router: one each 2 ms leaves until the end.
    assert_eq!(stats[2].passed, 1_000);
    assert_eq!((stats[2].refused, stats[2].dropped), (0, 0));
    // Those on the way at the end: less than 8 ms of round trip.
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered_segments).sum();
    assert!((996..=1_000).contains(&delivered), "{delivered}");
    assert!(record.flows.iter().all(|flow| flow.retransmissions == 0));
    // All but four of both windows wait at the first gate; at the second they come at their pace already.
    assert!((56..=59).contains(&stats[2].waiting), "{stats:?}");
    assert!(stats[4].waiting <= 1 && stats[4].passed >= 998, "{stats:?}");
    let both = |count: fn(&GateStats) -> u64| count(&stats[2]) + count(&stats[4]);
    assert_eq!(stored_events(&record), (both(|stats| stats.held), both(|stats| stats.released)));
    let link = &record.links[2];
    assert_eq!((link.stored_packets, link.released_packets), (stats[2].held, stats[2].released));
    assert_eq!(link.offered_packets - link.sent_packets, stats[2].waiting);
}

#[test]
fn a_shaper_keeps_data_at_its_rate_and_out_of_the_queues_and_its_flows_take_turns() {
    let (record, stats) = run(&chain("shaper", ""), 1);
    // From r2 to r1, in bytes of a Data and its name, over 2 s less the first round trip.
    let data = &record.links[3];
    let mbps = data.sent_bytes.get() as f64 * 8.0 / 2e6;
    assert!((3.9..=4.05).contains(&mbps), "{mbps} Mbit/s");
    assert!(data.peak_queue_packets <= 2, "{data:?}");
    assert_eq!((stats[2].dropped, stats[2].refused), (0, 0));
    let [a, b] = [0, 1].map(|flow| record.flows[flow].delivered_segments);
    assert!(a.abs_diff(b) <= 20, "windows of 40 and 20 get {a} and {b}");
}

#[test]
fn what_is_held_for_a_link_that_goes_down_is_dropped_and_recorded_unless_the_queue_is_kept() {
    let down = |keep: bool| {
        format!(
            "[[event]]\nat = \"1s\"\nlink = \"r1-r2\"\nstate = \"down\"\nkeep_queue = {keep}\n[[event]]\nat = \
             \"1010ms\"\nlink = \"r1-r2\"\nstate = \"up\"\n"
        )
    };
    let dropped = |record: &RunRecord| {
        let at_down =
            |event: &Event| matches!(event, Event::Dropped { cause: Cause("held at link down"), .. });
        record.events.iter().filter(|record| at_down(&record.event)).count() as u64
    };
    let (record, stats) = run(&chain("pacer", &down(false)), 1);
    assert!((56..=59).contains(&dropped(&record)), "{}", dropped(&record));
    assert_eq!(stats[2].dropped, dropped(&record));
    assert!(record.links[2].dropped_packets >= stats[2].dropped);
    let (record, stats) = run(&chain("pacer", &down(true)), 1);
    assert_eq!((dropped(&record), stats[2].dropped), (0, 0));
}

#[test]
fn with_gates_of_any_whim_every_packet_is_accounted_for_at_any_time_and_runs_repeat() {
    let events = "[[event]]\nat = \"500ms\"\nlink = \"r1-r2\"\nstate = \"down\"\n[[event]]\nat = \"600ms\"\nlink = \
                  \"r1-r2\"\nstate = \"up\"\n[[event]]\nat = \"900ms\"\nnode = \"r2\"\nstate = \"down\"\n[[event]]\n\
                  at = \"1s\"\nnode = \"r2\"\nstate = \"up\"\n";
    let plan = chain("whim", events);
    for seed in 0..5 {
        let (record, stats) = run(&plan, seed);
        let both = [&stats[2], &stats[4]];
        assert!(both.iter().all(|stats| stats.dropped > 10 && stats.refused > 10), "{stats:?}");
        assert!(both.iter().all(|stats| stats.released > 50 && stats.passed > 100), "{stats:?}");
        assert_eq!((record, stats), run(&plan, seed));
    }
}

#[test]
fn a_gate_under_a_clock_with_ticks_lets_go_at_them_or_when_something_arrives() {
    let released = |clock: &str| {
        let plan = chain("pacer", &format!("[node.r1]\n{clock}\n"));
        let (record, _) = run(&plan, 1);
        let at_r1 = plan.nodes.iter().position(|node| node.name == "r1").expect("a router") as u32;
        let is_release =
            |event: &&EventRecord| event.node == at_r1 && matches!(event.event, Event::Released { .. });
        record.events.iter().filter(is_release).map(|event| event.time.as_nanos() / 1_000).collect::<Vec<_>>()
    };
    let fine = released("");
    let coarse = released("clock = { period = \"70ms\", phase = \"5ms\" }");
    let flushed = released("clock = { period = \"70ms\", phase = \"5ms\", flush_on_arrival = true }");
    // The pacer lets one go per wake-up, each 2 ms if it is woken then.
    assert!((950..1_000).contains(&fine.len()), "{}", fine.len());
    assert_eq!(coarse, (0..29).map(|tick| 5_000 + 70_000 * tick).collect::<Vec<u64>>()[..coarse.len()]);
    assert!(coarse.len() >= 28, "{coarse:?}");
    assert!(flushed.len() > 2 * coarse.len(), "{}", flushed.len());
    assert!(flushed.iter().any(|at| at % 70_000 != 5_000));
}

#[test]
fn what_a_queue_keeps_too_long_goes_at_a_tick() {
    let dropped = |clock: &str| {
        let plan = chain("keeper", &format!("[node.r1]\n{clock}\n"));
        let (record, _) = run(&plan, 1);
        let is_dropped = |event: &&EventRecord| matches!(event.event, Event::Dropped { .. });
        record.events.iter().filter(is_dropped).map(|event| event.time.as_nanos() / 1_000).collect::<Vec<_>>()
    };
    let (fine, coarse) = (dropped(""), dropped("clock = { period = \"70ms\", phase = \"5ms\" }"));
    assert!(fine.len() > 10 && fine.iter().any(|at| at % 70_000 != 5_000), "{fine:?}");
    assert!(coarse.len() > 10 && coarse.iter().all(|at| at % 70_000 == 5_000), "{coarse:?}");
}
