//! The limit of one upstream face: a leaky bucket of Interests, or a window of those that are pending.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::{Adaptation, Params};
use crate::toolbox::reaction::once_per_flight::OncePerFlight;

/// What rounding may take from a place that is free.
const ROUNDING: f64 = 1e-9;
/// Weight of a new round-trip time in the mean.
const GAIN: f64 = 1.0 / 8.0;

/// Quantity that a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitUnit {
    /// Interests per second.
    Rate,
    /// Interests pending.
    Pending,
}

/// The limit of one face and what it let out.
#[derive(Debug)]
pub(super) struct FaceLimit {
    params: Params,
    measure: LimitUnit,
    /// `None` as long as only the link limits.
    limit: Option<f64>,
    /// Interests in the bucket.
    level: f64,
    leaked_at: Time,
    /// Last departure of each pending Interest.
    out: BTreeMap<PitId, Time>,
    /// Mean round-trip time of the face, seconds.
    round_trip: Option<f64>,
    /// `None`: every Nack counts.
    once: Option<OncePerFlight>,
}

impl FaceLimit {
    pub(super) fn new(params: Params, measure: LimitUnit, once: Option<OncePerFlight>) -> Self {
        let (level, leaked_at, out) = (0.0, Time::ZERO, BTreeMap::new());
        Self { params, measure, limit: None, level, leaked_at, out, round_trip: None, once }
    }

    /// The limit now, Interests per second or pending; `capacity` is what the link can bring in Data per second.
    pub(super) fn limit(&self, capacity: f64) -> f64 {
        let max = match self.measure {
            LimitUnit::Rate => capacity,
            LimitUnit::Pending => capacity * self.burst(),
        };
        self.limit.unwrap_or(f64::INFINITY).min(max).max(self.params.min_limit)
    }

    /// Lets the Interest of `pending` out if it is below the limit.
    pub(super) fn admits(&mut self, now: Time, pending: PitId, capacity: f64) -> bool {
        let limit = self.limit(capacity);
        let is_below = match self.measure {
            LimitUnit::Rate => {
                self.leak(now, limit);
                let depth = (limit * self.burst()).max(self.params.min_burst);
                depth - self.level >= 1.0 - ROUNDING
            }
            // One that is sent again has its place already.
            LimitUnit::Pending => {
                self.out.contains_key(&pending) || limit - self.out.len() as f64 >= 1.0 - ROUNDING
            }
        };
        if is_below {
            self.level += 1.0;
            self.out.insert(pending, now);
        }
        is_below
    }

    /// The Interest of `pending` was answered, and how fast if that is known.
    pub(super) fn on_data(&mut self, now: Time, pending: PitId, rtt: Option<Span>, capacity: f64) {
        self.give_back(pending);
        if let Some(sample) = rtt.map(Span::as_secs_f64) {
            let mean = self.round_trip.get_or_insert(sample);
            *mean += GAIN * (sample - *mean);
        }
        let increase = self.params.limit_increase;
        self.change(now, capacity, |limit, adaptation| match adaptation {
            Adaptation::Code => limit + increase,
            Adaptation::Aimd => limit + increase / limit.max(1.0),
            Adaptation::None => limit,
        });
    }

    /// The Interest of `pending` was refused upstream, for congestion there or not.
    pub(super) fn on_nack(&mut self, now: Time, pending: PitId, is_congestion: bool, capacity: f64) {
        let Some(sent_at) = self.out.remove(&pending) else { return };
        if !is_congestion || self.once.as_mut().is_some_and(|once| !once.admits(now, sent_at)) {
            return;
        }
        let keep = self.params.limit_keep;
        self.change(now, capacity, |limit, adaptation| match adaptation {
            Adaptation::Code => limit - 1.0,
            Adaptation::Aimd => limit * keep,
            Adaptation::None => limit,
        });
    }

    /// The Interest of `pending` gets no answer here.
    pub(super) fn give_back(&mut self, pending: PitId) {
        self.out.remove(&pending);
    }

    /// Time for which a burst may exceed the rate, seconds.
    fn burst(&self) -> f64 {
        let dynamic = self.round_trip.filter(|_| self.params.dynamic_burst);
        dynamic.map_or(self.params.burst.as_secs_f64(), |round_trip| self.params.rtt_multiplier * round_trip)
    }

    fn leak(&mut self, now: Time, limit: f64) {
        let leaked = now.since(self.leaked_at).as_secs_f64() * limit;
        self.level = (self.level - leaked).max(0.0);
        self.leaked_at = now;
    }

    /// Goes on at another limit from `now`.
    fn change(&mut self, now: Time, capacity: f64, changed: impl FnOnce(f64, Adaptation) -> f64) {
        let limit = self.limit(capacity);
        self.leak(now, limit);
        self.limit = Some(changed(limit, self.params.adaptation));
        // Not beyond what the link allows, nor below the least, from which it would take long to come back.
        self.limit = Some(self.limit(capacity));
    }
}
