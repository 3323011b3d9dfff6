//! The two classes of `htb` before a line of 10 Mbps.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, named, segment};
use crate::queues::line::{Line, ms};

fn parts(tcp: f64, tcp_ceil: f64, other: f64) -> Vec<(&'static str, Setting)> {
    let parts = [("tcp", tcp), ("tcp_ceil", tcp_ceil), ("other", other)];
    parts.map(|(name, part)| (name, Setting::Number(part))).into()
}

/// Both classes, or TCP alone, offer the line's rate each from `from_ms` to `to_ms`.
fn overload(line: &mut Line, with_other: bool, from_ms: u64, to_ms: u64) {
    for step in from_ms * 5 / 4..to_ms * 5 / 4 {
        let at = Time::ZERO + Span::from_micros(800 * step);
        line.push(at, 0, segment(Ecn::NotCapable, 0), 1000);
        if with_other {
            line.push(at, 0, data(), 1000);
        }
    }
    line.run_before(ms(to_ms));
}

/// Rates of TCP and the rest between two times, Mbit/s.
fn rates(line: &Line, from_ms: u64, to_ms: u64) -> [f64; 2] {
    let mut bytes = [0, 0];
    for (at, header) in &line.sent {
        if (ms(from_ms)..ms(to_ms)).contains(at) {
            bytes[usize::from(!matches!(header.kind, Kind::Tcp(_)))] += header.size().get();
        }
    }
    bytes.map(|bytes| bytes as f64 * 8e-3 / (to_ms - from_ms) as f64)
}

#[track_caller]
fn expect(rates: [f64; 2], expected: [f64; 2]) {
    // A packet per second is 0.008; a burst of 15 kB in 4 s 0.03.
    let is_near = (0..2).all(|class| (rates[class] - expected[class]).abs() < 0.05);
    assert!(is_near, "{rates:?}, expected {expected:?}");
}

#[test]
fn each_class_gets_its_rate_and_what_the_other_leaves() {
    let mut line = Line::new(Bench::new(named("htb"), &parts(0.3, 1.0, 0.7), 200));
    overload(&mut line, true, 0, 5_000);
    expect(rates(&line, 1_000, 5_000), [3.0, 7.0]);
    overload(&mut line, false, 5_000, 10_000);
    expect(rates(&line, 6_000, 10_000), [10.0, 0.0]);
}

#[test]
fn a_ceiling_holds_a_class_back_although_the_line_is_free() {
    let mut line = Line::new(Bench::new(named("htb"), &parts(0.3, 0.4, 0.5), 200));
    overload(&mut line, false, 0, 5_000);
    expect(rates(&line, 1_000, 5_000), [4.0, 0.0]);
    let wakes_again = line.bench.queue.next_wake().is_some_and(|at| at > line.bench.now);
    assert!(line.bench.queue.is_held_back() && wakes_again);
}

#[test]
fn a_class_fills_half_of_the_queue_and_leaves_the_rest_to_the_other() {
    let mut bench = Bench::new(named("htb"), &[], 11);
    (0..9).for_each(|_| bench.push_named(0, segment(Ecn::NotCapable, 0), 1000));
    (0..3).for_each(|_| bench.push_named(0, data(), 1000));
    let full = |event: &Event| matches!(event, Event::Dropped { cause: Cause("class full"), .. });
    let dropped = bench.log.0.iter().filter(|(_, event)| full(event)).count();
    assert_eq!((dropped, bench.faces[0].queued_packets()), (3, 9));
}

#[test]
fn parts_follow_the_rate_of_the_line() {
    let mut line = Line::new(Bench::new(named("htb"), &parts(0.3, 0.3, 0.5), 200));
    overload(&mut line, false, 0, 2_000);
    line.bench.faces[0].set_rate(BitRate::from_mbps(20.0));
    overload(&mut line, false, 2_000, 6_000);
    expect(rates(&line, 2_500, 6_000), [6.0, 0.0]);
}
