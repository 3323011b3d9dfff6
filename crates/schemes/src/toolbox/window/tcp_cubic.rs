//! The window of CUBIC over TCP: a cubic curve of the time since the last reduction, but at least the window of Reno.
//!
//! Paper: RFC 9438, with the slow start of RFC 9406 (HyStart++). [`cubic_window`](crate::toolbox::window::cubic) is
//! RFC 8312 in the forms of NDN programs, without the estimate of Reno's window and without epochs that begin after
//! the recovery.

use tidegate_core::math;
use tidegate_core::prelude::*;

use crate::toolbox::window::hystart_plus::{HyStartPlus, Pace};
use crate::toolbox::window::tcp::{TcpWindow, WindowChange};

/// Parameters of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpCubicRule {
    /// Initial window, segments (RFC 6928).
    pub initial: f64,
    /// Steepness of the curve, segments/s³ (C of RFC 9438, section 5).
    pub c: f64,
    /// Multiplicative decrease factor, 0..1 (RFC 9438, section 4.6).
    pub beta: f64,
    /// Whether a loss at a window below W_max lowers W_max further (RFC 9438, section 4.7).
    pub fast_convergence: bool,
    /// Whether the first slow start ends before a loss (RFC 9406).
    pub hystart: bool,
    /// Maximum growth per ACK in slow start, segments (L of RFC 9406, section 4.3); one segment after a timeout.
    pub limit: f64,
    /// Whether the window takes a step towards the curve for each ACK (RFC 9438, section 4.4, literally), not for each
    /// segment delivered.
    pub per_ack: bool,
}

impl TcpCubicRule {
    /// Parameters of RFC 9438 and RFC 9406.
    pub const RFC_9438: Self = Self {
        initial: 10.0,
        c: 0.4,
        beta: 0.7,
        fast_convergence: true,
        hystart: true,
        limit: 8.0,
        per_ack: false,
    };
}

/// State of one congestion-avoidance epoch (RFC 9438, section 4.1.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// t_epoch; moved on by the time that the source was the limit.
    start: Time,
    /// W_max: window at the curve's plateau, segments.
    w_max: f64,
    /// K, seconds; negative if the epoch begins above W_max.
    k: f64,
    /// W_est: estimate of Reno's window, segments.
    w_est: f64,
}

impl Epoch {
    /// W_cubic(t), segments, `t` seconds after the start of the epoch (RFC 9438 eq. 1).
    fn w_cubic(&self, c: f64, t: f64) -> f64 {
        c * math::cube(t - self.k) + self.w_max
    }
}

/// K, seconds: the time in which the curve gets from `cwnd_epoch` to `w_max` (RFC 9438 eq. 2).
fn k(c: f64, w_max: f64, cwnd_epoch: f64) -> f64 {
    math::cbrt((w_max - cwnd_epoch) / c)
}

/// State before a reduction, so that it can be undone.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// W_max after the last reduction, segments.
    w_max: f64,
    /// Window before the last reduction, segments.
    cwnd_prior: f64,
    /// Whether the next epoch begins flat: W_max is then the window it begins with, K is 0 (§4.8, §4.10).
    begins_flat: bool,
    /// Present epoch; `None` outside congestion avoidance.
    epoch: Option<Epoch>,
}

/// Window of one sender.
#[derive(Clone, Debug)]
pub struct TcpCubicWindow {
    rule: TcpCubicRule,
    window: TcpWindow,
    /// HyStart++ of the first slow start; `None` after it.
    hystart: Option<HyStartPlus>,
    memory: Memory,
    before: Memory,
    /// Start of the time in which the source or the receiver is the limit; `None` while the network is.
    limited_since: Option<Time>,
}

impl TcpCubicWindow {
    /// State at the start of a connection.
    pub fn new(rule: TcpCubicRule) -> Self {
        Self {
            window: TcpWindow::new(rule.initial),
            hystart: rule.hystart.then(HyStartPlus::default),
            memory: Memory { begins_flat: true, ..Memory::default() },
            before: Memory::default(),
            limited_since: None,
            rule,
        }
    }

    /// A window that continues in congestion avoidance with `window` segments, which the path is known to carry: the
    /// curve begins flat there.
    pub fn resume(rule: TcpCubicRule, window: f64) -> Self {
        let mut resumed = Self { hystart: None, ..Self::new(rule) };
        resumed.window.change(window - rule.initial);
        resumed.window.leave_slow_start();
        resumed.memory.cwnd_prior = resumed.window.get();
        resumed
    }

    /// Congestion window of the sender, segments.
    pub fn get(&self) -> f64 {
        self.window.get()
    }

    /// Slow-start threshold, segments; infinite before slow start has ended.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    /// Records that a segment leaves, for HyStart's rounds.
    pub fn on_sent(&mut self, sent: &Sent, flow: &FlowView) {
        self.window.on_sent(sent, flow);
    }

    /// Handles an ACK that arrives at `now`.
    pub fn on_delivery(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        self.note_limit(now, delivery.is_source_limited);
        // `counts` also ends a run of timeouts, so every ACK passes it, even one whose mark reduces the
        // window.
        let counted = self.window.counts(delivery);
        if self.window.admits_mark(now, delivery) {
            self.on_reduction();
            let flight = f64::from(delivery.in_flight_before).min(self.window.get());
            self.window.reduce_by_mark(now, self.rule.beta * flight);
        } else if let Some(acked) = counted {
            let rest = self.slow_start(acked, delivery, flow);
            if rest > 0.0 {
                self.avoid(now, flow.smoothed_rtt.unwrap_or_default(), rest);
            }
        }
    }

    /// Applies a change of the recovery state at `now`.
    pub fn on_recovery(&mut self, now: Time, recovery: Recovery) {
        // Taken before the reduction: an undo restores the W_max and the epoch of this moment (RFC 9438,
        // section 4.9).
        let (cwnd, beta, before) = (self.window.get(), self.rule.beta, self.memory);
        if matches!(recovery, Recovery::Enter { .. }) {
            self.on_reduction();
        }
        match self.window.on_recovery(now, recovery, |flight| beta * flight) {
            WindowChange::Reduced => self.before = before,
            WindowChange::TimedOut => {
                self.before = before;
                self.on_timeout(cwnd);
            }
            WindowChange::Restored => self.memory = self.before,
            WindowChange::None => {}
        }
    }

    /// Sets W_max and cwnd_prior after a loss or a mark (§4.6, §4.7).
    fn on_reduction(&mut self) {
        let cwnd = self.window.get();
        let (beta, memory) = (self.rule.beta, &mut self.memory);
        // A window below W_max means that a newer flow took capacity; W_max falls below the window to release
        // more of it.
        let converges = self.rule.fast_convergence && cwnd < memory.w_max;
        memory.w_max = if converges { cwnd * f64::midpoint(1.0, beta) } else { cwnd };
        (memory.cwnd_prior, memory.begins_flat, memory.epoch) = (cwnd, false, None);
        self.hystart = None;
    }

    /// After a timeout W_max will be the window at which congestion avoidance begins (§4.8).
    fn on_timeout(&mut self, cwnd: f64) {
        (self.memory.cwnd_prior, self.memory.begins_flat, self.memory.epoch) = (cwnd, true, None);
        self.hystart = None;
    }

    /// Slow start, if the window is below the threshold. Returns the segments of `acked` that are left for congestion
    /// avoidance.
    fn slow_start(&mut self, acked: f64, delivery: &Delivery, flow: &FlowView) -> f64 {
        if !self.window.is_slow_start() {
            return acked;
        }
        self.memory.epoch = None;
        let limit = self.rule.limit;
        // Only the first slow start lacks a threshold that a loss has found, so HyStart++ serves that one
        // alone (RFC 9406, section 4.3).
        let Some(hystart) = &mut self.hystart else { return self.window.slow_start(acked, limit) };
        match hystart.on_ack(delivery.segment, flow.next_segment, delivery.rtt) {
            Pace::Part(part) => {
                self.window.slow_start(acked.min(limit) * part, limit);
            }
            Pace::Over => {
                self.window.leave_slow_start();
                (self.memory.cwnd_prior, self.hystart) = (self.window.get(), None);
            }
        }
        0.0
    }

    /// Returns the current epoch; one that begins now if there was none.
    fn epoch(&mut self, now: Time) -> &mut Epoch {
        let Memory { w_max, begins_flat, epoch, .. } = &mut self.memory;
        let (cwnd, c) = (self.window.get(), self.rule.c);
        epoch.get_or_insert_with(|| {
            if std::mem::take(begins_flat) {
                *w_max = cwnd;
            }
            // A window above W_max gives a negative K: the curve has then passed W_max and is convex from the
            // start.
            Epoch { start: now, w_max: *w_max, k: k(c, *w_max, cwnd), w_est: cwnd }
        })
    }

    /// Congestion avoidance: W_cubic is followed while it is at least W_est, else the window is W_est (RFC 9438,
    /// section 4.2).
    fn avoid(&mut self, now: Time, rtt: Span, acked: f64) {
        let (c, cwnd) = (self.rule.c, self.window.get());
        let epoch = *self.epoch(now);
        let t = now.since(epoch.start).as_secs_f64();
        let w_est = self.w_est(acked);
        if epoch.w_cubic(c, t) < w_est {
            self.window.raise(w_est);
        } else {
            // The window set now acts one RTT later, so the target is the curve there (§4.2).
            let target = epoch.w_cubic(c, t + rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
            // RFC 9438, section 4.4, steps once per ACK; with an ACK for every second segment that halves the
            // growth.
            let steps = if self.rule.per_ack { 1.0 } else { acked };
            self.window.raise((cwnd + (target - cwnd) / cwnd * steps).min(target));
        }
    }

    /// Raises W_est, the window that Reno would have in this epoch, by `acked` segments and returns it (RFC 9438
    /// eq. 4).
    fn w_est(&mut self, acked: f64) -> f64 {
        let (beta, cwnd, cwnd_prior) = (self.rule.beta, self.window.get(), self.memory.cwnd_prior);
        let Some(epoch) = &mut self.memory.epoch else { return cwnd };
        // Once W_est has regained cwnd_prior it grows as the window of Reno does, a segment per RTT (RFC
        // 9438, section 4.3).
        let alpha = if epoch.w_est < cwnd_prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        epoch.w_est
    }

    /// Excludes the time in which the source was the limit from the epoch (§4.2).
    fn note_limit(&mut self, now: Time, is_limited: bool) {
        if is_limited {
            self.limited_since.get_or_insert(now);
        } else if let Some(since) = self.limited_since.take()
            && let Some(epoch) = &mut self.memory.epoch
        {
            // An epoch that began during the limited time is moved only by its own share of it.
            epoch.start += now.since(since.max(epoch.start));
        }
    }
}
