//! ProbeRTT: half of the product for a moment, to see the smallest round trip.

use tidegate_core::prelude::*;

use super::probe_bw::AckPhase;
use super::{Bbr, State};

/// A measurement of the smallest round trip.
#[derive(Debug, Default)]
pub(super) struct Measurement {
    /// Earliest end; `None` until the flight is small enough.
    until: Option<Time>,
    /// Whether a round has passed since then.
    has_round: bool,
}

impl Bbr {
    /// UpdateMinRTT and CheckProbeRTT.
    pub(super) fn check_probe_rtt(
        &mut self,
        now: Time,
        delivery: &Delivery,
        flow: &FlowView,
        ends_round: bool,
    ) {
        let (interval, age) = (self.params.probe_rtt_interval, self.params.min_rtt_age);
        let is_due = self.trips.take(now, delivery.rtt, interval, age);
        if is_due && !self.is_restarting && self.state != State::ProbeRtt {
            self.save_window();
            self.state = State::ProbeRtt;
            self.measurement = Measurement::default();
            self.probing.ack_phase = AckPhase::Stopping;
            self.rounds.restart(flow);
        }
        if self.state == State::ProbeRtt {
            self.held.extend(flow);
            self.go_on_with_probe_rtt(now, flow, ends_round);
        }
    }

    /// HandleProbeRTT.
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

    /// CheckProbeRTTDone and ExitProbeRTT.
    pub(super) fn end_probe_rtt_if_due(&mut self, now: Time, flow: &FlowView) {
        if self.measurement.until.is_none_or(|until| now <= until) {
            return;
        }
        self.trips.renew(now);
        self.restore_window();
        self.short_term = Default::default();
        if self.was_full {
            // Little is in flight, so there is nothing to be brought down.
            self.start_down(now, flow);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
