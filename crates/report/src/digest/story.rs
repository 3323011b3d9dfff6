//! What made a flow's window fall, and how often.

use std::collections::BTreeMap;

use tidegate_core::units::Time;

use super::Rule;
use super::trouble::Trouble;

/// Falls of a window that are kept one by one, at most: the largest.
const MAX_DECREASES: usize = 256;

/// Why a window fell: the scheme's rule, and what the network had done to the segment that set it off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Rule of the scheme, as one word ("timeout", "mark", "data").
    pub cause: &'static str,
    /// Link direction and rule of the queue or wire; `None` when nothing happened there to the segment.
    pub origin: Option<(u32, Rule)>,
}

/// One fall of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decrease {
    /// Time of the change.
    pub at: Time,
    /// Window before, packets.
    pub from_packets: f64,
    /// Window after, packets.
    pub to_packets: f64,
    /// Why.
    pub reason: Reason,
}

impl Decrease {
    /// What was lost, as a part of the window before.
    pub fn share(&self) -> f64 {
        1.0 - self.to_packets / self.from_packets
    }
}

/// What made a flow slower.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowStory {
    /// Falls of the window by reason.
    pub decreases: BTreeMap<Reason, u64>,
    /// Of all falls, the largest, in order of time.
    pub largest: Vec<Decrease>,
    /// Losses and marks that the consumer heard of, by reason, whether or not the window fell.
    pub signals: BTreeMap<Reason, u64>,
}

impl FlowStory {
    /// Counts a signal.
    pub(super) fn hear(&mut self, cause: &'static str, trouble: Option<Trouble>) {
        *self.signals.entry(Reason::new(cause, trouble)).or_default() += 1;
    }

    /// Counts a fall.
    pub(super) fn fall(&mut self, decrease: Decrease) {
        *self.decreases.entry(decrease.reason).or_default() += 1;
        self.largest.push(decrease);
        if self.largest.len() >= 2 * MAX_DECREASES {
            self.keep_largest();
        }
    }

    /// Keeps the largest falls; of equal ones the earlier.
    pub(super) fn keep_largest(&mut self) {
        self.largest
            .sort_by(|left, right| right.share().total_cmp(&left.share()).then(left.at.cmp(&right.at)));
        self.largest.truncate(MAX_DECREASES);
        self.largest.sort_by_key(|decrease| decrease.at);
    }

    /// How often the window fell.
    pub fn falls(&self) -> u64 {
        self.decreases.values().sum()
    }
}

impl Reason {
    pub(super) fn new(cause: &'static str, trouble: Option<Trouble>) -> Self {
        Self { cause, origin: trouble.map(|trouble| (trouble.direction, trouble.rule)) }
    }
}
