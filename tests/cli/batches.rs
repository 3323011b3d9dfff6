//! Batches of seeds: what a run leaves behind, and that it does not matter how it came to be.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::{DUMBBELL, Scratch, assert_same, program, results, tidegate};
use support::json::Value;

fn run(out: &Scratch, more: &[&str]) {
    let arguments = [&["run", DUMBBELL, "--quiet", "--out", out.path()], more].concat();
    tidegate(&arguments).with(0);
}

/// How many seeds the last batch in `folder` found finished.
fn recalled(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("run.json")).expect("every run writes run.json");
    Value::parse(&text).expect("run.json is JSON").get("seeds_from_an_earlier_batch").clone()
}

#[test]
fn a_run_leaves_tables_checksums_its_scenario_and_a_page() {
    let out = Scratch::new("files");
    let ended = tidegate(&["run", DUMBBELL, "--seeds", "2", "--out", out.path()]).with(0);
    let folder = out.only_folder();
    let name = folder.file_name().expect("named").to_string_lossy().into_owned();
    assert!(name.strip_prefix("dumbbell-").is_some_and(|digest| digest.len() == 8), "{name}");
    let files: Vec<String> = results(&folder).into_keys().collect();
    let tables = ["flow_samples", "flows", "link_samples", "links", "media", "nodes"]
        .map(|name| format!("{name}.parquet"));
    let tables = tables.each_ref().map(String::as_str);
    let expected =
        [&["checksums.txt", "command.txt"], &tables[..], &["report.html", "runs.parquet", "scenario.toml"]]
            .concat();
    assert_eq!(files, expected);
    assert_eq!(&fs::read(folder.join("flows.parquet")).expect("readable")[..4], b"PAR1");
    assert!(folder.join("seeds/1/checksums.txt").exists() && folder.join("seeds/2/checksums.txt").exists());
    for word in ["catchunks-cubic", "goodput_mbps", "jain_index", "report.html"] {
        assert!(ended.out.contains(word), "{word} is not in\n{}", ended.out);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (one, two) = (Scratch::new("one-thread"), Scratch::new("two-threads"));
    run(&one, &["--seeds", "6", "--threads", "1"]);
    run(&two, &["--seeds", "6", "--threads", "2"]);
    assert_same(&one.only_folder(), &two.only_folder());
}

#[test]
fn the_same_scenario_kept_beside_the_results_gives_them_again() {
    let (first, again) = (Scratch::new("first"), Scratch::new("again"));
    run(&first, &["--seeds", "2", "--set", "flow.0.size=1MB"]);
    let kept = first.only_folder().join("scenario.toml");
    let kept = kept.to_str().expect("the name is text");
    tidegate(&["run", kept, "--out", again.path()]).with(0);
    assert_eq!(first.only_folder().file_name(), again.only_folder().file_name());
    let tables = |scratch: &Scratch| results(&scratch.only_folder())["flows.parquet"].clone();
    assert!(tables(&first) == tables(&again));
}

#[test]
fn only_the_seeds_that_are_missing_run_again() {
    let (whole, mended) = (Scratch::new("whole"), Scratch::new("mended"));
    run(&whole, &["--seeds", "5"]);
    run(&mended, &["--seeds", "5"]);
    let folder = mended.only_folder();
    for seed in ["2", "5"] {
        fs::remove_dir_all(folder.join("seeds").join(seed)).expect("a finished seed has a folder");
    }
    run(&mended, &["--seeds", "5"]);
    assert_eq!(recalled(&folder), Value::Number(3.0));
    assert_same(&whole.only_folder(), &folder);
    run(&mended, &["--seeds", "5", "--fresh"]);
    assert_eq!(recalled(&folder), Value::Number(0.0));
    assert_same(&whole.only_folder(), &folder);
}

#[test]
fn a_damaged_seed_runs_again() {
    let (whole, damaged) = (Scratch::new("sound"), Scratch::new("damaged"));
    run(&whole, &["--seeds", "3"]);
    run(&damaged, &["--seeds", "3"]);
    let folder = damaged.only_folder();
    let table = folder.join("seeds/3/flows.parquet");
    let mut bytes = fs::read(&table).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&table, bytes).expect("writable");
    run(&damaged, &["--seeds", "3"]);
    assert_eq!(recalled(&folder), Value::Number(2.0));
    assert_same(&whole.only_folder(), &folder);
}

#[test]
fn a_seed_that_cannot_be_written_is_an_error_and_the_others_are_kept() {
    let (whole, blocked) = (Scratch::new("unblocked"), Scratch::new("blocked"));
    let batch = ["--seeds", "3", "--threads", "1"];
    run(&whole, &batch);
    run(&blocked, &["--seeds", "3"]);
    let folder = blocked.only_folder();
    for seed in ["2", "3"] {
        fs::remove_dir_all(folder.join("seeds").join(seed)).expect("a finished seed has a folder");
    }
    // A file where the folder of a seed belongs, which nothing of ours would put there.
    fs::write(folder.join("seeds/3"), "mine").expect("writable");
    let arguments = [&["run", DUMBBELL, "--quiet", "--out", blocked.path()], &batch[..]].concat();
    let ended = tidegate(&arguments).with(1);
    let named = folder.join("seeds/3").display().to_string();
    assert!(ended.out.is_empty() && ended.err.contains(&named), "{}", ended.err);
    assert_eq!(fs::read(folder.join("seeds/3")).expect("left alone"), b"mine");
    fs::remove_file(folder.join("seeds/3")).expect("writable");
    run(&blocked, &batch);
    assert_eq!(recalled(&folder), Value::Number(2.0));
    assert_same(&whole.only_folder(), &folder);
}

#[test]
fn a_batch_that_was_killed_keeps_its_finished_seeds() {
    let (killed, whole) = (Scratch::new("killed"), Scratch::new("unharmed"));
    let batch = ["--seeds", "60", "--threads", "1"];
    let mut child = program()
        .args(["run", DUMBBELL, "--quiet", "--out", killed.path()])
        .args(batch)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let finished = || {
        let seeds = fs::read_dir(&killed.0).ok()?.next()?.ok()?.path().join("seeds");
        let seeds = fs::read_dir(seeds).ok()?.flatten();
        Some(seeds.filter(|seed| seed.path().join("checksums.txt").exists()).count())
    };
    let begun = Instant::now();
    while finished().unwrap_or(0) < 3 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no seed is finished after a minute");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    let folder = killed.only_folder();
    assert!(!folder.join("run.json").exists(), "the batch ended before it was killed");
    run(&killed, &batch);
    let Value::Number(kept) = recalled(&folder) else { panic!("run.json has no count") };
    assert!((3.0..60.0).contains(&kept), "{kept}");
    run(&whole, &batch);
    assert_same(&folder, &whole.only_folder());
}

#[test]
fn two_runs_never_write_one_folder_at_once() {
    let scratch = Scratch::new("two-runs");
    let run = ["run", DUMBBELL, "--seeds", "1", "--out", scratch.path()];
    tidegate(&run).with(0);
    let lock = std::fs::File::open(scratch.only_folder().join("seeds/.lock")).expect("kept");
    lock.lock().expect("free");
    let stated = tidegate(&run).with(1).err;
    assert!(stated.contains("is being written by another run"), "{stated}");
    lock.unlock().expect("held");
    tidegate(&run).with(0);
}
