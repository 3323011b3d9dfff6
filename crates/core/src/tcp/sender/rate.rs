//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation-02), counted in segments.

use super::scoreboard::Record;
use crate::scheme::congestion::{LossSample, RateSample};
use crate::units::{Span, Time};

/// State of the connection when a segment leaves (section 3.1.1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Snapshot {
    /// Segments delivered by then.
    pub(super) delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    is_app_limited: bool,
    /// Segments found lost by then.
    lost: u64,
    /// Segments in flight, itself included.
    in_flight: u32,
}

/// The connection's half of the estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct RateMeter {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// Up to this many deliveries samples are the application's; 0 for none.
    app_limited_until: u64,
    /// Departure time and state of the segment that the sample is computed from.
    newest: Option<(Time, Snapshot)>,
}

impl RateMeter {
    /// A segment leaves while `in_flight` others are under way.
    pub(super) fn on_sent(&mut self, now: Time, in_flight: u32) -> Snapshot {
        if in_flight == 0 {
            // Time without anything in flight must not lower the measured rate (section 3.2).
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            is_app_limited: self.app_limited_until != 0,
            lost: self.lost,
            in_flight: in_flight.saturating_add(1),
        }
    }

    /// A segment was delivered (section 3.3).
    pub(super) fn on_delivered(&mut self, now: Time, record: &Record) {
        self.delivered += 1;
        self.delivered_at = now;
        let is_newest = self.newest.is_none_or(|(sent_at, snapshot)| {
            (record.snapshot.delivered, record.sent_at) >= (snapshot.delivered, sent_at)
        });
        if is_newest {
            self.newest = Some((record.sent_at, record.snapshot));
            self.first_sent = record.sent_at;
        }
    }

    /// A segment was found lost.
    pub(super) fn on_lost(&mut self) {
        self.lost += 1;
    }

    /// Counters since the departure of a segment that was found lost, including that loss.
    pub(super) fn loss_sample(&self, snapshot: &Snapshot) -> LossSample {
        LossSample {
            in_flight_at_send: snapshot.in_flight,
            lost: self.lost - snapshot.lost,
            is_app_limited: snapshot.is_app_limited,
        }
    }

    /// The application has nothing to send, `in_flight` segments are under way (section 3.4).
    pub(super) fn note_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// The sample of an ACK; `None` when nothing was delivered or it came faster than a round trip of `min` allows.
    pub(super) fn sample(&mut self, min: Option<Span>) -> Option<RateSample> {
        if self.app_limited_until != 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (sent_at, snapshot) = self.newest.take()?;
        let sending = sent_at.since(snapshot.first_sent);
        let acking = self.delivered_at.since(snapshot.delivered_at);
        let interval = sending.max(acking);
        // Shorter than a round trip: a needless retransmission was matched with the ACK of the original
        // (section 3.3).
        if interval == Span::ZERO || min.is_some_and(|min| interval < min) {
            return None;
        }
        Some(RateSample {
            delivered: self.delivered - snapshot.delivered,
            interval,
            prior_delivered: snapshot.delivered,
            is_app_limited: snapshot.is_app_limited,
            in_flight_at_send: snapshot.in_flight,
            lost: self.lost - snapshot.lost,
        })
    }

    /// Number of segments delivered since the start of the connection.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn sent(meter: &mut RateMeter, millis: u64, in_flight: u32) -> Record {
        let snapshot = meter.on_sent(at(millis), in_flight);
        Record::new(1000, 1000, at(millis), millis, snapshot)
    }

    fn per_second(sample: Option<RateSample>) -> f64 {
        let sample = sample.expect("a sample");
        sample.delivered as f64 / sample.interval.as_secs_f64()
    }

    #[test]
    fn the_rate_is_the_slower_of_sending_and_acknowledging() {
        let mut meter = RateMeter::default();
        // Ten per 100 ms leave, their ACKs come in one bunch.
        let records: Vec<Record> = (0..10).map(|n| sent(&mut meter, 1000 + 10 * n, n as u32)).collect();
        for record in &records {
            meter.on_delivered(at(1100), record);
        }
        // Ten within max(90 ms of sending, 100 ms of acknowledging).
        assert_eq!(per_second(meter.sample(None)), 100.0);
        let next = sent(&mut meter, 1100, 1);
        meter.on_delivered(at(1110), &next);
        // One within max(1100 - 1090, 1110 - 1100).
        assert_eq!(per_second(meter.sample(None)), 100.0);
    }

    #[test]
    fn acknowledgements_in_a_bunch_count_no_faster_than_their_segments_left() {
        let mut meter = RateMeter::default();
        let first = sent(&mut meter, 0, 0);
        let (second, third) = (sent(&mut meter, 100, 1), sent(&mut meter, 200, 2));
        meter.on_delivered(at(210), &first);
        meter.sample(None);
        meter.on_delivered(at(211), &second);
        meter.on_delivered(at(211), &third);
        // Three delivered since time 0 within 211 ms of acknowledging, 200 ms of sending.
        let sample = meter.sample(None).expect("a sample");
        assert_eq!(
            (sample.delivered, sample.interval, sample.prior_delivered),
            (3, Span::from_millis(211), 0)
        );
    }

    #[test]
    fn acks_that_were_held_up_on_the_way_count_no_faster_than_their_segments_left() {
        let mut meter = RateMeter::default();
        let first = sent(&mut meter, 0, 0);
        meter.on_delivered(at(95), &first);
        meter.sample(None);
        let second = sent(&mut meter, 100, 1);
        meter.on_delivered(at(110), &second);
        // One in 100 ms of sending; its ACK came 15 ms after the one before.
        assert_eq!(per_second(meter.sample(None)), 10.0);
    }

    #[test]
    fn a_pause_starts_the_clock_anew() {
        let mut meter = RateMeter::default();
        let first = sent(&mut meter, 0, 0);
        meter.on_delivered(at(40), &first);
        assert_eq!(per_second(meter.sample(None)), 25.0);
        let later = sent(&mut meter, 1000, 0);
        meter.on_delivered(at(1040), &later);
        assert_eq!(per_second(meter.sample(None)), 25.0);
    }

    #[test]
    fn what_leaves_while_the_application_has_nothing_more_is_marked_until_it_is_delivered() {
        let mut meter = RateMeter::default();
        let first = sent(&mut meter, 0, 0);
        meter.note_app_limited(1);
        let second = sent(&mut meter, 10, 1);
        meter.on_delivered(at(40), &first);
        assert!(!meter.sample(None).expect("a sample").is_app_limited);
        meter.on_delivered(at(50), &second);
        assert!(meter.sample(None).expect("a sample").is_app_limited);
        let third = sent(&mut meter, 60, 0);
        meter.on_delivered(at(100), &third);
        assert!(!meter.sample(None).expect("a sample").is_app_limited);
    }

    #[test]
    fn a_sample_shorter_than_the_round_trip_is_none() {
        let mut meter = RateMeter::default();
        let record = sent(&mut meter, 0, 0);
        meter.on_delivered(at(19), &record);
        assert_eq!(meter.sample(Some(Span::from_millis(20))), None);
        assert_eq!(meter.sample(None), None, "nothing was delivered since");
    }

    #[test]
    fn losses_since_the_departure_are_counted() {
        let mut meter = RateMeter::default();
        meter.on_lost();
        let record = sent(&mut meter, 0, 4);
        meter.on_lost();
        meter.on_lost();
        meter.on_delivered(at(40), &record);
        let sample = meter.sample(None).expect("a sample");
        assert_eq!((sample.lost, sample.in_flight_at_send), (2, 5));
    }

    #[test]
    fn a_lost_segment_reports_its_own_departure() {
        let mut meter = RateMeter::default();
        meter.on_lost();
        let record = sent(&mut meter, 0, 4);
        meter.note_app_limited(5);
        sent(&mut meter, 1, 5);
        meter.on_lost();
        meter.on_lost();
        let sample = meter.loss_sample(&record.snapshot);
        assert_eq!(sample, LossSample { in_flight_at_send: 5, lost: 2, is_app_limited: false });
    }
}
