//! The files in `scenarios/examples`.

use tidegate_core::consumer::shell::{Shell, ShellKind};
use tidegate_core::face::Limit;
use tidegate_core::params::Value;
use tidegate_core::rng::Seed;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};
use tidegate_schemes::SCHEMES;
use tidegate_sim::plan::{Change, Comparison, Demand, EventPlan, Expectation, LossPlan, Plan};
use tidegate_sim::scenario::parse;

const DUMBBELL: &str = include_str!("../../../../scenarios/examples/dumbbell.toml");

fn plan(text: &str) -> Plan {
    parse("example.toml", text, &[], SCHEMES).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_canonical_dumbbell_becomes_the_plan_it_describes() {
    let plan = plan(DUMBBELL);
    assert_eq!((plan.name.as_str(), plan.duration), ("dumbbell", Span::from_secs(10)));
    assert_eq!(plan.seeds, (1..=10).map(Seed).collect::<Vec<_>>());
    assert_eq!((plan.text.as_str(), plan.sampling), (DUMBBELL, Some(Span::from_millis(10))));
    let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2", "r1", "r2", "p1", "p2"]);
    let routers: Vec<bool> = plan.nodes.iter().map(|node| node.is_router).collect();
    assert_eq!(routers, [false, false, true, true, false, false]);
    let jain = Expectation { measure: "jain".to_owned(), comparison: Comparison::AtLeast, bound: 0.9 };
    assert_eq!(plan.expectations, [jain]);
    let change = Change::LinkRate { link: 2, rate: BitRate::from_mbps(5.0) };
    assert_eq!(plan.events, [EventPlan { at: Time::from_nanos(5_000_000_000), change }]);
}

#[test]
fn the_canonical_bottleneck_has_its_queue_and_the_access_links_theirs() {
    let plan = plan(DUMBBELL);
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
    let plan = plan(DUMBBELL);
    let [flow] = plan.flows.as_slice() else { panic!("one flow, not {}", plan.flows.len()) };
    assert_eq!((flow.name.as_str(), flow.consumer, flow.producers.as_slice()), ("c1:/a", 0, [4].as_slice()));
    assert_eq!(flow.demand, Demand::File { segments: 19_532 });
    assert_eq!((flow.payload, flow.start, flow.stop), (ByteCount::new(1024), Time::ZERO, None));
    assert_eq!(flow.scheme.scheme.name, "catchunks-cubic");
    assert_eq!(flow.scheme.settings.get("beta"), Some(&Value::Number(0.7)));
    assert_eq!(flow.shell, Shell::of(ShellKind::NdnTools));
    let part = &plan.nodes[2].parts[0];
    assert_eq!(part.scheme.name, "plr");
    assert_eq!(part.settings.get("interval"), Some(&Value::Text("1ms".to_owned())));
    assert!(plan.nodes[0].parts.is_empty());
}
