//! Startup and Drain.

use tidegate_core::prelude::*;

use super::loss::Undo;
use super::{Bbr, Ends, State};

impl Bbr {
    /// Ends Startup if the pipe is full or losses are excessive (CheckStartupDone).
    pub(super) fn check_startup(&mut self, sample: Option<&RateSample>, ends: Ends) {
        if self.state != State::Startup {
            return;
        }
        if ends.loss_round && !self.was_full && sample.is_some_and(|sample| self.loses_much(sample)) {
            self.saved.undo = Undo::Startup;
            self.was_full = true;
            // The larger of both, as either estimate may be too low.
            self.long_term.in_flight = self.product(1.0).max(self.latest.delivered as f64);
        }
        if self.was_full {
            self.state = State::Drain;
            self.drained_from = self.round;
        }
    }

    /// Whether a round of fast recovery had excessive losses, in enough separate ranges (Exiting Startup Based on
    /// Packet Loss).
    fn loses_much(&self, sample: &RateSample) -> bool {
        self.in_fast_recovery
            && self.latest.lost_ranges >= self.params.full_losses
            && self.is_too_high(sample.lost, sample.in_flight_at_send)
    }

    /// Ends Drain if the flight has fallen to the product, or after some rounds (CheckDrainDone).
    pub(super) fn check_drain(&mut self, now: Time, flow: &FlowView) {
        // Drain ends after some rounds in any case, as an estimate that is too low would make the target
        // unreachable.
        let is_long = self.round > self.drained_from + u64::from(self.params.full_rounds);
        let is_drained = || f64::from(flow.in_flight) <= self.target(self.rate(), 1.0);
        if self.state == State::Drain && (is_long || is_drained()) {
            self.start_down(now, flow);
        }
    }
}
