//! One consumer on a path of constant delay, as a golden text: too many packets under way are marked, far too many are
//! lost.
//!
//! `on_wake` is not called: the consumer has no timers but those of losses and of pacing.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Write as _;

use tidegate_core::ndn::consumer::pacer::Pacer;
use tidegate_core::ndn::consumer::profile::{ProfileOptions, ProfileRules};
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::{LossSignal, Sent};
use tidegate_core::units::{ByteCount, Span, Time};

use crate::driver::{Driver, DriverEvent, DriverEventKind, RTT, marked_hop};

/// Of the Interests sent while this many packets are under way, one in ten comes back marked.
const MARK_ABOVE: u32 = 60;
const MARK_EVERY: u32 = 10;
/// Interests sent while this many packets are under way are lost.
const LOSE_ABOVE: u32 = 80;
/// A loss is detected this long after sending, unless the scheme has its own timer. It is never spurious.
const TIMEOUT: Span = Span::from_millis(200);
/// Maximum number of outstanding Interests, as of every consumer.
const MAX_IN_FLIGHT: u32 = 1 << 20;
/// Content of a Data, which a pacing rate in bit/s counts.
const PAYLOAD: ByteCount = ByteCount::new(1_000);
const END: Time = Time::from_nanos(4_000_000_000);
const ROW: Span = Span::from_millis(80);

/// Outcomes of Interests, in the order in which the consumer detects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InterestOutcome {
    at: Time,
    order: u32,
    segment: u32,
    is_lost: bool,
    is_marked: bool,
    is_retransmission: bool,
}

struct Run {
    name: &'static str,
    driver: Driver,
    now: Time,
    /// ndnget sends by the whole window, ndnSIM by the real one, PCON's consumer one more.
    profile: ProfileRules,
    pacer: Pacer,
    outcomes: BinaryHeap<Reverse<InterestOutcome>>,
    lost: VecDeque<u32>,
    next_segment: u32,
    sent: u32,
    outstanding: u32,
    under_way: u32,
    above_mark: u32,
    delivered: u32,
    losses: u32,
    marks: u32,
}

impl Run {
    fn new(scheme: &Scheme) -> Self {
        Self {
            name: scheme.name,
            driver: Driver::new(scheme, &[]),
            now: Time::ZERO,
            profile: ProfileRules::of(scheme.profile),
            pacer: Pacer::new(PAYLOAD),
            outcomes: BinaryHeap::new(),
            lost: VecDeque::new(),
            next_segment: 0,
            sent: 0,
            outstanding: 0,
            under_way: 0,
            above_mark: 0,
            delivered: 0,
            losses: 0,
            marks: 0,
        }
    }

    fn window_has_room(&self) -> bool {
        let window = self.driver.controller.window();
        assert!(window >= 1.0, "{}: window {window} at {}; a window is at least 1", self.name, self.now);
        let options = self.profile.options;
        let window = if options.has(ProfileOptions::WHOLE_WINDOW) { window.floor() } else { window };
        let outstanding = f64::from(self.outstanding);
        let has_room =
            outstanding < window || (options.has(ProfileOptions::ONE_OVER) && outstanding <= window);
        assert!(
            !has_room || self.outstanding < MAX_IN_FLIGHT,
            "{}: window {window} at {}; a consumer has at most {MAX_IN_FLIGHT} Interests outstanding",
            self.name,
            self.now
        );
        has_room
    }

    fn send_all(&mut self) {
        while self.window_has_room() {
            if !self.pacer.admits(self.now, self.driver.controller.pacing()) {
                return;
            }
            self.pacer.depart(self.now);
            let lost = self.lost.pop_front();
            let segment = lost.unwrap_or(self.next_segment);
            if lost.is_none() {
                self.next_segment += 1;
            }
            self.send(segment, lost.is_some());
        }
        self.pacer.rest();
    }

    /// Time of the next event.
    fn next(&self) -> Option<Time> {
        let outcome = self.outcomes.peek().map(|Reverse(outcome)| outcome.at);
        outcome.into_iter().chain(self.pacer.wake()).min()
    }

    /// Processes the event that is due at `at`: an outcome, or the pacer's timer.
    fn advance(&mut self, at: Time) {
        self.now = at;
        if self.outcomes.peek().is_some_and(|Reverse(outcome)| outcome.at == at)
            && let Some(Reverse(outcome)) = self.outcomes.pop()
        {
            self.receive(outcome);
        }
        self.send_all();
    }

    fn send(&mut self, segment: u32, is_retransmission: bool) {
        let is_lost = self.under_way >= LOSE_ABOVE;
        let is_congested = self.under_way >= MARK_ABOVE;
        self.above_mark += u32::from(is_congested);
        let sent = match is_retransmission {
            false => Sent::first(segment, self.now),
            true => Sent::again(segment, self.now),
        };
        let timeout = self.driver.controller.loss_timeout(&sent).unwrap_or(TIMEOUT);
        self.outcomes.push(Reverse(InterestOutcome {
            at: self.now + if is_lost { timeout } else { RTT },
            order: self.sent,
            segment,
            is_lost,
            is_marked: is_congested && self.above_mark.is_multiple_of(MARK_EVERY),
            is_retransmission,
        }));
        self.sent += 1;
        self.outstanding += 1;
        self.under_way += u32::from(!is_lost);
        self.handle(DriverEventKind::Sent { segment, is_retransmission });
    }

    fn receive(&mut self, outcome: InterestOutcome) {
        let segment = outcome.segment;
        self.outstanding -= 1;
        if outcome.is_lost {
            self.losses += 1;
            self.lost.push_back(segment);
            self.handle(DriverEventKind::Loss { segment, signal: LossSignal::Timeout });
        } else {
            self.under_way -= 1;
            self.delivered += 1;
            self.marks += u32::from(outcome.is_marked);
            let rtt = (!outcome.is_retransmission).then_some(RTT);
            self.handle(DriverEventKind::Data { segment, hop: marked_hop(u8::from(outcome.is_marked)), rtt });
        }
    }

    fn handle(&mut self, kind: DriverEventKind) {
        self.driver.handle(DriverEvent { at: self.now, next_segment: self.next_segment, kind });
    }

    fn row(&self, at: Time) -> String {
        let window = self.driver.controller.window().round();
        let ssthresh = self.driver.controller.ssthresh().map_or(f64::INFINITY, f64::round);
        let ssthresh = if ssthresh < 1e9 { ssthresh.to_string() } else { "-".to_owned() };
        let [outstanding, delivered] = [self.outstanding, self.delivered];
        format!(
            "{:>5}{window:>8}{ssthresh:>11}{outstanding:>13}{delivered:>11}{:>7}{:>8}",
            at.as_nanos() / 1_000_000,
            self.marks,
            self.losses
        )
    }
}

/// The course of the consumer of `scheme` with default parameters: four seconds in rows of 80 ms, in whole packets. Marks,
/// losses and deliveries are totals since the start.
///
/// # Panics
/// If the scheme has no consumer; if a window is below 1 or not a number, or fills more than 1,048,576 Interests.
pub fn trace(scheme: &Scheme) -> String {
    let mut run = Run::new(scheme);
    let mut text = format!(
        "# {}: round trip of 40 ms; from {MARK_ABOVE} under way one in {MARK_EVERY} is marked, from {LOSE_ABOVE} all are lost\n\
         # t_ms  window  threshold  outstanding  delivered  marks  losses\n",
        scheme.name
    );
    let mut row_at = Time::ZERO + ROW;
    run.send_all();
    while row_at <= END {
        let Some(at) = run.next() else { break };
        while row_at < at && row_at <= END {
            writeln!(text, "{}", run.row(row_at)).expect("a string takes every row");
            row_at += ROW;
        }
        run.advance(at);
    }
    text
}
