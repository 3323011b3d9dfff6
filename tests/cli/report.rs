//! `tidegate report`: a page made again is the page that was.

use std::fs;
use std::path::Path;

use crate::{DUMBBELL, Scratch, program, tidegate};

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
    let stated = tidegate(&["--format", "json", "report", folder]).with(0).json();
    assert_eq!(stated.get("report").text(), page.to_str().expect("text"));
    assert!(fs::read(&page).expect("a page") == first, "the pages differ");
    let other = scratch.0.join("other.html");
    tidegate(&["report", folder, "--out", other.to_str().expect("text")]).with(0);
    assert!(fs::read(&other).expect("a page") == first, "the pages differ");
}

#[test]
fn a_folder_without_what_a_page_needs_is_an_error_that_says_what() {
    let scratch = Scratch::new("report-errors");
    let stated = tidegate(&["report", scratch.path()]).with(1).err;
    assert!(stated.contains("it has no scenario.toml"), "{stated}");
    let stated = tidegate(&["report", DUMBBELL]).with(1).err;
    assert!(stated.contains("is not a results folder"), "{stated}");
    let folder = run(&scratch);
    let path = folder.to_str().expect("text");
    fs::remove_dir_all(folder.join("seeds/2")).expect("removable");
    let stated = tidegate(&["report", path]).with(1).err;
    assert!(stated.contains("no run with seed 2") && stated.contains("tidegate run"), "{stated}");
    fs::write(folder.join("seeds/1/runs.parquet"), "no table").expect("writable");
    let stated = tidegate(&["report", path]).with(1).err;
    assert!(stated.contains("runs.parquet"), "{stated}");
    fs::remove_dir_all(folder.join("seeds")).expect("removable");
    let stated = tidegate(&["report", path]).with(1).err;
    assert!(stated.contains("/seeds does not exist; `tidegate run` makes the missing runs"), "{stated}");
}

/// The page of `folder`, which is taken away, comes again byte for byte.
#[track_caller]
fn assert_made_again(folder: &Path) {
    let page = folder.join("report.html");
    let first = fs::read(&page).expect("the command wrote a page");
    fs::remove_file(&page).expect("removable");
    tidegate(&["report", folder.to_str().expect("text")]).with(0);
    assert!(fs::read(&page).expect("a page") == first, "the pages of {} differ", folder.display());
}

#[test]
fn the_pages_of_comparisons_and_sweeps_are_made_again_from_the_store() {
    let scratch = Scratch::new("report-others");
    // The file that was run may change or go; the folder has its own.
    let scenario = scratch.file("a scenario's.toml", &fs::read(DUMBBELL).expect("an example"));
    let out = scratch.at("out");
    let lines: [&[&str]; 3] = [
        &["compare", &scenario, "--vary", "flow.0.scheme=icp,{ name = 'fixed' }", "--seeds", "2"],
        &["compare", &scenario, "--schemes", "icp,fixed", "--seeds", "2", "--set", "scenario.duration=6s"],
        &["sweep", "run", &scenario, "--seeds", "1", "--grid", "flow.0.scheme=icp,fixed"],
    ];
    let folder = |line: &&[&str]| {
        let made =
            tidegate(&[line, &["--out", &out, "--quiet", "--format", "json"][..]].concat()).with(0).json();
        made.get("folder").text().to_owned()
    };
    let folders: Vec<String> = lines.iter().map(folder).collect();
    fs::remove_file(&scenario).expect("ours");
    folders.iter().for_each(|folder| assert_made_again(Path::new(folder)));
    for (folder, line) in folders.iter().zip(lines) {
        // Comparisons and sweeps share runs.
        fs::remove_dir_all(scratch.at("out/store")).expect("ours");
        let stated = tidegate(&["report", folder]).with(1).err;
        let command = line.split(|word| *word == scenario).next().expect("before the file").join(" ");
        let again = format!("to make the missing runs: tidegate {command} {folder}/scenario.toml ");
        assert!(stated.contains("of its runs, made by code ") && stated.contains(&again), "{stated}");
        assert!(stated.trim_end().ends_with(&format!(" --out {out}")), "{stated}");
        let (parent, name) = folder.rsplit_once('/').expect("a path");
        let mut bare = program();
        let bare = bare.args(["report", name]).current_dir(parent).output().expect("the program starts");
        assert!(crate::Ended::from(bare).with(1).err.trim_end().ends_with(" --out ."), "{name}");
        assert!(
            !stated.contains("--set"),
            "the scenario in the folder has the values that were set: {stated}"
        );
        // The command that is printed works as it stands.
        let (_, again) =
            stated.trim_end().split_once("to make the missing runs: tidegate ").expect("a command");
        let script = format!("'{}' {again} --quiet", env!("CARGO_BIN_EXE_tidegate"));
        let ended = std::process::Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert!(ended.status.success(), "{script}: {}", String::from_utf8_lossy(&ended.stderr));
        assert_made_again(Path::new(folder));
    }
}

#[test]
fn the_page_of_a_paper_is_made_again_from_its_finished_runs() {
    let scratch = Scratch::new("report-paper");
    tidegate(&["reproduce", "plr", "--reduced", "--quiet", "--out", scratch.path()]).with(0);
    let folder = scratch.0.join("plr");
    assert_made_again(&folder);
    let store = scratch.0.join("store");
    fs::remove_dir_all(&store).expect("the store of the runs");
    let stated = tidegate(&["report", folder.to_str().expect("text")]).with(1).err;
    assert!(
        stated.contains("of its runs, made by this build of the program, are not in the store"),
        "{stated}"
    );
    let again =
        format!("to make the missing runs: tidegate reproduce plr --reduced --out {}", scratch.path());
    assert!(stated.trim_end().ends_with(&again), "{stated}");
    assert!(!store.exists(), "report writes no runs");
}
