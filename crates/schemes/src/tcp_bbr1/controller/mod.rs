//! The model of the path, and its update with each ACK.

mod states;
#[cfg(test)]
mod tests;
mod window;

use tidegate_core::prelude::*;

use super::aggregation::Aggregation;
use super::policer::{Change, Policer, PolicerInput};
use super::recovery::LossRecovery;
use super::{Params, SCHEME};
use crate::toolbox::rate::bbr_model::{FullPipe, HeldDown, MinRoundTrip, PacketRate, Rounds};
use crate::toolbox::rate::sliding_window::Max;
use states::Mode;

/// Assumed RTT for the initial pacing rate without a sample.
const NOMINAL_RTT: Span = Span::from_millis(1);
/// Assumed size of a segment before one was delivered.
const NOMINAL_SEGMENT: ByteCount = ByteCount::new(1_448);

/// The sender's rule of [`SCHEME`].
#[derive(Debug)]
pub struct Bbr {
    params: Params,
    mode: Mode,
    /// Segments, whole unless a parameter is not.
    window: f64,
    /// Pace; `None` before the first segment.
    pace: Option<PacketRate>,
    /// The same rate in segments, for the sender.
    pacing: Pacing,
    pacing_gain: f64,
    window_gain: f64,
    /// Delivery rates by round.
    rates: Max<u64>,
    rounds: Rounds,
    /// Number of round trips so far.
    round: u64,
    min: MinRoundTrip,
    pipe: FullPipe,
    aggregation: Aggregation,
    policer: Policer,
    recovery: LossRecovery,
    /// Rates that ProbeRTT holds down.
    held: HeldDown,
    /// Whether nothing was in flight when the last segment left, and nothing was delivered since.
    is_restarting: bool,
    /// Number of segments detected as lost.
    lost: u64,
    /// Bytes of a full segment.
    segment: ByteCount,
    draws: Option<Rng>,
}

impl Bbr {
    /// A controller in Startup that has sent nothing yet.
    pub fn new(params: Params) -> Self {
        Self {
            mode: Mode::Startup,
            window: params.initial_window,
            pace: None,
            pacing: Pacing::Unpaced,
            pacing_gain: params.high_gain,
            window_gain: params.high_gain,
            rates: Max::default(),
            rounds: Rounds::default(),
            round: 0,
            min: MinRoundTrip::default(),
            pipe: FullPipe::new(params.full_growth, params.full_rounds),
            aggregation: Aggregation::default(),
            policer: Policer::new(&params),
            recovery: LossRecovery::default(),
            held: HeldDown::default(),
            is_restarting: false,
            lost: 0,
            segment: NOMINAL_SEGMENT,
            draws: None,
            params,
        }
    }

    /// Maximum recent delivery rate.
    fn max_rate(&self) -> PacketRate {
        PacketRate(self.rates.get().unwrap_or(0))
    }

    /// Rate of the path: that of a policer, if one was found, or the maximum delivery rate.
    fn rate(&self) -> PacketRate {
        self.policer.rate().unwrap_or_else(|| self.max_rate())
    }

    /// The sample of an ACK; rates limited by ProbeRTT count as application-limited.
    fn sample(&self, delivery: &Delivery) -> Option<RateSample> {
        let mut sample = delivery.rate?;
        sample.is_app_limited |= self.held.covers(sample.prior_delivered);
        Some(sample)
    }

    /// Processes the sample; returns whether it ends a round.
    fn take_rate(&mut self, now: Time, sample: &RateSample, delivery: &Delivery, flow: &FlowView) -> bool {
        let ends_round = self.rounds.ends(delivery, flow);
        if ends_round {
            self.round += 1;
            self.recovery.end_round();
            self.aggregation.end_round(&self.params);
        }
        let seen = PolicerInput {
            has_lost: delivery.newly_lost > 0,
            is_app_limited: sample.is_app_limited,
            ends_round,
            ..self.seen(now, flow)
        };
        self.look_for_policer(now, &seen);
        let rate = PacketRate::of_sample(sample);
        // A rate that the application limited is a lower bound of the path's, so it counts only if it raises
        // the maximum.
        if !sample.is_app_limited || rate >= self.max_rate() {
            let oldest = self.round.saturating_sub(u64::from(self.params.rate_rounds));
            self.rates.add(self.round, rate.0, oldest);
        }
        ends_round
    }

    fn seen(&self, now: Time, flow: &FlowView) -> PolicerInput {
        PolicerInput {
            now,
            delivered: flow.delivered,
            lost: self.lost,
            has_lost: false,
            is_app_limited: false,
            ends_round: false,
            is_probing: matches!(self.mode, Mode::ProbeBandwidth(_)),
            segment: self.segment,
        }
    }

    fn look_for_policer(&mut self, now: Time, seen: &PolicerInput) {
        match self.policer.on_ack(seen) {
            Change::Nothing => {}
            Change::Found => self.pacing_gain = 1.0,
            Change::Over => self.probe_bandwidth(now),
        }
    }

    /// Updates the model: the full pipe at the end of a round, the states with every ACK.
    fn take_model(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        let sample = self.sample(delivery);
        let mut ends_round = false;
        if let Some(sample) = &sample {
            ends_round = self.take_rate(now, sample, delivery, flow);
            self.aggregation.take(now, self.rate(), newly_delivered(delivery), self.window);
        }
        self.update_cycle(now, delivery);
        if ends_round && sample.is_some_and(|sample| !sample.is_app_limited) {
            self.pipe.end_round(self.max_rate());
        }
        self.check_drain(now, flow);
        self.check_probe_rtt(now, delivery, flow, ends_round);
        if sample.is_some() {
            self.is_restarting = false;
        }
        self.set_gains();
    }

    /// Whether the ACK is for a lone segment shorter than others, which the receiver may have delayed: its RTT
    /// replaces the minimum only if it is smaller.
    fn may_be_delayed(&self, delivery: &Delivery, flow: &FlowView) -> bool {
        let is_alone = delivery.newly_acked == 1
            && delivery.newly_sacked == 0
            && delivery.delivered_at_send + 1 == flow.delivered;
        is_alone && delivery.size < self.segment
    }

    /// Updates the size of a full segment to the largest delivered.
    fn note_size(&mut self, delivery: &Delivery) {
        if let Some(mean) = delivery.size.get().checked_div(u64::from(newly_delivered(delivery))) {
            // The nominal size must not stay when segments are shorter; it is replaced by the first one
            // delivered.
            let known = if self.min.get().is_none() { ByteCount::new(1) } else { self.segment };
            self.segment = known.max(ByteCount::new(mean));
        }
    }

    /// Handles the first segment after an idle time (CA_EVENT_TX_START of Linux).
    fn restart(&mut self, now: Time) {
        self.is_restarting = true;
        self.aggregation.restart(now);
        match &self.mode {
            // A restart needs no probing: at gain 1 the first burst does not overflow the buffer
            // (bbr_cwnd_event).
            Mode::ProbeBandwidth(_) => self.set_pace(1.0),
            Mode::ProbeRtt(_) => {
                self.end_probe_rtt_if_due(now);
            }
            Mode::Startup | Mode::Drain => {}
        }
    }
}

/// Number of segments newly acknowledged by an ACK.
fn newly_delivered(delivery: &Delivery) -> u32 {
    delivery.newly_acked + delivery.newly_sacked
}

impl CongestionController for Bbr {
    fn window(&self) -> f64 {
        self.window
    }

    fn take_streams(&mut self, streams: Streams) {
        self.draws = Some(streams.stream(SCHEME.name));
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
        if self.pace.is_none() {
            self.set_first_pace(flow);
        }
        // Everything before this segment was delivered.
        if !sent.is_retransmission && flow.delivered as u32 == sent.segment {
            self.restart(cx.now);
        }
    }

    fn on_loss(&mut self, _: &mut Context<'_>, _: &Loss, _: &FlowView) {
        self.lost += 1;
    }

    fn on_recovery(&mut self, cx: &mut Context<'_>, recovery: Recovery, flow: &FlowView) {
        match recovery {
            Recovery::Enter { .. } => self.save_window(),
            Recovery::Timeout { .. } => {
                self.save_window();
                // tcp_enter_loss: the flight, and one segment to retransmit.
                self.window = f64::from(flow.in_flight) + 1.0;
                // bbr_set_state sets `full_bw` to 0, so that the next round counts as growth.
                self.pipe.lower_bar();
                // A timeout has no ACK, yet it ends a round and is a loss to the policer detection
                // (bbr_set_state).
                let seen = PolicerInput { has_lost: true, ends_round: true, ..self.seen(cx.now, flow) };
                self.look_for_policer(cx.now, &seen);
            }
            Recovery::Spurious => {
                self.policer.reset();
                if !self.pipe.is_full() {
                    self.pipe.restart(PacketRate(0));
                }
            }
            Recovery::Exit => {}
        }
        self.recovery.on_change(recovery);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.note_size(delivery);
        self.take_model(cx.now, delivery, flow);
        self.set_pace(self.pacing_gain);
        self.set_window(delivery, flow);
    }
}
