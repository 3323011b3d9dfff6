//! PCON's consumer as ndnSIM ships it: marks and losses decrease the window through one gate.
//!
//! Paper: Schneider, Yi, Zhang & Zhang 2016 (PCON), consumer part, in the form of ndnSIM 2.9 `ConsumerPcon`.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::bic::BicWindow;
use crate::toolbox::window::consumer_pcon::ConsumerPcon;
use crate::toolbox::window::cubic::{CubicRule, CubicWindow};
use crate::toolbox::window::rule::WindowRule;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "pcon-ndnsim",
    summary: "PCON's consumer as included in ndnSIM: marks and losses decrease the window once per 1.5 RTTs",
    paper: "Schneider et al. 2016 (PCON); ndnSIM 2.9 ConsumerPcon",
    provenance: Provenance::Source,
    deviations: &["The default algorithm is CUBIC, on which PCON is based; the default of ndnSIM's attribute is AIMD."],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(controller(&Params::from_settings(settings)?))),
    whole: Whole {
        with: &[Companion { role: Role::Discipline, scheme: "nfd-marking" }],
        needs: &[
            Need::of(Role::Consumer, Counterpart::Marks, "it reacts to losses alone").unless("react_to_marks", "false"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Growth rule of the window between decreases (`CcAlgorithm`).
    pub enum Algorithm {
        /// Additive increase, multiplicative decrease.
        Aimd = "aimd",
        /// Binary search for the last maximum.
        Bic = "bic",
        /// A cubic curve of time.
        Cubic = "cubic",
    }
}

params! {
    /// Growth of the window between decreases: `aimd`, additive increase; `bic`, binary search for the last W_max;
    /// `cubic`, a cubic curve of time (`CcAlgorithm`).
    algorithm: Algorithm = Algorithm::Cubic;
    /// Initial and minimum congestion window (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// With algorithm = "aimd": fraction of the window kept after a decrease (`Beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// With algorithm = "bic" or "cubic": fraction of the window kept after a decrease (`CubicBeta`).
    cubic_beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// With algorithm = "cubic": whether a loss below 0.99 of the last W_max lowers W_max further
    /// (`UseCubicFastConvergence`).
    fast_convergence: bool = false;
    /// Additional RTTs without a further decrease, after the first RTT (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether the window decreases at most once per 1 + `suppress` RTTs (`UseCwa`).
    conservative: bool = true;
    /// Whether marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = true;
}

fn controller(params: &Params) -> Box<dyn CongestionController> {
    match params.algorithm {
        Algorithm::Aimd => around(AimdWindow::new(aimd(params)), params),
        Algorithm::Bic => around(BicWindow::new(params.initial_window, params.cubic_beta), params),
        Algorithm::Cubic => around(CubicWindow::new(cubic(params)), params),
    }
}

fn around(rule: impl WindowRule + 'static, params: &Params) -> Box<dyn CongestionController> {
    let gate = ConservativeWindow::new(params.conservative, params.suppress);
    Box::new(ConsumerPcon { rule, gate, reacts_to_marks: params.react_to_marks })
}

fn aimd(params: &Params) -> AimdRule {
    AimdRule {
        initial: params.initial_window,
        ssthresh: f64::INFINITY,
        step: 1.0,
        keep: params.beta,
        min: params.initial_window,
        divides_by_whole_window: false,
        restarts: false,
    }
}

fn cubic(params: &Params) -> CubicRule {
    CubicRule {
        // ndnSIM compares with 0.99 of the last maximum, RFC 8312 with the maximum itself.
        fast_convergence: params.fast_convergence.then_some(0.99),
        ..CubicRule::with_floor(params.initial_window, params.cubic_beta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn marks_and_losses_share_one_gate_in_the_worked_case() {
        // CUBIC from W = 10, also the floor; R is the recovery point, from 0.
        //  3 received 3 > 0 at 1 s: Wmax = 12; max(9.6, 10); R = 15 + 0.5 (15 - 3) = 21; K = cbrt(6) = 1.817121
        //  4 suppressed mark (4 <= 21): neither growth nor decrease       5 suppressed timeout
        //  6 t = 0.5: 0.4 (0.5 - K)^3 + 12 = 11.086020; 10 + 1.086020/10 = 10.108602
        //  7 t = 1.8: 11.999998; 10.108602 + 1.891396/10.108602 = 10.295710
        //  8 t = 3.0: 12.662036; 10.295710 + 2.366326/10.295710 = 10.525546
        //  9 t = 4.0: 16.160535; 10.525546 + 5.634989/10.525546 = 11.060909, received 30
        // 10 not a congestion Nack     11 notice, 30 > 21 at 5.1 s: Wmax = 11.060909; floor; R = 32 + 1 = 33
        // 12 congestion Nack: 30 <= 33 13 mark: 33 <= 33
        // 14 t = 2.5: K = cbrt(Wmax/2) = 1.768426; 11.217524; 10 + 1.217524/10 = 10.121752
        // 15 mark: 35 > 33, 0.8 * 10.121752 < 10: the floor
        let steps = [
            (data(40, 1, 12), 11.0),
            (data(80, 2, 14), 12.0),
            (marked(1_000, 3, 15), 10.0),
            (marked(1_010, 4, 15), 10.0),
            (lost(1_010, 5, 15, Timeout), 10.0),
            (data(1_500, 6, 17), 10.108602),
            (data(2_800, 7, 18), 10.295710),
            (data(4_000, 8, 19), 10.525546),
            (data(5_000, 30, 31), 11.060909),
            (lost(5_050, 9, 32, Nack(NoRoute)), 11.060909),
            (lost(5_100, 10, 32, Notice), 10.0),
            (lost(5_100, 11, 32, Nack(Congestion)), 10.0),
            (marked(5_200, 33, 34), 10.0),
            (data(7_600, 34, 36), 10.121752),
            (marked(7_700, 35, 37), 10.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(10.0))]), &steps);
    }

    #[test]
    fn each_algorithm_keeps_its_own_part_of_the_window() {
        for (algorithm, expected) in [("aimd", 2.0), ("bic", 3.2), ("cubic", 3.2)] {
            let mut driver = Driver::new(&SCHEME, &[("algorithm", Setting::Text(algorithm.into()))]);
            let start = [(data(40, 1, 3), 2.0), (data(40, 2, 5), 3.0), (data(40, 3, 7), 4.0)];
            follow(&mut driver, &start);
            follow(&mut driver, &[(marked(80, 4, 9), expected)]);
        }
    }
}
