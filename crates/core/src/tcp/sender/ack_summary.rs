//! Summary of the new information in an ACK.

use super::scoreboard::Record;
use crate::units::{Span, Time};

/// Sums over the segments that one ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSummary {
    /// Segments acknowledged cumulatively that were not known to have arrived.
    pub(super) acked: u32,
    /// Segments newly acknowledged selectively.
    pub(super) sacked: u32,
    /// Positions that these segments occupy.
    pub(super) length: u64,
    /// Segment among them that was sent last.
    pub(super) newest: Option<Newest>,
    /// Round trips of segments that were sent once: acknowledged cumulatively, and selectively.
    trips: [Trips; 2],
    /// Whether a segment that was acknowledged cumulatively had been retransmitted.
    has_repeated: bool,
    /// Highest segment number among them; 0 without any.
    pub(super) highest: u64,
    /// Place in the order of departures of the first segment that was sent once and newly acknowledged
    /// selectively.
    pub(super) oldest_sacked: Option<u64>,
}

/// Round trips of segments that left once.
#[derive(Clone, Copy, Debug)]
struct Trips {
    /// Round trip of the first of them, including the delay of the ACK.
    longest: Span,
    /// Round trip of the last of them; [`Span::MAX`] without any.
    latest: Span,
}

impl Default for Trips {
    fn default() -> Self {
        Self { longest: Span::ZERO, latest: Span::MAX }
    }
}

impl Trips {
    fn merge(self, other: Self) -> Self {
        Self { longest: self.longest.max(other.longest), latest: self.latest.min(other.latest) }
    }
}

/// State of the segment that was sent last, at its departure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    pub(super) number: u64,
    /// Place of its last departure in the order of all departures.
    order: u64,
    pub(super) first_sent: Time,
    pub(super) sent_at: Time,
    /// Number of its retransmissions.
    pub(super) retransmissions: u16,
    /// Segments delivered when it last left.
    pub(super) delivered_at_send: u64,
}

impl AckSummary {
    pub(super) fn add(&mut self, now: Time, number: u64, record: &Record, is_selective: bool) {
        if is_selective {
            self.sacked += 1;
        } else {
            self.acked += 1;
        }
        self.length += u64::from(record.length);
        self.highest = self.highest.max(number);
        if record.retransmissions == 0 {
            let rtt = now.since(record.sent_at);
            let trips = &mut self.trips[usize::from(is_selective)];
            *trips = trips.merge(Trips { longest: rtt, latest: rtt });
            if is_selective {
                let oldest = self.oldest_sacked.unwrap_or(record.order);
                self.oldest_sacked = Some(oldest.min(record.order));
            }
        }
        self.has_repeated |= !is_selective && record.retransmissions > 0;
        if self.newest.is_none_or(|newest| record.order > newest.order) {
            let Record { order, first_sent, sent_at, retransmissions, snapshot, .. } = *record;
            let delivered_at_send = snapshot.delivered;
            self.newest =
                Some(Newest { number, order, first_sent, sent_at, retransmissions, delivered_at_send });
        }
    }

    /// Round trips that are valid samples (Karn's rule): the longest for the timeout, the latest for the controller. A
    /// segment acknowledged in order behind a retransmission may have waited for it, a timeout long: then only
    /// segments acknowledged selectively count, as in Linux.
    pub(super) fn trips(&self) -> Option<(Span, Span)> {
        let [cumulative, selective] = self.trips;
        let Trips { longest, latest } =
            if self.has_repeated { selective } else { selective.merge(cumulative) };
        (latest != Span::MAX).then_some((longest, latest))
    }

    /// Number of segments that the ACK newly reports as delivered.
    pub(super) fn delivered(&self) -> u32 {
        self.acked + self.sacked
    }
}
