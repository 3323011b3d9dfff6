//! Window and pacing rate, derived from the model.

use tidegate_core::prelude::*;

use super::states::Mode;
use super::{Bbr, NOMINAL_RTT, newly_delivered};
use crate::tcp_bbr1::recovery::Edge;
use crate::toolbox::rate::bbr_model::PacketRate;

/// Pacing rate, bit/s, below which a burst may be a single segment.
const SLOW_BPS: f64 = 1_200_000.0;
/// Maximum number of segments in a burst.
const MAX_SEGMENTS: f64 = 127.0;

impl Bbr {
    /// Segments that the host of the sender would release together at the present pacing rate.
    pub(super) fn burst(&self) -> f64 {
        let pace = self.pace.unwrap_or_default();
        let segment = self.segment.get() as f64;
        let bytes_per_second = pace.per_second() * segment;
        let bytes = bytes_per_second * self.params.burst_time.as_secs_f64();
        // At least two segments, but one on slow paths (bbr_min_tso_segs).
        let min = if bytes_per_second * 8.0 < SLOW_BPS { 1.0 } else { 2.0 };
        let segments = (bytes.min(self.params.max_burst.get() as f64) / segment).floor();
        segments.max(min).min(MAX_SEGMENTS)
    }

    /// The bandwidth-delay product at `rate`, `gain` times; the initial window before the first RTT sample.
    fn product(&self, rate: PacketRate, gain: f64) -> f64 {
        match self.min.get() {
            Some(min) => (gain * rate.packets_in(min)).ceil(),
            None => self.params.initial_window,
        }
    }

    /// Adds room for segments that wait at both hosts, rounds up to an even number, so that no ACK is delayed for
    /// lack of a second segment, and adds two segments for probing, where the product is small.
    fn with_quanta(&self, segments: f64) -> f64 {
        let segments = segments + (self.params.quanta * self.burst()).ceil();
        let even = 2.0 * (segments / 2.0).ceil();
        let is_up = matches!(&self.mode, Mode::ProbeBandwidth(cycle) if cycle.gain() > 1.0);
        if is_up { even + 2.0 } else { even }
    }

    /// Segments that should be in flight with this gain.
    pub(super) fn target(&self, rate: PacketRate, gain: f64) -> f64 {
        self.with_quanta(self.product(rate, gain))
    }

    /// Maximum window of the model, segments: the target, and the allowance for aggregated ACKs.
    pub(super) fn bound(&self) -> f64 {
        let rate = self.rate();
        // Linux adds the allowance only once the pipe is full (bbr_ack_aggregation_cwnd).
        let lumps = if self.pipe.is_full() { self.aggregation.allowance(rate, &self.params) } else { 0.0 };
        self.with_quanta(self.product(rate, self.window_gain) + lumps.floor())
    }

    pub(super) fn save_window(&mut self) {
        self.recovery.save(self.window, matches!(self.mode, Mode::ProbeRtt(_)));
    }

    pub(super) fn set_window(&mut self, delivery: &Delivery, flow: &FlowView) {
        let newly = f64::from(newly_delivered(delivery));
        if newly > 0.0 {
            self.recover_or_restore(newly, delivery, flow);
            if !self.recovery.conserves() {
                self.grow(newly, flow);
            }
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            // Last, so that ProbeRTT holds against everything above.
            self.window = self.window.min(self.params.min_window);
        }
    }

    fn recover_or_restore(&mut self, newly: f64, delivery: &Delivery, flow: &FlowView) {
        let conserved = f64::from(flow.in_flight) + newly;
        if delivery.newly_lost > 0 {
            self.window = (self.window - f64::from(delivery.newly_lost)).max(1.0);
        }
        match self.recovery.take_edge() {
            Edge::Begin => {
                // Packet conservation lasts for one round, counted from here.
                self.rounds.restart(flow);
                self.window = conserved;
            }
            // BBR does not take the loss for congestion, so the window of before is valid again.
            Edge::End => self.window = self.window.max(self.recovery.saved()),
            Edge::None => {}
        }
        if self.recovery.conserves() {
            self.window = self.window.max(conserved);
        }
    }

    /// Increases the window by the segments delivered, up to the bound; decreases it to the bound at once if the pipe
    /// was full.
    fn grow(&mut self, newly: f64, flow: &FlowView) {
        let bound = self.bound();
        if self.pipe.is_full() {
            self.window = (self.window + newly).min(bound);
        // The first window may exceed a bound that is computed from few samples.
        } else if self.window < bound || (flow.delivered as f64) < self.params.initial_window {
            self.window += newly;
        }
        self.window = self.window.max(self.params.min_window);
    }

    /// Sets the pacing rate to the initial window per RTT of the handshake.
    pub(super) fn set_first_pace(&mut self, flow: &FlowView) {
        let rtt = flow.smoothed_rtt.unwrap_or(NOMINAL_RTT).max(Span::from_micros(1));
        let rate = PacketRate::over(self.window as u64, rtt);
        self.take_pace(self.below(rate, self.params.high_gain));
    }

    /// Sets the pacing rate from the rate of the path and `gain`; it never falls before the pipe was full.
    pub(super) fn set_pace(&mut self, gain: f64) {
        let pace = self.below(self.rate(), gain);
        if self.pipe.is_full() || self.pace.is_none_or(|last| pace > last) {
            self.take_pace(pace);
        }
    }

    fn take_pace(&mut self, pace: PacketRate) {
        if self.pace != Some(pace) {
            (self.pace, self.pacing) = (Some(pace), pace.pacing(1.0));
        }
    }

    fn below(&self, rate: PacketRate, gain: f64) -> PacketRate {
        rate.scale(gain * (1.0 - self.params.pacing_margin))
    }
}
