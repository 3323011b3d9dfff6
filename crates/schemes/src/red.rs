//! RED: drops (or marks) packets at random while the average queue is between two thresholds, all of them above.
//!
//! Paper: Floyd & Jacobson 1993, figure 2, queues counted in packets; `gentle` is Floyd's note of 2000.

use tidegate_core::prelude::*;

use crate::toolbox::queue::average_queue::AverageQueue;
use crate::toolbox::queue::red_law::{Chosen, RedChooser, RedLaw};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "red",
    summary: "drops or marks packets at random, with a probability that grows with the average queue length",
    paper: "Floyd & Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993",
    provenance: Provenance::Paper,
    deviations: &[
        "The size of a typical packet is a parameter, as the paper leaves it open; its transmission time follows from \
         the link's rate.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    discipline: Some(|settings, device| Ok(Box::new(Red::new(&checked(settings)?, device)))),
    marking: Marking::If("action", "mark"),
    ..Scheme::NONE
};

choice! {
    /// Action on a packet that is chosen.
    pub enum Action {
        /// The chosen packet is dropped.
        Drop = "drop",
        /// The chosen packet is marked.
        Mark = "mark",
    }
}

params! {
    /// Average queue length below which no packet is selected (min_th).
    min_threshold: f64 = 5.0, "packets", 0.0..=1_000_000.0;
    /// Average queue length above which every packet is selected, or, with `gentle`, above which the probability rises
    /// to 1 (max_th).
    max_threshold: f64 = 15.0, "packets", 0.0..=1_000_000.0;
    /// Selection probability at max_threshold, before drops are spread uniformly (max_p).
    max_probability: f64 = 0.02, "probability", 0.0..=1.0;
    /// Weight of the latest queue length in the moving average (w_q).
    weight: f64 = 0.002, "of the latest queue", 0.000001..=1.0;
    /// Whether the probability rises from max_probability to 1 between max_threshold and twice max_threshold.
    gentle: bool = false;
    /// Action on a selected packet: `drop` drops it; `mark` marks it.
    action: Action = Action::Drop;
    /// Typical packet size, by which the average decays during idle time.
    typical_packet: ByteCount = ByteCount::new(1000), "bytes", ByteCount::new(1)..=ByteCount::new(65_536);
}

fn checked(settings: &tidegate_core::scheme::params::Settings) -> Result<Params, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    // The law divides by the difference of the thresholds, so equal ones are refused as well.
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
    law: RedLaw,
    action: Action,
    typical_packet: ByteCount,
    average: AverageQueue,
    chooser: RedChooser,
    draws: Rng,
}

impl Red {
    fn new(params: &Params, device: &DeviceSetup) -> Self {
        let Params { min_threshold, max_threshold, max_probability, gentle, .. } = *params;
        Self {
            law: RedLaw { min_threshold, max_threshold, max_probability, gentle },
            action: params.action,
            typical_packet: params.typical_packet,
            average: AverageQueue::new(params.weight),
            chooser: RedChooser::default(),
            draws: device.streams.stream("red"),
        }
    }

    fn verdict(&self, chosen: Chosen) -> Verdict {
        let cause = Cause(match chosen {
            Chosen::Early => "red early",
            Chosen::Above => "red above",
        });
        match self.action {
            Action::Drop => Verdict::Drop(cause),
            Action::Mark => Verdict::Mark(1, cause),
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
        // Notices have a queue of their own, which the average does not include.
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        let packet_time = queue.rate().time_to_send(self.typical_packet);
        let average = self.average.arrive(cx.now, queue.backlog(Class::BULK), packet_time);
        let chosen = self.chooser.arrive(self.law.zone(average), &mut self.draws);
        chosen.map_or(Verdict::Pass, |chosen| self.verdict(chosen))
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        _: &mut Header,
        _: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // The average decays by idle time, so the departure that empties the queue has to be recorded.
        self.average.depart(cx.now, queue.backlog(Class::BULK));
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let swapped = [("min_threshold", 15.0), ("max_threshold", 15.0)];
        let given = swapped.map(|(name, value)| (name.to_owned(), tidegate_core::scheme::params::Setting::Number(value)));
        let faults = checked(&tidegate_core::scheme::params::Settings(given.into())).expect_err("equal thresholds");
        assert_eq!(faults[0].message, "max_threshold: 15 is not above min_threshold, 15");
    }
}
