//! FQ-CoDel against RFC 8290 by hand, and against CoDel where both are the same.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, named, segment};
use crate::queues::line::{Flow, Line, ms};

fn number(value: u32) -> Setting {
    Setting::Number(f64::from(value))
}

fn text(value: &str) -> Setting {
    Setting::Text(value.to_owned())
}

fn flow(number: u32, size: u64, gap_us: u64) -> Flow {
    Flow { number, ecn: Ecn::NotCapable, size, gap: Span::from_micros(gap_us) }
}

/// Pushes segments of these connections, 1000 bytes each, and numbers them.
fn push(bench: &mut Bench, flows: &[u32]) {
    flows.iter().for_each(|flow| bench.push_named(*flow, segment(Ecn::NotCapable, 0), 1000));
}

/// Connections in the order in which their segments leave.
fn order(bench: &mut Bench) -> Vec<u32> {
    let pop = || bench.run(|queue, cx| queue.pop(cx)).map(|packet| packet.header.name.segment.0);
    std::iter::from_fn(pop).collect()
}

/// Connections in the order in which they lost segments, by cause.
fn lost(bench: &Bench, why: Cause) -> Vec<u32> {
    let lost = bench.log.0.iter().filter_map(|(_, event)| match event {
        Event::Dropped { name, cause, .. } if *cause == why => Some(name.segment.0),
        _ => None,
    });
    lost.collect()
}

#[test]
fn flows_share_the_line_equally_in_bytes_whatever_they_send() {
    let mut line = Line::new(Bench::new(named("fq-codel"), &[], 2_000));
    // Each offers more than its quarter of 1250 bytes per millisecond.
    let flows = [flow(1, 1514, 1_000), flow(2, 1514, 400), flow(3, 500, 500), flow(4, 100, 200)];
    line.run_flows(&flows, ms(3_000));
    let outcomes = [1, 2, 3, 4].map(|number| line.outcome(number, ms(500)));
    let bytes = outcomes.map(|outcome| outcome.bytes);
    for bytes in bytes {
        // 2.5 s of a quarter; a turn is one quantum, and a packet may exceed it.
        assert!(bytes.abs_diff(781_250) <= 2 * 1514, "{bytes} of 781,250");
    }
}

#[test]
fn a_sparse_flow_waits_for_one_packet_of_the_others_at_most() {
    let mut line = Line::new(Bench::new(named("fq-codel"), &[], 2_000));
    let mut flows: Vec<Flow> = (1..=8).map(|number| flow(number, 1514, 1_200)).collect();
    flows.push(flow(9, 100, 20_300));
    line.run_flows(&flows, ms(2_000));
    // At the start all nine are new, and go in the order in which they came.
    let (bulk, sparse) = (line.outcome(1, ms(15)), line.outcome(9, ms(15)));
    assert_eq!(sparse.packets, 98);
    // 1514 bytes take 1.2112 ms.
    assert!(sparse.longest_wait <= Span::from_nanos(1_211_200), "{sparse:?}");
    assert!(bulk.longest_wait > Span::from_millis(50), "{bulk:?}");
}

#[test]
fn new_flows_go_first_and_a_flow_that_runs_empty_waits_a_round_before_it_is_new_again() {
    let quantum = ("quantum", text("2000B"));
    let mut bench = Bench::new(named("fq-codel"), &[quantum], 100);
    push(&mut bench, &[1, 1, 1, 1, 1, 2, 2]);
    let pop =
        |bench: &mut Bench| bench.run(|queue, cx| queue.pop(cx)).map(|packet| packet.header.name.segment.0);
    // Two quanta of two packets each, from new flows.
    assert_eq!([0; 4].map(|_| pop(&mut bench)), [1, 1, 2, 2].map(Some));
    // Now 1 and 2 are old, and 2 is empty; 3 is new and goes first.
    push(&mut bench, &[3]);
    assert_eq!([0; 2].map(|_| pop(&mut bench)), [3, 1].map(Some));
    // 3 ran empty and stands among the old ones: it is not new again.
    push(&mut bench, &[3, 4]);
    assert_eq!(order(&mut bench), [4, 1, 3, 1]);
}

#[test]
fn the_fattest_flow_makes_room_in_batches_of_up_to_half_of_it() {
    for (batch, lost_by_1) in [(1, 1), (3, 3), (64, 5)] {
        let mut bench =
            Bench::new(named("fq-codel"), &[("batch", number(batch)), ("limit", text("12pkt"))], 100);
        push(&mut bench, &[1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2]);
        assert_eq!(bench.queue.stats().dropped, 0);
        push(&mut bench, &[2]);
        assert_eq!(lost(&bench, Cause("fattest flow")), vec![1; lost_by_1], "batch {batch}");
        assert_eq!(bench.faces[0].queued_packets() as usize, 13 - lost_by_1);
    }
}

#[test]
fn a_flow_that_floods_the_queue_loses_its_own_packets_only() {
    // Room for 40 packets by the device's limit; flow 1 sends ten times the line's rate.
    let mut line = Line::new(Bench::new(named("fq-codel"), &[("batch", number(1))], 40));
    line.run_flows(&[flow(1, 1000, 80), flow(2, 1000, 4_000), flow(3, 1000, 5_000)], ms(1_000));
    let lost = lost(&line.bench, Cause("fattest flow"));
    assert!(lost.len() > 8_000 && lost.iter().all(|flow| *flow == 1), "{}", lost.len());
    assert_eq!(
        line.bench.faces[0].dropped_packets() as usize,
        lost.len() + self::lost(&line.bench, Cause("codel")).len()
    );
}

#[test]
fn with_one_queue_it_is_codel() {
    for seed in 0..10 {
        let one = [("flows", number(1)), ("ecn", Setting::Bool(false))];
        let sent = [("fq-codel", &one[..]), ("codel", &[])].map(|(scheme, given)| {
            let mut draws = Rng::stream(Seed(seed), "arrivals");
            let mut line = Line::new(Bench::new(named(scheme), given, 5_000));
            let mut at = Time::ZERO;
            for _ in 0..5_000 {
                // Sometimes more than the line's 0.8 ms per packet, sometimes less.
                let mean_us = if (at.as_nanos() / 700_000_000).is_multiple_of(2) { 700.0 } else { 1_100.0 };
                at += Span::from_secs_f64(draws.exponential() * mean_us * 1e-6);
                line.push(at, 0, data(), 1000);
            }
            line.run_before(ms(20_000));
            let times: Vec<Time> = line.sent.iter().map(|(at, _)| *at).collect();
            (times, line.bench.queue.stats().dropped)
        });
        assert!(sent[0].1 > 10, "seed {seed}: only {} dropped", sent[0].1);
        assert_eq!(sent[0], sent[1], "seed {seed}");
    }
}

#[test]
fn a_segment_is_marked_where_it_may_be_and_dropped_where_not() {
    for (ecn, capable, marked, dropped) in
        [(true, Ecn::Classic, 1, 0), (true, Ecn::NotCapable, 0, 1), (false, Ecn::Classic, 0, 1)]
    {
        let mut bench = Bench::new(named("fq-codel"), &[("ecn", Setting::Bool(ecn))], 100);
        (0..9).for_each(|_| bench.push_named(7, segment(capable, 0), 1000));
        // Above the target from 5 ms on; the first signal falls due at 105.
        for millis in [5, 104, 105, 106] {
            bench.now = ms(millis);
            assert!(bench.run(|queue, cx| queue.pop(cx)).is_some());
        }
        let stats = bench.queue.stats();
        assert_eq!((stats.marked, stats.dropped), (marked, dropped), "ecn {ecn}, {capable:?}");
    }
}

#[test]
fn a_seed_spreads_sixty_connections_over_almost_as_many_queues() {
    let mut bench = Bench::new(named("fq-codel"), &[("quantum", text("1000B"))], 1_000);
    let connections: Vec<u32> = (0..60).collect();
    push(&mut bench, &connections);
    push(&mut bench, &connections);
    // By turns: connections with a queue of their own send one packet in the first round and one in the second.
    let order = order(&mut bench);
    let first: std::collections::BTreeSet<u32> = order[..60].iter().copied().collect();
    // 60 · 59 / 2 / 1024 = 1.7 pairs share a queue on average.
    assert!(first.len() >= 54, "{} of 60", first.len());
}
