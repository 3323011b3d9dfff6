//! The sender's part: requests any rate, and paces at the returned one.

use tidegate_core::prelude::*;
use crate::rcp::SHARED_RATE;
use crate::toolbox::rate::flow_rtt::{FLOW_RTT, micros};

/// Payload of a full segment over its bytes on the wire.
const PAYLOAD_PART: f64 = 1448.0 / 1514.0;
/// Requested rate of a sender: the maximum, so that only routers limit it.
const ANY: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Follower {
    initial_window: f64,
    /// Rate including headers; `None` before any router has reported one.
    rate: Option<BitRate>,
}

impl Follower {
    pub(super) fn new(initial_window: f64) -> Self {
        Self { initial_window, rate: None }
    }
}

impl CongestionController for Follower {
    fn window(&self) -> f64 {
        // With a rate, pacing alone limits the flow.
        if self.rate.is_some() { f64::INFINITY } else { self.initial_window }
    }

    fn pacing(&self) -> Pacing {
        let payload = |rate: BitRate| BitRate::from_bps((rate.as_bps() as f64 * PAYLOAD_PART) as u64);
        self.rate.map_or(Pacing::Unpaced, |rate| Pacing::Rate(payload(rate)))
    }

    fn on_open(&mut self, hop: &mut HopSignals) {
        hop.put(SHARED_RATE, ANY);
    }

    fn on_sent(&mut self, _: &mut Context<'_>, _: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        hop.put(SHARED_RATE, ANY);
        if let Some(rtt) = flow.smoothed_rtt {
            hop.put(FLOW_RTT, micros(rtt));
        }
    }

    fn on_feedback(&mut self, _: &mut Context<'_>, hop: &HopSignals, _: &FlowView) {
        // The requested maximum comes back unchanged from a path without a router of this scheme.
        if let Some(rate) = hop.get(SHARED_RATE).filter(|rate| *rate != ANY) {
            self.rate = Some(BitRate::from_bps(u64::from(rate.max(1)) * 1000));
        }
    }
}
