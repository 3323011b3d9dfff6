//! One flow behind a bottleneck without loss: 1600 packets per second, 40 ms of round trip, a queue without end.
//!
//! `on_wake` is not called: the flow has no timer but that of pacing.

use std::collections::VecDeque;

use tidegate_core::ndn::consumer::pacer::Pacer;
use tidegate_core::scheme::congestion::CongestionController;
use tidegate_core::scheme::signal::HopSignals;
use tidegate_core::units::{ByteCount, Span, Time};

use crate::driver::{Driver, DriverEvent, DriverEventKind, RTT};

/// Time that the bottleneck takes for a packet.
const SERVICE: Span = Span::from_micros(625);
/// Bandwidth-delay product of the path, packets.
pub const PRODUCT: f64 = 64.0;

/// The flow, with the Data on its way to the consumer.
#[derive(Debug)]
pub struct Bottleneck<C: CongestionController> {
    /// The controller and the flow around it.
    pub driver: Driver<C>,
    /// Virtual time of the bottleneck.
    pub now: Time,
    /// Round trips counted: each ends with the first Data of an Interest sent after the last one's end.
    pub rounds: u32,
    round_ends_with: u32,
    pacer: Pacer,
    /// Arrival time of each Data and departure time of its Interest, in the order of segments.
    under_way: VecDeque<(Time, Time)>,
    next_segment: u32,
    last_arrival: Time,
}

impl<C: CongestionController> Bottleneck<C> {
    /// A flow that has sent nothing yet.
    pub fn new(controller: C) -> Self {
        Self {
            driver: Driver::of(Box::new(controller)),
            now: Time::ZERO,
            rounds: 0,
            round_ends_with: 0,
            pacer: Pacer::new(ByteCount::new(1_000)),
            under_way: VecDeque::new(),
            next_segment: 0,
            last_arrival: Time::ZERO,
        }
    }

    /// Number of Interests outstanding at the controller.
    pub fn in_flight(&self) -> f64 {
        self.under_way.len() as f64
    }

    /// Runs from Data to Data while `goes_on` returns true; it is called after each Data, before Interests leave.
    ///
    /// # Panics
    /// If that lasts longer than a minute of virtual time, or a window closes with nothing under way.
    pub fn run_while(&mut self, mut goes_on: impl FnMut(&Self) -> bool) {
        while goes_on(self) {
            assert!(self.now < Time::ZERO + Span::from_secs(60), "never over: {:?}", self.driver.controller);
            self.send();
            self.receive();
        }
    }

    fn receive(&mut self) {
        while let Some(wake) = self.pacer.wake()
            && self.under_way.front().is_none_or(|(arrival, _)| wake < *arrival)
        {
            self.now = wake;
            self.send();
        }
        let (arrival, sent_at) =
            self.under_way.pop_front().expect("a window is never closed with nothing under way");
        self.now = arrival;
        let segment = self.next_segment - self.under_way.len() as u32 - 1;
        if segment >= self.round_ends_with {
            (self.rounds, self.round_ends_with) = (self.rounds + 1, self.next_segment);
        }
        self.handle(DriverEventKind::Data {
            segment,
            hop: HopSignals::default(),
            rtt: Some(arrival.since(sent_at)),
        });
    }

    fn send(&mut self) {
        while self.in_flight() < self.driver.controller.window() {
            if !self.pacer.admits(self.now, self.driver.controller.pacing()) {
                return;
            }
            self.pacer.depart(self.now);
            self.last_arrival = (self.now + RTT).max(self.last_arrival + SERVICE);
            self.under_way.push_back((self.last_arrival, self.now));
            self.next_segment += 1;
            self.handle(DriverEventKind::Sent { segment: self.next_segment - 1, is_retransmission: false });
        }
        self.pacer.rest();
    }

    fn handle(&mut self, kind: DriverEventKind) {
        self.driver.handle(DriverEvent { at: self.now, next_segment: self.next_segment, kind });
    }
}
