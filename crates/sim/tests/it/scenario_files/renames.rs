//! Names of earlier versions in scenarios and overrides.

use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::scenario::{Errors, parse};

const SCENARIO: &str = r#"format = 1
[scenario]
name = "renames"
duration = "1s"
[topology]
builtin = "linear"
routers = 1
link = { rate = "10Mbps", delay = "10ms", queue = { limit = "50pkt" } }
[[flow]]
consumer = "c1"
producer = "p1"
prefix = "/a"
scheme = { name = "bbr", min_window = 5 }
"#;

fn read(text: &str, overrides: &[(&str, &str)]) -> Result<Plan, Errors> {
    let overrides: Vec<(String, String)> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    parse("r.toml", text, &overrides, SCHEMES)
}

fn plan(text: &str, overrides: &[(&str, &str)]) -> Plan {
    read(text, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn a_scenario_with_earlier_names_is_the_one_with_the_present_names_and_has_a_note_for_each() {
    let earlier = SCENARIO.replace("min_window", "least_window");
    let (earlier, present) = (plan(&earlier, &[]), plan(SCENARIO, &[]));
    assert_eq!(earlier.canonical, present.canonical);
    assert_eq!(earlier.flows[0].scheme.settings, present.flows[0].scheme.settings);
    assert_eq!(
        earlier.renamed,
        ["r.toml:13: parameter \"least_window\" was renamed \"min_window\" in 0.2.0"]
    );
    assert_eq!(present.renamed, Vec::<String>::new());
}

#[test]
fn overrides_reach_a_parameter_by_its_earlier_name() {
    let present = plan(&SCENARIO.replace("= 5", "= 6"), &[]);
    for (path, value) in [
        ("flow.0.scheme.least_window", "6"),
        ("flow.*.scheme.least_window", "6"),
        ("flow.0.scheme", r#"{ name = "bbr", least_window = 6 }"#),
        ("scheme", r#"{ name = "bbr", least_window = 6 }"#),
    ] {
        let overridden = plan(SCENARIO, &[(path, value)]);
        assert_eq!(overridden.canonical, present.canonical, "{path}");
        let note = format!("--set {path}: parameter \"least_window\" was renamed \"min_window\" in 0.2.0");
        assert_eq!(overridden.renamed, [note]);
    }
    let removed = plan(SCENARIO, &[("flow.0.scheme.least_window", "")]);
    let bare = plan(&SCENARIO.replace(", min_window = 5", ""), &[]);
    assert_eq!(removed.canonical, bare.canonical);
}

#[test]
fn both_names_of_one_parameter_are_an_error_at_the_earlier_one() {
    let text = SCENARIO.replace("min_window = 5", "min_window = 5, least_window = 5");
    let errors = read(&text, &[]).expect_err("both are given").to_string();
    let expected = "r.toml:13:42: \"least_window\" was renamed \"min_window\" in 0.2.0; both are given, remove \"least_window\"";
    assert!(errors.starts_with(expected), "{errors}");
    assert_eq!(errors.matches("least_window").count(), 3, "one error and the line: {errors}");
}

#[test]
fn both_names_of_one_parameter_in_two_overrides_are_an_error_too() {
    let (earlier, present) = (("flow.0.scheme.least_window", "6"), ("flow.0.scheme.min_window", "7"));
    for (overrides, column) in [([earlier, present], 15), ([present, earlier], 15)] {
        let errors = read(SCENARIO, &overrides).expect_err("both are given").to_string();
        let expected = format!(
            "--set:2:{column}: \"least_window\" was renamed \"min_window\" in 0.2.0; both are given, remove \"least_window\""
        );
        assert!(errors.starts_with(&expected), "{errors}");
    }
    assert_eq!(plan(SCENARIO, &[present, present]).canonical, plan(SCENARIO, &[present]).canonical);
    assert_eq!(plan(SCENARIO, &[earlier, earlier]).canonical, plan(SCENARIO, &[earlier]).canonical);
}

#[test]
fn a_shell_is_read_as_the_profile_and_other_keys_and_words_by_their_earlier_names() {
    let loss = "loss = { model = \"bursts\", probability = 0.1, max_packets = 3 } }\n[[flow]]";
    let present = SCENARIO.replace("}\n[[flow]]", &format!(", {loss}"));
    let present = present.replace("min_window = 5 }", "loss_timer = \"profile\" }\nprofile = \"ndnsim\"");
    let earlier = present.replace("max_packets", "most").replace("profile", "shell");
    let (earlier, present) = (plan(&earlier, &[]), plan(&present, &[]));
    assert_eq!(earlier.canonical, present.canonical);
    assert_eq!(
        earlier.renamed,
        [
            "r.toml:8: key \"most\" was renamed \"max_packets\" in 0.2.0",
            "r.toml:14: key \"shell\" was renamed \"profile\" in 0.2.0",
            "r.toml:13: loss_timer \"shell\" was renamed \"profile\" in 0.2.0",
        ]
    );
}

#[test]
fn an_override_of_the_shell_changes_the_profile() {
    let profile = "profile = { kind = \"ndnsim\", hop_limit = 9 }\n";
    let present = plan(&format!("{SCENARIO}{profile}"), &[]);
    let overridden = plan(SCENARIO, &[("flow.0.shell", "ndnsim"), ("flow.0.shell.hop_limit", "9")]);
    assert_eq!(overridden.canonical, present.canonical);
    let merged = plan(&format!("{SCENARIO}profile = \"ndnsim\"\n"), &[("flow.0.shell.hop_limit", "9")]);
    assert_eq!(merged.canonical, present.canonical);
}
