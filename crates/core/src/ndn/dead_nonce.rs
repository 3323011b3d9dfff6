//! The dead nonce list: recent nonces of Interests that left the PIT, to detect loops.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

use hashbrown::HashTable;

use crate::ndn::name::{Name, NameHash};
use crate::units::{Span, Time};

/// Lifetime of an entry (NFD: 6 s).
pub const LIFETIME: Span = Span::from_secs(6);

/// Nonces by name, forgotten after [`LIFETIME`].
#[derive(Debug)]
pub struct DeadNonceList {
    /// Secret of the hashes; `None` for a function that anybody can compute.
    secret: Option<u64>,
    /// Oldest first; an entry whose time differs from the one in `known` was inserted again later.
    order: VecDeque<(Time, u64)>,
    known: HashTable<(Time, u64)>,
}

impl DeadNonceList {
    /// An empty list. Nobody can choose a nonce that passes for another Interest's without knowledge of the key of `hash`,
    /// if it has one.
    pub fn new(hash: NameHash) -> Self {
        Self { secret: hash.secret(), order: VecDeque::new(), known: HashTable::new() }
    }

    /// Whether nothing is remembered; a lookup is not worth its cost then.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Number of nonces that are remembered now.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Bytes that a nonce takes, in the list and in the table of its hash.
    pub const BYTES_PER_NONCE: u64 = 48;

    /// Inserts the nonce `nonce` of an Interest for `name`.
    pub fn insert(&mut self, name: Name, nonce: u32, now: Time) {
        self.forget_before(now);
        let key = self.key(name, nonce);
        let until = now + LIFETIME;
        match self.known.find_mut(key, |(_, known)| *known == key) {
            // Inserted in this instant already: a second place in `order` would end it no later.
            Some((known_until, _)) if *known_until == until => return,
            Some((known_until, _)) => *known_until = until,
            None => {
                self.known.insert_unique(key, (until, key), |(_, key)| *key);
            }
        }
        self.order.push_back((until, key));
    }

    /// Whether `nonce` was used for `name` not long ago.
    pub fn has(&mut self, name: Name, nonce: u32, now: Time) -> bool {
        self.forget_before(now);
        let key = self.key(name, nonce);
        self.known.find(key, |(_, known)| *known == key).is_some()
    }

    /// 64-bit hash of a name and a nonce, as in NFD.
    fn key(&self, name: Name, nonce: u32) -> u64 {
        match self.secret {
            None => plain_key(name, nonce),
            Some(secret) => {
                let mut hasher = DefaultHasher::new();
                hasher.write_u64(secret);
                hasher.write_u64(whole(name));
                hasher.write_u32(nonce);
                hasher.finish()
            }
        }
    }

    #[inline]
    fn forget_before(&mut self, now: Time) {
        while self.order.front().is_some_and(|(until, _)| *until <= now) {
            self.forget_first();
        }
    }

    #[inline(never)]
    fn forget_first(&mut self) {
        let Some((until, key)) = self.order.pop_front() else { return };
        // An entry with another time was inserted again, and has a later place in `order`.
        if let Ok(entry) = self.known.find_entry(key, |known| *known == (until, key)) {
            entry.remove();
        }
    }
}

/// Both numbers of a name in one.
fn whole(name: Name) -> u64 {
    u64::from(name.prefix.0) << 32 | u64::from(name.segment.0)
}

/// The fastest hash of a name and a nonce.
fn plain_key(name: Name, nonce: u32) -> u64 {
    let mixed = whole(name).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29) ^ u64::from(nonce)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::name::PrefixId;

    #[test]
    fn a_nonce_is_remembered_for_six_seconds() {
        let mut list = DeadNonceList::new(NameHash::LOCALITY);
        let name = Name::segment(PrefixId(1), 2);
        list.insert(name, 7, Time::ZERO);
        assert!(list.has(name, 7, Time::from_nanos(5_999_999_999)));
        assert!(!list.has(name, 8, Time::ZERO));
        assert!(!list.has(Name::segment(PrefixId(1), 3), 7, Time::ZERO));
        assert!(!list.has(name, 7, Time::ZERO + LIFETIME));
        assert!(list.is_empty());
    }

    #[test]
    fn a_nonce_that_collides_with_anothers_is_found_only_without_a_key() {
        // Found by inverting the plain function.
        let [(first, nonce), (second, forged)] =
            [(Name::segment(PrefixId(1), 2), 7), (Name::segment(PrefixId(28_931), 2_853_092_329), 48_688)];
        for (hash, is_known) in [(NameHash::LOCALITY, true), (NameHash::keyed(5), false)] {
            let mut list = DeadNonceList::new(hash);
            list.insert(first, nonce, Time::ZERO);
            assert!(list.has(first, nonce, Time::ZERO));
            assert_eq!(list.has(second, forged, Time::ZERO), is_known, "{hash:?}");
        }
    }

    #[test]
    fn a_nonce_inserted_twice_lives_as_long_as_the_second() {
        let mut list = DeadNonceList::new(NameHash::LOCALITY);
        let name = Name::segment(PrefixId(1), 2);
        list.insert(name, 7, Time::ZERO);
        list.insert(name, 7, Time::ZERO + Span::from_secs(3));
        assert!(list.has(name, 7, Time::ZERO + Span::from_secs(8)));
        assert!(!list.has(name, 7, Time::ZERO + Span::from_secs(9)));
    }
}
