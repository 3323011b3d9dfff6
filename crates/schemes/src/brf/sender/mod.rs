//! The sender (`tcp_brf`): paces at the granted rate; its behaviour without a grant is not in the paper.
//!
//! There is no congestion window. A fuse bounds the flight to twice the bandwidth-delay product of the rate, so that
//! a rate that is no longer valid, or never was, does limited damage. Losses change nothing while grants arrive.

use tidegate_core::prelude::*;

use super::rate_code::{self, Grant};
use super::fallback::{self, INITIAL_WINDOW};
use super::measure::SEGMENT;
use crate::toolbox::window::tcp_cubic::TcpCubicWindow;
use crate::brf::rate_code::GRANTED_RATE;

/// Bytes of a segment without its payload; [`SEGMENT`] has 1448 of that.
const HEADERS: f64 = 66.0;
/// Lifetime of a grant without another one: this, or [`GRANT_ROUND_TRIPS`], or the time of [`GRANT_SEGMENTS`] at its
/// rate, whichever is longest.
const GRANT_HOLDS: Span = Span::from_millis(200);
const GRANT_ROUND_TRIPS: u64 = 3;
const GRANT_SEGMENTS: f64 = 3.0;
/// Halvings of a rate that is no longer granted, one per round trip; then CUBIC takes over.
const MAX_HALVINGS: u32 = 5;
/// Idle time after which the grant is no longer used.
const REST: Span = Span::from_secs(1);
/// Allowance of the fuse for delayed ACKs, in addition to the round trip.
const SLACK: Span = Span::from_millis(25);
/// Minimum value of the fuse, segments.
const MIN_FUSE: f64 = 10.0;
/// Minimum rate under any grant: one segment per second, so that no switch can stop a sender for ever.
const MIN_RATE: f64 = SEGMENT;
/// Segments in flight that a hold allows. It is a window and not a pacing rate, which would allow a burst when the
/// hold ends.
const HOLD_SEGMENTS: f64 = 2.0;
/// Bounds of a burst: maximum in bytes, minimum in segments.
const MAX_RELEASED: f64 = 65_536.0;
const MIN_RELEASED: f64 = 2.0;
/// Assumed RTT before the first sample.
const FIRST_RTT: Span = Span::from_millis(100);
/// A fraction of lost segments above this, in [`BREAKER_ROUND_TRIPS`] without a grant, makes the grant expire.
const BREAKER_LOSS: f64 = 0.25;
const BREAKER_ROUND_TRIPS: u64 = 4;
/// Minimum number of segments for which a loss rate is significant.
const BREAKER_SEGMENTS: u32 = 20;

/// Source of the sender's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A grant sets the rate.
    Granted,
    /// A grant that has expired.
    Stale {
        halvings: u32,
        /// Time of the next halving.
        at: Time,
    },
    /// CUBIC sets the window, because no grant is valid.
    Fallback,
}

/// Losses since a time.
#[derive(Clone, Copy, Debug)]
struct Breaker {
    since: Time,
    sent: u32,
    lost: u32,
}

/// The rate rule of one connection.
#[derive(Debug)]
pub(super) struct BrfSender {
    /// Segments that are due within this time leave together.
    release: Span,
    mode: Mode,
    /// Bytes/s on the wire.
    rate: f64,
    /// Whether the grant is a hold.
    is_held: bool,
    /// Maximum payload of a delivered segment, bytes; 0 before the first.
    payload: f64,
    /// Arrival time of the last grant.
    received: Time,
    min_rtt: Option<Span>,
    rtt: Span,
    /// Rate of the fastest link of the node, bytes/s, an upper bound of grants.
    link: f64,
    /// Time at which a segment was last sent or acknowledged.
    busy_at: Time,
    /// Whether nothing is in flight, so that no grant can arrive.
    is_resting: bool,
    breaker: Breaker,
    fallback: TcpCubicWindow,
}

impl BrfSender {
    pub(super) fn new(release: Span) -> Self {
        Self {
            release,
            mode: Mode::Fallback,
            rate: 0.0,
            is_held: false,
            payload: 0.0,
            received: Time::ZERO,
            min_rtt: None,
            rtt: FIRST_RTT,
            link: f64::INFINITY,
            busy_at: Time::ZERO,
            is_resting: false,
            breaker: Breaker { since: Time::ZERO, sent: 0, lost: 0 },
            fallback: fallback::begin(),
        }
    }

    /// Bytes of a full segment on the wire: of the largest that was delivered, or of one on Ethernet.
    fn segment(&self) -> f64 {
        if self.payload > 0.0 { self.payload + HEADERS } else { SEGMENT }
    }

    /// Rate of `segments` per round trip, bytes/s.
    fn per_round_trip(&self, segments: f64) -> f64 {
        segments * self.segment() / self.rtt.as_secs_f64().max(1e-6)
    }

    fn apply(&mut self, now: Time, grant: Grant) {
        let rate = match grant {
            Grant::Unassigned => return,
            Grant::Hold => self.per_round_trip(HOLD_SEGMENTS),
            Grant::Rate(rate) => rate as f64,
        };
        // No grant above the link of the host can be met; one far above it would only widen the fuse.
        self.rate = rate.min(self.link).max(MIN_RATE);
        self.is_held = grant == Grant::Hold;
        (self.mode, self.received) = (Mode::Granted, now);
    }

    /// Expiry of a grant that last arrived at `received`.
    fn runs_out(&self) -> Time {
        let segments = Span::from_secs_f64(GRANT_SEGMENTS * self.segment() / self.rate.max(MIN_RATE));
        self.received + GRANT_HOLDS.max(self.rtt * GRANT_ROUND_TRIPS).max(segments)
    }

    /// Halves the rate, but not below the initial window per RTT, unless it was lower already.
    fn halve(&mut self) {
        self.is_held = false;
        let min = self.per_round_trip(INITIAL_WINDOW).min(self.rate);
        self.rate = (self.rate / 2.0).max(min).max(MIN_RATE);
    }

    fn become_stale(&mut self, now: Time) {
        self.halve();
        self.mode = Mode::Stale { halvings: 1, at: now + self.rtt };
    }

    /// Ages the grant until `now`; after a late wake-up every halving that was due is made.
    fn age(&mut self, now: Time) {
        if self.mode == Mode::Granted && self.runs_out() <= now {
            // From the expiry, not from now, so that a late wake-up does not prolong the grant.
            let late = self.runs_out();
            self.become_stale(late);
        }
        while let Mode::Stale { halvings, at } = self.mode
            && at <= now
        {
            if halvings == MAX_HALVINGS {
                return self.fall_back();
            }
            self.halve();
            self.mode = Mode::Stale { halvings: halvings + 1, at: at + self.rtt };
        }
    }

    fn fall_back(&mut self) {
        // By the minimum RTT: the smoothed one contains the queue that the old rate has built.
        let in_flight = self.rate * self.min_rtt.unwrap_or(self.rtt).as_secs_f64() / self.segment();
        self.fallback = fallback::resume(in_flight);
        self.mode = Mode::Fallback;
    }

    fn note_round_trip(&mut self, flow: &FlowView, rtt: Option<Span>) {
        self.rtt = flow.smoothed_rtt.unwrap_or(self.rtt).max(Span::from_micros(1));
        // Before the first sample the smoothed RTT, from the handshake, takes the place of the minimum.
        let sample = rtt.or(flow.smoothed_rtt.filter(|_| self.min_rtt.is_none()));
        self.min_rtt = [self.min_rtt, sample].into_iter().flatten().min();
    }

    /// Ends an idle time: after a long one the grant is no longer valid, and during a short one no other could
    /// arrive.
    fn end_rest(&mut self, now: Time) {
        // A grant that arrived during the idle time, as on the SYN-ACK of a flow that begins late, counts
        // from its arrival.
        let rest = now.since(self.busy_at.max(self.received));
        if !(self.is_resting || rest > REST) {
            return;
        }
        if rest > REST {
            self.rate = self.per_round_trip(INITIAL_WINDOW).min(self.link);
            self.is_held = false;
            self.mode = Mode::Granted;
        }
        self.received = now;
        if let Mode::Stale { at, .. } = &mut self.mode {
            *at = now + self.rtt;
        }
        self.is_resting = false;
    }

    /// Ends a grant whose loss rate shows that it is far too high.
    fn watch_losses(&mut self, now: Time) {
        let Breaker { since, sent, lost } = self.breaker;
        if now.since(since) < self.rtt * BREAKER_ROUND_TRIPS {
            return;
        }
        self.breaker = Breaker { since: now, sent: 0, lost: 0 };
        let is_broken = sent >= BREAKER_SEGMENTS && f64::from(lost) > BREAKER_LOSS * f64::from(sent);
        // A fresh grant is the answer of the network to those losses, so it is not questioned by them.
        if is_broken && self.received < since && self.mode == Mode::Granted {
            self.become_stale(now);
        }
    }

    /// Maximum number of segments in flight.
    fn fuse(&self) -> f64 {
        // Without an RTT the flight at the rate is unknown.
        let Some(rtt) = self.min_rtt else { return MIN_FUSE };
        (2.0 * self.rate * (rtt + SLACK).as_secs_f64() / self.segment()).max(MIN_FUSE)
    }
}

impl CongestionController for BrfSender {
    fn window(&self) -> f64 {
        match self.mode {
            Mode::Fallback => self.fallback.get(),
            _ if self.is_held => HOLD_SEGMENTS,
            _ => self.fuse(),
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        (self.mode == Mode::Fallback).then(|| self.fallback.ssthresh())
    }

    fn pacing(&self) -> Pacing {
        if self.mode == Mode::Fallback || self.is_held {
            return Pacing::Unpaced;
        }
        // A grant counts bytes on the wire, pacing counts payload.
        Pacing::Rate(BitRate::from_bps((self.rate * 8.0 * (1.0 - HEADERS / self.segment())) as u64))
    }

    /// Segments of the time `release` at the rate, from two segments up to 64 kB.
    fn burst(&self) -> u32 {
        if self.release == Span::ZERO || self.mode == Mode::Fallback {
            return 1;
        }
        let bytes = (self.rate * self.release.as_secs_f64()).min(MAX_RELEASED).max(MIN_RELEASED * self.segment());
        (bytes / self.segment()) as u32
    }

    fn on_open(&mut self, hop: &mut HopSignals) {
        hop.put(GRANTED_RATE, u32::from(rate_code::UNASSIGNED));
    }

    fn on_feedback(&mut self, cx: &mut Context<'_>, hop: &HopSignals, flow: &FlowView) {
        let links = cx.faces.iter().filter(|face| !face.is_local());
        self.link = links.map(|face| face.rate().as_bps() as f64 / 8.0).fold(0.0, f64::max);
        // Without a face to a network there is no upper bound.
        if self.link == 0.0 {
            self.link = f64::INFINITY;
        }
        self.note_round_trip(flow, None);
        if let Some(value) = hop.get(GRANTED_RATE) {
            self.apply(cx.now, rate_code::read(value));
        }
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        // On every segment, so that a switch that is new on the path finds the class of the flow.
        hop.put(GRANTED_RATE, u32::from(rate_code::UNASSIGNED));
        self.note_round_trip(flow, None);
        if self.mode == Mode::Fallback {
            self.fallback.on_sent(sent, flow);
        } else if flow.in_flight <= 1 {
            self.end_rest(cx.now);
        }
        self.busy_at = cx.now;
        self.breaker.sent += 1;
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.note_round_trip(flow, delivery.rtt);
        self.busy_at = cx.now;
        let segments = delivery.newly_acked + delivery.newly_sacked;
        if segments > 0 {
            self.payload = self.payload.max(delivery.size.get() as f64 / f64::from(segments));
        }
        match self.mode {
            Mode::Fallback => self.fallback.on_delivery(cx.now, delivery, flow),
            Mode::Granted | Mode::Stale { .. } => self.watch_losses(cx.now),
        }
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        // Timeouts have their own reaction in `on_recovery`.
        self.breaker.lost += u32::from(loss.signal == LossSignal::Gap);
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        let is_timeout = matches!(recovery, Recovery::Timeout { .. });
        match self.mode {
            Mode::Fallback => self.fallback.on_recovery(cx.now, recovery),
            Mode::Stale { .. } if is_timeout => self.fall_back(),
            // With a grant from the last RTT the path works, so the timeout only retransmits and the rate
            // stays.
            Mode::Granted if is_timeout && cx.now.since(self.received) >= self.rtt => self.halve(),
            Mode::Granted | Mode::Stale { .. } => {}
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, flow: &FlowView) {
        if flow.in_flight == 0 {
            // No ACK can bring a grant now, so its age has no meaning; `end_rest` restarts the clock.
            self.is_resting = true;
            return;
        }
        self.age(cx.now);
    }

    fn next_wake(&self) -> Option<Time> {
        match self.mode {
            _ if self.is_resting => None,
            Mode::Granted => Some(self.runs_out()),
            Mode::Stale { at, .. } => Some(at),
            Mode::Fallback => None,
        }
    }
}

#[cfg(test)]
mod tests;
