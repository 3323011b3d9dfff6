//! `check`: what it says of a valid scenario is what a run then shows, and likely mistakes are pointed at.

use crate::{DUMBBELL, Scratch, tidegate};
use support::json::Value;

/// Nothing about it looks like a mistake.
pub(crate) const SOUND: &str = r#"format = 1
[scenario]
name = "sound"
duration = "20s"
sample = "100ms"
[topology]
builtin = "linear"
routers = 2
link = { rate = "10Mbps", delay = "10ms", queue = { limit = "50pkt" } }
access = { rate = "100Mbps", delay = "5ms" }
[[flow]]
name = "one"
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "fixed"
size = "2MB"
"#;

/// [`SOUND`] with `sets` set, checked: its warnings.
fn warnings(test: &str, sets: &[&str]) -> Vec<String> {
    let scratch = Scratch::new(&format!("check-{test}"));
    let file = scratch.file("sound.toml", SOUND.as_bytes());
    let sets = sets.iter().flat_map(|set| ["--set", set]);
    let command: Vec<&str> = ["check", &file, "--format", "json"].into_iter().chain(sets).collect();
    let document = tidegate(&command).with(0).json();
    document.get("warnings").list().iter().map(|warning| warning.text().to_owned()).collect()
}

pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Number(number) => *number,
        other => panic!("{other:?} is not a number"),
    }
}

/// What `check` and a run say of the only flow of [`SOUND`] with `sets` set.
fn reported_and_shown(test: &str, sets: &[&str]) -> (Value, Value) {
    let scratch = Scratch::new(&format!("told-{test}"));
    let file = scratch.file("sound.toml", SOUND.as_bytes());
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let reported = tidegate(&[&["check", &file, "--format", "json"], &sets[..]].concat()).with(0).json();
    let out = scratch.at("out");
    let run = [&["run", &file, "--format", "json", "--out", &out], &sets[..]].concat();
    let shown = tidegate(&run).with(0).json();
    (reported.get("each_flow").list()[0].clone(), shown.get("summary").get("flows").list()[0].clone())
}

fn completion_s(shown: &Value) -> f64 {
    number(shown.get("completion_s").get("mean"))
}

#[test]
fn one_segment_takes_the_round_trip_that_is_reported() {
    let sets = ["flow.0.size=1kB", "link={\"c1-r1\"={jitter=\"0s\", cost=3}}"];
    let (reported, shown) = reported_and_shown("segment", &sets);
    let round_trip_ms = number(reported.get("round_trip_ms"));
    assert!((completion_s(&shown) * 1e3 - round_trip_ms).abs() < 1e-3, "{round_trip_ms} {shown:?}");
    assert!((number(reported.get("min_transfer_s")) * 1e3 - round_trip_ms).abs() < 1e-3, "{reported:?}");
    let path: Vec<&str> = reported.get("path").list().iter().map(Value::text).collect();
    assert_eq!(path, ["c1", "r1", "r2", "p1"]);
}

#[test]
fn a_window_that_keeps_the_link_full_takes_the_least_time_that_is_reported() {
    let full = ["flow.0.scheme={name=\"fixed\", window=80}", "topology.link.queue.limit=100pkt"];
    let slower = ["event=[{at=\"1s\", link=\"r1-r2\", rate=\"5Mbps\"}]"];
    for (test, sets) in [("steady", full.to_vec()), ("slower", [&full[..], &slower].concat())] {
        let (reported, shown) = reported_and_shown(test, &sets);
        let (min, taken) = (number(reported.get("min_transfer_s")), completion_s(&shown));
        assert!(min <= taken && taken < 1.02 * min, "{test}: {min} s told, {taken} s taken");
    }
}

#[test]
fn no_flow_of_a_template_is_complete_earlier_than_reported() {
    let scratch = Scratch::new("check-least");
    let mut held = 0;
    for template in crate::new::TEMPLATES {
        let file = scratch.at(&format!("{template}.toml"));
        tidegate(&["new", &file, "--template", template, "--scheme", "ndnsim-aimd"]).with(0);
        let reported = tidegate(&["check", &file, "--format", "json"]).with(0).json();
        let out = scratch.at("out");
        let shown =
            tidegate(&["run", &file, "--seeds", "1", "--format", "json", "--out", &out]).with(0).json();
        let flows = shown.get("summary").get("flows").list();
        for (reported, shown) in reported.get("each_flow").list().iter().zip(flows) {
            if let (Value::Number(min), Value::Number(taken)) =
                (reported.get("min_transfer_s"), shown.get("completion_s").get("mean"))
            {
                assert!(min <= taken, "{template}: {min} s told, {taken} s taken");
                held += 1;
            }
        }
    }
    assert!(held >= 5, "{held} transfers");
}

#[test]
fn a_window_of_the_product_that_is_reported_fills_the_link_and_a_smaller_one_does_not() {
    let (reported, _) = reported_and_shown("product", &[]);
    let bottleneck = reported.get("bottleneck");
    let (product, content) =
        (number(bottleneck.get("product_packets")), number(bottleneck.get("content_mbps")));
    for (share, window) in [(1.0, product.ceil()), (0.5, (product / 2.0).floor())] {
        let scheme = format!("flow.0.scheme={{name=\"fixed\", window={window}}}");
        let (_, shown) = reported_and_shown("filling", &[&scheme, "flow.0.size=8MB"]);
        let goodput = number(shown.get("goodput_mbps").get("mean"));
        assert!((goodput / content - share).abs() < 0.03, "window {window}: {goodput} of {content} Mbit/s");
    }
}

#[test]
fn the_estimated_work_is_that_of_a_run_without_losses() {
    let scratch = Scratch::new("check-work");
    let file = scratch.file("sound.toml", SOUND.as_bytes());
    let reported = tidegate(&["check", &file, "--format", "json"]).with(0).json();
    // Each of 1954 segments crosses three links both ways.
    assert_eq!(number(reported.get("packet_hops_per_run")), 1954.0 * 6.0);
    // 200 samples of one flow and six directions.
    assert_eq!(number(reported.get("sample_rows")), 1400.0);
}

#[test]
fn a_sound_scenario_has_no_warnings_and_each_likely_mistake_has_its_own() {
    assert_eq!(warnings("sound", &[]), Vec::<String>::new());
    let cases: [(&[&str], &str); 16] = [
        (&["topology.link.queue.limit=5pkt"], "flow one: the queue of r1-r2 holds 5 packets"),
        (&["topology.link.queue.limit=2000pkt"], "times the bandwidth-delay product; when full it adds"),
        (&["topology.link.queue.limit=500B"], "does not fit the queue of r1-r2"),
        (&["scenario.duration=1s"], "flow one: it needs at least 1.69"),
        (&["flow.0.stop=1s"], "it cannot be complete"),
        (
            &["flow.0={rate=\"50Mbps\", consumer=\"c1\", producer=\"p1\", prefix=\"/a\", scheme=\"fixed\"}"],
            "but r1-r2 carries 9.6",
        ),
        (&["flow.0.profile={lifetime=\"30ms\"}"], "every Interest expires before its Data arrives"),
        (&["flow.0.stop=30s"], "stop = 30 s is not before the end"),
        (&["flow.0.producer=r2", "flow.0.consumer=r1"], "nodes c1, p1 are on no flow's path"),
        (&["router={prefix=[{prefix=\"/b\", strategy=\"multicast\"}]}"], "[[router.prefix]] /b: no flow"),
        (&["router.cache=100pkt"], "no two flows request the same prefix"),
        (&["scenario.seeds=5"], "no random variation between the 5 seeds"),
        (&["scenario.vary={start=true}"], "a single seed does not show the spread"),
        (&["scenario.sample=10us"], "the tables of samples will have 14.0 million rows"),
        (
            &[
                "scenario.stop_when_complete=true",
                "flow.0={consumer=\"c1\", producer=\"p1\", prefix=\"/a\", scheme=\"fixed\"}",
            ],
            "stop_when_complete has no effect",
        ),
        (
            &[
                "expect.completion_s=< 5",
                "flow.0={consumer=\"c1\", producer=\"p1\", prefix=\"/a\", scheme=\"fixed\"}",
            ],
            "completion_s can never be met",
        ),
    ];
    for (number, (sets, phrase)) in cases.into_iter().enumerate() {
        let found = warnings(&number.to_string(), sets);
        assert!(found.iter().any(|warning| warning.contains(phrase)), "{sets:?}: no {phrase:?} in {found:?}");
    }
}

#[test]
fn events_of_millions_of_packets_are_pointed_at() {
    let many = [
        "scenario.events=[\"all\"]",
        "scenario.seeds=1000",
        "scenario.vary={start=true}",
        "flow.0.size=20MB",
    ];
    let found = warnings("events", &many);
    assert!(found.iter().any(|warning| warning.contains("events of about 19.5 million")), "{found:?}");
}

#[test]
fn warnings_count_for_the_exit_code_only_when_requested() {
    let printed = tidegate(&["check", DUMBBELL]).with(0).out;
    assert!(printed.contains("\nwarning: nodes c2, p2 are on no flow's path\n"), "{printed}");
    tidegate(&["check", DUMBBELL, "--strict"]).with(3);
    let scratch = Scratch::new("check-strict");
    tidegate(&["check", &scratch.file("sound.toml", SOUND.as_bytes()), "--strict"]).with(0);
}

#[test]
fn a_scenario_is_described_by_labelled_facts() {
    let scratch = Scratch::new("check-words");
    let file = scratch.file("sound.toml", SOUND.as_bytes());
    let printed =
        tidegate(&["check", &file, "--set", "event=[{at=\"1s\", node=\"r2\", state=\"down\"}]"]).with(0).out;
    for line in [
        "c1-r1, r2-p1  100Mbps  5ms    -     50pkt  -",
        "r1, r2  best-route  -              -",
        "  prefix                   /a",
        "  demand                   1954 segments of 1024B",
        "  path                     c1 > r1 > r2 > p1",
        "1 s   node r2: down with all its links",
        "  seeds                     1",
        "  duration                  20s",
        "  difference between seeds  none",
    ] {
        assert!(printed.lines().any(|found| found == line), "{line:?} is not in\n{printed}");
    }
    let quiet = tidegate(&["check", &file, "--quiet"]).with(0).out;
    assert_eq!(quiet.lines().count(), 1, "{quiet}");
}

#[test]
fn earlier_names_of_parameters_are_noted_by_check_run_and_sweep() {
    let scratch = Scratch::new("check-renamed");
    let text = SOUND.replace("\"fixed\"", "{ name = \"bbr\", least_window = 5 }");
    let file = scratch.file("old.toml", text.as_bytes());
    let note = format!("note: {file}:16: parameter \"least_window\" was renamed \"min_window\" in 0.2.0\n");
    let checked = tidegate(&["check", &file]).with(0);
    assert_eq!(checked.err, note);
    let run = ["run", &file, "--out", &scratch.at("out"), "--set", "scenario.duration=1s"];
    assert!(tidegate(&run).with(0).err.contains(&note));
    let grid = "flow.0.scheme.least_window=4,6";
    let sweep = ["sweep", "run", &file, "--grid", grid, "--out", &scratch.at("sweep")];
    let err = tidegate(&[&sweep[..], &["--set", "scenario.duration=1s"]].concat()).with(0).err;
    let of_grid = "note: --set flow.0.scheme.least_window: parameter \"least_window\" was renamed \"min_window\" in 0.2.0\n";
    assert_eq!((err.matches(&note).count(), err.matches(of_grid).count()), (1, 1), "{err}");
}
