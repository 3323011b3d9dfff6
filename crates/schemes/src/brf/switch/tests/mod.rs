use super::*;
use crate::brf::messages::Congestion;
use crate::brf::rate_code::GRANTED_RATE;
use crate::brf::rate_code::{Grant, decode};
use crate::brf::{Params, rate_code};
use tidegate_core::context::{Env, Present, Sink};
use tidegate_core::ndn::packet::TcpFlags;
use tidegate_testkit::gate_bench::GateBench;
use tidegate_testkit::steps::device;

mod full_table;
mod other_switches;
mod printed;
mod reducing;

/// 10 Mbps, of which 0.97 are given out, in bytes/s.
const GIVEN: f64 = 0.97 * 1.25e6;
const DOWN: FaceId = FaceId(0);
const UP: FaceId = FaceId(1);

/// A switch with two devices of 10 Mbps.
struct Bench {
    gates: GateBench,
    switch: Rc<RefCell<Switch>>,
    data: PrefixId,
    acks: PrefixId,
    params: Params,
    /// Of the next segment of a flow, microseconds.
    due: BTreeMap<u32, f64>,
}

impl Bench {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(given: &[(&str, Setting)]) -> Self {
        let mut gates = GateBench::new();
        let settings = Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect());
        let params = Params::read(&settings).expect("known");
        let data = gates.names.intern_uri("/tcp/d/s/80").expect("a name");
        let acks = gates.names.intern_uri("/tcp/s/d/80").expect("a name");
        let switch = Self::switch(&params);
        Self { gates, switch, data, acks, params, due: BTreeMap::new() }
    }

    fn switch(params: &Params) -> Rc<RefCell<Switch>> {
        let mut up = device();
        up.face = UP;
        let node = NodeSetup::new(NodeId(0), vec![device(), up], device().streams);
        Rc::new(RefCell::new(Switch::new(params, &node)))
    }

    /// The switch forgets everything.
    fn restart(&mut self) {
        self.switch = Self::switch(&self.params);
    }

    fn pass(&mut self, at_us: u64, face: FaceId, direction: Direction, mut header: Header) -> Header {
        let mut gate = Gate { face, switch: Rc::clone(&self.switch) };
        self.gates.at(at_us, |cx| gate.on_segment(cx, &mut header, direction));
        header
    }

    fn segment(prefix: PrefixId, number: u32, flags: TcpFlags, payload: u16, byte: u32) -> Header {
        let segment = TcpSegment {
            seq: byte,
            ack: byte,
            timestamp: 0,
            echo: 0,
            payload,
            window: 0,
            flags,
            ecn: Ecn::NotCapable,
        };
        let size = ByteCount::new(66 + u64::from(payload));
        Header::new(Name::segment(prefix, number), Kind::Tcp(segment), size)
    }

    fn syn(&mut self, at_us: u64, number: u32, is_brf: bool) {
        let mut syn = Self::segment(self.data, number, TcpFlags::SYN, 0, 0);
        if is_brf {
            syn.hop.put(GRANTED_RATE, 0);
        }
        self.pass(at_us, DOWN, Direction::Out, syn);
    }

    /// What the SYN-ACK carries on.
    fn syn_ack(&mut self, at_us: u64, number: u32) -> Option<u32> {
        let syn_ack = Self::segment(self.acks, number, TcpFlags::SYN | TcpFlags::ACK, 0, 1);
        self.pass(at_us, DOWN, Direction::In, syn_ack).hop.get(GRANTED_RATE)
    }

    /// What an ACK carries on that came with `standing`.
    fn ack_with(&mut self, at_us: u64, number: u32, standing: Option<u32>) -> Option<u32> {
        let mut ack = Self::segment(self.acks, number, TcpFlags::ACK, 0, 1);
        if let Some(value) = standing {
            ack.hop.put(GRANTED_RATE, value);
        }
        self.pass(at_us, DOWN, Direction::In, ack).hop.get(GRANTED_RATE)
    }

    /// Rate that an ACK carries on; `None` where nothing is due.
    fn ack(&mut self, at_us: u64, number: u32) -> Option<f64> {
        rate(self.ack_with(at_us, number, None))
    }

    fn data(&mut self, at_us: u64, number: u32) {
        self.marked(at_us, number, true);
    }

    fn marked(&mut self, at_us: u64, number: u32, is_brf: bool) {
        let mut data = Self::segment(self.data, number, TcpFlags::ACK, 1448, 1);
        if is_brf {
            data.hop.put(GRANTED_RATE, 0);
        }
        self.pass(at_us, DOWN, Direction::Out, data);
    }

    /// A connection with a round trip of 20 ms, 10 ms each way; what its SYN-ACK carries.
    fn open(&mut self, at_ms: u64, number: u32, is_brf: bool) -> Option<f64> {
        self.syn(at_ms * 1000, number, is_brf);
        let granted = self.syn_ack((at_ms + 10) * 1000, number);
        let answer = Self::segment(self.data, number, TcpFlags::ACK, 0, 1);
        self.pass((at_ms + 20) * 1000, DOWN, Direction::Out, answer);
        rate(granted)
    }

    /// From `from_ms` to `to_ms`, full segments of each flow at its rate in bytes/s, with an ACK for each at once. A call
    /// that goes on where the last ended goes on with its segments.
    fn run(&mut self, from_ms: u64, to_ms: u64, flows: &[(u32, f64)]) {
        let (from_us, to_us) = (from_ms as f64 * 1e3, to_ms as f64 * 1e3);
        let first = |number: &u32| self.due.get(number).copied().unwrap_or(0.0).max(from_us);
        let mut due: Vec<f64> = flows.iter().map(|(number, _)| first(number)).collect();
        loop {
            let next = (0..flows.len()).min_by(|a, b| due[*a].total_cmp(&due[*b])).expect("flows");
            if due[next] >= to_us {
                break;
            }
            let (number, rate) = flows[next];
            self.data(due[next] as u64, number);
            self.ack(due[next] as u64, number);
            due[next] += 1514.0 / rate * 1e6;
        }
        self.due.extend(flows.iter().map(|(number, _)| *number).zip(due));
    }

    /// Both FINs of a flow.
    fn close(&mut self, at_ms: u64, number: u32) {
        let fin = |prefix| Self::segment(prefix, number, TcpFlags::FIN | TcpFlags::ACK, 0, 1449);
        let (data, acks) = (fin(self.data), fin(self.acks));
        self.pass(at_ms * 1000, DOWN, Direction::Out, data);
        self.pass(at_ms * 1000, DOWN, Direction::In, acks);
    }

    fn directive(&mut self, at_ms: u64, directive: &Directive) {
        let mut agent = Agent::new(&self.params, Rc::clone(&self.switch));
        self.gates.at(at_ms * 1000, |cx| agent.on_directive(cx, directive));
    }

    fn granted(&self, number: u32) -> f64 {
        let switch = self.switch.borrow();
        switch.ports.iter().find_map(|port| port.rate_of(number)).unwrap_or(0.0)
    }
}

fn rate(value: Option<u32>) -> Option<f64> {
    match rate_code::read(value?) {
        Grant::Unassigned => None,
        Grant::Hold => Some(0.0),
        Grant::Rate(rate) => Some(rate as f64),
    }
}

fn is_near(ours: Option<f64>, expected: f64) -> bool {
    ours.is_some_and(|ours| ours <= expected + 1.0 && ours >= expected * (1.0 - 1.0 / 655.0) - 1.0)
}

const AT_ONCE: [(&str, Setting); 1] = [("make_before_break", Setting::Bool(false))];

#[test]
fn the_syn_ack_of_a_lone_flow_grants_all_that_is_given_out() {
    let mut bench = Bench::new();
    assert!(is_near(bench.open(0, 1, true), GIVEN));
    assert_eq!(bench.open(50, 2, false), None, "a sender that does not understand is told nothing");
}

#[test]
fn a_second_flow_halves_the_first_with_its_next_ack() {
    let mut bench = Bench::with(&AT_ONCE);
    bench.open(0, 1, true);
    bench.run(20, 100, &[(1, GIVEN)]);
    assert!(is_near(bench.open(100, 2, true), GIVEN / 2.0));
    assert!(is_near(bench.ack(110_500, 1), GIVEN / 2.0), "before its round trip is over");
}

#[test]
fn a_newcomer_is_held_until_the_others_have_made_room() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.run(20, 100, &[(1, GIVEN)]);
    assert_eq!(bench.open(100, 2, true), Some(0.0), "nothing is free");
    assert_eq!(rate(bench.syn_ack(110_100, 2)), Some(0.0), "said again on a SYN-ACK that comes again");
    assert!(is_near(bench.ack(110_500, 1), GIVEN / 2.0));
    assert_eq!(bench.ack(125_000, 2), None, "still held");
    assert!(is_near(bench.ack(130_000, 2), GIVEN / 2.0), "a round trip after its SYN-ACK");
}

#[test]
fn a_grant_is_written_once_per_round_trip() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    let written = (0..40u64).filter(|step| bench.ack(20_000 + step * 2_000, 1).is_some()).count();
    assert_eq!(written, 4, "80 ms after the SYN-ACK at 10 ms");
}

#[test]
fn the_least_grant_of_the_path_stays_whatever_an_ack_claims() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    let own = rate_code::encode(GIVEN);
    // Every 30 ms something is due.
    let mut claims =
        |at_ms: u64, standing| bench.ack_with(at_ms * 1000, 1, standing).map(|value| value as u16);
    assert_eq!(claims(50, Some(65_529)), Some(own), "absurd");
    assert_eq!(claims(80, Some(0)), Some(own), "nothing");
    assert_eq!(claims(110, Some(u32::MAX)), Some(own), "no code");
    let low = rate_code::encode(3e5);
    assert_eq!(claims(140, Some(low.into())), Some(low));
    assert_eq!(claims(170, None), Some(low), "remembered");
    assert_eq!(claims(400, None), Some(own), "and forgotten");
}

#[test]
fn a_higher_grant_of_another_switch_never_passes() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    let own = Some(u32::from(rate_code::encode(GIVEN)));
    for at_us in (20_000..40_000).step_by(1_000) {
        assert_eq!(bench.ack_with(at_us, 1, Some(rate_code::encode(12e6).into())), own, "{at_us}");
    }
}

#[test]
fn after_a_restart_flows_are_adopted_with_their_next_data() {
    let mut bench = Bench::with(&AT_ONCE);
    for number in 1..=2 {
        bench.open(0, number, true);
    }
    bench.restart();
    assert_eq!(bench.ack(100_000, 1), None, "nothing is known");
    (1..=2).for_each(|number| bench.data(101_000, number));
    bench.marked(102_000, 3, false);
    assert!(is_near(bench.ack(103_000, 1), GIVEN / 3.0) && is_near(bench.ack(103_000, 2), GIVEN / 3.0));
}

#[test]
fn flows_that_were_on_their_way_are_not_held_back() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.restart();
    bench.data(101_000, 1);
    bench.data(101_100, 2);
    assert!(is_near(bench.ack(101_200, 2), GIVEN / 2.0) && is_near(bench.ack(101_200, 1), GIVEN / 2.0));
}

#[test]
fn with_priorities_congestion_is_for_unlimited_flows_to_drain() {
    for (priorities, kept) in [(true, 1.0), (false, 1.0 - 20_000.0 / 0.04 / GIVEN)] {
        let mut bench = Bench::with(&[AT_ONCE[0].clone(), ("priorities", Setting::Bool(priorities))]);
        for number in 1..=2 {
            bench.open(0, number, true);
        }
        for at in (20..600).step_by(20) {
            let all = bench.granted(2);
            bench.run(at, at + 20, &[(1, 4e5), (2, all)]);
        }
        let before = bench.granted(1);
        let state = Congestion::Queue(ByteCount::new(20_000));
        bench.directive(600, &Directive::Congestion { face: DOWN, state });
        let (limited, sum) = (bench.granted(1), bench.granted(1) + bench.granted(2));
        assert!((limited / before - kept).abs() < 1e-3, "{limited} of {before}, {kept}");
        assert!((sum - (GIVEN - 20_000.0 / 0.04)).abs() < 0.01 * GIVEN, "{sum}");
    }
}

#[test]
fn a_flood_of_syns_takes_nothing_from_flows_that_live() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.run(20, 60, &[(1, GIVEN)]);
    for step in 0..100u32 {
        let at_ms = u64::from(60 + step);
        (0..1_000).for_each(|syn| bench.syn(at_ms * 1_000, 1_000 * (step + 1) + syn, syn % 2 == 0));
        bench.run(at_ms, at_ms + 1, &[(1, GIVEN)]);
    }
    bench.run(160, 200, &[(1, GIVEN)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0);
    assert!(is_near(bench.ack(230_000, 1), GIVEN));
}

#[test]
fn other_tcp_flows_get_the_share_of_their_number() {
    let mut bench = Bench::with(&AT_ONCE);
    bench.open(0, 1, true);
    bench.run(20, 60, &[(1, GIVEN)]);
    bench.open(60, 2, false);
    let shares = bench.switch.borrow().ports[0].shares();
    assert!((shares.brf - GIVEN / 2.0).abs() < 1.0 && (shares.other - 0.625e6).abs() < 1.0);
    assert!(is_near(bench.ack(71_000, 1), GIVEN / 2.0));
    // It is idle for more than a second.
    bench.run(80, 1_075, &[(1, GIVEN / 2.0)]);
    bench.run(1_075, 1_200, &[(1, GIVEN)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0, "{}", bench.granted(1));
}

#[test]
fn a_flow_that_its_application_limits_leaves_the_rest_to_the_others() {
    let mut bench = Bench::with(&AT_ONCE);
    for number in 1..=2 {
        bench.open(0, number, true);
    }
    for at in (20..600).step_by(20) {
        let all = bench.granted(2);
        bench.run(at, at + 20, &[(1, 2e5), (2, all)]);
    }
    assert!((bench.granted(1) / 2.2e5 - 1.0).abs() < 0.05, "{}", bench.granted(1));
    assert!((bench.granted(1) + bench.granted(2) - GIVEN).abs() < 1.0);
    // It wants more again: it sends what it is granted, and is granted its share.
    for at in (600..1_300).step_by(20) {
        let rates = [1, 2].map(|number| (number, bench.granted(number)));
        bench.run(at, at + 20, &rates);
    }
    assert!((bench.granted(1) - GIVEN / 2.0).abs() < 0.03 * GIVEN, "{}", bench.granted(1));
}

/// Its receiver's window, here, or its application: the switch sees the rate only.
#[test]
fn a_flow_that_is_held_back_no_longer_has_its_share_again_after_two_judgements() {
    let mut bench = Bench::with(&AT_ONCE);
    for number in 1..=2 {
        bench.open(0, number, true);
    }
    for at in (20..1_000).step_by(20) {
        let all = bench.granted(2);
        bench.run(at, at + 20, &[(1, 3.6e5), (2, all)]);
    }
    let held = bench.granted(1);
    assert!((held / (1.1 * 3.6e5) - 1.0).abs() < 0.03 && bench.granted(2) > 0.65 * GIVEN, "{held}");
    let regained = (1_000..2_000).step_by(20).find(|at| {
        let rates = [1, 2].map(|number| (number, bench.granted(number)));
        bench.run(*at, at + 20, &rates);
        bench.granted(1) > 0.97 * GIVEN / 2.0
    });
    // 30 segments at its grant are 115 ms: six rounds of 20 ms. The one that runs began before.
    let took = regained.expect("it has its share") + 20 - 1_000;
    assert!(took <= 2 * 120 + 20, "{took} ms");
}

#[test]
fn a_flow_that_ends_leaves_its_share_to_the_others() {
    let mut bench = Bench::with(&AT_ONCE);
    for number in 1..=2 {
        bench.open(0, number, true);
    }
    bench.run(20, 100, &[(1, GIVEN / 2.0), (2, GIVEN / 2.0)]);
    bench.close(100, 2);
    bench.run(100, 160, &[(1, GIVEN / 2.0)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0, "{}", bench.granted(1));
}

#[test]
fn congestion_drains_the_queue_and_a_controller_that_is_gone_does_not_hold_rates_down() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.run(20, 100, &[(1, GIVEN)]);
    let state = Congestion::Queue(ByteCount::new(20_000));
    bench.directive(100, &Directive::Congestion { face: DOWN, state });
    // 20 kB in two round trips of 20 ms.
    let reduced = GIVEN - 20_000.0 / 0.04;
    assert!((bench.granted(1) - reduced).abs() < 0.01 * GIVEN, "{} {reduced}", bench.granted(1));
    bench.run(100, 200, &[(1, reduced)]);
    assert!((bench.granted(1) - reduced).abs() < 0.01 * GIVEN, "as long as it was said");
    bench.run(200, 500, &[(1, reduced)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0, "nobody says anything");
    bench.directive(500, &Directive::Congestion { face: DOWN, state });
    bench.directive(501, &Directive::Congestion { face: DOWN, state: Congestion::Clear });
    assert!((bench.granted(1) - GIVEN).abs() < 1.0);
}

#[test]
fn a_link_that_changes_its_rate_changes_grants_at_once() {
    let mut bench = Bench::new();
    bench.open(0, 1, true);
    bench.run(20, 100, &[(1, GIVEN)]);
    bench.gates.faces[0].set_rate(BitRate::from_mbps(4.0));
    assert!(is_near(bench.ack(100_500, 1), GIVEN * 0.4));
    bench.gates.faces[0].set_rate(BitRate::from_mbps(8.0));
    assert!(is_near(bench.ack(101_000, 1), GIVEN * 0.8));
}

#[test]
fn packets_that_are_not_tcp_get_their_share_while_there_are_any() {
    let mut bench = Bench::with(&AT_ONCE);
    bench.open(0, 1, true);
    bench.gates.at(20_000, |cx| bench.switch.borrow_mut().ports[0].on_other(cx.now));
    assert!((bench.granted(1) - 0.95 * GIVEN).abs() < 1.0);
    bench.run(20, 1_100, &[(1, GIVEN)]);
    assert!((bench.granted(1) - GIVEN).abs() < 1.0, "a second later");
}

#[test]
fn grants_for_flows_whose_acks_take_another_way_reach_them_through_other_switches() {
    let mut here = Bench::new();
    let mut there = Bench::new();
    here.syn(0, 1, true);
    let answer = Bench::segment(here.data, 1, TcpFlags::ACK, 0, 1);
    here.pass(40_000, DOWN, Direction::Out, answer);
    for at in 40..200 {
        here.data(at * 1000, 1);
    }
    let mut reported = |at_ms: u64| {
        let reported =
            here.gates.at(at_ms * 1000, |cx| here.switch.borrow_mut().ports[0].take_unsent_grants(cx.now));
        reported.into_iter().next()
    };
    assert_eq!(reported(200), None, "not 200 ms yet");
    let (flow, rate) = reported(240).expect("no ACK came by");
    assert!((rate - GIVEN).abs() < 1.0);
    assert!(reported(300).is_none() && reported(740).is_some(), "again after half a second");

    let grant = |sequence, rate: f64| {
        let origin = tidegate_core::ndn::face::NodeId(7);
        Directive::Grant(FlowGrant { origin, sequence, flow, rate: BitRate::from_bps((rate * 8.0) as u64) })
    };
    there.directive(250, &grant(2, 5e5));
    there.directive(251, &grant(1, 9e5));
    assert!(is_near(there.ack(260_000, 1), 5e5), "the older word came later");
    let data = Bench::segment(there.data, 1, TcpFlags::ACK, 0, 1);
    let passed = there.pass(260_000, DOWN, Direction::In, data);
    assert_eq!(passed.hop.get(GRANTED_RATE), None, "the sender's own segments carry none");
    assert_eq!(there.ack(2_260_000, 1), None, "it was not said again");
}

#[test]
fn what_is_reported_to_others_ends_when_an_ack_comes_by() {
    let mut bench = Bench::new();
    bench.syn(0, 1, true);
    bench.data(40_000, 1);
    bench.ack(250_000, 1);
    let reported =
        bench.gates.at(900_000, |cx| bench.switch.borrow_mut().ports[0].take_unsent_grants(cx.now));
    assert!(reported.is_empty());
}

#[test]
fn grants_of_thirty_flows_are_never_more_than_is_given_out() {
    let mut bench = Bench::with(&AT_ONCE);
    let mut sum = 0.0;
    for number in 0..30 {
        bench.open(number * 30, number as u32, true);
    }
    for number in 0..30 {
        let value = bench.ack_with(950_000, number, None).map_or(0, |value| value as u16);
        sum += decode(value).bytes_per_second().unwrap_or(0) as f64;
    }
    assert!(sum <= GIVEN && sum > 0.9 * GIVEN, "{sum}");
}

#[test]
fn flows_that_find_no_room_in_the_table_are_in_the_class_of_others() {
    let mut bench = Bench::with(&[("table_entries", Setting::Number(1.0))]);
    bench.open(0, 1, true);
    bench.run(20, 60, &[(1, GIVEN)]);
    assert_eq!(bench.open(60, 2, true), None, "no grant");
    bench.data(90_000, 2);
    let class = |number| {
        let mut data = Bench::segment(bench.data, number, TcpFlags::ACK, 1448, 1);
        data.hop.put(GRANTED_RATE, 0);
        bench.switch.borrow().class(&data)
    };
    assert_eq!((class(1), class(2)), (SegmentClass::Brf, SegmentClass::Other));
}

#[test]
fn a_guess_is_reported_beside_the_average_share_and_the_demand() {
    let mut bench = Bench::with(&AT_ONCE);
    bench.open(0, 1, true);
    // Judged each 40 ms, which is ten segments or eleven.
    bench.run(20, 3_000, &[(1, 4e5)]);
    let reported = &bench.gates.events;
    let estimates: Vec<_> = reported
        .iter()
        .filter_map(|event| match event {
            Event::Estimated { what, estimate, truth, .. } => Some((what.0, *estimate, *truth)),
            _ => None,
        })
        .collect();
    let [("first grant", guess, demand), ("average share", average, same)] = estimates[..] else {
        panic!("{estimates:?}")
    };
    assert!((guess - GIVEN).abs() < 1.0 && guess == average && demand == same);
    assert!((demand / 4e5 - 1.0).abs() < 0.05, "{demand}");
    let states = reported.iter().filter(|event| matches!(event, Event::StateChanged { .. })).count();
    assert!(states > 1, "{states}");
}

#[test]
fn grants_of_a_switch_that_restarted_are_newer_than_those_before() {
    let reported = |bench: &mut Bench, at_ms: u64| {
        let mut agent = Agent::new(&bench.params, Rc::clone(&bench.switch));
        let mut sink = Reports::default();
        let mut present = Present::observed(&mut sink).at(Time::ZERO + Span::from_millis(at_ms));
        let env = Env::new(&bench.gates.names, &mut present);
        agent.report_grants(&mut Context::new(env, &bench.gates.faces));
        let grants = sink.0.iter().filter_map(|report| match report.get() {
            Some(Report::Grant(grant)) => Some(grant.sequence),
            _ => None,
        });
        grants.collect::<Vec<u32>>()
    };
    let mut bench = Bench::new();
    bench.data(0, 1);
    let before = reported(&mut bench, 900);
    bench.restart();
    bench.data(901_000, 1);
    let after = reported(&mut bench, 1_300);
    assert!(before.len() == 1 && after.len() == 1 && after > before, "{before:?} {after:?}");
}

#[derive(Debug, Default)]
struct Reports(Vec<Box<dyn Message>>);

impl Sink for Reports {
    fn record(&mut self, _: Time, _: NodeId, _: Event) {}

    fn report(&mut self, _: Time, _: NodeId, report: Box<dyn Message>) {
        self.0.push(report);
    }
}
