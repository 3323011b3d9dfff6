//! The rate of the secondary class: eq. 1 to 5 for the capacity that primary Interests leave unused.

use super::fair_rate::{FairRate, LOWEST, Measured, FairRateRule, smooth};

/// R2(t), Interests per second.
#[derive(Debug)]
pub(super) struct Secondary {
    rule: FairRateRule,
    rate: FairRate,
    /// Interests per second of the primary class, on average; `None` before the first interval has ended.
    primary_load: Option<f64>,
}

impl Secondary {
    /// A rate by the same rule as the primary's.
    pub fn new(rule: FairRateRule) -> Self {
        // The unallocated part of the capacity is subtracted in `left`; the rule must not subtract it again.
        Self { rule, rate: FairRate::new(FairRateRule { utilisation: 1.0, ..rule }), primary_load: None }
    }

    /// The rate now, [`LOWEST`] to `capacity`.
    pub fn get(&self, capacity: f64) -> f64 {
        self.rate.get(self.left(capacity))
    }

    /// C2: part of `capacity` that primary Interests leave unused, Interests per second.
    fn left(&self, capacity: f64) -> f64 {
        (self.rule.utilisation * capacity - self.primary_load.unwrap_or_default()).clamp(LOWEST, capacity)
    }

    /// Ends an interval with `load` secondary Interests per second; `primary` has its other measurements.
    pub fn update(&mut self, primary: Measured, load: f64) {
        // The average begins with the first interval: from 0 the link would be given away twice at first.
        let average = self.primary_load.unwrap_or(primary.load);
        self.primary_load = Some(smooth(average, primary.load, self.rule.weight));
        self.rate.update(Measured { capacity: self.left(primary.capacity), load, ..primary });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mircc::fair_rate::Beta;

    #[test]
    fn the_secondary_class_gets_what_the_average_primary_load_leaves() {
        let rule = FairRateRule { utilisation: 0.9, beta: Beta::ExcessLoad, weight: 0.5 };
        let mut secondary = Secondary::new(rule);
        assert_eq!(secondary.get(1000.0), 900.0);
        let primary = Measured { capacity: 1000.0, load: 300.0, queue: 0.0, rtt: 0.1 };
        // C2 = 900 - 300; N = 1200 / 600; base = 600 / 2; no excess.
        secondary.update(primary, 1200.0);
        assert_eq!(secondary.get(1000.0), 300.0);
        // y1 = 500 on average, C2 = 400; N = 600 / 300; base = 400 / 2, averaged with 300; no excess.
        secondary.update(Measured { load: 700.0, ..primary }, 600.0);
        assert_eq!(secondary.get(1000.0), 250.0);
        // The primary class takes everything.
        secondary.update(Measured { load: 5_000.0, ..primary }, 0.0);
        assert_eq!(secondary.get(1000.0), LOWEST);
    }
}
