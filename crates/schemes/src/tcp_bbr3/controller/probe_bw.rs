//! ProbeBW: down, cruise, refill, up (ProbeBW Algorithm Details).

use tidegate_core::prelude::*;

use super::{Bbr, State, newly_delivered};
use crate::toolbox::rate::bbr_model::PacketRate;

/// Relation of the ACKs to a probe (ack_phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// No probe is under way.
    #[default]
    Init,
    /// The ACKs are for segments sent before the probe.
    Refilling,
    /// The probe has begun.
    Starting,
    /// The ACKs are for segments sent in the probe.
    Feedback,
    /// The probe is over, and a round of its ACKs is still expected.
    Stopping,
}

/// State of a flow between probes.
#[derive(Debug, Default)]
pub(super) struct Probing {
    pub(super) ack_phase: AckPhase,
    /// Start of this cycle (cycle_stamp).
    since: Time,
    /// Time before the next probe (bw_probe_wait).
    wait: Span,
    /// Rounds since the last probe (rounds_since_probe_up).
    rounds: u32,
    /// Whether losses are attributed to a probe that has not reacted to any yet (is_bw_probe_sample).
    pub(super) has_samples: bool,
    /// Whether the last probe had excessive losses (prev_probe_too_high).
    pub(super) was_too_high: bool,
    /// Whether the last probe was ended before it could have them (prev_probe_precautionary).
    was_cautious: bool,
}

impl Probing {
    pub(super) fn count_round(&mut self) {
        self.rounds = self.rounds.saturating_add(1);
    }
}

impl Bbr {
    /// Enters the state ProbeBW_DOWN (StartProbeBW_DOWN).
    pub(super) fn start_down(&mut self, now: Time, flow: &FlowView) {
        self.latest.reset();
        self.long_term.stop();
        self.pick_wait();
        self.probing.since = now;
        self.probing.ack_phase = AckPhase::Stopping;
        self.rounds.restart(flow);
        self.state = State::Down;
    }

    /// Draws the time until the next probe (PickProbeWait).
    fn pick_wait(&mut self) {
        let (rounds, part) = match &mut self.draws {
            Some(draws) => (draws.below(2), draws.uniform()),
            None => (0, 0.0),
        };
        // Random, so that flows on one bottleneck do not probe in step.
        self.probing.rounds = rounds;
        self.probing.wait = self.params.probe_wait + Span::from_secs_f64(part);
    }

    /// Enters the state ProbeBW_REFILL (StartProbeBW_REFILL).
    pub(super) fn start_refill(&mut self, flow: &FlowView) {
        self.short_term = Default::default();
        self.long_term.begin();
        self.probing.was_cautious = false;
        self.probing.ack_phase = AckPhase::Refilling;
        self.rounds.restart(flow);
        self.state = State::Refill;
    }

    /// Enters ProbeBW_UP at the rate of this sample (StartProbeBW_UP).
    fn start_up(&mut self, sample: &RateSample, flow: &FlowView) {
        self.probing.has_samples = true;
        self.probing.ack_phase = AckPhase::Starting;
        self.rounds.restart(flow);
        self.pipe.restart(PacketRate::of_sample(sample));
        self.state = State::Up;
        self.long_term.steepen(self.window);
    }

    /// Begins the next state of ProbeBW if it is due (UpdateProbeBWCyclePhase).
    pub(super) fn update_cycle(
        &mut self,
        now: Time,
        sample: &RateSample,
        ends_round: bool,
        delivery: &Delivery,
        flow: &FlowView,
    ) {
        if !self.was_full || self.adapt_long_term(sample, ends_round, delivery, flow) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.is_time_to_probe(now) => self.start_refill(flow),
            State::Down if self.is_time_to_cruise(flow) => self.state = State::Cruise,
            // Refill lasts a round: the pipe is full before losses are counted against the probe.
            State::Refill if ends_round => self.start_up(sample, flow),
            State::Up if self.is_time_to_go_down(sample, flow) => {
                self.probing.was_too_high = false;
                self.start_down(now, flow);
            }
            _ => {}
        }
    }

    /// Adapts the long-term bound (AdaptLongTermModel); returns whether a state has begun.
    fn adapt_long_term(
        &mut self,
        sample: &RateSample,
        ends_round: bool,
        delivery: &Delivery,
        flow: &FlowView,
    ) -> bool {
        let phase = self.probing.ack_phase;
        if ends_round && phase == AckPhase::Starting {
            self.probing.ack_phase = AckPhase::Feedback;
        }
        if ends_round && phase == AckPhase::Stopping && self.end_probe(sample, flow) {
            return true;
        }
        // With excessive losses the bound must not rise; `take_loss` has lowered it. An infinite bound cannot
        // rise.
        if self.is_too_high(sample.lost, sample.in_flight_at_send) || self.long_term.in_flight.is_infinite() {
            return false;
        }
        self.long_term.in_flight = self.long_term.in_flight.max(f64::from(sample.in_flight_at_send));
        if self.state == State::Up {
            self.grow_long_term(ends_round, delivery);
        }
        false
    }

    /// Handles the last ACKs of a probe. A probe that was ended out of caution, without excessive losses, is repeated
    /// at once.
    fn end_probe(&mut self, sample: &RateSample, flow: &FlowView) -> bool {
        self.probing.has_samples = false;
        self.probing.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        // A cycle without a full pipe must not push the rate of an earlier one out of the filter.
        if !sample.is_app_limited {
            self.cycle += 1;
        }
        let is_safe = self.probing.was_cautious && !self.probing.was_too_high;
        if is_safe {
            self.start_refill(flow);
        }
        is_safe
    }

    /// Raises the long-term bound during a probe (ProbeInflightLongtermUpward).
    fn grow_long_term(&mut self, ends_round: bool, delivery: &Delivery) {
        // A bound that does not limit the flight is not tested by it.
        if !self.is_held_by_long_term() {
            return;
        }
        self.long_term.grow(f64::from(newly_delivered(delivery)));
        if ends_round {
            self.long_term.steepen(self.window);
        }
    }

    fn is_held_by_long_term(&self) -> bool {
        self.usage.is_limited() && self.window >= self.long_term.in_flight
    }

    /// Whether the next probe is due (IsTimeToProbeBW).
    fn is_time_to_probe(&self, now: Time) -> bool {
        // As often as Reno would have regained its window, a segment per round, so that it gets its share.
        let rounds = self.target_in_flight().min(f64::from(self.params.probe_rounds));
        now > self.probing.since + self.probing.wait || f64::from(self.probing.rounds) >= rounds
    }

    /// Whether the flight is low enough to enter ProbeBW_CRUISE (IsTimeToCruise).
    fn is_time_to_cruise(&self, flow: &FlowView) -> bool {
        let in_flight = f64::from(flow.in_flight);
        in_flight <= self.with_headroom() && in_flight <= self.target(self.max_rate(), 1.0)
    }

    /// Whether ProbeBW_UP has to end (IsTimeToGoDown).
    fn is_time_to_go_down(&mut self, sample: &RateSample, flow: &FlowView) -> bool {
        // The last probe had excessive losses here, so this one stops before it causes them again.
        if self.probing.was_too_high && f64::from(flow.in_flight) >= self.long_term.in_flight {
            self.probing.was_cautious = true;
            return true;
        }
        if self.is_held_by_long_term() {
            // Held by the bound the rate cannot grow, which does not show a full pipe.
            self.pipe.restart(PacketRate::of_sample(sample));
            return false;
        }
        self.pipe.is_full()
    }
}
