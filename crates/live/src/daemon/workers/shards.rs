//! Which worker has the table entries of a name.
//!
//! An Interest, its Data and its Nack have one worker: their names are equal, except that an Interest may end in the digest of
//! the Data, which does not count here, and that Data may have a longer name than an Interest with CanBePrefix. Segments of one
//! object are divided in blocks, so that one transfer is spread over all workers and neighbours stay together.

use std::hash::{DefaultHasher, Hasher};

use tidegate_wire::tlv::types::{DATA, IMPLICIT_SHA256_DIGEST, INTEREST, NAME, SEGMENT_NAME_COMPONENT};

/// Number of low bits of a segment number that do not decide about its worker: a block of the tables of pending Interests.
const BLOCK_BITS: u32 = 6;

/// Length of an encoded ImplicitSha256DigestComponent.
const DIGEST_LEN: usize = 34;

/// First components of names that stay on this machine or reach a neighbour, which the first worker has: management is there.
const FIRST_WORKERS: [&[u8]; 2] = [b"\x08\x09localhost", b"\x08\x08localhop"];

/// The division of names over workers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shards {
    key: u64,
    workers: usize,
}

impl Shards {
    /// A division over `workers`, which nobody can predict without `key`.
    pub fn new(key: u64, workers: usize) -> Self {
        Self { key, workers }
    }

    /// The worker of an Interest or Data; the first one for what has no name.
    pub fn worker_of(self, packet: &[u8]) -> usize {
        let name = name_of(packet).unwrap_or_default();
        if FIRST_WORKERS.iter().any(|first| name.starts_with(first)) {
            return 0;
        }
        let (prefix, block) = divide(name);
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        hasher.write(prefix);
        hasher.write_u64(block);
        // The upper half times the number of workers is as even as a division, and faster.
        ((u128::from(hasher.finish()) * self.workers as u128) >> 64) as usize
    }
}

/// Components of the name of a packet; `None` if it is no Interest or Data, or shorter than its name.
pub(super) fn name_of(packet: &[u8]) -> Option<&[u8]> {
    let (kind, value) = (u32::from(*packet.first()?), length(packet, 1)?.1);
    if kind != INTEREST && kind != DATA || u32::from(*packet.get(value)?) != NAME {
        return None;
    }
    let (len, start) = length(packet, value + 1)?;
    packet.get(start..start.checked_add(len)?)
}

/// A length of at most three bytes at `at`, and the offset behind it.
fn length(packet: &[u8], at: usize) -> Option<(usize, usize)> {
    match *packet.get(at)? {
        short @ 0..=252 => Some((usize::from(short), at + 1)),
        253 => Some((usize::from(u16::from_be_bytes([*packet.get(at + 1)?, *packet.get(at + 2)?])), at + 3)),
        _ => None,
    }
}

/// A name without digest and segment number, and the block of its segment number.
fn divide(name: &[u8]) -> (&[u8], u64) {
    let mut rest = name;
    let (mut last, mut before_last) = (0, 0);
    while let Some(len) = component_len(rest) {
        (before_last, last) = (last, name.len() - rest.len());
        rest = &rest[len..];
    }
    let (name, last) = match name.get(last) {
        Some(&kind) if u32::from(kind) == IMPLICIT_SHA256_DIGEST && name.len() - last == DIGEST_LEN => {
            (&name[..last], before_last)
        }
        _ => (name, last),
    };
    match segment(&name[last..]) {
        Some(segment) => (&name[..last], segment >> BLOCK_BITS),
        None => (name, u64::MAX),
    }
}

/// Encoded length of the first component; `None` if there is none.
fn component_len(name: &[u8]) -> Option<usize> {
    let kind_len = if *name.first()? < 253 { 1 } else { 3 };
    let (len, start) = length(name, kind_len)?;
    Some(start + len).filter(|end| *end <= name.len())
}

/// The number in a SegmentNameComponent; `None` if it is another component.
fn segment(component: &[u8]) -> Option<u64> {
    let (&[kind, len], number) = component.split_first_chunk::<2>()?;
    let is_segment =
        u32::from(kind) == SEGMENT_NAME_COMPONENT && usize::from(len) == number.len() && number.len() <= 8;
    is_segment.then(|| number.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_uri;
    use tidegate_wire::{DataBuilder, InterestBuilder, Signer, name};

    const SHARDS: Shards = Shards { key: 5, workers: 4 };

    fn interest(name: &[u8]) -> usize {
        let interest = InterestBuilder { name, ..InterestBuilder::default() };
        SHARDS.worker_of(&interest.build().expect("valid"))
    }

    fn data(name: &[u8], len: usize) -> usize {
        let content = vec![7; len];
        let data = DataBuilder { name, content: &content, ..DataBuilder::default() };
        SHARDS.worker_of(&data.sign(&Signer::Digest).expect("small enough"))
    }

    fn named(uri: &str) -> Vec<u8> {
        name_uri::parse(uri).expect("a name")
    }

    #[test]
    fn data_belongs_to_the_worker_of_its_interest_also_if_that_has_the_digest() {
        for number in 0..200 {
            let name = named(&format!("/a/{number}/v=3"));
            let mut segment = name.clone();
            name::push_segment(&mut segment, number);
            for name in [&name, &segment] {
                let mut exact = name.clone();
                name::push_component(&mut exact, IMPLICIT_SHA256_DIGEST as u16, &[9; 32]);
                let worker = interest(name);
                assert_eq!([data(name, 10), data(name, 2_000), interest(&exact)], [worker; 3], "{number}");
            }
        }
    }

    #[test]
    fn neighbouring_segments_stay_together_and_a_whole_object_is_spread_evenly() {
        let mut workers = [0; 4];
        for block in 0..400 {
            let of = |segment: u32| {
                let mut name = named("/file/v=1");
                name::push_segment(&mut name, segment);
                interest(&name)
            };
            let worker = of(64 * block);
            assert_eq!(of(64 * block + 63), worker);
            workers[worker] += 1;
        }
        assert!(workers.iter().all(|blocks| (70..130).contains(blocks)), "{workers:?}");
    }

    #[test]
    fn names_of_this_machine_and_its_neighbours_and_what_has_no_name_belong_to_the_first_worker() {
        for number in 0..50 {
            assert_eq!(interest(&named(&format!("/localhost/nfd/{number}"))), 0);
            assert_eq!(interest(&named(&format!("/localhop/x/{number}"))), 0);
        }
        let workers: Vec<usize> =
            (0..50).map(|number| interest(&named(&format!("/localhosts/{number}")))).collect();
        assert!(workers.contains(&3));
        for packet in [&b""[..], b"\x05", b"\x05\xFF", b"\x05\x03\x07\x09\x08", b"\x64\x02\x07\x00"] {
            SHARDS.worker_of(packet);
        }
    }
}
