//! Losses, and the recoveries that begin with them (RFC 6675, section 5; RFC 8985, section 6; RFC 6298,
//! section 5; RFC 3522).

use super::ack_summary::AckSummary;
use super::connection::Stage;
use super::detector::Facts;
use super::prr::Prr;
use super::scoreboard::Record;
use super::{Reduction, Sender};
use crate::context::Context;
use crate::ndn::name::{Name, Segment};
use crate::ndn::packet::Millis;
use crate::observe::event::{Cause, Event};
use crate::scheme::congestion::{Loss, LossSignal, Recovery};
use crate::units::Time;

/// The recovery under way; it ends when everything before the position is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryPhase {
    Open,
    Fast { until: u64 },
    Timeout { until: u64 },
}

/// Eifel detection: time stamps show whether a recovery was needed (RFC 3522, section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Eifel {
    /// Nothing to find out.
    Idle,
    /// A recovery began, and nothing has been retransmitted yet.
    Armed,
    /// Its first retransmission left with this time stamp.
    Sent(Millis),
}

impl Eifel {
    /// Records the stamp `at` of a retransmission.
    pub(super) fn on_retransmission(&mut self, at: Millis) {
        if *self == Self::Armed {
            *self = Self::Sent(at);
        }
    }

    /// Whether the first ACK that advances answers a segment sent before the retransmission. Equal stamps
    /// decide nothing, as they are a millisecond long.
    fn finds_spurious(&mut self, echo: Option<Millis>) -> bool {
        let Self::Sent(resent) = *self else { return false };
        *self = Self::Idle;
        echo.is_some_and(|echo| echo < resent)
    }
}

/// Effect of one ACK on the sender's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessedAck<'a> {
    pub(super) summary: &'a AckSummary,
    /// SND.UNA after this ACK.
    pub(super) acked: u64,
    /// Whether SND.UNA moved on.
    pub(super) has_advanced: bool,
    /// Whether it reports the last retransmission of the recovery as a duplicate, so that all were needless.
    pub(super) is_repetition: bool,
    pub(super) echo: Option<Millis>,
    /// Segments in flight before it arrived.
    pub(super) in_flight_before: u32,
    /// Whether it reports a congestion mark.
    pub(super) is_marked: bool,
}

impl Sender {
    /// Detects losses after an ACK and moves through the phases: losses, end of a recovery, begin of the
    /// next. Returns the number of newly lost segments.
    pub(super) fn recover(&mut self, cx: &mut Context<'_>, ack: &ProcessedAck<'_>) -> u32 {
        let is_late =
            ack.has_advanced && self.phase != RecoveryPhase::Open && self.eifel.finds_spurious(ack.echo);
        // First, so that segments of a needless recovery are in flight again when losses are looked for.
        if is_late || ack.is_repetition {
            self.undo(cx);
        }
        let newly_lost = self.detect(cx);
        let is_over = match self.phase {
            RecoveryPhase::Open => false,
            RecoveryPhase::Fast { until } | RecoveryPhase::Timeout { until } => ack.acked >= until,
        };
        if is_over {
            self.end_recovery(cx);
        }
        // Losses found after the begin of the recovery that is over have not led to a reduction yet.
        if self.phase == RecoveryPhase::Open && self.board.has_missing() {
            self.begin_recovery(cx, ack.summary);
        }
        if let Some(prr) = &mut self.prr {
            // The ACK that begins a recovery is also the first one of its reduction (RFC 9937, section 6.2).
            let is_safe = ack.has_advanced && newly_lost == 0;
            prr.on_ack(ack.summary.delivered(), self.board.in_flight(), is_safe);
        }
        newly_lost
    }

    /// Detects losses and notifies the controller of each.
    fn detect(&mut self, cx: &mut Context<'_>) -> u32 {
        let mut lost = std::mem::take(&mut self.lost);
        let facts =
            Facts { now: cx.now, in_recovery: self.phase != RecoveryPhase::Open, mss: self.settings.mss };
        self.detector.detect(&mut self.board, &self.trip, facts, &mut lost);
        let count = lost.len() as u32;
        if count > 0 {
            self.notify_losses(cx, &lost, LossSignal::Gap);
            lost.clear();
        }
        self.lost = lost;
        count
    }

    fn notify_losses(&mut self, cx: &mut Context<'_>, lost: &[u64], signal: LossSignal) {
        self.refresh_view();
        for number in lost {
            self.meter.on_lost();
            let record = self.board.get(*number);
            let sent_at = record.map_or(cx.now, |record| record.sent_at);
            let since = record.map(|record| self.meter.loss_sample(&record.snapshot));
            let loss = Loss { segment: *number as u32, sent_at, signal, since };
            let first = record.map_or(0, Record::start);
            let name = Name { segment: Segment(self.own.number(first)), ..self.name };
            cx.record(Event::LossDetected { flow: self.flow, name, cause: signal.cause() });
            self.notify(cx, signal.cause(), |controller, cx, view| controller.on_loss(cx, &loss, view));
        }
    }

    fn begin_recovery(&mut self, cx: &mut Context<'_>, summary: &AckSummary) {
        self.phase = RecoveryPhase::Fast { until: self.board.next() };
        self.detector.on_recovery();
        self.arm_eifel();
        self.repeats.begin();
        self.tail.forget();
        self.timers.probe = None;
        self.stats.recoveries += 1;
        self.notify_recovery(cx, Recovery::Enter { flight: self.flight() });
        // After the call of the controller, whose new window is the target of the reduction.
        if self.reduction == Reduction::Proportional {
            // RFC 9937, section 6.2: what was acknowledged selectively before will not be delivered again.
            let sacked_before = u64::from(self.board.sacked_count().saturating_sub(summary.sacked));
            let outstanding = u64::from(self.flight()) + u64::from(summary.acked);
            self.prr = Some(Prr::new(self.window, outstanding.saturating_sub(sacked_before)));
        }
    }

    /// Arms the detection for the first retransmission of the first outstanding segment (RFC 3522, section
    /// 3.2, step 1). One that was retransmitted before, in another recovery, may be answered at any time.
    fn arm_eifel(&mut self) {
        let first = self.board.get(self.board.numbers().start);
        if first.is_some_and(|record| record.retransmissions == 0) {
            self.eifel = Eifel::Armed;
        }
    }

    fn end_recovery(&mut self, cx: &mut Context<'_>) {
        self.phase = RecoveryPhase::Open;
        (self.eifel, self.prr) = (Eifel::Idle, None);
        self.detector.on_recovered();
        self.notify_recovery(cx, Recovery::Exit);
    }

    /// Undoes a recovery that was not needed.
    fn undo(&mut self, cx: &mut Context<'_>) {
        self.phase = RecoveryPhase::Open;
        (self.eifel, self.prr) = (Eifel::Idle, None);
        self.repeats.forget();
        self.board.find_all();
        self.refresh_view();
        self.stats.spurious += 1;
        self.notify_recovery(cx, Recovery::Spurious);
    }

    fn notify_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery) {
        let cause = Cause(match recovery {
            Recovery::Enter { .. } => LossSignal::Gap.cause().0,
            Recovery::Exit => "recovery",
            Recovery::Timeout { .. } => "timeout",
            Recovery::Spurious => "spurious",
        });
        self.notify(cx, cause, |controller, cx, view| controller.on_recovery(cx, recovery, view));
    }

    /// The reordering timer expired (RFC 8985, section 6.2, step 5): losses may be detected without an ACK.
    pub(super) fn on_reordering_timer(&mut self, cx: &mut Context<'_>) {
        self.detect(cx);
        if self.phase == RecoveryPhase::Open && self.board.has_lost() {
            self.begin_recovery(cx, &AckSummary::default());
            if let Some(prr) = &mut self.prr {
                prr.begin(self.board.in_flight());
            }
        }
    }

    /// The retransmission timer expired (RFC 6298, sections 5.4 to 5.6): outstanding segments are lost, the
    /// first one first.
    pub(super) fn on_retransmission_timer(&mut self, cx: &mut Context<'_>) {
        if self.stage != Stage::Open {
            return self.on_syn_timer();
        }
        self.stats.timeouts += 1;
        self.trip.back_off();
        self.timers.rto = Some(cx.now + self.trip.rto());
        self.timers.probe = None;
        self.owed.tail_probe = false;
        self.tail.forget();
        self.detector.rest();
        if self.phase == RecoveryPhase::Open {
            self.repeats.begin();
        }
        self.phase = RecoveryPhase::Timeout { until: self.board.next() };
        self.prr = None;
        self.arm_eifel();
        let lost = self.lose_at_timeout(cx.now);
        self.notify_losses(cx, &lost, LossSignal::Timeout);
        self.notify_recovery(cx, Recovery::Timeout { flight: self.flight() });
    }

    fn lose_at_timeout(&mut self, now: Time) -> Vec<u64> {
        let numbers = self.board.numbers();
        let Self { board, detector, trip, .. } = self;
        let is_lost = |number: &u64| {
            let is_late = |record| detector.is_lost_at_timeout(record, board, trip, now);
            // RFC 8985, section 6.3: the first segment is lost in any case, or the timer would expire without
            // effect.
            *number == numbers.start || board.get(*number).is_some_and(is_late)
        };
        let mut lost: Vec<u64> = numbers.clone().filter(is_lost).collect();
        lost.retain(|number| board.lose_all(*number).is_some());
        lost
    }
}
