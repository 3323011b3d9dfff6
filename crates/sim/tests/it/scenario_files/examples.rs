//! The files in `scenarios/examples`.

use tidegate_core::ndn::consumer::profile::{
    ConsumerProfile, NoticeReaction, ProfileOptions, ProfileRules, Tracking,
};
use tidegate_core::ndn::face::Limit;
use tidegate_core::observe::event::EventMask;
use tidegate_core::rng::Seed;
use tidegate_core::scheme::params::Setting;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{
    Change, ComparisonOperator, Demand, EventPlan, Expectation, LossPlan, Plan, Variation,
};
use tidegate_sim::scenario::{Parser, parse, parse_bytes};

/// Every example with its name.
pub const EXAMPLES: [(&str, &str); 12] = [
    ("caches", include_str!("../../../../../scenarios/examples/caches.toml")),
    ("red", include_str!("../../../../../scenarios/examples/red.toml")),
    ("servers", include_str!("../../../../../scenarios/examples/servers.toml")),
    ("dumbbell", include_str!("../../../../../scenarios/examples/dumbbell.toml")),
    ("loss", include_str!("../../../../../scenarios/examples/loss.toml")),
    ("events", include_str!("../../../../../scenarios/examples/events.toml")),
    ("grid", include_str!("../../../../../scenarios/examples/grid.toml")),
    ("multipath", include_str!("../../../../../scenarios/examples/multipath.toml")),
    ("waxman", include_str!("../../../../../scenarios/examples/waxman.toml")),
    ("wireless", include_str!("../../../../../scenarios/examples/wireless.toml")),
    ("tcp", include_str!("../../../../../scenarios/examples/tcp.toml")),
    ("plr", include_str!("../../../../../scenarios/examples/plr.toml")),
];

/// The text of the example called `name`.
pub fn example(name: &str) -> &'static str {
    EXAMPLES.iter().find(|(known, _)| *known == name).expect("an example of that name").1
}

fn plan(text: &str) -> Plan {
    parse("example.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_canonical_dumbbell_becomes_the_plan_it_describes() {
    let plan = plan(example("dumbbell"));
    assert_eq!((plan.name.as_str(), plan.duration), ("dumbbell", Span::from_secs(10)));
    assert_eq!(plan.seeds, (1..=10).map(Seed).collect::<Vec<_>>());
    assert_eq!((plan.text.as_str(), plan.sampling), (example("dumbbell"), Some(Span::from_millis(10))));
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2", "r1", "r2", "p1", "p2"]);
    let routers: Vec<bool> = plan.nodes.iter().map(|node| node.is_router).collect();
    assert_eq!(routers, [false, false, true, true, false, false]);
    let jain = Expectation { measure: "jain", comparison: ComparisonOperator::AtLeast, bound: 0.9 };
    assert_eq!(plan.expectations, [jain]);
    let change = Change::LinkRate { link: 2, rate: BitRate::from_mbps(5.0) };
    assert_eq!(plan.events, [EventPlan { at: Time::from_nanos(5_000_000_000), change }]);
}

#[test]
fn the_canonical_bottleneck_has_its_queue_and_the_access_links_theirs() {
    let plan = plan(example("dumbbell"));
    let bottleneck = &plan.links[2];
    assert_eq!((bottleneck.name.as_str(), bottleneck.a, bottleneck.b), ("r1-r2", 2, 3));
    assert_eq!((bottleneck.rate, bottleneck.delay), ([BitRate::from_mbps(10.0); 2], Span::from_millis(10)));
    assert_eq!(
        bottleneck.loss,
        [LossPlan::Bernoulli { probability: 0.0 }, LossPlan::Bernoulli { probability: 0.0 }]
    );
    assert_eq!(bottleneck.queue[0].limit, Limit::Packets(Packets::new(100)));
    assert_eq!(bottleneck.queue[1].disciplines[0].scheme.name, "codel-mark");
    let access = &plan.links[0];
    assert_eq!((access.name.as_str(), access.rate[0]), ("c1-r1", BitRate::from_mbps(100.0)));
    assert!(access.queue[0].disciplines.is_empty());
    assert_eq!(access.loss, [LossPlan::None, LossPlan::None]);
}

#[test]
fn the_canonical_flow_and_router_parts_have_their_settings() {
    let plan = plan(example("dumbbell"));
    let [flow] = plan.flows.as_slice() else { panic!("one flow, not {}", plan.flows.len()) };
    assert_eq!((flow.name.as_str(), flow.consumer, flow.producers.as_slice()), ("c1:/a", 0, [4].as_slice()));
    assert_eq!(flow.demand, Demand::File { segments: 19_532 });
    assert_eq!((flow.payload, flow.start, flow.stop), (ByteCount::new(1024), Time::ZERO, None));
    assert_eq!(flow.scheme.scheme.name, "catchunks-cubic");
    assert_eq!(flow.scheme.settings.get("beta"), Some(&Setting::Number(0.7)));
    assert_eq!(flow.profile, ProfileRules::of(ConsumerProfile::NdnTools));
    let part = &plan.nodes[2].parts[0];
    assert_eq!(part.scheme.name, "plr");
    assert_eq!(part.settings.get("interval"), Some(&Setting::Text("1ms".to_owned())));
    assert!(plan.nodes[0].parts.is_empty());
}

#[test]
fn every_example_is_a_sound_scenario_named_after_its_file() {
    for (name, text) in EXAMPLES {
        assert_eq!(plan(text).name, name);
        assert!(text.starts_with("# "), "{name} says what it shows");
    }
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples"));
    assert_eq!(files.expect("the examples are there").count(), EXAMPLES.len());
}

#[test]
fn the_scenarios_of_the_papers_are_sound() {
    let papers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/papers");
    let mut count = 0;
    for paper in std::fs::read_dir(papers).expect("the papers are there") {
        for file in std::fs::read_dir(paper.expect("readable").path()).expect("a folder for each paper") {
            let path = file.expect("readable").path();
            let others = ["claims.toml", "experiments.toml", "board.toml"];
            let is_other = others.iter().any(|name| path.ends_with(name));
            let is_scenario = path.extension().is_some_and(|end| end == "toml") && !is_other;
            if is_scenario {
                count += 1;
                let text = std::fs::read_to_string(&path).expect("readable");
                parse(&path.display().to_string(), &text, &[], SCHEMES)
                    .unwrap_or_else(|errors| panic!("{errors}"));
            }
        }
    }
    assert!(count > 0, "no scenario found");
}

#[test]
fn a_profile_changes_one_habit_and_keeps_the_others() {
    let habits = "tracking = \"exact\", whole_window = true, notice = \"ignore\", lifetime = \"auto\"";
    let text = example("plr").replace("notice = \"reduce\"", habits);
    let profile = plan(&text).flows[0].profile;
    let ndnsim = ProfileRules::of(ConsumerProfile::Ndnsim);
    let expected = ProfileRules {
        tracking: Tracking::Exact,
        options: ndnsim.options.union(ProfileOptions::WHOLE_WINDOW),
        notice: NoticeReaction::Ignore,
        lifetime: None,
        ..ndnsim
    };
    assert_eq!(profile, expected);
}

#[test]
fn spells_and_bursts_of_losses_say_what_they_lack_and_what_is_too_short() {
    let with = |loss: &str| {
        let text = example("loss")
            .replace("loss = { model = \"bernoulli\", probability = 0.001 }", &format!("loss = {loss}"));
        assert!(text.contains(loss));
        text
    };
    let spells = plan(&with("{ model = \"spells\", good = \"990ms\", bad = \"10ms\" }"));
    let expected = LossPlan::Spells { good: Span::from_millis(990), bad: Span::from_millis(10) };
    assert_eq!(spells.links[0].loss[0], expected);
    let bursts = plan(&with("{ model = \"bursts\", probability = 0.5, max_packets = 44 }"));
    assert_eq!(bursts.links[0].loss[0], LossPlan::Bursts { probability: 0.5, max: 44 });
    let errors = |text: &str| parse("bad.toml", text, &[], SCHEMES).expect_err("not sound").to_string();
    for (loss, why) in [
        ("{ model = \"spells\", good = \"1us\", bad = \"10ms\" }", "good: 1us is too short; 10us or more"),
        ("{ model = \"spells\", bad = \"10ms\" }", "\"good\" is missing; this model of loss requires it"),
        (
            "{ model = \"bursts\", probability = 0.5 }",
            "\"max_packets\" is missing; this model of loss requires it",
        ),
        ("{ model = \"bursts\", probability = 0.5, max_packets = 0 }", "max_packets"),
        (
            "{ model = \"spells\", probability = 0.5 }",
            "loss model \"spells\" has good, bad, not \"probability\"",
        ),
    ] {
        assert!(errors(&with(loss)).contains(why), "{loss}: {}", errors(&with(loss)));
    }
}

#[test]
fn a_queue_has_lanes_of_one_discipline() {
    let with = |disciplines: &str| {
        let text = format!("queue = {{ limit = \"333pkt\", disciplines = [{disciplines}] }}");
        parse("tcp.toml", &example("tcp").replace("queue = { limit = \"333pkt\" }", &text), &[], SCHEMES)
    };
    assert!(with("\"codel\", \"fq-codel\"").is_ok());
    let why = with("\"fq-codel\", \"dualpi2\"").expect_err("two with lanes").to_string();
    assert!(
        why.contains(
            "fq-codel and dualpi2 each have internal queues; a queue can have only one such discipline"
        ),
        "{why}"
    );
    let part =
        example("tcp").replace("queue = { limit = \"333pkt\" }", "queue = { disciplines = [\"htb\"] }");
    let part = part + "\n[router]\nrouter_parts = [\"brf\"]\n";
    let why = parse("tcp.toml", &part, &[], SCHEMES).expect_err("lanes of a part and of a queue").to_string();
    assert!(why.contains("htb has internal queues, and so has brf, a router part of \"r1\""), "{why}");
}

#[test]
fn the_loss_example_loses_each_way_by_its_own_model() {
    let plan = plan(example("loss"));
    let gilbert = LossPlan::GilbertElliott { to_bad: 0.001, to_good: 0.05, loss_good: 0.0, loss_bad: 0.5 };
    assert_eq!(plan.links[0].loss, [LossPlan::Bernoulli { probability: 0.001 }, gilbert]);
    assert_eq!((plan.links[0].jitter, plan.links[0].delay), (Span::from_millis(1), Span::from_millis(5)));
    let mut pattern = vec![false; 30];
    pattern[29] = true;
    assert_eq!(plan.links[2].loss[0], LossPlan::Trace(pattern.into()));
    assert_eq!(plan.links[1].loss, [LossPlan::None, LossPlan::None]);
    assert_eq!((plan.variation, plan.stop_when_complete), (Variation { start: true, delay: 0.01 }, true));
    assert_eq!(plan.recorded, EventMask(4 | 16));
    assert_eq!(plan.flows[0].profile.retry_limit, None);
}

#[test]
fn the_events_example_has_its_changes_its_bursts_and_its_two_rates() {
    let plan = plan(example("events"));
    let changes: Vec<Change> = plan.events.iter().map(|event| event.change).collect();
    let expected = [
        Change::LinkDown { link: 1, keep_queue: true, silent: false },
        Change::LinkUp { link: 1 },
        Change::NodeOff { node: 5, silent: false },
        Change::NodeOn { node: 5 },
    ];
    assert_eq!(changes, expected);
    let seconds = |secs: f64| Time::ZERO + Span::from_secs_f64(secs);
    let bursts = vec![(seconds(2.0), Span::from_millis(500)), (seconds(8.0), Span::from_secs(1))];
    assert_eq!(plan.flows[1].demand, Demand::Constant { rate: BitRate::from_mbps(1.0), bursts });
    assert_eq!(plan.flows[0].demand, Demand::Endless);
    assert_eq!(plan.links[5].rate, [BitRate::from_mbps(20.0), BitRate::from_mbps(50.0)]);
    assert_eq!((plan.links[5].name.as_str(), plan.links[3].cost), ("shop-line", 2));
    let routers: Vec<bool> = plan.nodes.iter().map(|node| node.is_router).collect();
    assert_eq!(routers, [false, true, true, true, true, false]);
    assert_eq!(plan.links[0].queue[0].limit, Limit::Bytes(ByteCount::new(64_000)));
}

#[test]
fn the_multipath_example_has_two_producers_and_a_strategy_for_its_prefix() {
    let plan = plan(example("multipath"));
    let name = |index: &usize| plan.nodes[*index].name.as_str();
    assert_eq!(plan.flows[0].producers.iter().map(name).collect::<Vec<_>>(), ["p1", "p2"]);
    let (prefix, strategy) = &plan.nodes[1].prefix_strategies[0];
    assert_eq!((prefix.as_str(), strategy.scheme.name), ("/prefix", "multicast"));
    assert_eq!(plan.nodes[1].strategy.scheme.name, "best-route");
    let (access, path) = (&plan.links[0], &plan.links[1]);
    assert_eq!((access.rate, access.queue[0].limit), (path.rate, Limit::Packets(Packets::new(50))));
    assert_eq!(path.queue[0].limit, Limit::Packets(Packets::new(100)));
}

#[test]
fn the_plr_example_requests_as_many_segments_as_ndnsim_does() {
    let plan = plan(example("plr"));
    assert_eq!(plan.flows[0].demand, Demand::File { segments: 50_413 });
    assert_eq!(plan.flows[0].profile, ProfileRules::of(ConsumerProfile::Ndnsim));
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let text = example("events");
    let windows = format!("\u{FEFF}{}", text.replace('\n', "\r\n"));
    let shown = |plan: Plan| format!("{:?}", Plan { text: String::new(), ..plan });
    assert_eq!(shown(plan(&windows)), shown(plan(text)));
}

#[test]
fn bytes_that_are_not_utf_8_are_pointed_at() {
    let errors =
        parse_bytes("x.toml", b"format = 1\nname = \"a\xFFb\"\n", &[], SCHEMES).expect_err("a stray byte");
    assert_eq!(
        errors.to_string(),
        "x.toml:2:10: byte 0xFF is not UTF-8\n  name = \"a\u{FFFD}b\"\n           ^"
    );
}

#[test]
fn a_loss_trace_comes_from_the_reader_the_caller_gives() {
    let text = example("grid")
        .replace("delay = \"2ms\"", "delay = \"2ms\", loss = { model = \"trace\", file = \"a.txt\" }");
    let read =
        |name: &str| if name == "a.txt" { Ok("01\n1\n".to_owned()) } else { Err("no such file".to_owned()) };
    let parser = Parser { files: Some(&read), ..Parser::new("grid.toml", SCHEMES) };
    let plan = parser.parse(&text).expect("sound");
    assert_eq!(plan.links[7].loss[1], LossPlan::Trace([false, true, true].into()));
    let errors = parser.parse(&text.replace("a.txt", "b.txt")).expect_err("another file").to_string();
    assert!(
        errors.starts_with("grid.toml:11:76: file: \"b.txt\" cannot be read: no such file\n"),
        "{errors}"
    );
}

#[test]
fn a_node_may_have_a_cache_and_parts_of_its_own() {
    let text = example("plr").to_owned()
        + "[node.r1]\ncache = \"5pkt\"\n[node.c1]\nrouter_parts = [{ scheme = \"plr\" }]\n";
    let plan = plan(&text);
    assert_eq!(plan.nodes[1].cache.size, Packets::new(5));
    assert_eq!((plan.nodes[0].parts.len(), plan.nodes[3].parts.len()), (1, 0));
}

#[test]
fn a_size_of_whole_payloads_needs_one_segment_more_in_ndnsim() {
    let segments = |rule: &str| {
        let text = example("plr")
            .replace("50MiB", "2080B")
            .replace("\"ndnsim\"\npayload", &format!("{rule:?}\npayload"));
        plan(&text).flows[0].demand.clone()
    };
    assert_eq!(
        (segments("ceil"), segments("ndnsim")),
        (Demand::File { segments: 2 }, Demand::File { segments: 3 })
    );
}

#[test]
fn a_direction_keeps_what_it_does_not_say_itself() {
    let link = "loss = { model = \"bernoulli\", probability = 0.25 }\nforward = { rate = \"1Mbps\", queue = { limit = \"9pkt\" } }\n";
    let text = example("loss")
        .replace("loss = { model = \"trace\"", "#")
        .replace("[link.r2-p1]\n", &format!("[link.r2-p1]\n{link}"));
    let link = &plan(&text).links[2];
    assert_eq!(
        link.loss,
        [LossPlan::Bernoulli { probability: 0.25 }, LossPlan::Bernoulli { probability: 0.25 }]
    );
    assert_eq!(link.rate, [BitRate::from_mbps(1.0), BitRate::from_mbps(100.0)]);
    let limits = [9, 100].map(|packets| Limit::Packets(Packets::new(packets)));
    assert_eq!([link.queue[0].limit, link.queue[1].limit], limits);
}

#[test]
fn routers_have_the_cache_of_all_routers_and_hosts_none() {
    let caches = plan(&example("dumbbell").replace("0pkt", "7pkt"))
        .nodes
        .iter()
        .map(|node| node.cache.size.get())
        .collect::<Vec<_>>();
    assert_eq!(caches, [0, 0, 7, 7, 0, 0]);
}

#[test]
fn columns_do_not_count_a_byte_order_mark() {
    let errors = parse("x.toml", "\u{FEFF}format = 2\n", &[], SCHEMES).expect_err("another format");
    let places: Vec<(usize, usize)> = errors.iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(
        (places.as_slice(), errors.iter().next().map(|error| error.excerpt.as_str())),
        ([(1, 10)].as_slice(), Some("format = 2"))
    );
}

#[test]
fn the_wireless_example_has_three_links_on_a_medium_and_a_wire() {
    let plan = plan(example("wireless"));
    let [a, b, c, wire] = plan.links.as_slice() else { panic!("four links") };
    for link in [a, b, c] {
        assert_eq!(
            (link.medium, link.rate, link.delay),
            (Some(0), [BitRate::from_mbps(58.5); 2], Span::ZERO)
        );
        assert_eq!(link.mtu, Some(ByteCount::new(1_500)));
    }
    assert_eq!((wire.medium, wire.rate), (None, [BitRate::from_mbps(100.0); 2]));
    assert!(plan.links.iter().all(|link| link.link_service.is_some()));
    assert_eq!(plan.media[0].setup.aggregate, Some(ByteCount::new(65_535)));
}
