//! Calls a TCP rule for ACKs made by hand, with samples of the delivery rate (BBR).

use tidegate_core::context::{Context, Present};
use tidegate_core::rng::{Seed, Streams};
use tidegate_core::scheme::congestion::{
    CongestionController, Delivery, FlowView, Loss, LossSample, LossSignal, RateSample, Recovery, Sent,
};
use tidegate_core::scheme::signal::HopSignals;
use tidegate_core::units::{ByteCount, Span, Time};

/// One ACK as the window rule receives it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Number of segments newly delivered.
    pub newly: u32,
    /// Number of segments found lost.
    pub lost: u32,
    /// Segments in flight after the ACK.
    pub in_flight: u32,
    /// Round trip, ms; `None` after a retransmission.
    pub rtt_ms: Option<f64>,
    /// Delivery rate over 20 ms, segments per ms; `None` without a sample.
    pub rate: Option<f64>,
    /// Whether the newest segment left after the last ACK.
    pub ends_round: bool,
    /// Whether the application limited the rate.
    pub is_app_limited: bool,
    /// Segments in flight when the newest segment left, and the number of losses detected since.
    pub sample: (u32, u64),
    /// Bytes of each segment.
    pub payload: u64,
}

impl Ack {
    /// Of `newly` full segments after 20 ms at `rate` segments per ms, with `in_flight` more under way; in the middle of a
    /// round.
    pub fn of(newly: u32, rate: f64, in_flight: u32) -> Self {
        Self {
            newly,
            lost: 0,
            in_flight,
            rtt_ms: Some(20.0),
            rate: Some(rate),
            ends_round: false,
            is_app_limited: false,
            sample: (in_flight + newly, 0),
            payload: 1_448,
        }
    }

    /// The same at the end of a round.
    pub fn round(newly: u32, rate: f64, in_flight: u32) -> Self {
        Self { ends_round: true, ..Self::of(newly, rate, in_flight) }
    }
}

/// A rule and the flow around it.
#[derive(Debug)]
pub struct Acks<C> {
    /// The rule under test.
    pub rule: C,
    /// View of the flow that the rule receives; each call updates it.
    pub flow: FlowView,
    /// Virtual time; [`wait`](Self::wait) lets it pass.
    pub now: Time,
}

impl<C: CongestionController> Acks<C> {
    /// After a handshake of 20 ms.
    pub fn new(mut rule: C) -> Self {
        rule.take_streams(Streams::of(Seed(1)));
        let mut flow = FlowView::default();
        flow.smoothed_rtt = Some(Span::from_millis(20));
        Self { rule, flow, now: Time::ZERO }
    }

    fn call(&mut self, call: impl FnOnce(&mut C, &mut Context<'_>, &FlowView)) {
        call(&mut self.rule, &mut Present::detached(self.now).context(), &self.flow);
    }

    /// Lets `ms` milliseconds of virtual time pass.
    pub fn wait(&mut self, ms: f64) {
        self.now += Span::from_secs_f64(ms / 1e3);
    }

    /// A new segment leaves, `in_flight` with it.
    pub fn send(&mut self, in_flight: u32) {
        let segment = self.flow.delivered as u32 + in_flight - 1;
        self.flow.in_flight = in_flight;
        self.flow.next_segment = segment + 1;
        let sent = Sent::first(segment, self.now);
        self.call(|rule, cx, flow| rule.on_sent(cx, &sent, &mut HopSignals::default(), flow));
    }

    /// Segment `segment` is found lost, `sample` of its own departure.
    pub fn lose(&mut self, segment: u32, sample: LossSample) {
        let mut loss = Loss::new(segment, self.now, LossSignal::Gap);
        loss.since = Some(sample);
        self.call(|rule, cx, flow| rule.on_loss(cx, &loss, flow));
    }

    /// `lost` segments are found lost, with `in_flight` left.
    pub fn recovery(&mut self, recovery: Recovery, in_flight: u32) {
        self.flow.in_flight = in_flight;
        self.call(|rule, cx, flow| rule.on_recovery(cx, recovery, flow));
    }

    /// The ACK arrives; gives the window after it, segments.
    pub fn ack(&mut self, ack: Ack) -> f64 {
        let before = self.flow.delivered;
        let prior_delivered = if ack.ends_round { before } else { 0 };
        let rate = ack.rate.map(|rate| {
            let delivered = (rate * 20.0).round() as u64;
            let mut sample = RateSample::new(delivered, Span::from_millis(20), prior_delivered);
            sample.is_app_limited = ack.is_app_limited;
            (sample.in_flight_at_send, sample.lost) = ack.sample;
            sample
        });
        let size = ByteCount::new(ack.payload * u64::from(ack.newly));
        let mut delivery = Delivery::of_ack(before as u32, ack.newly, size, self.now, self.now)
            .with_in_flight_before(ack.in_flight + ack.newly + ack.lost)
            .with_delivered_at_send(prior_delivered);
        delivery.rtt = ack.rtt_ms.map(|ms| Span::from_secs_f64(ms / 1e3));
        delivery.newly_lost = ack.lost;
        delivery.rate = rate;
        self.flow.delivered += u64::from(ack.newly);
        self.flow.in_flight = ack.in_flight;
        self.call(|rule, cx, flow| rule.on_delivery(cx, &delivery, flow));
        self.rule.window()
    }
}
