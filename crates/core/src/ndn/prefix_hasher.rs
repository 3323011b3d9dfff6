//! Keyed hash of a name, component by component: the hash of each prefix on the way costs no second look at its bytes.

use std::hash::{DefaultHasher, Hasher};

/// State of the hash after some components; one after the other gives the same value as all at once.
#[derive(Clone, Debug)]
pub(super) struct PrefixHasher(DefaultHasher);

impl PrefixHasher {
    /// State for the root; collisions cannot be produced without knowledge of `key`.
    #[inline]
    pub(super) fn new(key: u64) -> Self {
        let mut hasher = DefaultHasher::new();
        // Only the equality of hashes within one process matters, so the byte order of the host is fine.
        hasher.write(&key.to_ne_bytes());
        Self(hasher)
    }

    /// The state after `components` in addition.
    #[inline]
    pub(super) fn extend(&mut self, components: &[u8]) {
        #[cfg(test)]
        tests::HASHED.with(|hashed| hashed.set(hashed.get() + components.len()));
        self.0.write(components);
    }

    /// Hash of the components so far.
    #[inline]
    pub(super) fn value(&self) -> u64 {
        self.0.finish()
    }

    /// Hash of `components` alone.
    #[inline]
    pub(super) fn hash(key: u64, components: &[u8]) -> u64 {
        let mut hasher = Self::new(key);
        hasher.extend(components);
        hasher.value()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// Bytes that this thread has hashed.
        pub(crate) static HASHED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn the_hash_of_pieces_is_that_of_the_whole() {
        let name = [8, 3, b'a', b'b', b'c', 8, 0, 50, 1, 7];
        let mut pieces = PrefixHasher::new(5);
        [&name[..5], &name[5..7], &name[7..]].into_iter().for_each(|piece| pieces.extend(piece));
        assert_eq!(pieces.value(), PrefixHasher::hash(5, &name));
        assert_ne!(pieces.value(), PrefixHasher::hash(6, &name));
    }
}
