//! The average length of a queue as RED keeps it: a moving average over arrivals that continues to fall while no
//! packet arrives.
//!
//! Source: Floyd & Jacobson 1993, section 4 and figure 2.

use tidegate_core::math;
use tidegate_core::prelude::*;

/// An exponentially weighted moving average of the packets that an arrival finds waiting.
#[derive(Clone, Debug)]
pub struct AverageQueue {
    /// Weight of the latest length, 0..=1.
    weight: f64,
    average: f64,
    /// Time at which the queue last became empty.
    empty_since: Time,
}

impl AverageQueue {
    /// The average of a queue that has been empty since time 0.
    pub fn new(weight: f64) -> Self {
        Self { weight, average: 0.0, empty_since: Time::ZERO }
    }

    /// Records a packet that arrives and finds `waiting` packets; `packet_time` is the transmission time of a typical
    /// packet. Returns the average, packets. An empty queue counts as one length of zero per packet time for which it
    /// was empty.
    pub fn arrive(&mut self, now: Time, waiting: u32, packet_time: Span) -> f64 {
        if waiting > 0 {
            self.average += self.weight * (f64::from(waiting) - self.average);
        } else {
            let missed = now.since(self.empty_since).as_secs_f64() / packet_time.as_secs_f64().max(1e-9);
            // The paper's m: the number of packets that could have been sent while the queue was empty, each
            // one a sample of 0.
            self.average *= math::pow(1.0 - self.weight, missed);
            // The idle time up to now is accounted for; another arrival must not count it again.
            self.empty_since = now;
        }
        self.average
    }

    /// The average as of the last arrival, packets.
    pub fn latest(&self) -> f64 {
        self.average
    }

    /// Records a packet that leaves `waiting` others behind.
    #[inline]
    pub fn depart(&mut self, now: Time, waiting: u32) {
        if waiting == 0 {
            self.empty_since = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Transmission time of a packet.
    const TIME: Span = Span::from_millis(1);

    fn at(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    #[test]
    fn a_standing_queue_is_approached_by_the_weight_at_every_arrival() {
        let mut average = AverageQueue::new(0.125);
        for arrivals in 1..=50 {
            let closed_form = 8.0 * (1.0 - 0.875_f64.powi(arrivals));
            let found = average.arrive(at(0), 8, TIME);
            assert!((found - closed_form).abs() < 1e-12, "{arrivals} arrivals: {found}, {closed_form}");
        }
    }

    #[test]
    fn an_idle_queue_falls_as_if_packets_had_come_one_after_the_other() {
        let mut average = AverageQueue::new(0.125);
        let full = (0..200).fold(0.0, |_, _| average.arrive(at(0), 8, TIME));
        average.depart(at(10_000), 0);
        // 2.5 ms, then 1.5 ms more: 4 packet times since the queue was left empty.
        let first = average.arrive(at(12_500), 0, TIME);
        assert!((first - full * 0.875_f64.powf(2.5)).abs() < 1e-12, "{first}");
        let second = average.arrive(at(14_000), 0, TIME);
        assert!((second - full * 0.875_f64.powi(4)).abs() < 1e-12, "{second}");
        assert!(average.arrive(at(10_000_000_000), 0, TIME) < 1e-300);
    }

    #[test]
    fn a_departure_that_leaves_packets_behind_is_no_idle_time() {
        let mut average = AverageQueue::new(0.5);
        average.arrive(at(0), 4, TIME);
        average.depart(at(5_000), 1);
        average.depart(at(9_000), 0);
        assert_eq!(average.arrive(at(9_000), 0, TIME), 2.0);
    }
}
