//! Variation between the seeds of a plan.

use tidegate_core::units::Span;
use tidegate_sim::plan::{CachePlan, Demand, FlowPlan, LinkPlan, LossPlan, NodePlan, Plan, SchemeUse};

use super::facts::listed;

/// Each source of variation with the elements that have it, such as `random loss on r1-r2`.
pub(super) fn describe(plan: &Plan) -> Vec<String> {
    let links = |what, is: fn(&LinkPlan) -> bool| {
        of(what, plan.links.iter().filter(|link| is(link)).map(|link| link.name.as_str()))
    };
    let nodes = |what, is: fn(&NodePlan) -> bool| {
        of(what, plan.nodes.iter().filter(|node| is(node)).map(|node| node.name.as_str()))
    };
    let flows = |what, is: fn(&FlowPlan) -> bool| {
        of(what, plan.flows.iter().filter(|flow| is(flow)).map(|flow| flow.name.as_str()))
    };
    let delay = plan.variation.delay;
    let found = [
        plan.variation.start.then(|| "every flow starts later by up to one round trip".to_owned()),
        (delay > 0.0).then(|| format!("every link's delay changes by up to {} %", delay * 100.0)),
        links("random loss on", |link| link.loss.iter().any(is_random_loss)),
        links("jitter on", |link| link.jitter > Span::ZERO),
        links("backoffs of radios on", |link| link.medium.is_some()),
        links("draws of a queue's discipline on", |link| {
            link.queue.iter().any(|queue| draws(&queue.disciplines))
        }),
        nodes("draws of router parts at", |node| draws(&node.parts)),
        nodes("draws of caches at", |node| {
            let stores = node.prefix_caches.iter().map(|(_, cache)| cache).chain([&node.cache]);
            stores.filter(|cache| cache.size.get() > 0).any(CachePlan::is_random)
        }),
        nodes("random service times at", |node| node.service.is_some_and(|service| service.is_random())),
        nodes("phases of clocks at", |node| node.clock.is_some_and(|clock| clock.phase.is_none())),
        flows("requests of", |flow| matches!(flow.demand, Demand::Objects(_))),
        flows("random processing times of", |flow| {
            flow.processing.is_some_and(|service| service.is_random())
        }),
        flows("draws of TCP senders of", |flow| flow.tcp.is_some() && flow.scheme.scheme.uses_randomness),
    ];
    found.into_iter().flatten().collect()
}

/// A source of variation and the names of the elements that have it; `None` without any.
fn of<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.collect();
    (!names.is_empty()).then(|| format!("{what} {}", listed(&names)))
}

fn draws(used: &[SchemeUse]) -> bool {
    used.iter().any(|used| used.scheme.uses_randomness)
}

fn is_random_loss(loss: &LossPlan) -> bool {
    match *loss {
        LossPlan::None | LossPlan::Trace(_) => false,
        LossPlan::Spells { bad, .. } => bad > Span::ZERO,
        LossPlan::Bernoulli { probability } | LossPlan::Bursts { probability, .. } => {
            probability > 0.0 && probability < 1.0
        }
        LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            // A chain without chance moves in a fixed pattern, with losses that are equal in all seeds.
            let drawn = |chance: f64| chance > 0.0 && chance < 1.0;
            let changes = drawn(to_bad) || drawn(to_good);
            drawn(loss_good) || (to_bad > 0.0 && (drawn(loss_bad) || (changes && loss_good != loss_bad)))
        }
    }
}
