//! The live forwarder: core's node with sockets, in one thread or in several. All decisions about packets are core's.

pub mod config;
mod descriptors;
mod face;
mod faces;
mod flows;
mod local_fields;
pub mod management;
mod memory;
mod metrics;
mod places;
mod pressure;
mod protection;
mod reconnect;
mod reload;
mod rib;
mod shaper;
mod sources;
mod start;
pub mod status;
mod steering;
mod strategies;
mod stream_marking;
mod timers;
mod workers;

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use tidegate_core::context::{Env, NoSink, Present};
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::node::{Device, Devices, Node};
use tidegate_core::ndn::packet::{Kind, Millis, Packet, PacketArena};
use tidegate_core::rng::{Rng, Streams};
use tidegate_core::units::{ByteCount, Span, Time};

use crate::clock::MonotonicClock;
use crate::link_service::{LinkContext, LocalFields};
use crate::listen::StreamListener;
use crate::nfd::PacketCounts;
use crate::poll::{Poll, Ready, SocketInterest as Watch};
use crate::reception::Reception;
use crate::tokens::TokenTable;
use crate::transport::Transport;
use crate::udp::{Received, UdpListener, UdpPath};
use config::ForwarderConfig;
use face::{Face, Line, Origin, Wires};
use faces::Configured;
use metrics::{MetricsServer, Progress};
use places::Places;
use rib::Rib;
use strategies::Strategies;
use timers::{Due, Timers};
use workers::Workers;

pub use reload::PeerAddresses;
pub use start::{StartError, check_surroundings};

/// The forwarder's own management.
const MANAGEMENT: FaceId = FaceId(0);

/// Interval between two checks for silent faces, expired routes and lost connections.
const HOUSEKEEPING: Span = Span::from_secs(1);

/// Number of names that a turn examines while unused ones are removed.
const SWEEP_STEP: usize = 2_048;

/// A forwarder with its sockets open.
#[derive(Debug)]
pub struct Daemon {
    clock: MonotonicClock,
    /// Time of the start, Unix milliseconds.
    started_ms: u64,
    now: Time,
    /// The same, for calls at the node.
    present: Present<NoSink>,
    poll: Poll,
    ready: Vec<Ready>,
    memory: Reception,
    frames: Vec<Bytes>,
    node: Node<Bytes>,
    packets: PacketArena<Bytes>,
    names: NameTable,
    tokens: TokenTable,
    nonces: Rng,
    /// Random streams of the roles of faces.
    streams: Streams,
    faces: Vec<Option<Face>>,
    /// Number of the next face in management.
    next_number: u64,
    /// Faces of UDP peers, by the listener that received their first datagram.
    peers: BTreeMap<(usize, UdpPath), FaceId>,
    places: Places,
    memory_bound: memory::MemoryBound,
    /// Faces with frames to send.
    dirty: Vec<FaceId>,
    /// Faces at which packets of the turn's last call had to wait.
    met: Vec<FaceId>,
    /// Faces whose Interests were read in this turn, and the face on which each was queued.
    requested: Vec<(FaceId, FaceId)>,
    /// State that the queues of all streams share.
    shared: Rc<pressure::Shared>,
    timers: Timers,
    listeners: Listeners,
    metrics: Option<MetricsServer>,
    rib: Rib,
    strategies: Strategies,
    config: ForwarderConfig,
    /// Maximum lifetime of an Interest here.
    lifetime: Millis,
    configured: Vec<Configured>,
    /// Commands that await a connection.
    creations: Vec<management::creation::Creation>,
    /// Commands that wait for certificates.
    key_fetches: Vec<management::key_fetch::KeyFetch>,
    /// Answers to requests for certificates, with the faces on which they arrived.
    certificates: Vec<(Packet<Bytes>, FaceId)>,
    datasets: management::Datasets,
    face_events: management::FaceEvents,
    authority: management::Authority,
    known_keys: management::KnownKeys,
    budgets: management::CommandBudgets,
    incoming: local_fields::IncomingFaces,
    flows: flows::FlowTable,
    counters: DaemonCounters,
    /// The other threads of the forwarder; `None` if there is one.
    workers: Option<Box<Workers>>,
}

/// Counters of the forwarder, except those of its faces and tables.
#[derive(Clone, Copy, Debug, Default)]
struct DaemonCounters {
    /// Number of peers that got no face because there are too many.
    faces_refused: u64,
    /// Number of Interests for which a full PIT had no place, as far as they were logged.
    unplaced_logged: u64,
    /// Number of packets under `/localhost` from other machines.
    out_of_scope: u64,
    /// Number of sweeps of the name table.
    sweeps: u64,
    /// Malformed input of closed faces, including streams that could not be parsed further.
    malformed: u64,
    /// Oversized datagrams of closed faces.
    oversized: u64,
    /// Packets received from closed faces.
    received: PacketCounts,
    /// Packets sent to closed faces.
    sent: PacketCounts,
}

/// Sockets at which new peers arrive.
#[derive(Debug, Default)]
struct Listeners {
    udp: Vec<UdpListener>,
    streams: Vec<StreamListener>,
}

/// Sources of poll events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Watched {
    Stop,
    UdpListener(usize),
    StreamListener(usize),
    MetricsListener,
    /// Number of a connection to the metrics.
    MetricsPeer(usize),
    /// What other threads wake this one with.
    Waker,
    Face(FaceId, u64),
}

impl Watched {
    /// Faces have numbers from 1 on; below that the low bits identify the source.
    fn token(self) -> u64 {
        match self {
            Self::Stop => 0,
            Self::UdpListener(index) => 1 << 8 | index as u64,
            Self::StreamListener(index) => 2 << 8 | index as u64,
            Self::MetricsListener => 3 << 8,
            Self::MetricsPeer(index) => 4 << 8 | index as u64,
            Self::Waker => 5 << 8,
            Self::Face(face, number) => number << 16 | u64::from(face.0),
        }
    }

    fn of(token: u64) -> Self {
        let index = (token & 0xFF) as usize;
        match (token >> 16, token >> 8) {
            (0, 0) => Self::Stop,
            (0, 1) => Self::UdpListener(index),
            (0, 2) => Self::StreamListener(index),
            (0, 3) => Self::MetricsListener,
            (0, 4) => Self::MetricsPeer(index),
            (0, _) => Self::Waker,
            (number, _) => Self::Face(FaceId(token as u16), number),
        }
    }
}

/// What is around the node, for a call; a macro, because the borrows of the fields must stay apart.
macro_rules! surroundings {
    ($daemon:expr) => {
        Env::new(&$daemon.names, &mut $daemon.present)
    };
}

/// The devices, from fields that nothing else borrows.
macro_rules! wires {
    ($daemon:expr) => {
        &mut Wires {
            now: $daemon.now,
            packets: &mut $daemon.packets,
            faces: &mut $daemon.faces,
            names: &$daemon.names,
            tokens: &$daemon.tokens,
            incoming: &$daemon.incoming,
            flows: &mut $daemon.flows,
            timers: &mut $daemon.timers,
            dirty: &mut $daemon.dirty,
            met: &mut $daemon.met,
            workers: &mut $daemon.workers,
        }
    };
}
/// The RIB, and the tables that its changes concern.
macro_rules! routes {
    ($daemon:expr) => {
        (
            &mut $daemon.rib,
            $crate::daemon::rib::RouteTables {
                names: &$daemon.names,
                fib: $daemon.node.forwarder_mut().fib_mut(),
                workers: $daemon.workers.as_deref_mut(),
            },
        )
    };
}
use {routes, surroundings, wires};

impl Daemon {
    /// Forwards until `stop` can be read from. A further call goes on; faces are closed when this is dropped.
    ///
    /// # Errors
    /// When the system refuses to wait for sockets.
    pub fn run(&mut self, stop: &impl std::os::fd::AsFd) -> io::Result<()> {
        self.poll.register(stop, Watched::Stop.token(), Watch::Read)?;
        while self.turn()? {}
        self.collect_reports();
        self.poll.deregister(stop)
    }

    /// Sets the time of what is handled from now on.
    fn read_clock(&mut self) {
        self.now = self.clock.now();
        self.present.now = self.now;
    }

    /// Waits once and handles all events; returns `false` after a request to stop.
    fn turn(&mut self) -> io::Result<bool> {
        self.ready.clear();
        let until = self.until_next_event();
        self.ready.extend_from_slice(self.poll.wait(until, &self.clock)?);
        // One reading per turn: all packets of a turn carry one time, as all events of an instant do in the
        // simulator.
        self.read_clock();
        let may_read = self.begin_turn_of_worker();
        for index in 0..self.ready.len() {
            let Ready { token, is_readable, is_writable } = self.ready[index];
            match Watched::of(token) {
                Watched::Stop => return Ok(false),
                Watched::UdpListener(index) if may_read => self.accept_udp_peers(index),
                Watched::UdpListener(_) => {}
                Watched::StreamListener(index) => self.accept(index),
                Watched::MetricsListener => self.accept_scrapers(),
                Watched::MetricsPeer(place) => self.serve_scraper(place),
                // What it announces is taken after the sockets.
                Watched::Waker => {}
                Watched::Face(face, number) if self.has_face(face, number) => {
                    if !self.is_connected(face) {
                        continue;
                    }
                    // Written first: the packets that are read next then find room.
                    if is_writable {
                        self.flush_face(face);
                    }
                    if is_readable && may_read {
                        self.read(face);
                    }
                }
                // The face was closed in this turn, after its event had been read.
                Watched::Face(..) => {}
            }
        }
        if self.workers.is_some() {
            self.take_crossings();
        }
        self.run_due_timers();
        self.answer_management();
        if !self.creations.is_empty() {
            self.answer_creations();
        }
        self.flush();
        // After the flush, in which transports may fail.
        if self.publish_face_events() {
            self.flush();
        }
        // Back-pressure is decided once the sockets have taken what they could.
        self.hold_back();
        self.forget_names();
        self.bound_memory();
        self.end_turn_of_worker()
    }

    /// Accepts the connections that wait at the metrics.
    #[cold]
    fn accept_scrapers(&mut self) {
        let Some(metrics) = &mut self.metrics else { return };
        let outcome = loop {
            match metrics.accept(self.now) {
                Ok(Some(place)) => {
                    let token = Watched::MetricsPeer(place).token();
                    // Without events it stays until its deadline.
                    let _ =
                        metrics.socket(place).map(|socket| self.poll.register(socket, token, Watch::Read));
                }
                outcome => break outcome.map(|_| ()),
            }
        };
        if outcome.is_err() {
            // Polling would report the pending connection forever.
            self.watch_metrics(Watch::Write);
        }
    }

    /// Watches the listener of the metrics for connections, or for no events.
    fn watch_metrics(&self, what: Watch) {
        if let Some(metrics) = &self.metrics {
            // It was registered with this token and stays so.
            let _ = self.poll.modify(metrics.listener(), Watched::MetricsListener.token(), what);
        }
    }

    /// Handles an event of a connection to the metrics.
    #[cold]
    fn serve_scraper(&mut self, place: usize) {
        // Apart from the daemon, whose status is requested meanwhile.
        let Some(mut metrics) = self.metrics.take() else { return };
        if metrics.on_event(place, || self.status()) == Progress::Sends
            && let Some(socket) = metrics.socket(place)
        {
            // If it is refused, the deadline ends the connection.
            let _ = self.poll.modify(socket, Watched::MetricsPeer(place).token(), Watch::Write);
        }
        self.metrics = Some(metrics);
    }

    fn has_face(&self, face: FaceId, number: u64) -> bool {
        let found = self.faces.get(face.index()).and_then(Option::as_ref);
        found.is_some_and(|found| found.number == number)
    }

    /// Takes one batch of frames from a socket; the poll set reports further ones.
    fn read(&mut self, id: FaceId) {
        let Some(Face { line: Line::Socket { transport, .. }, .. }) = &mut self.faces[id.index()] else {
            return;
        };
        let frames = &mut self.frames;
        let outcome = transport.receive(&mut self.memory, |frame| frames.push(frame));
        if matches!(transport, Transport::WebSocket(_)) {
            self.set_scope_of_page(id);
        }
        self.take_frames(id);
        match outcome {
            Ok(Received::More | Received::Drained) => {}
            Ok(Received::Closed) => self.on_transport_failure(id),
            Err(why) => {
                self.counters.malformed += u64::from(why.kind() == io::ErrorKind::InvalidData);
                self.on_transport_failure(id);
            }
        }
    }

    /// Sets whether the face is local: its handshake, which has been read by now, shows whose page it serves.
    fn set_scope_of_page(&mut self, id: FaceId) {
        if let Some(Face { line: Line::Socket { transport, .. }, .. }) = &self.faces[id.index()] {
            self.node.faces()[id.index()].set_local(self.is_local(transport));
        }
    }

    /// Processes the received frames, which are from face `id`.
    fn take_frames(&mut self, id: FaceId) {
        if self.workers.is_some() {
            // A route that was registered before the frames were sent has to be there.
            self.take_messages();
        }
        // Only an accepted connection is held back; a configured link to another forwarder carries the
        // traffic of many.
        let can_be_held = self.faces[id.index()].as_ref().is_some_and(|face| face.origin == Origin::Accepted);
        self.shared.set_source(can_be_held);
        self.met.clear();
        let mut frames = std::mem::take(&mut self.frames);
        let mut has_requested = false;
        for frame in frames.drain(..) {
            has_requested |= self.take_frame(id, frame);
        }
        // The list keeps its memory for the next turn.
        self.frames = frames;
        if has_requested && can_be_held {
            self.note_requester(id);
        }
        self.schedule_forwarder_timer();
    }

    /// Processes one frame; returns whether it was an Interest that was forwarded.
    #[inline]
    fn take_frame(&mut self, id: FaceId, frame: Bytes) -> bool {
        let Some(face) = &mut self.faces[id.index()] else { return false };
        face.received_at = self.now;
        if self.workers.is_some() {
            return self.take_frame_among_workers(id, frame);
        }
        let Line::Socket { link, .. } = &mut face.line else { return false };
        let mut context = LinkContext {
            now: self.now,
            names: &mut self.names,
            tokens: &mut self.tokens,
            nonces: &mut self.nonces,
        };
        let received = link.receive(frame, &mut context);
        let fields = link.local_fields();
        self.serve_link(id);
        let (Some(packet), Some(face)) = (received, &mut self.faces[id.index()]) else { return false };
        face::count(&mut face.received, &packet.header.kind);
        self.node.faces()[id.index()].count_received(packet.header.size());
        self.process(id, packet, fields)
    }

    /// Passes a packet of face `id` to the node; returns whether it was an Interest that was forwarded.
    #[inline(always)]
    fn process(&mut self, id: FaceId, mut packet: Packet<Bytes>, fields: LocalFields) -> bool {
        let Some(face) = &self.faces[id.index()] else { return false };
        self.incoming.record(&packet.header, face.number);
        let mut is_interest = false;
        if let Kind::Interest(interest) = &mut packet.header.kind {
            // Bounds the time for which a peer can occupy the PIT.
            interest.lifetime = interest.lifetime.min(self.lifetime);
            is_interest = true;
        }
        if is_interest {
            self.flows.record(&packet, self.now);
        }
        // One station of several refuses nothing for the others (NFD).
        if matches!(packet.header.kind, Kind::Nack(_)) && face.line.is_multi_access() {
            return false;
        }
        if !self.node.faces()[id.index()].is_local() && self.is_localhost(&packet) {
            self.counters.out_of_scope += 1;
            return false;
        }
        let Ok(steering) = self.steering_of(id, &mut packet, fields) else {
            self.counters.malformed += 1;
            return false;
        };
        let met = self.met.len();
        let awaits_certificates = !is_interest && !self.key_fetches.is_empty();
        match steering {
            None => self.receive(id, packet),
            Some(steering) => {
                let packet = self.packets.insert(packet);
                self.node.receive_steered(surroundings!(self), id, (packet, steering), wires!(self));
            }
        }
        if awaits_certificates {
            self.note_certificate(id);
        }
        // Only Interests cause further Data on the streams that they met.
        if !is_interest {
            self.met.truncate(met);
        }
        is_interest
    }

    #[inline]
    fn receive(&mut self, id: FaceId, packet: Packet<Bytes>) {
        let packet = self.packets.insert(packet);
        self.node.receive(surroundings!(self), id, packet, wires!(self));
    }

    /// Whether a packet's name is under `/localhost`, which never leaves a machine (NFD).
    fn is_localhost(&self, packet: &Packet<Bytes>) -> bool {
        self.names.first_component(packet.header.name.prefix) == Some((8, b"localhost"))
    }

    fn schedule_forwarder_timer(&mut self) {
        if let Some(wake) = self.node.forwarder_wake() {
            self.timers.set(wake, Due::Forwarder);
        }
    }

    /// Runs the actions of all timers that are due.
    fn run_due_timers(&mut self) {
        while let Some((at, due)) = self.timers.take(self.now) {
            match due {
                Due::Send(id) => self.on_shaper_timer(id),
                Due::Queue(id) => self.on_queue_timer(id, at),
                Due::Link(id) => self.on_link_timer(id),
                Due::Pressure(id) => self.on_pressure_timer(id),
                Due::Certificates => self.serve_key_fetches(),
                Due::Forwarder => {
                    self.node.wake_forwarder(surroundings!(self), wires!(self));
                    self.schedule_forwarder_timer();
                }
                Due::Housekeeping => self.housekeeping(),
            }
        }
    }

    fn on_shaper_timer(&mut self, id: FaceId) {
        if let Some(face) = &mut self.faces[id.index()] {
            face.is_armed = false;
            self.serve(id);
        }
    }

    fn on_queue_timer(&mut self, id: FaceId, at: Time) {
        if self.faces[id.index()].as_mut().is_some_and(|face| face.takes_queue_timer(at)) {
            self.node.wake_queue(surroundings!(self), id, wires!(self));
        }
    }

    fn on_link_timer(&mut self, id: FaceId) {
        if let Some(face) = &mut self.faces[id.index()] {
            face.wake_link(self.now);
            self.serve_link(id);
        }
    }

    /// Sends what the link layer of a face has to send on its own.
    #[inline]
    fn serve_link(&mut self, id: FaceId) {
        let Some(face) = &mut self.faces[id.index()] else { return };
        if face.serve_link(self.now) {
            self.dirty.push(id);
        }
        if let Some(wake) = face.arm_link() {
            self.timers.set(wake, Due::Link(id));
        }
    }

    /// Sends packets from the queue of a face as far as its device accepts them.
    fn serve(&mut self, id: FaceId) {
        let wires: &mut Wires<'_> = wires!(self);
        wires.set_serving(id, true);
        let mut waiting = self.node.faces()[id.index()].queued_packets();
        while waiting > 0 && wires.device(id).is_free() {
            self.node.service(surroundings!(self), id, wires);
            let left = self.node.faces()[id.index()].queued_packets();
            // A scheduler may postpone all packets.
            if left == waiting {
                break;
            }
            waiting = left;
        }
        wires.set_serving(id, false);
        if waiting > 0 {
            wires.device(id).needs_service(true, None);
        }
    }

    /// Sends the frames collected for each face, then further packets of its queue, until sockets are full.
    fn flush(&mut self) {
        while let Some(id) = self.dirty.pop() {
            self.flush_face(id);
        }
    }

    fn flush_face(&mut self, id: FaceId) {
        let Some(face) = &mut self.faces[id.index()] else { return };
        // A socket that fails has lost its peer.
        let Ok(has_room) = face.flush(self.now) else { return self.on_transport_failure(id) };
        let view = &self.node.faces()[id.index()];
        let has_queue = view.queued_packets() > 0;
        // The backlog is reset once nothing waits: a stale one would cause marks forever.
        let is_backlogged = has_queue || !has_room;
        view.set_below(if is_backlogged { face.below() } else { ByteCount::ZERO });
        // Recursion over `dirty`: packets that leave the queue now are flushed by the same loop.
        if has_room && has_queue {
            self.serve(id);
        }
        self.update_watch(id);
        self.relieve(id);
        // What follows from frames that the system refused.
        self.serve_link(id);
    }

    /// Removes unused names and tokens when there are many, names a few in each turn.
    fn forget_names(&mut self) {
        if self.names.is_sweeping() {
            self.continue_sweep(SWEEP_STEP);
        } else if self.names.needs_sweep() || self.tokens.needs_sweep() {
            self.begin_sweep();
        }
    }

    /// Removes some of the unused names.
    fn continue_sweep(&mut self, count: usize) {
        if self.names.sweep_step(count) {
            // The FIB caches lookups by the number of a name, and the sweep frees numbers for reuse.
            self.node.forwarder_mut().fib_mut().forget();
            self.counters.sweeps += 1;
        }
    }

    /// Marks names in use, and removes unused tokens.
    fn begin_sweep(&mut self) {
        let (mut prefixes, mut tokens) = (Vec::new(), Vec::new());
        let mut note = |name: tidegate_core::ndn::name::Name, token: tidegate_core::ndn::packet::PitToken| {
            prefixes.push(name.prefix);
            tokens.push(token);
        };
        self.node.visit_names(&self.packets, &mut note);
        for face in self.faces.iter().flatten() {
            if let Line::Internal(waiting) = &face.line {
                waiting.iter().for_each(|packet| note(packet.header.name, packet.header.token()));
            }
        }
        prefixes.extend(self.rib.prefixes());
        self.incoming.forget();
        self.names.begin_sweep(prefixes.into_iter());
        self.tokens.sweep(tokens.into_iter());
    }
}
