//! CUBIC: the window follows a cubic curve of the time since the last reduction, and never falls behind Reno's.
//!
//! Paper: RFC 9438, with the slow start of RFC 9406 (HyStart++). Detection of losses and the course of a recovery are
//! core's (RFC 8985, RFC 9937); the window is in the toolbox, as other schemes use it too.

use tidegate_core::prelude::*;

use crate::toolbox::window::tcp_cubic::{TcpCubicRule, TcpCubicWindow};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-cubic",
    summary: "TCP CUBIC: a cubic window curve around the window of the last loss; keeps 0.7 of the flight after a loss",
    paper: "RFC 9438; RFC 9406 (HyStart++)",
    provenance: Provenance::Paper,
    deviations: &[
        "The curve is followed with each segment delivered, as in Linux; RFC 9438 §4.4 follows it with each ACK, so \
         that a receiver that delays ACKs halves the growth (`growth = \"per-ack\"`).",
        "In the Reno-friendly region the window never shrinks on an ACK; RFC 9438 §4.3 sets it to the estimate, which \
         may be slightly lower.",
        "A spurious recovery is undone in full, also after a timeout.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let ecn = if params.ecn { Ecn::Classic } else { Ecn::NotCapable };
        Ok(SenderRule { ecn, ..SenderRule::new(Box::new(Cubic(TcpCubicWindow::new(params.rule())))) })
    }),
    ..Scheme::NONE
};

choice! {
    /// Unit in which the window follows the curve.
    pub enum Growth {
        /// One step of the curve for each segment delivered.
        PerSegment = "per-segment",
        /// One step of the curve for each ACK, whatever it acknowledges (RFC 9438, section 4.4, literally).
        PerAck = "per-ack",
    }
}

params! {
    /// Initial congestion window (RFC 6928).
    initial_window: f64 = 10.0, "segments", 1.0..=10_000.0;
    /// Scaling factor of the cubic curve (C of RFC 9438 §5).
    c: f64 = 0.4, "segments/s³", 0.001..=1000.0;
    /// Multiplicative decrease factor: fraction of the flight kept after a loss (beta_cubic of RFC 9438 §4.6).
    beta: f64 = 0.7, "of the flight", 0.1..=0.99;
    /// Whether a loss below the last W_max lowers W_max further (fast convergence, RFC 9438 §4.7).
    fast_convergence: bool = true;
    /// Whether HyStart++ may end the first slow start before a loss (RFC 9406).
    hystart: bool = true;
    /// Maximum growth per ACK in slow start (L of RFC 9406 §4.3); one segment after a timeout.
    limit: f64 = 8.0, "segments", 1.0..=1_000_000.0;
    /// When the window follows the curve: `per-segment`, for each segment delivered; `per-ack`, once per ACK, whatever
    /// it acknowledges (RFC 9438 §4.4, literally).
    growth: Growth = Growth::PerSegment;
    /// Whether segments are ECN-capable; a mark is then handled like a loss, once per RTT (RFC 9438 §4.6).
    ecn: bool = false;
}

impl Params {
    fn rule(&self) -> TcpCubicRule {
        TcpCubicRule {
            initial: self.initial_window,
            c: self.c,
            beta: self.beta,
            fast_convergence: self.fast_convergence,
            hystart: self.hystart,
            limit: self.limit,
            per_ack: self.growth == Growth::PerAck,
        }
    }
}

#[derive(Debug)]
struct Cubic(TcpCubicWindow);

impl CongestionController for Cubic {
    fn window(&self) -> f64 {
        self.0.get()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.0.ssthresh())
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        self.0.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.0.on_delivery(cx.now, delivery, flow);
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        self.0.on_recovery(cx.now, recovery);
    }
}

#[cfg(test)]
mod tests;
