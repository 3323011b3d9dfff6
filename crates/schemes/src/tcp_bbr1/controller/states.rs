//! Startup, Drain, ProbeBW and ProbeRTT, and the gains of each.

use tidegate_core::prelude::*;

use super::Bbr;
use crate::toolbox::rate::gain_cycle::{GAINS, GainCycle, CycleInput};

#[derive(Debug)]
pub(super) enum Mode {
    /// Doubles the rate with each round.
    Startup,
    /// Empties the queue that Startup has left.
    Drain,
    /// Probes periodically for more bandwidth.
    ProbeBandwidth(GainCycle),
    /// Keeps almost nothing in flight, to measure the minimum round trip.
    ProbeRtt(Probe),
}

/// State of a ProbeRTT phase.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// Earliest end; `None` until the flight is small enough.
    pub(super) until: Option<Time>,
    /// Whether a round has passed since then.
    has_round: bool,
}

impl Bbr {
    /// Begins ProbeBW, in a phase drawn at random.
    pub(super) fn probe_bandwidth(&mut self, now: Time) {
        let lot = self.draws.as_mut().map_or(0, |draws| draws.below(GAINS.len() as u32 - 1));
        self.mode = Mode::ProbeBandwidth(GainCycle::begin(now, u64::from(lot)));
    }

    /// Begins the next phase of ProbeBW if this one is over; at the rate of a policer all phases are the same.
    pub(super) fn update_cycle(&mut self, now: Time, delivery: &Delivery) {
        let Mode::ProbeBandwidth(cycle) = &self.mode else { return };
        let length = self.min.get().unwrap_or(Span::ZERO);
        let seen =
            CycleInput { in_flight: f64::from(delivery.in_flight_before), has_lost: delivery.newly_lost > 0 };
        // At gain 1, also a policer's, a phase neither probes nor drains, so that only its length matters.
        let is_over = if self.pacing_gain == 1.0 {
            cycle.has_lasted(now, length)
        } else {
            cycle.is_over(now, length, &seen, |gain| self.target(self.max_rate(), gain))
        };
        if is_over && let Mode::ProbeBandwidth(cycle) = &mut self.mode {
            cycle.advance(now);
        }
    }

    pub(super) fn check_drain(&mut self, now: Time, flow: &FlowView) {
        if matches!(self.mode, Mode::Startup) && self.pipe.is_full() {
            self.mode = Mode::Drain;
        }
        let is_drained =
            || f64::from(flow.in_flight) <= self.target(self.max_rate(), 1.0);
        if matches!(self.mode, Mode::Drain) && is_drained() {
            self.probe_bandwidth(now);
        }
    }

    /// Processes an RTT sample; starts ProbeRTT when the minimum has expired.
    pub(super) fn check_probe_rtt(
        &mut self,
        now: Time,
        delivery: &Delivery,
        flow: &FlowView,
        ends_round: bool,
    ) {
        let is_candidate = |rtt: &Span| {
            !self.may_be_delayed(delivery, flow) || self.min.get().is_none_or(|min| *rtt <= min)
        };
        let rtt = delivery.rtt.filter(is_candidate);
        let is_stale = self.min.take(now, rtt, self.params.min_rtt_age);
        // After an idle time the queue is empty anyway: the next samples renew the minimum without a probe.
        if is_stale && !self.is_restarting && !matches!(self.mode, Mode::ProbeRtt(_)) {
            // Before the window is cut, so that the end of ProbeRTT can restore it.
            self.save_window();
            self.mode = Mode::ProbeRtt(Probe::default());
        }
        if matches!(self.mode, Mode::ProbeRtt(_)) {
            self.held.extend(flow);
            self.go_on_with_probe_rtt(now, flow, ends_round);
        }
    }

    /// Continues ProbeRTT, which lasts for its time and a round, both from the instant at which the flight is small
    /// enough.
    fn go_on_with_probe_rtt(&mut self, now: Time, flow: &FlowView, ends_round: bool) {
        let Mode::ProbeRtt(probe) = &mut self.mode else { return };
        if probe.until.is_none() {
            if f64::from(flow.in_flight) <= self.params.min_window {
                *probe = Probe { until: Some(now + self.params.probe_rtt_time), has_round: false };
                // The round must lie within the probe, so that its samples come from an empty queue.
                self.rounds.restart(flow);
            }
            return;
        }
        probe.has_round |= ends_round;
        if probe.has_round {
            self.end_probe_rtt_if_due(now);
        }
    }

    pub(super) fn end_probe_rtt_if_due(&mut self, now: Time) {
        let is_due = matches!(&self.mode, Mode::ProbeRtt(Probe { until: Some(until), .. }) if now > *until);
        if !is_due {
            return;
        }
        // Even if no smaller sample came: the next ProbeRTT is due a whole age from here.
        self.min.renew(now);
        self.window = self.window.max(self.recovery.saved());
        if self.pipe.is_full() {
            self.probe_bandwidth(now);
        } else {
            self.mode = Mode::Startup;
        }
    }

    pub(super) fn set_gains(&mut self) {
        let high = self.params.high_gain;
        (self.pacing_gain, self.window_gain) = match &self.mode {
            Mode::Startup => (high, high),
            Mode::Drain => (1.0 / high, high),
            Mode::ProbeBandwidth(_) if self.policer.rate().is_some() => (1.0, self.params.window_gain),
            Mode::ProbeBandwidth(cycle) => (cycle.gain(), self.params.window_gain),
            Mode::ProbeRtt(_) => (1.0, 1.0),
        };
    }
}
