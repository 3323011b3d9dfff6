//! The output of `check` as JSON.

use tidegate_results::json::Json;
use tidegate_sim::plan::{FlowPlan, Plan};
use tidegate_sim::roles;

use super::facts::{Bottleneck, Facts, FlowFacts};
use crate::plans::about_scheme;

/// Description of a valid plan.
pub(super) fn explanation(plan: &Plan, facts: &Facts, warnings: &[String]) -> Json {
    let count = |count: usize| Json::Count(count as u64);
    let texts = |texts: &[String]| Json::List(texts.iter().map(Json::text).collect());
    let flows = plan.flows.iter().zip(&facts.flows).map(|(flow, facts)| about_flow(plan, flow, facts));
    Json::Object(vec![
        ("valid", Json::Bool(true)),
        ("nodes", count(plan.nodes.len())),
        ("links", count(plan.links.len())),
        ("flows", count(plan.flows.len())),
        ("seeds", count(plan.seeds.len())),
        ("duration_s", Json::Number(plan.duration.as_secs_f64())),
        ("warnings", texts(warnings)),
        ("installed", Json::List(roles::installed(plan).iter().map(about_scheme).collect())),
        ("limits", texts(&roles::limits(plan))),
        ("replaced", texts(&plan.replaced)),
        ("differs_between_seeds", texts(&facts.random)),
        ("packet_hops_per_run", Json::Number(facts.packet_hops.round())),
        ("sample_rows", Json::Number(facts.sample_rows.round())),
        ("each_flow", Json::List(flows.collect())),
    ])
}

fn about_flow(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Json {
    let path = facts.nodes.iter().map(|node| Json::text(&plan.nodes[*node].name));
    Json::Object(vec![
        ("name", Json::text(&flow.name)),
        ("prefix", Json::text(&flow.prefix)),
        ("scheme", Json::text(flow.scheme.scheme.name)),
        ("path", Json::List(path.collect())),
        ("round_trip_ms", Json::Number(facts.round_trip.as_millis_f64())),
        ("min_transfer_s", Json::maybe(facts.min_transfer.map(|min| min.as_secs_f64()))),
        ("bottleneck", facts.bottleneck.as_ref().map_or(Json::Null, |found| about_bottleneck(plan, found))),
    ])
}

fn about_bottleneck(plan: &Plan, found: &Bottleneck) -> Json {
    let link = &plan.links[found.link];
    let ends = if found.way == 0 { [link.a, link.b] } else { [link.b, link.a] };
    let [from, to] = ends.map(|end| Json::text(&plan.nodes[end].name));
    Json::Object(vec![
        ("link", Json::text(&link.name)),
        ("from", from),
        ("to", to),
        ("rate_mbps", Json::Number(found.rate.as_mbps())),
        ("content_mbps", Json::Number(found.content.as_mbps())),
        ("flows", Json::Count(found.flows as u64)),
        ("product_packets", Json::Number(found.product_packets)),
        ("queue_packets", Json::Number(found.queue_packets)),
        ("queue_ms", Json::Number(found.queue_time.as_millis_f64())),
    ])
}
