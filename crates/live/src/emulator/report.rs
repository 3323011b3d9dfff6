//! Counters of an emulated link, and its lateness.

use tidegate_core::observe::records::DelaySummary;
use tidegate_core::units::{ByteCount, Span};

use super::channel::Counts;
use crate::udp::Faults;

/// Counters and delays of an emulated link so far.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Time since it started.
    pub elapsed: Span,
    /// Number of connected clients now.
    pub clients: usize,
    /// Datagrams that were not carried at all.
    pub refused: Refused,
    /// Report of the direction from the clients to the server.
    pub forward: DirectionReport,
    /// Report of the reverse direction.
    pub reverse: DirectionReport,
}

/// Datagrams that were not carried, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Datagrams of new clients while there were too many.
    pub crowded: u64,
    /// Datagrams of new clients for which the system gave no socket.
    pub no_socket: u64,
    /// Larger than any NDN packet with its link fields (9000 bytes).
    pub oversized: u64,
    /// Received by the new socket of another client.
    pub stray: u64,
    /// Dropped by the system, because the link did not read its sockets in time.
    pub overflowed: u64,
}

impl Refused {
    /// Adds the datagrams that one socket did not pass on.
    pub(super) fn add_faults(&mut self, faults: Faults, overflows: u64) {
        self.oversized += faults.oversized;
        self.stray += faults.stray;
        self.overflowed += overflows;
    }
}

/// Counters of one direction.
#[derive(Clone, Debug)]
pub struct DirectionReport {
    /// Number of datagrams by outcome.
    pub counts: Counts,
    /// Bytes of the datagrams delivered.
    pub delivered_bytes: ByteCount,
    /// Delivered datagrams that the system did not send.
    pub unsent: u64,
    /// Delivered datagrams whose client had been removed.
    pub stranded: u64,
    /// Distribution of waiting times in the queue, by the times of the line.
    pub waiting: DelaySummary,
    /// Distribution of the delay between due time and sending time.
    pub lateness: DelaySummary,
}
