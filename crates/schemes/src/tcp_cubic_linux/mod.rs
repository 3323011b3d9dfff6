//! CUBIC as the Linux kernel has it: whole segments, a pace that is recomputed once per tick, the first HyStart.
//!
//! Paper: RFC 8312, in the form of Linux 6.x `tcp_cubic.c` (rules read, no line taken). It differs from RFC 9438 in
//! `beta` of 717/1024, the window in place of the flight, growth by a count of segments per segment of window, at least
//! 5 % per round trip before the first loss, and a slow start that ends by trains of ACKs or by delay.

use tidegate_core::prelude::*;

use crate::toolbox::window::tcp::{WindowChange, TcpWindow};
use curve::Curve;
use hystart::HyStart;

mod curve;
mod hystart;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-cubic-linux",
    summary: "TCP CUBIC by the rules of the Linux kernel, in whole segments",
    paper: "RFC 8312; Linux 6.x tcp_cubic.c",
    provenance: Provenance::Source,
    deviations: &[
        "The curve does not overflow after 340 s without a loss, as it does in the kernel's 64 bits.",
        "The window does not grow in slow start either while the application does not fill it; the kernel lets it grow \
         to twice the segments sent.",
        "After an idle period the window is reset to the initial window, whatever its length; the kernel halves it \
         once per timeout that elapsed.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let ecn = if params.ecn { Ecn::Classic } else { Ecn::NotCapable };
        Ok(SenderRule { ecn, ..SenderRule::new(Box::new(CubicLinux::new(&params))) })
    }),
    ..Scheme::NONE
};

params! {
    /// Initial congestion window (TCP_INIT_CWND).
    initial_window: u32 = 10, "segments", 1..=10_000;
    /// Ticks of the kernel's clock per second (HZ).
    ticks: u32 = 250, "1/s", 100..=1000;
    /// Whether a loss below the last W_max lowers W_max further (fast_convergence).
    fast_convergence: bool = true;
    /// Whether HyStart may end slow start before a loss (hystart).
    hystart: bool = true;
    /// Whether segments are ECN-capable; a mark is then handled like a loss, once per RTT.
    ecn: bool = false;
}

#[derive(Debug)]
struct CubicLinux {
    window: TcpWindow,
    curve: Curve,
    hystart: Option<HyStart>,
    /// Minimum RTT; `None` before the first sample and after a timeout.
    min_rtt: Option<Span>,
    /// Segments acknowledged towards the next segment of window (snd_cwnd_cnt).
    counted: u32,
    /// Departure time of the last segment.
    last_sent: Option<Time>,
}

impl CubicLinux {
    fn new(params: &Params) -> Self {
        Self {
            window: TcpWindow::new(f64::from(params.initial_window)),
            curve: Curve::new(params.ticks, params.fast_convergence),
            hystart: params.hystart.then(HyStart::default),
            min_rtt: None,
            counted: 0,
            last_sent: None,
        }
    }

    /// The congestion window in whole segments, rounded down.
    fn whole(&self) -> u32 {
        self.window.get() as u32
    }

    /// Processes an RTT sample (`cubictcp_acked`).
    fn sample(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        // Right after a recovery a round trip includes the queue of its burst.
        let Some(rtt) = delivery.rtt.filter(|_| !self.curve.is_young(now)) else { return };
        let min = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min);
        if !self.window.is_slow_start() {
            return;
        }
        let window = self.whole();
        let Some(hystart) = &mut self.hystart else { return };
        let round = (delivery.segment, flow.next_segment);
        if hystart.on_ack(now, round, rtt, min, (window, flow.smoothed_rtt)) {
            self.window.leave_slow_start();
        }
    }

    /// Increases the window by a segment for every `per_segment` acknowledged (`tcp_cong_avoid_ai`).
    fn step(&mut self, per_segment: u32, acked: u32) {
        let mut more = 0;
        // Credit of a slower pace, counted before the pace fell, is worth one segment only.
        if self.counted >= per_segment {
            (self.counted, more) = (0, 1);
        }
        self.counted += acked;
        more += self.counted / per_segment;
        self.counted %= per_segment;
        self.window.raise(self.window.get() + f64::from(more));
    }

    /// Window after a loss or a mark (`recalc_ssthresh`).
    fn reduced(&mut self) -> f64 {
        self.counted = 0;
        f64::from(self.curve.reduce(self.whole()))
    }
}

impl CongestionController for CubicLinux {
    fn window(&self) -> f64 {
        self.window.get()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        let last = self.last_sent.replace(sent.at);
        // Only the segment just sent is in flight, so the sender was idle; idle time is not time of the
        // curve.
        if let Some(last) = last.filter(|_| flow.in_flight <= 1) {
            self.curve.rest(sent.at, sent.at.since(last));
        }
        self.window.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.sample(cx.now, delivery, flow);
        let counted = self.window.counts(delivery);
        if self.window.admits_mark(cx.now, delivery) {
            let ssthresh = self.reduced();
            self.window.reduce_by_mark(cx.now, ssthresh);
        } else if let Some(acked) = counted {
            // Linux has no limit per ACK in slow start.
            let rest = self.window.slow_start(acked, f64::INFINITY) as u32;
            if rest > 0 {
                let min = self.min_rtt.unwrap_or_default();
                let per_segment = self.curve.per_segment(cx.now, self.whole(), rest, min);
                self.step(per_segment, rest);
            }
        }
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        // `reduced` changes the curve before the window reports whether the timeout counts, so it may have to
        // be undone.
        let (before, counted) = (self.curve, self.counted);
        let ssthresh = match recovery {
            // The recovery has reduced already (`tcp_enter_loss`).
            Recovery::Timeout { .. } if self.window.is_in_fast_recovery() => self.window.ssthresh(),
            Recovery::Enter { .. } | Recovery::Timeout { .. } => self.reduced(),
            Recovery::Exit | Recovery::Spurious => 0.0,
        };
        match self.window.on_recovery(cx.now, recovery, |_| ssthresh) {
            // Everything but the window is forgotten (`bictcp_reset`).
            WindowChange::TimedOut => {
                (self.curve, self.min_rtt) = (self.curve.forgotten(), None);
                self.hystart = self.hystart.take().map(|_| HyStart::default());
            }
            // A second timeout for the same segment.
            WindowChange::None if matches!(recovery, Recovery::Timeout { .. }) => {
                (self.curve, self.counted) = (before, counted);
            }
            WindowChange::None | WindowChange::Reduced | WindowChange::Restored => {}
        }
    }
}

#[cfg(test)]
mod tests;
