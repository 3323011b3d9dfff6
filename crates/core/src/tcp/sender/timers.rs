//! Timers of a sender.

use super::ack_summary::AckSummary;
use super::connection::Stage;
use super::scoreboard::Record;
use super::{Sender, TimeoutRule};
use crate::context::Context;
use crate::observe::event::Cause;
use crate::units::Time;

/// Expiry times of the sender's timers; `None` for one that does not run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timers {
    /// Retransmission (RFC 6298, section 5).
    pub(super) rto: Option<Time>,
    /// Tail loss probe (RFC 8985, section 7).
    pub(super) probe: Option<Time>,
    /// Probe of a closed window (RFC 9293, section 3.8.6.1).
    pub(super) persist: Option<Time>,
}

/// Replaces `None` by a time that never comes.
fn or_never(at: Option<Time>) -> Time {
    at.unwrap_or(Time::MAX)
}

impl Sender {
    /// Restarts the retransmission timer at `now`.
    pub(super) fn restart_rto(&mut self, now: Time) {
        self.timers.rto = Some(now + self.trip.rto());
    }

    /// Segment `number` is retransmitted: in Linux the first one outstanding has a whole timeout from then
    /// on.
    pub(super) fn restart_rto_with_head(&mut self, now: Time, number: u64) {
        let is_head = number == self.board.numbers().start;
        if is_head && self.settings.timeout_rule == TimeoutRule::Linux {
            self.restart_rto(now);
        }
    }

    /// Whether an ACK that does not advance SND.UNA restarts the timer, as in Linux: it reports a segment
    /// sent before the last transmission of the first one outstanding, whose answer cannot be due yet. Later
    /// segments do not count, or the timer would never expire while other data arrives.
    pub(super) fn is_head_young(&self, summary: &AckSummary) -> bool {
        let head = self.board.get(self.board.numbers().start);
        let left_before = |head: &Record| summary.oldest_sacked.is_some_and(|order| order < head.order);
        self.settings.timeout_rule == TimeoutRule::Linux && head.is_some_and(left_before)
    }

    /// Runs timers and the controller's wake-up that are due.
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        let ticked = self.clock.ticked(cx.now);
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= ticked);
        if is_due(self.detector.reorder_at()) {
            self.on_reordering_timer(cx);
        }
        if is_due(self.timers.probe) {
            self.on_probe_timer(cx.now);
        }
        if is_due(self.timers.rto) {
            self.on_retransmission_timer(cx);
        }
        if is_due(self.timers.persist) {
            self.on_persist_timer(cx.now);
        }
        if self.stage == Stage::Open && is_due(self.controller.next_wake()) {
            self.notify(cx, Cause("wake"), |controller, cx, view| controller.on_wake(cx, view));
        }
    }

    /// Time at which [`on_wake`](Self::on_wake) and [`poll`](Self::poll) are due without a packet; `None` for
    /// never.
    pub fn next_wake(&self) -> Option<Time> {
        let Timers { rto, probe, persist } = self.timers;
        let next = match self.stage {
            Stage::Waiting => self.start,
            Stage::SynSent => or_never(rto),
            Stage::Open => {
                let sending = or_never(self.pacer.wake()).min(or_never(self.next_write()));
                let parts = or_never(self.detector.reorder_at()).min(or_never(self.controller.next_wake()));
                let timers = or_never(rto).min(or_never(probe)).min(or_never(persist));
                sending.min(parts).min(timers)
            }
            Stage::Closed => Time::MAX,
        };
        let next = self.clock.tick_from(next);
        (next < self.stop).then_some(next)
    }
}
