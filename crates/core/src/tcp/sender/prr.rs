//! Proportional rate reduction: how much may leave during fast recovery (RFC 9937, section 6.2), in segments.

/// State of PRR in one fast recovery.
#[derive(Clone, Debug)]
pub(super) struct Prr {
    /// Segments that may be in flight at the end.
    ssthresh: u64,
    /// RecoverFS: segments outstanding at the begin that may still be delivered.
    at_begin: u64,
    delivered: u64,
    out: u64,
    window: u64,
}

impl Prr {
    /// State at the begin of a recovery that reduces the flight from `at_begin` to `ssthresh` segments, both at least 1.
    pub(super) fn new(ssthresh: f64, at_begin: u64) -> Self {
        // A window without bound ends up as the largest number.
        Self {
            ssthresh: (ssthresh as u64).max(1),
            at_begin: at_begin.max(1),
            delivered: 0,
            out: 0,
            window: 0,
        }
    }

    /// Handles an ACK that delivered `delivered` segments, with `in_flight` segments outstanding after it.
    /// `is_safe`: the ACK advanced SND.UNA and indicated no further loss.
    pub(super) fn on_ack(&mut self, delivered: u32, in_flight: u32, is_safe: bool) {
        if delivered == 0 {
            return;
        }
        let (in_flight, newly) = (u64::from(in_flight), u64::from(delivered));
        self.delivered += newly;
        let mut more = if in_flight > self.ssthresh {
            // 128 bits, because the threshold of an unbounded window is the maximum of 64.
            let due = u128::from(self.delivered) * u128::from(self.ssthresh);
            let due = u64::try_from(due.div_ceil(u128::from(self.at_begin))).unwrap_or(u64::MAX);
            due.saturating_sub(self.out)
        } else {
            // At the threshold: as many segments as were delivered, and one more if the ACK is safe, as in
            // slow start.
            let conserved = self.delivered.saturating_sub(self.out).max(newly) + u64::from(is_safe);
            conserved.min(self.ssthresh - in_flight)
        };
        if self.out == 0 && more == 0 {
            // The fast retransmission itself.
            more = 1;
        }
        self.window = in_flight + more;
    }

    /// Starts a recovery without an ACK: the first retransmission is sent in addition to the `in_flight` segments.
    pub(super) fn begin(&mut self, in_flight: u32) {
        self.window = u64::from(in_flight) + 1;
    }

    /// Counts a segment that leaves (prr_out).
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// Segments that may be in flight.
    pub(super) fn window(&self) -> f64 {
        self.window as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments that leave at each of `acks` ACKs, after one lost segment of `flight` was retransmitted.
    fn course(flight: u32, ssthresh: f64, acks: u32) -> Vec<u32> {
        let mut prr = Prr::new(ssthresh, u64::from(flight - 1));
        let mut in_flight = flight - 1;
        let mut course = Vec::new();
        for _ in 0..acks {
            in_flight -= 1;
            prr.on_ack(1, in_flight, false);
            let mut left = 0;
            while f64::from(in_flight) < prr.window() {
                (in_flight, left) = (in_flight + 1, left + 1);
                prr.on_sent();
            }
            course.push(left);
        }
        course
    }

    #[test]
    fn a_halved_flight_sends_on_every_other_ack() {
        // 19 can be delivered, 10 of them are to be made good: ceil(10 n / 19) by the n-th ACK.
        assert_eq!(course(20, 10.0, 8), [1, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_flight_kept_to_seven_tenths_sends_seven_times_in_ten() {
        let sent: u32 = course(101, 70.0, 100).iter().sum();
        assert_eq!(sent, 70);
    }

    #[test]
    fn below_the_threshold_packets_are_conserved_and_one_more_leaves_when_all_goes_well() {
        let mut prr = Prr::new(10.0, 20);
        prr.on_ack(1, 4, false);
        assert_eq!(prr.window(), 5.0, "conservative after further losses");
        prr.on_sent();
        prr.on_ack(1, 4, true);
        assert_eq!(prr.window(), 6.0, "one more");
        prr.on_sent();
        prr.on_sent();
        prr.on_ack(4, 8, true);
        assert_eq!(prr.window(), 10.0, "never above the threshold");
    }

    #[test]
    fn the_first_retransmission_always_leaves() {
        let mut prr = Prr::new(4.0, 10);
        prr.on_ack(1, 4, false);
        assert_eq!(prr.window(), 5.0);
        prr.on_sent();
        prr.on_ack(0, 9, true);
        assert_eq!(prr.window(), 5.0, "an ACK that delivers nothing changes nothing");
    }
}
