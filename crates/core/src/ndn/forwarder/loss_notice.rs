//! The loss-notice pipeline: as Data, but the entry stays, nothing is cached and the notice goes first (PLR, section IV.B).

use super::{Forwarder, Outbox};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::packet::{Kind, LossNotice};
use crate::scheme::signal::Class;

impl<B: Clone + Default> Forwarder<B> {
    #[inline(never)]
    pub(super) fn on_loss_notice(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        let mut found = self.matches(cx, out.packets()[&packet].header.name);
        if !self.keep_requested(&mut found, from) {
            return out.packets().end(packet);
        }
        for id in found {
            let prefix = self.pit.entry(id).name().prefix;
            let strategy = self.fib.route(prefix, cx).strategy;
            self.pit.entry_mut(id).count_notice();
            let strategy = &mut self.strategies[usize::from(strategy.0)].strategy;
            strategy.on_loss_notice(cx, from, id, self.pit.entry(id));
            let now = cx.now;
            let waiting = self.pit.entry(id).in_records().filter(|record| record.is_pending(now));
            for record in waiting.filter(|record| record.face != from) {
                let kind = Kind::LossNotice(LossNotice { token: record.token });
                let copy = out.packets().copy(&packet);
                let header = &mut out.packets()[&copy].header;
                header.kind = kind;
                header.hop = header.hop.carried();
                header.hop.class = Class::NOTICE;
                out.send(cx, record.face, copy);
            }
        }
        out.packets().end(packet);
    }
}
