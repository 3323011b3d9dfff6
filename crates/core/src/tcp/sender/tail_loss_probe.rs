//! Tail loss probes: an ACK is asked for before the retransmission timer runs out (RFC 8985 §7).

use super::recovery::RecoveryPhase;
use super::{Detection, Sender};
use crate::units::{Span, Time};

/// Wait for a probe before the first round-trip time (§7.2).
const WITHOUT_SAMPLE: Span = Span::from_secs(1);

/// A probe under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// SND.NXT after it left; `None` without one.
    end: Option<u64>,
    is_retransmission: bool,
}

/// What an ACK says of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// Nothing that matters.
    Nothing,
    /// The probe made good a loss, of which nothing else tells.
    Repaired,
}

impl TailProbe {
    /// A probe has left.
    pub(super) fn begin(&mut self, end: u64, is_retransmission: bool) {
        *self = Self { end: Some(end), is_retransmission };
    }

    /// Ends the probe; the loss is not reported to the controller.
    pub(super) fn forget(&mut self) {
        self.end = None;
    }

    /// §7.4.2: an ACK up to `acked`; `is_empty` when it acknowledges nothing new and has no SACK blocks.
    pub(super) fn on_ack(&mut self, acked: u64, has_dsack: bool, is_empty: bool) -> ProbeOutcome {
        let Some(end) = self.end.filter(|end| acked >= *end) else { return ProbeOutcome::Nothing };
        if !self.is_retransmission || has_dsack {
            self.end = None;
        } else if acked > end {
            self.end = None;
            return ProbeOutcome::Repaired;
        } else if is_empty {
            self.end = None;
        }
        ProbeOutcome::Nothing
    }
}

impl Sender {
    /// §7.2: when a probe is due, counted from a departure of new data or from an ACK at `now`. Not during recovery, with
    /// segments missing, or while a probe is under way.
    pub(super) fn arm_probe(&mut self, now: Time) {
        let is_calm = self.settings.detection == Detection::RackTlp
            && self.phase == RecoveryPhase::Open
            && self.board.sacked_count() == 0
            && self.tail.end.is_none()
            && self.board.in_flight() > 0;
        if !is_calm {
            self.timers.probe = None;
            return;
        }
        let wait = match self.trip.smoothed() {
            None => WITHOUT_SAMPLE,
            Some(smoothed) if self.board.numbers().count() == 1 => smoothed * 2 + self.settings.max_ack_delay,
            Some(smoothed) => smoothed * 2,
        };
        self.timers.probe = Some((now + wait).min(self.timers.rto.unwrap_or(Time::MAX)));
    }

    /// The probe is due: it takes the place of the retransmission timer, which starts anew with it.
    pub(super) fn on_probe_timer(&mut self, now: Time) {
        self.timers.probe = None;
        self.restart_rto(now);
        self.owed.tail_probe = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repeated_segment_that_nobody_had_twice_made_good_a_loss() {
        let after = |is_retransmission, acked, has_dsack, is_empty| {
            let mut probe = TailProbe::default();
            probe.begin(100, is_retransmission);
            (probe.on_ack(acked, has_dsack, is_empty), probe.end)
        };
        let outcome = |is_retransmission, acked, has_dsack| after(is_retransmission, acked, has_dsack, false);
        assert_eq!(
            after(true, 100, false, true),
            (ProbeOutcome::Nothing, None),
            "the first one came, and the probe too"
        );
        assert_eq!(after(true, 99, false, true), (ProbeOutcome::Nothing, Some(100)));
        assert_eq!(outcome(true, 99, false), (ProbeOutcome::Nothing, Some(100)));
        assert_eq!(outcome(false, 100, false), (ProbeOutcome::Nothing, None));
        assert_eq!(outcome(true, 100, true), (ProbeOutcome::Nothing, None));
        assert_eq!(outcome(true, 100, false), (ProbeOutcome::Nothing, Some(100)), "a DSACK may follow");
        assert_eq!(outcome(true, 101, false), (ProbeOutcome::Repaired, None));
    }
}
