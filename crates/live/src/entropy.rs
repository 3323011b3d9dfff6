//! Random seeds from the operating system, so that no two processes draw the same nonces.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};
use tidegate_core::rng::Seed;

use crate::clock::MonotonicClock;

/// A seed from the operating system's random generator.
pub fn seed() -> Seed {
    let mut bytes = [0; 8];
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(8) => Seed(u64::from_ne_bytes(bytes)),
        // No system of this decade refuses 8 bytes; were one to, two processes would still differ.
        _ => Seed(MonotonicClock::wall_micros() ^ (u64::from(std::process::id()) << 40)),
    }
}

/// Random bytes for keys, from the operating system's generator.
///
/// # Errors
/// When the system gives none: a key must not be made then.
pub fn secret<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    match getrandom(&mut bytes, GetRandomFlags::empty())? {
        filled if filled == N => Ok(bytes),
        _ => Err(io::Error::other("the system gave too few random bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_seeds_are_equal() {
        assert_ne!(seed(), seed());
    }
}
