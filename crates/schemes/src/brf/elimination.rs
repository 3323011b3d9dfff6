//! Elimination of congestion: rates that drain a standing queue or react to a burst.
//!
//! eq. 17 as printed adds a pure number to a rate, and a longer queue raises the rate; eq. 18 is inverted. The
//! corrected forms follow from eq. 16 and from the text. The queue is that of the BRF class: BRF flows do not drain
//! the queue of other TCP flows. A standing queue is the paper's θ1, a burst its θ2.

use tidegate_core::prelude::*;
use crate::brf::messages::Congestion;

use super::Form;

/// Inputs of eq. 16 to 18.
#[derive(Clone, Copy, Debug)]
pub struct Drain {
    /// Form of the equations.
    pub form: Form,
    /// Bandwidth of the class, bytes/s.
    pub capacity: f64,
    /// Time in which the queue is to be drained (γ), above zero.
    pub time: Span,
    /// Minimum fraction of the capacity that is allocated, 0..=1.
    pub min: f64,
}

impl Drain {
    /// Factor on the rates of all flows, which sum up to `granted`; `real` is the measured sum.
    pub fn factor(&self, congestion: Congestion, granted: f64, real: f64) -> f64 {
        if granted <= 0.0 {
            return 1.0;
        }
        match (self.form, congestion) {
            (Form::Corrected, Congestion::Queue(queue)) => self.target(queue) / granted,
            // Only ever down: with less traffic than the capacity eq. 18 would raise the rates.
            (Form::Corrected, Congestion::Burst) if real > self.capacity => self.capacity / real,
            (Form::Corrected, Congestion::Burst) => 1.0,
            (_, Congestion::Clear) | (Form::Literal, Congestion::Queue(_)) => 1.0,
            // eq. 18 as printed.
            (Form::Literal, Congestion::Burst) => real / self.capacity.max(1.0),
        }
    }

    /// Constant added to each rate after the factor, bytes/s; only in the printed eq. 17.
    pub fn step(&self, congestion: Congestion, granted: f64) -> f64 {
        match (self.form, congestion) {
            (Form::Literal, Congestion::Queue(queue)) if granted > 0.0 => {
                (self.time.as_secs_f64() * queue.get() as f64 - granted) / granted
            }
            _ => 0.0,
        }
    }

    /// eq. 16 solved for the sum of the rates: a set-point, so that the same queue is not charged again each period.
    fn target(&self, queue: ByteCount) -> f64 {
        let drained = queue.get() as f64 / self.time.as_secs_f64().max(1e-9);
        // A long queue could make the target negative; some rate has to remain, or no ACKs would return.
        (self.capacity - drained).max(self.min * self.capacity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: f64 = 12.5e6;
    const DT: Span = Span::from_millis(20);

    fn drain(form: Form, round_trips: u64) -> Drain {
        Drain { form, capacity: C, time: DT * round_trips, min: 0.0 }
    }

    /// Queues at the ends of periods: rates take effect one period later.
    fn queues(rule: &Drain, first: f64, periods: usize) -> Vec<f64> {
        let dt = DT.as_secs_f64();
        let (mut granted, mut queue, mut seen) = (C, first, first);
        let mut course = vec![first];
        for _ in 0..periods {
            let next = (queue + (granted - C) * dt).max(0.0);
            granted *= rule.factor(Congestion::Queue(ByteCount::new(seen as u64)), granted, 0.0);
            (queue, seen) = (next, next);
            course.push(next);
        }
        course
    }

    #[test]
    fn a_queue_drains_as_the_closed_form_says() {
        // q' = q - (dt / gamma) q of the period before, cut off at zero; gamma = 1, 2, 4 round trips.
        for gamma in [1, 2, 4] {
            // Less than the class sends in a period, so that the slowest rate is not below zero.
            let course = queues(&drain(Form::Corrected, gamma), 2e5, 30);
            let mut closed = vec![2e5, 2e5];
            while closed.len() < course.len() {
                let [.., before, last] = closed[..] else { unreachable!("two are there") };
                closed.push((last - before / gamma as f64).max(0.0));
            }
            for (ours, theirs) in course.iter().zip(&closed) {
                assert!((ours - theirs).abs() <= 0.05 * theirs + 10.0, "{gamma}: {course:?} {closed:?}");
            }
        }
    }

    #[test]
    fn four_round_trips_drain_without_idling_and_one_cuts_off() {
        let course = |gamma| queues(&drain(Form::Corrected, gamma), 2e5, 40);
        assert!(course(4)[..15].iter().all(|queue| *queue > 0.0), "never empty before its time");
        assert!(course(1)[..4].contains(&0.0), "capacity is wasted");
        assert!(course(4)[40] < 100.0 && course(2)[12] < 1e4);
    }

    #[test]
    fn rates_never_fall_below_the_least_part() {
        let rule = Drain { min: 0.25, ..drain(Form::Corrected, 2) };
        let rate = C * rule.factor(Congestion::Queue(ByteCount::new(1 << 40)), C, 0.0);
        assert!((rate - 0.25 * C).abs() < 1e-3, "{rate}");
        assert_eq!(rule.factor(Congestion::Queue(ByteCount::new(5)), 0.0, 0.0), 1.0, "nobody to slow down");
    }

    #[test]
    fn a_burst_scales_down_and_as_printed_up() {
        let (corrected, literal) = (drain(Form::Corrected, 2), drain(Form::Literal, 2));
        assert_eq!(corrected.factor(Congestion::Burst, C, 1.25 * C), 0.8);
        assert_eq!(corrected.factor(Congestion::Burst, C, 0.5 * C), 1.0, "never up");
        assert_eq!(literal.factor(Congestion::Burst, C, 1.25 * C), 1.25, "eq. 18 is inverted");
    }

    #[test]
    fn the_printed_equation_17_moves_a_rate_by_a_byte_per_second() {
        let literal = drain(Form::Literal, 2);
        let queue = Congestion::Queue(ByteCount::new(1_000_000));
        // (0.04 s · 1e6 B - 12.5e6 B/s) / 12.5e6 B/s: a pure number.
        let step = literal.step(queue, C);
        assert!((step - (0.04e6 - 12.5e6) / 12.5e6).abs() < 1e-12 && step.abs() < 1.0, "{step}");
        assert!(literal.step(Congestion::Queue(ByteCount::new(2_000_000)), C) > step, "a longer queue: a higher rate");
        assert_eq!(drain(Form::Corrected, 2).step(queue, C), 0.0);
    }
}
