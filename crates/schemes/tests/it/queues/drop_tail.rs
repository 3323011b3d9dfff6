//! `drop-tail` against cases worked by hand.

use tidegate_core::ndn::face::Limit;
use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, interest, named, notice};

/// What happens to the queue; packets are numbered in order of arrival, from 0.
enum Step {
    /// A packet of so many bytes arrives, and is kept or dropped.
    Push(Kind, u64, bool),
    /// The packet with this number leaves; `None` when nothing waits.
    Pop(Option<u32>),
}

use Step::{Pop, Push};

fn follow(limit: Limit, steps: Vec<Step>) {
    let mut bench = Bench::limited(named("drop-tail"), &[], limit);
    for (number, step) in (1..).zip(steps) {
        match step {
            Push(kind, size, kept) => {
                bench.log.0.clear();
                bench.push(kind, size);
                let full = |event: &Event| matches!(event, Event::Dropped { cause: Cause("queue full"), .. });
                let dropped = bench.log.0.iter().any(|(_, event)| full(event));
                assert_eq!(!dropped, kept, "event {number}: a packet of {size} bytes");
            }
            Pop(expected) => {
                let packet = bench.run(|queue, cx| queue.pop(cx));
                let segment = packet.map(|packet| packet.header.name.segment.0);
                assert_eq!(segment, expected, "event {number}");
            }
        }
    }
}

#[test]
fn a_limit_of_packets_counts_large_and_small_ones_alike() {
    follow(
        Limit::Packets(Packets::new(3)),
        vec![
            Push(data(), 1000, true),   // 0
            Push(interest(), 40, true), // 0 1
            Push(data(), 1000, true),   // 0 1 2: full
            Push(interest(), 40, false),
            Pop(Some(0)),              // 1 2
            Push(data(), 9000, true),  // 1 2 4: full
            Push(notice(), 30, true),  // notices have room of their own: 5 | 1 2 4
            Push(data(), 1000, false), //
            Pop(Some(5)),              // and go first
            Push(data(), 1, false),    // which made no room here
            Pop(Some(1)),              // 2 4
            Pop(Some(2)),              // 4
            Push(data(), 1000, true),  // 4 8
            Push(data(), 1000, true),  // 4 8 9: full
            Push(data(), 1000, false),
            Pop(Some(4)),
            Pop(Some(8)),
            Pop(Some(9)),
            Pop(None),
        ],
    );
}

#[test]
fn a_limit_of_bytes_lets_a_small_packet_in_where_a_large_one_is_dropped() {
    follow(
        Limit::Bytes(ByteCount::new(2500)),
        vec![
            Push(data(), 2501, false), // never fits
            Push(data(), 1000, true),  // 1000
            Push(data(), 1000, true),  // 2000
            Push(data(), 501, false),  // 2501
            Push(data(), 500, true),   // 2500: full to the byte
            Push(interest(), 1, false),
            Push(notice(), 30, true),   // notices have room of their own
            Pop(Some(6)),               //
            Pop(Some(1)),               // 1500
            Push(data(), 1001, false),  // 2501
            Push(interest(), 40, true), // 1540: packet 8
            Push(data(), 1000, false),  // 2540
            Push(data(), 960, true),    // 2500: packet 10
            Pop(Some(2)),               // 1500
            Pop(Some(4)),               // 1000
            Pop(Some(8)),               // 960
            Push(data(), 1540, true),   // 2500: packet 11
            Pop(Some(10)),
            Pop(Some(11)),
            Pop(None),
        ],
    );
}
