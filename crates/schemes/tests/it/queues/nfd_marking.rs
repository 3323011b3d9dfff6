//! NFD's two marking rules against cases worked by hand.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, interest, nack, named, tcp};

/// Pushes a packet of 1000 bytes; whether it was marked.
fn push(bench: &mut Bench, millis: u64, kind: Kind) -> bool {
    bench.now = Time::from_nanos(millis * 1_000_000);
    bench.log.0.clear();
    bench.push(kind, 1000);
    bench.log.0.iter().any(|(_, event)| matches!(event, Event::Marked { .. }))
}

#[test]
fn since_0_7_the_queue_must_stay_above_the_threshold_for_an_interval() {
    let threshold = Setting::Text("3000B".to_owned());
    let mut bench = Bench::new(named("nfd-marking"), &[("threshold", threshold)], 100);
    bench.push_data(0, 4);
    let steps = [
        (10, data(), false), // 4000 waiting: first mark at 110
        (109, interest(), false),
        (110, interest(), true), // next at 110 + 70.710678 = 180.710678
        (180, data(), false),
        (181, data(), true), // next at 180.710678 + 57.735026 = 238.445704
        (238, nack(), false),
        (239, nack(), true), // next at 238.445704 + 50 = 288.445704
        (300, data(), true), // next at 288.445704 + 44.721359 = 333.167063
        (333, data(), false),
        (334, tcp(), false), // no NDN packet
        (334, data(), true), // next at 333.167063 + 40.824829 = 373.991892
    ];
    for (millis, kind, marked) in steps {
        assert_eq!(push(&mut bench, millis, kind), marked, "push at {millis} ms");
    }
    (0..12).for_each(|_| drop(bench.pop(335)));
    let steps = [
        (340, false), // 3000 waiting, not above: everything starts over
        (374, false), // 4000 waiting: first mark at 474
        (473, false),
        (474, true), // next at 474 + 70.710678 = 544.710678
        (544, false),
        (545, true),
    ];
    for (millis, marked) in steps {
        assert_eq!(push(&mut bench, millis, data()), marked, "push at {millis} ms");
    }
}

#[test]
fn up_to_0_6_the_first_packet_above_half_the_limit_is_marked() {
    // 6 packets count 9000 bytes, half of it 4500; each push but the first is preceded by a pop.
    let mut bench = Bench::new(named("nfd-marking-0.6"), &[], 6);
    bench.push_data(0, 5);
    assert!(push(&mut bench, 1, interest())); // 5000 waiting; next at 1 + 100 = 101
    let steps = [
        (50, data(), false),
        (100, data(), false),
        (101, nack(), true), // next at 101 + 70.710678 = 171.710678
        (171, data(), false),
        (172, data(), true), // next at 171.710678 + 57.735026 = 229.445704
        (229, data(), false),
        (230, tcp(), false), // no NDN packet
        (230, data(), true), // next at 229.445704 + 50 = 279.445704
    ];
    for (millis, kind, marked) in steps {
        bench.pop(millis);
        assert_eq!(push(&mut bench, millis, kind), marked, "push at {millis} ms");
    }
    bench.pop(231);
    bench.pop(231);
    assert!(!push(&mut bench, 240, data())); // 4000 waiting: the count starts over
    let steps = [
        (241, false), // 5000 waiting, but less than 100 ms since the mark at 230
        (329, false),
        (330, true), // next at 430
        (429, false),
        (430, true), // next at 430 + 70.710678 = 500.710678
        (500, false),
    ];
    for (millis, marked) in steps {
        if millis != 241 {
            bench.pop(millis);
        }
        assert_eq!(push(&mut bench, millis, data()), marked, "push at {millis} ms");
    }
}

#[test]
fn a_queue_of_32_packets_is_marked_under_the_old_rule_only() {
    for (scheme, marked) in [("nfd-marking", 0), ("nfd-marking-0.6", 1)] {
        let mut bench = Bench::new(named(scheme), &[], 32);
        bench.push_data(0, 60);
        bench.push_data(99, 60);
        assert_eq!(bench.queue.stats().marked, marked, "{scheme}");
        bench.push_data(200, 60);
        assert_eq!(bench.queue.stats().marked > 0, marked > 0, "{scheme}");
    }
}
