//! The controller (§4.2) moves mildly congested traffic and leaves severe congestion to consumers.

use std::collections::BTreeMap;

use tidegate_core::math;
use tidegate_core::prelude::*;
use crate::ndnsieve::messages::{FaceLoad, Metrics, Report};

use super::gic::Gic;
use super::Params;

/// Maximum number of nodes on one path; a longer one is assumed to be a loop.
const MAX_HOPS: usize = 256;

/// Traffic split of a prefix at a router.
#[derive(Debug)]
struct Placement {
    at: Time,
    face: FaceId,
    costs: Vec<(FaceId, f64)>,
}

/// The congestion status filter and the cost calculator.
#[derive(Debug)]
pub(super) struct SieveController {
    params: Params,
    gic: Gic,
    placed: BTreeMap<(NodeId, PrefixId), Placement>,
    /// Time of the last change at a router.
    moved: BTreeMap<NodeId, Time>,
}

impl SieveController {
    pub(super) fn new(params: Params) -> Self {
        Self { params, gic: Gic::default(), placed: BTreeMap::new(), moved: BTreeMap::new() }
    }

    /// Algorithm 1, for a signal that passed the filter.
    fn relieve(&mut self, now: Time, from: NodeId, face: FaceId, prefix: PrefixId, orders: &mut Orders) {
        let (shunt, visited) = self.find_shunt(from, face, prefix);
        orders.count(Cause("shunt"), visited);
        orders.count(Cause("calculator"), 1);
        if let Some(shunt) = shunt {
            self.place(now, shunt, prefix, orders);
        }
    }

    /// `FindShuntNode`: the first router on the path of the Data that has several upstream faces. Also returns the
    /// number of nodes visited.
    fn find_shunt(&self, from: NodeId, face: FaceId, prefix: PrefixId) -> (Option<NodeId>, u32) {
        let mut open: Vec<NodeId> = self.gic.neighbour(from, face).into_iter().collect();
        let mut seen = vec![from];
        let mut visited = 0;
        while let Some(node) = open.pop() {
            // Reports of different age may contain a loop of routes; a consumer has no FIB to change.
            if seen.contains(&node) || !self.gic.is_router(node) || seen.len() > MAX_HOPS {
                continue;
            }
            seen.push(node);
            visited += 1;
            if self.gic.upstream(node, prefix).len() >= 2 {
                return (Some(node), visited);
            }
            let down = self.gic.route(node, prefix).map_or(&[][..], |(route, _)| &route.downstream);
            // The lowest face is looked at first.
            open.extend(down.iter().rev().filter_map(|face| self.gic.neighbour(node, *face)));
        }
        (None, visited)
    }

    /// Puts the prefix on the cheapest path from `shunt`, if it may move now.
    fn place(&mut self, now: Time, shunt: NodeId, prefix: PrefixId, orders: &mut Orders) {
        let costs: Vec<(FaceId, f64)> = self
            .gic
            .upstream(shunt, prefix)
            .into_iter()
            .map(|face| (face, self.cost(shunt, face, prefix)))
            .collect();
        orders.count(Cause("switch"), costs.len() as u32);
        let cheapest = |left: &&(FaceId, f64), right: &&(FaceId, f64)| {
            left.1.total_cmp(&right.1).then(left.0.cmp(&right.0))
        };
        let Some(&(best, price)) = costs.iter().min_by(cheapest) else { return };
        let current = self.current(shunt, prefix);
        let now_paid = costs.iter().find(|(face, _)| Some(*face) == current).map(|(_, cost)| *cost);
        // An unknown current cost cannot be compared, so the cheapest path wins.
        let is_better = now_paid.is_none_or(|paid| price < paid * (1.0 - self.params.hysteresis));
        // Without the guard the idle path, whose cost is about 0, would win at every poll and traffic would
        // flap.
        if Some(best) == current || !is_better || !self.may_move(now, shunt, prefix) {
            return;
        }
        orders.direct(shunt, Metrics { prefix, costs: costs.clone() });
        self.placed.insert((shunt, prefix), Placement { at: now, face: best, costs });
        self.moved.insert(shunt, now);
    }

    /// Whether the anti-flap guard permits another placement of the prefix.
    fn may_move(&self, now: Time, shunt: NodeId, prefix: PrefixId) -> bool {
        let settled = |since: Option<&Time>, pause: Span| since.is_none_or(|since| now.since(*since) >= pause);
        let placed = self.placed.get(&(shunt, prefix)).map(|placement| &placement.at);
        // The first keeps one prefix in place; the second waits until reports show the effect of the last
        // move.
        settled(placed, self.params.dwell)
            && settled(self.moved.get(&shunt), self.params.poll * u64::from(self.params.hold))
    }

    /// The face by which a router sends a prefix; `None` if it is unknown.
    fn current(&self, node: NodeId, prefix: PrefixId) -> Option<FaceId> {
        let reported = self.gic.route(node, prefix);
        let placed = self.placed.get(&(node, prefix));
        match (placed, reported) {
            // A report sent before the directive still shows the old face.
            (Some(placed), Some((_, at))) if placed.at >= at => Some(placed.face),
            (_, Some((route, _))) => route.faces.first().copied(),
            (placed, None) => placed.map(|placed| placed.face),
        }
    }

    /// Cost of the path through `face` (eq. 3): that of its most expensive link, by the load in the direction of
    /// Data.
    fn cost(&self, shunt: NodeId, face: FaceId, prefix: PrefixId) -> f64 {
        let (mut node, mut face) = (shunt, face);
        let mut worst: f64 = 0.0;
        for _ in 0..MAX_HOPS {
            // Where the topology is unknown the path ends; links that were found still count.
            let Some((beyond, back)) = self.gic.far_end(node, face) else { break };
            if let Some(load) = back.and_then(|back| self.gic.load(beyond, back)) {
                worst = worst.max(metric(&load));
            }
            let Some(onward) = self.current(beyond, prefix) else { break };
            (node, face) = (beyond, onward);
        }
        worst
    }

    /// Repeats the metrics in force with every report of their router, because a directive may have been lost.
    fn refresh(&self, router: NodeId, orders: &mut Orders) {
        for ((node, prefix), placement) in self.placed.range((router, PrefixId(0))..) {
            if *node != router {
                break;
            }
            orders.direct(router, Metrics { prefix: *prefix, costs: placement.costs.clone() });
        }
    }

    /// Revises the splits of `router` after new loads.
    fn revise(&mut self, now: Time, router: NodeId, orders: &mut Orders) {
        let last = (NodeId(router.0.saturating_add(1)), PrefixId(0));
        let here: Vec<PrefixId> =
            self.placed.range((router, PrefixId(0))..last).map(|((_, prefix), _)| *prefix).collect();
        here.into_iter().for_each(|prefix| self.place(now, router, prefix, orders));
    }
}

/// Metric of one link (eq. 3): 0 up to 10·e times its utilisation.
fn metric(load: &FaceLoad) -> f64 {
    load.utilisation * 10.0 * math::exp(load.occupancy)
}

impl NetworkController for SieveController {
    fn on_report(&mut self, now: Time, from: NodeId, sent_at: Time, report: &dyn Message, orders: &mut Orders) {
        match report.get() {
            Some(Report::Topology { ports, routes }) => self.gic.learn(from, sent_at, ports, routes),
            Some(Report::Links(loads)) => {
                loads.iter().for_each(|load| self.gic.update(from, sent_at, load));
                self.revise(now, from, orders);
                self.refresh(from, orders);
            }
            Some(Report::Congestion { load, prefixes }) => {
                self.gic.update(from, sent_at, load);
                orders.count(Cause("filter"), 1);
                // The paper filters by the occupancy in the cache, which may be newer than this signal.
                let known = self.gic.load(from, load.face).unwrap_or(*load);
                let Some((prefix, _)) = prefixes.first() else { return };
                // Severe congestion is left to consumers, who see marks: this is the sieve.
                if known.occupancy <= self.params.th2 {
                    self.relieve(now, from, load.face, *prefix, orders);
                }
            }
            // A report of another scheme.
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndnsieve::messages::{Port, Route};

    const PREFIX: PrefixId = PrefixId(1);
    /// R1 with a consumer below and R2 and R3 above, each with a producer that does not report.
    const R1: NodeId = NodeId(1);
    const R2: NodeId = NodeId(2);
    const R3: NodeId = NodeId(3);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn topology(neighbours: &[u32], up: &[u16]) -> Report {
        let port = |(face, neighbour): (usize, &u32)| Port {
            face: FaceId(face as u16),
            neighbour: Some(NodeId(*neighbour)),
            rate: BitRate::from_mbps(10.0),
            delay: Span::ZERO,
            is_up: true,
        };
        let faces = up.iter().map(|face| FaceId(*face)).collect();
        let route = Route { prefix: PREFIX, faces, downstream: vec![FaceId(0)] };
        Report::Topology { ports: neighbours.iter().enumerate().map(port).collect(), routes: vec![route] }
    }

    fn load(utilisation: f64, occupancy: f64) -> FaceLoad {
        FaceLoad { face: FaceId(0), utilisation, occupancy }
    }

    fn signal(utilisation: f64, occupancy: f64) -> Report {
        let prefixes = vec![(PREFIX, ByteCount::new(1))];
        Report::Congestion { load: load(utilisation, occupancy), prefixes }
    }

    /// A controller that knows the network, and what it ordered.
    struct Bench {
        controller: SieveController,
        orders: Orders,
    }

    impl Bench {
        fn new(given: &[(&str, Setting)]) -> Self {
            let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let params = Params::from_settings(&Settings(given)).expect("valid");
            let mut bench = Self { controller: SieveController::new(params), orders: Orders::default() };
            for (node, report) in [
                (R1, topology(&[9, 2, 3], &[1, 2])),
                (R2, topology(&[1, 7], &[1])),
                (R3, topology(&[1, 8], &[1])),
            ] {
                bench.receive(0, node, 0, &report);
            }
            bench
        }

        fn receive(&mut self, now_ms: u64, from: NodeId, sent_ms: u64, report: &Report) {
            self.controller.on_report(at(now_ms), from, at(sent_ms), report, &mut self.orders);
        }

        /// Orders since the last call.
        fn ordered(&mut self) -> Vec<(NodeId, Vec<(FaceId, f64)>)> {
            let costs = |(node, directive): (NodeId, Box<dyn Message>)| {
                (node, directive.get::<Metrics>().expect("this controller sends nothing else").costs.clone())
            };
            self.orders.directives.drain(..).map(costs).collect()
        }
    }

    #[test]
    fn mild_congestion_moves_the_prefix_at_the_first_router_with_a_choice() {
        let mut bench = Bench::new(&[]);
        bench.receive(100, R2, 99, &signal(0.95, 0.1));
        // eq. 3: 0.95 * 10 * e^0.1; nothing is known of the other path's load.
        let expected = vec![(FaceId(1), 9.5 * 0.1_f64.exp()), (FaceId(2), 0.0)];
        assert_eq!(bench.ordered(), [(R1, expected)]);
        let counted: Vec<(&str, u32)> = bench.orders.work.iter().map(|(part, n)| (part.0, *n)).collect();
        assert_eq!(counted, [("filter", 1), ("shunt", 1), ("calculator", 1), ("switch", 2)]);
    }

    #[test]
    fn severe_congestion_is_left_to_the_consumers() {
        let mut bench = Bench::new(&[]);
        bench.receive(100, R2, 99, &signal(0.95, 0.11));
        assert_eq!(bench.ordered(), []);
    }

    #[test]
    fn the_filter_prefers_what_is_newer() {
        let mut bench = Bench::new(&[]);
        bench.receive(100, R2, 90, &Report::Links(vec![load(1.0, 0.5)]));
        bench.receive(101, R2, 80, &signal(0.95, 0.0));
        assert_eq!(bench.ordered(), []);
        bench.receive(102, R2, 95, &signal(0.95, 0.0));
        assert_eq!(bench.ordered().len(), 1);
    }

    #[test]
    fn parallel_links_have_loads_of_their_own() {
        let mut bench = Bench::new(&[]);
        bench.receive(10, R1, 10, &topology(&[9, 2, 2], &[1, 2]));
        bench.receive(10, R2, 10, &topology(&[1, 1, 7], &[2]));
        let busy = FaceLoad { face: FaceId(1), ..load(0.3, 0.0) };
        bench.receive(50, R2, 49, &Report::Links(vec![busy]));
        bench.receive(100, R2, 99, &signal(1.0, 0.0));
        assert_eq!(bench.ordered(), [(R1, vec![(FaceId(1), 10.0), (FaceId(2), 3.0)])]);
    }

    #[test]
    fn a_signal_from_the_last_link_finds_no_choice() {
        let mut bench = Bench::new(&[]);
        bench.receive(100, R1, 99, &signal(1.0, 0.0));
        assert_eq!(bench.ordered(), []);
    }

    #[test]
    fn a_prefix_stays_for_the_dwell_time_and_its_metrics_are_reported_again() {
        let mut bench = Bench::new(&[]);
        bench.receive(100, R2, 99, &signal(1.0, 0.0));
        let notified = bench.ordered();
        bench.receive(600, R2, 599, &Report::Links(vec![load(0.0, 0.0)]));
        bench.receive(3000, R3, 2999, &signal(1.0, 0.0));
        assert_eq!(bench.ordered(), []);
        bench.receive(3500, R1, 3499, &Report::Links(Vec::new()));
        assert_eq!(bench.ordered(), notified, "told again, and no other");
        bench.receive(5100, R3, 5099, &signal(1.0, 0.0));
        assert_eq!(bench.ordered(), [(R1, vec![(FaceId(1), 0.0), (FaceId(2), 10.0)])]);
    }

    #[test]
    fn another_path_must_be_cheaper_by_the_hysteresis() {
        for (other, moves) in [(0.6, 0), (0.4, 1)] {
            let mut bench = Bench::new(&[("hysteresis", Setting::Number(0.5))]);
            bench.receive(50, R3, 49, &Report::Links(vec![load(other, 0.0)]));
            bench.receive(100, R2, 99, &signal(1.0, 0.0));
            assert_eq!(bench.ordered().len(), moves, "{other}");
        }
    }

    #[test]
    fn a_router_is_left_alone_for_some_polls_after_a_move() {
        let mut bench = Bench::new(&[("dwell", Setting::Text("0s".into())), ("hysteresis", Setting::Number(0.0))]);
        bench.receive(100, R2, 99, &signal(1.0, 0.0));
        assert_eq!(bench.ordered().len(), 1);
        bench.receive(200, R2, 199, &Report::Links(vec![load(0.0, 0.0)]));
        for (now, moves) in [(1099, 0), (1100, 1)] {
            bench.receive(now, R3, now - 1, &signal(1.0, 0.0));
            assert_eq!(bench.ordered().len(), moves, "{now} ms");
        }
    }
}
