//! What a user reads after a mistake: `bad_input.txt`, one case after the other.
//!
//! A case is `## what is wrong`, then the edits of a sound scenario (`-` a line of it that goes, `+` a line in its
//! place, or at the end without a `-` before it), `@written` to start from the one with written nodes,
//! `$ key=value` for overrides, then after `>` exactly what is printed.
//! `UPDATE_ERRORS=1 cargo test -p tidegate-sim bad_input` rewrites what is printed; review it.

use std::fmt::Write as _;

use tidegate_schemes::SCHEMES;
use tidegate_sim::scenario::parse;

const CASES: &str = include_str!("bad_input.txt");

const DUMBBELL: &str = r#"format = 1
[scenario]
name = "base"
duration = "10s"
[topology]
builtin = "dumbbell"
pairs = 2
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "10Mbps", delay = "10ms" }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "fixed"
"#;

const WRITTEN: &str = r#"format = 1
[scenario]
name = "base"
duration = "10s"
[topology]
link = { rate = "10Mbps", delay = "10ms" }
[[node]]
name = "a"
[[node]]
name = "b"
[[node]]
name = "c"
[[link]]
ends = ["a", "b"]
[[link]]
ends = ["b", "c"]
[[flow]]
consumer = "a"
producer = "c"
prefix = "/a"
scheme = "fixed"
"#;

struct Case<'a> {
    head: Vec<&'a str>,
    text: String,
    overrides: Vec<(String, String)>,
    expected: String,
}

fn read_case(block: &str) -> Case<'_> {
    let mut lines: Vec<&str> = DUMBBELL.lines().collect();
    let mut case =
        Case { head: Vec::new(), text: String::new(), overrides: Vec::new(), expected: String::new() };
    let mut at = None;
    for line in block.lines() {
        if let Some(expected) = line.strip_prefix('>') {
            case.expected.push_str(expected.strip_prefix(' ').unwrap_or(expected));
            case.expected.push('\n');
            continue;
        }
        case.head.push(line);
        if line == "@written" {
            lines = WRITTEN.lines().collect();
        } else if let Some(gone) = line.strip_prefix('-') {
            let place = lines.iter().position(|have| *have == gone);
            let place = place.unwrap_or_else(|| panic!("{gone:?} is no line of the sound scenario"));
            lines.remove(place);
            at = Some(place);
        } else if let Some(new) = line.strip_prefix('+') {
            let place = at.unwrap_or(lines.len());
            lines.insert(place, new);
            at = Some(place + 1);
        } else if let Some(change) = line.strip_prefix("$ ") {
            let (key, value) = change.split_once('=').expect("an override has a =");
            case.overrides.push((key.to_owned(), value.to_owned()));
        }
    }
    case.text = lines.join("\n");
    case
}

fn printed(case: &Case<'_>) -> String {
    match parse("bad.toml", &case.text, &case.overrides, SCHEMES) {
        Ok(_) => "nothing is wrong\n".to_owned(),
        Err(errors) => format!("{errors}\n"),
    }
}

#[test]
fn the_scenarios_that_cases_start_from_are_sound() {
    for text in [DUMBBELL, WRITTEN] {
        parse("base.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
    }
}

#[test]
fn every_bad_input_is_answered_as_written() {
    let cases: Vec<Case<'_>> = CASES.split("\n\n").map(read_case).collect();
    assert!(cases.len() >= 40, "{} cases", cases.len());
    if std::env::var_os("UPDATE_ERRORS").is_some() {
        return update(&cases);
    }
    let mut differing = 0;
    for case in &cases {
        let printed = printed(case);
        if printed != case.expected {
            differing += 1;
            println!("{}\nexpected:\n{}printed:\n{printed}", case.head.join("\n"), case.expected);
        }
    }
    assert_eq!(differing, 0, "cases that differ");
}

fn update(cases: &[Case<'_>]) {
    let mut text = String::new();
    for case in cases {
        if !text.is_empty() {
            text.push('\n');
        }
        writeln!(text, "{}", case.head.join("\n")).expect("a text takes everything");
        for line in printed(case).lines() {
            writeln!(text, "{}", format!("> {line}").trim_end()).expect("a text takes everything");
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/scenario_files/bad_input.txt");
    std::fs::write(path, text).expect("the test's folder can be written");
}
