//! Loss detection of a consumer by timers, and its reaction to any loss.

use super::outstanding::next_tick;
use super::{Consumer, TimeoutReading, Tracking};
use crate::context::Context;
use crate::observe::event::Event;
use crate::scheme::congestion::{Loss, LossSignal, Sent};
use crate::units::{Span, Time};

impl Consumer {
    /// Schedules the loss detection for an Interest that leaves. Returns the last instant at which it does
    /// not count as lost if that is fixed now, else [`Time::MAX`].
    #[inline]
    pub(super) fn watch(&mut self, sent: &Sent) -> Time {
        if self.profile.tracking == Tracking::Exact
            && let Some(lifetime) = self.profile.lifetime
        {
            self.expire_at = self.expire_at.min(sent.at + lifetime);
        }
        match self.profile.reading {
            TimeoutReading::AtSend => {
                let deadline = sent.at + self.timeout_of(sent, self.view.rto);
                self.sweep_after(deadline);
                deadline
            }
            TimeoutReading::AtSweep => {
                self.sweep_after(self.deadline_now(sent));
                Time::MAX
            }
        }
    }

    /// Declares every Interest lost whose timeout has passed.
    pub(super) fn sweep(&mut self, cx: &mut Context<'_>) {
        let mut overdue = std::mem::take(&mut self.overdue);
        let earliest = match self.profile.reading {
            TimeoutReading::AtSend => self.outstanding.lose_overdue(cx.now, &mut overdue),
            TimeoutReading::AtSweep => self.lose_in_order(cx.now, &mut overdue),
        };
        // Unset first, because `sweep_after` only moves the sweep to an earlier time.
        self.sweep_at = Time::MAX;
        self.sweep_after(earliest);
        match self.profile.tracking {
            Tracking::Loose => self.lose_one_by_one(cx, &overdue),
            Tracking::Exact => self.lose_together(cx, &overdue),
        }
        overdue.clear();
        self.overdue = overdue;
    }

    /// Declares every Interest lost whose lifetime has ended.
    pub(super) fn expire(&mut self, cx: &mut Context<'_>) {
        let lifetime = self.profile.lifetime.unwrap_or(Span::MAX);
        self.expire_at = Time::MAX;
        while let Some((segment, sent_at)) = self.outstanding.oldest() {
            if sent_at + lifetime > cx.now {
                self.expire_at = sent_at + lifetime;
                break;
            }
            self.stats.timeouts += 1;
            self.outstanding.lose(segment);
            self.lose_alone(cx, segment, LossSignal::Expired);
        }
    }

    /// Sweeps as soon as the oldest Interest may have timed out, but not in this instant.
    pub(super) fn rearm_sweep(&mut self, now: Time) {
        if let Some(sent) = self.oldest() {
            self.sweep_after(self.deadline_now(&sent).max(now));
        }
    }

    /// A loss that is detected individually: counts it and reacts.
    pub(super) fn lose_alone(&mut self, cx: &mut Context<'_>, segment: u32, signal: LossSignal) {
        if let Some(loss) = self.count_lost(cx, segment, signal) {
            self.answer_loss(cx, &loss);
        }
    }

    /// Notifies the controller of a loss, and backs the timeout off if it is the first of its window of data; in
    /// ndnSIM only a timeout backs off.
    pub(super) fn answer_loss(&mut self, cx: &mut Context<'_>, loss: &Loss) {
        self.notify_loss(cx, loss);
        if self.is_new_event(loss.segment) && self.profile.tracking == Tracking::Exact {
            self.back_off();
        }
    }

    fn back_off(&mut self) {
        self.estimator.back_off();
        self.view.rto = self.estimator.rto();
    }

    /// Notifies the controller of a loss.
    pub(super) fn notify_loss(&mut self, cx: &mut Context<'_>, loss: &Loss) {
        self.notify(cx, loss.signal.cause(), |controller, cx, view| controller.on_loss(cx, loss, view));
    }

    pub(super) fn record_loss(&self, cx: &mut Context<'_>, loss: &Loss) {
        let name = self.name_of(loss.segment);
        cx.record(Event::LossDetected { flow: self.flow, name, cause: loss.signal.cause() });
    }

    /// Whether a loss of `segment` is the first of its window of data (ndn-tools' recovery point).
    pub(super) fn is_new_event(&mut self, segment: u32) -> bool {
        let is_new = segment > self.recovery_point;
        if is_new {
            self.recovery_point = self.view.highest_sent;
        }
        is_new
    }

    /// Gives up a segment that is not outstanding any more.
    pub(super) fn abandon(&mut self, segment: u32) {
        self.outstanding.abandon(segment);
        if let Some(requests) = &mut self.requests {
            requests.end_wait(segment);
        }
        self.stats.abandoned += 1;
    }

    /// Treats every Interest as a separate loss with a separate backoff.
    fn lose_one_by_one(&mut self, cx: &mut Context<'_>, overdue: &[u32]) {
        for segment in overdue {
            self.stats.timeouts += 1;
            // Every packet by itself, as in ndnSIM's `ConsumerWindow::OnTimeout`, with a backoff even for one
            // that was reported before.
            if let Some(loss) = self.count_lost(cx, *segment, LossSignal::Timeout) {
                self.notify_loss(cx, &loss);
            }
            self.back_off();
        }
    }

    /// Treats all as one loss, which is reported with the highest segment.
    fn lose_together(&mut self, cx: &mut Context<'_>, overdue: &[u32]) {
        let mut highest: Option<Loss> = None;
        for segment in overdue {
            self.stats.timeouts += 1;
            let loss = self.count_lost(cx, *segment, LossSignal::Timeout);
            highest = highest.into_iter().chain(loss).max_by_key(|loss| loss.segment);
        }
        if let Some(loss) = highest {
            self.answer_loss(cx, &loss);
        }
    }

    /// Removes a lost Interest from those in flight; its segment waits for its retransmission or is given up. Returns
    /// the loss unless it was reported before.
    fn count_lost(&mut self, cx: &mut Context<'_>, segment: u32, signal: LossSignal) -> Option<Loss> {
        let slot = *self.outstanding.get(segment)?;
        let loss = Loss { segment, sent_at: slot.last_sent, signal, since: None };
        self.view.in_flight = self.view.in_flight.saturating_sub(1);
        let silence = cx.now.since(self.stats.last_delivery.max(self.start));
        let has_tried = |limit| u32::from(slot.retransmissions) >= limit;
        if self.profile.retry_limit.is_some_and(has_tried) && silence >= self.profile.patience {
            self.abandon(segment);
        } else {
            self.queued += 1;
            self.lost.push(segment);
        }
        // The controller was notified when the Interest was refused.
        if slot.is_refused {
            return None;
        }
        self.record_loss(cx, &loss);
        Some(loss)
    }

    /// Declares Interests lost by the current timeout, in the order of sending up to the first that is not;
    /// returns the deadline of that one.
    fn lose_in_order(&mut self, now: Time, overdue: &mut Vec<u32>) -> Time {
        let rto = self.view.rto;
        while let Some(sent) = self.oldest() {
            if sent.at + self.timeout_of(&sent, rto) > now {
                return self.deadline_now(&sent).max(now);
            }
            // The loop ends at the first Interest in time, so this removal makes the next one the oldest.
            self.outstanding.lose(sent.segment);
            overdue.push(sent.segment);
        }
        Time::MAX
    }

    /// The outstanding Interest that left first.
    fn oldest(&mut self) -> Option<Sent> {
        let (segment, at) = self.outstanding.oldest()?;
        let is_retransmission = self.outstanding.get(segment).is_some_and(|slot| slot.retransmissions > 0);
        Some(Sent { segment, at, is_retransmission })
    }

    /// Last instant at which an Interest does not count as lost by the current timeout. A timeout of the
    /// controller may change at any time, so such an Interest is checked at every sweep.
    fn deadline_now(&self, sent: &Sent) -> Time {
        match self.controller.loss_timeout(sent) {
            Some(_) => sent.at,
            // One nanosecond earlier: here an Interest is lost in the instant of its timeout, in `AtSend`
            // only after it.
            None => Time::from_nanos((sent.at + self.view.rto).as_nanos().saturating_sub(1)),
        }
    }

    #[inline]
    fn timeout_of(&self, sent: &Sent, rto: Span) -> Span {
        self.controller.loss_timeout(sent).unwrap_or(rto)
    }

    /// Sweeps at the first tick after `deadline`, or earlier if that is planned.
    #[inline]
    fn sweep_after(&mut self, deadline: Time) {
        if deadline + self.profile.sweep < self.sweep_at {
            self.sweep_at = next_tick(self.start, self.profile.sweep, deadline);
        }
    }
}
