//! ndnd's AIMD window: one packet more per round trip, half on every loss.
//!
//! Paper: none; ndnd `AIMDCongestionWindow` under its segment fetcher. Marks are not looked at.

use tidegate_core::prelude::*;

use crate::toolbox::timer::lifetime::LifetimeTimer;
use crate::toolbox::window::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnd-aimd",
    summary: "ndnd's AIMD window: halved after every loss, also several times per RTT",
    paper: "ndnd AIMDCongestionWindow",
    provenance: Provenance::Source,
    deviations: &[
        "Each flow has its own window; ndnd shares a window between the streams of a client.",
        "The consumer profile retransmits a segment up to three times; ndnd's counter of three allows two, newer \
         versions allow four, and then the whole fetch ends.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnd,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

/// Slow-start thresholds and windows never shrink below this, packets (`minSsthresh`).
const MIN_SSTHRESH: f64 = 2.0;

params! {
    /// Initial congestion window (`cwnd`), as set by the segment fetcher.
    initial_window: f64 = 100.0, "packets", 1.0..=1_000_000.0;
    /// Growth per Data packet in slow start, and per RTT in congestion avoidance (`aiStep`).
    step: f64 = 1.0, "packets", 0.01..=100.0;
    /// Fraction of the window kept after a decrease (`mdCoef`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Whether a decrease resets the window to its initial value (`resetCwnd`).
    reset_to_initial: bool = false;
    /// When an Interest is considered lost: `lifetime`, when its lifetime ends; `estimator`, when the retransmission
    /// timeout of the consumer profile's RTT estimator expires.
    loss_timer: LifetimeTimer = LifetimeTimer::Lifetime;
}

fn controller(params: &Params) -> AdaptivePipeline<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        ssthresh: f64::INFINITY,
        step: params.step,
        keep: params.beta,
        min: MIN_SSTHRESH,
        divides_by_whole_window: false,
        restarts: params.reset_to_initial,
    };
    AdaptivePipeline {
        rule: AimdWindow::new(rule),
        // ndnd has no conservative window adaptation: every loss of a burst decreases the window.
        gate: None,
        ignores_marks: true,
        timer: params.loss_timer.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Nack};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn every_loss_of_a_round_trip_halves_the_window_down_to_two() {
        // 10 + 1 in slow start; 11/2, 5.5/2, then 1.375 < 2. Above the threshold each Data, marked or not, adds
        // 1/W: 2 + 1/2, 2.5 + 1/2.5, 2.9 + 1/2.9.
        let steps = [
            (data(40, 1, 12), 11.0),
            (lost(4_000, 2, 12, Expired), 5.5),
            (lost(4_000, 3, 12, Nack(Congestion)), 2.75),
            (lost(4_000, 4, 12, Nack(Duplicate)), 2.75),
            (lost(4_000, 5, 12, Expired), 2.0),
            (data(4_040, 6, 12), 2.5),
            (marked(4_050, 7, 12), 2.9),
            (data(4_060, 8, 12), 3.244828),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(10.0))]), &steps);
    }

    #[test]
    fn a_reset_goes_back_to_the_first_window_above_the_threshold() {
        // Threshold 11/2, W = 10 again: 10 + 1/10.
        let given = [("initial_window", Setting::Number(10.0)), ("reset_to_initial", Setting::Bool(true))];
        let steps = [(data(40, 1, 12), 11.0), (lost(4_000, 2, 12, Expired), 10.0), (data(4_040, 3, 12), 10.1)];
        follow(&mut Driver::new(&SCHEME, &given), &steps);
    }
}
