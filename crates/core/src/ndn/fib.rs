//! The FIB: longest-prefix match, resolved once per prefix.

use std::sync::Arc;

use crate::context::Context;
use crate::ndn::face::{FaceId, NodeId};
use crate::ndn::name::{NameHash, NameTable, PrefixId};
use crate::ndn::prefix_map::PrefixMap;

/// A next hop for a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NextHop {
    /// Cost, unitless; the lowest is best.
    pub cost: u32,
    /// Face of this next hop.
    pub face: FaceId,
}

/// Routes to prefixes that are not in the FIB.
pub trait Routes {
    /// Appends the next hops of `node` for `prefix`, cheapest first; none when it cannot be reached.
    fn next_hops(&self, node: NodeId, prefix: PrefixId, hops: &mut Vec<NextHop>);
}

/// Provides no routes at all.
#[derive(Debug, Default)]
pub struct NoRoutes;

impl Routes for NoRoutes {
    fn next_hops(&self, _: NodeId, _: PrefixId, _: &mut Vec<NextHop>) {}
}

/// Strategy of a prefix: an index into the forwarder's strategies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrategyId(pub u16);

/// FIB entry of one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FibEntry {
    /// Prefix of the names that it is for.
    pub prefix: PrefixId,
    /// Next hops, cheapest first, ties by face; one list for all names that a configured route leads.
    pub hops: Arc<[NextHop]>,
    /// The strategy that chooses among them.
    pub strategy: StrategyId,
    /// Scope of Interests for the prefix.
    pub scope: Scope,
}

/// Scope of Interests by the first component of their name (NFD's scopes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Every other prefix; packets may cross any number of links.
    #[default]
    Global,
    /// `/localhop`: one link; an Interest from another node reaches applications on this one only.
    Hop,
    /// `/localhost`: applications on this node only.
    Host,
}

impl Scope {
    /// The scope of the names under `prefix`, itself among them.
    pub(crate) fn of(prefix: PrefixId, names: &NameTable) -> Self {
        match names.first_component(prefix) {
            Some((8, b"localhop")) => Self::Hop,
            Some((8, b"localhost")) => Self::Host,
            _ => Self::Global,
        }
    }
}

/// Routes of one node, configured or looked up through [`Routes`]; results are cached per prefix.
#[derive(Debug)]
pub struct Fib {
    hash: NameHash,
    /// Configured routes by prefix number, as `strategies`.
    given: Vec<(PrefixId, Arc<[NextHop]>)>,
    /// Number of configured next hops by face, so that the end of a face without any costs nothing.
    uses: Vec<u32>,
    /// Number of all configured next hops.
    given_hops: usize,
    strategies: Vec<(PrefixId, StrategyId)>,
    resolved: Resolved,
}

impl Default for Fib {
    fn default() -> Self {
        Self::new(NameHash::LOCALITY)
    }
}

impl Fib {
    /// A FIB without routes that hashes prefixes with `hash`.
    pub fn new(hash: NameHash) -> Self {
        Self {
            hash,
            given: Vec::new(),
            uses: Vec::new(),
            given_hops: 0,
            strategies: Vec::new(),
            resolved: Resolved::new(hash),
        }
    }

    /// Sets the next hops of `prefix`; an empty list removes it. Of several next hops through one face the
    /// cheapest counts.
    pub fn set(&mut self, prefix: PrefixId, hops: Vec<NextHop>) {
        self.set_all([(prefix, hops)]);
    }

    /// As [`set`](Self::set) for many prefixes, after which the cached results are cleared once.
    pub fn set_all(&mut self, changes: impl IntoIterator<Item = (PrefixId, Vec<NextHop>)>) {
        changes.into_iter().for_each(|(prefix, hops)| self.replace(prefix, hops));
        self.forget();
    }

    fn replace(&mut self, prefix: PrefixId, mut hops: Vec<NextHop>) {
        // By face first, so that `dedup` keeps the cheapest next hop of each.
        hops.sort_unstable_by_key(|hop| (hop.face, hop.cost));
        hops.dedup_by_key(|hop| hop.face);
        hops.sort_unstable();
        self.count_uses(prefix, &hops);
        match (self.given.binary_search_by_key(&prefix, |(given, _)| *given), hops.is_empty()) {
            (Ok(at), true) => drop(self.given.remove(at)),
            (Ok(at), false) => self.given[at].1 = hops.into(),
            (Err(_), true) => {}
            (Err(at), false) => self.given.insert(at, (prefix, hops.into())),
        }
    }

    /// Number of next hops that were set for all prefixes together.
    pub fn given_hops(&self) -> usize {
        self.given_hops
    }

    /// Counts `hops` in place of those that were set for `prefix` before.
    fn count_uses(&mut self, prefix: PrefixId, hops: &[NextHop]) {
        for hop in hops {
            let index = hop.face.index();
            if self.uses.len() <= index {
                self.uses.resize(index + 1, 0);
            }
            self.uses[index] += 1;
        }
        self.given_hops += hops.len();
        if let Ok(at) = self.given.binary_search_by_key(&prefix, |(given, _)| *given) {
            self.given_hops -= self.given[at].1.len();
            self.given[at].1.iter().for_each(|hop| self.uses[hop.face.index()] -= 1);
        }
    }

    /// Sets the strategy of `prefix` and of everything under it that has none configured.
    pub fn set_strategy(&mut self, prefix: PrefixId, strategy: StrategyId) {
        match self.strategies.binary_search_by_key(&prefix, |(given, _)| *given) {
            Ok(at) => self.strategies[at].1 = strategy,
            Err(at) => self.strategies.insert(at, (prefix, strategy)),
        }
        self.forget();
    }

    /// Removes the strategy of `prefix`, which then has that of the next shorter prefix with one.
    pub fn unset_strategy(&mut self, prefix: PrefixId) {
        self.strategies.retain(|(given, _)| *given != prefix);
        self.forget();
    }

    /// Removes all next hops through `face`.
    pub fn remove_face(&mut self, face: FaceId) {
        match self.uses.get_mut(face.index()) {
            None | Some(0) => return,
            Some(uses) => self.given_hops -= std::mem::take(uses) as usize,
        }
        for (_, hops) in self.given.iter_mut().filter(|(_, hops)| hops.iter().any(|hop| hop.face == face)) {
            *hops = hops.iter().filter(|hop| hop.face != face).copied().collect();
        }
        self.given.retain(|(_, hops)| !hops.is_empty());
        self.forget();
    }

    /// The next hops that were set for exactly `prefix`.
    pub fn given(&self, prefix: PrefixId) -> &[NextHop] {
        match self.given.binary_search_by_key(&prefix, |(given, _)| *given) {
            Ok(at) => &self.given[at].1,
            Err(_) => &[],
        }
    }

    /// Prefixes with the next hops that were set for them, in the order of their numbers.
    pub fn entries(&self) -> impl Iterator<Item = (PrefixId, &[NextHop])> + '_ {
        self.given.iter().map(|(prefix, hops)| (*prefix, &**hops))
    }

    /// Prefixes with the strategies that were set for them, in the order of their numbers.
    pub fn strategy_choices(&self) -> impl Iterator<Item = (PrefixId, StrategyId)> + '_ {
        self.strategies.iter().copied()
    }

    /// Prefixes that routes or strategies were set for.
    pub fn prefixes(&self) -> impl Iterator<Item = PrefixId> + '_ {
        let strategies = self.strategies.iter().map(|(prefix, _)| *prefix);
        self.given.iter().map(|(prefix, _)| *prefix).chain(strategies)
    }

    /// Clears the cached results, because routes changed.
    pub fn forget(&mut self) {
        self.resolved = Resolved::new(self.hash);
    }

    /// As [`lookup`](Self::lookup), with the names and routes of `cx`.
    pub(crate) fn route(&mut self, prefix: PrefixId, cx: &Context<'_>) -> &FibEntry {
        self.lookup(prefix, cx.names, cx.routes(), cx.node)
    }

    /// As [`route`](Self::route), without a search if `hint` is still the number of the entry, to which it is set.
    #[inline(always)]
    pub(crate) fn route_by(&mut self, hint: &mut u32, prefix: PrefixId, cx: &Context<'_>) -> &FibEntry {
        let hinted = *hint as usize;
        if self.resolved.entries.get(hinted).is_some_and(|entry| entry.prefix == prefix) {
            return &self.resolved.entries[hinted];
        }
        *hint = self.number_of(prefix, cx);
        &self.resolved.entries[*hint as usize]
    }

    #[cold]
    fn number_of(&mut self, prefix: PrefixId, cx: &Context<'_>) -> u32 {
        let known = self.resolved.numbers.find(prefix);
        known.unwrap_or_else(|| self.resolve(prefix, cx.names, cx.routes(), cx.node))
    }

    /// The entry for `prefix`; without next hops when nothing leads there.
    pub fn lookup(
        &mut self,
        prefix: PrefixId,
        names: &NameTable,
        routes: &dyn Routes,
        node: NodeId,
    ) -> &FibEntry {
        let number = match self.resolved.numbers.find(prefix) {
            Some(number) => number,
            None => self.resolve(prefix, names, routes, node),
        };
        &self.resolved.entries[number as usize]
    }

    /// The entry for `prefix`, if it was looked up before.
    #[inline(always)]
    pub(crate) fn known(&self, prefix: PrefixId) -> Option<&FibEntry> {
        self.resolved.entries.get(self.resolved.numbers.find(prefix)? as usize)
    }

    #[cold]
    fn resolve(&mut self, prefix: PrefixId, names: &NameTable, routes: &dyn Routes, node: NodeId) -> u32 {
        let hops = self.resolve_hops(prefix, names, routes, node);
        let strategy = self.strategy_of(prefix, names);
        let number = self.resolved.entries.len() as u32;
        self.resolved.entries.push(FibEntry { prefix, hops, strategy, scope: Scope::of(prefix, names) });
        self.resolved.numbers.insert(prefix, number);
        number
    }

    /// The next hops of the longest prefix with any.
    fn resolve_hops(
        &self,
        prefix: PrefixId,
        names: &NameTable,
        routes: &dyn Routes,
        node: NodeId,
    ) -> Arc<[NextHop]> {
        let (mut hops, mut at) = (Vec::new(), Some(prefix));
        while let Some(candidate) = at {
            // At each prefix configured routes take precedence; a longer prefix takes precedence over both.
            if let Ok(at) = self.given.binary_search_by_key(&candidate, |(given, _)| *given) {
                return self.given[at].1.clone();
            }
            routes.next_hops(node, candidate, &mut hops);
            if !hops.is_empty() {
                break;
            }
            at = names.parent(candidate);
        }
        hops.into()
    }

    fn strategy_of(&self, prefix: PrefixId, names: &NameTable) -> StrategyId {
        let mut at = Some(prefix);
        while let Some(candidate) = at {
            if let Ok(at) = self.strategies.binary_search_by_key(&candidate, |(given, _)| *given) {
                return self.strategies[at].1;
            }
            at = names.parent(candidate);
        }
        StrategyId::default()
    }
}

/// Entries by prefix, as far as they were looked up.
#[derive(Debug)]
struct Resolved {
    numbers: PrefixMap,
    entries: Vec<FibEntry>,
}

impl Resolved {
    fn new(hash: NameHash) -> Self {
        Self { numbers: PrefixMap::new(hash), entries: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Env, NoSink, Present};
    use crate::rng::{Rng, Seed};

    fn hop(face: u16, cost: u32) -> NextHop {
        NextHop { face: FaceId(face), cost }
    }

    #[test]
    fn the_longest_given_prefix_wins_and_hops_come_cheapest_first() {
        let mut names = NameTable::new();
        let [a, ab, abc] = ["/a", "/a/b", "/a/b/c"].map(|uri| names.intern_uri(uri).expect("valid"));
        let mut fib = Fib::default();
        fib.set(a, vec![hop(1, 5)]);
        fib.set(ab, vec![hop(2, 9), hop(3, 1)]);
        assert_eq!(*fib.lookup(abc, &names, &NoRoutes, NodeId(0)).hops, [hop(3, 1), hop(2, 9)]);
        assert_eq!(
            fib.entries().map(|(prefix, hops)| (prefix, hops.len())).collect::<Vec<_>>(),
            [(a, 1), (ab, 2)]
        );
        fib.set(ab, vec![]);
        assert_eq!(*fib.lookup(abc, &names, &NoRoutes, NodeId(0)).hops, [hop(1, 5)]);
    }

    #[test]
    fn names_of_one_route_share_its_next_hops_which_are_counted() {
        let mut names = NameTable::new();
        let [a, ab, ac, b] = ["/a", "/a/b", "/a/c", "/b"].map(|uri| names.intern_uri(uri).expect("valid"));
        let mut fib = Fib::default();
        fib.set_all([(a, vec![hop(1, 5), hop(2, 9)]), (b, vec![hop(2, 1)])]);
        let mut hops_of = |prefix| fib.lookup(prefix, &names, &NoRoutes, NodeId(0)).hops.clone();
        assert!(Arc::ptr_eq(&hops_of(ab), &hops_of(ac)));
        assert_eq!(fib.given_hops(), 3);
        fib.set(a, vec![hop(1, 5), hop(2, 9), hop(3, 9)]);
        assert_eq!(fib.given_hops(), 4);
        fib.remove_face(FaceId(2));
        assert_eq!(fib.given_hops(), 2);
        fib.set(a, Vec::new());
        assert_eq!((fib.given_hops(), fib.entries().count()), (0, 0));
    }

    #[test]
    fn a_hint_of_any_value_leads_to_the_entry_of_the_prefix() {
        let mut names = NameTable::new();
        let prefixes = ["/a", "/b", "/c"].map(|uri| names.intern_uri(uri).expect("valid"));
        let mut fib = Fib::default();
        for (prefix, face) in prefixes.iter().zip(1..) {
            fib.set(*prefix, vec![hop(face, 1)]);
        }
        let mut rng = Rng::stream(Seed(1), "hints");
        for round in 0..200 {
            // As after a change of routes: an earlier hint is the number of another prefix, or of none.
            if round % 5 == 0 {
                fib.forget();
            }
            let number = rng.below(3) as usize;
            let mut hint = [0, 1, 2, 3, u32::MAX][rng.below(5) as usize];
            let mut present = Present::new(NoSink);
            let cx = Context::new(Env::new(&names, &mut present), &[]);
            let entry = fib.route_by(&mut hint, prefixes[number], &cx);
            assert_eq!(*entry.hops, [hop(number as u16 + 1, 1)], "round {round}");
            assert_eq!(fib.resolved.entries[hint as usize].prefix, prefixes[number]);
        }
    }

    #[test]
    fn many_prefixes_resolve_like_a_naive_search() {
        let mut names = NameTable::new();
        let mut fib = Fib::default();
        let prefixes: Vec<PrefixId> =
            (0..300).map(|i| names.intern_uri(&format!("/p{}/x{i}", i % 7)).expect("valid")).collect();
        for (i, prefix) in prefixes.iter().enumerate().filter(|(i, _)| i % 3 == 0) {
            fib.set(*prefix, vec![hop(i as u16, 1)]);
        }
        for _ in 0..2 {
            for (i, prefix) in prefixes.iter().enumerate() {
                let expected = if i % 3 == 0 { vec![hop(i as u16, 1)] } else { vec![] };
                assert_eq!(*fib.lookup(*prefix, &names, &NoRoutes, NodeId(0)).hops, expected, "prefix {i}");
            }
        }
    }

    #[test]
    fn a_strategy_covers_everything_under_its_prefix() {
        let mut names = NameTable::new();
        let [a, ab] = ["/a", "/a/b"].map(|uri| names.intern_uri(uri).expect("valid"));
        let mut fib = Fib::default();
        fib.set_strategy(a, StrategyId(2));
        assert_eq!(fib.lookup(ab, &names, &NoRoutes, NodeId(0)).strategy, StrategyId(2));
        assert_eq!(fib.lookup(NameTable::ROOT, &names, &NoRoutes, NodeId(0)).strategy, StrategyId(0));
        fib.set_strategy(ab, StrategyId(3));
        assert_eq!(fib.strategy_choices().collect::<Vec<_>>(), [(a, StrategyId(2)), (ab, StrategyId(3))]);
        fib.unset_strategy(ab);
        assert_eq!(fib.lookup(ab, &names, &NoRoutes, NodeId(0)).strategy, StrategyId(2));
        fib.unset_strategy(a);
        assert_eq!(fib.lookup(ab, &names, &NoRoutes, NodeId(0)).strategy, StrategyId(0));
    }

    #[test]
    fn the_end_of_a_face_without_routes_keeps_what_was_looked_up() {
        let mut names = NameTable::new();
        let [a, b] = ["/a", "/b"].map(|uri| names.intern_uri(uri).expect("valid"));
        let mut fib = Fib::default();
        fib.set(a, vec![hop(1, 5), hop(2, 6)]);
        fib.set(a, vec![hop(1, 5), hop(4, 6)]);
        fib.set(b, vec![hop(1, 5)]);
        fib.lookup(a, &names, &NoRoutes, NodeId(0));
        for without in [2, 3, 700] {
            fib.remove_face(FaceId(without));
        }
        assert!(fib.known(a).is_some(), "nothing has changed");
        fib.remove_face(FaceId(1));
        assert!(fib.known(a).is_none());
        assert_eq!(*fib.lookup(a, &names, &NoRoutes, NodeId(0)).hops, [hop(4, 6)]);
        assert_eq!(*fib.lookup(b, &names, &NoRoutes, NodeId(0)).hops, []);
    }
}
