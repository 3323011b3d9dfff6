//! Golden traces: each discipline before a 10 Mbps link, 1250-byte Data (1 ms each), through an overload.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tidegate-schemes --test queues` rewrites the texts in `golden/`.

use std::fmt::Write as _;

use tidegate_core::prelude::*;
use tidegate_testkit::golden::Golden;

use crate::queues::bench::{Bench, data, named};
use crate::queues::line::Line;

/// Bytes per Data packet.
const SIZE: u64 = 1250;

/// Data arrives every `gap_us` microseconds until `until_ms`.
struct Phase {
    until_ms: u64,
    gap_us: u64,
}

struct Case {
    file: &'static str,
    scheme: &'static str,
    given: &'static [(&'static str, Setting)],
    limit: u32,
    phases: &'static [Phase],
    end_ms: u64,
    sample_ms: u64,
}

const BURST: &[Phase] = &[
    Phase { until_ms: 10, gap_us: 2_000 },
    Phase { until_ms: 30, gap_us: 400 },
    Phase { until_ms: 80, gap_us: 2_000 },
];

const STANDING_QUEUE: &[Phase] = &[
    Phase { until_ms: 100, gap_us: 500 },
    Phase { until_ms: 600, gap_us: 1_000 },
    Phase { until_ms: 800, gap_us: 2_000 },
];

const LONG_QUEUE: &[Phase] = &[
    Phase { until_ms: 200, gap_us: 700 },
    Phase { until_ms: 700, gap_us: 1_000 },
    Phase { until_ms: 900, gap_us: 2_000 },
];

const RED_GENTLE: &[(&str, Setting)] = &[
    ("weight", Setting::Number(0.02)),
    ("min_threshold", Setting::Number(20.0)),
    ("max_threshold", Setting::Number(40.0)),
    ("max_probability", Setting::Number(0.1)),
    ("gentle", Setting::Bool(true)),
];

const HALF_OF_THE_LINE: &[(&str, Setting)] = &[("other_ceil", Setting::Number(0.5))];

const CASES: &[Case] = &[
    Case {
        file: "drop-tail/burst.txt",
        scheme: "drop-tail",
        given: &[],
        limit: 16,
        phases: BURST,
        end_ms: 100,
        sample_ms: 5,
    },
    Case {
        file: "plr/burst.txt",
        scheme: "plr",
        given: &[],
        limit: 16,
        phases: BURST,
        end_ms: 100,
        sample_ms: 5,
    },
    Case {
        file: "codel/standing-queue.txt",
        scheme: "codel",
        given: &[],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "codel/standing-queue-marked.txt",
        scheme: "codel",
        given: &[("mark", Setting::Bool(true))],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "codel-mark/standing-queue.txt",
        scheme: "codel-mark",
        given: &[],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "nfd-marking/long-queue.txt",
        scheme: "nfd-marking",
        given: &[],
        limit: 100,
        phases: LONG_QUEUE,
        end_ms: 1000,
        sample_ms: 50,
    },
    Case {
        file: "nfd-marking-0.6/long-queue.txt",
        scheme: "nfd-marking-0.6",
        given: &[],
        limit: 100,
        phases: LONG_QUEUE,
        end_ms: 1000,
        sample_ms: 50,
    },
    Case {
        file: "random-early-marking/standing-queue.txt",
        scheme: "random-early-marking",
        given: &[],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "red/burst.txt",
        scheme: "red",
        given: &[("weight", Setting::Number(0.02))],
        limit: 50,
        phases: BURST,
        end_ms: 100,
        sample_ms: 5,
    },
    Case {
        file: "red/standing-queue-gentle.txt",
        scheme: "red",
        given: RED_GENTLE,
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "dualpi2/standing-queue.txt",
        scheme: "dualpi2",
        given: &[],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "fq-codel/standing-queue.txt",
        scheme: "fq-codel",
        given: &[("ecn", Setting::Bool(false))],
        limit: 100,
        phases: STANDING_QUEUE,
        end_ms: 900,
        sample_ms: 50,
    },
    Case {
        file: "htb/burst.txt",
        scheme: "htb",
        given: HALF_OF_THE_LINE,
        limit: 32,
        phases: BURST,
        end_ms: 100,
        sample_ms: 5,
    },
    Case {
        file: "step-ecn/burst.txt",
        scheme: "step-ecn",
        given: &[],
        limit: 50,
        phases: BURST,
        end_ms: 100,
        sample_ms: 5,
    },
];

fn millis(at: Time) -> String {
    format!("{:9.3}", at.as_nanos() as f64 / 1e6)
}

/// Arrival times of all packets of `phases`.
fn arrivals(phases: &[Phase]) -> Vec<Time> {
    let (mut at, mut times) = (Time::ZERO, Vec::new());
    for phase in phases {
        let until = Time::ZERO + Span::from_millis(phase.until_ms);
        while at < until {
            times.push(at);
            at += Span::from_micros(phase.gap_us);
        }
    }
    times
}

fn write_sample(bench: &Bench, text: &mut String, at: Time) {
    let (face, stats) = (&bench.faces[0], bench.queue.stats());
    let (waiting, held, sent) = (face.queued_packets(), face.held_packets(), face.sent_packets());
    let (dropped, marked) = (stats.dropped, stats.marked);
    let line = format!("{} {waiting:8} {held:8} {sent:8} {dropped:8} {marked:8}", millis(at));
    text.push_str(line.trim_end());
    text.push('\n');
}

fn trace(case: &Case) -> String {
    let mut link = Line::new(Bench::new(named(case.scheme), case.given, case.limit));
    assert_eq!(link.bench.faces[0].rate().time_to_send(ByteCount::new(SIZE)), Span::from_millis(1));
    let mut text = format!("# {}: 10 Mbps, {SIZE} B packets, queue of {} packets\n", case.scheme, case.limit);
    let mut from = 0;
    for phase in case.phases {
        let rate = SIZE as f64 * 8.0 / phase.gap_us as f64;
        writeln!(text, "# {from} to {} ms: {rate:.3} Mbps arrive", phase.until_ms).expect("a string");
        from = phase.until_ms;
    }
    text.push_str("#    ms    waiting   stored     sent  dropped   marked\n");
    let mut arrivals = arrivals(case.phases).into_iter().peekable();
    for sample in 0..=case.end_ms / case.sample_ms {
        let at = Time::ZERO + Span::from_millis(sample * case.sample_ms);
        while let Some(arrival) = arrivals.next_if(|arrival| *arrival < at) {
            link.run_before(arrival);
            link.bench.now = arrival;
            link.bench.push(data(), SIZE);
            link.send();
        }
        link.run_before(at);
        write_sample(&link.bench, &mut text, at);
    }
    text.push_str("\n#    ms  event\n");
    link.bench.log.0.iter().for_each(|(at, event)| text.push_str(&line(*at, event)));
    text
}

fn line(at: Time, event: &Event) -> String {
    let (name, cause) = match event {
        Event::Dropped { name, cause, .. } | Event::Marked { name, cause, .. } => (name, *cause),
        Event::Stored { name, .. } | Event::Released { name, .. } | Event::NoticeMade { name, .. } => {
            (name, Cause(""))
        }
        other => panic!("a queue does not record {}", other.kind()),
    };
    let text = format!("{}  {} {} {}", millis(at), event.kind(), name.segment.0, cause.0);
    format!("{}\n", text.trim_end())
}

#[test]
fn traces_equal_the_golden_texts() {
    let mut golden = Golden::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../../golden"));
    CASES.iter().for_each(|case| golden.compare(case.file, &trace(case)));
    golden.finish();
}
