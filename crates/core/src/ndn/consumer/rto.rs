//! Round-trip time estimators, which determine how long an Interest may be outstanding before it counts as
//! lost.
//!
//! Programs differ enough here to change results, so each keeps its own rule. Samples come from segments that
//! were requested once (Karn's rule), which the consumer ensures.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::units::Span;

/// Estimator of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EstimatorKind {
    /// ndnSIM's `RttMeanDeviation`: backoff per timed-out packet up to 64, timeout at most 200 s.
    Ndnsim,
    /// ndn-cxx' `RttEstimator` with ndnget's factor of 8, samples weighted by what is in flight.
    NdnTools,
    /// NDNts: as ndn-cxx with the factor 4.
    Ndnts,
    /// ICP's: halfway between the minimum and the maximum of the last samples.
    Range,
}

/// Timeout before the first sample, ns; the same in every program.
const INITIAL: f64 = 1e9;
/// Minimum timeout of all but [`EstimatorKind::Range`], unless set, ns.
const MIN: f64 = 200e6;
/// Maximum timeout in ndnSIM, ns.
const NDNSIM_MAX: f64 = 200e9;
/// Maximum timeout in ndn-cxx and NDNts, ns.
const NDN_CXX_MAX: f64 = 60e9;
/// Maximum backoff factor in ndnSIM, unless set.
const NDNSIM_MAX_BACKOFF: u32 = 64;
/// Weight of a sample in the smoothed round-trip time.
const GAIN: f64 = 0.125;
/// Weight of a sample in the variation.
const VARIATION_GAIN: f64 = 0.25;
/// Number of latest samples that ICP considers.
const RANGE_SAMPLES: usize = 20;
/// Minimum timeout of [`EstimatorKind::Range`], unless set.
const RANGE_MIN: Span = Span::from_millis(10);

/// One flow's estimate. Takes no memory of its own before the first sample.
#[derive(Clone, Debug)]
pub struct Estimator {
    kind: EstimatorKind,
    has_sample: bool,
    /// Smoothed RTT, ns (SRTT of RFC 6298).
    smoothed: f64,
    /// Smoothed mean deviation of the RTT, ns (RTTVAR of RFC 6298).
    variation: f64,
    /// ndnSIM's factor on the timeout, at least 1.
    backoff: f64,
    /// Minimum retransmission timeout, ns.
    min: f64,
    /// Maximum backoff factor of ndnSIM's estimator.
    max_backoff: u32,
    /// Variations added to the smoothed time.
    variations: u32,
    rto: Span,
    /// The last samples, newest last; of [`EstimatorKind::Range`] alone.
    recent: VecDeque<Span>,
}

/// Limits of the timeout that override those of the estimator; `None` for the estimator's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeoutLimits {
    /// Minimum timeout once there is a sample.
    pub min: Option<Span>,
    /// Maximum factor by which ndnSIM's timeout backs off; other estimators have none.
    pub backoff: Option<NonZeroU32>,
    /// Variations that the timeout adds to the smoothed time; [`EstimatorKind::Range`] has none.
    pub variations: Option<NonZeroU32>,
}

impl Estimator {
    /// An estimator without samples; its timeout is 1 s.
    pub fn new(kind: EstimatorKind, limits: TimeoutLimits) -> Self {
        let own_variations = if kind == EstimatorKind::NdnTools { 8 } else { 4 };
        let default_min = if kind == EstimatorKind::Range { RANGE_MIN } else { nanos(MIN) };
        Self {
            kind,
            has_sample: false,
            smoothed: INITIAL,
            variation: 0.0,
            backoff: 1.0,
            min: limits.min.unwrap_or(default_min).as_nanos() as f64,
            max_backoff: limits.backoff.map_or(NDNSIM_MAX_BACKOFF, NonZeroU32::get),
            variations: limits.variations.map_or(own_variations, NonZeroU32::get),
            rto: nanos(INITIAL),
            recent: VecDeque::new(),
        }
    }

    /// The retransmission timeout, backoff included.
    #[inline]
    pub fn rto(&self) -> Span {
        self.rto
    }

    /// Smoothed round-trip time; `None` before the first sample.
    #[inline]
    pub fn smoothed_rtt(&self) -> Option<Span> {
        self.has_sample.then(|| nanos(self.smoothed))
    }

    /// Adds the round-trip time of a segment that was requested once, with `in_flight` Interests still outstanding.
    pub fn sample(&mut self, rtt: Span, in_flight: u32) {
        let sample = rtt.as_nanos() as f64;
        // ndn-cxx divides the gains by the expected number of samples per RTT: half of what was in flight, or
        // all of it in NDNts.
        let weight = match self.kind {
            EstimatorKind::Ndnsim | EstimatorKind::Range => 1.0,
            EstimatorKind::NdnTools => 1.0 / f64::from(in_flight.saturating_add(1) / 2).max(1.0),
            EstimatorKind::Ndnts => 1.0 / f64::from(in_flight.saturating_add(1)),
        };
        if self.has_sample {
            let error = sample - self.smoothed;
            // Before the smoothed time changes (RFC 6298, section 2.3).
            self.variation += VARIATION_GAIN * weight * (error.abs() - self.variation);
            self.smoothed += GAIN * weight * error;
        } else {
            self.has_sample = true;
            self.smoothed = sample;
            self.variation = sample / 2.0;
        }
        self.backoff = 1.0;
        self.rto = match self.kind {
            EstimatorKind::Ndnsim => self.ndnsim_timeout(),
            EstimatorKind::NdnTools | EstimatorKind::Ndnts => nanos(self.unlimited().min(NDN_CXX_MAX)),
            EstimatorKind::Range => self.range_timeout(rtt),
        };
    }

    /// Doubles the timeout until the next sample, up to the program's limit; ICP has no backoff.
    pub fn back_off(&mut self) {
        match self.kind {
            EstimatorKind::Ndnsim => {
                self.backoff = (self.backoff * 2.0).min(f64::from(self.max_backoff));
                self.rto = self.ndnsim_timeout();
            }
            EstimatorKind::NdnTools | EstimatorKind::Ndnts => {
                self.rto = (self.rto * 2).min(nanos(NDN_CXX_MAX));
            }
            EstimatorKind::Range => {}
        }
    }

    fn ndnsim_timeout(&self) -> Span {
        nanos((self.backoff * self.unlimited()).min(NDNSIM_MAX))
    }

    /// The timeout without backoff and upper limit, ns.
    fn unlimited(&self) -> f64 {
        (self.smoothed + f64::from(self.variations) * self.variation).max(self.min)
    }

    /// ICP's τ = min + δ (max - min) with δ = 1/2.
    fn range_timeout(&mut self, rtt: Span) -> Span {
        if self.recent.len() == RANGE_SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back(rtt);
        let (mut shortest, mut longest) = (rtt, rtt);
        for sample in &self.recent {
            shortest = shortest.min(*sample);
            longest = longest.max(*sample);
        }
        (shortest + (longest - shortest) / 2).max(nanos(self.min))
    }
}

/// Rounds down; the value is never negative.
#[inline]
fn nanos(value: f64) -> Span {
    Span::from_nanos(value as i64 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(estimator: &Estimator) -> f64 {
        estimator.rto().as_millis_f64()
    }

    fn after(kind: EstimatorKind, samples: &[(u64, u32)]) -> Estimator {
        let mut estimator = Estimator::new(kind, TimeoutLimits::default());
        for (rtt_ms, in_flight) in samples {
            estimator.sample(Span::from_millis(*rtt_ms), *in_flight);
        }
        estimator
    }

    #[test]
    fn every_estimator_starts_at_one_second_without_a_round_trip_time() {
        for kind in
            [EstimatorKind::Ndnsim, EstimatorKind::NdnTools, EstimatorKind::Ndnts, EstimatorKind::Range]
        {
            let estimator = Estimator::new(kind, TimeoutLimits::default());
            assert_eq!((estimator.rto(), estimator.smoothed_rtt()), (Span::from_secs(1), None), "{kind:?}");
        }
    }

    #[test]
    fn ndnsim_adds_four_mean_deviations_and_weights_samples_by_one_eighth() {
        // First: 100 ms, deviation 50 ms. Then error 80 ms: 110 ms, deviation 50 + (80 - 50) / 4 = 57.5 ms.
        assert_eq!(millis(&after(EstimatorKind::Ndnsim, &[(100, 9)])), 300.0);
        let estimator = after(EstimatorKind::Ndnsim, &[(100, 9), (180, 9)]);
        assert_eq!(millis(&estimator), 110.0 + 4.0 * 57.5);
        assert_eq!(estimator.smoothed_rtt(), Some(Span::from_millis(110)));
    }

    #[test]
    fn ndnsim_multiplies_its_floor_too_and_stops_at_64() {
        // 20 ms + 4 x 10 ms lies below the floor of 200 ms, so the floor is what doubles.
        let mut estimator = after(EstimatorKind::Ndnsim, &[(20, 1)]);
        let mut timeouts = vec![millis(&estimator)];
        for _ in 0..8 {
            estimator.back_off();
            timeouts.push(millis(&estimator));
        }
        assert_eq!(timeouts, [200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 12800.0, 12800.0, 12800.0]);
        estimator.sample(Span::from_millis(20), 1);
        assert_eq!(millis(&estimator), 200.0);
    }

    #[test]
    fn a_set_floor_and_a_set_backoff_limit_hold_in_place_of_the_programs_own() {
        let limits = TimeoutLimits {
            min: Some(Span::from_millis(300)),
            backoff: NonZeroU32::new(8),
            variations: None,
        };
        let mut estimator = Estimator::new(EstimatorKind::Ndnsim, limits);
        estimator.sample(Span::from_millis(20), 1);
        let timeouts: Vec<f64> = (0..5)
            .map(|_| {
                let before = millis(&estimator);
                estimator.back_off();
                before
            })
            .collect();
        assert_eq!(timeouts, [300.0, 600.0, 1200.0, 2400.0, 2400.0]);
        for kind in [EstimatorKind::NdnTools, EstimatorKind::Ndnts, EstimatorKind::Range] {
            let mut estimator = Estimator::new(kind, limits);
            estimator.sample(Span::from_millis(1), 0);
            assert_eq!(millis(&estimator), 300.0, "{kind:?}");
        }
    }

    #[test]
    fn a_set_number_of_variations_holds_in_place_of_the_programs_own() {
        // One sample of 100 ms: variation 50 ms.
        let timeout = |kind, variations| {
            let mut estimator =
                Estimator::new(kind, TimeoutLimits { variations, ..TimeoutLimits::default() });
            estimator.sample(Span::from_millis(100), 0);
            millis(&estimator)
        };
        for kind in [EstimatorKind::Ndnsim, EstimatorKind::NdnTools, EstimatorKind::Ndnts] {
            assert_eq!(
                [2, 4, 8].map(|count| timeout(kind, NonZeroU32::new(count))),
                [200.0, 300.0, 500.0],
                "{kind:?}"
            );
        }
        assert_eq!(timeout(EstimatorKind::Range, NonZeroU32::new(8)), timeout(EstimatorKind::Range, None));
    }

    #[test]
    fn ndnsim_never_waits_longer_than_200_seconds() {
        let mut estimator = after(EstimatorKind::Ndnsim, &[(2000, 1)]);
        for _ in 0..6 {
            estimator.back_off();
        }
        assert_eq!(estimator.rto(), Span::from_secs(200));
    }

    #[test]
    fn ndn_tools_adds_eight_variations_and_divides_the_gains_by_half_the_flight() {
        assert_eq!(millis(&after(EstimatorKind::NdnTools, &[(100, 0)])), 500.0);
        // 7 in flight: n = 4, gains 1/32 and 1/16. Variation 50 + (80 - 50) / 16 = 51.875, mean 102.5 ms.
        let estimator = after(EstimatorKind::NdnTools, &[(100, 7), (180, 7)]);
        assert_eq!(millis(&estimator), 102.5 + 8.0 * 51.875);
        // Nothing in flight still is one expected sample: 110 + 8 x 57.5.
        assert_eq!(millis(&after(EstimatorKind::NdnTools, &[(100, 0), (180, 0)])), 570.0);
    }

    #[test]
    fn ndnts_adds_four_variations_and_divides_the_gains_by_the_whole_flight() {
        // 3 in flight and this one: n = 4, so the same gains as above with the factor 4.
        let estimator = after(EstimatorKind::Ndnts, &[(100, 3), (180, 3)]);
        assert_eq!(millis(&estimator), 102.5 + 4.0 * 51.875);
    }

    #[test]
    fn ndn_cxx_backoff_doubles_up_to_60_seconds_and_ends_with_a_sample() {
        let mut estimator = after(EstimatorKind::NdnTools, &[(10, 0)]);
        assert_eq!(millis(&estimator), 200.0);
        for seconds in [0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 60.0, 60.0] {
            estimator.back_off();
            assert_eq!(estimator.rto(), Span::from_secs_f64(seconds));
        }
        estimator.sample(Span::from_millis(10), 0);
        assert_eq!(millis(&estimator), 200.0);
    }

    #[test]
    fn icp_waits_for_the_middle_of_the_last_twenty_samples() {
        let mut estimator = after(EstimatorKind::Range, &[(40, 0), (80, 0), (60, 0)]);
        assert_eq!(millis(&estimator), 60.0);
        estimator.back_off();
        assert_eq!(millis(&estimator), 60.0);
        // 18 more push the 40 ms out of the window of 20: 50..80 remain.
        for _ in 0..18 {
            estimator.sample(Span::from_millis(50), 0);
        }
        assert_eq!(millis(&estimator), 65.0);
    }

    #[test]
    fn icp_never_waits_less_than_ten_milliseconds() {
        assert_eq!(millis(&after(EstimatorKind::Range, &[(1, 0)])), 10.0);
    }
}
