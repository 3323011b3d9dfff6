//! The congestion controller of a consumer or of a TCP sender, which decides how much may be outstanding.

use crate::context::Context;
use crate::ndn::packet::NackReason;
use crate::observe::event::Cause;
use crate::rng::Streams;
use crate::scheme::signal::HopSignals;
use crate::units::{BitRate, ByteCount, Span, Time};

/// One flow's window or rate rule. Every method but [`window`](Self::window) has a default.
///
/// A controller is `Send`, so that a connection may move to another thread together with its controller.
pub trait CongestionController: std::fmt::Debug + Send {
    /// Congestion window, packets, at least 1; infinite for a scheme without one.
    fn window(&self) -> f64;

    /// Sets its random streams; called once, before everything else.
    fn take_streams(&mut self, streams: Streams) {
        let _ = streams;
    }

    /// Pacing of Interests or segments.
    fn pacing(&self) -> Pacing {
        Pacing::Unpaced
    }

    /// Segments of a TCP sender that are sent together when paced, at least 1; the maximum of this and the
    /// sender's own setting applies.
    fn burst(&self) -> u32 {
        1
    }

    /// The SYN of a TCP sender is about to leave; signals may be written on it.
    fn on_open(&mut self, hop: &mut HopSignals) {
        let _ = hop;
    }

    /// A segment of a TCP receiver arrived with signals, which may be its SYN-ACK. Its acknowledgements are
    /// reported by later calls. Signals of a segment that was overtaken are not reported.
    fn on_feedback(&mut self, cx: &mut Context<'_>, hop: &HopSignals, flow: &FlowView) {
        let _ = (cx, hop, flow);
    }

    /// An Interest is about to leave; signals may be written on it.
    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        let _ = (cx, sent, hop, flow);
    }

    /// A segment arrived for the first time.
    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let _ = (cx, delivery, flow);
    }

    /// A loss was detected.
    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        let _ = (cx, loss, flow);
    }

    /// The recovery state of a TCP sender changed: this is where a TCP rule reduces, once, to the window
    /// after the recovery. Calls of one ACK have the order losses, recovery, delivery.
    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, flow: &FlowView) {
        let _ = (cx, recovery, flow);
    }

    /// The requested wake-up time has come.
    fn on_wake(&mut self, cx: &mut Context<'_>, flow: &FlowView) {
        let _ = (cx, flow);
    }

    /// Time of the next wake-up; `None` for never. After a wake-up it must be later than that one, otherwise the run does
    /// not end.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Slow-start threshold, packets; `None` for a scheme without one.
    fn ssthresh(&self) -> Option<f64> {
        None
    }

    /// Time after which `sent` counts as lost; `None` leaves it to the profile's estimator.
    fn loss_timeout(&self, sent: &Sent) -> Option<Span> {
        let _ = sent;
        None
    }

    /// Whether the retransmission of the lost `segment` is postponed; others go first. It is evaluated after every call,
    /// so a delay needs a wake-up at its end.
    fn holds_back(&self, segment: u32) -> bool {
        let _ = segment;
        false
    }

    /// Order of retransmissions and new segments.
    fn order(&self) -> SendOrder {
        SendOrder::RetransmissionsFirst
    }
}

/// Distribution of departures over time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pacing {
    /// Departures as soon as the window permits.
    Unpaced,
    /// Rate of Data, bit/s.
    Rate(BitRate),
    /// Interval between two consecutive Interests.
    Gap(Span),
}

/// Precedence if a retransmission and a new segment are both due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendOrder {
    /// Retransmissions before new segments.
    RetransmissionsFirst,
    /// New segments before retransmissions (BBR-CD).
    NewFirst,
}

/// State of the flow at the time of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FlowView {
    /// Outstanding Interests; the packet of this call is already subtracted (arrival) or added (sent).
    pub in_flight: u32,
    /// Lowest segment that was never requested.
    pub next_segment: u32,
    /// Highest segment that was requested.
    pub highest_sent: u32,
    /// Highest segment received; 0 before the first.
    pub highest_received: u32,
    /// Number of distinct segments received.
    pub delivered: u64,
    /// Segments not received yet; `None` for an unbounded flow.
    pub remaining: Option<u64>,
    /// Smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<Span>,
    /// Current retransmission timeout, backoff included.
    pub rto: Span,
}

impl Sent {
    /// The first transmission of `segment`, at `at`.
    pub const fn first(segment: u32, at: Time) -> Self {
        Self { segment, at, is_retransmission: false }
    }

    /// A retransmission of `segment`, at `at`.
    pub const fn again(segment: u32, at: Time) -> Self {
        Self { segment, at, is_retransmission: true }
    }
}

impl Delivery {
    /// Data of `segment` that arrives at `now`, `size` bytes on the wire, after one Interest that left at `sent_at`.
    ///
    /// It has no mark and no signals, and nothing else was outstanding. The `with_*` methods change that; all fields
    /// are public.
    pub fn of_data(segment: u32, size: ByteCount, sent_at: Time, now: Time) -> Self {
        let rtt = now.since(sent_at);
        Self {
            segment,
            size,
            rtt: Some(rtt),
            full_delay: rtt,
            sent_at,
            retransmissions: 0,
            delivered_at_send: 0,
            in_flight_before: 1,
            mark: 0,
            hop: HopSignals::default(),
            newly_acked: 1,
            newly_sacked: 0,
            newly_lost: 0,
            rate: None,
            is_source_limited: false,
        }
    }

    /// An ACK that arrives at `now` and delivers `segments` segments with `size` bytes together. The newest
    /// of them is `segment`, which left at `sent_at` and was not retransmitted. Nothing else was in flight.
    pub fn of_ack(segment: u32, segments: u32, size: ByteCount, sent_at: Time, now: Time) -> Self {
        let newest = Self::of_data(segment, size, sent_at, now);
        Self { newly_acked: segments, in_flight_before: segments, ..newest }
    }

    /// The same with congestion mark `level`: 0 for none, 1 for congested, more for graded schemes.
    #[must_use]
    pub fn with_mark(mut self, level: u8) -> Self {
        self.mark = level;
        self.hop.mark = level;
        self
    }

    /// The same with the signals `hop` and their mark.
    #[must_use]
    pub fn with_signals(self, hop: HopSignals) -> Self {
        Self { mark: hop.mark, hop, ..self }
    }

    /// The same after `count` retransmissions, of which the last left at `sent_at`: there is no round-trip time if `count`
    /// is above 0 (Karn's rule).
    #[must_use]
    pub fn with_retransmissions(self, count: u32) -> Self {
        Self { retransmissions: count, rtt: if count == 0 { self.rtt } else { None }, ..self }
    }

    /// The same with `packets` outstanding before this arrival, those that it delivers included.
    #[must_use]
    pub fn with_in_flight_before(self, packets: u32) -> Self {
        Self { in_flight_before: packets, ..self }
    }

    /// The same with `segments` distinct segments delivered when the last transmission left.
    #[must_use]
    pub fn with_delivered_at_send(self, segments: u64) -> Self {
        Self { delivered_at_send: segments, ..self }
    }
}

impl Loss {
    /// The loss of `segment`, last sent at `sent_at` and detected by `signal`.
    pub const fn new(segment: u32, sent_at: Time, signal: LossSignal) -> Self {
        Self { segment, sent_at, signal, since: None }
    }
}

impl FlowView {
    /// Counts an Interest for `segment` that leaves, for the first time or again.
    pub fn count_sent(&mut self, segment: u32) {
        self.in_flight += 1;
        self.highest_sent = self.highest_sent.max(segment);
        self.next_segment = self.next_segment.max(segment.saturating_add(1));
    }

    /// Counts the first arrival of `segment`, whose Interest was outstanding.
    pub fn count_delivered(&mut self, segment: u32) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.highest_received = self.highest_received.max(segment);
        self.delivered += 1;
    }

    /// Counts an Interest that is lost: it is not outstanding any more.
    pub fn count_lost(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }
}

/// Delivery rate of segments (draft-cheng-iccrg-delivery-rate-estimation, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// Segments delivered within the interval.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged; above zero.
    pub interval: Span,
    /// Segments delivered when the newest of them left.
    pub prior_delivered: u64,
    /// Whether the application, not the network, may have set the rate.
    pub is_app_limited: bool,
    /// Segments in flight just after the newest of them left.
    pub in_flight_at_send: u32,
    /// Segments found lost since the newest of them left.
    pub lost: u64,
}

impl RateSample {
    /// `delivered` segments within `interval`; the newest of them left when `prior_delivered` segments had been delivered.
    /// `is_app_limited` is false, `in_flight_at_send` and `lost` are 0.
    pub const fn new(delivered: u64, interval: Span, prior_delivered: u64) -> Self {
        Self { delivered, interval, prior_delivered, is_app_limited: false, in_flight_at_send: 0, lost: 0 }
    }
}

/// An Interest that leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sent {
    /// Number of the segment, from 0.
    pub segment: u32,
    /// Time of its departure.
    pub at: Time,
    /// Whether the segment was requested before.
    pub is_retransmission: bool,
}

/// A segment that arrived for the first time. TCP sets the `newly_*` fields per ACK; NDN has 1, 0, 0. For an
/// ACK of TCP the other fields describe the segment that was sent last among those it delivers, or the one
/// delivered last if it delivers none.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Delivery {
    /// Number of the segment, from 0.
    pub segment: u32,
    /// Bytes on the wire.
    pub size: ByteCount,
    /// Time from the last transmission to the arrival; `None` after a retransmission (Karn's rule).
    pub rtt: Option<Span>,
    /// Time from the first transmission to the arrival.
    pub full_delay: Span,
    /// Time of the last departure of its Interest.
    pub sent_at: Time,
    /// Number of retransmissions of its Interest.
    pub retransmissions: u32,
    /// Distinct segments received when the Interest last left.
    pub delivered_at_send: u64,
    /// Interests outstanding before this arrival.
    pub in_flight_before: u32,
    /// Level of the congestion mark; 0 for none.
    pub mark: u8,
    /// Every signal on the Data.
    pub hop: HopSignals,
    /// Number of packets that are newly acknowledged.
    pub newly_acked: u32,
    /// Packets newly acknowledged selectively.
    pub newly_sacked: u32,
    /// Packets newly found lost.
    pub newly_lost: u32,
    /// Delivery rate of the segments. TCP only: NDN schemes that need it measure it.
    pub rate: Option<RateSample>,
    /// Whether the window was not filled at the last opportunity to send, for lack of data or of the
    /// receiver's window; a window must not grow then (RFC 9438, section 4.2; RFC 2861). TCP only.
    pub is_source_limited: bool,
}

/// A detected loss of an Interest or a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loss {
    /// Number of the segment, from 0.
    pub segment: u32,
    /// Time of the last departure of its Interest.
    pub sent_at: Time,
    /// Signal by which it was detected.
    pub signal: LossSignal,
    /// Deliveries and losses since the segment left. TCP only.
    pub since: Option<LossSample>,
}

/// Counters of a connection between the departure of a segment and the detection of its loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LossSample {
    /// Segments in flight just after it left, itself included.
    pub in_flight_at_send: u32,
    /// Segments found lost since, itself included.
    pub lost: u64,
    /// Whether the application, not the network, may have set the rate when it left.
    pub is_app_limited: bool,
}

impl LossSample {
    /// `in_flight_at_send` segments in flight just after the lost one left, and `lost` found lost since, itself included.
    /// `is_app_limited` is false.
    pub const fn new(in_flight_at_send: u32, lost: u64) -> Self {
        Self { in_flight_at_send, lost, is_app_limited: false }
    }
}

/// Signal by which a loss is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossSignal {
    /// The retransmission timer expired.
    Timeout,
    /// The Interest's lifetime expired.
    Expired,
    /// The network refused the Interest.
    Nack(NackReason),
    /// Later packets arrived (TCP).
    Gap,
    /// A notice that a router has stored the Data; the Interest stays pending (PLR).
    Notice,
}

impl LossSignal {
    /// Name of the signal in events.
    pub const fn cause(self) -> Cause {
        Cause(match self {
            Self::Timeout => "timeout",
            Self::Expired => "lifetime",
            Self::Nack(_) => "nack",
            Self::Gap => "gap",
            Self::Notice => "loss notice",
        })
    }
}

/// Recovery state of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// Exhaustive: a controller that ignored a new state would keep a window that belongs to another one.
pub enum Recovery {
    /// Fast recovery begins after a detected loss.
    Enter {
        /// FlightSize of RFC 5681: segments sent and not acknowledged cumulatively, those found lost and those
        /// acknowledged selectively among them.
        flight: u32,
    },
    /// Everything outstanding at its start, or at the timeout, was acknowledged.
    Exit,
    /// The retransmission timer expired, again if nothing was acknowledged since.
    Timeout {
        /// Segments in flight before it.
        flight: u32,
    },
    /// No loss of the last recovery was real; no [`Exit`](Self::Exit) follows. It may also come after the
    /// exit, as long as no other recovery has begun.
    Spurious,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndn::consumer::Consumer;
    use crate::tcp::{Sender, SenderRule};

    const fn moves_between_threads<T: Send>() {}

    #[test]
    fn what_holds_a_controller_can_move_to_another_thread() {
        moves_between_threads::<Box<dyn CongestionController>>();
        moves_between_threads::<SenderRule>();
        moves_between_threads::<Sender>();
        moves_between_threads::<Consumer>();
    }

    #[test]
    fn a_mark_stands_in_the_signals_too_and_a_retransmission_has_no_round_trip() {
        let (sent_at, now) = (Time::from_nanos(10), Time::from_nanos(50));
        let data = Delivery::of_data(3, ByteCount::new(1_000), sent_at, now);
        assert_eq!((data.rtt, data.newly_acked), (Some(Span::from_nanos(40)), 1));
        let marked = data.with_mark(2);
        assert_eq!((marked.mark, marked.hop.mark), (2, 2));
        assert_eq!(data.with_signals(marked.hop), marked);
        assert_eq!(data.with_retransmissions(1).rtt, None);
        assert_eq!(data.with_retransmissions(0), data);
        let ack = Delivery::of_ack(8, 2, ByteCount::new(2_000), sent_at, now).with_in_flight_before(9);
        assert_eq!((ack.segment, ack.newly_acked, ack.in_flight_before), (8, 2, 9));
    }
}
