//! A controller of ours and one of quinn, told the same.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use tidegate_core::units::Time;

use super::estimator::estimator;
use crate::tcp::alone::{Ack, Alone};
use crate::tcp::*;

/// Bytes of a segment, which is quinn's MTU: halves of windows are whole bytes, and what quinn rounds off is no more than
/// 1/16384 of a segment.
pub const SEGMENT: u16 = 1 << 14;

/// Segments at the start, RFC 6928.
pub const INITIAL: u64 = 10;

/// Both of them, and the time.
pub struct Pair {
    pub ours: Alone,
    theirs: Box<dyn Controller>,
    begin: Instant,
    estimator: RttEstimator,
    pub rtt: Span,
    /// Since the start, as quinn has it.
    pub now: Span,
    /// How far ahead our clock is.
    pub ahead: Span,
    /// When both were last told of congestion; what left by then is of no more use to either.
    pub congested: Span,
}

impl Pair {
    /// Both at the start of a connection of that round trip.
    pub fn new<T: ControllerFactory>(name: &str, given: &[(&str, Setting)], rival: T, rtt: Span) -> Self {
        let begin = Instant::now();
        Self {
            ours: Alone::new(scheme(name), given, rtt),
            theirs: Arc::new(rival).build(begin, SEGMENT),
            begin,
            estimator: estimator(Duration::from_nanos(rtt.as_nanos())),
            rtt,
            now: Span::ZERO,
            ahead: Span::ZERO,
            congested: Span::ZERO,
        }
    }

    /// Segments.
    pub fn theirs(&self) -> f64 {
        self.theirs.window() as f64 / f64::from(SEGMENT)
    }

    /// How many segments ours is larger by.
    pub fn lead(&self) -> f64 {
        self.ours.window() - self.theirs()
    }

    /// Our time.
    fn our_now(&self) -> Time {
        Time::ZERO + self.now + self.ahead
    }

    fn instant(&self, at: Span) -> Instant {
        self.begin + Duration::from_nanos(at.as_nanos())
    }

    /// As much later as it takes to have `segments` of a window acknowledged.
    pub fn wait_for(&mut self, segments: u32) {
        let part = self.rtt.as_secs_f64() * f64::from(segments) / self.ours.window();
        self.now += Span::from_secs_f64(part);
    }

    /// An ACK of `segments` that left a round trip ago, or since the last congestion if that was later. quinn is told of
    /// segment after segment.
    pub fn ack(&mut self, segments: u32, is_source_limited: bool) {
        let since = Span::from_nanos(self.congested.as_nanos() + 1);
        let sent = Span::from_nanos(self.now.as_nanos().saturating_sub(self.rtt.as_nanos())).max(since);
        let sent_at = Time::ZERO + sent + self.ahead;
        self.ours.ack(self.our_now(), Ack { segments, sent_at, is_marked: false, is_source_limited });
        self.report_theirs(segments, sent, is_source_limited);
    }

    /// An ACK of a segment that left before the last congestion; it carries the mark if that was one.
    pub fn old_ack(&mut self, is_marked: bool) {
        let sent_at = Time::ZERO + self.congested + self.ahead;
        self.ours.ack(self.our_now(), Ack { is_marked, ..Ack::sent_at(sent_at) });
        self.report_theirs(1, self.congested, false);
    }

    fn report_theirs(&mut self, segments: u32, sent: Span, is_limited: bool) {
        let (now, sent) = (self.instant(self.now), self.instant(sent));
        for _ in 0..segments {
            self.theirs.on_ack(now, sent, u64::from(SEGMENT), is_limited, &self.estimator);
        }
    }

    /// The retransmission after a timeout is acknowledged: our window of one segment (RFC 5681) becomes two, which quinn's is
    /// from the start (RFC 9002 §7.2).
    pub fn ack_retransmission(&mut self) {
        let sent_at = Time::ZERO + self.congested + self.ahead;
        self.ours.ack(self.our_now(), Ack::sent_at(sent_at));
    }

    /// A loss is found.
    pub fn lose(&mut self) {
        self.congest(false);
        self.lose_ours();
    }

    /// A loss is found of which quinn does not hear.
    pub fn lose_ours(&mut self) {
        self.ours.lose(self.our_now());
    }

    /// An ACK with a mark arrives.
    pub fn mark(&mut self) {
        let sent_at = self.our_now();
        self.congest(false);
        self.ours.ack(self.our_now(), Ack { is_marked: true, ..Ack::sent_at(sent_at) });
    }

    /// The retransmission timer of ours runs out; quinn calls that persistent congestion.
    pub fn time_out(&mut self) {
        self.congest(true);
        self.ours.time_out(self.our_now());
    }

    fn congest(&mut self, is_persistent: bool) {
        let now = self.instant(self.now);
        self.theirs.on_congestion_event(now, now, is_persistent, u64::from(SEGMENT));
        self.congested = self.now;
    }

    /// What was outstanding at the last congestion is acknowledged.
    pub fn recover(&mut self) {
        self.ours.recover(self.our_now());
    }
}
