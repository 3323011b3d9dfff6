//! The consumer: each level of a mark decreases the window by the same fraction. All Data of a period carry the same
//! level, so it counts once per period.

use tidegate_core::prelude::*;

use super::{HIGHEST, Params};
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::window::graded::GradedWindow;

#[derive(Debug)]
pub(super) struct FleComConsumer {
    window: GradedWindow,
    decrease_per_level: f64,
}

impl FleComConsumer {
    pub(super) fn new(params: Params) -> Self {
        let Params { initial_window, decrease_per_level, period, .. } = params;
        Self { window: GradedWindow::new(initial_window, period), decrease_per_level }
    }

    fn decrease(&mut self, now: Time, level: u8, flow: &FlowView) {
        let keep = 1.0 - self.decrease_per_level * f64::from(level.min(HIGHEST));
        self.window.decrease(now, flow, |window| window * keep);
    }
}

impl CongestionController for FleComConsumer {
    fn window(&self) -> f64 {
        self.window.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        match delivery.mark {
            0 => self.window.increase(),
            level => self.decrease(cx.now, level, flow),
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) {
            self.decrease(cx.now, HIGHEST, flow);
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::scheme::congestion::LossSignal::Timeout;
    use tidegate_core::scheme::params::Setting;

    use super::super::SCHEME;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked_at};

    #[test]
    fn each_level_takes_a_twentieth_once_per_window_of_data_and_period() {
        let grown = 95.95 + 1.0 / 95.95;
        let steps = [
            (data(10, 1, 11), 101.0),
            (marked_at(1, 11, 2, 12), 101.0 * 0.95),   // recovery point 12, none before 111 ms
            (marked_at(4, 111, 12, 20), 101.0 * 0.95), // 12 <= 12
            (data(112, 4, 20), grown),
            (marked_at(3, 113, 13, 20), grown * 0.85), // point 20, none before 213 ms
            (marked_at(3, 212, 21, 30), grown * 0.85),
            (marked_at(9, 213, 22, 30), grown * 0.85 * 0.8), // no more than level 4; point 30
            (lost(313, 23, 40, Timeout), grown * 0.68),      // 22 <= 30
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(100.0))]), &steps);
    }

    #[test]
    fn a_loss_counts_as_level_four_and_without_a_part_per_level_nothing_shrinks() {
        let first = (data(10, 1, 11), 2.0);
        follow(&mut Driver::new(&SCHEME, &[]), &[first, (lost(11, 2, 12, Timeout), 1.6)]);
        let mut deaf = Driver::new(&SCHEME, &[("decrease_per_level", Setting::Number(0.0))]);
        follow(&mut deaf, &[first, (lost(11, 2, 12, Timeout), 2.0), (marked_at(4, 12, 20, 21), 2.0)]);
    }
}
