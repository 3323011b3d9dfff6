//! From a world at its end to the records of the run.

use tidegate_core::ndn::consumer::Consumer;
use tidegate_core::ndn::gate::GateStats;
use tidegate_core::observe::records::{DelayBins, FlowRecord, LinkRecord, NodeRecord, RunRecord, Watched};

use super::World;
use super::connections::Connection;
use super::host::{Host, Surroundings};
use super::media::sent_bytes;
use crate::link::LinkDirection;
use crate::plan::{Demand, FlowPlan, LinkPlan, NodePlan, Plan};
use tidegate_core::rng::Seed;
use tidegate_core::tcp::record;

/// Packets of one direction by outcome; see [`World::ledgers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Packets that the gates did not refuse and that were passed to the queue.
    pub offered: u64,
    /// Dropped by the gates or the queue.
    pub dropped: u64,
    /// Waiting in the queue.
    pub queued: u64,
    /// Packets in the side store of the gates or the queue.
    pub stored: u64,
    /// Put on the wire.
    pub sent: u64,
    /// Lost on the wire.
    pub lost: u64,
    /// Packets in transit on the link.
    pub in_flight: u64,
    /// Taken off the wire.
    pub delivered: u64,
}

impl Ledger {
    /// Whether every packet is accounted for.
    pub fn balances(&self) -> bool {
        self.offered == self.dropped + self.queued + self.stored + self.sent
            && self.sent == self.lost + self.in_flight + self.delivered
    }
}

impl World {
    /// The packets of every link direction, in the plan's order: each link forward, then backward.
    pub fn ledgers(&self) -> Vec<Ledger> {
        self.directions.iter().map(|wire| self.ledger(wire)).collect()
    }

    fn ledger(&self, wire: &LinkDirection) -> Ledger {
        let core = &self.nodes[wire.from.node as usize].core;
        let face = &core.faces()[wire.from.face.index()];
        let stats = core.queue(wire.from.face).stats();
        let gates = core.forwarder().gate_stats(wire.from.face);
        Ledger {
            // Packets that passed the gates are counted as offered to the queue.
            offered: stats.offered + gates.offered - gates.refused - gates.passed,
            dropped: stats.dropped + gates.dropped,
            queued: u64::from(face.queued_packets()),
            stored: u64::from(face.held_packets()) + gates.waiting,
            sent: face.sent_packets(),
            lost: wire.lost(),
            in_flight: wire.in_flight(&self.agenda.packets),
            delivered: wire.delivered(),
        }
    }

    /// Number of packets that have not ended: each waits in a queue, at a gate or in a server, or is on a link.
    pub fn living_packets(&self) -> u64 {
        self.agenda.packets.count() as u64
    }

    /// Counters of the gates of every link direction, in the plan's order; zeros without gates.
    pub fn gate_stats(&self) -> Vec<GateStats> {
        let forwarder = |node: u32| self.nodes[node as usize].core.forwarder();
        self.directions.iter().map(|wire| forwarder(wire.from.node).gate_stats(wire.from.face)).collect()
    }

    /// Pending Interests of every node, in the plan's order, and the bytes their tables take.
    pub fn pending_interests(&self) -> Vec<(usize, usize)> {
        self.nodes
            .iter()
            .map(|node| node.core.forwarder().pit())
            .map(|pit| (pit.len(), pit.memory_bytes()))
            .collect()
    }

    /// The records of the run of `plan` with `seed`.
    pub fn into_record(mut self, plan: &Plan, seed: Seed) -> RunRecord {
        // Not of the records, which take their memory.
        (self.names, self.servers, self.agenda.events) = Default::default();
        let mut flows: Vec<FlowRecord> = plan.flows.iter().map(|flow| self.flow_record(plan, flow)).collect();
        for host in &self.consumers {
            self.read_consumer(host, |consumer| consumer.fill_record(&mut flows[host.flow() as usize]));
        }
        for Connection { sender, receiver, flow, .. } in &self.connections {
            record::fill_record((sender, receiver), &mut flows[*flow as usize]);
        }
        let links = (0..self.directions.len())
            .map(|direction| self.link_record(plan, &plan.links[direction / 2], direction))
            .collect();
        RunRecord {
            scenario: plan.name.clone(),
            seed: seed.0,
            ended: self.agenda.now,
            packet_hops: self.packet_hops,
            flows,
            links,
            nodes: plan.nodes.iter().enumerate().map(|(node, plan)| self.node_record(plan, node)).collect(),
            media: self.medium_records(plan),
            flow_samples: std::mem::take(&mut self.flow_samples),
            link_samples: std::mem::take(&mut self.link_samples),
            events: std::mem::take(&mut self.present.outside_mut().sink.events),
        }
    }

    /// As [`into_record`](Self::into_record), with the complete distributions of the delays.
    pub fn into_watched(self, plan: &Plan, seed: Seed) -> Watched {
        let mut full_delay = vec![DelayBins::default(); plan.flows.len()];
        let mut last_delay = full_delay.clone();
        for host in &self.consumers {
            let place = host.flow() as usize;
            self.read_consumer(host, |consumer| {
                full_delay[place] = consumer.stats().full_delay().distribution();
                last_delay[place] = consumer.stats().last_delay().distribution();
            });
        }
        for Connection { sender, flow, .. } in &self.connections {
            full_delay[*flow as usize] = sender.full_delay().distribution();
            last_delay[*flow as usize] = sender.last_delay().distribution();
        }
        let queue_delay = |wire: &LinkDirection| {
            let queue = self.nodes[wire.from.node as usize].core.queue(wire.from.face);
            queue.stats().delays.distribution()
        };
        Watched {
            full_delay,
            last_delay,
            queue_delay: self.directions.iter().map(queue_delay).collect(),
            devices: self.nodes.iter().map(|node| node.directions.clone()).collect(),
            // Last, because it consumes the world.
            record: self.into_record(plan, seed),
        }
    }

    /// Calls `read` with the consumer of a host.
    fn read_consumer(&self, host: &Host, read: impl FnOnce(&Consumer)) {
        host.read(Surroundings::of(self.seed, &self.nodes[host.node as usize].core), read);
    }

    fn flow_record(&self, plan: &Plan, flow: &FlowPlan) -> FlowRecord {
        let producers: Vec<&str> =
            flow.producers.iter().map(|node| plan.nodes[*node].name.as_str()).collect();
        FlowRecord {
            name: flow.name.clone(),
            consumer: plan.nodes[flow.consumer].name.clone(),
            producer: producers.join(" "),
            prefix: flow.prefix.clone(),
            scheme: flow.scheme.scheme.name.to_owned(),
            segments: match flow.demand {
                Demand::File { segments } => Some(u64::from(segments)),
                _ => None,
            },
            ..FlowRecord::default()
        }
    }

    fn node_record(&self, plan: &NodePlan, node: usize) -> NodeRecord {
        let forwarder = self.nodes[node].core.forwarder();
        NodeRecord {
            name: plan.name.clone(),
            cache_hits: forwarder.counters().cache_hits,
            cache_misses: forwarder.counters().cache_misses,
            cached_packets: forwarder.cs().len() as u64,
            service_drops: self.service_drops(node),
            pit_peak_entries: forwarder.pit().peak() as u64,
            wakeups: self.nodes[node].wakeups.count,
        }
    }

    fn link_record(&self, plan: &Plan, link: &LinkPlan, direction: usize) -> LinkRecord {
        let wire = &self.directions[direction];
        let core = &self.nodes[wire.from.node as usize].core;
        let face = &core.faces()[wire.from.face.index()];
        let stats = core.queue(wire.from.face).stats();
        let gates = core.forwarder().gate_stats(wire.from.face);
        let ledger = self.ledger(wire);
        let (from, to) = if direction.is_multiple_of(2) { (link.a, link.b) } else { (link.b, link.a) };
        let [sent_frames, lost_frames, resent_frames] = wire.frames(&self.agenda.packets);
        LinkRecord {
            from: plan.nodes[from].name.clone(),
            to: plan.nodes[to].name.clone(),
            rate: face.rate(),
            mean_rate: wire.mean_rate(self.agenda.now),
            delay: wire.line.delay(),
            offered_packets: ledger.offered,
            sent_packets: ledger.sent,
            sent_bytes: sent_bytes(&self.agenda.media, (direction, wire), face, self.agenda.now),
            delivered_packets: ledger.delivered,
            dropped_packets: ledger.dropped,
            lost_packets: ledger.lost,
            sent_frames,
            lost_frames,
            resent_frames,
            marked_packets: stats.marked + face.marks_taken(),
            stored_packets: stats.stored + gates.held,
            released_packets: stats.released + gates.released,
            notices: stats.notices,
            peak_queue_packets: u64::from(stats.peak),
            queue_delay: stats.delays.summary(),
        }
    }
}
