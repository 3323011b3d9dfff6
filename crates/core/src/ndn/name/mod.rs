//! Names, interned: a prefix id and a trailing segment number.
//!
//! Exactly one encoding maps to one [`Name`]: only a trailing component that is the shortest encoding of a
//! segment number below 2^32-1 becomes the segment; anything else stays part of the prefix.

mod index;
mod sweep;
mod tree;

use super::component_bytes::ComponentBytes;
use super::prefix_hasher::PrefixHasher;
use crate::units::ByteCount;
use index::PrefixIndex;
use sweep::SweepState;
use tree::Ancestors;

/// An interned prefix; equal ids mean equal prefixes within one [`NameTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PrefixId(pub u32);

/// A segment number, or [`Segment::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment(pub u32);

impl Segment {
    /// The name has no segment component.
    pub const NONE: Self = Self(u32::MAX);
}

/// A name: an interned prefix and a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// All components but a trailing segment number.
    pub prefix: PrefixId,
    /// The trailing segment number.
    pub segment: Segment,
}

impl Name {
    /// Segment `segment` under `prefix`.
    pub const fn segment(prefix: PrefixId, segment: u32) -> Self {
        Self { prefix, segment: Segment(segment) }
    }

    /// The name of the prefix itself, without a segment number.
    pub const fn whole(prefix: PrefixId) -> Self {
        Self { prefix, segment: Segment::NONE }
    }
}

/// TLV-TYPE of a generic name component.
const GENERIC: u64 = 8;
/// TLV-TYPE of a segment component (naming conventions, revision 3).
const SEGMENT: u64 = 50;
/// TLV-TYPE of an implicit digest component.
pub const IMPLICIT_DIGEST: u64 = 1;
/// TLV-TYPE of a parameters digest component.
pub const PARAMETERS_DIGEST: u64 = 2;

/// Distribution of names over hash tables: consecutive segments become neighbours, which keeps a flow in few
/// cache lines.
#[derive(Clone, Copy, Debug)]
pub struct NameHash {
    key: Option<[u64; 2]>,
}

impl NameHash {
    /// The fastest one. Names can be chosen so that they collide.
    pub const LOCALITY: Self = Self { key: None };

    /// Neighbours in blocks of 64 segments; collisions cannot be chosen without knowledge of `key`.
    pub fn keyed(key: u64) -> Self {
        let spread = |part: u64| (key ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ key;
        Self { key: Some([spread(0x243F_6A88_85A3_08D3), spread(0x1319_8A2E_0370_7344) | 1]) }
    }

    /// A number that nobody can compute without the key; `None` without a key.
    pub(crate) fn secret(self) -> Option<u64> {
        self.key.map(|[key, factor]| key ^ factor.rotate_left(32))
    }

    /// The hash of a name.
    #[inline]
    pub(crate) fn of(self, name: Name) -> u64 {
        let segment = u64::from(name.segment.0);
        let (place, tag) = match self.key {
            None => {
                let prefix = u64::from(name.prefix.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let tag = (prefix ^ segment).wrapping_mul(0xD6E8_FEB8_6659_FD93);
                ((prefix >> 20).wrapping_add(segment), tag)
            }
            Some([key, factor]) => {
                let block = u64::from(name.prefix.0) << 32 | segment >> 6;
                let product = u128::from(block ^ key) * u128::from(factor);
                let mixed = (product >> 64) as u64 ^ product as u64;
                (mixed.wrapping_add(segment & 63), mixed ^ segment.wrapping_mul(0xD6E8_FEB8_6659_FD93))
            }
        };
        // hashbrown takes the slot from the low bits and a tag from the upper 7: neighbours need different
        // tags.
        (place & ((1 << 57) - 1)) | (tag & (0x7F << 57))
    }
}

/// Error in the text of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

/// All prefixes of one process or one simulated world, as a tree.
///
/// A name of a packet is one entry of the tree, whatever its number of components: an edge has as many as no other name
/// branches from. A live node interns names that its peers choose, so the table removes those that are no longer used
/// ([`sweep`](Self::sweep), or in steps from [`begin_sweep`](Self::begin_sweep) on) and may be keyed against chosen collisions ([`keyed`](Self::keyed)).
///
/// ```
/// use tidegate_core::ndn::name::{Name, NameTable};
///
/// let mut names = NameTable::new();
/// let file = names.intern_uri("/example/file")?;
/// let example = names.intern_uri("/example")?;
/// assert!(names.is_under(example, file));
///
/// let segment = Name::segment(file, 7);
/// assert_eq!(names.uri(segment), "/example/file/seg=7");
/// # Ok::<(), tidegate_core::ndn::name::NameError>(())
/// ```
#[derive(Debug)]
pub struct NameTable {
    prefixes: Vec<Prefix>,
    /// Every prefix by its hash.
    index: PrefixIndex,
    /// Prefixes with several components after those of their parent, by the hash that ends after the first of these.
    edges: PrefixIndex,
    free: Vec<PrefixId>,
    key: u64,
    /// Bytes of components that are not kept in place.
    long_bytes: usize,
    sweep: SweepState,
}

/// A prefix, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Link(u32);

impl Link {
    const NONE: Self = Self(u32::MAX);

    #[inline]
    fn get(self) -> Option<PrefixId> {
        (self != Self::NONE).then_some(PrefixId(self.0))
    }
}

impl From<PrefixId> for Link {
    #[inline]
    fn from(prefix: PrefixId) -> Self {
        Self(prefix.0)
    }
}

#[derive(Debug)]
struct Prefix {
    /// TLVs of the components after those of the parent, at least one; empty for the root.
    component: ComponentBytes,
    parent: Link,
    first_child: Link,
    next_sibling: Link,
    previous_sibling: Link,
    /// Number of the last sweep in which it was used.
    used_in: u32,
    /// Hash of all components from the root on.
    hash: u64,
    /// Hash of the components of the parent and of the first one after them.
    first_hash: u64,
    /// Bytes of all components from the root on.
    len: u32,
}

impl Prefix {
    /// Whether several components come after those of the parent.
    #[inline]
    fn has_long_edge(&self) -> bool {
        read_component(&self.component).is_some_and(|(_, _, rest)| !rest.is_empty())
    }
}

impl Default for NameTable {
    fn default() -> Self {
        Self::new()
    }
}

impl NameTable {
    /// The root prefix `/`, present in every table.
    pub const ROOT: PrefixId = PrefixId(0);

    /// Maximum number of components of a name taken from a packet, so that one packet cannot fill the table.
    pub const MAX_COMPONENTS: usize = 128;

    /// A table with the root alone.
    pub fn new() -> Self {
        Self::keyed(0)
    }

    /// A table with only the root; collisions cannot be produced without knowledge of `key`.
    pub fn keyed(key: u64) -> Self {
        let mut table = Self {
            prefixes: Vec::new(),
            index: PrefixIndex::new(),
            edges: PrefixIndex::new(),
            free: Vec::new(),
            key,
            long_bytes: 0,
            sweep: SweepState::default(),
        };
        let hash = PrefixHasher::new(key).value();
        table.prefixes.push(Prefix {
            component: ComponentBytes::default(),
            parent: Link::NONE,
            first_child: Link::NONE,
            next_sibling: Link::NONE,
            previous_sibling: Link::NONE,
            used_in: 0,
            hash,
            first_hash: hash,
            len: 0,
        });
        table.index.insert(hash, Self::ROOT, |_| hash);
        table
    }

    /// Number of interned prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len() - self.free.len() - self.sweep.removed()
    }

    /// Bytes of memory that the interned prefixes take, by their number and length.
    pub fn size(&self) -> ByteCount {
        let indexes = self.index.entry_bytes() + self.edges.entry_bytes();
        ByteCount::new((self.len() * size_of::<Prefix>() + indexes + self.long_bytes) as u64)
    }

    /// Whether the table contains only the root.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// The longest other prefix in the table that it begins with; `None` for the root. That is the prefix without its last
    /// component if it was interned by [`intern_uri`](Self::intern_uri), or if that component is a digest.
    pub fn parent(&self, prefix: PrefixId) -> Option<PrefixId> {
        self.at(prefix).parent.get()
    }

    /// Whether `prefix` is `ancestor` or lies under it.
    pub fn is_under(&self, ancestor: PrefixId, prefix: PrefixId) -> bool {
        self.ancestors(prefix).any(|candidate| candidate == ancestor)
    }

    /// The prefix itself, then its [`parent`](Self::parent)s up to the root: all interned prefixes that it is under.
    pub fn ancestors(&self, prefix: PrefixId) -> impl Iterator<Item = PrefixId> + '_ {
        std::iter::successors(Some(prefix), |prefix| self.parent(*prefix))
    }

    /// The prefix and everything interned under it, parents before children.
    pub fn descendants(&self, prefix: PrefixId) -> impl Iterator<Item = PrefixId> + '_ {
        std::iter::successors(Some(prefix), move |at| {
            // Only links are followed: a peer may cause any number of children.
            let above = self.ancestors(*at).take_while(|above| *above != prefix);
            let beside = || above.into_iter().find_map(|above| self.at(above).next_sibling.get());
            self.at(*at).first_child.get().or_else(beside)
        })
    }

    /// The first component of a name, type and value; `None` for the root.
    pub fn first_component(&self, prefix: PrefixId) -> Option<(u64, &[u8])> {
        let first = self.ancestors(prefix).filter(|prefix| *prefix != Self::ROOT).last()?;
        read_component(&self.at(first).component).map(|(kind, value, _)| (kind, value))
    }

    /// The last component of a prefix, type and value; `None` for the root.
    pub fn last_component(&self, prefix: PrefixId) -> Option<(u64, &[u8])> {
        last_of(&self.at(prefix).component).map(|(_, kind, value)| (kind, value))
    }

    /// The components of a prefix from the last to the first, type and value.
    pub fn components_from_last(&self, prefix: PrefixId) -> impl Iterator<Item = (u64, &[u8])> {
        self.ancestors(prefix).flat_map(|prefix| {
            let mut edge = &*self.at(prefix).component;
            std::iter::from_fn(move || {
                let (last, kind, value) = last_of(edge)?;
                edge = &edge[..last];
                Some((kind, value))
            })
        })
    }

    /// Every name of a packet, among those that were interned, that `prefix` is or is under; from long to short, with some
    /// that were not interned.
    pub(crate) fn names_above(&self, prefix: PrefixId) -> impl Iterator<Item = Name> + '_ {
        self.ancestors(prefix).flat_map(|prefix| {
            // The prefix of a name with a segment number is an entry, but not the name itself.
            [Some(self.name_of(prefix)), self.segment_above(prefix)].into_iter().flatten()
        })
    }

    /// The parent and the segment number that comes next, if other components follow.
    fn segment_above(&self, prefix: PrefixId) -> Option<Name> {
        let entry = self.at(prefix);
        let (kind, value, rest) = read_component(&entry.component)?;
        let segment = segment_of(kind, value);
        (segment != Segment::NONE && !rest.is_empty())
            .then_some(Name { prefix: entry.parent.get()?, segment })
    }

    /// The interned prefix above all others that are `name` or under it.
    pub(crate) fn under(&self, name: Name) -> Option<PrefixId> {
        if name.segment == Segment::NONE {
            return Some(name.prefix);
        }
        let mut hasher = PrefixHasher::new(self.key);
        hasher.extend(&self.components(name.prefix));
        let component = segment_tlv(name.segment);
        hasher.extend(&component);
        self.find_under(name.prefix, &component, hasher.value())
    }

    /// Interns a prefix written as a URI (`/a/b`, percent-encoded, `8=text` for typed components), and all that it is under.
    ///
    /// # Errors
    /// When the text does not start with `/`, a component is empty, an escape is malformed, or a digest has not
    /// 32 bytes.
    pub fn intern_uri(&mut self, uri: &str) -> Result<PrefixId, NameError> {
        let path = uri.strip_prefix("ndn:").unwrap_or(uri);
        let Some(path) = path.strip_prefix('/') else {
            return Err(NameError(format!("name {uri:?} does not start with \"/\"")));
        };
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Ok(Self::ROOT);
        }
        let mut components = Vec::with_capacity(2 * path.len());
        for component in path.split('/') {
            let (kind, value) =
                parse_component(component).map_err(|why| NameError(format!("name {uri:?}: {why}")))?;
            components.extend_from_slice(&component_tlv(kind, &value));
        }
        let prefix = self.insert_all(&components, Ancestors::All);
        self.note_use(prefix);
        Ok(prefix)
    }

    /// Interns the name of a packet, given as the value of its Name TLV.
    ///
    /// # Errors
    /// When the components are malformed or more than [`MAX_COMPONENTS`](Self::MAX_COMPONENTS).
    #[inline]
    pub fn intern(&mut self, components: &[u8]) -> Result<Name, NameError> {
        let Last { at, kind, segment } = split_last(components)?;
        if kind == IMPLICIT_DIGEST {
            // Data is looked up by its name alone, which is the parent.
            self.intern_prefix(&components[..at])?;
        }
        // Segment numbers stay out of the table, so that a flow needs one prefix.
        let whole = if segment == Segment::NONE { components } else { &components[..at] };
        let prefix = match self.find(whole) {
            Some(prefix) => prefix,
            None => self.insert_all(whole, Ancestors::Branches),
        };
        self.note_use(prefix);
        Ok(Name { prefix, segment })
    }

    /// As [`intern`](Self::intern), but the whole name as a prefix, including a trailing segment number.
    ///
    /// # Errors
    /// As [`intern`](Self::intern).
    pub fn intern_prefix(&mut self, components: &[u8]) -> Result<PrefixId, NameError> {
        let Last { at, segment, .. } = split_last(components)?;
        if segment != Segment::NONE {
            // The prefix of the name of a packet that is called so, for `name_of`.
            self.insert_all(&components[..at], Ancestors::Branches);
        }
        let prefix = self.insert_all(components, Ancestors::Branches);
        self.note_use(prefix);
        Ok(prefix)
    }

    /// Interns `parent` followed by one component.
    pub fn child(&mut self, parent: PrefixId, kind: u64, value: &[u8]) -> PrefixId {
        let mut components = self.components(parent);
        components.extend_from_slice(&component_tlv(kind, value));
        let prefix = self.insert_all(&components, Ancestors::Branches);
        self.note_use(prefix);
        prefix
    }

    /// The prefix of `parent` followed by one component, if it was interned.
    pub fn find_child(&self, parent: PrefixId, kind: u64, value: &[u8]) -> Option<PrefixId> {
        let mut components = self.components(parent);
        components.extend_from_slice(&component_tlv(kind, value));
        self.find(&components)
    }

    /// The name of a packet called exactly `prefix`: a trailing segment number becomes its segment.
    pub fn name_of(&self, prefix: PrefixId) -> Name {
        let entry = self.at(prefix);
        match (read_component(&entry.component), entry.parent.get()) {
            (Some((kind, value, [])), Some(parent)) if segment_of(kind, value) != Segment::NONE => {
                Name { prefix: parent, segment: segment_of(kind, value) }
            }
            // A prefix with several components after its parent was not interned by itself if it ends with a segment
            // number, so that no packet has that name.
            _ => Name::whole(prefix),
        }
    }

    /// The prefix that `name` is as a whole, if it was interned as one.
    pub fn prefix_of(&self, name: Name) -> Option<PrefixId> {
        if name.segment == Segment::NONE {
            return Some(name.prefix);
        }
        let mut components = self.components(name.prefix);
        components.extend_from_slice(&segment_tlv(name.segment));
        self.find(&components)
    }

    /// Bytes of the whole name as a Name TLV, outer type and length included.
    pub fn encoded_len(&self, name: Name) -> u32 {
        let inner = self.value_len(name);
        1 + tlv_number_len(u64::from(inner)) as u32 + inner
    }

    /// Bytes of the name's components.
    fn value_len(&self, name: Name) -> u32 {
        let segment = if name.segment == Segment::NONE { 0 } else { 2 + nni_len(name.segment.0) as u32 };
        self.at(name.prefix).len + segment
    }

    /// Appends the name's components: the value of its Name TLV.
    pub fn write_components(&self, name: Name, out: &mut Vec<u8>) {
        self.write_prefix(name.prefix, out);
        if name.segment != Segment::NONE {
            out.extend_from_slice(&segment_tlv(name.segment));
        }
    }

    fn components(&self, prefix: PrefixId) -> Vec<u8> {
        let mut components = Vec::with_capacity(self.at(prefix).len as usize + 8);
        self.write_prefix(prefix, &mut components);
        components
    }

    fn write_prefix(&self, prefix: PrefixId, out: &mut Vec<u8>) {
        let begin = out.len();
        let mut end = begin + self.at(prefix).len as usize;
        out.resize(end, 0);
        for part in self.ancestors(prefix).map(|prefix| &self.at(prefix).component) {
            let from = end - part.len();
            out[from..end].copy_from_slice(part);
            end = from;
        }
    }

    /// The name as a URI, segment as `seg=N`.
    pub fn uri(&self, name: Name) -> String {
        let mut uri = String::new();
        let components = self.components(name.prefix);
        let mut rest = &*components;
        while let Some((kind, value, tail)) = read_component(rest) {
            write_component(&mut uri, kind, value);
            rest = tail;
        }
        if name.segment != Segment::NONE {
            uri.push_str(&format!("/seg={}", name.segment.0));
        }
        if uri.is_empty() { "/".to_owned() } else { uri }
    }

    #[inline]
    fn at(&self, prefix: PrefixId) -> &Prefix {
        &self.prefixes[prefix.0 as usize]
    }

    #[inline]
    fn find(&self, components: &[u8]) -> Option<PrefixId> {
        let hash = PrefixHasher::hash(self.key, components);
        self.index.find(hash, |id| self.is_called(id, components))
    }

    /// Compares from the last edge up to the root.
    #[inline]
    fn is_called(&self, prefix: PrefixId, components: &[u8]) -> bool {
        if self.at(prefix).len as usize != components.len() {
            return false;
        }
        let mut rest = components;
        for part in self.ancestors(prefix).map(|prefix| &self.at(prefix).component) {
            match rest.strip_suffix(&**part) {
                Some(shorter) => rest = shorter,
                None => return false,
            }
        }
        rest.is_empty()
    }
}

/// The last component of a name.
struct Last {
    /// Offset in the name, bytes.
    at: usize,
    /// TLV-TYPE of the component; zero for the empty name.
    kind: u64,
    segment: Segment,
}

/// The last component of a name; validates every component on the way.
#[inline]
fn split_last(components: &[u8]) -> Result<Last, NameError> {
    let mut found = Last { at: 0, kind: 0, segment: Segment::NONE };
    let mut rest = components;
    let mut count = 0;
    while !rest.is_empty() {
        let last = components.len() - rest.len();
        let Some((kind, value, tail)) = read_component(rest) else {
            return Err(NameError(format!("the name component at byte {last} is malformed")));
        };
        if !(1..=0xFFFF).contains(&kind) {
            return Err(NameError(format!(
                "the name component at byte {last} has type {kind}; 1 to 65535 may be"
            )));
        }
        if !has_valid_length(kind, value) {
            let (len, digest) = (value.len(), 32);
            return Err(NameError(format!("a digest component has {len} bytes; it needs {digest}")));
        }
        found = Last { at: last, kind, segment: segment_of(kind, value) };
        rest = tail;
        count += 1;
        if count > NameTable::MAX_COMPONENTS {
            let max = NameTable::MAX_COMPONENTS;
            return Err(NameError(format!("the name has more than {max} components")));
        }
    }
    Ok(found)
}

/// Digest components hold SHA-256 values.
fn has_valid_length(kind: u64, value: &[u8]) -> bool {
    !matches!(kind, IMPLICIT_DIGEST | PARAMETERS_DIGEST) || value.len() == 32
}

fn component_tlv(kind: u64, value: &[u8]) -> Vec<u8> {
    let mut tlv = Vec::with_capacity(value.len() + 4);
    write_tlv_number(&mut tlv, kind);
    write_tlv_number(&mut tlv, value.len() as u64);
    tlv.extend_from_slice(value);
    tlv
}

/// The TLV of the component for a segment number.
fn segment_tlv(segment: Segment) -> Vec<u8> {
    component_tlv(SEGMENT, &segment.0.to_be_bytes()[4 - nni_len(segment.0)..])
}

/// The segment number that a component is the one encoding of; [`Segment::NONE`] for any other component.
fn segment_of(kind: u64, value: &[u8]) -> Segment {
    if kind != SEGMENT || !matches!(value.len(), 1 | 2 | 4) {
        return Segment::NONE;
    }
    let number = value.iter().fold(0, |number, byte| number << 8 | u32::from(*byte));
    if nni_len(number) == value.len() { Segment(number) } else { Segment::NONE }
}

/// Bytes of the shortest NonNegativeInteger that holds `number`.
fn nni_len(number: u32) -> usize {
    match number {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        _ => 4,
    }
}

fn tlv_number_len(number: u64) -> usize {
    match number {
        0..=252 => 1,
        253..=0xFFFF => 3,
        0x1_0000..=0xFFFF_FFFF => 5,
        _ => 9,
    }
}

fn write_tlv_number(out: &mut Vec<u8>, number: u64) {
    match tlv_number_len(number) {
        1 => out.push(number as u8),
        3 => {
            out.push(253);
            out.extend_from_slice(&(number as u16).to_be_bytes());
        }
        5 => {
            out.push(254);
            out.extend_from_slice(&(number as u32).to_be_bytes());
        }
        _ => {
            out.push(255);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }
}

#[inline]
fn read_tlv_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        253 => 2,
        254 => 4,
        255 => 8,
        small => return Some((u64::from(small), rest)),
    };
    let (number, rest) = rest.split_at_checked(width)?;
    let number = number.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    // Exactly one encoding is valid.
    (tlv_number_len(number) == width + 1).then_some((number, rest))
}

#[inline]
fn read_component(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (kind, rest) = read_tlv_number(bytes)?;
    let (len, rest) = read_tlv_number(rest)?;
    let (value, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
    Some((kind, value, rest))
}

/// The last of several components: its offset, type and value.
fn last_of(components: &[u8]) -> Option<(usize, u64, &[u8])> {
    let (mut rest, mut last) = (components, None);
    while let Some((kind, value, tail)) = read_component(rest) {
        last = Some((components.len() - rest.len(), kind, value));
        rest = tail;
    }
    last
}

fn parse_component(text: &str) -> Result<(u64, Vec<u8>), String> {
    if text.is_empty() {
        return Err("a component is empty".to_owned());
    }
    if let Some(number) = text.strip_prefix("seg=") {
        let number: u32 = number.parse().map_err(|_| format!("{text:?} is not a segment number"))?;
        let bytes = number.to_be_bytes();
        return Ok((SEGMENT, bytes[4 - nni_len(number)..].to_vec()));
    }
    let (kind, value) = match text.split_once('=') {
        Some((kind, value)) => match kind.parse::<u16>() {
            Ok(kind) if kind > 0 => (u64::from(kind), value),
            _ => return Err(format!("component type {kind:?} is not a number in 1..=65535")),
        },
        None => (GENERIC, text),
    };
    let value = percent_decode(value)?;
    if !has_valid_length(kind, &value) {
        return Err(format!("digest component {text:?} has {} bytes; it needs 32", value.len()));
    }
    Ok((kind, value))
}

fn percent_decode(text: &str) -> Result<Vec<u8>, String> {
    // Components of dots alone carry three extra ones in a URI.
    if text.bytes().all(|byte| byte == b'.') && text.len() < 3 {
        return Err(format!("component {text:?} needs three more dots"));
    }
    if text.bytes().all(|byte| byte == b'.') {
        return Ok(vec![b'.'; text.len() - 3]);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = tail;
            continue;
        }
        let digits = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let value = digits.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(value.ok_or_else(|| format!("component {text:?} has a malformed %-escape"))?);
        rest = &tail[2..];
    }
    Ok(bytes)
}

fn write_component(uri: &mut String, kind: u64, value: &[u8]) {
    uri.push('/');
    if kind != GENERIC {
        uri.push_str(&format!("{kind}="));
    }
    if value.iter().all(|byte| *byte == b'.') {
        uri.push_str("...");
    }
    for &byte in value {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::prefix_hasher::tests::HASHED;

    #[test]
    fn the_same_uri_gives_the_same_prefix() {
        let mut names = NameTable::new();
        let first = names.intern_uri("/a/b").expect("valid");
        assert_eq!(names.intern_uri("ndn:/a/b/"), Ok(first));
        assert_ne!(names.intern_uri("/a/c"), Ok(first));
        assert_eq!(names.uri(Name::whole(first)), "/a/b");
    }

    #[test]
    fn parents_lead_to_the_root() {
        let mut names = NameTable::new();
        let deep = names.intern_uri("/a/b").expect("valid");
        let parent = names.parent(deep).expect("not the root");
        assert_eq!(names.uri(Name::whole(parent)), "/a");
        assert_eq!(names.parent(parent), Some(NameTable::ROOT));
        assert_eq!(names.parent(NameTable::ROOT), None);
    }

    #[test]
    fn escapes_and_typed_components_survive_a_round_trip() {
        let mut names = NameTable::new();
        for uri in ["/%00%FF/a%20b", "/32=metadata", "/.../x", "/"] {
            let prefix = names.intern_uri(uri).expect("valid");
            assert_eq!(names.uri(Name::whole(prefix)), uri);
        }
    }

    #[test]
    fn malformed_names_are_refused_with_the_reason() {
        let mut names = NameTable::new();
        for uri in ["a/b", "", "/a//b", "/%4", "/%GG", "/0=a", "/x=a", "/..", "/seg=-1", "/1=a"] {
            assert!(names.intern_uri(uri).is_err(), "{uri:?}");
        }
    }

    #[test]
    fn only_the_shortest_segment_number_becomes_the_segment_of_a_name() {
        let mut names = NameTable::new();
        let a = names.intern_uri("/a").expect("valid");
        let segment = names.intern_uri("/a/seg=300").expect("valid");
        assert_eq!(names.name_of(segment), Name::segment(a, 300));
        assert_eq!(names.prefix_of(Name::segment(a, 300)), Some(segment));
        assert_eq!(names.prefix_of(Name::segment(a, 301)), None);
        for longer in [&[0, 1][..], &[0, 0, 1, 44], &[0, 0, 0, 0, 0, 0, 0, 7], &[255, 255, 255, 255], &[]] {
            let prefix = names.child(a, 50, longer);
            assert_eq!(names.name_of(prefix), Name::whole(prefix), "{longer:?}");
        }
    }

    #[test]
    fn encoded_length_counts_the_shortest_segment_number() {
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/ab").expect("valid");
        // Name TL 2 + component TL 2 + "ab" 2 = 6, then 2 + 1, 2 and 4 bytes of segment.
        assert_eq!(names.encoded_len(Name::whole(prefix)), 6);
        assert_eq!(names.encoded_len(Name::segment(prefix, 255)), 9);
        assert_eq!(names.encoded_len(Name::segment(prefix, 256)), 10);
        assert_eq!(names.encoded_len(Name::segment(prefix, 65_536)), 12);
    }

    #[test]
    fn a_name_from_a_packet_is_the_one_from_its_uri_and_is_written_back_byte_for_byte() {
        let mut names = NameTable::keyed(7);
        let a = names.intern_uri("/a/32=metadata").expect("valid");
        let mut components = b"\x08\x01a\x20\x08metadata".to_vec();
        assert_eq!(names.intern(&components), Ok(Name::whole(a)));
        components.extend_from_slice(b"\x32\x01\x07");
        let name = names.intern(&components).expect("valid");
        assert_eq!(name, Name::segment(a, 7));
        let mut written = Vec::new();
        names.write_components(name, &mut written);
        assert_eq!(written, components);
        let whole = names.intern_prefix(&components).expect("valid");
        assert_eq!(names.name_of(whole), name);
    }

    #[test]
    fn malformed_components_from_a_packet_are_refused() {
        let mut names = NameTable::new();
        let long = b"\x08\x00".repeat(NameTable::MAX_COMPONENTS + 1);
        for components in
            [&b"\x08"[..], b"\x08\x02a", b"\x00\x01a", b"\xfd\x00\x08\x01a", b"\x01\x01a", &long]
        {
            assert!(names.intern(components).is_err(), "{components:?}");
        }
        assert_eq!(names.len(), 1);
        assert!(names.intern(&long[2..]).is_ok());
    }

    #[test]
    fn a_sweep_forgets_what_is_not_used_and_keeps_parents_of_what_is() {
        let mut names = NameTable::new();
        let kept = names.intern_uri("/a/b").expect("valid");
        for number in 0..100 {
            names.intern_uri(&format!("/a/x/{number}")).expect("valid");
        }
        let parent = names.parent(kept).expect("not the root");
        names.sweep([kept].into_iter());
        assert_eq!(names.len(), 3);
        assert_eq!(names.uri(Name::whole(kept)), "/a/b");
        assert_eq!(names.intern_uri("/a"), Ok(parent));
        assert_eq!(names.descendants(parent).collect::<Vec<_>>(), [parent, kept]);
        let again = names.intern_uri("/a/x/3").expect("valid");
        assert_eq!(names.uri(Name::whole(again)), "/a/x/3");
        assert_eq!(names.descendants(NameTable::ROOT).count(), names.len());
    }

    /// A name of `count` components, `bytes` bytes in all; names of different numbers share no prefix.
    fn name_of_size(count: usize, bytes: usize, number: u32) -> Vec<u8> {
        let mut name = component_tlv(8, &number.to_be_bytes());
        let filler = bytes - name.len() - 2 * (count - 1);
        // A long component needs two more bytes for its length.
        let len = if count == 2 { filler - 2 } else { filler / (count - 1) };
        (1..count).for_each(|_| name.extend_from_slice(&component_tlv(8, &vec![7; len])));
        assert_eq!(name.len(), bytes, "the components fill the name");
        name
    }

    #[test]
    fn a_name_of_many_components_costs_no_more_hashing_than_one_of_two() {
        let hashed = |count| {
            let mut names = NameTable::keyed(7);
            let before = HASHED.get();
            names.intern(&name_of_size(count, 6 + 119 * 7, 1)).expect("valid");
            names.intern(&name_of_size(count, 6 + 119 * 7, 1)).expect("valid");
            HASHED.get() - before
        };
        // New, a search for the whole and a walk over its components; then a search.
        assert_eq!((hashed(2), hashed(120)), (3 * 839, 3 * 839));
    }

    #[test]
    fn the_bytes_of_names_are_counted_and_given_back() {
        let mut names = NameTable::new();
        let empty = names.size().get();
        let long = names.child(NameTable::ROOT, 8, &[7; 1_000]);
        names.intern_uri("/a/b/c").expect("valid");
        let used = names.size().get() - empty;
        assert!((1_004 + 4 * 64..1_004 + 4 * 80).contains(&used), "{used} bytes");
        names.sweep([long].into_iter());
        assert!((1_004 + 64..1_004 + 80).contains(&(names.size().get() - empty)));
        names.sweep(std::iter::empty());
        assert_eq!(names.size().get(), empty);
    }
}
