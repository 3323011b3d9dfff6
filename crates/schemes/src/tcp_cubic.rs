//! CUBIC: the window follows a cubic curve of the time since the last reduction, and never falls behind Reno's.
//!
//! Paper: RFC 9438, with the slow start of RFC 9406 (HyStart++). Detection of losses and the course of a recovery are
//! core's (RFC 8985, RFC 9937). [`toolbox::cubic_window`](crate::toolbox::cubic_window) is RFC 8312 in the forms of NDN
//! programs, without the estimate of Reno's window and without epochs that begin after the recovery, so it is not shared.

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Recovery, Sent};
use tidegate_core::context::Context;
use tidegate_core::packet::Ecn;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::signal::HopSignals;
use tidegate_core::tcp::SenderRule;
use tidegate_core::units::{Span, Time};
use tidegate_core::{choice, params};

use crate::toolbox::hystart_plus::{HyStartPlus, Pace};
use crate::toolbox::tcp_window::{Change, TcpWindow};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-cubic",
    summary: "TCP: a cubic curve around the window of the last loss, seven tenths of the flight on a loss",
    paper: "RFC 9438; RFC 9406 (HyStart++)",
    provenance: Provenance::Paper,
    deviations: &[
        "The curve is followed with each segment delivered, as Linux does; RFC 9438 §4.4 says with each ACK, so that a receiver that delays ACKs halves the pace (`growth = \"per-ack\"`).",
        "In the Reno-friendly region the window never shrinks on an ACK; RFC 9438 §4.3 sets it to the estimate, which may lie a little below.",
        "A recovery that was none is undone in full, also after a timeout.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let ecn = if params.ecn { Ecn::Classic } else { Ecn::NotCapable };
        Ok(SenderRule { ecn, ..SenderRule::new(Box::new(Cubic::new(params))) })
    }),
    ..Scheme::NONE
};

choice! {
    /// With what the curve is followed.
    pub enum Growth {
        /// A step for each segment delivered.
        PerSegment = "per-segment",
        /// A step for each ACK, however many segments it tells of (RFC 9438 §4.4, literally).
        PerAck = "per-ack",
    }
}

params! {
    /// First window (RFC 6928).
    initial_window: f64 = 10.0, "segments", 1.0..=10_000.0;
    /// Steepness of the curve (C of RFC 9438 §5).
    c: f64 = 0.4, "segments/s³", 0.001..=1000.0;
    /// Part of the flight kept on a loss (beta of RFC 9438 §4.6).
    beta: f64 = 0.7, "of the flight", 0.1..=0.99;
    /// Whether a loss below the last peak lowers the plateau (RFC 9438 §4.7).
    fast_convergence: bool = true;
    /// Whether the first slow start ends before a loss (RFC 9406).
    hystart: bool = true;
    /// Most growth per ACK in slow start (L of RFC 9406 §4.3); one segment after a timeout.
    limit: f64 = 8.0, "segments", 1.0..=1_000_000.0;
    /// With what the curve is followed.
    growth: Growth = Growth::PerSegment;
    /// Whether its segments may be marked; a mark then counts as a loss, once per round trip (RFC 9438 §4.6).
    ecn: bool = false;
}

/// One congestion avoidance (RFC 9438 §4.1.2).
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

/// What a reduction changes, so that it can be undone.
#[derive(Clone, Copy, Debug, Default)]
struct Memory {
    /// W_max, segments.
    plateau: f64,
    /// cwnd_prior, segments.
    prior: f64,
    /// Whether the next epoch begins flat: W_max is then the window it begins with, K is 0 (§4.8, §4.10).
    begins_flat: bool,
    /// `None` until congestion avoidance goes on.
    epoch: Option<Epoch>,
}

#[derive(Debug)]
struct Cubic {
    params: Params,
    window: TcpWindow,
    /// Until the first slow start is over.
    hystart: Option<HyStartPlus>,
    memory: Memory,
    before: Memory,
    /// The source or the receiver has been the limit since then.
    limited_since: Option<Time>,
}

impl Cubic {
    fn new(params: Params) -> Self {
        Self {
            window: TcpWindow::new(params.initial_window),
            hystart: params.hystart.then(HyStartPlus::default),
            memory: Memory { begins_flat: true, ..Memory::default() },
            before: Memory::default(),
            limited_since: None,
            params,
        }
    }

    /// §4.6, §4.7: what a loss or a mark makes of the peak.
    fn remember_peak(&mut self) {
        let peak = self.window.get();
        let (beta, memory) = (self.params.beta, &mut self.memory);
        let converges = self.params.fast_convergence && peak < memory.plateau;
        memory.plateau = if converges { peak * f64::midpoint(1.0, beta) } else { peak };
        (memory.prior, memory.begins_flat, memory.epoch) = (peak, false, None);
        self.hystart = None;
    }

    /// §4.8: the plateau will be the window at which congestion avoidance begins.
    fn remember_timeout(&mut self, peak: f64) {
        (self.memory.prior, self.memory.begins_flat, self.memory.epoch) = (peak, true, None);
        self.hystart = None;
    }

    /// Slow start, if it is that; what is left of `acked` for congestion avoidance.
    fn slow_start(&mut self, acked: f64, delivery: &Delivery, flow: &FlowView) -> f64 {
        if !self.window.is_slow_start() {
            return acked;
        }
        self.memory.epoch = None;
        let limit = self.params.limit;
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

    /// The epoch, begun now if none was.
    fn epoch(&mut self, now: Time) -> &mut Epoch {
        let Memory { plateau, begins_flat, epoch, .. } = &mut self.memory;
        let (window, c) = (self.window.get(), self.params.c);
        epoch.get_or_insert_with(|| {
            if std::mem::take(begins_flat) {
                *plateau = window;
            }
            let k = ((*plateau - window) / c).cbrt();
            Epoch { start: now, plateau: *plateau, k, standard: window }
        })
    }

    /// §4.2 to 4.5.
    fn avoid(&mut self, now: Time, rtt: Span, acked: f64) {
        let Params { c, beta, growth, .. } = self.params;
        let (window, prior) = (self.window.get(), self.memory.prior);
        let epoch = self.epoch(now);
        let t = now.since(epoch.start).as_secs_f64();
        let at = |t: f64| c * (t - epoch.k).powi(3) + epoch.plateau;
        let (curve, target) = (at(t), at(t + rtt.as_secs_f64()).clamp(window, 1.5 * window));
        let alpha = if epoch.standard < prior { 3.0 * (1.0 - beta) / (1.0 + beta) } else { 1.0 };
        epoch.standard += alpha * acked / window;
        let standard = epoch.standard;
        if curve < standard {
            self.window.raise(standard);
        } else {
            let steps = if growth == Growth::PerAck { 1.0 } else { acked };
            self.window.raise((window + (target - window) / window * steps).min(target));
        }
    }

    /// §4.2: the time that the source was the limit does not count.
    fn note_limit(&mut self, now: Time, is_limited: bool) {
        if is_limited {
            self.limited_since.get_or_insert(now);
        } else if let Some(since) = self.limited_since.take()
            && let Some(epoch) = &mut self.memory.epoch
        {
            epoch.start += now.since(since.max(epoch.start));
        }
    }
}

impl CongestionController for Cubic {
    fn window(&self) -> f64 {
        self.window.get()
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        Some(self.window.threshold())
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        self.window.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.note_limit(cx.now, delivery.is_source_limited);
        let counted = self.window.counts(delivery);
        if self.window.admits_mark(cx.now, delivery) {
            self.remember_peak();
            let flight = f64::from(delivery.in_flight_before).min(self.window.get());
            self.window.reduce_by_mark(cx.now, self.params.beta * flight);
        } else if let Some(acked) = counted {
            let rest = self.slow_start(acked, delivery, flow);
            if rest > 0.0 {
                self.avoid(cx.now, flow.smoothed_rtt.unwrap_or_default(), rest);
            }
        }
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        let (peak, beta, before) = (self.window.get(), self.params.beta, self.memory);
        if matches!(recovery, Recovery::Enter { .. }) {
            self.remember_peak();
        }
        match self.window.on_recovery(cx.now, recovery, |flight| beta * flight) {
            Change::Reduced => self.before = before,
            Change::TimedOut => {
                self.before = before;
                self.remember_timeout(peak);
            }
            Change::Restored => self.memory = self.before,
            Change::None => {}
        }
    }
}

#[cfg(test)]
mod tests;
