//! `--set key=value`.

use tidegate_core::units::{BitRate, Packets};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{Demand, LossPlan, Plan};
use tidegate_sim::scenario::parse;

use super::examples::{EXAMPLES, example};

fn with(name: &str, overrides: &[(&str, &str)]) -> Plan {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    parse("example.toml", example(name), &overrides, SCHEMES).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn an_override_changes_what_its_path_names() {
    let plan = with(
        "dumbbell",
        &[("topology.bottleneck.rate", "20Mbps"), ("flow.0.size", "1MB"), ("scenario.seeds", "3")],
    );
    assert_eq!(plan.links[2].rate, [BitRate::from_mbps(20.0); 2]);
    assert_eq!(plan.flows[0].demand, Demand::File { segments: 977 });
    assert_eq!(plan.seeds.len(), 3);
}

#[test]
fn an_override_may_name_a_known_key_that_is_not_there() {
    let plan = with(
        "dumbbell",
        &[("node.r1.cache", "7pkt"), ("link.c1-r1.loss.model", "none"), ("scenario.sample", "false")],
    );
    assert_eq!((plan.nodes[2].cache.size, plan.nodes[3].cache.size), (Packets::new(7), Packets::new(0)));
    assert_eq!((&plan.links[0].loss[0], plan.sampling), (&LossPlan::None, None));
}

#[test]
fn a_star_means_every_element_and_a_text_becomes_the_table_it_stands_for() {
    let plan = with(
        "events",
        &[
            ("flow.*.scheme", "fixed"),
            ("flow.*.scheme.window", "3.0"),
            ("flow.0.profile", "ndnsim"),
            ("flow.0.profile.hop_limit", "9"),
        ],
    );
    for flow in &plan.flows {
        assert_eq!((flow.scheme.scheme.name, flow.scheme.settings.0.len()), ("fixed", 1), "{}", flow.name);
    }
    assert_eq!((plan.flows[0].profile.hop_limit, plan.flows[0].profile.retry_limit), (Some(9), None));
}

#[test]
fn a_later_override_wins() {
    let plan = with("dumbbell", &[("scenario.seeds", "3"), ("scenario.seeds", "4")]);
    assert_eq!(plan.seeds.len(), 4);
}

#[test]
fn an_override_without_a_value_removes_what_its_path_names() {
    assert_eq!(with("events", &[]).flows.len(), 2);
    let plan = with("events", &[("flow.0", "")]);
    assert_eq!(plan.flows.len(), 1);
    assert_eq!(plan.flows[0].name, with("events", &[]).flows[1].name);
    // What is not there is left out already; a later override may set the key again.
    let plan = with("dumbbell", &[("node.r1.cache", ""), ("scenario.seeds", ""), ("scenario.seeds", "3")]);
    assert_eq!(plan.seeds.len(), 3);
    // The text that is kept beside the results gives the same plan.
    let plan = with("events", &[("flow.*.scheme", "fixed"), ("flow.1", "")]);
    let again = parse("kept.toml", &plan.text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again.canonical, plan.canonical);
}

#[test]
fn a_removed_key_that_no_scenario_has_is_refused() {
    let overrides = [("scenarioo.seeds".to_owned(), String::new())];
    let errors = parse("example.toml", example("dumbbell"), &overrides, SCHEMES).expect_err("unknown");
    assert!(errors.to_string().contains("did you mean \"scenario\"?"), "{errors}");
}

#[test]
fn the_text_kept_beside_the_results_gives_the_same_plan() {
    for (name, _) in EXAMPLES {
        let plan = with(name, &[("scenario.seeds", "3"), ("scenario.name", "\"a \\\"b\\\" \\\\ \\u0007\"")]);
        assert!(plan.text.contains("# --set scenario.seeds=3\n"), "{}", plan.text);
        let again = parse("kept.toml", &plan.text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"));
        let shown = |plan: &Plan| format!("{:?}", Plan { text: String::new(), ..plan.clone() });
        assert_eq!(shown(&plan), shown(&again), "{name}");
        assert_eq!(again.text, plan.text);
    }
}
