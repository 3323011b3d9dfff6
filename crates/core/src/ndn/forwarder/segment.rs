//! The segment pipeline: a TCP segment takes the cheapest route to its destination; no state is stored.

use super::{Forwarder, Outbox};
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::fib::FibEntry;
use crate::ndn::gate::Direction;
use crate::ndn::packet::Packet;

impl<B: Clone + Default> Forwarder<B> {
    #[inline(never)]
    pub(super) fn on_segment(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        mut packet: Packet<B>,
        out: &mut impl Outbox<B>,
    ) {
        if self.gates.is_none()
            && let Some(route) = self.fib.known(packet.header.name.prefix)
            && let Some(to) = usable_next_hop(cx, route, from)
        {
            packet.header.hop = packet.header.hop.carried();
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
        mut packet: Packet<B>,
        out: &mut impl Outbox<B>,
    ) {
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(from))
            && !row.admits_segment(cx, &mut packet.header, Direction::In)
        {
            return;
        }
        let Some(to) = usable_next_hop(cx, self.fib.route(packet.header.name.prefix, cx), from) else {
            self.counters.unroutable += 1;
            return;
        };
        packet.header.hop = packet.header.hop.carried();
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(to))
            && !row.admits_segment(cx, &mut packet.header, Direction::Out)
        {
            return;
        }
        out.send(cx, to, packet);
    }
}

/// The cheapest next hop that can be used, for a segment from `from`.
#[inline]
fn usable_next_hop(cx: &Context<'_>, route: &FibEntry, from: FaceId) -> Option<FaceId> {
    let is_usable = |face: &FaceId| *face != from && cx.face(*face).is_up();
    route.hops.iter().map(|hop| hop.face).find(is_usable)
}
