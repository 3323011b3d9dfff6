//! A window that grows as in TCP and decreases by the level of a mark, at most once per window of data and per period
//! of the marks.
//!
//! Source: ours; CoopCon and FleCom (Li et al. 2023) are described as changing the window by the level of congestion.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::conservative_window::ConservativeWindow;

/// Minimum of the congestion window, packets.
const MIN: f64 = 1.0;

/// A window that reacts to graded marks.
#[derive(Clone, Debug)]
pub struct GradedWindow {
    cwnd: f64,
    ssthresh: f64,
    gate: ConservativeWindow,
    pause: Span,
    /// Earliest time of the next decrease.
    open_from: Time,
}

impl GradedWindow {
    /// A window of `initial` packets, at least 1, in slow start, with `pause` or more between two decreases.
    pub fn new(initial: f64, pause: Span) -> Self {
        // One window of data between decreases, without the additional half RTT of ndnSIM.
        let gate = ConservativeWindow::new(true, 0.0);
        let window = initial.max(MIN);
        Self { cwnd: window, ssthresh: f64::INFINITY, gate, pause, open_from: Time::ZERO }
    }

    /// Congestion window of the consumer, packets.
    pub fn window(&self) -> f64 {
        self.cwnd
    }

    /// Slow-start threshold, packets; infinite before the first decrease.
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Grows for one unmarked Data: by a packet in slow start, by a packet per window above.
    pub fn increase(&mut self) {
        self.cwnd += if self.cwnd < self.ssthresh { 1.0 } else { 1.0 / self.cwnd };
    }

    /// Sets the window to `shrunk(window)`, unless it was decreased within the last window of data or within `pause`.
    pub fn decrease(&mut self, now: Time, flow: &FlowView, shrunk: impl FnOnce(f64) -> f64) {
        if now >= self.open_from && self.gate.admits(flow) {
            self.open_from = now + self.pause;
            self.cwnd = shrunk(self.cwnd).max(MIN);
            // Equal to the window, so that congestion avoidance follows and slow start does not.
            self.ssthresh = self.cwnd;
        }
    }
}
