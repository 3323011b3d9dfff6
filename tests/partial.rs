//! Batches in which some runs fail: the others are there, and the exit code is 4.
//!
//! No scheme of ours fails, so this target is itself the program, with one that does. It therefore brings its own
//! `main`: asked by the environment it is the program, else it runs its tests.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::LazyLock;
use std::{env, fs};

use support::json::Value;
use support::program::{Ended, Scratch};
use tidegate_core::context::Context;
use tidegate_core::ndn::consumer::profile::ConsumerProfile;
use tidegate_core::scheme::congestion::{CongestionController, Delivery, FlowView, Loss};
use tidegate_core::scheme::{Provenance, Scheme};

/// Set for the program, and not for the tests.
const IS_PROGRAM: &str = "TIDEGATE_TEST_IS_PROGRAM";

/// A consumer that fails at its first loss, so that chance decides which seeds do.
static FRAIL: Scheme = Scheme {
    name: "frail",
    summary: "a window of 4 that fails at the first loss",
    paper: "none: made for a test",
    provenance: Provenance::Paper,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|_| Ok(Box::new(Frail))),
    ..Scheme::NONE
};

/// What [`Case::rebuilt`] puts at the end of the program.
const EDIT: &[u8] = b"edited";

static IS_EDITED: LazyLock<bool> = LazyLock::new(|| {
    let program = env::current_exe().and_then(fs::read).expect("the program can be read");
    program.ends_with(EDIT)
});

#[derive(Debug)]
struct Frail;

impl CongestionController for Frail {
    /// A rebuilt program is another one: its window is smaller.
    fn window(&self) -> f64 {
        if *IS_EDITED { 2.0 } else { 4.0 }
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, _: &Delivery, _: &FlowView) {}

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        panic!("segment {} is lost", loss.segment);
    }
}

const SCENARIO: &str = r#"format = 1
[scenario]
name = "frail"
duration = "5s"
seeds = 6
[topology]
builtin = "linear"
routers = 1
link = { rate = "10Mbps", delay = "1ms", loss = { model = "bernoulli", probability = 0.01 } }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "frail"
size = "40kB"
"#;

/// The program with [`FRAIL`], on a scenario of a folder of its own.
struct Case {
    scratch: Scratch,
    scenario: String,
}

impl Case {
    fn new(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let scenario = scratch.file("frail.toml", SCENARIO.as_bytes());
        Self { scratch, scenario }
    }

    fn notify(&self, words: &[&str], more: &[&str]) -> Ended {
        self.run_program(&env::current_exe().expect("a test knows its program"), words, more)
    }

    fn run_program(&self, program: &Path, words: &[&str], more: &[&str]) -> Ended {
        let out = self.out();
        let mut command = Command::new(program);
        command.args(words).arg(&self.scenario).args(["--quiet", "--out", &out]).args(more);
        command.env(IS_PROGRAM, "1").stdin(Stdio::null());
        Ended::from(command.output().expect("the program starts"))
    }

    /// The program with another hash and a smaller window of [`FRAIL`].
    fn rebuilt(&self) -> PathBuf {
        let (ours, copy) =
            (env::current_exe().expect("a test knows its program"), self.scratch.at("rebuilt"));
        let mut content = fs::read(&ours).expect("the program can be read");
        content.extend_from_slice(EDIT);
        fs::copy(&ours, &copy).expect("the program can be copied");
        fs::write(&copy, content).expect("the copy can be written");
        PathBuf::from(copy)
    }

    fn out(&self) -> String {
        self.scratch.at("out")
    }

    /// Folders and files in the only folder of results.
    fn results(&self) -> Vec<PathBuf> {
        let folders = entries(Path::new(&self.out()));
        let [folder] = folders.as_slice() else { panic!("{folders:?}") };
        entries(folder)
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    entries
}

/// What is named as failed, in order: the words before `panicked` of each line of ours.
fn failed(ended: &Ended) -> Vec<&str> {
    let ours = ended.err.lines().filter_map(|line| line.strip_prefix("error: "));
    ours.filter_map(|line| line.split_once(" panicked: segment ")).map(|(name, _)| name).collect()
}

fn a_run_keeps_the_seeds_that_did_not_fail_and_ends_with_4() {
    let case = Case::new("run");
    let ended = case.notify(&["run"], &[]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(4), ""), "{}", ended.err);
    let kept: Vec<PathBuf> = case.results().into_iter().filter(|path| path.ends_with("seeds")).collect();
    let is_kept = |seed: &u32| kept[0].join(seed.to_string()).join("checksums.txt").exists();
    let missing: Vec<String> =
        (1..=6).filter(|seed| !is_kept(seed)).map(|seed| format!("seed {seed}")).collect();
    assert_eq!(failed(&ended), missing);
    assert!((1..6).contains(&missing.len()), "{missing:?} failed: chance should have spared some");
    assert!(!case.results().iter().any(|path| path.ends_with("runs.parquet")), "tables without all seeds");
}

fn the_seeds_of_a_failed_batch_are_not_run_again() {
    let case = Case::new("again");
    let first = case.notify(&["run"], &[]);
    let kept = |case: &Case| {
        let seeds = case.results().into_iter().find(|path| path.ends_with("seeds")).expect("kept");
        let changed =
            |path: PathBuf| fs::metadata(path.join("checksums.txt")).and_then(|file| file.modified()).ok();
        entries(&seeds).into_iter().map(changed).collect::<Vec<_>>()
    };
    let before = kept(&case);
    let second = case.notify(&["run"], &[]);
    assert_eq!((second.code, failed(&second)), (first.code, failed(&first)));
    assert_eq!(kept(&case), before);
}

fn a_sweep_keeps_the_runs_that_did_not_fail_and_ends_with_4() {
    let case = Case::new("sweep");
    let grid = ["--grid", "topology.link.loss.probability=0.0,0.5", "--seeds", "2"];
    let ended = case.notify(&["sweep", "run"], &grid);
    assert_eq!(ended.code, Some(4), "{}", ended.err);
    let point = |seed: u32| format!("topology.link.loss.probability=0.5, seed {seed}");
    assert_eq!(failed(&ended), [point(1), point(2)]);
    assert!(
        ended.out.starts_with(
            "some runs failed; 2 of 4 runs are missing; tables are written when all are finished\n"
        ),
        "{}",
        ended.out
    );
    let status = case.notify(&["sweep", "status"], &[&grid[..], &["--format", "json"]].concat());
    let counts = ["done", "missing", "damaged"].map(|name| status.json().get(name).clone());
    assert_eq!(counts, [2.0, 2.0, 0.0].map(Value::Number));
    let again = case.notify(&["sweep", "run"], &[&grid[..], &["--format", "json"]].concat());
    assert_eq!((again.code, again.json().get("missing")), (Some(4), &Value::Number(2.0)), "{}", again.err);
}

fn a_sweep_whose_failing_runs_are_of_another_share_ends_with_0() {
    let case = Case::new("share");
    let grid = ["--grid", "topology.link.loss.probability=0.0,0.5", "--seeds", "1"];
    let codes = ["1/2", "2/2"]
        .map(|share| case.notify(&["sweep", "run"], &[&grid[..], &["--shard", share]].concat()).code);
    assert_eq!(codes, [Some(0), Some(4)]);
}

fn another_build_of_a_program_with_outside_schemes_finds_none_of_its_runs() {
    let case = Case::new("rebuilt");
    let grid = ["--grid", "topology.link.loss.probability=0.0", "--seeds", "2"];
    let done = |program: &Path| {
        let status =
            case.run_program(program, &["sweep", "status"], &[&grid[..], &["--format", "json"]].concat());
        status.json().get("done").clone()
    };
    let ours = env::current_exe().expect("a test knows its program");
    assert_eq!(case.notify(&["sweep", "run"], &grid).code, Some(0));
    assert_eq!(done(&ours), Value::Number(2.0));
    let rebuilt = case.rebuilt();
    assert_eq!(done(&rebuilt), Value::Number(0.0));
    let why = case.run_program(&rebuilt, &["sweep", "why"], &grid);
    assert!(why.out.contains("the program was built from other sources"), "{}", why.out);
    let unused = case.run_program(&rebuilt, &["sweep", "gc"], &grid).out;
    assert!(
        unused.contains("(2 of them made by a program built from other sources); runs in use: 0"),
        "{unused}"
    );
    assert!(case.notify(&["sweep", "gc"], &grid).out.ends_with("no run is unused; runs in use: 2\n"));
}

fn a_resumed_run_never_mixes_two_builds() {
    let case = Case::new("mixed");
    let lossless = ["--set", "topology.link.loss.probability=0.0"];
    assert_eq!(case.notify(&["run"], &lossless).code, Some(0));
    assert_eq!(case.run_program(&case.rebuilt(), &["run"], &lossless).code, Some(0));
    let folders = entries(Path::new(&case.out()));
    assert_eq!(folders.len(), 2, "each build has a folder of its own");
    let notes = folders.iter().map(|folder| {
        let ended = report(&case.rebuilt(), folder);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        usize::from(ended.err.contains("computed these results, and this program is code"))
    });
    assert_eq!(notes.sum::<usize>(), 1, "a page of other code is said to be one");
}

/// Both builds write whole results of the same command; each is asked in its own words for its folder and code.
fn assert_builds_are_apart(case: &Case, words: &[&str], more: &[&str]) {
    let more = [more, &["--set", "topology.link.loss.probability=0.0", "--format", "json"]].concat();
    let notify = |program: &Path| {
        let ended = case.run_program(program, words, &more);
        assert_eq!(ended.code, Some(0), "{}", ended.err);
        let stated = ended.json();
        (stated.get("folder").text().to_owned(), stated.get("code").text().to_owned())
    };
    let ours = notify(&env::current_exe().expect("a test knows its program"));
    assert_page_is_made_again_by(&case.rebuilt(), Path::new(&ours.0));
    let rebuilt = notify(&case.rebuilt());
    assert_ne!(ours.0, rebuilt.0, "the later build has overwritten the results of the earlier one");
    assert_ne!(ours.1, rebuilt.1);
    for (folder, code) in [ours, rebuilt] {
        let page = fs::read_to_string(Path::new(&folder).join("report.html")).expect("a page");
        let short: Vec<&str> = code.split('-').map(|part| &part[..8]).collect();
        assert!(page.contains(&format!(" · code {}", short.join("-"))), "{code}");
    }
}

fn a_baseline_of_another_build_is_held_against_runs_of_this_one() {
    let case = Case::new("baseline");
    let lossless = ["--seeds", "2", "--set", "topology.link.loss.probability=0.0"];
    let saved = case.notify(&["compare"], &[&lossless[..], &["--save-baseline", "good"]].concat());
    assert_eq!(saved.code, Some(0), "{}", saved.err);
    let against = [&lossless[..], &["--baseline", "good"]].concat();
    let same = case.notify(&["compare"], &against);
    assert!(
        same.code == Some(0)
            && same.out.contains("against the baseline (of the same code):\nwithin noise: all "),
        "{}",
        same.out
    );
    let changed = case.run_program(&case.rebuilt(), &["compare"], &against);
    assert_eq!(changed.code, Some(3), "half the window has less goodput: {}{}", changed.out, changed.err);
    let row = changed.out.lines().find(|line| line.contains(" goodput ")).unwrap_or_default();
    assert!(row.ends_with("  worse") && changed.out.contains("(code "), "{}", changed.out);
}

/// The stored runs of the build that wrote `folder` give `program` the same page.
fn assert_page_is_made_again_by(program: &Path, folder: &Path) {
    let page = folder.join("report.html");
    let first = fs::read(&page).expect("a page");
    let ended = report(program, folder);
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    assert!(fs::read(&page).expect("a page") == first, "another build makes another page of the same runs");
}

fn report(program: &Path, folder: &Path) -> Ended {
    let mut command = Command::new(program);
    command.arg("report").arg(folder).env(IS_PROGRAM, "1").stdin(Stdio::null());
    Ended::from(command.output().expect("the program starts"))
}

fn comparisons_and_sweeps_of_two_builds_have_folders_of_their_own_and_name_their_code() {
    assert_builds_are_apart(
        &Case::new("apart-c"),
        &["compare"],
        &["--schemes", "fixed,frail", "--seeds", "2"],
    );
    let grid = ["--grid", "topology.link.delay=1ms,2ms", "--seeds", "1"];
    assert_builds_are_apart(&Case::new("apart-s"), &["sweep", "run"], &grid);
}

fn a_comparison_with_a_failing_variant_keeps_the_other_and_ends_with_4() {
    let case = Case::new("compare");
    let ended = case.notify(&["compare"], &["--schemes", "fixed,frail", "--seeds", "6"]);
    assert_eq!((ended.code, ended.out.as_str()), (Some(4), ""), "{}", ended.err);
    let failed = failed(&ended);
    assert!((1..6).contains(&failed.len()), "{}", ended.err);
    assert!(failed.iter().all(|run| run.contains("frail") && !run.contains("fixed")), "{failed:?}");
    let store = Path::new(&case.out()).join("store");
    let shelves = entries(&store).into_iter().filter(|path| path.is_dir() && !path.ends_with("unfinished"));
    let kept: usize = shelves.map(|shelf| entries(&shelf).len()).sum();
    assert_eq!(kept, 12 - failed.len());
}

/// A test, and the claim it is called by.
type Test = (&'static str, fn());

macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        const TESTS: &[Test] = &[$((stringify!($name), $name)),*];
    };
}

tests! {
    a_run_keeps_the_seeds_that_did_not_fail_and_ends_with_4,
    the_seeds_of_a_failed_batch_are_not_run_again,
    a_sweep_keeps_the_runs_that_did_not_fail_and_ends_with_4,
    a_sweep_whose_failing_runs_are_of_another_share_ends_with_0,
    a_comparison_with_a_failing_variant_keeps_the_other_and_ends_with_4,
    another_build_of_a_program_with_outside_schemes_finds_none_of_its_runs,
    a_resumed_run_never_mixes_two_builds,
    a_baseline_of_another_build_is_held_against_runs_of_this_one,
    comparisons_and_sweeps_of_two_builds_have_folders_of_their_own_and_name_their_code,
}

/// The tests whose names contain a word of the command line, all of them without one.
fn main() -> ExitCode {
    if env::var_os(IS_PROGRAM).is_some() {
        return tidegate::main_with(&[&FRAIL]);
    }
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_required = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let mut is_sound = true;
    for (name, test) in TESTS.iter().filter(|(name, _)| is_required(name)) {
        let ended = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if ended.is_ok() { "ok" } else { "FAILED" });
        is_sound &= ended.is_ok();
    }
    if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
