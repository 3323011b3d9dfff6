//! A token bucket in integers: a rate is met to the bit, however often it is asked.
//!
//! The level counts bit-nanoseconds, so that a nanosecond at any whole rate adds a whole number.

use tidegate_core::units::{BitRate, ByteCount, Span, Time};

/// Bit-nanoseconds of a byte.
const BYTE: u128 = 8_000_000_000;

/// Lets bytes pass at a rate, and up to its depth at once.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: BitRate,
    depth: u128,
    level: u128,
    at: Time,
}

impl TokenBucket {
    /// A full bucket at `now`.
    pub fn new(rate: BitRate, depth: ByteCount, now: Time) -> Self {
        let depth = u128::from(depth.get()) * BYTE;
        Self { rate, depth, level: depth, at: now }
    }

    /// Takes `size` if so much is there at `now`; nothing is taken otherwise.
    pub fn take(&mut self, size: ByteCount, now: Time) -> bool {
        self.fill(now);
        let needed = u128::from(size.get()) * BYTE;
        let is_enough = needed <= self.level;
        if is_enough {
            self.level -= needed;
        }
        is_enough
    }

    /// How long after `now` [`take`](Self::take) of `size` can succeed first; `None` for never.
    pub fn wait(&mut self, size: ByteCount, now: Time) -> Option<Span> {
        self.fill(now);
        let needed = u128::from(size.get()) * BYTE;
        if needed > self.depth {
            return None;
        }
        let missing = needed.saturating_sub(self.level);
        match (missing, u128::from(self.rate.as_bps())) {
            (0, _) => Some(Span::ZERO),
            (_, 0) => None,
            (_, rate) => u64::try_from(missing.div_ceil(rate)).ok().map(Span::from_nanos),
        }
    }

    /// Goes on at `rate` from `now`.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        self.fill(now);
        self.rate = rate;
    }

    /// Bytes missing from a full bucket at `now`, 0..=depth: what a leaky bucket of the same rate holds.
    pub fn missing(&mut self, now: Time) -> f64 {
        self.fill(now);
        (self.depth - self.level) as f64 / BYTE as f64
    }

    fn fill(&mut self, now: Time) {
        let gained = u128::from(now.since(self.at).as_nanos()) * u128::from(self.rate.as_bps());
        self.level = (self.level + gained).min(self.depth);
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::rng::{Rng, Seed};

    /// Packets of `size` let through until `end` when one is always ready.
    fn passed(rate: BitRate, depth: u64, size: u64, end: Time) -> u64 {
        let (size, mut now, mut count) = (ByteCount::new(size), Time::ZERO, 0);
        let mut bucket = TokenBucket::new(rate, ByteCount::new(depth), now);
        while let Some(wait) = bucket.wait(size, now) {
            now += wait;
            if now > end {
                break;
            }
            assert!(bucket.take(size, now), "{now}: what was waited for is there");
            count += 1;
        }
        count
    }

    #[test]
    fn exactly_depth_plus_rate_times_time_passes() {
        // floor((depth + rate · t) / size), all in bits: every case by integer arithmetic alone.
        for (bps, depth, size, nanos) in [
            (10_000_000u64, 1_250u64, 1_250u64, 1_000_000_000u64),
            (9_999_991, 4_000, 1_082, 700_000_003),
            (3, 10, 7, 100_000_000_000),
            (1_000_000_007, 250_000, 1_500, 10_000_019),
        ] {
            let bits =
                (u128::from(depth) * BYTE + u128::from(bps) * u128::from(nanos)) / (u128::from(size) * BYTE);
            let counted = passed(BitRate::from_bps(bps), depth, size, Time::from_nanos(nanos));
            assert_eq!(u128::from(counted), bits, "{bps} bit/s, {size} B");
        }
    }

    #[test]
    fn being_asked_often_changes_nothing() {
        let (size, end) = (ByteCount::new(1_082), 50_000_000);
        let mut rng = Rng::stream(Seed(1), "bucket");
        let rate = BitRate::from_bps(9_999_991);
        let mut rare = TokenBucket::new(rate, ByteCount::new(3_000), Time::ZERO);
        let mut often = rare.clone();
        let mut now = 0;
        while now < end {
            now += u64::from(rng.below(1_000));
            assert!(!often.take(ByteCount::new(u64::MAX), Time::from_nanos(now)));
        }
        let now = Time::from_nanos(now);
        assert_eq!(rare.wait(size, now), often.wait(size, now));
        assert_eq!((rare.level, rare.at), (often.level, often.at));
    }

    #[test]
    fn a_bucket_never_holds_more_than_its_depth() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), ByteCount::new(2_000), Time::ZERO);
        let late = Time::ZERO + Span::from_secs(3_600);
        assert!(bucket.take(ByteCount::new(1_500), late) && !bucket.take(ByteCount::new(501), late));
        assert_eq!(bucket.wait(ByteCount::new(501), late), Some(Span::from_micros(1)));
        assert_eq!(bucket.wait(ByteCount::new(2_001), late), None);
    }

    #[test]
    fn what_is_missing_leaks_at_the_rate() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), ByteCount::new(2_000), Time::ZERO);
        assert_eq!(bucket.missing(Time::ZERO), 0.0);
        assert!(bucket.take(ByteCount::new(1_500), Time::ZERO));
        let missing =
            [0, 500, 1_499, 1_500, 9_000].map(|at| bucket.missing(Time::ZERO + Span::from_micros(at)));
        assert_eq!(missing, [1_500.0, 1_000.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn a_new_rate_counts_from_its_own_time() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), ByteCount::new(1_000), Time::ZERO);
        assert!(bucket.take(ByteCount::new(1_000), Time::ZERO));
        bucket.set_rate(BitRate::from_bps(0), Time::ZERO + Span::from_micros(400));
        assert_eq!(bucket.wait(ByteCount::new(401), Time::ZERO + Span::from_secs(1)), None);
        assert!(bucket.take(ByteCount::new(400), Time::ZERO + Span::from_secs(1)));
    }
}
