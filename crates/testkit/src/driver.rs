//! Calls one congestion controller of a consumer, event by event, without network or clock.
//!
//! No timer runs: [`Driver::handle`] does not look at `next_wake`, and a test calls [`Driver::wake`] where it is due.

use std::collections::BTreeMap;

use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::face::{FaceView, Limit};
use tidegate_core::ndn::name::NameTable;
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::{CongestionController, Delivery, FlowView, Loss, LossSignal, Sent};
use tidegate_core::scheme::params::Setting;
use tidegate_core::scheme::signal::HopSignals;
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// RTT of a Data for which the event gives none.
pub const RTT: Span = Span::from_millis(40);

/// Kind of an event at a consumer.
#[derive(Clone, Copy, Debug)]
pub enum DriverEventKind {
    /// The consumer sends an Interest.
    Sent {
        /// Number of the requested segment, from 0.
        segment: u32,
        /// Whether the segment was requested before.
        is_retransmission: bool,
    },
    /// A segment arrives for the first time.
    Data {
        /// Number of the received segment, from 0.
        segment: u32,
        /// Mark and signals that routers wrote on it.
        hop: HopSignals,
        /// Round-trip time; `None` after a retransmission.
        rtt: Option<Span>,
    },
    /// A loss is detected.
    Loss {
        /// Number of the lost segment, from 0.
        segment: u32,
        /// Signal by which the loss was detected.
        signal: LossSignal,
    },
}

/// One call of the controller.
#[derive(Clone, Copy, Debug)]
pub struct DriverEvent {
    /// Time of the event, since the start.
    pub at: Time,
    /// Lowest segment that was never requested.
    pub next_segment: u32,
    /// Kind of event, with its fields.
    pub kind: DriverEventKind,
}

/// A controller and the flow around it.
#[derive(Debug)]
pub struct Driver<C: CongestionController + ?Sized = dyn CongestionController> {
    /// The controller under test.
    pub controller: Box<C>,
    /// View of the flow that the controller receives; each event updates it.
    pub flow: FlowView,
    /// Segments received when each outstanding Interest left.
    delivered_at: BTreeMap<u32, u64>,
    names: NameTable,
    /// State of the consumer's only face.
    faces: [FaceView; 1],
}

/// The signals of a Data with congestion mark `mark` and nothing else.
pub fn marked_hop(mark: u8) -> HopSignals {
    let mut hop = HopSignals::default();
    hop.raise_mark(mark);
    hop
}

impl Driver {
    /// The consumer of `scheme` with the parameters `given`.
    ///
    /// # Panics
    /// If the scheme has no consumer or refuses a parameter.
    pub fn new(scheme: &Scheme, given: &[(&str, Setting)]) -> Self {
        let made = scheme.make_consumer(crate::settings(given));
        Self::of(made.unwrap_or_else(|why| panic!("{}: {why}", scheme.name)))
    }
}

impl<C: CongestionController + ?Sized> Driver<C> {
    /// `controller` and a flow that has sent nothing yet, with the random streams of seed 1.
    pub fn of(mut controller: Box<C>) -> Self {
        controller.take_streams(Streams::of(Seed(1)));
        let mut flow = FlowView::default();
        flow.rto = Span::from_secs(1);
        let limit = Limit::Packets(Packets::new(100));
        let faces = [FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit)];
        Self { controller, flow, delivered_at: BTreeMap::new(), names: NameTable::new(), faces }
    }

    /// Calls the controller for `event`; returns the window after it, packets.
    pub fn handle(&mut self, event: DriverEvent) -> f64 {
        let sink = &mut NoSink;
        let mut present = Present::observed(sink).at(event.at);
        let env = Env::new(&self.names, &mut present);
        let cx = &mut Context::new(env, &self.faces);
        let flow = &mut self.flow;
        flow.next_segment = event.next_segment;
        flow.highest_sent = event.next_segment.saturating_sub(1);
        match event.kind {
            DriverEventKind::Sent { segment, is_retransmission } => {
                flow.in_flight += 1;
                self.delivered_at.insert(segment, flow.delivered);
                let sent = match is_retransmission {
                    false => Sent::first(segment, event.at),
                    true => Sent::again(segment, event.at),
                };
                self.controller.on_sent(cx, &sent, &mut HopSignals::default(), flow);
            }
            DriverEventKind::Data { segment, hop, rtt } => {
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
            DriverEventKind::Loss { segment, signal } => {
                // The Interest of a loss notice stays pending.
                let counted_out = u32::from(signal != LossSignal::Notice);
                flow.in_flight = flow.in_flight.saturating_sub(counted_out);
                self.controller.on_loss(cx, &Loss::new(segment, before(event.at, RTT), signal), flow);
            }
        }
        self.controller.window()
    }

    /// Calls the controller's `on_wake` at `at`; returns the window after it, packets.
    pub fn wake(&mut self, at: Time) -> f64 {
        let sink = &mut NoSink;
        let mut present = Present::observed(sink).at(at);
        let env = Env::new(&self.names, &mut present);
        self.controller.on_wake(&mut Context::new(env, &self.faces), &self.flow);
        self.controller.window()
    }
}

fn before(at: Time, span: Span) -> Time {
    Time::from_nanos(at.as_nanos().saturating_sub(span.as_nanos()))
}

fn delivery(at: Time, segment: u32, hop: HopSignals, rtt: Option<Span>, flow: &FlowView) -> Delivery {
    let sent_at = before(at, rtt.unwrap_or(RTT));
    let mut delivery = Delivery::of_data(segment, ByteCount::new(1_100), sent_at, at)
        .with_signals(hop)
        .with_retransmissions(u32::from(rtt.is_none()))
        .with_in_flight_before(flow.in_flight)
        // Of a Data whose Interest was not among the events.
        .with_delivered_at_send(flow.delivered.saturating_sub(u64::from(flow.in_flight)));
    // A round trip may be longer than the time that has passed.
    delivery.rtt = rtt;
    delivery.full_delay = rtt.unwrap_or(RTT * 3);
    delivery
}
