//! What `check` says of stores, services, catalogues and changing rates, held against what is worked out by hand.

use crate::check::{SOUND, number};
use crate::{Scratch, tidegate};
use support::json::Value;

/// A flow that asks for objects of four segments, with `more` keys.
fn catalogue(more: &str) -> String {
    let demand = "{model=\"zipf\", objects=1000, exponent=0.8, segments=4, rate=\"50/s\"}";
    format!(
        "flow.0={{name=\"one\", consumer=\"c1\", producer=\"p1\", prefix=\"/a\", scheme=\"fixed\", demand={demand}{more}}}"
    )
}

/// [`SOUND`] with `sets` set, checked in the form `format`.
fn checked(test: &str, sets: &[&str], format: &str) -> String {
    let scratch = Scratch::new(&format!("foretold-{test}"));
    let file = scratch.file("sound.toml", SOUND.as_bytes());
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    tidegate(&[&["check", &file, "--format", format], &sets[..]].concat()).with(0).out
}

fn reported(test: &str, sets: &[&str]) -> Value {
    Value::parse(&checked(test, sets, "json")).expect("JSON")
}

/// What is told of the first flow.
fn first(document: &Value) -> Value {
    document.get("each_flow").list()[0].clone()
}

fn texts(document: &Value, key: &str) -> Vec<String> {
    document.get(key).list().iter().map(|text| text.text().to_owned()).collect()
}

#[track_caller]
fn assert_near(found: f64, worked_out: f64) {
    assert!((found - worked_out).abs() < 1e-6 * worked_out.abs(), "{found}, not {worked_out}");
}

#[test]
fn a_round_trip_has_each_router_twice_and_the_producer_once() {
    let round_trip = |test: &str, sets: &[&str]| number(first(&reported(test, sets)).get("round_trip_ms"));
    let bare = round_trip("bare", &[]);
    // Interest and Data come off a link at both routers; the producer works once.
    let served = round_trip("served", &["router.service=20us", "flow.0.processing=1ms"]);
    assert_near(served, bare + 2.0 * 2.0 * 0.020 + 1.0);
    let one = round_trip("one-router", &["node.r2.service=20us"]);
    assert_near(one, bare + 2.0 * 0.020);
    // Of a random time the mean counts.
    let random = ["flow.0.processing={time=\"3ms\", distribution=\"exponential\"}"];
    assert_near(round_trip("random", &random), bare + 3.0);
}

#[test]
fn the_least_time_of_a_transfer_counts_certain_services_and_no_random_ones() {
    let min = |test: &str, sets: &[&str]| number(first(&reported(test, sets)).get("min_transfer_s"));
    let bare = min("least-bare", &[]);
    assert_near(min("least-certain", &["flow.0.processing=4ms"]), bare + 0.004);
    let random = ["flow.0.processing={time=\"4ms\", distribution=\"exponential\"}"];
    assert_near(min("least-random", &random), bare);
}

/// Bits of all Data of [`SOUND`] on the link in the middle: 1954 packets as large as the one that is told, but for
/// the first 256, whose segment number is one byte shorter.
fn megabits(flow: &Value) -> f64 {
    let bottleneck = flow.get("bottleneck");
    let round_trip_s = number(flow.get("round_trip_ms")) / 1e3;
    let packet = 10e6 / 8.0 * round_trip_s / number(bottleneck.get("product_packets"));
    (1954.0 * packet - 256.0) * 8.0 / 1e6
}

#[test]
fn a_transfer_over_a_changing_rate_takes_what_each_stretch_leaves_over() {
    let steady = first(&reported("steady", &[]));
    let all = megabits(&steady);
    // What the last Data needs before and behind the link.
    let rest = number(steady.get("min_transfer_s")) - all / 10.0;
    assert!((0.035..0.045).contains(&rest), "{rest}");
    let rate = |at: &str, rate: &str| format!("{{at=\"{at}\", link=\"r1-r2\", rate=\"{rate}\"}}");
    let events =
        format!("event=[{}, {}, {}]", rate("500ms", "5Mbps"), rate("1s", "20Mbps"), rate("1200ms", "2Mbps"));
    let changed = first(&reported("changed", &[&events]));
    let sent = 0.5 * 10.0 + 0.5 * 5.0 + 0.2 * 20.0;
    assert_near(number(changed.get("min_transfer_s")), 1.2 + (all - sent) / 2.0 + rest);
    let late = first(&reported("late", &[&events, "flow.0.start=750ms"]));
    let sent = 0.25 * 5.0 + 0.2 * 20.0;
    assert_near(number(late.get("min_transfer_s")), 0.45 + (all - sent) / 2.0 + rest);
    // The bottleneck that is told is that of the start.
    assert_near(number(late.get("bottleneck").get("rate_mbps")), 10.0);
    // Who is done before a change does not notice it.
    let early = first(&reported("early", &["flow.0.size=20kB", &events]));
    assert_near(
        number(early.get("min_transfer_s")),
        number(first(&reported("small", &["flow.0.size=20kB"])).get("min_transfer_s")),
    );
}

#[test]
fn a_store_that_another_flow_may_have_filled_leaves_only_the_links_before_it() {
    let flow = |name: &str| {
        format!(
            "{{name=\"{name}\", consumer=\"c1\", producer=\"p1\", prefix=\"/a\", scheme=\"fixed\", size=\"2MB\"}}"
        )
    };
    let two = format!("flow=[{}, {}]", flow("one"), flow("two"));
    let min = |test: &str, sets: &[&str]| number(first(&reported(test, sets)).get("min_transfer_s"));
    let all = megabits(&first(&reported("alone", &[])));
    let far = min("no-store", &[&two]);
    assert!(far > all / 10.0, "{far}");
    for store in
        ["router.cache=100pkt", "node.r1.cache=1pkt", "router={prefix=[{prefix=\"/a\", cache=\"9pkt\"}]}"]
    {
        assert_near(min("store", &[&two, store]), all / 100.0);
    }
    // Behind the second router the slow link counts, without what comes after it.
    assert_near(min("far-store", &[&two, "node.r2.cache=100pkt"]), all / 10.0);
    // What nobody else asks for is in no store.
    assert_near(min("own-store", &["router.cache=100pkt"]), min("alone", &[]));
}

#[test]
fn requests_load_the_links_as_often_as_they_come() {
    let hops = |test: &str, set: &str| number(reported(test, &[set]).get("packet_hops_per_run"));
    // 50 objects of 4 segments a second, for 20 s, over three links both ways.
    assert_near(hops("requests", &catalogue("")), 50.0 * 4.0 * 20.0 * 6.0);
    let few = catalogue("").replace("rate=\"50/s\"", "rate=\"50/s\", requests=10");
    assert_near(hops("few", &few), 10.0 * 4.0 * 6.0);
    // The producer makes 100 Data a second, fewer than are asked for.
    assert_near(hops("served", &catalogue(", processing=\"10ms\"")), 100.0 * 20.0 * 6.0);
}

#[test]
fn a_producer_slower_than_the_link_is_the_bottleneck_that_is_warned_of() {
    let slow = reported("slow", &["flow.0.processing=10ms"]);
    let bottleneck = first(&slow);
    let carried = number(bottleneck.get("bottleneck").get("content_mbps")) * 1e6 / 8.0 / 1024.0;
    let warnings = texts(&slow, "warnings");
    let start = "flow one: p1 serves 100 Interests per second on average, less than the Data rate of r1-r2 (";
    let stated = warnings.iter().find_map(|warning| warning.strip_prefix(start)).expect("a warning");
    let stated: f64 =
        stated.strip_suffix("): it is the bottleneck").expect("the end").parse().expect("a number");
    assert!((stated / carried - 1.0).abs() < 1e-3, "{stated}, not {carried}");
    // 1180 packets a second pass the link, 2000 a producer of 0.5 ms; a router handles two packets of each exchange.
    assert_eq!(texts(&reported("fast", &["flow.0.processing=500us"]), "warnings"), Vec::<String>::new());
    let router = texts(&reported("slow-router", &["node.r1.service=500us"]), "warnings");
    assert!(router[0].contains("r1 serves 1000 Interests per second on average"), "{router:?}");
}

#[test]
fn everything_that_chance_decides_is_reported_and_nothing_else() {
    let random = |test: &str, sets: &[&str]| texts(&reported(test, sets), "differs_between_seeds");
    let zipf = catalogue("");
    let cases: [(&[&str], &[&str]); 12] = [
        (&[], &[]),
        (&[&zipf], &["requests of one"]),
        (&["router.cache={size=\"9pkt\", policy=\"random\"}"], &["draws of caches at r1, r2"]),
        (&["node.r2.cache={size=\"9pkt\", policy=\"random\"}"], &["draws of caches at r2"]),
        (&["router.cache={size=\"9pkt\", policy=\"lfu\", admission=\"leave-copy-down\"}"], &[]),
        (&["router.cache={size=\"0pkt\", policy=\"random\"}"], &[]),
        (
            &["router.cache={size=\"9pkt\", admission=\"probabilistic\", probability=0.5}"],
            &["draws of caches at r1, r2"],
        ),
        (&["router.cache={size=\"9pkt\", admission=\"probabilistic\", probability=1.0}"], &[]),
        (
            &["router={prefix=[{prefix=\"/a\", cache={size=\"9pkt\", policy=\"random\"}}]}"],
            &["draws of caches at r1, r2"],
        ),
        (&["router.service=20us", "flow.0.processing=1ms"], &[]),
        (&["node.r1.service={time=\"20us\", distribution=\"exponential\"}"], &["random service times at r1"]),
        (
            &["flow.0.processing={time=\"1ms\", distribution=\"exponential\"}"],
            &["random processing times of one"],
        ),
    ];
    for (number, (sets, expected)) in cases.into_iter().enumerate() {
        assert_eq!(random(&format!("chance-{number}"), sets), expected, "{sets:?}");
    }
}

#[test]
fn stores_services_and_catalogues_are_described() {
    let stores =
        "router={service=\"20us\", cache={size=\"9pkt\", policy=\"lfu\", admission=\"leave-copy-down\"}}";
    let other = "node.r2.cache={size=\"40pkt\", admission=\"probabilistic\", probability=0.25}";
    let processing = ", processing={time=\"2ms\", distribution=\"exponential\"}";
    let words = checked("words", &[stores, other, &catalogue(processing)], "text");
    for text in [
        "9pkt (lfu, leave copy down)",
        "service 20us each",
        "40pkt (lfu, stores with",
        "  demand                   1000 objects of 4 segments of 1024B by popularity (50/s on average, Poisson)\n",
        "  processing of Interests  2ms each on average (exponential)\n",
        "  difference between seeds  draws of caches at r2\n",
        "  difference between seeds  requests of one\n",
        "  difference between seeds  random processing times of one\n",
    ] {
        assert!(words.contains(text), "{text:?} is not in\n{words}");
    }
}

#[test]
fn parts_without_a_controller_and_a_controller_without_parts_are_doubted() {
    let text = std::fs::read_to_string("scenarios/papers/ndnsieve/multipath1.toml").expect("readable");
    let scratch = Scratch::new("foretold-controller");
    for (without, doubt) in [
        ("[controller]\nscheme = \"ndnsieve\"\n", "router parts of ndnsieve without its controller"),
        (
            "router_parts = [{ scheme = \"ndnsieve\" }]\n",
            "the controller ndnsieve without its part on a router",
        ),
    ] {
        assert!(text.contains(without), "{without:?}");
        let file = scratch.file("half.toml", text.replace(without, "").as_bytes());
        let stated = tidegate(&["check", &file]).with(0).out;
        assert!(stated.contains(&format!("warning: {doubt}")), "{stated}");
    }
}

#[test]
fn a_sender_without_the_routers_that_it_follows_is_doubted() {
    let text = std::fs::read_to_string("scenarios/examples/tcp.toml").expect("readable");
    let scratch = Scratch::new("foretold-routers");
    let stated = |text: &str| {
        let file = scratch.file("rcp.toml", text.as_bytes());
        tidegate(&["check", &file]).with(0).out
    };
    let alone = text.replace("scheme = \"tcp-bbr1\"", "scheme = \"rcp\"");
    let doubt = "warning: flow bbr: rcp without its part on a router";
    assert!(stated(&alone).contains(doubt), "{}", stated(&alone));
    let with_part = alone.replace(
        "[[tcp]]\nname = \"cubic\"",
        "[router]\nrouter_parts = [\"rcp\"]\n[[tcp]]\nname = \"cubic\"",
    );
    assert!(!stated(&with_part).contains(doubt));
    assert!(!stated(&text).contains(doubt));
}

#[test]
fn what_is_installed_where_stands_in_check_and_on_the_page() {
    let scratch = Scratch::new("foretold-installed");
    let set = ["--set", "scheme=ndnsieve"];
    let dumbbell = "scenarios/examples/dumbbell.toml";
    let stated = tidegate(&[&["check", dumbbell], &set[..]].concat()).with(0).out;
    let lines =
        ["consumer ndnsieve c1:/a", "router part ndnsieve r1, r2", "controller ndnsieve", "next hops all"];
    let said_lines: Vec<String> =
        stated.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in lines {
        assert!(said_lines.iter().any(|found| found == line), "{line}: {stated}");
    }
    assert!(stated.contains("  ndnsieve replaces consumer"), "{stated}");
    let json = tidegate(&[&["check", dumbbell, "--format", "json"], &set[..]].concat()).with(0).json();
    let installed = json.get("installed").list();
    assert_eq!((installed[1].get("role").text(), installed[1].get("at").list().len()), ("router part", 2));
    let out = scratch.at("out");
    let run =
        ["run", dumbbell, "--seeds", "1", "--set", "scenario.duration=6s", "--out", &out, "--format", "json"];
    let folder = tidegate(&[&run[..], &set].concat()).with(0).json().get("folder").text().to_owned();
    let page = std::fs::read_to_string(std::path::Path::new(&folder).join("report.html")).expect("a page");
    assert!(page.contains("<td>router part</td><td>ndnsieve</td><td>r1, r2</td>"));
    assert!(page.contains("<a href=\"#schemes\">"), "its list of contents leads to the schemes");
}
