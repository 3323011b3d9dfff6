//! Local addresses of faces over UDP that this end opened. The kernel chooses one when a socket is connected and keeps it, although
//! the machine may get another one, for instance by DHCP, or IPv6 addresses that end after some days.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tidegate_core::ndn::face::FaceId;

use super::face::{FaceState, Line};
use super::{Daemon, Watch, Watched};
use crate::transport::Transport;
use crate::udp::{UdpFace, source_towards};
use crate::uri::FaceUri;

impl Daemon {
    /// Gives every face over UDP that this end opened a new socket if it would now leave from another address.
    pub(super) fn renew_sources(&mut self) {
        let opened = (0..).map(FaceId).take(self.faces.len());
        let changed: Vec<FaceId> = opened.filter(|id| self.has_other_source(*id)).collect();
        changed.into_iter().for_each(|id| self.renew_source(id));
    }

    fn has_other_source(&self, id: FaceId) -> bool {
        self.opened_udp(id).is_some_and(|face| {
            // Without a route there is nothing better than the present socket.
            self.source_towards(face.remote()).is_some_and(|source| source != face.local().ip())
        })
    }

    /// The socket of a face over UDP that this end opened and that is up.
    fn opened_udp(&self, id: FaceId) -> Option<&UdpFace> {
        let face = self.faces[id.index()].as_ref()?;
        match &face.line {
            Line::Socket { transport: Transport::Udp(udp), .. }
                if face.is_outgoing() && face.state == FaceState::Up =>
            {
                Some(udp)
            }
            _ => None,
        }
    }

    /// The address from which a new face to `peer` would leave, as [`begin`](Self::begin) chooses it.
    fn source_towards(&self, peer: SocketAddr) -> Option<IpAddr> {
        let any = if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let own = self.listeners_towards(peer).map(|listener| listener.local().ip()).chain([any]);
        own.filter_map(|own| source_towards(peer, own).ok()).next()
    }

    fn renew_source(&mut self, id: FaceId) {
        let Some((peer, before, faults)) =
            self.opened_udp(id).map(|udp| (udp.remote(), udp.local(), udp.faults()))
        else {
            return;
        };
        // What the system refuses now is tried again by the next call.
        let Ok(Transport::Udp(fresh)) = self.begin(&FaceUri::Udp(peer), None) else { return };
        let local = fresh.local();
        let Some(face) = &mut self.faces[id.index()] else { return };
        let Line::Socket { transport, is_full, .. } = &mut face.line else { return };
        let fresh = Transport::Udp(fresh.with_faults(faults));
        let token = Watched::Face(id, face.number).token();
        if self.poll.register(&fresh, token, Watch::ReadWrite).is_err() {
            return;
        }
        // Closing the old socket removes it from the poll set.
        *transport = fresh;
        *is_full = false;
        face.watched = Watch::ReadWrite;
        tracing::info!(%peer, "a face has the local address {local} in place of {before}");
    }
}
