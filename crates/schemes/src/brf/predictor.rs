//! Prediction of the demand of a new flow (F of eq. 9, which the paper leaves to "a machine learning model").
//!
//! Hierarchical shrinkage: averages of the logarithm of past demands, kept for all flows, for the port, for the port
//! at the sender's side, and for the pair of hosts; each finer average moves the estimate by a weight that grows with
//! its number of flows. The port of the sender carries no information and is left out. With few observations the
//! guess is the average share, which is also its cap (eq. 10), so that long flows which fill the link get the same
//! from any guess.

use std::collections::BTreeMap;

use tidegate_core::math;
use tidegate_core::prelude::*;

/// Weight of the past per observation.
const FORGETTING: f64 = 0.98;
/// Weight of the coarser estimate, observations.
const PRIOR: f64 = 4.0;
/// Guessed quantile, standard deviations above the mean: too little costs a round, too much is capped.
const QUANTILE: f64 = 0.25;
/// Minimum number of observations for a guess.
const MIN_SEEN: f64 = 4.0;
/// Maximum number of averages, so that many hosts cannot exhaust the memory.
const MAX_CELLS: usize = 16_384;
/// Averages per flow: all, port, sender and port, both hosts and port.
const LEVELS: usize = 4;

/// Features of a flow, from coarse to fine.
pub type Features = [Vec<u8>; LEVELS];

/// Features of the flow whose data has the name `/tcp/DESTINATION/SOURCE/PORT`. Parts missing from a shorter name are
/// empty.
pub fn features(names: &NameTable, data: PrefixId) -> Features {
    let mut parts = names.components_from_last(data).map(|(_, value)| value);
    let mut part = || parts.next().unwrap_or_default();
    let (port, source, destination) = (part(), part(), part());
    let key = |level: u8, parts: &[&[u8]]| {
        // A length before each part, so that different lists have different keys.
        let mut key = vec![level];
        parts.iter().for_each(|part| {
            key.extend((part.len() as u32).to_be_bytes());
            key.extend_from_slice(part);
        });
        key
    };
    [key(0, &[]), key(1, &[port]), key(2, &[source, port]), key(3, &[destination, source, port])]
}

/// Exponentially weighted average and variance of logarithms.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    seen: f64,
    mean: f64,
    variance: f64,
    /// Number of observations of the predictor at the last update.
    at: u64,
}

impl Cell {
    fn add(&mut self, value: f64, at: u64) {
        // Converges to 50, so that demands of long ago lose their weight.
        self.seen = FORGETTING * self.seen + 1.0;
        let step = value - self.mean;
        self.mean += step / self.seen;
        self.variance += (step * (value - self.mean) - self.variance) / self.seen;
        self.at = at;
    }
}

/// A guess, to be compared with the demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Features that it was computed from.
    pub features: Features,
    /// Logarithm of the expected demand, bytes/s.
    pub mean: f64,
    /// Predicted rate of the flow, bytes/s.
    pub rate: f64,
    /// Average share at the time of the guess, bytes/s.
    pub average: f64,
}

/// Comparison of a first grant with the demand of an application-limited flow; bytes/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuessReview {
    /// The guess, capped by the average share.
    pub guess: f64,
    /// The average share, which the flow would have got without a guess.
    pub average: f64,
    /// Highest measured rate of the flow.
    pub demand: f64,
}

/// Hierarchical averages, with the accuracy of past predictions.
#[derive(Clone, Debug, Default)]
pub struct Predictor {
    cells: BTreeMap<Vec<u8>, Cell>,
    observed: u64,
}

impl Predictor {
    /// Predicted demand of a flow with these features; `average` bytes/s is the equal share.
    pub fn guess(&self, features: Features, average: f64) -> Prediction {
        let average = average.max(1.0);
        let (mut mean, mut variance, mut seen) = (math::ln(average), 0.0, 0.0);
        for cell in features.iter().filter_map(|key| self.cells.get(key)) {
            // From coarse to fine: each level starts from the estimate of the one before.
            mean = (cell.seen * cell.mean + PRIOR * mean) / (cell.seen + PRIOR);
            variance = (cell.seen * cell.variance + PRIOR * variance) / (cell.seen + PRIOR);
            seen += cell.seen;
        }
        let guess = math::exp(mean + QUANTILE * variance.max(0.0).sqrt());
        let rate = if seen < MIN_SEEN { average } else { guess };
        Prediction { features, mean, rate, average }
    }

    /// Adds the demand of a flow, its highest rate in bytes/s. If its application did not limit it, the real demand
    /// may be higher: the averages are then only raised, and there is no review.
    pub fn learn(&mut self, prediction: &Prediction, demand: f64, is_limited: bool) -> Option<GuessReview> {
        let Prediction { rate, average, .. } = *prediction;
        let demand = demand.max(1.0);
        let verdict = GuessReview { guess: rate.min(average).max(1.0), average, demand };
        let demand = math::ln(demand);
        let value = if is_limited { demand } else { demand.max(prediction.mean) };
        self.observed += 1;
        for key in &prediction.features {
            if !self.cells.contains_key(key) && self.cells.len() >= MAX_CELLS {
                self.forget_oldest();
            }
            self.cells.entry(key.clone()).or_default().add(value, self.observed);
        }
        is_limited.then_some(verdict)
    }

    /// Removes the older half of the averages, so that a flood of hosts costs little per host.
    fn forget_oldest(&mut self) {
        let mut ages: Vec<u64> = self.cells.values().map(|cell| cell.at).collect();
        let middle = ages.len() / 2;
        let (_, median, _) = ages.select_nth_unstable(middle);
        let median = *median;
        self.cells.retain(|_, cell| cell.at > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &mut NameTable, uri: &str) -> Features {
        let prefix = names.intern_uri(uri).expect("a name");
        features(names, prefix)
    }

    #[test]
    fn without_history_the_guess_is_the_average_share() {
        let mut names = NameTable::new();
        let flow = named(&mut names, "/tcp/d/s/80");
        let mut predictor = Predictor::default();
        assert_eq!(predictor.guess(flow.clone(), 5e6).rate, 5e6);
        // One flow fills four averages: that is enough.
        let prediction = predictor.guess(flow.clone(), 5e6);
        predictor.learn(&prediction, 1e5, true);
        assert!(predictor.guess(flow, 5e6).rate < 5e6);
    }

    #[test]
    fn ports_are_distinguished_and_unknown_hosts_learn_from_the_port() {
        let mut names = NameTable::new();
        let mut predictor = Predictor::default();
        for round in 0..40 {
            for (port, demand) in [("80", 1e5), ("443", 2e6)] {
                let flow = named(&mut names, &format!("/tcp/d/s{}/{port}", round % 4));
                let prediction = predictor.guess(flow, 5e6);
                predictor.learn(&prediction, demand, true);
            }
        }
        let guess = |names: &mut NameTable, uri| predictor.guess(named(names, uri), 5e6).rate;
        let (slow, fast) = (guess(&mut names, "/tcp/d/s1/80"), guess(&mut names, "/tcp/d/s1/443"));
        assert!((8e4..3e5).contains(&slow) && (1e6..4e6).contains(&fast), "{slow} {fast}");
        let (slow, fast) = (guess(&mut names, "/tcp/x/y/80"), guess(&mut names, "/tcp/x/y/443"));
        assert!(slow < 5e5 && fast > slow, "{slow} {fast}");
    }

    #[test]
    fn a_flow_that_filled_its_grant_never_lowers_the_guess() {
        let mut names = NameTable::new();
        let flow = named(&mut names, "/tcp/d/s/80");
        let mut predictor = Predictor::default();
        for _ in 0..20 {
            let prediction = predictor.guess(flow.clone(), 1e6);
            predictor.learn(&prediction, 9e6, false);
        }
        let high = predictor.guess(flow.clone(), 1e6);
        assert_eq!(predictor.learn(&high, 1e3, false), None, "no demand was seen");
        let after = predictor.guess(flow, 1e6);
        assert!(after.rate >= high.rate * 0.99, "{} {}", after.rate, high.rate);
    }

    #[test]
    fn where_demands_differ_by_port_the_guess_beats_the_average_share() {
        let (mut names, mut rng) = (NameTable::new(), Rng::stream(Seed(1), "demands"));
        let mut predictor = Predictor::default();
        let (mut ours, mut of_average) = (0.0, 0.0);
        for _ in 0..500 {
            let port = rng.below(5);
            let flow = named(&mut names, &format!("/tcp/d/s{}/{port}", rng.below(20)));
            let prediction = predictor.guess(flow, 2e6);
            let demand = 1e5 * 2f64.powi(port as i32) * (0.5 * (rng.uniform() - 0.5)).exp();
            let verdict = predictor.learn(&prediction, demand, true).expect("a demand was seen");
            ours += (verdict.guess / verdict.demand).ln().abs();
            of_average += (verdict.average / verdict.demand).ln().abs();
        }
        assert!(ours < 0.5 * of_average, "{ours} {of_average}");
    }

    #[test]
    fn any_number_of_hosts_takes_bounded_memory() {
        let mut predictor = Predictor::default();
        for host in 0..40_000u32 {
            let key = |level: u8| [&[level][..], &host.to_be_bytes()].concat();
            let prediction = predictor.guess([vec![0], vec![1], key(2), key(3)], 1e6);
            predictor.learn(&prediction, 1e5, true);
            assert!(predictor.cells.len() <= MAX_CELLS);
        }
        assert!(predictor.cells.contains_key(&vec![0]), "what all share is fresh");
    }

    #[test]
    fn a_name_that_is_too_short_still_has_features() {
        let mut names = NameTable::new();
        let root = features(&names, NameTable::ROOT);
        assert_eq!(root[0], [0]);
        assert_ne!(named(&mut names, "/a/bc")[3], named(&mut names, "/ab/c")[3]);
    }
}
