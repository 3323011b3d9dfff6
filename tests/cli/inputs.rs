//! What the program says of scenarios and command lines that are wrong.

use std::fs;

use crate::{DUMBBELL, Scratch, tidegate};
use support::json::Value;

/// The canonical example with `old` replaced, checked: what is printed.
fn checked(test: &str, old: &str, new: &str) -> String {
    let scratch = Scratch::new(test);
    let text = fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(DUMBBELL));
    let text = text.expect("the example is there");
    assert!(text.contains(old), "{old:?} is not in the example");
    let file = scratch.file("bad.toml", text.replacen(old, new, 1).as_bytes());
    let ended = tidegate(&["check", &file]).with(1);
    assert_eq!(ended.out, "");
    assert!(ended.err.starts_with(&format!("{file}:")), "{}", ended.err);
    ended.err.replace(&file, "bad.toml")
}

#[test]
fn the_examples_are_valid() {
    for name in [
        "caches",
        "dumbbell",
        "events",
        "grid",
        "loss",
        "multipath",
        "plr",
        "red",
        "servers",
        "waxman",
        "wireless",
        "tcp",
    ] {
        let ended = tidegate(&["check", &format!("scenarios/examples/{name}.toml")]).with(0);
        assert!(ended.out.contains(": valid ("), "{}", ended.out);
    }
}

#[test]
fn a_slip_in_a_key_is_pointed_at_and_mended() {
    let printed = checked("key", "duration =", "duraton =");
    assert!(
        printed.contains("bad.toml:7:1: ") && printed.contains("did you mean \"duration\"?"),
        "{printed}"
    );
    assert!(printed.contains("\n  duraton = \"10s\"\n  ^^^^^^^"), "{printed}");
}

#[test]
fn a_number_without_its_unit_is_refused() {
    let printed = checked("unit", "duration = \"10s\"", "duration = 10");
    assert!(
        printed.starts_with("bad.toml:7:12: ") && printed.contains("10 has no unit; write it like "),
        "{printed}"
    );
}

#[test]
fn a_measure_that_is_not_known_is_refused_before_the_run() {
    let printed = checked("measure", "jain = ", "jian = ");
    assert!(printed.contains("measure \"jian\" is not known; did you mean \"jain\"?"), "{printed}");
}

#[test]
fn a_scheme_that_is_not_known_is_named_with_the_nearest() {
    let printed = checked("scheme", "name = \"catchunks-cubic\"", "name = \"catchunk-cubic\"");
    assert!(printed.contains("did you mean \"catchunks-cubic\"?"), "{printed}");
}

#[test]
fn empty_and_binary_files_are_refused_with_a_place() {
    let scratch = Scratch::new("junk");
    let empty = scratch.file("empty.toml", b"");
    assert!(tidegate(&["check", &empty]).with(1).err.contains("empty.toml:1:1: "));
    let binary = scratch.file("binary.toml", &[0x7F, b'E', b'L', b'F', 0xD0, 0, 1, 2, 0xFF]);
    let ended = tidegate(&["check", &binary]).with(1);
    assert!(ended.err.contains("binary.toml:1:5: byte 0xD0 is not UTF-8"), "{}", ended.err);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    for command in ["check", "run"] {
        let ended = tidegate(&[command, "no-such-file.toml"]).with(1);
        assert!(ended.err.starts_with("error: no-such-file.toml: "), "{}", ended.err);
    }
    tidegate(&["check", "scenarios"]).with(1);
}

#[test]
fn problems_as_json_have_a_line_and_a_suggestion() {
    let scratch = Scratch::new("problems");
    let file = scratch.file("bad.toml", b"format = 1\n[scenaro]\nname = \"x\"\n");
    let document = tidegate(&["--format", "json", "check", &file]).with(1).json();
    assert_eq!(document.get("valid"), &Value::Bool(false));
    let slip =
        document.get("errors").list().iter().find(|error| error.get("suggestion").text() == "scenario");
    assert_eq!(slip.expect("the slip is found").get("line"), &Value::Number(2.0));
    let valid = tidegate(&["--format", "json", "check", DUMBBELL]).with(0).json();
    assert_eq!(valid.get("flows"), &Value::Number(1.0));
}

#[test]
fn a_value_set_on_the_command_line_takes_the_scenarios_place() {
    let scratch = Scratch::new("set");
    let run = ["run", DUMBBELL, "--seeds", "1", "--out", scratch.path()];
    let set = ["--set", "flow.0.scheme=icp", "--set", "topology.bottleneck.rate=20Mbps"];
    let ended = tidegate(&[&run[..], &set].concat()).with(0);
    assert!(ended.out.contains("icp"), "{}", ended.out);
    let kept = fs::read_to_string(scratch.only_folder().join("scenario.toml")).expect("readable");
    assert!(kept.contains("20Mbps"), "{kept}");
}

#[test]
fn a_value_that_cannot_be_set_is_pointed_at() {
    let ended = tidegate(&["check", DUMBBELL, "--set", "flow.0.schem=icp"]).with(1);
    assert!(ended.err.contains("did you mean \"scheme\"?"), "{}", ended.err);
    tidegate(&["check", DUMBBELL, "--set", "flow.9.scheme=icp"]).with(1);
    tidegate(&["check", DUMBBELL, "--set", "topology.bottleneck.rate=20"]).with(1);
    tidegate(&["check", DUMBBELL, "--set", "no equals sign"]).with(2);
}

#[test]
fn a_wrong_command_line_ends_with_2_and_names_what_there_is() {
    for (arguments, known) in [
        (&["reproduce", "no-such-paper"][..], "plr"),
        (&["schemes", "no-such-scheme"], "catchunks-cubic"),
        (&["bench", "no-such-case"], "bare, papers, papers-cache"),
        (&["simulate"], "--help"),
        (&["run"], "<SCENARIO>"),
        (&["run", DUMBBELL, "--seeds", "0"], "1..=100000"),
        (&["reproduce", "plr", "--reduced", "--full"], "cannot be used with"),
    ] {
        let ended = tidegate(arguments).with(2);
        assert!(ended.err.contains(known), "{arguments:?}: {}", ended.err);
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let scratch = Scratch::new("unwritable");
    let out = scratch.file("a-file", b"") + "/inside";
    for command in [&["run", DUMBBELL][..], &["reproduce", "plr", "--reduced", "--quiet"]] {
        let ended = tidegate(&[command, &["--out", &out]].concat()).with(1);
        assert!(ended.err.contains("cannot make") && ended.err.contains("a-file"), "{}", ended.err);
    }
}

#[test]
fn a_loss_trace_is_read_beside_its_scenario_and_a_missing_one_is_named() {
    let scratch = Scratch::new("trace");
    let text = fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(DUMBBELL));
    let text = text.expect("the example is there");
    let model = "loss = { model = \"bernoulli\", probability = 0.0 }";
    assert!(text.contains(model));
    let lossy = text.replacen(model, "loss = { model = \"trace\", file = \"loss.txt\" }", 1);
    let file = scratch.file("lossy.toml", lossy.as_bytes());
    let missing = tidegate(&["check", &file]).with(1);
    assert!(missing.err.contains("\"loss.txt\" cannot be read"), "{}", missing.err);
    let out = format!("{}/out", scratch.path());
    let flow_with = |pattern: &str| {
        scratch.file("loss.txt", pattern.as_bytes());
        let ended = tidegate(&["run", &file, "--out", &out, "--quiet"]).with(0);
        ended.out.lines().find(|line| line.starts_with("c1:/a")).map(str::to_owned).expect("a line per flow")
    };
    // The scenario's text is the same, but what was lost is not: the second run is no old result.
    assert_ne!(flow_with("0000000000"), flow_with("0000000001"));
}

#[test]
fn a_file_that_cannot_be_read_is_reported_in_json_too() {
    let scratch = Scratch::new("unread");
    let ended = tidegate(&["check", scratch.path(), "--format", "json"]).with(1);
    let document = ended.json();
    assert_eq!(document.get("valid"), &Value::Bool(false));
    let error = &document.get("errors").list()[0];
    assert!(error.get("message").text().contains("Is a directory"), "{}", ended.out);
}

#[test]
fn no_threads_are_no_number_of_threads() {
    let stated = tidegate(&["run", DUMBBELL, "--threads", "0"]).with(2).err;
    assert!(stated.contains("--threads"), "{stated}");
}
