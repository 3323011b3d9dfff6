//! Permanent faces whose transport has failed: they stay with their routes, and are connected again.

use tidegate_core::context::Env;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::units::ByteCount;
use tidegate_wire::FrameBatch;

use super::face::{FacePersistency, FaceState, Line};
use super::{Daemon, Watch, Watched, surroundings};
use crate::nfd::FaceEventKind;

impl Daemon {
    /// Closes the face, or takes a permanent one down if this end can connect it again.
    pub(super) fn on_transport_failure(&mut self, id: FaceId) {
        let Some(face) = &self.faces[id.index()] else { return };
        if face.persistency == FacePersistency::Permanent && face.is_outgoing() {
            self.take_down(id);
        } else {
            self.end_face(id);
        }
    }

    /// Drops what waits for the face; strategies pass it over until it is up again.
    fn take_down(&mut self, id: FaceId) {
        if self.close_down(id) {
            self.record_face_event(id, FaceEventKind::Down);
            self.announce_up(id, false);
        }
    }

    /// Drops what waits for the face and sets it down; returns whether it was up.
    pub(super) fn close_down(&mut self, id: FaceId) -> bool {
        let Some(face) = &mut self.faces[id.index()] else { return false };
        let Line::Socket { transport, batch, is_full, .. } = &mut face.line else { return false };
        // A socket that is watched no longer is not reported; an error means that it never was.
        let _ = self.poll.deregister(&*transport);
        *batch = FrameBatch::new();
        // Packets that arrive now wait in the queue, within its limits.
        *is_full = true;
        let was_up = std::mem::replace(&mut face.state, FaceState::Down) == FaceState::Up;
        let waiting = face.pressure.take_waiting();
        self.node.clear_queue(surroundings!(self), &mut self.packets, id);
        let view = &self.node.faces()[id.index()];
        view.set_up(false);
        view.set_below(ByteCount::ZERO);
        self.release(waiting);
        was_up
    }

    /// Marks a face whose connection was begun as being connected: it is up when the connection is established.
    pub(super) fn begin_connecting(&mut self, id: FaceId) {
        let Some(face) = &mut self.faces[id.index()] else { return };
        let Line::Socket { transport, is_full, .. } = &mut face.line else { return };
        *is_full = true;
        let token = Watched::Face(id, face.number).token();
        if self.poll.modify(&*transport, token, Watch::ReadWrite).is_ok() {
            face.state = FaceState::Connecting;
            face.watched = Watch::ReadWrite;
            self.node.faces()[id.index()].set_up(false);
            self.announce_up(id, false);
        }
    }

    /// Begins to connect every face that is down.
    pub(super) fn reconnect_faces(&mut self) {
        let is_down =
            |id: &FaceId| self.faces[id.index()].as_ref().is_some_and(|face| face.state == FaceState::Down);
        let down: Vec<FaceId> = (0..self.faces.len()).map(|at| FaceId(at as u16)).filter(is_down).collect();
        down.into_iter().for_each(|id| self.reconnect(id));
    }

    fn reconnect(&mut self, id: FaceId) {
        let Some(face) = &mut self.faces[id.index()] else { return };
        let Line::Socket { transport, link, .. } = &mut face.line else { return };
        // A peer that is not there is tried again by the next call.
        let Ok(begun) = transport.begin_again() else { return };
        let (plan, counters, is_reliable) = (link.plan(), link.counters(), link.reliability().is_some());
        // Half of a packet from the earlier connection is of no use in this one.
        let Ok(fresh) = self.link_layer(&begun, plan, is_reliable) else { return };
        let Some(face) = &mut self.faces[id.index()] else { return };
        let Line::Socket { transport, link, .. } = &mut face.line else { return };
        *link = fresh.with_counters(counters);
        *transport = begun;
        face.state = FaceState::Connecting;
        face.watched = Watch::ReadWrite;
        let token = Watched::Face(id, face.number).token();
        if self.poll.register(&*transport, token, Watch::ReadWrite).is_err() {
            face.state = FaceState::Down;
        }
    }

    /// Whether events of the face are those of an established connection; one that was just established is up
    /// from here on.
    pub(super) fn is_connected(&mut self, id: FaceId) -> bool {
        let Some(face) = &mut self.faces[id.index()] else { return false };
        match (face.state, &mut face.line) {
            (FaceState::Up, _) => return true,
            (FaceState::Connecting, Line::Socket { transport, is_full, .. }) => {
                match transport.is_connected() {
                    Ok(true) => *is_full = false,
                    Ok(false) => return false,
                    Err(_) => {
                        self.take_down(id);
                        return false;
                    }
                }
            }
            _ => return false,
        }
        face.state = FaceState::Up;
        face.received_at = self.now;
        self.node.faces()[id.index()].set_up(true);
        self.record_face_event(id, FaceEventKind::Up);
        self.announce_up(id, true);
        true
    }
}
