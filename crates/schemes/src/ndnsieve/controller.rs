//! §4.2: the controller moves what is mildly congested and leaves the rest to consumers.

use std::collections::BTreeMap;

use tidegate_core::control::{Directive, FaceLoad, NetworkController, Orders, Report};
use tidegate_core::event::Cause;
use tidegate_core::face::{FaceId, NodeId};
use tidegate_core::name::PrefixId;
use tidegate_core::units::{Span, Time};

use super::Params;
use super::gic::Gic;

/// Nodes on one path; a longer one is taken for a loop.
const MOST_HOPS: usize = 256;

/// Where a prefix was put at a router.
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
    /// When something was last moved at a router.
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

    /// `FindShuntNode`: along the way of the Data, the first router with a choice of upstream faces; and how many
    /// nodes were looked at.
    fn find_shunt(&self, from: NodeId, face: FaceId, prefix: PrefixId) -> (Option<NodeId>, u32) {
        let mut open: Vec<NodeId> = self.gic.neighbour(from, face).into_iter().collect();
        let mut seen = vec![from];
        let mut visited = 0;
        while let Some(node) = open.pop() {
            if seen.contains(&node) || !self.gic.is_router(node) || seen.len() > MOST_HOPS {
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
        let is_better = now_paid.is_none_or(|paid| price < paid * (1.0 - self.params.hysteresis));
        if Some(best) == current || !is_better || !self.may_move(now, shunt, prefix) {
            return;
        }
        orders.direct(shunt, Directive::Metrics { prefix, costs: costs.clone() });
        self.placed.insert((shunt, prefix), Placement { at: now, face: best, costs });
        self.moved.insert(shunt, now);
    }

    /// The anti-flap guard.
    fn may_move(&self, now: Time, shunt: NodeId, prefix: PrefixId) -> bool {
        let settled = |since: Option<&Time>, pause: Span| since.is_none_or(|since| now.since(*since) >= pause);
        let placed = self.placed.get(&(shunt, prefix)).map(|placement| &placement.at);
        settled(placed, self.params.dwell)
            && settled(self.moved.get(&shunt), self.params.poll * u64::from(self.params.hold))
    }

    /// The face on which a router sends a prefix, as far as is known.
    fn current(&self, node: NodeId, prefix: PrefixId) -> Option<FaceId> {
        let reported = self.gic.route(node, prefix);
        let placed = self.placed.get(&(node, prefix));
        match (placed, reported) {
            (Some(placed), Some((_, at))) if placed.at >= at => Some(placed.face),
            (_, Some((route, _))) => route.faces.first().copied(),
            (placed, None) => placed.map(|placed| placed.face),
        }
    }

    /// Eq. 3: the dearest link on the path through `face`, by the load of its Data direction.
    fn cost(&self, shunt: NodeId, face: FaceId, prefix: PrefixId) -> f64 {
        let (mut node, mut face) = (shunt, face);
        let mut worst: f64 = 0.0;
        for _ in 0..MOST_HOPS {
            let Some(beyond) = self.gic.neighbour(node, face) else { break };
            let back = self.gic.face_towards(beyond, node);
            if let Some(load) = back.and_then(|back| self.gic.load(beyond, back)) {
                worst = worst.max(metric(&load));
            }
            let Some(onward) = self.current(beyond, prefix) else { break };
            (node, face) = (beyond, onward);
        }
        worst
    }

    /// Metrics in force are sent again with every report of their router, since a directive may have been lost.
    fn refresh(&self, router: NodeId, orders: &mut Orders) {
        for ((node, prefix), placement) in self.placed.range((router, PrefixId(0))..) {
            if *node != router {
                break;
            }
            orders.direct(router, Directive::Metrics { prefix: *prefix, costs: placement.costs.clone() });
        }
    }

    /// Looks again at what is placed at `router`, whose loads are new.
    fn revise(&mut self, now: Time, router: NodeId, orders: &mut Orders) {
        let last = (NodeId(router.0.saturating_add(1)), PrefixId(0));
        let here: Vec<PrefixId> =
            self.placed.range((router, PrefixId(0))..last).map(|((_, prefix), _)| *prefix).collect();
        here.into_iter().for_each(|prefix| self.place(now, router, prefix, orders));
    }
}

/// Metric of one link (eq. 3): 0 up to 10·e times its utilisation.
fn metric(load: &FaceLoad) -> f64 {
    load.utilisation * 10.0 * load.occupancy.exp()
}

impl NetworkController for SieveController {
    fn on_report(&mut self, now: Time, from: NodeId, sent_at: Time, report: &Report, orders: &mut Orders) {
        match report {
            Report::Topology { ports, routes } => self.gic.learn(from, sent_at, ports, routes),
            Report::Links(loads) => {
                loads.iter().for_each(|load| self.gic.update(from, sent_at, load));
                self.revise(now, from, orders);
                self.refresh(from, orders);
            }
            Report::Congestion { load, prefixes } => {
                self.gic.update(from, sent_at, load);
                orders.count(Cause("filter"), 1);
                let known = self.gic.load(from, load.face).unwrap_or(*load);
                let Some((prefix, _)) = prefixes.first() else { return };
                if known.occupancy <= self.params.th2 {
                    self.relieve(now, from, load.face, *prefix, orders);
                }
            }
        }
    }
}
