//! Module `status`: version, tables and counters of the forwarder.

use super::super::Daemon;
use super::wall_millis;
use crate::nfd::ForwarderStatus;

impl Daemon {
    /// Content of the dataset `status/general`.
    pub(super) fn general_status(&self) -> ForwarderStatus {
        let others = self.reports().iter().map(|report| &report.general);
        others.fold(self.own_general_status(), |sum, other| ForwarderStatus {
            names: sum.names + other.names,
            pit: sum.pit + other.pit,
            cs: sum.cs + other.cs,
            received: sum.received.with(other.received),
            sent: sum.sent.with(other.sent),
            satisfied: sum.satisfied + other.satisfied,
            unsatisfied: sum.unsatisfied + other.unsatisfied,
            ..sum
        })
    }

    /// The same of the tables of this thread.
    pub(in super::super) fn own_general_status(&self) -> ForwarderStatus {
        let (forwarder, counters) = (self.node.forwarder(), self.node.forwarder().counters());
        let current_ms = wall_millis();
        let faces = || self.faces.iter().flatten();
        ForwarderStatus {
            version: concat!("tidegate ", env!("CARGO_PKG_VERSION")).to_owned(),
            start_ms: self.started_ms,
            current_ms,
            names: self.names.len() as u64,
            fib: forwarder.fib().entries().count() as u64,
            pit: forwarder.pit().len() as u64,
            cs: forwarder.cs().len() as u64,
            received: faces().fold(self.counters.received, |sum, face| sum.with(face.received)),
            sent: faces().fold(self.counters.sent, |sum, face| sum.with(face.sent)),
            satisfied: counters.satisfied,
            unsatisfied: counters.expired,
        }
    }
}
