//! The strategy: the cheapest face below its limit that has not refused; a Nack goes down when none is left.

use tidegate_core::prelude::*;

use super::early_nack::EarlyNack;

/// The strategy of one node. Refusals are recorded in the PIT entries.
#[derive(Debug)]
pub(super) struct RankedStrategy {
    early_nack: Option<EarlyNack>,
    retries: bool,
}

impl RankedStrategy {
    pub(super) fn new(early_nack: Option<EarlyNack>, retries: bool) -> Self {
        Self { early_nack, retries }
    }
}

/// Whether the out-record of `face` contains a refusal.
fn is_in_vain(entry: &PitEntry, face: FaceId) -> bool {
    entry.out_record(face).is_some_and(|record| record.nacked.is_some())
}

/// Whether an upstream of `entry` has not refused yet.
fn is_open(entry: &PitEntry) -> bool {
    entry.out_records().any(|record| record.nacked.is_none())
}

/// Forwards to `face`; without one, waits if an upstream may still answer, and otherwise returns a Nack with
/// `reason`.
fn forward(arrival: &mut Arrival<'_>, face: Option<FaceId>, reason: NackReason) -> Decision {
    match face {
        Some(face) => {
            arrival.forward(face);
            Decision::Forward
        }
        None if is_open(arrival.entry) => Decision::Suppress,
        None => Decision::Nack(reason),
    }
}

impl Strategy for RankedStrategy {
    fn acts_later(&self) -> bool {
        false
    }

    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        // A retransmission causes no further Data, and a Nack would discard the Data of the first one.
        if !arrival.is_repeated
            && self.early_nack.as_mut().is_some_and(|early_nack| early_nack.refuses(cx, arrival.from))
        {
            return Decision::Nack(NackReason::Congestion);
        }
        // Another downstream requests the same name: the pending Interest will bring the Data for both.
        if !arrival.is_repeated && is_open(arrival.entry) {
            return Decision::Suppress;
        }
        let face = arrival.usable(cx).find(|face| !is_in_vain(arrival.entry, *face));
        forward(arrival, face, NackReason::NoRoute)
    }

    fn on_nack(
        &mut self,
        _: &mut Context<'_>,
        _: NackReason,
        _: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) -> NackDecision {
        match entry.nack_decision() {
            // A Nack would be returned only when all upstreams have refused; before that the faces not used
            // yet are tried.
            NackDecision::Return(_) if self.retries => NackDecision::Elsewhere,
            decided => decided,
        }
    }

    fn on_rejected(&mut self, cx: &mut Context<'_>, face: FaceId, arrival: &mut Arrival<'_>) -> Decision {
        let entry = &*arrival.entry;
        let is_left = |other: &FaceId| !is_in_vain(entry, *other);
        let refusals = || entry.out_records().filter_map(|record| record.nacked).min();
        // After the upstream's Nack all faces have another chance; after the limit's only those ranked behind, as the
        // others are above theirs.
        let (next, reason) = if is_in_vain(entry, face) {
            (arrival.usable(cx).find(is_left), refusals().unwrap_or(NackReason::Congestion))
        } else {
            let behind = arrival.usable(cx).skip_while(|other| *other != face).skip(1);
            (behind.into_iter().find(is_left), NackReason::Congestion)
        };
        forward(arrival, next, reason)
    }
}
