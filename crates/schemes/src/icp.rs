//! ICP: one packet more per round trip from the start, half when an Interest outlives the timer, once per timer.
//!
//! Paper: Carofiglio, Gallo & Muscariello 2012 (ICP). The timer lies between the minimum and the maximum of the last
//! RTTs (the range estimator), so with caches on the path it also fires without a loss. Marks are ignored.
//! `min_timeout` and `initial_timeout` are not in the paper.

use std::collections::VecDeque;

use tidegate_core::prelude::*;
use tidegate_core::scheme::whole::Limit;

use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::toolbox::reaction::once_per_timeout::OncePerTimeout;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};
use crate::toolbox::window::rule::WindowRule;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "icp",
    summary: "one packet more per RTT, half the window after a timeout; the timer lies between the lowest and \
         highest recent RTT",
    paper: "Carofiglio, Gallo & Muscariello 2012 (ICP)",
    provenance: Provenance::Paper,
    params: Params::TABLE,
    profile: ConsumerProfile::Own,
    consumer: Some(|settings| Ok(Box::new(Icp::new(Params::from_settings(settings)?)))),
    whole: Whole { limit: Some(Limit { why: "its timer lies between the minimum and maximum of recent RTTs, so that it expires when a queue builds up, and the window is halved", unless: &["delta", "min_timeout"] }), ..Whole::ALONE },
    ..Scheme::NONE
};

params! {
    /// Initial and minimum congestion window.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Growth of the window per RTT (eta).
    eta: f64 = 1.0, "packets", 0.01..=100.0;
    /// Fraction of the window kept after a decrease (beta).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Position of the timer between the minimum (0) and maximum (1) RTT of the history (delta).
    delta: f64 = 0.5, "of the range", 0.0..=1.0;
    /// Number of RTT samples in the history of the timer.
    samples: u32 = 20, "count", 1..=10_000;
    /// Timer before the first RTT sample.
    initial_timeout: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Minimum value of the timer.
    #[renamed_from("least_timeout")]
    min_timeout: Span = Span::from_millis(10), "time", Span::from_micros(1)..=Span::from_secs(60);
}

#[derive(Debug)]
struct Icp {
    params: Params,
    window: AimdWindow,
    gate: OncePerTimeout,
    round_trips: VecDeque<Span>,
}

impl Icp {
    fn new(params: Params) -> Self {
        let rule = AimdRule {
            initial: params.initial_window,
            // The paper has congestion avoidance only, so the window starts above the threshold.
            ssthresh: 0.0,
            step: params.eta,
            keep: params.beta,
            min: params.initial_window,
            divides_by_whole_window: false,
            restarts: false,
        };
        let (gate, round_trips) = (OncePerTimeout::default(), VecDeque::new());
        Self { window: AimdWindow::new(rule), gate, round_trips, params }
    }

    fn sample(&mut self, round_trip: Span) {
        self.round_trips.push_back(round_trip);
        if self.round_trips.len() > self.params.samples as usize {
            self.round_trips.pop_front();
        }
    }

    fn timeout(&self) -> Span {
        let Some((low, high)) = self.round_trips.iter().min().zip(self.round_trips.iter().max()) else {
            // No sample yet, hence no range to place the timer in.
            return self.params.initial_timeout;
        };
        (*low + (*high - *low).scale(self.params.delta)).max(self.params.min_timeout)
    }
}

impl CongestionController for Icp {
    fn window(&self) -> f64 {
        self.window.window()
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        if let Some(round_trip) = delivery.rtt {
            self.sample(round_trip);
        }
        // A retransmitted segment gives no RTT sample, yet its Data still increases the window.
        self.window.increase(cx.now, None);
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if is_congestion(loss.signal) && self.gate.admits(cx.now, self.timeout()) {
            self.window.decrease(cx.now);
        }
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        Some(self.timeout())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::NoRoute;
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Notice, Timeout};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, data_after, follow, lost, marked, sent};

    fn timer(driver: &Driver) -> Span {
        let sent = Sent::first(0, Time::ZERO);
        driver.controller.loss_timeout(&sent).expect("ICP has its own timer")
    }

    #[test]
    fn growth_and_one_decrease_per_timer_follow_the_worked_case() {
        // W = 1, no slow start: each Data adds 1/W, marked or not. tau lies halfway in the range of samples.
        //  2 1 + 1/1       3 2 + 1/2       4 2.5 + 1/2.5      5 2.9 + 1/2.9 = 3.244828
        //    samples 40, 60, 100, 40 ms: tau = 40 + 0.5 * 60 = 70 ms
        //  6 at 200 ms: 3.244828 / 2; shut until 270      7 at 269: nothing
        //  8 sent again, no sample: 1.622414 + 1/1.622414 = 2.238779
        //  9 at 270: 2.238779 / 2; shut until 340         10 1.119390 + 1/1.119390 = 2.012734
        // 11 marked: 2.012734 + 1/2.012734 = 2.509570     12 at 339: nothing
        // 13 not a congestion Nack                        14 at 341: 2.509570 / 2; shut until 411
        // 15 at 411: 1.254785 / 2 < 1: the floor
        let steps = [
            (sent(0, 0), 1.0),
            (data_after(40, 0, 1, Some(40)), 2.0),
            (data_after(100, 1, 3, Some(60)), 2.5),
            (data_after(150, 2, 5, Some(100)), 2.9),
            (data_after(160, 3, 7, Some(40)), 3.244828),
            (lost(200, 4, 8, Timeout), 1.622414),
            (lost(269, 5, 8, Timeout), 1.622414),
            (data_after(269, 4, 8, None), 2.238779),
            (lost(270, 6, 8, Notice), 1.119390),
            (data(300, 6, 9), 2.012734),
            (marked(310, 7, 9), 2.509570),
            (lost(339, 8, 10, Timeout), 2.509570),
            (lost(341, 9, 10, Nack(NoRoute)), 2.509570),
            (lost(341, 8, 10, Timeout), 1.254785),
            (lost(411, 9, 10, Timeout), 1.0),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
    }

    #[test]
    fn the_timer_lies_halfway_between_the_last_round_trip_times() {
        let mut driver = Driver::new(&SCHEME, &[("samples", Setting::Number(2.0))]);
        let mut after = |rtt_ms| {
            driver.handle(data_after(40, 0, 1, rtt_ms));
            timer(&driver)
        };
        assert_eq!(after(None), Span::from_secs(1), "no sample yet");
        assert_eq!(after(Some(20)), Span::from_millis(20));
        assert_eq!(after(Some(60)), Span::from_millis(40));
        assert_eq!(after(Some(100)), Span::from_millis(80), "20 ms is forgotten");
    }

    #[test]
    fn the_timer_is_never_shorter_than_its_floor() {
        let mut driver = Driver::new(&SCHEME, &[]);
        driver.handle(data_after(40, 0, 1, Some(3)));
        assert_eq!(timer(&driver), Span::from_millis(10));
    }
}
