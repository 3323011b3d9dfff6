//! Warnings about valid settings that are probably mistakes.

use std::collections::BTreeSet;

use tidegate_core::observe::event::EventMask;
use tidegate_core::units::Time;
use tidegate_results::text::number;
use tidegate_sim::plan::{Change, Demand, FlowPlan, MediumPlan, Plan};
use tidegate_sim::roles;

use super::description::count;
use super::facts::{Bottleneck, Facts, FlowFacts, flows_by_prefix, listed};
use super::service_nodes::caches;

/// Queue limit, in bandwidth-delay products, below which a link becomes idle after a decrease of the window.
const SHALLOW: f64 = 0.25;
/// Queue limit, in bandwidth-delay products, above which a queue mostly adds delay.
const DEEP: f64 = 4.0;
/// Number of rows above which the size of a table deserves a warning.
const MANY_ROWS: f64 = 5e6;

/// All warnings about a plan, one sentence each.
pub(super) fn about(plan: &Plan, facts: &Facts) -> Vec<String> {
    let mut warnings = Vec::new();
    let flows = || plan.flows.iter().zip(&facts.flows);
    for find in
        [shallow, deep, oversized, unfinished, too_fast, short_lived, stopped_late, same_node, slow_service]
    {
        warnings.extend(gathered(
            flows().filter_map(|(flow, facts)| Some((flow.name.as_str(), find(plan, flow, facts)?))),
        ));
    }
    warnings.extend(unused_nodes(plan, facts));
    warnings.extend(foreign_prefixes(plan));
    warnings.extend(useless_caches(plan));
    warnings.extend(roles::idle(plan));
    warnings.extend(roles::incomplete(plan));
    warnings.extend(media(plan));
    warnings.extend(seeds(plan, facts));
    warnings.extend(endings(plan));
    warnings.extend(tables(plan, facts));
    warnings
}

/// Warnings that numbers treat a link on a medium as a wire of its own, and about media without links.
fn media(plan: &Plan) -> Vec<String> {
    let used: BTreeSet<usize> = plan.links.iter().filter_map(|link| link.medium).collect();
    let about = |(number, medium): (usize, &MediumPlan)| match used.contains(&number) {
        true => format!(
            "links on medium {:?} are treated here as wires with its rate; their capacity is lower, because both directions and all of its links share the medium",
            medium.name
        ),
        false => format!("medium {:?} has no links", medium.name),
    };
    plan.media.iter().enumerate().map(about).collect()
}

/// Joins equal warnings about several flows into one sentence, with the numbers of the first flow.
fn gathered<'a>(warnings: impl Iterator<Item = (&'a str, String)>) -> Option<String> {
    let warnings: Vec<(&str, String)> = warnings.collect();
    let (_, first) = warnings.first()?;
    let names: Vec<&str> = warnings.iter().map(|(name, _)| *name).collect();
    Some(match names.as_slice() {
        [only] => format!("flow {only}: {first}"),
        names => format!("flows {}: for the first of them, {first}", listed(names)),
    })
}

/// The bottleneck of a flow that a window can fill.
fn filled<'a>(flow: &FlowPlan, facts: &'a FlowFacts) -> Option<&'a Bottleneck> {
    let is_window = !matches!(flow.demand, Demand::Constant { .. });
    facts.bottleneck.as_ref().filter(|_| is_window)
}

fn shallow(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let found = filled(flow, facts)?;
    (found.queue_packets < SHALLOW * found.product_packets).then(|| {
        format!(
            "the queue of {} holds {} packets, the bandwidth-delay product is {}; the link is idle after a decrease of the window",
            plan.links[found.link].name,
            number(found.queue_packets),
            number(found.product_packets)
        )
    })
}

fn deep(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let found = filled(flow, facts)?;
    // On very short links the product is less than a packet, and every queue would be called deep.
    (found.queue_packets > DEEP * found.product_packets.max(1.0)).then(|| {
        format!(
            "the queue of {} holds {} packets, {} times the bandwidth-delay product; when full it adds {} ms to a round trip of {} ms",
            plan.links[found.link].name,
            number(found.queue_packets),
            number(found.queue_packets / found.product_packets),
            number(found.queue_time.as_millis_f64()),
            number(facts.round_trip.as_millis_f64())
        )
    })
}

fn oversized(plan: &Plan, _: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let found = facts.bottleneck.as_ref()?;
    (found.queue_packets < 1.0).then(|| {
        format!("a packet of {} does not fit the queue of {}", found.packet, plan.links[found.link].name)
    })
}

fn unfinished(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let min = facts.min_transfer?;
    let end = (Time::ZERO + plan.duration).min(flow.stop.unwrap_or(Time::MAX));
    (flow.start + min > end).then(|| {
        format!(
            "it needs at least {} s on its path and has {} s: it cannot be complete",
            number(min.as_secs_f64()),
            number(end.since(flow.start).as_secs_f64())
        )
    })
}

fn too_fast(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let Demand::Constant { rate, .. } = &flow.demand else { return None };
    let found = facts.bottleneck.as_ref().filter(|_| flow.tcp.is_none())?;
    (*rate > found.content).then(|| {
        format!(
            "it requests {} Mbit/s of content, but {} carries {}: losses are retransmitted with increasing delay",
            number(rate.as_mbps()),
            plan.links[found.link].name,
            number(found.content.as_mbps())
        )
    })
}

fn short_lived(_: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let lifetime = flow.profile.lifetime.filter(|_| flow.tcp.is_none())?;
    (lifetime <= facts.round_trip).then(|| {
        format!(
            "the Interest lifetime is {lifetime}, the round trip {} ms: every Interest expires before its Data arrives",
            number(facts.round_trip.as_millis_f64())
        )
    })
}

fn stopped_late(plan: &Plan, flow: &FlowPlan, _: &FlowFacts) -> Option<String> {
    let stop = flow.stop?;
    (stop >= Time::ZERO + plan.duration)
        .then(|| format!("stop = {} s is not before the end of the run", number(stop.as_secs_f64())))
}

fn same_node(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    facts.links.is_empty().then(|| {
        format!(
            "consumer and producer are both at {}; no packet crosses a link",
            plan.nodes[flow.consumer].name
        )
    })
}

fn slow_service(plan: &Plan, _: &FlowPlan, facts: &FlowFacts) -> Option<String> {
    let (service_node, found) = (facts.slowest_station?, facts.bottleneck.as_ref()?);
    let served_s = 1.0 / service_node.mean().as_secs_f64();
    let carried_s = found.rate.as_bps() as f64 / 8.0 / found.packet.get() as f64;
    (served_s < carried_s).then(|| {
        format!(
            "{} serves {} Interests per second on average, less than the Data rate of {} ({}): it is the bottleneck",
            plan.nodes[service_node.node].name,
            number(served_s),
            plan.links[found.link].name,
            number(carried_s)
        )
    })
}

fn unused_nodes(plan: &Plan, facts: &Facts) -> Option<String> {
    // Where links fail, routers off the first paths carry the detours.
    let may_reroute = plan
        .events
        .iter()
        .any(|event| matches!(event.change, Change::LinkDown { .. } | Change::NodeOff { .. }));
    let mut used = vec![false; plan.nodes.len()];
    facts.flows.iter().flat_map(|flow| &flow.nodes).for_each(|node| used[*node] = true);
    plan.flows.iter().flat_map(|flow| &flow.producers).for_each(|node| used[*node] = true);
    // With several producers, a strategy may send Interests to others than the nearest.
    let single_path = plan.flows.iter().all(|flow| flow.producers.len() == 1);
    let is_idle = |(node, used): &(&tidegate_sim::plan::NodePlan, bool)| {
        !*used && (!node.is_router || (single_path && !may_reroute))
    };
    let idle: Vec<&str> =
        plan.nodes.iter().zip(used).filter(is_idle).map(|(node, _)| node.name.as_str()).collect();
    match idle.as_slice() {
        [] => None,
        [one] => Some(format!("node {one} is on no flow's path")),
        names => Some(format!("nodes {} are on no flow's path", listed(names))),
    }
}

fn foreign_prefixes(plan: &Plan) -> Option<String> {
    // Names match by components: `/a` is not a prefix of `/ab`.
    let is_under = |name: &str, prefix: &str| {
        prefix == "/"
            || name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_foreign = |prefix: &&str| !plan.flows.iter().any(|flow| is_under(&flow.prefix, prefix));
    let mut foreign: Vec<&str> = plan
        .nodes
        .iter()
        .flat_map(|node| &node.prefix_strategies)
        .map(|(prefix, _)| prefix.as_str())
        .filter(is_foreign)
        .collect();
    foreign.sort_unstable();
    foreign.dedup();
    (!foreign.is_empty())
        .then(|| format!("[[router.prefix]] {}: no flow requests Data under it", listed(&foreign)))
}

fn useless_caches(plan: &Plan) -> Option<String> {
    let caches = plan.nodes.iter().any(caches);
    // Popular objects of a workload are requested several times by one flow.
    let requests_again = |flow: &FlowPlan| matches!(flow.demand, Demand::Objects(_));
    let is_shared =
        flows_by_prefix(plan).values().any(|flows| *flows > 1) || plan.flows.iter().any(requests_again);
    (caches && !is_shared).then(|| {
        "there are caches, but no two flows request the same prefix: they can only serve retransmissions"
            .to_owned()
    })
}

fn seeds(plan: &Plan, facts: &Facts) -> Option<String> {
    match (plan.seeds.len(), facts.random.len()) {
        (2.., 0) => Some(format!(
            "there is no random variation between the {} seeds, so all results are equal; vary = {{ start = true, delay = 0.01 }} in [scenario] adds some",
            plan.seeds.len()
        )),
        (1, 1..) => Some(
            "a single seed does not show the spread of a scenario with randomness; seeds = 10 does"
                .to_owned(),
        ),
        _ => None,
    }
}

fn endings(plan: &Plan) -> Vec<String> {
    let is_finite = |flow: &FlowPlan| match &flow.demand {
        Demand::File { .. } => true,
        Demand::Endless => false,
        // Without bursts, constant demand lasts until the end of the run.
        Demand::Constant { bursts, .. } => !bursts.is_empty(),
        Demand::Objects(workload) => workload.requests.is_some(),
    };
    let any_finite = plan.flows.iter().any(is_finite);
    let mut warnings = Vec::new();
    if plan.stop_when_complete && !any_finite {
        warnings.push("stop_when_complete has no effect: no flow is finite".to_owned());
    }
    if !any_finite && plan.expectations.iter().any(|expectation| expectation.measure == "completion_s") {
        warnings.push("[expect] completion_s can never be met: no flow is finite".to_owned());
    }
    warnings
}

fn tables(plan: &Plan, facts: &Facts) -> Vec<String> {
    let mut warnings = Vec::new();
    if facts.sample_rows > MANY_ROWS {
        warnings.push(format!(
            "the tables of samples will have {} rows; a longer interval (sample) or none (false) makes them smaller",
            count(facts.sample_rows)
        ));
    }
    let exchanges = facts.exchanges * plan.seeds.len() as f64;
    if plan.recorded != EventMask::NONE && exchanges > MANY_ROWS {
        warnings.push(format!("events of about {} Interests and their Data are recorded", count(exchanges)));
    }
    warnings
}
