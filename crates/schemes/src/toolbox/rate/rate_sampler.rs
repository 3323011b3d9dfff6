//! Delivery rate as TCP measures it: the packets delivered since the last arrival before the packet was sent, over
//! the longer of the sending and the arrival interval.
//!
//! Source: draft-cheng-iccrg-delivery-rate-estimation-00, §3. Measured from the departure of the packet itself, a
//! rate would count one arrival too many, and its excess would build a queue.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use crate::toolbox::rate::bbr_model::PacketRate;

/// Time of an arrival and of its Interest.
#[derive(Clone, Copy, Debug, Default)]
struct Arrival {
    at: Time,
    /// Send time of its Interest.
    sent_at: Time,
}

/// Measures the delivery rate with each Data.
#[derive(Debug, Default)]
pub struct RateSampler {
    last: Arrival,
    /// The last arrival before each outstanding Interest left.
    before: BTreeMap<u32, Arrival>,
}

impl RateSampler {
    /// Records an Interest that is sent; `flow` already counts it as in flight.
    pub fn on_sent(&mut self, sent: &Sent, flow: &FlowView) {
        if flow.in_flight <= 1 {
            // Nothing was in flight: the idle time before this Interest would lower the rate, so the sample
            // begins here.
            self.last = Arrival { at: sent.at, sent_at: sent.at };
        }
        self.before.insert(sent.segment, self.last);
    }

    /// Delivery-rate sample of a Data packet; `None` if its Interest was not recorded when it was sent.
    pub fn sample(&mut self, now: Time, delivery: &Delivery, flow: &FlowView) -> Option<PacketRate> {
        // Recorded even if there is no sample, because Interests sent from now on measure from this arrival.
        self.last = Arrival { at: now, sent_at: delivery.sent_at };
        let before = self.before.remove(&delivery.segment)?;
        let delivered = flow.delivered.saturating_sub(delivery.delivered_at_send);
        let (arriving, sending) = (now.since(before.at), delivery.sent_at.since(before.sent_at));
        // The longer time: Data that arrive in a lump would otherwise give a rate above that of the path.
        Some(PacketRate::over(delivered, arriving.max(sending)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data_after, sent};

    /// Keeps the last sample.
    #[derive(Debug, Default)]
    struct Ear(RateSampler, Option<PacketRate>);

    impl CongestionController for Ear {
        fn window(&self) -> f64 {
            f64::INFINITY
        }

        fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, flow: &FlowView) {
            self.0.on_sent(sent, flow);
        }

        fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
            self.1 = self.0.sample(cx.now, delivery, flow);
        }
    }

    fn per_second(driver: &Driver<Ear>) -> f64 {
        driver.controller.1.expect("a sample").per_second()
    }

    #[test]
    fn a_rate_runs_from_the_last_arrival_before_the_interest() {
        let mut driver = Driver::of(Box::new(Ear::default()));
        for (at, segment) in [(5, 0), (6, 1), (7, 2)] {
            driver.handle(sent(at, segment));
        }
        driver.handle(data_after(45, 0, 3, Some(40)));
        assert_eq!(per_second(&driver), 25.0, "one from 5 to 45 ms");
        driver.handle(data_after(55, 1, 3, Some(49)));
        assert_eq!(per_second(&driver), 40.0, "two from 5 to 55 ms");
        driver.handle(sent(55, 3));
        driver.handle(data_after(65, 2, 4, Some(58)));
        driver.handle(data_after(105, 3, 4, Some(50)));
        assert_eq!(per_second(&driver), 40.0, "two from 55 to 105 ms");
    }

    #[test]
    fn arrivals_in_a_bunch_are_no_faster_than_their_interests() {
        let mut driver = Driver::of(Box::new(Ear::default()));
        driver.handle(sent(0, 0));
        driver.handle(sent(100, 1));
        driver.handle(data_after(120, 0, 2, Some(120)));
        driver.handle(sent(200, 2));
        driver.handle(data_after(220, 1, 3, Some(120)));
        driver.handle(data_after(221, 2, 3, Some(21)));
        // Segments 1 and 2 came since 120 ms, within 101 ms; their Interests left 200 ms after that of segment 0.
        assert_eq!(per_second(&driver), 10.0);
    }

    #[test]
    fn a_pause_with_nothing_under_way_does_not_count() {
        let mut driver = Driver::of(Box::new(Ear::default()));
        driver.handle(sent(0, 0));
        driver.handle(data_after(40, 0, 1, Some(40)));
        driver.handle(sent(1_000, 1));
        driver.handle(data_after(1_040, 1, 2, Some(40)));
        assert_eq!(per_second(&driver), 25.0);
        driver.handle(data_after(1_041, 7, 2, Some(40)));
        assert_eq!(driver.controller.1, None, "nobody told of its Interest");
    }
}
