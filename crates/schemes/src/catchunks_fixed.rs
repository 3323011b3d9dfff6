//! ndnget's fixed pipeline: a number of fetchers, each of which requests its segment until it arrives.
//!
//! Paper: none; ndn-tools `PipelineInterestsFixed` and `DataFetcher`. A fetcher has no timer but the Interest's
//! lifetime and waits after a congestion Nack before it retransmits.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;
use tidegate_core::scheme::whole::Limit;

use crate::toolbox::timer::lifetime::LifetimeTimer;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "catchunks-fixed",
    summary: "ndnget's fixed pipeline: a fixed number of fetchers, each with exponential backoff after congestion Nacks",
    paper: "ndn-tools PipelineInterestsFixed and DataFetcher",
    provenance: Provenance::Source,
    deviations: &[
        "The backoff after congestion Nacks doubles, as intended by its authors; `wait_doubles = false` restores the \
         program of 2019, which loses the backoff with each Interest and always waits 1 ms.",
        "A Nack with the reason Duplicate is ignored; the program retransmits the Interest at once.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::NdnTools,
    consumer: Some(|settings| Ok(Box::new(Fetchers::new(Params::from_settings(settings)?)))),
    whole: Whole { limit: Some(Limit { why: "each fetcher requests one segment per RTT, and there is one unless `fetchers` is set", unless: &["fetchers"] }), ..Whole::ALONE },
    ..Scheme::NONE
};

params! {
    /// Number of fetchers, each with one outstanding Interest (`pipeline-size`, at most 1024 in the program).
    fetchers: u32 = 1, "count", 1..=1_024;
    /// Whether each congestion Nack for a segment doubles the backoff before its retransmission, from 1 ms to 10 s.
    wait_doubles: bool = true;
    /// When an Interest is considered lost: `lifetime`, when its lifetime ends; `estimator`, when the retransmission
    /// timeout of the consumer profile's RTT estimator expires.
    loss_timer: LifetimeTimer = LifetimeTimer::Lifetime;
}

/// Initial backoff after a congestion Nack.
const FIRST_WAIT: Span = Span::from_millis(1);
/// Maximum backoff after congestion Nacks (`MAX_CONGESTION_BACKOFF_TIME`).
const LONGEST_WAIT: Span = Span::from_secs(10);

#[derive(Debug)]
struct Fetchers {
    params: Params,
    /// Times until which segments are not requested again.
    waits: BTreeMap<u32, Time>,
    /// Wait of a segment at its next congestion Nack.
    next_waits: BTreeMap<u32, Span>,
    last_sent: Time,
}

impl Fetchers {
    fn new(params: Params) -> Self {
        Self { params, waits: BTreeMap::new(), next_waits: BTreeMap::new(), last_sent: Time::ZERO }
    }

    fn wait(&mut self, segment: u32, now: Time) {
        let next = self.next_waits.entry(segment).or_insert(FIRST_WAIT);
        // Before the doubling: the first wait is 1 ms.
        self.waits.insert(segment, now + *next);
        if self.params.wait_doubles {
            *next = (*next * 2).min(LONGEST_WAIT);
        }
    }

    /// Number of fetchers that do not wait.
    fn ready(&self) -> u32 {
        // A segment that waits occupies its fetcher, so fewer others may be requested.
        self.params.fetchers.saturating_sub(self.waits.len() as u32)
    }
}

impl CongestionController for Fetchers {
    fn window(&self) -> f64 {
        f64::from(self.ready().max(1))
    }

    /// No window is below 1, so when every fetcher waits, the pacing rate stops the consumer until one may continue.
    fn pacing(&self) -> Pacing {
        match self.next_wake() {
            Some(at) if self.ready() == 0 => Pacing::Gap(at.since(self.last_sent)),
            _ => Pacing::Unpaced,
        }
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, _: &mut HopSignals, _: &FlowView) {
        self.last_sent = sent.at;
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        self.waits.remove(&delivery.segment);
        // A fetcher takes the next segment with a fresh backoff.
        self.next_waits.remove(&delivery.segment);
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        // An Interest that is refused in the instant of sending stays outstanding until its timer expires.
        let is_instant = loss.sent_at == cx.now;
        if loss.signal == LossSignal::Nack(NackReason::Congestion) && !is_instant {
            self.wait(loss.segment, cx.now);
        }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &FlowView) {
        self.waits.retain(|_, until| *until > cx.now);
    }

    fn next_wake(&self) -> Option<Time> {
        self.waits.values().min().copied()
    }

    fn loss_timeout(&self, _: &Sent) -> Option<Span> {
        self.params.loss_timer.span()
    }

    fn holds_back(&self, segment: u32) -> bool {
        self.waits.contains_key(&segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::packet::NackReason::Congestion;
    use tidegate_core::scheme::congestion::LossSignal::{Expired, Nack};
    use tidegate_testkit::driver::Driver;
    use tidegate_testkit::gate_bench::GateBench;
    use tidegate_testkit::steps::{data, lost, marked, sent};

    fn fetchers(count: f64) -> Driver {
        Driver::new(&SCHEME, &[("fetchers", Setting::Number(count))])
    }

    fn wake(driver: &mut Driver, at_ms: u64) -> f64 {
        let flow = driver.flow;
        GateBench::new().at(at_ms * 1_000, |cx| driver.controller.on_wake(cx, &flow));
        driver.controller.window()
    }

    fn wakes_at(driver: &Driver) -> Option<u64> {
        driver.controller.next_wake().map(|at| at.as_nanos() / 1_000_000)
    }

    #[test]
    fn nothing_but_a_congestion_nack_takes_a_fetcher_away_until_its_wait_is_over() {
        let mut driver = fetchers(3.0);
        for event in [sent(0, 0), sent(0, 1), data(40, 0, 3), marked(40, 1, 4), lost(4_000, 2, 4, Expired)] {
            assert_eq!(driver.handle(event), 3.0, "{event:?}");
        }
        assert_eq!(driver.handle(lost(4_010, 3, 5, Nack(Congestion))), 2.0);
        let held = |driver: &Driver| [2, 3].map(|segment| driver.controller.holds_back(segment));
        assert_eq!(held(&driver), [false, true]);
        assert_eq!((wake(&mut driver, 4_010), held(&driver)), (2.0, [false, true]), "too early");
        assert_eq!((wake(&mut driver, 4_011), held(&driver)), (3.0, [false, false]));
    }

    #[test]
    fn waits_double_per_segment_and_end_with_its_data() {
        let mut driver = fetchers(2.0);
        for (at, until) in [(100, 101), (200, 202), (300, 304), (400, 408)] {
            driver.handle(lost(at, 0, 2, Nack(Congestion)));
            assert_eq!(wakes_at(&driver), Some(until));
            wake(&mut driver, until);
            assert_eq!(wakes_at(&driver), None);
        }
        driver.handle(lost(500, 1, 2, Nack(Congestion)));
        assert_eq!(wakes_at(&driver), Some(501), "another segment");
        driver.handle(lost(500, 0, 2, Nack(Congestion)));
        assert_eq!(driver.handle(data(505, 0, 2)), 1.0, "a late Data ends the wait");
        driver.handle(lost(600, 0, 2, Nack(Congestion)));
        assert_eq!(wake(&mut driver, 600), 1.0, "501 is over, 601 is not");
        assert_eq!(wakes_at(&driver), Some(601), "the Data has ended the doubling");
    }

    #[test]
    fn no_wait_is_longer_than_ten_seconds_and_without_doubling_than_one_millisecond() {
        for (doubles, longest) in [(true, 10_000), (false, 1)] {
            let mut driver = Driver::new(&SCHEME, &[("wait_doubles", Setting::Bool(doubles))]);
            for _ in 0..20 {
                driver.handle(lost(100, 0, 2, Nack(Congestion)));
            }
            assert_eq!(wakes_at(&driver), Some(100 + longest));
        }
    }

    #[test]
    fn when_all_wait_the_pace_bridges_the_time_from_the_last_interest() {
        let mut driver = fetchers(1.0);
        driver.handle(sent(90, 0));
        assert_eq!(driver.controller.pacing(), Pacing::Unpaced);
        assert_eq!(driver.handle(lost(100, 0, 1, Nack(Congestion))), 1.0);
        assert_eq!(driver.controller.pacing(), Pacing::Gap(Span::from_millis(11)));
        wake(&mut driver, 101);
        assert_eq!(driver.controller.pacing(), Pacing::Unpaced);
    }
}
