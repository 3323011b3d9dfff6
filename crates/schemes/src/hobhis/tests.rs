//! The shaper, by hand: 10 Mbit/s bring 1000 Data of 1250 B per second; 50 of them waiting are the target, so that
//! Interests leave a millisecond apart.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::ndn::packet::Packet;
use tidegate_core::prelude::*;
use tidegate_testkit::standalone_queue::StandaloneQueue;

use super::data_queues::Counter;
use super::shaper::HobhisShaper;
use super::shaping::{Flows, ShapingRule};
use super::{Feedback, Order, Params};
use crate::toolbox::shaping::refusal::Refusal;
use tidegate_testkit::gate_bench::{GateBench, data, interest, micros};

const DOWN: FaceId = FaceId(0);
const UP: FaceId = FaceId(1);
const ONE: FlowKey = PrefixId(1);
const OTHER: FlowKey = PrefixId(2);

struct Bench {
    gate: HobhisShaper,
    down: HobhisShaper,
    queue: StandaloneQueue<()>,
    bench: GateBench,
    next: u32,
}

impl Bench {
    /// A node that knows nothing yet.
    fn blank(change: impl FnOnce(&mut Params)) -> Self {
        let mut params = Params::from_settings(&Settings::default()).expect("defaults are valid");
        change(&mut params);
        let rule = ShapingRule { design: params.design, target: params.target };
        let flows = Rc::new(RefCell::new(Flows::new(rule, params.memory)));
        let queue = StandaloneQueue::new(DOWN, vec![Box::new(Counter::new(DOWN, Rc::clone(&flows)))]);
        let gate = |face| HobhisShaper::new(face, params.clone(), Rc::clone(&flows));
        Self { gate: gate(UP), down: gate(DOWN), queue, bench: GateBench::new(), next: 0 }
    }

    /// A node through which `waiting` Data of each of `flows` came in 50 ms and wait.
    fn new(flows: &[FlowKey], waiting: u32, change: impl FnOnce(&mut Params)) -> Self {
        let mut bench = Self::blank(change);
        for flow in flows {
            (0..waiting.max(1)).for_each(|segment| _ = bench.pass_data(*flow, segment, waiting > 0));
        }
        bench
    }

    /// A Data crosses the node at 0; the rate that stands on it then.
    fn pass_data(&mut self, flow: FlowKey, segment: u32, waits: bool) -> Option<u32> {
        let Self { gate, down, queue, bench, .. } = self;
        let mut header = data(flow, segment, 1_250);
        bench.at(0, |cx| {
            gate.on_data_in(cx, PitId(0), &mut header, Some(Span::from_millis(50)));
            down.on_data_out(cx, &mut header, DataSource::Face);
            if waits {
                queue.push(cx, Packet::new(header, ()));
            }
        });
        header.hop.get(Signal::STAMPING_RATE)
    }

    fn request(&mut self, at_us: u64, flow: FlowKey) -> GateVerdict {
        let number = self.next;
        self.next += 1;
        let gate = &mut self.gate;
        self.bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(number), &mut interest(flow, number)))
    }

    fn wake(&mut self, at_us: u64) -> Vec<(FlowKey, u32)> {
        let mut releases = Releases::default();
        let gate = &mut self.gate;
        self.bench.at(at_us, |cx| gate.on_wake(cx, &mut releases));
        releases.drain().collect()
    }
}

#[test]
fn interests_wait_for_nothing_before_the_first_data() {
    let mut bench = Bench::blank(|_| ());
    assert!((0..200).all(|_| bench.request(0, ONE) == GateVerdict::Admit));
    assert_eq!(bench.gate.next_wake(), None);
}

#[test]
fn a_queue_at_its_target_lets_interests_out_at_the_links_rate() {
    let mut bench = Bench::new(&[ONE], 50, |_| ());
    assert_eq!(bench.request(1_000, ONE), GateVerdict::Admit);
    assert_eq!((bench.request(1_000, ONE), bench.request(1_000, ONE)), (GateVerdict::Hold(ONE), GateVerdict::Hold(ONE)));
    assert_eq!(bench.gate.next_wake(), Some(micros(2_000)));
    assert_eq!(bench.wake(2_000), [(ONE, 1)]);
    assert_eq!(bench.gate.next_wake(), Some(micros(3_000)));
    assert_eq!(bench.wake(3_000), [(ONE, 1)]);
    assert_eq!(bench.gate.next_wake(), None);
    assert_eq!(bench.request(3_999, ONE), GateVerdict::Hold(ONE));
    assert_eq!(bench.wake(4_000), [(ONE, 1)]);
    assert_eq!(bench.request(5_000, ONE), GateVerdict::Admit);
}

#[test]
fn a_late_wake_up_lets_out_what_has_become_due() {
    let mut bench = Bench::new(&[ONE], 50, |_| ());
    (0..10).for_each(|_| _ = bench.request(1_000, ONE));
    assert_eq!(bench.wake(4_500), [(ONE, 1); 3]);
    assert_eq!(bench.gate.next_wake(), Some(micros(5_000)));
}

#[test]
fn a_queue_far_above_its_target_stops_interests_and_is_looked_at_every_tenth_of_a_millisecond() {
    // h = 1: 1000 + (50 - 100) / 0.05 = 0.
    let mut bench = Bench::new(&[ONE], 100, |params| params.design = 1.0);
    assert_eq!(bench.request(1_000, ONE), GateVerdict::Hold(ONE));
    assert_eq!(bench.gate.next_wake(), Some(micros(1_100)));
    assert_eq!(bench.wake(1_100), []);
    let Bench { bench: surroundings, queue, .. } = &mut bench;
    surroundings.at(1_150, |cx| (0..50).for_each(|_| _ = queue.pop(cx)));
    // Nothing left before: the wait since the start is no credit.
    assert_eq!(bench.wake(1_200), [(ONE, 1)]);
    assert_eq!(bench.request(1_200, ONE), GateVerdict::Hold(ONE));
}

#[test]
fn flows_take_turns_or_go_by_arrival() {
    let first = |order| {
        let mut bench = Bench::new(&[ONE, OTHER], 25, |params| params.order = order);
        let requested = [ONE, ONE, ONE, OTHER, OTHER];
        assert_eq!(requested.map(|flow| bench.request(1_000, flow))[..2], [GateVerdict::Admit, GateVerdict::Hold(ONE)]);
        (2..6).flat_map(|turn| bench.wake(1_000 * turn)).map(|(flow, _)| flow).collect::<Vec<_>>()
    };
    assert_eq!(first(Order::Turns), [OTHER, ONE, OTHER, ONE]);
    assert_eq!(first(Order::Arrival), [ONE, ONE, OTHER, OTHER]);
}

#[test]
fn one_more_than_the_limit_is_refused_as_reported() {
    for (refusal, verdict) in
        [(Refusal::Drop, GateVerdict::Drop), (Refusal::Nack, GateVerdict::Nack(NackReason::Congestion))]
    {
        let mut bench = Bench::new(&[ONE], 50, |params| params.refusal = refusal);
        let held = (0..101).filter(|_| bench.request(0, ONE) == GateVerdict::Hold(ONE)).count();
        assert_eq!((held, bench.request(0, ONE)), (100, verdict));
    }
}

#[test]
fn what_was_withdrawn_waits_no_longer() {
    let mut bench = Bench::new(&[ONE], 50, |_| ());
    (0..3).for_each(|_| _ = bench.request(1_000, ONE));
    let Bench { gate, bench: surroundings, .. } = &mut bench;
    surroundings.at(1_500, |cx| gate.on_withdrawn(cx, PitId(1), Some(ONE)));
    assert_eq!(bench.wake(2_000), [(ONE, 1)]);
    assert_eq!(bench.gate.next_wake(), None);
}

#[test]
fn every_data_carries_its_flows_part_of_the_rate() {
    let mut bench = Bench::blank(|_| ());
    // 1000 + 0.1 * 50 / 0.05 = 1100 for one flow; with a second one each has half of it.
    assert_eq!(bench.pass_data(ONE, 0, true), Some(1_100_000));
    // 1000 + 0.1 (50 - 1) / 0.05 = 1098.
    assert_eq!(bench.pass_data(ONE, 1, true), Some(1_098_000));
    assert_eq!(bench.pass_data(OTHER, 0, true), Some(550_000));
    let mut silent = Bench::blank(|params| params.feedback = Feedback::None);
    assert_eq!(silent.pass_data(ONE, 0, true), None);
}

#[test]
fn settings_reach_the_parts() {
    let settings = Settings(vec![("limit".to_owned(), Setting::Text("7pkt".to_owned()))]);
    let params = Params::from_settings(&settings).expect("in range");
    let flows = Rc::new(RefCell::new(Flows::new(ShapingRule { design: 0.1, target: 50.0 }, Span::ZERO)));
    assert_eq!(HobhisShaper::new(UP, params, flows).held_limit().get(), 7);
}
