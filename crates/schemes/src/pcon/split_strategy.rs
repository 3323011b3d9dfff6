//! The strategy (`pcon-strategy.cpp`): splits a prefix' Interests over its next hops by the marks that come back.
//!
//! A prefix is that of the names asked for, which in a simulation is the FIB's.

use std::collections::{BTreeMap, BTreeSet};

use tidegate_core::context::Context;
use tidegate_core::face::FaceId;
use tidegate_core::name::PrefixId;
use tidegate_core::packet::{Header, NackReason};
use tidegate_core::pit::{PitEntry, PitId};
use tidegate_core::rng::Rng;
use tidegate_core::strategy::{Arrival, Decision, NackDecision, Strategy, Target};
use tidegate_core::units::{Span, Time};

use super::Params;
use crate::toolbox::face_mark;
use crate::toolbox::split_ratios::SplitRatios;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct SplitStrategy {
    params: Params,
    draws: Rng,
    splits: BTreeMap<PrefixId, SplitRatios>,
    /// Pending Interests that joined a congested queue: their Data is marked.
    congested: BTreeSet<PitId>,
    /// From when on a Nack may change a split again.
    nacks_count_from: Time,
    /// Kept between Interests for its memory alone.
    usable: Vec<FaceId>,
}

impl SplitStrategy {
    pub(super) fn new(params: Params, draws: Rng) -> Self {
        Self {
            params,
            draws,
            splits: BTreeMap::new(),
            congested: BTreeSet::new(),
            nacks_count_from: Time::ZERO,
            usable: Vec::new(),
        }
    }

    /// Sends the Interest by the split and, if the draw says so, probes to every other next hop.
    fn forward(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>, fresh_nonce: bool) -> bool {
        let name = arrival.interest.name;
        let initial = self.params.initial_split;
        let split =
            self.splits.entry(name.prefix).or_insert_with(|| SplitRatios::new(arrival.hops, initial));
        split.follow(arrival.hops);
        // One draw decides both, as in the source.
        let draw = self.draws.uniform();
        let Some(chosen) = split.choose(&self.usable, draw) else { return false };
        if self.params.mark_pending && face_mark::take(cx, chosen, name) {
            self.congested.insert(arrival.pending);
        }
        arrival.targets.push(Target { face: chosen, fresh_nonce });
        if draw < self.params.probing {
            let others = self.usable.iter().filter(|face| **face != chosen);
            arrival.targets.extend(others.map(|face| Target { face: *face, fresh_nonce: true }));
        }
        true
    }

    /// Moves `change_per_mark` of the share of `from` to the others.
    fn shift_from(&mut self, from: FaceId, entry: &PitEntry) {
        if let Some(split) = self.splits.get_mut(&entry.name().prefix) {
            split.reduce(from, self.params.change_per_mark * split.share(from));
        }
    }
}

impl Strategy for SplitStrategy {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let is_pending = arrival.entry.out_records().next().is_some();
        if is_pending && !arrival.is_repeated {
            return Decision::Suppress;
        }
        if !is_pending && !self.congested.is_empty() {
            // The number may have belonged to an entry that ended by itself.
            self.congested.remove(&arrival.pending);
        }
        self.usable.clear();
        self.usable.extend(arrival.usable(cx));
        match (self.forward(cx, arrival, is_pending), is_pending) {
            (true, _) => Decision::Forward,
            (false, true) => Decision::Suppress,
            (false, false) => Decision::Nack(NackReason::NoRoute),
        }
    }

    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        data: &mut Header,
        from: FaceId,
        pending: PitId,
        entry: &PitEntry,
    ) {
        if data.hop.mark > 0 && !cx.face(from).is_local() {
            self.shift_from(from, entry);
        }
        if !self.congested.is_empty() && self.congested.remove(&pending) {
            data.hop.raise_mark(1);
        }
    }

    fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, to: FaceId) {
        face_mark::mark_for(cx, data, to);
    }

    fn on_nack(
        &mut self,
        cx: &mut Context<'_>,
        reason: NackReason,
        from: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) -> NackDecision {
        if reason == NackReason::Congestion && cx.now >= self.nacks_count_from {
            self.nacks_count_from = cx.now + self.params.nack_pause;
            self.shift_from(from, entry);
        }
        entry.nack_decision()
    }

    /// Each unanswered next hop counts, but all against the first of them, as in the source.
    fn on_expiry(&mut self, _: &mut Context<'_>, _: PitId, entry: &PitEntry) {
        let Some(first) = entry.out_records().next().map(|record| record.face) else { return };
        if let Some(split) = self.splits.get_mut(&entry.name().prefix) {
            entry.out_records().for_each(|_| split.reduce(first, self.params.change_per_expiry));
        }
    }

    fn straggler(&self) -> Span {
        self.params.straggler
    }
}
