//! DualPI2 through a queue, by hand: who goes first, and what the step does.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, named, segment};
use crate::queues::line::{Flow, Line, ms};

fn text(value: &str) -> Setting {
    Setting::Text(value.to_owned())
}

/// Pushes a segment numbered `number` at `micros`.
fn push(bench: &mut Bench, micros: u64, number: u32, ecn: Ecn) {
    bench.now = Time::ZERO + Span::from_micros(micros);
    bench.push_named(number, segment(ecn, 0), 1000);
}

/// The segment that leaves at `micros` and its mark.
fn pop(bench: &mut Bench, micros: u64) -> Option<(u32, u8)> {
    bench.now = Time::ZERO + Span::from_micros(micros);
    let packet = bench.run(|queue, cx| queue.pop(cx))?;
    Some((packet.header.name.segment.0, packet.header.hop.mark))
}

#[test]
fn a_low_latency_segment_goes_before_classic_ones_that_came_up_to_thirty_ms_earlier() {
    for (later_us, first) in [(0, 1), (30_000, 1), (30_001, 0)] {
        // No updates: the gains are 0.
        let still = [("alpha", Setting::Number(0.0)), ("beta", Setting::Number(0.0))];
        let mut bench = Bench::new(named("dualpi2"), &still, 100);
        push(&mut bench, 0, 0, Ecn::Classic);
        push(&mut bench, later_us, 1, Ecn::LowLatency);
        assert_eq!(pop(&mut bench, later_us), Some((first, 0)), "{later_us}");
    }
}

#[test]
fn a_low_latency_segment_is_marked_when_it_waited_longer_than_the_step() {
    let slow = Span::from_nanos(1_211_200);
    // A packet of 1514 bytes takes longer than a step of 1 ms, and is the threshold then.
    for (step, waited, mark) in [
        ("2ms", Span::from_millis(2), 0),
        ("2ms", Span::from_nanos(2_000_001), 1),
        ("1ms", slow, 0),
        ("1ms", slow + Span::from_nanos(1), 1),
    ] {
        let mut bench = Bench::new(named("dualpi2"), &[("step", text(step))], 100);
        push(&mut bench, 0, 0, Ecn::LowLatency);
        bench.now = Time::ZERO + waited;
        let packet = bench.run(|queue, cx| queue.pop(cx)).expect("one waits");
        assert_eq!(packet.header.hop.mark, mark, "{step} {waited}");
    }
}

#[test]
fn a_ramp_marks_in_proportion() {
    let given = [("step", text("2ms")), ("ramp", text("4ms"))];
    let mut bench = Bench::new(named("dualpi2"), &given, 1_000);
    (0..400).for_each(|number| push(&mut bench, 0, number, Ecn::LowLatency));
    // 3 ms are a quarter of the way.
    let marked: u32 = (0..400).filter_map(|_| pop(&mut bench, 3_000)).map(|(_, mark)| u32::from(mark)).sum();
    assert_eq!(marked, 100);
}

#[test]
fn with_weights_the_classic_queue_keeps_its_part_while_both_are_full() {
    let given = [
        ("scheduler", text("weighted")),
        ("classic_weight", Setting::Number(0.1)),
        ("alpha", Setting::Number(0.0)),
        ("beta", Setting::Number(0.0)),
    ];
    let mut line = Line::new(Bench::new(named("dualpi2"), &given, 100_000));
    let flow = |number, ecn, size| Flow { number, ecn, size, gap: Span::from_micros(800) };
    line.run_flows(&[flow(1, Ecn::LowLatency, 1_500), flow(2, Ecn::Classic, 1_000)], ms(4_000));
    let bytes = [1, 2].map(|number| line.outcome(number, ms(0)).bytes as f64);
    let part = bytes[1] / (bytes[0] + bytes[1]);
    // 5 MB in all; a packet of each is as exact as it gets.
    assert!((part - 0.1).abs() < 0.001, "{part}");
}

#[test]
fn what_is_alone_is_sent_without_delay_or_mark() {
    for ecn in [Ecn::NotCapable, Ecn::Classic, Ecn::LowLatency] {
        let mut line = Line::new(Bench::new(named("dualpi2"), &[], 100));
        let flow = Flow { number: 1, ecn, size: 1_000, gap: Span::from_micros(900) };
        line.run_flows(&[flow], ms(1_000));
        let outcome = line.outcome(1, ms(0));
        assert_eq!((outcome.packets, outcome.marked, outcome.longest_wait), (1_112, 0, Span::ZERO));
    }
}

#[test]
fn ndn_packets_are_classic_and_marked() {
    let mut line = Line::new(Bench::new(named("dualpi2"), &[], 10_000));
    for number in 0..4_000u64 {
        line.push(Time::ZERO + Span::from_micros(700 * number), 0, data(), 1000);
    }
    let stats = line.bench.queue.stats();
    // An overload of 8 in 7 that does not react: first marks, then drops, when p' reaches a half.
    assert!(stats.marked > 0 && stats.dropped > 0, "{stats:?}");
    let marks: Vec<bool> = line.sent.iter().map(|(_, header)| header.hop.mark > 0).collect();
    assert!(!marks[..20].contains(&true));
}
