//! CUBIC: a cubic curve of time around the window of the last loss, rationed to one decrease per 1.5 round trips.
//!
//! Paper: RFC 8312, in the form of ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` CUBIC (no TCP-friendly region).

use tidegate_core::prelude::*;

use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::consumer_pcon::ConsumerPcon;
use crate::toolbox::window::cubic::{CubicRule, CubicWindow};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-cubic",
    summary: "a cubic window curve around the window of the last loss, as in ndnSIM's consumer",
    paper: "RFC 8312; ndnSIM 2.9 ConsumerPcon (CUBIC)",
    provenance: Provenance::Source,
    deviations: &["Marks are ignored unless `react_to_marks` is set, as it is in ndnSIM; PLR's experiments ignore them."],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Initial and minimum congestion window (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Fraction of the window kept after a decrease (`CubicBeta`).
    beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// Whether a loss below 0.99 of the last W_max lowers W_max further (`UseCubicFastConvergence`).
    fast_convergence: bool = false;
    /// Additional RTTs without a further decrease, after the first RTT (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether the window decreases at most once per 1 + `suppress` RTTs (`UseCwa`).
    conservative: bool = true;
    /// Whether marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<CubicWindow> {
    let rule = CubicRule {
        // ndnSIM compares with 0.99 of the last maximum, RFC 8312 with the maximum itself.
        fast_convergence: params.fast_convergence.then_some(0.99),
        ..CubicRule::with_floor(params.initial_window, params.beta)
    };
    ConsumerPcon {
        rule: CubicWindow::new(rule),
        gate: ConservativeWindow::new(params.conservative, params.suppress),
        reacts_to_marks: params.react_to_marks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scheme::congestion::LossSignal::{Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn the_curve_and_the_floor_follow_the_worked_case() {
        // W = 10, which is also the floor; slow start adds 1; a mark is ignored.
        //  4 at 1 s: Wmax = 12; W = max(0.8 * 12, 10) = 10; K = cbrt(12 * 0.2 / 0.4) = 1.817121
        //  5 t = 0.1: 0.4 (0.1 - K)^3 + 12 = 9.974826 < 10: nothing
        //  6 t = 0.5: 11.086020; 10 + 1.086020/10 = 10.108602
        //  7 t = 1.8: 11.999998; 10.108602 + 1.891396/10.108602 = 10.295710
        //  8 t = 3.0: 12.662036; 10.295710 + 2.366326/10.295710 = 10.525546
        //  9 t = 4.0: 16.160535; 10.525546 + 5.634989/10.525546 = 11.060909
        // 10 at 5.1 s: Wmax = 11.060909; 0.8 * 11.060909 = 8.848727 < 10: the floor; K = cbrt(Wmax/2) = 1.768426
        // 11 the gate holds: 30 <= 32 + 0.5 (32 - 30) = 33
        // 12 t = 1.0: 10.879413; 10 + 0.879413/10 = 10.087941
        // 13 t = 2.5: 11.217524; 10.087941 + 1.129583/10.087941 = 10.199915
        // 14 t = 4.0: 15.506134; 10.199915 + 5.306219/10.199915 = 10.720137
        let steps = [
            (data(40, 1, 12), 11.0),
            (data(80, 2, 14), 12.0),
            (marked(90, 3, 15), 12.0),
            (lost(1_000, 4, 15, Timeout), 10.0),
            (data(1_100, 5, 16), 10.0),
            (data(1_500, 6, 17), 10.108602),
            (data(2_800, 7, 18), 10.295710),
            (data(4_000, 8, 19), 10.525546),
            (data(5_000, 30, 31), 11.060909),
            (lost(5_100, 9, 32, Notice), 10.0),
            (lost(5_100, 10, 32, Notice), 10.0),
            (data(6_100, 31, 33), 10.087941),
            (data(7_600, 32, 34), 10.199915),
            (data(9_100, 33, 35), 10.720137),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(10.0))]), &steps);
    }

    #[test]
    fn fast_convergence_lowers_w_max_after_a_loss_below_the_last_one() {
        // 1 to 4, then 4 * 0.8 = 3.2 with W_max 4. Second loss at 3.2 < 0.99 * 4: W_max 3.2 * 0.9 = 2.88,
        // W = 2.56. At t = 2: K = cbrt(2.88 * 0.5) = 1.129243; 0.4 (2 - K)^3 + 2.88 = 3.144089;
        // 2.56 + 0.584089/2.56 = 2.788160. Without fast convergence: K = cbrt(1.6) = 1.169607,
        // 0.4 (2 - K)^3 + 3.2 = 3.429040; 2.56 + 0.869040/2.56 = 2.899469.
        for (on, expected) in [(true, 2.788160), (false, 2.899469)] {
            let steps = [
                (data(40, 1, 3), 2.0),
                (data(40, 2, 5), 3.0),
                (data(40, 3, 7), 4.0),
                (lost(250, 4, 8, Timeout), 3.2),
                (lost(250, 5, 12, Timeout), 3.2),
                (data(250, 20, 21), 3.2),
                (lost(1_000, 12, 22, Timeout), 2.56),
                (data(3_000, 21, 22), expected),
            ];
            follow(&mut Driver::new(&SCHEME, &[("fast_convergence", Setting::Bool(on))]), &steps);
        }
    }
}
