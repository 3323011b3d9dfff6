//! Reno: a segment more per round trip, half on a loss.
//!
//! Paper: RFC 5681 with SACK, initial window of RFC 6928, growth by the segments acknowledged (RFC 3465), marks as
//! losses (RFC 3168). Detection of losses and the course of a recovery are core's (RFC 8985, RFC 9937).

use tidegate_core::prelude::*;

use crate::toolbox::window::tcp::TcpWindow;

/// Part of the flight kept on a loss (RFC 5681 eq. 4).
const KEEP: f64 = 0.5;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "tcp-reno",
    summary: "TCP Reno: the window grows by one segment per RTT and is halved after a loss",
    paper: "RFC 5681, 3465, 6928, 3168",
    provenance: Provenance::Paper,
    deviations: &[
        "A segment grows the window when it is delivered, also by SACK; the RFCs count the cumulative ACK, before \
         which the window would grow in a burst.",
        "A spurious recovery is undone in full, as in Linux; after a spurious timeout RFC 4015 would restart from the \
         flight and the initial window.",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let ecn = if params.ecn { Ecn::Classic } else { Ecn::NotCapable };
        Ok(SenderRule { ecn, ..SenderRule::new(Box::new(Reno::new(params))) })
    }),
    ..Scheme::NONE
};

params! {
    /// Initial congestion window (RFC 6928).
    initial_window: f64 = 10.0, "segments", 1.0..=10_000.0;
    /// Maximum growth per ACK in slow start (L of RFC 3465); one segment after a timeout.
    limit: f64 = 2.0, "segments", 1.0..=1_000_000.0;
    /// Whether segments are ECN-capable; a mark then halves the window, once per RTT.
    ecn: bool = false;
}

#[derive(Debug)]
struct Reno {
    limit: f64,
    window: TcpWindow,
}

impl Reno {
    fn new(params: Params) -> Self {
        Self { limit: params.limit, window: TcpWindow::new(params.initial_window) }
    }
}

impl CongestionController for Reno {
    fn window(&self) -> f64 {
        self.window.get()
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        self.window.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        let counted = self.window.counts(delivery);
        if self.window.admits_mark(cx.now, delivery) {
            // The flight, not the window, is halved (RFC 5681, section 3.1): the window of an application
            // that sends little may be far larger.
            let flight = f64::from(delivery.in_flight_before).min(self.window.get());
            self.window.reduce_by_mark(cx.now, KEEP * flight);
        } else if let Some(acked) = counted {
            let rest = self.window.slow_start(acked, self.limit);
            // One ACK may cross the threshold: the remainder counts for congestion avoidance.
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
    use tidegate_testkit::dumbbell::{Bottleneck, Dumbbell, DumbbellFlow, PAYLOAD, WIRE};

    fn reno(given: &[(&str, Setting)]) -> AckDriver {
        AckDriver::new(&SCHEME, given)
    }

    #[test]
    fn slow_start_grows_by_two_segments_an_ack_at_most_and_avoidance_by_one_a_window() {
        let mut reno = reno(&[]);
        assert_eq!(reno.ack(10, Ack::of(1)), 11.0);
        assert_eq!(reno.ack(20, Ack::of(2)), 13.0);
        assert_eq!(reno.ack(30, Ack::of(5)), 15.0, "L = 2");
        assert_eq!(reno.recovery(40, Recovery::Enter { flight: 15 }), 7.5);
        assert_eq!(reno.ack(50, Ack::of(3)), 7.5, "not in fast recovery");
        assert_eq!(reno.recovery(60, Recovery::Exit), 7.5);
        // Seven acknowledged do not make a window of 7.5 yet, the eighth does; the next needs 8.5 less 0.5.
        assert_eq!(reno.ack(70, Ack::of(7)), 7.5);
        assert_eq!(reno.ack(80, Ack::of(1)), 8.5);
        assert_eq!(reno.ack(90, Ack::of(7)), 8.5);
        assert_eq!(reno.ack(95, Ack::of(1)), 9.5);
    }

    #[test]
    fn what_limited_transmit_sent_is_no_part_of_the_flight() {
        assert_eq!(reno(&[]).recovery(10, Recovery::Enter { flight: 13 }), 5.0);
        assert_eq!(reno(&[]).recovery(10, Recovery::Enter { flight: 8 }), 4.0);
        assert_eq!(reno(&[]).recovery(10, Recovery::Enter { flight: 1 }), 2.0, "at least two segments");
    }

    #[test]
    fn a_timeout_begins_anew_and_a_second_one_holds_the_threshold() {
        let mut reno = reno(&[]);
        reno.recovery(1_000, Recovery::Timeout { flight: 10 });
        assert_eq!((reno.window(), reno.ssthresh()), (1.0, 5.0));
        reno.recovery(3_000, Recovery::Timeout { flight: 10 });
        assert_eq!((reno.window(), reno.ssthresh()), (1.0, 5.0), "nothing arrived in between");
        assert_eq!(reno.ack(3_100, Ack::of(3)), 2.0, "L = 1 after a timeout");
        reno.ack(3_200, Ack::of(1));
        reno.recovery(4_000, Recovery::Timeout { flight: 10 });
        assert_eq!((reno.window(), reno.ssthresh()), (1.0, 2.0), "half of a window of 3 is below the least");
    }

    #[test]
    fn a_needless_reduction_is_undone() {
        let mut reno = reno(&[]);
        reno.recovery(10, Recovery::Enter { flight: 10 });
        assert_eq!(reno.recovery(20, Recovery::Spurious), 10.0);
        assert_eq!(reno.ack(30, Ack::of(1)), 11.0, "slow start goes on");
        reno.recovery(500, Recovery::Timeout { flight: 11 });
        assert_eq!((reno.recovery(510, Recovery::Spurious), reno.ssthresh()), (11.0, f64::INFINITY));
    }

    #[test]
    fn a_mark_halves_once_per_round_trip_and_only_if_requested() {
        let marked = Ack { is_marked: true, ..Ack::of(1) };
        let mut reno = reno(&[("ecn", Setting::Bool(true))]);
        assert_eq!(reno.ack(100, marked), 5.0);
        assert_eq!(reno.ack(110, marked), 5.0, "it left 40 ms ago, before the reduction");
        assert_eq!(reno.ack(139, marked), 5.0);
        assert_eq!(reno.ack(141, marked), 2.5);
        reno.recovery(200, Recovery::Enter { flight: 2 });
        reno.recovery(230, Recovery::Exit);
        assert_eq!(reno.ack(235, marked), 2.0, "the loss has reduced already");
        for (on, ecn) in [(false, Ecn::NotCapable), (true, Ecn::Classic)] {
            assert_eq!(tidegate_testkit::dumbbell::setup::rule(&SCHEME, &[("ecn", Setting::Bool(on))]).ecn, ecn);
        }
    }

    #[test]
    fn a_sender_that_does_not_fill_its_window_does_not_grow_and_one_that_rests_begins_anew() {
        let mut reno = reno(&[]);
        assert_eq!(reno.ack(10, Ack { is_source_limited: true, ..Ack::of(2) }), 10.0);
        for round in 1..20 {
            reno.ack(10 + round, Ack::of(1));
        }
        assert_eq!(reno.window(), 29.0);
        reno.sent(100, 5);
        reno.sent(1_099, 1);
        assert_eq!(reno.window(), 29.0, "shorter than a retransmission timeout of 1 s");
        reno.sent(2_100, 1);
        assert_eq!(reno.window(), 10.0);
    }
    #[test]
    fn a_buffer_of_a_bandwidth_delay_product_keeps_the_line_busy() {
        // 10 Mbit/s for 40 ms hold 33 packets: a window halved from 67 still fills them.
        let flow = DumbbellFlow::of(&SCHEME, &[], 40);
        let mut path = Dumbbell::new(Bottleneck::new(10.0, 33), vec![flow]);
        let goodput = path.goodputs(10.0, 70.0)[0];
        assert!(goodput > 0.99 * 10.0 * PAYLOAD / WIRE, "{goodput}");
        assert_eq!(path.stats(0).timeouts, 0);
        let windows = path.trace(100.0, Span::from_millis(40), |path| path.window(0));
        let (low, high) = windows.iter().fold((f64::MAX, 0.0_f64), |(low, high), window| {
            (low.min(*window), high.max(*window))
        });
        // Half of what overflows the buffer, a few segments found late apart.
        assert!((31.0..37.0).contains(&low) && (66.0..72.0).contains(&high), "{low} to {high}");
    }
}
