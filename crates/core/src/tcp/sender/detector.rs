//! The choice between the rules that detect losses.

use super::Detection;
use super::rack::Rack;
use super::rtt::RoundTrip;
use super::sack_loss::{Extra, SackLoss};
use super::scoreboard::{Record, Scoreboard};
use crate::ndn::packet::Millis;
use crate::units::{Span, Time};

/// State of the connection for loss detection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub(super) now: Time,
    /// Whether a recovery is under way.
    pub(super) in_recovery: bool,
    /// Bytes of a full segment.
    pub(super) mss: u16,
}

/// Rule that detects losses.
#[derive(Clone, Debug)]
pub(super) enum Detector {
    Rack(Rack),
    Sack(SackLoss),
}

impl Detector {
    pub(super) fn new(detection: Detection) -> Self {
        match detection {
            Detection::RackTlp => Self::Rack(Rack::default()),
            Detection::Sack => Self::Sack(SackLoss::default()),
        }
    }

    pub(super) fn on_delivered(
        &mut self,
        now: Time,
        record: &Record,
        echo: Option<Millis>,
        min: Option<Span>,
    ) {
        if let Self::Rack(rack) = self {
            rack.on_delivered(now, record, echo, min);
        }
    }

    pub(super) fn on_dsack(&mut self, acked: u64, next: u64) {
        if let Self::Rack(rack) = self {
            rack.on_dsack(acked, next);
        }
    }

    pub(super) fn reorder_at(&self) -> Option<Time> {
        match self {
            Self::Rack(rack) => rack.reorder_at(),
            Self::Sack(_) => None,
        }
    }

    pub(super) fn rest(&mut self) {
        if let Self::Rack(rack) = self {
            rack.rest();
        }
    }

    /// Whether a segment counts as lost when the retransmission timer expires. All segments do, except that
    /// RACK leaves out those that were sent too recently (RFC 8985, section 6.3).
    pub(super) fn is_lost_at_timeout(
        &self,
        record: &Record,
        board: &Scoreboard,
        trip: &RoundTrip,
        now: Time,
    ) -> bool {
        match self {
            Self::Rack(rack) => {
                rack.is_lost_at_timeout(record, now, rack.reordering_window(board, trip, false))
            }
            Self::Sack(_) => true,
        }
    }

    /// Removes lost segments from the flight and appends them to `lost`.
    pub(super) fn detect(
        &mut self,
        board: &mut Scoreboard,
        trip: &RoundTrip,
        facts: Facts,
        lost: &mut Vec<u64>,
    ) {
        match self {
            Self::Rack(rack) => rack.detect(board, trip, facts, lost),
            Self::Sack(rule) => rule.detect(board, facts.mss, lost),
        }
    }

    /// A fast recovery begins.
    pub(super) fn on_recovery(&mut self) {
        if let Self::Sack(rule) = self {
            rule.on_recovery();
        }
    }

    /// Segment `number` is sent again in order.
    pub(super) fn on_retransmission(&mut self, number: u64) {
        if let Self::Sack(rule) = self {
            rule.on_retransmission(number);
        }
    }

    /// Segment that a fast recovery retransmits if there are neither losses nor new data.
    pub(super) fn extra(&self, board: &Scoreboard) -> Option<Extra> {
        match self {
            Self::Rack(_) => None,
            Self::Sack(rule) => rule.extra(board),
        }
    }

    /// A recovery's rescue retransmission leaves.
    pub(super) fn on_rescue(&mut self) {
        if let Self::Sack(rule) = self {
            rule.on_rescue();
        }
    }

    /// Records the end of a recovery, which RACK counts.
    pub(super) fn on_recovered(&mut self) {
        if let Self::Rack(rack) = self {
            rack.on_recovered();
        }
    }
}
