//! DCTCP: the window decreases in proportion to the fraction of its segments that was marked.
//!
//! Paper: RFC 8257 (§3.2 receiver, which is core's; §3.3 sender; §3.5 loss); growth is Reno's (RFC 5681, 3465).

use tidegate_core::prelude::*;
use tidegate_core::tcp::EcnEcho;

use crate::toolbox::window::tcp::TcpWindow;

/// Part of the flight kept on a loss (§3.5).
const KEEP: f64 = 0.5;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-dctcp",
    summary: "TCP: the window shrinks in proportion to the fraction of its segments that were marked",
    paper: "RFC 8257; RFC 5681, 3465",
    provenance: Provenance::Paper,
    deviations: &[
        "Segments are counted instead of bytes, when they are delivered; RFC 8257 §3.3 counts bytes acknowledged \
         cumulatively.",
        "SYN and ACK segments are not ECN-capable; RFC 8257 §3.6 leaves this open.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let ecn = if params.low_latency { Ecn::LowLatency } else { Ecn::Classic };
        let controller = Box::new(Dctcp::new(params));
        Ok(SenderRule { ecn, echo: EcnEcho::Exact, ..SenderRule::new(controller) })
    }),
    whole: Whole {
        with: &[Companion { role: Role::Discipline, scheme: "step-ecn" }],
        needs: &[
            Need::of(Role::Sender, Counterpart::Marks, "it reacts to losses alone"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Initial congestion window (RFC 6928).
    initial_window: f64 = 10.0, "segments", 1.0..=10_000.0;
    /// Weight of the latest window in the estimate of the marked fraction (g of RFC 8257 §3.3).
    gain: f64 = 0.0625, "of the estimate", 0.001..=1.0;
    /// Initial estimate of the marked fraction (DCTCP.Alpha, §3.3).
    initial_alpha: f64 = 1.0, "of the segments", 0.0..=1.0;
    /// Maximum growth per ACK in slow start (L of RFC 3465); one segment after a timeout.
    limit: f64 = 2.0, "segments", 1.0..=1_000_000.0;
    /// Whether segments carry ECT(1), which low-latency queues such as dualpi2 serve (RFC 9331), instead of the ECT(0)
    /// of RFC 8257.
    low_latency: bool = false;
}

#[derive(Debug)]
struct Dctcp {
    params: Params,
    window: TcpWindow,
    alpha: f64,
    /// Segments delivered in this observation window, and those of them acknowledged with a mark.
    delivered: u32,
    marked: u32,
    /// Segment whose delivery ends the observation window (DCTCP.WindowEnd).
    window_end: u32,
}

impl Dctcp {
    fn new(params: Params) -> Self {
        let (window, alpha) = (TcpWindow::new(params.initial_window), params.initial_alpha);
        Self { params, window, alpha, delivered: 0, marked: 0, window_end: 0 }
    }

    /// Updates the estimate of the marked fraction (§3.3, steps 1 to 8).
    fn observe(&mut self, delivery: &Delivery, flow: &FlowView) {
        let delivered = delivery.newly_acked + delivery.newly_sacked;
        self.delivered += delivered;
        if delivery.mark > 0 {
            self.marked += delivered;
        }
        // Within the observation window of about one RTT the estimate must not change; an ACK that delivers
        // nothing has no fraction to offer.
        if delivery.segment < self.window_end || self.delivered == 0 {
            return;
        }
        let part = f64::from(self.marked) / f64::from(self.delivered);
        self.alpha += self.params.gain * (part - self.alpha);
        (self.delivered, self.marked, self.window_end) = (0, 0, flow.next_segment);
    }
}

impl CongestionController for Dctcp {
    fn window(&self) -> f64 {
        self.window.get()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        self.window.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        // First: step 9 uses the estimate that includes this ACK.
        self.observe(delivery, flow);
        let counted = self.window.counts(delivery);
        if self.window.admits_mark(cx.now, delivery) {
            // Step 9 reduces the window, not the flight.
            self.window.reduce_by_mark(cx.now, self.window.get() * (1.0 - self.alpha / 2.0));
        } else if let Some(acked) = counted {
            let rest = self.window.slow_start(acked, self.params.limit);
            self.window.avoid(rest);
        }
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        self.window.on_recovery(cx.now, recovery, |flight| KEEP * flight);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_testkit::ack_driver::{Ack, AckDriver};
    use tidegate_testkit::dumbbell::setup::rule;

    const MARKED: Ack = Ack { segments: 1, rtt_ms: 40, is_marked: true, is_source_limited: false };

    #[test]
    fn the_estimate_takes_a_sixteenth_of_each_window_and_cuts_by_half_of_it() {
        let mut dctcp = AckDriver::new(&SCHEME, &[]);
        // The first ACK ends the empty first window: alpha = 1 - 1/16 = 0.9375; ten more fill the next one.
        assert_eq!(dctcp.ack(50, Ack::of(1)), 11.0);
        for _ in 0..10 {
            dctcp.ack(60, Ack::of(1));
        }
        // The next is segment 11, the first that left after the window began, of which one in eleven is marked:
        // alpha = 0.9375 + (1/11 - 0.9375) / 16 = 0.884588; 21 (1 - 0.442294) = 11.711825.
        let window = dctcp.ack(100, MARKED);
        assert!((window - 11.711_825).abs() < 1e-6, "{window}");
        // What was in flight was sent before: its marks count, but do not cut again.
        assert_eq!(dctcp.ack(110, MARKED), window);
    }

    #[test]
    fn without_marks_it_is_reno() {
        let mut dctcp = AckDriver::new(&SCHEME, &[("initial_window", Setting::Number(20.0))]);
        assert_eq!(dctcp.recovery(10, Recovery::Enter { flight: 20 }), 10.0);
        dctcp.recovery(20, Recovery::Exit);
        assert_eq!(dctcp.ack(30, Ack::of(9)), 10.0);
        assert_eq!(dctcp.ack(40, Ack::of(1)), 11.0);
        assert_eq!(dctcp.recovery(900, Recovery::Timeout { flight: 11 }), 1.0);
    }

    #[test]
    fn every_mark_is_reported_and_every_segment_may_be_marked() {
        let plain = rule(&SCHEME, &[]);
        assert_eq!((plain.ecn, plain.echo), (Ecn::Classic, EcnEcho::Exact));
        assert_eq!(rule(&SCHEME, &[("low_latency", Setting::Bool(true))]).ecn, Ecn::LowLatency);
    }
}
