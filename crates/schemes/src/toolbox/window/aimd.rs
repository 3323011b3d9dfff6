//! Additive increase, multiplicative decrease, with slow start below a threshold.
//!
//! Paper: Chiu & Jain 1989; RFC 5681, section 3.1; ndnSIM 2.9 `ConsumerPcon` and ndn-tools `PipelineInterestsAimd`.

use tidegate_core::prelude::*;

use crate::toolbox::window::rule::WindowRule;

/// Parameters of the rule of one program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimdRule {
    /// Initial window, packets, at least 1.
    pub initial: f64,
    /// Initial slow-start threshold, packets; 0 for no slow start, infinite for slow start until the first decrease.
    pub ssthresh: f64,
    /// Growth, packets per Data in slow start and per round trip above.
    pub step: f64,
    /// Fraction of the window after a decrease, 0..1.
    pub keep: f64,
    /// Window and threshold never shrink below this, packets, at least 1.
    pub min: f64,
    /// Whether the growth per Data is step / floor(window) instead of step / window (ndn-tools).
    pub divides_by_whole_window: bool,
    /// Whether a decrease resets the window to the initial one, with slow start up to the threshold (option of
    /// ndn-tools).
    pub restarts: bool,
}

/// A window with additive increase and multiplicative decrease.
#[derive(Clone, Debug)]
pub struct AimdWindow {
    rule: AimdRule,
    cwnd: f64,
    ssthresh: f64,
}

impl AimdWindow {
    /// A window at its initial size.
    pub fn new(rule: AimdRule) -> Self {
        Self { rule, cwnd: rule.initial, ssthresh: rule.ssthresh }
    }
}

impl WindowRule for AimdWindow {
    fn window(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn increase(&mut self, _: Time, _: Option<Span>) {
        self.cwnd += if self.cwnd < self.ssthresh {
            self.rule.step
        } else if self.rule.divides_by_whole_window {
            // The window is at least 1, so its floor is never 0.
            self.rule.step / self.cwnd.floor()
        } else {
            self.rule.step / self.cwnd
        };
    }

    fn decrease(&mut self, _: Time) {
        self.ssthresh = (self.cwnd * self.rule.keep).max(self.rule.min);
        // The threshold is computed first: slow start after a restart ends at the fraction of the window that
        // had the loss.
        self.cwnd = if self.rule.restarts { self.rule.initial } else { self.ssthresh };
    }
}
