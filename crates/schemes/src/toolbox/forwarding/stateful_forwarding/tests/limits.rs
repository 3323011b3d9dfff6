//! Limits in both forms and adaptations, worked by hand.

use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
use tidegate_core::prelude::*;

use super::super::limit::{FaceLimit, LimitUnit};
use super::super::limit_gate::LimitGate;
use super::super::{Adaptation, Params};
use crate::toolbox::reaction::once_per_flight::OncePerFlight;
use tidegate_testkit::gate_bench::{GateBench, data as data_packet, interest};

/// Data per second that the link brings.
const CAPACITY: f64 = 100.0;

fn params(adaptation: Adaptation) -> Params {
    let defaults = Params::from_settings(&Settings::default()).expect("defaults");
    Params { adaptation, dynamic_burst: false, ..defaults }
}

fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

/// A limit and the number of the next Interest.
struct Bench(FaceLimit, u32);

impl Bench {
    fn new(measure: LimitUnit, params: Params) -> Self {
        Self(FaceLimit::new(params, measure, None), 0)
    }

    /// How many of `offered` new Interests pass.
    fn pass(&mut self, at_ms: u64, offered: u32) -> u32 {
        let mut passed = 0;
        for _ in 0..offered {
            passed += u32::from(self.0.admits(ms(at_ms), PitId(self.1), CAPACITY));
            self.1 += 1;
        }
        passed
    }

    fn data(&mut self, at_ms: u64, pending: u32, rtt: Option<Span>) {
        self.0.on_data(ms(at_ms), PitId(pending), rtt, CAPACITY);
    }

    fn nack(&mut self, at_ms: u64, pending: u32) {
        self.0.on_nack(ms(at_ms), PitId(pending), true, CAPACITY);
    }

    #[track_caller]
    fn expect(&self, limit: f64) {
        let found = self.0.limit(CAPACITY);
        assert!((found - limit).abs() < 1e-9, "{found}, by hand {limit}");
    }
}

#[test]
fn a_bucket_takes_a_tenth_of_a_second_at_once_and_then_its_rate() {
    let mut bench = Bench::new(LimitUnit::Rate, params(Adaptation::Code));
    assert_eq!(bench.pass(0, 12), 10, "100/s for 100 ms");
    assert_eq!((bench.pass(9, 1), bench.pass(10, 2)), (0, 1));
    // 99/s and a depth of 9.9 from 10 ms on. The level is 10, at 20 ms 9.01: 0.89 of a place; at 22 ms 1.088.
    bench.nack(10, 0);
    bench.expect(99.0);
    assert_eq!((bench.pass(20, 1), bench.pass(22, 2)), (0, 1));
    assert_eq!(bench.pass(10_000, 20), 9, "9.9 and no more, however long nothing was sent");
}

#[test]
fn a_pending_limit_is_given_back_by_every_end() {
    let window = Params { burst: Span::from_millis(50), ..params(Adaptation::None) };
    let mut bench = Bench::new(LimitUnit::Pending, window);
    assert_eq!(bench.pass(0, 7), 5, "100/s for 50 ms");
    assert!(bench.0.admits(ms(1), PitId(0), CAPACITY), "sent again: it has its place");
    bench.data(1, 0, None);
    bench.nack(1, 1);
    bench.0.give_back(PitId(2));
    assert_eq!(bench.pass(1, 7), 3);
    bench.data(2, 0, None);
    assert_eq!(bench.pass(2, 1), 0, "an end that was told gives nothing back");
}

#[test]
fn the_code_goes_up_a_step_per_data_and_down_one_per_nack() {
    for (measure, max) in [(LimitUnit::Rate, 100.0), (LimitUnit::Pending, 10.0)] {
        let mut bench = Bench::new(measure, params(Adaptation::Code));
        assert_eq!(bench.pass(0, 10), 10);
        bench.data(1, 0, None);
        bench.expect(max);
        (1..4).for_each(|pending| bench.nack(1, pending));
        bench.expect(max - 3.0);
        bench.data(1, 4, None);
        bench.expect(max - 2.0);
        (5..8).for_each(|pending| bench.data(1, pending, None));
        bench.expect(max);
    }
}

#[test]
fn the_papers_form_goes_up_by_a_step_over_the_limit_and_down_by_half() {
    let mut bench = Bench::new(LimitUnit::Rate, params(Adaptation::Aimd));
    assert_eq!(bench.pass(0, 10), 10);
    bench.nack(1, 0);
    bench.expect(50.0);
    bench.data(1, 1, None);
    bench.expect(50.02);
    bench.nack(1, 2);
    bench.expect(25.01);
    (3..10).for_each(|pending| bench.nack(1, pending));
    bench.expect(1.0);
    assert_eq!(bench.pass(100_000, 3), 1, "the least burst");
}

#[test]
fn with_no_least_limit_nothing_is_ever_sent_again() {
    let literal = Params { min_limit: 0.0, min_burst: 0.0, ..params(Adaptation::Code) };
    let mut bench = Bench(FaceLimit::new(literal, LimitUnit::Rate, None), 0);
    let refused = (0..200).filter(|turn| {
        let is_let_out = bench.0.admits(ms(turn * 10_000), PitId(0), CAPACITY);
        bench.nack(turn * 10_000, 0);
        !is_let_out
    });
    // 100 down to 10, where the burst is one Interest: 91 pass.
    assert_eq!(refused.count(), 109);
    bench.expect(9.0);
}

#[test]
fn a_dynamic_burst_follows_the_mean_round_trip_time() {
    let mut bench = Bench::new(LimitUnit::Rate, Params { dynamic_burst: true, ..params(Adaptation::None) });
    assert_eq!(bench.pass(0, 12), 10);
    bench.data(1, 0, Some(Span::from_millis(200)));
    assert_eq!(bench.pass(10_000, 30), 20, "100/s for 200 ms");
    // 200 + 200/8 = 225 ms.
    bench.data(10_000, 1, Some(Span::from_millis(400)));
    assert_eq!(bench.pass(20_000, 30), 22);
}

#[test]
fn nacks_of_one_flight_halve_a_limit_once_if_so_configured() {
    let after = |once: Option<OncePerFlight>| {
        let mut bench = Bench(FaceLimit::new(params(Adaptation::Aimd), LimitUnit::Rate, once), 0);
        assert_eq!(bench.pass(0, 4), 4);
        (0..3).for_each(|pending| bench.nack(40, pending));
        let burst = bench.0.limit(CAPACITY);
        bench.nack(60, 3);
        assert_eq!(bench.pass(100, 1), 1);
        bench.nack(140, 4);
        (burst, bench.0.limit(CAPACITY))
    };
    assert_eq!(after(None), (12.5, 3.125));
    assert_eq!(after(Some(OncePerFlight::default())), (50.0, 25.0));
}

#[test]
fn a_gates_limit_is_what_its_link_brings_and_only_congestion_lowers_it() {
    // 10 Mbit/s in Data of 1250 B are 1000/s: 100 at once, and one per millisecond.
    let mut bench = GateBench::new();
    let flow = bench.names.intern_uri("/a").expect("valid");
    let limit = FaceLimit::new(params(Adaptation::Aimd), LimitUnit::Rate, None);
    let mut gate = LimitGate::new(FaceId(1), ByteCount::new(1250), limit);
    let mut request = |gate: &mut LimitGate, at_us: u64, pending: u32| {
        bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(pending), &mut interest(flow, pending)))
    };
    let refused = GateVerdict::Nack(Congestion);
    let verdicts: Vec<GateVerdict> = (0..102).map(|pending| request(&mut gate, 0, pending)).collect();
    assert_eq!(verdicts[99..], [GateVerdict::Admit, refused, refused]);
    assert_eq!(request(&mut gate, 1_000, 102), GateVerdict::Admit);
    let mut bench = GateBench::new();
    bench.at(1_000, |cx| gate.on_nack_in(cx, PitId(0), NoRoute));
    assert_eq!(
        bench.at(2_000, |cx| gate.on_interest_out(cx, PitId(1), &mut interest(flow, 1))),
        GateVerdict::Admit
    );
    bench.at(2_000, |cx| gate.on_nack_in(cx, PitId(2), Congestion));
    // 500/s and 50 at once: the 100 in the bucket take 102 ms to make a place.
    for (at_us, verdict) in [(103_999, refused), (104_000, GateVerdict::Admit)] {
        assert_eq!(bench.at(at_us, |cx| gate.on_interest_out(cx, PitId(3), &mut interest(flow, 3))), verdict);
    }
}

#[test]
fn a_gate_gives_back_what_expires_or_does_not_leave() {
    // 10 Mbit/s in Data of 1250 B for 1 ms: one pending.
    let window = Params { burst: Span::from_millis(1), ..params(Adaptation::None) };
    let mut gate =
        LimitGate::new(FaceId(1), ByteCount::new(1250), FaceLimit::new(window, LimitUnit::Pending, None));
    let flow = NameTable::ROOT;
    GateBench::new().at(0, |cx| {
        let mut passes = |gate: &mut LimitGate, pending: u32| {
            gate.on_interest_out(cx, PitId(pending), &mut interest(flow, pending)) == GateVerdict::Admit
        };
        assert!(passes(&mut gate, 0) && !passes(&mut gate, 1));
    });
    GateBench::new().at(1, |cx| {
        gate.on_expiry(cx, PitId(0));
        assert_eq!(gate.on_interest_out(cx, PitId(1), &mut interest(flow, 1)), GateVerdict::Admit);
        gate.on_withdrawn(cx, PitId(1), None);
        assert_eq!(gate.on_interest_out(cx, PitId(2), &mut interest(flow, 2)), GateVerdict::Admit);
        gate.on_data_in(cx, PitId(2), &mut data_packet(flow, 2, 1_000), None);
        assert_eq!(gate.on_interest_out(cx, PitId(3), &mut interest(flow, 3)), GateVerdict::Admit);
    });
}
