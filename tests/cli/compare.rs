//! Comparisons as their users meet them.

use std::fs;

use support::json::Value;
use support::program::{Ended, Scratch, tidegate};

/// Small, with losses, so that seeds differ.
const SCENARIO: &str = r#"
format = 1
[scenario]
name = "small"
duration = "3s"
sample = "100ms"
[topology]
builtin = "dumbbell"
pairs = 1
access = { rate = "100Mbps", delay = "1ms" }
bottleneck = { rate = "10Mbps", delay = "5ms", queue = { limit = "20pkt" }, loss = { model = "bernoulli", probability = 0.01 } }
[[flow]]
name = "first"
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = "icp"
size = "500kB"
"#;

struct Comparison {
    scratch: Scratch,
    scenario: String,
}

impl Comparison {
    fn new(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let scenario = scratch.file("small.toml", SCENARIO.as_bytes());
        Self { scratch, scenario }
    }

    /// Runs it with results in the folder `out`.
    fn run_in_folder(&self, out: &str, more: &[&str]) -> Ended {
        let out = self.scratch.at(out);
        tidegate(&[&["compare", &self.scenario, "--quiet", "--out", &out], more].concat())
    }

    fn notify(&self, more: &[&str]) -> Ended {
        self.run_in_folder("out", more)
    }

    /// What it says for programs, without the folder.
    fn json_in(&self, out: &str, more: &[&str]) -> Value {
        self.run_in_folder(out, &[more, &["--format", "json"]].concat())
            .with(0)
            .json()
            .get("comparison")
            .clone()
    }
}

/// The facts about `variant` and `measure` in one line.
fn sentence(comparison: &Value, measure: &str, variant: &str) -> String {
    let named = |list: &Value, key: &str, name: &str| {
        list.list().iter().find(|entry| entry.get(key).text() == name).expect(name).clone()
    };
    let measured = named(comparison.get("measures"), "measure", measure);
    named(measured.get("variants"), "variant", variant).get("sentence").text().to_owned()
}

#[test]
fn a_planted_difference_is_found() {
    let comparison = Comparison::new("compare-planted");
    let rates = ["--vary", "topology.bottleneck.rate=10Mbps,5Mbps"];
    let stated = comparison.notify(&rates).with(0).out;
    for part in ["10 seeds, the same for every variant", "Holm", "Fieller"] {
        assert!(stated.contains(part), "{part}: {stated}");
    }
    let json = comparison.json_in("out", &rates);
    let facts = sentence(&json, "goodput_mbps", "topology.bottleneck.rate=5Mbps");
    assert!(facts.contains(": difference -") && facts.ends_with("runs 10, verdict worse"), "{facts}");
}

#[test]
fn equal_variants_are_equal_in_every_measure() {
    let comparison = Comparison::new("compare-equal");
    let stated = comparison.notify(&["--schemes", "icp,{ name = \"icp\" }", "--seeds", "3"]).with(0).out;
    let verdicts = |word: &str| stated.lines().filter(|line| line.ends_with(word)).count();
    assert!(verdicts("  reference") > 5, "{stated}");
    assert_eq!(verdicts("  reference"), verdicts("  equal") + verdicts("  not comparable"), "{stated}");
    assert!(stated.contains("3 seeds are few"), "{stated}");
}

#[test]
fn a_variant_whose_scheme_leaves_the_link_half_empty_says_why() {
    let comparison = Comparison::new("compare-limit");
    let far = ["--set", "topology.bottleneck.delay=50ms", "--seeds", "2", "--schemes"];
    let stated = comparison.notify(&[&far[..], &["fixed,bbr"]].concat()).with(0).out;
    let line = stated.lines().find(|line| line.starts_with("fixed used ")).expect(&stated);
    let why = "% of its busiest link: fixed may leave its link partly unused: the window is 10 packets";
    assert!(line.contains(why), "{line}");
    assert!(!stated.contains("bbr used"), "{stated}");
    let page = stated.lines().find_map(|line| line.strip_prefix("report  ")).expect(&stated);
    let page = fs::read_to_string(page).expect("it was written");
    assert!(page.contains("the window is 10 packets"), "the page has the note");
    let stated =
        comparison.notify(&[&far[..], &["{ name = \"fixed\", window = 400 },bbr"]].concat()).with(0).out;
    assert!(!stated.contains("the window is 10 packets") && !stated.contains("bbr used"), "{stated}");
}

#[test]
fn neither_threads_nor_the_order_of_the_schemes_change_what_is_found() {
    let comparison = Comparison::new("compare-order");
    let one = comparison.json_in("one", &["--schemes", "icp,fixed", "--threads", "1"]);
    let eight = comparison.json_in("eight", &["--schemes", "icp,fixed", "--threads", "8"]);
    assert!(one == eight);
    let turned = comparison.json_in("one", &["--schemes", "fixed,icp", "--reference", "icp"]);
    for measure in ["goodput_mbps", "full_delay_ms", "retransmissions"] {
        assert_eq!(sentence(&one, measure, "fixed"), sentence(&turned, measure, "fixed"));
    }
}

#[test]
fn seeds_are_added_until_intervals_are_narrow_enough() {
    let comparison = Comparison::new("compare-until");
    let arguments = ["--schemes", "icp,fixed", "--measures", "goodput_mbps"];
    let wide = comparison.notify(&[&arguments[..], &["--until-ci", "50%"]].concat()).with(0).out;
    assert!(wide.contains("narrower than ± 50 % with 10 seeds"), "{wide}");
    assert!(wide.contains("7 interim tests were planned before the first run"), "{wide}");
    let zero = comparison.notify(&[&arguments[..], &["--until-ci", "0"]].concat()).with(2).err;
    assert!(zero.contains("\"0\" is not above 0; write it like 2% or 0.02"), "{zero}");
    let more = [&arguments[..], &["--until-ci", "0.01%", "--max-seeds", "15"]].concat();
    let narrow = comparison.notify(&more).with(0).out;
    assert!(
        narrow.contains("with 15 seeds, the maximum allowed, wider than ± 0.01 % are: goodput of icp"),
        "{narrow}"
    );
    // The same looks give the same numbers, whatever was there before.
    assert!(comparison.json_in("out", &more) == comparison.json_in("fresh", &more));
}

#[test]
fn a_measure_that_got_worse_than_its_baseline_ends_with_3() {
    let comparison = Comparison::new("compare-baseline");
    let arguments = ["--schemes", "icp,fixed", "--seeds", "5"];
    comparison.notify(&[&arguments[..], &["--save-baseline", "good"]].concat()).with(0);
    let against = [&arguments[..], &["--baseline", "good"]].concat();
    let stated = comparison.notify(&against).with(0).out;
    assert!(stated.contains("against the baseline (of the same code):\nwithin noise: all "), "{stated}");
    // As if retransmissions had been fewer by one in every run then.
    let file = comparison.scratch.at("out/baselines/good.json");
    let text = fs::read_to_string(&file).expect("it was saved");
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = lines.iter().position(|line| line.contains("\"goodput_mbps\"")).expect("a measure");
    for line in &mut lines[at + 1..at + 6] {
        let number: f64 = line.trim().trim_end_matches(',').parse().expect("a number");
        *line = line.replace(line.trim().trim_end_matches(','), &(number * 1.05).to_string());
    }
    fs::write(&file, lines.join("\n")).expect("writable");
    let stated = comparison.notify(&against).with(3).out;
    let row =
        stated.lines().find(|line| line.starts_with("icp") && line.contains("  goodput")).expect(&stated);
    assert!(row.contains("5 of 5") && row.ends_with("worse"), "{row}");
    comparison.notify(&[&against[..], &["--tolerance", "10%"]].concat()).with(0);
}

#[test]
fn a_baseline_whose_values_mean_something_else_is_refused() {
    let comparison = Comparison::new("compare-meaning");
    comparison.notify(&["--seeds", "2", "--save-baseline", "good"]).with(0);
    let file = comparison.scratch.at("out/baselines/good.json");
    let text = fs::read_to_string(&file).expect("it was saved");
    let against = ["--seeds", "2", "--baseline", "good"];
    for (from, to) in
        [("\"semantics\": ", "\"semantics\": 1"), ("\"results_schema\": ", "\"results_schema\": 1")]
    {
        fs::write(&file, text.replace(from, to)).expect("writable");
        let stated = comparison.notify(&against).with(1).err;
        assert!(
            stated.contains("its values have semantics ") && stated.contains("--save-baseline good"),
            "{stated}"
        );
    }
    fs::write(&file, text.replace("\"format\": 2", "\"format\": 1")).expect("writable");
    let stated = comparison.notify(&against).with(1).err;
    assert!(
        stated.contains("format 1 is not known; this program reads format 2; --save-baseline good"),
        "{stated}"
    );
}

#[test]
fn variants_on_one_side_of_a_baseline_alone_are_named_and_no_other_file_is_replaced() {
    let comparison = Comparison::new("compare-sides");
    let saved =
        comparison.notify(&["--schemes", "icp,fixed", "--seeds", "2", "--save-baseline", "good"]).with(0).out;
    let file = comparison.scratch.at("out/baselines/good.json");
    assert!(saved.contains(&format!("\nbaseline  {file}\n")), "{saved}");
    let against = ["--schemes", "catchunks-aimd,fixed", "--seeds", "2", "--baseline", "good"];
    let stated = comparison.notify(&against).with(0).out;
    assert!(
        stated.contains("\nicp is only in the baseline\ncatchunks-aimd is not in the baseline\n"),
        "{stated}"
    );
    let (scenario, out) = (&comparison.scenario, comparison.scratch.at("out"));
    let again = ["compare", scenario, "--schemes", "icp,fixed", "--seeds", "2", "--save-baseline", "good"];
    let again = tidegate(&[&again[..], &["--out", &out]].concat()).with(0);
    assert!(again.err.contains(&format!("note: baseline {file} is replaced\n")), "{}", again.err);
    let other = comparison.scratch.file("other.json", b"{\"format\": 2}");
    let refused =
        comparison.notify(&["--schemes", "icp,fixed", "--seeds", "2", "--save-baseline", &other]).with(1).err;
    assert!(refused.contains("other.json exists and is not a baseline"), "{refused}");
    comparison.notify(&["--schemes", "icp,fixed", "--seeds", "2", "--save-baseline", ""]).with(2);
}

#[test]
fn a_baseline_of_another_scenario_is_refused() {
    let comparison = Comparison::new("compare-other");
    comparison.notify(&["--seeds", "2", "--save-baseline", "good"]).with(0);
    let changed = ["--seeds", "2", "--baseline", "good", "--set", "topology.pairs=2"];
    let stated = comparison.notify(&changed).with(1).err;
    assert!(
        stated.contains("it is of another scenario; as written: topology.pairs: 2 here, 1 there"),
        "{stated}"
    );
    let stated = comparison.notify(&["--schemes", "icp,fixed", "--baseline", "good"]).with(1).err;
    assert!(stated.contains("it has none of these variants; its variants: as written"), "{stated}");
    let stated = comparison.notify(&["--baseline", "missing"]).with(1).err;
    let hint = "out/baselines/missing.json does not exist; there are good; the same command with --save-baseline missing";
    assert!(stated.contains("baseline \"missing\" not found: ") && stated.contains(hint), "{stated}");
}

#[test]
fn what_cannot_be_compared_is_refused_before_anything_runs() {
    let comparison = Comparison::new("compare-wrong");
    for (arguments, code, reported) in [
        (&["--schemes", "icp"][..], 2, "one variant cannot be compared"),
        (&[], 2, "give --schemes A,B,..., --consumers A,B,... or --vary"),
        (&["--schemes", "icp,icpp"], 1, "--schemes icpp: scheme \"icpp\" is not known"),
        (&["--consumers", "icp,icpp"], 1, "--consumers icpp: consumer scheme \"icpp\" is not known"),
        (&["--schemes", "cubic"], 1, "--schemes cubic: scheme \"cubic\" is not known; did you mean "),
        (&["--schemes", "icp,,fixed"], 2, "\"icp,,fixed\" is not of the form A,B,..."),
        (
            &["--schemes", "icp,tcp-reno"],
            1,
            "scheme \"tcp-reno\" is for TCP senders and cannot be used in [[flow]]",
        ),
        (
            &["--vary", "flow.0.size=1MB,2MB", "--flow", "first"],
            2,
            "--flow requires --schemes or --consumers",
        ),
        (&["--schemes", "icp,fixed", "--reference", "x"], 2, "variants: icp, fixed"),
        (&["--schemes", "icp,fixed", "--flow", "x"], 2, "flows: first"),
        (
            &["--schemes", "icp,fixed", "--measures", "speed"],
            2,
            "measure \"speed\" is not known; known: goodput",
        ),
        (&["--schemes", "icp,fixed", "--measures", "jain,goodput_mbps,jain"], 2, "\"jain\" is listed twice"),
        (
            &["--consumers", "icp,fixed", "--set", "flow.0.scheme=icp"],
            2,
            "--consumers replaces the value of --set flow.0.scheme; remove one of them",
        ),
        (&["--save-baseline", "../a"], 2, "a name of letters, digits, '.', '_' and '-'"),
        (&["--vary", "flow.7.size=1MB,2MB"], 1, "--vary 'flow.7.size=1MB': there is no element \"7\""),
    ] {
        let stated = comparison.notify(arguments).with(code).err;
        assert!(stated.contains(reported), "{reported}: {stated}");
    }
    assert!(!std::path::Path::new(&comparison.scratch.at("out")).exists());
}

#[test]
fn a_flow_that_is_named_gets_the_schemes_alone_and_sweeps_find_the_runs() {
    let comparison = Comparison::new("compare-flow");
    let second = SCENARIO.replace("pairs = 1", "pairs = 2")
        + "[[flow]]\nname = \"second\"\nconsumer = \"c2\"\nproducer = \"p2\"\nprefix = \"/b\"\nscheme = \"icp\"\n";
    fs::write(&comparison.scenario, second).expect("writable");
    comparison.notify(&["--schemes", "icp,fixed", "--flow", "second", "--seeds", "2"]).with(0);
    let out = comparison.scratch.at("out");
    let grid = ["--grid", "flow.1.scheme=icp,fixed", "--seeds", "2", "--out", &out];
    let status = tidegate(&[&["sweep", "status", &comparison.scenario], &grid[..]].concat()).with(0).out;
    assert!(status.ends_with("4 runs done, 0 missing, 0 damaged\n"), "{status}");
}

/// As [`SCENARIO`] with a wire on which no Data arrives.
fn dead(comparison: &Comparison) {
    let dead = SCENARIO.replace("probability = 0.01", "probability = 1.0");
    fs::write(&comparison.scenario, dead).expect("writable");
}

#[test]
fn variants_without_data_are_named_and_a_search_does_not_end_well() {
    let comparison = Comparison::new("compare-dead");
    dead(&comparison);
    let search = ["--schemes", "icp,fixed", "--until-ci", "5%", "--max-seeds", "3"];
    let stated = comparison.notify(&search).with(0).out;
    assert!(stated.contains("no Data arrived with icp, fixed\n"), "{stated}");
    let note =
        "with 3 seeds, the maximum allowed, without a value in any run are: delay of icp, delay of fixed\n";
    assert!(stated.contains(note) && !stated.contains("every interval is narrower"), "{stated}");
    let row = stated.lines().find(|line| line.starts_with("delay [ms]")).expect("a row");
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<&str>>(), ["icp", "-", "reference"]);
    let json = comparison.json_in("out", &["--schemes", "icp,fixed", "--seeds", "3"]);
    let counts: Vec<String> =
        json.get("runs_without_data").list().iter().map(|count| format!("{count:?}")).collect();
    assert!(counts.len() == 2 && counts.iter().all(|count| count.contains('3')), "{counts:?}");
}

#[test]
fn a_limit_of_seeds_belongs_to_a_search_and_what_it_overrides_is_reported() {
    let comparison = Comparison::new("compare-limit");
    let arguments = ["--schemes", "icp,fixed", "--measures", "goodput_mbps"];
    let stated = comparison.notify(&[&arguments[..], &["--max-seeds", "3"]].concat()).with(2).err;
    assert!(stated.contains("--until-ci"), "{stated}");
    let search = ["--seeds", "5", "--until-ci", "50%", "--max-seeds", "3"];
    let stated = comparison.notify(&[&arguments[..], &search].concat()).with(0).out;
    assert!(stated.contains("with 3 seeds (--max-seeds 3 counts, not --seeds 5)\n"), "{stated}");
    let search = ["--seeds", "2", "--until-ci", "50%"];
    let stated = comparison.notify(&[&arguments[..], &search].concat()).with(0).out;
    assert!(
        stated.contains("with 10 seeds (a search begins with 10 seeds, not with --seeds 2)\n"),
        "{stated}"
    );
}

#[test]
fn a_measure_that_vanished_since_the_baseline_ends_with_3() {
    let comparison = Comparison::new("compare-gone");
    let arguments = ["--schemes", "icp,fixed", "--seeds", "2", "--measures", "completion_s,goodput_mbps"];
    // Too large a file to complete.
    let slow = ["--set", "flow.0.size=500MB"];
    let save = ["--save-baseline", "good"];
    let stated = comparison.notify(&[&arguments[..], &slow, &save].concat()).with(0).out;
    let row = stated.lines().find(|line| line.starts_with("completion time [s]")).expect("a row");
    assert_eq!(row.split_whitespace().skip(3).collect::<Vec<&str>>(), ["icp", "-", "reference"]);
    let file = comparison.scratch.at("out/baselines/good.json");
    let text = fs::read_to_string(&file).expect("it was saved");
    assert_eq!(text.matches("null").count(), 4);
    fs::write(&file, text.replacen("null", "15.0", 2)).expect("writable");
    let against = [&arguments[..], &slow, &["--baseline", "good"]].concat();
    let stated = comparison.notify(&against).with(3).out;
    let row = stated.lines().find(|line| line.ends_with("  gone")).expect(&stated);
    assert!(row.contains("2 of 2") && row.contains("0 of 2"), "{row}");
    let json = comparison.notify(&[&against[..], &["--format", "json"]].concat()).with(3).json();
    assert_eq!(json.get("baseline").list()[0].get("verdict").text(), "gone");
}

#[test]
fn whole_schemes_each_get_half_of_the_link_and_what_they_replace_is_reported() {
    let comparison = Comparison::new("compare-whole");
    fs::copy(crate::DUMBBELL, &comparison.scenario).expect("an example");
    let out = comparison.scratch.at("out");
    let schemes = ["--schemes", "catchunks-cubic,mircc,hobhis,ndnsieve", "--seeds", "2"];
    let compare = ["compare", &comparison.scenario, "--out", &out, "--measures", "goodput_mbps"];
    let Ended { out: stated, err: reported, .. } = tidegate(&[&compare[..], &schemes].concat()).with(0);
    let note = "note: mircc replaces consumer catchunks-cubic (beta = 0.7), router part plr (";
    assert!(reported.contains(note), "{reported}");
    let page = stated.lines().find_map(|line| line.strip_prefix("report  ")).expect(&stated);
    let page = fs::read_to_string(page).expect("it was written");
    assert!(page.contains("<td>mircc</td><td>router part</td><td>mircc</td><td>r1, r2</td>"), "{stated}");
    let json = comparison.json_in("out", &[&schemes[..], &["--measures", "goodput_mbps"]].concat());
    let measured = json.get("measures").list()[0].clone();
    for variant in measured.get("variants").list() {
        let Value::Number(mean) = variant.get("estimate").get("mean") else { panic!("{variant:?}") };
        assert!(*mean > 7.5 / 2.0, "{} Mbit/s: {variant:?}", mean);
    }
}

#[test]
fn a_consumer_without_its_routers_is_compared_only_when_that_is_requested() {
    let comparison = Comparison::new("compare-incomplete");
    let consumers = ["--consumers", "icp,mircc", "--seeds", "2"];
    let stated = comparison.notify(&consumers).with(1).err;
    assert!(stated.contains("mircc: flow first: mircc without its part on a router"), "{stated}");
    assert!(stated.ends_with("--allow-incomplete runs it anyway\n"), "{stated}");
    comparison.notify(&[&consumers[..], &["--allow-incomplete"]].concat()).with(0);
    let vary = ["--vary", "flow.0.scheme=icp,mircc", "--seeds", "2"];
    comparison.notify(&vary).with(1);
}
