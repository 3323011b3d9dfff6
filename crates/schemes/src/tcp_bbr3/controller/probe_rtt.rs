//! ProbeRTT: a window of half the bandwidth-delay product for a short time, to measure the minimum RTT.

use tidegate_core::prelude::*;

use super::probe_bw::AckPhase;
use super::{Bbr, State};

/// State of a ProbeRTT phase.
#[derive(Debug, Default)]
pub(super) struct Measurement {
    /// Earliest end; `None` until the flight is small enough.
    until: Option<Time>,
    /// Whether a round has passed since then.
    has_round: bool,
}

impl Bbr {
    /// Updates the minimum RTT, and enters or continues ProbeRTT (UpdateMinRTT, CheckProbeRTT).
    pub(super) fn check_probe_rtt(
        &mut self,
        now: Time,
        delivery: &Delivery,
        flow: &FlowView,
        ends_round: bool,
    ) {
        let (interval, age) = (self.params.probe_rtt_interval, self.params.min_rtt_age);
        let is_due = self.trips.take(now, delivery.rtt, interval, age);
        // After an idle time the queue is empty anyway: the next samples renew the minimum without a probe.
        if is_due && !self.is_restarting && self.state != State::ProbeRtt {
            self.save_window();
            self.state = State::ProbeRtt;
            self.measurement = Measurement::default();
            // Its ACKs must not count as feedback to a bandwidth probe that it interrupts.
            self.probing.ack_phase = AckPhase::Stopping;
            self.rounds.restart(flow);
        }
        if self.state == State::ProbeRtt {
            self.held.extend(flow);
            self.go_on_with_probe_rtt(now, flow, ends_round);
        }
    }

    /// Handles an ACK in ProbeRTT (HandleProbeRTT).
    fn go_on_with_probe_rtt(&mut self, now: Time, flow: &FlowView, ends_round: bool) {
        if self.measurement.until.is_none() {
            if f64::from(flow.in_flight) <= self.probe_rtt_window() {
                let until = Some(now + self.params.probe_rtt_time);
                self.measurement = Measurement { until, has_round: false };
                self.rounds.restart(flow);
            }
            return;
        }
        self.measurement.has_round |= ends_round;
        if self.measurement.has_round {
            self.end_probe_rtt_if_due(now, flow);
        }
    }

    /// Ends ProbeRTT if its time is over (CheckProbeRTTDone, ExitProbeRTT).
    pub(super) fn end_probe_rtt_if_due(&mut self, now: Time, flow: &FlowView) {
        if self.measurement.until.is_none_or(|until| now <= until) {
            return;
        }
        self.trips.renew(now);
        self.restore_window();
        self.short_term = Default::default();
        if self.was_full {
            // The flight is small already, so that ProbeBW_DOWN has nothing to reduce.
            self.start_down(now, flow);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
