//! CUBIC for a BRF sender that is granted nothing.

use tidegate_core::congestion::{Delivery, FlowView, Recovery};
use tidegate_core::units::Time;

use crate::toolbox::cubic_window::{CubicRule, CubicWindow, TcpFriendliness};
use crate::toolbox::window_rule::WindowRule;

/// First window, segments (RFC 6928).
pub(super) const INITIAL_WINDOW: f64 = 10.0;
/// Least window and threshold, segments.
const LEAST: f64 = 2.0;

/// A window in segments.
#[derive(Debug)]
pub(super) struct Fallback {
    window: CubicWindow,
    in_recovery: bool,
}

/// RFC 9438 §5, from `initial` segments on, in slow start below `threshold`.
fn rule(initial: f64, threshold: f64) -> CubicRule {
    CubicRule {
        initial,
        least: LEAST,
        least_threshold: LEAST,
        least_plateau: 0.0,
        threshold,
        keep: 0.7,
        fast_convergence: Some(1.0),
        friendliness: TcpFriendliness::Target,
        looks_ahead: true,
        may_shrink: false,
    }
}

impl Fallback {
    /// As a connection begins.
    pub(super) fn new() -> Self {
        Self { window: CubicWindow::new(rule(INITIAL_WINDOW, f64::INFINITY)), in_recovery: false }
    }

    /// Goes on from a window that the path is known to bear.
    pub(super) fn resume(window: f64) -> Self {
        let window = window.max(LEAST);
        Self { window: CubicWindow::new(rule(window, window)), in_recovery: false }
    }

    pub(super) fn window(&self) -> f64 {
        self.window.window()
    }

    pub(super) fn on_delivery(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        if self.in_recovery || delivery.is_source_limited {
            return;
        }
        for _ in 0..delivery.newly_acked + delivery.newly_sacked {
            self.window.increase(now, flow.smoothed_rtt);
        }
    }

    pub(super) fn on_recovery(&mut self, now: Time, recovery: Recovery) {
        match recovery {
            Recovery::Enter { .. } => {
                self.window.decrease(now);
                self.in_recovery = true;
            }
            Recovery::Timeout { .. } => {
                self.window.decrease(now);
                self.window = CubicWindow::new(rule(1.0, self.window.threshold()));
                self.in_recovery = false;
            }
            Recovery::Exit | Recovery::Spurious => self.in_recovery = false,
        }
    }
}
