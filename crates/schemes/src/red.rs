//! RED: drops (or marks) packets at random while the average queue is between two thresholds, all of them above.
//!
//! Paper: Floyd & Jacobson 1993, figure 2, queues counted in packets; `gentle` is Floyd's note of 2000.

use tidegate_core::context::Context;
use tidegate_core::event::Cause;
use tidegate_core::face::FaceView;
use tidegate_core::packet::Header;
use tidegate_core::params::ParamError;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::rng::Rng;
use tidegate_core::scheme::{DeviceSetup, Provenance, Scheme};
use tidegate_core::signal::Class;
use tidegate_core::units::{ByteCount, Span};
use tidegate_core::{choice, params};

use crate::toolbox::average_queue::AverageQueue;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "red",
    summary: "drops or marks packets at random, the more the longer the queue is on average",
    paper: "Floyd & Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993",
    provenance: Provenance::Paper,
    deviations: &[
        "What a typical packet is, is a parameter, as the paper leaves it open; the time it takes is that packet over the \
         line's rate.",
    ],
    draws: true,
    params: Params::TABLE,
    discipline: Some(|settings, device| Ok(Box::new(Red::new(checked(settings)?, device)))),
    ..Scheme::NONE
};

choice! {
    /// What happens to a packet that is chosen.
    pub enum Action {
        /// It is dropped.
        Drop = "drop",
        /// It is marked.
        Mark = "mark",
    }
}

params! {
    /// Average queue below which nothing happens (min_th).
    min_threshold: f64 = 5.0, "packets", 0.0..=1_000_000.0;
    /// Average queue from which on every packet is chosen, or with `gentle` the rise begins (max_th).
    max_threshold: f64 = 15.0, "packets", 0.0..=1_000_000.0;
    /// Probability at the upper threshold, before the spreading (max_p).
    max_probability: f64 = 0.02, "probability", 0.0..=1.0;
    /// Weight of the latest queue in the average (w_q).
    weight: f64 = 0.002, "of the latest queue", 0.000001..=1.0;
    /// Whether the probability rises from max_probability to 1 between the upper threshold and twice that.
    gentle: bool = false;
    /// What happens to a packet that is chosen.
    action: Action = Action::Drop;
    /// A typical packet, by which idle time is counted.
    typical_packet: ByteCount = ByteCount::new(1000), "bytes", ByteCount::new(1)..=ByteCount::new(65_536);
}

fn checked(settings: &tidegate_core::params::Settings) -> Result<Params, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    if params.min_threshold < params.max_threshold {
        return Ok(params);
    }
    let message = format!(
        "max_threshold: {} is not above min_threshold, {}",
        params.max_threshold, params.min_threshold
    );
    Err(vec![ParamError { name: "max_threshold".to_owned(), message }])
}

#[derive(Debug)]
struct Red {
    params: Params,
    average: AverageQueue,
    /// Packets since the last one that was chosen; `None` below the lower threshold.
    count: Option<u32>,
    draws: Rng,
}

/// What the average says about a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Zone {
    Quiet,
    /// Chosen with this probability, before the spreading.
    Early(f64),
    Full,
}

impl Red {
    fn new(params: Params, device: &DeviceSetup) -> Self {
        let average = AverageQueue::new(params.weight);
        Self { params, average, count: None, draws: device.streams.stream("red") }
    }

    fn zone(&self, average: f64) -> Zone {
        let Params { min_threshold, max_threshold, max_probability, gentle, .. } = self.params;
        if average < min_threshold {
            Zone::Quiet
        } else if average < max_threshold {
            Zone::Early(max_probability * (average - min_threshold) / (max_threshold - min_threshold))
        } else if gentle && average < 2.0 * max_threshold {
            let beyond = (average - max_threshold) / max_threshold;
            Zone::Early(max_probability + beyond * (1.0 - max_probability))
        } else {
            Zone::Full
        }
    }

    /// Whether a packet is chosen with `probability` spread evenly: the more packets were let through since the
    /// last choice, the surer it is, so that the gaps between choices are uniform and not geometric.
    fn is_chosen(&mut self, probability: f64) -> bool {
        let passed = self.count.map_or(0, |count| count.saturating_add(1));
        let rest = 1.0 - f64::from(passed) * probability;
        let is_chosen = rest <= 0.0 || self.draws.chance(probability / rest);
        self.count = Some(if is_chosen { 0 } else { passed });
        is_chosen
    }

    fn verdict(&self, cause: &'static str) -> Verdict {
        match self.params.action {
            Action::Drop => Verdict::Drop(Cause(cause)),
            Action::Mark => Verdict::Mark(1, Cause(cause)),
        }
    }
}

impl QueueDiscipline for Red {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        let packet_time = queue.rate().time_to_send(self.params.typical_packet);
        let average = self.average.arrive(cx.now, queue.backlog(Class::BULK), packet_time);
        match self.zone(average) {
            Zone::Quiet => {
                self.count = None;
                Verdict::Pass
            }
            Zone::Early(probability) if self.is_chosen(probability) => self.verdict("red early"),
            Zone::Early(_) => Verdict::Pass,
            Zone::Full => {
                self.count = Some(0);
                self.verdict("red above")
            }
        }
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        self.average.depart(cx.now, queue.backlog(Class::BULK));
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::device;

    fn red(params: Params) -> Red {
        Red::new(params, &device())
    }

    fn params(gentle: bool) -> Params {
        let settings = tidegate_core::params::Settings::default();
        Params { gentle, max_probability: 0.1, ..Params::from_settings(&settings).expect("defaults") }
    }

    #[test]
    fn the_probability_rises_in_a_line_between_the_thresholds() {
        let red = red(params(false));
        let zones = [4.99, 5.0, 7.5, 10.0, 14.0, 15.0, 40.0].map(|average| red.zone(average));
        let early = [0.0, 0.025, 0.05, 0.09].map(Zone::Early);
        assert_eq!(zones, [Zone::Quiet, early[0], early[1], early[2], early[3], Zone::Full, Zone::Full]);
    }

    #[test]
    fn the_gentle_variant_rises_on_to_one_at_twice_the_upper_threshold() {
        let red = red(params(true));
        // 0.1 at 15, then (average - 15)/15 of the way to 1: 0.1 + 0.9/3 = 0.4 at 20.
        for (average, expected) in [(15.0, 0.1), (20.0, 0.4), (22.5, 0.55), (25.0, 0.7)] {
            let Zone::Early(found) = red.zone(average) else { panic!("no longer early at {average}") };
            assert!((found - expected).abs() < 1e-12, "{average}: {found}");
        }
        assert_eq!(red.zone(30.0), Zone::Full);
    }

    /// Packets from one choice to the next at a steady probability.
    fn gaps(probability: f64, choices: usize) -> Vec<u32> {
        let mut red = red(params(false));
        // From the first choice on the count starts over each time.
        while !red.is_chosen(probability) {}
        let gap = |_| 1 + (0..).take_while(|_| !red.is_chosen(probability)).count() as u32;
        (0..choices).map(gap).collect()
    }

    #[test]
    fn gaps_between_choices_are_uniform_below_the_inverse_of_the_probability() {
        // p_a = p_b/(1 - count p_b) and a count of 1 for the first packet after a choice: uniform in 1..1/p_b.
        // (Section 7 counts that packet as 0 and so reaches 1/p_b; figure 2 does not.)
        let gaps = gaps(0.1, 18_000);
        let mut counts = [0_u32; 9];
        gaps.iter().for_each(|gap| counts[*gap as usize - 1] += 1);
        let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - 2_000.0).powi(2) / 2_000.0).sum();
        // 8 degrees of freedom: 26.12 is exceeded once in a thousand.
        assert!(chi_square < 26.12, "{chi_square}: {counts:?}");
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let swapped = [("min_threshold", 15.0), ("max_threshold", 15.0)];
        let given = swapped.map(|(name, value)| (name.to_owned(), tidegate_core::params::Value::Number(value)));
        let faults = checked(&tidegate_core::params::Settings(given.into())).expect_err("equal thresholds");
        assert_eq!(faults[0].message, "max_threshold: 15 is not above min_threshold, 15");
    }
}
