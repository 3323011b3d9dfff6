//! Random early marking: Data is marked at random, with a probability that grows with the average queue. A
//! reconstruction.
//!
//! Paper: CHoPCoP (F. Zhang et al. 2014), the routers' REM, available to us only as its abstract and in descriptions
//! by others: thresholds, weight and probability are reconstructed.

use tidegate_core::prelude::*;

use crate::toolbox::queue::average_queue::AverageQueue;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "random-early-marking",
    summary: "marks Data at random, with a probability that grows with the average queue length (reconstruction)",
    paper: "Zhang et al.: A Transport Protocol for Content-Centric Networking with Explicit Congestion Control, \
            ICCCN 2014",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "The queue is that of the whole device; waiting Interests count as well as Data.",
        "While the queue is empty the average falls as RED's does, because the text does not describe idle time.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    discipline: Some(|settings, device| Ok(Box::new(RandomEarlyMarking::new(checked(settings)?, device)))),
    marking: Marking::Always,
    ..Scheme::NONE
};

params! {
    /// Weight of the latest queue length in the moving average.
    weight: f64 = 0.125, "of the latest queue", 0.000001..=1.0;
    /// Average queue occupancy up to which no packet is marked.
    low: f64 = 0.2, "of the queue limit", 0.0..=1.0;
    /// Average queue occupancy above which every packet is marked.
    high: f64 = 0.6, "of the queue limit", 0.0..=1.0;
    /// Marking probability just below `high`.
    max_probability: f64 = 0.1, "probability", 0.0..=1.0;
}

fn checked(settings: &Settings) -> Result<Params, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    // The probability divides by the difference of the two.
    if params.low < params.high {
        return Ok(params);
    }
    let message = format!("high: {} is not above low, {}", params.high, params.low);
    Err(vec![ParamError { name: "high".to_owned(), message }])
}

#[derive(Debug)]
struct RandomEarlyMarking {
    params: Params,
    average: AverageQueue,
    draws: Rng,
}

impl RandomEarlyMarking {
    fn new(params: Params, device: &DeviceSetup) -> Self {
        let average = AverageQueue::new(params.weight);
        Self { params, average, draws: device.streams.stream("random-early-marking") }
    }

    /// The probability of a mark while the average is this part of the queue limit.
    fn probability(&self, filled: f64) -> f64 {
        let Params { low, high, max_probability, .. } = self.params;
        match filled {
            _ if filled <= low => 0.0,
            _ if filled < high => max_probability * (filled - low) / (high - low),
            _ => 1.0,
        }
    }
}

impl QueueDiscipline for RandomEarlyMarking {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        if !matches!(packet.kind, Kind::Data(_)) {
            return Verdict::Pass;
        }
        let packet_time = queue.rate().time_to_send(packet.size());
        let average = self.average.arrive(cx.now, queue.backlog(Class::BULK), packet_time);
        let probability = self.probability(average / f64::from(queue.limit_packets().max(1)));
        // Without the first test a short queue would consume draws, too.
        if probability > 0.0 && self.draws.chance(probability) {
            return Verdict::Mark(1, Cause("random early marking"));
        }
        Verdict::Pass
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
    use tidegate_testkit::steps::device;

    fn marking() -> RandomEarlyMarking {
        RandomEarlyMarking::new(checked(&Settings::default()).expect("defaults"), &device())
    }

    #[test]
    fn the_probability_is_linear_between_the_thresholds_and_one_above() {
        let marking = marking();
        for (filled, expected) in
            [(0.0, 0.0), (0.2, 0.0), (0.3, 0.025), (0.4, 0.05), (0.5, 0.075), (0.6, 1.0), (3.0, 1.0)]
        {
            let found = marking.probability(filled);
            assert!((found - expected).abs() < 1e-12, "{filled}: {found}");
        }
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let given = vec![("high".to_owned(), tidegate_core::scheme::params::Setting::Number(0.1))];
        let faults = checked(&Settings(given)).expect_err("high is below low");
        assert_eq!(faults[0].message, "high: 0.1 is not above low, 0.2");
    }
}
