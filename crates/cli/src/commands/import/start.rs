//! Additions to an imported topology with which the scenario passes its own check without warnings: flows
//! whose paths reach every node, and queues that fit them.

use tidegate_sim::plan::Plan;
use tidegate_sim::scenario;
use tidegate_sim::scenario::import::Imported;
use tidegate_sim::world;

use crate::Session;
use crate::commands::check::Facts;

/// Networks with more nodes get one flow: a flow for every branch would be too slow for a first scenario.
const MAX_NODES: usize = 2_000;
/// Minimum size of a queue, packets.
const MIN_PACKETS: f64 = 10.0;

/// Adds queues to links for which the file has none, and returns the consumers as indices into the nodes.
/// `text` writes the scenario with these consumers.
pub(super) fn complete(
    session: &Session,
    topology: &mut Imported,
    text: &dyn Fn(&Imported, &[usize]) -> String,
) -> Vec<usize> {
    let read = |topology: &Imported, consumers: &[usize]| {
        scenario::parse("import", &text(topology, consumers), &[], &session.schemes).ok()
    };
    let everyone: Vec<usize> = (0..topology.nodes.len().saturating_sub(1)).collect();
    let is_small = topology.nodes.len() <= MAX_NODES;
    let requested = is_small.then(|| read(topology, &everyone)).flatten();
    let consumers = requested.map_or_else(|| vec![0], |plan| covering(&plan));
    // The plan has default queues. Rates and paths, from which the products follow, do not depend on them.
    if let Some(plan) = read(topology, &consumers) {
        give_queues(topology, &plan);
    }
    consumers
}

/// Flows with the longest paths, each from another node, until every node is on one.
fn covering(plan: &Plan) -> Vec<usize> {
    let paths = world::paths(plan);
    let mut order: Vec<usize> = (0..plan.flows.len()).collect();
    order.sort_by_key(|flow| (std::cmp::Reverse(paths[*flow].len()), *flow));
    let mut is_reached = vec![false; plan.nodes.len()];
    let mut chosen = Vec::new();
    for flow in order {
        let consumer = plan.flows[flow].consumer;
        // A node on a longer path needs no flow of its own.
        if !is_reached[consumer] {
            chosen.push(consumer);
            is_reached[consumer] = true;
            for link in &paths[flow] {
                let link = &plan.links[*link as usize];
                (is_reached[link.a], is_reached[link.b]) = (true, true);
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

/// Sets the queue limit of bottlenecks to the bandwidth-delay product of their flows.
fn give_queues(topology: &mut Imported, plan: &Plan) {
    let facts = Facts::of(plan);
    let mut needs: Vec<Option<[f64; 2]>> = vec![None; topology.links.len()];
    for bottleneck in facts.flows.iter().filter_map(|flow| flow.bottleneck.as_ref()) {
        let product = bottleneck.product_packets;
        if let Some(need) = needs.get_mut(bottleneck.link) {
            let [min, max] = need.unwrap_or([product; 2]);
            *need = Some([min.min(product), max.max(product)]);
        }
    }
    for (link, need) in topology.links.iter_mut().zip(needs) {
        if let (None, Some([min, max])) = (link.queue_packets, need) {
            // The geometric mean is off by the same factor for the shortest and the longest path.
            let packets = (min * max).sqrt().max(MIN_PACKETS).round();
            link.queue_packets = Some(packets as u32);
        }
    }
}
