//! A consumer that requests at the rate that routers stamp on Data.

use tidegate_core::prelude::*;

choice! {
    /// Sending rate of a flow before its first stamp.
    pub enum Start {
        /// One Interest, then none until a stamp arrives.
        Probe = "probe",
        /// Interests at a configured rate.
        Rate = "rate",
        /// Data at the rate of the fastest link of the consumer's node.
        Link = "link",
    }
}

/// Sends at the rate of the last stamp, whatever is lost; a stamp below one Interest a second counts as that.
#[derive(Debug)]
pub struct RateFollower {
    start: Start,
    /// Unpaced until there is a rate.
    pacing: Pacing,
}

/// Thousandths of an Interest per second times this many nanoseconds is one Interest.
const MILLI_NANOS: u64 = 1_000_000_000_000;
/// Lowest rate followed, in thousandths.
const LOWEST: u32 = 1_000;

impl RateFollower {
    /// A follower that starts by `start`; `first_per_second`, Interests per second, applies to [`Start::Rate`] only.
    pub fn new(start: Start, first_per_second: f64) -> Self {
        let pacing = match start {
            Start::Rate => Pacing::Gap(Span::from_secs_f64(1.0 / first_per_second)),
            Start::Probe | Start::Link => Pacing::Unpaced,
        };
        Self { start, pacing }
    }

    /// Sets the rate to `stamp`, thousandths of an Interest per second.
    pub fn follow(&mut self, stamp: u32) {
        self.pacing = Pacing::Gap(gap(stamp));
    }
}

/// Time between two Interests at `stamp` thousandths of an Interest per second.
pub fn gap(stamp: u32) -> Span {
    Span::from_nanos(MILLI_NANOS / u64::from(stamp.max(LOWEST)))
}

/// Incoming rate of the fastest link; `None` without a link.
fn link_rate(cx: &Context<'_>) -> Option<BitRate> {
    cx.faces.iter().filter(|face| !face.is_local()).map(|face| face.incoming_rate()).max()
}

impl CongestionController for RateFollower {
    fn window(&self) -> f64 {
        // Before the first stamp a window of one packet makes the probe; afterwards pacing alone limits the
        // flow.
        if self.pacing == Pacing::Unpaced { 1.0 } else { f64::INFINITY }
    }

    fn pacing(&self) -> Pacing {
        self.pacing
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, _: &Sent, _: &mut HopSignals, _: &FlowView) {
        // Faces are known only with a context, so the rate is set when the first Interest is sent and not in
        // `new`.
        if self.start == Start::Link && self.pacing == Pacing::Unpaced {
            self.pacing = link_rate(cx).map_or(Pacing::Unpaced, Pacing::Rate);
        }
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        if let Some(stamp) = delivery.hop.get(Signal::STAMPING_RATE) {
            self.follow(stamp);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scheme::congestion::LossSignal::Timeout;
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::steps::{data, lost, sent, stamped};

    static PROBE: Scheme =
        Scheme { consumer: Some(|_| Ok(Box::new(RateFollower::new(Start::Probe, 0.0)))), ..Scheme::NONE };
    static RATE: Scheme =
        Scheme { consumer: Some(|_| Ok(Box::new(RateFollower::new(Start::Rate, 250.0)))), ..Scheme::NONE };
    static LINK: Scheme =
        Scheme { consumer: Some(|_| Ok(Box::new(RateFollower::new(Start::Link, 0.0)))), ..Scheme::NONE };

    fn millis(gap: u64) -> Pacing {
        Pacing::Gap(Span::from_millis(gap))
    }

    #[test]
    fn a_probe_waits_for_the_first_stamp_and_then_follows_every_one() {
        let mut driver = Driver::new(&PROBE, &[]);
        assert_eq!(driver.handle(sent(0, 0)), 1.0);
        assert_eq!(driver.handle(data(40, 0, 1)), 1.0, "no stamp");
        for (at, stamp, gap) in [(80, 500_000, 2), (90, 100_000, 10), (100, 0, 1_000)] {
            assert_eq!(driver.handle(stamped(at, 1, 2, stamp)), f64::INFINITY);
            assert_eq!(driver.controller.pacing(), millis(gap), "stamp {stamp}");
        }
    }

    #[test]
    fn nothing_but_a_stamp_changes_the_rate() {
        let mut driver = Driver::new(&RATE, &[]);
        for event in [sent(0, 0), data(40, 0, 1), lost(90, 1, 2, Timeout)] {
            driver.handle(event);
            assert_eq!(driver.controller.pacing(), millis(4), "{event:?}");
        }
        driver.handle(stamped(100, 2, 3, 1_000_000));
        assert_eq!(driver.controller.pacing(), millis(1));
    }

    #[test]
    fn a_flow_may_start_at_the_rate_of_its_link() {
        let mut driver = Driver::new(&LINK, &[]);
        driver.handle(sent(0, 0));
        assert_eq!(driver.controller.pacing(), Pacing::Rate(BitRate::from_mbps(10.0)));
    }
}
