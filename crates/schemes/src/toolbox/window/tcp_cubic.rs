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
    /// Whether a loss below the last peak lowers the plateau (RFC 9438, section 4.7).
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
    pub const STANDARD: Self = Self {
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
    /// W_max, segments.
    plateau: f64,
    /// K, seconds; below zero where the plateau lies below the window.
    k: f64,
    /// W_est, segments.
    standard: f64,
}

/// State before a reduction, so that it can be undone.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// W_max, segments.
    plateau: f64,
    /// cwnd_prior, segments.
    prior: f64,
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
        resumed.memory.prior = resumed.window.get();
        resumed
    }

    /// Congestion window of the sender, segments.
    pub fn get(&self) -> f64 {
        self.window.get()
    }

    /// Slow-start threshold, segments; infinite before slow start has ended.
    pub fn threshold(&self) -> f64 {
        self.window.threshold()
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
            self.remember_peak();
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
        let (peak, beta, before) = (self.window.get(), self.rule.beta, self.memory);
        if matches!(recovery, Recovery::Enter { .. }) {
            self.remember_peak();
        }
        match self.window.on_recovery(now, recovery, |flight| beta * flight) {
            WindowChange::Reduced => self.before = before,
            WindowChange::TimedOut => {
                self.before = before;
                self.remember_timeout(peak);
            }
            WindowChange::Restored => self.memory = self.before,
            WindowChange::None => {}
        }
    }

    /// Sets W_max and cwnd_prior after a loss or a mark (§4.6, §4.7).
    fn remember_peak(&mut self) {
        let peak = self.window.get();
        let (beta, memory) = (self.rule.beta, &mut self.memory);
        // A peak below W_max means that a newer flow took capacity; W_max falls below the peak to release
        // more of it.
        let converges = self.rule.fast_convergence && peak < memory.plateau;
        memory.plateau = if converges { peak * f64::midpoint(1.0, beta) } else { peak };
        (memory.prior, memory.begins_flat, memory.epoch) = (peak, false, None);
        self.hystart = None;
    }

    /// After a timeout W_max will be the window at which congestion avoidance begins (§4.8).
    fn remember_timeout(&mut self, peak: f64) {
        (self.memory.prior, self.memory.begins_flat, self.memory.epoch) = (peak, true, None);
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
                (self.memory.prior, self.hystart) = (self.window.get(), None);
            }
        }
        0.0
    }

    /// Returns the current epoch; one that begins now if there was none.
    fn epoch(&mut self, now: Time) -> &mut Epoch {
        let Memory { plateau, begins_flat, epoch, .. } = &mut self.memory;
        let (window, c) = (self.window.get(), self.rule.c);
        epoch.get_or_insert_with(|| {
            if std::mem::take(begins_flat) {
                *plateau = window;
            }
            // A window above W_max gives a negative K: the curve is then past its plateau and convex from the
            // start.
            let k = math::cbrt((*plateau - window) / c);
            Epoch { start: now, plateau: *plateau, k, standard: window }
        })
    }

    /// Congestion avoidance (§4.2 to 4.5).
    fn avoid(&mut self, now: Time, rtt: Span, acked: f64) {
        let TcpCubicRule { c, beta, per_ack, .. } = self.rule;
        let (window, prior) = (self.window.get(), self.memory.prior);
        let epoch = self.epoch(now);
        let t = now.since(epoch.start).as_secs_f64();
        // Compared now (`curve`), but followed one RTT ahead (`target`): the window set now acts one RTT
        // later.
        let at = |t: f64| c * math::cube(t - epoch.k) + epoch.plateau;
        let (curve, target) = (at(t), at(t + rtt.as_secs_f64()).clamp(window, 1.5 * window));
        // Once W_est has regained cwnd_prior it grows as the window of Reno does, a segment per RTT (RFC
        // 9438, section 4.3).
        let alpha = if epoch.standard < prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.standard += alpha * acked / window;
        let standard = epoch.standard;
        if curve < standard {
            self.window.raise(standard);
        } else {
            // RFC 9438, section 4.4, steps once per ACK; with an ACK for every second segment that halves the
            // growth.
            let steps = if per_ack { 1.0 } else { acked };
            self.window.raise((window + (target - window) / window * steps).min(target));
        }
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
