//! The dead nonce list: recent nonces of Interests that left the PIT, to detect loops.

use std::collections::VecDeque;

use hashbrown::HashTable;

use crate::ndn::name::Name;
use crate::units::{Span, Time};

/// Lifetime of an entry (NFD: 6 s).
pub const LIFETIME: Span = Span::from_secs(6);

/// Nonces by name, forgotten after [`LIFETIME`].
#[derive(Debug, Default)]
pub struct DeadNonceList {
    /// Oldest first; an entry whose time differs from the one in `known` was inserted again later.
    order: VecDeque<(Time, u64)>,
    known: HashTable<(Time, u64)>,
}

impl DeadNonceList {
    /// Whether nothing is remembered; a lookup is not worth its cost then.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Number of nonces that are remembered now.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Inserts the nonce `nonce` of an Interest for `name`.
    pub fn insert(&mut self, name: Name, nonce: u32, now: Time) {
        self.forget_before(now);
        let key = key(name, nonce);
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
        let key = key(name, nonce);
        self.known.find(key, |(_, known)| *known == key).is_some()
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

/// 64-bit hash of a name and a nonce, as in NFD.
fn key(name: Name, nonce: u32) -> u64 {
    let mixed =
        (u64::from(name.prefix.0) << 32 | u64::from(name.segment.0)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 29) ^ u64::from(nonce)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::name::PrefixId;

    #[test]
    fn a_nonce_is_remembered_for_six_seconds() {
        let mut list = DeadNonceList::default();
        let name = Name::segment(PrefixId(1), 2);
        list.insert(name, 7, Time::ZERO);
        assert!(list.has(name, 7, Time::from_nanos(5_999_999_999)));
        assert!(!list.has(name, 8, Time::ZERO));
        assert!(!list.has(Name::segment(PrefixId(1), 3), 7, Time::ZERO));
        assert!(!list.has(name, 7, Time::ZERO + LIFETIME));
        assert!(list.is_empty());
    }

    #[test]
    fn a_nonce_inserted_twice_lives_as_long_as_the_second() {
        let mut list = DeadNonceList::default();
        let name = Name::segment(PrefixId(1), 2);
        list.insert(name, 7, Time::ZERO);
        list.insert(name, 7, Time::ZERO + Span::from_secs(3));
        assert!(list.has(name, 7, Time::ZERO + Span::from_secs(8)));
        assert!(!list.has(name, 7, Time::ZERO + Span::from_secs(9)));
    }
}
