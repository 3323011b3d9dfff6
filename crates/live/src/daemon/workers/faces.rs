//! Faces among workers: which worker gets a new one, and what the others know of it.

use std::cmp::Reverse;

use bytes::Bytes;
use tidegate_core::ndn::face::FaceId;

use super::super::Daemon;
use super::super::config::FaceConfig;
use super::super::face::{Face, FaceState, Line, Origin};
use super::super::faces::AttachError;
use super::super::places::{LocalUser, PeerNetwork};
use super::orders::{ControlChannels, NewFace, Notice, Order};
use crate::nfd::ControlParameters;
use crate::peer_user::PeerUser;
use crate::transport::Transport;
use crate::uri::FaceUri;

/// A face whose socket is at another worker.
#[derive(Clone, Debug)]
pub(in super::super) struct FarEnd {
    /// The owner of the face.
    pub worker: usize,
    /// Ends of its socket; `None` for management.
    pub uris: Option<(FaceUri, FaceUri)>,
    /// Network interface of a multicast or Ethernet face.
    pub interface: Option<String>,
    pub is_datagram: bool,
    pub is_multi_access: bool,
    pub is_reliable: bool,
    /// Maximum size of a frame, bytes; `None` for any size.
    pub mtu: Option<usize>,
    /// Network of its peer, if it has an IP address.
    pub network: Option<PeerNetwork>,
    /// The same as far as the places of peers are counted.
    pub source: Option<PeerNetwork>,
    /// Who has opened it, if it is local.
    pub user: Option<LocalUser>,
}

impl FarEnd {
    /// The face of management, as the other workers have it.
    const MANAGEMENT: Self = Self {
        worker: 0,
        uris: None,
        interface: None,
        is_datagram: false,
        is_multi_access: false,
        is_reliable: false,
        mtu: None,
        network: None,
        source: None,
        user: None,
    };

    /// The user at the other end of a TCP connection from this machine; that of a Unix socket is asked for by its socket.
    pub fn peer_user(&self) -> Option<PeerUser> {
        match &self.uris {
            Some((FaceUri::Tcp(peer), FaceUri::Tcp(own))) if peer.ip().to_canonical().is_loopback() => {
                PeerUser::of_tcp(*peer, *own)
            }
            _ => None,
        }
    }
}

impl Daemon {
    /// Makes a face over `transport`, at this worker or at another one.
    pub(in super::super) fn attach_among_workers(
        &mut self,
        transport: Transport,
        origin: Origin,
        settings: &FaceConfig,
    ) -> Result<FaceId, AttachError> {
        let worker = self.owner_of_new(&transport, origin);
        let is_local = self.is_local(&transport);
        let end = self.far_end(&transport, settings, worker);
        let is_unix = matches!(transport.remote_uri(), FaceUri::Unix(_) | FaceUri::Fd(_));
        let user = if is_unix && is_local { Some(transport.peer_user()) } else { None };
        let (line, transport) = match worker {
            0 => (self.socket_line(transport, settings)?, None),
            _ => (Line::Far(Box::new(end.clone())), Some(transport)),
        };
        let id = self.attach(line, origin, settings, is_local)?;
        if let Some(face) = &mut self.faces[id.index()] {
            face.user = user;
        }
        self.announce_face(id, settings, (end, transport));
        Ok(id)
    }

    /// The worker for a new face: the one with the fewest. The first one has streams that this end connects, which it connects
    /// again, pages, whose scope is known only later, and faces of interfaces.
    fn owner_of_new(&self, transport: &Transport, origin: Origin) -> usize {
        let is_spread = match transport {
            Transport::Udp(_) => true,
            Transport::Stream(_) => origin == Origin::Accepted,
            Transport::WebSocket(_) | Transport::Multicast(_) | Transport::Ethernet(_) => false,
        };
        let Some(ControlChannels::First(first)) = self.workers.as_ref().map(|workers| &workers.control)
        else {
            return 0;
        };
        let workers = (0..first.faces.len()).filter(|_| is_spread);
        workers.min_by_key(|worker| (first.faces[*worker], Reverse(*worker))).unwrap_or(0)
    }

    fn far_end(&self, transport: &Transport, settings: &FaceConfig, worker: usize) -> FarEnd {
        FarEnd {
            worker,
            uris: Some((transport.remote_uri(), transport.local_uri())),
            interface: transport.interface().map(str::to_owned),
            is_datagram: transport.is_datagram(),
            is_multi_access: transport.is_multi_access(),
            is_reliable: settings.reliability && transport.is_datagram() && !transport.is_multi_access(),
            mtu: transport.mtu().map(|_| settings.mtu_plan().base()),
            network: PeerNetwork::of_peer(transport),
            source: self.source_of(transport),
            user: self.local_user(transport),
        }
    }

    /// Processes a frame that a listener received for a face, which may be another worker's.
    pub(in super::super) fn take_frame_of_listener(&mut self, id: FaceId, frame: Bytes) {
        if let (Some(Face { line: Line::Far(end), number, .. }), Some(workers)) =
            (&self.faces[id.index()], &mut self.workers)
        {
            return workers.order(end.worker, Order::Frame { face: id, number: *number, frame });
        }
        self.take_frame(id, frame);
    }

    /// Makes the face of management, which is new, known to the other workers.
    pub(in super::super) fn announce_management(&mut self, id: FaceId) {
        let settings = self.config.face_defaults.clone();
        self.announce_face(id, &settings, (FarEnd::MANAGEMENT, None));
    }

    /// Orders the other workers to make a face as well, the owner with its socket.
    fn announce_face(
        &mut self,
        id: FaceId,
        settings: &FaceConfig,
        (end, mut transport): (FarEnd, Option<Transport>),
    ) {
        let (Some(face), is_local) = (&self.faces[id.index()], self.node.faces()[id.index()].is_local())
        else {
            return;
        };
        let (number, origin) = (face.number, face.origin);
        let Some(workers) = &mut self.workers else { return };
        if let ControlChannels::First(first) = &mut workers.control {
            first.faces[end.worker] += u32::from(end.uris.is_some());
        }
        // The owner is last: what it receives from the face crosses to others that have the face by then.
        let owner = (end.worker > 0).then_some(end.worker);
        for worker in workers.others().filter(|worker| Some(*worker) != owner).chain(owner) {
            let transport = transport.take_if(|_| worker == end.worker);
            let (settings, end) = (settings.clone(), end.clone());
            let face = NewFace { id, number, origin, settings, is_local, end, transport };
            workers.order(worker, Order::Attach(Box::new(face)));
        }
    }

    /// Makes a face as the first worker has made it.
    pub(super) fn attach_announced(&mut self, new: NewFace) {
        let NewFace { id, number, origin, settings, is_local, end, transport } = new;
        self.next_number = number;
        let far = || Line::Far(Box::new(end.clone()));
        let line = match transport {
            Some(transport) => self.socket_line(transport, &settings),
            None => Ok(far()),
        };
        let made = line.and_then(|line| self.attach(line, origin, &settings, is_local));
        let is_lost = made.is_err();
        // The number is taken in all workers in any case.
        let made = made.or_else(|why| {
            tracing::warn!(face = number, "a face cannot be used: {why}");
            self.next_number = number;
            self.attach(far(), origin, &settings, is_local)
        });
        debug_assert!(made.is_ok_and(|made| made == id), "workers give faces the same numbers");
        if is_lost {
            self.give_notice(Notice::Ended { face: id, number });
        }
    }

    /// Ends a face of this worker whose transport failed or whose peer is silent.
    pub(in super::super) fn end_face(&mut self, id: FaceId) {
        if self.workers.as_ref().is_none_or(|workers| workers.is_first()) {
            return self.close(id);
        }
        // Routes through it are removed by the first worker, so its number must not be given to another face before.
        let Some(Face { number, state, .. }) = &self.faces[id.index()] else { return };
        let number = *number;
        if *state != FaceState::Ended {
            self.close_down(id);
            if let Some(face) = &mut self.faces[id.index()] {
                face.state = FaceState::Ended;
            }
            self.give_notice(Notice::Ended { face: id, number });
        }
    }

    /// Orders the other workers to change properties of a face as well.
    pub(in super::super) fn announce_update(&mut self, id: FaceId, requested: &ControlParameters) {
        let (Some(face), Some(workers)) = (&self.faces[id.index()], &mut self.workers) else { return };
        let number = face.number;
        workers.order_all(|_| Order::Update { face: id, number, requested: Box::new(requested.clone()) });
    }

    /// Makes known to the other workers whether packets can be sent to a face.
    pub(in super::super) fn announce_up(&mut self, id: FaceId, is_up: bool) {
        let (Some(face), Some(workers)) = (&self.faces[id.index()], &mut self.workers) else { return };
        let number = face.number;
        match workers.control {
            ControlChannels::First(_) => workers.order_all(|_| Order::SetUp { face: id, number, is_up }),
            ControlChannels::Other(_) => self.give_notice(Notice::SetUp { face: id, number, is_up }),
        }
    }

    /// Orders the other workers to remove a face that this one has closed.
    pub(in super::super) fn announce_end(&mut self, id: FaceId, face: &Face) {
        let Some(workers) = &mut self.workers else { return };
        let ControlChannels::First(first) = &mut workers.control else { return };
        let worker = match &face.line {
            Line::Far(end) => end.worker,
            Line::Socket { .. } | Line::Internal(_) => 0,
        };
        first.faces[worker] = first.faces[worker].saturating_sub(1);
        workers.order_all(|_| Order::Detach { face: id, number: face.number });
    }
}
