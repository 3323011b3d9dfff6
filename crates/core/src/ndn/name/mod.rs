//! Names, interned: a prefix id and a trailing segment number.
//!
//! Exactly one encoding maps to one [`Name`]: only a trailing component that is the shortest encoding of a
//! segment number below 2^32-1 becomes the segment; anything else stays part of the prefix.

mod sweep;

use hashbrown::HashTable;

use super::component_bytes::ComponentBytes;
use super::prefix_hasher::PrefixHasher;
use crate::units::ByteCount;
use sweep::SweepState;

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

/// All prefixes of one process or one simulated world, as a tree by components.
///
/// A live node interns names that its peers choose, so the table removes those that are no longer used
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
    index: HashTable<PrefixId>,
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
    /// TLV of the last component; empty for the root.
    component: ComponentBytes,
    parent: Link,
    first_child: Link,
    next_sibling: Link,
    previous_sibling: Link,
    /// Number of the last sweep in which it was used.
    used_in: u32,
    /// Hash of all components from the root on.
    hash: u64,
    /// Bytes of all components from the root on.
    len: u32,
    /// The last component as a segment number, [`Segment::NONE`] when it is none.
    segment: Segment,
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
            index: HashTable::new(),
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
            len: 0,
            segment: Segment::NONE,
        });
        table.index.insert_unique(hash, Self::ROOT, |_| hash);
        table
    }

    /// Number of interned prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len() - self.free.len() - self.sweep.removed()
    }

    /// Bytes of memory that the interned prefixes take, by their number and length.
    pub fn size(&self) -> ByteCount {
        // One place of the index for each, which is at most 7/8 full, with one control byte.
        let entry = size_of::<Prefix>() + (size_of::<PrefixId>() + 1) * 8 / 7;
        ByteCount::new((self.len() * entry + self.long_bytes) as u64)
    }

    /// Whether the table contains only the root.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// The prefix without its last component; `None` for the root.
    pub fn parent(&self, prefix: PrefixId) -> Option<PrefixId> {
        self.at(prefix).parent.get()
    }

    /// Whether `prefix` is `ancestor` or lies under it.
    pub fn is_under(&self, ancestor: PrefixId, prefix: PrefixId) -> bool {
        self.ancestors(prefix).any(|candidate| candidate == ancestor)
    }

    /// The prefix itself, then its parents up to the root.
    pub fn ancestors(&self, prefix: PrefixId) -> impl Iterator<Item = PrefixId> + '_ {
        std::iter::successors(Some(prefix), |prefix| self.parent(*prefix))
    }

    /// The prefix and everything interned under it, parents before children.
    pub fn descendants(&self, prefix: PrefixId) -> impl Iterator<Item = PrefixId> + '_ {
        let mut open = vec![prefix];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            let children = std::iter::successors(self.at(next).first_child.get(), |child| {
                self.at(*child).next_sibling.get()
            });
            open.extend(children);
            Some(next)
        })
    }

    /// The first component of a name, type and value; `None` for the root.
    pub fn first_component(&self, prefix: PrefixId) -> Option<(u64, &[u8])> {
        let first = self.ancestors(prefix).filter(|prefix| *prefix != Self::ROOT).last()?;
        read_component(&self.at(first).component).map(|(kind, value, _)| (kind, value))
    }

    /// The last component of a prefix, type and value; `None` for the root.
    pub fn last_component(&self, prefix: PrefixId) -> Option<(u64, &[u8])> {
        read_component(&self.at(prefix).component).map(|(kind, value, _)| (kind, value))
    }

    /// Interns a prefix written as a URI (`/a/b`, percent-encoded, `8=text` for typed components).
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
        let prefix = self.insert_all(&components);
        self.note_use(prefix);
        Ok(prefix)
    }

    /// Interns the name of a packet, given as the value of its Name TLV.
    ///
    /// # Errors
    /// When the components are malformed or more than [`MAX_COMPONENTS`](Self::MAX_COMPONENTS).
    #[inline]
    pub fn intern(&mut self, components: &[u8]) -> Result<Name, NameError> {
        let (last, segment) = split_last(components)?;
        // Segment numbers stay out of the table, so that a flow needs one prefix.
        let whole = if segment == Segment::NONE { components } else { &components[..last] };
        let prefix = match self.find(whole) {
            Some(prefix) => prefix,
            None => self.insert_all(whole),
        };
        self.note_use(prefix);
        Ok(Name { prefix, segment })
    }

    /// As [`intern`](Self::intern), but the whole name as a prefix, including a trailing segment number.
    ///
    /// # Errors
    /// As [`intern`](Self::intern).
    pub fn intern_prefix(&mut self, components: &[u8]) -> Result<PrefixId, NameError> {
        split_last(components)?;
        let prefix = self.insert_all(components);
        self.note_use(prefix);
        Ok(prefix)
    }

    /// Interns `parent` followed by one component.
    pub fn child(&mut self, parent: PrefixId, kind: u64, value: &[u8]) -> PrefixId {
        let mut hasher = PrefixHasher::new(self.key);
        hasher.extend(&self.components(parent));
        let component = component_tlv(kind, value);
        hasher.extend(&component);
        let found = self.find_under(parent, &component, hasher.value());
        let prefix = found.unwrap_or_else(|| self.insert(parent, &component, hasher.value()));
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
        match *self.at(prefix) {
            Prefix { segment, parent, .. } if segment != Segment::NONE => {
                Name { prefix: PrefixId(parent.0), segment }
            }
            _ => Name::whole(prefix),
        }
    }

    /// The prefix that `name` is as a whole; `None` when nothing under it was ever interned.
    pub fn prefix_of(&self, name: Name) -> Option<PrefixId> {
        if name.segment == Segment::NONE {
            return Some(name.prefix);
        }
        let number = name.segment.0;
        self.find_child(name.prefix, SEGMENT, &number.to_be_bytes()[4 - nni_len(number)..])
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
            let number = name.segment.0;
            out.extend_from_slice(&component_tlv(SEGMENT, &number.to_be_bytes()[4 - nni_len(number)..]));
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
        self.index.find(hash, |id| self.is_called(*id, components)).copied()
    }

    /// Compares from the last component up to the root.
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

    /// Interns every prefix of a name. Its cost is linear in the bytes of the name, whatever their number of components.
    #[cold]
    fn insert_all(&mut self, components: &[u8]) -> PrefixId {
        let mut prefix = Self::ROOT;
        let mut hasher = PrefixHasher::new(self.key);
        let mut rest = components;
        let mut is_new = false;
        while let Some((_, _, tail)) = read_component(rest) {
            let component = &rest[..rest.len() - tail.len()];
            hasher.extend(component);
            // Nothing was interned under a prefix that was not.
            let found = if is_new { None } else { self.find_under(prefix, component, hasher.value()) };
            is_new = found.is_none();
            prefix = found.unwrap_or_else(|| self.insert(prefix, component, hasher.value()));
            rest = tail;
        }
        prefix
    }

    /// The prefix of `parent` followed by a component, given as its TLV; `hash` is that of all components.
    fn find_under(&self, parent: PrefixId, component: &[u8], hash: u64) -> Option<PrefixId> {
        let is_same = |id: &PrefixId| {
            let found = self.at(*id);
            found.hash == hash && found.parent == Link::from(parent) && *found.component == *component
        };
        self.index.find(hash, is_same).copied()
    }

    /// As [`find_under`](Self::find_under), of a prefix that is not in the table yet.
    fn insert(&mut self, parent: PrefixId, component: &[u8], hash: u64) -> PrefixId {
        let next_sibling = self.at(parent).first_child;
        let prefix = Prefix {
            component: component.into(),
            parent: parent.into(),
            first_child: Link::NONE,
            next_sibling,
            previous_sibling: Link::NONE,
            used_in: self.sweep.number(),
            hash,
            len: self.at(parent).len + u32::try_from(component.len()).expect("a name is smaller than 4 GiB"),
            segment: read_component(component)
                .map_or(Segment::NONE, |(kind, value, _)| segment_of(kind, value)),
        };
        let id = self.place(prefix);
        self.prefixes[parent.0 as usize].first_child = id.into();
        if let Some(next) = next_sibling.get() {
            self.prefixes[next.0 as usize].previous_sibling = id.into();
        }
        let prefixes = &self.prefixes;
        self.index.insert_unique(hash, id, |id| prefixes[id.0 as usize].hash);
        id
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

/// Offset of the last component, and its segment number; validates every component on the way.
#[inline]
fn split_last(components: &[u8]) -> Result<(usize, Segment), NameError> {
    let (mut last, mut segment) = (0, Segment::NONE);
    let mut rest = components;
    let mut count = 0;
    while !rest.is_empty() {
        last = components.len() - rest.len();
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
        segment = segment_of(kind, value);
        rest = tail;
        count += 1;
        if count > NameTable::MAX_COMPONENTS {
            let max = NameTable::MAX_COMPONENTS;
            return Err(NameError(format!("the name has more than {max} components")));
        }
    }
    Ok((last, segment))
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
