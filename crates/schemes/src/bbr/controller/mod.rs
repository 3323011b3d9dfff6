//! The four states, the window and the pacing rate.

#[cfg(test)]
mod tests;

use tidegate_core::prelude::*;

use super::{Params, TimerRule};
use crate::toolbox::rate::bbr_model::{FullPipe, MinRoundTrip, PacketRate, Rounds};
use crate::toolbox::rate::gain_cycle::{GainCycle, CycleInput};
use crate::toolbox::rate::rate_sampler::RateSampler;
use crate::toolbox::rate::sliding_window::{Max, window_start};
use crate::toolbox::timer::loss::{LossTimer, LossTimerSettings};
use crate::toolbox::timer::reordering::Reordering;

#[derive(Debug)]
enum State {
    Startup,
    Drain,
    ProbeBw(GainCycle),
    ProbeRtt(Probe),
}

/// State of a ProbeRTT phase.
#[derive(Debug)]
struct Probe {
    /// Window at its beginning, packets.
    window: f64,
    /// Earliest end of the state; `None` until the pipe is empty enough.
    until: Option<Time>,
    /// Whether a round has passed since the pipe was empty enough.
    has_round: bool,
}

/// The consumer of [`SCHEME`](super::SCHEME).
#[derive(Debug)]
pub struct Bbr {
    params: Params,
    state: State,
    window: f64,
    pace: Pacing,
    sampler: RateSampler,
    rates: Max<Time>,
    timer: LossTimer,
    rtprop: MinRoundTrip,
    rounds: Rounds,
    pipe: FullPipe,
    /// ProbeRTT limits the rates of Interests that leave before this number of segments was received.
    limited_until: u64,
    order: Reordering,
    /// Whether a loss was detected since the last Data.
    has_lost: bool,
}

impl Bbr {
    /// A controller in Startup that has sent nothing yet.
    pub fn new(params: Params) -> Self {
        Self {
            state: State::Startup,
            window: params.initial_window,
            pace: Pacing::Unpaced,
            sampler: RateSampler::default(),
            rates: Max::default(),
            timer: LossTimer::new(LossTimerSettings {
                round_trips: params.beta,
                deviations: params.alpha,
                min_margin: params.min_margin,
                initial: params.initial_timeout,
            }),
            rtprop: MinRoundTrip::default(),
            rounds: Rounds::default(),
            pipe: FullPipe::new(params.full_growth, params.full_rounds),
            limited_until: 0,
            order: Reordering::default(),
            has_lost: false,
            params,
        }
    }

    fn rate(&self) -> PacketRate {
        PacketRate(self.rates.get().unwrap_or(0))
    }

    fn is_overtaken(&self, sent: &Sent) -> bool {
        self.rtprop.get().is_some_and(|rtprop| self.order.is_overtaken(sent, rtprop))
    }

    /// Notes the Interest that this Data answers, for its place in the order.
    fn note_order(&mut self, now: Time, delivery: &Delivery) {
        if delivery.rtt.is_some() {
            self.order.take_first(delivery.sent_at);
        } else if self.params.loss_timer == TimerRule::Rack
            && let Some(rtprop) = self.rtprop.get()
            && self.order.take_repeated(now, delivery.sent_at, rtprop)
        {
            self.timer.end_back_off(now);
        }
    }

    /// Minimum RTT in the model; `None` before the first sample.
    fn round_trip(&self) -> Option<Span> {
        self.rtprop.get().map(|rtprop| rtprop.max(self.params.min_round_trip))
    }

    /// Packets that should be in flight with this gain (BBRInflight).
    fn target(&self, gain: f64) -> f64 {
        match self.round_trip() {
            Some(rtprop) => {
                gain * self.rate().packets_in(rtprop) + self.params.quanta
            }
            None => self.params.initial_window,
        }
    }

    /// Gains of the pacing rate and of the window.
    fn gains(&self) -> (f64, f64) {
        let high = self.params.high_gain;
        match &self.state {
            State::Startup => (high, high),
            State::Drain => (1.0 / high, high),
            State::ProbeBw(cycle) => (cycle.gain(), self.params.cwnd_gain),
            State::ProbeRtt(_) => (1.0, 1.0),
        }
    }

    /// Whether ProbeRTT limited the rate at which this Data was delivered.
    fn is_limited(&self, delivery: &Delivery) -> bool {
        delivery.delivered_at_send < self.limited_until
    }

    fn take_rate(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        let rate = self.sampler.sample(now, delivery, flow);
        let (Some(rtt), Some(rate)) = (delivery.rtt, rate) else { return };
        // A rate that ProbeRTT held down does not show that of the path, unless it reaches the maximum all
        // the same.
        if rate >= self.rate() || !self.is_limited(delivery) {
            let window = self.round_trip().unwrap_or(rtt).scale(self.params.rate_round_trips);
            self.rates.add(now, rate.0, window_start(now, window));
        }
    }

    fn check_cycle(&mut self, now: Time, delivery: &Delivery) {
        let seen = CycleInput { in_flight: f64::from(delivery.in_flight_before), has_lost: self.has_lost };
        let rtprop = self.round_trip().unwrap_or(Span::ZERO);
        if let State::ProbeBw(cycle) = &self.state
            && cycle.is_over(now, rtprop, &seen, |gain| self.target(gain))
            // Matched twice: `target` borrows the controller while the condition is evaluated.
            && let State::ProbeBw(cycle) = &mut self.state
        {
            cycle.advance(now);
        }
    }

    fn check_drain(&mut self, now: Time, flow: &FlowView) {
        if matches!(self.state, State::Startup) && self.pipe.is_full() {
            self.state = State::Drain;
        }
        if matches!(self.state, State::Drain) && f64::from(flow.in_flight) <= self.target(1.0) {
            self.probe_bandwidth(now, flow);
        }
    }

    fn probe_bandwidth(&mut self, now: Time, flow: &FlowView) {
        self.state = State::ProbeBw(GainCycle::begin(now, flow.delivered));
    }

    /// Enters, continues or ends ProbeRTT. Its small window must last for its whole time and for a round, so that at
    /// least one packet meets an empty queue.
    fn check_probe(&mut self, now: Time, flow: &FlowView, is_stale: bool, ends_round: bool) {
        if is_stale && !matches!(self.state, State::ProbeRtt(_)) {
            self.state = State::ProbeRtt(Probe { window: self.window, until: None, has_round: false });
        }
        let State::ProbeRtt(probe) = &mut self.state else { return };
        // Everything in flight now, and the next Interest, is delivered at the rate of ProbeRTT.
        self.limited_until = flow.delivered + u64::from(flow.in_flight) + 1;
        let Some(until) = probe.until else {
            if f64::from(flow.in_flight) <= self.params.probe_rtt_window {
                probe.until = Some(now + self.params.probe_rtt_time);
                // The round must lie within ProbeRTT as a whole, so that its RTT samples come from an empty
                // queue.
                self.rounds.restart(flow);
            }
            return;
        };
        probe.has_round |= ends_round;
        if probe.has_round && now > until {
            // Restored, because the pipe did not become smaller: regrowing the window would leave the link
            // idle.
            self.window = self.window.max(probe.window);
            self.rtprop.renew(now);
            self.leave_probe(now, flow);
        }
    }

    fn leave_probe(&mut self, now: Time, flow: &FlowView) {
        if self.pipe.is_full() {
            self.probe_bandwidth(now, flow);
        } else {
            self.state = State::Startup;
        }
    }

    /// Increases the window by a packet per Data up to the target; decreases it to the target at once if the pipe was
    /// full.
    fn set_window(&mut self, cwnd_gain: f64) {
        let target = self.target(cwnd_gain);
        // Before the pipe is full the estimate is too low, so the window must not be cut to a target computed
        // from it.
        if self.pipe.is_full() {
            self.window = (self.window + 1.0).min(target);
        } else if self.window < target {
            self.window += 1.0;
        }
        self.window = self.window.max(self.params.min_window);
        if matches!(self.state, State::ProbeRtt(_)) {
            self.window = self.window.min(self.params.probe_rtt_window);
        }
    }

    fn min_pace(&self) -> PacketRate {
        self.timer.mean().map_or(PacketRate(0), |mean| PacketRate::over(1, mean).scale(self.params.min_pace))
    }

    /// Sets the pacing rate, which never decreases in Startup.
    fn set_pace(&mut self, pacing_gain: f64) {
        let is_slow = self.rate().scale(pacing_gain) < self.min_pace();
        let pace = if is_slow { self.min_pace().pacing(1.0) } else { self.rate().pacing(pacing_gain) };
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

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        self.sampler.on_sent(sent, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let ends_round = self.rounds.ends(delivery, flow);
        self.take_rate(cx.now, delivery, flow);
        // The order is that of the draft's BBRUpdateModelAndState: bandwidth, cycle, full pipe, Drain,
        // minimum RTT, ProbeRTT.
        self.check_cycle(cx.now, delivery);
        // A round of ProbeRTT has no growth and would make an unfilled pipe count as full.
        if ends_round && self.rates.get().is_some() && !self.is_limited(delivery) {
            self.pipe.end_round(self.rate());
        }
        self.check_drain(cx.now, flow);
        let is_stale = self.rtprop.take(cx.now, delivery.rtt, self.params.rtprop_age);
        self.check_probe(cx.now, flow, is_stale, ends_round);
        let (pacing_gain, cwnd_gain) = self.gains();
        self.set_window(cwnd_gain);
        self.set_pace(pacing_gain);
        if let Some(rtt) = delivery.rtt {
            self.timer.take(cx.now, rtt);
        }
        self.note_order(cx.now, delivery);
        self.has_lost = false;
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        self.has_lost = true;
        self.timer.back_off(cx.now, loss.sent_at);
    }

    fn loss_timeout(&self, sent: &Sent) -> Option<Span> {
        match self.params.loss_timer {
            TimerRule::BbrCd => Some(self.timer.timeout()),
            TimerRule::Profile => None,
            // An overtaken Interest is lost now; the others may still be the last of a flight, which only a
            // timer can find.
            TimerRule::Order | TimerRule::Rack if self.is_overtaken(sent) => Some(Span::ZERO),
            TimerRule::Order | TimerRule::Rack => Some(self.timer.timeout()),
        }
    }
}
