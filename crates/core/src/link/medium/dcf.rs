//! The contention of one radio: backoff, its freezing, contention window and attempts.
//!
//! Source: IEEE 802.11-2016, 10.3.3 (contention window), 10.3.4.2 (access), 10.3.4.3 (backoff), 10.3.4.4 (retries);
//! for EDCA 10.22.2.4. Slots count from the end of the DIFS, AIFS or EIFS that follows a busy medium.

use super::setup::{Access, MediumSetup};
use crate::rng::Rng;

/// The contention of one radio.
#[derive(Debug)]
pub(super) struct Contention {
    rules: Rules,
    /// The slot at whose beginning the radio may send, if the medium is idle until then; `None` after a backoff has
    /// ended without a frame to send.
    backoff: Option<u64>,
    /// Backoffs are drawn from 0..=`window`.
    window: u16,
    /// Transmissions of the present frame that failed.
    failures: u8,
    rng: Rng,
}

#[derive(Clone, Copy, Debug)]
struct Rules {
    cw_min: u16,
    cw_max: u16,
    attempts: u8,
    /// Number of slots that a slot with transmissions of others counts as.
    busy_slot: u64,
}

impl Contention {
    pub(super) fn new(setup: &MediumSetup, rng: Rng) -> Self {
        let busy_slot = u64::from(setup.access != Access::Dcf);
        let rules = Rules { cw_min: setup.cw_min, cw_max: setup.cw_max, attempts: setup.attempts, busy_slot };
        Self { rules, backoff: None, window: rules.cw_min, failures: 0, rng }
    }

    /// A frame arrived at an empty queue while the medium was busy: it waits for a backoff, or for the rest
    /// of the one after the last transmission.
    pub(super) fn request_while_busy(&mut self) {
        if self.backoff.is_none() {
            self.draw();
        }
    }

    /// A frame arrived at an empty queue while the medium was idle: it is sent at the beginning of `slot`,
    /// the next one, or after the rest of the backoff.
    pub(super) fn request_while_idle(&mut self, slot: u64) {
        self.backoff = Some(self.backoff.unwrap_or(0).max(slot));
    }

    /// The slot at whose beginning the radio sends, if it has a frame.
    pub(super) fn slot(&self) -> Option<u64> {
        self.backoff
    }

    /// Other radios send from the beginning of `slot` on: the rest of the backoff freezes.
    pub(super) fn freeze(&mut self, slot: u64) {
        // A backoff that has ended by then is gone; a radio whose frame is due in this slot sends itself.
        let left = self.backoff.and_then(|own| own.checked_sub(slot)).filter(|left| *left > 0);
        self.backoff = left.map(|left| left - self.rules.busy_slot);
    }

    /// Whether the present frame has been sent before.
    pub(super) fn is_retry(&self) -> bool {
        self.failures > 0
    }

    /// The transmission was acknowledged.
    pub(super) fn succeed(&mut self) {
        self.start_over();
        self.draw();
    }

    /// Records that the transmission was not acknowledged; returns whether that was the last attempt.
    pub(super) fn fail(&mut self) -> bool {
        self.failures = self.failures.saturating_add(1);
        let gives_up = self.failures >= self.rules.attempts;
        if gives_up {
            self.start_over();
        } else {
            // Windows have the form 2^n - 1 (10.3.3), so each is twice the last one plus 1.
            self.window = self.window.saturating_mul(2).saturating_add(1).min(self.rules.cw_max);
        }
        self.draw();
        gives_up
    }

    /// The next frame is a new one, with the minimum window.
    pub(super) fn start_over(&mut self) {
        self.failures = 0;
        self.window = self.rules.cw_min;
    }

    fn draw(&mut self) {
        self.backoff = Some(u64::from(self.rng.below(u32::from(self.window) + 1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Seed;

    fn contention() -> Contention {
        let setup = MediumSetup { cw_max: 100, attempts: 6, ..Default::default() };
        Contention::new(&setup, Rng::stream(Seed(1), "backoff"))
    }

    #[test]
    fn the_window_doubles_up_to_its_limit_and_starts_over() {
        let mut own = contention();
        let mut windows = vec![own.window];
        for failures in 1..=6 {
            assert_eq!(own.fail(), failures == 6);
            windows.push(own.window);
        }
        assert_eq!(windows, [15, 31, 63, 100, 100, 100, 15]);
        own.fail();
        assert!(own.is_retry());
        own.succeed();
        assert_eq!((own.window, own.is_retry()), (15, false));
    }

    #[test]
    fn draws_are_uniform_from_zero_to_the_window() {
        let mut own = contention();
        let mut seen = [0u32; 16];
        for _ in 0..16_000 {
            own.succeed();
            seen[own.slot().expect("drawn") as usize] += 1;
        }
        // Four standard deviations of a count of mean 1000 are 122.
        assert!(seen.iter().all(|count| count.abs_diff(1000) < 123), "{seen:?}");
    }

    #[test]
    fn a_frozen_backoff_keeps_what_is_left() {
        let mut own = contention();
        own.backoff = Some(7);
        own.freeze(3);
        assert_eq!(own.slot(), Some(4));
        own.request_while_busy();
        assert_eq!(own.slot(), Some(4), "no second draw");
        own.request_while_idle(2);
        assert_eq!(own.slot(), Some(4), "the rest is waited for");
        own.freeze(4);
        assert_eq!(own.slot(), None, "ended without a frame");
        own.request_while_idle(9);
        assert_eq!(own.slot(), Some(9), "none is pending: at once");
    }
}
