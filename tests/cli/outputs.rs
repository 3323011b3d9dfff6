//! What the program prints, for people and for programs, and its exit codes.

use std::io::Read;
use std::process::Stdio;

use crate::{DUMBBELL, Scratch, program, tidegate};
use support::json::Value;

/// Fails if the page would load anything over the network: it must open on a machine without one.
#[track_caller]
pub fn assert_self_contained(page: &str) {
    for loading in
        ["src=\"http", "src='http", "href=\"http", "url(http", "@import", "<link", "<script src", "fetch("]
    {
        assert!(!page.contains(loading), "the page has {loading}");
    }
    let addresses = page.match_indices("://").map(|(at, _)| {
        let from = page[..at].rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |i| i + 1);
        page[from..].split(|c: char| c.is_whitespace() || "\"'<>)".contains(c)).next().unwrap_or("")
    });
    // A namespace is a name, and the plots' library names its home in a comment; nobody loads them.
    let names = ["http://www.w3.org/", "https://github.com/leeoniya/uPlot"];
    let is_name = |address: &&str| names.iter().any(|name| address.starts_with(name));
    let loaded: Vec<&str> = addresses.filter(|address| !is_name(address)).collect();
    assert!(loaded.is_empty(), "{loaded:?}");
}

#[test]
fn an_expectation_that_fails_ends_with_3_and_says_both_numbers() {
    let scratch = Scratch::new("expect");
    let run =
        ["run", DUMBBELL, "--seeds", "1", "--out", scratch.path(), "--set", "expect.goodput_mbps=> 1000"];
    let ended = tidegate(&run).with(3);
    assert!(ended.out.contains("expectation failed: goodput_mbps = "), "{}", ended.out);
    assert!(ended.out.contains("expected > 1000"), "{}", ended.out);
    let document = tidegate(&[&run[..], &["--format", "json"]].concat()).with(3).json();
    assert_eq!(document.get("failed_expectations").list().len(), 1);
}

#[test]
fn a_summary_as_json_names_folder_seeds_and_flows() {
    let scratch = Scratch::new("summary");
    let run = ["--format", "json", "run", DUMBBELL, "--seeds", "3", "--out", scratch.path()];
    let document = tidegate(&run).with(0).json();
    assert_eq!(document.get("failed_expectations"), &Value::List(Vec::new()));
    assert_eq!(document.get("folder").text(), scratch.only_folder().to_str().expect("text"));
    let summary = document.get("summary");
    assert_eq!(summary.get("seeds").list().len(), 3);
    assert_eq!(summary.get("flows").list()[0].get("scheme").text(), "catchunks-cubic");
    let goodput = summary.get("total_goodput_mbps");
    assert_eq!(goodput.get("n"), &Value::Number(3.0));
    assert!(matches!(goodput.get("mean"), Value::Number(mean) if *mean > 1.0 && *mean < 10.0), "{goodput:?}");
}

#[test]
fn a_page_loads_nothing() {
    let scratch = Scratch::new("page");
    tidegate(&["run", DUMBBELL, "--seeds", "1", "--out", scratch.path()]).with(0);
    let page = std::fs::read_to_string(scratch.only_folder().join("report.html")).expect("readable");
    assert!(page.contains("tidegate run scenarios/examples/dumbbell.toml"));
    assert_self_contained(&page);
}

#[test]
#[should_panic(expected = "example.org")]
fn a_page_that_loads_something_is_found() {
    assert_self_contained("<svg xmlns=\"http://www.w3.org/2000/svg\"><a>https://example.org/x.js</a>");
}

#[test]
fn the_catalogue_lists_every_scheme_in_both_forms() {
    let text = tidegate(&["schemes"]).with(0).out;
    let document = tidegate(&["schemes", "--format", "json"]).with(0).json();
    assert!(document.list().len() >= 17);
    for scheme in document.list() {
        let name = scheme.get("name").text();
        assert!(text.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}");
        assert!(
            !scheme.get("paper").text().is_empty() && !scheme.get("provenance").text().is_empty(),
            "{name}"
        );
    }
}

#[test]
fn a_scheme_is_shown_with_its_paper_and_parameters() {
    let text = tidegate(&["schemes", "plr"]).with(0).out;
    for word in ["Chen et al.", "alpha", "of the queue limit", "\"1ms\"", "discipline, router"] {
        assert!(text.contains(word), "{word} is not in\n{text}");
    }
    let document = tidegate(&["schemes", "plr", "--format", "json"]).with(0).json();
    let parameters = document.list()[0].get("parameters").list();
    assert!(parameters.iter().any(|parameter| parameter.get("name").text() == "alpha"));
}

#[test]
fn help_and_version_are_no_errors() {
    assert!(tidegate(&["--help"]).with(0).out.contains("reproduce"));
    assert!(tidegate(&["--version"]).with(0).out.starts_with("tidegate "));
    assert!(tidegate(&[]).with(2).err.contains("Usage: tidegate"));
}

#[test]
fn a_reader_that_has_gone_away_is_no_reason_to_panic() {
    for arguments in [&["schemes"][..], &["schemes", "--format", "json"], &["--help"], &["check", DUMBBELL]] {
        let mut child = program()
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut err).expect("text");
        assert_eq!((child.wait().expect("ours").code(), err.as_str()), (Some(0), ""), "{arguments:?}");
    }
    let mut child = program().args(["check", "no-such-file"]).stderr(Stdio::piped()).spawn().expect("starts");
    drop(child.stderr.take());
    assert_eq!(child.wait().expect("ours").code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_a_full_disk_loses_is_an_error_and_the_results_stay() {
    let scratch = Scratch::new("full-disk");
    for command in
        [&["schemes"][..], &["new", "-"], &["run", DUMBBELL, "--seeds", "1", "--out", scratch.path()]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has one");
        let ended = program().args(command).stdout(full).stderr(Stdio::piped()).output().expect("starts");
        let stated = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{command:?}: {stated}");
        assert!(stated.contains("error: standard output cannot be written: No space left"), "{stated}");
    }
    assert!(scratch.only_folder().join("flows.parquet").is_file());
}

#[test]
fn a_run_of_a_scheme_without_its_other_parts_warns_once() {
    let scratch = Scratch::new("incomplete");
    let run = |set: &str, more: &[&str]| {
        let line =
            ["run", DUMBBELL, "--seeds", "1", "--set", "scenario.duration=6s", "--out", scratch.path()];
        tidegate(&[&line[..], &["--set", set], more].concat()).with(0).err
    };
    let stated = run("flow.*.scheme=mircc", &[]);
    let warnings: Vec<&str> = stated.lines().filter(|line| line.starts_with("warning: ")).collect();
    let [warning] = warnings.as_slice() else { panic!("{stated}") };
    assert!(warning.contains("mircc without its part on a router"), "{warning}");
    assert!(!run("scheme=mircc", &[]).contains("warning"), "a whole scheme lacks nothing");
    assert_eq!(run("flow.*.scheme=mircc", &["--quiet"]), "");
}
