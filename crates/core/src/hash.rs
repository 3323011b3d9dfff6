//! FNV-1a, the hash of Fowler, Noll and Vo: its values are the same on every target and in every version.
//!
//! It names streams and files and detects damage. It does not withstand chosen collisions.

/// 64-bit hash of no bytes.
pub const EMPTY: u64 = 0xCBF2_9CE4_8422_2325;

/// Continues the 64-bit hash `hash` with `bytes`; a hash begins with [`EMPTY`].
pub fn fnv1a(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| fnv1a_word(hash, u64::from(*byte)))
}

/// Continues `hash` with a whole word in place of a byte, which the published function does not have.
pub const fn fnv1a_word(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3)
}

/// The 32-bit hash of `bytes`.
pub fn fnv1a_32(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_published_for_the_function() {
        let long = ["", "a", "foobar"].map(|text| fnv1a(EMPTY, text.as_bytes()));
        assert_eq!(long, [0xCBF2_9CE4_8422_2325, 0xAF63_DC4C_8601_EC8C, 0x8594_4171_F739_67E8]);
        let short = ["", "a", "foobar"].map(|text| fnv1a_32(text.as_bytes()));
        assert_eq!(short, [0x811C_9DC5, 0xE40C_292C, 0xBF9C_F968]);
    }

    #[test]
    fn a_hash_of_pieces_is_the_hash_of_the_whole() {
        assert_eq!(fnv1a(fnv1a(EMPTY, b"foo"), b"bar"), fnv1a(EMPTY, b"foobar"));
    }
}
