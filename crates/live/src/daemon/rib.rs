//! Registered routes, and the FIB entries that follow from them (NFD's RIB).
//!
//! Entries are ordered by the bytes of their names, so that all names under a prefix follow it. A change costs
//! O(log n) for itself, and for each entry that inherits it a time that [`MAX_INHERITED`] bounds.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::fib::{Fib, NextHop};
use tidegate_core::ndn::name::{Name, NameTable, PrefixId, Segment};
use tidegate_core::units::Time;
use tidegate_wire::tlv::TlvReader;

use super::workers::{Order, Workers};
use crate::nfd::{FLAG_CAPTURE, FLAG_CHILD_INHERIT};

/// Maximum number of routes.
pub(super) const MAX_ROUTES: usize = 131_072;

/// Maximum number of routes of one prefix, which are all read when one of them changes.
const MAX_ROUTES_OF_PREFIX: usize = 4_096;

/// Maximum number of next hops that a prefix has from shorter prefixes; the cheapest of the nearest count. Otherwise one route could cost
/// as much as all entries below it times all next hops there.
const MAX_INHERITED: usize = 64;

/// Estimate for one route with its places in maps, bytes.
const ROUTE: u64 = 250;

/// Maximum length of the names of all entries together, bytes.
const MAX_NAME_BYTES: usize = 32 << 20;

/// A route to a prefix, registered by a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub prefix: PrefixId,
    pub face: FaceId,
    /// Component that registered it (NFD: 0 application, 255 static, 65 client, ...).
    pub origin: u64,
    /// Cost of the route; the lowest is preferred.
    pub cost: u32,
    /// Combination of [`FLAG_CHILD_INHERIT`] and [`FLAG_CAPTURE`].
    pub flags: u64,
    /// Expiration time; `None` for a route that stays until it is unregistered.
    pub expires: Option<Time>,
    /// Number of the user who registered it; `None` for a neighbour or the configuration.
    pub owner: Option<u32>,
}

/// Identifies a route within a prefix: face and origin.
type RouteKey = (FaceId, u64);

/// Routes of one prefix, and what commands to the FIB changed there.
#[derive(Debug)]
pub(super) struct RibEntry {
    prefix: PrefixId,
    routes: BTreeMap<RouteKey, Route>,
    /// Next hops set by commands to the FIB, with their cost; `None` for one that was removed.
    direct: BTreeMap<FaceId, Option<u32>>,
}

impl RibEntry {
    /// Routes of exactly this prefix, ordered by face.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values()
    }

    fn is_empty(&self) -> bool {
        self.routes.is_empty() && self.direct.is_empty()
    }

    fn captures(&self) -> bool {
        self.routes().any(|route| route.flags & FLAG_CAPTURE != 0)
    }

    /// The cheapest next hops for longer prefixes.
    fn inheritance(&self) -> Rc<[NextHop]> {
        let routes = self.routes().filter(|route| route.flags & FLAG_CHILD_INHERIT != 0);
        let mut hops: Vec<NextHop> =
            routes.map(|route| NextHop { cost: route.cost, face: route.face }).collect();
        // Routes of one face follow each other; the cheapest of them counts.
        hops.sort_unstable_by_key(|hop| (hop.face, hop.cost));
        hops.dedup_by_key(|hop| hop.face);
        hops.sort_unstable();
        hops.truncate(MAX_INHERITED);
        hops.into()
    }
}

/// All routes; one per prefix, face and origin.
#[derive(Debug, Default)]
pub(super) struct Rib {
    /// Entries by the components of their names.
    entries: BTreeMap<Vec<u8>, RibEntry>,
    /// Prefixes with routes or next hops of a face.
    of_faces: BTreeSet<(FaceId, PrefixId)>,
    expirations: BTreeSet<(Time, PrefixId, RouteKey)>,
    /// Prefixes with next hops that end with a segment number.
    segments: BTreeSet<PrefixId>,
    routes: usize,
    name_bytes: usize,
    /// Number of FIB entries written since the start.
    written: u64,
}

/// Next hops that prefixes pass on to those below them, by the components of their names, as far as they were computed.
type Inheritances = BTreeMap<Vec<u8>, Rc<[NextHop]>>;

/// Tables that a change of routes concerns.
pub(super) struct RouteTables<'a> {
    pub names: &'a NameTable,
    pub fib: &'a mut Fib,
    /// The other threads, whose FIBs are the same.
    pub workers: Option<&'a mut Workers>,
}

/// An entry that was changed.
struct RibChange {
    prefix: PrefixId,
    name: Vec<u8>,
    /// Flags of the routes that were added or removed.
    flags: u64,
}

/// Error of a table that has reached its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RibFull;

impl Rib {
    /// All entries, ordered by the bytes of their names; each with the components of its name.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &RibEntry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
    }

    /// Number of all routes.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// Estimate of the memory of all entries, bytes.
    pub fn bytes(&self) -> u64 {
        ROUTE * self.routes as u64 + self.name_bytes as u64
    }

    /// Number of FIB entries that were written since the start, of which a change of one route may need many.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// All routes, ordered by the bytes of their names.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.entries.values().flat_map(RibEntry::routes)
    }

    /// Prefixes of all entries.
    pub fn prefixes(&self) -> impl Iterator<Item = PrefixId> {
        self.entries.values().map(|entry| entry.prefix)
    }

    /// Number of prefixes with routes or next hops through a face.
    pub fn count_of_face(&self, face: FaceId) -> usize {
        self.of_faces.range((face, PrefixId(0))..=(face, PrefixId(u32::MAX))).count()
    }

    /// Whether there is a route to exactly the prefix of these components through a face.
    pub fn has_route(&self, name: &[u8], face: FaceId) -> bool {
        self.entries.get(name).is_some_and(|entry| has_route(entry, face))
    }

    /// The route to exactly the prefix of these components through a face, of this origin.
    pub fn find(&self, name: &[u8], face: FaceId, origin: u64) -> Option<&Route> {
        self.entries.get(name)?.routes.get(&(face, origin))
    }

    /// Adds a route, or replaces the one of the same prefix, face and origin.
    ///
    /// # Errors
    /// When there are too many routes, or their names are too long together.
    pub fn register(&mut self, route: Route, tables: RouteTables<'_>) -> Result<(), RibFull> {
        let name = components(route.prefix, tables.names);
        self.make_room(&name, &route)?;
        let (prefix, face, expires) = (route.prefix, route.face, route.expires);
        let (key, cost) = ((face, route.origin), route.cost);
        let mut flags = route.flags;
        let entry = self.entry(&name, prefix);
        // A route of the RIB replaces what a command to the FIB set for this face.
        let was_direct = entry.direct.remove(&face).is_some();
        let old = entry.routes.insert(key, route);
        // Applications register again and again; a route to a short prefix concerns many entries.
        let is_as_before =
            !was_direct && old.as_ref().is_some_and(|old| (old.flags, old.cost) == (flags, cost));
        self.routes += usize::from(old.is_none());
        if let Some(old) = old {
            flags |= old.flags;
            self.forget_expiration(&old);
        }
        self.of_faces.insert((face, prefix));
        self.expirations.extend(expires.map(|at| (at, prefix, key)));
        if !is_as_before {
            self.renew([RibChange { prefix, name, flags }], tables);
        }
        Ok(())
    }

    /// Removes a route; returns whether there was one.
    pub fn unregister(
        &mut self,
        prefix: PrefixId,
        face: FaceId,
        origin: u64,
        tables: RouteTables<'_>,
    ) -> bool {
        let name = components(prefix, tables.names);
        let flags = self.remove(&name, (face, origin));
        self.renew(flags.map(|flags| RibChange { prefix, name, flags }), tables);
        flags.is_some()
    }

    /// Sets the next hop through `face` in the FIB alone, or removes it from there with `None`, until a route
    /// of this prefix and face is registered.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn set_next_hop(
        &mut self,
        prefix: PrefixId,
        hop: (FaceId, Option<u32>),
        tables: RouteTables<'_>,
    ) -> Result<(), RibFull> {
        let (face, cost) = hop;
        let name = components(prefix, tables.names);
        if cost.is_some() && !self.entries.contains_key(&name) {
            self.check_limits(name.len(), 0)?;
        }
        let has_routes = self.entries.get(&name).is_some_and(|entry| has_route(entry, face));
        if cost.is_some() || has_routes {
            self.entry(&name, prefix).direct.insert(face, cost);
            self.of_faces.insert((face, prefix));
        } else if let Some(entry) = self.entries.get_mut(&name) {
            entry.direct.remove(&face);
            self.clean(&name, face);
        }
        self.renew([RibChange { prefix, name, flags: 0 }], tables);
        Ok(())
    }

    /// Removes the routes through a face that was closed.
    pub fn remove_face(&mut self, face: FaceId, tables: RouteTables<'_>) {
        let prefixes = self.of_faces.range((face, PrefixId(0))..=(face, PrefixId(u32::MAX)));
        let prefixes: Vec<PrefixId> = prefixes.map(|(_, prefix)| *prefix).collect();
        let mut changed = Vec::with_capacity(prefixes.len());
        for prefix in prefixes {
            let (name, mut flags) = (components(prefix, tables.names), 0);
            let Some(entry) = self.entries.get_mut(&name) else { continue };
            entry.direct.remove(&face);
            let keys: Vec<RouteKey> =
                entry.routes.range((face, 0)..=(face, u64::MAX)).map(|(key, _)| *key).collect();
            for key in keys {
                flags |= self.remove(&name, key).unwrap_or_default();
            }
            self.clean(&name, face);
            changed.push(RibChange { prefix, name, flags });
        }
        self.renew(changed, tables);
    }

    /// Removes the routes whose expiration time has passed.
    pub fn expire(&mut self, now: Time, tables: RouteTables<'_>) {
        let mut changed = Vec::new();
        while let Some((at, prefix, key)) = self.expirations.first().copied() {
            if at > now {
                break;
            }
            self.expirations.pop_first();
            let name = components(prefix, tables.names);
            if let Some(flags) = self.remove(&name, key) {
                changed.push(RibChange { prefix, name, flags });
            }
        }
        self.renew(changed, tables);
    }

    fn make_room(&self, name: &[u8], route: &Route) -> Result<(), RibFull> {
        match self.entries.get(name) {
            Some(entry) if entry.routes.contains_key(&(route.face, route.origin)) => Ok(()),
            Some(entry) if entry.routes.len() >= MAX_ROUTES_OF_PREFIX => Err(RibFull),
            Some(_) => self.check_limits(0, 1),
            None => self.check_limits(name.len(), 1),
        }
    }

    fn check_limits(&self, name_bytes: usize, routes: usize) -> Result<(), RibFull> {
        let has_room = self.name_bytes + name_bytes <= MAX_NAME_BYTES
            && self.routes + routes <= MAX_ROUTES
            && self.entries.len() < MAX_ROUTES;
        if has_room { Ok(()) } else { Err(RibFull) }
    }

    fn entry(&mut self, name: &[u8], prefix: PrefixId) -> &mut RibEntry {
        let name_bytes = &mut self.name_bytes;
        self.entries.entry(name.to_vec()).or_insert_with(|| {
            *name_bytes += name.len();
            RibEntry { prefix, routes: BTreeMap::new(), direct: BTreeMap::new() }
        })
    }

    /// Removes a route; returns its flags, `None` if there was none.
    fn remove(&mut self, name: &[u8], key: RouteKey) -> Option<u64> {
        let route = self.entries.get_mut(name)?.routes.remove(&key)?;
        self.routes -= 1;
        self.forget_expiration(&route);
        self.clean(name, route.face);
        Some(route.flags)
    }

    fn forget_expiration(&mut self, route: &Route) {
        if let Some(at) = route.expires {
            self.expirations.remove(&(at, route.prefix, (route.face, route.origin)));
        }
    }

    /// Removes the entry if it is empty, and its place among those of `face` if nothing there is of this face.
    fn clean(&mut self, name: &[u8], face: FaceId) {
        let Some(entry) = self.entries.get_mut(name) else { return };
        if !has_route(entry, face) {
            // A next hop that a command removed is no longer there to be removed.
            entry.direct.retain(|of, cost| *of != face || cost.is_some());
            if !entry.direct.contains_key(&face) {
                self.of_faces.remove(&(face, entry.prefix));
            }
        }
        if entry.is_empty() {
            self.entries.remove(name);
            self.name_bytes -= name.len();
        }
    }

    /// Writes the next hops of every changed prefix and, where a route with `flags` may be inherited, of the
    /// registered prefixes under it.
    fn renew(&mut self, changed: impl IntoIterator<Item = RibChange>, mut tables: RouteTables<'_>) {
        let mut prefixes = BTreeMap::new();
        for RibChange { prefix, name, flags } in changed {
            if flags & (FLAG_CHILD_INHERIT | FLAG_CAPTURE) != 0 {
                let under = self.entries.range(name.clone()..);
                let under = under.take_while(|(under, _)| under.starts_with(&name));
                prefixes.extend(under.map(|(under, entry)| (under.clone(), entry.prefix)));
            }
            prefixes.insert(name, prefix);
        }
        if prefixes.is_empty() {
            return;
        }
        self.written += prefixes.len() as u64;
        let mut inheritances = Inheritances::new();
        tables.fib.set_all(prefixes.into_iter().map(|(name, prefix)| {
            let hops = self.hops(&name, &mut inheritances);
            note_segment(&mut self.segments, prefix, !hops.is_empty(), tables.names);
            if let Some(workers) = &mut tables.workers {
                workers.order_all(|_| Order::SetRoute { prefix: name.clone(), hops: hops.clone() });
            }
            (prefix, hops)
        }));
    }

    /// Notes whether a prefix has next hops, which another thread has set.
    pub fn note_route(&mut self, prefix: PrefixId, has_hops: bool, names: &NameTable) {
        note_segment(&mut self.segments, prefix, has_hops, names);
    }

    /// The prefix that is the whole of `name`, if that ends with a segment number and has next hops: the FIB has only those of
    /// the components before the segment number for a packet of this name.
    #[inline]
    pub fn prefix_of_segment(&self, name: Name, names: &NameTable) -> Option<PrefixId> {
        if self.segments.is_empty() || name.segment == Segment::NONE {
            return None;
        }
        names.prefix_of(name).filter(|prefix| self.segments.contains(prefix))
    }

    /// Own routes and those inherited from shorter prefixes; none if the prefix has no route of its own,
    /// because longest-prefix match finds the shorter ones then.
    fn hops(&self, name: &[u8], inheritances: &mut Inheritances) -> Vec<NextHop> {
        let Some(own) = self.entries.get(name) else { return Vec::new() };
        let mut hops: BTreeMap<FaceId, u32> = BTreeMap::new();
        if !own.routes.is_empty() {
            self.inherit(name, own, (&mut hops, inheritances));
        }
        for (face, cost) in &own.direct {
            match cost {
                Some(cost) => hops.insert(*face, *cost),
                None => hops.remove(face),
            };
        }
        hops.into_iter().map(|(face, cost)| NextHop { cost, face }).collect()
    }

    fn inherit(
        &self,
        name: &[u8],
        own: &RibEntry,
        (hops, inheritances): (&mut BTreeMap<FaceId, u32>, &mut Inheritances),
    ) {
        for route in own.routes() {
            let cost = hops.entry(route.face).or_insert(route.cost);
            *cost = route.cost.min(*cost);
        }
        let (mut is_captured, max) = (own.captures(), hops.len() + MAX_INHERITED);
        for (parent, entry) in parents(name).rev().filter_map(|parent| self.entries.get_key_value(parent)) {
            if is_captured || hops.len() >= max {
                break;
            }
            is_captured = entry.captures();
            if !inheritances.contains_key(parent) {
                inheritances.insert(parent.clone(), entry.inheritance());
            }
            for NextHop { face, cost } in inheritances[parent].iter().copied() {
                if hops.len() < max {
                    // Of two routes through one face the nearer prefix's counts.
                    hops.entry(face).or_insert(cost);
                }
            }
        }
    }
}

fn has_route(entry: &RibEntry, face: FaceId) -> bool {
    entry.routes.range((face, 0)..=(face, u64::MAX)).next().is_some()
}

/// Components of a prefix, concatenated.
fn components(prefix: PrefixId, names: &NameTable) -> Vec<u8> {
    let mut components = Vec::new();
    names.write_components(Name::whole(prefix), &mut components);
    components
}

/// Prefixes of a name without itself, shortest first.
fn parents(name: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let mut reader = TlvReader::new(name);
    // Interned names are well-formed, so that reading ends with the last component.
    let starts = std::iter::from_fn(|| reader.next().ok().flatten());
    let starts: Vec<usize> = starts.map(|component| component.start).collect();
    starts.into_iter().map(|start| &name[..start])
}

fn note_segment(segments: &mut BTreeSet<PrefixId>, prefix: PrefixId, has_hops: bool, names: &NameTable) {
    if !has_hops {
        segments.remove(&prefix);
    } else if names.name_of(prefix).segment != Segment::NONE {
        segments.insert(prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Span;

    #[derive(Default)]
    struct Bench {
        rib: Rib,
        fib: Fib,
        names: NameTable,
    }

    const INHERIT: u64 = FLAG_CHILD_INHERIT;

    impl Bench {
        fn route(&mut self, uri: &str, face: u16, cost: u32, flags: u64) -> Route {
            let prefix = self.names.intern_uri(uri).expect("valid");
            Route { prefix, face: FaceId(face), origin: 0, cost, flags, expires: None, owner: None }
        }

        fn register(&mut self, uri: &str, face: u16, cost: u32, flags: u64) {
            let route = self.route(uri, face, cost, flags);
            self.put(route).expect("there is room");
        }

        fn put(&mut self, route: Route) -> Result<(), RibFull> {
            self.rib.register(route, RouteTables { names: &self.names, fib: &mut self.fib, workers: None })
        }

        fn unregister(&mut self, uri: &str, face: u16) -> bool {
            let prefix = self.names.intern_uri(uri).expect("valid");
            let tables = RouteTables { names: &self.names, fib: &mut self.fib, workers: None };
            self.rib.unregister(prefix, FaceId(face), 0, tables)
        }

        fn set_next_hop(&mut self, uri: &str, face: u16, cost: Option<u32>) {
            let prefix = self.names.intern_uri(uri).expect("valid");
            let tables = RouteTables { names: &self.names, fib: &mut self.fib, workers: None };
            self.rib.set_next_hop(prefix, (FaceId(face), cost), tables).expect("there is room");
        }

        fn remove_face(&mut self, face: u16) {
            self.rib.remove_face(
                FaceId(face),
                RouteTables { names: &self.names, fib: &mut self.fib, workers: None },
            );
        }

        fn expire(&mut self, now: Time) {
            self.rib.expire(now, RouteTables { names: &self.names, fib: &mut self.fib, workers: None });
        }

        /// Faces and costs set for exactly `uri`.
        fn hops(&mut self, uri: &str) -> Vec<(u16, u32)> {
            let prefix = self.names.intern_uri(uri).expect("valid");
            self.fib.given(prefix).iter().map(|hop| (hop.face.0, hop.cost)).collect()
        }
    }

    #[test]
    fn a_longer_prefix_inherits_routes_unless_it_captures() {
        let mut bench = Bench::default();
        bench.register("/a", 1, 10, INHERIT);
        bench.register("/a/b", 2, 20, 0);
        assert_eq!(bench.hops("/a/b"), [(1, 10), (2, 20)]);
        bench.register("/a/b", 2, 20, FLAG_CAPTURE);
        assert_eq!(bench.hops("/a/b"), [(2, 20)]);
        bench.register("/a", 1, 10, 0);
        bench.register("/a/b", 2, 20, 0);
        assert_eq!(bench.hops("/a/b"), [(2, 20)]);
    }

    #[test]
    fn a_route_of_the_root_is_inherited_over_several_components() {
        let mut bench = Bench::default();
        bench.register("/a/b/c", 2, 20, 0);
        bench.register("/ab", 3, 30, 0);
        bench.register("/", 1, 10, INHERIT);
        assert_eq!(bench.hops("/a/b/c"), [(1, 10), (2, 20)]);
        bench.register("/a", 4, 0, FLAG_CAPTURE);
        assert_eq!((bench.hops("/a/b/c"), bench.hops("/ab")), (vec![(2, 20)], vec![(1, 10), (3, 30)]));
        assert!(bench.unregister("/a", 4));
        assert_eq!((bench.hops("/a/b/c"), bench.hops("/a")), (vec![(1, 10), (2, 20)], vec![]));
    }

    #[test]
    fn of_two_routes_through_one_face_the_longer_prefix_counts() {
        let mut bench = Bench::default();
        bench.register("/", 1, 1, INHERIT);
        bench.register("/a", 1, 50, INHERIT);
        assert_eq!(bench.hops("/a"), [(1, 50)]);
    }

    #[test]
    fn of_two_origins_of_one_face_the_cheaper_counts() {
        let mut bench = Bench::default();
        bench.register("/a", 1, 5, 0);
        let route = Route { origin: 255, ..bench.route("/a", 1, 3, 0) };
        bench.put(route).expect("there is room");
        assert_eq!(bench.hops("/a"), [(1, 3)]);
        assert_eq!((bench.rib.routes().count(), bench.rib.count_of_face(FaceId(1))), (2, 1));
    }

    #[test]
    fn a_route_ends_by_its_time_its_face_or_its_owner() {
        let mut bench = Bench::default();
        bench.register("/a", 1, 0, INHERIT);
        bench.register("/a", 2, 0, INHERIT);
        bench.register("/a/b", 3, 0, INHERIT);
        let at = Time::ZERO + Span::from_secs(9);
        let route = Route { expires: Some(at), ..bench.route("/a", 4, 0, INHERIT) };
        bench.put(route).expect("there is room");
        bench.expire(at);
        assert!(bench.unregister("/a", 1));
        assert!(!bench.unregister("/a", 1));
        assert_eq!(bench.hops("/a/b"), [(2, 0), (3, 0)]);
        bench.remove_face(2);
        assert_eq!((bench.hops("/a"), bench.hops("/a/b")), (vec![], vec![(3, 0)]));
        bench.remove_face(3);
        assert!(bench.rib.entries.is_empty() && bench.rib.of_faces.is_empty());
        assert_eq!((bench.rib.routes, bench.rib.name_bytes, bench.rib.expirations.len()), (0, 0, 0));
    }

    #[test]
    fn a_renewed_route_ends_by_its_new_time() {
        let mut bench = Bench::default();
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        for expires in [Some(at(5)), Some(at(9)), None] {
            let route = Route { expires, ..bench.route("/a", 1, 0, 0) };
            bench.put(route).expect("there is room");
            bench.expire(at(8));
            assert_eq!(bench.hops("/a").len(), usize::from(expires != Some(at(5))), "{expires:?}");
        }
        bench.expire(at(1_000));
        assert_eq!(bench.hops("/a"), [(1, 0)]);
    }

    #[test]
    fn a_next_hop_of_the_fib_alone_stands_until_a_route_of_its_face_is_registered() {
        let mut bench = Bench::default();
        bench.register("/", 1, 10, INHERIT);
        bench.set_next_hop("/a", 2, Some(7));
        assert_eq!(bench.hops("/a"), [(2, 7)]);
        bench.register("/a", 3, 5, 0);
        assert_eq!(bench.hops("/a"), [(3, 5), (2, 7), (1, 10)]);
        bench.set_next_hop("/a", 3, None);
        assert_eq!(bench.hops("/a"), [(2, 7), (1, 10)]);
        bench.register("/a", 3, 5, 0);
        bench.set_next_hop("/a", 2, None);
        assert_eq!(bench.hops("/a"), [(3, 5), (1, 10)]);
        bench.set_next_hop("/never", 2, None);
        bench.set_next_hop("/b", 2, Some(1));
        bench.remove_face(2);
        assert_eq!((bench.hops("/b"), bench.rib.entries.len()), (vec![], 2));
    }

    #[test]
    fn a_face_is_removed_with_work_in_proportion_to_its_own_routes() {
        let mut bench = Bench::default();
        for face in 1..=3 {
            for place in 0..1_000 {
                bench.register(&format!("/p{place}"), face, 0, INHERIT);
            }
        }
        bench.register("/q", 4, 0, INHERIT);
        let before = bench.rib.written;
        bench.remove_face(4);
        assert_eq!(bench.rib.written - before, 1);
        bench.remove_face(1);
        assert_eq!(bench.rib.written - before, 1_001);
        assert_eq!(bench.hops("/p7"), [(2, 0), (3, 0)]);
    }

    #[test]
    fn a_route_that_is_registered_again_as_it_was_writes_no_entry() {
        let mut bench = Bench::default();
        (0..100).for_each(|place| bench.register(&format!("/a/p{place}"), 1, 0, INHERIT));
        bench.register("/a", 2, 0, INHERIT);
        let before = bench.rib.written;
        bench.register("/a", 2, 0, INHERIT);
        assert_eq!(bench.rib.written - before, 0);
        bench.register("/a", 2, 3, INHERIT);
        assert_eq!(bench.rib.written - before, 101);
        bench.set_next_hop("/a", 2, Some(1));
        bench.register("/a", 2, 3, INHERIT);
        assert_eq!(bench.hops("/a"), [(2, 3)]);
    }

    #[test]
    fn a_prefix_inherits_a_limited_number_of_next_hops_the_cheapest() {
        let mut bench = Bench::default();
        for face in 1..=200 {
            bench.register("/", face, 1_000 - u32::from(face), INHERIT);
        }
        bench.register("/a", 201, 7, INHERIT);
        let hops = bench.hops("/a");
        assert_eq!((hops.len(), hops[0], hops[1], hops[64]), (65, (201, 7), (200, 800), (137, 863)));
        assert_eq!(bench.hops("/").len(), 200, "its own are all there");
        bench.unregister("/", 200);
        assert_eq!(bench.hops("/a")[64], (136, 864));
    }

    #[test]
    fn a_prefix_with_too_many_routes_refuses_a_further_one_and_accepts_a_renewal() {
        let mut bench = Bench::default();
        for origin in 0..MAX_ROUTES_OF_PREFIX as u64 {
            let route = Route { origin, ..bench.route("/a", 1, 0, 0) };
            bench.put(route).expect("there is room");
        }
        let route = Route { origin: 1 << 40, ..bench.route("/a", 1, 0, 0) };
        assert_eq!(bench.put(route), Err(RibFull));
        bench.register("/a", 1, 4, 0);
        bench.register("/b", 1, 0, 0);
    }

    #[test]
    fn names_that_are_too_long_together_are_refused() {
        let mut bench =
            Bench { rib: Rib { name_bytes: MAX_NAME_BYTES - 5, ..Rib::default() }, ..Bench::default() };
        bench.register("/a", 1, 0, 0);
        let route = bench.route("/b", 1, 0, 0);
        assert_eq!(bench.put(route), Err(RibFull));
    }
}
