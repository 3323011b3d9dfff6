//! The sender's part: writes window and RTT on segments, and changes the window by the returned feedback.

use tidegate_core::prelude::*;

use super::gate::{from_zig_zag, to_zig_zag};
use super::SEGMENT;
use crate::toolbox::window::tcp::TcpWindow;
use crate::toolbox::rate::flow_rtt::{FLOW_RTT, micros};
use crate::xcp::{FLOW_WINDOW, WINDOW_FEEDBACK};

/// Part of the flight kept on a loss: as TCP (§3.2).
const KEEP: f64 = 0.5;
/// Requested feedback of a sender, bytes: the maximum.
const DESIRED: i32 = 1 << 24;
/// Maximum window on the wire, bytes.
const UPPER: f64 = u32::MAX as f64;

#[derive(Debug)]
pub(super) struct Xcp {
    window: TcpWindow,
}

impl Xcp {
    pub(super) fn new(initial_window: f64) -> Self {
        Self { window: TcpWindow::new(initial_window) }
    }
}

impl CongestionController for Xcp {
    fn window(&self) -> f64 {
        self.window.get()
    }

    fn on_sent(&mut self, _: &mut Context<'_>, _: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        // Without an RTT routers cannot compute feedback, so the first segments carry none.
        let Some(rtt) = flow.smoothed_rtt else { return };
        hop.put(FLOW_RTT, micros(rtt));
        hop.put(FLOW_WINDOW, (self.window.get() * SEGMENT).min(UPPER) as u32);
        hop.put(WINDOW_FEEDBACK, to_zig_zag(DESIRED));
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        let Some(feedback) = delivery.hop.get(WINDOW_FEEDBACK).map(from_zig_zag) else { return };
        let may_grow = self.window.counts(delivery).is_some();
        // No router has written feedback.
        if feedback == DESIRED {
            return;
        }
        // A decrease always applies; an increase not while the source limits the flow or a recovery is under
        // way.
        if feedback < 0 || may_grow {
            self.window.change(f64::from(feedback) / SEGMENT);
        }
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        self.window.on_recovery(cx.now, recovery, |flight| KEEP * flight);
    }
}
