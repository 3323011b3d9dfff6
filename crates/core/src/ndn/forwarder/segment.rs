//! The segment pipeline: a TCP segment takes the cheapest route to its destination; no state is stored.

use super::{Forwarder, Outbox};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::fib::FibEntry;
use crate::ndn::gate::Direction;
use crate::ndn::packet::Header;

impl<B: Clone + Default> Forwarder<B> {
    #[inline(never)]
    pub(super) fn on_segment(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        let header = &mut out.packets()[&packet].header;
        if self.gates.is_none()
            && let Some(route) = self.fib.known(header.name.prefix)
            && let Some(to) = usable_next_hop(cx, route, from)
        {
            header.hop = header.hop.carried();
            return out.send(cx, to, packet);
        }
        self.on_any_segment(cx, from, packet, out);
    }

    /// As [`on_segment`](Self::on_segment), for gates, prefixes that are not resolved yet, and no usable next hop.
    #[inline(never)]
    fn on_any_segment(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        match self.direct_segment(cx, from, &mut out.packets()[&packet].header) {
            Some(to) => out.send(cx, to, packet),
            None => out.packets().end(packet),
        }
    }

    /// The face through which a segment leaves; `None` if it is dropped.
    fn direct_segment(&mut self, cx: &mut Context<'_>, from: FaceId, segment: &mut Header) -> Option<FaceId> {
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(from))
            && !row.admits_segment(cx, segment, Direction::In)
        {
            return None;
        }
        let Some(to) = usable_next_hop(cx, self.fib.route(segment.name.prefix, cx), from) else {
            self.counters.unroutable += 1;
            return None;
        };
        segment.hop = segment.hop.carried();
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(to))
            && !row.admits_segment(cx, segment, Direction::Out)
        {
            return None;
        }
        Some(to)
    }
}

/// The cheapest next hop that can be used, for a segment from `from`.
#[inline]
fn usable_next_hop(cx: &Context<'_>, route: &FibEntry, from: FaceId) -> Option<FaceId> {
    let is_usable = |face: &FaceId| *face != from && cx.face(*face).is_up();
    route.hops.iter().map(|hop| hop.face).find(is_usable)
}
