//! The strategy (`pcon-strategy.cpp`): splits the Interests of a prefix over its next hops by the marks on their
//! Data.

use std::collections::BTreeSet;

use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::forwarding::split_table::SplitTable;
use crate::toolbox::queue::face_mark;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct SplitStrategy {
    params: Params,
    splits: SplitTable,
    /// Pending Interests that joined a congested queue: their Data is marked.
    congested: BTreeSet<PitId>,
    /// Earliest time at which a Nack may change a split again.
    nacks_count_from: Time,
}

impl SplitStrategy {
    pub(super) fn new(params: Params, draws: Rng) -> Self {
        let splits = SplitTable::new(params.initial_split, draws);
        Self { params, splits, congested: BTreeSet::new(), nacks_count_from: Time::ZERO }
    }

    /// Records whether the queue that the Interest joins is congested.
    fn note_congestion(&mut self, cx: &mut Context<'_>, arrival: &Arrival<'_>, to: FaceId, is_pending: bool) {
        if !is_pending && !self.congested.is_empty() {
            // The number may belong to an entry that expired without Data.
            self.congested.remove(&arrival.pending);
        }
        // An Interest has no consumer to signal to, so the congestion of its queue is signalled on the Data
        // that it brings.
        if self.params.mark_pending && face_mark::take(cx, to, arrival.interest.name) {
            self.congested.insert(arrival.pending);
        }
    }

    /// Moves `change_per_mark` of the share of `from` to the others.
    fn shift_from(&mut self, from: FaceId, entry: &PitEntry) {
        if let Some(split) = self.splits.split_of(entry) {
            split.reduce(from, self.params.change_per_mark * split.share(from));
        }
    }
}

impl Strategy for SplitStrategy {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let chosen = match self.splits.choose(cx, arrival) {
            Ok(chosen) => chosen,
            Err(otherwise) => return otherwise,
        };
        self.note_congestion(cx, arrival, chosen.face, chosen.is_pending);
        arrival.targets.push(Target { face: chosen.face, fresh_nonce: chosen.is_pending });
        // One draw decides on next hop and probe, as in the source.
        if chosen.draw < self.params.probing {
            let others = self.splits.others(chosen.face);
            arrival.targets.extend(others.map(|face| Target { face, fresh_nonce: true }));
        }
        Decision::Forward
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
            // One pause for all prefixes, as in the source: Nacks come in bursts, and one of them shows the
            // congestion.
            self.nacks_count_from = cx.now + self.params.nack_pause;
            self.shift_from(from, entry);
        }
        entry.nack_decision()
    }

    /// Each next hop without Data counts, but all against the first of them, as in the source.
    fn on_expiry(&mut self, _: &mut Context<'_>, _: PitId, entry: &PitEntry) {
        let Some(first) = entry.out_records().next().map(|record| record.face) else { return };
        if let Some(split) = self.splits.split_of(entry) {
            entry.out_records().for_each(|_| split.reduce(first, self.params.change_per_expiry));
        }
    }

    fn straggler(&self) -> Span {
        self.params.straggler
    }
}
