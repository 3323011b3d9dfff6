//! One packet more per Data, back to the initial window on a loss.
//!
//! Paper: none; ndnSIM 2.9 `ConsumerWindow`. Every loss counts; marks are not looked at.

use tidegate_core::prelude::*;
use tidegate_core::scheme::whole::Limit;

use crate::toolbox::reaction::congestion_loss::is_congestion;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsim-window",
    summary: "adds one packet to the window per Data packet, and resets it to its initial value after a loss",
    paper: "ndnSIM 2.9 ConsumerWindow",
    provenance: Provenance::Source,
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(NdnsimWindow::new(Params::from_settings(settings)?)))),
    whole: Whole { limit: Some(Limit { why: "the window doubles each round trip until the queue overflows, and is reset to its initial value when timers expire", unless: &["reset_on_loss"] }), ..Whole::ALONE },
    ..Scheme::NONE
};

params! {
    /// Initial congestion window (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Whether a loss resets the window to its initial value (`InitialWindowOnTimeout`); otherwise the window does not
    /// change.
    reset_on_loss: bool = true;
}

#[derive(Debug)]
struct NdnsimWindow {
    params: Params,
    window: f64,
}

impl NdnsimWindow {
    fn new(params: Params) -> Self {
        Self { window: params.initial_window, params }
    }
}

impl CongestionController for NdnsimWindow {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, _: &Delivery, _: &FlowView) {
        self.window += 1.0;
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if self.params.reset_on_loss && is_congestion(loss.signal) {
            self.window = self.params.initial_window;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn the_window_counts_data_since_the_last_loss() {
        // From 3: each Data adds 1, marked or not; timeout, notice and congestion Nack give 3 again.
        let steps = [
            (data(40, 0, 3), 4.0),
            (data(40, 1, 5), 5.0),
            (marked(41, 2, 7), 6.0),
            (data(42, 3, 9), 7.0),
            (lost(250, 4, 11, Timeout), 3.0),
            (lost(250, 5, 11, Timeout), 3.0),
            (data(260, 6, 11), 4.0),
            (lost(261, 7, 11, Nack(Duplicate)), 4.0),
            (data(262, 8, 11), 5.0),
            (lost(263, 9, 11, Notice), 3.0),
            (data(264, 9, 12), 4.0),
            (lost(265, 10, 13, Nack(Congestion)), 3.0),
            (data(300, 10, 13), 4.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(3.0))]), &steps);
    }

    #[test]
    fn without_reset_a_loss_leaves_the_window() {
        let mut driver = Driver::new(&SCHEME, &[("reset_on_loss", Setting::Bool(false))]);
        follow(&mut driver, &[(data(40, 0, 2), 2.0), (lost(250, 1, 3, Timeout), 2.0)]);
    }
}
