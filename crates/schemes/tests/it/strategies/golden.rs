//! Golden traces: one name asked for by three faces while a next hop fails, refuses and at last answers.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tidegate-schemes --test strategies` rewrites the texts in `golden/`.

use std::fmt::Write as _;

use tidegate_core::ndn::packet::NackReason;
use tidegate_testkit::golden::Golden;

use crate::strategies::router::{Event, Router, named};

const CASE: &str = "retransmissions.txt";

/// Faces that ask, and every how many milliseconds; 4 is a next hop too.
const ASKING: [(u16, u64); 3] = [(0, 13), (1, 37), (4, 211)];

fn events() -> Vec<(u64, Event)> {
    let mut events = vec![
        (300, Event::Down(3)),
        (600, Event::Up(3)),
        (700, Event::Nack(5, NackReason::Congestion)),
        (1_000, Event::Data(4)),
    ];
    for (face, gap) in ASKING {
        events.extend((0..1_200 / gap).map(|turn| (turn * gap, Event::Interest(face))));
    }
    events.sort_by_key(|(at, _)| *at);
    events
}

fn trace(scheme: &str) -> String {
    let mut router = Router::new(named(scheme), &[3, 4, 5]);
    let mut text = format!("# {scheme}: next hops 3, 4, 5, cheapest first; one name\n");
    for (face, gap) in ASKING {
        writeln!(text, "# an Interest from {face} every {gap} ms").expect("a string");
    }
    text.push_str("#   ms  event -> sent\n");
    for (at, event) in events() {
        let what = match event {
            Event::Interest(face) => format!("{face} interest"),
            Event::Data(face) => format!("{face} data"),
            Event::Marked(face, level) => format!("{face} marked {level}"),
            Event::Congested(face) => format!("{face} congested"),
            Event::Nack(face, reason) => format!("{face} nack {reason:?}"),
            Event::Down(face) => format!("{face} down"),
            Event::Up(face) => format!("{face} up"),
        };
        let line = format!("{at:6}  {what} -> {}", router.notify(at, event).join(", "));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[test]
fn traces_equal_the_golden_texts() {
    let mut golden = Golden::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden"));
    for scheme in ["best-route", "multicast"] {
        golden.compare(&format!("{scheme}/{CASE}"), &trace(scheme));
    }
    golden.finish();
}
