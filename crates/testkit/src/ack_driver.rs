//! Calls the controller of a TCP sender, ACK by ACK, without a sender.

use tidegate_core::context::Context;
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::{CongestionController, Delivery, FlowView, Recovery, Sent};
use tidegate_core::scheme::params::Setting;
use tidegate_core::scheme::signal::HopSignals;
use tidegate_core::units::{ByteCount, Span, Time};

use crate::dumbbell::setup::rule;
use crate::gate_bench::GateBench;

/// Payload of a segment, bytes.
const SEGMENT: u64 = 1448;

/// Content of one ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Number of segments newly delivered.
    pub segments: u32,
    /// Round trip of the newest of them, ms.
    pub rtt_ms: u64,
    /// Whether it reports a congestion mark.
    pub is_marked: bool,
    /// Whether the source, not the window, limited what was sent.
    pub is_source_limited: bool,
}

impl Ack {
    /// Delivers `segments` segments, 40 ms after they left.
    pub fn of(segments: u32) -> Self {
        Self { segments, rtt_ms: 40, is_marked: false, is_source_limited: false }
    }
}

/// A controller, and a flow that fills its window.
#[derive(Debug)]
pub struct AckDriver {
    /// The controller under test.
    pub controller: Box<dyn CongestionController>,
    /// View of the flow that the controller receives; each call updates it.
    pub flow: FlowView,
}

impl AckDriver {
    /// The controller of the TCP sender of `scheme` with the parameters `given`.
    ///
    /// # Panics
    /// If the scheme has no TCP sender or refuses a parameter.
    pub fn new(scheme: &Scheme, given: &[(&str, Setting)]) -> Self {
        let mut flow = FlowView::default();
        flow.rto = Span::from_secs(1);
        Self { controller: rule(scheme, given).controller, flow }
    }

    /// Congestion window of the sender, segments.
    pub fn window(&self) -> f64 {
        self.controller.window()
    }

    /// Slow-start threshold, segments.
    ///
    /// # Panics
    /// If the controller has none.
    pub fn ssthresh(&self) -> f64 {
        self.controller.ssthresh().expect("it has one")
    }

    /// Delivers an ACK at `at_ms` while the window is full; returns the window after it, segments.
    pub fn ack(&mut self, at_ms: u64, ack: Ack) -> f64 {
        let rtt = Span::from_millis(ack.rtt_ms);
        self.flow.smoothed_rtt = Some(rtt);
        let in_flight = self.controller.window() as u32;
        let sent_at = Time::from_nanos((at_ms - ack.rtt_ms.min(at_ms)) * 1_000_000);
        self.deliver(millis(at_ms), in_flight, sent_at, ack)
    }

    /// As [`ack`](Self::ack), at `now` with `in_flight` segments in flight before it, of which the newest that is
    /// acknowledged left at `sent_at`. The smoothed round-trip time stays.
    pub fn deliver(&mut self, now: Time, in_flight: u32, sent_at: Time, ack: Ack) -> f64 {
        let flow = &mut self.flow;
        let delivered_at_send = flow.delivered;
        flow.delivered += u64::from(ack.segments);
        flow.next_segment = flow.delivered as u32 + in_flight;
        flow.in_flight = in_flight.saturating_sub(ack.segments);
        let newest = (flow.delivered as u32).saturating_sub(1);
        let size = ByteCount::new(SEGMENT * u64::from(ack.segments));
        let mut delivery = Delivery::of_ack(newest, ack.segments, size, sent_at, now)
            .with_in_flight_before(in_flight)
            .with_delivered_at_send(delivered_at_send);
        // Not of the packet: a mark of TCP is an echo.
        delivery.mark = u8::from(ack.is_marked);
        delivery.rtt = flow.smoothed_rtt;
        delivery.full_delay = flow.smoothed_rtt.unwrap_or_default();
        delivery.is_source_limited = ack.is_source_limited;
        self.call(now, |controller, cx, flow| controller.on_delivery(cx, &delivery, flow))
    }

    /// Changes the recovery state at `at_ms`; returns the window after it, segments.
    pub fn recovery(&mut self, at_ms: u64, recovery: Recovery) -> f64 {
        self.recovery_at(millis(at_ms), recovery)
    }

    /// As [`recovery`](Self::recovery), at `now`.
    pub fn recovery_at(&mut self, now: Time, recovery: Recovery) -> f64 {
        self.call(now, |controller, cx, flow| controller.on_recovery(cx, recovery, flow))
    }

    /// Sends a segment at `at_ms`, after which `in_flight` are in flight; returns the window after it, segments.
    pub fn sent(&mut self, at_ms: u64, in_flight: u32) -> f64 {
        self.flow.in_flight = in_flight;
        let sent = Sent::first(self.flow.next_segment, millis(at_ms));
        self.call(sent.at, |controller, cx, flow| {
            controller.on_sent(cx, &sent, &mut HopSignals::default(), flow);
        })
    }

    fn call(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn CongestionController, &mut Context<'_>, &FlowView),
    ) -> f64 {
        let Self { controller, flow } = self;
        GateBench::new().at_time(now, |cx| call(controller.as_mut(), cx, flow));
        controller.window()
    }
}

fn millis(at_ms: u64) -> Time {
    Time::ZERO + Span::from_millis(at_ms)
}
