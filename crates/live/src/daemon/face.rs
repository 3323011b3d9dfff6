//! One face of the forwarder: its socket, its link layer, its shaper, and what waits to be sent.

use std::collections::VecDeque;
use std::io;

use bytes::Bytes;
use tidegate_core::arena::PacketId;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::NameTable;
use tidegate_core::ndn::node::{Device, Devices};
use tidegate_core::ndn::packet::{Kind, Packet, PacketArena};
use tidegate_core::units::{ByteCount, Time};
use tidegate_wire::FrameBatch;

use super::flows::FlowTable;
use super::local_fields::IncomingFaces;
use super::pressure::Pressure;
use super::shaper::FaceShaper;
use super::timers::{Due, Timers};
use super::workers::{FarEnd, Workers};
use crate::link_service::GenericLinkService;
use crate::nfd::PacketCounts;
use crate::peer_user::PeerUser;
use crate::poll::SocketInterest as Watch;
use crate::tokens::TokenTable;
use crate::transport::{SendProgress, Transport};

/// Maximum number of packets that one system call sends.
const BATCH: usize = 64;

/// Transport of a face, or the forwarder's internal endpoint.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "all faces but one are the large variant")]
pub(super) enum Line {
    /// A socket, with the state of its link service.
    Socket {
        transport: Transport,
        link: GenericLinkService,
        batch: FrameBatch,
        /// Whether the socket is full; the poll set reports when it is writable.
        is_full: bool,
    },
    /// The forwarder's own management: packets wait here to be answered.
    Internal(VecDeque<Packet<Bytes>>),
    /// A face whose socket is at another worker.
    Far(Box<FarEnd>),
}

impl Line {
    /// Whether the face is a link with several stations.
    pub fn is_multi_access(&self) -> bool {
        match self {
            Self::Socket { transport, .. } => transport.is_multi_access(),
            Self::Far(end) => end.is_multi_access,
            Self::Internal(_) => false,
        }
    }

    /// Whether frames are datagrams, whose peer can leave without notice.
    pub fn is_datagram(&self) -> bool {
        match self {
            Self::Socket { transport, .. } => transport.is_datagram(),
            Self::Far(end) => end.is_datagram,
            Self::Internal(_) => false,
        }
    }
}

/// Reason for which a face exists; it decides when the face is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The forwarder's own face, for commands.
    Internal,
    /// A peer spoke first over UDP; the face ends when it has been silent.
    OnDemand,
    /// A peer connected; the face ends with the connection.
    Accepted,
    /// The entry of this place in the configuration.
    Configured(usize),
    /// A command created it.
    Created,
}

/// Condition under which a face ends (NFD).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FacePersistency {
    /// It stays when it is silent, and ends when its transport fails.
    Persistent,
    /// It ends when it is silent, or when the peer that opened it leaves.
    OnDemand,
    /// It stays until it is destroyed; a transport that fails is replaced.
    Permanent,
}

impl FacePersistency {
    /// The number that stands for it in messages.
    pub const fn number(self) -> u64 {
        match self {
            Self::Persistent => 0,
            Self::OnDemand => 1,
            Self::Permanent => 2,
        }
    }

    /// The persistency of this number; `None` for an unknown one.
    pub const fn of_number(number: u64) -> Option<Self> {
        match number {
            0 => Some(Self::Persistent),
            1 => Some(Self::OnDemand),
            2 => Some(Self::Permanent),
            _ => None,
        }
    }

    /// Persistency of a new face.
    const fn of_origin(origin: Origin) -> Self {
        match origin {
            Origin::OnDemand | Origin::Accepted => Self::OnDemand,
            Origin::Created => Self::Persistent,
            Origin::Internal | Origin::Configured(_) => Self::Permanent,
        }
    }
}

/// Whether packets can be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FaceState {
    /// The transport is usable, as far as known.
    Up,
    /// The transport of a permanent face has failed.
    Down,
    /// A new transport is being connected.
    Connecting,
    /// It is at an end, and the first worker is going to close it.
    Ended,
}

/// Congestion marking of a face as NFD configures it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FaceMarking {
    /// Minimum interval between two marks, nanoseconds.
    pub interval_ns: u64,
    /// Backlog from which on packets are marked, bytes.
    pub threshold_bytes: u64,
}

/// Counts a packet by its kind; loss notices and TCP segments are none of NFD's kinds.
#[inline]
pub(super) fn count(counts: &mut PacketCounts, kind: &Kind) {
    match kind {
        Kind::Interest(_) => counts.interests += 1,
        Kind::Data(_) => counts.data += 1,
        Kind::Nack(_) => counts.nacks += 1,
        Kind::LossNotice(_) | Kind::Tcp(_) => {}
    }
}

/// Parts of a new face.
pub(super) struct FaceSetup {
    /// Number in management, never used twice.
    pub number: u64,
    pub origin: Origin,
    pub line: Line,
    pub shaper: FaceShaper,
    pub pressure: Pressure,
    pub marking: Option<FaceMarking>,
    /// Place of the marking among the disciplines of the queue.
    pub marking_place: Option<usize>,
    /// Whether a discipline of the queue may read names of packets.
    pub reads_names: bool,
}

/// A face and the device behind it.
#[derive(Debug)]
pub(super) struct Face {
    /// Number in management, never used twice.
    pub number: u64,
    pub origin: Origin,
    pub line: Line,
    pub shaper: FaceShaper,
    /// Whether a timer for the shaper is pending.
    pub is_armed: bool,
    /// Whether packets leave because the device has become free, not because they arrived at a free one.
    is_serving: bool,
    /// Earliest timer of the queue; [`Time::MAX`] for none.
    queue_wake: Time,
    /// Earliest timer of the link layer; [`Time::MAX`] for none.
    link_wake: Time,
    /// Whether the face is in the list of faces with frames to send.
    is_dirty: bool,
    /// Time at which the face was made.
    pub made_at: Time,
    /// Arrival time of the last packet.
    pub received_at: Time,
    /// Socket events that are registered for it.
    pub watched: Watch,
    pub pressure: Pressure,
    /// Congestion marking by the queue; `None` without NFD's discipline.
    pub marking: Option<FaceMarking>,
    /// Place of the marking among the disciplines of the queue; `None` before there was any.
    pub marking_place: Option<usize>,
    /// Whether a discipline of the queue may read names of packets.
    pub reads_names: bool,
    pub received: PacketCounts,
    pub sent: PacketCounts,
    pub persistency: FacePersistency,
    pub state: FaceState,
    /// The user at the other end, once it was needed for a command; `Some(None)` if it is not known.
    pub(super) user: Option<Option<PeerUser>>,
    /// Number of the user whose command created the face, if one did and it is known.
    pub creator: Option<u32>,
    /// Whether Interests to it have the number of the face that they came from.
    pub has_local_fields: bool,
}

impl Face {
    pub fn new(setup: FaceSetup, now: Time) -> Self {
        let FaceSetup { number, origin, line, shaper, pressure, marking, marking_place, reads_names } = setup;
        Self {
            number,
            origin,
            line,
            shaper,
            is_armed: false,
            is_serving: false,
            queue_wake: Time::MAX,
            link_wake: Time::MAX,
            is_dirty: false,
            made_at: now,
            received_at: now,
            watched: Watch::Read,
            pressure,
            marking,
            marking_place,
            reads_names,
            received: PacketCounts::default(),
            sent: PacketCounts::default(),
            persistency: FacePersistency::of_origin(origin),
            state: FaceState::Up,
            user: None,
            creator: None,
            has_local_fields: false,
        }
    }

    /// Whether the device accepts a packet now.
    #[inline]
    fn is_free(&self, now: Time) -> bool {
        let has_room = match &self.line {
            // A full batch makes the device busy, so that packets wait where the queue discipline sees them.
            Line::Socket { batch, is_full, .. } => !is_full && batch.len() < BATCH,
            Line::Internal(_) | Line::Far(_) => true,
        };
        has_room && self.shaper.is_free(now)
    }

    /// The user at the other end; `None` if the system does not report it.
    pub fn peer_user(&mut self) -> Option<&PeerUser> {
        let peer_user = || match &self.line {
            Line::Socket { transport, .. } => transport.peer_user(),
            Line::Far(end) => end.peer_user(),
            Line::Internal(_) => None,
        };
        self.user.get_or_insert_with(peer_user).as_ref()
    }

    /// Whether this end opened the connection, so that it can be opened again.
    pub fn is_outgoing(&self) -> bool {
        matches!(self.origin, Origin::Configured(_) | Origin::Created)
    }

    /// Whether the queue timer that fires at `at` is current, which it is once.
    pub fn takes_queue_timer(&mut self, at: Time) -> bool {
        let is_intended = self.queue_wake == at;
        if is_intended {
            self.queue_wake = Time::MAX;
        }
        is_intended
    }

    /// Runs what is due in the link layer.
    pub fn wake_link(&mut self, now: Time) {
        self.link_wake = Time::MAX;
        if let Line::Socket { link, transport, .. } = &mut self.line {
            link.on_wake(now, || transport.max_datagram());
        }
    }

    /// Puts the frames that the link layer sends on its own into the batch; returns whether the face has to be added to
    /// those with frames to send.
    #[inline]
    pub fn serve_link(&mut self, now: Time) -> bool {
        let Line::Socket { link, batch, .. } = &mut self.line else { return false };
        if !link.has_due() {
            return false;
        }
        let before = batch.byte_len();
        link.serve(now, batch);
        self.shaper.depart(now, ByteCount::new((batch.byte_len() - before) as u64), true);
        !std::mem::replace(&mut self.is_dirty, true)
    }

    /// The timer to set for the link layer; `None` if there is one that is early enough.
    #[inline]
    pub fn arm_link(&mut self) -> Option<Time> {
        let Line::Socket { link, .. } = &self.line else { return None };
        let wake = link.next_wake().filter(|wake| *wake < self.link_wake)?;
        self.link_wake = wake;
        Some(wake)
    }

    /// Passes waiting frames to the socket; returns whether all were taken.
    pub fn flush(&mut self, now: Time) -> io::Result<bool> {
        self.is_dirty = false;
        if self.state != FaceState::Up {
            // What is left would be lost in a transport that has failed or is not connected yet.
            return Ok(false);
        }
        let Line::Socket { transport, link, batch, is_full } = &mut self.line else { return Ok(true) };
        *is_full = transport.send(batch)? == SendProgress::WouldBlock;
        if transport.take_refusal() {
            link.on_refusal(now, transport.max_datagram());
        }
        Ok(!*is_full)
    }

    /// Bytes that wait in the layers below the queue.
    pub fn below(&self) -> ByteCount {
        match &self.line {
            Line::Socket { transport, batch, .. } => {
                ByteCount::new((transport.unsent_bytes() + batch.byte_len()) as u64)
            }
            Line::Internal(_) | Line::Far(_) => ByteCount::new(0),
        }
    }
}

/// The forwarder's devices as its node sees them.
pub(super) struct Wires<'a> {
    pub now: Time,
    pub packets: &'a mut PacketArena<Bytes>,
    pub faces: &'a mut [Option<Face>],
    pub names: &'a NameTable,
    pub tokens: &'a TokenTable,
    pub incoming: &'a IncomingFaces,
    pub flows: &'a mut FlowTable,
    pub timers: &'a mut Timers,
    /// Faces with frames to send.
    pub dirty: &'a mut Vec<FaceId>,
    /// Faces whose device was not free when a packet arrived.
    pub met: &'a mut Vec<FaceId>,
    pub workers: &'a mut Option<Box<Workers>>,
}

/// Device of one face, during a call.
pub(super) struct Wire<'a> {
    id: FaceId,
    now: Time,
    packets: &'a mut PacketArena<Bytes>,
    /// `None` for a face that was removed.
    face: Option<&'a mut Face>,
    names: &'a NameTable,
    tokens: &'a TokenTable,
    incoming: &'a IncomingFaces,
    flows: &'a mut FlowTable,
    timers: &'a mut Timers,
    dirty: &'a mut Vec<FaceId>,
    met: &'a mut Vec<FaceId>,
    workers: &'a mut Option<Box<Workers>>,
}

impl Wires<'_> {
    #[inline]
    fn face(&mut self, face: FaceId) -> Option<&mut Face> {
        self.faces.get_mut(face.index())?.as_mut()
    }

    /// Sets whether the next packets of a face leave because its device has become free.
    pub fn set_serving(&mut self, id: FaceId, is_serving: bool) {
        if let Some(face) = self.face(id) {
            face.is_serving = is_serving;
        }
    }
}

impl Devices<Bytes> for Wires<'_> {
    type Device<'a>
        = Wire<'a>
    where
        Self: 'a;

    #[inline]
    fn device(&mut self, id: FaceId) -> Wire<'_> {
        let Self { now, names, tokens, incoming, .. } = *self;
        let Self { packets, faces, flows, timers, dirty, met, workers, .. } = self;
        let face = faces.get_mut(id.index()).and_then(Option::as_mut);
        Wire { id, now, packets, face, names, tokens, incoming, flows, timers, dirty, met, workers }
    }

    #[inline]
    fn packets(&mut self) -> &mut PacketArena<Bytes> {
        self.packets
    }
}

impl Device<Bytes> for Wire<'_> {
    #[inline]
    fn is_free(&self) -> bool {
        let Some(face) = &self.face else { return false };
        if let (Line::Far(end), Some(workers)) = (&face.line, &self.workers) {
            return workers.has_room(end.worker);
        }
        face.is_free(self.now)
    }

    #[inline]
    fn packets(&mut self) -> &mut PacketArena<Bytes> {
        self.packets
    }

    #[inline]
    fn transmit(&mut self, packet: PacketId, size: ByteCount) -> bool {
        let packet = self.packets.take(packet);
        let Self { id, now, names, tokens, incoming, .. } = *self;
        let Some(face) = &mut self.face else { return false };
        // Others on the link may still answer (NFD).
        if matches!(packet.header.kind, Kind::Nack(_)) && face.line.is_multi_access() {
            return true;
        }
        if let (Line::Far(end), Some(workers)) = (&face.line, &mut *self.workers) {
            let incoming_face = if face.has_local_fields { incoming.find(&packet.header) } else { None };
            workers.send(end.worker, (id, face.number), packet, (names, tokens, incoming_face));
            return true;
        }
        count(&mut face.sent, &packet.header.kind);
        // Only a packet that waited for the device may use time that a late timer left unused.
        face.shaper.depart(now, size, face.is_serving);
        match &mut face.line {
            Line::Socket { link, batch, .. } => {
                if matches!(packet.header.kind, Kind::Data(_)) {
                    self.flows.record(&packet, now);
                }
                if face.has_local_fields {
                    link.set_incoming_face(incoming.find(&packet.header));
                }
                link.send(now, &packet, names, tokens, batch);
            }
            Line::Internal(waiting) => waiting.push_back(packet),
            Line::Far(_) => {}
        }
        if let Some(wake) = face.arm_link() {
            self.timers.set(wake, Due::Link(id));
        }
        // One system call sends everything of a turn; the list must name each face once.
        if !std::mem::replace(&mut face.is_dirty, true) {
            self.dirty.push(id);
        }
        true
    }

    /// A device that only lacks room in its batch or socket is served when that has been sent.
    #[inline]
    fn needs_service(&mut self, has_packets: bool, wake: Option<Time>) {
        let Self { id, now, .. } = *self;
        // Cheap, and enough to keep the list short; `note_requester` removes the other repetitions.
        if has_packets && self.met.last() != Some(&id) {
            self.met.push(id);
        }
        let Some(face) = &mut self.face else { return };
        if let (Line::Far(_), Some(workers)) = (&face.line, &mut *self.workers) {
            return workers.wait_for_room(id);
        }
        let mut timers = [None, None];
        // A device that lacks only room in its batch is served after the flush and needs no timer.
        if has_packets && !face.is_armed && !face.shaper.is_free(now) {
            face.is_armed = true;
            timers[0] = Some((face.shaper.free_at(), Due::Send(id)));
        }
        // A later time needs no timer: the queue requests a new one at the earlier time.
        if let Some(wake) = wake.filter(|wake| *wake < face.queue_wake) {
            face.queue_wake = wake;
            timers[1] = Some((wake, Due::Queue(id)));
        }
        for (at, due) in timers.into_iter().flatten() {
            self.timers.set(at, due);
        }
    }
}
