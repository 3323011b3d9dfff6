//! The consumer: the level of a mark sets the decrease of the window.

use tidegate_core::prelude::*;

use super::{MILD, Params};
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::window::graded::GradedWindow;

#[derive(Debug)]
pub(super) struct CoopConConsumer {
    window: GradedWindow,
    mild_step: f64,
    severe_keep: f64,
}

impl CoopConConsumer {
    pub(super) fn new(params: Params) -> Self {
        let Params { initial_window, mild_step, severe_keep, .. } = params;
        Self { window: GradedWindow::new(initial_window, Span::ZERO), mild_step, severe_keep }
    }
}

impl CongestionController for CoopConConsumer {
    fn window(&self) -> f64 {
        self.window.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        match delivery.mark {
            0 => self.window.increase(),
            MILD => self.window.decrease(cx.now, flow, |window| window - self.mild_step),
            _ => self.window.decrease(cx.now, flow, |window| window * self.severe_keep),
        }
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, flow: &FlowView) {
        if is_congestion(loss.signal) {
            self.window.decrease(cx.now, flow, |window| window * self.severe_keep);
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        Some(self.window.ssthresh())
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};
    use tidegate_core::scheme::params::Setting;

    use super::super::SCHEME;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, follow, lost, marked_at};

    #[test]
    fn a_mild_mark_takes_a_packet_and_a_severe_one_a_fifth_once_per_window_of_data() {
        let steps = [
            (data(10, 1, 11), 11.0),
            (data(10, 2, 12), 12.0),
            (marked_at(1, 11, 3, 13), 11.0), // ends slow start; recovery point 13
            (marked_at(2, 12, 4, 13), 11.0), // 4 <= 13
            (data(13, 5, 14), 11.0 + 1.0 / 11.0),
            (marked_at(2, 14, 14, 20), (11.0 + 1.0 / 11.0) * 0.8), // 14 > 13; point 20
            (lost(15, 15, 20, Timeout), (11.0 + 1.0 / 11.0) * 0.8), // 14 <= 20
            (marked_at(3, 16, 21, 30), (11.0 + 1.0 / 11.0) * 0.64), // as severe; point 30
            (lost(17, 16, 30, Nack(NoRoute)), (11.0 + 1.0 / 11.0) * 0.64),
        ];
        follow(&mut Driver::new(&SCHEME, &[("initial_window", Setting::Number(10.0))]), &steps);
    }

    #[test]
    fn a_loss_counts_as_a_severe_mark_and_the_window_stays_at_one() {
        let steps = [
            (data(10, 1, 3), 2.0),
            (lost(11, 2, 3, Nack(Congestion)), 1.6),
            (data(12, 4, 5), 2.225),
            (marked_at(2, 13, 5, 6), 1.78),
            (marked_at(1, 14, 7, 8), 1.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn without_their_reactions_marks_leave_the_window() {
        let off = [("mild_step", Setting::Number(0.0)), ("severe_keep", Setting::Number(1.0))];
        let steps = [(data(10, 1, 3), 2.0), (marked_at(1, 11, 2, 4), 2.0), (marked_at(2, 12, 5, 9), 2.0)];
        follow(&mut Driver::new(&SCHEME, &off), &steps);
    }
}
