use super::*;
use tidegate_testkit::gate_bench::GateBench;
use crate::mircc::{FLOW_CLASS, PATH_CHOICE, STAMPING_RATE_SECONDARY};
use crate::toolbox::forwarding::path_label::PATH_LABEL;

/// A consumer without an Interest that looks for paths, at a node of its own.
struct Bench {
    bench: GateBench,
    consumer: MultipathConsumer,
    flow: FlowView,
}

impl Bench {
    fn new(exploring: f64) -> Self {
        let given = [("exploring", Setting::Number(exploring)), ("memory", Setting::Text("1s".to_owned()))];
        let given = given.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let params = Params::from_settings(&Settings(given)).expect("valid");
        let follower = RateFollower::new(params.start, params.initial_rate);
        let mut flow = FlowView::default();
        flow.smoothed_rtt = Some(Span::from_millis(50));
        Self { bench: GateBench::new(), consumer: MultipathConsumer::new(params, follower), flow }
    }

    /// Label and class of the next Interest.
    fn send(&mut self) -> (u32, u32) {
        let mut hop = HopSignals::default();
        let (consumer, flow) = (&mut self.consumer, &self.flow);
        self.bench.at(0, |cx| {
            let sent = Sent::first(0, cx.now);
            consumer.on_sent(cx, &sent, &mut hop, flow);
        });
        let on_interest = |signal| hop.get(signal).expect("written");
        (on_interest(PATH_CHOICE), on_interest(FLOW_CLASS))
    }

    /// Of the next `count` Interests, how many go by each label.
    fn count(&mut self, count: u32) -> BTreeMap<u32, u32> {
        let mut counts = BTreeMap::new();
        (0..count).for_each(|_| *counts.entry(self.send().0).or_default() += 1);
        counts
    }

    /// Data comes at `at_ms` by the path `label` with these Interests per second on it; the pace after it.
    fn receive(&mut self, at_ms: u64, label: Option<u32>, primary: u32, secondary: u32) -> Pacing {
        let mut hop = HopSignals::default();
        hop.put(Signal::STAMPING_RATE, primary * 1_000);
        hop.put(STAMPING_RATE_SECONDARY, secondary * 1_000);
        label.map(|label| hop.put(PATH_LABEL, label));
        let (consumer, flow) = (&mut self.consumer, &self.flow);
        self.bench.at(at_ms * 1_000, |cx| consumer.on_delivery(cx, &delivery(cx.now, hop), flow));
        consumer.pacing()
    }
}

fn delivery(now: Time, hop: HopSignals) -> Delivery {
    Delivery::of_data(0, ByteCount::new(1_100), now, now).with_signals(hop).with_retransmissions(1)
}

fn pace(per_second: u64) -> Pacing {
    Pacing::Gap(Span::from_nanos(1_000_000_000 / per_second))
}

#[test]
fn the_first_interest_requests_any_path_and_the_best_path_is_used_at_its_primary_rate() {
    let mut bench = Bench::new(0.0);
    assert_eq!(bench.send(), (ANY, PRIMARY));
    assert_eq!(bench.receive(10, Some(7), 300, 200), pace(300));
    assert_eq!(bench.send(), (7, PRIMARY));
    assert_eq!(bench.receive(20, Some(9), 100, 50), pace(350), "the other one at its secondary rate");
    let sent = bench.count(700);
    assert_eq!(sent, BTreeMap::from([(7, 600), (9, 100)]));
    assert!((0..7).map(|_| bench.send()).all(|(label, class)| class == u32::from(label == 9)));
}

#[test]
fn a_path_becomes_the_primary_one_by_a_margin_and_two_round_trips_after_the_last_election() {
    let mut bench = Bench::new(0.0);
    bench.receive(10, Some(7), 100, 30);
    bench.receive(20, Some(9), 200, 20);
    assert_eq!(bench.consumer.primary, Some(7), "too early");
    assert_eq!(bench.receive(110, Some(9), 110, 20), pace(120), "no better than by the margin");
    assert_eq!(bench.receive(110, Some(9), 125, 20), pace(155), "elected");
    assert_eq!(bench.consumer.primary, Some(9));
}

#[test]
fn a_path_without_data_for_long_is_forgotten_and_its_place_as_primary_free() {
    let mut bench = Bench::new(0.0);
    bench.receive(0, Some(7), 500, 100);
    bench.receive(600, Some(9), 200, 50);
    assert_eq!(bench.receive(1_000, Some(9), 200, 50), pace(550));
    assert_eq!(bench.receive(1_001, Some(9), 200, 50), pace(200));
    assert_eq!(bench.count(10), BTreeMap::from([(9, 10)]));
}

#[test]
fn a_part_of_the_interests_looks_for_paths_as_secondary_ones() {
    let mut bench = Bench::new(0.25);
    bench.receive(0, Some(7), 500, 100);
    assert_eq!(bench.count(100), BTreeMap::from([(ANY, 25), (7, 75)]));
    assert!((0..8).map(|_| bench.send()).all(|(label, class)| class == u32::from(label == ANY)));
}

#[test]
fn more_paths_than_can_be_used_are_not_remembered() {
    let mut bench = Bench::new(0.0);
    (1..=20).for_each(|label| _ = bench.receive(0, Some(label), 10, 1));
    assert_eq!(bench.consumer.paths.len(), MAX_PATHS);
}

#[test]
fn data_without_a_label_counts_only_while_no_path_is_known() {
    let mut bench = Bench::new(0.0);
    assert_eq!(bench.receive(0, None, 40, 20), pace(40));
    assert_eq!(bench.receive(1, Some(7), 80, 10), pace(80));
    assert_eq!(bench.receive(2, None, 40, 20), pace(80));
}
