//! Window decreases of a flow and their causes.

use std::collections::BTreeMap;

use tidegate_core::units::Time;

use super::IncidentCause;
use super::incident::Incident;

/// Maximum number of window decreases stored individually: the largest ones.
const MAX_DECREASES: usize = 256;

/// Reason of a window decrease: the scheme's rule, and the incident of the segment that triggered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// Rule of the scheme, as one word ("timeout", "mark", "data").
    pub cause: &'static str,
    /// Link direction and rule of the queue or wire; `None` without an incident of the segment.
    pub origin: Option<(u32, IncidentCause)>,
}

/// One decrease of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decrease {
    /// Time of the change.
    pub at: Time,
    /// Window before the decrease, packets.
    pub from_packets: f64,
    /// Window after the decrease, packets.
    pub to_packets: f64,
    /// Cause of the decrease.
    pub reason: Reason,
}

impl Decrease {
    /// Decrease as a fraction of the window before.
    pub fn share(&self) -> f64 {
        1.0 - self.to_packets / self.from_packets
    }
}

/// Causes that slowed a flow down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CongestionHistory {
    /// Number of decreases of the window by reason.
    pub decreases: BTreeMap<Reason, u64>,
    /// The largest decreases, in order of time.
    pub max: Vec<Decrease>,
    /// Losses and marks detected by the consumer, by reason, with or without a window decrease.
    pub signals: BTreeMap<Reason, u64>,
}

impl CongestionHistory {
    /// Counts a congestion signal by its cause and incident.
    pub(super) fn on_signal(&mut self, cause: &'static str, incident: Option<Incident>) {
        *self.signals.entry(Reason::new(cause, incident)).or_default() += 1;
    }

    /// Counts a decrease of the window.
    pub(super) fn fall(&mut self, decrease: Decrease) {
        *self.decreases.entry(decrease.reason).or_default() += 1;
        self.max.push(decrease);
        // Sorting only when the list has doubled keeps the cost per decrease logarithmic.
        if self.max.len() >= 2 * MAX_DECREASES {
            self.keep_max();
        }
    }

    /// Removes all but the largest decreases; of equal ones the earlier stay.
    pub(super) fn keep_max(&mut self) {
        self.max.sort_by(|left, right| right.share().total_cmp(&left.share()).then(left.at.cmp(&right.at)));
        self.max.truncate(MAX_DECREASES);
        self.max.sort_by_key(|decrease| decrease.at);
    }

    /// Number of decreases of the window.
    pub fn falls(&self) -> u64 {
        self.decreases.values().sum()
    }
}

impl Reason {
    pub(super) fn new(cause: &'static str, incident: Option<Incident>) -> Self {
        Self { cause, origin: incident.map(|incident| (incident.direction, incident.rule)) }
    }
}
