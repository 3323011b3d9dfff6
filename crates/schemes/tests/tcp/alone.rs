//! A controller alone: told of ACKs and recoveries, without sender and packets.

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Recovery};
use tidegate_core::context::{Context, Env, NoRoutes, NoSink};
use tidegate_core::event::EventMask;
use tidegate_core::face::NodeId;
use tidegate_core::name::NameTable;
use tidegate_core::signal::HopSignals;
use tidegate_core::units::{ByteCount, Time};

use super::*;
use dumbbell::setup::rule;

/// An ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub segments: u32,
    /// When the segment that it tells of left.
    pub sent_at: Time,
    pub is_marked: bool,
    pub is_source_limited: bool,
}

impl Ack {
    /// An ACK of one segment sent at `sent_at`.
    pub fn sent_at(sent_at: Time) -> Self {
        Self { segments: 1, sent_at, is_marked: false, is_source_limited: false }
    }
}

/// The controller of a flow that fills its window.
pub struct Alone {
    controller: Box<dyn CongestionController>,
    flow: FlowView,
    names: NameTable,
}

impl Alone {
    pub fn new(scheme: &Scheme, given: &[(&str, Value)], rtt: Span) -> Self {
        let flow = FlowView { rto: Span::from_secs(1), smoothed_rtt: Some(rtt), ..FlowView::default() };
        Self { controller: rule(scheme, given).controller, flow, names: NameTable::new() }
    }

    /// Segments.
    pub fn window(&self) -> f64 {
        self.controller.window()
    }

    /// As many as the window lets be in flight; the window itself is then what a reduction takes a part of.
    fn flight(&self) -> u32 {
        self.window().ceil() as u32
    }

    /// An ACK arrives.
    pub fn ack(&mut self, now: Time, ack: Ack) {
        let in_flight_before = self.flight();
        let flow = &mut self.flow;
        let delivered_at_send = flow.delivered;
        flow.delivered += u64::from(ack.segments);
        flow.next_segment = flow.delivered as u32 + in_flight_before;
        flow.in_flight = in_flight_before.saturating_sub(ack.segments);
        let delivery = Delivery {
            segment: (flow.delivered as u32).saturating_sub(1),
            size: ByteCount::new(1448 * u64::from(ack.segments)),
            rtt: flow.smoothed_rtt,
            full_delay: flow.smoothed_rtt.unwrap_or_default(),
            sent_at: ack.sent_at,
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
        self.call(now, |controller, cx, flow| controller.on_delivery(cx, &delivery, flow));
    }

    /// A fast recovery begins with a full window in flight.
    pub fn lose(&mut self, now: Time) {
        self.recovery(now, Recovery::Enter { flight: self.flight() });
    }

    /// The retransmission timer runs out with a full window in flight.
    pub fn time_out(&mut self, now: Time) {
        self.recovery(now, Recovery::Timeout { flight: self.flight() });
    }

    /// The recovery is over.
    pub fn recover(&mut self, now: Time) {
        self.recovery(now, Recovery::Exit);
    }

    fn recovery(&mut self, now: Time, recovery: Recovery) {
        self.call(now, |controller, cx, flow| controller.on_recovery(cx, recovery, flow));
    }

    fn call(
        &mut self,
        now: Time,
        call: impl FnOnce(&mut dyn CongestionController, &mut Context<'_>, &FlowView),
    ) {
        let (node, names, mask) = (NodeId(0), &self.names, EventMask::NONE);
        let env = Env { now, node, names, routes: &NoRoutes, sink: &mut NoSink, mask };
        call(self.controller.as_mut(), &mut Context::new(env, &[]), &self.flow);
    }
}
