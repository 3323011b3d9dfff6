//! Minimum RTT, and the time of its next measurement (ProbeRTT Logic).

use tidegate_core::prelude::*;

/// Minimum round trips of two ages: the older is used, the younger detects a standing queue.
#[derive(Debug, Default)]
pub(super) struct RoundTrips {
    /// Minimum RTT (min_rtt), with the time of its sample.
    min: Option<(Span, Time)>,
    /// Minimum RTT since the last ProbeRTT was due (probe_rtt_min_delay), with the time of its sample.
    young: Option<(Span, Time)>,
}

impl RoundTrips {
    /// min_rtt; `None` before the first sample.
    pub(super) fn min(&self) -> Option<Span> {
        self.min.map(|(rtt, _)| rtt)
    }

    /// Adds a sample; returns whether there was no smaller one for `interval`. After `age` the younger minimum
    /// replaces the older.
    pub(super) fn take(&mut self, now: Time, rtt: Option<Span>, interval: Span, age: Span) -> bool {
        let is_old = |entry: Option<(Span, Time)>, age| entry.is_some_and(|(_, at)| now > at + age);
        // Read before the sample is added: the sample that follows a long time without a smaller one starts
        // ProbeRTT.
        let is_due = is_old(self.young, interval);
        if let Some(rtt) = rtt
            && (is_due || self.young.is_none_or(|(young, _)| rtt < young))
        {
            self.young = Some((rtt, now));
        }
        let is_smaller = self.young.zip(self.min).is_none_or(|(young, min)| young.0 < min.0);
        // The younger minimum is at most `interval` old, so the model does not jump to a single recent
        // sample.
        if is_smaller || is_old(self.min, age) {
            self.min = self.young;
        }
        is_due
    }

    /// Postpones the next measurement to an interval from now.
    pub(super) fn renew(&mut self, now: Time) {
        self.young = self.young.map(|(rtt, _)| (rtt, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_queue_is_noticed_after_five_seconds_and_accepted_after_ten() {
        let mut trips = RoundTrips::default();
        let mut take = |at_ms: u64, rtt_ms: Option<u64>| {
            let now = Time::ZERO + Span::from_millis(at_ms);
            let rtt = rtt_ms.map(Span::from_millis);
            let is_due = trips.take(now, rtt, Span::from_secs(5), Span::from_secs(10));
            (is_due, trips.min().map(|min| min.as_nanos() / 1_000_000))
        };
        assert_eq!(take(0, None), (false, None));
        assert_eq!(take(0, Some(20)), (false, Some(20)));
        assert_eq!(take(3_000, Some(20)), (false, Some(20)), "seen again, not smaller");
        assert_eq!(take(5_000, Some(30)), (false, Some(20)));
        assert_eq!(take(5_001, Some(30)), (true, Some(20)), "noticed");
        assert_eq!(take(5_002, Some(29)), (false, Some(20)));
        assert_eq!(take(10_001, Some(40)), (false, Some(29)), "the smallest of the last five seconds");
        assert_eq!(take(10_002, Some(10)), (false, Some(10)));
    }

    #[test]
    fn a_measurement_puts_off_the_next() {
        let mut trips = RoundTrips::default();
        let (interval, age) = (Span::from_secs(5), Span::from_secs(10));
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        trips.take(at(0), Some(Span::from_millis(20)), interval, age);
        trips.renew(at(5_300));
        assert!(!trips.take(at(10_300), None, interval, age));
        assert!(trips.take(at(10_301), None, interval, age));
    }
}
