//! A node: one forwarder and the queues of its devices. Drivers pass packets in; a device that is free takes
//! a packet at once, any other finds it in its queue.

use std::collections::VecDeque;

use crate::arena::PacketId;
use crate::clock::Clock;
use crate::context::{Context, Env};
use crate::ndn::face::{FaceId, FaceView};
use crate::ndn::forwarder::{Forwarder, Outbox, Steering};
use crate::ndn::name::Name;
use crate::ndn::packet::{Header, Kind, PacketArena, PitToken};
use crate::observe::event::{Event, EventMask};
use crate::queue::{Queue, QueueDiscipline};
use crate::scheme::control::{Message, RouterAgent};
use crate::units::{ByteCount, Time};

/// A router or host.
#[derive(Debug)]
pub struct Node<B> {
    forwarder: Forwarder<B>,
    queues: Vec<Queue>,
    to_applications: VecDeque<(FaceId, PacketId)>,
    faces: Vec<FaceView>,
    /// Numbers of devices that were removed.
    removed: Vec<FaceId>,
    /// Parts of schemes that exchange messages with the controller.
    agents: Vec<Box<dyn RouterAgent>>,
    clock: Clock,
}

/// A node's devices, as its driver runs them.
pub trait Devices<B> {
    /// Access to one device, during a call.
    type Device<'a>: Device<B>
    where
        Self: 'a;

    /// The device of `face`.
    fn device(&mut self, face: FaceId) -> Self::Device<'_>;

    /// The arena of the packets.
    fn packets(&mut self) -> &mut PacketArena<B>;
}

/// A device of a node.
pub trait Device<B> {
    /// Whether the device can put a packet on the wire now.
    fn is_free(&self) -> bool;

    /// The arena of the packets.
    fn packets(&mut self) -> &mut PacketArena<B>;

    /// Puts a packet of `size` on the wire; the device was free. False when the wire loses it, which ends it.
    fn transmit(&mut self, packet: PacketId, size: ByteCount) -> bool;

    /// The device's queue has something left: [`Node::service`] it when the device is free, and
    /// [`Node::wake_queue`] at `wake`.
    fn needs_service(&mut self, has_packets: bool, wake: Option<Time>);
}

/// Destinations of a node's packets: devices and applications.
struct Egress<'a, D> {
    queues: &'a mut Vec<Queue>,
    devices: &'a mut D,
    to_applications: &'a mut VecDeque<(FaceId, PacketId)>,
    clock: &'a Clock,
}

impl<B: Default, D: Devices<B>> Outbox<B> for Egress<'_, D> {
    #[inline(always)]
    fn packets(&mut self) -> &mut PacketArena<B> {
        self.devices.packets()
    }

    #[inline(always)]
    fn send(&mut self, cx: &mut Context<'_>, face: FaceId, packet: PacketId) {
        match self.queues.get_mut(face.index()) {
            Some(queue) => {
                let device = self.devices.device(face);
                Port { face, queue, device, clock: self.clock }.offer(cx, packet);
            }
            None => self.send_to_application(cx, face, packet),
        }
    }
}

impl<D> Egress<'_, D> {
    #[inline(never)]
    fn send_to_application<B>(&mut self, cx: &mut Context<'_>, face: FaceId, packet: PacketId)
    where
        D: Devices<B>,
    {
        if cx.records(EventMask::PACKETS) {
            record_sent(cx, face, &self.devices.packets()[&packet].header);
        }
        self.to_applications.push_back((face, packet));
    }
}

/// Records a packet that leaves; returns the name by which other events refer to it.
#[cold]
fn record_sent(cx: &mut Context<'_>, face: FaceId, header: &Header) -> Name {
    cx.record(Event::Sent { face: face.0, header: *header });
    header.label()
}

/// A device and its queue.
struct Port<'a, D> {
    face: FaceId,
    queue: &'a mut Queue,
    device: D,
    clock: &'a Clock,
}

impl<D> Port<'_, D> {
    /// Puts a packet on the wire.
    #[inline(always)]
    fn transmit<B>(&mut self, cx: &mut Context<'_>, packet: PacketId, size: ByteCount)
    where
        D: Device<B>,
    {
        let is_recorded = cx.records(EventMask::PACKETS.union(EventMask::LOSSES));
        let label = is_recorded.then(|| record_sent(cx, self.face, &self.device.packets()[&packet].header));
        if !self.device.transmit(packet, size)
            && let Some(name) = label
        {
            cx.record(Event::Lost { face: self.face.0, name });
        }
    }

    /// Passes a packet to the device, around its queue if it is free and nothing waits.
    #[inline(always)]
    fn offer<B: Default>(&mut self, cx: &mut Context<'_>, packet: PacketId)
    where
        D: Device<B>,
    {
        let (view, is_free) = (cx.face(self.face), self.device.is_free());
        if let Some((packet, size)) = self.queue.offer_at(cx, view, self.device.packets(), packet, is_free) {
            self.transmit(cx, packet, size);
        }
        self.request_service(view);
    }

    /// Sends the next packet of the queue; the device is free.
    #[inline(always)]
    fn serve<B: Default>(&mut self, cx: &mut Context<'_>)
    where
        D: Device<B>,
    {
        if let Some((packet, size)) = self.queue.take(cx, self.device.packets()) {
            self.transmit(cx, packet, size);
        }
    }

    #[inline(always)]
    fn request_service<B>(&mut self, view: &FaceView)
    where
        D: Device<B>,
    {
        // A discipline that holds packets back gives the time in `next_wake`; polling the device before would be
        // in vain.
        let has_packets = view.queued_packets() > 0 && !self.queue.is_held_back();
        let wake = self.queue.next_wake().map(|at| self.clock.tick_from(at));
        if has_packets || wake.is_some() {
            self.device.needs_service(has_packets, wake);
        }
    }

    /// Runs what is due in the queue.
    fn wake<B: Default>(&mut self, cx: &mut Context<'_>)
    where
        D: Device<B>,
    {
        self.queue.on_wake(cx, self.device.packets());
        if self.device.is_free() {
            self.serve(cx);
        }
        self.request_service(cx.face(self.face));
    }
}

/// Runs all timers that are due. An arrival takes the place of a tick.
#[cold]
fn run_due<B: Clone + Default, D: Devices<B>>(
    cx: &mut Context<'_>,
    forwarder: &mut Forwarder<B>,
    out: &mut Egress<'_, D>,
) {
    if forwarder.next_wake().is_some_and(|at| at <= cx.now) {
        forwarder.on_wake(cx, out);
    }
    for (face, queue) in (0..).map(FaceId).zip(out.queues.iter_mut()) {
        if queue.next_wake().is_some_and(|at| at <= cx.now) {
            Port { face, queue, device: out.devices.device(face), clock: out.clock }.wake(cx);
        }
    }
}

impl<B: Clone + Default> Node<B> {
    /// A node with `queues[i]` on face `i`; `faces` has the devices first, then the applications. Applications after the
    /// last of `faces` share its view, because nothing of an application's view changes.
    pub fn new(forwarder: Forwarder<B>, queues: Vec<Queue>, faces: Vec<FaceView>) -> Self {
        Self {
            forwarder,
            queues,
            to_applications: VecDeque::new(),
            faces,
            removed: Vec::new(),
            agents: Vec::new(),
            clock: Clock::FINE,
        }
    }

    /// Sets the clock whose ticks run the timers of the node.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// The clock of this node.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Adds a part that exchanges messages with the controller.
    pub fn add_agent(&mut self, agent: Box<dyn RouterAgent>) {
        self.agents.push(agent);
    }

    /// Time of the next wake-up of an agent; `None` for never.
    pub fn agent_wake(&self) -> Option<Time> {
        let due = self.agents.iter().filter_map(|agent| agent.next_wake()).min();
        due.map(|at| self.clock.tick_from(at))
    }

    /// Wakes the agents that are due.
    pub fn wake_agents(&mut self, env: Env<'_>) {
        let mut cx = Context::new(env, &self.faces);
        for agent in &mut self.agents {
            if agent.next_wake().is_some_and(|at| at <= cx.now) {
                agent.on_wake(&mut cx);
            }
        }
    }

    /// Adds a device; returns its number, that of a removed one if there is any. A node whose faces are added
    /// and removed must not have applications without a queue. `None` when every number is taken.
    pub fn attach(&mut self, face: FaceView, queue: impl FnOnce(FaceId) -> Queue) -> Option<FaceId> {
        let place = self.removed.pop().or_else(|| u16::try_from(self.faces.len()).ok().map(FaceId))?;
        let queue = queue(place);
        if place.index() < self.faces.len() {
            self.faces[place.index()] = face;
            self.queues[place.index()] = queue;
        } else {
            self.faces.push(face);
            self.queues.push(queue);
        }
        Some(place)
    }

    /// Removes a device with everything in its queue and at its gates; returns the number of packets dropped.
    pub fn detach(&mut self, env: Env<'_>, packets: &mut PacketArena<B>, face: FaceId) -> u64 {
        let mut cx = Context::new(env, &self.faces);
        let now = cx.now;
        let dropped = self.forwarder.clear_held(&mut cx, packets, face)
            + self.queues[face.index()].clear(&mut cx, packets);
        // After `clear_queue`, which counts what the gates hold; `remove_face` removes the gates.
        self.forwarder.remove_face(packets, face, now);
        self.faces[face.index()].set_up(false);
        self.removed.push(face);
        dropped
    }

    /// Calls `each` with every name that the node holds, and the token that is stored with it.
    pub fn visit_names(&self, packets: &PacketArena<B>, each: &mut dyn FnMut(Name, PitToken)) {
        self.forwarder.visit_names(packets, each);
        for header in self.queues.iter().flat_map(|queue| queue.headers(packets)) {
            each(header.name, header.token());
        }
    }

    /// The forwarder of this node.
    pub fn forwarder(&self) -> &Forwarder<B> {
        &self.forwarder
    }

    /// The forwarder of this node, to change it.
    pub fn forwarder_mut(&mut self) -> &mut Forwarder<B> {
        &mut self.forwarder
    }

    /// The faces, devices first.
    pub fn faces(&self) -> &[FaceView] {
        &self.faces
    }

    /// The queue of the device `face`.
    pub fn queue(&self, face: FaceId) -> &Queue {
        &self.queues[face.index()]
    }

    /// Changes one discipline in the queue of a device, as [`Queue::set_discipline`].
    pub fn set_discipline(
        &mut self,
        face: FaceId,
        place: usize,
        discipline: Box<dyn QueueDiscipline>,
    ) -> usize {
        self.queues[face.index()].set_discipline(place, discipline)
    }

    /// Calls `part` with this node's surroundings.
    #[inline]
    pub fn with_context<T>(&self, env: Env<'_>, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        part(&mut Context::new(env, &self.faces))
    }

    /// A packet arrived through `from` and goes through the forwarder.
    #[inline(always)]
    pub fn receive(&mut self, env: Env<'_>, from: FaceId, packet: PacketId, devices: &mut impl Devices<B>) {
        let is_flush = self.is_flush(devices.packets(), &packet);
        let Self { forwarder, queues, to_applications, faces, clock, .. } = self;
        let mut cx = Context::new(env, faces);
        if cx.records(EventMask::PACKETS) {
            cx.record(Event::Received { face: from.0, header: devices.packets()[&packet].header });
        }
        let out = &mut Egress { queues, devices, to_applications, clock };
        forwarder.receive(&mut cx, from, packet, out);
        if is_flush {
            run_due(&mut cx, forwarder, out);
        }
    }

    /// Whether the arrival of a packet runs the timers of the node.
    #[inline(always)]
    fn is_flush(&self, packets: &PacketArena<B>, packet: &PacketId) -> bool {
        self.clock.flushes_on_arrival() && !matches!(packets[packet].header.kind, Kind::Interest(_))
    }

    /// As [`receive`](Self::receive), for a packet that requests more than its name does.
    pub fn receive_steered(
        &mut self,
        env: Env<'_>,
        from: FaceId,
        (packet, steering): (PacketId, Steering),
        devices: &mut impl Devices<B>,
    ) {
        let is_flush = self.is_flush(devices.packets(), &packet);
        let Self { forwarder, queues, to_applications, faces, clock, .. } = self;
        let mut cx = Context::new(env, faces);
        if cx.records(EventMask::PACKETS) {
            cx.record(Event::Received { face: from.0, header: devices.packets()[&packet].header });
        }
        let out = &mut Egress { queues, devices, to_applications, clock };
        forwarder.receive_steered(&mut cx, from, packet, steering, out);
        if is_flush {
            run_due(&mut cx, forwarder, out);
        }
    }

    /// Passes a packet to the device `face` without the forwarder (a host's only application).
    #[inline]
    pub fn send(&mut self, env: Env<'_>, face: FaceId, packet: PacketId, devices: &mut impl Devices<B>) {
        let mut packet = Some(packet);
        self.send_all(env, face, devices, |_, _| packet.take());
    }

    /// Passes packets to the device `face` without the forwarder until `poll` has no further one.
    #[inline(always)]
    pub fn send_all(
        &mut self,
        env: Env<'_>,
        face: FaceId,
        devices: &mut impl Devices<B>,
        mut poll: impl FnMut(&mut Context<'_>, &mut PacketArena<B>) -> Option<PacketId>,
    ) {
        let mut cx = Context::new(env, &self.faces);
        let (queue, device) = (&mut self.queues[face.index()], devices.device(face));
        let mut port = Port { face, queue, device, clock: &self.clock };
        while let Some(packet) = poll(&mut cx, port.device.packets()) {
            port.offer(&mut cx, packet);
        }
    }

    /// The device `face` became free: it gets the next packet of its queue.
    #[inline]
    pub fn service(&mut self, env: Env<'_>, face: FaceId, devices: &mut impl Devices<B>) {
        let mut cx = Context::new(env, &self.faces);
        let (queue, device) = (&mut self.queues[face.index()], devices.device(face));
        let mut port = Port { face, queue, device, clock: &self.clock };
        port.serve(&mut cx);
        port.request_service(cx.face(face));
    }

    /// Whether a packet for an application waits for [`poll_application`](Self::poll_application).
    #[inline]
    pub fn has_for_applications(&self) -> bool {
        !self.to_applications.is_empty()
    }

    /// The next packet for an application, and its face.
    #[inline]
    pub fn poll_application(&mut self) -> Option<(FaceId, PacketId)> {
        self.to_applications.pop_front()
    }

    /// Time of the next wake-up of the forwarder; `None` for never.
    #[inline]
    pub fn forwarder_wake(&self) -> Option<Time> {
        self.forwarder.next_wake().map(|at| self.clock.tick_from(at))
    }

    /// The same if it is before `limit`: most packets bring no wake-up forward.
    #[inline(always)]
    pub fn forwarder_wake_before(&self, limit: Time) -> Option<Time> {
        // Compared before it is rounded up to a tick, which costs more.
        let due = self.forwarder.next_wake().filter(|due| *due < limit)?;
        Some(self.clock.tick_from(due)).filter(|tick| *tick < limit)
    }

    /// Runs what is due in the forwarder and its gates.
    pub fn wake_forwarder(&mut self, env: Env<'_>, devices: &mut impl Devices<B>) {
        let Self { forwarder, queues, to_applications, faces, clock, .. } = self;
        let mut cx = Context::new(env, faces);
        forwarder.on_wake(&mut cx, &mut Egress { queues, devices, to_applications, clock });
    }

    /// Ends the oldest pending Interests of the faces that have the most, until `len` are left. Faces without a part in the
    /// PIT's shares keep theirs.
    pub fn shorten_pit(&mut self, env: Env<'_>, packets: &mut PacketArena<B>, len: usize) {
        self.forwarder.shorten_pit(&mut Context::new(env, &self.faces), packets, len);
    }

    /// Passes a directive of the controller to every part of the node.
    pub fn on_directive(&mut self, env: Env<'_>, directive: &dyn Message, devices: &mut impl Devices<B>) {
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.on_directive(&mut cx, directive);
        for (face, queue) in (0..).map(FaceId).zip(&mut self.queues) {
            queue.on_directive(&mut cx, devices.packets(), directive);
            let device = devices.device(face);
            Port { face, queue, device, clock: &self.clock }.request_service(cx.face(face));
        }
        for agent in &mut self.agents {
            agent.on_directive(&mut cx, directive);
        }
    }

    /// Runs what is due in the queue of the device `face`.
    pub fn wake_queue(&mut self, env: Env<'_>, face: FaceId, devices: &mut impl Devices<B>) {
        let mut cx = Context::new(env, &self.faces);
        let (queue, device) = (&mut self.queues[face.index()], devices.device(face));
        Port { face, queue, device, clock: &self.clock }.wake(&mut cx);
    }

    /// Restarts the node: waiting packets are dropped, pending Interests end, content store and routes are
    /// empty, and all parts of schemes are those of `fresh` in their initial state. Faces, applications and
    /// counters stay. Returns the number of packets dropped.
    pub fn restart(&mut self, env: Env<'_>, packets: &mut PacketArena<B>, fresh: Self) -> u64 {
        let Self { forwarder, queues, faces, agents, .. } = self;
        let mut cx = Context::new(env, faces);
        let mut dropped = forwarder.restart(&mut cx, packets, fresh.forwarder);
        for (queue, anew) in queues.iter_mut().zip(fresh.queues) {
            dropped += queue.restart(&mut cx, packets, anew);
        }
        *agents = fresh.agents;
        dropped
    }

    /// Drops everything in the queue of the device `face` and at its gates; returns the number of packets.
    pub fn clear_queue(&mut self, env: Env<'_>, packets: &mut PacketArena<B>, face: FaceId) -> u64 {
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.clear_held(&mut cx, packets, face) + self.queues[face.index()].clear(&mut cx, packets)
    }
}
