//! PIE: Interests are refused with a probability that depends on their queueing delay and on its change.
//!
//! Source: `ndn-shaper-net-device-face`; Pan et al. 2013.

use tidegate_core::prelude::*;

/// Time between two updates.
const PERIOD: Span = Span::from_millis(30);
/// Weight of the distance from the target, per second.
const ALPHA: f64 = 0.125;
/// Weight of the change, per second.
const BETA: f64 = 1.25;
/// Departures in one measurement of their rate, and Interests that must wait for it to begin.
const BATCH: usize = 10;
/// Maximum number of updates made up for after a late wake-up.
const MAX_MISSED: u32 = 100;

/// The rule of one face.
#[derive(Debug)]
pub(super) struct Pie {
    /// Target of the queueing delay, seconds.
    target: f64,
    burst: Span,
    draws: Rng,
    probability: f64,
    /// Waiting time at the last update, seconds.
    delay: f64,
    /// Departures per second; `None` before the first measurement.
    departures: Option<f64>,
    measurement: Option<Measurement>,
    /// Remaining burst allowance of RFC 8033: nothing is refused while it lasts.
    allowance: Span,
    update_at: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Measurement {
    since: Time,
    count: usize,
}

impl Pie {
    pub(super) fn new(target: Span, burst: Span, draws: Rng) -> Self {
        Self {
            target: target.as_secs_f64(),
            burst,
            draws,
            probability: 0.0,
            delay: 0.0,
            departures: None,
            measurement: None,
            allowance: burst,
            update_at: None,
        }
    }

    /// Begins the updates, unless they run already, as an Interest waits.
    pub(super) fn start(&mut self, now: Time) {
        self.update_at.get_or_insert(now + PERIOD);
    }

    /// Whether an Interest that arrives is refused.
    pub(super) fn refuses(&mut self) -> bool {
        let is_mild = self.delay < self.target / 2.0 && self.probability < 0.2;
        self.allowance == Span::ZERO && !is_mild && self.draws.chance(self.probability)
    }

    /// Records that an Interest leaves, with `waiting` others behind it.
    pub(super) fn depart(&mut self, now: Time, waiting: usize) {
        // With a shorter queue the measurement could contain idle time and show too low a rate.
        let may_begin = waiting >= BATCH;
        let fresh = may_begin.then_some(Measurement { since: now, count: 0 });
        let Some(mut running) = self.measurement.or(fresh) else { return };
        running.count += 1;
        self.measurement = Some(running);
        if running.count >= BATCH {
            let took = now.since(running.since);
            self.measure(took);
            self.measurement = fresh;
        }
    }

    fn measure(&mut self, took: Span) {
        let rate = BATCH as f64 / took.as_secs_f64().max(1e-9);
        self.departures = Some(self.departures.map_or(rate, |mean| 0.9 * mean + 0.1 * rate));
        self.allowance = Span::from_nanos(self.allowance.as_nanos().saturating_sub(took.as_nanos()));
    }

    /// Makes the updates that are due; `waiting` is the number of waiting Interests.
    pub(super) fn on_wake(&mut self, now: Time, waiting: usize) {
        for _ in 0..MAX_MISSED {
            match self.update_at {
                Some(at) if at <= now => self.update_at = self.update(waiting).then_some(at + PERIOD),
                _ => return,
            }
        }
        self.update_at = Some(now + PERIOD);
    }

    /// Makes one update; returns whether another one could change anything.
    fn update(&mut self, waiting: usize) -> bool {
        let delay = self.departures.map_or(0.0, |rate| waiting as f64 / rate);
        let change = ALPHA * (delay - self.target) + BETA * (delay - self.delay);
        // At a small probability the same step would be a large relative change and make it oscillate.
        let slowed = match self.probability {
            small if small < 0.01 => change / 8.0,
            medium if medium < 0.1 => change / 2.0,
            _ => change,
        };
        self.probability = (self.probability + slowed).clamp(0.0, 1.0);
        let is_good = delay < self.target / 2.0 && self.delay < self.target / 2.0 && self.probability == 0.0;
        if is_good {
            (self.measurement, self.departures, self.allowance) = (None, None, self.burst);
        }
        self.delay = delay;
        waiting > 0 || !is_good
    }

    /// Time of the next update; `None` for never.
    pub(super) fn next_wake(&self) -> Option<Time> {
        self.update_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(at: u64) -> Time {
        Time::ZERO + Span::from_millis(at)
    }

    fn pie(burst_ms: u64) -> Pie {
        Pie::new(Span::from_millis(20), Span::from_millis(burst_ms), Rng::stream(Seed(1), "pie"))
    }

    /// Interests leave one each millisecond from 1 ms on, and 50 wait.
    fn loaded(burst_ms: u64) -> Pie {
        let mut pie = pie(burst_ms);
        pie.start(ms(0));
        (1..=29).for_each(|at| pie.depart(ms(at), 50));
        pie
    }

    #[test]
    fn the_probability_follows_the_worked_updates() {
        let mut pie = loaded(0);
        // Ten departures in nine gaps are 1111/s, then ten in ten 1000/s: 0.9 and 0.1 of them are 1100/s. 50
        // wait 45.45 ms.
        let delay = 50.0 / 1_100.0;
        pie.on_wake(ms(30), 50);
        let first = (0.125 * (delay - 0.02) + 1.25 * delay) / 8.0;
        assert!((pie.probability - first).abs() < 1e-12, "{} {first}", pie.probability);
        // No change any more; from 0.0075 on still an eighth.
        pie.on_wake(ms(60), 50);
        let second = first + 0.125 * (delay - 0.02) / 8.0;
        assert!((pie.probability - second).abs() < 1e-12, "{} {second}", pie.probability);
        assert_eq!(pie.next_wake(), Some(ms(90)));
    }

    #[test]
    fn a_late_wake_up_makes_up_for_the_updates_it_missed() {
        let (mut late, mut timely) = (loaded(0), loaded(0));
        late.on_wake(ms(125), 50);
        [30, 60, 90, 120].into_iter().for_each(|at| timely.on_wake(ms(at), 50));
        assert_eq!((late.probability, late.next_wake()), (timely.probability, timely.next_wake()));
    }

    #[test]
    fn nothing_is_refused_before_the_burst_is_over() {
        for (burst, is_over) in [(0, true), (18, true), (100, false)] {
            let mut pie = loaded(burst);
            (1..=40).for_each(|update| pie.on_wake(ms(30 * update), 50));
            assert_eq!((0..10_000).any(|_| pie.refuses()), is_over, "burst of {burst} ms");
        }
    }

    #[test]
    fn a_queue_that_empties_ends_refusals_and_updates() {
        let mut pie = loaded(0);
        pie.on_wake(ms(30), 50);
        assert!(pie.probability > 0.0);
        (2..100).for_each(|update| pie.on_wake(ms(30 * update), 0));
        assert_eq!((pie.probability, pie.next_wake()), (0.0, None));
    }
}
