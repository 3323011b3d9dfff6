//! `tidegate figure`: from a results folder to files.

use std::fs;
use std::path::Path;

use crate::{DUMBBELL, Scratch, tidegate};

/// A results folder of two short runs.
fn results(scratch: &Scratch) -> String {
    let out = scratch.at("results");
    let run = ["run", DUMBBELL, "--seeds", "2", "--out", &out];
    tidegate(&run).with(0);
    let folder = fs::read_dir(&out).expect("readable").next().expect("one folder").expect("readable").path();
    folder.to_str().expect("text").to_owned()
}

#[test]
fn a_run_gives_its_figures_in_every_format_and_the_same_again() {
    let scratch = Scratch::new("figures");
    let folder = results(&scratch);
    let (first, second) = (scratch.at("first"), scratch.at("second"));
    for out in [&first, &second] {
        for kind in ["svg", "pdf", "pgf"] {
            let ended = tidegate(&["figure", &folder, "--as", kind, "-o", out, "--quiet"]).with(0);
            assert!(ended.err.is_empty() && ended.out.lines().count() >= 10, "{}{}", ended.out, ended.err);
        }
    }
    let mut names: Vec<String> = fs::read_dir(&first)
        .expect("readable")
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in ["delay-cdf.svg", "segments.pdf", "throughput.dat", "throughput.tex", "utilisation.pdf"] {
        assert!(names.iter().any(|other| other == name), "{name} in {names:?}");
    }
    for name in names {
        let read = |folder: &str| fs::read(Path::new(folder).join(&name)).expect("readable");
        assert!(read(&first) == read(&second), "{name} differs");
    }
}

#[test]
fn a_figure_can_be_one_file_of_another_seed_flow_and_stretch_of_time() {
    let scratch = Scratch::new("figure");
    let folder = results(&scratch);
    let file = scratch.at("part.tex");
    let part = ["--from", "0.5", "--to", "1.0s", "--seed", "2", "--flow", "c1:/a", "-o", &file];
    tidegate(&[&["figure", &folder, "segments"], &part[..]].concat()).with(0);
    let (tex, data) = (fs::read_to_string(&file), fs::read_to_string(scratch.at("part.dat")));
    let (tex, data) = (tex.expect("written"), data.expect("written"));
    assert!(tex.contains("Seed 2.") && tex.contains("{part.dat}"), "{tex}");
    let times =
        data.lines().filter(|line| !line.starts_with(['#', 's'])).filter_map(|line| line.split(' ').next());
    let times: Vec<f64> =
        times.map(|time| time.parse().expect("a number")).filter(|time: &f64| !time.is_nan()).collect();
    assert!(times.len() > 100 && times.iter().all(|time| (0.5..=1.0).contains(time)), "{times:?}");
    // The rate of the bottleneck is halved in the middle of the run.
    tidegate(&["figure", &folder, "utilisation", "--as", "pgf", "-o", scratch.path(), "--greyscale"]).with(0);
    let data = fs::read_to_string(scratch.at("utilisation.dat")).expect("written");
    let numbers = data.lines().filter(|line| !line.starts_with('#')).flat_map(|line| line.split(' '));
    assert!(
        numbers.filter_map(|cell| cell.parse::<f64>().ok()).all(|value| value.is_nan() || value <= 101.0),
        "{data}"
    );
}

#[test]
fn what_a_folder_lacks_is_said_with_what_it_has() {
    let scratch = Scratch::new("no-figures");
    let folder = results(&scratch);
    let stated = |arguments: &[&str], code| {
        let ended = tidegate(&[&["figure"], arguments].concat()).with(code);
        ended.err
    };
    assert!(
        stated(&[&folder, "trougput"], 2).contains("did you mean \"throughput\"?\nIt has: throughput, rtt")
    );
    assert!(stated(&[&folder, "drops"], 1).contains("\"drops\" has nothing to show"));
    assert!(stated(&[&folder, "rtt", "--seed", "9"], 2).contains("seed 9 was not run; seeds are 1 to 2"));
    assert!(stated(&[&folder, "segments", "--flow", "c1:/b"], 2).contains("did you mean \"c1:/a\"?"));
    assert!(stated(&[&folder, "rtt", "--columns", "3"], 2).contains("1 or 2 is needed"));
    assert!(
        stated(&[&folder, "--as", "svg", "-o", "all.pdf"], 2)
            .contains("does not have the extension of --as svg")
    );
    assert!(stated(&[&folder, "-o", "all.pdf"], 2).contains("name one figure, or give a folder"));
    assert!(stated(&[scratch.path()], 1).contains("is not a results folder"));
    assert!(stated(&[&scratch.at("nowhere")], 1).contains("does not exist"));
    let list = tidegate(&["figure", &folder, "--list", "--format", "json"]).with(0).json();
    let list = list.get("figures").list();
    assert_eq!(list.len(), 18);
    assert!(list.iter().any(|figure| figure.get("title").text() == "Interests in flight"), "{list:?}");
}

#[test]
fn figures_that_a_command_left_are_drawn_and_broken_ones_refused_at_their_place() {
    let scratch = Scratch::new("left-figures");
    let figure = r#"[{"id": "../a b", "title": "T", "caption": "", "x_label": "", "y_label": "y",
        "kind": {"bars": {"groups": ["g"], "series": [{"name": "s", "values": [null]}]}}}]"#;
    scratch.file("figures.json", figure.as_bytes());
    let ended = tidegate(&["figure", scratch.path()]).with(0);
    assert!(ended.out.trim_end().ends_with("/figures/---a-b.svg"), "{}", ended.out);
    scratch.file("figures.json", b"[\n {\"id\": 7}]");
    let ended = tidegate(&["figure", scratch.path()]).with(1);
    assert!(
        ended.err.contains("figures.json: invalid type: integer `7`, expected a string at line 2"),
        "{}",
        ended.err
    );
}

#[test]
fn a_comparison_has_its_own_figures_and_none_of_a_run() {
    let scratch = Scratch::new("compared-figures");
    let compare = ["--format", "json", "compare", DUMBBELL, "--schemes", "icp,fixed", "--seeds", "3"];
    let sets = ["--set", "scenario.duration=6s", "--out", scratch.path()];
    let folder = tidegate(&[&compare[..], &sets].concat()).with(0).json().get("folder").text().to_owned();
    let list = tidegate(&["figure", &folder, "--list", "--format", "json"]).with(0).json();
    let names: Vec<&str> =
        list.get("figures").list().iter().map(|figure| figure.get("name").text()).collect();
    assert_eq!(names, ["goodput-over-delay", "delays"]);
    tidegate(&["figure", &folder, "--as", "pdf", "-o", &scratch.at("drawn")]).with(0);
    assert_eq!(fs::read_dir(scratch.at("drawn")).expect("made").count(), 2);
}

#[test]
fn a_stretch_of_time_that_holds_nothing_is_refused() {
    let scratch = Scratch::new("figure-nothing");
    let folder = results(&scratch);
    let picture = scratch.at("picture.png");
    let stated = tidegate(&["figure", &folder, "throughput", "-o", &picture]).with(2).err;
    assert!(stated.contains("write .svg, .pdf or .tex"), "{stated}");
    for (from, to) in [("5", "1"), ("2", "2"), ("1e300", "1e301"), ("inf", "2")] {
        let part = ["figure", &folder, "throughput", "--from", from, "--to", to, "-o", scratch.path()];
        let stated = tidegate(&part).with(2).err;
        assert!(stated.contains("--from"), "{stated}");
    }
}
