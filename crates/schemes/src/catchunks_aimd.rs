//! ndnget's AIMD pipeline: one step more per round trip, half on a mark or loss, once per round trip.
//!
//! Paper: none; ndn-tools `PipelineInterestsAimd` (`ndnget`, formerly `ndncatchunks`). Releases differ: 0.6.2 had
//! AIMD as its default, an initial window of 1, 4 variations in the timeout and 3 retries; 0.6.4 CUBIC, 1, 8 and 15;
//! since 2024 the initial window is 2. A scenario sets the last two in `profile`, as `variations` and `retry_limit`.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;
use crate::toolbox::window::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "catchunks-aimd",
    summary: "ndnget's AIMD pipeline: the window is halved after a mark or loss, at most once per RTT",
    paper: "ndn-tools PipelineInterestsAimd",
    provenance: Provenance::Source,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

/// Slow-start thresholds and windows never shrink below this, packets (`MIN_SSTHRESH`).
const MIN_SSTHRESH: f64 = 2.0;

params! {
    /// Initial congestion window (`init-cwnd`); releases before 2024 use 1.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// Initial slow-start threshold (`init-ssthresh`); the default is never reached.
    initial_threshold: f64 = 1e9, "packets", 0.0..=1e9;
    /// Growth per Data packet in slow start, and per RTT in congestion avoidance (`aimd-step`).
    step: f64 = 1.0, "packets", 0.01..=100.0;
    /// Fraction of the window kept after a decrease (`aimd-beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Whether a decrease resets the window to its initial value (`reset-cwnd-to-init`).
    reset_to_initial: bool = false;
    /// Whether every mark and loss decreases the window, instead of at most one per RTT (`disable-cwa`).
    disable_cwa: bool = false;
    /// Whether congestion marks are ignored (`ignore-marks`).
    ignore_marks: bool = false;
}

fn controller(params: &Params) -> AdaptivePipeline<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        ssthresh: params.initial_threshold,
        step: params.step,
        keep: params.beta,
        min: MIN_SSTHRESH,
        // ndn-tools divides by floor(cwnd), as its window of Interests is a whole number.
        divides_by_whole_window: true,
        restarts: params.reset_to_initial,
    };
    AdaptivePipeline {
        rule: AimdWindow::new(rule),
        gate: (!params.disable_cwa).then(OncePerRoundTrip::default),
        ignores_marks: params.ignore_marks,
        timer: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn whole_window_steps_and_the_gate_follow_the_worked_case() {
        // W = 2; slow start adds 1; R is the recovery point, from 0, and moves to the highest segment asked for.
        //  4 mark, received 3 > 0: threshold = W = max(2, 5 / 2) = 2.5; R = 8
        //  5 suppressed mark: neither growth nor decrease      6 lost 5 <= 8: nothing
        //  7 2.5 + 1/floor(2.5) = 3      8 3 + 1/3      9 3.333333 + 1/3
        // 10 lost 9 > 8: 3.666667 / 2 = 1.833333 < 2: 2; R = 13
        // 11 not a congestion Nack      12 lost 13 <= 13: nothing
        // 13 2 + 1/2      14 2.5 + 1/2      15 lost 14 > 13: 3 / 2 < 2: 2; R = 16      16 lost 16 <= 16
        // 17 2 + 1/2      18 2.5 + 1/2 = 3  19 3 + 1/3      20 notice of 17 > 16: 2
        let steps = [
            (data(40, 0, 4), 3.0),
            (data(40, 1, 6), 4.0),
            (data(41, 2, 8), 5.0),
            (marked(41, 3, 9), 2.5),
            (marked(42, 4, 9), 2.5),
            (lost(300, 5, 9, Timeout), 2.5),
            (data(310, 6, 10), 3.0),
            (data(320, 7, 11), 3.333333),
            (data(330, 8, 13), 3.666667),
            (lost(540, 9, 14, Expired), 2.0),
            (lost(541, 9, 14, Nack(Duplicate)), 2.0),
            (lost(550, 13, 15, Timeout), 2.0),
            (data(560, 14, 16), 2.5),
            (data(570, 15, 17), 3.0),
            (lost(580, 14, 17, Nack(Congestion)), 2.0),
            (lost(590, 16, 18, Timeout), 2.0),
            (data(600, 17, 19), 2.5),
            (data(610, 18, 20), 3.0),
            (data(620, 19, 22), 3.333333),
            (lost(630, 17, 22, Notice), 2.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn a_reset_goes_back_to_slow_start_up_to_half_the_window() {
        let given = [("reset_to_initial", Setting::Bool(true)), ("initial_window", Setting::Number(6.0))];
        // 7, 8 in slow start; threshold 4, W = 6 again: 6 + 1/6.
        let steps = [
            (data(40, 1, 8), 7.0),
            (data(40, 2, 9), 8.0),
            (lost(300, 3, 10, Timeout), 6.0),
            (data(310, 4, 10), 6.166667),
        ];
        follow(&mut Driver::new(&SCHEME, &given), &steps);
    }

    #[test]
    fn an_ignored_mark_grows_the_window() {
        let mut driver = Driver::new(&SCHEME, &[("ignore_marks", Setting::Bool(true))]);
        follow(&mut driver, &[(marked(40, 1, 4), 3.0)]);
    }

    #[test]
    fn without_the_gate_every_mark_halves_the_window() {
        let given = [("disable_cwa", Setting::Bool(true)), ("initial_window", Setting::Number(16.0))];
        let mut driver = Driver::new(&SCHEME, &given);
        follow(&mut driver, &[(marked(40, 1, 17), 8.0), (marked(40, 2, 17), 4.0)]);
    }
}
