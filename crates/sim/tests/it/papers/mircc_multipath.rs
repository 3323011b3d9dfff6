//! MIRCC over several paths: they are filled, the best one is shared fairly, and where elections never end.

use tidegate_core::observe::records::RunRecord;

use crate::papers::runs::{goodput, runs};

const ON: &str = ", multipath = true";

/// Mbit/s of Data that each flow gets at last.
fn mbps(text: &str, between: [f64; 2]) -> Vec<f64> {
    let record: RunRecord = runs(text, 1..=1).remove(0);
    (0..record.flows.len()).map(|flow| goodput(&record, flow as u32, between) * 1061.0 * 8e-6).collect()
}

fn network(routers: &str, nodes: &[&str], links: &[([&str; 2], u32)]) -> String {
    let mut text = format!(
        "format = 1\n[scenario]\nname = \"paths\"\nduration = \"10s\"\nsample = \"100ms\"\n[topology]\n\
         link = {{ rate = \"1Gbps\", delay = \"2ms\", queue = {{ limit = \"1000pkt\" }} }}\n\
         [router]\nrouter_parts = [{{ name = \"mircc\", interval = \"20ms\"{routers} }}]\n"
    );
    text.extend(nodes.iter().map(|name| format!("[[node]]\nname = \"{name}\"\n")));
    text.extend(
        links.iter().map(|(ends, rate)| format!("[[link]]\nends = {ends:?}\nrate = \"{rate}Mbps\"\n")),
    );
    text
}

fn flow(consumer: &str, producer: &str, settings: &str) -> String {
    format!(
        "[[flow]]\nconsumer = \"{consumer}\"\nproducer = \"{producer}\"\nprefix = \"/{consumer}\"\n\
         scheme = {{ name = \"mircc\"{settings} }}\n"
    )
}

/// From c to p: through a with 20 Mbit/s, and through b with `second`; from d to q through a alone.
fn two_paths(second: u32, routers: &str) -> String {
    let links = [(["r", "a"], 20), (["r", "b"], second), (["c", "r"], 1000), (["d", "r"], 1000)];
    let more = [(["a", "p"], 1000), (["b", "p"], 1000), (["a", "q"], 1000)];
    network(routers, &["c", "d", "r", "a", "b", "p", "q"], &[&links[..], &more[..]].concat())
}

#[track_caller]
fn expect(found: &[f64], expected: &[f64]) {
    let is_near = found.iter().zip(expected).all(|(found, rate)| (found / rate - 1.0).abs() < 0.02);
    assert!(is_near && found.len() == expected.len(), "{found:?}, expected {expected:?} Mbit/s");
}

#[test]
fn disjoint_paths_are_filled_unless_a_part_is_missing() {
    for (consumer, routers, expected) in [(ON, ON, 30.0), ("", ON, 20.0), (ON, "", 20.0)] {
        expect(&mbps(&(two_paths(10, routers) + &flow("c", "p", consumer)), [5.0, 10.0]), &[expected]);
    }
    // Whoever does not look for other paths stays on the first one.
    let alone =
        mbps(&(two_paths(10, ON) + &flow("c", "p", ", multipath = true, exploring = 0")), [5.0, 10.0]);
    assert!(alone[0] < 20.5, "{alone:?}");
}

#[test]
fn a_label_leads_through_several_routers() {
    // Behind a there are paths of 15 and 5 Mbit/s: who did not keep them apart would send 10 into each.
    let links = [(["a", "x"], 15), (["a", "y"], 5), (["b", "z"], 10), (["r", "a"], 1000), (["r", "b"], 1000)];
    let more = [(["c", "r"], 1000), (["x", "p"], 1000), (["y", "p"], 1000), (["z", "p"], 1000)];
    let text = network(ON, &["c", "r", "a", "b", "x", "y", "z", "p"], &[&links[..], &more[..]].concat());
    expect(&mbps(&(text + &flow("c", "p", ON)), [5.0, 10.0]), &[30.0]);
}

#[test]
fn a_flow_of_one_path_gets_half_of_the_best_path_of_a_flow_of_two() {
    let text = two_paths(5, ON) + &flow("c", "p", ON) + &flow("d", "q", "");
    expect(&mbps(&text, [5.0, 10.0]), &[15.0, 10.0]);
}

#[test]
fn a_path_that_fails_is_left() {
    let down = "[[event]]\nat = \"5s\"\nlink = \"r-a\"\nstate = \"down\"\n";
    expect(&mbps(&(two_paths(10, ON) + &flow("c", "p", ON) + down), [8.0, 10.0]), &[10.0]);
}

#[test]
fn elections_never_end_where_the_margin_is_less_than_joining_costs() {
    // While c is primary on b, a offers d's 20 Mbit/s, more than 1.1 times 15; once c is primary on a, both have 10 there,
    // and b offers more than 1.1 times that. With (1 + m)^2 > 2 both cannot be: 20 > (1 + m) c and c > (1 + m) 20 / 2.
    let total = |margin: f64| {
        let settings = format!(", multipath = true, margin = {margin}");
        mbps(&(two_paths(15, ON) + &flow("c", "p", &settings) + &flow("d", "q", "")), [5.0, 10.0])
            .iter()
            .sum::<f64>()
    };
    let found = [total(0.1), total(0.5)];
    assert!(found[0] < 0.9 * 35.0 && found[1] > 0.98 * 35.0, "{found:?} of 35 Mbit/s");
}
