//! The window during loss recovery: packet conservation in its first round; the window from before is restored
//! afterwards.

use tidegate_core::scheme::congestion::Recovery;

/// Recovery state of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RecoveryState {
    #[default]
    Open,
    Fast,
    Timeout,
}

/// Change of the recovery state with an ACK, which is applied to the window first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    None,
    /// Fast recovery has begun.
    Begin,
    /// Fast recovery has ended.
    End,
}

/// Recovery state sampled once per ACK, so that a recovery that ends and begins again with the same ACK continues.
#[derive(Debug, Default)]
pub(super) struct LossRecovery {
    phase: RecoveryState,
    /// State at the last ACK, or the timeout since.
    before: RecoveryState,
    /// Last window that was not reduced by recovery or ProbeRTT, segments.
    saved: f64,
    /// Whether packet conservation applies.
    conserves: bool,
}

impl LossRecovery {
    /// Saves the window to be restored; `is_cut` while ProbeRTT limits it.
    pub(super) fn save(&mut self, window: f64, is_cut: bool) {
        let is_good = self.before == RecoveryState::Open && !is_cut;
        // A window that recovery or ProbeRTT has cut must not replace the one from before.
        self.saved = if is_good { window } else { self.saved.max(window) };
    }

    /// Window to be restored, segments.
    pub(super) fn saved(&self) -> f64 {
        self.saved
    }

    /// Applies a change of the recovery state of the sender.
    pub(super) fn on_change(&mut self, recovery: Recovery) {
        self.phase = match recovery {
            Recovery::Enter { .. } => RecoveryState::Fast,
            Recovery::Timeout { .. } => RecoveryState::Timeout,
            Recovery::Exit | Recovery::Spurious => RecoveryState::Open,
        };
        if self.phase == RecoveryState::Timeout {
            // A timeout is seen at once, not with the next ACK, as Linux sets its previous state to Loss.
            self.before = RecoveryState::Timeout;
        }
    }

    /// Ends packet conservation with a round.
    pub(super) fn end_round(&mut self) {
        self.conserves = false;
    }

    pub(super) fn conserves(&self) -> bool {
        self.conserves
    }

    /// Change since the last ACK.
    pub(super) fn take_edge(&mut self) -> Edge {
        let before = std::mem::replace(&mut self.before, self.phase);
        if self.phase == RecoveryState::Fast && before != RecoveryState::Fast {
            self.conserves = true;
            return Edge::Begin;
        }
        if self.phase == RecoveryState::Open && before != RecoveryState::Open {
            self.conserves = false;
            return Edge::End;
        }
        Edge::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTER: Recovery = Recovery::Enter { flight: 20 };

    #[test]
    fn conservation_lasts_from_the_begin_of_a_fast_recovery_to_the_next_round() {
        let mut recovery = LossRecovery::default();
        assert_eq!(recovery.take_edge(), Edge::None);
        recovery.on_change(ENTER);
        assert_eq!((recovery.take_edge(), recovery.conserves()), (Edge::Begin, true));
        assert_eq!((recovery.take_edge(), recovery.conserves()), (Edge::None, true));
        recovery.end_round();
        assert!(!recovery.conserves());
        recovery.on_change(Recovery::Exit);
        assert_eq!(recovery.take_edge(), Edge::End);
    }

    #[test]
    fn a_recovery_that_begins_with_the_ack_that_ends_another_goes_on() {
        let mut recovery = LossRecovery::default();
        recovery.on_change(ENTER);
        recovery.take_edge();
        recovery.end_round();
        recovery.on_change(Recovery::Exit);
        recovery.on_change(ENTER);
        assert_eq!((recovery.take_edge(), recovery.conserves()), (Edge::None, false));
    }

    #[test]
    fn a_timeout_ends_without_conservation() {
        let mut recovery = LossRecovery::default();
        recovery.on_change(Recovery::Timeout { flight: 20 });
        assert_eq!((recovery.take_edge(), recovery.conserves()), (Edge::None, false));
        recovery.on_change(Recovery::Spurious);
        assert_eq!(recovery.take_edge(), Edge::End);
    }

    #[test]
    fn a_window_cut_by_recovery_or_probe_rtt_does_not_replace_the_saved_one() {
        let mut recovery = LossRecovery::default();
        recovery.save(100.0, false);
        recovery.save(90.0, false);
        assert_eq!(recovery.saved(), 90.0);
        recovery.save(4.0, true);
        assert_eq!(recovery.saved(), 90.0);
        recovery.on_change(ENTER);
        recovery.take_edge();
        recovery.save(50.0, false);
        assert_eq!(recovery.saved(), 90.0);
        recovery.save(120.0, false);
        assert_eq!(recovery.saved(), 120.0);
    }
}
