//! A token bucket that drops: a packet without tokens does not wait.

use tidegate_core::prelude::*;

use crate::toolbox::shaping::token_bucket::TokenBucket;

/// Two full Ethernet frames: the minimum burst, as with less a packet might never pass.
const MIN_BURST: ByteCount = ByteCount::new(2 * 1514);
/// The burst is the rate times this duration, if that is more.
const BURST_TIME: Span = Span::from_millis(5);

/// Limits a class without a queue to its rate.
#[derive(Clone, Debug)]
pub struct Policer {
    bucket: TokenBucket,
}

impl Policer {
    /// A policer with a full bucket.
    pub fn new(rate: BitRate, now: Time) -> Self {
        Self { bucket: TokenBucket::new(rate, burst(rate), now) }
    }

    /// Returns whether a packet of `size` passes at `now`; the caller drops it otherwise. A packet larger than the
    /// burst passes a full bucket and leaves it in debt, because it could never pass otherwise.
    pub fn admits(&mut self, size: ByteCount, now: Time) -> bool {
        let passes = self.bucket.wait_or_full(size, now) == Some(Span::ZERO);
        if passes {
            self.bucket.charge(size, now);
        }
        passes
    }

    /// Sets the rate from `now` on, and the burst with it.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        self.bucket.set_rate(rate, now);
        // After the rate: tokens up to `now` are added at the old rate and under the old depth.
        self.bucket.set_depth(burst(rate));
    }
}

fn burst(rate: BitRate) -> ByteCount {
    rate.bytes_in(BURST_TIME).max(MIN_BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1514 bytes, one per 100 µs, that pass within `millis`.
    fn passed(policer: &mut Policer, from: Time, millis: u64) -> u64 {
        let size = ByteCount::new(1514);
        let at = |step| from + Span::from_micros(100 * step);
        (0..millis * 10).filter(|step| policer.admits(size, at(*step))).count() as u64
    }

    #[test]
    fn two_packets_pass_at_once_and_then_the_rate() {
        // 5 Mbps for 1 s: 625,000 bytes and a burst of 3125; 414.9 packets.
        let mut policer = Policer::new(BitRate::from_mbps(5.0), Time::ZERO);
        let size = ByteCount::new(1514);
        assert!(policer.admits(size, Time::ZERO) && policer.admits(size, Time::ZERO));
        assert!(!policer.admits(size, Time::ZERO));
        assert_eq!(2 + passed(&mut policer, Time::ZERO, 1_000), 414);
    }

    #[test]
    fn a_packet_larger_than_the_burst_passes_at_the_rate() {
        // 8 Mbps are 1000 bytes per ms: 4 ms for each of 4000 bytes with a burst of 5000.
        let mut policer = Policer::new(BitRate::from_mbps(8.0), Time::ZERO);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let passed: Vec<u64> =
            (0..60).filter(|millis| policer.admits(ByteCount::new(10_000), at(*millis))).collect();
        assert_eq!(passed, [0, 10, 20, 30, 40, 50]);
    }

    #[test]
    fn a_new_rate_counts_at_once() {
        let mut policer = Policer::new(BitRate::from_mbps(5.0), Time::ZERO);
        passed(&mut policer, Time::ZERO, 100);
        let later = Time::ZERO + Span::from_millis(100);
        policer.set_rate(BitRate::from_bps(0), later);
        // Less than three packets were in the bucket.
        assert!(passed(&mut policer, later, 1_000) < 3);
        policer.set_rate(BitRate::from_mbps(50.0), later + Span::from_secs(1));
        let count = passed(&mut policer, later + Span::from_secs(1), 100);
        // 625,000 bytes in 100 ms, and what was left.
        assert!((412..=414).contains(&count), "{count}");
    }
}
