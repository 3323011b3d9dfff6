//! A controller whose flow has a constant round trip and fills its window, rounded up.

use tidegate_testkit::ack_driver::{self, AckDriver};

use super::*;

/// An ACK.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub segments: u32,
    /// When the newest of them left.
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
pub struct Alone(AckDriver);

impl Alone {
    pub fn new(scheme: &Scheme, given: &[(&str, Setting)], rtt: Span) -> Self {
        let mut driver = AckDriver::new(scheme, given);
        driver.flow.smoothed_rtt = Some(rtt);
        Self(driver)
    }

    /// Segments.
    pub fn window(&self) -> f64 {
        self.0.window()
    }

    /// As many as the window lets be in flight; the window itself is then what a reduction takes a part of.
    fn flight(&self) -> u32 {
        self.window().ceil() as u32
    }

    /// An ACK arrives.
    pub fn ack(&mut self, now: Time, ack: Ack) {
        let Ack { segments, sent_at, is_marked, is_source_limited } = ack;
        let ack = ack_driver::Ack { is_marked, is_source_limited, ..ack_driver::Ack::of(segments) };
        self.0.deliver(now, self.flight(), sent_at, ack);
    }

    /// A fast recovery begins with a full window in flight.
    pub fn lose(&mut self, now: Time) {
        self.0.recovery_at(now, Recovery::Enter { flight: self.flight() });
    }

    /// The retransmission timer runs out with a full window in flight.
    pub fn time_out(&mut self, now: Time) {
        self.0.recovery_at(now, Recovery::Timeout { flight: self.flight() });
    }

    /// The recovery is over.
    pub fn recover(&mut self, now: Time) {
        self.0.recovery_at(now, Recovery::Exit);
    }
}
