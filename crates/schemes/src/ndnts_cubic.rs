//! NDNts' CUBIC: the window jumps to a standard TCP's where that is higher than the curve; one decrease per timeout.
//!
//! Paper: RFC 8312, in the form of NDNts `TcpCubic` under its `UnverifiedFetcher`. Both the curve and the jump may
//! lower the window, and nothing but the threshold of slow start has a floor.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::once_per_timeout::OncePerTimeout;
use crate::toolbox::window::cubic::{CubicRule, CubicWindow, TcpFriendliness};
use crate::toolbox::window::rule::WindowRule;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnts-cubic",
    summary: "NDNts' CUBIC: jumps to the window of Reno where that is larger, fast convergence, one decrease per timeout",
    paper: "RFC 8312; NDNts TcpCubic and UnverifiedFetcher",
    provenance: Provenance::Source,
    deviations: &[
        "The timeout of an Interest is detected up to one sweep after it expired.",
        "The timeout backs off once per window of data, not with every decrease that a timeout causes.",
        "The reported window is at least 1; below that, NDNts too sends one Interest at a time.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnts,
    consumer: Some(|settings| Ok(Box::new(NdntsCubic::new(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

/// Slow-start thresholds never shrink below this, packets.
const MIN_SSTHRESH: f64 = 2.0;

params! {
    /// Initial congestion window (`iw`).
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// Fraction of the window kept after a decrease (`betaCubic`).
    beta: f64 = 0.7, "of the window", 0.1..=0.99;
}

#[derive(Debug)]
struct NdntsCubic {
    window: CubicWindow,
    gate: OncePerTimeout,
}

impl NdntsCubic {
    fn new(params: &Params) -> Self {
        let rule = CubicRule {
            min: 0.0,
            min_ssthresh: MIN_SSTHRESH,
            min_w_max: 0.0,
            fast_convergence: Some(1.0),
            friendliness: TcpFriendliness::Jump,
            may_shrink: true,
            ..CubicRule::with_floor(params.initial_window, params.beta)
        };
        Self { window: CubicWindow::new(rule), gate: OncePerTimeout::default() }
    }

    fn decrease(&mut self, now: Time, flow: &FlowView) {
        // NDNts gates by one RTO for marks and timeouts alike, where ndn-tools gates by sequence numbers.
        if self.gate.admits(now, flow.rto) {
            self.window.decrease(now);
        }
    }
}

impl CongestionController for NdntsCubic {
    fn window(&self) -> f64 {
        self.window.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if delivery.mark == 0 {
            // NDNts passes the RTT of this packet, not the smoothed one, even after a retransmission.
            self.window.increase(cx.now, Some(cx.now.since(delivery.sent_at)));
        } else {
            self.decrease(cx.now, flow);
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) {
            self.decrease(cx.now, flow);
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::NoRoute;
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, data_after, follow, lost, marked};

    #[test]
    fn curve_jump_and_gate_follow_the_worked_case() {
        // W = 20; slow start adds 1; the timeout is 1 s throughout. West = 0.7 Wmax + 0.529412 t/rtt.
        //  3 mark at 1 s: Wmax = 22; 0.7 * 22 = 15.4; K = cbrt(22 * 0.75) = 2.545822; shut until 2 s
        //  4 suppressed mark: neither growth nor decrease
        //  5 t = 0.04, rtt 40 ms: Wc = 15.706236 < West = 15.4 + 0.529412 = 15.929412: that
        //  6 t = 0.2, rtt 1 s: Wc = 16.836491 > West; 15.929412 + 0.907079/15.929412 = 15.986355
        //  7 t = 0.5, rtt 1 s: Wc = 18.574978; 15.986355 + 2.588623/15.986355 = 16.148283
        //  8 shut      9 no congestion
        // 10 at 2 s: 16.148283 < 22: Wmax = 0.85 * 16.148283 = 13.726040; W = 11.303798; K = 2.175382; shut until 3 s
        // 11 t = 0.001, rtt 2 s: Wc = 9.613904 > West = 9.608493; 11.303798 - 1.689894/11.303798 = 11.154300
        // 12 below the threshold of 11.303798: slow start
        // 13 t = 0.02, rtt 40 ms: Wc = 9.720762 < West = 9.608228 + 0.264706: down to 9.872934      14, 15 slow start
        // 16 sent again, 40 ms ago: t = 1: Wc = 13.076513 < West = 9.608228 + 13.235294 = 22.843522
        // 17 at 3 s, open: 0.7 * 22.843522 = 15.990466
        let steps = [
            (data(40, 1, 23), 21.0),
            (data(80, 2, 25), 22.0),
            (marked(1_000, 3, 25), 15.4),
            (marked(1_010, 4, 25), 15.4),
            (data(1_040, 5, 25), 15.929412),
            (data_after(1_200, 6, 25, Some(1_000)), 15.986355),
            (data_after(1_500, 7, 25, Some(1_000)), 16.148282),
            (lost(1_999, 8, 25, Timeout), 16.148282),
            (lost(2_000, 9, 25, Nack(NoRoute)), 16.148282),
            (lost(2_000, 10, 25, Timeout), 11.303798),
            (data_after(2_001, 11, 25, Some(2_000)), 11.154300),
            (data(2_010, 12, 25), 12.154300),
            (data(2_020, 13, 25), 9.872934),
            (data(2_030, 14, 25), 10.872934),
            (data(2_040, 15, 25), 11.872934),
            (data_after(3_000, 8, 25, None), 22.843522),
            (lost(3_000, 16, 25, Timeout), 15.990466),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(20.0))]), &steps);
    }

    #[test]
    fn below_one_packet_the_window_counts_on_unseen() {
        // 1 * 0.7, then 0.7 * 0.7 = 0.49, told as 1; slow start up to the threshold of 2 adds 1 to that.
        let mut driver = Driver::new(&SCHEME, &[("initial_window", Setting::Number(1.0))]);
        let steps = [
            (lost(1_000, 1, 9, Timeout), 1.0),
            (lost(2_000, 2, 9, Timeout), 1.0),
            (data(2_040, 1, 9), 1.49),
            (data(2_050, 2, 9), 2.49),
        ];
        follow(&mut driver, &steps);
        assert_eq!(driver.controller.ssthresh(), Some(2.0));
    }
}
