//! Topologies that other programs wrote.

use std::path::Path;

use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, Span};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{LossPlan, Plan};
use tidegate_sim::scenario::import::{Imported, TopologyFormat, read, scenario_text};
use tidegate_sim::scenario::{Limits, Parser};

use crate::scenario_files::mutations::damage;

const SAMPLES: [(&str, &str); 6] = [
    ("abilene.txt", include_str!("../../../../../scenarios/topologies/abilene.txt")),
    ("abilene-loss.txt", include_str!("../../../../../scenarios/topologies/abilene-loss.txt")),
    ("abilene.conf", include_str!("../../../../../scenarios/topologies/abilene.conf")),
    ("abilene.graphml", include_str!("../../../../../scenarios/topologies/abilene.graphml")),
    ("abilene-weights.intra", include_str!("../../../../../scenarios/topologies/abilene-weights.intra")),
    ("abilene-latencies.intra", include_str!("../../../../../scenarios/topologies/abilene-latencies.intra")),
];

fn sample(name: &str) -> &'static str {
    SAMPLES.iter().find(|(known, _)| *known == name).expect("a sample of that name").1
}

fn import(name: &str, text: &str) -> Imported {
    import_as(TopologyFormat::of(text).expect("the format can be told"), name, text)
}

fn import_as(format: TopologyFormat, name: &str, text: &str) -> Imported {
    read(name, text.as_bytes(), format, &Limits::default()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Ends of all links by name, each with the lower name first, sorted.
fn ends<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let mut ends: Vec<(String, String)> =
        pairs.map(|(a, b)| (a.min(b).to_owned(), a.max(b).to_owned())).collect();
    ends.sort();
    ends
}

fn imported_ends(topology: &Imported) -> Vec<(String, String)> {
    let name = |node: usize| topology.nodes[node].name.as_str();
    ends(topology.links.iter().map(|link| (name(link.a), name(link.b))))
}

fn plan_ends(plan: &Plan) -> Vec<(String, String)> {
    let name = |node: usize| plan.nodes[node].name.as_str();
    ends(plan.links.iter().map(|link| (name(link.a), name(link.b))))
}

/// A scenario whose topology is the file `name`, with more of `[topology]` and of the rest.
fn scenario(name: &str, topology: &str, rest: &str) -> String {
    let (consumer, producer) =
        if name.ends_with(".intra") { ("Seattle-US1", "Denver-US4") } else { ("Seattle", "Denver") };
    format!(
        "format = 1\n[scenario]\nname = \"s\"\nduration = \"1s\"\n[topology]\nfile = \"{name}\"\n{topology}\n{rest}\n\
         [[flow]]\nconsumer = \"{consumer}\"\nproducer = \"{producer}\"\nprefix = \"/a\"\nscheme = \"fixed\"\n"
    )
}

fn parse(text: &str) -> Result<Plan, String> {
    let file = |name: &str| {
        let found = SAMPLES.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned());
        found.ok_or_else(|| "not there".to_owned())
    };
    let parser = Parser { files: Some(&file), ..Parser::new("s.toml", SCHEMES) };
    parser.parse(text).map_err(|errors| errors.to_string())
}

#[test]
fn each_form_of_abilene_has_its_cities_and_links() {
    for (name, text) in SAMPLES.iter().filter(|(name, _)| *name != "abilene-loss.txt") {
        let topology = import(name, text);
        assert_eq!((topology.nodes.len(), topology.links.len()), (11, 14), "{name}");
        assert!(topology.notes.is_empty(), "{name}: {:?}", topology.notes);
    }
    assert_eq!(imported_ends(&import("a.txt", sample("abilene.txt"))), {
        imported_ends(&import("a.conf", sample("abilene.conf")))
    });
}

#[test]
fn ndnsim_has_places_costs_queues_and_in_seven_columns_loss() {
    let topology = import("abilene.txt", sample("abilene.txt"));
    let seattle = &topology.nodes[0];
    // Seattle is the westernmost and northernmost.
    assert_eq!((seattle.name.as_str(), seattle.position), ("Seattle", Some((0.05, 0.05))));
    let link = &topology.links[0];
    assert_eq!((link.name.as_str(), link.rate), ("Seattle-Sunnyvale", Some(BitRate::from_mbps(100.0))));
    assert_eq!((link.cost, link.queue_packets, link.loss), (Some(1), Some(200), None));
    assert_eq!(link.delay, Some(Span::from_micros(5_690)));
    let losses: Vec<Option<f64>> =
        import("x.txt", sample("abilene-loss.txt")).links.iter().map(|link| link.loss).collect();
    assert_eq!(losses, [Some(0.001), Some(0.0), Some(0.005)]);
    let model = "router\na NA 0 0\nb NA 0 0\nlink\na b 1Mbps 1 1ms 9 ns3::RateErrorModel,ErrorRate=0.1,ErrorUnit=ERROR_UNIT_PACKET";
    assert_eq!(import("x", model).links[0].loss, Some(0.1));
}

#[test]
fn minindn_counts_in_megabits_and_per_cent_and_faces_have_costs() {
    let text = "[nodes]\na: _\nb: app=x\n[switches]\ns1: _\n[links]\na:s1 delay=10ms bw=2.5 loss=1\n\
                s1:b max_queue_size=50 jitter=1ms\n[faces]\nb:s1 cost=7\n[wifi]\nanything goes\n";
    let topology = import("x.conf", text);
    let [first, second] = &topology.links[..] else { panic!("two links") };
    assert_eq!((first.rate, first.loss), (Some(BitRate::from_bps(2_500_000)), Some(0.01)));
    assert_eq!((second.cost, second.queue_packets, second.delay), (Some(7), Some(50), None));
    assert_eq!(topology.notes, ["jitter= of links was left out", "section [wifi] was left out"]);
}

#[test]
fn graphml_takes_delays_from_places_and_keeps_the_largest_part() {
    let topology = import("abilene.graphml", sample("abilene.graphml"));
    let by_hand = import("abilene.txt", sample("abilene.txt"));
    for (ours, theirs) in topology.links.iter().zip(&by_hand.links) {
        let difference =
            ours.delay.expect("by distance").as_millis_f64() - theirs.delay.expect("given").as_millis_f64();
        assert!(difference.abs() < 0.006, "{}: {difference} ms", ours.name);
        assert_eq!(ours.rate, theirs.rate);
    }
    assert_eq!(
        (topology.nodes[2].name.as_str(), topology.nodes[2].label.as_str()),
        ("Los-Angeles", "Los Angeles")
    );
    let text = r#"<graphml><key id="l" attr.name="label" for="node"/><key id="r" attr.name="bandwidth"/>
        <key id="d" attr.name="latency"/><graph edgedefault="directed">
        <node id="0"><data key="l">X &amp; Y</data></node><node id="1"/><node id="2"><data key="l">X, Y</data></node>
        <node id="3"/><edge source="0" target="2"><data key="r">5Mbps</data><data key="d">3ms</data></edge>
        <edge source="2" target="0"/><edge source="2" target="2"/></graph></graphml>"#;
    let topology = import("x.graphml", text);
    let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!((names, topology.links.len()), (vec!["X-Y", "X-Y-2"], 1));
    assert_eq!(topology.links[0].delay, Some(Span::from_millis(3)));
    assert_eq!(topology.notes.len(), 2, "{:?}", topology.notes);
}

#[test]
fn rocketfuel_has_costs_or_delays_and_both_from_two_files() {
    let mut weights = import("w.intra", sample("abilene-weights.intra"));
    assert_eq!((weights.links[0].cost, weights.links[0].delay), (Some(6), None));
    let named =
        |name: &str| weights.nodes.iter().find(|node| node.name == name).expect("there").label.clone();
    assert_eq!(named("Los-Angeles-US3"), "Los+Angeles,+US3");
    let latencies = import("abilene-latencies.intra", sample("abilene-latencies.intra"));
    assert_eq!((latencies.links[0].cost, latencies.links[0].delay), (None, Some(Span::from_millis(6))));
    weights.take_delays(&latencies);
    assert!(weights.links.iter().all(|link| link.cost.is_some() && link.delay.is_some()));
    let quoted = import_as(
        TopologyFormat::Rocketfuel,
        "x",
        "\"New York, NY\" \"San Jose\" 2\n\"San Jose\" \"New York, NY\" 3\n",
    );
    assert_eq!(
        (quoted.nodes[0].name.as_str(), quoted.links.len(), quoted.notes.len()),
        ("New-York-NY", 1, 1)
    );
}

#[test]
fn a_mistake_is_reported_with_line_column_and_what_would_be_right() {
    let ndnsim = "router\na NA 1 2\nb NA 3 4\nlink\n";
    let graphml = |inside: &str| {
        format!("<graphml>\n<key id='s' attr.name='LinkSpeedRaw'/>\n<graph>\n{inside}</graph></graphml>")
    };
    let cases: Vec<(TopologyFormat, String, (usize, usize), &str)> = vec![
        (TopologyFormat::Ndnsim, "nodes\n".into(), (1, 1), "has to start with a line \"router\""),
        (
            TopologyFormat::Ndnsim,
            "router\na NA 1\n".into(),
            (2, 6),
            "an xPos is missing; a node has the columns: name",
        ),
        (TopologyFormat::Ndnsim, "router\na NA x 2\n".into(), (2, 6), "\"x\" is not a coordinate"),
        (TopologyFormat::Ndnsim, "router\na NA 1 2\na NA 1 2\n".into(), (3, 1), "node \"a\" is given twice"),
        (TopologyFormat::Ndnsim, format!("{ndnsim}a c 1Mbps 1 1ms 9"), (5, 3), "node \"c\" is not known"),
        (
            TopologyFormat::Ndnsim,
            format!("{ndnsim}a b 1Mps 1 1ms 9"),
            (5, 5),
            "\"1Mps\" is not a rate; one such as \"10Mbps\"",
        ),
        (TopologyFormat::Ndnsim, format!("{ndnsim}a b 1Mbps x 1ms 9"), (5, 11), "\"x\" is not a cost"),
        (
            TopologyFormat::Ndnsim,
            format!("{ndnsim}a b 1Mbps 1 10 9"),
            (5, 13),
            "\"10\" has no unit; write it as \"10ms\"",
        ),
        (TopologyFormat::Ndnsim, format!("{ndnsim}a b 1Mbps 1 1ms 0"), (5, 17), "\"0\" is not a queue"),
        (
            TopologyFormat::Ndnsim,
            format!("{ndnsim}a b 1Mbps 1 1ms 9 2"),
            (5, 19),
            "\"2\" is not a loss; a fraction from 0 to 1",
        ),
        (
            TopologyFormat::Ndnsim,
            format!("{ndnsim}a b 1Mbps 1 1ms"),
            (5, 13),
            "a column is missing; a link has the columns",
        ),
        (TopologyFormat::Ndnsim, "router\n".into(), (1, 1), "the file has no nodes"),
        (TopologyFormat::Ndnsim, "router\na\n".into(), (1, 1), "the file has only one node"),
        (
            TopologyFormat::Minindn,
            "a: _\n".into(),
            (1, 1),
            "has to start with a section, such as \"[nodes]\"",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\n[links]\na:b bw=1\n".into(),
            (4, 3),
            "node \"b\" is not known",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\nb: _\n[links]\na:b bw=fast\n".into(),
            (5, 8),
            "\"fast\" is not a bw",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\nb: _\n[links]\na:b delay=10\n".into(),
            (5, 11),
            "write it as \"10ms\"",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\nb: _\n[links]\na:b loss=101\n".into(),
            (5, 10),
            "per cent from 0 to 100",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\nb: _\n[links]\na b\n".into(),
            (5, 1),
            "\"a\" is not a link",
        ),
        (
            TopologyFormat::Minindn,
            "[nodes]\na: _\nb: _\n[faces]\na:b cost=1\n".into(),
            (5, 1),
            "no link between these",
        ),
        (TopologyFormat::Graphml, "<graphml>\n</graph>".into(), (2, 1), "no XML"),
        (TopologyFormat::Graphml, "<graphml>\n</graphml>".into(), (1, 1), "there is no <graph>"),
        (TopologyFormat::Graphml, graphml("<node/>"), (4, 1), "a <node> needs an id"),
        (
            TopologyFormat::Graphml,
            graphml("<node id='a'/>\n<edge source='a'/>"),
            (5, 1),
            "an <edge> needs a target",
        ),
        (
            TopologyFormat::Graphml,
            graphml("<node id='a'/>\n<edge source='a' target='bb'/>"),
            (5, 26),
            "node \"bb\" is not known",
        ),
        (
            TopologyFormat::Graphml,
            graphml(
                "<node id='a'/><node id='b'/>\n<edge source='a' target='b'><data key='s'>fast</data></edge>",
            ),
            (5, 43),
            "LinkSpeedRaw: \"fast\" is not a number of bit/s",
        ),
        (
            TopologyFormat::Rocketfuel,
            "a b\n".into(),
            (1, 3),
            "2 columns; a line has three: node, node, number",
        ),
        (TopologyFormat::Rocketfuel, "a b c\n".into(), (1, 5), "\"c\" is not a cost"),
    ];
    for (format, text, place, stated) in cases {
        let errors = read("file", text.as_bytes(), format, &Limits::default()).expect_err(&text);
        let error = errors.iter().next().expect("at least one");
        assert_eq!((error.line, error.column), place, "{text}\n{errors}");
        assert!(error.message.contains(stated), "{errors}");
    }
    let errors = read("f", b"router\nSeattle\nlink\nSeatle x\n", TopologyFormat::Ndnsim, &Limits::default());
    assert!(errors.is_err());
    let text = "router\nSeattle\nDenver\nlink\nSeatle Denver 1Mbps 1 1ms 9\n";
    let errors =
        read("f", text.as_bytes(), TopologyFormat::Ndnsim, &Limits::default()).expect_err("misspelt");
    assert!(errors.to_string().contains("did you mean \"Seattle\"?"), "{errors}");
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let bomb = "<!DOCTYPE g [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><graphml>&b;</graphml>";
    let stated = |text: &str, format, limits: &Limits| {
        read("f", text.as_bytes(), format, limits).expect_err("refused").to_string()
    };
    assert!(
        stated(bomb, TopologyFormat::Graphml, &Limits::default()).contains("a document type is not read")
    );
    let deep = "<a>".repeat(200_000);
    let _ = stated(&deep, TopologyFormat::Graphml, &Limits::default());
    let small = Limits { nodes: 2, links: 1, text_bytes: 200, ..Limits::default() };
    assert!(stated("router\na\nb\nc\n", TopologyFormat::Ndnsim, &small).contains("more than 2 nodes"));
    let links = "[nodes]\na: _\nb: _\n[links]\na:b\na:b\n";
    assert!(stated(links, TopologyFormat::Minindn, &small).contains("more than 1 links"));
    assert!(
        stated(&"a b 1\n".repeat(100), TopologyFormat::Rocketfuel, &small)
            .contains("it is longer than 200 bytes")
    );
}

#[test]
fn a_deep_document_does_not_exhaust_a_small_stack() {
    let depth = 100_000;
    let text = format!(
        "<graphml><graph>{}{}</graph></graphml>",
        "<node id='a'>".repeat(depth),
        "</node>".repeat(depth)
    );
    let work = move || {
        let _ = read("f", text.as_bytes(), TopologyFormat::Graphml, &Limits::default());
    };
    let thread = std::thread::Builder::new().stack_size(512 << 10).spawn(work).expect("a thread can start");
    thread.join().expect("no panic");
}

#[test]
fn a_scenario_takes_a_file_with_defaults_and_changes_by_name() {
    let changes = "[link.Chicago-Indianapolis]\nrate = \"20Mbps\"\n[node.Denver]\nposition = [0.5, 0.5]";
    let plan = parse(&scenario("abilene.graphml", "link = { queue = { limit = \"64pkt\" } }", changes))
        .expect("sound");
    assert_eq!(plan_ends(&plan), imported_ends(&import("a.graphml", sample("abilene.graphml"))));
    let link = |name: &str| plan.links.iter().find(|link| link.name == name).expect("there");
    assert_eq!(link("Chicago-Indianapolis").rate[0], BitRate::from_mbps(20.0));
    assert_eq!(link("Chicago-New-York").rate[1], BitRate::from_mbps(100.0));
    assert_eq!(plan.nodes[3].position, Some((0.5, 0.5)));
    assert!(plan.nodes.iter().all(|node| node.is_router));
    // What the file says is part of what the results belong to.
    assert_eq!(plan.files, [("abilene.graphml".to_owned(), sample("abilene.graphml").to_owned())]);
    let lossy = parse(&scenario("abilene-loss.txt", "", "")).expect("sound");
    assert_eq!(
        lossy.links[2].loss,
        [LossPlan::Bernoulli { probability: 0.005 }, LossPlan::Bernoulli { probability: 0.005 }]
    );
    let both = "latencies = \"abilene-latencies.intra\"\nlink = { rate = \"1Gbps\" }";
    let plan = parse(&scenario("abilene-weights.intra", both, "")).expect("sound");
    assert_eq!((plan.links[0].cost, plan.links[0].delay), (6, Span::from_millis(6)));
}

#[test]
fn what_is_wrong_with_a_file_is_reported_in_the_scenario_that_names_it() {
    let stated =
        |name: &str, topology: &str, rest: &str| parse(&scenario(name, topology, rest)).expect_err("refused");
    assert!(
        stated("nowhere.txt", "", "").contains("s.toml:6:8: file: \"nowhere.txt\" cannot be read: not there")
    );
    assert!(
        stated("abilene.txt", "format = \"minindn\"", "")
            .contains("abilene.txt:3:1: the file has to start with")
    );
    assert!(stated("abilene.txt", "format = \"ndnsin\"", "").contains("did you mean \"ndnsim\"?"));
    assert!(stated("abilene.txt", "builtin = \"grid\"", "").contains("is built in or from a file, not both"));
    assert!(stated("abilene.txt", "pairs = 2", "").contains("\"pairs\" requires a builtin topology"));
    assert!(
        stated("abilene.txt", "latencies = \"abilene.conf\"", "")
            .contains("applies to format rocketfuel only")
    );
    let missing = stated("abilene-weights.intra", "", "");
    assert!(
        missing.contains("has no rate and no delay in the file; give one to all in [topology] link"),
        "{missing}"
    );
    assert!(stated("abilene.txt", "", "[link.Seattle-Miami]\ncost = 2").contains("is not known"));
    assert!(stated("abilene.txt", "", "[[node]]\nname = \"x\"").contains("write [node.NAME]"));
    let parser = Parser::new("s.toml", SCHEMES);
    assert!(
        parser
            .parse(&scenario("abilene.txt", "", ""))
            .is_err_and(|e| e.to_string().contains("files are not read here"))
    );
}

#[test]
fn what_import_writes_is_a_sound_scenario_of_the_same_network() {
    for (name, text) in SAMPLES {
        let topology = import(name, text);
        let format = TopologyFormat::of(text).expect("told");
        let written = scenario_text("abilene", name, format, &topology, &[0]);
        let plan = parse(&written).unwrap_or_else(|errors| panic!("{name}: {errors}\n{written}"));
        assert_eq!(plan_ends(&plan), imported_ends(&topology), "{name}");
        assert_eq!((plan.nodes.len(), plan.flows.len()), (topology.nodes.len(), 1));
        for (ours, theirs) in plan.links.iter().zip(&topology.links) {
            assert_eq!(
                (&ours.name, Some(ours.delay)),
                (&theirs.name, theirs.delay.or(Some(Span::from_millis(1))))
            );
            assert!(theirs.rate.is_none_or(|rate| ours.rate == [rate; 2]), "{}", ours.name);
        }
        // The same file, named by a scenario, gives the same links.
        let named = parse(&scenario(
            name,
            "link = { rate = \"1Gbps\", delay = \"1ms\", queue = { limit = \"100pkt\" } }",
            "",
        ));
        let text = |plan: &Plan| format!("{:?}", plan.links);
        assert_eq!(text(&named.expect("sound")), text(&plan), "{name}");
    }
}

/// A connected graph with odd names, as text in `format`; and its ends.
fn any_graph(rng: &mut Rng, format: TopologyFormat) -> (String, Vec<(usize, usize)>) {
    let count = 2 + rng.below(9) as usize;
    let mut links: Vec<(usize, usize)> =
        (1..count).map(|node| (node, rng.below(node as u32) as usize)).collect();
    for _ in 0..rng.below(5) {
        let (a, b) = (rng.below(count as u32) as usize, rng.below(count as u32) as usize);
        if a != b && !links.contains(&(a, b)) && !links.contains(&(b, a)) {
            links.push((a, b));
        }
    }
    let name = |node: usize| format!("n{node}.é_{}", "x".repeat(node * 9));
    let mut text = String::new();
    match format {
        TopologyFormat::Ndnsim => {
            text.push_str("router\n");
            (0..count).for_each(|node| text.push_str(&format!("{} NA {node} -{node}\n", name(node))));
            text.push_str("link # all\n".split(' ').next().unwrap_or(""));
            text.push('\n');
            links
                .iter()
                .for_each(|(a, b)| text.push_str(&format!("{} {} 1Mbps 1 2ms 9\n", name(*a), name(*b))));
        }
        TopologyFormat::Minindn => {
            text.push_str("[nodes]\n");
            (0..count).for_each(|node| text.push_str(&format!("{}: _\n", name(node))));
            text.push_str("[links]\n");
            links
                .iter()
                .for_each(|(a, b)| text.push_str(&format!("{}:{} delay=2ms bw=1\n", name(*a), name(*b))));
        }
        TopologyFormat::Graphml => {
            text.push_str("<graphml><key id='l' attr.name='label'/><graph>");
            (0..count).for_each(|node| {
                text.push_str(&format!("<node id='{node}'><data key='l'>{}</data></node>", name(node)));
            });
            links.iter().for_each(|(a, b)| text.push_str(&format!("<edge source='{a}' target='{b}'/>")));
            text.push_str("</graph></graphml>");
        }
        TopologyFormat::Rocketfuel => {
            links.iter().for_each(|(a, b)| {
                text.push_str(&format!("{0} {1} 2\n{1} {0} 2\n", name(*a), name(*b)));
            });
        }
    }
    (text, links)
}

#[test]
fn any_graph_survives_import_and_scenario() {
    for seed in 0..400 {
        let mut rng = Rng::stream(Seed(seed), "graphs");
        let (format, _) = TopologyFormat::ALL[seed as usize % 4];
        let (text, links) = any_graph(&mut rng, format);
        let topology =
            read("f", text.as_bytes(), format, &Limits::default()).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let written = scenario_text("any", "f", format, &topology, &[0]);
        let plan = parse(&written).unwrap_or_else(|errors| panic!("{errors}\n{written}"));
        // Rocketfuel numbers nodes as its links name them.
        let label = |node: usize| format!("n{node}.é_{}", "x".repeat(node * 9));
        let name_of =
            |label: &str| topology.nodes.iter().find(|node| node.label == label).expect("there").name.clone();
        let names: Vec<(String, String)> =
            links.iter().map(|(a, b)| (name_of(&label(*a)), name_of(&label(*b)))).collect();
        let expected = ends(names.iter().map(|(a, b)| (a.as_str(), b.as_str())));
        assert_eq!(plan_ends(&plan), expected, "{format}:\n{text}");
    }
}

/// What the fuzz target asserts too.
fn check(format: TopologyFormat, bytes: &[u8]) {
    let limits = Limits { text_bytes: 1 << 20, nodes: 300, links: 600, ..Limits::default() };
    match read("input", bytes, format, &limits) {
        Ok(topology) => {
            assert!(topology.links.iter().all(|link| link.a.max(link.b) < topology.nodes.len()));
            let written = scenario_text("input", "input", format, &topology, &[0]);
            match parse(&written) {
                Ok(plan) => assert_eq!(plan_ends(&plan), imported_ends(&topology)),
                Err(errors) => assert!(errors.contains("is not connected with"), "{errors}\n{written}"),
            }
        }
        Err(errors) => assert!(errors.iter().count() > 0 && !errors.to_string().is_empty()),
    }
}

#[test]
fn damaged_files_are_answered_soundly() {
    for seed in 0..4_000 {
        let mut rng = Rng::stream(Seed(seed), "imports");
        let (_, text) = SAMPLES[rng.below(SAMPLES.len() as u32) as usize];
        let format = if rng.chance(0.9) { TopologyFormat::of(text) } else { None };
        let format = format.unwrap_or(TopologyFormat::ALL[rng.below(4) as usize].0);
        check(format, &damage(text.as_bytes(), &mut rng));
    }
}

#[test]
fn files_that_once_were_hard_are_answered_soundly() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/topology");
    let files =
        std::fs::read_dir(corpus).expect("the corpus is there").map(|file| file.expect("readable").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    for file in files {
        println!("{}", file.display());
        let bytes = std::fs::read(&file).expect("readable");
        if let Some((first, text)) = bytes.split_first() {
            check(TopologyFormat::ALL[usize::from(*first) % 4].0, text);
        }
    }
}

#[test]
fn a_mark_of_byte_order_hides_no_format() {
    let text = "\u{FEFF}router\r\na NA 0 0\r\nb NA 1 1\r\nlink\r\na b 10Mbps 1 5ms 100\r\n";
    assert_eq!(TopologyFormat::of(text), Some(TopologyFormat::Ndnsim));
}

#[test]
fn a_format_is_recognised_by_content_alone_and_no_other_text_is_taken_for_one() {
    for (_, text) in SAMPLES {
        assert!(TopologyFormat::of(text).is_some(), "{text}");
    }
    for text in
        ["", "[scenario]\nname = \"a\"\n", "a b 3\n", "<svg></svg>", "nodes 3\n", "Oslo,+NO Rome,+IT far\n"]
    {
        assert_eq!(TopologyFormat::of(text), None, "{text:?}");
    }
}
