//! Service times on the path of a flow: of nodes for each packet, of producers for each Interest.

use tidegate_core::units::Span;
use tidegate_sim::plan::{FlowPlan, NodePlan, Plan, ServicePlan, ServiceTime};

/// A server on the path of a flow.
#[derive(Clone, Copy)]
pub(super) struct ServiceNode {
    /// Index of its node.
    pub(super) node: usize,
    /// Packets of one exchange that it handles.
    visits: u32,
    time: ServiceTime,
}

impl ServiceNode {
    /// Time that one exchange takes there, the mean where it is random.
    pub(super) fn mean(&self) -> Span {
        let (ServiceTime::Constant(time) | ServiceTime::Exponential(time)) = self.time;
        time * u64::from(self.visits)
    }

    /// Minimum time that one exchange takes there.
    pub(super) fn min(&self) -> Span {
        // An exponential service time has no lower bound above zero.
        if is_random(&self.time) { Span::ZERO } else { self.mean() }
    }
}

/// Service nodes on the path `nodes` of `flow`: a node serves packets that arrive over its links.
pub(super) fn on_the_way(plan: &Plan, flow: &FlowPlan, nodes: &[usize]) -> Vec<ServiceNode> {
    // The Interest arrives at every node but the first, the Data at every node but the last.
    let visits = |place: usize| u32::from(place > 0) + u32::from(place + 1 < nodes.len());
    let service_node =
        |visits: u32, node: usize, service: &ServicePlan| ServiceNode { node, visits, time: service.time };
    let at_nodes = nodes.iter().enumerate().filter_map(|(place, node)| {
        plan.nodes[*node].service.as_ref().map(|service| service_node(visits(place), *node, service))
    });
    let at_producer = flow.processing.as_ref().zip(nodes.last());
    at_nodes.chain(at_producer.map(|(service, node)| service_node(1, *node, service))).collect()
}

/// Whether service times are drawn from a distribution.
pub(super) fn is_random(time: &ServiceTime) -> bool {
    matches!(time, ServiceTime::Exponential(_))
}

/// Whether `node` caches any Data.
pub(super) fn caches(node: &NodePlan) -> bool {
    node.cache.size.get() > 0 || node.prefix_caches.iter().any(|(_, cache)| cache.size.get() > 0)
}
