//! AIMD: one packet more per round trip, half on a loss, at most once per one and a half round trips.
//!
//! Paper: none; ndnSIM 2.9 `ConsumerPcon` with `CcAlgorithm` AIMD.
//! Deviation: marks are ignored unless `react_to_marks`, which ndnSIM sets; PLR's experiments ignore them.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

use crate::toolbox::aimd_window::{AimdRule, AimdWindow};
use crate::toolbox::conservative_window::ConservativeWindow;
use crate::toolbox::consumer_pcon::ConsumerPcon;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-aimd",
    summary: "additive increase, half on a loss, as ndnSIM's consumer does it",
    paper: "ndnSIM 2.9 ConsumerPcon (AIMD)",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window and floor of all (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Part of the window kept on a decrease (`Beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Round trips between decreases, beyond the first (`AddRttSuppress`).
    suppress: f64 = 0.5, "round trips", 0.0..=10.0;
    /// Whether decreases are rationed at all (`UseCwa`).
    conservative: bool = true;
    /// Whether a marked Data decreases the window (`ReactToCongestionMarks`); it never increases it.
    react_to_marks: bool = false;
}

fn controller(params: &Params) -> ConsumerPcon<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        threshold: f64::INFINITY,
        step: 1.0,
        keep: params.beta,
        least: params.initial_window,
        divides_by_whole_window: false,
        restarts: false,
    };
    ConsumerPcon {
        rule: AimdWindow::new(rule),
        gate: ConservativeWindow::new(params.conservative, params.suppress),
        reacts_to_marks: params.react_to_marks,
    }
}
