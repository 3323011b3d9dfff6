//! The segment pipeline: a TCP segment takes the cheapest route to its destination; no state is stored.

use super::{Forwarder, Outbox};
use crate::context::Context;
use crate::ndn::face::FaceId;
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
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(from))
            && !row.admits_segment(cx, &mut packet.header, Direction::In)
        {
            return;
        }
        let entry = self.fib.route(packet.header.name.prefix, cx);
        let is_way = |face: FaceId| face != from && cx.face(face).is_up();
        let Some(to) = entry.hops.iter().map(|hop| hop.face).find(|face| is_way(*face)) else {
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
