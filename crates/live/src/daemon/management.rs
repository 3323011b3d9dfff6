//! Interests that the forwarder answers itself: registration of prefixes, and its status dataset.

use bytes::Bytes;
use tidegate_core::context::{Env, NoSink};
use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::packet::{Kind, Millis, Packet};
use tidegate_core::units::Span;
use tidegate_wire::{DataBuilder, EncodeError, InterestView, Signer, name, rdr};

use super::command::{Command, CommandError};
use super::face::{Face, Line, Wires};
use super::rib::{CAPTURE, CHILD_INHERIT, Route};
use super::status::{self, StatusLine};
use super::{Daemon, MANAGEMENT, surroundings, wires};
use crate::clock::MonotonicClock;
use crate::nfd::{ControlParameters, ControlResponse, ORIGIN_APP};

/// Age after which a status is stale: a later request gets a new one.
const STATUS_FRESH: Millis = Millis(100);

/// Number of statuses whose later segments can still be requested.
const STATUSES_KEPT: usize = 8;

/// Maximum bytes of status in one Data.
const STATUS_SEGMENT: usize = 7_000;

impl Daemon {
    /// Answers the Interests that wait for the forwarder itself.
    pub(super) fn answer_management(&mut self) {
        while let Some(packet) = self.take_management() {
            let Kind::Interest(_) = packet.header.kind else { continue };
            let answer = self.answer(&packet);
            for data in answer.into_iter().flatten() {
                self.publish(data);
            }
        }
    }

    fn take_management(&mut self) -> Option<Packet<Bytes>> {
        match self.faces.get_mut(MANAGEMENT.index()) {
            Some(Some(Face { line: Line::Internal(waiting), .. })) => waiting.pop_front(),
            _ => None,
        }
    }

    /// Passes a Data of our own to the node.
    fn publish(&mut self, data: Bytes) {
        // A Data has no nonce; the decoder takes one for Interests.
        let mut nonce = || 0;
        let fields = Default::default();
        if let Ok(packet) = tidegate_wire::decode_packet(&fields, data, &mut self.names, &mut nonce) {
            self.node.receive(surroundings!(self), MANAGEMENT, packet, wires!(self));
        }
    }

    /// The Data that answer an Interest; `None` if it is malformed or requests nothing that exists.
    fn answer(&mut self, packet: &Packet<Bytes>) -> Option<Vec<Bytes>> {
        let view = InterestView::parse(&packet.body).ok()?;
        let response = match Command::read(&view) {
            Ok(Command::Register(requested)) => self.register(packet, *requested),
            Ok(Command::Unregister(requested)) => self.unregister(packet, *requested),
            Ok(Command::Status) => return self.status_data(&view),
            Err(refusal) => Err(refusal),
        };
        let response = response.unwrap_or_else(|(code, text)| ControlResponse::new(code, text, None));
        let content = response.encode();
        let freshness = Some(Millis(1_000));
        let data =
            DataBuilder { name: view.name.components(), freshness, content: &content, ..Default::default() };
        Some(vec![data.sign(&Signer::Digest).ok()?])
    }

    fn register(
        &mut self,
        packet: &Packet<Bytes>,
        requested: ControlParameters,
    ) -> Result<ControlResponse, CommandError> {
        let face = self.face_of(packet, &requested)?;
        let prefix = self.prefix_of(&requested)?;
        let cost =
            u32::try_from(requested.cost.unwrap_or(0)).map_err(|_| (400, "the cost is above 2^32-1"))?;
        // NFD's defaults; unknown flags are ignored and not echoed, so that a client sees what holds.
        let flags = requested.flags.unwrap_or(CHILD_INHERIT) & (CHILD_INHERIT | CAPTURE);
        let origin = requested.origin.unwrap_or(ORIGIN_APP);
        self.check_changeable(prefix, face, origin)?;
        let expires = requested.expiration_ms.map(|millis| self.now + Span::from_millis(millis));
        let route = Route { prefix, face, origin, cost, flags, expires };
        self.rib.register(route, &self.names, self.node.forwarder_mut().fib_mut());
        let done = ControlParameters {
            name: requested.name,
            face_id: self.number_of(face),
            origin: Some(origin),
            cost: Some(u64::from(cost)),
            flags: Some(flags),
            expiration_ms: requested.expiration_ms,
            ..Default::default()
        };
        Ok(ControlResponse::new(200, "OK", Some(done)))
    }

    /// As in NFD, the response is also OK if there was no such route.
    fn unregister(
        &mut self,
        packet: &Packet<Bytes>,
        requested: ControlParameters,
    ) -> Result<ControlResponse, CommandError> {
        let face = self.face_of(packet, &requested)?;
        let prefix = self.prefix_of(&requested)?;
        let origin = requested.origin.unwrap_or(ORIGIN_APP);
        self.check_changeable(prefix, face, origin)?;
        let fib = self.node.forwarder_mut().fib_mut();
        self.rib.unregister(prefix, face, origin, &self.names, fib);
        let done = ControlParameters {
            name: requested.name,
            face_id: self.number_of(face),
            origin: Some(origin),
            ..Default::default()
        };
        Ok(ControlResponse::new(200, "OK", Some(done)))
    }

    /// The face that a command is about: the one it names, else the one it came from.
    fn face_of(&self, packet: &Packet<Bytes>, requested: &ControlParameters) -> Result<FaceId, CommandError> {
        match requested.face_id {
            // The PIT entry has the face on which the command arrived; the packet itself has no field for it.
            None | Some(0) => {
                let pit = self.node.forwarder().pit();
                let entry = pit.find(packet.header.name).map(|id| pit.entry(id));
                let from = entry.and_then(|entry| entry.in_records().next());
                from.map(|record| record.face).ok_or((503, "the face of the command no longer exists"))
            }
            Some(number) => (0..)
                .zip(&self.faces)
                .find(|(_, face)| face.as_ref().is_some_and(|face| face.number == number))
                .map(|(id, _)| FaceId(id))
                .ok_or((410, "there is no face of this FaceId")),
        }
    }

    fn number_of(&self, face: FaceId) -> Option<u64> {
        self.faces[face.index()].as_ref().map(|face| face.number)
    }

    fn prefix_of(
        &mut self,
        requested: &ControlParameters,
    ) -> Result<tidegate_core::ndn::name::PrefixId, CommandError> {
        let name = requested.name.as_deref().ok_or((400, "the parameters have no Name"))?;
        self.names.intern_prefix(name).map_err(|_| (400, "the Name in the parameters is malformed"))
    }

    /// A new status, or the requested segment of the last one.
    fn status_data(&mut self, view: &InterestView<'_>) -> Option<Vec<Bytes>> {
        // A name with version and segment requests a part of a status published before.
        if view.name.len() > 3 {
            let requested = view.name.components();
            let found = self.published.iter().flatten().find(|(name, _)| name == requested)?;
            return Some(vec![found.1.clone()]);
        }
        let mut versioned = view.name.components().to_vec();
        rdr::push_version(&mut versioned, MonotonicClock::wall_micros());
        let text = status::write(&self.status());
        let status = segments(&versioned, text.as_bytes()).ok()?;
        let first = status.first()?.1.clone();
        while self.published.len() >= STATUSES_KEPT {
            self.published.pop_front();
        }
        self.published.push_back(status);
        Some(vec![first])
    }

    /// Status report of the forwarder.
    pub fn status(&self) -> Vec<StatusLine> {
        let mut lines = vec![self.status_of_forwarder()];
        for (id, face) in (0..).zip(&self.faces) {
            lines.extend(face.as_ref().map(|face| self.status_of_face(FaceId(id), face)));
        }
        lines.extend(self.rib.routes().iter().map(|route| {
            StatusLine::new("route")
                .with("prefix", self.names.uri(tidegate_core::ndn::name::Name::whole(route.prefix)))
                .with("face", self.number_of(route.face).unwrap_or_default())
                .with("origin", route.origin)
                .with("cost", route.cost)
                .with("flags", route.flags)
        }));
        lines
    }

    fn status_of_forwarder(&self) -> StatusLine {
        let forwarder = self.node.forwarder();
        let counters = forwarder.counters();
        let (malformed, oversized) = self.count_unreadable();
        StatusLine::new("forwarder")
            .with("version", env!("CARGO_PKG_VERSION"))
            .with("uptime_s", format_args!("{:.3}", self.now.as_nanos() as f64 / 1e9))
            .with("pending_interests", forwarder.pit().len())
            .with("cached_packets", forwarder.cs().len())
            .with("names", self.names.len())
            .with("tokens", self.tokens.len())
            .with("sweeps", self.counters.sweeps)
            .with("cache_hits", counters.cache_hits)
            .with("loops", counters.loops)
            .with("hop_limited", counters.hop_limited)
            .with("suppressed", counters.suppressed)
            .with("unsolicited", counters.unsolicited)
            .with("unrequested", counters.unrequested)
            .with("expired", counters.expired)
            .with("refused_full", counters.refused_full)
            .with("out_of_scope", self.counters.out_of_scope)
            .with("faces_refused", self.counters.faces_refused)
            .with("malformed", malformed)
            .with("oversized", oversized)
    }

    /// Malformed and oversized input since the start: of present and closed faces, and of listeners.
    fn count_unreadable(&self) -> (u64, u64) {
        let (mut malformed, mut oversized) = (self.counters.malformed, self.counters.oversized);
        for face in self.faces.iter().flatten() {
            if let Line::Socket { transport, link, .. } = &face.line {
                malformed += link.counters().malformed;
                oversized += transport.faults().oversized;
            }
        }
        oversized += self.listeners.udp.iter().map(|listener| listener.faults().oversized).sum::<u64>();
        (malformed, oversized)
    }

    fn status_of_face(&self, id: FaceId, face: &Face) -> StatusLine {
        let (view, queue) = (&self.node.faces()[id.index()], self.node.queue(id).stats());
        let gates = self.node.forwarder().gate_stats(id);
        let delays = queue.delays.summary();
        let millis = |span: Span| span.as_nanos() as f64 / 1e6;
        let line = StatusLine::new("face")
            .with("id", face.number)
            .with("scope", if view.is_local() { "local" } else { "non-local" })
            .with("received_packets", view.received_packets())
            .with("received_bytes", view.received_bytes().get())
            .with("sent_packets", view.sent_packets())
            .with("sent_bytes", view.sent_bytes().get())
            .with("queue_packets", view.queued_packets())
            .with("queue_bytes", view.queued_bytes().get())
            .with("peak_queue_packets", queue.peak)
            .with("queue_delay_mean_ms", millis(delays.mean))
            .with("queue_delay_p99_ms", millis(delays.p99))
            .with("dropped_packets", queue.dropped + gates.dropped)
            .with("marked_packets", queue.marked)
            .with("stored_packets", queue.stored + gates.held)
            .with("released_packets", queue.released + gates.released)
            .with("held_packets", u64::from(view.held_packets()) + gates.waiting)
            .with("loss_notices", queue.notices);
        let Line::Socket { transport, link, .. } = &face.line else {
            return line.with("remote", "internal://").with("local", "internal://");
        };
        let (counters, faults) = (link.counters(), transport.faults());
        line.with("remote", transport.remote_uri())
            .with("local", transport.local_uri())
            .with("malformed", counters.malformed)
            .with("reassembled", counters.reassembled)
            .with("fragmented", counters.fragmented)
            .with("unsendable", counters.unsendable)
            .with("oversized", faults.oversized)
            .with("unsent", faults.unsent)
    }
}

/// The content cut into signed Data, each with its name.
fn segments(versioned: &[u8], content: &[u8]) -> Result<Vec<(Vec<u8>, Bytes)>, EncodeError> {
    let mut pieces: Vec<&[u8]> = content.chunks(STATUS_SEGMENT).collect();
    // Empty content still needs a segment, which has the FinalBlockId.
    if pieces.is_empty() {
        pieces.push(&[]);
    }
    let mut last = Vec::new();
    name::push_segment(&mut last, pieces.len() as u32 - 1);
    let make = |(number, content): (u32, &[u8])| {
        let mut name = versioned.to_vec();
        name::push_segment(&mut name, number);
        let data = DataBuilder {
            name: &name,
            freshness: Some(STATUS_FRESH),
            final_block: Some(&last),
            content,
            ..Default::default()
        };
        let data = data.sign(&Signer::Digest)?;
        Ok((name, data))
    };
    (0..).zip(pieces).map(make).collect()
}
