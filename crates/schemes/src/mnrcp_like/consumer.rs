//! The consumer: sends at the reported rate; a Nack halves it until the next report.

use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::rate::rate_follower::RateFollower;

#[derive(Debug)]
pub(super) struct MnrcpConsumer {
    follower: RateFollower,
    reacts_to_nacks: bool,
    /// Rate reported last, thousandths of an Interest per second; `None` before the first report.
    report: Option<u32>,
}

impl MnrcpConsumer {
    pub(super) fn new(params: &Params) -> Self {
        let follower = RateFollower::new(params.start, params.initial_rate);
        Self { follower, reacts_to_nacks: params.react_to_nacks, report: None }
    }
}

impl CongestionController for MnrcpConsumer {
    fn window(&self) -> f64 {
        self.follower.window()
    }

    fn pacing(&self) -> Pacing {
        self.follower.pacing()
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        self.follower.on_sent(cx, sent, hop, flow);
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        self.report = delivery.hop.get(Signal::STAMPING_RATE).or(self.report);
        self.follower.on_delivery(cx, delivery, flow);
    }

    fn on_loss(&mut self, _: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if self.reacts_to_nacks
            && loss.signal == LossSignal::Nack(NackReason::Congestion)
            && let Some(report) = self.report
        {
            // Half of the report, not of the current rate: several Nacks before the next report count as one.
            self.follower.follow(report / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_core::scheme::congestion::LossSignal::Timeout;

    use super::super::SCHEME;
    use super::*;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{lost, sent, stamped};

    const NACK: LossSignal = LossSignal::Nack(NackReason::Congestion);

    #[test]
    fn a_nack_halves_the_rate_once_until_the_next_report() {
        let mut driver = Driver::new(&SCHEME, &[]);
        driver.handle(sent(0, 0));
        let steps = [
            (stamped(40, 0, 1, 500_000), 2),
            (lost(50, 1, 2, Timeout), 2),
            (lost(51, 2, 3, LossSignal::Nack(NackReason::NoRoute)), 2),
            (lost(52, 3, 4, NACK), 4),
            (lost(53, 4, 5, NACK), 4),
            (stamped(60, 5, 6, 500_000), 2),
            (lost(61, 6, 7, NACK), 4),
        ];
        for (event, millis) in steps {
            driver.handle(event);
            assert_eq!(driver.controller.pacing(), Pacing::Gap(Span::from_millis(millis)), "{event:?}");
        }
    }

    #[test]
    fn nacks_may_be_left_alone() {
        let mut driver = Driver::new(&SCHEME, &[("react_to_nacks", Setting::Bool(false))]);
        driver.handle(stamped(40, 0, 1, 500_000));
        driver.handle(lost(52, 3, 4, NACK));
        assert_eq!(driver.controller.pacing(), Pacing::Gap(Span::from_millis(2)));
    }
}
