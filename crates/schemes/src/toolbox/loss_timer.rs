//! A loss timer around the mean round trip of a sliding window: BBR-CD's.
//!
//! Source: MILCOM 2021 (BBR-CD), §III-B: the mean and some standard deviations.

use tidegate_core::units::{Span, Time};

use super::recent::Recent;

/// Numbers of a loss timer.
#[derive(Clone, Copy, Debug)]
pub struct LossTimerSettings {
    /// Length of the window, mean round trips (beta).
    pub round_trips: f64,
    /// Standard deviations above the mean (alpha).
    pub deviations: f64,
    /// The timer lies at least this far above the mean.
    pub least_margin: Span,
    /// The timer, and the round trip that the window is measured by, before the first sample.
    pub initial: Span,
}

/// The mean round trip and when an Interest counts as lost. The last samples stay while no other comes.
#[derive(Debug)]
pub struct LossTimer {
    settings: LossTimerSettings,
    rtts: Recent,
}

impl LossTimer {
    /// One without samples.
    pub fn new(settings: LossTimerSettings) -> Self {
        Self { settings, rtts: Recent::default() }
    }

    /// Takes a round trip.
    pub fn take(&mut self, now: Time, rtt: Span) {
        self.rtts.add(now, rtt.as_nanos(), self.window());
    }

    /// Mean round trip; `None` before the first sample.
    pub fn mean(&self) -> Option<Span> {
        self.rtts.mean().map(Span::from_nanos)
    }

    /// Length of the window of samples.
    pub fn window(&self) -> Span {
        self.mean().unwrap_or(self.settings.initial).scale(self.settings.round_trips)
    }

    /// After how long an Interest counts as lost.
    pub fn timeout(&self) -> Span {
        let Some(mean) = self.mean() else { return self.settings.initial };
        let deviation = Span::from_nanos(self.rtts.deviation());
        mean + deviation.scale(self.settings.deviations).max(self.settings.least_margin)
    }
}
