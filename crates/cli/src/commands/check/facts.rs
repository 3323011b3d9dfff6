//! Facts about a plan that follow without a run: paths, round trips, bottlenecks, and the amount of work.

use std::collections::BTreeMap;

use tidegate_core::units::{BitRate, ByteCount, Span};
use tidegate_sim::plan::Plan;
use tidegate_sim::world;

use super::flow_path::{FlowPath, PathDirection};
use super::rates::Rates;
use super::seed_variation;
use super::service_nodes::ServiceNode;

/// Facts about a plan that follow without a run.
pub(crate) struct Facts {
    /// Facts about each flow, in the plan's order.
    pub(crate) flows: Vec<FlowFacts>,
    /// Sentences, one for each thing that differs between seeds.
    pub(super) random: Vec<String>,
    /// Approximate number of packets taken off links in one run, without losses and with fair shares.
    pub(crate) packet_hops: f64,
    /// Approximate number of Interests that are satisfied in one run.
    pub(super) exchanges: f64,
    /// Rows of the tables of samples, over all seeds.
    pub(super) sample_rows: f64,
}

/// Facts about one flow that follow without a run.
pub(crate) struct FlowFacts {
    /// Nodes from the consumer to the producer that routing prefers.
    pub(super) nodes: Vec<usize>,
    /// The link after each node but the last, and which of its directions Data take.
    pub(super) links: Vec<(usize, usize)>,
    /// Time from the first Interest to its Data without queues: delays, and the transmission of both packets
    /// on each link.
    pub(super) round_trip: Span,
    /// The service node on the path with the longest service time, if there is any.
    pub(super) slowest_station: Option<ServiceNode>,
    /// `None` if the producer is at the same node.
    pub(crate) bottleneck: Option<Bottleneck>,
    /// Lower bound of the completion time along the path; `None` for a flow without an end and behind caches.
    pub(super) min_transfer: Option<Span>,
    /// Approximate number of satisfied Interests.
    pub(super) exchanges: f64,
}

/// The direction of a link that leaves the flow the fewest exchanges, if flows get equal shares.
pub(crate) struct Bottleneck {
    /// Index into the links.
    pub(crate) link: usize,
    /// Direction of data on the link, 0 or 1.
    pub(super) direction: usize,
    /// Rate of the link in this direction at the start of the run.
    pub(super) rate: BitRate,
    /// Size of the flow's packets on the link: Data, or Interests where those are the limit.
    pub(super) packet: ByteCount,
    /// Content per second while the flow is alone.
    pub(super) content: BitRate,
    /// Number of flows whose packets of this kind share it.
    pub(super) flows: usize,
    /// Packets that the rate carries during one round trip.
    pub(crate) product_packets: f64,
    /// Packets of the flow that fill the queue.
    pub(super) queue_packets: f64,
    /// Time that the full queue takes to drain.
    pub(super) queue_time: Span,
}

impl Facts {
    /// Derives the facts about `plan`.
    pub(crate) fn of(plan: &Plan) -> Self {
        let paths: Vec<FlowPath> = plan
            .flows
            .iter()
            .zip(world::paths(plan))
            .map(|(flow, links)| FlowPath::new(plan, flow, &links))
            .collect();
        let mut sharers: BTreeMap<PathDirection, usize> = BTreeMap::new();
        for direction in paths.iter().flat_map(|path| &path.links) {
            *sharers.entry(*direction).or_default() += 1;
        }
        let rates = Rates::of(plan);
        let flows_by_prefix = flows_by_prefix(plan);
        let flows: Vec<FlowFacts> = plan
            .flows
            .iter()
            .zip(paths)
            .map(|(flow, path)| {
                path.facts(plan, flow, &sharers, &rates, flows_by_prefix[flow.prefix.as_str()] > 1)
            })
            .collect();
        // Interest and Data each cross every link of the path once.
        let hops = |flow: &FlowFacts| 2.0 * flow.exchanges * flow.links.len() as f64;
        let samples = plan.sampling.map_or(0, |pause| plan.duration.as_nanos() / pause.as_nanos().max(1));
        // A row per flow and per direction of a link.
        let sampled = plan.flows.len() + 2 * plan.links.len();
        Self {
            random: seed_variation::describe(plan),
            packet_hops: flows.iter().map(hops).sum(),
            exchanges: flows.iter().map(|flow| flow.exchanges).sum(),
            sample_rows: samples as f64 * sampled as f64 * plan.seeds.len() as f64,
            flows,
        }
    }
}

/// Number of flows that request each prefix.
pub(super) fn flows_by_prefix(plan: &Plan) -> BTreeMap<&str, usize> {
    let mut flows_by_prefix = BTreeMap::new();
    for flow in &plan.flows {
        *flows_by_prefix.entry(flow.prefix.as_str()).or_default() += 1;
    }
    flows_by_prefix
}

/// Maximum number of names that are listed; the rest is counted.
const LISTED: usize = 4;

/// `a, b, c, d and 7 more`.
pub(super) fn listed(names: &[&str]) -> String {
    match names.len().saturating_sub(LISTED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..LISTED].join(", ")),
    }
}
