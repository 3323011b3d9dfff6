//! Window and pacing rate, derived from the model (Updating Control Parameters).

use tidegate_core::prelude::*;

use super::{Bbr, State};
use crate::toolbox::rate::bbr_model::PacketRate;

/// Assumed RTT for the initial pacing rate without a sample.
const NOMINAL_RTT: Span = Span::from_millis(1);
/// Minimum number of segments in a burst.
const MIN_BURST: f64 = 2.0;

impl Bbr {
    /// Gain of the pacing rate.
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.params.startup_gain,
            State::Drain => self.params.drain_gain,
            State::Down => self.params.down_gain,
            State::Up => self.params.up_gain,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.state {
            State::Up => self.params.up_window_gain,
            State::ProbeRtt => self.params.probe_rtt_gain,
            _ => self.params.window_gain,
        }
    }

    /// Segments sent together at the present pacing rate (send_quantum).
    pub(super) fn burst(&self) -> f64 {
        let segments = self.pace.unwrap_or_default().packets_in(self.params.burst_time);
        let max = self.params.max_burst.get() as f64 / self.segment.get() as f64;
        segments.min(max).max(MIN_BURST)
    }

    /// Bandwidth-delay product times `gain`, segments (BDPMultiple).
    pub(super) fn product(&self, gain: f64) -> f64 {
        self.product_at(self.rate(), gain)
    }

    fn product_at(&self, rate: PacketRate, gain: f64) -> f64 {
        self.trips.min().map_or(self.params.initial_window, |min| gain * rate.packets_in(min))
    }

    /// Adds room for offloading, and for probing in ProbeBW_UP (QuantizationBudget).
    fn with_quanta(&self, segments: f64) -> f64 {
        // The maximum, where version 1 adds the budget.
        let segments = segments.max(self.params.quanta * self.burst()).max(self.params.min_window);
        if self.state == State::Up { segments + 2.0 } else { segments }
    }

    /// Inflight at `rate`, segments.
    pub(super) fn target(&self, rate: PacketRate, gain: f64) -> f64 {
        self.with_quanta(self.product_at(rate, gain))
    }

    /// Bandwidth-delay product, but at most the window, segments (TargetInflight).
    pub(super) fn target_in_flight(&self) -> f64 {
        self.product(1.0).min(self.window)
    }

    /// Long-term bound minus the headroom for other flows, segments (InflightWithHeadroom).
    pub(super) fn with_headroom(&self) -> f64 {
        self.long_term.with_headroom(self.params.headroom, self.params.min_window)
    }

    /// Maximum window of the model, segments (UpdateMaxInflight).
    pub(super) fn bound(&self) -> f64 {
        let excess = self.excess.get().unwrap_or(0) as f64;
        self.with_quanta(self.product(self.window_gain()) + excess)
    }

    /// Window in ProbeRTT, segments.
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.product(self.params.probe_rtt_gain).max(self.params.min_window)
    }

    /// Saves the window to be restored (SaveCwnd).
    pub(super) fn save_window(&mut self) {
        let is_good = !self.in_recovery && self.state != State::ProbeRtt;
        self.good_window = if is_good { self.window } else { self.good_window.max(self.window) };
    }

    /// Restores the saved window, if it is larger (RestoreCwnd).
    pub(super) fn restore_window(&mut self) {
        self.window = self.window.max(self.good_window);
    }

    /// Sets the window after `newly` delivered segments (SetCwnd).
    pub(super) fn set_window(&mut self, newly: f64, flow: &FlowView) {
        let bound = self.bound();
        if self.was_full {
            self.window = (self.window + newly).min(bound);
        // The first window may exceed a bound that is computed from few samples.
        } else if self.window < bound || (flow.delivered as f64) < self.params.initial_window {
            self.window += newly;
        }
        self.window = self.window.max(self.params.min_window);
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window());
        }
        // Last: bounds that losses set hold in every state.
        self.window = self.window.min(self.cap());
    }

    /// Upper bound of the window by losses, segments (BoundCwndForModel).
    fn cap(&self) -> f64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.long_term.in_flight,
            // Between probes some capacity stays free for other flows to grow into.
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        long_term.min(self.short_term.in_flight).max(self.params.min_window)
    }

    /// Sets the pacing rate to the initial window per RTT of the handshake (InitPacingRate).
    pub(super) fn set_first_pace(&mut self, flow: &FlowView) {
        let rtt = flow.smoothed_rtt.unwrap_or(NOMINAL_RTT).max(Span::from_micros(1));
        let rate = PacketRate::over(self.params.initial_window as u64, rtt);
        self.take_pace(rate.scale(self.params.startup_gain));
    }

    /// Sets the pacing rate; it never falls before the pipe was full (SetPacingRateWithGain).
    pub(super) fn set_pace(&mut self, gain: f64) {
        let pace = self.rate().scale(gain * (1.0 - self.params.pacing_margin));
        if self.was_full || self.pace.is_none_or(|last| pace > last) {
            self.take_pace(pace);
        }
    }

    fn take_pace(&mut self, pace: PacketRate) {
        if self.pace != Some(pace) {
            (self.pace, self.pacing) = (Some(pace), pace.pacing(1.0));
        }
    }
}
