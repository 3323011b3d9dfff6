//! Every command there is: it prints JSON when asked to, and a wrong command line ends with 2.

use crate::{DUMBBELL, Scratch, tidegate};
use support::json::Value;

/// A command line of each command that ends by itself, and the code it ends with; `OUT` is a folder of the test,
/// `RESULTS` one of results.
const ENDING: &[(&str, &str, i32)] = &[
    ("run", "run DUMBBELL --seeds 1 --out OUT", 0),
    ("sweep run", "sweep run DUMBBELL --seeds 1 --grid flow.0.size=1MB,2MB --out OUT", 0),
    ("sweep status", "sweep status DUMBBELL --seeds 1 --grid flow.0.size=1MB,2MB --out OUT", 0),
    ("sweep why", "sweep why DUMBBELL --seeds 1 --grid flow.0.size=1MB,2MB --out OUT", 0),
    ("sweep gc", "sweep gc DUMBBELL --out OUT", 0),
    ("compare", "compare DUMBBELL --seeds 2 --schemes icp,fixed --out OUT", 0),
    ("reproduce", "reproduce plr --reduced --out OUT", 0),
    ("schemes", "schemes plr", 0),
    ("check", "check DUMBBELL --strict", 3),
    ("export", "export DUMBBELL --to qlog --out OUT/qlog", 0),
    ("report", "report RESULTS", 0),
    ("figure", "figure RESULTS throughput", 0),
    ("import", "import scenarios/topologies/abilene.graphml -o OUT/abilene.toml", 0),
    ("new", "new OUT/new.toml", 0),
    ("completions", "completions bash", 0),
    ("man", "man run", 0),
    ("docs", "docs commands", 0),
    ("bench", "bench papers --runs 1 --duration 100ms", 0),
    #[cfg(target_os = "linux")]
    ("link", "link --listen 127.0.0.1:0 --to 127.0.0.1:9 --duration 10ms", 0),
];

/// Commands that other tests and scripts ask for JSON, and which.
const ELSEWHERE: &[(&str, &str)] = &[
    ("", "has no output of its own"),
    ("sweep", "only has commands below it"),
    #[cfg(target_os = "linux")]
    ("key", "only has commands below it"),
    #[cfg(target_os = "linux")]
    ("key generate", "keys::a_key_is_certified_by_another_and_goes_to_another_folder"),
    #[cfg(target_os = "linux")]
    ("key list", "keys::a_key_is_certified_by_another_and_goes_to_another_folder"),
    #[cfg(target_os = "linux")]
    ("key export", "keys::a_key_is_certified_by_another_and_goes_to_another_folder"),
    #[cfg(target_os = "linux")]
    ("key import", "keys::a_key_is_certified_by_another_and_goes_to_another_folder"),
    #[cfg(target_os = "linux")]
    ("key issue", "keys::a_key_is_certified_by_another_and_goes_to_another_folder"),
    #[cfg(target_os = "linux")]
    ("twin", "live::the_twins_say_in_json_how_far_apart_they_are"),
    #[cfg(target_os = "linux")]
    ("forward", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("serve", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("fetch", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("status", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("get", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("put", "live::every_live_command_prints_json"),
    #[cfg(target_os = "linux")]
    ("top", "draws on a terminal; top::without_a_terminal_it_refers_to_status"),
];

/// The words of every command.
fn commands() -> Vec<String> {
    let listed = tidegate(&["docs", "--format", "json"]).with(0).json();
    listed.get("commands").list().iter().map(|command| command.text().to_owned()).collect()
}

#[test]
fn no_command_is_without_a_test_of_its_json() {
    let known = || ENDING.iter().map(|(words, ..)| *words).chain(ELSEWHERE.iter().map(|(words, _)| *words));
    let commands = commands();
    let missing: Vec<&String> =
        commands.iter().filter(|words| !known().any(|known| known == *words)).collect();
    assert!(missing.is_empty(), "add to tests/cli/audit.rs: {missing:?}");
    let gone: Vec<&str> = known().filter(|known| !commands.iter().any(|words| words == known)).collect();
    assert!(gone.is_empty(), "{gone:?} are no commands");
}

#[test]
fn every_command_that_ends_prints_one_json_document_and_nothing_else() {
    let scratch = Scratch::new("audit");
    let made = ["run", DUMBBELL, "--seeds", "1", "--quiet", "--out", &scratch.at("made"), "--format", "json"];
    let results = tidegate(&made).with(0).json().get("folder").text().to_owned();
    let out = scratch.at("out");
    std::fs::create_dir_all(&out).expect("the folder can be written");
    for (words, line, code) in ENDING {
        assert!(line.starts_with(words), "{line}");
        let fill =
            |word: &str| word.replace("DUMBBELL", DUMBBELL).replace("RESULTS", &results).replace("OUT", &out);
        let arguments: Vec<String> =
            line.split(' ').map(fill).chain(["--format", "json"].map(str::to_owned)).collect();
        let ended = tidegate(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).with(*code);
        Value::parse(&ended.out).unwrap_or_else(|why| panic!("{line}: {why}\n{}", ended.out));
    }
}

#[test]
fn a_bench_counts_the_packets_of_the_time_that_it_simulates() {
    let hops = |duration: &str| {
        let stated =
            tidegate(&["bench", "papers", "--runs", "1", "--duration", duration, "--format", "json"]);
        let document = stated.with(0).json();
        let [bare, case] = document.list() else { panic!("{document:?}") };
        assert_eq!((bare.get("name").text(), bare.get("cpu_time_over_bare")), ("bare", &Value::Number(1.0)));
        assert_eq!((case.get("name").text(), case.get("runs")), ("papers", &Value::Number(1.0)));
        let Value::Number(hops) = case.get("packet_hops") else { panic!("{case:?}") };
        let rates = ["min_hops_per_cpu_s", "hops_per_cpu_s", "max_hops_per_cpu_s"].map(|key| case.get(key));
        assert!(matches!(rates[0], Value::Number(rate) if *rate > 0.0), "{case:?}");
        assert!(rates[0] == rates[1] && rates[1] == rates[2], "{case:?}");
        *hops
    };
    let (short, long) = (hops("100ms"), hops("400ms"));
    assert!(0.0 < short && 2.0 * short < long, "{short} and {long} packet-hops");
    let wrong = tidegate(&["bench", "papers", "--runs", "1", "--duration", "soon"]).with(2).err;
    assert!(wrong.contains("--duration") && wrong.contains("soon"), "{wrong}");
}

#[test]
fn an_error_is_a_json_object_when_json_is_requested() {
    let wrong: [(&[&str], i32, &str); 4] = [
        (&["run", "no-such-file.toml"], 1, "no-such-file.toml: "),
        (&["run", "--no-such-option"], 2, "--no-such-option"),
        (&["schemes", "no-such-scheme"], 2, "no-such-scheme"),
        (&["new", "no/such/folder/x.toml"], 1, "no/such/folder/x.toml: "),
    ];
    for (arguments, code, stated) in wrong {
        for format in [&["--format", "json"][..], &["--format=json"]] {
            let ended = tidegate(&[arguments, format].concat()).with(code);
            let reported = Value::parse(&ended.err).unwrap_or_else(|why| panic!("{why}: {}", ended.err));
            assert!(reported.get("error").text().contains(stated), "{}", ended.err);
            assert!(!reported.get("error").text().starts_with("error: "), "{}", ended.err);
            assert_eq!(reported.get("exit_code"), &Value::Number(f64::from(code)), "{}", ended.err);
        }
    }
}

#[test]
fn every_command_refuses_an_option_that_nobody_has() {
    for words in commands() {
        let arguments: Vec<&str> = words.split_whitespace().chain(["--no-such-option"]).collect();
        let ended = tidegate(&arguments).with(2);
        assert!(ended.out.is_empty() && ended.err.contains("--no-such-option"), "{words}: {}", ended.err);
    }
}

#[cfg(target_os = "linux")]
mod live {
    use std::fs;
    use std::time::{Duration, Instant};

    use super::*;
    use support::program::program;
    use support::running::{Running, patience};

    #[test]
    fn every_live_command_prints_json() {
        let scratch = Scratch::new("audit-live");
        let uri = format!("unix://{}", scratch.at("f.sock"));
        let forwarder = Running::start(&["forward", "--listen", &uri, "--format", "json"]);
        forwarder.err_line("{\"note\":\"listening at ");
        let at = ["--transport", &uri, "--format", "json"];
        let status = tidegate(&[&["status"], &at[..]].concat()).with(0);
        assert!(matches!(status.json(), Value::Object(_)), "{}", status.out);
        let server = Running::start(&[&["serve", "/audit", "README.md"], &at[..]].concat());
        server.out_line("{");
        let copy = scratch.at("copy");
        let fetched = tidegate(&[&["fetch", "/audit", "-o", &copy], &at[..]].concat()).with(0);
        assert_eq!(fetched.json().get("name").text().split("/v=").next(), Some("/audit"));
        let put = Running::start(&[&["put", "/put", "README.md", "-p"], &at[..]].concat());
        put.err_line("{\"note\":\"Published ");
        assert!(put.out_line("v=").len() > 2);
        let got = tidegate(&[&["get", "/put"], &at[..]].concat()).with(0);
        assert_eq!(got.out.into_bytes(), fs::read("README.md").expect("there"));
        let closing = Value::parse(&got.err).unwrap_or_else(|why| panic!("{why}: {}", got.err));
        assert_eq!(closing.get("complete"), &Value::Bool(true));
        put.stop().with(0);
        for running in [server, forwarder] {
            let reported = running.stop().with(0).out;
            let last = reported.lines().last().unwrap_or_default();
            Value::parse(last).unwrap_or_else(|why| panic!("{why}: {reported}"));
        }
    }

    #[test]
    fn an_interrupted_twin_ends_its_live_run_too() {
        let scratch = Scratch::new("twin-int");
        let mut command = program();
        command.args(["twin", "--runs", "1", "--quiet"]).env("TMPDIR", scratch.path());
        let twin = Running::of(command);
        // The live run has a folder for its sockets and processes.
        let folders = || fs::read_dir(scratch.path()).expect("readable").count();
        let until = Instant::now() + patience();
        while folders() == 0 {
            assert!(Instant::now() < until, "no live run has begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        twin.signal("-TERM");
        let ended = twin.wait().with(130);
        assert!(ended.err.contains("interrupted"), "{}", ended.err);
        assert_eq!(folders(), 0);
    }

    #[test]
    fn the_twins_say_in_json_how_far_apart_they_are() {
        let stated = tidegate(&["twin", "--runs", "1", "--segments", "50", "--format", "json", "--quiet"]);
        // How far that is belongs to the machine; that the exit code says the same does not.
        let document = stated.json();
        let cases = document.list();
        assert_eq!(cases.len(), 3, "{}", stated.out);
        let mut codes = Vec::new();
        for case in cases {
            assert_eq!(case.get("runs"), &Value::Number(1.0));
            // No timer fires in the very nanosecond: zero is not measured.
            assert!(matches!(case.get("lateness_p99_ms"), Value::Number(late) if *late > 0.0), "{case:?}");
            let mut is_within = true;
            let measures = case.get("measures").list();
            let names: Vec<&str> = measures.iter().map(|measure| measure.get("measure").text()).collect();
            assert_eq!(names, ["goodput_mbps", "queue_delay_ms", "retransmissions_pct"]);
            for measure in measures {
                let [live, simulated, tolerance] = ["live", "simulated", "tolerance"].map(|key| {
                    let Value::Number(number) = measure.get(key) else { panic!("{key}: {measure:?}") };
                    *number
                });
                let holds = (live - simulated).abs() <= tolerance;
                assert_eq!(measure.get("within"), &Value::Bool(holds), "{measure:?}");
                is_within &= holds;
            }
            codes.push(match (is_within, case.get("judged") == &Value::Bool(true)) {
                (true, _) => 0,
                (false, true) => 3,
                (false, false) => 5,
            });
        }
        // A failure on an idle machine comes before what was not judged.
        let code = [3, 5, 0].into_iter().find(|code| codes.contains(code));
        assert_eq!(stated.code, code, "{}", stated.err);
    }

    #[test]
    fn a_configuration_is_checked_for_programs() {
        let sound = ["forward", "scenarios/live/forwarder.toml", "--check", "--format", "json"];
        assert_eq!(tidegate(&sound).with(0).json().get("valid"), &Value::Bool(true));
        let scratch = Scratch::new("audit-configuration");
        let file = scratch.file("bad.toml", b"format = 1\n[forwardr]\n");
        let found = tidegate(&["forward", &file, "--check", "--format", "json"]).with(1).json();
        assert_eq!(found.get("valid"), &Value::Bool(false));
        let first = &found.get("errors").list()[0];
        assert_eq!((first.get("line"), first.get("suggestion").text()), (&Value::Number(2.0), "forwarder"));
    }
}
