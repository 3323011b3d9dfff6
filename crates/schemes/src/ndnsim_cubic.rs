//! CUBIC: a cubic curve of time around the window of the last loss, rationed to one decrease per 1.5 round trips.
//!
//! Paper: RFC 8312, in the form of ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` CUBIC (no TCP-friendly region).
//! Deviation: marks are ignored unless `react_to_marks`, which ndnSIM sets; PLR's experiments ignore them.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

use crate::toolbox::conservative_window::ConservativeWindow;
use crate::toolbox::consumer_pcon::ConsumerPcon;
use crate::toolbox::cubic_window::{CubicRule, CubicWindow};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-cubic",
    summary: "a cubic curve around the window of the last loss, as ndnSIM's consumer does it",
    paper: "RFC 8312; ndnSIM 2.9 ConsumerPcon (CUBIC)",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window and floor of all (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Part of the window kept on a decrease (`CubicBeta`).
    beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// Whether a loss below 0.99 of the last peak lowers the plateau (`UseCubicFastConvergence`).
    fast_convergence: bool = false;
    /// Round trips between decreases, beyond the first (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether decreases are rationed at all (`UseCwa`).
    conservative: bool = true;
    /// Whether a marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<CubicWindow> {
    let rule = CubicRule {
        initial: params.initial_window,
        threshold: f64::INFINITY,
        keep: params.beta,
        fast_convergence: params.fast_convergence.then_some(0.99),
        is_tcp_friendly: false,
    };
    ConsumerPcon {
        rule: CubicWindow::new(rule),
        gate: ConservativeWindow::new(params.conservative, params.suppress),
        reacts_to_marks: params.react_to_marks,
    }
}
