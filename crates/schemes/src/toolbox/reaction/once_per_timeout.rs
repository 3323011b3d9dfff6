//! One decrease per retransmission timeout.
//!
//! Paper: Carofiglio, Gallo & Muscariello 2012 (ICP): at most one decrease per timer value.

use tidegate_core::prelude::*;

/// Admits a decrease when the timeout that applied at the last one has passed.
#[derive(Clone, Debug, Default)]
pub struct OncePerTimeout {
    open_from: Time,
}

impl OncePerTimeout {
    /// Returns whether to decrease at `now`; if so, the gate is closed for `timeout`.
    pub fn admits(&mut self, now: Time, timeout: Span) -> bool {
        if now < self.open_from {
            return false;
        }
        // The timeout is read at the decrease: one that grows later does not close the gate for longer.
        self.open_from = now + timeout;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_opens_again_exactly_one_timeout_later() {
        let mut gate = OncePerTimeout::default();
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        assert!(gate.admits(at(100), Span::from_millis(50)));
        assert!(!gate.admits(at(149), Span::from_millis(50)));
        assert!(gate.admits(at(150), Span::from_millis(50)));
    }
}
