//! Tells the controller of a TCP sender of ACKs and recoveries, without a sender.

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Recovery, Sent};
use tidegate_core::context::Context;
use tidegate_core::params::Value;
use tidegate_core::scheme::Scheme;
use tidegate_core::signal::HopSignals;
use tidegate_core::units::{ByteCount, Span, Time};

use super::dumbbell::setup::rule;
use super::gate_bench::GateBench;

/// What an ACK says.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub segments: u32,
    pub rtt_ms: u64,
    pub is_marked: bool,
    pub is_source_limited: bool,
}

impl Ack {
    /// So many segments delivered, 40 ms after they left.
    pub fn of(segments: u32) -> Self {
        Self { segments, rtt_ms: 40, is_marked: false, is_source_limited: false }
    }
}

/// A controller, and a flow that fills its window.
#[derive(Debug)]
pub struct AckDriver {
    pub controller: Box<dyn CongestionController>,
    pub flow: FlowView,
}

impl AckDriver {
    pub fn new(scheme: &Scheme, given: &[(&str, Value)]) -> Self {
        let flow = FlowView { rto: Span::from_secs(1), ..FlowView::default() };
        Self { controller: rule(scheme, given).controller, flow }
    }

    /// Segments.
    pub fn window(&self) -> f64 {
        self.controller.window()
    }

    /// Segments.
    pub fn threshold(&self) -> f64 {
        self.controller.slow_start_threshold().expect("it has one")
    }

    /// An ACK arrives; the window after it.
    pub fn ack(&mut self, at_ms: u64, ack: Ack) -> f64 {
        let flow = &mut self.flow;
        let in_flight_before = self.controller.window() as u32;
        let delivered_at_send = flow.delivered;
        flow.delivered += u64::from(ack.segments);
        flow.next_segment = flow.delivered as u32 + in_flight_before;
        flow.in_flight = in_flight_before.saturating_sub(ack.segments);
        let rtt = Span::from_millis(ack.rtt_ms);
        flow.smoothed_rtt = Some(rtt);
        let delivery = Delivery {
            segment: (flow.delivered as u32).saturating_sub(1),
            size: ByteCount::new(1448 * u64::from(ack.segments)),
            rtt: Some(rtt),
            full_delay: rtt,
            sent_at: Time::from_nanos((at_ms - ack.rtt_ms.min(at_ms)) * 1_000_000),
            retransmissions: 0,
            delivered_at_send,
            in_flight_before,
            mark: u8::from(ack.is_marked),
            hop: HopSignals::default(),
            newly_acked: ack.segments,
            newly_sacked: 0,
            newly_lost: 0,
            rate: None,
            is_source_limited: ack.is_source_limited,
        };
        self.call(at_ms, |controller, cx, flow| controller.on_delivery(cx, &delivery, flow))
    }

    /// The recovery state changes; the window after it.
    pub fn recovery(&mut self, at_ms: u64, recovery: Recovery) -> f64 {
        self.call(at_ms, |controller, cx, flow| controller.on_recovery(cx, recovery, flow))
    }

    /// A segment leaves, after which so many are in flight.
    pub fn sent(&mut self, at_ms: u64, in_flight: u32) -> f64 {
        self.flow.in_flight = in_flight;
        let at = Time::ZERO + Span::from_millis(at_ms);
        let sent = Sent { segment: self.flow.next_segment, at, is_retransmission: false };
        self.call(at_ms, |controller, cx, flow| {
            controller.on_sent(cx, &sent, &mut HopSignals::default(), flow);
        })
    }

    fn call(
        &mut self,
        at_ms: u64,
        call: impl FnOnce(&mut dyn CongestionController, &mut Context<'_>, &FlowView),
    ) -> f64 {
        let Self { controller, flow } = self;
        GateBench::new().at(at_ms * 1_000, |cx| call(controller.as_mut(), cx, flow));
        controller.window()
    }
}
