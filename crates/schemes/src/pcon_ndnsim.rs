//! PCON's consumer as ndnSIM ships it: marks and losses decrease the window through one gate.
//!
//! Paper: Schneider, Yi, Zhang & Zhang 2016 (PCON), consumer part, in the form of ndnSIM 2.9 `ConsumerPcon`.
//! Deviation: the default algorithm is CUBIC, on which PCON is based; ndnSIM's attribute starts at AIMD.

use tidegate_core::congestion::CongestionController;
use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::{choice, params};

use crate::toolbox::aimd_window::{AimdRule, AimdWindow};
use crate::toolbox::bic_window::BicWindow;
use crate::toolbox::conservative_window::ConservativeWindow;
use crate::toolbox::consumer_pcon::ConsumerPcon;
use crate::toolbox::cubic_window::{CubicRule, CubicWindow};
use crate::toolbox::window_rule::WindowRule;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "pcon-ndnsim",
    summary: "PCON's consumer as ndnSIM ships it: marks and losses decrease once per 1.5 round trips",
    paper: "Schneider et al. 2016 (PCON); ndnSIM 2.9 ConsumerPcon",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| Ok(controller(&Params::from_settings(settings)?))),
    ..Scheme::NONE
};

choice! {
    /// How the window moves between decreases (`CcAlgorithm`).
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
    /// How the window moves between decreases (`CcAlgorithm`).
    algorithm: Algorithm = Algorithm::Cubic;
    /// First window and floor of all (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Part of the window AIMD keeps on a decrease (`Beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Part of the window BIC and CUBIC keep on a decrease (`CubicBeta`).
    cubic_beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// Whether a loss below 0.99 of the last peak lowers CUBIC's plateau (`UseCubicFastConvergence`).
    fast_convergence: bool = false;
    /// Round trips between decreases, beyond the first (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether decreases are rationed at all (`UseCwa`).
    conservative: bool = true;
    /// Whether a marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
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
        threshold: f64::INFINITY,
        step: 1.0,
        keep: params.beta,
        least: params.initial_window,
        divides_by_whole_window: false,
        restarts: false,
    }
}

fn cubic(params: &Params) -> CubicRule {
    CubicRule {
        initial: params.initial_window,
        threshold: f64::INFINITY,
        keep: params.cubic_beta,
        fast_convergence: params.fast_convergence.then_some(0.99),
        is_tcp_friendly: false,
    }
}
