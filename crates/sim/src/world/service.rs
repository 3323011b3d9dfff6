//! Servers with a service time: of a router for every packet from a link, of a producer for every Interest.

use std::collections::VecDeque;

use tidegate_core::arena::PacketId;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::packet::PacketArena;
use tidegate_core::rng::Rng;
use tidegate_core::units::Time;

use super::{Body, EventKind, Role, SimNode, World};
use crate::plan::{ServicePlan, ServiceTime};

/// Packets that one server received, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceLedger {
    /// Packets offered to the server.
    pub offered: u64,
    /// Dropped because too many waited, or because the node stopped.
    pub dropped: u64,
    /// Waiting or being served.
    pub waiting: u64,
    /// Packets served so far.
    pub served: u64,
}

impl ServiceLedger {
    /// Whether every packet is accounted for.
    pub fn balances(&self) -> bool {
        self.offered == self.dropped + self.waiting + self.served
    }
}

/// A single server: packets wait in order and are served one by one.
#[derive(Debug)]
pub(super) struct Server {
    time: ServiceTime,
    /// Maximum number of packets that wait behind the one being served.
    limit: usize,
    draws: Rng,
    /// The first is being handled.
    waiting: VecDeque<(FaceId, PacketId)>,
    /// Completion time of the first packet; [`Time::MAX`] if there is none.
    due: Time,
    ledger: ServiceLedger,
}

impl Server {
    pub(super) fn new(plan: &ServicePlan, draws: Rng) -> Self {
        Self {
            time: plan.time,
            // One less than the maximum, as the packet being handled is compared with it too.
            limit: plan.queue.map_or(usize::MAX - 1, |queue| queue.get() as usize),
            draws,
            waiting: VecDeque::new(),
            due: Time::MAX,
            ledger: ServiceLedger::default(),
        }
    }

    /// Takes in or drops a packet; returns its completion time if it is served at once.
    fn offer(
        &mut self,
        now: Time,
        packets: &mut PacketArena<Body>,
        (face, packet): (FaceId, PacketId),
    ) -> Option<Time> {
        self.ledger.offered += 1;
        // `waiting` includes the packet being handled, which does not count towards the limit.
        if self.waiting.len() > self.limit {
            self.ledger.dropped += 1;
            packets.end(packet);
            return None;
        }
        self.waiting.push_back((face, packet));
        (self.waiting.len() == 1).then(|| self.begin(now))
    }

    /// Begins with the first packet; returns its completion time.
    fn begin(&mut self, now: Time) -> Time {
        let span = match self.time {
            ServiceTime::Constant(span) => span,
            ServiceTime::Exponential(mean) => mean.scale(self.draws.exponential()),
        };
        self.due = now + span;
        self.due
    }

    /// The packet that is complete at `now`, and the time of the next one; `None` if an earlier stop left the
    /// event behind.
    fn finish(&mut self, now: Time) -> Option<Done> {
        if self.due != now {
            return None;
        }
        let (face, packet) = self.waiting.pop_front()?;
        self.ledger.served += 1;
        let next = if self.waiting.is_empty() {
            self.due = Time::MAX;
            None
        } else {
            Some(self.begin(now))
        };
        Some(Done { face, packet, next })
    }

    /// Drops all packets that wait or are in service.
    fn clear(&mut self, packets: &mut PacketArena<Body>) {
        self.ledger.dropped += self.waiting.len() as u64;
        // The pending event stays in the queue; `finish` ignores it, because its time is not `due`.
        self.waiting.drain(..).for_each(|(_, packet)| packets.end(packet));
        self.due = Time::MAX;
    }

    pub(super) fn ledger(&self) -> ServiceLedger {
        ServiceLedger { waiting: self.waiting.len() as u64, ..self.ledger }
    }
}

/// A packet that was handled.
struct Done {
    face: FaceId,
    packet: PacketId,
    /// Completion time of the next packet, if another waits.
    next: Option<Time>,
}

/// The server of one producer.
#[derive(Debug)]
pub(super) struct Processing {
    pub(super) node: u32,
    pub(super) server: Server,
}

impl World {
    /// Every server: those of routers, then those of producers.
    pub fn service_ledgers(&self) -> Vec<ServiceLedger> {
        let routers = self.nodes.iter().filter_map(|node| node.service.as_deref());
        let producers = self.processing.iter().map(|processing| &processing.server);
        routers.chain(producers).map(Server::ledger).collect()
    }

    /// Packets that the servers at `node` dropped.
    pub(super) fn service_drops(&self, node: usize) -> u64 {
        let own = self.nodes[node].service.as_deref();
        let here = self.processing.iter().filter(|processing| processing.node as usize == node);
        let all = own.into_iter().chain(here.map(|processing| &processing.server));
        all.map(|server| server.ledger.dropped).sum()
    }

    /// Lets a packet from a link wait for the router's server.
    pub(super) fn wait_for_service(&mut self, node: usize, face: FaceId, packet: PacketId) {
        let Some(server) = &mut self.nodes[node].service else { return };
        if let Some(at) = server.offer(self.agenda.now, &mut self.agenda.packets, (face, packet)) {
            self.agenda.events.push(at, EventKind::Served, node);
        }
    }

    /// Passes a packet that the router's server has finished to the forwarder.
    pub(super) fn serve(&mut self, node: usize) {
        let Some(server) = &mut self.nodes[node].service else { return };
        let Some(Done { face, packet, next }) = server.finish(self.agenda.now) else { return };
        if let Some(at) = next {
            self.agenda.events.push(at, EventKind::Served, node);
        }
        self.receive(node, face, packet);
        self.settle(node);
        self.drain_ready();
    }

    /// Lets the answer to an Interest wait for the producer's server.
    pub(super) fn wait_for_processing(&mut self, index: usize, face: FaceId, answer: PacketId) {
        let server = &mut self.processing[index].server;
        if let Some(at) = server.offer(self.agenda.now, &mut self.agenda.packets, (face, answer)) {
            self.agenda.events.push(at, EventKind::Processed, index);
        }
    }

    /// Sends an answer that the producer's server has finished.
    pub(super) fn give_answer(&mut self, index: usize) {
        let Processing { node, server } = &mut self.processing[index];
        let node = *node as usize;
        let Some(Done { face, packet: answer, next }) = server.finish(self.agenda.now) else { return };
        if let Some(at) = next {
            self.agenda.events.push(at, EventKind::Processed, index);
        }
        // A host without a forwarder has no table to pass the Data through.
        if self.nodes[node].role != Role::Router {
            return self.send(node, face, answer);
        }
        self.receive(node, face, answer);
        self.settle(node);
        self.drain_ready();
    }

    /// The node stops: packets that wait in its servers are lost.
    pub(super) fn clear_servers(&mut self, node: usize) {
        let SimNode { service, .. } = &mut self.nodes[node];
        let packets = &mut self.agenda.packets;
        service.iter_mut().for_each(|server| server.clear(packets));
        let here = self.processing.iter_mut().filter(|processing| processing.node as usize == node);
        here.for_each(|processing| processing.server.clear(packets));
    }
}
