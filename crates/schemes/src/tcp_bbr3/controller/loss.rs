//! Answers to losses, and their undoing.

use tidegate_core::prelude::*;

use super::{Bbr, State};
use crate::tcp_bbr3::short_term::ShortTerm;
use crate::toolbox::rate::bbr_model::PacketRate;

/// State to restore if the losses were spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Undo {
    #[default]
    Nowhere,
    Startup,
    Up,
}

/// State before the first loss of a round (SaveStateUponLoss).
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) undo: Undo,
    short_term: ShortTerm,
    in_flight: f64,
}

impl Bbr {
    /// IsInflightTooHigh.
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u32) -> bool {
        lost as f64 > f64::from(in_flight) * self.params.loss_threshold
    }

    /// HandleLostPacket.
    pub(super) fn take_loss(&mut self, now: Time, loss: &Loss, flow: &FlowView) {
        if self.latest.note_loss(loss.segment, flow.delivered) {
            self.save_window();
            self.saved = Saved {
                undo: Undo::Nowhere,
                short_term: self.short_term,
                in_flight: self.long_term.in_flight,
            };
        }
        let Some(since) = loss.since.filter(|_| self.probing.has_samples) else { return };
        if self.is_too_high(since.lost, since.in_flight_at_send) {
            let in_flight = self.in_flight_at_loss(since.in_flight_at_send, since.lost);
            self.bound_in_flight(now, in_flight, since.is_app_limited, flow);
        }
    }

    /// InflightAtLoss: how much was in flight when the losses since crossed their threshold, within the segment that did it.
    pub(super) fn in_flight_at_loss(&self, in_flight: u32, lost: u64) -> f64 {
        let threshold = self.params.loss_threshold;
        let before = f64::from(in_flight) - 1.0;
        let lost_before = lost as f64 - 1.0;
        before + ((threshold * before - lost_before) / (1.0 - threshold)).max(0.0)
    }

    /// HandleInflightTooHigh.
    fn bound_in_flight(&mut self, now: Time, in_flight: f64, is_app_limited: bool, flow: &FlowView) {
        self.probing.was_too_high = true;
        self.probing.has_samples = false;
        if !is_app_limited {
            self.long_term.in_flight = in_flight.max(self.params.beta * self.target_in_flight());
        }
        if self.state == State::Up {
            self.saved.undo = Undo::Up;
            self.start_down(now, flow);
        }
    }

    /// AdaptLowerBoundsFromCongestion: once per round.
    pub(super) fn answer_losses(&mut self) {
        if self.latest.has_lost && !self.state.is_accelerating() {
            let max = self.max_rate();
            self.short_term.lower(&self.latest, self.params.beta, max, self.window);
        }
        self.latest.has_lost = false;
    }

    /// HandleSpuriousLossDetection.
    pub(super) fn undo(&mut self, flow: &FlowView) {
        self.restore_window();
        self.latest.has_lost = false;
        self.pipe.restart(PacketRate(0));
        self.short_term.raise(self.saved.short_term);
        self.long_term.in_flight = self.long_term.in_flight.max(self.saved.in_flight);
        match std::mem::take(&mut self.saved.undo) {
            Undo::Startup if self.state != State::Startup => {
                self.was_full = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Undo::Up if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(flow),
            _ => {}
        }
    }
}
