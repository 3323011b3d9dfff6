//! What an emulated link did so far, and how late it was.

use tidegate_core::records::DelaySummary;
use tidegate_core::units::{ByteCount, Span};

use super::channel::Counts;
use crate::udp::Faults;

/// What the link did so far.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Time since it started.
    pub elapsed: Span,
    /// Clients now.
    pub clients: usize,
    /// Datagrams that were not carried at all.
    pub refused: Refused,
    /// From the clients to the address carried to.
    pub forward: DirectionReport,
    /// Back.
    pub reverse: DirectionReport,
}

/// Datagrams that were not carried, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Of a new client while there were too many.
    pub crowded: u64,
    /// Of a new client when the system gave it no socket.
    pub no_socket: u64,
    /// Larger than any NDN packet with its link fields (9000 bytes).
    pub oversized: u64,
    /// Caught by the socket of another client just made.
    pub stray: u64,
    /// Dropped by the system, because the link did not read its sockets in time.
    pub overflowed: u64,
}

impl Refused {
    /// Adds what one socket did not pass on.
    pub(super) fn add_faults(&mut self, faults: Faults, overflows: u64) {
        self.oversized += faults.oversized;
        self.stray += faults.stray;
        self.overflowed += overflows;
    }
}

/// One direction.
#[derive(Clone, Debug)]
pub struct DirectionReport {
    /// Datagrams by what became of them.
    pub counts: Counts,
    /// Bytes of the datagrams delivered.
    pub delivered_bytes: ByteCount,
    /// Of those delivered, datagrams that the system did not send.
    pub unsent: u64,
    /// Of those delivered, datagrams whose client was forgotten meanwhile.
    pub stranded: u64,
    /// Waiting in the queue, by the line's own time.
    pub waiting: DelaySummary,
    /// How much later than due datagrams were sent.
    pub lateness: DelaySummary,
}
