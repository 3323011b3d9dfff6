//! What an ACK newly says of the segments outstanding.

use super::scoreboard::Record;
use crate::units::{Span, Time};

/// Sums over the segments that one ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// Segments acknowledged cumulatively that were not known to have arrived.
    pub(super) acked: u32,
    /// Segments newly acknowledged selectively.
    pub(super) sacked: u32,
    /// Their positions.
    pub(super) length: u64,
    /// The segment that left last of them, and its number.
    pub(super) newest: Option<(u64, Record)>,
    /// Round trip of the first of them that left once: with the wait for a delayed ACK, for the timeout.
    pub(super) longest: Option<Span>,
    /// Round trip of the last of them that left once, for the controller.
    pub(super) latest: Option<Span>,
    /// Highest number of them.
    pub(super) highest: Option<u64>,
    /// Place among all departures of the first segment that left once and was newly acknowledged selectively.
    pub(super) oldest_sacked: Option<u64>,
}

impl News {
    pub(super) fn add(&mut self, now: Time, number: u64, record: &Record, is_selective: bool) {
        if is_selective {
            self.sacked += 1;
        } else {
            self.acked += 1;
        }
        self.length += u64::from(record.length);
        self.highest = self.highest.max(Some(number));
        if record.retransmissions == 0 {
            let rtt = now.since(record.sent_at);
            self.longest = self.longest.max(Some(rtt));
            self.latest = Some(self.latest.map_or(rtt, |latest| latest.min(rtt)));
            if is_selective {
                let oldest = self.oldest_sacked.unwrap_or(record.order);
                self.oldest_sacked = Some(oldest.min(record.order));
            }
        }
        if self.newest.is_none_or(|(_, newest)| record.order > newest.order) {
            self.newest = Some((number, *record));
        }
    }

    /// Segments delivered.
    pub(super) fn delivered(&self) -> u32 {
        self.acked + self.sacked
    }
}
