//! The routers' half of §4.2: Interests take the face with the lowest metric.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_core::prelude::*;

use super::local_information::LocalInformation;
use super::messages::Metrics;
use crate::toolbox::forwarding::next_try::next_try;
use crate::toolbox::forwarding::retransmission_suppression::{Params as Suppression, Step};

/// Forwards to the cheapest face by the metrics of the controller, or by the FIB without metrics; a retransmission
/// tries the next one.
#[derive(Debug)]
pub(super) struct MetricStrategy {
    suppression: Suppression,
    local: Rc<RefCell<LocalInformation>>,
    /// Faces by prefix, the lowest metric first.
    ranked: BTreeMap<PrefixId, Vec<FaceId>>,
    /// Next hops as last recorded, so that an Interest costs one comparison.
    noted: BTreeMap<PrefixId, Vec<FaceId>>,
    /// Minimum time that a prefix stays on a face, even when directives arrive late.
    dwell: Span,
    moved: BTreeMap<PrefixId, Time>,
}

impl MetricStrategy {
    pub(super) fn new(suppression: Suppression, dwell: Span, local: Rc<RefCell<LocalInformation>>) -> Self {
        let (ranked, noted, moved) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { suppression, local, ranked, noted, dwell, moved }
    }

    fn note(&mut self, arrival: &Arrival<'_>) {
        let prefix = arrival.interest.name.prefix;
        let hops = || arrival.hops.iter().map(|hop| hop.face);
        let noted = self.noted.entry(prefix).or_default();
        // The controller needs the next hops only when they change.
        if !hops().eq(noted.iter().copied()) {
            noted.clear();
            noted.extend(hops());
            self.notify(prefix);
        }
    }

    /// Records the order in which next hops are used, for the report to the controller.
    fn notify(&self, prefix: PrefixId) {
        let (ranked, noted) = (self.ranked_of(prefix), self.noted.get(&prefix).map_or(&[][..], Vec::as_slice));
        let first = ranked.iter().filter(|face| noted.contains(face));
        let order = first.chain(noted.iter().filter(|face| !ranked.contains(face))).copied();
        self.local.borrow_mut().note_next_hops(prefix, order);
    }

    fn ranked_of(&self, prefix: PrefixId) -> &[FaceId] {
        self.ranked.get(&prefix).map_or(&[], Vec::as_slice)
    }

    /// Usable next hops, those with a metric first.
    fn in_order<'s>(
        &'s self,
        cx: &'s Context<'_>,
        arrival: &'s Arrival<'_>,
    ) -> impl Iterator<Item = FaceId> + 's {
        let ranked = self.ranked_of(arrival.interest.name.prefix);
        let usable = |face: &FaceId| arrival.usable(cx).any(|other| other == *face);
        let first = ranked.iter().copied().filter(usable);
        // Next hops that the controller did not rank remain usable, after all others.
        first.chain(arrival.usable(cx).filter(|face| !ranked.contains(face)))
    }
}

impl Strategy for MetricStrategy {
    fn acts_later(&self) -> bool {
        false
    }

    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        self.note(arrival);
        let (face, otherwise) = match self.suppression.step(cx.now, arrival.entry) {
            Step::Suppress => return Decision::Suppress,
            Step::First => (self.in_order(cx, arrival).next(), Decision::Nack(NackReason::NoRoute)),
            Step::Again => (next_try(arrival.entry, || self.in_order(cx, arrival)), Decision::Suppress),
        };
        let Some(face) = face else { return otherwise };
        arrival.forward(face);
        Decision::Forward
    }

    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        let Some(Metrics { prefix, costs }) = directive.get() else { return };
        let mut costs = costs.clone();
        costs.sort_by(|left, right| left.1.total_cmp(&right.1).then(left.0.cmp(&right.0)));
        let ranked: Vec<FaceId> = costs.iter().map(|(face, _)| *face).collect();
        let noted = self.noted.get(prefix).and_then(|hops| hops.first());
        let before = self.ranked.get(prefix).and_then(|faces| faces.first()).or(noted).copied();
        if let (Some(before), Some(after)) = (before, ranked.first().copied())
            && before != after
        {
            let is_early = self.moved.get(prefix).is_some_and(|at| cx.now.since(*at) < self.dwell);
            // A directive that was delayed must not shorten the stay of the prefix, but a face that is down
            // is left at once.
            if is_early && cx.faces.get(before.index()).is_some_and(|face| face.is_up()) {
                return;
            }
            self.moved.insert(*prefix, cx.now);
            let name = Name::whole(*prefix);
            cx.record(Event::PathMoved { name, from: before.0, to: after.0, cause: Cause("metric") });
        }
        self.ranked.insert(*prefix, ranked);
        self.notify(*prefix);
    }
}
