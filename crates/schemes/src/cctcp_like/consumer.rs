//! The consumer: every Interest counts for the source that is expected to satisfy it.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::source::Source;
use super::Params;
use crate::toolbox::reaction::congestion_loss::is_congestion;
use crate::cctcp_like::{ROUTER_ID, TIMESTAMP_ECHO};

/// Source before the first Data with a source label.
const NOBODY: u32 = 0;
/// Maximum number of sources of a flow.
const MAX: usize = 1_024;

#[derive(Debug)]
pub(super) struct CctcpConsumer {
    params: Params,
    sources: BTreeMap<u32, Source>,
    /// The source of the last Data, which the next Interests count for.
    current: u32,
    /// Outstanding Interests by segment.
    outstanding: BTreeMap<u32, Requested>,
    received: u64,
}

/// Source and deadline of an outstanding Interest.
#[derive(Clone, Copy, Debug)]
struct Requested {
    source: u32,
    at: Time,
    /// Last instant at which it does not count as lost.
    deadline: Time,
}

impl CctcpConsumer {
    pub(super) fn new(params: Params) -> Self {
        let sources = BTreeMap::from([(NOBODY, Source::new(&params))]);
        Self { params, sources, current: NOBODY, outstanding: BTreeMap::new(), received: 0 }
    }

    fn timeout_of(&self, source: u32) -> Span {
        self.sources.get(&source).map_or(Span::from_secs(1), Source::timeout)
    }

    /// Removes the outstanding Interest of a segment.
    fn take(&mut self, segment: u32) -> Option<Requested> {
        let requested = self.outstanding.remove(&segment)?;
        if let Some(source) = self.sources.get_mut(&requested.source) {
            source.outstanding -= 1;
        }
        Some(requested)
    }

    /// Returns the source `id`, which may be new. At the maximum number of sources, the one without outstanding
    /// Interests that was silent for longest is removed.
    fn source(&mut self, id: u32) -> &mut Source {
        if self.sources.len() >= MAX && !self.sources.contains_key(&id) {
            let idle = self.sources.iter().filter(|(_, source)| source.outstanding == 0);
            let oldest = idle.min_by_key(|(_, source)| source.received).map(|(id, _)| *id);
            oldest.and_then(|oldest| self.sources.remove(&oldest));
        }
        self.sources.entry(id).or_insert_with(|| Source::new(&self.params))
    }

    /// RTT from the last or the first transmission, depending on which one the timestamp of the Data belongs to;
    /// `None` if neither.
    fn round_trip(&self, now: Time, delivery: &Delivery) -> Option<Span> {
        if delivery.rtt.is_some() || !self.params.timestamps {
            return delivery.rtt;
        }
        // The timestamp decides which transmission the Data belongs to; another value, such as that of
        // another consumer, gives no sample.
        let echo = delivery.hop.get(TIMESTAMP_ECHO)?;
        let since_last = now.since(delivery.sent_at);
        let first_at = Time::from_nanos(now.as_nanos().saturating_sub(delivery.full_delay.as_nanos()));
        match echo {
            _ if echo == stamp(delivery.sent_at) => Some(since_last),
            _ if echo == stamp(first_at) => Some(delivery.full_delay),
            _ => None,
        }
    }

    /// Removes and returns the Interests lost with `loss`: of all that time out together, only one is reported.
    fn lost_with(&mut self, now: Time, loss: &Loss) -> Vec<Requested> {
        let is_lost = |(segment, requested): &(&u32, &Requested)| **segment == loss.segment || requested.deadline < now;
        let lost: Vec<u32> = self.outstanding.iter().filter(is_lost).map(|(segment, _)| *segment).collect();
        lost.into_iter().filter_map(|segment| self.take(segment)).collect()
    }
}

/// A time as an Interest carries it, in microseconds; it wraps every 71 minutes.
fn stamp(at: Time) -> u32 {
    (at.as_nanos() / 1_000) as u32
}

impl CongestionController for CctcpConsumer {
    /// Interests to other sources do not count against the source that is expected to return the next Data.
    fn window(&self) -> f64 {
        let Some(source) = self.sources.get(&self.current) else { return 1.0 };
        // `outstanding` of a source never exceeds the size of the map: `take` lowers both.
        let elsewhere = self.outstanding.len() as u32 - source.outstanding;
        f64::from(elsewhere) + source.window()
    }

    fn on_sent(&mut self, _: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, _: &FlowView) {
        if self.params.timestamps {
            hop.put(TIMESTAMP_ECHO, stamp(sent.at));
        }
        // A retransmission moves from the source that returned no Data to the one expected now.
        self.take(sent.segment);
        let source = self.current;
        let requested = Requested { source, at: sent.at, deadline: sent.at + self.timeout_of(source) };
        self.outstanding.insert(sent.segment, requested);
        self.source(source).outstanding += 1;
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, _: &FlowView) {
        self.take(delivery.segment);
        let signed = delivery.hop.get(ROUTER_ID).filter(|_| self.params.per_source);
        let id = signed.unwrap_or(NOBODY);
        let round_trip = self.round_trip(cx.now, delivery);
        self.received += 1;
        let received = self.received;
        // Data counts for the node that returned it, not for the one that was expected.
        let source = self.source(id);
        source.received = received;
        source.deliver(cx.now, round_trip);
        self.current = id;
    }

    fn on_loss(&mut self, cx: &mut Context<'_>, loss: &Loss, _: &FlowView) {
        if !is_congestion(loss.signal) {
            // An Interest without a route is given up; one refused as a duplicate stays outstanding.
            if loss.signal == LossSignal::Nack(NackReason::NoRoute) {
                self.take(loss.segment);
            }
            return;
        }
        // An Interest stays outstanding after a loss notice, and when it was refused in the instant of
        // sending.
        let stays = loss.signal == LossSignal::Notice || loss.sent_at == cx.now;
        let lost = match self.outstanding.get(&loss.segment) {
            Some(requested) if stays => vec![*requested],
            _ => self.lost_with(cx.now, loss),
        };
        for requested in lost {
            if let Some(source) = self.sources.get_mut(&requested.source) {
                source.lose(cx.now, requested.at);
            }
        }
    }

    fn ssthresh(&self) -> Option<f64> {
        self.sources.get(&self.current).map(Source::ssthresh)
    }

    fn loss_timeout(&self, sent: &Sent) -> Option<Span> {
        let source = self.outstanding.get(&sent.segment).map_or(self.current, |requested| requested.source);
        Some(self.timeout_of(source))
    }
}

#[cfg(test)]
mod tests {
    use super::super::SCHEME;
    use super::*;
    use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate};
    use tidegate_core::scheme::congestion::LossSignal::{Nack, Notice, Timeout};
    use tidegate_testkit::driver::{Driver, DriverEvent, DriverEventKind};
    use tidegate_testkit::steps::{follow, lost, sent};

    /// A Data from this node, `rtt_ms` after its Interest (`None`: sent again, 40 ms ago and first 120 ms ago), with
    /// this time on it.
    fn from(node: u32, at_ms: u64, segment: u32, rtt_ms: Option<u64>, echo_ms: Option<u64>) -> DriverEvent {
        let mut hop = HopSignals::default();
        hop.put(ROUTER_ID, node);
        echo_ms.map(|echo_ms| hop.put(TIMESTAMP_ECHO, echo_ms as u32 * 1_000));
        let kind = DriverEventKind::Data { segment, hop, rtt: rtt_ms.map(Span::from_millis) };
        DriverEvent { at: Time::ZERO + Span::from_millis(at_ms), next_segment: 20, kind }
    }

    fn timeout_ms(driver: &Driver) -> f64 {
        let sent = Sent::first(99, Time::ZERO);
        driver.controller.loss_timeout(&sent).expect("its own").as_millis_f64()
    }

    #[test]
    fn each_source_has_a_window_of_its_own_in_the_worked_case() {
        // The window is that of the last source and what is outstanding elsewhere. Data of 5 is first: 1 + 1.
        // With two outstanding there, 9 satisfies one: 1 + 2. 5 satisfies one: 2 + 1, none elsewhere. 3 and 4 time
        // out together: half of 3 is 1.5, W = 1. 9 goes on at 2 + 1; of 5 then 1 + 1, and 2 + 1/2 above 1.5.
        let steps = [
            (sent(0, 0), 1.0),
            (from(5, 40, 0, Some(40), None), 2.0),
            (sent(40, 1), 2.0),
            (sent(40, 2), 2.0),
            (from(9, 80, 1, Some(40), None), 3.0),
            (from(5, 81, 2, Some(40), None), 3.0),
            (sent(90, 3), 3.0),
            (sent(90, 4), 3.0),
            (lost(300, 4, 20, Timeout), 1.0),
            (from(9, 310, 3, None, None), 3.0),
            (from(5, 320, 4, None, None), 2.0),
            (from(5, 330, 5, Some(40), None), 2.5),
        ];
        follow(&mut Driver::new(&SCHEME, &[]), &steps);
        let alone = [(sent(0, 0), 1.0), (from(5, 40, 0, None, None), 2.0), (from(9, 50, 1, None, None), 3.0)];
        follow(&mut Driver::new(&SCHEME, &[("per_source", Setting::Bool(false))]), &alone);
    }

    #[test]
    fn what_left_before_a_decrease_causes_no_other_and_what_stays_outstanding_still_counts() {
        let mut driver = Driver::new(&SCHEME, &[("initial_window", Setting::Number(8.0))]);
        for segment in 0..4 {
            driver.handle(sent(0, segment));
        }
        assert_eq!(driver.handle(lost(100, 0, 20, Notice)), 8.0);
        assert_eq!(driver.controller.ssthresh(), Some(4.0));
        driver.handle(lost(110, 1, 20, Nack(Congestion)));
        driver.handle(lost(111, 2, 20, Nack(Duplicate)));
        assert_eq!(driver.controller.ssthresh(), Some(4.0));
        assert_eq!(timeout_ms(&driver), 2_000.0, "backed off once");
        // 0, 2 and 3 are outstanding for nobody, when 7 returns Data for the first time.
        assert_eq!(driver.handle(from(7, 120, 3, None, None)), 2.0 + 9.0);
    }

    #[test]
    fn each_source_has_a_timer_of_its_own() {
        let mut driver = Driver::new(&SCHEME, &[]);
        driver.handle(from(5, 200, 0, Some(200), None));
        assert_eq!(timeout_ms(&driver), 600.0);
        driver.handle(from(9, 210, 1, Some(40), None));
        assert_eq!(timeout_ms(&driver), 200.0, "the floor, above 40 + 4 * 20");
        driver.handle(from(5, 220, 2, None, None));
        assert_eq!(timeout_ms(&driver), 600.0);
    }

    #[test]
    fn a_time_on_the_data_gives_the_round_trip_of_what_was_sent_again() {
        // Sent again 40 ms ago, first 120 ms ago: 40 + 4 * 20 under the floor, 120 + 4 * 60, or nothing.
        for (echo_ms, expected) in [(960, 200.0), (880, 360.0), (900, 1_000.0)] {
            let timeout = |given: &[(&str, Setting)]| {
                let mut driver = Driver::new(&SCHEME, given);
                driver.handle(from(5, 1_000, 0, None, Some(echo_ms)));
                timeout_ms(&driver)
            };
            assert_eq!(timeout(&[]), expected, "{echo_ms}");
            assert_eq!(timeout(&[("timestamps", Setting::Bool(false))]), 1_000.0);
        }
    }

    #[test]
    fn no_more_sources_than_a_thousand_are_remembered() {
        let mut driver = Driver::new(&SCHEME, &[]);
        let windows: Vec<f64> = (0..3_000).map(|node| driver.handle(from(node, 100, 0, None, None))).collect();
        assert!(windows.iter().all(|window| *window == 2.0));
        assert_eq!(driver.handle(from(2_999, 100, 0, None, None)), 3.0);
        assert_eq!(driver.handle(from(1, 100, 0, None, None)), 2.0, "forgotten");
    }
}
