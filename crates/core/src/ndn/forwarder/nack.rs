//! The Nack pipelines: incoming, and back to the downstreams.

use super::gates::Ending;
use super::interest::send_nack;
use super::{Forwarder, Outbox, Requested};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::name::Name;
use crate::ndn::packet::{Interest, Kind, Nack, NackReason};
use crate::ndn::pit::{PitId, Selector};
use crate::ndn::strategy::{Decision, NackDecision};
use crate::scheme::signal::HopSignals;

impl<B: Clone + Default> Forwarder<B> {
    /// Processes a Nack. It counts only when it answers the last Interest that went to the face it comes
    /// from.
    #[inline(never)]
    pub(super) fn on_nack(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        nack: Nack,
        out: &mut impl Outbox<B>,
    ) {
        let Some(id) = self.note_nack(cx, from, out.packets()[&packet].header.name, nack) else {
            return out.packets().end(packet);
        };
        self.apply_nack(cx, from, Requested { packet, interest: nack.interest, id }, nack.reason, out);
    }

    /// Records a Nack in the out-record of its face; `None` if it does not count.
    fn note_nack(&mut self, cx: &mut Context<'_>, from: FaceId, name: Name, nack: Nack) -> Option<PitId> {
        let id = self.pit.find_selected(name, Selector::from(&nack.interest))?;
        // An Interest that a gate still holds has not left, so the Nack cannot be for it.
        if self.gates.as_mut().and_then(|gates| gates.row(from)).is_some_and(|row| row.holds(id)) {
            return None;
        }
        match self.pit.entry_mut(id).out_record_mut(from) {
            Some(record) if record.nonce == nack.interest.nonce => record.nacked = Some(nack.reason),
            _ => return None,
        }
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(from)) {
            row.on_nack_in(cx, id, nack.reason);
        }
        Some(id)
    }

    /// Lets the strategy decide about the refusal recorded in the out-record of `from`.
    pub(super) fn apply_nack(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        requested: Requested,
        reason: NackReason,
        out: &mut impl Outbox<B>,
    ) {
        let (name, id) = (out.packets()[&requested.packet].header.name, requested.id);
        let strategy = self.fib.route(name.prefix, cx).strategy;
        let strategy = &mut self.strategies[usize::from(strategy.0)].strategy;
        let decision = match strategy.on_nack(cx, reason, from, id, self.pit.entry(id)) {
            NackDecision::Elsewhere => self.request_elsewhere(cx, from, &requested, reason, out),
            decided => decided,
        };
        match decision {
            NackDecision::Wait | NackDecision::Elsewhere => {}
            // A satisfied entry has no downstreams, and no further answer can arrive for it.
            NackDecision::Return(_) if self.pit.entry(id).is_satisfied() => {
                self.end_at_gates(cx, out.packets(), id, &Ending::Elsewhere);
                self.pit.remove(id);
            }
            NackDecision::ReturnTo(face, reason) => {
                self.return_nack(cx, &requested, Some(face), reason, out);
                self.pit.entry_mut(id).remove_in_record(face);
            }
            NackDecision::Return(reason) => {
                self.return_nack(cx, &requested, None, reason, out);
                self.end_at_gates(cx, out.packets(), id, &Ending::Elsewhere);
                self.remember_nonces(cx, id);
                self.pit.remove(id);
            }
        }
        out.packets().end(requested.packet);
    }

    /// Sends the refused Interest another way; returns the decision that remains if that fails.
    fn request_elsewhere(
        &mut self,
        cx: &mut Context<'_>,
        refused_by: FaceId,
        requested: &Requested,
        reason: NackReason,
        out: &mut impl Outbox<B>,
    ) -> NackDecision {
        let entry = self.pit.entry(requested.id);
        let waiting = entry.in_records().find(|record| record.is_pending(cx.now)).map(|record| record.face);
        // Another try needs a downstream that it is made for; without one the refusal ends the entry.
        let Some(from) = waiting.filter(|_| !entry.is_satisfied()) else {
            return NackDecision::Return(reason);
        };
        // The packet is the Nack; its Interest is sent on, without the hop signals of the refused path.
        let packet = out.packets().copy(&requested.packet);
        let header = &mut out.packets()[&packet].header;
        header.kind = Kind::Interest(requested.interest);
        header.hop = HopSignals::default();
        let decision = self.consult_rejected(cx, refused_by, from, (requested.id, header));
        let requested = Requested { packet, ..*requested };
        let decision = match decision {
            Decision::Suppress => NackDecision::Wait,
            Decision::Nack(reason) => NackDecision::Return(reason),
            Decision::Forward => {
                let offered = self.offer(cx, from, &requested, out);
                match offered.refusal {
                    _ if offered.is_sent => NackDecision::Wait,
                    Some(Decision::Suppress) => NackDecision::Wait,
                    Some(Decision::Nack(reason)) => NackDecision::Return(reason),
                    Some(Decision::Forward) | None => NackDecision::Return(reason),
                }
            }
        };
        out.packets().end(requested.packet);
        decision
    }

    /// Sends the Nack to the downstream `only`, or to all, each with its own nonce and token.
    fn return_nack(
        &self,
        cx: &mut Context<'_>,
        refused: &Requested,
        only: Option<FaceId>,
        reason: NackReason,
        out: &mut impl Outbox<B>,
    ) {
        let now = cx.now;
        let requested = self.pit.entry(refused.id).in_records().filter(|record| record.is_pending(now));
        for record in requested.filter(|record| only.is_none_or(|face| face == record.face)) {
            let interest = Interest { nonce: record.nonce, token: record.token, ..refused.interest };
            let copy = out.packets().copy(&refused.packet);
            send_nack(cx, record.face, copy, Nack { interest, reason }, out);
        }
    }
}
