//! BIC: binary search towards the window of the last loss, at most one decrease per one and a half round trips.
//!
//! Paper: Xu, Harfoush & Rhee 2004, in the form of ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` BIC.
//! Deviation: marks are ignored unless `react_to_marks`, which ndnSIM sets; PLR's experiments ignore them.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

use crate::toolbox::bic_window::BicWindow;
use crate::toolbox::conservative_window::ConservativeWindow;
use crate::toolbox::consumer_pcon::ConsumerPcon;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-bic",
    summary: "binary search for the window of the last loss, as ndnSIM's consumer does it",
    paper: "Xu, Harfoush & Rhee 2004; ndnSIM 2.9 ConsumerPcon (BIC)",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window and floor of all (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Part of the window kept on a decrease (`CubicBeta`, which ndnSIM uses for BIC too).
    beta: f64 = 0.8, "of the window", 0.1..=0.99;
    /// Round trips between decreases, beyond the first (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether decreases are rationed at all (`UseCwa`).
    conservative: bool = true;
    /// Whether a marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<BicWindow> {
    ConsumerPcon {
        rule: BicWindow::new(params.initial_window, params.beta),
        gate: ConservativeWindow::new(params.conservative, params.suppress),
        reacts_to_marks: params.react_to_marks,
    }
}
