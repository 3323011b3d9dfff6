//! The model of the path, and its update with each ACK and each loss (Per-ACK Steps, Per-Loss Steps).

mod loss;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;
mod window;

use tidegate_core::prelude::*;

use super::latest::Latest;
use super::long_term::LongTerm;
use super::round_trips::RoundTrips;
use super::short_term::ShortTerm;
use super::window_use::WindowUse;
use super::{Params, SCHEME};
use crate::toolbox::rate::ack_epoch::AckEpoch;
use crate::toolbox::rate::bbr_model::{FullPipe, HeldDown, PacketRate, Rounds};
use crate::toolbox::rate::sliding_window::Max;
use loss::Saved;
use probe_bw::Probing;
use probe_rtt::Measurement;

/// Cycles of ProbeBW that a delivery rate counts for (MaxBwFilterLen).
const RATE_CYCLES: u64 = 2;
/// Assumed size of a segment before one was delivered.
const NOMINAL_SEGMENT: ByteCount = ByteCount::new(1_448);

/// The states of the draft's diagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// Whether it is a state of ProbeBW.
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// Whether it probes for more bandwidth (IsProbingBW).
    fn is_accelerating(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The sender's rule of [`SCHEME`].
#[derive(Debug)]
pub struct Bbr {
    params: Params,
    state: State,
    /// Congestion window (cwnd), segments.
    window: f64,
    /// Last good window (prior_cwnd), segments.
    good_window: f64,
    /// Pace; `None` before the first segment.
    pace: Option<PacketRate>,
    /// The same rate in segments, for the sender.
    pacing: Pacing,
    rounds: Rounds,
    round: u64,
    /// Delivery rates by cycle of ProbeBW (max_bw_filter).
    rates: Max<u64>,
    cycle: u64,
    trips: RoundTrips,
    /// Estimator of the pipe's fullness, restarted in each probe (full_bw_now).
    pipe: FullPipe,
    /// Whether the pipe was ever full (full_bw_reached).
    was_full: bool,
    /// Round in which Drain began.
    drained_from: u64,
    latest: Latest,
    short_term: ShortTerm,
    long_term: LongTerm,
    probing: Probing,
    measurement: Measurement,
    epoch: AckEpoch,
    /// Excess of acknowledged segments by round (extra_acked).
    excess: Max<u64>,
    usage: WindowUse,
    /// Rates that ProbeRTT holds down.
    held: HeldDown,
    saved: Saved,
    in_recovery: bool,
    in_fast_recovery: bool,
    /// Whether the last segment ended an idle time, and none was delivered since (idle_restart).
    is_restarting: bool,
    /// Bytes of a full segment.
    segment: ByteCount,
    draws: Option<Rng>,
}

impl Bbr {
    /// A controller in Startup that has sent nothing yet.
    pub fn new(params: Params) -> Self {
        Self {
            state: State::Startup,
            window: params.initial_window,
            good_window: 0.0,
            pace: None,
            pacing: Pacing::Unpaced,
            rounds: Rounds::default(),
            round: 0,
            rates: Max::default(),
            cycle: 0,
            trips: RoundTrips::default(),
            pipe: FullPipe::new(params.full_growth, params.full_rounds),
            was_full: false,
            drained_from: 0,
            latest: Latest::default(),
            short_term: ShortTerm::default(),
            long_term: LongTerm::default(),
            probing: Probing::default(),
            measurement: Measurement::default(),
            epoch: AckEpoch::default(),
            excess: Max::default(),
            usage: WindowUse::default(),
            held: HeldDown::default(),
            saved: Saved::default(),
            in_recovery: false,
            in_fast_recovery: false,
            is_restarting: false,
            segment: NOMINAL_SEGMENT,
            draws: None,
            params,
        }
    }

    /// Maximum delivery rate of the last cycles (max_bw).
    fn max_rate(&self) -> PacketRate {
        PacketRate(self.rates.get().unwrap_or(0))
    }

    /// bw, under the short-term bound (BoundBWForModel).
    fn rate(&self) -> PacketRate {
        self.short_term.bound(self.max_rate())
    }

    /// The sample of an ACK; rates limited by ProbeRTT count as application-limited.
    fn sample(&self, delivery: &Delivery) -> Option<RateSample> {
        let mut sample = delivery.rate?;
        sample.is_app_limited |= self.held.covers(sample.prior_delivered);
        Some(sample)
    }

    /// UpdateLatestDeliverySignals, UpdateCongestionSignals, UpdateACKAggregation, CheckFullBWReached; returns
    /// whether a round and a loss round end.
    fn take_sample(&mut self, now: Time, sample: &RateSample, delivery: &Delivery, flow: &FlowView) -> Ends {
        let loss_round = self.latest.take(sample, flow.delivered);
        let round = self.rounds.ends(delivery, flow);
        if round {
            self.round += 1;
            self.probing.count_round();
        }
        let rate = PacketRate::of_sample(sample);
        // A rate that the application limited is a lower bound of the path's, so it counts only if it raises
        // the maximum.
        if !sample.is_app_limited || rate >= self.max_rate() {
            self.rates.add(self.cycle, rate.0, (self.cycle + 1).saturating_sub(RATE_CYCLES));
        }
        if loss_round {
            self.answer_losses();
        }
        self.note_excess(now, newly_delivered(delivery));
        if round && !sample.is_app_limited {
            self.pipe.end_round(rate);
            self.was_full |= self.pipe.is_full();
        }
        Ends { round, loss_round }
    }

    fn note_excess(&mut self, now: Time, newly: u32) {
        let excess = self.epoch.excess(now, self.rate(), newly).min(self.window);
        // In Startup the draft keeps the excess of one round only.
        let rounds = if self.was_full { u64::from(self.params.aggregation_rounds) } else { 1 };
        self.excess.add(self.round, excess as u64, self.round.saturating_sub(rounds));
    }

    /// Updates the model and the state with an ACK (UpdateModelAndState).
    fn take_model(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) {
        let sample = self.sample(delivery);
        let ends = sample.map_or(Ends::default(), |sample| self.take_sample(now, &sample, delivery, flow));
        self.check_startup(sample.as_ref(), ends);
        self.check_drain(now, flow);
        if let Some(sample) = &sample {
            self.update_cycle(now, sample, ends.round, delivery, flow);
        }
        self.check_probe_rtt(now, delivery, flow, ends.round);
        if let Some(sample) = &sample {
            self.is_restarting = false;
            // Only now: the states above still read the signals of the round that has ended.
            if ends.loss_round {
                self.latest.advance(sample);
            }
        }
    }

    /// Updates the size of a full segment to the largest delivered.
    fn note_size(&mut self, delivery: &Delivery) {
        if let Some(mean) = delivery.size.get().checked_div(u64::from(newly_delivered(delivery))) {
            // The nominal size must not stay when segments are shorter; it is replaced by the first one
            // delivered.
            let known = if self.trips.min().is_none() { ByteCount::new(1) } else { self.segment };
            self.segment = known.max(ByteCount::new(mean));
        }
    }

    /// Handles the first segment after an idle time (HandleRestartFromIdle).
    fn restart(&mut self, now: Time, flow: &FlowView) {
        self.is_restarting = true;
        self.epoch.restart(now);
        if self.state.is_probe_bw() {
            // A restart needs no probing: at gain 1 the first burst does not overflow the buffer.
            self.set_pace(1.0);
        } else if self.state == State::ProbeRtt {
            self.end_probe_rtt_if_due(now, flow);
        }
    }
}

/// Periods that an ACK ends.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    round: bool,
    loss_round: bool,
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
        self.usage.on_sent(self.window, flow);
        // Everything before this segment was delivered.
        if !sent.is_retransmission && flow.delivered as u32 == sent.segment {
            self.restart(cx.now, flow);
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        self.take_loss(cx.now, loss, flow);
    }

    fn on_recovery(&mut self, _: &mut Context<'_>, recovery: Recovery, flow: &FlowView) {
        match recovery {
            Recovery::Enter { .. } => self.save_window(),
            Recovery::Timeout { .. } => {
                self.save_window();
                // The flight, and one segment to retransmit.
                self.window = f64::from(flow.in_flight) + 1.0;
            }
            Recovery::Exit => self.restore_window(),
            Recovery::Spurious => self.undo(flow),
        }
        self.in_recovery = matches!(recovery, Recovery::Enter { .. } | Recovery::Timeout { .. });
        self.in_fast_recovery = matches!(recovery, Recovery::Enter { .. });
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.note_size(delivery);
        self.take_model(cx.now, delivery, flow);
        self.set_pace(self.pacing_gain());
        self.set_window(f64::from(newly_delivered(delivery)), flow);
    }
}
