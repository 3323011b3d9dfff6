//! ndnget's CUBIC pipeline, its default: RFC 8312 with the TCP-friendly region, one decrease per round trip.
//!
//! Paper: RFC 8312, in the form of ndn-tools `PipelineInterestsCubic` (`ndnget`, formerly `ndncatchunks`).

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};

use crate::toolbox::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::cubic_window::{CubicRule, CubicWindow};
use crate::toolbox::once_per_round_trip::OncePerRoundTrip;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "catchunks-cubic",
    summary: "ndnget's CUBIC pipeline: RFC 8312 on marks and losses, once per round trip",
    paper: "RFC 8312; ndn-tools PipelineInterestsCubic",
    provenance: Provenance::Source,
    params: Params::TABLE,
    shell: ShellKind::NdnTools,
    consumer: Some(|settings| Ok(Box::new(controller(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// First window and floor of all (`init-cwnd`); releases before 2024 start at 1.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// First slow-start threshold (`init-ssthresh`); the default is out of reach.
    initial_threshold: f64 = 1e9, "packets", 0.0..=1e9;
    /// Part of the window kept on a decrease (`cubic-beta`).
    beta: f64 = 0.7, "of the window", 0.1..=0.99;
    /// Whether a loss below the last peak lowers the plateau (`fast-conv`).
    fast_convergence: bool = false;
    /// Whether every mark and loss decreases, not one per round trip (`disable-cwa`).
    disable_cwa: bool = false;
    /// Whether a marked Data counts as an unmarked one (`ignore-marks`).
    ignore_marks: bool = false;
}

fn controller(params: &Params) -> AdaptivePipeline<CubicWindow> {
    let rule = CubicRule {
        initial: params.initial_window,
        threshold: params.initial_threshold,
        keep: params.beta,
        fast_convergence: params.fast_convergence.then_some(1.0),
        is_tcp_friendly: true,
    };
    AdaptivePipeline {
        rule: CubicWindow::new(rule),
        gate: (!params.disable_cwa).then(OncePerRoundTrip::default),
        ignores_marks: params.ignore_marks,
    }
}
