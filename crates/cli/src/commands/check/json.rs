//! The output of `check` as JSON.

use serde_json::{Value, json};
use tidegate_sim::plan::{FlowPlan, Plan};
use tidegate_sim::roles;

use super::facts::{Bottleneck, Facts, FlowFacts};
use crate::plans::about_scheme;

/// Description of a valid plan.
pub(super) fn explanation(plan: &Plan, facts: &Facts, warnings: &[String]) -> Value {
    let count = |count: usize| Value::from(count);
    let texts = |texts: &[String]| json!(texts);
    let flows = plan.flows.iter().zip(&facts.flows).map(|(flow, facts)| about_flow(plan, flow, facts));
    json!({
        "valid": true,
        "nodes": count(plan.nodes.len()),
        "links": count(plan.links.len()),
        "flows": count(plan.flows.len()),
        "seeds": count(plan.seeds.len()),
        "duration_s": plan.duration.as_secs_f64(),
        "warnings": texts(warnings),
        "installed": roles::installed(plan).iter().map(about_scheme).collect::<Value>(),
        "limits": texts(&roles::limits(plan)),
        "replaced": texts(&plan.replaced),
        "differs_between_seeds": texts(&facts.random),
        "packet_hops_per_run": facts.packet_hops.round(),
        "sample_rows": facts.sample_rows.round(),
        "each_flow": flows.collect::<Value>(),
    })
}

fn about_flow(plan: &Plan, flow: &FlowPlan, facts: &FlowFacts) -> Value {
    let path = facts.nodes.iter().map(|node| Value::from(plan.nodes[*node].name.as_str()));
    json!({
        "name": flow.name,
        "prefix": flow.prefix,
        "scheme": flow.scheme.scheme.name,
        "path": path.collect::<Value>(),
        "round_trip_ms": facts.round_trip.as_millis_f64(),
        "min_transfer_s": facts.min_transfer.map(|min| min.as_secs_f64()),
        "bottleneck": facts.bottleneck.as_ref().map_or(Value::Null, |found| about_bottleneck(plan, found)),
    })
}

fn about_bottleneck(plan: &Plan, found: &Bottleneck) -> Value {
    let link = &plan.links[found.link];
    let ends = if found.direction == 0 { [link.a, link.b] } else { [link.b, link.a] };
    let [from, to] = ends.map(|end| Value::from(plan.nodes[end].name.as_str()));
    json!({
        "link": link.name,
        "from": from,
        "to": to,
        "rate_mbps": found.rate.as_mbps(),
        "content_mbps": found.content.as_mbps(),
        "flows": found.flows,
        "product_packets": found.product_packets,
        "queue_packets": found.queue_packets,
        "queue_ms": found.queue_time.as_millis_f64(),
    })
}
