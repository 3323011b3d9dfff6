//! Drops, losses and marks of packets, stored by name until a consumer detects them.

use std::collections::BTreeMap;

use tidegate_core::ndn::name::Name;
use tidegate_core::units::Time;

use super::IncidentCause;

/// Outcome of one packet at a queue or on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketFate {
    /// A queue dropped it.
    Drop,
    /// The wire lost it.
    WireLoss,
    /// A queue stored it and notified the consumer (PLR).
    Stored,
    /// A queue marked it.
    Mark,
}

/// A drop, loss, mark or storage of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Time of the change.
    pub at: Time,
    /// Link direction of the queue or wire.
    pub direction: u32,
    /// Outcome and the rule that caused it.
    pub rule: IncidentCause,
}

/// Maximum number of stored names; when it is exceeded, the older half is removed.
const MAX_NAMES: usize = 1 << 16;

/// The last incident of each name, marks and losses apart.
#[derive(Debug, Default)]
pub(super) struct Incidents {
    marks: BTreeMap<Name, Incident>,
    losses: BTreeMap<Name, Incident>,
}

impl Incidents {
    pub(super) fn add(&mut self, name: Name, incident: Incident) {
        let of = if incident.rule.fate == PacketFate::Mark { &mut self.marks } else { &mut self.losses };
        of.insert(name, incident);
        if of.len() > MAX_NAMES {
            let mut times: Vec<Time> = of.values().map(|incident| incident.at).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            of.retain(|_, incident| incident.at > middle);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.marks.len().max(self.losses.len())
    }

    /// The last mark of a packet of `name` at `since` or later.
    pub(super) fn mark(&self, name: Name, since: Time) -> Option<Incident> {
        latest(&self.marks, name, since)
    }

    /// The last loss of a packet of `name` at `since` or later.
    pub(super) fn loss(&self, name: Name, since: Time) -> Option<Incident> {
        latest(&self.losses, name, since)
    }
}

fn latest(of: &BTreeMap<Name, Incident>, name: Name, since: Time) -> Option<Incident> {
    of.get(&name).filter(|incident| incident.at >= since).copied()
}
