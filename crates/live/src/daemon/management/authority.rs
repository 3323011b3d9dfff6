//! Permission to send commands.
//!
//! Commands are accepted from processes of the forwarder's user, of root, and of configured groups, which connected
//! to the forwarder over a Unix stream, or over TCP on this machine; groups are those of Unix streams. They may be
//! signed with any key: a digest is verified, other signatures are not, since no key is known. Members of groups may send
//! the commands of the modules that are configured for them, and change faces and routes of their own user only. Commands that a
//! [known key](super::known_keys) has signed are accepted from other applications, too.
//!
//! Neighbours change routes to themselves, if they have signed the command with a known key or the
//! configuration permits it to everybody.

use std::fs;

use rustix::process::geteuid;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::PrefixId;
use tidegate_wire::InterestView;

use super::super::Daemon;
use super::super::config::ForwarderConfig;
use super::super::face::{Line, Origin};
use super::super::places::PeerNetwork;
use super::super::rib::MAX_ROUTES;
use super::super::start::StartError;
use super::known_keys::CommandSubject;
use super::request::{RequestRefusal, RequestScope};
use super::wall_millis;
use crate::nfd::ControlParameters;
use crate::nfd::ORIGIN_STATIC;
use crate::peer_user::PeerUser;

/// Table of the groups of this machine.
const GROUPS: &str = "/etc/group";

/// Users and groups that may send commands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Authority {
    uids: Vec<u32>,
    groups: Vec<u32>,
    /// Modules of the commands that members of `groups` may send; root and the own user may send all.
    group_modules: Vec<String>,
}

impl Authority {
    /// The user of this process, root, and `groups`, each by its name or number, with the modules that they may command.
    ///
    /// # Errors
    /// The first group that does not exist.
    fn new(groups: &[String], group_modules: &[String]) -> Result<Self, String> {
        // Without the table only numbers can be given.
        let table = fs::read_to_string(GROUPS).unwrap_or_default();
        let groups = groups.iter().map(|group| read_group(&table, group).ok_or_else(|| group.clone()));
        Ok(Self {
            uids: vec![0, geteuid().as_raw()],
            groups: groups.collect::<Result<_, _>>()?,
            group_modules: group_modules.to_vec(),
        })
    }

    /// The user of this process, root, and the groups of a configuration.
    ///
    /// # Errors
    /// When a group does not exist.
    pub fn of(config: &ForwarderConfig) -> Result<Self, StartError> {
        Self::new(&config.groups, &config.group_commands).map_err(|group| {
            let why = format!("group {group:?} does not exist; known are those of {GROUPS}");
            StartError::new("management", why)
        })
    }

    /// What a command of `module` from `user` may change.
    ///
    /// # Errors
    /// The reason why it is refused.
    fn check(&self, user: &PeerUser, module: &str) -> Result<CommandReach, String> {
        if self.uids.contains(&user.uid) {
            return Ok(CommandReach::All);
        }
        if !user.groups.iter().any(|group| self.groups.contains(group)) {
            let own = geteuid().as_raw();
            return Err(format!(
                "user {} may not send commands; accepted are user {own}, root and the groups of [management]",
                user.uid
            ));
        }
        match self.group_modules.iter().any(|known| known == module) {
            true => Ok(CommandReach::OwnUser),
            false => Err(format!(
                "members of a group may not send {module} commands (group_commands in [management])"
            )),
        }
    }
}

/// The number of a group by its name or number; `None` if the table has no such name.
fn read_group(table: &str, group: &str) -> Option<u32> {
    if let Ok(number) = group.parse() {
        return Some(number);
    }
    let mut lines = table.lines().map(|line| line.split(':'));
    let mut found = lines.find_map(|mut fields| (fields.next() == Some(group)).then_some(fields))?;
    found.nth(1)?.parse().ok()
}

/// First components that neighbours may not use: `/localhost` and `/localhop`.
const RESERVED_FOR_THIS_MACHINE: [&[u8]; 2] = [b"\x08\x09localhost", b"\x08\x08localhop"];

/// Maximum number of routes of one neighbour.
const MAX_NEIGHBOUR_ROUTES: usize = 1_000;

/// What a permitted command may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandReach {
    /// Faces and routes of all users.
    All,
    /// Faces and routes of the sender's user.
    OwnUser,
}

/// Where a command comes from, as far as its source is held responsible for the work that it causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum CommandSource {
    /// Network address of another machine.
    Address(PeerNetwork),
    /// A user of this machine; `None` where the system does not report it, and for Ethernet and multicast groups.
    User(Option<u32>),
}

impl CommandSource {
    /// Whether it is another machine.
    pub fn is_remote(self) -> bool {
        matches!(self, Self::Address(_))
    }
}

/// Sender of a command that is permitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandSender {
    /// Face on which the command arrived.
    pub face: FaceId,
    /// Number of the user at its other end; `None` for a neighbour, and where the system does not report it.
    pub uid: Option<u32>,
    /// Source whose budget it uses; `None` without a limit.
    pub budget: Option<CommandSource>,
    reach: CommandReach,
}

impl Daemon {
    /// Checks that the peer of a face, or the key that has signed it, may send a command of `module`.
    ///
    /// # Errors
    /// 403, with the reason; 503 for a neighbour that has the maximum of routes.
    pub(super) fn authorize_command(
        &mut self,
        command: &InterestView<'_>,
        module: &str,
        from: FaceId,
        requested: &ControlParameters,
    ) -> Result<CommandSender, RequestRefusal> {
        let prefix = requested.name.as_deref().unwrap_or_default();
        let subject = CommandSubject { module, prefix, source: self.source_of_command(from) };
        if RequestScope::of(command) == Some(RequestScope::Hop) {
            self.check_neighbour(from, requested)?;
            if !self.config.localhop {
                let refusal = RequestRefusal::new(
                    403,
                    "commands of neighbours are not configured (localhop, trust_schema and [[management.key]])",
                );
                self.check_key(command, subject, refusal)?;
            }
            // What a neighbour may change was checked above.
            let budget = Some(subject.source);
            return Ok(CommandSender { face: from, uid: None, budget, reach: CommandReach::All });
        }
        let reach = match self.authorize(from, module) {
            Ok(CommandReach::All) => CommandReach::All,
            // A member of a group may have a key with more rights.
            Ok(CommandReach::OwnUser) => {
                self.known_keys.accept(command, subject, wall_millis()).unwrap_or(CommandReach::OwnUser)
            }
            Err(refusal) => self.check_key(command, subject, refusal)?,
        };
        let budget = (reach == CommandReach::OwnUser).then_some(subject.source);
        Ok(CommandSender { face: from, uid: self.uid_of(from), budget, reach })
    }

    /// Checks that a command may change `face`, or routes through it.
    ///
    /// # Errors
    /// 403 for a face of another user, if the sender may change only those of its own.
    pub(super) fn check_face(&mut self, sender: CommandSender, face: FaceId) -> Result<(), RequestRefusal> {
        let is_permitted = sender.reach == CommandReach::All
            || sender.face == face
            || sender.uid.is_some() && sender.uid == self.uid_of(face);
        if is_permitted {
            return Ok(());
        }
        Err(RequestRefusal::new(
            403,
            "the face is not one of the command's user; members of a group and keys of a trust schema may change no other",
        ))
    }

    /// Checks that a command may replace or remove a route.
    ///
    /// # Errors
    /// 403 for a route that another user has registered, if the sender may change only those of its own.
    pub(super) fn check_route(
        &self,
        sender: CommandSender,
        prefix: PrefixId,
        (face, origin): (FaceId, u64),
    ) -> Result<(), RequestRefusal> {
        let found = self.rib.find(&self.components(prefix), face, origin);
        if sender.reach == CommandReach::All || found.is_none_or(|route| route.owner == sender.uid) {
            return Ok(());
        }
        Err(RequestRefusal::new(
            403,
            "another user has registered the route; members of a group and keys of a trust schema may change only their own",
        ))
    }

    pub(super) fn source_of_command(&mut self, from: FaceId) -> CommandSource {
        match self.source_of_face(from) {
            Some(address) => CommandSource::Address(address),
            None => CommandSource::User(self.uid_of(from)),
        }
    }

    /// The user that a face belongs to: the one that created it by a command, or the one that connected.
    fn uid_of(&mut self, id: FaceId) -> Option<u32> {
        let face = self.faces[id.index()].as_mut()?;
        match face.origin {
            Origin::Accepted => face.peer_user().map(|user| user.uid),
            _ => face.creator,
        }
    }

    /// Checks that a known key has signed a command that is otherwise refused by `refusal`; returns what it may change.
    fn check_key(
        &mut self,
        command: &InterestView<'_>,
        subject: CommandSubject<'_>,
        refusal: RequestRefusal,
    ) -> Result<CommandReach, RequestRefusal> {
        self.known_keys.accept(command, subject, wall_millis()).map_err(|why| why.unwrap_or(refusal))
    }

    /// Checks the content of a command under `/localhop`: a neighbour may change routes to itself.
    fn check_neighbour(&self, from: FaceId, requested: &ControlParameters) -> Result<(), RequestRefusal> {
        let is_other = |number: u64| number != 0 && self.number_of(from) != Some(number);
        if requested.face_id.is_some_and(is_other) {
            return Err(RequestRefusal::new(
                403,
                "a neighbour can change only routes to itself; FaceId has to be 0",
            ));
        }
        if self.node.faces()[from.index()].is_local() {
            return Err(RequestRefusal::new(
                403,
                "applications of this machine send commands under /localhost",
            ));
        }
        let name = requested.name.as_deref().unwrap_or_default();
        if RESERVED_FOR_THIS_MACHINE.iter().any(|reserved| name.starts_with(reserved)) {
            return Err(RequestRefusal::new(403, "a neighbour has no names under /localhost and /localhop"));
        }
        if requested.origin == Some(ORIGIN_STATIC) {
            return Err(RequestRefusal::new(
                403,
                "routes of a neighbour have another origin than 255 (static)",
            ));
        }
        let is_half_full =
            self.rib.len() >= MAX_ROUTES / 2 || self.route_bytes() >= self.config.max_memory.get() / 4;
        if is_half_full && !self.rib.has_route(name, from) {
            let text = "routes take half of the RIB or a quarter of max_memory; the rest is kept for applications of this machine";
            return Err(RequestRefusal::new(503, text));
        }
        if self.routes_of_neighbour(from) >= MAX_NEIGHBOUR_ROUTES && !self.rib.has_route(name, from) {
            let text = format!("a neighbour can have at most {MAX_NEIGHBOUR_ROUTES} prefixes");
            return Err(RequestRefusal::new(503, text));
        }
        Ok(())
    }

    /// Number of routes through all faces of the neighbour's address.
    fn routes_of_neighbour(&self, from: FaceId) -> usize {
        let source = self.source_of_face(from);
        let is_same =
            |face: &FaceId| *face == from || source.is_some() && self.source_of_face(*face) == source;
        let faces = (0..self.faces.len()).map(|at| FaceId(at as u16)).filter(is_same);
        faces.map(|face| self.rib.count_of_face(face)).sum()
    }

    /// Checks that the peer of a face may send commands of `module`; returns what these may change.
    fn authorize(&mut self, from: FaceId, module: &str) -> Result<CommandReach, RequestRefusal> {
        let Some(face) = &mut self.faces[from.index()] else {
            return Err(RequestRefusal::new(503, "the face of the command no longer exists"));
        };
        if matches!(face.line, Line::Internal(_)) {
            return Err(RequestRefusal::new(403, "commands are accepted from applications only"));
        }
        if face.origin != Origin::Accepted {
            let text = "commands are accepted over connections to this forwarder: a Unix socket, or TCP on this machine";
            return Err(RequestRefusal::new(403, text));
        }
        match face.peer_user() {
            Some(user) => self.authority.check(user, module).map_err(|why| RequestRefusal::new(403, why)),
            None => Err(RequestRefusal::new(403, "the user at the other end of the connection is not known")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "root:x:0:\nndn:x:990:alice,bob\nbroken\nempty:x::\n";

    #[test]
    fn a_group_is_given_by_its_name_or_number() {
        let read = |group| read_group(TABLE, group);
        assert_eq!((read("ndn"), read("root"), read("77")), (Some(990), Some(0), Some(77)));
        assert_eq!((read("alice"), read("broken"), read("empty"), read("")), (None, None, None, None));
        let missing = Authority::new(&["0".to_owned(), "no-such-group-here".to_owned()], &[]);
        assert_eq!(missing, Err("no-such-group-here".to_owned()));
    }

    #[test]
    fn root_and_the_own_user_may_send_all_commands_and_groups_those_that_are_listed() {
        let group_modules = vec!["rib".to_owned()];
        let authority = Authority { uids: vec![0, 1000], groups: vec![990], group_modules };
        let check = |uid, groups: &[u32], module| {
            authority.check(&PeerUser { uid, groups: groups.to_vec() }, module).ok()
        };
        let (all, own) = (Some(CommandReach::All), Some(CommandReach::OwnUser));
        assert_eq!((check(0, &[], "faces"), check(1000, &[1000, 990], "cs")), (all, all));
        assert_eq!((check(1001, &[1001, 990], "rib"), check(1001, &[990], "faces")), (own, None));
        assert_eq!((check(1001, &[0, 1000], "rib"), check(990, &[], "rib")), (None, None));
    }
}
