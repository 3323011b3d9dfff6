//! The limit of one upstream face: a leaky bucket of Interests, or a window of those that are pending.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::{Adaptation, Params};
use crate::toolbox::reaction::once_per_flight::OncePerFlight;

/// Tolerance for rounding errors in a level that leaves room for just one Interest.
const ROUNDING: f64 = 1e-9;
/// Weight of a new round-trip time in the mean.
const GAIN: f64 = 1.0 / 8.0;

/// Quantity that a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitUnit {
    /// The limit is a rate, Interests per second.
    Rate,
    /// The limit is a number of pending Interests.
    Pending,
}

/// The limit of one face, and its pending Interests.
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

    /// The limit now, Interests per second or pending; `capacity` is the incoming rate of the link, Data packets per
    /// second.
    pub(super) fn limit(&self, capacity: f64) -> f64 {
        let max = match self.measure {
            LimitUnit::Rate => capacity,
            LimitUnit::Pending => capacity * self.burst(),
        };
        self.limit.unwrap_or(f64::INFINITY).min(max).max(self.params.min_limit)
    }

    /// Admits the Interest of `pending` if the face is below its limit.
    pub(super) fn admits(&mut self, now: Time, pending: PitId, capacity: f64) -> bool {
        let limit = self.limit(capacity);
        let is_below = match self.measure {
            LimitUnit::Rate => {
                self.leak(now, limit);
                let depth = (limit * self.burst()).max(self.params.min_burst);
                depth - self.level >= 1.0 - ROUNDING
            }
            // A retransmission has its place already.
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

    /// Handles the Data that satisfies `pending`, with its RTT if that is unambiguous.
    pub(super) fn on_data(&mut self, now: Time, pending: PitId, rtt: Option<Span>, capacity: f64) {
        self.give_back(pending);
        if let Some(sample) = rtt.map(Span::as_secs_f64) {
            let mean = self.round_trip.get_or_insert(sample);
            *mean += GAIN * (sample - *mean);
        }
        let increase = self.params.limit_increase;
        self.change(now, capacity, |limit, adaptation| match adaptation {
            Adaptation::Code => limit + increase,
            // A limit below 1 would turn the increase into a jump.
            Adaptation::Aimd => limit + increase / limit.max(1.0),
            Adaptation::None => limit,
        });
    }

    /// Handles a Nack for `pending`, which lowers the limit if its reason is congestion.
    pub(super) fn on_nack(&mut self, now: Time, pending: PitId, is_congestion: bool, capacity: f64) {
        // A Nack for an Interest that the gate did not admit, or whose place was returned already, changes
        // nothing.
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

    /// Returns the place of `pending`, which is no longer satisfied through this face.
    pub(super) fn give_back(&mut self, pending: PitId) {
        self.out.remove(&pending);
    }

    /// Time for which a burst may exceed the rate, seconds.
    fn burst(&self) -> f64 {
        // Until the first RTT of the face the configured burst applies.
        let dynamic = self.round_trip.filter(|_| self.params.dynamic_burst);
        dynamic.map_or(self.params.burst.as_secs_f64(), |round_trip| self.params.rtt_multiplier * round_trip)
    }

    fn leak(&mut self, now: Time, limit: f64) {
        let leaked = now.since(self.leaked_at).as_secs_f64() * limit;
        self.level = (self.level - leaked).max(0.0);
        self.leaked_at = now;
    }

    /// Changes the limit from `now` on.
    fn change(&mut self, now: Time, capacity: f64, changed: impl FnOnce(f64, Adaptation) -> f64) {
        let limit = self.limit(capacity);
        // Before the limit changes: the time up to now has leaked at the old one.
        self.leak(now, limit);
        self.limit = Some(changed(limit, self.params.adaptation));
        // Clamped at once: a stored limit far beyond the link would need many Nacks, one far below the
        // minimum many Data packets, to take effect again.
        self.limit = Some(self.limit(capacity));
    }
}
