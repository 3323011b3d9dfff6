//! CPU time of writing a million flow samples and a million link samples as Parquet.
//!
//! Case: 100 runs of 100 instants with 100 flows and as many link directions. Run with `--release`; prints
//! the median of nine.

use std::time::Instant;

use tidegate_core::observe::records::RunRecord;
use tidegate_core::units::{Span, Time};
use tidegate_results::tables::{self, RunContext};

fn run(seed: u64) -> RunRecord {
    let mut run = RunRecord { seed, ..RunRecord::default() };
    let mut state = seed + 1;
    for step in 0..100u64 {
        for index in 0..100u32 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let noise = state >> 40;
            let flows = &mut run.flow_samples;
            flows.time.push(Time::from_nanos(step * 10_000_000));
            flows.flow.push(index);
            flows.window_packets.push(20.0 + noise as f32 / 1e6);
            flows.in_flight_packets.push(20 + (noise % 50) as u32);
            flows.delivered_segments.push(step * 12 + noise % 5);
            flows.smoothed_rtt.push(Span::from_nanos(50_000_000 + noise));
            flows.pacing_per_second.push(f32::INFINITY);
            flows.marks.push(0);
            flows.retransmissions.push(0);
            let links = &mut run.link_samples;
            links.time.push(Time::from_nanos(step * 10_000_000));
            links.link.push(index);
            links.queue_packets.push((noise % 100) as u32);
            links.queue_bytes.push((noise % 100) as u32 * 1100);
            links.sent_bytes.push(step * 12_500 + noise % 1100);
            links.dropped_packets.push((step / 7) as u32);
            links.stored_packets.push(0);
            links.marked_packets.push(0);
            links.lost_packets.push(0);
        }
    }
    run
}

fn main() {
    let runs: Vec<RunRecord> = (0..100).map(run).collect();
    for name in ["flow_samples", "link_samples"] {
        let mut times = Vec::new();
        let mut size = 0;
        for _ in 0..9 {
            let start = Instant::now();
            let tables = tables::build(&runs, &RunContext::default());
            let built = start.elapsed();
            let table = tables.iter().find(|table| table.name == name).expect("samples are tables");
            let start = Instant::now();
            let mut bytes = Vec::new();
            table.write_parquet(&mut bytes).expect("writing to memory");
            times.push((start.elapsed(), built));
            size = bytes.len();
        }
        times.sort();
        let (written, built) = times[times.len() / 2];
        println!("{name}: write {written:?}, build all tables {built:?}, {size} bytes");
    }
}
