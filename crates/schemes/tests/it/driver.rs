//! Tells one congestion controller what happens, without network or clock.

use std::collections::BTreeMap;

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Loss, LossSignal, Sent};
use tidegate_core::context::{Context, Env, NoRoutes, NoSink};
use tidegate_core::event::EventMask;
use tidegate_core::face::{FaceView, Limit, NodeId};
use tidegate_core::name::NameTable;
use tidegate_core::params::{Settings, Value};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::Scheme;
use tidegate_core::signal::HopSignals;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// Round-trip time of a Data that says nothing else.
pub const RTT: Span = Span::from_millis(40);

/// What a controller can be told.
#[derive(Clone, Copy, Debug)]
pub enum Told {
    /// An Interest leaves.
    Sent { segment: u32, is_retransmission: bool },
    /// A segment arrives with what routers wrote on it; `rtt` is `None` after a retransmission.
    Data { segment: u32, hop: HopSignals, rtt: Option<Span> },
    /// A loss is heard of.
    Loss { segment: u32, signal: LossSignal },
}

/// One call: when, and which segment the consumer would ask for next.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub at: Time,
    pub next_segment: u32,
    pub told: Told,
}

/// A controller and the flow around it.
#[derive(Debug)]
pub struct Driver<C: CongestionController + ?Sized = dyn CongestionController> {
    pub controller: Box<C>,
    pub flow: FlowView,
    /// Segments received when each outstanding Interest left.
    delivered_at: BTreeMap<u32, u64>,
    names: NameTable,
    /// One device.
    faces: [FaceView; 1],
}

/// What stands on a Data with this congestion mark and nothing else.
pub fn marked_hop(mark: u8) -> HopSignals {
    let mut hop = HopSignals::default();
    hop.raise_mark(mark);
    hop
}

impl Driver {
    /// The consumer of `scheme` with the settings given.
    pub fn new(scheme: &Scheme, given: &[(&str, Value)]) -> Self {
        let settings = Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect());
        let make = scheme.consumer.expect("the scheme has a consumer");
        Self::of(make(&settings).unwrap_or_else(|errors| panic!("{}: {errors:?}", scheme.name)))
    }
}

impl<C: CongestionController + ?Sized> Driver<C> {
    /// This controller and a flow that has sent nothing yet.
    pub fn of(mut controller: Box<C>) -> Self {
        controller.take_streams(Streams::of(Seed(1)));
        let flow = FlowView { rto: Span::from_secs(1), ..FlowView::default() };
        let limit = Limit::Packets(Packets::new(100));
        let faces = [FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit)];
        Self { controller, flow, delivered_at: BTreeMap::new(), names: NameTable::new(), faces }
    }

    /// Makes the call; returns the window after it, packets.
    pub fn tell(&mut self, event: Event) -> f64 {
        let env = Env {
            now: event.at,
            node: NodeId(0),
            names: &self.names,
            routes: &NoRoutes,
            sink: &mut NoSink,
            mask: EventMask::NONE,
        };
        let cx = &mut Context::new(env, &self.faces);
        let flow = &mut self.flow;
        flow.next_segment = event.next_segment;
        flow.highest_sent = event.next_segment.saturating_sub(1);
        match event.told {
            Told::Sent { segment, is_retransmission } => {
                flow.in_flight += 1;
                self.delivered_at.insert(segment, flow.delivered);
                let sent = Sent { segment, at: event.at, is_retransmission };
                self.controller.on_sent(cx, &sent, &mut HopSignals::default(), flow);
            }
            Told::Data { segment, hop, rtt } => {
                let mut delivery = delivery(event.at, segment, hop, rtt, flow);
                if let Some(delivered) = self.delivered_at.remove(&segment) {
                    delivery.delivered_at_send = delivered;
                }
                flow.in_flight = flow.in_flight.saturating_sub(1);
                flow.highest_received = flow.highest_received.max(segment);
                flow.delivered += 1;
                flow.smoothed_rtt = rtt.or(flow.smoothed_rtt);
                self.controller.on_delivery(cx, &delivery, flow);
            }
            Told::Loss { segment, signal } => {
                // The Interest of a loss notice stays pending.
                let counted_out = u32::from(signal != LossSignal::Notice);
                flow.in_flight = flow.in_flight.saturating_sub(counted_out);
                let loss = Loss { segment, sent_at: before(event.at, RTT), signal, since: None };
                self.controller.on_loss(cx, &loss, flow);
            }
        }
        self.controller.window()
    }
}

fn before(at: Time, span: Span) -> Time {
    Time::from_nanos(at.as_nanos().saturating_sub(span.as_nanos()))
}

fn delivery(at: Time, segment: u32, hop: HopSignals, rtt: Option<Span>, flow: &FlowView) -> Delivery {
    Delivery {
        segment,
        size: ByteCount::new(1_100),
        rtt,
        full_delay: rtt.unwrap_or(RTT * 3),
        sent_at: before(at, rtt.unwrap_or(RTT)),
        retransmissions: u32::from(rtt.is_none()),
        // Of a Data whose Interest nobody told of.
        delivered_at_send: flow.delivered.saturating_sub(u64::from(flow.in_flight)),
        in_flight_before: flow.in_flight,
        mark: hop.mark,
        hop,
        newly_acked: 1,
        newly_sacked: 0,
        newly_lost: 0,
        rate: None,
        is_source_limited: false,
    }
}
