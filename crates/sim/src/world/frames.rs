//! Links with frames: transmission of frames one after the other, and their reception.

use tidegate_core::arena::PacketId;
use tidegate_core::context::Sink;
use tidegate_core::link::line::Carriage;
use tidegate_core::ndn::face::NodeId;
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::units::{ByteCount, Time};

use super::{Agenda, World};
use crate::events::EventKind;
use crate::link::{LinkDirection, Radio};

impl Agenda {
    /// Passes a packet to a free device; returns `false` if all of it is lost at once, which a link service
    /// prevents.
    #[cold]
    pub(super) fn transmit(
        &mut self,
        (direction, wire): (usize, &mut LinkDirection),
        packet: PacketId,
        size: ByteCount,
    ) -> bool {
        let Some(framed) = &mut wire.framed else { return true };
        framed.push(packet, size);
        self.send(direction, wire);
        let mut is_lost = false;
        for framed in wire.framed.iter_mut().filter(|framed| !framed.has_service()) {
            for packet in framed.take_lost() {
                self.packets.end(packet);
                is_lost = true;
            }
        }
        !is_lost
    }

    fn send(&mut self, direction: usize, wire: &mut LinkDirection) {
        match wire.radio {
            None => self.send_on_line(direction, wire),
            Some(radio) => self.offer_to(radio, direction, wire),
        }
        self.schedule_wake(direction, wire);
    }

    /// Passes waiting frames to the radio until it has a whole transmission.
    fn offer_to(&mut self, radio: Radio, direction: usize, wire: &mut LinkDirection) {
        let Some(framed) = &mut wire.framed else { return };
        let shared = &mut self.media[radio.medium];
        while !shared.is_full(radio) {
            // A frame that was taken from a link that is down is withheld: the service then counts it as sent and lost.
            let Some(frame) = framed.next_frame(self.now) else { break };
            if wire.is_up {
                shared.offer(self.now, direction as u32, radio, frame);
            } else {
                framed.withhold(&frame);
            }
        }
        // The medium schedules an event when it can accept the next frame.
        wire.is_armed = wire.is_up;
        wire.line.busy_until = if shared.is_full(radio) { Time::MAX } else { self.now };
        if let Some(at) = shared.earlier_event(self.now) {
            self.events.push(at, EventKind::Medium, radio.medium);
        }
    }

    /// Sends waiting frames while the line is free; a link that is down loses them.
    fn send_on_line(&mut self, direction: usize, wire: &mut LinkDirection) {
        let Some(framed) = &mut wire.framed else { return };
        let before = framed.busy_until();
        while framed.busy_until() <= self.now {
            let Some(frame) = framed.next_frame(self.now) else { break };
            if !wire.is_up {
                framed.withhold(&frame);
            } else if let Carriage::First(at) = framed.transmit(frame, self.now) {
                self.events.push(at, EventKind::FrameArrival, direction);
            }
        }
        let (is_pending, busy_until) = (wire.is_armed, framed.busy_until());
        wire.is_armed = is_pending || framed.has_waiting();
        if wire.is_armed && !(is_pending && busy_until == before) {
            self.events.push(busy_until.max(self.now), EventKind::Sent, direction);
        }
        // What waits here goes before what waits in the queue.
        wire.line.busy_until = if framed.has_waiting() { Time::MAX } else { busy_until };
    }

    fn schedule_wake(&mut self, direction: usize, wire: &mut LinkDirection) {
        let Some(framed) = &wire.framed else { return };
        // Losses that a service detects while it transmits are reported at its wake-up.
        let wake =
            if framed.has_lost() && framed.has_service() { Some(self.now) } else { framed.next_wake() };
        if let Some(wake) = wake.map(|wake| wake.max(self.now))
            && wake < wire.link_wake
        {
            wire.link_wake = wake;
            self.events.push(wake, EventKind::LinkWake, direction);
        }
    }
}

impl World {
    /// A frame has been sent.
    #[cold]
    pub(super) fn sent_frame(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        if wire.radio.is_some() {
            wire.is_armed = false;
            return if wire.is_up { self.refill(direction) } else { self.drop_queue(direction) };
        }
        let Some(framed) = &wire.framed else { return };
        // A link that went down in between left an event behind.
        if framed.busy_until() != self.agenda.now || !wire.is_armed {
            return;
        }
        wire.is_armed = false;
        if framed.has_waiting() {
            self.react(direction);
        }
        let wire = &self.directions[direction];
        if wire.line.busy_until <= self.agenda.now {
            if wire.is_up { self.service(direction) } else { self.drop_queue(direction) }
        } else if !wire.is_armed {
            self.arm(direction);
        }
    }

    /// Packets may wait for the frame that is being sent.
    fn arm(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        wire.is_armed = true;
        let at = wire.line.busy_until;
        self.agenda.events.push(at, EventKind::Sent, direction);
    }

    fn send_frames(&mut self, direction: usize) {
        self.agenda.send(direction, &mut self.directions[direction]);
    }

    /// A frame reached the far end of its link.
    #[cold]
    pub(super) fn arrive_frame(&mut self, direction: usize) {
        let (now, peer) = (self.agenda.now, direction ^ 1);
        let Some(framed) = &mut self.directions[direction].framed else { return };
        let Some(frame) = framed.take_arrival(now) else { return };
        if let Some(at) = framed.next_arrival() {
            self.agenda.events.push(at, EventKind::FrameArrival, direction);
        }
        // The end that gets it is the one that sends in the other direction.
        let is_new = self.directions[peer].framed.as_mut().is_none_or(|framed| framed.receive(now, &frame));
        let Some(framed) = &mut self.directions[direction].framed else { return };
        let whole = framed.reassemble(now, &frame, is_new);
        self.notify_lost(direction);
        self.react(peer);
        if let Some(packet) = whole {
            self.take_in(self.directions[direction].to, packet);
        }
    }

    /// Wakes the link service at its requested time.
    #[cold]
    pub(super) fn wake_link(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        // Stale: the timer was moved forward after this event was scheduled.
        if wire.link_wake != self.agenda.now {
            return;
        }
        wire.link_wake = Time::MAX;
        if let Some(framed) = &mut wire.framed {
            framed.wake(self.agenda.now);
        }
        self.react(direction);
    }

    /// Sends the frames of a link service that are due.
    pub(super) fn react(&mut self, direction: usize) {
        self.send_frames(direction);
        self.notify_lost(direction);
    }

    pub(super) fn notify_lost(&mut self, direction: usize) {
        let wire = &mut self.directions[direction];
        let Some(framed) = &mut wire.framed else { return };
        for packet in framed.take_lost() {
            if self.present.mask.has(EventMask::LOSSES) {
                let name = self.agenda.packets[&packet].header.name;
                let lost = Event::Lost { face: wire.from.face.0, name };
                self.present.outside_mut().sink.record(self.agenda.now, NodeId(wire.from.node), lost);
            }
            self.agenda.packets.end(packet);
        }
    }
}
