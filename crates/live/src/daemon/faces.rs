//! Creation and removal of faces.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use tidegate_core::context::Env;
use tidegate_core::link::service::LinkService;
use tidegate_core::ndn::face::{FaceId, FaceView, NodeId};
use tidegate_core::ndn::gate::FaceGate;
use tidegate_core::queue::{Queue, QueueDiscipline};
use tidegate_core::scheme::params::{ParamError, Reader, Settings};
use tidegate_core::scheme::{DeviceSetup, NodeSetup};
use tidegate_core::units::{ByteCount, Span, Time};
use tidegate_wire::FrameBatch;

use super::config::FaceConfig;
use super::face::{Face, FaceMarking, FacePersistency, FaceSetup, Line, Origin};
use super::places::{Newcomer, PeerNetwork};
use super::pressure::{self, MemoryGuard, Pressure};
use super::shaper::FaceShaper;
use super::start::{StartError, UNLIMITED};
use super::stream_marking::StreamMarking;
use super::timers::Due;
use super::{Daemon, HOUSEKEEPING, Watch, Watched, routes, surroundings};
use crate::link_service::{GenericLinkService, MtuPlan};
use crate::nfd::FaceEventKind;
use crate::transport::Transport;
use crate::udp::{UdpFace, UdpListener, UdpPath};
use crate::uri::FaceUri;

/// A face of the configuration.
#[derive(Debug)]
pub(super) struct Configured {
    /// Address of the peer; a host name is resolved once, at the start.
    pub uri: FaceUri,
    /// Network interface of a multicast or Ethernet face.
    pub interface: Option<String>,
    /// The face; `None` while it is not connected.
    pub face: Option<FaceId>,
    /// Whether a command destroyed the face, which then is not made again.
    pub is_destroyed: bool,
    /// Whether its network is not there yet, which was logged.
    pub is_awaited: bool,
}

/// Maximum number of connections accepted in one turn.
const ACCEPTED_AT_ONCE: usize = 64;

/// Number of Unix connections accepted beyond the maximum of faces, so that the forwarder can be managed
/// when peers from other machines have taken them all.
pub(super) const RESERVED: usize = 16;

/// Interval of NFD's congestion marking unless configured.
pub(super) const DEFAULT_MARKING_INTERVAL: Span = Span::from_millis(100);

/// Threshold of NFD's congestion marking unless configured.
pub(super) const DEFAULT_MARKING_THRESHOLD: ByteCount = ByteCount::new(65_536);

/// Reason why a face was not made.
#[derive(Debug, thiserror::Error)]
pub(super) enum AttachError {
    #[error("all face numbers are in use")]
    TooMany,
    #[error("{0}")]
    Part(String),
    #[error(transparent)]
    System(std::io::Error),
}

impl Daemon {
    /// Makes a face over `line` with its queue.
    pub(super) fn attach(
        &mut self,
        line: Line,
        origin: Origin,
        settings: &FaceConfig,
        is_local: bool,
    ) -> Result<FaceId, AttachError> {
        let is_far = matches!(line, Line::Far(_));
        let rate = settings.rate.filter(|_| origin != Origin::Internal && !is_far);
        let is_ruling = pressure::rules(&line, settings);
        let is_guarded = pressure::is_guarded(&line, settings);
        let limit = if is_guarded { pressure::STREAM_LIMIT } else { settings.queue.limit };
        let view = match is_local {
            true => FaceView::local_device(rate.unwrap_or(UNLIMITED), limit),
            false => FaceView::device(rate.unwrap_or(UNLIMITED), Span::ZERO, limit),
        };
        let (mut fault, mut gates) = (None, Vec::new());
        let streams = self.streams.under(&format!("face/{}/", self.next_number));
        let shared = Rc::clone(&self.shared);
        let made = self.node.attach(view, |face| {
            let rate = rate.unwrap_or(UNLIMITED);
            let device = DeviceSetup::new(face, rate, limit, streams);
            // The packets of a face of another worker wait there, where the disciplines are.
            let parts = if is_far { Ok(FaceParts::default()) } else { parts(settings, device) };
            let parts = parts.unwrap_or_else(|why| {
                fault = Some(why);
                FaceParts::default()
            });
            gates = parts.gates;
            let mut disciplines = parts.disciplines;
            if is_guarded {
                add_stream_rules(&mut disciplines, marking(settings).map(|(_, place)| place), &shared);
            }
            Queue::new(face, disciplines)
        });
        let id = made.ok_or(AttachError::TooMany)?;
        // The internal face has no gates: management must not be delayed.
        if origin != Origin::Internal {
            self.node.forwarder_mut().set_gates(id, gates);
        }
        if let (false, Some(peer)) = (is_local, peer_of(&line)) {
            self.node.forwarder_mut().put_into_share(id, peer.share());
        }
        let number = self.next_number;
        self.next_number += 1;
        let watched = Watched::Face(id, number);
        let outcome = match (&line, fault) {
            (_, Some(why)) => Err(AttachError::Part(why)),
            (Line::Socket { transport, .. }, None) => {
                self.poll.register(transport, watched.token(), Watch::Read).map_err(AttachError::System)
            }
            (Line::Internal(_) | Line::Far(_), None) => Ok(()),
        };
        if let Err(why) = outcome {
            self.node.detach(surroundings!(self), &mut self.packets, id);
            return Err(why);
        }
        let (shaper, pressure) = (FaceShaper::new(rate), Pressure::new(is_ruling));
        let (marking, place) = marking(settings).unzip();
        // Behind the guard of the memory, if there is one.
        let marking_place = place.map(|place: usize| place + usize::from(is_guarded));
        // NFD's marking, which every queue has by default, reads none.
        let reads_names = settings.queue.disciplines.iter().any(|part| part.scheme.name != "nfd-marking");
        let setup = FaceSetup { number, origin, line, shaper, pressure, marking, marking_place, reads_names };
        let face = Face::new(setup, self.now);
        // Numbers of removed faces are used again, so the list grows only for a new number.
        if id.index() == self.faces.len() {
            self.faces.push(None);
        }
        self.faces[id.index()] = Some(face);
        self.record_face_event(id, FaceEventKind::Created);
        self.schedule_forwarder_timer();
        Ok(id)
    }

    pub(super) fn attach_socket(
        &mut self,
        transport: Transport,
        origin: Origin,
        settings: &FaceConfig,
    ) -> Result<FaceId, AttachError> {
        if self.workers.is_some() {
            return self.attach_among_workers(transport, origin, settings);
        }
        let is_local = self.is_local(&transport);
        let line = self.socket_line(transport, settings)?;
        self.attach(line, origin, settings, is_local)
    }

    /// A socket with its link layer.
    pub(super) fn socket_line(
        &mut self,
        transport: Transport,
        settings: &FaceConfig,
    ) -> Result<Line, AttachError> {
        // Acknowledgements of several stations would not be told apart.
        let is_reliable = settings.reliability && transport.is_datagram() && !transport.is_multi_access();
        let link = self.link_layer(&transport, settings.mtu_plan(), is_reliable)?;
        Ok(Line::Socket { transport, link, batch: FrameBatch::new(), is_full: false })
    }

    /// The link layer of a face.
    pub(super) fn link_layer(
        &mut self,
        transport: &Transport,
        plan: MtuPlan,
        is_reliable: bool,
    ) -> Result<GenericLinkService, AttachError> {
        let mut link = GenericLinkService::over(transport, plan, &mut self.nonces);
        if is_reliable {
            link.set_reliability(Some(self.reliability()?));
        }
        Ok(link)
    }

    /// One end of NDNLPv2 reliability.
    pub(super) fn reliability(&self) -> Result<Box<dyn LinkService>, AttachError> {
        let make = self.config.reliability.and_then(|scheme| scheme.link_service);
        let make = make.ok_or_else(|| AttachError::Part("reliability is not built in".to_owned()))?;
        make(&Settings::default()).map_err(|why| AttachError::Part(reasons("reliability", &why)))
    }

    /// Whether the peer of a connection may use names of this machine: over a Unix socket, and over TCP from a loopback
    /// address if the configuration permits it. A datagram's source proves nothing, and a program that forwards
    /// datagrams would pass on the right to register prefixes.
    pub(super) fn is_local(&self, transport: &Transport) -> bool {
        let is_tcp = matches!(transport.remote_uri(), FaceUri::Tcp(_) | FaceUri::WebSocketClient(_));
        transport.is_local() && (self.config.local_tcp || !is_tcp)
    }

    /// Closes a face; the packets in its queue are dropped.
    pub(super) fn close(&mut self, id: FaceId) {
        self.record_face_event(id, FaceEventKind::Destroyed);
        let Some(mut face) = self.faces[id.index()].take() else { return };
        if face.has_local_fields {
            self.incoming.set_used(false);
        }
        if let Line::Socket { transport, link, .. } = &face.line {
            // The counters of the face end with it; those of the forwarder are totals.
            self.counters.malformed += link.counters().malformed;
            self.counters.oversized += transport.faults().oversized;
            if let (FaceUri::Udp(peer), FaceUri::Udp(local)) = (transport.remote_uri(), transport.local_uri())
            {
                self.forget_peer(UdpPath { peer, local }, id);
            }
        }
        self.counters.received = self.counters.received.with(face.received);
        self.counters.sent = self.counters.sent.with(face.sent);
        self.give_back_place(&face);
        self.node.detach(surroundings!(self), &mut self.packets, id);
        // Faces that this stream held back would otherwise never be read again.
        self.release(face.pressure.take_waiting());
        self.schedule_forwarder_timer();
        let (rib, tables) = routes!(self);
        rib.remove_face(id, tables);
        self.announce_end(id, &face);
        self.publish_caught_up(id);
        if let Origin::Configured(place) = face.origin
            && let Some(configured) = self.configured.get_mut(place)
        {
            configured.face = None;
        }
    }

    /// Removes the face `id` of a UDP peer, whichever listener made it.
    fn forget_peer(&mut self, path: UdpPath, id: FaceId) {
        for (index, listener) in self.listeners.udp.iter().enumerate() {
            // The address of the listener stands for one that the system did not report.
            for local in [path.local, listener.local()] {
                let key = (index, UdpPath { local, ..path });
                if self.peers.get(&key) == Some(&id) {
                    self.peers.remove(&key);
                }
            }
        }
    }

    /// Number of faces without the forwarder's own.
    pub(super) fn count_faces(&self) -> usize {
        self.faces.iter().flatten().count() - 1
    }

    /// Receives datagrams from peers without a face, and creates a face for each of them.
    pub(super) fn accept_udp_peers(&mut self, index: usize) {
        let mut received: Vec<(UdpPath, Bytes)> = Vec::new();
        // A listener that cannot be read any more stays silent; the faces it made live on.
        let _ =
            self.listeners.udp[index].receive(&mut self.memory, |path, frame| received.push((path, frame)));
        // A datagram socket cannot be held back: nothing would slow its peer down.
        self.shared.set_source(false);
        for (path, frame) in received {
            let face = match self.peers.get(&(index, path)) {
                Some(face) => Some(*face),
                None => self.face_for(index, path),
            };
            if let Some(face) = face {
                self.take_frame_of_listener(face, frame);
            }
        }
        self.schedule_forwarder_timer();
    }

    fn face_for(&mut self, listener: usize, path: UdpPath) -> Option<FaceId> {
        let source = PeerNetwork::of(path.peer.ip());
        if !self.has_place(Newcomer { source: Some(source), user: None, more: 0 }) {
            return None;
        }
        let socket = UdpFace::answering(path).ok()?;
        let settings = self.config.face_defaults.clone();
        let face = self.attach_socket(Transport::Udp(socket), Origin::OnDemand, &settings).ok()?;
        self.peers.insert((listener, path), face);
        self.places.take(source);
        Some(face)
    }

    /// Accepts connections that wait at a listener.
    pub(super) fn accept(&mut self, index: usize) {
        let is_unix = matches!(self.listeners.streams[index].uri(), FaceUri::Unix(_));
        let more = if is_unix { RESERVED } else { 0 };
        for _ in 0..ACCEPTED_AT_ONCE {
            let transport = match self.listeners.streams[index].accept_transport() {
                Ok(Some(transport)) => transport,
                Ok(None) => return,
                // Without a free descriptor the connection stays pending and polling would report it forever.
                Err(why) => {
                    tracing::warn!(listener = %self.listeners.streams[index].uri(), "a connection cannot be accepted: {why}");
                    return self.watch_stream_listener(index, Watch::Write);
                }
            };
            let source = self.source_of(&transport);
            // The connection was accepted and ends here; left pending it would be reported again at once.
            if !self.has_place(Newcomer { source, user: self.local_user(&transport), more }) {
                continue;
            }
            let settings = self.config.face_defaults.clone();
            // A face that the system refuses is a connection that ends at once.
            let attached = self.attach_socket(transport, Origin::Accepted, &settings);
            if let (Ok(_), Some(source)) = (attached, source) {
                self.places.take(source);
            }
        }
    }

    /// Registers a stream listener for connections, or for no events.
    fn watch_stream_listener(&self, index: usize, what: Watch) {
        let token = Watched::StreamListener(index).token();
        // It was registered with this token and stays so.
        let _ = self.poll.modify(&self.listeners.streams[index], token, what);
    }

    /// Begins a connection. Over UDP it leaves from the address of a listener, if there is one from which the peer can be
    /// reached, so that both ends have one face for both directions.
    ///
    /// # Errors
    /// As [`Transport::begin`] and [`Transport::on_interface`].
    pub(super) fn begin(&self, uri: &FaceUri, interface: Option<&str>) -> io::Result<Transport> {
        if let Some(interface) = interface {
            return Transport::on_interface(uri, interface);
        }
        if let FaceUri::Udp(peer) = uri
            && let Some(face) =
                self.listeners_towards(*peer).find_map(|listener| UdpFace::accept(listener, *peer).ok())
        {
            return Ok(Transport::Udp(face));
        }
        Transport::begin(uri)
    }

    /// Listeners from whose address a peer may be reached.
    pub(super) fn listeners_towards(&self, peer: SocketAddr) -> impl Iterator<Item = &UdpListener> {
        let listeners = self.listeners.udp.iter();
        listeners.filter(move |at| at.local().is_ipv4() == peer.is_ipv4() && at.local() != peer)
    }

    /// Resolves the configured faces and connects those whose peers are reachable.
    pub(super) fn open_configured(&mut self) -> Result<(), StartError> {
        for place in 0..self.config.faces.len() {
            let planned = &self.config.faces[place];
            let uri = FaceUri::resolve(&planned.uri);
            let uri = uri.map_err(|why| StartError::new(format!("face {:?}", planned.name), why))?;
            let interface = planned.interface.clone();
            self.configured.push(Configured {
                uri,
                interface,
                face: None,
                is_destroyed: false,
                is_awaited: false,
            });
            self.connect_configured(place)?;
        }
        Ok(())
    }

    /// Connects the configured face of `place` if its peer is there; never waits for the peer.
    pub(super) fn connect_configured(&mut self, place: usize) -> Result<(), StartError> {
        let planned = self.config.faces[place].clone();
        let uri = self.configured[place].uri.clone();
        let fault = |why: &dyn std::fmt::Display| StartError::new(format!("face {:?}", planned.name), why);
        // The peer of a stream may come later, and so may a network, for instance while the machine starts; everything
        // else is a mistake.
        let transport = match (self.begin(&uri, planned.interface.as_deref()), &uri) {
            (Ok(transport), _) => transport,
            (Err(why), FaceUri::Tcp(_) | FaceUri::Unix(_)) => {
                tracing::debug!(face = %planned.name, %uri, "not connected: {why}");
                return Ok(());
            }
            (Err(why), _) if is_of_network(&why) => {
                let is_known = std::mem::replace(&mut self.configured[place].is_awaited, true);
                if !is_known {
                    tracing::warn!(face = %planned.name, %uri, "its network is not there yet: {why}");
                }
                return Ok(());
            }
            (Err(why), _) => return Err(fault(&why)),
        };
        self.configured[place].is_awaited = false;
        // From here on a failure is one of configuration and is reported at the start.
        let made = self.attach_socket(transport, Origin::Configured(place), &planned.config);
        let face = made.map_err(|why| fault(&why))?;
        self.configured[place].face = Some(face);
        self.add_configured_routes(place);
        Ok(())
    }

    /// Closes silent faces, removes expired routes, and reconnects lost faces.
    pub(super) fn housekeeping(&mut self) {
        let idle = self.config.idle;
        // A connection that a peer opened ends with it.
        let is_silent = |face: &Face, now: Time| {
            matches!(face.line, Line::Socket { .. })
                && face.line.is_datagram()
                && face.persistency == FacePersistency::OnDemand
                && now.since(face.received_at) > idle
        };
        let silent: Vec<FaceId> = (0..)
            .zip(&self.faces)
            .filter(|(_, face)| face.as_ref().is_some_and(|face| is_silent(face, self.now)))
            .map(|(id, _)| FaceId(id))
            .collect();
        for id in silent.into_iter().chain(self.overdue_faces()) {
            self.end_face(id);
        }
        self.expire_fragments();
        // Descriptors may have become free since a listener was set aside.
        for index in 0..self.listeners.streams.len() {
            self.watch_stream_listener(index, Watch::Read);
        }
        self.metrics.iter_mut().for_each(|metrics| metrics.expire(self.now));
        if self.metrics.is_some() {
            // Those of other threads are served as they were a second ago.
            self.request_reports();
        }
        self.watch_metrics(Watch::Read);
        let (rib, tables) = routes!(self);
        rib.expire(self.now, tables);
        for place in 0..self.configured.len() {
            if self.configured[place].face.is_none() && !self.configured[place].is_destroyed {
                // It was connectable or absent at the start; now it is one or the other again.
                let _ = self.connect_configured(place);
            }
        }
        self.reconnect_faces();
        self.renew_sources();
        self.flows.make_room(self.now);
        self.log_full_pit();
        self.timers.set(self.now + HOUSEKEEPING, Due::Housekeeping);
    }

    /// Drops messages whose fragments stopped arriving, and counts the memory of those that wait.
    fn expire_fragments(&mut self) {
        let mut bytes = 0;
        for face in self.faces.iter_mut().flatten() {
            if let Line::Socket { link, .. } = &mut face.line {
                link.expire(self.now);
                bytes += link.waiting_bytes() as u64;
            }
        }
        self.memory_bound.link_bytes = bytes;
    }

    /// Logs that the PIT was full since the last call.
    fn log_full_pit(&mut self) {
        let counters = self.node.forwarder().counters();
        let unplaced = counters.refused_full + counters.displaced;
        let interests = unplaced - self.counters.unplaced_logged;
        if interests > 0 {
            self.counters.unplaced_logged = unplaced;
            tracing::warn!(
                interests,
                "the PIT was full (pit_limit): Interests were refused, or ended for others"
            );
        }
    }
}

/// Whether a socket was refused because its interface, its network or the address of its interface is not there.
fn is_of_network(why: &io::Error) -> bool {
    use io::ErrorKind::{AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, NotFound};
    let kinds = [AddrNotAvailable, HostUnreachable, NetworkDown, NetworkUnreachable, NotFound];
    let absent = [rustix::io::Errno::NODEV, rustix::io::Errno::NXIO].map(|code| Some(code.raw_os_error()));
    kinds.contains(&why.kind()) || absent.contains(&why.raw_os_error())
}

/// Gives the queue of a stream under back-pressure its limits in memory, and marks by time if the discipline `marking` marks by bytes.
fn add_stream_rules(
    disciplines: &mut Vec<Box<dyn QueueDiscipline>>,
    marking: Option<usize>,
    shared: &Rc<pressure::Shared>,
) {
    if let Some(place) = marking.filter(|place| *place < disciplines.len()) {
        let by_bytes = disciplines.remove(place);
        disciplines.insert(place, Box::new(StreamMarking::new(by_bytes)));
    }
    // First, so that the limit on memory holds whatever the configured disciplines decide.
    disciplines.insert(0, Box::new(MemoryGuard::new(Rc::clone(shared))));
}

/// The address of the peer at the other end of a socket.
fn peer_of(line: &Line) -> Option<PeerNetwork> {
    match line {
        Line::Socket { transport, .. } => PeerNetwork::of_peer(transport),
        Line::Far(end) => end.network,
        Line::Internal(_) => None,
    }
}

/// Congestion marking of a queue, and its place among the configured disciplines; `None` if it has not NFD's discipline.
pub(super) fn marking(settings: &FaceConfig) -> Option<(FaceMarking, usize)> {
    let place = settings.queue.disciplines.iter().position(|part| part.scheme.name == "nfd-marking")?;
    let part = &settings.queue.disciplines[place];
    let mut reader = Reader::new(&part.settings, part.scheme.params);
    let interval: Span = reader.take("interval", DEFAULT_MARKING_INTERVAL);
    let threshold: ByteCount = reader.take("threshold", DEFAULT_MARKING_THRESHOLD);
    Some((FaceMarking { interval_ns: interval.as_nanos(), threshold_bytes: threshold.get() }, place))
}

/// Scheme roles of one face.
#[derive(Default)]
struct FaceParts {
    /// Disciplines of its queue: those of the queue itself, then those of router roles.
    disciplines: Vec<Box<dyn QueueDiscipline>>,
    /// Gates of its router roles.
    gates: Vec<Box<dyn FaceGate>>,
}

fn reasons(name: &str, why: &[ParamError]) -> String {
    let reasons: Vec<String> = why.iter().map(ToString::to_string).collect();
    format!("{name}: {}", reasons.join("; "))
}

fn parts(settings: &FaceConfig, device: DeviceSetup) -> Result<FaceParts, String> {
    let mut made = FaceParts::default();
    let fault = |name: &str, why: Vec<ParamError>| reasons(name, &why);
    for (place, part) in settings.queue.disciplines.iter().enumerate() {
        let name = part.scheme.name;
        let make = part.scheme.discipline.ok_or_else(|| format!("{name} is not a queue discipline"))?;
        made.disciplines
            .push(make(&part.settings, &device.of_discipline(place)).map_err(|why| fault(name, why))?);
    }
    for part in &settings.parts {
        let name = part.scheme.name;
        let make = part.scheme.router.ok_or_else(|| format!("{name} has no router part"))?;
        // Parts that look at several faces of a node at once have no live form yet; each face has its own.
        let setup = NodeSetup::new(NodeId(0), vec![device], device.streams);
        let parts = make(&part.settings, &setup).map_err(|why| fault(name, why))?;
        if parts.strategy.is_some() {
            return Err(format!(
                "{name} has a strategy for the whole node, which the forwarder does not support"
            ));
        }
        made.disciplines.extend(parts.disciplines.into_iter().map(|(_, discipline)| discipline));
        made.gates.extend(parts.gates.into_iter().map(|(_, gate)| gate));
    }
    Ok(made)
}
