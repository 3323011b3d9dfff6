//! Records of runs that never happened.

use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::observe::event::{Cause, Event};
use tidegate_core::observe::records::{
    DelaySummary, EventRecord, FlowRecord, LinkRecord, MediumRecord, NodeRecord, RunRecord,
};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};

/// A delay summary around `mean_ms`.
pub(crate) fn delay(mean_ms: f64, count: u64) -> DelaySummary {
    let at = |factor: f64| Span::from_secs_f64(mean_ms * factor / 1e3);
    DelaySummary {
        count,
        mean: at(1.0),
        min: at(0.62),
        p50: at(0.95),
        p95: at(1.5),
        p99: at(1.9),
        max: at(2.6),
    }
}

/// A small number that depends on its arguments alone, -1..1.
fn noise(seed: u64, step: u64) -> f64 {
    let mixed = (seed << 32 ^ step).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed >> 11) as f64 / (1u64 << 53) as f64) * 2.0 - 1.0
}

/// One flow of the invented dumbbell.
fn flow(seed: u64, index: u64) -> FlowRecord {
    let share = 4.7 + 0.1 * noise(seed, index) - 0.6 * index as f64;
    FlowRecord {
        name: format!("c{}:/{}", index + 1, ["a", "b", "c", "d"][index as usize % 4]),
        consumer: format!("c{}", index + 1),
        producer: format!("p{}", index + 1),
        prefix: format!("/{}", ["a", "b", "c", "d"][index as usize % 4]),
        scheme: if index == 0 { "catchunks-cubic".into() } else { "bbr-cd".into() },
        start: Time::from_nanos(index * 1_000_000_000),
        completed: (index == 0).then(|| Time::from_nanos(9_100_000_000 + seed * 7_000_000)),
        stopped: None,
        segments: Some(20_000),
        delivered_segments: (share * 1e6 * 9.0 / 8192.0) as u64,
        delivered_payload: ByteCount::new((share * 1e6 * 9.0 / 8.0) as u64),
        interests: 21_000 + seed * 3,
        retransmissions: 140 + seed * index,
        timeouts: 3,
        duplicates: 12,
        nacks: 0,
        marks: 88,
        loss_notices: 25,
        abandoned: 0,
        full_delay: delay(64.0 + 9.0 * index as f64 + noise(seed, index + 9), 20_000),
        last_delay: delay(58.0 + 9.0 * index as f64 + noise(seed, index + 9), 20_000),
        final_window_packets: 61.5,
    }
}

/// One link direction.
fn link(from: &str, to: &str, rate_mbps: f64, sent_mbps: f64, queue_ms: f64) -> LinkRecord {
    let sent = (sent_mbps * 1e6 * 10.0 / 8.0) as u64;
    let packets = sent / 1100 + 1;
    LinkRecord {
        from: from.into(),
        to: to.into(),
        rate: BitRate::from_mbps(rate_mbps),
        mean_rate: BitRate::from_mbps(rate_mbps),
        delay: Span::from_millis(if rate_mbps > 50.0 { 5 } else { 10 }),
        offered_packets: packets + 165,
        sent_packets: packets,
        sent_bytes: ByteCount::new(sent),
        delivered_packets: packets,
        dropped_packets: if queue_ms > 5.0 { 165 } else { 0 },
        marked_packets: if queue_ms > 5.0 { 88 } else { 0 },
        peak_queue_packets: if queue_ms > 5.0 { 100 } else { 3 },
        queue_delay: delay(queue_ms, packets),
        ..LinkRecord::default()
    }
}

/// Ten seconds of two flows over one bottleneck, sampled every 10 ms.
pub(crate) fn dumbbell(seed: u64) -> RunRecord {
    let mut run = RunRecord {
        scenario: "dumbbell".into(),
        seed,
        ended: Time::from_nanos(10_000_000_000),
        packet_hops: 123_456 + seed,
        flows: vec![flow(seed, 0), flow(seed, 1)],
        links: links(),
        nodes: nodes(),
        media: vec![MediumRecord { name: "air".into(), transmissions: 7, ..MediumRecord::default() }],
        ..RunRecord::default()
    };
    for step in 0..=1000 {
        sample_flows(&mut run, step);
        sample_links(&mut run, step);
    }
    let name = Name::segment(PrefixId(1), 17);
    let event = Event::Dropped { face: 3, name, size: ByteCount::new(1040), cause: Cause("queue full") };
    run.events.push(EventRecord { time: Time::from_nanos(500_000_000), node: 1, event });
    let event = Event::WindowChanged { flow: 0, window: 12.5, cause: Cause("timeout") };
    run.events.push(EventRecord { time: Time::from_nanos(700_000_000), node: 9, event });
    run
}

fn nodes() -> Vec<NodeRecord> {
    let node = |name: &str, hits| NodeRecord {
        name: name.into(),
        cache_hits: hits,
        cache_misses: 4 * hits,
        pit_peak_entries: 2 * hits,
        ..NodeRecord::default()
    };
    vec![node("r1", 25), node("r2", 0)]
}

fn links() -> Vec<LinkRecord> {
    vec![
        link("c1", "r1", 100.0, 0.3, 0.02),
        link("r1", "c1", 100.0, 4.9, 0.1),
        link("c2", "r1", 100.0, 0.3, 0.02),
        link("r1", "c2", 100.0, 4.6, 0.1),
        link("r1", "r2", 10.0, 0.6, 0.03),
        link("r2", "r1", 10.0, 9.5, 21.0),
        link("r2", "p1", 100.0, 0.3, 0.02),
        link("p1", "r2", 100.0, 4.9, 0.1),
        link("r2", "p2", 100.0, 0.3, 0.02),
        link("p2", "r2", 100.0, 4.6, 0.1),
    ]
}

fn sample_flows(run: &mut RunRecord, step: u64) {
    for index in 0..run.flows.len() as u64 {
        let now = step as f64 / 100.0 - index as f64;
        let cycle = (now.max(0.0) + 0.7 * index as f64) % 2.3;
        let window = if now < 0.0 { 2.0 } else { 34.0 + 22.0 * cycle + noise(run.seed, step * 7 + index) };
        let samples = &mut run.flow_samples;
        samples.time.push(Time::from_nanos(step * 10_000_000));
        samples.flow.push(index as u32);
        samples.window_packets.push(window as f32);
        samples.in_flight_packets.push(window as u32);
        let delivered = run.flows[index as usize].delivered_segments as f64;
        samples.delivered_segments.push((delivered * (now / (10.0 - index as f64)).clamp(0.0, 1.0)) as u64);
        let rtt_ms = if now <= 0.06 { 0.0 } else { 50.0 + 12.0 * cycle + noise(run.seed, step * 3 + index) };
        samples.smoothed_rtt.push(Span::from_secs_f64(rtt_ms / 1e3));
        samples.pacing_per_second.push(f32::INFINITY);
        samples.marks.push(0);
        samples.retransmissions.push(0);
    }
}

fn sample_links(run: &mut RunRecord, step: u64) {
    for (index, link) in run.links.iter().enumerate() {
        let cycle = (step as f64 / 100.0) % 2.3 / 2.3;
        let queue =
            if link.peak_queue_packets > 50 { 96.0 * cycle + 4.0 * noise(run.seed, step) } else { 0.4 };
        let queue = queue.max(0.0) as u32;
        let samples = &mut run.link_samples;
        samples.time.push(Time::from_nanos(step * 10_000_000));
        samples.link.push(index as u32);
        samples.queue_packets.push(queue);
        samples.queue_bytes.push(queue * 1100);
        samples.sent_bytes.push(link.sent_bytes.get() * step / 1000);
        samples.dropped_packets.push((link.dropped_packets * step / 1000) as u32);
        samples.stored_packets.push(0);
        samples.marked_packets.push(0);
        samples.lost_packets.push(0);
    }
}
