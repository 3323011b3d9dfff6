//! The only reader of the operating system's clocks.
//!
//! Everything else of the live side receives the time as an argument, as core does in the simulator.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tidegate_core::units::Time;

/// A monotonic clock that starts at [`Time::ZERO`] when it is made.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock {
    start: Instant,
}

impl Default for MonotonicClock {
    fn default() -> Self {
        Self::new()
    }
}

impl MonotonicClock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self { start: Instant::now() }
    }

    /// Time since the clock's start; never goes back.
    pub fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Microseconds since 1970-01-01 UTC: for version numbers and signature times, never for pauses, because
    /// it may jump.
    pub fn wall_micros() -> u64 {
        micros_since_epoch(SystemTime::now())
    }
}

/// Microseconds from 1970-01-01 UTC to `instant`; 0 for one before that.
pub fn micros_since_epoch(instant: SystemTime) -> u64 {
    let since = instant.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn time_starts_near_zero_and_never_goes_back() {
        let clock = MonotonicClock::new();
        let readings: Vec<Time> = (0..1000).map(|_| clock.now()).collect();
        assert!(readings.is_sorted());
    }

    #[test]
    fn an_instant_before_the_epoch_is_microsecond_zero() {
        assert_eq!(micros_since_epoch(UNIX_EPOCH - Duration::from_secs(1)), 0);
        assert_eq!(micros_since_epoch(UNIX_EPOCH + Duration::from_nanos(2_999)), 2);
    }
}
