//! Registered routes, and the FIB entries that follow from them (NFD's RIB).

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::fib::{Fib, NextHop};
use tidegate_core::ndn::name::{NameTable, PrefixId};
use tidegate_core::units::Time;

/// The route also serves longer prefixes that have routes of their own (NFD, default).
pub(super) const CHILD_INHERIT: u64 = 1;
/// Routes of shorter prefixes do not serve this one (NFD).
pub(super) const CAPTURE: u64 = 2;

/// A route to a prefix, registered by a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub prefix: PrefixId,
    pub face: FaceId,
    /// Component that registered it (NFD: 0 application, 255 static, 65 client, ...).
    pub origin: u64,
    /// Cost of the route; the lowest is preferred.
    pub cost: u32,
    /// Combination of [`CHILD_INHERIT`] and [`CAPTURE`].
    pub flags: u64,
    /// Expiration time; `None` for a route that stays until it is unregistered.
    pub expires: Option<Time>,
}

/// All routes; one per prefix, face and origin.
#[derive(Debug, Default)]
pub(super) struct Rib {
    routes: Vec<Route>,
}

impl Rib {
    /// All routes, in the order of registration.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Adds a route, or replaces the one of the same prefix, face and origin.
    pub fn register(&mut self, route: Route, names: &NameTable, fib: &mut Fib) {
        let key = |route: &Route| (route.prefix, route.face, route.origin);
        let prefix = route.prefix;
        match self.routes.iter_mut().find(|old| key(old) == key(&route)) {
            Some(old) => *old = route,
            None => self.routes.push(route),
        }
        self.renew(prefix, names, fib);
    }

    /// Removes a route; returns whether there was one.
    pub fn unregister(
        &mut self,
        prefix: PrefixId,
        face: FaceId,
        origin: u64,
        names: &NameTable,
        fib: &mut Fib,
    ) -> bool {
        self.remove(names, fib, |route| (route.prefix, route.face, route.origin) == (prefix, face, origin))
    }

    /// Removes the routes through a face that was closed.
    pub fn remove_face(&mut self, face: FaceId, names: &NameTable, fib: &mut Fib) {
        self.remove(names, fib, |route| route.face == face);
    }

    /// Removes the routes whose expiration time has passed.
    pub fn expire(&mut self, now: Time, names: &NameTable, fib: &mut Fib) {
        self.remove(names, fib, |route| route.expires.is_some_and(|at| at <= now));
    }

    fn remove(&mut self, names: &NameTable, fib: &mut Fib, is_gone: impl Fn(&Route) -> bool) -> bool {
        let gone: Vec<PrefixId> =
            self.routes.iter().filter(|route| is_gone(route)).map(|route| route.prefix).collect();
        self.routes.retain(|route| !is_gone(route));
        for prefix in &gone {
            self.renew(*prefix, names, fib);
        }
        !gone.is_empty()
    }

    /// Writes the next hops of `prefix` and of every registered prefix under it.
    fn renew(&self, prefix: PrefixId, names: &NameTable, fib: &mut Fib) {
        fib.set(prefix, self.hops(prefix, names));
        let mut under: Vec<PrefixId> =
            self.routes.iter().map(|route| route.prefix).filter(|other| *other != prefix).collect();
        // Several routes of a prefix would write its next hops several times.
        under.sort_unstable();
        under.dedup();
        for other in under.into_iter().filter(|other| names.is_under(prefix, *other)) {
            fib.set(other, self.hops(other, names));
        }
    }

    /// Own routes and those inherited from shorter prefixes; none if the prefix has no route of its own,
    /// because longest-prefix match finds the shorter ones then.
    fn hops(&self, prefix: PrefixId, names: &NameTable) -> Vec<NextHop> {
        let mut hops: Vec<NextHop> = Vec::new();
        for at in names.ancestors(prefix) {
            let is_own = at == prefix;
            let of_prefix = || self.routes.iter().filter(|route| route.prefix == at);
            let heirs = of_prefix().filter(|route| is_own || route.flags & CHILD_INHERIT != 0);
            for route in heirs {
                // Of two routes through one face the nearer prefix's counts.
                if is_own || hops.iter().all(|hop| hop.face != route.face) {
                    hops.push(NextHop { cost: route.cost, face: route.face });
                }
            }
            // `ancestors` begins with `prefix` itself: no hops after its own routes means that it has none.
            if hops.is_empty() || of_prefix().any(|route| route.flags & CAPTURE != 0) {
                break;
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Span;

    struct Bench {
        rib: Rib,
        fib: Fib,
        names: NameTable,
    }

    impl Bench {
        fn new() -> Self {
            Self { rib: Rib::default(), fib: Fib::default(), names: NameTable::new() }
        }

        fn register(&mut self, uri: &str, face: u16, cost: u32, flags: u64) {
            let prefix = self.names.intern_uri(uri).expect("valid");
            let route = Route { prefix, face: FaceId(face), origin: 0, cost, flags, expires: None };
            self.rib.register(route, &self.names, &mut self.fib);
        }

        /// Faces and costs set for exactly `uri`.
        fn hops(&mut self, uri: &str) -> Vec<(u16, u32)> {
            let prefix = self.names.intern_uri(uri).expect("valid");
            self.fib.given(prefix).iter().map(|hop| (hop.face.0, hop.cost)).collect()
        }
    }

    #[test]
    fn a_longer_prefix_inherits_routes_unless_it_captures() {
        let mut bench = Bench::new();
        bench.register("/a", 1, 10, CHILD_INHERIT);
        bench.register("/a/b", 2, 20, 0);
        assert_eq!(bench.hops("/a/b"), [(1, 10), (2, 20)]);
        bench.register("/a/b", 2, 20, CAPTURE);
        assert_eq!(bench.hops("/a/b"), [(2, 20)]);
        bench.register("/a", 1, 10, 0);
        bench.register("/a/b", 2, 20, 0);
        assert_eq!(bench.hops("/a/b"), [(2, 20)]);
    }

    #[test]
    fn of_two_routes_through_one_face_the_longer_prefix_counts() {
        let mut bench = Bench::new();
        bench.register("/", 1, 1, CHILD_INHERIT);
        bench.register("/a", 1, 50, CHILD_INHERIT);
        assert_eq!(bench.hops("/a"), [(1, 50)]);
    }

    #[test]
    fn a_route_ends_by_its_time_its_face_or_its_owner() {
        let mut bench = Bench::new();
        bench.register("/a", 1, 0, CHILD_INHERIT);
        bench.register("/a", 2, 0, CHILD_INHERIT);
        bench.register("/a/b", 3, 0, CHILD_INHERIT);
        let Bench { rib, fib, names } = &mut bench;
        let prefix = names.intern_uri("/a").expect("valid");
        let at = Time::ZERO + Span::from_secs(9);
        let route = Route { expires: Some(at), face: FaceId(4), ..rib.routes()[0].clone() };
        rib.register(route, names, fib);
        rib.expire(at, names, fib);
        assert!(rib.unregister(prefix, FaceId(1), 0, names, fib));
        assert!(!rib.unregister(prefix, FaceId(1), 0, names, fib));
        assert_eq!(bench.hops("/a/b"), [(2, 0), (3, 0)]);
        let Bench { rib, fib, names } = &mut bench;
        rib.remove_face(FaceId(2), names, fib);
        assert_eq!((bench.hops("/a"), bench.hops("/a/b")), (vec![], vec![(3, 0)]));
    }
}
