//! From a checked plan and a seed to a world at time zero.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tidegate_core::clock::Clock;
use tidegate_core::context::{Present, SinkWithRoutes};
use tidegate_core::ndn::consumer::Demand;
use tidegate_core::ndn::cs::{CacheSetup, UnsolicitedPolicy};
use tidegate_core::ndn::face::{FaceId, FaceView, NodeId};
use tidegate_core::ndn::forwarder::{Forwarder, ForwarderSetup};
use tidegate_core::ndn::gate::FaceGate;
use tidegate_core::ndn::name::{Name, NameTable, PrefixId};
use tidegate_core::ndn::node::Node;
use tidegate_core::ndn::packet::PacketArena;
use tidegate_core::ndn::producer::Producer;
use tidegate_core::ndn::strategy::Strategy;
use tidegate_core::observe::records::{FlowSamples, LinkSamples};
use tidegate_core::queue::{Queue, QueueDiscipline};
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::scheme::control::RouterAgent;
use tidegate_core::scheme::{DeviceSetup, NodeSetup, RouterParts};
use tidegate_core::tcp::{Receiver, ReceiverSetup, Sender, SenderSetup, Source};
use tidegate_core::units::{ByteCount, Span, Time};

use super::connections::{Connection, Side};
use super::control::Control;
use super::host::{Host, Recipe, Surroundings};
use super::media;
use super::service::{Processing, Server};
use super::{Agenda, Answerer, Body, EventKind, Recorder, Role, Servers, SimNode, Wakeups, World};
use crate::events::EventQueue;
use crate::link::{End, LinkDirection, Radio};
use crate::plan::{CachePlan, ClockPlan, FlowPlan, NodePlan, Plan, SchemeUse, TcpPlan};
use crate::routes::{Edge, RouteTable};

/// Reason why a checked component can be made without an error.
pub(super) const CHECKED: &str = "settings were checked with the plan";

/// Every prefix of a world of `plan`, in the order of their numbers.
pub fn prefix_uris(plan: &Plan) -> Vec<String> {
    let names = interned(plan);
    (0..names.len()).map(|number| names.uri(Name::whole(PrefixId(number as u32)))).collect()
}

/// The names that a run of `plan` begins with, under the numbers that they have there.
pub fn interned(plan: &Plan) -> NameTable {
    let mut names = NameTable::new();
    intern_prefixes(plan, &mut names);
    names
}

/// The links of each flow of `plan`, from its consumer to the nearest producer along the cheapest next hops, as
/// the run begins.
pub fn paths(plan: &Plan) -> Vec<Vec<u32>> {
    let mut names = NameTable::new();
    let prefixes = intern_prefixes(plan, &mut names);
    let routes = routes(plan, &Ports::new(plan), &prefixes, &mut names);
    let path = |(flow, prefix): (&FlowPlan, &PrefixId)| routes.path(flow.consumer as u32, *prefix);
    plan.flows.iter().zip(&prefixes).map(path).collect()
}

/// Paths of a plan's flows at the start of the run.
#[derive(Debug)]
pub(crate) struct Ways {
    routes: RouteTable,
    prefixes: Vec<PrefixId>,
}

impl Ways {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut names = NameTable::new();
        let prefixes = intern_prefixes(plan, &mut names);
        Self { routes: routes(plan, &Ports::new(plan), &prefixes, &mut names), prefixes }
    }

    /// Nodes and links on any path from the consumer of flow `index` to its producers, both sorted.
    pub(crate) fn of(&self, plan: &Plan, index: usize) -> [Vec<u32>; 2] {
        self.routes.reach(plan.flows[index].consumer as u32, self.prefixes[index])
    }
}

fn intern_prefixes(plan: &Plan, names: &mut NameTable) -> Vec<PrefixId> {
    let mut intern = |uri: &str| names.intern_uri(uri).expect("prefixes were checked with the plan");
    // The order decides the numbers of prefixes, which `interned` and `prefix_uris` have to reproduce.
    let mut prefixes = Vec::with_capacity(plan.flows.len());
    for flow in &plan.flows {
        prefixes.push(intern(&flow.prefix));
        if let Some(tcp) = &flow.tcp {
            intern(&tcp.data_prefix);
        }
    }
    prefixes
}

/// Plan of the network, with all that nodes and links share.
#[derive(Clone, Copy)]
pub(super) struct Blueprint<'a> {
    pub plan: &'a Plan,
    pub ports: &'a Ports,
    /// Delay of every link, varied for this run.
    pub delays: &'a [Span],
    pub seed: Seed,
}

/// A flow with its place in the run.
struct FlowSetup<'a> {
    flow: &'a FlowPlan,
    /// Number among the flows of the plan.
    index: usize,
    prefix: PrefixId,
    start: Time,
}

impl World {
    /// The network of `plan` at time zero, with everything random drawn from `seed`.
    pub fn new(plan: &Plan, seed: Seed) -> Self {
        let mut names = NameTable::new();
        let prefixes = intern_prefixes(plan, &mut names);
        let delays = varied_delays(plan, seed);
        let ports = Ports::new(plan);
        let routes = routes(plan, &ports, &prefixes, &mut names);
        let (servers, processing) = servers(plan, &prefixes, seed);
        let (media, radios) = media::build(plan, seed);
        let blueprint = Blueprint { plan, ports: &ports, delays: &delays, seed };
        let mut world = Self {
            end: Time::ZERO + plan.duration,
            stop_when_complete: plan.stop_when_complete,
            seed,
            agenda: Agenda {
                now: Time::ZERO,
                events: EventQueue::default(),
                media,
                packets: PacketArena::default(),
            },
            directions: directions(&blueprint, &radios),
            nodes: Vec::new(),
            consumers: Vec::with_capacity(plan.flows.iter().filter(|flow| flow.tcp.is_none()).count()),
            connections: Vec::new(),
            servers,
            processing,
            names,
            present: Present::new(SinkWithRoutes { sink: Recorder::default(), routes })
                .with_mask(plan.recorded),
            changes: plan.events.clone(),
            control: plan.controller.as_ref().map(|controller| Control::new(controller, seed)),
            sampling: plan.sampling,
            flow_samples: FlowSamples::default(),
            link_samples: LinkSamples::default(),
            link_down: vec![false; plan.links.len()],
            unfinished: 0,
            packet_hops: 0,
            ready: Vec::new(),
            ready_sides: Vec::new(),
            restart_template: None,
        };
        world.nodes =
            (0..plan.nodes.len()).map(|node| build_node(&blueprint, node, &mut world.names)).collect();
        for (index, (flow, prefix)) in plan.flows.iter().zip(prefixes).enumerate() {
            let start = world.varied_start(plan, flow, prefix, index, seed);
            let setup = FlowSetup { flow, index, prefix, start };
            match &flow.tcp {
                None => world.add_consumer(&setup, &blueprint),
                Some(tcp) => world.add_connection(&setup, tcp, seed),
            }
        }
        world.unfinished = plan.flows.iter().filter(|flow| flow.demand.has_end()).count();
        if world.unfinished == 0 {
            // Without a finite flow the run would end at its first event.
            world.stop_when_complete = false;
        }
        world.restart_template = super::restart::RestartTemplate::of(plan, ports, delays, seed);
        world.schedule_first_events();
        world
    }

    fn add_consumer(&mut self, setup: &FlowSetup<'_>, blueprint: &Blueprint<'_>) {
        let FlowSetup { flow, index, prefix, start } = *setup;
        let Blueprint { ports, seed, .. } = *blueprint;
        let node = flow.consumer;
        let sim = &self.nodes[node];
        let devices = sim.directions.len();
        // Faces of a router: devices, one for all producers, then one for each consumer.
        let face = match sim.role {
            Role::Router => FaceId((devices + 1 + ports.consumer_place(node, self.consumers.len())) as u16),
            Role::Consumer(_) | Role::Server | Role::Sides => FaceId(0),
        };
        let recipe = Recipe { settings: Arc::clone(&flow.settings), start, prefix, flow: index as u32 };
        let surroundings = Surroundings::of(seed, &sim.core);
        self.consumers.push(Host::new(recipe, (node as u32, face), surroundings));
    }

    fn add_connection(&mut self, setup: &FlowSetup<'_>, tcp: &TcpPlan, seed: Seed) {
        let FlowSetup { flow, index, prefix, start } = *setup;
        let number = self.connections.len() as u32;
        let data = self.names.intern_uri(&tcp.data_prefix).expect("prefixes were checked with the plan");
        let [sender, receiver] = [flow.producers[0], flow.consumer];
        let make = flow.scheme.scheme.sender.expect("the plan gives connections only TCP schemes");
        let rule = make(&flow.scheme.settings).expect(CHECKED);
        let receiver_setup = ReceiverSetup {
            name: Name::segment(prefix, number),
            mss: tcp.settings.mss,
            buffer: tcp.buffer,
            reads_at_once: true,
            ack_policy: tcp.ack_policy,
            ecn: tcp.receiver_ecn,
            echo: rule.echo,
            ack_option: rule.ack_option,
            initial_sequence: Rng::stream(seed, &format!("flow/{index}/peer-sequence")).bits() as u32,
            clock: self.nodes[receiver].core.clock(),
        };
        let sender_setup = SenderSetup {
            flow: index as u32,
            name: Name::segment(data, number),
            rule,
            settings: tcp.settings,
            source: source(&flow.demand, flow.payload),
            start,
            stop: flow.stop,
            initial_sequence: Rng::stream(seed, &format!("flow/{index}/sequence")).bits() as u32,
            draws: Streams::of(seed).under(&format!("flow/{index}/scheme/")),
            clock: self.nodes[sender].core.clock(),
        };
        self.connections.push(Connection {
            flow: index as u32,
            sender: Sender::new(sender_setup),
            receiver: Receiver::new(receiver_setup),
            data,
            sides: [self.side(sender), self.side(receiver)],
            counted: !flow.demand.has_end(),
        });
    }

    fn side(&self, node: usize) -> Side {
        let sim = &self.nodes[node];
        let is_direct = sim.role != Role::Router;
        let face = if is_direct { 0 } else { sim.directions.len() };
        Side { node: node as u32, face: FaceId(face as u16), wake: Time::MAX }
    }

    /// The start of a flow: as planned, or later by up to one base round-trip time.
    fn varied_start(&self, plan: &Plan, flow: &FlowPlan, prefix: PrefixId, index: usize, seed: Seed) -> Time {
        if !plan.variation.start {
            return flow.start;
        }
        let path = self.present.outside().routes.path(flow.consumer as u32, prefix);
        let one_way: Span = path.iter().map(|link| self.directions[2 * *link as usize].line.delay()).sum();
        // A stream per flow: the start of one does not depend on the others.
        let share = Rng::stream(seed, &format!("flow/{index}/start")).uniform();
        flow.start + (one_way * 2).scale(share)
    }

    fn schedule_first_events(&mut self) {
        for index in 0..self.changes.len() {
            self.agenda.events.push(self.changes[index].at, EventKind::Change, index);
        }
        for index in 0..self.consumers.len() {
            self.rearm_consumer(index);
        }
        for side in 0..self.sides() {
            self.rearm_side(side);
        }
        for node in 0..self.nodes.len() {
            self.rearm_agents(node);
        }
        self.rearm_controller();
        if let Some(period) = self.sampling {
            self.agenda.events.push(Time::ZERO + period, EventKind::Sample, 0);
        }
    }
}

/// Every link's delay, changed by one draw.
fn varied_delays(plan: &Plan, seed: Seed) -> Vec<Span> {
    let varied = |link: &crate::plan::LinkPlan| {
        if plan.variation.delay == 0.0 {
            return link.delay;
        }
        let draw = Rng::stream(seed, &format!("link/{}/delay", link.name)).uniform();
        link.delay.scale(1.0 + plan.variation.delay * (2.0 * draw - 1.0))
    };
    plan.links.iter().map(varied).collect()
}

/// Devices and consumers of each node.
#[derive(Debug)]
pub(super) struct Ports {
    /// Directions that leave each node, in face order.
    devices: Vec<Vec<u32>>,
    /// Consumers at each node.
    consumers: Vec<Vec<u32>>,
    /// Whether each node has a producer.
    serves: Vec<bool>,
    /// Whether each node has an end of a TCP connection.
    connects: Vec<bool>,
    /// Face of each direction at its transmitter.
    face: Vec<FaceId>,
}

impl Ports {
    fn new(plan: &Plan) -> Self {
        let nodes = plan.nodes.len();
        let mut ports = Self {
            devices: vec![Vec::new(); nodes],
            consumers: vec![Vec::new(); nodes],
            serves: vec![false; nodes],
            connects: vec![false; nodes],
            face: Vec::with_capacity(2 * plan.links.len()),
        };
        for (index, link) in plan.links.iter().enumerate() {
            for (way, node) in [link.a, link.b].into_iter().enumerate() {
                ports.face.push(FaceId(ports.devices[node].len() as u16));
                ports.devices[node].push((2 * index + way) as u32);
            }
        }
        for flow in plan.flows.iter().filter(|flow| flow.tcp.is_some()) {
            flow.producers.iter().chain([&flow.consumer]).for_each(|node| ports.connects[*node] = true);
        }
        for (number, flow) in plan.flows.iter().filter(|flow| flow.tcp.is_none()).enumerate() {
            ports.consumers[flow.consumer].push(number as u32);
            for producer in &flow.producers {
                ports.serves[*producer] = true;
            }
        }
        ports
    }

    fn consumer_place(&self, node: usize, consumer: usize) -> usize {
        // Consumers are listed in order.
        self.consumers[node].binary_search(&(consumer as u32)).expect("the consumer is here")
    }

    /// The role of a node. A host with one application and one uplink needs no forwarder.
    fn role(&self, node: usize, plan: &NodePlan) -> Role {
        let is_plain = !plan.is_router
            && plan.cache.size.get() == 0
            && plan.prefix_caches.is_empty()
            && plan.service.is_none()
            && plan.parts.is_empty()
            && self.devices[node].len() == 1;
        match (is_plain, self.serves[node], self.consumers[node].as_slice(), self.connects[node]) {
            (true, false, [only], false) => Role::Consumer(*only),
            (true, true, [], false) => Role::Server,
            (true, false, [], true) => Role::Sides,
            _ => Role::Router,
        }
    }
}

/// The faces of a node, as events number them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFaces {
    /// The link direction in which each device sends. The next face is that of the producers here, those after
    /// it of the consumers.
    pub devices: Vec<u32>,
    /// Whether there is a forwarder; otherwise the only application is attached to the only device.
    pub has_forwarder: bool,
}

/// The faces of every node of `plan`.
pub fn node_faces(plan: &Plan) -> Vec<NodeFaces> {
    let ports = Ports::new(plan);
    let faces = |(index, node): (usize, &NodePlan)| NodeFaces {
        devices: ports.devices[index].clone(),
        has_forwarder: ports.role(index, node) == Role::Router,
    };
    plan.nodes.iter().enumerate().map(faces).collect()
}

fn routes(plan: &Plan, ports: &Ports, prefixes: &[PrefixId], names: &mut NameTable) -> RouteTable {
    let mut edges = vec![Vec::new(); plan.nodes.len()];
    for (index, link) in plan.links.iter().enumerate() {
        for (way, (from, to)) in [(link.a, link.b), (link.b, link.a)].into_iter().enumerate() {
            let face = ports.face[2 * index + way];
            edges[from].push(Edge { to: to as u32, face, cost: link.cost, link: index as u32 });
        }
    }
    let server_face = ports.devices.iter().map(|devices| FaceId(devices.len() as u16)).collect();
    let mut routes = RouteTable::new(edges, plan.links.len(), server_face, plan.next_hops);
    let mut known = BTreeMap::new();
    for (flow, prefix) in plan.flows.iter().zip(prefixes) {
        let producers = flow.producers.iter().map(|producer| *producer as u32).collect();
        routes.serve(*prefix, producers, &mut known);
        if let Some(tcp) = &flow.tcp {
            let data = names.intern_uri(&tcp.data_prefix).expect("prefixes were checked with the plan");
            routes.serve(data, vec![flow.consumer as u32], &mut known);
        }
    }
    routes
}

fn directions(blueprint: &Blueprint<'_>, radios: &[Option<Radio>]) -> Vec<LinkDirection> {
    let Blueprint { plan, ports, delays, seed } = *blueprint;
    let mut directions = Vec::with_capacity(2 * plan.links.len());
    for (index, link) in plan.links.iter().enumerate() {
        let ends = [(link.a, 2 * index), (link.b, 2 * index + 1)]
            .map(|(node, direction)| End { node: node as u32, face: ports.face[direction] });
        for way in 0..2 {
            let mut direction = LinkDirection::new(link, way, ends, delays[index], seed);
            direction.radio = radios[2 * index + way];
            directions.push(direction);
        }
    }
    directions
}

/// Byte source of a sender's application.
fn source(demand: &Demand, mss: ByteCount) -> Source {
    match demand {
        Demand::File { segments } => Source::File(ByteCount::new(mss.get() * u64::from(*segments))),
        Demand::Constant { rate, .. } => Source::Constant(*rate),
        Demand::Endless | Demand::Objects(_) => Source::Endless,
    }
}

fn servers(plan: &Plan, prefixes: &[PrefixId], seed: Seed) -> (Servers, Vec<Processing>) {
    let (mut answerers, mut queues) = (Vec::new(), Vec::new());
    let ends = last_segments(plan, prefixes);
    let mut known = BTreeSet::new();
    for (flow, prefix) in plan.flows.iter().zip(prefixes).filter(|(flow, _)| flow.tcp.is_none()) {
        for node in flow.producers.iter().map(|node| *node as u32) {
            if !known.insert((*prefix, node)) {
                continue;
            }
            let producer = Producer::new(*prefix, flow.payload, flow.freshness, ends[prefix.0 as usize]);
            let processing = flow.processing.map(|service| {
                let name = &plan.nodes[node as usize].name;
                let draws = Rng::stream(seed, &format!("producer/{name}{}/processing", flow.prefix));
                queues.push(Processing { node, server: Server::new(&service, draws) });
                (queues.len() - 1) as u32
            });
            answerers.push(Answerer { node, producer, processing });
        }
    }
    (Servers::of(answerers, ends.len()), queues)
}

/// Last segment of each prefix: that of the longest of its flows; `None` if one of them is not a file.
fn last_segments(plan: &Plan, prefixes: &[PrefixId]) -> Vec<Option<u32>> {
    let count = prefixes.iter().map(|prefix| prefix.0 as usize + 1).max().unwrap_or(0);
    let mut ends = vec![Some(0); count];
    for (flow, prefix) in plan.flows.iter().zip(prefixes) {
        let end = &mut ends[prefix.0 as usize];
        *end = match flow.demand {
            Demand::File { segments } => end.map(|end| end.max(segments - 1)),
            Demand::Endless | Demand::Constant { .. } | Demand::Objects(_) => None,
        };
    }
    ends
}

/// The node with this number, as at the start of a run.
pub(super) fn build_node(blueprint: &Blueprint<'_>, node: usize, names: &mut NameTable) -> SimNode {
    let Blueprint { plan, ports, seed, .. } = *blueprint;
    let planned = &plan.nodes[node];
    let devices: Vec<DeviceSetup> =
        ports.devices[node].iter().map(|direction| device(blueprint, *direction as usize)).collect();
    let disciplines = devices
        .iter()
        .zip(&ports.devices[node])
        .map(|(setup, direction)| link_disciplines(plan, *direction as usize, setup))
        .collect();
    let part_streams = Streams::of(seed).under(&format!("node/{}/", planned.name));
    let setup = NodeSetup::new(NodeId(node as u32), devices, part_streams);
    let parts = node_parts(planned, &setup, disciplines);
    let mut faces = Vec::with_capacity(setup.devices.len() + 1);
    let devices = setup.devices.iter().zip(&ports.devices[node]);
    faces.extend(devices.map(|(device, direction)| face(plan, device, *direction as usize)));
    // One for producers, ends of connections and consumers together.
    faces.push(FaceView::application());
    let queues =
        (0..).map(FaceId).zip(parts.disciplines).map(|(face, list)| Queue::new(face, list)).collect();
    let mut forwarder = forwarder(planned, parts.strategy, seed, names);
    for (face, gates) in (0..).map(FaceId).zip(parts.gates) {
        forwarder.set_gates(face, gates);
    }
    let mut core = Node::new(forwarder, queues, faces);
    parts.agents.into_iter().for_each(|agent| core.add_agent(agent));
    core.set_clock(clock(planned, seed));
    SimNode {
        core,
        role: ports.role(node, planned),
        directions: ports.devices[node].clone(),
        consumers: ports.consumers[node].clone(),
        wake: Time::MAX,
        agent_wake: Time::MAX,
        wakeups: Wakeups::default(),
        is_on: true,
        service: planned.service.map(|service| {
            let draws = Rng::stream(seed, &format!("node/{}/service", planned.name));
            Box::new(Server::new(&service, draws))
        }),
    }
}

/// The forwarder of a node, without gates.
fn forwarder(
    planned: &NodePlan,
    strategy: Box<dyn Strategy>,
    seed: Seed,
    names: &mut NameTable,
) -> Forwarder<Body> {
    let nonces = Rng::stream(seed, &format!("node/{}/nonce", planned.name));
    let streams = Streams::of(seed).under(&format!("node/{}/cache/", planned.name));
    let mut forwarder = Forwarder::new(ForwarderSetup {
        cache: cache_setup(&planned.cache, streams.under("main/")),
        unsolicited: if planned.cache_unsolicited {
            UnsolicitedPolicy::Admit
        } else {
            UnsolicitedPolicy::Drop
        },
        ..ForwarderSetup::new(strategy, nonces)
    });
    for (prefix, strategy) in &planned.prefix_strategies {
        let prefix = names.intern_uri(prefix).expect("prefixes were checked with the plan");
        forwarder.set_strategy(prefix, make_strategy(strategy));
    }
    for (prefix, cache) in &planned.prefix_caches {
        let setup = cache_setup(cache, streams.under(prefix));
        forwarder.set_cache(names.intern_uri(prefix).expect("prefixes were checked with the plan"), setup);
    }
    forwarder
}

/// The clock of a node, which its consumers share.
fn clock(node: &NodePlan, seed: Seed) -> Clock {
    let Some(ClockPlan { period, phase, flush_on_arrival }) = node.clock else { return Clock::FINE };
    let drawn = || {
        let mut draws = Rng::stream(seed, &format!("node/{}/clock", node.name));
        Span::from_secs_f64(period.as_secs_f64() * draws.uniform())
    };
    Clock::coarse(period, phase.unwrap_or_else(drawn), flush_on_arrival)
}

/// Roles of schemes on one node.
struct NodeParts {
    /// Disciplines by device number.
    disciplines: Vec<Vec<Box<dyn QueueDiscipline>>>,
    /// Gates by device number.
    gates: Vec<Vec<Box<dyn FaceGate>>>,
    strategy: Box<dyn Strategy>,
    agents: Vec<Box<dyn RouterAgent>>,
}

/// Creates the roles of a node whose queues have their own `disciplines`.
fn node_parts(
    planned: &NodePlan,
    setup: &NodeSetup,
    disciplines: Vec<Vec<Box<dyn QueueDiscipline>>>,
) -> NodeParts {
    let gates = setup.devices.iter().map(|_| Vec::new()).collect();
    let strategy = make_strategy(&planned.strategy);
    let mut parts = NodeParts { disciplines, gates, strategy, agents: Vec::new() };
    for part in &planned.parts {
        let make = part.scheme.router.expect("the plan gives routers only router schemes");
        let made: RouterParts = make(&part.settings, setup).expect(CHECKED);
        for (face, discipline) in made.disciplines {
            parts.disciplines[face.index()].push(discipline);
        }
        for (face, gate) in made.gates {
            parts.gates[face.index()].push(gate);
        }
        parts.strategy = made.strategy.unwrap_or(parts.strategy);
        parts.agents.extend(made.agent);
    }
    parts
}

fn cache_setup(plan: &CachePlan, streams: Streams) -> CacheSetup {
    let CachePlan { size: capacity, policy, admission } = *plan;
    CacheSetup { capacity, policy, admission, streams, ..CacheSetup::lru(capacity) }
}

fn device(blueprint: &Blueprint<'_>, direction: usize) -> DeviceSetup {
    let Blueprint { plan, ports, delays, seed } = *blueprint;
    let link = &plan.links[direction / 2];
    let way = direction % 2;
    let streams = Streams::of(seed).under(&format!("link/{}/{way}/", link.name));
    let mut device = DeviceSetup::new(ports.face[direction], link.rate[way], link.queue[way].limit, streams);
    device.delay = delays[direction / 2];
    device.neighbour = Some(NodeId([link.b, link.a][way] as u32));
    device
}

fn face(plan: &Plan, device: &DeviceSetup, direction: usize) -> FaceView {
    let face = FaceView::device(device.rate, device.delay, device.limit);
    face.set_incoming_rate(plan.links[direction / 2].rate[1 - direction % 2]);
    face
}

fn link_disciplines(plan: &Plan, direction: usize, setup: &DeviceSetup) -> Vec<Box<dyn QueueDiscipline>> {
    let planned = &plan.links[direction / 2].queue[direction % 2].disciplines;
    let make = |(place, part): (usize, &SchemeUse)| {
        let make = part.scheme.discipline.expect("the plan gives queues only discipline schemes");
        make(&part.settings, &setup.of_discipline(place)).expect(CHECKED)
    };
    planned.iter().enumerate().map(make).collect()
}

fn make_strategy(part: &SchemeUse) -> Box<dyn Strategy> {
    let make = part.scheme.strategy.expect("the plan gives routers only strategy schemes");
    make(&part.settings).expect(CHECKED)
}
