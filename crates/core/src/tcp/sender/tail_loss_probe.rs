//! Tail loss probes, which request an ACK before the retransmission timer expires (RFC 8985, section 7).

use super::recovery::RecoveryPhase;
use super::{Detection, Sender};
use crate::units::{Span, Time};

/// Wait for a probe before the first round-trip time (section 7.2).
const WITHOUT_SAMPLE: Span = Span::from_secs(1);

/// A probe under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailProbe {
    /// SND.NXT after its departure; `None` without a probe.
    end: Option<u64>,
    is_retransmission: bool,
}

/// Meaning of an ACK for a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// The ACK requires no reaction of congestion control.
    Nothing,
    /// The probe repaired a loss that nothing else reports.
    Repaired,
}

impl TailProbe {
    /// Records the departure of a probe.
    pub(super) fn begin(&mut self, end: u64, is_retransmission: bool) {
        *self = Self { end: Some(end), is_retransmission };
    }

    /// Ends the probe; the loss is not reported to the controller.
    pub(super) fn forget(&mut self) {
        self.end = None;
    }

    /// Handles an ACK up to `acked` (section 7.4.2); `is_empty` when it acknowledges nothing new and has no
    /// SACK blocks.
    pub(super) fn on_ack(&mut self, acked: u64, has_dsack: bool, is_empty: bool) -> ProbeOutcome {
        let Some(end) = self.end.filter(|end| acked >= *end) else { return ProbeOutcome::Nothing };
        // New data cannot repair a loss, and a duplicate shows that the original arrived.
        if !self.is_retransmission || has_dsack {
            self.end = None;
        // Later data is acknowledged, and no duplicate was reported: the original had been lost.
        } else if acked > end {
            self.end = None;
            return ProbeOutcome::Repaired;
        // A duplicate ACK of a receiver without D-SACK: the original arrived, too.
        } else if is_empty {
            self.end = None;
        }
        ProbeOutcome::Nothing
    }
}

impl Sender {
    /// Schedules the probe, counted from a departure of new data or from an ACK at `now` (section 7.2). There
    /// is none during recovery, with segments missing, or while a probe is under way.
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

    /// The probe is due. It takes the place of the retransmission timer, which is restarted.
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
