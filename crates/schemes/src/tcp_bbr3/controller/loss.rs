//! Reactions to losses, and their undo.

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
    /// Whether the losses are excessive for this flight (IsInflightTooHigh).
    pub(super) fn is_too_high(&self, lost: u64, in_flight: u32) -> bool {
        lost as f64 > f64::from(in_flight) * self.params.loss_threshold
    }

    /// Handles a lost segment (HandleLostPacket).
    pub(super) fn take_loss(&mut self, now: Time, loss: &Loss, flow: &FlowView) {
        // Saved at the first loss of a round only: later ones find bounds that this one has changed.
        if self.latest.note_loss(loss.segment, flow.delivered) {
            self.save_window();
            self.saved = Saved {
                undo: Undo::Nowhere,
                short_term: self.short_term,
                in_flight: self.long_term.in_flight,
            };
        }
        // Outside a probe losses act once per round, in `answer_losses`.
        let Some(since) = loss.since.filter(|_| self.probing.has_samples) else { return };
        if self.is_too_high(since.lost, since.in_flight_at_send) {
            let in_flight = self.in_flight_at_loss(since.in_flight_at_send, since.lost);
            self.bound_in_flight(now, in_flight, since.is_app_limited, flow);
        }
    }

    /// Flight at which the losses crossed their threshold, segments, with the fraction of the segment that did it
    /// (InflightAtLoss).
    pub(super) fn in_flight_at_loss(&self, in_flight: u32, lost: u64) -> f64 {
        let threshold = self.params.loss_threshold;
        // The draft counts in bytes and solves for the fraction of this segment; here the segment counts as
        // 1.
        let before = f64::from(in_flight) - 1.0;
        let lost_before = lost as f64 - 1.0;
        before + ((threshold * before - lost_before) / (1.0 - threshold)).max(0.0)
    }

    /// Lowers the long-term bound after excessive losses in a probe (HandleInflightTooHigh).
    fn bound_in_flight(&mut self, now: Time, in_flight: f64, is_app_limited: bool, flow: &FlowView) {
        self.probing.was_too_high = true;
        // One reaction per probe: its further losses have the same cause.
        self.probing.has_samples = false;
        // A flight that the application limited shows no bound of the path.
        if !is_app_limited {
            self.long_term.in_flight = in_flight.max(self.params.beta * self.target_in_flight());
        }
        if self.state == State::Up {
            self.saved.undo = Undo::Up;
            self.start_down(now, flow);
        }
    }

    /// Lowers the short-term bounds after a round with losses (AdaptLowerBoundsFromCongestion).
    pub(super) fn answer_losses(&mut self) {
        if self.latest.has_lost && !self.state.is_accelerating() {
            let max = self.max_rate();
            self.short_term.lower(&self.latest, self.params.beta, max, self.window);
        }
        self.latest.has_lost = false;
    }

    /// Restores the state before losses that proved to be spurious (HandleSpuriousLossDetection).
    pub(super) fn undo(&mut self, flow: &FlowView) {
        self.restore_window();
        self.latest.has_lost = false;
        // Rounds slowed down by a recovery without a loss must not count as a full pipe.
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
            // The probe was ended by losses that did not occur, so it is repeated.
            Undo::Up if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(flow),
            _ => {}
        }
    }
}
