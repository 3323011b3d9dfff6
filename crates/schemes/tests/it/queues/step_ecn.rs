//! Step marking by hand.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, named, segment};

fn text(value: &str) -> Setting {
    Setting::Text(value.to_owned())
}

/// Marks of the packets that get into an empty queue one after the other.
fn marks(given: &[(&str, Setting)], ecn: Ecn, count: u32) -> Vec<u8> {
    let mut bench = Bench::new(named("step-ecn"), given, 100);
    (0..count).for_each(|number| bench.push_named(number, segment(ecn, 0), 1000));
    let pop = || bench.run(|queue, cx| queue.pop(cx)).map(|packet| packet.header.hop.mark);
    std::iter::from_fn(pop).collect()
}

#[test]
fn a_packet_is_marked_exactly_when_more_than_the_threshold_wait_before_it() {
    let given = [("packets", text("3pkt"))];
    for ecn in [Ecn::Classic, Ecn::LowLatency] {
        assert_eq!(marks(&given, ecn, 8), [0, 0, 0, 0, 1, 1, 1, 1]);
    }
    // Those that may not be marked are dropped, so the queue stays at the threshold and one.
    assert_eq!(marks(&given, Ecn::NotCapable, 8), [0, 0, 0, 0]);
}

#[test]
fn the_threshold_can_be_a_time_of_the_line() {
    // 1000 bytes take 0.8 ms: 1.6 ms are not above 1.6, 2.4 are.
    let given = [("measure", text("time")), ("time", text("1600us"))];
    assert_eq!(marks(&given, Ecn::Classic, 6), [0, 0, 0, 1, 1, 1]);
}

#[test]
fn marks_end_with_the_queue() {
    let mut bench = Bench::new(named("step-ecn"), &[("packets", text("1pkt"))], 100);
    let push = |bench: &mut Bench| bench.push_named(0, segment(Ecn::Classic, 0), 1000);
    (0..3).for_each(|_| push(&mut bench));
    (0..2).for_each(|_| assert!(bench.run(|queue, cx| queue.pop(cx)).is_some()));
    push(&mut bench);
    assert_eq!(bench.queue.stats().marked, 1);
    push(&mut bench);
    assert_eq!(bench.queue.stats().marked, 2);
}
