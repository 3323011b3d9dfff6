//! A sender's smoothed RTT on its segments, by which routers weigh flows (RCP, XCP).

use tidegate_core::prelude::*;

/// Sender's smoothed RTT, microseconds.
pub const FLOW_RTT: Signal = Signal::new(952, Merge::Last);

/// `rtt` as [`FLOW_RTT`] carries it; saturates.
pub fn micros(rtt: Span) -> u32 {
    u32::try_from(rtt.as_nanos() / 1_000).unwrap_or(u32::MAX)
}
