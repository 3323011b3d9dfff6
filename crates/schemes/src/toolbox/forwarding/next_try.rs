//! Next hop of a retransmission: one not used yet, else the one used longest ago.

use tidegate_core::prelude::*;

/// The first of `faces` that was not used yet, else the one used longest ago; `None` without faces.
pub fn next_try<I: Iterator<Item = FaceId>>(entry: &PitEntry, faces: impl Fn() -> I) -> Option<FaceId> {
    let requested_at = |face: &FaceId| entry.out_record(*face).map_or(Time::ZERO, |record| record.sent_at);
    let unused = faces().find(|face| entry.out_record(*face).is_none());
    // A refused next hop is not excluded: NFD tries it again when all others have been used more recently.
    unused.or_else(|| faces().min_by_key(requested_at))
}
