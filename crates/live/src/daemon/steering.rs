//! Where packets go beside the FIB entry of their prefix: forwarding hints, NextHopFaceId, CachePolicy, and routes to one segment.

use bytes::Bytes;
use tidegate_core::ndn::face::{FaceId, NodeId};
use tidegate_core::ndn::fib::NoRoutes;
use tidegate_core::ndn::forwarder::Steering;
use tidegate_core::ndn::packet::{Header, Kind, Packet};
use tidegate_core::units::ByteCount;
use tidegate_wire::ForwardingHint;

use super::Daemon;
use crate::link_service::LocalFields;

/// Maximum number of delegations that are looked at.
const MAX_DELEGATIONS: usize = 16;

/// A packet has fields that it must not have, or that its face does not permit, and is dropped (NFD).
pub(super) struct NotPermitted;

impl Daemon {
    /// The steering of a packet from face `from`. A hint that leads here is removed from the packet.
    ///
    /// # Errors
    /// When the packet has to be dropped.
    #[inline]
    pub(super) fn steering_of(
        &mut self,
        from: FaceId,
        packet: &mut Packet<Bytes>,
        fields: LocalFields,
    ) -> Result<Option<Steering>, NotPermitted> {
        if fields != LocalFields::default() {
            return self.steering_by_fields(from, &packet.header.kind, fields).map(Some);
        }
        match packet.header.kind {
            Kind::Interest(_) | Kind::Nack(_) => {
                let steering = self.steering_by_hint(packet);
                let segment = || self.rib.prefix_of_segment(packet.header.name, &self.names);
                Ok(steering.or_else(|| segment().map(Steering::Route)))
            }
            _ => Ok(None),
        }
    }

    #[cold]
    fn steering_by_fields(
        &self,
        from: FaceId,
        kind: &Kind,
        fields: LocalFields,
    ) -> Result<Steering, NotPermitted> {
        let has_local_fields = self.faces[from.index()].as_ref().is_some_and(|face| face.has_local_fields);
        match (kind, fields) {
            (Kind::Interest(_), LocalFields { next_hop: Some(number), no_cache: false })
                if has_local_fields =>
            {
                Ok(Steering::NextHop(self.face_of_number(number)))
            }
            // Every face may have this one.
            (Kind::Data(_), LocalFields { next_hop: None, no_cache: true }) => Ok(Steering::NoCache),
            _ => Err(NotPermitted),
        }
    }

    #[inline]
    fn steering_by_hint(&mut self, packet: &mut Packet<Bytes>) -> Option<Steering> {
        // The body is a counter of its own, so that the packet can be changed while it is read.
        let body = packet.body.clone();
        let hint = ForwardingHint::of(&body)?;
        self.follow_hint(packet, hint)
    }

    /// As NFD: a hint ends in the region of a producer; elsewhere the first delegation with next hops counts.
    #[cold]
    fn follow_hint(&mut self, packet: &mut Packet<Bytes>, hint: ForwardingHint<'_>) -> Option<Steering> {
        let delegations = || hint.delegations().take(MAX_DELEGATIONS);
        let is_above = |region: &Vec<u8>| delegations().any(|delegation| region.starts_with(delegation));
        if self.config.regions.iter().any(is_above) {
            let body = Bytes::from(hint.removed());
            let mut header =
                Header::new(packet.header.name, packet.header.kind, ByteCount::new(body.len() as u64));
            header.hop = packet.header.hop;
            *packet = Packet::new(header, body);
            return None;
        }
        let mut first = None;
        for delegation in delegations() {
            let Ok(name) = self.names.intern(delegation) else { continue };
            let Some(prefix) = self.names.prefix_of(name) else { continue };
            let fib = self.node.forwarder_mut().fib_mut();
            if !fib.lookup(prefix, &self.names, &NoRoutes, NodeId(0)).hops.is_empty() {
                return Some(Steering::Route(prefix));
            }
            first = first.or(Some(prefix));
        }
        // No delegation can be reached, or none is a name: the Interest is refused for want of a route.
        Some(first.map_or(Steering::NextHop(None), Steering::Route))
    }
}
