//! An external scheme with the complete program: `cargo run -p halving -- run SCENARIO`.

use std::process::ExitCode;

use tidegate_core::prelude::*;
use tidegate_schemes::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "halving",
    summary: "one packet more per RTT, half the window after a mark or a loss",
    paper: "none: the example of the book",
    provenance: Provenance::Paper,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|settings| Ok(Box::new(Halving::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Initial congestion window.
    initial_window: f64 = 2.0, "packets", 1.0..=1_000_000.0;
    /// Fraction of the window kept after a decrease.
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
}

#[derive(Debug)]
struct Halving {
    params: Params,
    window: f64,
    gate: OncePerRoundTrip,
}

impl Halving {
    fn new(params: Params) -> Self {
        Self { window: params.initial_window, params, gate: OncePerRoundTrip::default() }
    }

    /// Decreases the window, at most once per RTT.
    fn decrease(&mut self, segment: u32, flow: &FlowView) {
        if self.gate.admits(segment, flow) {
            self.window = (self.window * self.params.beta).max(1.0);
        }
    }
}

impl CongestionController for Halving {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if delivery.mark > 0 {
            self.decrease(delivery.segment, flow);
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        self.decrease(loss.segment, flow);
    }
}

fn main() -> ExitCode {
    tidegate::main_with(&[&SCHEME])
}

#[cfg(test)]
mod tests;
