//! Startup and Drain.

use tidegate_core::prelude::*;

use super::loss::Undo;
use super::{Bbr, Ends, State};

impl Bbr {
    /// CheckStartupDone.
    pub(super) fn check_startup(&mut self, sample: Option<&RateSample>, ends: Ends) {
        if self.state != State::Startup {
            return;
        }
        if ends.loss_round && !self.was_full && sample.is_some_and(|sample| self.loses_much(sample)) {
            self.saved.undo = Undo::Startup;
            self.was_full = true;
            self.long_term.in_flight = self.product(1.0).max(self.latest.delivered as f64);
        }
        if self.was_full {
            self.state = State::Drain;
            self.drained_from = self.round;
        }
    }

    /// Exiting Startup Based on Packet Loss: a round of fast recovery lost too much, and in enough places.
    fn loses_much(&self, sample: &RateSample) -> bool {
        self.in_fast_recovery
            && self.latest.lost_ranges >= self.params.full_losses
            && self.is_too_high(sample.lost, sample.in_flight_at_send)
    }

    /// CheckDrainDone.
    pub(super) fn check_drain(&mut self, now: Time, flow: &FlowView) {
        let is_long = self.round > self.drained_from + u64::from(self.params.full_rounds);
        let is_drained = || f64::from(flow.in_flight) <= self.target(self.rate(), 1.0);
        if self.state == State::Drain && (is_long || is_drained()) {
            self.start_down(now, flow);
        }
    }
}
