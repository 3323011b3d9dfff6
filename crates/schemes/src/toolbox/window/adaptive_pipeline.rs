//! ndn-tools' adaptive pipeline around any window rule: one decrease per round trip, for marks and losses alike. With
//! `gate` absent and `ignores_marks` set it is that of ndnd, where every Data packet increases and every loss
//! decreases the window.
//!
//! Paper: ndn-tools `PipelineInterestsAdaptive`. A mark that the gate does not admit neither increases nor decreases
//! the window.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;
use crate::toolbox::window::rule::WindowRule;

/// Controller of ndn-tools' adaptive pipelines, around the window rule `R`.
#[derive(Debug)]
pub struct AdaptivePipeline<R> {
    /// Growth and decrease of the window.
    pub rule: R,
    /// Limit of the frequency of decreases; `None` for one at every mark and loss.
    pub gate: Option<OncePerRoundTrip>,
    /// Whether a marked Data counts as an unmarked one.
    pub ignores_marks: bool,
    /// Timeout of an Interest; `None` for that of the consumer profile's estimator.
    pub timer: Option<Span>,
}

impl<R: WindowRule> AdaptivePipeline<R> {
    fn decrease(&mut self, cx: &Context<'_>, segment: u32, flow: &FlowView) {
        if self.gate.as_mut().is_none_or(|gate| gate.admits(segment, flow)) {
            self.rule.decrease(cx.now);
        }
    }
}

impl<R: WindowRule> CongestionController for AdaptivePipeline<R> {
    fn window(&self) -> f64 {
        self.rule.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if delivery.mark == 0 || self.ignores_marks {
            self.rule.increase(cx.now, flow.smoothed_rtt);
        } else {
            // ndn-tools judges marks by the highest segment received, not by that of the marked Data, which
            // may be a late retransmission.
            self.decrease(cx, flow.highest_received, flow);
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) {
            self.decrease(cx, loss.segment, flow);
        }
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        self.timer
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.rule.ssthresh())
    }
}
