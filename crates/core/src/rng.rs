//! A frozen random generator with named streams.
//!
//! xoshiro256++ (Blackman & Vigna 2019), seeded by SplitMix64 from the run's seed and the stream's name. The
//! algorithm never changes, so a seed gives the same run in every version with the same `semantics`. A
//! component owns its stream, so adding a node does not shift the draws of others.

use crate::hash::{self, fnv1a};

/// The seed of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seed(pub u64);

/// One stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

/// Random streams with a common name prefix, given to a component that draws its own numbers.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    /// FNV-1a of the seed and the text.
    hash: u64,
}

impl Streams {
    /// All streams of the run with `seed`.
    pub fn of(seed: Seed) -> Self {
        Self { hash: seed.0 ^ hash::EMPTY }
    }

    /// The streams whose names continue with `text`.
    pub fn under(self, text: &str) -> Self {
        Self { hash: fnv1a(self.hash, text.as_bytes()) }
    }

    /// The stream whose name ends with `name`.
    pub fn stream(self, name: &str) -> Rng {
        let mut mixer = self.under(name).hash;
        Rng { state: std::array::from_fn(|_| split_mix(&mut mixer)) }
    }
}

impl Rng {
    /// The stream `name` of the run with `seed`.
    pub fn stream(seed: Seed, name: &str) -> Self {
        Streams::of(seed).stream(name)
    }

    /// Draws 64 random bits, all values equally likely.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0.0..1.0`, uniform.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        // 53 bits, as many as a double holds exactly, so that 1.0 is never drawn.
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A whole number in `0..bound`, uniform up to 2^-32; zero when `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        // Without rejection, so that each call takes one draw whatever the bound; the bias is at most 2^-32.
        (((self.bits() >> 32) * u64::from(bound)) >> 32) as u32
    }

    /// A number above or equal to zero, exponentially distributed with mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        // The argument is never below 2^-53, so that the largest number is 36.7.
        -crate::math::ln(1.0 - self.uniform())
    }

    /// True with probability `probability` (0..=1).
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.uniform() < probability
    }
}

fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_draws_of_a_stream_never_change() {
        let mut rng = Rng::stream(Seed(1), "flow/0/start");
        let draws = [rng.bits(), rng.bits(), rng.bits()];
        let mut again = Rng::stream(Seed(1), "flow/0/start");
        assert_eq!(draws, [again.bits(), again.bits(), again.bits()]);
        // SplitMix64's published first output for state 0, and xoshiro256++'s for state 1, 2, 3, 4.
        assert_eq!(split_mix(&mut 0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(Rng { state: [1, 2, 3, 4] }.bits(), 41_943_041);
    }

    #[test]
    fn streams_with_other_names_or_seeds_differ() {
        let first = |seed, name: &str| Rng::stream(Seed(seed), name).bits();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn a_stream_is_the_same_however_its_name_was_put_together() {
        let whole = Rng::stream(Seed(5), "link/r1-r2/0/red").bits();
        let parts = Streams::of(Seed(5)).under("link/").under("r1-r2/0").stream("/red").bits();
        assert_eq!(whole, parts);
    }

    #[test]
    fn exponential_draws_have_mean_one_and_exceed_two_in_one_of_seven() {
        let mut rng = Rng::stream(Seed(7), "exponential");
        let draws: Vec<f64> = (0..100_000).map(|_| rng.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.015, "mean {mean}");
        // exp(-2) = 0.135335; four standard deviations are 0.0043.
        let beyond = draws.iter().filter(|draw| **draw > 2.0).count() as f64 / 1e5;
        assert!((beyond - 0.135335).abs() < 0.0044, "{beyond}");
        assert!(draws.iter().all(|draw| *draw >= 0.0 && draw.is_finite()));
    }

    #[test]
    fn uniform_draws_have_mean_one_half_and_stay_below_one() {
        let mut rng = Rng::stream(Seed(7), "mean");
        let draws: Vec<f64> = (0..100_000).map(|_| rng.uniform()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "mean {mean}");
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
    }

    #[test]
    fn below_never_reaches_its_bound() {
        let mut rng = Rng::stream(Seed(7), "below");
        let mut seen = [0u32; 3];
        for _ in 0..30_000 {
            seen[rng.below(3) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (9_500..10_500).contains(count)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
    }
}
