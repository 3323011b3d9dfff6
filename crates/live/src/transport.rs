//! Transports of frames: a UDP socket, a stream, a WebSocket, a multicast group or Ethernet.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use bytes::Bytes;
use tidegate_wire::FrameBatch;

use crate::ethernet::EthernetFace;
use crate::multicast::MulticastFace;
use crate::peer_user::PeerUser;
use crate::reception::Reception;
use crate::stream::StreamFace;
use crate::udp::{Faults, Received, UdpFace};
use crate::uri::FaceUri;
use crate::websocket::WebSocketFace;

/// Default maximum size of UDP datagrams, bytes: fits wherever a tunnel or a PPPoE line
/// leaves 1428 bytes of payload.
pub const UDP_MTU: usize = 1400;

/// A connected socket of any kind.
#[derive(Debug)]
pub enum Transport {
    /// UDP unicast to one peer.
    Udp(UdpFace),
    /// TCP or a Unix stream.
    Stream(StreamFace),
    /// A connection over WebSocket that a peer opened.
    WebSocket(WebSocketFace),
    /// A multicast group over UDP.
    Multicast(MulticastFace),
    /// Ethernet, to a station or a group.
    Ethernet(EthernetFace),
}

/// Result of sending a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendProgress {
    /// All frames were sent.
    All,
    /// The socket has no more room; sending can continue when it is writable.
    WouldBlock,
}

impl Transport {
    /// Connects to `remote`; waits for TCP for at most `patience`.
    ///
    /// # Errors
    /// When there is no listener, or the URI has no address to connect to.
    pub fn connect(remote: &FaceUri, patience: Duration) -> io::Result<Self> {
        Ok(match remote {
            FaceUri::Udp(address) => Self::Udp(UdpFace::connect(*address, None)?),
            FaceUri::Tcp(address) => Self::Stream(StreamFace::connect_tcp_now(*address, patience)?),
            FaceUri::Unix(path) => Self::Stream(StreamFace::connect_unix(path)?),
            FaceUri::WebSocket(_) | FaceUri::WebSocketClient(_) => {
                return Err(not_connectable("connections over WebSocket are accepted, not made"));
            }
            FaceUri::Ether(_) | FaceUri::Dev(_) => {
                return Err(not_connectable(
                    "a face over Ethernet belongs to an interface, which is not given",
                ));
            }
            FaceUri::Fd(_) => return Err(not_connectable("a descriptor is not an address")),
        })
    }

    /// As [`connect`](Self::connect), but only begins a TCP connection: frames sent before it is established
    /// wait, and a failure is reported by [`receive`](Self::receive).
    ///
    /// # Errors
    /// When the system refuses at once, or a Unix socket has no listener or a full backlog.
    pub fn begin(remote: &FaceUri) -> io::Result<Self> {
        match remote {
            FaceUri::Unix(path) => Ok(Self::Stream(StreamFace::connect_unix_at_once(path)?)),
            FaceUri::Tcp(address) => Ok(Self::Stream(StreamFace::connect_tcp(*address)?)),
            other => Self::connect(other, Duration::ZERO),
        }
    }

    /// A face on one network interface: to a multicast group, or over Ethernet.
    ///
    /// # Errors
    /// When the interface does not exist or is down, the process may not use it, or the URI is not one of these.
    pub fn on_interface(remote: &FaceUri, interface: &str) -> io::Result<Self> {
        match remote {
            FaceUri::Udp(group) if remote.is_multi_access() => {
                Ok(Self::Multicast(MulticastFace::join(*group, interface)?))
            }
            FaceUri::Ether(address) => Ok(Self::Ethernet(EthernetFace::open(*address, interface)?)),
            _ => Err(not_connectable("only multicast and Ethernet faces belong to an interface")),
        }
    }

    /// As [`begin`](Self::begin), for another transport to the same peer on the same interface.
    ///
    /// # Errors
    /// As [`begin`](Self::begin) and [`on_interface`](Self::on_interface).
    pub fn begin_again(&self) -> io::Result<Self> {
        match self.interface() {
            Some(interface) => Self::on_interface(&self.remote_uri(), interface),
            None => Self::begin(&self.remote_uri()),
        }
    }

    /// Name of the network interface to which the face belongs; `None` if it belongs to none.
    pub fn interface(&self) -> Option<&str> {
        match self {
            Self::Multicast(face) => Some(face.interface()),
            Self::Ethernet(face) => Some(face.interface()),
            Self::Udp(_) | Self::Stream(_) | Self::WebSocket(_) => None,
        }
    }

    /// Whether the face is a link with several stations.
    pub fn is_multi_access(&self) -> bool {
        self.interface().is_some() && self.remote_uri().is_multi_access()
    }

    /// Whether a frame is a datagram, whose peer can leave without notice.
    pub fn is_datagram(&self) -> bool {
        matches!(self, Self::Udp(_) | Self::Multicast(_) | Self::Ethernet(_))
    }

    /// Whether the connection is established; a datagram socket always is.
    ///
    /// # Errors
    /// When it failed.
    pub fn is_connected(&self) -> io::Result<bool> {
        match self {
            Self::Stream(face) => face.is_connected(),
            _ => Ok(true),
        }
    }

    /// Limits the bytes that wait in a stream's socket, for an application that sends Interests only. A
    /// datagram socket is not changed, nor is a WebSocket, which no application of ours has.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_for_interests(&self) -> io::Result<()> {
        match self {
            Self::Stream(face) => face.set_for_interests(),
            _ => Ok(()),
        }
    }

    /// Receives one batch of frames.
    ///
    /// # Errors
    /// When the connection broke or cannot be parsed further; the face has to be closed.
    pub fn receive(&mut self, memory: &mut Reception, take: impl FnMut(Bytes)) -> io::Result<Received> {
        match self {
            Self::Udp(face) => face.receive(memory, take),
            Self::Stream(face) => face.receive(memory, take),
            Self::WebSocket(face) => face.receive(take),
            Self::Multicast(face) => face.receive(memory, take),
            Self::Ethernet(face) => face.receive(memory, take),
        }
    }

    /// Sends from the front of `batch` and removes what was taken. Also call it with an empty batch when the
    /// socket is writable after [`SendProgress::WouldBlock`]: a stream may hold the rest of a frame.
    ///
    /// # Errors
    /// When the connection broke; the face has to be closed.
    pub fn send(&mut self, batch: &mut FrameBatch) -> io::Result<SendProgress> {
        let (taken, is_full) = match self {
            Self::Udp(face) => face.send(batch.iter()),
            Self::Stream(face) => face.send(batch.iter())?,
            Self::WebSocket(face) => face.send(batch.iter())?,
            Self::Multicast(face) => face.send(batch.iter()),
            Self::Ethernet(face) => face.send(batch.iter()),
        };
        batch.remove_first(taken);
        Ok(if is_full { SendProgress::WouldBlock } else { SendProgress::All })
    }

    /// Bytes that wait in the socket, with the kernel's overhead for datagrams and Unix streams; for TCP
    /// those that were never sent.
    pub fn unsent_bytes(&self) -> usize {
        match self {
            Self::Udp(face) => face.unsent_bytes(),
            Self::Stream(face) => face.unsent_bytes(),
            Self::WebSocket(face) => face.unsent_bytes(),
            Self::Multicast(face) => face.unsent_bytes(),
            Self::Ethernet(face) => face.unsent_bytes(),
        }
    }

    /// Whether the peer counts as being on this machine, so that it may use `/localhost`: a Unix socket, or
    /// TCP from a loopback address; UDP never (NFD's scopes). For WebSocket see
    /// [`WebSocketFace::is_local`].
    pub fn is_local(&self) -> bool {
        match self {
            Self::Stream(face) => face.is_local(),
            Self::WebSocket(face) => face.is_local(),
            Self::Udp(_) | Self::Multicast(_) | Self::Ethernet(_) => false,
        }
    }

    /// The user at the other end; `None` if it is on another machine, or unknown: datagrams do not prove who sent
    /// them.
    pub fn peer_user(&self) -> Option<PeerUser> {
        let (peer, own) = match (self.remote_uri(), self.local_uri()) {
            (FaceUri::Tcp(peer), FaceUri::Tcp(own))
            | (FaceUri::WebSocketClient(peer), FaceUri::WebSocket(own)) => (peer, own),
            (FaceUri::Unix(_) | FaceUri::Fd(_), _) => return PeerUser::of_unix(self),
            _ => return None,
        };
        if self.is_local() { PeerUser::of_tcp(peer, own) } else { None }
    }

    /// URI of the local end.
    pub fn local_uri(&self) -> FaceUri {
        match self {
            Self::Udp(face) => FaceUri::Udp(face.local()),
            Self::Stream(face) => face.local().clone(),
            Self::WebSocket(face) => face.local().clone(),
            Self::Multicast(face) => FaceUri::Udp(face.local()),
            Self::Ethernet(face) => FaceUri::Dev(face.interface().to_owned()),
        }
    }

    /// URI of the remote end.
    pub fn remote_uri(&self) -> FaceUri {
        match self {
            Self::Udp(face) => FaceUri::Udp(face.remote()),
            Self::Stream(face) => face.remote().clone(),
            Self::WebSocket(face) => face.remote().clone(),
            Self::Multicast(face) => FaceUri::Udp(face.group()),
            Self::Ethernet(face) => FaceUri::Ether(face.remote()),
        }
    }

    /// Default maximum size of a frame, bytes; `None` for streams and WebSockets, which carry any NDN packet whole.
    pub fn mtu(&self) -> Option<usize> {
        match self {
            Self::Udp(_) | Self::Multicast(_) | Self::Ethernet(_) => Some(UDP_MTU),
            Self::Stream(_) | Self::WebSocket(_) => None,
        }
    }

    /// Largest datagram that the system permits on the path, bytes: that of the network interface, or less where a router has
    /// reported it. Only for UDP to one peer; `usize::MAX` for other transports, and if it is not known.
    pub fn max_datagram(&self) -> usize {
        match self {
            Self::Udp(face) => face.max_datagram(),
            _ => usize::MAX,
        }
    }

    /// Whether the system refused a frame as too large since the last call; only over UDP to one peer.
    pub fn take_refusal(&mut self) -> bool {
        match self {
            Self::Udp(face) => face.take_refusal(),
            _ => false,
        }
    }

    /// Errors that did not end the transport; only datagrams have such.
    pub fn faults(&self) -> Faults {
        match self {
            Self::Udp(face) => face.faults(),
            Self::Multicast(face) => face.faults(),
            Self::Ethernet(face) => face.faults(),
            Self::Stream(_) | Self::WebSocket(_) => Faults::default(),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Udp(face) => face.as_fd(),
            Self::Stream(face) => face.as_fd(),
            Self::WebSocket(face) => face.as_fd(),
            Self::Multicast(face) => face.as_fd(),
            Self::Ethernet(face) => face.as_fd(),
        }
    }
}

fn not_connectable(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listen::StreamListener;
    use crate::udp::UdpListener;
    use std::net::SocketAddr;

    const SOON: Duration = Duration::from_secs(5);

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn frames_travel_over_every_kind_and_leave_the_batch_when_taken() -> io::Result<()> {
        let (udp, tcp) = (UdpListener::bind(loopback())?, StreamListener::tcp(loopback())?);
        let mut memory = Reception::new();
        for uri in [FaceUri::Udp(udp.local()), tcp.uri().clone()] {
            let mut near = Transport::connect(&uri, SOON)?;
            let mut far = match &near {
                Transport::Udp(face) => Transport::Udp(UdpFace::accept(&udp, face.local())?),
                _ => Transport::Stream(tcp.accept()?.expect("the connection stands")),
            };
            assert_eq!((near.remote_uri(), far.remote_uri()), (uri.clone(), near.local_uri()));
            let mut batch = FrameBatch::new();
            batch.push(&[6, 2], Bytes::from_static(&[1, 2]));
            batch.push(&[6, 1, 3], Bytes::new());
            assert_eq!(near.send(&mut batch)?, SendProgress::All);
            assert!(batch.is_empty());
            let mut seen = Vec::new();
            while seen.len() < 2 {
                far.receive(&mut memory, |frame| seen.push(frame))?;
            }
            assert_eq!(seen, [&[6, 2, 1, 2][..], &[6, 1, 3]], "{uri}");
        }
        Ok(())
    }

    #[test]
    fn only_streams_on_this_machine_are_local() -> io::Result<()> {
        let (near, _far) = StreamFace::pair()?;
        assert!(Transport::Stream(near).is_local());
        let udp = UdpListener::bind(loopback())?;
        assert!(!Transport::connect(&FaceUri::Udp(udp.local()), SOON)?.is_local());
        Ok(())
    }

    #[test]
    fn beginning_to_connect_never_waits_for_a_peer_that_accepts_nobody() -> io::Result<()> {
        let path = std::env::temp_dir().join(format!("tidegate-transport-{}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let socket = socket2::Socket::new(socket2::Domain::UNIX, socket2::Type::STREAM, None)?;
        socket.bind(&socket2::SockAddr::unix(&path)?)?;
        socket.listen(0)?;
        let uri = FaceUri::Unix(path.clone());
        let waiting: Vec<_> = std::iter::repeat_with(|| Transport::begin(&uri)).take(8).collect();
        assert!(waiting[0].is_ok() && waiting[7].is_err(), "{waiting:?}");
        std::fs::remove_file(path)
    }

    #[test]
    fn a_descriptor_is_nothing_to_connect_to() {
        let why = Transport::connect(&FaceUri::Fd(3), SOON).expect_err("no address");
        assert_eq!(why.kind(), io::ErrorKind::InvalidInput);
    }
}
