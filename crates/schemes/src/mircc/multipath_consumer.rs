//! The consumer of several paths: the primary rate on the best one, the secondary rate on every other.
//!
//! Joining the n flows of a path takes its rate from C/n to C/(n + 1). Where another path offers something between the
//! two, elections never end if the margin m has (1 + m)² < (n + 1)/n; a margin of 0.42 is enough for every n.

use std::collections::BTreeMap;

use tidegate_core::congestion::{CongestionController, Delivery, FlowView, Pacing, Sent};
use tidegate_core::context::Context;
use tidegate_core::signal::{HopSignals, Signal};
use tidegate_core::units::{Span, Time};

use super::path_table::ANY;
use super::{PRIMARY, Params, SECONDARY};
use crate::toolbox::rate_follower::RateFollower;

/// Most paths that are used.
const MOST: usize = 16;
/// Round trips from one election to the next, at least.
const TERM: u64 = 2;

/// The controller.
#[derive(Debug)]
pub(super) struct MultipathConsumer {
    params: Params,
    /// Asks at the sum of all rates.
    follower: RateFollower,
    /// By label.
    paths: BTreeMap<u32, Path>,
    primary: Option<u32>,
    elected_at: Time,
    /// Interests that ought to have looked for new paths and did not yet.
    unexplored: f64,
}

/// Rates in thousandths of an Interest per second.
#[derive(Clone, Copy, Debug)]
struct Path {
    primary: u32,
    secondary: u32,
    heard_at: Time,
    /// What is missing to its share of the Interests sent, in Interests times the sum of all rates.
    credit: i64,
}

impl Path {
    /// The rate that it is used at.
    fn rate(&self, is_primary: bool) -> u32 {
        if is_primary { self.primary } else { self.secondary }
    }
}

impl MultipathConsumer {
    pub(super) fn new(params: Params, follower: RateFollower) -> Self {
        let (paths, elected_at) = (BTreeMap::new(), Time::ZERO);
        Self { params, follower, paths, primary: None, elected_at, unexplored: 0.0 }
    }

    /// Sum of the rates of all paths.
    fn total(&self) -> u64 {
        self.paths.iter().map(|(label, path)| u64::from(path.rate(self.primary == Some(*label)))).sum()
    }

    /// The path of the next Interest: each in proportion to its rate.
    fn next_path(&mut self) -> u32 {
        self.unexplored += self.params.exploring;
        if self.unexplored >= 1.0 {
            self.unexplored -= 1.0;
            return ANY;
        }
        let (total, primary) = (self.total() as i64, self.primary);
        for (label, path) in &mut self.paths {
            path.credit += i64::from(path.rate(primary == Some(*label)));
        }
        let most = self.paths.iter_mut().max_by_key(|(_, path)| path.credit);
        most.map_or(ANY, |(label, path)| {
            path.credit -= total;
            *label
        })
    }

    /// What the Data of a path says; paths without Data for long are forgotten.
    fn note(&mut self, now: Time, label: u32, primary: u32, secondary: u32) {
        let memory = self.params.memory;
        self.paths.retain(|other, path| *other == label || now.since(path.heard_at) <= memory);
        self.primary = self.primary.filter(|label| self.paths.contains_key(label));
        if self.paths.len() < MOST || self.paths.contains_key(&label) {
            let credit = self.paths.get(&label).map_or(0, |path| path.credit);
            self.paths.insert(label, Path { primary, secondary, heard_at: now, credit });
        }
    }

    /// The path with the highest primary rate becomes the primary one, if it is better by the margin and the last
    /// election is long enough ago.
    fn elect(&mut self, now: Time, rtt: Span) {
        let Some((best, rate)) =
            self.paths.iter().map(|(label, path)| (*label, path.primary)).max_by_key(|(_, rate)| *rate)
        else {
            return;
        };
        let is_due = match self.primary.and_then(|label| self.paths.get(&label)) {
            None => true,
            Some(path) => {
                let is_better = f64::from(rate) > f64::from(path.primary) * (1.0 + self.params.margin);
                is_better && now.since(self.elected_at) >= rtt * TERM
            }
        };
        if is_due {
            (self.primary, self.elected_at) = (Some(best), now);
        }
    }
}

impl CongestionController for MultipathConsumer {
    fn window(&self) -> f64 {
        self.follower.window()
    }

    fn pacing(&self) -> Pacing {
        self.follower.pacing()
    }

    fn on_sent(&mut self, cx: &mut Context<'_>, sent: &Sent, hop: &mut HopSignals, flow: &FlowView) {
        self.follower.on_sent(cx, sent, hop, flow);
        let path = self.next_path();
        let is_primary = self.primary.is_none_or(|primary| primary == path);
        hop.put(Signal::PathChoice, path);
        hop.put(Signal::FlowClass, if is_primary { PRIMARY } else { SECONDARY });
    }

    fn on_delivery(&mut self, cx: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        let on_data = |signal| delivery.hop.get(signal);
        let Some(primary) = on_data(Signal::StampingRate) else { return };
        match on_data(Signal::PathLabel) {
            Some(label) if label != ANY => {
                let secondary = on_data(Signal::StampingRateSecondary).unwrap_or_default();
                self.note(cx.now, label, primary, secondary);
                self.elect(cx.now, flow.smoothed_rtt.unwrap_or_default());
                self.follower.follow(u32::try_from(self.total()).unwrap_or(u32::MAX));
            }
            // Routers that know one rate and no paths, or a content store close by.
            _ if self.paths.is_empty() => self.follower.on_delivery(cx, delivery, flow),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::gate_bench::GateBench;
    use tidegate_core::params::{Settings, Value};
    use tidegate_core::units::ByteCount;

    /// A consumer without an Interest that looks for paths, at a node of its own.
    struct Bench {
        bench: GateBench,
        consumer: MultipathConsumer,
        flow: FlowView,
    }

    impl Bench {
        fn new(exploring: f64) -> Self {
            let given = [("exploring", Value::Number(exploring)), ("memory", Value::Text("1s".to_owned()))];
            let given = given.map(|(name, value)| (name.to_owned(), value)).to_vec();
            let params = Params::from_settings(&Settings(given)).expect("valid");
            let follower = RateFollower::new(params.start, params.first_rate);
            let flow = FlowView { smoothed_rtt: Some(Span::from_millis(50)), ..FlowView::default() };
            Self { bench: GateBench::new(), consumer: MultipathConsumer::new(params, follower), flow }
        }

        /// Label and class of the next Interest.
        fn send(&mut self) -> (u32, u32) {
            let mut hop = HopSignals::default();
            let (consumer, flow) = (&mut self.consumer, &self.flow);
            self.bench.at(0, |cx| {
                let sent = Sent { segment: 0, at: cx.now, is_retransmission: false };
                consumer.on_sent(cx, &sent, &mut hop, flow);
            });
            let on_interest = |signal| hop.get(signal).expect("written");
            (on_interest(Signal::PathChoice), on_interest(Signal::FlowClass))
        }

        /// Of the next `count` Interests, how many go by each label.
        fn count(&mut self, count: u32) -> BTreeMap<u32, u32> {
            let mut counts = BTreeMap::new();
            (0..count).for_each(|_| *counts.entry(self.send().0).or_default() += 1);
            counts
        }

        /// Data comes at `at_ms` by the path `label` with these Interests per second on it; the pace after it.
        fn hear(&mut self, at_ms: u64, label: Option<u32>, primary: u32, secondary: u32) -> Pacing {
            let mut hop = HopSignals::default();
            hop.put(Signal::StampingRate, primary * 1_000);
            hop.put(Signal::StampingRateSecondary, secondary * 1_000);
            label.map(|label| hop.put(Signal::PathLabel, label));
            let (consumer, flow) = (&mut self.consumer, &self.flow);
            self.bench.at(at_ms * 1_000, |cx| consumer.on_delivery(cx, &delivery(cx.now, hop), flow));
            consumer.pacing()
        }
    }

    fn delivery(now: Time, hop: HopSignals) -> Delivery {
        Delivery {
            segment: 0,
            size: ByteCount::new(1_100),
            rtt: None,
            full_delay: Span::ZERO,
            sent_at: now,
            retransmissions: 0,
            delivered_at_send: 0,
            in_flight_before: 1,
            mark: 0,
            hop,
            newly_acked: 1,
            newly_sacked: 0,
            newly_lost: 0,
        }
    }

    fn pace(per_second: u64) -> Pacing {
        Pacing::Gap(Span::from_nanos(1_000_000_000 / per_second))
    }

    #[test]
    fn the_first_interest_asks_for_any_path_and_the_best_path_is_used_at_its_primary_rate() {
        let mut bench = Bench::new(0.0);
        assert_eq!(bench.send(), (ANY, PRIMARY));
        assert_eq!(bench.hear(10, Some(7), 300, 200), pace(300));
        assert_eq!(bench.send(), (7, PRIMARY));
        assert_eq!(bench.hear(20, Some(9), 100, 50), pace(350), "the other one at its secondary rate");
        let sent = bench.count(700);
        assert_eq!(sent, BTreeMap::from([(7, 600), (9, 100)]));
        assert!((0..7).map(|_| bench.send()).all(|(label, class)| class == u32::from(label == 9)));
    }

    #[test]
    fn a_path_becomes_the_primary_one_by_a_margin_and_two_round_trips_after_the_last_election() {
        let mut bench = Bench::new(0.0);
        bench.hear(10, Some(7), 100, 30);
        bench.hear(20, Some(9), 200, 20);
        assert_eq!(bench.consumer.primary, Some(7), "too early");
        assert_eq!(bench.hear(110, Some(9), 110, 20), pace(120), "no better than by the margin");
        assert_eq!(bench.hear(110, Some(9), 125, 20), pace(155), "elected");
        assert_eq!(bench.consumer.primary, Some(9));
    }

    #[test]
    fn a_path_without_data_for_long_is_forgotten_and_its_place_as_primary_free() {
        let mut bench = Bench::new(0.0);
        bench.hear(0, Some(7), 500, 100);
        bench.hear(600, Some(9), 200, 50);
        assert_eq!(bench.hear(1_000, Some(9), 200, 50), pace(550));
        assert_eq!(bench.hear(1_001, Some(9), 200, 50), pace(200));
        assert_eq!(bench.count(10), BTreeMap::from([(9, 10)]));
    }

    #[test]
    fn a_part_of_the_interests_looks_for_paths_as_secondary_ones() {
        let mut bench = Bench::new(0.25);
        bench.hear(0, Some(7), 500, 100);
        assert_eq!(bench.count(100), BTreeMap::from([(ANY, 25), (7, 75)]));
        assert!((0..8).map(|_| bench.send()).all(|(label, class)| class == u32::from(label == ANY)));
    }

    #[test]
    fn more_paths_than_can_be_used_are_not_remembered() {
        let mut bench = Bench::new(0.0);
        (1..=20).for_each(|label| _ = bench.hear(0, Some(label), 10, 1));
        assert_eq!(bench.consumer.paths.len(), MOST);
    }

    #[test]
    fn data_without_a_label_counts_only_while_no_path_is_known() {
        let mut bench = Bench::new(0.0);
        assert_eq!(bench.hear(0, None, 40, 20), pace(40));
        assert_eq!(bench.hear(1, Some(7), 80, 10), pace(80));
        assert_eq!(bench.hear(2, None, 40, 20), pace(80));
    }
}
