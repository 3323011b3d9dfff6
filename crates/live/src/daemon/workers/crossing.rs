//! Packets that cross from one worker to another.

use std::io;

use bytes::Bytes;
use tidegate_core::context::Env;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::{Name, NameTable};
use tidegate_core::ndn::packet::{Header, Kind, Packet, PitToken};
use tidegate_core::units::{ByteCount, Time};
use tidegate_wire::tlv::types::INTEREST;
use tidegate_wire::{LpFields, Token};

use super::super::face::{Face, Line, Wires};
use super::super::{Daemon, surroundings, wires};
use super::Workers;
use crate::link_service::{LinkContext, LocalFields, decode_message};
use crate::nfd::PacketCounts;
use crate::tokens::TokenTable;

/// A packet between two workers.
#[derive(Debug)]
pub(in super::super) enum Crossing {
    /// It was received by the owner of its face, for the tables of the other worker.
    Received(Incoming),
    /// The tables of one worker send it through a face of the other one.
    Sent(Outgoing),
    /// A face of the other worker requests more than a stream carries.
    Hold(HoldRequest),
}

/// A face to hold back, and the stream that is behind; each with its number in management.
#[derive(Debug)]
pub(in super::super) struct HoldRequest {
    pub face: FaceId,
    pub number: u64,
    pub stream: FaceId,
    pub stream_number: u64,
}

/// A message that was received.
#[derive(Debug)]
pub(in super::super) struct Incoming {
    face: FaceId,
    /// Number of the face in management.
    number: u64,
    fields: LpFields,
    payload: Bytes,
    /// Whether it is a Data that another worker has as well, here for Interests with CanBePrefix only.
    is_copy: bool,
}

/// A packet to send.
#[derive(Debug)]
pub(in super::super) struct Outgoing {
    pub face: FaceId,
    /// Number of the face in management.
    pub number: u64,
    /// Its name and token are numbers of the other worker.
    pub header: Header,
    /// The token of the peer, for an answer.
    pub token: Option<Token>,
    /// Whether it is of a peer that can be held back.
    pub is_from_held: bool,
    /// Number of the face from which an Interest came, if the peer wants it.
    pub incoming_face: Option<u64>,
    /// The packet; the name of a loss notice, which has no other bytes.
    pub body: Bytes,
}

impl Daemon {
    /// Processes a frame of face `id`, where there are several workers; returns whether it was an Interest that was
    /// forwarded.
    pub(in super::super) fn take_frame_among_workers(&mut self, id: FaceId, frame: Bytes) -> bool {
        let Some(Face { number, received, line: Line::Socket { link, .. }, .. }) =
            &mut self.faces[id.index()]
        else {
            return false;
        };
        let number = *number;
        let message = link.receive_message(frame, self.now);
        if let Some((message, is_reassembled)) = &message {
            link.count_packet(*is_reassembled);
            count_message(received, &message.fields, &message.fragment);
            let view = &self.node.faces()[id.index()];
            view.count_received(ByteCount::new(message.fragment.len() as u64));
        }
        self.serve_link(id);
        let (Some((message, _)), Some(workers)) = (message, &mut self.workers) else { return false };
        let (fields, payload) = (message.fields, message.fragment);
        let main = workers.shards.worker_of(&payload);
        let is_interest = is_interest(&payload);
        let is_request = is_interest && fields.nack.is_none();
        let own = workers.own;
        let mut copies = if is_interest { 0 } else { workers.with_prefixes(main) };
        let is_copied_here = copies >> own & 1 == 1;
        copies &= !(1 << own);
        for worker in 0..workers.wakers.len() {
            let is_copy = copies >> worker & 1 == 1;
            if is_copy || worker == main && main != own {
                let payload = payload.clone();
                workers.give(
                    worker,
                    Crossing::Received(Incoming { face: id, number, fields, payload, is_copy }),
                );
            }
        }
        if main == own || is_copied_here {
            self.forward(Incoming { face: id, number, fields, payload, is_copy: main != own });
        }
        is_request
    }

    /// Passes a message of an existing face to the node.
    fn forward(&mut self, incoming: Incoming) {
        let Incoming { face, fields, payload, is_copy, .. } = incoming;
        let mut context = LinkContext {
            now: self.now,
            names: &mut self.names,
            tokens: &mut self.tokens,
            nonces: &mut self.nonces,
        };
        let Ok(packet) = decode_message(&fields, payload, &mut context) else {
            self.counters.malformed += 1;
            return;
        };
        if let (Kind::Interest(interest), Some(workers)) = (packet.header.kind, &self.workers)
            && interest.can_be_prefix
        {
            // Before it leaves: its Data may come to any worker.
            workers.publish_prefixes(self.node.forwarder().pit().prefix_entries() + 1);
        }
        let before = self.node.forwarder().counters().unsolicited;
        self.set_source_among_workers(face);
        self.met.clear();
        self.process(face, packet, LocalFields::of(&fields));
        self.note_met(face);
        if is_copy && let Some(workers) = &mut self.workers {
            workers.counters.unneeded += self.node.forwarder().counters().unsolicited - before;
        }
    }

    /// Takes what other workers have put into the rings up to now, after their orders.
    pub(in super::super) fn take_crossings(&mut self) {
        let Some(workers) = &mut self.workers else { return };
        workers.relieve();
        // Counted before the orders are carried out: what was put in later may be about a face of a later order.
        let counts: Vec<usize> =
            workers.rings.iter().map(|rings| rings.as_ref().map_or(0, |rings| rings.from.slots())).collect();
        self.take_messages();
        self.release_held();
        for (worker, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                let Some(workers) = &mut self.workers else { return };
                let Some(Ok(crossing)) = workers.rings[worker].as_mut().map(|rings| rings.from.pop()) else {
                    break;
                };
                workers.counters.taken += 1;
                self.take_crossing(crossing);
            }
        }
        self.met.clear();
        self.schedule_forwarder_timer();
    }

    fn take_crossing(&mut self, crossing: Crossing) {
        let (face, number) = match &crossing {
            Crossing::Received(incoming) => (incoming.face, incoming.number),
            Crossing::Sent(outgoing) => (outgoing.face, outgoing.number),
            Crossing::Hold(request) => (request.face, request.number),
        };
        if !self.has_face(face, number) {
            if let Some(workers) = &mut self.workers {
                workers.counters.stale += 1;
            }
            return;
        }
        match crossing {
            Crossing::Received(incoming) => self.forward(incoming),
            Crossing::Sent(outgoing) => self.send_outgoing(outgoing),
            Crossing::Hold(request) => self.hold_for(request),
        }
    }

    /// Puts a packet into the queue of a face of this worker.
    fn send_outgoing(&mut self, outgoing: Outgoing) {
        let Outgoing { face, mut header, token, is_from_held, incoming_face, mut body, .. } = outgoing;
        self.shared.set_source(is_from_held);
        header.name = self.name_here(face, &header, &mut body);
        let token = token.and_then(|token| self.tokens.insert(token)).unwrap_or_default();
        set_token(&mut header.kind, token);
        if let Some(number) = incoming_face {
            self.incoming.record(&header, number);
        }
        let packet = self.packets.insert(Packet::new(header, body));
        self.node.send(surroundings!(self), face, packet, wires!(self));
        self.publish_behind(face);
    }

    /// The name of a packet in the table of this worker. It is the root where nothing reads it: the queue of a face has no
    /// discipline that does.
    fn name_here(&mut self, face: FaceId, header: &Header, body: &mut Bytes) -> Name {
        let root = Name::whole(NameTable::ROOT);
        if header.is_loss_notice() {
            return self.names.intern(&std::mem::take(body)).unwrap_or(root);
        }
        let reads_names = self.faces[face.index()].as_ref().is_some_and(|face| face.reads_names);
        let name = super::shards::name_of(body).filter(|_| reads_names);
        name.and_then(|name| self.names.intern(name).ok()).unwrap_or(root)
    }

    /// Sends packets for faces of other workers that had no room in a ring before.
    pub(in super::super) fn serve_waiting(&mut self) {
        let Some(workers) = &mut self.workers else { return };
        for face in std::mem::take(&mut workers.waiting) {
            if self.faces[face.index()].is_some() {
                self.serve(face);
            }
        }
    }

    /// Time at which the next wait for sockets ends; now if other workers have given this one something.
    #[inline]
    pub(in super::super) fn until_next_event(&mut self) -> Option<Time> {
        let next = self.timers.next();
        let is_due = self.workers.as_mut().is_some_and(|workers| workers.begin_wait());
        if is_due { Some(Time::ZERO) } else { next }
    }

    /// Begins a turn; returns whether sockets may be read from.
    #[inline]
    pub(in super::super) fn begin_turn_of_worker(&mut self) -> bool {
        let Some(workers) = &mut self.workers else { return true };
        workers.waker().end_wait();
        let is_crowded = workers.is_crowded();
        if is_crowded {
            // The worker that has to take packets may need this processor.
            std::thread::yield_now();
        }
        !is_crowded
    }

    /// Ends a turn: the other workers get what is new. Returns whether there is to be a further turn.
    ///
    /// # Errors
    /// When the thread of another worker has ended.
    #[inline]
    pub(in super::super) fn end_turn_of_worker(&mut self) -> io::Result<bool> {
        if self.workers.is_none() {
            return Ok(true);
        }
        self.serve_waiting();
        self.request_holds();
        let Some(workers) = &mut self.workers else { return Ok(true) };
        workers.publish_prefixes(self.node.forwarder().pit().prefix_entries());
        workers.wake_others();
        if workers.is_broken() {
            return Err(io::Error::other("a thread of the forwarder has ended"));
        }
        Ok(!workers.is_stopped())
    }
}

impl Workers {
    /// Passes a packet to the owner of a face, given with its number.
    #[inline]
    pub fn send(
        &mut self,
        worker: usize,
        (face, number): (FaceId, u64),
        packet: Packet<Bytes>,
        (names, tokens, incoming_face): (&NameTable, &TokenTable, Option<u64>),
    ) {
        let (header, mut body) = packet.into_parts();
        let token = match header.kind {
            Kind::Interest(_) | Kind::Tcp(_) => None,
            Kind::Data(_) | Kind::Nack(_) | Kind::LossNotice(_) => tokens.get(header.token()).copied(),
        };
        if header.is_loss_notice() {
            let mut name = Vec::new();
            names.write_components(header.name, &mut name);
            body = Bytes::from(name);
        }
        let is_from_held = self.holding.is_from_held;
        if matches!(header.kind, Kind::Interest(_)) && self.holding.is_behind(face) {
            self.holding.met.push(face);
        }
        self.give(
            worker,
            Crossing::Sent(Outgoing { face, number, header, token, is_from_held, incoming_face, body }),
        );
    }
}

/// Whether a payload begins as an Interest, refused or not.
fn is_interest(payload: &[u8]) -> bool {
    payload.first().is_some_and(|kind| u32::from(*kind) == INTEREST)
}

/// Counts a received message by its kind.
fn count_message(counts: &mut PacketCounts, fields: &LpFields, payload: &[u8]) {
    if fields.nack.is_some() {
        counts.nacks += 1;
    } else if is_interest(payload) {
        counts.interests += 1;
    } else if !fields.loss_notice {
        counts.data += 1;
    }
}

fn set_token(kind: &mut Kind, token: PitToken) {
    match kind {
        Kind::Interest(interest) => interest.token = token,
        Kind::Data(data) => data.token = token,
        Kind::Nack(nack) => nack.interest.token = token,
        Kind::LossNotice(notice) => notice.token = token,
        Kind::Tcp(_) => {}
    }
}
