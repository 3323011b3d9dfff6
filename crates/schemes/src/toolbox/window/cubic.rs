//! CUBIC: the window follows a cubic curve of the time since the last decrease.
//!
//! Paper: RFC 8312 eq. 1, 2 and 4 with C = 0.4, in the forms of ndnSIM 2.9 `ConsumerPcon`, ndn-tools
//! `PipelineInterestsCubic`, NDNts `TcpCubic` and ndnd `CUBICCongestionWindow`.

use tidegate_core::math;
use tidegate_core::prelude::*;

use crate::toolbox::window::rule::WindowRule;

/// Steepness of the curve, packets/s³ (RFC 8312, section 5).
const C: f64 = 0.4;

/// Effect of W_est, the estimate of Reno's window (eq. 4), on this window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpFriendliness {
    /// W_est is not computed.
    Off,
    /// The higher of W_est and W_cubic is the target.
    Target,
    /// The window is W_est while that is above W_cubic, even if that decreases the window (NDNts).
    Jump,
}

/// Parameters of the rule of one program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicRule {
    /// Initial window, packets, at least 1.
    pub initial: f64,
    /// Minimum congestion window, packets; consumers are given at least 1 in any case.
    pub min: f64,
    /// The slow-start threshold never shrinks below this, packets.
    pub min_ssthresh: f64,
    /// Minimum W_max, packets: at the next growth above the threshold the window replaces a lower one.
    pub min_w_max: f64,
    /// Initial slow-start threshold, packets.
    pub ssthresh: f64,
    /// Fraction of the window after a decrease, 0..1 (beta).
    pub keep: f64,
    /// A loss below this fraction of the last W_max lowers W_max further; `None` disables fast convergence.
    pub fast_convergence: Option<f64>,
    /// TCP-friendly region, if any.
    pub friendliness: TcpFriendliness,
    /// Whether the curve is read one round trip ahead (RFC 8312, section 4.1).
    pub looks_ahead: bool,
    /// Whether a curve below the window decreases it (NDNts); otherwise the window stays until the curve has reached
    /// it.
    pub may_shrink: bool,
}

impl CubicRule {
    /// The form that ndnSIM and ndn-tools share: `initial` is the floor of everything; no option is on.
    pub fn with_floor(initial: f64, keep: f64) -> Self {
        Self {
            initial,
            min: initial,
            min_ssthresh: initial,
            min_w_max: initial,
            ssthresh: f64::INFINITY,
            keep,
            fast_convergence: None,
            friendliness: TcpFriendliness::Off,
            looks_ahead: false,
            may_shrink: false,
        }
    }
}

/// A window that grows by CUBIC's curve.
#[derive(Clone, Debug)]
pub struct CubicWindow {
    rule: CubicRule,
    cwnd: f64,
    ssthresh: f64,
    /// W_max, packets; 0 before the first decrease.
    w_max: f64,
    /// K, seconds: the time in which the curve reaches W_max again (eq. 2).
    k: f64,
    /// Window at the last decrease, packets.
    last_cwnd: f64,
    /// Time of the last decrease, or of the first growth above the threshold.
    epoch: Option<Time>,
}

impl CubicWindow {
    /// A window at its initial size.
    pub fn new(rule: CubicRule) -> Self {
        let CubicRule { initial, ssthresh, .. } = rule;
        Self { rule, cwnd: initial, ssthresh, w_max: 0.0, k: 0.0, last_cwnd: 0.0, epoch: None }
    }

    fn set_w_max(&mut self, w_max: f64) {
        self.w_max = w_max;
        self.k = math::cbrt(w_max * (1.0 - self.rule.keep) / C);
    }

    /// W_cubic(t), packets, `t` seconds after the decrease (eq. 1): concave before K, convex after it.
    fn w_cubic(&self, t: f64) -> f64 {
        C * math::cube(t - self.k) + self.w_max
    }

    /// W_est(t), packets: the window of Reno (eq. 4); zero without an RTT sample.
    fn w_est(&self, t: f64, rtt: f64) -> f64 {
        let keep = self.rule.keep;
        if self.rule.friendliness == TcpFriendliness::Off || rtt <= 0.0 {
            return 0.0;
        }
        // The increase per RTT with which Reno has the same mean window at this decrease factor (RFC 8312,
        // section 4.2).
        self.w_max * keep + 3.0 * (1.0 - keep) / (1.0 + keep) * (t / rtt)
    }

    /// W_max after a decrease from the window `cwnd`, packets (RFC 8312, section 4.6).
    fn w_max_after(&self, cwnd: f64) -> f64 {
        match self.rule.fast_convergence {
            Some(part) if cwnd < part * self.last_cwnd => cwnd * f64::midpoint(1.0, self.rule.keep),
            _ => cwnd,
        }
    }
}

impl WindowRule for CubicWindow {
    fn window(&self) -> f64 {
        // NDNts has no floor: several decreases bring the window below 1, while a consumer relies on at least
        // one packet.
        self.cwnd.max(1.0)
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn increase(&mut self, now: Time, rtt: Option<Span>) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
            return;
        }
        // A finite first threshold is reached without a loss: the window there is W_max.
        if self.epoch.is_none() || self.w_max < self.rule.min_w_max {
            self.set_w_max(self.cwnd);
        }
        // Without a loss so far the epoch begins with the first growth above the threshold, not at the start
        // of the flow.
        let t = now.since(*self.epoch.get_or_insert(now)).as_secs_f64();
        let rtt = rtt.map_or(0.0, Span::as_secs_f64);
        let w_cubic = self.w_cubic(if self.rule.looks_ahead { t + rtt } else { t });
        let w_est = self.w_est(t, rtt);
        if self.rule.friendliness == TcpFriendliness::Jump && w_est > w_cubic {
            self.cwnd = w_est;
            return;
        }
        // After a decrease with fast convergence, or with a floor above the curve, the curve lies below the
        // window for a while.
        let min = if self.rule.may_shrink { f64::NEG_INFINITY } else { 0.0 };
        self.cwnd += (w_cubic.max(w_est) - self.cwnd).max(min) / self.cwnd;
    }

    fn decrease(&mut self, now: Time) {
        self.set_w_max(self.w_max_after(self.cwnd));
        // The window, not the lowered W_max: the next loss is compared with what this flow really reached.
        self.last_cwnd = self.cwnd;
        let kept = self.cwnd * self.rule.keep;
        self.ssthresh = kept.max(self.rule.min_ssthresh);
        self.cwnd = kept.max(self.rule.min);
        self.epoch = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_closed_form_within_one_percent() {
        let rule = CubicRule { ssthresh: 0.0, ..CubicRule::with_floor(1.0, 0.8) };
        let mut cubic = CubicWindow::new(rule);
        cubic.cwnd = 1_000.0;
        cubic.decrease(Time::ZERO);
        // Wmax = 1000: K = cbrt(1000 * 0.2 / 0.4) = 7.937005 s. Round trips of 10 ms.
        let k = 7.937_005;
        for round in 1..=1_600u64 {
            let now = Time::ZERO + Span::from_millis(10 * round);
            for _ in 0..cubic.cwnd as u32 {
                cubic.increase(now, None);
            }
            let closed_form = 0.4 * (now.as_secs_f64() - k).powi(3) + 1_000.0;
            let error = cubic.cwnd / closed_form - 1.0;
            assert!(error.abs() < 0.01, "at {now}: {} against {closed_form}", cubic.cwnd);
        }
        assert!(cubic.cwnd > 1_200.0, "the run passes W_max: {}", cubic.cwnd);
    }
}
