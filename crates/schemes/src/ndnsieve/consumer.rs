//! Window of the consumer (§4.3).

use tidegate_core::prelude::*;

use super::{Form, Params};
use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;

/// Window rule of the paper, or its gentler variant.
#[derive(Debug)]
pub(super) struct SieveConsumer {
    form: Form,
    window: f64,
    is_slow_start: bool,
    gate: OncePerRoundTrip,
}

impl SieveConsumer {
    pub(super) fn new(params: Params) -> Self {
        let gate = OncePerRoundTrip::default();
        Self { form: params.form, window: params.initial_window, is_slow_start: true, gate }
    }

    fn shrink(&mut self) {
        self.window = (self.window - 1.0).max(1.0);
    }
}

impl CongestionController for SieveConsumer {
    fn window(&self) -> f64 {
        self.window
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        match (self.form, delivery.mark > 0) {
            // One packet more for an unmarked Data (eq. 4).
            (Form::Literal, false) => self.window += 1.0,
            // One packet less for a marked Data (eq. 5).
            (Form::Literal, true) => self.shrink(),
            (Form::Ssr, false) => self.window += if self.is_slow_start { 1.0 } else { 1.0 / self.window },
            (Form::Ssr, true) => {
                self.is_slow_start = false;
                if self.gate.admits(delivery.segment, flow) {
                    self.shrink();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SCHEME;
    use tidegate_core::scheme::congestion::LossSignal::Timeout;
    use tidegate_core::scheme::params::Setting;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn every_data_moves_the_window_by_exactly_one_and_never_below_one() {
        let steps = [
            (data(40, 0, 1), 2.0),
            (data(41, 1, 3), 3.0),
            (marked(42, 2, 5), 2.0),
            (marked(43, 3, 6), 1.0),
            (marked(44, 4, 7), 1.0),
            (data(45, 5, 8), 2.0),
            (lost(300, 6, 9, Timeout), 2.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn the_gentle_form_grows_by_one_a_window_after_its_first_mark_and_falls_once_a_round_trip() {
        let steps = [
            (data(40, 0, 1), 2.0),
            (data(41, 1, 3), 3.0),
            (data(42, 2, 4), 4.0),
            (marked(43, 3, 8), 3.0),
            (marked(44, 4, 8), 3.0),
            (data(45, 5, 9), 3.0 + 1.0 / 3.0),
            (marked(80, 9, 12), 3.0 + 1.0 / 3.0 - 1.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[("form", Setting::Text("ssr".into()))]), &steps);
    }
}
