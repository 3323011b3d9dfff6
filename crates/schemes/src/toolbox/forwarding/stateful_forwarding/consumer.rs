//! The consumer: one packet more per round trip, half on a Nack or timeout; it keeps a window, or a rate.

use tidegate_core::prelude::*;

use super::{Params, Sending};
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::once_per_flight::OncePerFlight;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::rule::WindowRule;

/// Lowest rate, Interests per second.
const SLOWEST: f64 = 1.0;
/// Highest rate, Interests per second: one per nanosecond.
const FASTEST: f64 = 1e9;

#[derive(Debug)]
pub(super) struct StatefulForwardingConsumer {
    rule: Adaptation,
    /// `None`: every loss counts.
    once: Option<OncePerFlight>,
}

/// Quantity that is adapted.
#[derive(Debug)]
enum Adaptation {
    Window(AimdWindow),
    Rate(AimdRate),
}

/// A rate of Interests that grows as fast as a window divided by the RTT.
#[derive(Debug)]
struct AimdRate {
    /// Sending rate, Interests per second.
    rate: f64,
    /// Slow-start threshold, Interests per second: below it each Data packet adds a whole step.
    ssthresh: f64,
    /// Packets per round trip.
    step: f64,
    keep: f64,
}

impl AimdRate {
    fn increase(&mut self, round_trip: Span) {
        let round_trip = round_trip.as_secs_f64().max(1e-9);
        let in_flight = (self.rate * round_trip).max(1.0);
        // A step per RTT is a step over the flight per Data packet; divided by the RTT it becomes a rate.
        let packets = if self.rate < self.ssthresh { self.step } else { self.step / in_flight };
        self.rate = (self.rate + packets / round_trip).min(FASTEST);
    }

    fn decrease(&mut self) {
        self.rate = (self.rate * self.keep).max(SLOWEST);
        self.ssthresh = self.rate;
    }
}

impl StatefulForwardingConsumer {
    pub(super) fn new(params: &Params, once: Option<OncePerFlight>) -> Self {
        let Params { increase: step, keep, slow_start, .. } = *params;
        let ssthresh = if slow_start { f64::INFINITY } else { 0.0 };
        let rule = match params.sending {
            Sending::Window => Adaptation::Window(AimdWindow::new(AimdRule {
                initial: params.initial_window,
                ssthresh,
                step,
                keep,
                min: 1.0,
                divides_by_whole_window: false,
                restarts: false,
            })),
            Sending::Rate => Adaptation::Rate(AimdRate { rate: params.initial_rate, ssthresh, step, keep }),
        };
        Self { rule, once }
    }
}

impl CongestionController for StatefulForwardingConsumer {
    fn window(&self) -> f64 {
        match &self.rule {
            Adaptation::Window(window) => window.window(),
            Adaptation::Rate(_) => f64::INFINITY,
        }
    }

    fn pacing(&self) -> Pacing {
        match &self.rule {
            Adaptation::Window(_) => Pacing::Unpaced,
            Adaptation::Rate(rule) => Pacing::Gap(Span::from_secs_f64(1.0 / rule.rate)),
        }
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, _: &Delivery, flow: &FlowView) {
        match &mut self.rule {
            Adaptation::Window(window) => window.increase(cx.now, flow.smoothed_rtt),
            Adaptation::Rate(rule) => {
                // Without an RTT a step in packets has no equivalent rate; the first sample follows with the
                // first Data.
                if let Some(round_trip) = flow.smoothed_rtt {
                    rule.increase(round_trip);
                }
            }
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if !is_congestion(loss.signal) {
            return;
        }
        if self.once.as_mut().is_some_and(|once| !once.admits(cx.now, loss.sent_at)) {
            return;
        }
        match &mut self.rule {
            Adaptation::Window(window) => window.decrease(cx.now),
            Adaptation::Rate(rule) => rule.decrease(),
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        match &self.rule {
            Adaptation::Window(window) => Some(window.ssthresh()),
            Adaptation::Rate(_) => None,
        }
    }
}
