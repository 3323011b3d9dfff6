//! Papers of the user's own: folders of text files.

use std::fs;
use std::path::Path;
use std::process::Command;

use support::json::Value;
use support::program::{Ended, Scratch, tidegate};

const SCENARIO: &str = r#"format = 1
[scenario]
name = "path"
duration = "4s"
vary = { start = true, delay = 0.01 }
[topology]
builtin = "linear"
routers = 1
link = { rate = "10Mbps", delay = "5ms" }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "icp"
"#;

const EXPERIMENTS: &str = r#"format = 1
[axis.scheme]
icp = ["scheme=icp"]
fixed = ["flow.0.scheme={ name = \"fixed\", window = 2 }"]
[[experiment]]
name = "grid"
scenario = "path.toml"
axes = ["scheme"]
seeds = 4
reduced = ["scenario.duration=1s"]
"#;

const CLAIMS: &str = r#"[paper]
title = "Windows of two"
authors = "A. Tester"
venue = "Nowhere 2026"
scheme = "icp"
[[claim]]
id = "G1"
where = "Fig. 1"
quantity = "ICP: goodput over that of a window of two"
is = "ratio(goodput_mbps[grid, icp], goodput_mbps[grid, fixed])"
unit = "ratio"
published = 7.0
band = [2.0, 30.0]
null = 1.0
sign = "above"
verdict = "agrees"
[[claim]]
id = "G2"
where = "1"
quantity = "a window of two: retransmissions"
is = "retransmissions[grid, fixed]"
published = 0
band = [0.0, 0.0]
verdict = "agrees"
"#;

/// A paper's folder, and where its results go.
struct Paper {
    scratch: Scratch,
}

impl Paper {
    fn new(test: &str) -> Self {
        let paper = Self { scratch: Scratch::new(test) };
        fs::create_dir(paper.folder()).expect("a folder");
        for (name, text) in
            [("claims.toml", CLAIMS), ("experiments.toml", EXPERIMENTS), ("path.toml", SCENARIO)]
        {
            paper.write(name, text);
        }
        paper
    }

    fn folder(&self) -> String {
        self.scratch.at("windows")
    }

    fn out(&self) -> String {
        self.scratch.at("out")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(Path::new(&self.folder()).join(name), text).expect("writable");
    }

    fn reproduce(&self, more: &[&str]) -> Ended {
        tidegate(&[&["reproduce", &self.folder(), "--out", &self.out()][..], more].concat())
    }

    /// The first line of the error after `from` of file `name` was replaced by `to`.
    #[track_caller]
    fn refused(&self, name: &str, text: &str, from: &str, to: &str) -> String {
        assert!(text.contains(from), "{from}");
        self.write(name, &text.replacen(from, to, 1));
        let ended = self.reproduce(&[]).with(1);
        self.write(name, text);
        let first = ended.err.lines().next().unwrap_or_default().to_owned();
        first.replace(&self.folder(), "windows")
    }
}

#[test]
fn a_folder_of_text_files_is_a_paper_whose_runs_are_kept() {
    let paper = Paper::new("paper-folder");
    let first = paper.reproduce(&["--format", "json"]).with(0);
    assert!(first.err.starts_with("{\"note\":\"8 runs: about "), "{}", first.err);
    let document = first.json();
    let verdicts: Vec<&str> =
        document.get("claims").list().iter().map(|claim| claim.get("verdict").text()).collect();
    assert_eq!(verdicts, ["agrees", "agrees"], "{}", first.out);
    let again = paper.reproduce(&[]).with(0);
    assert_eq!(again.err, "8 runs, all of them finished earlier\n");
    for part in ["Windows of two", "grid:", "goodput_mbps", "icp"] {
        assert!(again.out.contains(part), "{part}: {}", again.out);
    }
    let heads = again.out.lines().find(|line| line.starts_with("scheme ")).unwrap_or_default();
    assert_eq!(heads.matches("goodput_mbps").count(), 1, "{}", again.out);
    let results = Path::new(&paper.out()).join("windows");
    let page = fs::read_to_string(results.join("report.html")).expect("a page");
    for part in [
        "<a href=\"experiments.toml\">",
        "<a href=\"path.toml\">",
        "goodput over that of a window of two [1]",
    ] {
        assert!(page.contains(part), "no {part}");
    }
    let folder = results.display().to_string();
    tidegate(&["report", &folder]).with(0);
    assert!(
        fs::read_to_string(results.join("report.html")).expect("a page") == page,
        "report makes another page"
    );
}

#[test]
fn a_name_of_an_earlier_version_in_an_experiment_is_noted_once() {
    let paper = Paper::new("papers-renamed");
    let icp = "flow.0.scheme={ name = \\\"icp\\\", least_timeout = \\\"1s\\\" }";
    paper.write("experiments.toml", &EXPERIMENTS.replace("scheme=icp", icp));
    let ended = paper.reproduce(&["--reduced"]);
    let note = "windows/experiments.toml:3: parameter \"least_timeout\" was renamed \"min_timeout\" in 0.2.0";
    assert_eq!(ended.err.matches(note).count(), 1, "{}", ended.err);
}

#[test]
fn a_quick_look_at_a_folder_has_fewer_seeds_and_no_verdicts() {
    let paper = Paper::new("paper-reduced");
    let ended = paper.reproduce(&["--reduced", "--format", "json"]).with(0);
    assert!(ended.err.starts_with("{\"note\":\"6 runs"), "{}", ended.err);
    let document = ended.json();
    assert!(
        document.get("claims").list().iter().all(|claim| *claim.get("verdict") == Value::Null),
        "{}",
        ended.out
    );
}

#[test]
fn a_verdict_that_is_not_the_one_on_record_ends_with_3() {
    let paper = Paper::new("paper-record");
    paper.write("claims.toml", &CLAIMS.replacen("band = [2.0, 30.0]", "band = [200.0, 300.0]", 1));
    paper.reproduce(&[]).with(3);
}

#[test]
fn a_slip_in_a_folder_is_named_with_file_and_line_before_anything_runs() {
    let paper = Paper::new("paper-slips");
    let claims = |from: &str, to: &str| paper.refused("claims.toml", CLAIMS, from, to);
    assert_eq!(
        claims("goodput_mbps[grid, icp]", "godput_mbps[grid, icp]"),
        "windows/claims.toml:10:13: measure \"godput_mbps\" is not known; did you mean \"goodput_mbps\"?"
    );
    assert_eq!(
        claims("[grid, fixed])", "[grid, fixd])"),
        "windows/claims.toml:10:38: axis scheme has no setting \"fixd\" in experiment grid; it has icp, fixed"
    );
    assert_eq!(
        claims("ratio(", "rato("),
        "windows/claims.toml:10:7: function \"rato\" is not known; did you mean \"ratio\"?"
    );
    let flow = |call: &str| claims("retransmissions[grid, fixed]", &format!("{call}[grid, fixed]"));
    assert_eq!(
        flow("retransmissions('c1:/b')"),
        "windows/claims.toml:21:7: flow \"c1:/b\" is not known; did you mean \"c1:/a\"?"
    );
    assert_eq!(
        flow("sent_bytes(c1>p1)"),
        "windows/claims.toml:21:7: direction of a link \"c1>p1\" is not known; did you mean \"c1>r1\"?"
    );
    assert_eq!(
        flow("goodput_mbps(*, from = soon)"),
        "windows/claims.toml:21:7: from of goodput_mbps is \"soon\", which is not a number"
    );
    assert_eq!(
        flow("full_delay_ms(*, at = p90)"),
        "windows/claims.toml:21:7: at of full_delay_ms is \"p90\"; it can be mean, min, p50, p95, p99, max"
    );
    let missing = claims("is = \"retransmissions[grid, fixed]\"\n", "");
    assert_eq!(missing, "windows/claims.toml:17:1: \"is\" is missing; [[claim]] requires it");
    let constant = claims("retransmissions[grid, fixed]", "1 + 1");
    assert_eq!(constant, "windows/claims.toml:21:7: it names no cell, so that nothing is measured");
    let experiments = |from: &str, to: &str| paper.refused("experiments.toml", EXPERIMENTS, from, to);
    let axis = experiments("axes = [\"scheme\"]", "axes = [\"shceme\"]");
    assert!(
        axis.starts_with(
            "windows/experiments.toml:8:9: axis \"shceme\" is not known; did you mean \"scheme\"?"
        ),
        "{axis}"
    );
    let scheme = experiments("scheme=icp", "scheme=icpp");
    let place =
        "windows/experiments.toml:3:8: grid[icp]: scheme \"icpp\" is not known; did you mean \"icp\"?";
    assert!(scheme.starts_with(place), "{scheme}");
    let lost = experiments("scenario = \"path.toml\"", "scenario = \"paths.toml\"");
    assert!(lost.starts_with("windows/experiments.toml:7:12: windows/paths.toml: "), "{lost}");
    let scenario = paper.refused("path.toml", SCENARIO, "consumer = \"c1\"", "consumer = \"c7\"");
    assert!(scenario.starts_with("windows/path.toml:11:12: "), "{scenario}");
    let outside = experiments("scenario = \"path.toml\"", "scenario = \"../path.toml\"");
    assert!(
        outside.contains("\"../path.toml\" is not a name of a file in the folder of the paper"),
        "{outside}"
    );
    // Found while or after the runs are made.
    for (quantity, message) in [
        (
            "goodput_mbps(*, from = 3, to = 1)[grid, fixed]",
            "to of goodput_mbps is 1, which is not after from, 3",
        ),
        (
            "0 / (0 * retransmissions[grid, fixed])",
            "windows/claims.toml:21:7: it is undefined or infinite in some runs",
        ),
        (
            "1 / retransmissions[grid, fixed]",
            "windows/claims.toml:21:7: it is undefined or infinite in some runs",
        ),
    ] {
        paper.write("claims.toml", &CLAIMS.replacen("retransmissions[grid, fixed]", quantity, 1));
        let ended = paper.reproduce(&[]).with(1);
        assert!(ended.err.contains(message), "{}", ended.err);
    }
    // The flow does not complete; the message names the seed and what the measure is.
    let lossy = CLAIMS.replacen("retransmissions[grid, fixed]", "completion_s[grid, fixed]", 1);
    paper.write("claims.toml", &lossy);
    let ended = paper.reproduce(&[]).with(1);
    assert!(
        ended
            .err
            .contains("completion_s[grid, fixed] has no value with seed 1; optional(...) on the board and")
            && ended.err.contains("Time from a flow"),
        "{}",
        ended.err
    );
    paper.write("claims.toml", &lossy.replacen("published = 0\n", "published = 0\nundefined = true\n", 1));
    assert!(paper.reproduce(&[]).with(3).out.contains("1 differ"));
}

#[test]
fn a_claim_that_may_be_undefined_differs() {
    let paper = Paper::new("paper-undefined");
    let infinite = "is = \"1 / retransmissions[grid, fixed]\"\nundefined = true";
    let claims = CLAIMS.replacen("is = \"retransmissions[grid, fixed]\"", infinite, 1);
    paper.write("claims.toml", &claims);
    let stated = paper.reproduce(&[]).with(3).out;
    assert!(stated.contains("1 agree, 0 direction, 0 undecided, 1 differ"), "{stated}");
}

#[test]
fn wrong_definitions_ranges_and_references_are_named_with_file_and_line() {
    let paper = Paper::new("paper-references");
    let quantity = "retransmissions[grid, fixed]";
    for (from, to, message) in [
        ("scheme = \"icp\"", "scheme = \"ipc\"", "5:10: scheme \"ipc\" is not known; did you mean \"icp\"?"),
        (
            "where = \"1\"",
            "where = \"1\"\nfigure = \"fig2\"",
            "20:10: figure \"fig2\" is not known; board.toml declares no figures",
        ),
        (
            quantity,
            "received_mbps('c1:/a', from = -5, to = -1)[grid, fixed]",
            "21:7: from of received_mbps is -5; it is a time of at least 0",
        ),
        (
            quantity,
            "interests_sent('c1:/a', from = 2, to = 2)[grid, fixed]",
            "21:7: to of interests_sent is 2, which is not after from, 2",
        ),
        (
            quantity,
            "mean(content_mbps(*, bin = 0))[grid, fixed]",
            "21:12: bin of content_mbps is 0; it is a number above 0",
        ),
        (
            quantity,
            "mean(interest_gaps_ms(*, quantiles = 0.5))[grid, fixed]",
            "21:12: quantiles of interest_gaps_ms is 0.5; it is a whole number from 1 to 1000000",
        ),
        (
            quantity,
            "goodput_mbps('c1:/a', to = 1, to = 2)[grid, fixed]",
            "21:7: goodput_mbps is given to twice",
        ),
        (
            quantity,
            "max(goodput_mbps[grid, fixed] for s in scheme)",
            "21:41: variable s is not used in what stands before it",
        ),
    ] {
        let stated = paper.refused("claims.toml", CLAIMS, from, to);
        assert_eq!(stated, format!("windows/claims.toml:{message}"));
    }
    let end = "reduced = [\"scenario.duration=1s\"]\n";
    for (more, message) in [
        (
            "[measure]\nx = \"2 * godput_mbps\"",
            "12:10: measure \"godput_mbps\" is not known; did you mean \"goodput_mbps\"?",
        ),
        (
            "[measure]\n\"x(a)\" = \"goodput_mbps(*, form = a)\"",
            "12:11: goodput_mbps has no argument \"form\"; it has from, to",
        ),
        ("[measure]\nmarks = \"1\"", "12:1: the program has a measure \"marks\"; choose another name"),
        (
            "[measure]\na = \"b + 1\"\nb = \"a\"",
            "12:6: a uses b, which uses a; a definition may use those above it",
        ),
        (
            "[[alternative]]\nname = \"other\"\nset.grid = [\"flow.0.shceme=icp\"]",
            "13:13: grid[icp]: key \"shceme\" is not known; did you mean \"scheme\"?",
        ),
    ] {
        let stated = paper.refused("experiments.toml", EXPERIMENTS, end, &format!("{end}{more}"));
        assert_eq!(stated, format!("windows/experiments.toml:{message}"));
    }
    let full = "name = \"grid\"\nscenario = \"path.toml\"";
    let wrong = format!(
        "name = \"more\"\nfull = true\nset = [\"a=1\"]\nscenario = \"path.toml\"\n[[experiment]]\n{full}"
    );
    let stated = paper.refused("experiments.toml", EXPERIMENTS, full, &wrong);
    assert!(stated.starts_with("windows/experiments.toml:8:8: more: key \"a\" is not known"), "{stated}");
    let reduced = paper.refused("experiments.toml", EXPERIMENTS, "scenario.duration", "scenario.durations");
    let message = "grid[icp]: key \"durations\" is not known; did you mean \"duration\"?";
    assert_eq!(reduced, format!("windows/experiments.toml:10:12: {message}"));
}

#[test]
fn a_wrong_name_in_a_definition_is_named_there_with_the_claim_that_uses_it() {
    let paper = Paper::new("paper-definitions");
    let refused = |definition: &str, quantity: &str| {
        paper.write("claims.toml", &CLAIMS.replacen("retransmissions[grid", &format!("{quantity}[grid"), 1));
        let stated = paper.refused(
            "experiments.toml",
            EXPERIMENTS,
            "[[experiment]]",
            &format!("[measure]\n{definition}\n[[experiment]]"),
        );
        stated.replace(&paper.folder(), "windows")
    };
    assert_eq!(
        refused("x = \"2 * marks('c1:/b')\"", "x"),
        "windows/experiments.toml:6:10: flow \"c1:/b\" is not known; did you mean \"c1:/a\"?; \
         used by x[grid, fixed] in line 21 of windows/claims.toml"
    );
    assert_eq!(
        refused("\"x(end)\" = \"goodput_mbps(*, to = end)\"", "sum(x(-1))"),
        "windows/experiments.toml:6:13: to of goodput_mbps is -1; it is a time of at least 0; \
         used by sum(x(-1))[grid, fixed] in line 21 of windows/claims.toml"
    );
    assert_eq!(
        refused("\"x(part)\" = \"quantile(interest_gaps_ms(*), part)\"", "x(2)"),
        "windows/claims.toml:21:7: quantile takes a part from 0 to 1; it is given 2"
    );
}

const BOARD: &str = r#"format = 1
[[figure]]
id = "fig{s}"
title = "Fig. 1: {s}"
for = "s in scheme"
kind = "bars"
y_label = "goodput [Mbit/s]"
groups = ["all"]
series = [{ name = "ours", values = ["goodput_mbps[grid, s]"] }]
"#;

#[test]
fn slips_in_a_board_that_depend_on_settings_are_refused_before_anything_runs() {
    let paper = Paper::new("paper-figures");
    let table = "[[table]]\ntitle = \"T\"\nrows = [\"s in scheme\"]\nheads = [\"\"]\ncolumns = [{ head = \"h\", text = [\"one\"] }]\n";
    let same = table.replace(
        "{ head = \"h\", text = [\"one\"] }",
        "{ for = \"z in scheme\", head = \"h\", y = \"goodput_mbps[grid, s] + goodput_mbps[grid, z]\" }",
    );
    let long = "x".repeat(65);
    for (from, to, message) in [
        ("fig{s}", "../fig{s}", "3:6: the id of a figure is \"../figicp\"; it names a file"),
        ("fig{s}", "fíg{s}", "3:6: the id of a figure is \"fígicp\"; it names a file"),
        ("fig{s}", "fig {s}", "3:6: the id of a figure is \"fig icp\"; it names a file"),
        ("fig{s}", &long, "and has at most 64 letters from a to z, digits, '-', '_' and '.'"),
        ("fig{s}", "fig", "3:6: two figures have the id \"fig\""),
        (
            "fig{s}",
            "stated1",
            "3:6: the id of a figure is \"stated1\", which the page uses for something else",
        ),
        (
            "name = \"ours\"",
            "name = \"ours\", for = \"z in scheme\"",
            "9:35: variable z is used by no expression",
        ),
        ("fig{s}", "claims", "3:6: the id of a figure is \"claims\", which the page uses"),
        ("Fig. 1: {s}", "Fig. 1: {t}", "4:18: {t} in \"Fig. 1: {t}\" is not a variable of its `for`"),
        (
            "groups = [\"all\"]\nseries = [{ name = \"ours\", values = [\"goodput_mbps[grid, s]\"] }]",
            "groups = \"g in scheme\"\nseries = [{ name = \"ours\", y = \"goodput_mbps[grid, s] + goodput_mbps[grid, g]\", published = [1.0] }]",
            "9:93: 1 published values for 2 groups; write nan where there is none",
        ),
        (
            "{ name = \"ours\", values",
            "{ name = \"ours\", values = [\"goodput_mbps[grid, s]\"] }, { name = \"ours\", values",
            "9:75: two series have the name \"ours\"",
        ),
        (
            "kind = \"bars\"\ny_label = \"goodput [Mbit/s]\"\ngroups = [\"all\"]\nseries = [{ name = \"ours\", values = [\"goodput_mbps[grid, s]\"] }]",
            "kind = \"lines\"\ny_label = \"y\"\npoints = \"g in scheme\"\nseries = [{ name = \"ours\", y = \"goodput_mbps[grid, s] + goodput_mbps[grid, g]\" }]",
            "8:11: setting \"icp\" of axis scheme has no place of its own along x",
        ),
        ("[[figure]]", &format!("{same}[[figure]]"), "6:42: two columns side by side have the head \"h\""),
        (
            "[[figure]]",
            &format!("{table}[[figure]]"),
            "6:33: 1 texts for 2 rows; write \"\" for an empty cell",
        ),
    ] {
        let place = paper.refused("board.toml", BOARD, from, to);
        assert!(place.starts_with("windows/board.toml:") && place.contains(message), "{place}");
    }
    assert!(!Path::new(&paper.out()).join("store").exists(), "something was run");
    paper.write("board.toml", BOARD);
    let named = |figure: &str| {
        let place = "where = \"1\"";
        paper.write("claims.toml", &CLAIMS.replacen(place, &format!("{place}\nfigure = {figure:?}"), 1));
        paper.reproduce(&[])
    };
    let unknown = named("figicq").with(1).err;
    let message = "claims.toml:20:10: figure \"figicq\" is not known; did you mean \"figicp\"?";
    assert!(unknown.contains(message), "{unknown}");
    named("figicp").with(0);
}

#[test]
fn numbers_without_a_place_along_x_are_refused() {
    let paper = Paper::new("paper-places");
    let axes = "[axis.queue]\n10 = []\n\"10.0\" = []\nnan = []\n[axis.scheme]";
    let along = "[[experiment]]\nname = \"along\"\nscenario = \"path.toml\"\naxes = [\"queue\"]\nseeds = 4\n";
    let with = EXPERIMENTS.replacen("[axis.scheme]", axes, 1) + along;
    paper.write("experiments.toml", &with);
    let figure = |kind: &str| {
        format!("format = 1\n[[figure]]\nid = \"f\"\ntitle = \"F\"\ny_label = \"y\"\nkind = {kind}\n")
    };
    let lines = |settings: &str| {
        let y = "goodput_mbps[along, q]";
        figure(&format!(
            "\"lines\"\npoints = \"q in queue[{settings}]\"\nseries = [{{ name = \"a\", y = \"{y}\" }}]"
        ))
    };
    let cdf = figure(
        "\"cdf\"\nis_x_logarithmic = true\nseries = [{ name = \"a\", y = \"(full_delays_ms(*) - 1000)[grid, icp]\" }]",
    );
    for (board, message) in [
        (
            lines("10, '10.0'"),
            "board.toml:7:11: setting \"10.0\" of axis queue has no place of its own along x",
        ),
        (lines("nan"), "board.toml:7:11: setting \"nan\" of axis queue has no place of its own along x"),
        (cdf, "board.toml:8:30: a logarithmic axis has no place for 0 and negative values"),
    ] {
        paper.write("board.toml", &board);
        let refused = paper.reproduce(&[]).with(1).err;
        assert!(refused.contains(message), "{refused}");
    }
}

/// The board with `optional()` around the expression that names a cell.
fn optional(board: &str) -> String {
    let end = board.find("[grid, ").map_or(0, |at| at + board[at..].find(']').unwrap_or(0) + 1);
    let start = board[..end].rfind(['"', '=']).map_or(0, |at| at + 1);
    format!("{}optional({}){}", &board[..start], &board[start..end], &board[end..])
}

#[test]
fn an_undefined_or_infinite_number_in_a_figure_or_table_is_refused_unless_it_is_optional() {
    let paper = Paper::new("paper-undefined");
    let undefined = "it is undefined or infinite in some runs: it divides by 0, takes the mean or an extreme of no values, the \
                     deviation of one, a moving mean longer than its list, or the logarithm or root of a negative number, is too \
                     large, or `between` or `every` selects no point of a series; optional(...) around it accepts this";
    let none = "(0 / (0 * retransmissions))";
    let endless = "(1 / (0 * retransmissions))";
    let table = |rest: &str| {
        format!("format = 1\n[[table]]\ntitle = \"T\"\nrows = [\"s in scheme\"]\nheads = [\"\"]\n{rest}\n")
    };
    let figure =
        |rest: &str| format!("format = 1\n[[figure]]\nid = \"f\"\ntitle = \"F\"\ny_label = \"y\"\n{rest}\n");
    for (board, message) in [
        (
            table("columns = [{ head = \"h\", y = \"completion_s[grid, s]\" }]"),
            "6:31: completion_s[grid, icp] has no value with seed 1; optional(...) on the board".to_owned(),
        ),
        (
            table(&format!("columns = [{{ head = \"h\", y = \"{none}[grid, s]\" }}]")),
            format!("6:31: table \"T\", row \"icp\", column \"h\": {undefined}"),
        ),
        (
            table("heads = []").replace(
                "rows = [\"s in scheme\"]\nheads = [\"\"]\nheads = []",
                &format!("heads = [\"a\", \"b\"]\ncells = [[\"x\", \"={endless}[grid, icp]\"]]"),
            ),
            format!("5:18: table \"T\", row 1, column \"b\": {undefined}"),
        ),
        (
            table(&format!("columns = [{{ head = \"h\", text = [\"1\", \"{{= {none}[grid, icp]}}\"] }}]")),
            format!("table \"T\", row \"fixed\", column \"h\": {undefined}"),
        ),
        (
            figure(&format!(
                "kind = \"bars\"\ngroups = \"s in scheme\"\nseries = [{{ name = \"ours\", y = \"{none}[grid, s]\" }}]"
            )),
            format!("8:33: figure \"f\", series \"ours\" at \"icp\": {undefined}"),
        ),
        (
            figure(&format!(
                "kind = \"boxes\"\nseries = [{{ for = \"s in scheme\", name = \"{{s}}\", y = \"{endless}[grid, s]\" }}]"
            )),
            format!("figure \"f\", series \"icp\": {undefined}"),
        ),
        (
            figure(
                "kind = \"curves\"\nseries = [{ name = \"c\", y = \"(window_packets(*) * completion_s)[grid, icp]\" }]",
            ),
            "has no value with seed 1; optional(...) on the board".to_owned(),
        ),
        (
            figure(&format!(
                "kind = \"curves\"\nseries = [{{ name = \"c\", y = \"(window_packets(*) * {none})[grid, icp]\" }}]"
            )),
            format!("figure \"f\", series \"c\": {undefined}"),
        ),
        (
            figure(&format!(
                "kind = \"cdf\"\nx_min = 1\nseries = [{{ name = \"c\", y = \"(full_delays_ms(*) * {none})[grid, icp]\" }}]"
            )),
            format!("figure \"f\", series \"c\": {undefined}"),
        ),
    ] {
        paper.write("board.toml", &board);
        let refused = paper.reproduce(&[]).with(1).err;
        assert!(
            refused.contains("windows/board.toml:") && refused.contains(&message),
            "{message}: {refused}"
        );
        paper.reproduce(&["--reduced"]).with(0);
        paper.write("board.toml", &optional(&board));
        paper.reproduce(&[]).with(0);
    }
}

#[test]
fn papers_in_folders_of_one_name_do_not_mix_their_results() {
    let paper = Paper::new("paper-owners");
    paper.reproduce(&["--reduced"]).with(0);
    let other = paper.scratch.at("other");
    fs::create_dir(&other).expect("a folder");
    let other = format!("{other}/windows");
    fs::rename(paper.folder(), &other).expect("movable");
    let results = Path::new(&paper.out()).join("windows").display().to_string();
    // The results have copies of all files that the page is made of.
    tidegate(&["report", &results]).with(0);
    let refused = tidegate(&["reproduce", &other, "--reduced", "--out", &paper.out()]).with(1).err;
    let message = format!(
        "windows has the results of another paper, {}; --out DIR writes those of {other} elsewhere",
        paper.folder()
    );
    assert!(refused.contains(&message), "{refused}");
}

#[test]
fn files_that_are_no_results_are_not_overwritten() {
    let paper = Paper::new("paper-source");
    let theirs = Path::new(&paper.out()).join("windows");
    fs::create_dir_all(&theirs).expect("a folder");
    paper.reproduce(&["--reduced"]).with(0);
    fs::remove_file(theirs.join("paper.txt")).expect("written");
    fs::remove_file(theirs.join("command.txt")).expect("written");
    fs::write(theirs.join("claims.toml"), "mine").expect("writable");
    let refused = paper.reproduce(&["--reduced"]).with(1).err;
    assert!(refused.contains("windows has files that are not results of a paper"), "{refused}");
    assert_eq!(fs::read_to_string(theirs.join("claims.toml")).expect("readable"), "mine");
    let above = paper.scratch.at(".");
    fs::write(Path::new(&paper.folder()).join("paper.txt"), paper.folder()).expect("writable");
    let refused = tidegate(&["reproduce", &paper.folder(), "--out", &above]).with(1).err;
    assert!(refused.contains("windows is the folder of the paper; --out DIR"), "{refused}");
}

#[test]
fn results_have_the_files_of_their_run_and_none_of_an_earlier_one() {
    let paper = Paper::new("paper-files");
    let folder = Path::new(&paper.out()).join("windows");
    let topology = "router\n\nr1 NA 0 0 0\nc1 NA 0 0 0\np1 NA 0 0 0\n\nlink\n\n\
                    c1 r1 10Mbps 1 5ms 50\nr1 p1 10Mbps 1 5ms 50\n";
    paper.write("net.txt", topology);
    let builtin = "builtin = \"linear\"\nrouters = 1\nlink = { rate = \"10Mbps\", delay = \"5ms\" }";
    assert!(SCENARIO.contains(builtin));
    paper.write("net.toml", &SCENARIO.replace(builtin, "file = \"net.txt\""));
    paper.write("experiments.toml", &EXPERIMENTS.replace("path.toml", "net.toml"));
    paper.write("board.toml", BOARD);
    paper.reproduce(&["--reduced"]).with(0);
    fs::write(folder.join("note.txt"), "mine").expect("writable");
    // The copies are complete: the scenario runs, and the page is made, without the folder of the paper.
    tidegate(&["check", &folder.join("net.toml").display().to_string()]).with(0);
    let page = || fs::read_to_string(folder.join("report.html")).expect("a page");
    let before = page();
    paper.write("claims.toml", &CLAIMS.replace("band = [2.0, 30.0]", "band = [7.0, 8.0]"));
    tidegate(&["report", &folder.display().to_string()]).with(0);
    assert!(page() == before, "the page has other claims than the results beside it");
    paper.write("experiments.toml", EXPERIMENTS);
    fs::remove_file(Path::new(&paper.folder()).join("board.toml")).expect("written");
    let left = ["net.toml", "board.toml", "figicp.svg"];
    assert!(left.iter().all(|name| folder.join(name).is_file()));
    paper.reproduce(&["--reduced"]).with(0);
    let stale = left.iter().filter(|name| folder.join(name).exists()).collect::<Vec<_>>();
    let kept = fs::read_dir(folder.join("files")).map_or(0, Iterator::count);
    assert_eq!((stale, kept), (Vec::new(), 0));
    assert!(folder.join("note.txt").is_file() && folder.join("path.toml").is_file());
}

#[test]
#[cfg(target_os = "linux")]
fn results_are_whole_if_the_disk_is_full() {
    let paper = Paper::new("paper-full");
    paper.reproduce(&["--reduced"]).with(0);
    let page = Path::new(&paper.out()).join("windows/report.html");
    let before = fs::read(&page).expect("a page");
    // A limit of the size of files stands for a disk that is full.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{}' reproduce '{}' --reduced --out '{}'",
        env!("CARGO_BIN_EXE_tidegate"),
        paper.folder(),
        paper.out()
    );
    let ended = Command::new("sh").args(["-c", &script]).output().expect("a shell");
    assert!(!ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    assert!(fs::read(&page).expect("a page") == before, "the page was overwritten");
    let unfinished = Path::new(&paper.out()).join("store/unfinished");
    assert_eq!(fs::read_dir(unfinished).map_or(0, Iterator::count), 0);
}

#[test]
#[cfg(unix)]
fn a_board_that_is_a_link_to_nowhere_is_not_a_missing_board() {
    let paper = Paper::new("paper-link");
    let board = format!("{}/board.toml", paper.folder());
    for target in ["nowhere.toml", "board.toml"] {
        std::os::unix::fs::symlink(target, &board).expect("a link");
        let refused = paper.reproduce(&["--reduced"]).with(1).err;
        assert!(refused.contains("board.toml: "), "{refused}");
        fs::remove_file(&board).expect("ours");
    }
}

#[test]
fn the_page_is_made_again_from_another_directory() {
    let paper = Paper::new("paper-directory");
    let inside = |folder: &str, arguments: &[&str]| {
        let program =
            Command::new(env!("CARGO_BIN_EXE_tidegate")).args(arguments).current_dir(folder).status();
        assert!(program.expect("it runs").success(), "{arguments:?}");
    };
    inside(&paper.scratch.at("."), &["reproduce", "./windows", "--reduced", "--quiet", "--out", "out"]);
    let page = || fs::read_to_string(Path::new(&paper.out()).join("windows/report.html")).expect("a page");
    let before = page();
    inside(&paper.out(), &["report", "windows"]);
    assert!(page() == before, "report makes another page");
}

#[test]
#[cfg(unix)]
fn a_pipe_in_a_folder_is_refused() {
    let paper = Paper::new("paper-pipe");
    let pipe = format!("{}/board.toml", paper.folder());
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    let refused = paper.reproduce(&[]).with(1).err;
    assert!(refused.contains("board.toml: this is not a regular file"), "{refused}");
}

#[test]
fn a_folder_that_is_not_there_is_refused_with_the_command_that_writes_one() {
    let ended = tidegate(&["reproduce", "./no-such-paper"]).with(1);
    assert!(ended.err.contains("`tidegate new --paper ./no-such-paper` creates one"), "{}", ended.err);
}
