//! Places of peers: how many an address may take, and which face is closed for a newcomer.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{IpAddr, Ipv6Addr};

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::pit::SharePeer;
use tidegate_core::units::{Span, Time};

use super::face::{Face, FacePersistency, Line, Origin};
use super::faces::RESERVED;
use super::{Daemon, descriptors};
use crate::transport::Transport;
use crate::uri::FaceUri;

/// Time that a peer of another machine has for its first packet, unless faces end sooner when they are idle.
const FIRST_PACKET: Span = Span::from_secs(10);

/// A face that has received something within this time is not closed for a newcomer.
const USEFUL: Span = Span::from_secs(5);

/// As [`USEFUL`], for a face that has never received a packet.
const UNPROVEN: Span = Span::from_millis(500);

/// Interval between two searches for a face to close, if the first was in vain.
const SEARCH_INTERVAL: Span = Span::from_millis(100);

/// Address of peers whose places are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PeerNetwork(IpAddr);

impl PeerNetwork {
    /// An IPv4 address, or the network of an IPv6 address, in which a host has as many addresses as it likes.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
            address => address,
        })
    }

    /// The share of the PIT that faces of the address have together.
    pub fn share(self) -> SharePeer {
        let Self(address) = self;
        SharePeer(match address {
            IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
            IpAddr::V6(address) => address.to_bits(),
        })
    }

    /// The address of a peer over UDP, TCP or WebSocket; `None` for any other.
    pub fn of_peer(transport: &Transport) -> Option<Self> {
        match transport.remote_uri() {
            FaceUri::Udp(peer) | FaceUri::Tcp(peer) | FaceUri::WebSocketClient(peer) => {
                Some(Self::of(peer.ip()))
            }
            _ => None,
        }
    }
}

/// Who has opened a local face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LocalUser {
    /// The user with this number, over a Unix socket.
    Unix(u32),
    /// Any user, over TCP or WebSocket: the kernel has the user only in a table of all connections.
    Tcp,
}

/// A newcomer that has no face yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    /// Its address, if it is on another machine.
    pub source: Option<PeerNetwork>,
    /// Who has opened the connection, if it is local.
    pub user: Option<LocalUser>,
    /// Number of places beyond the maximum that it may take.
    pub more: usize,
}

/// Places that are taken, by address.
#[derive(Debug)]
pub(super) struct Places {
    by_source: BTreeMap<PeerNetwork, u32>,
    /// Maximum number of faces by the limit on open files.
    by_descriptors: usize,
    /// Time before which no face is looked for that could be closed.
    next_search: Time,
    /// The same among the faces of one address.
    next_search_of_address: Time,
    /// Time before which no face in use is closed.
    next_in_use: Time,
    /// The same among local faces.
    next_search_of_local: Time,
}

impl Default for Places {
    fn default() -> Self {
        Self {
            by_source: BTreeMap::new(),
            by_descriptors: usize::MAX,
            next_search: Time::ZERO,
            next_search_of_address: Time::ZERO,
            next_in_use: Time::ZERO,
            next_search_of_local: Time::ZERO,
        }
    }
}

impl Places {
    /// A face of a peer of `source` was made.
    pub fn take(&mut self, source: PeerNetwork) {
        *self.by_source.entry(source).or_default() += 1;
    }

    /// The address with most faces, if a newcomer of `source` would have fewer than that.
    fn largest_for(&self, source: PeerNetwork) -> Option<PeerNetwork> {
        let own = self.by_source.get(&source).copied().unwrap_or(0);
        let (largest, count) = self.by_source.iter().max_by_key(|(_, count)| **count)?;
        (*count > own + 1).then_some(*largest)
    }

    fn give_back(&mut self, source: PeerNetwork) {
        if let Some(count) = self.by_source.get_mut(&source) {
            *count -= 1;
            if *count == 0 {
                self.by_source.remove(&source);
            }
        }
    }
}

/// A face as far as its place is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Usefulness {
    has_packets: bool,
    has_routes: bool,
    /// Whether it is a connection, whose peer has shown that it receives packets at its address.
    is_connection: bool,
    received_at: Time,
    id: FaceId,
}

impl Usefulness {
    /// Whether the face may be closed for a newcomer.
    fn is_low(&self, now: Time) -> bool {
        now.since(self.received_at) >= if self.has_packets { USEFUL } else { UNPROVEN }
    }
}

/// The face to close for a newcomer: one that never received a packet, before one without routes, before datagrams of a peer,
/// before the one that has been silent for the longest time.
fn face_to_close(faces: impl Iterator<Item = Usefulness>, now: Time) -> Option<FaceId> {
    faces.filter(|face| face.is_low(now)).min().map(|face| face.id)
}

/// The user with most faces, unless these are fewer than two more than those of `user`: so two do not displace each other's in
/// turn.
fn largest_user(users: impl Iterator<Item = LocalUser>, user: LocalUser) -> Option<LocalUser> {
    let mut counts = BTreeMap::<LocalUser, usize>::new();
    users.for_each(|user| *counts.entry(user).or_default() += 1);
    let own = counts.get(&user).copied().unwrap_or_default();
    let (largest, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (count >= own + 2 && largest != user).then_some(largest)
}

fn has_packets(face: &Face) -> bool {
    matches!(&face.line, Line::Socket { link, .. } if link.counters().packets_in > 0)
}

impl Daemon {
    /// Whether a newcomer may have a face; another's is closed for it if none is free, one of the same address if this has its
    /// share, a local one only for another user of this machine. Counts a refusal.
    pub(super) fn has_place(&mut self, newcomer: Newcomer) -> bool {
        let limit = self.config.faces_per_address;
        let has_its_share = |source: &PeerNetwork| {
            self.places.by_source.get(source).is_some_and(|count| *count >= u32::from(limit))
        };
        if let Some(source) = newcomer.source.filter(has_its_share) {
            // Short-lived programs of one machine leave a face each behind.
            if self.displace(Some(source)) {
                return true;
            }
            let PeerNetwork(address) = source;
            self.refuse(format_args!("{address} has {limit} faces already (faces_per_address)"));
            return false;
        }
        let configured = usize::from(self.config.max_faces);
        let max = configured.min(self.places.by_descriptors);
        if self.count_faces() < max + newcomer.more
            || self.displace(None)
            || newcomer.source.is_some_and(|source| self.displace_in_use(source))
        {
            return true;
        }
        if newcomer.user.is_some_and(|user| self.displace_local(user)) {
            return true;
        }
        let why = if max < configured { "the limit on open files" } else { "max_faces" };
        self.refuse(format_args!("there are {max} faces already, and all are in use ({why})"));
        false
    }

    /// Determines the number of faces for which there are descriptors, with some left for local applications.
    pub(super) fn count_places(&mut self) {
        let (places, max) =
            (descriptors::places_of_faces(self.count_faces(), RESERVED), self.config.max_faces);
        self.places.by_descriptors = places;
        if places < usize::from(max) {
            tracing::warn!(max_faces = max, "the limit on open files suffices for {places} faces only");
        }
    }

    fn refuse(&mut self, why: impl Display) {
        self.counters.faces_refused += 1;
        tracing::warn!("a peer was refused: {why}");
    }

    /// Closes the least useful face of a peer on another machine, or of `address` alone; false if all are useful.
    fn displace(&mut self, address: Option<PeerNetwork>) -> bool {
        let places = &self.places;
        if self.now < if address.is_some() { places.next_search_of_address } else { places.next_search } {
            return false;
        }
        let is_of = |face: &Usefulness| address.is_none() || self.source_of_face(face.id) == address;
        let found = face_to_close(self.remote_faces().filter(is_of), self.now);
        // A flood of newcomers must not cause a search each.
        let next = self.now + SEARCH_INTERVAL;
        match (found, address) {
            (Some(id), _) => self.close(id),
            (None, Some(_)) => self.places.next_search_of_address = next,
            (None, None) => self.places.next_search = next,
        }
        found.is_some()
    }

    /// Closes a face that is in use, of the address with most faces, for a newcomer of `source`; false if no address has more than
    /// this one then. A few addresses must not keep all places, and peers that forge many must not end the faces of others at once.
    fn displace_in_use(&mut self, source: PeerNetwork) -> bool {
        if self.now < self.places.next_in_use {
            return false;
        }
        self.places.next_in_use = self.now + SEARCH_INTERVAL;
        let Some(largest) = self.places.largest_for(source) else { return false };
        let is_of = |face: &Usefulness| self.source_of_face(face.id) == Some(largest);
        let Some(face) = self.remote_faces().filter(is_of).min() else { return false };
        self.close(face.id);
        true
    }

    /// Closes the least useful of the local faces of the user who has most of them, for one of `user`; false if all are useful or
    /// it has about as many.
    fn displace_local(&mut self, user: LocalUser) -> bool {
        if self.now < self.places.next_search_of_local {
            return false;
        }
        let faces: Vec<_> =
            self.faces_on_demand(true).filter_map(|face| Some((self.user_of_face(face.id)?, face))).collect();
        let largest = largest_user(faces.iter().map(|(user, _)| *user), user);
        let of_largest = faces.iter().filter(|(user, _)| Some(*user) == largest).map(|(_, face)| *face);
        match face_to_close(of_largest, self.now) {
            Some(id) => self.close(id),
            None => {
                self.places.next_search_of_local = self.now + SEARCH_INTERVAL;
                return false;
            }
        }
        true
    }

    fn user_of_face(&self, id: FaceId) -> Option<LocalUser> {
        match &self.faces[id.index()].as_ref()?.line {
            Line::Socket { transport, .. } => self.local_user(transport),
            Line::Far(end) => end.user,
            Line::Internal(_) => None,
        }
    }

    /// Who has opened a local connection; `None` if it is not local, or the system does not report it.
    pub(super) fn local_user(&self, transport: &Transport) -> Option<LocalUser> {
        match transport.remote_uri() {
            FaceUri::Unix(_) | FaceUri::Fd(_) => transport.peer_user().map(|user| LocalUser::Unix(user.uid)),
            _ => self.is_local(transport).then_some(LocalUser::Tcp),
        }
    }

    /// Address of a face's peer, as far as its places are counted.
    pub(super) fn source_of_face(&self, id: FaceId) -> Option<PeerNetwork> {
        match &self.faces[id.index()].as_ref()?.line {
            Line::Socket { transport, .. } => self.source_of(transport),
            Line::Far(end) => end.source,
            Line::Internal(_) => None,
        }
    }

    /// Faces on demand of peers on other machines.
    fn remote_faces(&self) -> impl Iterator<Item = Usefulness> + '_ {
        self.faces_on_demand(false)
    }

    /// Faces on demand that are local or are not.
    fn faces_on_demand(&self, is_local: bool) -> impl Iterator<Item = Usefulness> + '_ {
        let faces = (0..).map(FaceId).zip(&self.faces).filter_map(|(id, face)| Some((id, face.as_ref()?)));
        let faces = faces.filter(|(_, face)| !matches!(face.line, Line::Far(_)));
        // An operator may have made a face persistent.
        let may_end = |face: &Face| face.persistency == FacePersistency::OnDemand;
        faces
            .filter(move |(id, face)| may_end(face) && self.node.faces()[id.index()].is_local() == is_local)
            .map(|(id, face)| Usefulness {
                has_packets: has_packets(face),
                has_routes: self.rib.count_of_face(id) > 0,
                is_connection: !face.line.is_datagram(),
                received_at: face.received_at,
                id,
            })
    }

    /// Faces of peers on other machines that have not sent a packet in time.
    pub(super) fn overdue_faces(&self) -> Vec<FaceId> {
        let patience = self.config.idle.min(FIRST_PACKET);
        let is_late = |face: &Face| self.now.since(face.made_at) > patience;
        let unproven = self.remote_faces().filter(|face| !face.has_packets).map(|face| face.id);
        unproven.filter(|id| self.faces[id.index()].as_ref().is_some_and(is_late)).collect()
    }

    /// The place of a face that was closed can be taken by another peer.
    pub(super) fn give_back_place(&mut self, face: &Face) {
        let source = match &face.line {
            Line::Socket { transport, .. } => self.source_of(transport),
            Line::Far(end) => end.source,
            Line::Internal(_) => None,
        };
        if let (Some(source), Origin::OnDemand | Origin::Accepted) = (source, face.origin) {
            self.places.give_back(source);
        }
    }

    /// Address of a peer whose places are counted: none for applications of this machine. Those over WebSocket count, too:
    /// whether a page is one of this machine is not known yet when its connection is accepted.
    pub(super) fn source_of(&self, transport: &Transport) -> Option<PeerNetwork> {
        let is_page = matches!(transport, Transport::WebSocket(_));
        PeerNetwork::of_peer(transport).filter(|_| is_page || !self.is_local(transport))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str) -> PeerNetwork {
        PeerNetwork::of(address.parse().expect("an address"))
    }

    fn secs(at: u64) -> Time {
        Time::ZERO + Span::from_secs(at)
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_count_together() {
        assert_eq!(source("2001:db8:1:2::1"), source("2001:db8:1:2:ffff::9"));
        assert_ne!(source("2001:db8:1:2::1"), source("2001:db8:1:3::1"));
        assert_ne!(source("192.0.2.1"), source("192.0.2.2"));
        assert_eq!(source("::ffff:192.0.2.1"), source("192.0.2.1"));
    }

    #[test]
    fn places_are_counted_for_each_address_and_forgotten_with_the_last() {
        let mut places = Places::default();
        let [one, other] = ["192.0.2.1", "192.0.2.2"].map(source);
        [one, one, other].into_iter().for_each(|source| places.take(source));
        [one, other, other].into_iter().for_each(|source| places.give_back(source));
        assert_eq!(places.by_source.into_iter().collect::<Vec<_>>(), [(one, 1)]);
    }

    #[test]
    fn a_newcomer_takes_a_place_of_the_address_with_most_until_it_has_as_many() {
        let mut places = Places::default();
        let [one, other, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(source);
        [one, one, one, other, other].into_iter().for_each(|source| places.take(source));
        assert_eq!((places.largest_for(third), places.largest_for(other)), (Some(one), None));
        places.give_back(one);
        assert_eq!((places.largest_for(third), places.largest_for(one)), (Some(other), None));
        [one, other].into_iter().for_each(|source| places.give_back(source));
        assert_eq!(places.largest_for(third), None);
    }

    #[test]
    fn a_user_with_many_local_faces_makes_room_for_others_and_not_for_itself() {
        use LocalUser::{Tcp, Unix};
        let largest = |users: &[LocalUser], newcomer| largest_user(users.iter().copied(), newcomer);
        let users = [Unix(0), Unix(1_000), Unix(1_000), Unix(1_000), Tcp];
        assert_eq!(largest(&users, Unix(0)), Some(Unix(1_000)));
        assert_eq!(largest(&users, Unix(7)), Some(Unix(1_000)));
        assert_eq!(largest(&users, Tcp), Some(Unix(1_000)));
        assert_eq!(largest(&users, Unix(1_000)), None);
        assert_eq!(largest(&[Tcp, Tcp, Tcp, Unix(0)], Unix(0)), Some(Tcp));
        assert_eq!(largest(&[Tcp, Tcp, Unix(0)], Unix(0)), None);
    }

    #[test]
    fn a_face_without_a_packet_goes_before_one_that_is_silent_and_none_that_is_in_use() {
        let face = |id, has_packets, at| {
            let (has_routes, is_connection) = (false, false);
            Usefulness { has_packets, has_routes, is_connection, received_at: secs(at), id: FaceId(id) }
        };
        let (old, silent, recent, fresh) =
            (face(1, true, 1), face(2, true, 9), face(3, true, 19), face(4, false, 20));
        let unproven = face(5, false, 18);
        let closed = |faces: &[Usefulness]| face_to_close(faces.iter().copied(), secs(20));
        assert_eq!(closed(&[recent, silent, unproven, old, fresh]), Some(FaceId(5)));
        assert_eq!(closed(&[recent, silent, old, fresh]), Some(FaceId(1)));
        assert_eq!(closed(&[recent, silent, fresh]), Some(FaceId(2)));
        assert_eq!(closed(&[recent, fresh]), None);
        // Whoever forges addresses makes many faces on demand, but no connections, and no routes unless neighbours may.
        let connection = Usefulness { is_connection: true, ..face(6, true, 0) };
        let route = Usefulness { has_routes: true, ..face(7, true, 0) };
        assert_eq!(closed(&[connection, route, silent]), Some(FaceId(2)));
        assert_eq!(closed(&[connection, route]), Some(FaceId(6)));
    }
}
