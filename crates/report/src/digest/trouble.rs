//! What the network did to packets, kept by name until a consumer hears of it.

use std::collections::BTreeMap;

use tidegate_core::name::Name;
use tidegate_core::units::Time;

use super::Rule;

/// What happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// A queue dropped it.
    Drop,
    /// The wire lost it.
    WireLoss,
    /// A queue put it aside and told the consumer (PLR).
    Stored,
    /// A queue marked it.
    Mark,
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Time of the change.
    pub at: Time,
    /// The link direction whose queue or wire it was.
    pub direction: u32,
    /// What and by which rule.
    pub rule: Rule,
}

/// Names remembered at once; beyond, the older half is forgotten.
const MAX_NAMES: usize = 1 << 16;

/// The last trouble of each name: one with marks, one with losses.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    marks: BTreeMap<Name, Trouble>,
    losses: BTreeMap<Name, Trouble>,
}

impl Troubles {
    pub(super) fn add(&mut self, name: Name, trouble: Trouble) {
        let of = if trouble.rule.harm == Harm::Mark { &mut self.marks } else { &mut self.losses };
        of.insert(name, trouble);
        if of.len() > MAX_NAMES {
            let mut times: Vec<Time> = of.values().map(|trouble| trouble.at).collect();
            times.sort_unstable();
            let middle = times[times.len() / 2];
            of.retain(|_, trouble| trouble.at > middle);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.marks.len().max(self.losses.len())
    }

    /// The mark that a packet of `name` got at `since` or later.
    pub(super) fn mark(&self, name: Name, since: Time) -> Option<Trouble> {
        latest(&self.marks, name, since)
    }

    /// The loss of a packet of `name` at `since` or later.
    pub(super) fn loss(&self, name: Name, since: Time) -> Option<Trouble> {
        latest(&self.losses, name, since)
    }
}

fn latest(of: &BTreeMap<Name, Trouble>, name: Name, since: Time) -> Option<Trouble> {
    of.get(&name).filter(|trouble| trouble.at >= since).copied()
}
