//! A TCP sender's rule of the catalogue behind quinn's interface.
//!
//! quinn counts bytes and calls for each packet; the rule counts segments of the path's MTU. quinn reports each lost or
//! marked packet, and the rule reduces once per recovery, which begins with the first report and ends with the first
//! ACK of a packet that was sent after it (RFC 9002 §7.3.2).

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quinn::congestion::{Controller, ControllerFactory};
use quinn_proto::RttEstimator;
use tidegate_core::prelude::*;
use tidegate_core::scheme::Scheme as Entry;

/// A scheme with its settings: makes the controller of each connection.
#[derive(Clone, Debug)]
pub struct Scheme {
    entry: &'static Entry,
    settings: Settings,
}

impl Scheme {
    /// The TCP sender of `entry`.
    ///
    /// # Errors
    /// If the scheme has no TCP sender, or a parameter is out of its range.
    pub fn new(entry: &'static Entry, settings: impl Into<Settings>) -> Result<Self, MakeError> {
        let scheme = Self { entry, settings: settings.into() };
        entry.make_sender(scheme.settings.clone()).map(|_| scheme)
    }

    fn adapter(&self, begin: Instant, mtu: u16) -> Adapter {
        let rule = self.entry.make_sender(self.settings.clone()).expect("the settings were checked");
        let (flow, mtu) = (FlowView::default(), u64::from(mtu));
        let rule = Mutex::new(rule.controller);
        Adapter {
            scheme: self.clone(),
            rule,
            flow,
            begin,
            mtu,
            in_flight: 0,
            recovery: None,
            is_in_recovery: false,
        }
    }
}

impl ControllerFactory for Scheme {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(self.adapter(now, current_mtu))
    }
}

/// The controller of one connection.
struct Adapter {
    scheme: Scheme,
    /// quinn shares controllers between threads; a rule may only move between them.
    rule: Mutex<Box<dyn CongestionController>>,
    flow: FlowView,
    begin: Instant,
    /// Bytes of a segment.
    mtu: u64,
    /// Bytes.
    in_flight: u64,
    /// When the last recovery began.
    recovery: Option<Instant>,
    is_in_recovery: bool,
}

impl Adapter {
    fn time(&self, at: Instant) -> Time {
        Time::from_nanos(at.saturating_duration_since(self.begin).as_nanos() as u64)
    }

    fn segments(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(self.mtu)).unwrap_or(u32::MAX)
    }

    fn window_segments(&self) -> f64 {
        self.rule.lock().unwrap_or_else(PoisonError::into_inner).window()
    }

    /// Calls the rule, with what is in flight now.
    fn call(
        &mut self,
        now: Instant,
        call: impl FnOnce(&mut dyn CongestionController, &mut Context<'_>, &FlowView),
    ) {
        self.flow.in_flight = self.segments(self.in_flight);
        let mut present = Present::detached(self.time(now));
        let rule = self.rule.get_mut().unwrap_or_else(PoisonError::into_inner);
        call(rule.as_mut(), &mut present.context(), &self.flow);
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight += bytes;
        let segment = last_packet_number as u32;
        (self.flow.highest_sent, self.flow.next_segment) = (segment, segment.saturating_add(1));
        let sent = Sent::first(segment, self.time(now));
        self.call(now, |rule, cx, flow| rule.on_sent(cx, &sent, &mut HopSignals::default(), flow));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        if self.is_in_recovery && self.recovery.is_some_and(|begin| sent > begin) {
            self.is_in_recovery = false;
            self.call(now, |rule, cx, flow| rule.on_recovery(cx, Recovery::Exit, flow));
        }
        let before = self.segments(self.in_flight);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        self.flow.smoothed_rtt = Some(Span::from_nanos(rtt.get().as_nanos() as u64));
        let segment = self.flow.delivered as u32;
        let delivered_at_send = self.flow.delivered.saturating_sub(u64::from(before));
        self.flow.delivered += 1;
        let mut delivery =
            Delivery::of_ack(segment, 1, ByteCount::new(bytes), self.time(sent), self.time(now))
                .with_in_flight_before(before)
                .with_delivered_at_send(delivered_at_send);
        delivery.is_source_limited = app_limited;
        self.call(now, |rule, cx, flow| rule.on_delivery(cx, &delivery, flow));
    }

    fn on_end_acks(&mut self, _: Instant, in_flight: u64, _: bool, _: Option<u64>) {
        self.in_flight = in_flight;
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let flight = self.segments(self.in_flight);
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        if is_persistent_congestion {
            self.call(now, |rule, cx, flow| rule.on_recovery(cx, Recovery::Timeout { flight }, flow));
        } else if self.recovery.is_none_or(|begin| sent > begin) {
            self.call(now, |rule, cx, flow| rule.on_recovery(cx, Recovery::Enter { flight }, flow));
        } else {
            return;
        }
        (self.recovery, self.is_in_recovery) = (Some(now), true);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu);
    }

    fn window(&self) -> u64 {
        (self.window_segments() * self.mtu as f64) as u64
    }

    /// quinn asks for a copy when a peer's address changes: a new path, on which the rule begins anew.
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.scheme.adapter(Instant::now(), self.mtu as u16))
    }

    fn initial_window(&self) -> u64 {
        self.scheme.adapter(self.begin, self.mtu as u16).window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
