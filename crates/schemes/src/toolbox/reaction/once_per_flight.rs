//! One decrease per round trip, by send times: Interests in flight at a decrease cause no other.

use tidegate_core::units::Time;

/// Admits a decrease for an Interest that left after the last decrease.
#[derive(Clone, Debug, Default)]
pub struct OncePerFlight {
    decreased_at: Option<Time>,
}

impl OncePerFlight {
    /// Returns whether the loss or mark of an Interest sent at `sent_at` may decrease the window at `now`; if so, the
    /// gate is closed for all Interests sent until now.
    pub fn admits(&mut self, now: Time, sent_at: Time) -> bool {
        // Send times, unlike segment numbers, distinguish a retransmission after the decrease from the
        // original before it.
        if self.decreased_at.is_some_and(|decreased_at| sent_at <= decreased_at) {
            return false;
        }
        self.decreased_at = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_before_a_decrease_or_with_it_causes_no_second_one() {
        let mut gate = OncePerFlight::default();
        let at = Time::from_nanos;
        assert!(gate.admits(at(100), at(0)));
        assert!(!gate.admits(at(110), at(50)));
        assert!(!gate.admits(at(300), at(100)));
        assert!(gate.admits(at(300), at(101)));
        assert!(!gate.admits(at(400), at(300)));
    }
}
