//! TCP connections: two state machines at two nodes, driven by segments and timers.
//!
//! A connection's number is the segment number in the names of its packets; its two prefixes identify its
//! directions.

use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::PrefixId;
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_core::observe::event::Event;
use tidegate_core::tcp::{Receiver, Segment, Sender, TcpOptions};
use tidegate_core::units::Time;

use super::{Body, EventKind, Role, SimNode, Spares, World};

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
    fn poll(&mut self, side: usize, cx: &mut Context<'_>, spares: &mut Spares) -> Option<Packet<Body>> {
        let Segment { header, options } =
            if side == 1 { self.receiver.poll()? } else { self.poll_sender(cx)? };
        let mut packet = spares.packet(header);
        if !options.is_plain() {
            packet.body = Some(Box::new(options));
        }
        Some(packet)
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
    /// Passes a segment to an application of `node`; returns the end that took it in, which may send then. A
    /// segment for which no end waits here is dropped.
    pub(super) fn take_segment(&mut self, node: u32, packet: &Packet<Body>) -> Option<usize> {
        let number = packet.header.name.segment.0 as usize;
        let connection = self.connections.get_mut(number)?;
        let side = usize::from(packet.header.name.prefix == connection.data);
        if connection.sides[side].node != node {
            return None;
        }
        if side == 1 {
            let before = connection.receiver.arrived();
            connection.receiver.on_segment(self.now, &packet.header);
            if connection.receiver.arrived() > before {
                let event = Event::SegmentReceived { flow: connection.flow, name: packet.header.label() };
                self.recorder.see(self.now, node, event);
            }
        } else {
            let plain = TcpOptions::default();
            let options = packet.body.as_deref().unwrap_or(&plain);
            let core = &self.nodes[node as usize].core;
            core.with_context(env!(self, node), |cx| {
                connection.sender.on_segment(cx, &packet.header, options)
            });
        }
        Some(SIDES * number + side)
    }

    /// Runs the timers of an end that are due.
    pub(super) fn wake_side(&mut self, index: usize) {
        let (number, side) = (index / SIDES, index % SIDES);
        let connection = &mut self.connections[number];
        let Side { node, wake, .. } = &mut connection.sides[side];
        if *wake != self.now {
            return;
        }
        *wake = Time::MAX;
        let node = *node as usize;
        let SimNode { core, wakeups, .. } = &mut self.nodes[node];
        wakeups.note(self.now);
        if side == 1 {
            connection.receiver.on_wake(self.now);
        } else {
            core.with_context(env!(self, node), |cx| connection.sender.on_wake(cx));
        }
        self.drain_side(index);
        self.drain_ready();
    }

    /// Sends every segment that an end may send now, and schedules its next wake-up.
    pub(super) fn drain_side(&mut self, index: usize) {
        let (number, side) = (index / SIDES, index % SIDES);
        let Side { node, face, .. } = self.connections[number].sides[side];
        let node = node as usize;
        if !self.nodes[node].is_on {
            return;
        }
        if self.nodes[node].role == Role::Router {
            while let Some(packet) = self.poll_side(index) {
                self.receive(node, face, packet);
            }
            self.settle(node);
        } else {
            let (connection, spares) = (&mut self.connections[number], &mut self.spares);
            let SimNode { core, directions, .. } = &mut self.nodes[node];
            core.send_all(env!(self, node), face, lines!(self, directions), |cx| {
                connection.poll(side, cx, spares)
            });
        }
        self.rearm_side(index);
    }

    fn poll_side(&mut self, index: usize) -> Option<Packet<Body>> {
        let (number, side) = (index / SIDES, index % SIDES);
        let connection = &mut self.connections[number];
        let node = connection.sides[side].node;
        let (core, spares) = (&self.nodes[node as usize].core, &mut self.spares);
        core.with_context(env!(self, node), |cx| connection.poll(side, cx, spares))
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
        let Some(next) = next.map(|next| next.max(self.now)) else { return };
        let wake = &mut connection.sides[side].wake;
        if next < *wake {
            *wake = next;
            self.events.push(next, EventKind::SideWake, index);
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
