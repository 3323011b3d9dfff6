//! The probabilities through a queue at a fixed p', and the PI controller by hand.

use std::collections::VecDeque;

use tidegate_core::ndn::packet::{Packet, TcpFlags};
use tidegate_core::queue::QueueStats;
use tidegate_testkit::standalone_queue::StandaloneQueue;

use super::*;
use tidegate_testkit::gate_bench::{GateBench, micros};

fn params() -> Params {
    Params::from_settings(&Settings::default()).expect("defaults")
}

/// Sends `count` segments at once, one after the other, through a queue whose p' stays at `base`.
fn counts(base: f64, ecn: Ecn, count: u32) -> QueueStats {
    let coupled = Coupled::fixed(&params(), base);
    let discipline = DualPi2 { coupled, ..DualPi2::new(params()) };
    let (mut bench, mut queue) = (GateBench::new(), StandaloneQueue::<()>::new(FaceId(0), vec![Box::new(discipline)]));
    let (seq, ack, timestamp, echo, payload, window) = (0, 0, 0, 0, 900, 0);
    let flags = TcpFlags::default();
    let kind = Kind::Tcp(TcpSegment { seq, ack, timestamp, echo, payload, window, flags, ecn });
    for number in 0..count {
        let header = Header::new(Name::segment(PrefixId(0), number), kind, ByteCount::new(1_000));
        bench.at(0, |cx| queue.offer(cx, Packet::new(header, ()), true));
    }
    queue.stats().clone()
}

#[test]
fn low_latency_marks_are_k_times_the_root_of_classic_drops() {
    for base in [0.05, 0.1, 0.25, 0.4] {
        let count = 100_000;
        let classic = counts(base, Ecn::NotCapable, count);
        let low_latency = counts(base, Ecn::LowLatency, count);
        let (drops, marks) =
            (classic.dropped as f64 / f64::from(count), low_latency.marked as f64 / f64::from(count));
        assert!((drops - base * base).abs() < 2e-5, "p' {base}: {drops} dropped");
        assert!((marks - 2.0 * drops.sqrt()).abs() < 1e-3, "p' {base}: {marks} marked");
        assert_eq!((classic.marked, low_latency.dropped), (0, 0));
    }
}

#[test]
fn classic_segments_that_may_be_marked_are_marked_as_often_as_others_are_dropped() {
    let stats = counts(0.2, Ecn::Classic, 10_000);
    assert!((399..=400).contains(&stats.marked), "{} marked", stats.marked);
    assert_eq!(stats.dropped, 0);
}

#[test]
fn in_overload_everybody_is_dropped_alike_and_low_latency_is_marked_besides() {
    // p' = 0.6: k p' is above 1, p'^2 = 0.36.
    for (ecn, marked) in [(Ecn::NotCapable, 0), (Ecn::Classic, 0), (Ecn::LowLatency, 6_400)] {
        let stats = counts(0.6, ecn, 10_000);
        assert!(stats.dropped.abs_diff(3_600) <= 1, "{ecn:?}: {} dropped", stats.dropped);
        assert!(stats.marked.abs_diff(marked) <= 1, "{ecn:?}: {} marked", stats.marked);
    }
}

#[test]
fn the_base_probability_follows_the_first_classic_packet() {
    let mut coupled = Coupled::new(&params());
    coupled.catch_up(micros(100_000), Some(Time::ZERO));
    // Six updates, at 16 n ms: 0.16 (0.016 n - 0.015) + 3.2 · 0.016 each; 0.16 · (0.336 - 0.09) + 6 · 0.0512.
    assert!((coupled.base() - 0.34656).abs() < 1e-12, "{}", coupled.base());
    // Empty at the seventh: -0.16 · 0.015 - 3.2 · 0.096.
    coupled.catch_up(micros(112_000), None);
    assert!((coupled.base() - 0.03696).abs() < 1e-12, "{}", coupled.base());
    // 0.0024 less at each after that: 15 leave 0.00096, and the 16th nothing.
    coupled.catch_up(micros(352_000), None);
    assert!((coupled.base() - 0.00096).abs() < 1e-12, "{}", coupled.base());
    coupled.catch_up(micros(368_000), None);
    assert_eq!(coupled.base(), 0.0);
}

#[test]
fn a_long_rest_is_made_up_for_at_once_and_updates_stay_on_their_grid() {
    let mut rested = Coupled::new(&params());
    let year = Time::ZERO + Span::from_secs(31_536_000);
    rested.catch_up(year, None);
    // The year is a multiple of 16 ms.
    let head = year + Span::from_millis(1);
    rested.catch_up(year + Span::from_millis(15), Some(head));
    assert_eq!(rested.base(), 0.0);
    rested.catch_up(year + Span::from_millis(16), Some(head));
    assert!((rested.base() - 3.2 * 0.015).abs() < 1e-12, "{}", rested.base());
}

#[test]
fn ten_flows_that_halve_at_a_signal_are_held_at_the_target() {
    // A fluid stand-in for ten of Reno's flows on a line of a packet per millisecond and a path of 50 ms. One flow would
    // not do: it empties the queue, p' stops at 0, and its sum no longer tells of the mean.
    const FLOWS: f64 = 10.0;
    let mut coupled = Coupled::new(&params());
    let (mut waiting, mut window) = (VecDeque::new(), 40.0);
    let (mut credit, mut waits) = (0.0, Vec::new());
    let mut recurrence = Recurrence::default();
    for millis in 0..60_000u64 {
        let at = micros(millis * 1_000);
        coupled.catch_up(at, waiting.front().copied());
        credit += window / (50.0 + waiting.len() as f64);
        while credit >= 1.0 {
            credit -= 1.0;
            waiting.push_back(at);
        }
        if let Some(since) = waiting.pop_front() {
            let is_due = recurrence.is_due(coupled.classic());
            window += if is_due { -window / (2.0 * FLOWS) } else { FLOWS / window };
            if millis > 20_000 {
                assert!(coupled.base() > 0.0);
                waits.push(at.since(since).as_millis_f64());
            }
        }
    }
    // The integral part leaves no error that stays; half a packet on either side is the grid of this line.
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((mean - 15.0).abs() < 1.0, "mean wait {mean} ms");
    // p = 2 n² / W² at W = 65.
    assert!((coupled.classic() - 0.047).abs() < 0.01, "{}", coupled.classic());
}
