//! The consumer (`ConsumerCC`): BIC that decreases at every mark, and at losses once per window of data.
//!
//! CoDel spaces its marks, so marks need no gate; losses occur in bursts and need one.

use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::conservative_window::ConservativeWindow;
use crate::toolbox::window::bic::BicWindow;
use crate::toolbox::window::rule::WindowRule;

#[derive(Debug)]
pub(super) struct PconConsumer {
    rule: BicWindow,
    gate: ConservativeWindow,
    reacts_to_marks: bool,
}

impl PconConsumer {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            rule: BicWindow::new(params.initial_window, params.beta).with_slow_start_at_threshold(),
            gate: ConservativeWindow::new(params.conservative, 0.0),
            reacts_to_marks: params.react_to_marks,
        }
    }
}

impl CongestionController for PconConsumer {
    fn window(&self) -> f64 {
        self.rule.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        if delivery.mark > 0 && self.reacts_to_marks {
            self.rule.decrease(cx.now);
        } else {
            self.rule.increase(cx.now, flow.smoothed_rtt);
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) && self.gate.admits(flow) {
            self.rule.decrease(cx.now);
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.rule.ssthresh())
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};
    use tidegate_core::scheme::params::Setting;

    use super::super::SCHEME;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked};

    #[test]
    fn every_mark_halves_and_losses_do_once_per_window_of_data() {
        // From 8, also the floor, so that a decrease below 14 goes to max(W/2, 8) with threshold W/2.
        //  1 to 6: +1 each, up to 14; 7: BIC, whose target starts at 0: 14 - 14/14 = 13, still below every maximum,
        //    so its target is infinite; 8 slow start, below the infinite threshold; 9: 14 + 16/14
        // 10 +16/15.142857    11 mark: half    12 mark, W < 14: threshold 4.049865, floor 8
        // 13 above the threshold: 8 + 1/8
        // 14 timeout, 12 > 0: threshold 4.0625, floor 8; recovery point 30    15 timeout: 12 <= 30
        // 16 +1/8, received 31    17 no congestion    18 Nack, 31 > 30: floor; point 40    19 timeout 31 <= 40
        let steps = [
            (data(10, 1, 20), 9.0),
            (data(10, 2, 20), 10.0),
            (data(10, 3, 20), 11.0),
            (data(10, 4, 20), 12.0),
            (data(10, 5, 20), 13.0),
            (data(10, 6, 20), 14.0),
            (data(10, 7, 20), 13.0),
            (data(10, 8, 20), 14.0),
            (data(10, 9, 20), 15.142857),
            (data(10, 10, 20), 16.199461),
            (marked(11, 11, 20), 8.099730),
            (marked(11, 12, 20), 8.0),
            (data(12, 12, 20), 8.125),
            (lost(13, 13, 30, Timeout), 8.0),
            (lost(13, 14, 30, Timeout), 8.0),
            (data(14, 31, 40), 8.125),
            (lost(15, 15, 40, Nack(NoRoute)), 8.125),
            (lost(15, 16, 40, Nack(Congestion)), 8.0),
            (lost(15, 17, 40, Timeout), 8.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(8.0))]), &steps);
    }

    #[test]
    fn a_window_at_its_threshold_is_still_in_slow_start() {
        let steps = [
            (data(10, 1, 9), 2.0),
            (data(10, 2, 9), 3.0),
            (data(10, 3, 9), 4.0),
            (marked(11, 4, 9), 2.0),
            (data(12, 5, 9), 3.0),
            (data(12, 6, 9), 3.333333),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn a_switch_turned_off_changes_the_run() {
        let grown = [(data(10, 1, 9), 2.0), (data(10, 2, 9), 3.0), (data(10, 3, 9), 4.0)];
        let off = |name: &str| Driver::new(&SCHEME, &[(name, Setting::Bool(false))]);
        let mut deaf = off("react_to_marks");
        follow(&mut deaf, &grown);
        follow(&mut deaf, &[(marked(11, 4, 9), 5.0)]);
        let mut hasty = off("conservative");
        follow(&mut hasty, &grown);
        follow(&mut hasty, &[(lost(11, 4, 9, Timeout), 2.0), (lost(11, 5, 9, Timeout), 1.0)]);
    }
}
