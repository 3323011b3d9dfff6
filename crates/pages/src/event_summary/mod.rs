//! Summary of the events of a run for its page, in addition to tables and samples: segments of each flow over
//! time, reasons of window decreases, and incidents by place. Its memory does not grow with the run.

mod builder;
mod history;
mod incident;
mod segments;
mod stall;
#[cfg(test)]
mod tests;

use tidegate_core::observe::records::{RunRecord, Watched};
use tidegate_core::units::{Span, Time};

use tidegate_results::text;

pub use builder::EventSummaryBuilder;
pub use history::{CongestionHistory, Decrease, Reason};
pub use incident::{Incident, PacketFate};
pub use segments::{PointKind, SegmentPoint, SegmentPoints};
pub use stall::Stall;

/// Number of time bins of a summary.
pub const BINS: u64 = 600;
/// Maximum number of flows that are followed: those with the maximum payload.
pub const MAX_FLOWS: usize = 14;

/// A change of the network during the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkChange {
    /// Time of the change.
    pub at: Time,
    /// Changed element and its new state ("link r1-r2: rate 5Mbps").
    pub text: String,
}

/// Summary of the events of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventSummary {
    /// The run, and whole distributions of delay by flow and link direction.
    pub watched: Watched,
    /// Names of nodes, by number.
    pub nodes: Vec<String>,
    /// Transmitting and receiving node of each link direction.
    pub directions: Vec<(u32, u32)>,
    /// The followed flows, in the run's order.
    pub flows: Vec<FlowSummary>,
    /// Width of a bin of time; bin `i` begins at `i` times it.
    pub bin: Span,
    /// Drops, marks and wire losses: link direction, bin, rule, packets; in this order, without zeros.
    pub incidents: Vec<(u32, u16, IncidentCause, u32)>,
    /// Content store hits: node, bin, Interests; in this order, without zeros.
    pub cache_hits: Vec<(u32, u16, u32)>,
    /// Changes by the scenario, in order of time.
    pub changes: Vec<NetworkChange>,
}

/// Outcome of a packet and the rule of the queue that caused it ("queue full", "codel"; empty for the wire).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IncidentCause {
    /// Fate of the packet.
    pub fate: PacketFate,
    /// The rule, as one word.
    pub cause: &'static str,
}

/// Summary of one followed flow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSummary {
    /// Number of the flow in the run.
    pub flow: u32,
    /// Segments of the flow over time, thinned.
    pub segments: SegmentPoints,
    /// Causes that slowed the flow down.
    pub history: CongestionHistory,
    /// Segments that arrived in each bin of time.
    pub arrivals: Vec<u32>,
    /// Of a TCP connection: the sequence number of the first byte, from which its segments count; `None` for NDN.
    pub first_sequence: Option<u32>,
}

impl EventSummary {
    /// A link direction by its ends: `r1 → r2`.
    pub fn direction_name(&self, direction: u32) -> String {
        let name = |node: u32| self.nodes.get(node as usize).map_or("?", String::as_str);
        match self.directions.get(direction as usize) {
            Some((from, to)) => format!("{} → {}", name(*from), name(*to)),
            None => "?".to_owned(),
        }
    }

    /// Number of packets with this fate in a link direction.
    pub fn count(&self, direction: u32, fate: PacketFate) -> u64 {
        let of = |(at, _, rule, count): &(u32, u16, IncidentCause, u32)| {
            (*at == direction && rule.fate == fate).then_some(u64::from(*count))
        };
        self.incidents.iter().filter_map(of).sum()
    }
}

/// Maximum number of packet-hops of a run that is watched.
const MAX_PACKET_HOPS: u64 = 20_000_000;
/// Maximum number of flows of a run that is watched.
const MAX_FLOWS_OF_ALL: usize = 10_000;

/// Sentence on why a run is too large to be watched; `None` if it is not. Watching repeats the run, which
/// takes too long for large ones.
pub fn too_large(record: &RunRecord) -> Option<String> {
    if record.packet_hops > MAX_PACKET_HOPS {
        Some(format!(
            "This run has {} packet-hops, more than the {} up to which a page is based on single packets.",
            text::count(record.packet_hops),
            text::count(MAX_PACKET_HOPS)
        ))
    } else if record.flows.len() > MAX_FLOWS_OF_ALL {
        Some(format!(
            "This run has {} flows, more than the {} up to which a page is based on single packets.",
            text::count(record.flows.len() as u64),
            text::count(MAX_FLOWS_OF_ALL as u64)
        ))
    } else {
        None
    }
}
