//! Interests that the forwarder answers itself: NFD's management protocol, and a status of its own.
//!
//! A response has the name of its command, a dataset that of its request with a version and a segment. The
//! content store holds none of them: each request gets the present state.

mod announce;
mod authority;
mod budget;
pub(super) mod creation;
mod cs;
mod dataset;
mod events;
mod face_commands;
mod faces;
mod fib;
pub(super) mod key_fetch;
mod known_keys;
mod lines;
mod marking;
pub mod request;
mod rib;
mod status;
mod strategy_choice;
pub mod verb;
mod wrong_signatures;

use bytes::Bytes;
use tidegate_core::context::Env;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::forwarder::Steering;
use tidegate_core::ndn::name::{Name, PrefixId};
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_wire::tlv::TlvReader;
use tidegate_wire::{DataBuilder, InterestView, Signer};

use super::face::{Face, Line, Wires, count};
use super::{Daemon, MANAGEMENT, surroundings, wires};
use crate::clock::MonotonicClock;
use crate::nfd::{ControlParameters, ControlResponse};
pub(super) use authority::Authority;
use authority::CommandSender;
pub(super) use budget::CommandBudgets;
pub(super) use cs::{Erased, StoreChange};
pub(super) use dataset::Datasets;
pub(super) use events::FaceEvents;
pub(super) use known_keys::KnownKeys;
use request::{Dataset, Request, RequestRefusal};
use verb::Verb;

/// Maximum number of components in the prefix of a command, as in NFD.
const MAX_COMPONENTS: usize = 32;

/// ContentType of the response to a dataset request that is refused (Nack, NDN packet format 0.3).
const NACK_CONTENT: u64 = 3;

impl Daemon {
    /// Answers the Interests that wait for the forwarder itself.
    pub(super) fn answer_management(&mut self) {
        self.take_noted_certificates();
        if self.workers.is_some() && self.has_requests() && self.awaits_reports() {
            return;
        }
        while let Some(packet) = self.take_management() {
            let Kind::Interest(_) = packet.header.kind else {
                // From the content store: every other one was noted on its arrival.
                self.take_certificate(&packet, None);
                continue;
            };
            if let Some(data) = self.answer(&packet) {
                self.publish(data);
            }
        }
    }

    fn has_requests(&self) -> bool {
        let management = self.faces.get(MANAGEMENT.index()).and_then(Option::as_ref);
        management.is_some_and(|face| matches!(&face.line, Line::Internal(waiting) if !waiting.is_empty()))
    }

    fn take_management(&mut self) -> Option<Packet<Bytes>> {
        match self.faces.get_mut(MANAGEMENT.index()) {
            Some(Some(Face { line: Line::Internal(waiting), .. })) => waiting.pop_front(),
            _ => None,
        }
    }

    /// A packet of our own as the node takes it; `None` if it is malformed.
    fn own_packet(&mut self, packet: Bytes) -> Option<Packet<Bytes>> {
        // Only an Interest without a nonce would need one.
        let mut nonce = || 0;
        tidegate_wire::decode_packet(&Default::default(), packet, &mut self.names, &mut nonce).ok()
    }

    /// Passes a Data of our own to the node.
    fn publish(&mut self, data: Bytes) {
        let Some(packet) = self.own_packet(data) else { return };
        if let Some(Some(face)) = self.faces.get_mut(MANAGEMENT.index()) {
            count(&mut face.received, &packet.header.kind);
        }
        self.node.faces()[MANAGEMENT.index()].count_received(packet.header.size());
        // In the content store it would hide changes, and answer a command that is sent again without carrying it out.
        self.forward_own(packet, Steering::NoCache);
    }

    /// Passes a packet of our own to the node.
    fn forward_own(&mut self, packet: Packet<Bytes>, steering: Steering) {
        let steered = (self.packets.insert(packet), steering);
        self.node.receive_steered(surroundings!(self), MANAGEMENT, steered, wires!(self));
    }

    /// The Data that answers an Interest; `None` if it is malformed or requests nothing that exists.
    fn answer(&mut self, packet: &Packet<Bytes>) -> Option<Bytes> {
        let view = InterestView::parse(&packet.body).ok()?;
        let request = Request::read(&view);
        let is_creation = matches!(request, Ok(Request::Command(Verb::FacesCreate, _)));
        let is_registration = match &request {
            Ok(Request::Command(verb, _)) => verb.module() == "rib",
            Ok(Request::Announcement(_)) => true,
            _ => false,
        };
        let outcome = match request {
            Ok(Request::Foreign) => return None,
            Ok(Request::FaceEvent(number)) => return self.face_events.request(number, self.now),
            Ok(Request::Segment(dataset)) => return self.datasets.segment(&dataset, &view.name),
            Ok(Request::Dataset(dataset)) => return self.answer_dataset(&view, dataset),
            Ok(Request::Command(verb, parameters)) => self.requester(packet).and_then(|from| {
                let sender = self.authorize_command(&view, verb.module(), from, &parameters)?;
                self.within_budget(sender, |daemon| daemon.execute(sender, verb, *parameters))
            }),
            Ok(Request::Announcement(announcement)) => self.requester(packet).and_then(|from| {
                let name = Some(announcement.prefix.clone());
                let requested = ControlParameters { name, ..ControlParameters::default() };
                let sender = self.authorize_command(&view, "rib", from, &requested)?;
                self.within_budget(sender, |daemon| daemon.announce(sender, *announcement))
            }),
            Err(refusal) => Err(refusal),
        };
        if is_creation
            && let Ok(done) = &outcome
            && self.awaits_connection(&packet.body, done)
        {
            return None;
        }
        let is_unknown = is_registration && outcome.as_ref().is_err_and(|refusal| refusal.code == 403);
        let waits = match self.requester(packet) {
            Ok(from) if is_unknown => self.awaits_certificate(packet, from),
            _ => Ok(false),
        };
        match waits {
            Ok(true) => None,
            Ok(false) => self.response(&view, outcome),
            Err(refusal) => self.response(&view, Err(refusal)),
        }
    }

    /// The response to a request.
    fn response(
        &mut self,
        view: &InterestView<'_>,
        outcome: Result<ControlParameters, RequestRefusal>,
    ) -> Option<Bytes> {
        let is_dataset = outcome.as_ref().is_err_and(|refusal| refusal.is_dataset);
        if outcome.is_ok() {
            self.datasets.on_change(wall_millis());
        }
        let response = match outcome {
            Ok(done) => ControlResponse::new(200, "OK", Some(done)),
            // ndnd rejects a response without parameters; nfdc ignores them here.
            Err(RequestRefusal { code, text, body, .. }) => {
                tracing::info!(code, "a request to management was refused: {text}");
                ControlResponse::new(code, &text, Some(*body))
            }
        };
        let content = response.encode();
        let data = DataBuilder {
            name: view.name.components(),
            content_type: if is_dataset { NACK_CONTENT } else { 0 },
            freshness: Some(dataset::FRESHNESS),
            content: &content,
            ..Default::default()
        };
        data.sign(&Signer::Digest).ok()
    }

    fn answer_dataset(&mut self, view: &InterestView<'_>, dataset: Dataset) -> Option<Bytes> {
        let requested = view.name.components();
        if let Some(recent) = self.datasets.recent(&dataset, requested, wall_millis()) {
            return recent.ok();
        }
        let content = match &dataset {
            Dataset::General => self.general_status().encode(),
            Dataset::Faces(filter) => self.face_list(filter),
            Dataset::Channels => self.channel_list(),
            Dataset::Fib => self.fib_list(),
            Dataset::Rib => self.rib_list(),
            Dataset::Cs => self.cs_info().encode(),
            Dataset::StrategyChoice => self.strategy_choice_list(),
            Dataset::Lines => super::status::write(&self.status()).into_bytes(),
        };
        self.datasets.publish(dataset, requested, content, wall_millis()).ok()
    }

    /// Carries out a command; returns the parameters as they were applied.
    fn execute(
        &mut self,
        sender: CommandSender,
        verb: Verb,
        parameters: ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        verb.check(&parameters)?;
        match verb {
            Verb::FacesCreate => self.create_face(sender, &parameters),
            Verb::FacesUpdate => self.update_face(sender, &parameters),
            Verb::FacesDestroy => self.destroy_face(sender, &parameters),
            Verb::FibAddNextHop => self.add_next_hop(sender, parameters),
            Verb::FibRemoveNextHop => self.remove_next_hop(sender, parameters),
            Verb::RibRegister => self.register(sender, parameters),
            Verb::RibUnregister => self.unregister(sender, parameters),
            Verb::CsConfig => self.configure_cs(&parameters),
            Verb::CsErase => self.erase_cs(parameters),
            Verb::StrategyChoiceSet => self.set_strategy(parameters),
            Verb::StrategyChoiceUnset => self.unset_strategy(parameters),
        }
    }

    /// The face from which a command came.
    fn requester(&self, packet: &Packet<Bytes>) -> Result<FaceId, RequestRefusal> {
        // The PIT entry has the face on which the command arrived; the packet itself has no field for it.
        let pit = self.node.forwarder().pit();
        let entry = pit.find(packet.header.name).map(|id| pit.entry(id));
        let from = entry.and_then(|entry| entry.in_records().next());
        let gone = || RequestRefusal::new(503, "the face of the command no longer exists");
        from.map(|record| record.face).ok_or_else(gone)
    }

    /// The face that a command is about: the one it names, else the one on which it arrived.
    fn face_of(
        &mut self,
        sender: CommandSender,
        requested: &ControlParameters,
    ) -> Result<FaceId, RequestRefusal> {
        let face = self.face_or_gone(sender, requested)?;
        face.ok_or_else(|| RequestRefusal::new(410, "there is no face of this FaceId"))
    }

    /// As [`face_of`](Self::face_of), but `None` for a FaceId that no longer exists: what is removed from a face
    /// that is gone was removed with it.
    fn face_or_gone(
        &mut self,
        sender: CommandSender,
        requested: &ControlParameters,
    ) -> Result<Option<FaceId>, RequestRefusal> {
        let face = match requested.face_id {
            None | Some(0) => Some(sender.face),
            Some(number) => self.face_of_number(number),
        };
        face.map(|face| self.check_face(sender, face).map(|()| face)).transpose()
    }

    pub(super) fn face_of_number(&self, number: u64) -> Option<FaceId> {
        let is_it = |face: &Option<Face>| face.as_ref().is_some_and(|face| face.number == number);
        (0..).zip(&self.faces).find(|(_, face)| is_it(face)).map(|(id, _)| FaceId(id))
    }

    fn number_of(&self, face: FaceId) -> Option<u64> {
        self.faces[face.index()].as_ref().map(|face| face.number)
    }

    /// The prefix that a command is about, which has at most [`MAX_COMPONENTS`] components.
    fn prefix_of(&mut self, requested: &ControlParameters) -> Result<PrefixId, RequestRefusal> {
        let name = requested.name.as_deref();
        let name = name.ok_or_else(|| RequestRefusal::new(400, "the parameters have no Name"))?;
        let malformed = |_| RequestRefusal::new(400, "the Name in the parameters is malformed");
        // Checked first: a name that is refused must not stay in the table of names.
        if components_in(name) > MAX_COMPONENTS {
            return Err(RequestRefusal::new(
                414,
                format!("the Name has more than {MAX_COMPONENTS} components"),
            ));
        }
        self.names.intern_prefix(name).map_err(malformed)
    }

    /// Components of a prefix, concatenated.
    fn components(&self, prefix: PrefixId) -> Vec<u8> {
        let mut components = Vec::new();
        self.names.write_components(Name::whole(prefix), &mut components);
        components
    }
}

/// Number of components in a name; those before the first malformed one if there is any.
fn components_in(name: &[u8]) -> usize {
    let mut reader = TlvReader::new(name);
    std::iter::from_fn(|| reader.next().ok().flatten()).count()
}

/// Milliseconds since 1970-01-01 UTC.
pub(super) fn wall_millis() -> u64 {
    MonotonicClock::wall_micros() / 1_000
}
