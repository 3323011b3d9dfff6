//! The fair rate of one link (Kato et al., section II.C).

use tidegate_core::choice;

choice! {
    /// Second argument of eq. 3, which cannot be read in our copy.
    pub enum Beta {
        /// max(0.1, (y − C) / C).
        ExcessLoad = "excess-load",
        /// The constant 0.1, whatever the load.
        Constant = "constant",
    }
}

/// Minimum weight of the queue in eq. 2.
const MIN_BETA: f64 = 0.1;
/// Lowest rate, Interests per second.
pub(super) const LOWEST: f64 = 1.0;
/// Minimum RTT in eq. 2, seconds: a link may have no delay.
const SHORTEST_RTT: f64 = 1e-6;

impl Beta {
    fn of(self, load: f64, capacity: f64) -> f64 {
        match self {
            Self::ExcessLoad => MIN_BETA.max((load - capacity) / capacity),
            Self::Constant => MIN_BETA,
        }
    }
}

/// The constants of the equations.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairRateRule {
    /// Target utilisation of the link (η), 0..=1.
    pub utilisation: f64,
    /// Form of β in eq. 3.
    pub beta: Beta,
    /// Weight of the newest value in the averages, 0..=1.
    pub weight: f64,
}

/// Measurements of one interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// C: Interests per second whose Data fill the link, at least [`LOWEST`].
    pub capacity: f64,
    /// y: arriving Interests per second, refused ones included.
    pub load: f64,
    /// q: Interests in the bucket.
    pub queue: f64,
    /// d: smoothed round-trip time, seconds.
    pub rtt: f64,
}

/// R(t), Interests per second.
#[derive(Clone, Debug)]
pub(super) struct FairRate {
    rule: FairRateRule,
    /// `None` before the first interval has ended: the capacity.
    rate: Option<f64>,
    /// `None` before the first value, which it begins with.
    base: Option<f64>,
    excess: f64,
}

impl FairRate {
    pub fn new(rule: FairRateRule) -> Self {
        Self { rule, rate: None, base: None, excess: 0.0 }
    }

    /// The rate now, [`LOWEST`] to `capacity`.
    pub fn get(&self, capacity: f64) -> f64 {
        self.rate.unwrap_or(capacity).clamp(LOWEST, capacity)
    }

    /// Computes the rate of the next interval from the last one's measurements.
    pub fn update(&mut self, measured: Measured) {
        let Measured { capacity, load, queue, rtt } = measured;
        let FairRateRule { utilisation, beta, weight } = self.rule;
        let before = self.get(capacity);
        // The equivalent number N of flows with the full rate (eq. 1).
        let flows = capacity.max(load) / before;
        // The base rate of eq. 2; the weight of the queue is that of eq. 3.
        let drained = beta.of(load, capacity) * queue / rtt.max(SHORTEST_RTT);
        let base = ((utilisation * capacity - drained) / flows).max(0.0);
        // The excess of eq. 4: 0 under overload, where load / flows is the rate itself; positive below the capacity, so that
        // the rest is handed out.
        let excess = before - load / flows;
        // The average begins with the first value: from 0 it would halve the rate in the first interval.
        let base = smooth(self.base.unwrap_or(base), base, weight);
        self.excess = smooth(self.excess, excess, weight);
        self.base = Some(base);
        // The fair rate is the sum of both averages (eq. 5).
        self.rate = Some((base + self.excess).clamp(LOWEST, capacity));
    }
}

/// Next value of a moving average.
pub(super) fn smooth(average: f64, value: f64, weight: f64) -> f64 {
    weight * value + (1.0 - weight) * average
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: FairRateRule = FairRateRule { utilisation: 1.0, beta: Beta::ExcessLoad, weight: 0.5 };

    /// Updates with C = 1000/s and d = 0.4 s; loads, fills of the bucket and rates by hand.
    #[track_caller]
    fn follow(rule: FairRateRule, steps: &[(f64, f64, f64)]) {
        let mut rate = FairRate::new(rule);
        assert_eq!(rate.get(1000.0), 1000.0, "R(0) = C");
        for (number, (load, queue, expected)) in (1..).zip(steps) {
            rate.update(Measured { capacity: 1000.0, load: *load, queue: *queue, rtt: 0.4 });
            let found = rate.get(1000.0);
            assert!((found - expected).abs() < 1e-9, "step {number}: {found}, by hand {expected}");
        }
    }

    #[test]
    fn equations_by_hand_with_the_excess_load_in_equation_3() {
        follow(
            RULE,
            &[
                // N = 2; beta = 1; base = (1000 - 1 * 200 / 0.4) / 2; no excess.
                (2000.0, 200.0, 250.0),
                // N = 4; base = (1000 - 0.1 * 100 / 0.4) / 4 = 243.75, averaged with 250; excess = 250 - 500 / 4,
                // averaged with 0.
                (500.0, 100.0, 246.875 + 62.5),
                // N = 1000 / 309.375; base = 309.375, averaged with 246.875; excess = 0, averaged with 62.5.
                (1000.0, 0.0, 278.125 + 31.25),
                // N = 1250 / 309.375; beta = 0.25; base = (1000 - 0.25 * 40 / 0.4) / N = 241.3125; excess = 0.
                (1250.0, 40.0, 259.71875 + 15.625),
            ],
        );
    }

    #[test]
    fn equations_by_hand_with_a_constant_equation_3() {
        let rule = FairRateRule { beta: Beta::Constant, ..RULE };
        // base = (1000 - 0.1 * 200 / 0.4) / 2.
        follow(rule, &[(2000.0, 200.0, 475.0)]);
        // base = (0.9 * 1000 - 0.1 * 40 / 0.4) / 1, excess = 1000 - 500, averaged with 0 by the weight 0.2.
        let rule = FairRateRule { utilisation: 0.9, weight: 0.2, beta: Beta::Constant };
        follow(rule, &[(500.0, 40.0, 990.0), (1_000.0, 0.0, 0.2 * 891.0 + 0.8 * 890.0 + 0.8 * 100.0)]);
    }

    #[test]
    fn a_base_rate_below_zero_counts_as_zero() {
        // beta = 1, so that the first base is (1000 - 1 * 2000 / 0.4) / 2. Then base and excess are the rate before,
        // averaged with 0, 0.5 and 0.75.
        follow(RULE, &[(2000.0, 2000.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.5), (0.0, 0.0, 2.25)]);
    }

    #[test]
    fn n_flows_at_the_fair_rate_keep_it() {
        for flows in [1.0, 2.0, 5.0] {
            let mut rate = FairRate::new(RULE);
            for _ in 0..200 {
                let load = flows * rate.get(1000.0);
                rate.update(Measured { capacity: 1000.0, load, queue: 0.0, rtt: 0.4 });
            }
            assert!((rate.get(1000.0) - 1000.0 / flows).abs() < 1e-6, "{flows} flows: {rate:?}");
        }
    }

    #[test]
    fn a_link_without_traffic_offers_its_capacity_and_one_that_is_swamped_the_lowest_rate() {
        let mut rate = FairRate::new(RULE);
        for _ in 0..50 {
            rate.update(Measured { capacity: 1000.0, load: 1e9, queue: 200.0, rtt: 0.0 });
        }
        assert_eq!(rate.get(1000.0), LOWEST);
        for _ in 0..50 {
            rate.update(Measured { capacity: 1000.0, load: 0.0, queue: 0.0, rtt: 0.0 });
        }
        assert_eq!(rate.get(1000.0), 1000.0);
        assert_eq!(rate.get(10.0), 10.0, "the link became slower");
    }
}
