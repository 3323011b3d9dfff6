//! ndnget's AIMD pipeline: one step more per round trip, half on a mark or loss, once per round trip.
//!
//! Paper: none; ndn-tools `PipelineInterestsAimd` (`ndnget`, formerly `ndncatchunks`).

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

use crate::toolbox::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::aimd_window::{AimdRule, AimdWindow};
use crate::toolbox::once_per_round_trip::OncePerRoundTrip;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "catchunks-aimd",
    summary: "ndnget's AIMD pipeline: half on a mark or loss, once per round trip",
    paper: "ndn-tools PipelineInterestsAimd",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::NdnTools,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

/// Slow-start thresholds and windows never shrink below this, packets (`MIN_SSTHRESH`).
const LEAST_THRESHOLD: f64 = 2.0;

params! {
    /// First window (`init-cwnd`); releases before 2024 start at 1.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// First slow-start threshold (`init-ssthresh`); the default is out of reach.
    initial_threshold: f64 = 1e9, "packets", 0.0..=1e9;
    /// Growth per Data in slow start and per round trip above (`aimd-step`).
    step: f64 = 1.0, "packets", 0.01..=100.0;
    /// Part of the window kept on a decrease (`aimd-beta`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Whether a decrease goes back to the first window (`reset-cwnd-to-init`).
    reset_to_initial: bool = false;
    /// Whether every mark and loss decreases, not one per round trip (`disable-cwa`).
    disable_cwa: bool = false;
    /// Whether a marked Data counts as an unmarked one (`ignore-marks`).
    ignore_marks: bool = false;
}

fn controller(params: &Params) -> AdaptivePipeline<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        threshold: params.initial_threshold,
        step: params.step,
        keep: params.beta,
        least: LEAST_THRESHOLD,
        divides_by_whole_window: true,
        restarts: params.reset_to_initial,
    };
    AdaptivePipeline {
        rule: AimdWindow::new(rule),
        gate: (!params.disable_cwa).then(OncePerRoundTrip::default),
        ignores_marks: params.ignore_marks,
    }
}
