//! `tidegate report`: a page made again is the page that was.

use std::fs;

use crate::{DUMBBELL, Scratch, tidegate};

fn run(scratch: &Scratch) -> std::path::PathBuf {
    let arguments =
        ["run", DUMBBELL, "--seeds", "2", "--set", "scenario.duration=6s", "--out", scratch.path()];
    tidegate(&arguments).with(0);
    scratch.only_folder()
}

#[test]
fn the_page_of_a_folder_is_made_again_byte_for_byte() {
    let scratch = Scratch::new("report-again");
    let folder = run(&scratch);
    let page = folder.join("report.html");
    let first = fs::read(&page).expect("run wrote a page");
    fs::remove_file(&page).expect("removable");
    let folder = folder.to_str().expect("text");
    let said = tidegate(&["--format", "json", "report", folder]).with(0).json();
    assert_eq!(said.get("report").text(), page.to_str().expect("text"));
    assert!(fs::read(&page).expect("a page") == first, "the pages differ");
    let other = scratch.0.join("other.html");
    tidegate(&["report", folder, "--out", other.to_str().expect("text")]).with(0);
    assert!(fs::read(&other).expect("a page") == first, "the pages differ");
}

#[test]
fn a_folder_without_what_a_page_needs_is_an_error_that_says_what() {
    let scratch = Scratch::new("report-errors");
    let said = tidegate(&["report", scratch.path()]).with(1).err;
    assert!(said.contains("it has no scenario.toml"), "{said}");
    let said = tidegate(&["report", DUMBBELL]).with(1).err;
    assert!(said.contains("is no folder of results"), "{said}");
    let folder = run(&scratch);
    let path = folder.to_str().expect("text");
    fs::remove_dir_all(folder.join("seeds/2")).expect("removable");
    let said = tidegate(&["report", path]).with(1).err;
    assert!(said.contains("no run with seed 2") && said.contains("tidegate run"), "{said}");
    fs::write(folder.join("seeds/1/runs.parquet"), "no table").expect("writable");
    let said = tidegate(&["report", path]).with(1).err;
    assert!(said.contains("runs.parquet"), "{said}");
}

#[test]
fn of_a_folder_of_another_command_it_is_said_which_command_makes_the_page_again() {
    let scratch = Scratch::new("report-others");
    let out = scratch.path();
    let lines: [&[&str]; 2] = [
        &["compare", DUMBBELL, "--schemes", "icp,fixed", "--seeds", "2"],
        &["sweep", "run", DUMBBELL, "--seeds", "1", "--grid", "flow.0.scheme=icp,fixed"],
    ];
    for line in lines {
        let made = tidegate(&[line, &["--out", out, "--quiet", "--format", "json"]].concat()).with(0).json();
        let folder = made.get("folder").text();
        let said = tidegate(&["report", folder]).with(1).err;
        let command = line.split(|word| *word == DUMBBELL).next().expect("before the file").join(" ");
        assert!(
            said.contains(&format!("tidegate {command} {DUMBBELL}"))
                && said.contains(&format!("--out '{out}'")),
            "{said}"
        );
    }
}
