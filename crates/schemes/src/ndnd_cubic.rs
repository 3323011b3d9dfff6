//! ndnd's CUBIC window: the curve read one round trip ahead, fast convergence, a decrease on every loss.
//!
//! Paper: RFC 8312, in the form of ndnd `CUBICCongestionWindow` under its segment fetcher. Marks are not looked at.

use tidegate_core::prelude::*;

use crate::toolbox::timer::lifetime::LifetimeTimer;
use crate::toolbox::window::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::window::cubic::{CubicRule, CubicWindow, TcpFriendliness};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnd-cubic",
    summary: "ndnd's CUBIC: follows the curve one RTT ahead; keeps 0.7 of the window after every loss, also several times per RTT",
    paper: "RFC 8312; ndnd CUBICCongestionWindow",
    provenance: Provenance::Source,
    deviations: &[
        "Each flow has its own window; ndnd shares a window between the streams of a client.",
        "ndnd's option for the TCP-friendly region, off by default, is not implemented.",
        "The consumer profile retransmits a segment up to three times; ndnd's counter of three allows two, newer \
         versions allow four, and then the whole fetch ends.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnd,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

/// Slow-start thresholds never shrink below this, packets (`minSsthresh`).
const MIN_SSTHRESH: f64 = 2.0;

params! {
    /// Initial congestion window (`cwnd`), as set by the segment fetcher.
    initial_window: f64 = 100.0, "packets", 1.0..=1_000_000.0;
    /// Fraction of the window kept after a decrease (`mdCoef`).
    beta: f64 = 0.7, "of the window", 0.1..=0.99;
    /// Whether a loss below the last W_max lowers W_max further (`fastConvergence`).
    fast_convergence: bool = true;
    /// When an Interest is considered lost: `lifetime`, when its lifetime ends; `estimator`, when the retransmission
    /// timeout of the consumer profile's RTT estimator expires.
    loss_timer: LifetimeTimer = LifetimeTimer::Lifetime;
}

fn controller(params: &Params) -> AdaptivePipeline<CubicWindow> {
    let rule = CubicRule {
        // In ndnd only the threshold has a floor (`minSsthresh`); the window itself may fall to one packet.
        min: 1.0,
        min_ssthresh: MIN_SSTHRESH,
        min_w_max: 0.0,
        fast_convergence: params.fast_convergence.then_some(1.0),
        friendliness: TcpFriendliness::Off,
        looks_ahead: true,
        ..CubicRule::with_floor(params.initial_window, params.beta)
    };
    AdaptivePipeline {
        rule: CubicWindow::new(rule),
        // ndnd has no conservative window adaptation: every loss of a burst decreases the window.
        gate: None,
        ignores_marks: true,
        timer: params.loss_timer.span(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::Congestion;
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Nack};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, data_after, follow, lost, marked};

    #[test]
    fn the_curve_is_read_one_round_trip_ahead_in_the_worked_case() {
        // W = 10; slow start adds 1.
        //  3 at 1 s: Wmax = 12; 0.7 * 12 = 8.4; K = cbrt(12 * 0.75) = 2.080084
        //  4 t = 0.04 + 0.04: Wc = 8.799598; 8.4 + 0.399598/8.4 = 8.447571
        //  5 marked, t = 0.5 + 0.04: Wc = 10.538856; 8.447571 + 2.091285/8.447571 = 8.695132
        //  6 t = 1, smoothed 1 s: Wc(2) = 11.999795; 8.695132 + 3.304663/8.695132 = 9.075191
        //  7 9.075191 < 12: Wmax = 0.85 * 9.075191 = 7.713912; W = 6.352633
        //  8 at once again: Wmax = 0.85 * 6.352633 = 5.399738; W = 4.446843; K = cbrt(5.399738 * 0.75) = 1.593962
        //  9 t = 1 + 0.04: Wc = 5.331740; 4.446843 + 0.884897/4.446843 = 4.645838
        // 10 t = 3 + 0.04: Wc = 6.609219; 4.645838 + 1.963381/4.645838 = 5.068449
        let steps = [
            (data(40, 1, 12), 11.0),
            (data(80, 2, 12), 12.0),
            (lost(1_000, 3, 12, Expired), 8.4),
            (data(1_040, 4, 12), 8.447571),
            (marked(1_500, 5, 12), 8.695132),
            (data_after(2_000, 6, 12, Some(1_000)), 9.075191),
            (lost(3_000, 7, 12, Expired), 6.352633),
            (lost(3_000, 8, 12, Nack(Congestion)), 4.446843),
            (data(4_000, 9, 12), 4.645838),
            (data(6_000, 10, 12), 5.068448),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(10.0))]), &steps);
    }

    #[test]
    fn without_fast_convergence_w_max_is_the_window_at_the_loss() {
        // 10, 7, then Wmax = 7, W = 4.9; K = cbrt(7 * 0.75) = 1.738013. t = 1.96 + 0.04: Wc = 7.007192;
        // 4.9 + 2.107192/4.9 = 5.330039. With it Wmax = 5.95, K = 1.646365, Wc = 5.967690, 5.117896.
        for (on, expected) in [(false, 5.330039), (true, 5.117896)] {
            let given =
                [("initial_window", Setting::Number(10.0)), ("fast_convergence", Setting::Bool(on))];
            let steps = [
                (lost(1_000, 1, 12, Expired), 7.0),
                (lost(1_000, 2, 12, Expired), 4.9),
                (data(2_960, 3, 12), expected),
            ];
            follow(&mut Driver::new(&SCHEME, &given), &steps);
        }
    }

    #[test]
    fn the_window_ends_at_one_and_slow_start_goes_on_to_two() {
        let mut driver = Driver::new(&SCHEME, &[("initial_window", Setting::Number(1.0))]);
        follow(&mut driver, &[(lost(1_000, 1, 9, Expired), 1.0), (data(1_040, 2, 9), 2.0)]);
        follow(&mut driver, &[(lost(1_100, 3, 9, Expired), 1.4), (data(1_140, 4, 9), 2.4)]);
    }
}
