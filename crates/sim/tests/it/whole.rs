//! Every whole scheme in every example: each flow gets Data, and on the dumbbell half of the link.

use tidegate_core::rng::Seed;
use tidegate_core::scheme::whole::Role;
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::Plan;
use tidegate_sim::roles::incomplete;
use tidegate_sim::run::run;
use tidegate_sim::scenario;

/// Name, text and overrides of an example.
type Example = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Each example, with what makes it short: simulated time, in which every flow has begun.
const EXAMPLES: [Example; 12] = [
    ("caches", include_str!("../../../../scenarios/examples/caches.toml"), &[("scenario.duration", "2s")]),
    ("dumbbell", include_str!("../../../../scenarios/examples/dumbbell.toml"), &[]),
    ("events", include_str!("../../../../scenarios/examples/events.toml"), &[]),
    ("grid", include_str!("../../../../scenarios/examples/grid.toml"), &[("scenario.duration", "300ms")]),
    ("loss", include_str!("../../../../scenarios/examples/loss.toml"), &[("scenario.duration", "2s")]),
    (
        "multipath",
        include_str!("../../../../scenarios/examples/multipath.toml"),
        &[("scenario.duration", "3s")],
    ),
    ("plr", include_str!("../../../../scenarios/examples/plr.toml"), &[("scenario.duration", "2s")]),
    ("red", include_str!("../../../../scenarios/examples/red.toml"), &[("scenario.duration", "3s")]),
    ("servers", include_str!("../../../../scenarios/examples/servers.toml"), &[("scenario.duration", "2s")]),
    (
        "tcp",
        include_str!("../../../../scenarios/examples/tcp.toml"),
        &[("scenario.duration", "3s"), ("tcp.2.start", "200ms")],
    ),
    ("waxman", include_str!("../../../../scenarios/examples/waxman.toml"), &[("scenario.duration", "1s")]),
    (
        "wireless",
        include_str!("../../../../scenarios/examples/wireless.toml"),
        &[("scenario.duration", "2s")],
    ),
];

#[test]
fn every_example_is_in_the_matrix() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/examples");
    let files = std::fs::read_dir(folder).expect("the folder is there").flatten().map(|entry| entry.path());
    let mut names: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    assert_eq!(names, EXAMPLES.map(|(name, _, _)| name));
}

/// The example with the whole scheme called `name`; `None` where it fits no flow.
fn plan(text: &str, set: &[(&str, &str)], name: &str) -> Option<Plan> {
    let short = [("scenario.sample", "false"), ("scheme", name)];
    let set = set.iter().chain(&short).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let set: Vec<(String, String)> = set.collect();
    match scenario::parse("example.toml", text, &set, SCHEMES) {
        Ok(plan) => Some(plan),
        Err(errors) if errors.to_string().contains("cannot be used in [[") => None,
        Err(errors) => panic!("{name}: {errors}"),
    }
}

#[test]
fn every_whole_scheme_delivers_data_to_every_flow_of_every_example() {
    let mut silent = Vec::new();
    let mut cells = 0;
    for scheme in SCHEMES {
        for (name, text, set) in EXAMPLES {
            let Some(plan) = plan(text, set, scheme.name) else { continue };
            assert_eq!(incomplete(&plan), Vec::<String>::new(), "{} in {name}", scheme.name);
            let record = run(&plan, Seed(1));
            cells += 1;
            let without: Vec<&str> = record
                .flows
                .iter()
                .filter(|flow| flow.delivered_segments == 0)
                .map(|flow| flow.name.as_str())
                .collect();
            if !without.is_empty() {
                silent.push(format!("{} in {name}: nothing for {}", scheme.name, without.join(", ")));
            }
        }
    }
    assert!(cells > 400, "{cells} cells");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn every_whole_scheme_gets_half_of_the_dumbbell_or_says_why_it_cannot() {
    let mut wrong = Vec::new();
    let whole = |role: Role, scheme: &tidegate_core::scheme::Scheme| {
        scheme.fills(role) || scheme.whole.with.iter().any(|companion| companion.role == role)
    };
    for scheme in SCHEMES {
        // Half of what the link carries: 10 Mbit/s, and 5 from the middle on; over TCP 100.
        let (at, set, half): (usize, &[(&str, &str)], f64) = match scheme {
            scheme if whole(Role::Consumer, scheme) => (1, &[], 7.5 / 2.0),
            scheme if whole(Role::Sender, scheme) => {
                (9, &[("scenario.duration", "5s"), ("tcp.2.start", "1s")], 50.0)
            }
            _ => continue,
        };
        let (_, text, _) = EXAMPLES[at];
        let plan = plan(text, set, scheme.name).expect("it fits");
        let record = run(&plan, Seed(1));
        let bytes: u64 = record.flows.iter().map(|flow| flow.delivered_payload.get()).sum();
        let mbps = bytes as f64 * 8.0 / plan.duration.as_secs_f64() / 1e6;
        if (mbps < half) != scheme.whole.limit.is_some() {
            wrong.push(format!("{}: {mbps:.2} Mbit/s, half is {half}", scheme.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
