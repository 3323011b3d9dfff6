//! The congestion controller of a consumer (and of a TCP sender): decides how much may be outstanding.

use crate::context::Context;
use crate::event::Cause;
use crate::packet::NackReason;
use crate::rng::Streams;
use crate::signal::HopSignals;
use crate::units::{BitRate, ByteCount, Span, Time};

/// One flow's window or rate rule. Every method but [`window`](Self::window) has a default.
pub trait CongestionController: std::fmt::Debug {
    /// Congestion window, packets, at least 1; infinite for a scheme without one.
    fn window(&self) -> f64;

    /// Where it draws random numbers from, told once, before everything else.
    fn take_streams(&mut self, streams: Streams) {
        let _ = streams;
    }

    /// How sending is spread over time.
    fn pacing(&self) -> Pacing {
        Pacing::Unpaced
    }

    /// The SYN of a TCP sender is about to leave; signals may be written on it.
    fn on_open(&mut self, hop: &mut HopSignals) {
        let _ = hop;
    }

    /// A segment of a TCP receiver arrived with signals, its SYN-ACK among them; what it says otherwise is told after
    /// this, if it says anything.
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

    /// A loss was heard of.
    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        let _ = (cx, loss, flow);
    }

    /// The recovery state of a TCP sender changed: where a TCP rule reduces, once, to the window that it has afterwards.
    /// Calls of one ACK come in the order losses, recovery, delivery.
    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, flow: &FlowView) {
        let _ = (cx, recovery, flow);
    }

    /// The time asked for has come.
    fn on_wake(&mut self, cx: &mut Context<'_>, flow: &FlowView) {
        let _ = (cx, flow);
    }

    /// When to wake; `None` for never.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// Slow-start threshold, packets; `None` for a scheme without one.
    fn slow_start_threshold(&self) -> Option<f64> {
        None
    }

    /// After how long `sent` counts as lost; `None` leaves it to the shell's estimator.
    fn loss_timeout(&self, sent: &Sent) -> Option<Span> {
        let _ = sent;
        None
    }

    /// Whether the lost `segment` is not asked for again yet; others go first. It is asked after every call, so a wait
    /// needs a wake-up at its end.
    fn holds_back(&self, segment: u32) -> bool {
        let _ = segment;
        false
    }

    /// What is sent first.
    fn order(&self) -> SendOrder {
        SendOrder::RetransmissionsFirst
    }
}

/// How sending is spread over time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pacing {
    /// As soon as the window allows.
    Unpaced,
    /// At this many bits of Data per second.
    Rate(BitRate),
    /// This long between Interests.
    Gap(Span),
}

/// What goes first when a retransmission and a new segment are both due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOrder {
    /// Retransmissions.
    RetransmissionsFirst,
    /// New segments (BBR-CD).
    NewFirst,
}

/// State of the flow at the time of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowView {
    /// Interests outstanding; the packet of this call is already counted out (arrival) or in (sent).
    pub in_flight: u32,
    /// Lowest segment never asked for.
    pub next_segment: u32,
    /// Highest segment asked for.
    pub highest_sent: u32,
    /// Highest segment received; 0 before the first.
    pub highest_received: u32,
    /// Distinct segments received.
    pub delivered: u64,
    /// Segments not received yet; `None` for an unbounded flow.
    pub remaining: Option<u64>,
    /// Smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<Span>,
    /// Retransmission timeout now, backoff included.
    pub rto: Span,
}

/// How fast segments were delivered (draft-cheng-iccrg-delivery-rate-estimation §3.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered within the interval.
    pub delivered: u64,
    /// The longer of sending and acknowledging them; above zero.
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

/// An Interest that leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sent {
    /// Its segment.
    pub segment: u32,
    /// When it leaves.
    pub at: Time,
    /// Whether the segment was asked for before.
    pub is_retransmission: bool,
}

/// A segment that arrived for the first time. TCP fills the `newly_*` fields per ACK; NDN has 1, 0, 0. Of TCP's ACK the
/// other fields tell of the segment that left last among those it delivers; of an ACK that delivers none, of the one
/// delivered last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delivery {
    /// Its segment.
    pub segment: u32,
    /// Bytes on the wire.
    pub size: ByteCount,
    /// Last transmission to arrival; `None` after a retransmission (Karn).
    pub rtt: Option<Span>,
    /// First transmission to arrival.
    pub full_delay: Span,
    /// When the Interest last left.
    pub sent_at: Time,
    /// Times the Interest was sent again.
    pub retransmissions: u32,
    /// Distinct segments received when the Interest last left.
    pub delivered_at_send: u64,
    /// Interests outstanding before this arrival.
    pub in_flight_before: u32,
    /// Congestion mark.
    pub mark: u8,
    /// Every signal on the Data.
    pub hop: HopSignals,
    /// Packets newly acknowledged.
    pub newly_acked: u32,
    /// Packets newly acknowledged selectively.
    pub newly_sacked: u32,
    /// Packets newly found lost.
    pub newly_lost: u32,
    /// How fast they came. TCP alone: a consumer's rule that needs it measures it.
    pub rate: Option<RateSample>,
    /// Whether the window was not filled when something could last have left, for want of data or of the receiver's
    /// window; a window then must not grow (RFC 9438 §4.2, RFC 2861). TCP alone.
    pub is_source_limited: bool,
}

/// A loss that was heard of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Its segment.
    pub segment: u32,
    /// When the Interest last left.
    pub sent_at: Time,
    /// How it was heard of.
    pub signal: LossSignal,
    /// What the connection has seen since the segment left. TCP alone.
    pub since: Option<LossSample>,
}

/// What a connection saw from the departure of a segment until its loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossSample {
    /// Segments in flight just after it left, itself included.
    pub in_flight_at_send: u32,
    /// Segments found lost since, itself included.
    pub lost: u64,
    /// Whether the application, not the network, may have set the rate when it left.
    pub is_app_limited: bool,
}

/// How a loss was heard of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossSignal {
    /// The retransmission timer ran out.
    Timeout,
    /// The Interest's lifetime ran out.
    Expired,
    /// The network refused the Interest.
    Nack(NackReason),
    /// Later packets arrived (TCP).
    Gap,
    /// A router told that it stored the Data; the Interest stays pending (PLR).
    Notice,
}

impl LossSignal {
    /// The word that stands in events.
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
pub enum Recovery {
    /// Fast recovery begins.
    Enter {
        /// FlightSize of RFC 5681: segments sent and not acknowledged cumulatively, those found lost and those
        /// acknowledged selectively among them.
        flight: u32,
    },
    /// Everything outstanding at its begin, or at the timeout, was acknowledged.
    Exit,
    /// The retransmission timer ran out, again if nothing was acknowledged since.
    Timeout {
        /// As above.
        flight: u32,
    },
    /// The losses of the last recovery were none; no [`Exit`](Self::Exit) follows. It may also come after the exit, as long as
    /// no other recovery has begun.
    Spurious,
}
