//! BBR-CD: BBR's four states for a consumer whose Data comes from several places: means replace extremes, and
//! ProbeRTT begins when Data stops arriving.
//!
//! Paper: MILCOM 2021 (BBR-CD), §III. Marks are ignored; a loss changes neither the window nor the pacing rate.

mod estimator;
mod samples;
#[cfg(test)]
mod tests;

use tidegate_core::prelude::*;
use tidegate_core::scheme::congestion::SendOrder;

use crate::toolbox::rate::bbr_model::{FullPipe, Rounds};
use crate::toolbox::rate::gain_cycle::GainCycle;
use estimator::{BandwidthRule, PathEstimator};
use samples::{CountedSamples, ProbeExit, SampleWatch};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "bbr-cd",
    summary: "BBR for consumers: window from mean delivery rate times mean RTT, its own loss timer, new Interests first",
    paper: "MILCOM 2021 (BBR-CD)",
    provenance: Provenance::Paper,
    deviations: &[
        "ProbeRTT counts every Data packet, where the paper counts RTT samples: at the end of a lossy file only \
         retransmissions are left, which give no sample; `probe_rtt_samples = \"rtt\"` is the paper's count.",
        "ProbeRTT ends with the fourth sample since it began; the paper's window of eight RTTs never contains four \
         samples at 4 Interests per second if the RTT is below about 94 ms; `probe_rtt_exit = \"window\"` is the \
         paper's rule.",
        "The number of samples is checked from one whole window after the first sample or the last ProbeRTT on, not \
         before.",
        "The pacing gap runs from the previous Interest; in the paper every Data packet and timeout moves the next \
         departure a whole gap away, so that nothing would be sent while Data arrives at least that fast.",
        "The first phase of a gain cycle depends on the number of segments received; BBR draws it at random.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::OwnAtSweep,
    consumer: Some(|settings| Ok(Box::new(BbrCd::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Congestion window before the first sample (§III-C a).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Gain of the window and the pacing rate in Startup (highGain, §III-C a); Drain paces at the inverse.
    high_gain: f64 = 2.885, "of the bandwidth-delay product", 1.1..=10.0;
    /// Gain of the window in ProbeBW and ProbeRTT. The paper uses 1 (§III-C c), which allows the probing phase of gain
    /// 5/4 only the quanta as additional packets; BBR uses 2.
    cwnd_gain: f64 = 1.0, "of the bandwidth-delay product", 0.5..=10.0;
    /// Packets added to every window (quanta, §III-B).
    quanta: f64 = 3.0, "packets", 0.0..=1_000.0;
    /// Startup continues while the delivery rate grows by at least this factor per round (§III-C a: 25 %).
    full_growth: f64 = 1.25, "of the rate", 1.01..=10.0;
    /// Consecutive rounds with less growth than `full_growth` after which the pipe counts as full (§III-C a).
    full_rounds: u32 = 3, "count", 1..=1_000;
    /// Length of the window of samples, W (beta, §III-B).
    beta: f64 = 8.0, "round trips", 1.0..=1_000.0;
    /// Bandwidth estimate from the delivery rates of the window: `avg`, their mean, is the paper's and falls with every
    /// loss; `max`, their maximum, is BBR's.
    bw_agg: BandwidthRule = BandwidthRule::Mean;
    /// Data that arrives faster than this is attributed to the local content store and gives no sample (§III-B has no
    /// number).
    local_cache_rtt: Span = Span::from_millis(1), "time", Span::ZERO..=Span::from_secs(1);
    /// Whether Data of retransmitted Interests gives samples; false in the paper (§III-B).
    sample_retransmissions: bool = false;
    /// Standard deviations of the RTT added to its mean in the loss timer (alpha, §III-B).
    alpha: f64 = 10.0, "standard deviations", 0.0..=1_000.0;
    /// Minimum distance of the loss timer from the mean RTT. The paper has none (0), which leaves no margin on a path
    /// of constant delay.
    #[renamed_from("least_margin")]
    min_margin: Span = Span::from_millis(5), "time", Span::ZERO..=Span::from_secs(10);
    /// Loss timer before the first sample; the window of samples is then `beta` times as long. Not in the paper.
    initial_timeout: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// What counts as a sample for ProbeRTT: `rtt`, RTT samples, as in the paper; `arrivals`, every Data packet.
    probe_rtt_samples: CountedSamples = CountedSamples::Arrivals;
    /// ProbeRTT begins when the window has fewer samples than this (§III-C d); 0 disables ProbeRTT.
    probe_rtt_threshold: u32 = 4, "count", 0..=1_000;
    /// When ProbeRTT ends: `window`, when the window has enough samples, as in the paper; `since-entry`, when enough
    /// samples have arrived since it began.
    probe_rtt_exit: ProbeExit = ProbeExit::SinceEntry;
    /// Whether delivery rates measured in ProbeRTT count. In the paper they do (true), so that a flow continues with
    /// about one packet per RTT; BBR ignores them.
    probe_rtt_rates: bool = true;
    /// Sending rate in ProbeRTT (k, §III-C d).
    probe_rtt_rate: f64 = 4.0, "Interests/s", 0.01..=1_000_000.0;
    /// Whether new segments are requested before retransmissions; true in the paper (§IV-D b).
    new_first: bool = true;
}

#[derive(Debug)]
enum State {
    Startup,
    Drain,
    ProbeBw(GainCycle),
    ProbeRtt,
}

#[derive(Debug)]
struct BbrCd {
    params: Params,
    state: State,
    estimator: PathEstimator,
    rounds: Rounds,
    pipe: FullPipe,
    watch: SampleWatch,
    /// ProbeRTT limits the rates of Interests that leave before this number of segments was received.
    limited_until: u64,
}

impl BbrCd {
    fn new(params: Params) -> Self {
        Self {
            state: State::Startup,
            estimator: PathEstimator::new(&params),
            rounds: Rounds::default(),
            pipe: FullPipe::new(params.full_growth, params.full_rounds),
            watch: SampleWatch::new(params.probe_rtt_threshold, params.probe_rtt_exit),
            limited_until: 0,
            params,
        }
    }

    /// Changes the state if its time or the number of outstanding Interests requires it.
    fn step(&mut self, now: Time, flow: &FlowView) {
        let window = self.estimator.window();
        // Renewed with each event: Interests sent during the whole of ProbeRTT are limited, not only those in
        // flight at its start.
        if matches!(self.state, State::ProbeRtt) {
            self.hold_rates(flow);
        }
        match &mut self.state {
            State::ProbeRtt if self.watch.suffices(now, window) => self.leave_probe(now, flow),
            State::ProbeRtt => {}
            _ if self.watch.runs_short_at(window).is_some_and(|at| at <= now) => {
                self.watch.begin_probe();
                self.state = State::ProbeRtt;
                self.hold_rates(flow);
            }
            State::Startup if self.pipe.is_full() => self.state = State::Drain,
            State::Drain if f64::from(flow.in_flight) <= self.estimator.product() => {
                self.probe_bandwidth(now, flow);
            }
            // A phase ends by time alone here; BBR also tests the flight.
            State::ProbeBw(cycle) if cycle.has_lasted(now, self.estimator.rtprop().unwrap_or(Span::ZERO)) => {
                cycle.advance(now);
            }
            State::Startup | State::Drain | State::ProbeBw(_) => {}
        }
    }

    /// Marks Interests in flight, and those sent next, as limited by ProbeRTT.
    fn hold_rates(&mut self, flow: &FlowView) {
        self.limited_until = flow.delivered + u64::from(flow.in_flight) + 1;
    }

    fn leave_probe(&mut self, now: Time, flow: &FlowView) {
        self.watch.judge_from(now);
        if self.pipe.is_full() {
            self.probe_bandwidth(now, flow);
        } else {
            self.state = State::Startup;
        }
    }

    fn probe_bandwidth(&mut self, now: Time, flow: &FlowView) {
        self.state = State::ProbeBw(GainCycle::begin(now, flow.delivered));
    }
}

impl CongestionController for BbrCd {
    fn window(&self) -> f64 {
        let gain = match self.state {
            State::Startup | State::Drain => self.params.high_gain,
            State::ProbeBw(_) | State::ProbeRtt => self.params.cwnd_gain,
        };
        match self.estimator.rtprop() {
            // At least one packet: a mean rate that losses have lowered must not stop the flow.
            Some(_) => (gain * self.estimator.product() + self.params.quanta).max(1.0),
            None => self.params.initial_window,
        }
    }

    fn pacing(&self) -> Pacing {
        let gain = match &self.state {
            State::Startup => self.params.high_gain,
            State::Drain => 1.0 / self.params.high_gain,
            State::ProbeBw(cycle) => cycle.gain(),
            State::ProbeRtt => return Pacing::Gap(Span::from_secs_f64(1.0 / self.params.probe_rtt_rate)),
        };
        self.estimator.rate().pacing(gain)
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let takes_rate = self.params.probe_rtt_rates || delivery.delivered_at_send >= self.limited_until;
        let is_sample = self.estimator.take(cx.now, delivery, flow, takes_rate);
        if is_sample || self.params.probe_rtt_samples == CountedSamples::Arrivals {
            self.watch.note(cx.now);
        }
        if self.rounds.ends(delivery, flow) && matches!(self.state, State::Startup) {
            self.pipe.end_round(self.estimator.rate());
        }
        self.step(cx.now, flow);
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, _: &Loss, flow: &FlowView) {
        self.step(cx.now, flow);
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, flow: &FlowView) {
        self.step(cx.now, flow);
    }

    fn next_wake(&self) -> Option<Time> {
        match self.state {
            // ProbeRTT ends with a Data packet, so no time has to be watched.
            State::ProbeRtt => None,
            _ => self.watch.runs_short_at(self.estimator.window()),
        }
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        Some(self.estimator.loss_timeout())
    }

    fn order(&self) -> SendOrder {
        if self.params.new_first { SendOrder::NewFirst } else { SendOrder::RetransmissionsFirst }
    }
}
