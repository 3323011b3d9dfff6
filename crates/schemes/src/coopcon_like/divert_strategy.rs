//! The strategy: all Interests go to the best next hop until it sends severe marks; diverted Interests return in
//! small steps once no Data of the prefix has been marked for a while.

use std::collections::BTreeMap;

use tidegate_core::prelude::*;

use super::{Params, SEVERE};
use crate::toolbox::forwarding::split_ratios::InitialSplit;
use crate::toolbox::forwarding::split_table::SplitTable;

/// Weight of a new round trip in a next hop's mean.
const GAIN: f64 = 1.0 / 8.0;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct DivertStrategy {
    params: Params,
    splits: SplitTable,
    seen: BTreeMap<PrefixId, PrefixMarks>,
}

/// Marks on the Data of a prefix.
#[derive(Debug, Default)]
struct PrefixMarks {
    /// Time of the last marked Data or of the last return of Interests.
    calm_since: Time,
    /// Mean round trip by next hop, seconds.
    round_trips: Vec<(FaceId, f64)>,
}

impl PrefixMarks {
    fn note_round_trip(&mut self, face: FaceId, rtt: Span) {
        let rtt = rtt.as_secs_f64();
        match self.round_trips.iter_mut().find(|(known, _)| *known == face) {
            Some((_, mean)) => *mean += GAIN * (rtt - *mean),
            None => self.round_trips.push((face, rtt)),
        }
    }

    /// The fastest of `faces` that has answered.
    fn fastest(&self, faces: &[(FaceId, f64)]) -> Option<FaceId> {
        let known = self.round_trips.iter().filter(|(face, _)| faces.iter().any(|(hop, _)| hop == face));
        known.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(face, _)| *face)
    }
}

impl DivertStrategy {
    pub(super) fn new(params: Params, draws: Rng) -> Self {
        let splits = SplitTable::new(InitialSplit::ShortestPath, draws);
        Self { params, splits, seen: BTreeMap::new() }
    }
}

impl Strategy for DivertStrategy {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        self.splits.forward(cx, arrival)
    }

    fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        data: &mut Header,
        from: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) {
        if cx.face(from).is_local() {
            return;
        }
        let Some(split) = self.splits.split_of(entry) else { return };
        let seen = self.seen.entry(entry.name().prefix).or_default();
        if let Some(rtt) = entry.round_trip(from, cx.now) {
            seen.note_round_trip(from, rtt);
        }
        if data.hop.mark > 0 {
            seen.calm_since = cx.now;
            // A mild mark moves nothing, yet the path is not calm.
            if data.hop.mark >= SEVERE {
                split.reduce(from, self.params.change_per_mark * split.share(from));
            }
        } else if cx.now.since(seen.calm_since) >= self.params.calm {
            // One step per `calm` interval, so that congestion of the fastest next hop shows before more
            // Interests return.
            seen.calm_since = cx.now;
            if let Some(fastest) = seen.fastest(split.shares()) {
                split.gather(fastest, self.params.return_step);
            }
        }
    }
}
