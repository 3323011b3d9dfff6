//! One run: the network of a plan, built for a seed, and the loop that moves it through time.
//!
//! The world only carries packets between state machines of core: it decides nothing about them.

#[macro_use]
mod environment;
mod build;
mod connections;
mod control;
mod frames;
mod host;
mod media;
mod outcome;
mod restart;
mod sample;
mod service;

pub(crate) use build::Ways;
pub use build::{NodeFaces, interned, node_faces, paths, prefix_uris};
pub use control::MessageLedger;
pub use outcome::Ledger;
pub use service::ServiceLedger;

use tidegate_core::arena::PacketId;
use tidegate_core::context::{Present, Sink, SinkWithRoutes};
use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::name::{NameTable, PrefixId};
use tidegate_core::ndn::node::{Device, Devices, Node};
use tidegate_core::ndn::packet::{Kind, Packet, PacketArena};
use tidegate_core::ndn::producer::Producer;
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::observe::records::{EventRecord, FlowSamples, LinkSamples};
use tidegate_core::rng::Seed;
use tidegate_core::scheme::control::Message;
use tidegate_core::tcp::TcpOptions;
use tidegate_core::units::{ByteCount, Span, Time};

use crate::events::{EventKind, EventQueue};
use crate::link::{End, LinkDirection};
use crate::plan::{Change, EventPlan};
use crate::routes::RouteTable;
use connections::Connection;
use control::{Control, Reported};
use host::{Host, Surroundings};
use media::SharedMedium;
use service::{Processing, Server};
use tidegate_core::link::line::Carriage;

/// The body of a simulated packet: options of a TCP segment that has some.
pub type Body = Option<Box<TcpOptions>>;

// Every packet is one cache line.
const _: () = assert!(size_of::<Packet<Body>>() == 64);

/// A network in motion.
#[derive(Debug)]
pub struct World {
    end: Time,
    stop_when_complete: bool,
    seed: Seed,
    agenda: Agenda,
    directions: Vec<LinkDirection>,
    nodes: Vec<SimNode>,
    consumers: Vec<Host>,
    connections: Vec<Connection>,
    servers: Servers,
    /// Servers of producers with a service time.
    processing: Vec<Processing>,
    names: NameTable,
    present: Present<SinkWithRoutes<Recorder, RouteTable>>,
    changes: Vec<EventPlan>,
    control: Option<Control>,
    sampling: Option<Span>,
    flow_samples: FlowSamples,
    link_samples: LinkSamples,
    /// Links that an event took down.
    link_down: Vec<bool>,
    unfinished: usize,
    packet_hops: u64,
    /// Consumers that received a packet and may send.
    ready: Vec<u32>,
    /// Ends of connections behind a forwarder that received a packet and may send.
    ready_sides: Vec<usize>,
    /// Template from which restarted nodes are built; `None` in a run without restarts.
    restart_template: Option<Box<restart::RestartTemplate>>,
}

/// A node and what runs on it.
#[derive(Debug)]
struct SimNode {
    core: Node<Body>,
    role: Role,
    /// Direction in which each device sends.
    directions: Vec<u32>,
    /// Consumer on each application face after the servers' face.
    consumers: Vec<u32>,
    wake: Time,
    agent_wake: Time,
    wakeups: Wakeups,
    is_on: bool,
    /// Server in which packets from links wait before the forwarder handles them.
    service: Option<Box<Server>>,
}

/// Instants at which timers of a node expired.
#[derive(Debug, Default)]
struct Wakeups {
    count: u64,
    last: Option<Time>,
}

impl Wakeups {
    /// Counts a timer that expires at `now`; several at one instant are one wake-up.
    #[inline]
    fn note(&mut self, now: Time) {
        self.count += u64::from(self.last != Some(now));
        self.last = Some(now);
    }
}

/// Options of a change of a link.
#[derive(Clone, Copy, Debug, Default)]
struct LinkChange {
    /// Whether its queues retain their packets.
    keep_queue: bool,
    /// Whether routing and the forwarders at its ends are not notified.
    silent: bool,
}

/// Handler of the packets that arrive at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The forwarder of the node.
    Router,
    /// Its only consumer, directly.
    Consumer(u32),
    /// The producers of the node, directly.
    Server,
    /// Its ends of TCP connections, directly.
    Sides,
}

/// The producers of a run, by prefix.
#[derive(Debug, Default)]
struct Servers {
    /// In the order of their prefixes.
    answerers: Vec<Answerer>,
    /// Place of the first answerer of a prefix, by its number; some place for a prefix without one.
    first: Vec<u32>,
}

/// A producer on a node.
#[derive(Debug)]
struct Answerer {
    node: u32,
    producer: Producer,
    /// Its server, if it has a service time.
    processing: Option<u32>,
}

// Each flow has one.
const _: () = assert!(size_of::<Answerer>() <= 32);

impl Servers {
    /// Servers whose prefixes have numbers below `prefixes`.
    fn of(mut answerers: Vec<Answerer>, prefixes: usize) -> Self {
        answerers.sort_by_key(|answerer| answerer.producer.prefix());
        answerers.shrink_to_fit();
        let mut first = vec![0; prefixes];
        for (place, answerer) in answerers.iter().enumerate().rev() {
            first[answerer.producer.prefix().0 as usize] = place as u32;
        }
        Self { answerers, first }
    }

    #[inline]
    fn find(&self, node: u32, prefix: PrefixId) -> Option<&Answerer> {
        let first = *self.first.get(prefix.0 as usize)? as usize;
        let from_first = self.answerers.get(first..)?.iter();
        let mut of_prefix = from_first.take_while(|answerer| answerer.producer.prefix() == prefix);
        of_prefix.find(|answerer| answerer.node == node)
    }
}

/// Records the requested kinds of events.
#[derive(Debug, Default)]
struct Recorder {
    events: Vec<EventRecord>,
    /// Reports made during the current call.
    reports: Vec<Reported>,
}

impl Sink for Recorder {
    fn record(&mut self, at: Time, node: NodeId, event: Event) {
        self.events.push(EventRecord { time: at, node: node.0, event });
    }

    fn report(&mut self, _: Time, node: NodeId, report: Box<dyn Message>) {
        self.reports.push(Reported { node, report });
    }
}

/// The present, and what comes after it: what a device needs besides its line.
#[derive(Debug)]
struct Agenda {
    now: Time,
    events: EventQueue,
    media: Vec<SharedMedium>,
    packets: PacketArena<Body>,
}

/// Devices of one node: the link directions in which it sends. References to whole lists, because it is made for every packet.
struct DeviceLines<'a> {
    /// Direction of each device.
    ids: &'a Vec<u32>,
    directions: &'a mut Vec<LinkDirection>,
    agenda: &'a mut Agenda,
}

/// A device: the link direction in which it sends.
struct DeviceLine<'a> {
    /// Number of the direction.
    direction: usize,
    wire: &'a mut LinkDirection,
    agenda: &'a mut Agenda,
}

impl Devices<Body> for DeviceLines<'_> {
    type Device<'a>
        = DeviceLine<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn device(&mut self, face: FaceId) -> DeviceLine<'_> {
        let direction = self.ids[face.index()] as usize;
        DeviceLine { direction, wire: &mut self.directions[direction], agenda: self.agenda }
    }

    #[inline(always)]
    fn packets(&mut self) -> &mut PacketArena<Body> {
        &mut self.agenda.packets
    }
}

impl Device<Body> for DeviceLine<'_> {
    #[inline(always)]
    fn is_free(&self) -> bool {
        self.wire.line.busy_until <= self.agenda.now && self.wire.is_up
    }

    #[inline(always)]
    fn packets(&mut self) -> &mut PacketArena<Body> {
        &mut self.agenda.packets
    }

    #[inline(always)]
    fn transmit(&mut self, packet: PacketId, size: ByteCount) -> bool {
        let Self { direction, wire, agenda } = self;
        if wire.framed.is_some() {
            return agenda.transmit((*direction, wire), packet, size);
        }
        // An event for an earlier end of transmission is stale and ignored.
        wire.is_armed = false;
        match wire.line.transmit(&mut agenda.packets, packet, size, agenda.now) {
            Carriage::Lost => return false,
            Carriage::Behind => {}
            Carriage::First(arrival) => agenda.events.push(arrival, EventKind::Arrival, *direction),
        }
        true
    }

    #[inline(always)]
    fn needs_service(&mut self, has_packets: bool, wake: Option<Time>) {
        let Self { direction, wire, agenda } = self;
        if has_packets && !wire.is_armed {
            wire.is_armed = true;
            // `sent` recognises its event by this time.
            wire.line.busy_until = wire.line.busy_until.max(agenda.now);
            agenda.events.push(wire.line.busy_until, EventKind::Sent, *direction);
        }
        if let Some(wake) = wake
            && wake < wire.queue_wake
        {
            wire.queue_wake = wake;
            agenda.events.push(wake, EventKind::QueueWake, *direction);
        }
    }
}

impl World {
    /// Current time of the simulation.
    pub fn now(&self) -> Time {
        self.agenda.now
    }

    /// Packets taken off links so far.
    pub fn packet_hops(&self) -> u64 {
        self.packet_hops
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.agenda.now >= self.end
    }

    /// Records events of these kinds from now on, in place of those of the plan.
    pub fn listen(&mut self, mask: EventMask) {
        self.present.mask = mask;
    }

    /// Removes and returns the events recorded so far.
    pub fn take_events(&mut self) -> Vec<EventRecord> {
        std::mem::take(&mut self.present.outside_mut().sink.events)
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        self.step_until(self.end);
    }

    /// Runs every event up to `limit`, or to the end if that is earlier.
    pub fn step_until(&mut self, limit: Time) {
        let limit = limit.min(self.end);
        while let Some((at, target)) = self.agenda.events.take_until(limit) {
            self.set_now(at);
            let index = target.index();
            if target.is_arrival() {
                self.arrive(index);
            } else {
                self.handle(target.kind(), index);
            }
            // After the handler: parts report while the node is borrowed, and sending needs the world.
            if !self.present.outside().sink.reports.is_empty() {
                self.send_reports();
            }
            // Checked after the whole event, so that all its consequences at this instant are in the results.
            if self.unfinished == 0 && self.stop_when_complete {
                self.end = self.agenda.now;
                return;
            }
        }
        self.set_now(limit);
    }

    #[inline(always)]
    fn set_now(&mut self, now: Time) {
        (self.agenda.now, self.present.now) = (now, now);
    }

    /// Handles an event other than an arrival.
    #[inline(always)]
    fn handle(&mut self, kind: EventKind, index: usize) {
        match kind {
            EventKind::Arrival => {}
            EventKind::Sent => self.sent(index),
            EventKind::QueueWake => self.wake_queue(index),
            EventKind::NodeWake => self.wake_node(index),
            EventKind::ConsumerWake => self.wake_consumer(index),
            EventKind::SideWake => self.wake_side(index),
            EventKind::Change => self.change(index),
            EventKind::Sample => self.sample(),
            EventKind::Served => self.serve(index),
            EventKind::Report => self.deliver_report(),
            EventKind::Directive => self.deliver_directive(),
            EventKind::ControllerWake => self.wake_controller(),
            EventKind::AgentWake => self.wake_agents(index),
            EventKind::Processed => self.give_answer(index),
            EventKind::FrameArrival => self.arrive_frame(index),
            EventKind::LinkWake => self.wake_link(index),
            EventKind::Medium => self.on_medium_event(index),
        }
    }

    /// A packet reached the far end of a link.
    #[inline]
    fn arrive(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        let to = wire.to;
        let Some(packet) = wire.line.take_arrival(&self.agenda.packets, self.agenda.now) else { return };
        if let Some((at, next)) = wire.line.next(&self.agenda.packets) {
            // Reads it into the cache before it is needed.
            std::hint::black_box(next.header.size());
            self.agenda.events.push(at, EventKind::Arrival, direction);
        }
        self.take_in(to, packet);
    }

    /// Passes a packet from a link to its node.
    #[inline(always)]
    fn take_in(&mut self, to: End, packet: PacketId) {
        self.packet_hops += 1;
        let sim = &mut self.nodes[to.node as usize];
        let header = &mut self.agenda.packets[&packet].header;
        sim.core.faces()[to.face.index()].count_received(header.size());
        // Most packets arrive at such a node.
        if sim.role == Role::Router && sim.service.is_none() {
            sim.core.receive(env!(self, to.node), to.face, packet, lines!(self, &sim.directions));
            if sim.core.has_for_applications() {
                self.settle_all(to.node as usize);
            } else {
                rearm(sim, &mut self.agenda.events, to.node);
            }
            return;
        }
        match sim.role {
            Role::Router => self.wait_for_service(to.node as usize, to.face, packet),
            Role::Consumer(consumer) => {
                self.record_received(to, &packet);
                // A forwarder would have counted the last link.
                let hop = &mut self.agenda.packets[&packet].header.hop;
                hop.hops = hop.hops.saturating_add(1);
                self.send_direct(consumer as usize, Some(packet));
            }
            Role::Server => {
                self.record_received(to, &packet);
                self.answer_direct(to, packet);
            }
            Role::Sides => {
                self.record_received(to, &packet);
                self.take_segment_direct(to.node, packet);
            }
        }
    }

    /// Records a packet that no forwarder handles; the forwarder of a router records its packets itself.
    #[inline(always)]
    fn record_received(&mut self, to: End, packet: &PacketId) {
        if self.present.mask.has(EventMask::PACKETS) {
            let event = Event::Received { face: to.face.0, header: self.agenda.packets[packet].header };
            self.present.outside_mut().sink.record(self.agenda.now, NodeId(to.node), event);
        }
    }

    /// Answer of the producers of `node` to an Interest from `face`; `None` if there is none, or not yet.
    fn answer(&mut self, node: u32, face: FaceId, packet: PacketId) -> Option<PacketId> {
        let header = &mut self.agenda.packets[&packet].header;
        let answerer = self.servers.find(node, header.name.prefix);
        let core = &self.nodes[node as usize].core;
        let answered = answerer.and_then(|Answerer { producer, processing, .. }| {
            // The Data takes the place of the Interest.
            *header = core.with_context(env!(self, node), |cx| producer.answer(cx, header))?;
            Some(*processing)
        });
        match answered {
            Some(None) => return Some(packet),
            Some(Some(index)) => self.wait_for_processing(index as usize, face, packet),
            None => self.agenda.packets.end(packet),
        }
        None
    }

    /// Answers an Interest at a host whose only applications are producers.
    #[inline]
    fn answer_direct(&mut self, to: End, packet: PacketId) {
        let prefix = self.agenda.packets[&packet].header.name.prefix;
        let Some(Answerer { producer, processing: None, .. }) = self.servers.find(to.node, prefix) else {
            // No producer answers here, or the answer leaves after its processing time.
            let none = self.answer(to.node, to.face, packet);
            debug_assert!(none.is_none());
            return;
        };
        let mut interest = Some(packet);
        let SimNode { core, directions, .. } = &mut self.nodes[to.node as usize];
        core.send_all(env!(self, to.node), to.face, lines!(self, directions), |cx, packets| {
            let packet = interest.take()?;
            let header = &mut packets[&packet].header;
            // The Data takes the place of the Interest.
            match producer.answer(cx, header) {
                Some(data) => *header = data,
                None => {
                    packets.end(packet);
                    return None;
                }
            }
            Some(packet)
        });
    }

    /// Passes a packet to a device without the forwarder.
    #[inline]
    fn send(&mut self, node: usize, face: FaceId, packet: PacketId) {
        let SimNode { core, directions, .. } = &mut self.nodes[node];
        core.send(env!(self, node), face, packet, lines!(self, directions));
    }

    /// Passes a packet of an application to the forwarder.
    #[inline]
    fn receive(&mut self, node: usize, face: FaceId, packet: PacketId) {
        let SimNode { core, directions, .. } = &mut self.nodes[node];
        core.receive(env!(self, node), face, packet, lines!(self, directions));
    }

    /// Passes a packet to a consumer.
    #[inline]
    fn deliver(&mut self, index: usize, packet: PacketId) {
        let host = &mut self.consumers[index];
        let core = &self.nodes[host.node as usize].core;
        let node = host.node;
        let consumer = host.consumer(|| Surroundings::of(self.seed, core));
        let header = &self.agenda.packets[&packet].header;
        core.with_context(env!(self, node), |cx| consumer.on_packet(cx, header));
        self.agenda.packets.end(packet);
    }

    /// Lets every consumer behind a forwarder that got a packet send. A list and not a recursion, because
    /// a content store answers at once and a whole file may pass within one instant.
    #[inline(always)]
    fn drain_ready(&mut self) {
        while let Some(consumer) = self.ready.pop() {
            self.drain(consumer as usize);
        }
        while let Some(side) = self.ready_sides.pop() {
            self.drain_side(side);
        }
    }

    #[inline(never)]
    fn wake_consumer(&mut self, index: usize) {
        let host = &mut self.consumers[index];
        // Events cannot be cancelled: this one was replaced by an earlier one.
        if host.wake != self.agenda.now {
            return;
        }
        host.wake = Time::MAX;
        let SimNode { core, wakeups, .. } = &mut self.nodes[host.node as usize];
        wakeups.note(self.agenda.now);
        let node = host.node;
        let consumer = host.consumer(|| Surroundings::of(self.seed, core));
        core.with_context(env!(self, node), |cx| consumer.on_wake(cx));
        self.drain(index);
        self.drain_ready();
    }

    /// Sends every Interest that a consumer may send now, and schedules its next wake-up.
    fn drain(&mut self, index: usize) {
        let (node, face) = (self.consumers[index].node as usize, self.consumers[index].face);
        // The wake-up may have been scheduled before the node went off.
        if !self.nodes[node].is_on {
            return;
        }
        if self.nodes[node].role != Role::Router {
            return self.send_direct(index, None);
        }
        loop {
            let host = &mut self.consumers[index];
            let core = &self.nodes[node].core;
            let consumer = host.consumer(|| Surroundings::of(self.seed, core));
            let Some(header) = core.with_context(env!(self, node), |cx| consumer.poll(cx)) else {
                break;
            };
            let packet = self.agenda.packets.insert(Packet::new(header, None));
            self.receive(node, face, packet);
        }
        self.settle(node);
        self.rearm_consumer(index);
    }

    /// Passes a packet to a consumer without a forwarder, and sends every Interest that it may send now.
    #[inline]
    fn send_direct(&mut self, index: usize, mut arrived: Option<PacketId>) {
        let host = &mut self.consumers[index];
        let (node, face) = (host.node, host.face);
        let SimNode { core, directions, .. } = &mut self.nodes[node as usize];
        let consumer = host.consumer(|| Surroundings::of(self.seed, core));
        core.send_all(env!(self, node), face, lines!(self, directions), |cx, packets| {
            if let Some(packet) = arrived.take() {
                consumer.on_packet(cx, &packets[&packet].header);
                packets.end(packet);
            }
            consumer.poll(cx).map(|header| packets.insert(Packet::new(header, None)))
        });
        if let Some(wake) = host.rearm(self.agenda.now, &mut self.unfinished) {
            self.agenda.events.push(wake, EventKind::ConsumerWake, index);
        }
    }

    fn rearm_consumer(&mut self, index: usize) {
        if let Some(wake) = self.consumers[index].rearm(self.agenda.now, &mut self.unfinished) {
            self.agenda.events.push(wake, EventKind::ConsumerWake, index);
        }
    }

    /// Delivers to applications what a forwarder sent, and lets them send.
    fn settle_all(&mut self, node: usize) {
        self.settle(node);
        self.drain_ready();
    }

    /// Delivers to applications what a forwarder sent, and schedules its next wake-up.
    #[inline(always)]
    fn settle(&mut self, node: usize) {
        self.carry_to_applications(node);
        self.rearm_node(node);
    }

    #[inline(always)]
    fn carry_to_applications(&mut self, node: usize) {
        while let Some((face, packet)) = self.nodes[node].core.poll_application() {
            self.give_application(node, face, packet);
        }
    }

    #[inline(always)]
    fn rearm_node(&mut self, node: usize) {
        rearm(&mut self.nodes[node], &mut self.agenda.events, node as u32);
    }

    #[cold]
    fn give_application(&mut self, node: usize, face: FaceId, packet: PacketId) {
        let sim = &self.nodes[node];
        if !sim.is_on {
            return self.agenda.packets.end(packet);
        }
        if matches!(self.agenda.packets[&packet].header.kind, Kind::Tcp(_)) {
            let side = self.take_segment(node as u32, packet);
            return self.ready_sides.extend(side);
        }
        let first_consumer = sim.directions.len() + 1;
        if let Some(place) = face.index().checked_sub(first_consumer) {
            let consumer = sim.consumers[place];
            self.deliver(consumer as usize, packet);
            return self.ready.push(consumer);
        }
        if let Some(answer) = self.answer(node as u32, face, packet) {
            self.receive(node, face, answer);
        }
    }

    /// The device has finished sending a packet.
    #[inline]
    fn sent(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        if wire.framed.is_some() {
            return self.sent_frame(direction);
        }
        // A link that went down in between left an event behind.
        if wire.line.busy_until != self.agenda.now || !wire.is_armed {
            return;
        }
        wire.is_armed = false;
        if wire.is_up {
            self.service(direction);
        } else {
            self.drop_queue(direction);
        }
    }

    /// Lets a free device take the next packet of its queue.
    #[inline]
    fn service(&mut self, direction: usize) {
        let from = self.directions[direction].from;
        let SimNode { core, directions, .. } = &mut self.nodes[from.node as usize];
        core.service(env!(self, from.node), from.face, lines!(self, directions));
    }

    /// A device without a link drops its packets, unless its queue is retained.
    fn drop_queue(&mut self, direction: usize) {
        let wire = &self.directions[direction];
        if !wire.keeps_queue {
            let from = wire.from;
            let core = &mut self.nodes[from.node as usize].core;
            core.clear_queue(env!(self, from.node), &mut self.agenda.packets, from.face);
        }
    }

    #[inline(never)]
    fn wake_queue(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        // Events cannot be cancelled: this one was replaced by an earlier one.
        if wire.queue_wake != self.agenda.now {
            return;
        }
        wire.queue_wake = Time::MAX;
        let from = wire.from;
        let SimNode { core, directions, wakeups, .. } = &mut self.nodes[from.node as usize];
        wakeups.note(self.agenda.now);
        core.wake_queue(env!(self, from.node), from.face, lines!(self, directions));
    }

    #[inline(never)]
    fn wake_node(&mut self, node: usize) {
        let sim = &mut self.nodes[node];
        // Events cannot be cancelled: this one was replaced by an earlier one.
        if sim.wake != self.agenda.now {
            return;
        }
        sim.wake = Time::MAX;
        let SimNode { core, directions, wakeups, .. } = sim;
        wakeups.note(self.agenda.now);
        core.wake_forwarder(env!(self, node), lines!(self, directions));
        self.settle(node);
    }

    /// Applies a planned change.
    #[cold]
    fn change(&mut self, index: usize) {
        match self.changes[index].change {
            Change::LinkDown { link, keep_queue, silent } => {
                self.link_down[link] = true;
                self.set_link(link, LinkChange { keep_queue, silent });
            }
            Change::LinkUp { link } => {
                self.link_down[link] = false;
                self.set_link(link, LinkChange::default());
            }
            Change::LinkRate { link, rate } => {
                for direction in [2 * link, 2 * link + 1] {
                    let wire = &mut self.directions[direction];
                    wire.set_rate(rate, self.agenda.now);
                    let face = &self.nodes[wire.from.node as usize].core.faces()[wire.from.face.index()];
                    face.set_rate(rate);
                    face.set_incoming_rate(rate);
                }
            }
            Change::ControllerDown => self.set_controller(false),
            Change::ControllerUp => self.set_controller(true),
            Change::NodeOff { node, silent } => self.set_node(node, false, silent),
            Change::NodeOn { node } => self.set_node(node, true, false),
            Change::NodeRestart { node } => self.restart_node(node),
        }
    }

    fn set_node(&mut self, node: usize, on: bool, silent: bool) {
        self.nodes[node].is_on = on;
        if !on {
            self.clear_servers(node);
        }
        let links: Vec<usize> =
            self.nodes[node].directions.iter().map(|direction| *direction as usize / 2).collect();
        for link in links {
            self.set_link(link, LinkChange { keep_queue: false, silent });
        }
        if on {
            for consumer in 0..self.consumers.len() {
                if self.consumers[consumer].node as usize == node {
                    self.drain(consumer);
                }
            }
            self.restart_sides(node);
            self.drain_ready();
        }
    }

    /// A link is up when no event took it down and both its ends are on.
    fn set_link(&mut self, link: usize, manner: LinkChange) {
        let ends = [self.directions[2 * link].from.node, self.directions[2 * link].to.node];
        let up = !self.link_down[link] && ends.iter().all(|node| self.nodes[*node as usize].is_on);
        // Another event still keeps the link down, or nothing has changed.
        if up == self.directions[2 * link].is_up {
            return;
        }
        for direction in [2 * link, 2 * link + 1] {
            let wire = &mut self.directions[direction];
            wire.is_up = up;
            wire.keeps_queue = manner.keep_queue;
            let from = wire.from;
            if !up {
                if self.present.mask.has(EventMask::LOSSES) {
                    let lost = |name| Event::Lost { face: from.face.0, name };
                    let packets = wire.line.on_the_way(&self.agenda.packets);
                    let lost = packets.map(|packet| lost(packet.header.label()));
                    lost.for_each(|event| {
                        self.present.outside_mut().sink.record(self.agenda.now, NodeId(from.node), event)
                    });
                }
                wire.line.cut(&mut self.agenda.packets, self.agenda.now);
                wire.framed.iter_mut().for_each(|framed| framed.cut(self.agenda.now));
                wire.is_armed = false;
            }
            if !up {
                self.forget_frames(direction);
            }
            self.notify_lost(direction);
            if !manner.silent {
                self.nodes[from.node as usize].core.faces()[from.face.index()].set_up(up);
            }
            if !up {
                self.drop_queue(direction);
            } else if self.directions[direction].radio.is_some() {
                self.refill(direction);
            } else {
                self.service(direction);
            }
        }
        if manner.silent {
            return;
        }
        // A silent change stays undetected: faces, routes and FIBs keep what they had before.
        self.present.outside_mut().routes.set_link(link, up);
        // Routes depend on all links, so the FIB of every node has to be resolved again.
        for node in &mut self.nodes {
            node.core.forwarder_mut().fib_mut().forget();
        }
    }
}

/// Schedules the next wake-up of a forwarder.
#[inline(always)]
fn rearm(sim: &mut SimNode, events: &mut EventQueue, node: u32) {
    if let Some(wake) = sim.core.forwarder_wake_before(sim.wake) {
        sim.wake = wake;
        events.push(wake, EventKind::NodeWake, node as usize);
    }
}
