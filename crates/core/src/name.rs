//! Names, interned: a prefix id and a trailing segment number.
//!
//! Exactly one encoding maps to one [`Name`]: only a trailing component that is the shortest encoding of a
//! segment number below 2^32-1 becomes the segment; anything else stays part of the prefix.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use hashbrown::HashTable;

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

    /// The prefix itself.
    pub const fn whole(prefix: PrefixId) -> Self {
        Self { prefix, segment: Segment::NONE }
    }
}

/// TLV-TYPE of a generic name component.
const GENERIC: u64 = 8;
/// TLV-TYPE of a segment component (naming conventions, revision 3).
const SEGMENT: u64 = 50;

/// What is wrong with the text of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameError(String);

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NameError {}

/// All prefixes of one process or one simulated world.
#[derive(Debug)]
pub struct NameTable {
    prefixes: Vec<Prefix>,
    index: HashTable<PrefixId>,
    hasher: BuildHasherDefault<DefaultHasher>,
}

#[derive(Debug)]
struct Prefix {
    /// TLV of the components, without the enclosing Name.
    components: Box<[u8]>,
    parent: Option<PrefixId>,
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

    /// A table with the root alone.
    pub fn new() -> Self {
        let mut table =
            Self { prefixes: Vec::new(), index: HashTable::new(), hasher: BuildHasherDefault::default() };
        table.insert(&[], None, Segment::NONE);
        table
    }

    /// Number of interned prefixes.
    pub fn len(&self) -> usize {
        self.prefixes.len()
    }

    /// Whether only the root stands in the table.
    pub fn is_empty(&self) -> bool {
        self.prefixes.len() <= 1
    }

    /// The prefix without its last component; `None` for the root.
    pub fn parent(&self, prefix: PrefixId) -> Option<PrefixId> {
        self.prefixes[prefix.0 as usize].parent
    }

    /// Whether `prefix` is `ancestor` or lies under it.
    pub fn is_under(&self, ancestor: PrefixId, prefix: PrefixId) -> bool {
        let mut at = Some(prefix);
        while let Some(candidate) = at {
            if candidate == ancestor {
                return true;
            }
            at = self.parent(candidate);
        }
        false
    }

    /// Interns a prefix written as a URI (`/a/b`, percent-encoded, `8=text` for typed components).
    ///
    /// # Errors
    /// When the text does not start with `/`, a component is empty, or an escape is malformed.
    pub fn intern_uri(&mut self, uri: &str) -> Result<PrefixId, NameError> {
        let path = uri.strip_prefix("ndn:").unwrap_or(uri);
        let Some(path) = path.strip_prefix('/') else {
            return Err(NameError(format!("name {uri:?} does not start with \"/\"")));
        };
        let mut prefix = Self::ROOT;
        let path = path.strip_suffix('/').unwrap_or(path);
        if path.is_empty() {
            return Ok(prefix);
        }
        for component in path.split('/') {
            let (kind, value) =
                parse_component(component).map_err(|why| NameError(format!("name {uri:?}: {why}")))?;
            prefix = self.child(prefix, kind, &value);
        }
        Ok(prefix)
    }

    /// Interns `parent` followed by one component.
    pub fn child(&mut self, parent: PrefixId, kind: u64, value: &[u8]) -> PrefixId {
        let components = self.extended(parent, kind, value);
        self.insert(&components, Some(parent), segment_of(kind, value))
    }

    /// The name of a packet called exactly `prefix`: a trailing segment number becomes its segment.
    pub fn name_of(&self, prefix: PrefixId) -> Name {
        match self.prefixes[prefix.0 as usize] {
            Prefix { segment, parent: Some(parent), .. } if segment != Segment::NONE => {
                Name { prefix: parent, segment }
            }
            _ => Name::whole(prefix),
        }
    }

    /// The prefix that `name` is as a whole; `None` when nothing under it was ever interned.
    pub fn prefix_of(&self, name: Name) -> Option<PrefixId> {
        let Segment(number) = name.segment;
        if name.segment == Segment::NONE {
            return Some(name.prefix);
        }
        let components = self.extended(name.prefix, SEGMENT, &number.to_be_bytes()[4 - nni_len(number)..]);
        let hash = self.hasher.hash_one(&*components);
        let same = |id: &PrefixId| *self.prefixes[id.0 as usize].components == *components;
        self.index.find(hash, same).copied()
    }

    /// Components of `parent` and one more.
    fn extended(&self, parent: PrefixId, kind: u64, value: &[u8]) -> Vec<u8> {
        let mut components = self.prefixes[parent.0 as usize].components.to_vec();
        write_tlv_number(&mut components, kind);
        write_tlv_number(&mut components, value.len() as u64);
        components.extend_from_slice(value);
        components
    }

    fn insert(&mut self, components: &[u8], parent: Option<PrefixId>, segment: Segment) -> PrefixId {
        let hash = self.hasher.hash_one(components);
        let prefixes = &self.prefixes;
        let same = |id: &PrefixId| *prefixes[id.0 as usize].components == *components;
        if let Some(id) = self.index.find(hash, same) {
            return *id;
        }
        let id = PrefixId(u32::try_from(self.prefixes.len()).expect("fewer than 2^32 prefixes"));
        self.prefixes.push(Prefix { components: components.into(), parent, segment });
        let (prefixes, hasher) = (&self.prefixes, &self.hasher);
        self.index.insert_unique(hash, id, |id| hasher.hash_one(&*prefixes[id.0 as usize].components));
        id
    }

    /// Bytes of the whole name as a Name TLV, outer type and length included.
    pub fn encoded_len(&self, name: Name) -> u32 {
        let prefix = self.prefixes[name.prefix.0 as usize].components.len();
        let segment = match name.segment {
            Segment::NONE => 0,
            Segment(number) => 2 + nni_len(number),
        };
        let inner = prefix + segment;
        (1 + tlv_number_len(inner as u64) + inner) as u32
    }

    /// The name as a URI, segment as `seg=N`.
    pub fn uri(&self, name: Name) -> String {
        let mut uri = String::new();
        let mut rest = &*self.prefixes[name.prefix.0 as usize].components;
        while let Some((kind, value, tail)) = read_component(rest) {
            write_component(&mut uri, kind, value);
            rest = tail;
        }
        if name.segment != Segment::NONE {
            uri.push_str(&format!("/seg={}", name.segment.0));
        }
        if uri.is_empty() { "/".to_owned() } else { uri }
    }
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

fn read_tlv_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let width = match first {
        253 => 2,
        254 => 4,
        255 => 8,
        small => return Some((u64::from(small), rest)),
    };
    let (number, rest) = rest.split_at_checked(width)?;
    Some((number.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)), rest))
}

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
    Ok((kind, percent_decode(value)?))
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
        for uri in ["a/b", "", "/a//b", "/%4", "/%GG", "/0=a", "/x=a", "/..", "/seg=-1"] {
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
}
