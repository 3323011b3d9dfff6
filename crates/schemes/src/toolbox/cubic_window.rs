//! CUBIC: the window follows a cubic curve of the time since the last decrease.
//!
//! Paper: RFC 8312 eq. 1, 2 and 4 with C = 0.4, in the form of ndnSIM 2.9 `ConsumerPcon` and ndn-tools
//! `PipelineInterestsCubic`: the curve is read at `t` and not one round trip ahead, and never shrinks the window.

use tidegate_core::units::{Span, Time};

use super::window_rule::WindowRule;

/// Steepness of the curve, packets/s³ (RFC 8312 §5).
const C: f64 = 0.4;

/// The numbers of one program's rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicRule {
    /// First window and floor of all, packets, at least 1.
    pub initial: f64,
    /// First slow-start threshold, packets.
    pub threshold: f64,
    /// Part of the window kept, 0..1 (beta).
    pub keep: f64,
    /// A loss below this part of the last plateau lowers the plateau; `None` turns fast convergence off.
    pub fast_convergence: Option<f64>,
    /// Whether the window keeps up with a standard TCP's (eq. 4).
    pub is_tcp_friendly: bool,
}

/// A CUBIC window.
#[derive(Clone, Debug)]
pub struct CubicWindow {
    rule: CubicRule,
    window: f64,
    threshold: f64,
    /// Where the curve is flat (`W_max`), packets; 0 before the first decrease.
    plateau: f64,
    last_peak: f64,
    /// Last decrease; the first growth above the threshold stands in for it.
    epoch: Option<Time>,
}

impl CubicWindow {
    /// A window at its initial size.
    pub fn new(rule: CubicRule) -> Self {
        let CubicRule { initial, threshold, .. } = rule;
        Self { rule, window: initial, threshold, plateau: 0.0, last_peak: 0.0, epoch: None }
    }

    /// Eq. 1 and 2.
    fn curve(&self, t: f64) -> f64 {
        let k = (self.plateau * (1.0 - self.rule.keep) / C).cbrt();
        C * (t - k).powi(3) + self.plateau
    }

    /// Eq. 4; zero without a round-trip time.
    fn standard_tcp(&self, t: f64, smoothed_rtt: Option<Span>) -> f64 {
        let keep = self.rule.keep;
        match smoothed_rtt.map(Span::as_secs_f64) {
            Some(rtt) if self.rule.is_tcp_friendly && rtt > 0.0 => {
                self.plateau * keep + 3.0 * (1.0 - keep) / (1.0 + keep) * (t / rtt)
            }
            _ => 0.0,
        }
    }

    fn plateau_after(&self, peak: f64) -> f64 {
        match self.rule.fast_convergence {
            Some(part) if peak < part * self.last_peak => peak * f64::midpoint(1.0, self.rule.keep),
            _ => peak,
        }
    }
}

impl WindowRule for CubicWindow {
    fn window(&self) -> f64 {
        self.window
    }

    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn increase(&mut self, now: Time, smoothed_rtt: Option<Span>) {
        if self.window < self.threshold {
            self.window += 1.0;
            return;
        }
        // A finite first threshold is reached without a loss: the window there is the plateau.
        if self.plateau < self.rule.initial {
            self.plateau = self.window;
        }
        let t = now.since(*self.epoch.get_or_insert(now)).as_secs_f64();
        let target = self.curve(t).max(self.standard_tcp(t, smoothed_rtt));
        self.window += (target - self.window).max(0.0) / self.window;
    }

    fn decrease(&mut self, now: Time) {
        self.plateau = self.plateau_after(self.window);
        self.last_peak = self.window;
        self.threshold = (self.window * self.rule.keep).max(self.rule.initial);
        self.window = self.threshold;
        self.epoch = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_closed_form_within_one_percent() {
        let rule = CubicRule {
            initial: 1.0,
            threshold: 0.0,
            keep: 0.8,
            fast_convergence: None,
            is_tcp_friendly: false,
        };
        let mut cubic = CubicWindow::new(rule);
        cubic.window = 1_000.0;
        cubic.decrease(Time::ZERO);
        // Wmax = 1000: K = cbrt(1000 * 0.2 / 0.4) = 7.937005 s. Round trips of 10 ms.
        let k = 7.937_005;
        for round in 1..=1_600u64 {
            let now = Time::ZERO + Span::from_millis(10 * round);
            for _ in 0..cubic.window as u32 {
                cubic.increase(now, None);
            }
            let closed_form = 0.4 * (now.as_secs_f64() - k).powi(3) + 1_000.0;
            let error = cubic.window / closed_form - 1.0;
            assert!(error.abs() < 0.01, "at {now}: {} against {closed_form}", cubic.window);
        }
        assert!(cubic.window > 1_200.0, "the run passes the plateau: {}", cubic.window);
    }
}
