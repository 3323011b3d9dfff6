//! Variation between the seeds of a plan.

use tidegate_core::units::Span;
use tidegate_sim::plan::{
    Admission, CachePlan, Demand, FlowPlan, LinkPlan, LossPlan, NodePlan, Plan, Policy, SchemeUse,
};

use super::facts::listed;
use super::service_nodes::is_random;

/// A sentence for each thing that differs.
pub(super) fn describe(plan: &Plan) -> Vec<String> {
    let mut found = Vec::new();
    if plan.variation.start {
        found.push("every flow starts later by up to one round trip".to_owned());
    }
    if plan.variation.delay > 0.0 {
        found.push(format!("every link's delay changes by up to {} %", plan.variation.delay * 100.0));
    }
    let mut links = |what: &str, is: fn(&LinkPlan) -> bool| {
        let names: Vec<&str> =
            plan.links.iter().filter(|link| is(link)).map(|link| link.name.as_str()).collect();
        if !names.is_empty() {
            found.push(format!("{what} on {}", listed(&names)));
        }
    };
    links("random loss", |link| link.loss.iter().any(is_random_loss));
    links("jitter", |link| link.jitter > Span::ZERO);
    links("backoffs of radios", |link| link.medium.is_some());
    links("draws of a queue's discipline", |link| link.queue.iter().any(|queue| draws(&queue.disciplines)));
    let mut nodes = |what: &str, is: &dyn Fn(&NodePlan) -> bool| {
        let names: Vec<&str> =
            plan.nodes.iter().filter(|node| is(node)).map(|node| node.name.as_str()).collect();
        if !names.is_empty() {
            found.push(format!("{what} at {}", listed(&names)));
        }
    };
    nodes("draws of router parts", &|node| draws(&node.parts));
    nodes("draws of caches", &|node| {
        let stores = node.prefix_caches.iter().map(|(_, cache)| cache).chain([&node.cache]);
        stores.filter(|cache| cache.size.get() > 0).any(is_drawn)
    });
    nodes("random service times", &|node| {
        node.service.as_ref().is_some_and(|service| is_random(&service.time))
    });
    nodes("phases of clocks", &|node| node.clock.is_some_and(|clock| clock.phase.is_none()));
    let mut flows = |what: &str, is: fn(&FlowPlan) -> bool| {
        let names: Vec<&str> =
            plan.flows.iter().filter(|flow| is(flow)).map(|flow| flow.name.as_str()).collect();
        if !names.is_empty() {
            found.push(format!("{what} of {}", listed(&names)));
        }
    };
    flows("requests", |flow| matches!(flow.demand, Demand::Objects(_)));
    flows("random processing times", |flow| {
        flow.processing.as_ref().is_some_and(|service| is_random(&service.time))
    });
    flows("draws of TCP senders", |flow| flow.tcp.is_some() && flow.scheme.scheme.draws);
    found
}

fn draws(used: &[SchemeUse]) -> bool {
    used.iter().any(|used| used.scheme.draws)
}

fn is_drawn(cache: &CachePlan) -> bool {
    let is_chance = matches!(cache.admission, Admission::Probability(chance) if chance > 0.0 && chance < 1.0);
    cache.policy == Policy::Random || is_chance
}

fn is_random_loss(loss: &LossPlan) -> bool {
    match *loss {
        LossPlan::None | LossPlan::Trace(_) => false,
        LossPlan::Spells { bad, .. } => bad > Span::ZERO,
        LossPlan::Bernoulli { probability } | LossPlan::Bursts { probability, .. } => {
            probability > 0.0 && probability < 1.0
        }
        LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            let drawn = |chance: f64| chance > 0.0 && chance < 1.0;
            let changes = drawn(to_bad) || drawn(to_good);
            drawn(loss_good) || (to_bad > 0.0 && (drawn(loss_bad) || (changes && loss_good != loss_bad)))
        }
    }
}
