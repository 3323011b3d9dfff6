//! RCP's rule: the rate of every flow grows with the unused capacity and falls with the queue.

/// Measurements of one period.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodSample {
    /// Length of the period, seconds.
    pub period: f64,
    /// Data that the upstream link brings, per second (C).
    pub capacity: f64,
    /// Interests that left, per second (y).
    pub requested: f64,
    /// Data that wait downstream, packets (q).
    pub queue: f64,
    /// Mean time from Interest to Data, seconds (d).
    pub delay: f64,
}

/// Constants of the rule.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateRule {
    pub utilisation: f64,
    pub alpha: f64,
    pub beta: f64,
}

/// Minimum reported rate, Interests per second.
const MIN: f64 = 1.0;

impl RateRule {
    /// The rate after a period, Interests per second: R (1 + (T/d) (alpha (u C - y) - beta q/d) / C), with T no more
    /// than d, between one and the capacity.
    pub(super) fn next(self, rate: f64, seen: PeriodSample) -> f64 {
        let PeriodSample { period, capacity, requested, queue, delay } = seen;
        let spare = self.alpha * (self.utilisation * capacity - requested) - self.beta * queue / delay;
        // With a period longer than the delay the correction would be larger than the deviation and
        // overshoot.
        let factor = 1.0 + (period / delay).min(1.0) * spare / capacity;
        (rate * factor).min(capacity).max(MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_follows_the_worked_periods() {
        let rule = RateRule { utilisation: 0.95, alpha: 0.4, beta: 0.2 };
        let seen = PeriodSample { period: 0.02, capacity: 1_000.0, requested: 950.0, queue: 0.0, delay: 0.04 };
        // 950 are aimed at; half a round trip has passed.
        for (requested, queue, rate, by_hand) in [
            (950.0, 0.0, 400.0, 400.0),
            (450.0, 0.0, 400.0, 400.0 * 1.1),          // 0.5 * 0.4 * 500 / 1000
            (1_950.0, 0.0, 400.0, 400.0 * 0.8),        // 0.5 * 0.4 * -1000 / 1000
            (950.0, 20.0, 400.0, 400.0 * 0.95),        // 0.5 * -0.2 * 20 / 0.04 / 1000
            (0.0, 0.0, 950.0, 1_000.0),                // the capacity
            (950.0, 10_000.0, 400.0, 1.0),             // the least
        ] {
            let found = rule.next(rate, PeriodSample { requested, queue, ..seen });
            assert!((found - by_hand).abs() < 1e-9, "{requested} {queue}: {found}");
        }
        let late = rule.next(400.0, PeriodSample { period: 1.0, requested: 450.0, ..seen });
        assert!((late - 400.0 * 1.2).abs() < 1e-9, "a round trip at most: {late}");
    }
}
