//! Sweeps: what a grid leaves behind, and that it does not matter how it came to be.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use support::json::Value;
use support::program::{Ended, Scratch, program, tidegate};

/// Small, with losses, so that seeds differ.
const SCENARIO: &str = r#"
format = 1
[scenario]
name = "small"
duration = "3s"
seeds = 3
sample = "100ms"
[topology]
builtin = "dumbbell"
pairs = 1
access = { rate = "100Mbps", delay = "1ms" }
bottleneck = { rate = "10Mbps", delay = "5ms", queue = { limit = "20pkt" }, loss = { model = "bernoulli", probability = 0.01 } }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "icp"
size = "500kB"
[sweep]
"topology.bottleneck.rate" = ["5Mbps", "10Mbps"]
"flow.*.scheme" = ["icp", "fixed"]
"#;

struct Sweep {
    scratch: Scratch,
    scenario: String,
}

impl Sweep {
    fn new(test: &str) -> Self {
        Self::of(test, SCENARIO)
    }

    fn of(test: &str, scenario: &str) -> Self {
        let scratch = Scratch::new(test);
        let scenario = scratch.file("small.toml", scenario.as_bytes());
        Self { scratch, scenario }
    }

    fn out(&self) -> String {
        self.scratch.at("out")
    }

    fn notify(&self, action: &str, more: &[&str]) -> Ended {
        let out = self.out();
        let fixed = ["sweep", action, &self.scenario, "--quiet", "--out", &out];
        tidegate(&[&fixed, more].concat())
    }

    fn start(&self, more: &[&str]) -> Child {
        let out = self.out();
        let fixed = ["sweep", "run", &self.scenario, "--quiet", "--threads", "1", "--out", &out];
        let mut command = program();
        command.args([&fixed, more].concat()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the program starts")
    }

    /// The tables of all points, and the page without the place of the scenario.
    fn results(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.out()).expect("readable").flatten().map(|entry| entry.path());
        let folders: Vec<PathBuf> = entries.filter(|path| !path.ends_with("store")).collect();
        let [folder] = folders.as_slice() else { panic!("{folders:?}") };
        let mut results = crate::results(folder);
        let page = results.get_mut("report.html").expect("a page is written");
        *page = String::from_utf8_lossy(page).replace(&self.scenario, "SCENARIO").into_bytes();
        results
    }

    /// Folders of finished runs.
    fn runs(&self) -> Vec<PathBuf> {
        let store = PathBuf::from(self.out()).join("store");
        let folders = |path: &Path| -> Vec<PathBuf> {
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
        };
        let inner = folders(&store).into_iter().filter(|path| !path.ends_with("unfinished"));
        let mut runs: Vec<PathBuf> = inner.flat_map(|path| folders(&path)).collect();
        runs.sort();
        runs
    }

    fn counts(&self) -> [f64; 3] {
        let status = self.notify("status", &["--format", "json"]).with(0).json();
        ["done", "missing", "damaged"].map(|name| match status.get(name) {
            Value::Number(count) => *count,
            other => panic!("{other:?}"),
        })
    }

    /// Waits until some runs are finished.
    fn wait_for_runs(&self, count: usize) {
        let begun = Instant::now();
        while self.runs().len() < count {
            assert!(begun.elapsed() < Duration::from_secs(60), "no run is finished after a minute");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Fails with the names of the files that differ, not with their bytes.
#[track_caller]
fn assert_same(one: &Sweep, other: &Sweep) {
    let (mut one, mut other) = (one.results(), other.results());
    // The command names the folder, which is another.
    assert!(one.remove("command.txt").is_some() && other.remove("command.txt").is_some());
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    let differing: Vec<&String> = one.keys().filter(|name| one[*name] != other[*name]).collect();
    assert!(differing.is_empty(), "{differing:?} differ");
}

/// One that ran at once and undisturbed.
fn whole(test: &str) -> Sweep {
    let sweep = Sweep::new(test);
    sweep.notify("run", &["--threads", "2"]).with(0);
    sweep
}

#[test]
fn a_sweep_leaves_tables_with_a_column_per_parameter_and_a_row_per_point() {
    let sweep = whole("sweep-files");
    let results = sweep.results();
    let names: Vec<&str> = results.keys().map(String::as_str).collect();
    let expected = [
        "code.txt",
        "command.txt",
        "figures.json",
        "flows.parquet",
        "links.parquet",
        "points.csv",
        "points.parquet",
        "report.html",
        "runs.parquet",
        "scenario.toml",
    ];
    assert_eq!(names, expected);
    let points = String::from_utf8_lossy(&results["points.csv"]).into_owned();
    let lines: Vec<&str> = points.lines().collect();
    assert!(lines[0].starts_with("point,topology.bottleneck.rate_mbps,flow.*.scheme,runs,goodput_mbps,"));
    let starts: Vec<String> =
        lines[1..].iter().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(starts, ["0 5 icp 3", "1 5 fixed 3", "2 10 icp 3", "3 10 fixed 3"]);
    assert_eq!(&results["runs.parquet"][..4], b"PAR1");
    let page = String::from_utf8_lossy(&results["report.html"]).into_owned();
    for part in [
        "<figure id=\"goodput_mbps\"><h3>Goodput</h3>",
        "fairness (Jain&#39;s index) [1]",
        "topology.bottleneck.rate [Mbit/s]",
        "tidegate sweep run ",
        "<a href=\"#schemes\">",
        "<a href=\"#provenance\">",
        "<td>5Mbps, icp; 10Mbps, icp</td><td>consumer</td><td>icp</td>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(sweep.counts(), [12.0, 0.0, 0.0]);
}

#[test]
fn three_shares_in_any_order_equal_one_sweep() {
    let shared = Sweep::new("sweep-shares");
    for share in ["3/3", "1/3"] {
        let stated = shared.notify("run", &["--shard", share, "--threads", "1"]).with(0).out;
        assert!(stated.contains("are missing"), "{stated}");
    }
    assert_eq!(shared.counts(), [8.0, 4.0, 0.0]);
    shared.notify("run", &["--shard", "2/3", "--threads", "8"]).with(0);
    assert_same(&shared, &whole("sweep-unshared"));
}

#[test]
fn a_sweep_that_was_killed_goes_on_where_it_was() {
    let killed = Sweep::new("sweep-killed");
    let mut child = killed.start(&[]);
    killed.wait_for_runs(3);
    child.kill().expect("the child is ours");
    child.wait().expect("the child is ours");
    let [done, missing, damaged] = killed.counts();
    assert!(done >= 3.0 && missing >= 1.0 && damaged == 0.0, "{done} done, {missing} missing");
    killed.notify("run", &[]).with(0);
    assert_same(&killed, &whole("sweep-unharmed"));
}

#[test]
#[cfg(unix)]
fn an_interrupted_sweep_ends_with_130_and_keeps_its_runs() {
    let stopped = Sweep::new("sweep-stopped");
    let mut child = stopped.start(&["--seeds", "40"]);
    stopped.wait_for_runs(2);
    let reported = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(reported.expect("kill is there").success());
    assert_eq!(child.wait().expect("the child is ours").code(), Some(130));
    let kept = stopped.runs().len();
    assert!((2..160).contains(&kept), "{kept}");
    // The first three seeds are part of both.
    stopped.notify("run", &[]).with(0);
    assert_same(&stopped, &whole("sweep-unstopped"));
}

#[test]
fn a_damaged_run_is_seen_and_made_again() {
    let damaged = whole("sweep-damaged");
    let before = damaged.results();
    let table = damaged.runs()[5].join("flow_samples.parquet");
    let mut bytes = fs::read(&table).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&table, bytes).expect("writable");
    assert_eq!(damaged.counts(), [11.0, 0.0, 1.0]);
    let why = damaged.notify("why", &[]).with(0).out;
    assert_eq!(why.matches("is damaged and will be run again").count(), 1, "{why}");
    damaged.notify("run", &[]).with(0);
    assert_eq!(damaged.counts(), [12.0, 0.0, 0.0]);
    assert!(before == damaged.results());
}

#[test]
fn a_run_that_cannot_be_stored_is_an_error_and_the_others_are_kept() {
    let blocked = whole("sweep-blocked");
    let before = blocked.results();
    let shelf = |run: &PathBuf| run.parent().expect("a run lies on a shelf").to_owned();
    let is_alone = |run: &PathBuf| fs::read_dir(shelf(run)).expect("readable").count() == 1;
    let place = shelf(&blocked.runs().into_iter().find(is_alone).expect("there are 256 shelves"));
    fs::remove_dir_all(&place).expect("a finished run has a folder");
    // A file where the folder belongs.
    fs::write(&place, "mine").expect("writable");
    let ended = blocked.notify("run", &[]).with(1);
    assert!(ended.err.contains(&place.display().to_string()), "{}", ended.err);
    let [done, ..] = blocked.counts();
    assert_eq!(done, 11.0);
    fs::remove_file(&place).expect("a file still");
    blocked.notify("run", &[]).with(0);
    assert!(before == blocked.results());
}

#[test]
fn another_spelling_of_the_scenario_finds_the_same_runs() {
    let sweep = whole("sweep-spelling");
    let respelled = SCENARIO
        .replace("name = \"small\"", "name = \"other\"   # a comment")
        .replace("\"3s\"", "\"3000ms\"")
        .replace("size = \"500kB\"", "size = \"0.5MB\"");
    assert_ne!(respelled, SCENARIO);
    fs::write(&sweep.scenario, respelled).expect("writable");
    assert_eq!(sweep.counts(), [12.0, 0.0, 0.0]);
    fs::write(&sweep.scenario, SCENARIO.replace("\"3s\"", "\"2s\"")).expect("writable");
    assert_eq!(sweep.counts(), [0.0, 12.0, 0.0]);
    let why = sweep.notify("why", &["--seed", "2"]).with(0).out;
    assert!(why.contains("scenario.duration: \"2s\" here, \"3s\" there"), "{why}");
}

#[test]
fn values_that_do_not_fit_are_reported_before_anything_runs() {
    let sweep = Sweep::new("sweep-wrong");
    let stated =
        sweep.notify("run", &["--grid", "flow.*.scheme=icp,icpp", "--grid", "flow.0.size=7"]).with(1).err;
    for part in [
        "--grid 'flow.*.scheme=icpp': consumer scheme \"icpp\" is not known",
        "--grid 'flow.0.size=7': size: 7",
    ] {
        assert!(stated.contains(part), "{stated}");
    }
    assert!(!Path::new(&sweep.out()).exists());
    let wrong = SCENARIO.replace("\"5Mbps\", \"10Mbps\"", "\"5Mbps\", \"fast\"");
    let sweep = Sweep::of("sweep-wrong-line", &wrong);
    let stated = sweep.notify("run", &[]).with(1).err;
    assert!(
        stated.contains("small.toml:20:40: [sweep] \"topology.bottleneck.rate\" = \"fast\": rate: "),
        "{stated}"
    );
}

#[test]
fn a_wrong_sweep_table_is_reported_at_its_line() {
    for (from, to, reported) in [
        ("[\"icp\", \"fixed\"]", "\"icp\"", "small.toml:21:19: \"flow.*.scheme\": \"icp\"; a list of 1 to"),
        ("[\"icp\", \"fixed\"]", "[\"icp\", \"icp\"]", "small.toml:21:27: "),
        ("\"flow.*.scheme\" =", "flow.scheme =", "small.toml:21:1: write the whole key in quotes"),
    ] {
        let sweep = Sweep::of("sweep-table", &SCENARIO.replace(from, to));
        let stated = sweep.notify("run", &[]).with(1).err;
        assert!(stated.contains(reported), "{stated}");
    }
}

#[test]
fn gc_removes_only_runs_that_nothing_uses_and_only_when_requested() {
    let sweep = whole("sweep-gc");
    let store = PathBuf::from(sweep.out()).join("store");
    let foreign = store.join("ab").join("notes");
    fs::create_dir_all(&foreign).expect("writable");
    let fewer = ["--grid", "flow.*.scheme=icp", "--seeds", "2"];
    let listed = sweep.notify("gc", &fewer).with(0).out;
    assert!(listed.contains("unused runs, which --delete removes: 8; runs in use: 4"), "{listed}");
    assert_eq!(sweep.counts(), [12.0, 0.0, 0.0]);
    sweep.notify("gc", &[&fewer[..], &["--delete"]].concat()).with(0);
    assert_eq!(sweep.counts(), [4.0, 8.0, 0.0]);
    assert!(foreign.exists());
    let elsewhere = sweep.scratch.path();
    sweep.notify("gc", &["--store", elsewhere, "--delete"]).with(1);
    assert!(Path::new(&sweep.scenario).exists());
}

#[test]
fn a_dry_run_lists_the_runs_that_would_be_made() {
    let plain = SCENARIO.split("[sweep]").next().expect("the scenario");
    let sweep = Sweep::of("sweep-dry", plain);
    let [two, one] = ["icp,fixed", "icp"].map(|schemes| format!("flow.*.scheme={schemes}"));
    let dry_run = |more: &[&str]| {
        let grid = ["--grid", &two, "--dry-run"];
        sweep.notify("run", &[&grid[..], more].concat()).with(0)
    };
    let list = "  flow.*.scheme=icp, seed 2\n  flow.*.scheme=fixed, seed 2\n";
    let stated = dry_run(&["--seeds", "2", "--shard", "2/2"]).out;
    assert_eq!(
        stated,
        format!("shard 2/2: 2 points, 2 seeds each: 2 runs, 0 of them finished earlier\n{list}")
    );
    assert!(!Path::new(&sweep.out()).exists());
    sweep.notify("run", &["--grid", &two, "--seeds", "1"]).with(0);
    let stated = dry_run(&["--seeds", "2"]).out;
    assert_eq!(stated, format!("2 points, 2 seeds each: 4 runs, 2 of them finished earlier\n{list}"));
    let json = dry_run(&["--seeds", "2", "--format", "json"]).json();
    assert_eq!(json.get("run_names").list().len(), 2, "{json:?}");
    let all = sweep.notify("run", &["--grid", &one, "--seeds", "1", "--dry-run"]).with(0).out;
    assert_eq!(all, "1 point, 1 seed each: 1 run, all of them finished earlier\n");
}

#[test]
fn a_key_is_given_once() {
    let sweep = Sweep::of("sweep-twice", SCENARIO.split("[sweep]").next().expect("the scenario"));
    for (first, more, reported) in [
        ("flow.*.scheme=icp", ["--grid", "flow.*.scheme=fixed"], "flow.*.scheme is given twice"),
        (
            "flow.0.scheme=icp",
            ["--grid", "flow.*.scheme=fixed"],
            "the values of flow.*.scheme replace those of flow.0.scheme; give each value by one key only",
        ),
        (
            "flow.*.scheme=icp",
            ["--set", "flow.0.scheme=fixed"],
            "--grid flow.*.scheme replaces the value of --set flow.0.scheme; remove one of them",
        ),
    ] {
        let stated = sweep.notify("run", &[&["--grid", first][..], &more].concat()).with(2).err;
        assert!(stated.contains(reported), "{stated}");
    }
}

#[test]
fn whole_schemes_are_swept_as_they_are_compared_and_share_their_runs() {
    let plain = SCENARIO.split("[sweep]").next().expect("the scenario");
    let sweep = Sweep::of("sweep-whole", plain);
    let schemes = ["--schemes", "icp,mircc", "--seeds", "2"];
    sweep.notify("run", &schemes).with(0);
    let out = sweep.out();
    let compare =
        ["compare", &sweep.scenario, "--out", &out, "--quiet", "--max-seeds", "2", "--until-ci", "100%"];
    tidegate(&[&compare[..], &["--schemes", "icp,mircc"]].concat());
    let status = sweep.notify("status", &schemes).with(0).out;
    assert!(status.ends_with("4 runs done, 0 missing, 0 damaged\n"), "{status}");
    let alone = ["--grid", "flow.*.scheme=icp,mircc", "--seeds", "2"];
    let stated = sweep.notify("run", &alone).with(1).err;
    assert!(stated.contains("mircc without its part on a router"), "{stated}");
    sweep.notify("run", &[&alone[..], &["--allow-incomplete"]].concat()).with(0);
}
