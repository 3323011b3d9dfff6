//! ndnget's CUBIC pipeline, its default: RFC 8312 with the TCP-friendly region, one decrease per round trip.
//!
//! Paper: RFC 8312, in the form of ndn-tools `PipelineInterestsCubic` (`ndnget`, formerly `ndncatchunks`).
//! The head of `catchunks-aimd` lists the differences between releases.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;
use crate::toolbox::window::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::window::cubic::{CubicRule, CubicWindow, TcpFriendliness};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "catchunks-cubic",
    summary: "ndnget's CUBIC pipeline: RFC 8312, with a decrease after a mark or loss, at most once per RTT",
    paper: "RFC 8312; ndn-tools PipelineInterestsCubic",
    provenance: Provenance::Source,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Initial and minimum congestion window (`init-cwnd`); releases before 2024 use 1.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// Initial slow-start threshold (`init-ssthresh`); the default is never reached.
    initial_threshold: f64 = 1e9, "packets", 0.0..=1e9;
    /// Fraction of the window kept after a decrease (`cubic-beta`).
    beta: f64 = 0.7, "of the window", 0.1..=0.99;
    /// Whether a loss below the last W_max lowers W_max further (`fast-conv`).
    fast_convergence: bool = false;
    /// Whether every mark and loss decreases the window, instead of at most one per RTT (`disable-cwa`).
    disable_cwa: bool = false;
    /// Whether congestion marks are ignored (`ignore-marks`).
    ignore_marks: bool = false;
}

fn controller(params: &Params) -> AdaptivePipeline<CubicWindow> {
    let rule = CubicRule {
        ssthresh: params.initial_threshold,
        fast_convergence: params.fast_convergence.then_some(1.0),
        // ndn-tools takes the larger of curve and W_est as its target; RFC 8312 would set the window to W_est
        // at once.
        friendliness: TcpFriendliness::Target,
        ..CubicRule::with_floor(params.initial_window, params.beta)
    };
    AdaptivePipeline {
        rule: CubicWindow::new(rule),
        gate: (!params.disable_cwa).then(OncePerRoundTrip::default),
        ignores_marks: params.ignore_marks,
        timer: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scheme::congestion::LossSignal::{Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, data_after, follow, lost, marked};

    #[test]
    fn the_curve_and_the_friendly_region_follow_the_worked_case() {
        // W = 8, which is also the floor; slow start adds 1; 40 ms round trips;
        // West = 0.7 Wmax + 3 (0.3/1.7) t/rtt = 0.7 Wmax + 0.529412 t/rtt.
        //  3 mark at 1 s, received 3 > 0: Wmax = 10; max(0.7 * 10, 8) = 8; R = 12; K = cbrt(10 * 0.75) = 1.957434
        //  4 suppressed mark: neither growth nor decrease      5 lost 5 <= 12: nothing
        //  6 t = 0.04: Wc = 0.4 (0.04 - K)^3 + 10 = 7.180182, West = 7.529412: below 8, nothing
        //  7 t = 0.2: Wc 7.828814, West 9.647059; 8 + 1.647059/8 = 8.205882
        //  8 t = 0.4: Wc 8.488915, West 12.294118; 8.205882 + 4.088235/8.205882 = 8.704090
        //  9 notice of 10 <= 12: nothing
        // 10 t = 2: Wc 10.000031, West 33.470588; 8.704090 + 24.766498/8.704090 = 11.549476
        // 11 t = 3: Wc 10.453285, West 46.705882; 11.549476 + 35.156406/11.549476 = 14.593459
        // 12 lost 13 > 12 at 4 s: Wmax = 14.593459; 0.7 * 14.593459 = 10.215421; R = 21; K = 2.220274
        // 13 t = 0.5: Wc 12.557108, West 16.833068; 10.215421 + 6.617647/10.215421 = 10.863231
        // 14 t = 5, round trip 1 s: Wc 23.184902, West 10.215421 + 0.529412 * 5 = 12.862480;
        //    10.863231 + 12.321672/10.863231 = 11.997486
        // 15 mark, received 22 > 21: 0.7 * 11.997486 = 8.398240
        let steps = [
            (data(40, 1, 10), 9.0),
            (data(80, 2, 12), 10.0),
            (marked(1_000, 3, 13), 8.0),
            (marked(1_010, 4, 13), 8.0),
            (lost(1_020, 5, 13, Timeout), 8.0),
            (data(1_040, 6, 14), 8.0),
            (data(1_200, 7, 15), 8.205882),
            (data(1_400, 8, 16), 8.704090),
            (lost(1_450, 10, 16, Notice), 8.704090),
            (data(3_000, 11, 17), 11.549476),
            (data(4_000, 12, 20), 14.593459),
            (lost(4_000, 13, 22, Timeout), 10.215421),
            (data(4_500, 14, 22), 10.863231),
            (data_after(9_000, 15, 23, Some(1_000)), 11.997486),
            (marked(9_010, 22, 24), 8.398240),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(8.0))]), &steps);
    }

    #[test]
    fn a_threshold_reached_without_a_loss_is_the_first_w_max() {
        let given = [("initial_threshold", Setting::Number(3.0))];
        // 3 at the threshold: W_max 3, t = 0, K = cbrt(3 * 0.75): Wc = 3 * 0.7 = 2.1: nothing.
        // t = 2, rtt 40 ms: West = 2.1 + 0.529412 * 50 = 28.570588; 3 + 25.570588/3 = 11.523529.
        let steps = [(data(40, 0, 4), 3.0), (data(1_000, 1, 5), 3.0), (data(3_000, 2, 6), 11.523529)];
        follow(&mut Driver::new(&SCHEME, &given), &steps);
    }

    #[test]
    fn without_a_round_trip_time_the_curve_alone_decides() {
        let given = [("initial_threshold", Setting::Number(0.0))];
        // Plateau 2 at 0 s; t = 2, K = cbrt(1.5) = 1.144714: Wc = 2.250261; 2 + 0.250261/2 = 2.125131.
        let steps = [(data_after(0, 0, 3, None), 2.0), (data_after(2_000, 1, 4, None), 2.125131)];
        follow(&mut Driver::new(&SCHEME, &given), &steps);
    }

    #[test]
    fn fast_convergence_lowers_w_max_after_a_loss_below_the_last_one() {
        // 8 * 0.7 = 5.6 with W_max 8; a second loss at 5.6 < 8: W = 3.92, W_max 5.6 * 0.85 = 4.76.
        // t = 3, rtt 5 s: K = cbrt(4.76 * 0.75) = 1.528350, Wc = 0.4 (3 - K)^3 + 4.76 = 6.034893;
        // 3.92 + 2.114893/3.92 = 4.459514. Without: K = cbrt(5.6 * 0.75) = 1.613429,
        // Wc = 5.6 + 1.066318 = 6.666318; 3.92 + 2.746318/3.92 = 4.620591.
        for (on, expected) in [(true, 4.459514), (false, 4.620591)] {
            let start = [(data(40, 1, 9), 3.0), (data(40, 2, 9), 4.0), (data(40, 3, 9), 5.0)];
            let growth = [(data(40, 4, 9), 6.0), (data(40, 5, 9), 7.0), (data(40, 6, 9), 8.0)];
            let losses = [
                (lost(1_000, 7, 10, Timeout), 5.6),
                (lost(1_000, 10, 12, Timeout), 3.92),
                (data_after(4_000, 11, 12, Some(5_000)), expected),
            ];
            let mut driver = Driver::new(&SCHEME, &[("fast_convergence", Setting::Bool(on))]);
            follow(&mut driver, &[start, growth, losses].concat());
        }
    }

    #[test]
    fn an_ignored_mark_grows_the_window_and_without_the_gate_each_mark_shrinks_it() {
        let option = |name| Driver::new(&SCHEME, &[(name, Setting::Bool(true))]);
        follow(&mut option("ignore_marks"), &[(marked(40, 1, 4), 3.0)]);
        let steps = [(data(40, 1, 9), 3.0), (data(40, 2, 9), 4.0), (data(40, 3, 9), 5.0)];
        let mut ungated = option("disable_cwa");
        follow(&mut ungated, &steps);
        // 5 * 0.7 = 3.5; 3.5 * 0.7 = 2.45.
        follow(&mut ungated, &[(marked(50, 4, 9), 3.5), (marked(50, 5, 9), 2.45)]);
    }
}
