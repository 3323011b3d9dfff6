//! BIC: binary search towards the window of the last loss, at most one decrease per one and a half round trips.
//!
//! Paper: Xu, Harfoush & Rhee 2004, in the form of ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` BIC.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::bic::BicWindow;
use crate::toolbox::window::consumer_pcon::ConsumerPcon;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-bic",
    summary: "binary search for the window of the last loss, as in ndnSIM's consumer",
    paper: "Xu, Harfoush & Rhee 2004; ndnSIM 2.9 ConsumerPcon (BIC)",
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
    /// Fraction of the window kept after a decrease (`CubicBeta`, which ndnSIM uses for BIC too).
    beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// Additional RTTs without a further decrease, after the first RTT (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether the window decreases at most once per 1 + `suppress` RTTs (`UseCwa`).
    conservative: bool = true;
    /// Whether marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<BicWindow> {
    ConsumerPcon {
        rule: BicWindow::new(params.initial_window, params.beta),
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
    fn search_fast_convergence_and_probing_follow_the_worked_case() {
        // W = 12, which is also the floor. Below 14: +1, for the threshold is infinite.
        //  3 at 14 the search target is still 0: 14 + (0 - 14)/14 = 13; target (inf + 13)/2 = inf
        //  5 far target: 14 + 16/14 = 15.142857       6 15.142857 + 16/15.142857 = 16.199461
        //  7 W = 0.8 * 16.199461 = 12.959569; the old maximum (inf) is larger, so
        //    maximum = (16.199461 + 12.959569)/2 = 14.579515, target = (14.579515 + 12.959569)/2 = 13.769542
        //  8, 9 below 14: +1
        // 10 14.959569 + (13.769542 - 14.959569)/14.959569 = 14.880019 >= maximum: probing, step 1 to 15.880019
        // 11 14.880019 + 1/14.880019 = 14.947223       12 14.947223 + 1/14.947223 = 15.014125
        // 13 W = 0.8 * 15.014125 = 12.011300 (still probing)   14, 15 below 14: +1
        // 16 14.011300 + 1/14.011300 = 14.082671       17 mark ignored
        // 18 0.8 * 14.082671 = 11.266137 < 12: the floor
        let steps = [
            (data(40, 1, 13), 13.0),
            (data(40, 2, 14), 14.0),
            (data(40, 3, 15), 13.0),
            (data(41, 4, 17), 14.0),
            (data(41, 5, 19), 15.142857),
            (data(42, 6, 21), 16.199461),
            (lost(250, 7, 22, Timeout), 12.959569),
            (data(290, 31, 32), 13.959569),
            (data(291, 32, 33), 14.959569),
            (data(292, 33, 34), 14.880019),
            (data(293, 34, 35), 14.947223),
            (data(294, 35, 36), 15.014125),
            (lost(500, 36, 37, Notice), 12.011300),
            (data(540, 40, 41), 13.011300),
            (data(541, 41, 42), 14.011300),
            (data(542, 42, 43), 14.082671),
            (marked(543, 43, 44), 14.082671),
            (lost(700, 44, 45, Timeout), 12.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(12.0))]), &steps);
    }

    #[test]
    fn below_the_low_window_a_loss_ends_slow_start() {
        // 4 * 0.8 = 3.2; then 3.2 + 1/3.2 = 3.5125.
        let steps = [
            (data(40, 1, 3), 2.0),
            (data(40, 2, 5), 3.0),
            (data(40, 3, 7), 4.0),
            (lost(250, 4, 8, Timeout), 3.2),
            (data(260, 5, 8), 3.5125),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }
}
