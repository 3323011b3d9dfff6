//! BIC: binary search towards the window of the last loss, then a slow start beyond it.
//!
//! Paper: Xu, Harfoush & Rhee 2004, in the form of ndnSIM 2.9 `ConsumerPcon`, of which two quirks are kept:
//! the search target starts at zero, so the first step at [`LOW_WINDOW`] goes down by one packet at most;
//! a decrease from above leaves the threshold alone, so below [`LOW_WINDOW`] slow start may resume.

use tidegate_core::prelude::*;

use crate::toolbox::window::rule::WindowRule;

/// Window below which BIC is AIMD, packets.
pub const LOW_WINDOW: f64 = 14.0;
/// Maximum growth of the window per RTT, packets.
pub const MAX_INCREMENT: f64 = 16.0;
/// Closer to the maximum than this the search is over, packets.
const SEARCH_END: f64 = 1e-5;

/// Phase of the window between two losses.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SearchPhase {
    /// Between the last reduced window and the last maximum.
    Search,
    /// Beyond the maximum: the step doubles when the window reaches the target.
    Probe { step: f64, target: f64 },
}

/// A window that grows by binary search (BIC).
#[derive(Clone, Debug)]
pub struct BicWindow {
    initial: f64,
    keep: f64,
    slow_starts_at_threshold: bool,
    cwnd: f64,
    ssthresh: f64,
    maximum: f64,
    target: f64,
    phase: SearchPhase,
}

impl BicWindow {
    /// A window of `initial` packets (at least 1; also its minimum) that decreases to the fraction `keep`.
    pub fn new(initial: f64, keep: f64) -> Self {
        Self {
            initial,
            keep,
            slow_starts_at_threshold: false,
            cwnd: initial,
            ssthresh: f64::INFINITY,
            maximum: f64::INFINITY,
            target: 0.0,
            phase: SearchPhase::Search,
        }
    }

    /// The same window, except that one equal to the threshold still grows by a packet per Data (PCON's consumer).
    pub fn with_slow_start_at_threshold(self) -> Self {
        Self { slow_starts_at_threshold: true, ..self }
    }

    fn is_in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh || (self.slow_starts_at_threshold && self.cwnd == self.ssthresh)
    }

    fn search(&mut self) {
        // Divided by the window: Data packets of one RTT together add the step, at most `MAX_INCREMENT`
        // packets.
        self.cwnd += (self.target - self.cwnd).min(MAX_INCREMENT) / self.cwnd;
        if self.cwnd + SEARCH_END < self.maximum {
            self.target = f64::midpoint(self.maximum, self.cwnd);
        } else {
            // The path bore the old maximum without a loss, so there is no upper bound to search below until
            // the next loss.
            self.maximum = f64::INFINITY;
            self.phase = SearchPhase::Probe { step: 1.0, target: self.cwnd + 1.0 };
        }
    }

    fn probe(&mut self, step: f64, target: f64) {
        self.cwnd += step / self.cwnd;
        if self.cwnd < target {
            return;
        }
        let step = 2.0 * step;
        // Steps that reach the maximum increment cannot grow further; the search then adds that increment per
        // RTT, since the maximum is infinite.
        self.phase = if step < MAX_INCREMENT {
            SearchPhase::Probe { step, target: self.cwnd + step }
        } else {
            SearchPhase::Search
        };
    }

    fn shrink_above_low_window(&mut self) {
        let last_maximum = self.maximum;
        self.maximum = self.cwnd;
        self.cwnd *= self.keep;
        // Fast convergence: a maximum that falls means a newer flow, which gets more room.
        if last_maximum > self.maximum {
            self.maximum = f64::midpoint(self.maximum, self.cwnd);
        }
        self.target = f64::midpoint(self.maximum, self.cwnd);
    }
}

impl WindowRule for BicWindow {
    fn window(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn increase(&mut self, _: Time, _: Option<Span>) {
        match self.phase {
            // Below `LOW_WINDOW` BIC grows as Reno, so that it shares slow paths fairly.
            _ if self.cwnd < LOW_WINDOW && self.is_in_slow_start() => self.cwnd += 1.0,
            _ if self.cwnd < LOW_WINDOW => self.cwnd += 1.0 / self.cwnd,
            SearchPhase::Search => self.search(),
            SearchPhase::Probe { step, target } => self.probe(step, target),
        }
    }

    fn decrease(&mut self, _: Time) {
        if self.cwnd < LOW_WINDOW {
            self.ssthresh = self.cwnd * self.keep;
            self.cwnd = self.ssthresh;
        } else {
            self.shrink_above_low_window();
        }
        self.cwnd = self.cwnd.max(self.initial);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_old_maximum_the_step_doubles_up_to_eight() {
        let mut bic = BicWindow::new(20.0, 0.8);
        bic.decrease(Time::ZERO);
        // 16 is below the floor of 20, and beyond the lowered maximum (20 + 16)/2: one search step, then probing.
        let mut steps = Vec::new();
        for _ in 0..200 {
            let before = bic.cwnd;
            bic.increase(Time::ZERO, None);
            let step = ((bic.cwnd - before) * before).round();
            if steps.last() != Some(&step) {
                steps.push(step);
            }
        }
        // Back to the search with the stale target 17 of the first loss, then 16 per round trip without limit.
        assert_eq!(steps[1..5], [1.0, 2.0, 4.0, 8.0], "{steps:?}");
        assert!(steps[5] < 0.0 && steps[6..] == [16.0], "{steps:?}");
    }
}
