//! Networks that are drawn from a seed, as a scenario asks for them.

use tidegate_core::units::Span;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::scenario::parse;

const WAXMAN: &str = r#"format = 1
scenario = { name = "drawn", duration = "1s" }
[topology]
builtin = "waxman"
nodes = 30
alpha = 0.2
beta = 0.5
plane = "20ms"
link = { rate = "10Mbps" }
[[flow]]
consumer = "r1"
producer = "r30"
prefix = "/a"
scheme = "fixed"
"#;

const BARABASI_ALBERT: (&str, &str) = (
    "builtin = \"waxman\"\nnodes = 30\nalpha = 0.2\nbeta = 0.5",
    "builtin = \"barabasi-albert\"\nnodes = 30\nlinks = 2",
);

fn parsed(text: &str) -> Plan {
    parse("drawn.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"))
}

fn refused(text: &str) -> String {
    parse("drawn.toml", text, &[], SCHEMES).expect_err("not sound").to_string()
}

/// Each link's delay, and its length on a square of 20 ms.
fn delays(plan: &Plan) -> Vec<(Span, f64)> {
    let place = |node: usize| plan.nodes[node].position.expect("drawn");
    let lengths = plan.links.iter().map(|link| {
        let ((a, b), (c, d)) = (place(link.a), place(link.b));
        (link.delay, 20e6 * ((a - c).powi(2) + (b - d).powi(2)).sqrt())
    });
    lengths.collect()
}

#[test]
fn links_have_the_delay_of_their_length_unless_they_are_given_one() {
    let barabasi_albert = WAXMAN.replace(BARABASI_ALBERT.0, BARABASI_ALBERT.1);
    for text in [WAXMAN, &barabasi_albert] {
        let plan = parsed(text);
        assert_eq!(plan.nodes.len(), 30);
        for (delay, length) in delays(&plan) {
            assert!((delay.as_nanos() as f64 - length).abs() <= 1.0, "{delay}, not {length} ns");
        }
        let name = &plan.links[3].name;
        let own = parsed(&format!(
            "{text}[link.{name}]\ndelay = \"7us\"\n[link.{}]\ncost = 2\n",
            plan.links[4].name
        ));
        assert_eq!(own.links[3].delay, Span::from_micros(7));
        assert_eq!((own.links[4].delay, own.links[4].cost), (plan.links[4].delay, 2));
        let all = parsed(&text.replace("rate = \"10Mbps\"", "rate = \"10Mbps\", delay = \"3ms\""));
        assert!(all.links.iter().all(|link| link.delay == Span::from_millis(3)));
    }
}

#[test]
fn the_network_is_that_of_its_own_seed_and_not_of_the_runs() {
    let links = |text: &str| -> Vec<(usize, usize)> {
        parsed(text).links.iter().map(|link| (link.a, link.b)).collect()
    };
    let first = links(WAXMAN);
    assert_eq!(links(&WAXMAN.replace("nodes = 30", "nodes = 30\nseed = 1")), first, "1 is the default");
    assert_ne!(links(&WAXMAN.replace("nodes = 30", "nodes = 30\nseed = 2")), first);
    assert_eq!(links(&WAXMAN.replace("\"1s\"", "\"1s\", first_seed = 9")), first);
}

#[test]
fn a_drawn_network_reports_what_it_lacks_and_what_is_too_much() {
    for (from, to, reported) in [
        ("nodes = 30\n", "", "drawn.toml:4:11: \"nodes\" is missing; topology \"waxman\" requires it"),
        ("beta = 0.5\n", "", "drawn.toml:4:11: \"beta\" is missing; topology \"waxman\" requires it"),
        ("alpha = 0.2", "alpha = 0", "drawn.toml:6:9: alpha: 0 "),
        ("beta = 0.5", "beta = 1.5", "drawn.toml:7:8: beta: 1.5 "),
        ("nodes = 30", "nodes = 1", "drawn.toml:5:9: nodes: 1 "),
        (
            "beta = 0.5",
            "beta = 0.5\nlinks = 2",
            "topology \"waxman\" has nodes, seed, alpha, beta, plane, not \"links\"",
        ),
        ("nodes = 30", "nodes = 3000", "topology \"waxman\" would have 3000 nodes and up to 4498500 links"),
        (
            "plane = \"20ms\"\n",
            "",
            "has no delay; [topology] takes it from \"link\", delays also from \"plane\"",
        ),
        ("link = { rate = \"10Mbps\" }\n", "", "has no rate; [topology] takes it from \"link\""),
        (
            BARABASI_ALBERT.0,
            "builtin = \"barabasi-albert\"\nnodes = 30\nlinks = 30",
            "drawn.toml:4:11: topology \"barabasi-albert\": 30 links of each need 31 nodes or more, not 30",
        ),
        (
            BARABASI_ALBERT.0,
            "builtin = \"barabasi-albert\"\nnodes = 1000000\nlinks = 3",
            "topology \"barabasi-albert\" would have 1000000 nodes and up to 2999994 links",
        ),
        (
            BARABASI_ALBERT.0,
            "builtin = \"grid\"\nrows = 2\ncolumns = 15",
            "topology \"grid\" has rows, columns, not \"plane\"",
        ),
    ] {
        assert!(WAXMAN.contains(from), "{from:?} is not in the scenario");
        let stated = refused(&WAXMAN.replace(from, to));
        assert!(stated.contains(reported), "{reported:?} is not in\n{stated}");
    }
}
