//! Shaper: limits the sending rate of a face, packet by packet.

use tidegate_core::units::{BitRate, ByteCount, Span, Time};

/// Maximum lateness that is compensated: a late timer must not reduce the rate, and a long sleep must not cause a burst.
const MAX_CATCH_UP: Span = Span::from_millis(2);

/// Traffic shaper: releases packets at a given rate; without a rate, immediately.
#[derive(Debug)]
pub(super) struct FaceShaper {
    rate: Option<BitRate>,
    busy_until: Time,
}

impl FaceShaper {
    /// A shaper that has sent nothing yet; `None` for no limit.
    pub fn new(rate: Option<BitRate>) -> Self {
        Self { rate, busy_until: Time::ZERO }
    }

    /// Whether the next packet may leave.
    #[inline]
    pub fn is_free(&self, now: Time) -> bool {
        self.rate.is_none() || self.busy_until <= now
    }

    /// Earliest time at which the next packet may leave.
    pub fn free_at(&self) -> Time {
        self.busy_until
    }

    /// Accounts for a packet of `size` that leaves; `has_waited` if it waited for the line.
    #[inline]
    pub fn depart(&mut self, now: Time, size: ByteCount, has_waited: bool) {
        let Some(rate) = self.rate else { return };
        // A packet that found the line free starts now: only the lateness of a timer is compensated.
        let earliest = Time::from_nanos(now.as_nanos().saturating_sub(MAX_CATCH_UP.as_nanos()));
        let start = if has_waited { earliest } else { now };
        self.busy_until = start.max(self.busy_until) + rate.time_to_send(size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn a_packet_that_waited_starts_when_the_line_became_free_not_when_the_timer_fired() {
        let mut shaper = FaceShaper::new(Some(BitRate::from_mbps(8.0)));
        shaper.depart(us(0), ByteCount::new(1000), false);
        assert!(!shaper.is_free(us(999)) && shaper.is_free(us(1000)));
        shaper.depart(us(1100), ByteCount::new(1000), true);
        assert_eq!(shaper.free_at(), us(2000));
        shaper.depart(us(2500), ByteCount::new(1000), false);
        assert_eq!(shaper.free_at(), us(3500));
    }

    #[test]
    fn a_long_sleep_makes_no_long_burst() {
        let mut shaper = FaceShaper::new(Some(BitRate::from_mbps(8.0)));
        shaper.depart(us(0), ByteCount::new(1000), false);
        let mut sent = 0;
        while shaper.is_free(us(1_000_000)) {
            shaper.depart(us(1_000_000), ByteCount::new(1000), true);
            sent += 1;
        }
        assert_eq!(sent, 3);
    }

    #[test]
    fn without_a_rate_everything_leaves_at_once() {
        let mut shaper = FaceShaper::new(None);
        shaper.depart(us(5), ByteCount::new(1000), true);
        assert!(shaper.is_free(us(0)));
    }
}
