//! ndnSIM's congestion-controlled consumer around any window rule: marks and losses pass one gate.
//!
//! Paper: ndnSIM 2.9 `ConsumerPcon`. A marked Data never grows the window, whether marks count or not.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::rule::WindowRule;

/// Controller of ndnSIM's `ConsumerPcon`, around the window rule `R`.
#[derive(Debug)]
pub struct ConsumerPcon<R> {
    /// Growth and decrease of the window.
    pub rule: R,
    /// Limit of the frequency of decreases.
    pub gate: ConservativeWindow,
    /// Whether a marked Data packet decreases the window.
    pub reacts_to_marks: bool,
}

impl<R: WindowRule> ConsumerPcon<R> {
    fn decrease(&mut self, cx: &Context<'_>, flow: &FlowView) {
        if self.gate.admits(flow) {
            self.rule.decrease(cx.now);
        }
    }
}

impl<R: WindowRule> CongestionController for ConsumerPcon<R> {
    fn window(&self) -> f64 {
        self.rule.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if delivery.mark == 0 {
            self.rule.increase(cx.now, flow.smoothed_rtt);
        // ndnSIM only logs a mark it does not react to: such a Data packet does not increase the window
        // either.
        } else if self.reacts_to_marks {
            self.decrease(cx, flow);
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) {
            self.decrease(cx, flow);
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.rule.ssthresh())
    }
}
