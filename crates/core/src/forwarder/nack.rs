//! The Nack pipelines: incoming, and back to the downstreams.

use super::interest::send_nack;
use super::{Forwarder, Outbox};
use crate::context::Context;
use crate::face::FaceId;
use crate::packet::{Interest, Nack, NackReason, Packet};
use crate::pit::{PitId, Selector};
use crate::strategy::NackDecision;

impl<B: Clone + Default> Forwarder<B> {
    /// A Nack counts only when it answers the last Interest that went to the face it comes from.
    pub(super) fn on_nack(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: &Packet<B>,
        nack: Nack,
        out: &mut impl Outbox<B>,
    ) {
        let name = packet.header.name;
        let selector = Selector::from(&nack.interest);
        let Some(id) = self.pit.find_selected(name, selector) else { return };
        match self.pit.entry_mut(id).out_record_mut(from) {
            Some(record) if record.nonce == nack.interest.nonce => record.nacked = Some(nack.reason),
            _ => return,
        }
        let strategy = self.fib.lookup(name.prefix, cx.names, cx.routes, cx.node).strategy;
        let strategy = &mut self.strategies[usize::from(strategy.0)].strategy;
        match strategy.on_nack(cx, nack.reason, from, id, self.pit.entry(id)) {
            NackDecision::Wait => {}
            // Nobody waits for a satisfied entry, and nothing more can come for it.
            NackDecision::Return(_) if self.pit.entry(id).is_satisfied() => self.pit.remove(id),
            NackDecision::ReturnTo(face, reason) => {
                self.return_nack(cx, packet, nack.interest, Some(face), reason, id, out);
                self.pit.entry_mut(id).remove_in_record(face);
            }
            NackDecision::Return(reason) => {
                self.return_nack(cx, packet, nack.interest, None, reason, id, out);
                self.remember_nonces(cx, id);
                self.pit.remove(id);
            }
        }
    }

    /// Sends the Nack to the downstream `only`, or to all, each with its own nonce and token.
    #[allow(
        clippy::too_many_arguments,
        reason = "one call site per decision; a struct would only rename them"
    )]
    fn return_nack(
        &self,
        cx: &mut Context<'_>,
        refused: &Packet<B>,
        interest: Interest,
        only: Option<FaceId>,
        reason: NackReason,
        id: PitId,
        out: &mut impl Outbox<B>,
    ) {
        let now = cx.now;
        let asked = self.pit.entry(id).in_records().filter(|record| record.is_pending(now));
        for record in asked.filter(|record| only.is_none_or(|face| face == record.face)) {
            let interest = Interest { nonce: record.nonce, token: record.token, ..interest };
            send_nack(cx, record.face, refused.clone(), interest, reason, out);
        }
    }
}
