//! A token bucket in integers: the rate is exact, whatever the number of calls.
//!
//! The level counts bit-nanoseconds, so that a nanosecond at any whole rate adds a whole number.

use tidegate_core::prelude::*;

/// Bit-nanoseconds of a byte.
const BYTE: i128 = 8_000_000_000;
/// Debt beyond what this time brings in is forgiven, nanoseconds (Linux `sch_htb`, `mbuffer`).
const LONGEST_DEBT: i128 = 60_000_000_000;

/// Limits bytes to a rate and a burst of its depth.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    rate: BitRate,
    depth: i128,
    /// Tokens, bit-nanoseconds; negative after a [`charge`](Self::charge) above the level.
    level: i128,
    at: Time,
}

impl TokenBucket {
    /// A full bucket at `now`.
    pub fn new(rate: BitRate, depth: ByteCount, now: Time) -> Self {
        let depth = i128::from(depth.get()) * BYTE;
        Self { rate, depth, level: depth, at: now }
    }

    /// Takes `size` if the level suffices at `now`; returns whether it did. Nothing is taken otherwise.
    pub fn take(&mut self, size: ByteCount, now: Time) -> bool {
        self.fill(now);
        let needed = i128::from(size.get()) * BYTE;
        let is_enough = needed <= self.level;
        if is_enough {
            self.level -= needed;
        }
        is_enough
    }

    /// Time after `now` until [`take`](Self::take) of `size` can succeed; `None` for never.
    pub fn wait(&mut self, size: ByteCount, now: Time) -> Option<Span> {
        let needed = i128::from(size.get()) * BYTE;
        if needed > self.depth { None } else { self.wait_for(needed, now) }
    }

    /// As [`wait`](Self::wait), but a packet larger than the depth waits for a full bucket only.
    pub fn wait_or_full(&mut self, size: ByteCount, now: Time) -> Option<Span> {
        let needed = i128::from(size.get()) * BYTE;
        self.wait_for(needed.min(self.depth), now)
    }

    fn wait_for(&mut self, needed: i128, now: Time) -> Option<Span> {
        self.fill(now);
        // Negative when the level suffices: nothing is missing then.
        let missing = u128::try_from(needed - self.level).unwrap_or(0);
        match (missing, u128::from(self.rate.as_bps())) {
            (0, _) => Some(Span::ZERO),
            (_, 0) => None,
            // Rounded up, so that a caller who waits as long finds the tokens and does not come back a
            // nanosecond later.
            (_, rate) => u64::try_from(missing.div_ceil(rate)).ok().map(Span::from_nanos),
        }
    }

    /// Takes `size` at any level: the bucket may be left in debt.
    pub fn charge(&mut self, size: ByteCount, now: Time) {
        self.fill(now);
        let worst = -i128::from(self.rate.as_bps()).saturating_mul(LONGEST_DEBT);
        self.level = (self.level - i128::from(size.get()) * BYTE).max(worst);
    }

    /// Sets the rate from `now` on.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        self.fill(now);
        self.rate = rate;
    }

    /// Sets the depth; tokens above it are lost.
    pub fn set_depth(&mut self, depth: ByteCount) {
        self.depth = i128::from(depth.get()) * BYTE;
        self.level = self.level.min(self.depth);
    }

    /// Bytes missing from a full bucket at `now`, 0..=depth where nothing is charged: the fill of a leaky bucket of
    /// the same rate.
    pub fn missing(&mut self, now: Time) -> f64 {
        self.fill(now);
        (self.depth - self.level) as f64 / BYTE as f64
    }

    fn fill(&mut self, now: Time) {
        let gained = u128::from(now.since(self.at).as_nanos()) * u128::from(self.rate.as_bps());
        // 64-bit time by 64-bit rate fits 128 bits unsigned but not signed; a full bucket absorbs what
        // saturates.
        let gained = i128::try_from(gained).unwrap_or(i128::MAX);
        self.level = self.level.saturating_add(gained).min(self.depth);
        // A call with an earlier `now` must not let the same time count twice.
        self.at = self.at.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                (i128::from(depth) * BYTE + i128::from(bps) * i128::from(nanos)) / (i128::from(size) * BYTE);
            let counted = passed(BitRate::from_bps(bps), depth, size, Time::from_nanos(nanos));
            assert_eq!(i128::from(counted), bits, "{bps} bit/s, {size} B");
        }
    }

    #[test]
    fn frequent_queries_change_nothing() {
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

    #[test]
    fn a_debt_is_paid_before_anything_passes_and_is_at_most_a_minute_long() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), ByteCount::new(1_000), Time::ZERO);
        bucket.charge(ByteCount::new(3_000), Time::ZERO);
        assert_eq!(bucket.wait(ByteCount::new(500), Time::ZERO), Some(Span::from_micros(2_500)));
        bucket.charge(ByteCount::new(1_000_000_000), Time::ZERO);
        assert_eq!(bucket.wait(ByteCount::ZERO, Time::ZERO), Some(Span::from_secs(60)));
    }

    #[test]
    fn what_is_larger_than_the_depth_waits_for_a_full_bucket() {
        let mut bucket = TokenBucket::new(BitRate::from_mbps(8.0), ByteCount::new(1_000), Time::ZERO);
        assert_eq!(bucket.wait_or_full(ByteCount::new(9_000), Time::ZERO), Some(Span::ZERO));
        bucket.charge(ByteCount::new(400), Time::ZERO);
        assert_eq!(bucket.wait_or_full(ByteCount::new(9_000), Time::ZERO), Some(Span::from_micros(400)));
        bucket.set_depth(ByteCount::new(500));
        assert_eq!(bucket.wait_or_full(ByteCount::new(9_000), Time::ZERO), Some(Span::ZERO));
    }

    #[test]
    fn the_largest_rate_and_the_longest_time_do_not_overflow() {
        let (rate, depth) = (BitRate::from_bps(u64::MAX), ByteCount::new(u64::MAX));
        let mut bucket = TokenBucket::new(rate, depth, Time::ZERO);
        bucket.charge(depth, Time::MAX);
        bucket.charge(depth, Time::MAX);
        // A debt of 2^64 bytes at 2^64 bit/s.
        assert_eq!(bucket.wait_or_full(ByteCount::ZERO, Time::MAX), Some(Span::from_secs(8)));
    }
}
