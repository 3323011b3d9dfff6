//! Large scenarios: as many nodes and flows as benchmarks need, and no more than memory has.

use std::sync::Arc;

use tidegate_core::units::ByteCount;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{FlowPlan, Plan};
use tidegate_sim::scenario::{Errors, Limits, Parser, parse};

/// Ten thousand nodes and a hundred thousand flows.
const WIDE: &str = r#"format = 1
scenario = { name = "wide", duration = "10s" }
[topology]
builtin = "grid"
rows = 100
columns = 100
link = { rate = "100Mbps", delay = "2ms" }
[[flow]]
repeat = 100000
consumer = "r{i%5000}"
producer = "r10000"
prefix = "/{i}"
name = "flow-{i}"
scheme = "fixed"
"#;

fn parsed(text: &str) -> Result<Plan, Errors> {
    parse("size.toml", text, &[], SCHEMES)
}

#[test]
fn one_table_makes_a_hundred_thousand_flows_over_ten_thousand_nodes() {
    let plan = parsed(WIDE).expect("sound");
    assert_eq!(plan.flows.len(), 100_000);
    let plan = parsed(&WIDE.replace("r10000", "r{i+5000}").replace("100000", "5000")).expect("sound");
    assert_eq!((plan.nodes.len(), plan.links.len(), plan.flows.len()), (10_000, 19_800, 5_000));
    let flow = &plan.flows[4_999];
    assert_eq!((flow.name.as_str(), flow.prefix.as_str()), ("flow-5000", "/5000"));
    assert_eq!((flow.consumer, flow.producers[0]), (4_999, 9_999));
}

#[test]
fn flows_of_one_table_share_their_settings_until_one_is_changed() {
    let mut plan = parsed(&WIDE.replace("100000", "3")).expect("sound");
    assert!(plan.flows.iter().all(|flow| Arc::ptr_eq(&flow.settings, &plan.flows[0].settings)));
    let before = plan.flows[0].payload;
    plan.flows[1].payload = ByteCount::new(1);
    let payloads: Vec<ByteCount> = plan.flows.iter().map(|flow| flow.payload).collect();
    assert_eq!(payloads, [before, ByteCount::new(1), before]);
}

#[test]
fn a_flow_of_a_plan_takes_at_most_200_bytes_with_short_names() {
    let plan = parsed(WIDE).expect("sound");
    let of_flow =
        |flow: &FlowPlan| flow.name.capacity() + flow.prefix.capacity() + 8 * flow.producers.capacity();
    let bytes = size_of::<FlowPlan>() * plan.flows.capacity() + plan.flows.iter().map(of_flow).sum::<usize>();
    assert!(bytes <= 200 * plan.flows.len(), "{bytes} bytes");
}

#[test]
fn what_would_not_fit_into_memory_is_refused_before_it_is_built() {
    let bursts: Vec<String> = (0..1_000).map(|i| format!("{{ at = \"{i}ms\", for = \"1ms\" }}")).collect();
    let bursts = format!("rate = \"1Mbps\"\nbursts = [{}]", bursts.join(", "));
    let text = WIDE.replace("repeat = 100000", "repeat = 1000000") + &bursts;
    let errors = parsed(&text).expect_err("16 GB of bursts").to_string();
    assert!(
        errors.starts_with("size.toml:8:1: with this the scenario takes more than 4294967296 bytes"),
        "{errors}"
    );
    let prefixes: Vec<String> =
        (0..10_000).map(|i| format!("{{ prefix = \"/{i}\", strategy = \"best-route\" }}")).collect();
    let router = format!("[router]\nprefix = [{}]", prefixes.join(", "));
    let errors = parsed(&(WIDE.to_owned() + &router)).expect_err("15 GB of strategies").to_string();
    assert!(errors.contains("size.toml:4:11: with this the scenario takes more than"), "{errors}");
}

#[test]
fn a_text_beyond_the_limit_is_refused_unread() {
    let limits = Limits { text_bytes: 100, ..Limits::default() };
    let parser = Parser { limits, ..Parser::new("size.toml", SCHEMES) };
    let errors = parser.parse(&"[".repeat(101)).expect_err("too long").to_string();
    assert!(errors.starts_with("size.toml:1:1: it is longer than 100 bytes\n"), "{errors}");
}

#[test]
fn a_million_problems_are_counted_and_fifty_shown() {
    let text = "[[flow]]\n".repeat(250_000);
    let errors = parsed(&text).expect_err("nothing in them");
    assert_eq!(errors.iter().count(), 50);
    assert!(errors.omitted() > 900_000, "{}", errors.omitted());
}
