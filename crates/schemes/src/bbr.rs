//! BBR version 1 on Interests, as the BBR-CD study ported it: the largest delivery rate, the smallest round trip.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00, §4; MILCOM 2021 (BBR-CD), §III-A.

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Loss, Pacing};
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::context::Context;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::units::{Span, Time};

use crate::toolbox::bbr_model::{FullPipe, GainCycle, PacketRate, Rounds, delivery_rate};
use crate::toolbox::recent::Largest;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "bbr",
    summary: "BBR version 1 on Interests: window and pace from the largest delivery rate and the smallest round trip",
    paper: "draft-cardwell-iccrg-bbr-congestion-control-00, as ported in MILCOM 2021 (BBR-CD)",
    provenance: Provenance::Paper,
    deviations: &[
        "The largest rate is that of ten round trips by the clock, as the BBR-CD study has it, not of ten counted rounds.",
        "A rate is taken over the time from Interest to Data; BBR takes the longer of sending and arriving.",
        "The window is not held down after a loss (BBR's packet conservation): the study does not tell of it.",
        "The phase in which a cycle of gains begins follows from the number of segments received; BBR draws it.",
    ],
    params: Params::TABLE,
    shell: ShellKind::Own,
    consumer: Some(|settings| Ok(Box::new(Bbr::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window; the study starts every scheme with 1.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Floor of the window once Data has come (BBRMinPipeCwnd).
    least_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
    /// Gain of window and pace in Startup, 2/ln 2; Drain paces at its inverse (BBRHighGain).
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW.
    cwnd_gain: f64 = 2.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Packets added to every window, for what leaves in one go.
    quanta: f64 = 3.0, "packets", 0.0..=1_000.0;
    /// The pipe is full when rounds bring less than this growth of the rate.
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// So many rounds in a row.
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Round trips that the largest delivery rate is kept for.
    rate_round_trips: f64 = 10.0, "round trips", 1.0..=1_000.0;
    /// Age at which the smallest round trip is measured anew, in ProbeRTT.
    rtprop_age: Span = Span::from_secs(10), "time", Span::from_millis(100)..=Span::from_secs(3_600);
    /// Length of ProbeRTT.
    probe_rtt_time: Span = Span::from_millis(200), "time", Span::ZERO..=Span::from_secs(10);
    /// Window in ProbeRTT.
    probe_rtt_window: f64 = 4.0, "packets", 1.0..=1_000_000.0;
}

#[derive(Debug)]
enum State {
    Startup,
    Drain,
    ProbeBw(GainCycle),
    ProbeRtt(Probe),
}

/// A measurement of the smallest round trip.
#[derive(Debug)]
struct Probe {
    /// Window before it.
    window: f64,
    /// When it ends; `None` until the pipe is empty enough.
    until: Option<Time>,
    /// Whether a round has passed since then.
    has_round: bool,
}

#[derive(Debug)]
struct Bbr {
    params: Params,
    state: State,
    window: f64,
    pace: Pacing,
    rates: Largest,
    rtprop: Option<Span>,
    /// When the smallest round trip was last seen.
    rtprop_at: Time,
    rounds: Rounds,
    pipe: FullPipe,
    /// Rates of Interests sent before so many segments were received are held down by ProbeRTT.
    limited_until: u64,
    /// A loss was heard of since the last Data.
    has_lost: bool,
}

impl Bbr {
    fn new(params: Params) -> Self {
        Self {
            state: State::Startup,
            window: params.initial_window,
            pace: Pacing::Unpaced,
            rates: Largest::default(),
            rtprop: None,
            rtprop_at: Time::ZERO,
            rounds: Rounds::default(),
            pipe: FullPipe::new(params.full_growth, params.full_rounds),
            limited_until: 0,
            has_lost: false,
            params,
        }
    }

    fn rate(&self) -> PacketRate {
        PacketRate(self.rates.get().unwrap_or(0))
    }

    /// Bandwidth-delay product, packets; 0 before the first sample.
    fn product(&self) -> f64 {
        self.rtprop.map_or(0.0, |rtprop| self.rate().packets_in(rtprop))
    }

    fn sample(&mut self, now: Time, delivery: &Delivery, flow: &FlowView, is_stale: bool) {
        let Some(rtt) = delivery.rtt else { return };
        let rtprop = match self.rtprop {
            Some(rtprop) if rtt > rtprop && !is_stale => rtprop,
            _ => {
                self.rtprop_at = now;
                rtt
            }
        };
        self.rtprop = Some(rtprop);
        let rate = delivery_rate(delivery, flow, rtt);
        if rate >= self.rate() || !self.is_limited(delivery) {
            self.rates.add(now, rate.0, rtprop.scale(self.params.rate_round_trips));
        }
    }

    fn is_limited(&self, delivery: &Delivery) -> bool {
        delivery.delivered_at_send < self.limited_until
    }

    /// Gains of pace and window.
    fn gains(&self) -> (f64, f64) {
        let high = self.params.high_gain;
        match &self.state {
            State::Startup => (high, high),
            State::Drain => (1.0 / high, high),
            State::ProbeBw(cycle) => (cycle.gain(), self.params.cwnd_gain),
            State::ProbeRtt(_) => (1.0, 1.0),
        }
    }

    fn step(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        let product = self.product();
        match &mut self.state {
            State::Startup if self.pipe.is_full() => self.state = State::Drain,
            State::Drain if f64::from(flow.in_flight) <= product => self.probe_bandwidth(now, flow),
            State::ProbeBw(cycle) => {
                let is_long = cycle.has_lasted(now, self.rtprop.unwrap_or(Span::ZERO));
                let before = f64::from(delivery.in_flight_before);
                let gain = cycle.gain();
                let is_over = if gain > 1.0 {
                    is_long && (self.has_lost || before >= gain * product)
                } else {
                    is_long || (gain < 1.0 && before <= product)
                };
                if is_over {
                    cycle.advance(now);
                }
            }
            _ => {}
        }
    }

    fn probe_bandwidth(&mut self, now: Time, flow: &FlowView) {
        self.state = State::ProbeBw(GainCycle::begin(now, flow.delivered));
    }

    fn probe_round_trip(&mut self, now: Time, flow: &FlowView, ends_round: bool) {
        let State::ProbeRtt(probe) = &mut self.state else { return };
        self.limited_until = flow.delivered + u64::from(flow.in_flight);
        match probe.until {
            None if f64::from(flow.in_flight) <= self.params.probe_rtt_window => {
                probe.until = Some(now + self.params.probe_rtt_time);
                self.rounds.restart(flow);
            }
            None => {}
            Some(until) => {
                probe.has_round |= ends_round;
                if probe.has_round && now >= until {
                    self.window = self.window.max(probe.window);
                    self.rtprop_at = now;
                    self.leave_probe(now, flow);
                }
            }
        }
    }

    fn leave_probe(&mut self, now: Time, flow: &FlowView) {
        if self.pipe.is_full() {
            self.probe_bandwidth(now, flow);
        } else {
            self.state = State::Startup;
        }
    }

    /// A packet more per Data up to the target, at once down to it when the pipe was full.
    fn set_window(&mut self, cwnd_gain: f64) {
        let target = cwnd_gain * self.product() + self.params.quanta;
        if self.pipe.is_full() {
            self.window = (self.window + 1.0).min(target);
        } else if self.window < target {
            self.window += 1.0;
        }
        self.window = self.window.max(self.params.least_window);
        if matches!(self.state, State::ProbeRtt(_)) {
            self.window = self.window.min(self.params.probe_rtt_window);
        }
    }

    /// In Startup the pace never falls.
    fn set_pace(&mut self, pacing_gain: f64) {
        let pace = self.rate().pacing(pacing_gain);
        let is_faster = match (pace, self.pace) {
            (Pacing::Gap(new), Pacing::Gap(old)) => new < old,
            _ => true,
        };
        if self.pipe.is_full() || is_faster {
            self.pace = pace;
        }
    }
}

impl CongestionController for Bbr {
    fn window(&self) -> f64 {
        self.window
    }

    fn pacing(&self) -> Pacing {
        self.pace
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let is_stale = self.rtprop.is_some() && cx.now.since(self.rtprop_at) > self.params.rtprop_age;
        let ends_round = self.rounds.ends(delivery, flow);
        self.sample(cx.now, delivery, flow, is_stale);
        if ends_round && self.rtprop.is_some() && !self.is_limited(delivery) {
            self.pipe.end_round(self.rate());
        }
        self.step(cx.now, delivery, flow);
        if is_stale && !matches!(self.state, State::ProbeRtt(_)) {
            self.state = State::ProbeRtt(Probe { window: self.window, until: None, has_round: false });
        }
        self.probe_round_trip(cx.now, flow, ends_round);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_window(cwnd_gain);
        self.set_pace(pacing_gain);
        self.has_lost = false;
    }

    fn on_loss(&mut self, _: &mut Context<'_>, _: &Loss, _: &FlowView) {
        self.has_lost = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::bottleneck::{Bottleneck, PRODUCT};
    use crate::testing::driver::Driver;
    use tidegate_core::params::Value;

    #[test]
    fn startup_takes_the_logarithm_of_the_product_and_four_rounds_and_drain_ends_with_the_product_in_flight() {
        let mut path = Bottleneck::new(Driver::new(&SCHEME, &[]));
        path.run_while(|path| path.state() == "Startup");
        assert!(f64::from(path.rounds) <= PRODUCT.log2() + 4.0, "{} rounds", path.rounds);
        assert!(path.in_flight() > 1.5 * PRODUCT, "Startup fills the queue");
        path.run_while(|path| path.state() == "Drain");
        // A round trip of 40 ms holds 41 Data: one at each end. One Interest may have left since.
        assert!(path.in_flight() <= PRODUCT + 2.0, "{}", path.in_flight());
        assert_eq!(path.state(), "ProbeBw");
    }

    #[test]
    fn an_old_smallest_round_trip_is_measured_with_four_packets_for_a_fifth_of_a_second() {
        // Younger than a cycle of gains, so that its draining phase cannot renew it.
        let age = [("rtprop_age", Value::Text("100ms".to_owned()))];
        let mut path = Bottleneck::new(Driver::new(&SCHEME, &age));
        path.run_while(|path| path.state() != "ProbeBw");
        path.run_while(|path| path.state() != "ProbeRtt");
        path.run_while(|path| path.state() == "ProbeRtt" && path.in_flight() > 4.0);
        let begun = path.now;
        path.run_while(|path| path.state() == "ProbeRtt" && path.driver.controller.window() == 4.0);
        let lasted = path.now.since(begun);
        assert!(lasted >= Span::from_millis(200) && lasted < Span::from_millis(300), "{lasted}");
        assert!(path.driver.controller.window() > PRODUCT, "the window before it comes back");
    }

    #[test]
    fn the_window_is_twice_the_product_and_three_packets() {
        let mut path = Bottleneck::new(Driver::new(&SCHEME, &[]));
        path.run_while(|path| path.now < Time::ZERO + Span::from_secs(5));
        let window = path.driver.controller.window();
        assert!((window - (2.0 * PRODUCT + 3.0)).abs() <= 3.0, "{window}");
    }
}
