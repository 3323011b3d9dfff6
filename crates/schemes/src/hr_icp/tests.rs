//! The shaper and the consumer, by hand: 10 Mbit/s each way, Interests of 40 B and Data of 1000 B.

use tidegate_core::prelude::*;
use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};

use super::shaper::HrIcpShaper;
use super::{Params, RefusalRule, SCHEME};
use crate::toolbox::shaping::refusal::Refusal;
use tidegate_testkit::driver::Driver;
use tidegate_testkit::gate_bench::{GateBench, data, interest, micros};
use tidegate_testkit::steps::{data as delivered, follow, lost};

const FACE: FaceId = FaceId(0);
const FLOW: PrefixId = PrefixId(1);

/// From one Interest to the next, microseconds: 1000 B of Data take 800, of which 0.98 may be used.
const ALONE: f64 = 800.0 / 0.98;
/// As much while the other end asks for all it can get: each direction carries an Interest per Data, 1040 B.
const CONTENDED: f64 = 832.0 / 0.98;

struct Bench {
    gate: HrIcpShaper,
    bench: GateBench,
    next: u32,
}

impl Bench {
    /// A face that saw Data go both ways.
    fn new(change: impl FnOnce(&mut Params)) -> Self {
        let mut params = Params::from_settings(&Settings::default()).expect("defaults are valid");
        change(&mut params);
        let gate = HrIcpShaper::new(FACE, params, Rng::stream(Seed(1), "hr-icp"));
        let mut bench = Self { gate, bench: GateBench::new(), next: 0 };
        let Self { gate, bench: surroundings, .. } = &mut bench;
        surroundings.faces[0].count_received(ByteCount::new(1_000));
        surroundings.at(0, |cx| {
            gate.on_data_in(cx, PitId(0), &mut data(FLOW, 0, 1_000), None);
            gate.on_data_out(cx, &mut data(FLOW, 0, 1_000), DataSource::Face);
        });
        bench
    }

    fn request(&mut self, at_us: u64) -> GateVerdict {
        let number = self.next;
        self.next += 1;
        let gate = &mut self.gate;
        self.bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(number), &mut interest(FLOW, number)))
    }

    /// How many Interests leave.
    fn wake(&mut self, at_us: u64) -> u32 {
        let mut releases = Releases::default();
        let gate = &mut self.gate;
        self.bench.at(at_us, |cx| gate.on_wake(cx, &mut releases));
        releases.drain().map(|(_, count)| count).sum()
    }

    /// Asks for two Interests at `at_us`; microseconds from the first to the second.
    fn gap(&mut self, at_us: u64) -> f64 {
        assert_eq!((self.request(at_us), self.request(at_us)), (GateVerdict::Admit, GateVerdict::Hold(NameTable::ROOT)));
        self.gate.next_wake().expect("one waits").since(micros(at_us)).as_secs_f64() * 1e6
    }

    /// So many Interests of 40 B come in.
    fn receive(&mut self, interests: u32) {
        (0..interests).for_each(|_| self.bench.faces[0].count_received(ByteCount::new(40)));
    }
}

#[track_caller]
fn expect_gap(found: f64, by_hand: f64) {
    assert!((found - by_hand).abs() < 0.002, "{found} us, by hand {by_hand}");
}

#[test]
fn interests_are_as_far_apart_as_their_data_take() {
    let mut bench = Bench::new(|_| ());
    expect_gap(bench.gap(200_000), ALONE);
    assert_eq!((bench.wake(200_816), bench.wake(200_817)), (0, 1));
    assert_eq!(bench.gate.next_wake(), None);
}

#[test]
fn the_other_ends_demand_slows_them_down() {
    let mut bench = Bench::new(|_| ());
    // All that it can get is 1 / 832 us; 0.98 of that for 200 ms are 236.
    bench.receive(236);
    expect_gap(bench.gap(200_000), CONTENDED);
    let mut half = Bench::new(|_| ());
    half.receive(118);
    let (alone, contended) = (1.0 / ALONE, 1.0 / CONTENDED);
    let missing: f64 = 1.0 - 118.0 / (0.98 * 200_000.0 / 832.0);
    expect_gap(half.gap(200_000), 1.0 / (contended + (alone - contended) * missing * missing));
    expect_gap(Bench::new(|params| params.measure_demand = false).gap(200_000), CONTENDED);
}

#[test]
fn answers_are_no_demand() {
    let mut bench = Bench::new(|_| ());
    bench.receive(300);
    let Bench { gate, bench: surroundings, .. } = &mut bench;
    surroundings.at(0, |cx| (0..300).for_each(|_| gate.on_nack_in(cx, PitId(0), NackReason::Congestion)));
    expect_gap(bench.gap(200_000), ALONE);
}

#[test]
fn a_late_wake_up_lets_out_what_has_become_due() {
    let mut bench = Bench::new(|_| ());
    (0..10).for_each(|_| _ = bench.request(200_000));
    assert_eq!(bench.wake(200_000 + (4.5 * ALONE) as u64), 4);
    // A pause is no credit.
    assert_eq!(bench.wake(300_000), 5);
    assert_eq!(bench.gap(400_000).round(), ALONE.round());
}

#[test]
fn one_more_than_the_limit_is_refused_as_reported_and_a_withdrawn_one_makes_room() {
    for (refusal, verdict) in
        [(Refusal::Nack, GateVerdict::Nack(NackReason::Congestion)), (Refusal::Drop, GateVerdict::Drop)]
    {
        let mut bench = Bench::new(|params| (params.refusal, params.limit) = (refusal, Packets::new(3)));
        let verdicts: Vec<GateVerdict> = (0..5).map(|_| bench.request(0)).collect();
        let held = GateVerdict::Hold(NameTable::ROOT);
        assert_eq!(verdicts, [GateVerdict::Admit, held, held, held, verdict]);
        let Bench { gate, bench: surroundings, .. } = &mut bench;
        surroundings.at(1, |cx| gate.on_withdrawn(cx, PitId(2), Some(NameTable::ROOT)));
        assert_eq!(bench.request(2), held);
    }
}

#[test]
fn pie_and_codel_refuse_interests_while_there_is_room() {
    // Two Interests come for one that leaves; 1 s brings 1225 that leave.
    let refused = |queue| {
        let mut bench =
            Bench::new(|params| (params.queue, params.limit) = (queue, Packets::new(1_000_000)));
        let mut refused = 0;
        for turn in 0..1_200 {
            let now = 1_000_000 + 817 * turn;
            bench.wake(now);
            let verdicts = [bench.request(now), bench.request(now)];
            refused += verdicts.iter().filter(|verdict| matches!(verdict, GateVerdict::Nack(_))).count();
        }
        refused
    };
    assert_eq!(refused(RefusalRule::DropTail), 0);
    assert!(refused(RefusalRule::Pie) > 100, "{}", refused(RefusalRule::Pie));
    assert!(refused(RefusalRule::Codel) > 10, "{}", refused(RefusalRule::Codel));
}

#[test]
fn the_consumer_halves_once_per_window_on_nacks_and_losses_and_grows_as_tcp() {
    let steps = [
        (delivered(40, 0, 2), 2.0),
        (delivered(80, 1, 4), 3.0),
        (delivered(81, 2, 6), 4.0),
        (delivered(120, 3, 8), 5.0),
        (lost(130, 4, 9, Nack(NackReason::Congestion)), 2.5), // recovery point 8
        (lost(131, 8, 9, Nack(NackReason::Congestion)), 2.5),
        (lost(132, 9, 10, Nack(NackReason::NoRoute)), 2.5),
        (delivered(140, 5, 10), 3.0), // 1 / 2
        (delivered(141, 6, 11), 3.0 + 1.0 / 3.0),
        (lost(400, 9, 12, Timeout), 2.0), // no less
    ];
    follow(&mut Driver::new(&SCHEME, &[]), &steps);
}
