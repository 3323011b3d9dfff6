//! Module `faces`: creation, change and destruction of faces.
//!
//! What a face cannot have is refused: reliability of a stream, and local fields towards other machines.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::scheme::params::{Setting, Settings};
use tidegate_core::units::ByteCount;
use tidegate_settings::uses::SchemeUse;

use super::super::config::FaceConfig;
use super::super::face::{FacePersistency, Line, Origin};
use super::super::faces::AttachError;
use super::super::places::Newcomer;
use super::super::{Daemon, MANAGEMENT};
use super::authority::CommandSender;
use super::faces::{CONGESTION_MARKING, LOCAL_FIELDS, MAX_MTU, RELIABILITY};
use super::request::RequestRefusal;
use crate::link_service::MtuPlan;
use crate::nfd::ControlParameters;
use crate::uri::FaceUri;

/// Minimum size of a frame, bytes: the largest packet then fits in the maximum number of fragments.
const MIN_MTU: u64 = 128;

/// Mtu that stands for the default (nfdc's `auto`).
const DEFAULT_MTU: u64 = u64::MAX;

/// URI schemes of faces that exist but cannot be created by a command.
const NOT_CREATABLE: [&str; 10] =
    ["unix", "fd", "dev", "udp4+dev", "udp6+dev", "ws", "wss", "wsclient", "internal", "null"];

impl Daemon {
    /// Creates a face. Over TCP it is being connected; see [`creation`](super::creation).
    pub(super) fn create_face(
        &mut self,
        sender: CommandSender,
        requested: &ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let uri = read_uri(requested.uri.as_deref().unwrap_or_default())?;
        let interface = read_local_uri(&uri, requested.local_uri.as_deref())?;
        let persistency = self.check_creation(&uri, requested)?;
        if let Some(face) = self.face_to(&uri, interface) {
            let body = Box::new(self.face_parameters(face, requested));
            let text = format!("there is a face to {uri} already");
            return Err(RequestRefusal { body, ..RequestRefusal::new(409, text) });
        }
        if !self.has_place(Newcomer { source: None, user: None, more: 0 }) {
            return Err(RequestRefusal::new(503, "there are as many faces as max_faces permits"));
        }
        let settings = self.settings_of(requested)?;
        let begun = self.begin(&uri, interface);
        let transport = begun.map_err(|why| RequestRefusal::new(504, format!("{uri}: {why}")))?;
        let made = self.attach_socket(transport, Origin::Created, &settings);
        let id = made.map_err(|why| {
            let code = if matches!(why, AttachError::Part(_)) { 406 } else { 503 };
            RequestRefusal::new(code, format!("{uri}: {why}"))
        })?;
        if let Some(face) = &mut self.faces[id.index()] {
            (face.persistency, face.creator) = (persistency, sender.uid);
        }
        let persistency = Some(persistency.number());
        self.announce_update(id, &ControlParameters { persistency, ..ControlParameters::default() });
        if matches!(uri, FaceUri::Tcp(_)) {
            self.begin_connecting(id);
        }
        Ok(self.face_parameters(id, requested))
    }

    /// Checks what a new face is to be; returns its persistency.
    fn check_creation(
        &self,
        uri: &FaceUri,
        requested: &ControlParameters,
    ) -> Result<FacePersistency, RequestRefusal> {
        let refusal = |text: &'static str| Err(RequestRefusal::new(406, text));
        let flags = requested.flags.unwrap_or(0) & requested.mask.unwrap_or(0);
        if flags & LOCAL_FIELDS != 0 {
            return refusal("local fields of faces that are not local are not supported");
        }
        if flags & RELIABILITY != 0 && !matches!(uri, FaceUri::Udp(_)) {
            return refusal("reliability is only for faces over UDP");
        }
        match requested.mtu {
            Some(_) if matches!(uri, FaceUri::Tcp(_)) => {
                return refusal("Mtu is only for faces over UDP and Ethernet");
            }
            Some(mtu) if mtu < MIN_MTU => return refusal("Mtu is below 128"),
            _ => {}
        }
        match requested.persistency.map(FacePersistency::of_number) {
            None => Ok(FacePersistency::Persistent),
            Some(Some(FacePersistency::OnDemand)) => refusal("faces on demand are created by peers"),
            Some(Some(persistency)) => Ok(persistency),
            Some(None) => Err(RequestRefusal::new(400, "FacePersistency is not in 0..=2")),
        }
    }

    /// Configuration of a new face: the defaults, changed as requested.
    fn settings_of(&self, requested: &ControlParameters) -> Result<FaceConfig, RequestRefusal> {
        let mut settings = self.config.face_defaults.clone();
        if let Some(mtu) = requested.mtu.filter(|mtu| *mtu != DEFAULT_MTU) {
            settings.mtu = Some(ByteCount::new(mtu.min(MAX_MTU as u64)));
        }
        if requested.mask.unwrap_or(0) & RELIABILITY != 0 {
            settings.reliability = requested.flags.unwrap_or(0) & RELIABILITY != 0;
        }
        let disciplines = &mut settings.queue.disciplines;
        if requested.mask.unwrap_or(0) & CONGESTION_MARKING != 0 {
            let is_marking = requested.flags.unwrap_or(0) & CONGESTION_MARKING != 0;
            let has_marking = disciplines.iter().any(is_marking_part);
            if !is_marking {
                disciplines.retain(|part| !is_marking_part(part));
            } else if !has_marking {
                let scheme = self.config.marking;
                let scheme =
                    scheme.ok_or_else(|| RequestRefusal::new(406, "congestion marking is not built in"))?;
                disciplines.push(SchemeUse { scheme, settings: Settings::default() });
            }
        }
        if let Some(part) = disciplines.iter_mut().find(|part| is_marking_part(part)) {
            let interval = requested.marking_interval_ns.map(|ns| format!("{ns}ns"));
            let threshold = requested.marking_threshold_bytes.map(|bytes| format!("{bytes}B"));
            set(&mut part.settings, "interval", interval);
            set(&mut part.settings, "threshold", threshold);
        }
        Ok(settings)
    }

    /// Changes properties of a face, all or none.
    pub(super) fn update_face(
        &mut self,
        sender: CommandSender,
        requested: &ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let id = self.face_or_gone(sender, requested)?;
        let id = id.ok_or_else(|| RequestRefusal::new(404, "there is no face of this FaceId"))?;
        let offending = self.offending(id, requested);
        if offending != ControlParameters::default() {
            let body = Box::new(offending);
            let text = "this face cannot have the properties that are returned";
            return Err(RequestRefusal { body, ..RequestRefusal::new(409, text) });
        }
        if requested.mask.unwrap_or(0) & RELIABILITY != 0 {
            self.reliability().map_err(|why| RequestRefusal::new(503, why.to_string()))?;
        }
        self.apply_update(id, requested);
        self.announce_update(id, requested);
        Ok(ControlParameters { uri: None, local_uri: None, ..self.face_parameters(id, requested) })
    }

    /// Changes properties that a face can have.
    pub(in super::super) fn apply_update(&mut self, id: FaceId, requested: &ControlParameters) {
        if requested.mask.unwrap_or(0) & RELIABILITY != 0 {
            self.set_reliability(id, requested.flags.unwrap_or(0) & RELIABILITY != 0);
        }
        let default_plan = self.config.face_defaults.mtu_plan();
        if let Some(face) = &self.faces[id.index()] {
            self.set_marking(id, self.requested_marking(face, requested));
        }
        if let Some(face) = &mut self.faces[id.index()] {
            let persistency = requested.persistency.and_then(FacePersistency::of_number);
            face.persistency = persistency.unwrap_or(face.persistency);
            if requested.mask.unwrap_or(0) & LOCAL_FIELDS != 0 {
                let is_used = requested.flags.unwrap_or(0) & LOCAL_FIELDS != 0;
                if std::mem::replace(&mut face.has_local_fields, is_used) != is_used {
                    self.incoming.set_used(is_used);
                }
                if let (false, Line::Socket { link, .. }) = (is_used, &mut face.line) {
                    link.set_incoming_face(None);
                }
            }
            if let Some(mtu) = requested.mtu {
                let plan = match mtu {
                    DEFAULT_MTU => default_plan,
                    mtu => MtuPlan::Configured(mtu.min(MAX_MTU as u64) as usize),
                };
                match &mut face.line {
                    Line::Socket { transport, link, .. } => link.set_plan(transport, plan, &mut self.nonces),
                    Line::Far(end) => end.mtu = Some(plan.base()),
                    Line::Internal(_) => {}
                }
            }
        }
    }

    /// Makes a face over UDP reliable or not; one that is already keeps its frames.
    fn set_reliability(&mut self, id: FaceId, is_wanted: bool) {
        let service = if is_wanted { self.reliability().ok() } else { None };
        match self.faces[id.index()].as_mut().map(|face| &mut face.line) {
            Some(Line::Socket { link, .. }) if link.reliability().is_some() != is_wanted => {
                link.set_reliability(service);
            }
            Some(Line::Far(end)) => end.is_reliable = service.is_some(),
            _ => {}
        }
    }

    /// The requested properties that a face cannot have.
    fn offending(&self, id: FaceId, requested: &ControlParameters) -> ControlParameters {
        let mut found = ControlParameters::default();
        let Some(face) = &self.faces[id.index()] else { return found };
        let mask = requested.mask.unwrap_or(0);
        let flags = requested.flags.unwrap_or(0) & mask;
        let marking = self.requested_marking(face, requested);
        let can_mark = self.can_mark(id, marking);
        let is_local = self.node.faces()[id.index()].is_local();
        let is_datagram = face.line.is_datagram();
        let can_be_reliable = is_datagram && !face.line.is_multi_access();
        let unsupported =
            if is_local { 0 } else { LOCAL_FIELDS } + if can_be_reliable { 0 } else { RELIABILITY };
        if flags & unsupported != 0 || flags & CONGESTION_MARKING != 0 && !can_mark {
            (found.flags, found.mask) = (requested.flags, requested.mask);
        }
        let persistency = requested.persistency.filter(|number| !can_be(face, *number));
        let mtu = requested.mtu.filter(|mtu| !is_datagram || *mtu < MIN_MTU);
        // Without marking they have no effect.
        let is_unused = |_: &u64| marking.is_none() || !can_mark;
        ControlParameters {
            persistency,
            mtu,
            marking_interval_ns: requested.marking_interval_ns.filter(is_unused),
            marking_threshold_bytes: requested.marking_threshold_bytes.filter(is_unused),
            ..found
        }
    }

    /// Closes a face; the response is also OK if there is none.
    pub(super) fn destroy_face(
        &mut self,
        sender: CommandSender,
        requested: &ControlParameters,
    ) -> Result<ControlParameters, RequestRefusal> {
        let number = requested.face_id.unwrap_or(0);
        if number == 0 {
            return Err(RequestRefusal::new(400, "FaceId is 0; expected the number of a face"));
        }
        let id = self.face_of_number(number);
        if id == Some(MANAGEMENT) {
            return Err(RequestRefusal::new(406, "this face is the management itself"));
        }
        if let Some(id) = id {
            self.check_face(sender, id)?;
            if let Some(Origin::Configured(place)) = self.faces[id.index()].as_ref().map(|face| face.origin) {
                self.configured[place].is_destroyed = true;
            }
            self.close(id);
        }
        Ok(ControlParameters { face_id: Some(number), ..Default::default() })
    }

    /// The face to a remote address; `None` if there is none.
    fn face_to(&self, uri: &FaceUri, interface: Option<&str>) -> Option<FaceId> {
        let is_it = |line: &Line| match line {
            Line::Socket { transport, .. } => {
                transport.remote_uri() == *uri && transport.interface() == interface
            }
            Line::Far(end) => {
                end.uris.as_ref().is_some_and(|(remote, _)| remote == uri)
                    && end.interface.as_deref() == interface
            }
            Line::Internal(_) => false,
        };
        let found = (0..).zip(&self.faces);
        let mut found = found.filter(|(_, face)| face.as_ref().is_some_and(|face| is_it(&face.line)));
        found.next().map(|(id, _)| FaceId(id))
    }

    /// Properties of a face as the responses to commands have them. Those that NFD's clients do not require are
    /// returned if they were requested: python-ndn 0.5.2 reads them in another order than ndn-cxx writes them.
    fn face_parameters(&self, id: FaceId, requested: &ControlParameters) -> ControlParameters {
        let Some(face) = &self.faces[id.index()] else { return ControlParameters::default() };
        let record = self.face_record(id, face);
        ControlParameters {
            face_id: Some(record.face_id),
            uri: Some(record.uri),
            local_uri: Some(record.local_uri),
            flags: Some(record.flags),
            persistency: Some(record.persistency),
            marking_interval_ns: requested.marking_interval_ns.and(record.marking_interval_ns),
            marking_threshold_bytes: requested.marking_threshold_bytes.and(record.marking_threshold_bytes),
            mtu: requested.mtu.and(record.mtu),
            ..ControlParameters::default()
        }
    }
}

fn is_marking_part(part: &SchemeUse) -> bool {
    part.scheme.name == "nfd-marking"
}

fn set(settings: &mut Settings, name: &str, value: Option<String>) {
    if let Some(value) = value {
        settings.0.retain(|(known, _)| known != name);
        settings.0.push((name.to_owned(), Setting::Text(value)));
    }
}

/// Whether a face can have the persistency of this number.
fn can_be(face: &super::super::face::Face, number: u64) -> bool {
    match FacePersistency::of_number(number) {
        None => false,
        Some(persistency) if persistency == face.persistency => true,
        Some(_) if face.line.is_datagram() => true,
        // Only the end that opened a connection can open it again.
        Some(FacePersistency::Permanent) => face.is_outgoing(),
        Some(FacePersistency::OnDemand) => face.origin == Origin::Accepted,
        Some(FacePersistency::Persistent) => face.origin != Origin::Internal,
    }
}

/// The address to create a face to. A host name is refused: nothing else is forwarded while it is looked up.
fn read_uri(text: &str) -> Result<FaceUri, RequestRefusal> {
    let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
    if NOT_CREATABLE.contains(&scheme) {
        let text =
            format!("faces of scheme {scheme:?} cannot be created; expected udp4, udp6, tcp4, tcp6 or ether");
        return Err(RequestRefusal::new(406, text));
    }
    let uri = FaceUri::literal(text).map_err(|why| RequestRefusal::new(400, why.to_string()))?;
    let is_single = match &uri {
        FaceUri::Udp(address) | FaceUri::Tcp(address) => {
            !address.ip().is_multicast() && !address.ip().is_unspecified() && address.port() != 0
        }
        FaceUri::Ether(address) => !address.is_group(),
        _ => false,
    };
    if !is_single {
        return Err(RequestRefusal::new(406, format!("{uri} is not the address of a single peer")));
    }
    Ok(uri)
}

/// The interface in LocalUri, which a face over Ethernet needs, and no other face can have.
fn read_local_uri<'a>(uri: &FaceUri, local: Option<&'a str>) -> Result<Option<&'a str>, RequestRefusal> {
    let interface = local.map(|local| local.strip_prefix("dev://"));
    match (uri, interface) {
        (FaceUri::Ether(_), Some(Some(interface))) => Ok(Some(interface)),
        (FaceUri::Ether(_), _) => {
            Err(RequestRefusal::new(406, "a face over Ethernet needs a LocalUri such as dev://eth0"))
        }
        (_, None) => Ok(None),
        (_, Some(_)) => Err(RequestRefusal::new(406, "LocalUri cannot be chosen for faces over UDP and TCP")),
    }
}
