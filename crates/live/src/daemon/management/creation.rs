//! Faces over TCP that commands create: the response waits until the connection is established or has failed, as in NFD.

use bytes::Bytes;
use tidegate_core::units::{Span, Time};
use tidegate_wire::InterestView;

use super::super::Daemon;
use super::super::face::FaceState;
use super::request::RequestRefusal;
use crate::nfd::ControlParameters;

/// Maximum time for a connection (NFD: 8 s), before which the client of the command gives up.
const PATIENCE: Span = Span::from_secs(8);

/// Maximum number of commands that wait; the response to a further one does not.
const MAX_CREATIONS: usize = 64;

/// A face that is being connected, and the command that awaits it.
#[derive(Debug)]
pub(in super::super) struct Creation {
    number: u64,
    until: Time,
    command: Bytes,
    /// The parameters of its response.
    done: ControlParameters,
}

impl Daemon {
    /// Postpones the response to the command that created a face, if the face is being connected.
    pub(super) fn awaits_connection(&mut self, command: &Bytes, done: &ControlParameters) -> bool {
        let Some(number) = done.face_id else { return false };
        let is_connecting = self.state_of(number) == Some(FaceState::Connecting);
        if !is_connecting || self.creations.len() >= MAX_CREATIONS {
            return false;
        }
        let (until, command, done) = (self.now + PATIENCE, command.clone(), done.clone());
        self.creations.push(Creation { number, until, command, done });
        true
    }

    /// Responds to the commands whose connections are established, have failed or take too long.
    pub(in super::super) fn answer_creations(&mut self) {
        for creation in std::mem::take(&mut self.creations) {
            let failure = match self.state_of(creation.number) {
                Some(FaceState::Up) => None,
                Some(FaceState::Connecting) if self.now < creation.until => {
                    self.creations.push(creation);
                    continue;
                }
                Some(FaceState::Connecting) => Some("the peer does not answer"),
                Some(FaceState::Down | FaceState::Ended) | None => {
                    Some("the connection was refused or broke")
                }
            };
            self.end_creation(&creation, failure);
        }
    }

    fn end_creation(&mut self, creation: &Creation, failure: Option<&'static str>) {
        let outcome = match failure {
            None => Ok(creation.done.clone()),
            Some(why) => {
                if let Some(id) = self.face_of_number(creation.number) {
                    self.close(id);
                }
                Err(RequestRefusal::new(504, why))
            }
        };
        // It was parsed before.
        let Ok(view) = InterestView::parse(&creation.command) else { return };
        if let Some(data) = self.response(&view, outcome) {
            self.publish(data);
        }
    }

    fn state_of(&self, number: u64) -> Option<FaceState> {
        let face = self.face_of_number(number)?;
        self.faces[face.index()].as_ref().map(|face| face.state)
    }
}
