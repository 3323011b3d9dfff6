//! Path of a flow through the network: its links, and its maximum rate.

use std::collections::BTreeMap;

use tidegate_core::ndn::consumer::{Arrivals, Workload};
use tidegate_core::ndn::face::Limit;
use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::wire_size;
use tidegate_core::tcp::{TcpOptions, segment_size};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};
use tidegate_sim::plan::{Demand, FlowPlan, Plan};

use super::facts::{Bottleneck, FlowFacts};
use super::rates::{Rates, rate};
use super::service_nodes::{self, ServiceNode};

/// Path of one flow, independent of other flows.
pub(super) struct FlowPath {
    nodes: Vec<usize>,
    /// Links from the consumer to the producer, each with the direction of Data.
    pub(super) links: Vec<(usize, usize)>,
    /// Sizes of the first segment's packets.
    first: Sizes,
    /// Sizes of the packets half way through the flow.
    middle: Sizes,
}

/// Sizes of an Interest and its Data.
#[derive(Clone, Copy)]
struct Sizes {
    interest: ByteCount,
    data: ByteCount,
}

/// A direction of a link.
pub(super) type PathDirection = (usize, usize);

/// Packet of one exchange on one direction of a link.
#[derive(Clone, Copy)]
struct Load {
    direction: PathDirection,
    /// The direction of the same link that Data take.
    data: PathDirection,
    size: ByteCount,
    /// Size with the headers of its frames.
    on_wire: ByteCount,
}

impl Load {
    fn sending(&self, plan: &Plan) -> Span {
        rate(plan, self.direction).time_to_send(self.on_wire)
    }

    /// Number of flows whose packets of the same kind share the direction: those whose Data take the same path.
    fn flows(&self, sharers: &BTreeMap<PathDirection, usize>) -> usize {
        sharers.get(&self.data).copied().unwrap_or(1)
    }

    /// Exchanges per second if all flows get equal shares.
    fn share(&self, plan: &Plan, sharers: &BTreeMap<PathDirection, usize>) -> f64 {
        per_second(rate(plan, self.direction), self.on_wire) / self.flows(sharers) as f64
    }
}

impl FlowPath {
    /// Follows `path`, the links that routing prefers, from the consumer.
    pub(super) fn new(plan: &Plan, flow: &FlowPlan, path: &[u32]) -> Self {
        let mut nodes = vec![flow.consumer];
        let mut links = Vec::new();
        for &index in path {
            let link = &plan.links[index as usize];
            let at_a = nodes.last() == Some(&link.a);
            nodes.push(if at_a { link.b } else { link.a });
            links.push((index as usize, usize::from(at_a)));
        }
        let [first, middle] = [0, middle_segment(flow)].map(|segment| packet_sizes(flow, segment));
        Self { nodes, links, first, middle }
    }

    /// The loads of each link.
    fn loads<'a>(&'a self, plan: &'a Plan, sizes: Sizes) -> impl Iterator<Item = Load> + 'a {
        self.links.iter().flat_map(move |&(link, direction)| {
            let data = (link, direction);
            let load = |direction, size| {
                let on_wire = plan.links[link].bytes_on_wire(size);
                Load { direction, data, size, on_wire }
            };
            // Both: on asymmetric links, Interests can be the limit.
            [load(data, sizes.data), load((link, 1 - direction), sizes.interest)]
        })
    }

    /// Derives the facts about the flow on this path.
    pub(super) fn facts(
        self,
        plan: &Plan,
        flow: &FlowPlan,
        sharers: &BTreeMap<PathDirection, usize>,
        rates: &Rates,
        is_shared: bool,
    ) -> FlowFacts {
        let delays: Span = self.links.iter().map(|(link, _)| plan.links[*link].delay * 2).sum();
        let service_nodes = service_nodes::on_the_way(plan, flow, &self.nodes);
        let links = delays + self.loads(plan, self.first).map(|load| load.sending(plan)).sum();
        let round_trip = links + service_nodes.iter().map(ServiceNode::mean).sum();
        let min = links + service_nodes.iter().map(ServiceNode::min).sum();
        // Names grow with the segment number: the middle one is typical for a long flow, the first one for a
        // round trip.
        let shares = self.loads(plan, self.middle).map(|load| (load.share(plan, sharers), load));
        let slowest = shares.reduce(|a, b| if b.0 < a.0 { b } else { a });
        let rate_s = slowest.map_or(f64::INFINITY, |(share, _)| share);
        let served_s = service_nodes.iter().map(|service_node| 1.0 / service_node.mean().as_secs_f64());
        let rate_s = served_s.fold(rate_s, f64::min);
        FlowFacts {
            bottleneck: slowest.map(|(_, load)| bottleneck(plan, flow, load, round_trip, sharers)),
            min_transfer: self.min_transfer(plan, flow, rates, min, is_shared),
            exchanges: exchanges(plan, flow, rate_s),
            nodes: self.nodes,
            links: self.links,
            slowest_station: service_nodes.into_iter().max_by_key(ServiceNode::mean),
            round_trip,
        }
    }

    /// Lower bound of the completion time: the slowest link carries all segments, and the last Data the rest
    /// of the path. A cache may hold Data that another flow requested, so only links before the first cache
    /// count then.
    fn min_transfer(
        &self,
        plan: &Plan,
        flow: &FlowPlan,
        rates: &Rates,
        round_trip: Span,
        is_shared: bool,
    ) -> Option<Span> {
        let Demand::File { segments } = flow.demand else { return None };
        let caches = |node: &usize| is_shared && service_nodes::caches(&plan.nodes[*node]);
        let free = self.nodes.iter().position(caches).unwrap_or(self.links.len());
        // Node number `free` is behind as many links, which is why `free` is also a number of links.
        let time = |load: Load| {
            let one = load.sending(plan);
            let rest = Span::from_nanos(round_trip.as_nanos().saturating_sub(one.as_nanos()));
            let all = if flow.tcp.is_some() {
                ByteCount::new(load.on_wire.get().saturating_mul(u64::from(segments)))
            } else {
                all_segments(load.on_wire, segments)
            };
            rates.time_to_send(plan, load.direction, flow.start, all)
                // The first Data may come from the cache, nearer than the round trip assumes.
                + if free == self.links.len() { rest } else { Span::ZERO }
        };
        // Two loads per link.
        self.loads(plan, self.first).take(2 * free).map(time).max()
    }
}

fn bottleneck(
    plan: &Plan,
    flow: &FlowPlan,
    load: Load,
    round_trip: Span,
    sharers: &BTreeMap<PathDirection, usize>,
) -> Bottleneck {
    let ((link, direction), packet) = (load.direction, load.size);
    let rate = rate(plan, load.direction);
    let queue_packets = match plan.links[link].queue[direction].limit {
        Limit::Packets(packets) => f64::from(packets.get()),
        Limit::Bytes(bytes) => (bytes.get() / packet.get().max(1)) as f64,
    };
    // Limits are in packets, but the line sends whole frames.
    let queued = ByteCount::new((queue_packets * load.on_wire.get() as f64) as u64);
    Bottleneck {
        link,
        direction,
        rate,
        packet,
        content: BitRate::from_bps((per_second(rate, load.on_wire) * 8.0 * flow.payload.get() as f64) as u64),
        flows: load.flows(sharers),
        product_packets: per_second(rate, load.on_wire) * round_trip.as_secs_f64(),
        queue_packets,
        queue_time: rate.time_to_send(queued),
    }
}

fn per_second(rate: BitRate, packet: ByteCount) -> f64 {
    rate.as_bps() as f64 / 8.0 / packet.get().max(1) as f64
}

/// A segment in the middle of the flow, as far as that is known.
fn middle_segment(flow: &FlowPlan) -> u32 {
    // For other flows a number of two bytes, as most segments of a run have.
    if let Demand::File { segments } = flow.demand { segments / 2 } else { 1000 }
}

fn packet_sizes(flow: &FlowPlan, segment: u32) -> Sizes {
    if flow.tcp.is_some() {
        let size = |payload| segment_size(payload, &TcpOptions::default());
        return Sizes { interest: size(ByteCount::ZERO), data: size(flow.payload) };
    }
    let mut names = NameTable::new();
    let prefix = names.intern_uri(&flow.prefix).expect("prefixes were checked with the plan");
    let length = names.encoded_len(Name::segment(prefix, segment));
    let payload = u32::try_from(flow.payload.get()).unwrap_or(u32::MAX);
    Sizes { interest: wire_size::interest(length), data: wire_size::data(length, payload) }
}

/// Bytes of the packets of all segments, the first of which has `first`: a segment number takes one byte below
/// 2^8, two below 2^16, else four.
fn all_segments(first: ByteCount, segments: u32) -> ByteCount {
    let from = |number: u64| u64::from(segments).saturating_sub(number);
    let longer = from(1 << 8) + 2 * from(1 << 16);
    ByteCount::new(first.get().saturating_mul(u64::from(segments)).saturating_add(longer))
}

/// Approximate number of segments that a workload requests within `time`.
fn requested(workload: &Workload, time: Span) -> f64 {
    let segments = f64::from(workload.object_segments);
    let coming = workload.arrivals.map_or(f64::INFINITY, |arrivals| {
        let (Arrivals::Constant(rate) | Arrivals::Poisson(rate)) = arrivals;
        rate.per_second() * time.as_secs_f64()
    });
    segments * coming.min(workload.requests.map_or(f64::INFINITY, f64::from))
}

/// Approximate number of Interests satisfied until the end of the run, at `rate_s` per second.
fn exchanges(plan: &Plan, flow: &FlowPlan, rate_s: f64) -> f64 {
    let end = (Time::ZERO + plan.duration).min(flow.stop.unwrap_or(Time::MAX));
    let max = rate_s * end.since(flow.start).as_secs_f64();
    match &flow.demand {
        Demand::File { segments } => max.min(f64::from(*segments)),
        Demand::Endless => max,
        Demand::Constant { rate, bursts } => {
            let within = |(at, length): &(Time, Span)| (*at + *length).min(end).since(*at).as_secs_f64();
            let requester: f64 = if bursts.is_empty() {
                end.since(flow.start).as_secs_f64()
            } else {
                bursts.iter().map(within).sum()
            };
            max.min(per_second(*rate, flow.payload) * requester)
        }
        Demand::Objects(workload) => max.min(requested(workload, end.since(flow.start))),
    }
}
