//! TCP connections: two state machines at two nodes, driven by segments and timers.
//!
//! A connection's number is the segment number in the names of its packets; its two prefixes identify its
//! directions.

use tidegate_core::arena::PacketId;
use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::PrefixId;
use tidegate_core::ndn::packet::{Kind, Packet, PacketArena};
use tidegate_core::observe::event::Event;
use tidegate_core::tcp::{Receiver, Segment, Sender, TcpOptions};
use tidegate_core::units::Time;

use super::{Body, EventKind, Role, SimNode, World};

/// A connection and where its ends run.
#[derive(Debug)]
pub(super) struct Connection {
    /// Number among the flows.
    pub flow: u32,
    pub sender: Sender,
    pub receiver: Receiver,
    /// Prefix of the segments to the receiver.
    pub data: PrefixId,
    /// The sender's end, then the receiver's.
    pub sides: [Side; 2],
    pub counted: bool,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub node: u32,
    /// Face that applications without one of their own share, or the device of a host without a forwarder.
    pub face: FaceId,
    pub wake: Time,
}

/// Number of ends of a connection; ends are numbered through all connections.
const SIDES: usize = 2;

impl Connection {
    /// The next packet that the end `side` may send now.
    #[inline]
    fn poll(
        &mut self,
        side: usize,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<Body>,
    ) -> Option<PacketId> {
        let Segment { header, options } =
            if side == 1 { self.receiver.poll()? } else { self.poll_sender(cx)? };
        let body = if options.is_plain() { None } else { Some(Box::new(options)) };
        Some(packets.insert(Packet::new(header, body)))
    }

    /// Passes a segment to the end `side`.
    #[inline]
    fn deliver(&mut self, side: usize, cx: &mut Context<'_>, packet: &Packet<Body>) {
        if side == 1 {
            let before = self.receiver.arrived();
            self.receiver.on_segment(cx.now, &packet.header);
            if self.receiver.arrived() > before {
                cx.record(Event::SegmentReceived { flow: self.flow, name: packet.header.label() });
            }
        } else {
            let plain = TcpOptions::default();
            self.sender.on_segment(cx, &packet.header, packet.body.as_deref().unwrap_or(&plain));
        }
    }

    #[inline]
    fn poll_sender(&mut self, cx: &mut Context<'_>) -> Option<Segment> {
        let before = self.sender.stats().retransmissions;
        let segment = self.sender.poll(cx)?;
        if matches!(segment.header.kind, Kind::Tcp(tcp) if tcp.payload > 0) {
            // A segment does not show whether it is a retransmission; the sender's counter does.
            let retransmission = self.sender.stats().retransmissions > before;
            let name = segment.header.label();
            cx.record(Event::SegmentSent { flow: self.flow, name, retransmission });
        }
        Some(segment)
    }
}

impl World {
    /// The end of a connection at `node` that a segment is for; a segment for which no end waits there is dropped.
    #[inline]
    fn side_of(&self, node: u32, packet: &PacketId) -> Option<usize> {
        let name = self.agenda.packets[packet].header.name;
        let number = name.segment.0 as usize;
        let connection = self.connections.get(number)?;
        let side = usize::from(name.prefix == connection.data);
        (connection.sides[side].node == node).then_some(SIDES * number + side)
    }

    /// Passes a segment to an application of `node`; returns the end that took it in, which may send then.
    pub(super) fn take_segment(&mut self, node: u32, packet: PacketId) -> Option<usize> {
        let index = self.side_of(node, &packet);
        if let Some(index) = index {
            let core = &self.nodes[node as usize].core;
            let connection = &mut self.connections[index / SIDES];
            let segment = &self.agenda.packets[&packet];
            core.with_context(env!(self, node), |cx| connection.deliver(index % SIDES, cx, segment));
        }
        self.agenda.packets.end(packet);
        index
    }

    /// Passes a segment to an end at a host without a forwarder, and sends every segment that it may send then.
    #[inline]
    pub(super) fn take_segment_direct(&mut self, node: u32, packet: PacketId) {
        match self.side_of(node, &packet) {
            Some(index) => self.drive_side(index, Some(packet)),
            None => self.agenda.packets.end(packet),
        }
    }

    /// Runs the timers of an end that are due.
    #[inline(never)]
    pub(super) fn wake_side(&mut self, index: usize) {
        let (number, side) = (index / SIDES, index % SIDES);
        let connection = &mut self.connections[number];
        let Side { node, wake, .. } = &mut connection.sides[side];
        if *wake != self.agenda.now {
            return;
        }
        *wake = Time::MAX;
        let node = *node as usize;
        let SimNode { core, wakeups, .. } = &mut self.nodes[node];
        wakeups.note(self.agenda.now);
        if side == 1 {
            connection.receiver.on_wake(self.agenda.now);
        } else {
            core.with_context(env!(self, node), |cx| connection.sender.on_wake(cx));
        }
        self.drain_side(index);
        self.drain_ready();
    }

    /// Sends every segment that an end may send now, and schedules its next wake-up.
    pub(super) fn drain_side(&mut self, index: usize) {
        let Side { node, face, .. } = self.connections[index / SIDES].sides[index % SIDES];
        let node = node as usize;
        if !self.nodes[node].is_on {
            return;
        }
        if self.nodes[node].role != Role::Router {
            return self.drive_side(index, None);
        }
        while let Some(packet) = self.poll_side(index) {
            self.receive(node, face, packet);
        }
        self.settle(node);
        self.rearm_side(index);
    }

    /// Passes a segment to an end whose host is on and has no forwarder, sends every segment that it may send then, and
    /// schedules its next wake-up.
    fn drive_side(&mut self, index: usize, mut arrived: Option<PacketId>) {
        let (connection, side) = (&mut self.connections[index / SIDES], index % SIDES);
        let Side { node, face, .. } = connection.sides[side];
        debug_assert!(self.nodes[node as usize].is_on);
        let SimNode { core, directions, .. } = &mut self.nodes[node as usize];
        core.send_all(env!(self, node), face, lines!(self, directions), |cx, packets| {
            if let Some(packet) = arrived.take() {
                connection.deliver(side, cx, &packets[&packet]);
                packets.end(packet);
            }
            connection.poll(side, cx, packets)
        });
        self.rearm_side(index);
    }

    fn poll_side(&mut self, index: usize) -> Option<PacketId> {
        let (number, side) = (index / SIDES, index % SIDES);
        let connection = &mut self.connections[number];
        let node = connection.sides[side].node;
        let (core, packets) = (&self.nodes[node as usize].core, &mut self.agenda.packets);
        core.with_context(env!(self, node), |cx| connection.poll(side, cx, packets))
    }

    /// Schedules the next wake-up of an end, and records whether the connection is complete.
    pub(super) fn rearm_side(&mut self, index: usize) {
        let (number, side) = (index / SIDES, index % SIDES);
        let connection = &mut self.connections[number];
        if !connection.counted && connection.receiver.completed_at().is_some() {
            connection.counted = true;
            self.unfinished -= 1;
        }
        let next = if side == 1 { connection.receiver.next_wake() } else { connection.sender.next_wake() };
        let Some(next) = next.map(|next| next.max(self.agenda.now)) else { return };
        let wake = &mut connection.sides[side].wake;
        if next < *wake {
            *wake = next;
            self.agenda.events.push(next, EventKind::SideWake, index);
        }
    }

    /// Number of the ends of all connections.
    pub(super) fn sides(&self) -> usize {
        SIDES * self.connections.len()
    }

    /// Lets the ends at `node` send again after it was off.
    pub(super) fn restart_sides(&mut self, node: usize) {
        for index in 0..self.sides() {
            if self.connections[index / SIDES].sides[index % SIDES].node as usize == node {
                self.drain_side(index);
            }
        }
    }
}
