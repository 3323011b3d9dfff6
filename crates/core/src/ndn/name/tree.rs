//! The tree of prefixes: an edge has as many components as no other name branches from, so that a name costs one entry, and
//! at most one more where it branches from another.

use super::{ComponentBytes, Link, NameTable, Prefix, PrefixId, read_component};
use crate::ndn::prefix_hasher::PrefixHasher;

/// Prefixes of an inserted name that become entries of their own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ancestors {
    /// Those from which other names branch.
    Branches,
    /// All prefixes of the name.
    All,
}

impl NameTable {
    /// Inserts a prefix, given by the TLVs of its components, if it is missing. The cost is linear in its bytes.
    #[cold]
    pub(super) fn insert_all(&mut self, components: &[u8], ancestors: Ancestors) -> PrefixId {
        let mut prefix = Self::ROOT;
        let mut hasher = PrefixHasher::new(self.key);
        let mut rest = components;
        while !rest.is_empty() {
            let first = first_component(rest);
            hasher.extend(first);
            let edge = if ancestors == Ancestors::All { first } else { rest };
            let len = match self.find_under(prefix, first, hasher.value()) {
                None => {
                    let first_hash = hasher.value();
                    hasher.extend(&edge[first.len()..]);
                    prefix = self.insert(prefix, edge, (first_hash, hasher.value()));
                    edge.len()
                }
                Some(child) => {
                    let len = common_len(&self.at(child).component, edge);
                    hasher.extend(&edge[first.len()..len]);
                    let is_whole = self.at(child).component.len() == len;
                    prefix = if is_whole { child } else { self.split(child, len, &hasher) };
                    len
                }
            };
            rest = &rest[len..];
        }
        prefix
    }

    /// The prefix under `parent` whose edge begins with a component, given as its TLV; `hash` is that of all components to it.
    pub(super) fn find_under(&self, parent: PrefixId, component: &[u8], hash: u64) -> Option<PrefixId> {
        let is_under = |entry: &Prefix| entry.parent == Link::from(parent);
        let is_it = |id| {
            let entry = self.at(id);
            entry.hash == hash && is_under(entry) && *entry.component == *component
        };
        let begins_so = |id| {
            let entry = self.at(id);
            entry.first_hash == hash && is_under(entry) && entry.component.starts_with(component)
        };
        self.index.find(hash, is_it).or_else(|| self.edges.find(hash, begins_so))
    }

    /// Inserts a prefix under `parent` with an edge that begins like no other there. The hashes are those after the first
    /// component of the edge and after all.
    fn insert(&mut self, parent: PrefixId, edge: &[u8], (first_hash, hash): (u64, u64)) -> PrefixId {
        let next_sibling = self.at(parent).first_child;
        let id = self.place(Prefix {
            component: edge.into(),
            parent: parent.into(),
            first_child: Link::NONE,
            next_sibling,
            previous_sibling: Link::NONE,
            used_in: self.sweep.number(),
            hash,
            first_hash,
            len: self.len_under(parent, edge),
        });
        self.prefixes[parent.0 as usize].first_child = id.into();
        if let Some(next) = next_sibling.get() {
            self.prefixes[next.0 as usize].previous_sibling = id.into();
        }
        self.index_whole(id);
        self.index_edge(id);
        id
    }

    /// Inserts a prefix into the edge of `child`, after `len` bytes of it; `hasher` has the state there.
    fn split(&mut self, child: PrefixId, len: usize, hasher: &PrefixHasher) -> PrefixId {
        let entry = self.at(child);
        let edge = entry.component.to_vec();
        let (upper, lower) = edge.split_at(len);
        let (first_hash, parent) = (entry.first_hash, entry.parent);
        let (next_sibling, previous_sibling) = (entry.next_sibling, entry.previous_sibling);
        self.edges.remove(first_hash, child);
        let above = parent.get().unwrap_or(Self::ROOT);
        let middle = self.place(Prefix {
            component: upper.into(),
            parent,
            first_child: child.into(),
            next_sibling,
            previous_sibling,
            used_in: self.sweep.number(),
            hash: hasher.value(),
            first_hash,
            len: self.len_under(above, upper),
        });
        self.set_neighbours(above, (previous_sibling, next_sibling), (middle.into(), middle.into()));
        let mut lower_hasher = hasher.clone();
        lower_hasher.extend(first_component(lower));
        let entry = &mut self.prefixes[child.0 as usize];
        let before = std::mem::replace(&mut entry.component, lower.into());
        self.long_bytes = self.long_bytes + entry.component.outside_bytes() - before.outside_bytes();
        (entry.parent, entry.first_hash) = (middle.into(), lower_hasher.value());
        (entry.next_sibling, entry.previous_sibling) = (Link::NONE, Link::NONE);
        self.index_whole(middle);
        self.index_edge(middle);
        self.index_edge(child);
        middle
    }

    /// Removes a prefix without children.
    pub(super) fn remove(&mut self, prefix: PrefixId) {
        let entry = &mut self.prefixes[prefix.0 as usize];
        let (hash, first_hash, is_long) = (entry.hash, entry.first_hash, entry.has_long_edge());
        let parent = entry.parent.get().unwrap_or(Self::ROOT);
        let (next, previous) = (entry.next_sibling, entry.previous_sibling);
        self.long_bytes -= entry.component.outside_bytes();
        (entry.component, entry.parent, entry.len) = (ComponentBytes::default(), Link::NONE, 0);
        (entry.next_sibling, entry.previous_sibling) = (Link::NONE, Link::NONE);
        self.set_neighbours(parent, (previous, next), (next, previous));
        self.index.remove(hash, prefix);
        if is_long {
            self.edges.remove(first_hash, prefix);
        }
    }

    /// Sets what follows the previous sibling, or is the first child of `parent` without one, and what precedes the next one.
    fn set_neighbours(
        &mut self,
        parent: PrefixId,
        (previous, next): (Link, Link),
        (after, before): (Link, Link),
    ) {
        match previous.get() {
            Some(previous) => self.prefixes[previous.0 as usize].next_sibling = after,
            None => self.prefixes[parent.0 as usize].first_child = after,
        }
        if let Some(next) = next.get() {
            self.prefixes[next.0 as usize].previous_sibling = before;
        }
    }

    fn index_whole(&mut self, prefix: PrefixId) {
        let prefixes = &self.prefixes;
        self.index.insert(self.at(prefix).hash, prefix, |id| prefixes[id.0 as usize].hash);
    }

    /// Makes a prefix that has several components after its parent found by the first of these.
    fn index_edge(&mut self, prefix: PrefixId) {
        let prefixes = &self.prefixes;
        let entry = &prefixes[prefix.0 as usize];
        if entry.has_long_edge() {
            self.edges.insert(entry.first_hash, prefix, |id| prefixes[id.0 as usize].first_hash);
        }
    }

    fn len_under(&self, parent: PrefixId, edge: &[u8]) -> u32 {
        self.at(parent).len + u32::try_from(edge.len()).expect("a name is smaller than 4 GiB")
    }

    fn place(&mut self, prefix: Prefix) -> PrefixId {
        self.long_bytes += prefix.component.outside_bytes();
        if let Some(id) = self.free.pop() {
            self.prefixes[id.0 as usize] = prefix;
            return id;
        }
        let id = PrefixId(u32::try_from(self.prefixes.len()).expect("fewer than 2^32 prefixes"));
        self.prefixes.push(prefix);
        id
    }
}

/// The TLV of the first of several components.
pub(super) fn first_component(components: &[u8]) -> &[u8] {
    let rest = read_component(components).map_or(0, |(_, _, rest)| rest.len());
    &components[..components.len() - rest]
}

/// Bytes of the components that two lists have in common at the beginning.
fn common_len(one: &[u8], other: &[u8]) -> usize {
    let mut len = 0;
    while len < one.len() && len < other.len() {
        let component = first_component(&one[len..]);
        if !other[len..].starts_with(component) {
            break;
        }
        len += component.len();
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::name::{IMPLICIT_DIGEST, Name, Segment, component_tlv};
    use crate::rng::{Rng, Seed};

    /// A name of up to seven components of few values, among them segments and digests.
    fn random_name(rng: &mut Rng) -> Vec<u8> {
        let component = |rng: &mut Rng| match rng.below(8) {
            0 => component_tlv(50, &[rng.below(2) as u8]),
            1 => component_tlv(IMPLICIT_DIGEST, &[rng.below(2) as u8; 32]),
            _ => component_tlv(8, &vec![rng.below(2) as u8; 1 + 10 * rng.below(2) as usize]),
        };
        (0..rng.below(8)).flat_map(|_| component(rng)).collect()
    }

    fn bytes(names: &NameTable, name: Name) -> Vec<u8> {
        let mut components = Vec::new();
        names.write_components(name, &mut components);
        components
    }

    /// Every beginning of a name, itself among them, and the empty one.
    fn beginnings(name: &[u8]) -> Vec<&[u8]> {
        let mut all = vec![&name[..0]];
        while let Some(last) = all.last().filter(|last| last.len() < name.len()) {
            let len = last.len() + first_component(&name[last.len()..]).len();
            all.push(&name[..len]);
        }
        all
    }

    #[test]
    fn names_above_and_below_are_those_of_a_list_of_names() {
        for seed in 0..300 {
            let mut rng = Rng::stream(Seed(seed), "tree");
            let mut names = NameTable::keyed(3);
            let mut known: Vec<(Vec<u8>, Name)> = Vec::new();
            for step in 0..60 {
                let components = random_name(&mut rng);
                let name = names.intern(&components).expect("valid");
                if rng.chance(0.1) {
                    let prefix = names.intern_prefix(&components).expect("valid");
                    assert_eq!(names.name_of(prefix), name, "seed {seed} step {step}");
                    assert_eq!(names.prefix_of(name), Some(prefix), "seed {seed} step {step}");
                }
                known.push((components, name));
                let (components, name) = &known[rng.below(known.len() as u32) as usize];
                assert_eq!(names.intern(components).as_ref(), Ok(name), "seed {seed} step {step}");
                assert_eq!(bytes(&names, *name), *components, "seed {seed} step {step}");

                let above: Vec<_> = names.names_above(name.prefix).collect();
                for beginning in beginnings(&bytes(&names, Name::whole(name.prefix))) {
                    let interned = known.iter().find(|(known, _)| known == beginning);
                    let is_found = interned.is_none_or(|(_, name)| above.contains(name));
                    assert!(is_found, "seed {seed} step {step}");
                }
                assert!(above.iter().all(|above| components.starts_with(&bytes(&names, *above))));
                let below: Vec<_> =
                    names.under(*name).into_iter().flat_map(|top| names.descendants(top)).collect();
                for (other, found) in &known {
                    let is_listed = below.contains(&found.prefix);
                    let is_below = other.starts_with(components) && name.prefix != found.prefix;
                    assert!(is_listed || !is_below, "seed {seed} step {step}");
                }
                assert!(below.iter().all(|below| bytes(&names, Name::whole(*below)).starts_with(components)));
            }
        }
    }

    #[test]
    fn a_name_of_many_components_is_one_entry_and_two_where_it_branches() {
        let mut names = NameTable::new();
        let long = |last: u8| [&b"\x08\x01x".repeat(119)[..], &[8, 1, last]].concat();
        names.intern(&long(0)).expect("valid");
        assert_eq!(names.len(), 2);
        names.intern(&long(1)).expect("valid");
        assert_eq!(names.len(), 4);
        names.intern(&long(2)).expect("valid");
        assert_eq!(names.len(), 5);
    }

    #[test]
    fn segments_and_digests_in_a_name_of_many_components_are_no_entries() {
        let mut names = NameTable::new();
        names.intern(&b"\x32\x01\x07".repeat(120)).expect("valid");
        assert!(names.len() <= 4, "{}", names.len());
        names.intern(&component_tlv(IMPLICIT_DIGEST, &[7; 32]).repeat(120)).expect("valid");
        assert!(names.len() <= 8, "{}", names.len());
    }

    #[test]
    fn the_parent_of_a_name_with_a_digest_is_the_name_of_the_data() {
        let mut names = NameTable::new();
        let digest = component_tlv(IMPLICIT_DIGEST, &[7; 32]);
        for (data, segment) in
            [(&b"\x08\x01a\x08\x01b\x32\x01\x07"[..], Segment(7)), (b"\x08\x01c", Segment::NONE)]
        {
            // The full name is an entry already, from which another one branches.
            let full = [data, &digest].concat();
            names.intern(&[&full[..], b"\x08\x01x"].concat()).expect("valid");
            names.intern(&[&full[..], b"\x08\x01y"].concat()).expect("valid");
            let name = names.intern(&full).expect("valid");
            let parent = names.parent(name.prefix).expect("not the root");
            let data_name = names.name_of(parent);
            assert_eq!((bytes(&names, data_name), data_name.segment), (data.to_vec(), segment));
        }
    }

    #[test]
    fn the_bytes_of_edges_are_counted_as_they_are_split_and_removed() {
        let mut names = NameTable::new();
        let empty = names.size();
        let long = b"\x08\x01x".repeat(100);
        for len in [300, 150, 225, 75] {
            names.intern(&[&long[..len], b"\x08\x01y"].concat()).expect("valid");
        }
        let counted: usize = names.prefixes.iter().map(|prefix| prefix.component.outside_bytes()).sum();
        assert_eq!(names.long_bytes, counted);
        names.sweep(std::iter::empty());
        assert_eq!((names.len(), names.size()), (1, empty));
    }
}
