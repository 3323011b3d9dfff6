//! The gate, by hand: 10 Mbit/s bring 1136 Data of 1100 B per second.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::ndn::packet::Packet;
use tidegate_core::prelude::*;
use tidegate_testkit::standalone_queue::StandaloneQueue;

use super::reporter::{Passing, Reporter};
use super::Params;
use tidegate_testkit::gate_bench::{GateBench, data, interest, micros};

const FLOW: PrefixId = PrefixId(1);
const CAPACITY: f64 = 10e6 / 8_800.0;

struct Bench {
    up: Reporter,
    down: Reporter,
    queue: StandaloneQueue<()>,
    bench: GateBench,
}

impl Bench {
    fn new() -> Self {
        let params = Params::from_settings(&Settings::default()).expect("defaults are valid");
        let passing = Rc::new(RefCell::new(Passing::default()));
        let gate = |face| Reporter::new(FaceId(face), params.clone(), Rc::clone(&passing));
        Self { up: gate(1), down: gate(0), queue: StandaloneQueue::new(FaceId(0), Vec::new()), bench: GateBench::new() }
    }

    fn request(&mut self, at_us: u64, count: u32) {
        let gate = &mut self.up;
        self.bench.at(at_us, |cx| {
            for number in 0..count {
                let verdict = gate.on_interest_out(cx, PitId(number), &mut interest(FLOW, number));
                assert_eq!(verdict, GateVerdict::Admit);
            }
        });
    }

    /// Data come 100 ms after their Interests, and wait; what stands on the last.
    fn answer(&mut self, at_us: u64, count: u32) -> Option<u32> {
        let Self { up, down, queue, bench } = self;
        bench.at(at_us, |cx| {
            let mut last = None;
            for segment in 0..count {
                let mut header = data(FLOW, segment, 1_100);
                up.on_data_in(cx, PitId(0), &mut header, Some(Span::from_millis(100)));
                down.on_data_out(cx, &mut header, DataSource::Face);
                queue.push(cx, Packet::new(header, ()));
                last = header.hop.get(Signal::STAMPING_RATE);
            }
            last
        })
    }

    fn wake(&mut self, at_us: u64) {
        let gate = &mut self.up;
        self.bench.at(at_us, |cx| gate.on_wake(cx, &mut Releases::default()));
    }
}

#[track_caller]
fn expect(found: Option<u32>, by_hand: f64) {
    let found = f64::from(found.expect("a report")) / 1e3;
    assert!((found - by_hand).abs() < 0.01, "{found}, by hand {by_hand}");
}

#[test]
fn the_first_report_is_the_capacity_and_more_interests_than_that_lower_it() {
    let mut bench = Bench::new();
    bench.request(0, 40);
    assert_eq!(bench.up.next_wake(), Some(micros(20_000)));
    expect(bench.answer(0, 1), CAPACITY);
    // 40 in 20 ms are 2000/s; a Data waits; 0.2 of a round trip.
    bench.wake(20_000);
    let spare = 0.4 * (0.95 * CAPACITY - 2_000.0) - 0.1 * 1.0 / 0.1;
    let lowered = CAPACITY * (1.0 + 0.2 * spare / CAPACITY);
    expect(bench.answer(20_000, 1), lowered);
    // A wake-up that comes late counts the time that passed: 40 in 40 ms, and two Data wait.
    bench.request(30_000, 40);
    bench.wake(60_000);
    let spare = 0.4 * (0.95 * CAPACITY - 1_000.0) - 0.1 * 2.0 / 0.1;
    expect(bench.answer(60_000, 1), lowered * (1.0 + 0.4 * spare / CAPACITY));
}

#[test]
fn without_interests_the_rate_returns_to_the_capacity_and_the_timer_stops() {
    let mut bench = Bench::new();
    bench.request(0, 100);
    let mut wakes = 0;
    while let Some(at) = bench.up.next_wake() {
        bench.wake(at.as_nanos() / 1_000);
        wakes += 1;
        assert!(wakes < 1_000, "it ends");
    }
    assert!(wakes > 2);
    expect(bench.answer(1_000_000_000, 1), CAPACITY);
}
