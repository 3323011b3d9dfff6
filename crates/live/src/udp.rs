//! UDP unicast: one datagram per frame, many per system call, never cut into IP fragments.
//!
//! A face is a connected socket. A face to a peer that sent first shares the listener's address, so that
//! the peer sees one address; the kernel prefers a connected socket over the listener from then on.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use socket2::{Domain, Protocol, Socket, Type};

use crate::reception::Reception;
use crate::sys::{self, Backlog, Handed};

/// Size of the send buffer, bytes. The kernel accounts twice as much, about 50 datagrams of 1400 bytes with
/// its overhead: 0.6 ms of a link of 1 Gbit/s. Further frames wait in our queue, where they are managed.
pub const SEND_BUFFER: usize = 64 * 1024;

/// Requested size of the receive buffer, bytes; the system may grant less (`net.core.rmem_max`).
pub const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// Result of a receiving call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// There may be more to receive.
    More,
    /// No datagram is waiting.
    Drained,
    /// The peer has ended the connection; nothing else will arrive.
    Closed,
}

/// Counters of errors that did not end a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Frames that the system refused to send, too large or without a route.
    pub unsent: u64,
    /// Datagrams larger than any NDN packet.
    pub oversized: u64,
    /// Errors reported while receiving, mostly a closed port at the peer.
    pub refused: u64,
    /// Number of datagrams of other peers that a new socket received.
    pub stray: u64,
}

/// Addresses of both ends of a datagram, as the receiving side calls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UdpPath {
    /// Address of the peer.
    pub peer: SocketAddr,
    /// Address of this machine that the peer sent to; that of the listener if the system does not report it.
    pub local: SocketAddr,
}

/// A connected UDP socket.
#[derive(Debug)]
pub struct UdpFace {
    socket: Socket,
    local: SocketAddr,
    remote: SocketAddr,
    /// A socket on a shared address receives datagrams of all peers until it is connected. They precede all
    /// others, so that sources need to be checked only until the socket was empty once.
    may_have_strays: bool,
    /// Whether the system cuts datagrams of one size out of one message.
    sends_together: bool,
    /// Whether the system refused a datagram as too large since that was last read.
    is_refused: bool,
    faults: Faults,
}

impl UdpFace {
    /// A face to `remote` from an address of the system's choice, or from `local`.
    ///
    /// # Errors
    /// When the system refuses, such as without a route to `remote`.
    pub fn connect(remote: SocketAddr, local: Option<SocketAddr>) -> io::Result<Self> {
        let socket = socket(remote)?;
        if let Some(local) = local {
            socket.bind(&local.into())?;
        }
        socket.connect(&remote.into())?;
        Self::of(socket, remote)
    }

    /// A face from the address of `listener` to a peer. If the listener has every address, the system chooses one.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn accept(listener: &UdpListener, remote: SocketAddr) -> io::Result<Self> {
        Self::answering(UdpPath { peer: remote, local: listener.local })
    }

    /// A face to a peer that sent to a listener first, from the address that the peer sent to: on a machine with several
    /// addresses the system would choose by the route to the peer, and answers from another address are lost.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn answering(UdpPath { peer: remote, local }: UdpPath) -> io::Result<Self> {
        let socket = socket(remote)?;
        socket.set_reuse_port(true)?;
        socket.bind(&local.into())?;
        socket.connect(&remote.into())?;
        // Between bind and connect the kernel may have queued datagrams of other peers at this socket.
        Ok(Self { may_have_strays: true, ..Self::of(socket, remote)? })
    }

    fn of(socket: Socket, remote: SocketAddr) -> io::Result<Self> {
        let local = address_of(&socket)?;
        Ok(Self {
            socket,
            local,
            remote,
            may_have_strays: false,
            sends_together: sys::TOGETHER,
            is_refused: false,
            faults: Faults::default(),
        })
    }

    /// This face with the counters of one that it replaces.
    pub fn with_faults(self, faults: Faults) -> Self {
        Self { faults, ..self }
    }

    /// Receives one batch of datagrams.
    ///
    /// # Errors
    /// When the socket cannot be used any more; errors about single datagrams are counted.
    pub fn receive(&mut self, memory: &mut Reception, mut take: impl FnMut(Bytes)) -> io::Result<Received> {
        let Some(count) = batch(&self.socket, memory, self.may_have_strays, &mut self.faults)? else {
            return Ok(Received::More);
        };
        for datagram in memory.slots.datagrams() {
            // Such a datagram belongs to the listener; its peer sends again.
            if self.may_have_strays && datagram.from.is_some_and(|from| !is_same(from, self.remote)) {
                self.faults.stray += 1;
            } else if datagram.is_truncated {
                self.faults.oversized += 1;
            } else {
                take(memory.chunks.keep(datagram.bytes));
            }
        }
        if count < sys::MESSAGES {
            // The socket was read empty since it was connected: every later datagram is from its peer.
            self.may_have_strays = false;
            return Ok(Received::Drained);
        }
        Ok(Received::More)
    }

    /// Sends frames of two parts each until the socket has no more room; returns how many were taken, and
    /// whether the rest has to wait for room.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> (usize, bool) {
        let was_together = self.sends_together;
        let Handed { taken, failed, would_block, error } =
            sys::send_batch(self.socket.as_fd(), frames, &mut self.sends_together);
        // An ICMP error of an earlier datagram is reported on a later one; a datagram link has losses, so
        // nobody is notified.
        self.faults.unsent += failed as u64;
        if error == Some(libc::EMSGSIZE) {
            self.is_refused = true;
            // The size was the reason for which the system refused to cut the datagrams out of one message.
            self.sends_together = was_together;
        }
        (taken, would_block)
    }

    /// Passes each frame to the system on its own from now on, for measurements.
    pub fn send_apart(&mut self) {
        self.sends_together = false;
    }

    /// Largest datagram that the system permits on the path, bytes; `usize::MAX` if it is not known.
    pub fn max_datagram(&self) -> usize {
        let headers = if self.remote.is_ipv6() { 40 + 8 } else { 20 + 8 };
        sys::path_mtu(self.socket.as_fd(), self.remote.is_ipv6())
            .map_or(usize::MAX, |mtu| mtu.saturating_sub(headers))
    }

    /// Whether the system refused a datagram as too large since the last call.
    pub fn take_refusal(&mut self) -> bool {
        std::mem::take(&mut self.is_refused)
    }

    /// Memory of frames in the socket's send buffer, with the kernel's overhead, bytes; 0 if it is not available.
    pub fn unsent_bytes(&self) -> usize {
        sys::unsent_bytes(self.socket.as_fd(), Backlog::Unsent).unwrap_or(0)
    }

    /// Datagrams that the system dropped because the socket buffer was full; 0 if it is not available.
    pub fn overflows(&self) -> u64 {
        sys::dropped_datagrams(self.socket.as_fd()).map_or(0, u64::from)
    }

    /// Address on this side.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Address of the peer.
    pub fn remote(&self) -> SocketAddr {
        self.remote
    }

    /// Errors so far that did not end the socket.
    pub fn faults(&self) -> Faults {
        self.faults
    }
}

impl AsFd for UdpFace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Socket that receives datagrams of peers without a face.
#[derive(Debug)]
pub struct UdpListener {
    socket: Socket,
    local: SocketAddr,
    faults: Faults,
}

impl UdpListener {
    /// Listens at `local`; port 0 lets the system choose one.
    ///
    /// # Errors
    /// When the address is not ours or taken.
    pub fn bind(local: SocketAddr) -> io::Result<Self> {
        let socket = socket(local)?;
        socket.bind(&local.into())?;
        // Only then: faces share the address with their listener, but no second listener may take it away. Sockets of
        // other users cannot share it, as they could with SO_REUSEADDR, and receive what is sent here (socket(7)).
        socket.set_reuse_port(true)?;
        let local = address_of(&socket)?;
        if local.ip().is_unspecified() {
            sys::report_destination(socket.as_fd(), local.is_ipv6())?;
        }
        Ok(Self { socket, local, faults: Faults::default() })
    }

    /// Receives one batch of datagrams with their addresses.
    ///
    /// # Errors
    /// When the socket cannot be used any more.
    pub fn receive(
        &mut self,
        memory: &mut Reception,
        mut take: impl FnMut(UdpPath, Bytes),
    ) -> io::Result<Received> {
        let Some(count) = batch(&self.socket, memory, true, &mut self.faults)? else {
            return Ok(Received::More);
        };
        for datagram in memory.slots.datagrams() {
            match datagram.from {
                Some(peer) if !datagram.is_truncated => {
                    let local = datagram.to.map_or(self.local, |to| to.with_port(self.local.port()));
                    take(UdpPath { peer, local }, memory.chunks.keep(datagram.bytes));
                }
                _ => self.faults.oversized += 1,
            }
        }
        Ok(if count < sys::MESSAGES { Received::Drained } else { Received::More })
    }

    /// Datagrams that the system dropped because the socket buffer was full; 0 if it is not available.
    pub fn overflows(&self) -> u64 {
        sys::dropped_datagrams(self.socket.as_fd()).map_or(0, u64::from)
    }

    /// Local address of the socket.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Errors so far that did not end the socket.
    pub fn faults(&self) -> Faults {
        self.faults
    }
}

impl AsFd for UdpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Receives one batch of messages into `memory` and returns their number; `None` if the system reported an
/// error of an earlier datagram instead.
fn batch(
    socket: &Socket,
    memory: &mut Reception,
    with_source: bool,
    faults: &mut Faults,
) -> io::Result<Option<usize>> {
    match sys::recv_batch(socket.as_fd(), &mut memory.slots, with_source) {
        Ok(count) => Ok(Some(count)),
        Err(why) if is_fatal(&why) => Err(why),
        Err(_) => {
            faults.refused += 1;
            Ok(None)
        }
    }
}

/// A socket of the family of `address`, with our buffers and without IP fragments.
pub(crate) fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_nonblocking(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    if address.is_ipv6() {
        // A socket for IPv4 may be bound to the same port.
        socket.set_only_v6(true)?;
    }
    sys::forbid_ip_fragments(socket.as_fd(), address.is_ipv6())?;
    // Without it datagrams come one by one, as ever.
    sys::receive_together(socket.as_fd());
    Ok(socket)
}

/// The address from which the system would send to `remote` now: `own`, or one of its choice if that is unspecified. Sends nothing.
///
/// # Errors
/// When there is no route to `remote`, or `own` is no address of this machine.
pub(crate) fn source_towards(remote: SocketAddr, own: IpAddr) -> io::Result<IpAddr> {
    let socket = Socket::new(Domain::for_address(remote), Type::DGRAM, Some(Protocol::UDP))?;
    if !own.is_unspecified() {
        // Port 0: the face itself has the other port.
        socket.bind(&SocketAddr::new(own, 0).into())?;
    }
    socket.connect(&remote.into())?;
    Ok(address_of(&socket)?.ip())
}

pub(crate) fn address_of(socket: &Socket) -> io::Result<SocketAddr> {
    let address = socket.local_addr()?.as_socket();
    address.ok_or_else(|| io::Error::new(io::ErrorKind::AddrNotAvailable, "the socket has no IP address"))
}

/// Whether two addresses are the same peer, without regard to flow labels and scopes.
fn is_same(a: SocketAddr, b: SocketAddr) -> bool {
    // The kernel fills scope and flow label of IPv6 in one of the two only.
    a.ip() == b.ip() && a.port() == b.port()
}

/// Whether the socket itself is broken, in contrast to an error of one datagram or a peer.
fn is_fatal(why: &io::Error) -> bool {
    matches!(why.raw_os_error(), Some(libc::EBADF | libc::ENOTSOCK | libc::EINVAL | libc::EFAULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loopback() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    fn receive_all(face: &mut UdpFace, memory: &mut Reception) -> io::Result<Vec<Bytes>> {
        let mut all = Vec::new();
        while face.receive(memory, |frame| all.push(frame))? == Received::More {}
        Ok(all)
    }

    #[test]
    fn nobody_listens_where_another_listens_though_faces_share_the_address() -> io::Result<()> {
        let listener = UdpListener::bind(loopback())?;
        assert_eq!(UdpListener::bind(listener.local()).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        let _face = UdpFace::accept(&listener, SocketAddr::from(([127, 0, 0, 1], 9)))?;
        assert_eq!(UdpListener::bind(listener.local()).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        Ok(())
    }

    #[test]
    fn no_socket_shares_the_address_by_so_reuseaddr() -> io::Result<()> {
        let listener = UdpListener::bind(loopback())?;
        let thief = |address: SocketAddr| {
            let thief = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            thief.set_reuse_address(true)?;
            thief.bind(&address.into())
        };
        assert_eq!(thief(listener.local()).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        let _face = UdpFace::accept(&listener, SocketAddr::from(([127, 0, 0, 1], 9)))?;
        assert_eq!(thief(listener.local()).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        Ok(())
    }

    #[test]
    fn datagrams_of_new_peers_reach_the_listener_whatever_number_of_faces_shares_its_address()
    -> io::Result<()> {
        let mut memory = Reception::new();
        let mut listener = UdpListener::bind(loopback())?;
        let clients: Vec<UdpFace> =
            (0..20).map(|_| UdpFace::connect(listener.local(), None)).collect::<io::Result<_>>()?;
        let _faces: Vec<UdpFace> = clients
            .iter()
            .map(|client| UdpFace::accept(&listener, client.local()))
            .collect::<io::Result<_>>()?;
        for number in 0..20u8 {
            let mut stranger = UdpFace::connect(listener.local(), None)?;
            stranger.send([(&[number][..], &b""[..])].into_iter());
            let mut received = Vec::new();
            listener.receive(&mut memory, |_, frame| received.push(frame))?;
            assert_eq!(received, [&[number][..]]);
        }
        Ok(())
    }

    #[test]
    fn a_peer_that_speaks_first_gets_a_face_from_the_listeners_address() -> io::Result<()> {
        let mut memory = Reception::new();
        let mut listener = UdpListener::bind(loopback())?;
        let mut client = UdpFace::connect(listener.local(), None)?;
        client.send([(&b"he"[..], &b"llo"[..])].into_iter());
        let mut first = Vec::new();
        listener.receive(&mut memory, |path, frame| first.push((path, frame)))?;
        let path = UdpPath { peer: client.local(), local: listener.local() };
        assert_eq!(first, [(path, Bytes::from_static(b"hello"))]);
        let mut face = UdpFace::answering(path)?;
        assert_eq!((face.local(), face.remote()), (listener.local(), client.local()));

        client.send([(&b"again"[..], &b""[..])].into_iter());
        assert_eq!(receive_all(&mut face, &mut memory)?, [&b"again"[..]]);
        listener.receive(&mut memory, |_, _| panic!("the connected socket comes first"))?;
        face.send([(&b""[..], &b"back"[..])].into_iter());
        assert_eq!(receive_all(&mut client, &mut memory)?, [&b"back"[..]]);
        Ok(())
    }

    #[test]
    fn a_face_has_the_address_that_its_peer_sent_to() -> io::Result<()> {
        let mut memory = Reception::new();
        for (every, one) in [("0.0.0.0:0", "127.0.0.9"), ("[::]:0", "::1")] {
            // A system may be without IPv6.
            let Ok(mut listener) = UdpListener::bind(every.parse().expect("an address")) else { continue };
            let target = SocketAddr::new(one.parse().expect("an address"), listener.local().port());
            let Ok(mut client) = UdpFace::connect(target, None) else { continue };
            client.send([(&b"1"[..], &b""[..])].into_iter());
            let mut paths = Vec::new();
            listener.receive(&mut memory, |path, _| paths.push(path))?;
            assert_eq!(paths, [UdpPath { peer: client.local(), local: target }]);
            let mut face = UdpFace::answering(paths[0])?;
            face.send([(&b"2"[..], &b""[..])].into_iter());
            assert_eq!(receive_all(&mut client, &mut memory)?, [&b"2"[..]]);
        }
        Ok(())
    }

    #[test]
    fn what_a_new_face_caught_of_somebody_else_is_dropped() -> io::Result<()> {
        let mut memory = Reception::new();
        let listener = UdpListener::bind(loopback())?;
        let (mut friend, mut other) =
            (UdpFace::connect(listener.local(), None)?, UdpFace::connect(listener.local(), None)?);
        // As `accept`, with the other one speaking between bind and connect.
        let socket = socket(listener.local())?;
        socket.set_reuse_port(true)?;
        socket.bind(&listener.local().into())?;
        other.send([(&b"other"[..], &b""[..])].into_iter());
        socket.connect(&friend.local().into())?;
        friend.send([(&b"friend"[..], &b""[..])].into_iter());
        let mut face = UdpFace { may_have_strays: true, ..UdpFace::of(socket, friend.local())? };
        assert_eq!(receive_all(&mut face, &mut memory)?, [&b"friend"[..]]);
        assert!(face.faults().stray <= 1 && !face.may_have_strays);
        Ok(())
    }

    #[test]
    fn a_peer_that_is_gone_is_survived_and_counted() -> io::Result<()> {
        let mut memory = Reception::new();
        let listener = UdpListener::bind(loopback())?;
        let address = listener.local();
        let mut face = UdpFace::connect(address, None)?;
        drop(listener);
        assert_eq!(face.send([(&b"1"[..], &b""[..])].into_iter()), (1, false));
        assert_eq!(receive_all(&mut face, &mut memory)?, [&b""[..]; 0]);
        assert_eq!(face.faults().refused, 1);
        let mut listener = UdpListener::bind(address)?;
        assert_eq!(face.send([(&b"2"[..], &b""[..])].into_iter()), (1, false));
        let mut received = Vec::new();
        listener.receive(&mut memory, |_, frame| received.push(frame))?;
        assert_eq!(received, [&b"2"[..]]);
        Ok(())
    }

    #[test]
    fn more_datagrams_than_one_batch_come_in_several() -> io::Result<()> {
        let mut memory = Reception::new();
        let mut listener = UdpListener::bind(loopback())?;
        let mut client = UdpFace::connect(listener.local(), None)?;
        // Each is longer than the one before, so that the system does not put them together.
        assert_eq!(client.send((1..=20).map(|size| (&[7; 20][..size], &b""[..]))), (20, false));
        let mut sizes = Vec::new();
        assert_eq!(listener.receive(&mut memory, |_, frame| sizes.push(frame.len()))?, Received::More);
        assert_eq!(sizes.len(), sys::MESSAGES);
        assert_eq!(listener.receive(&mut memory, |_, frame| sizes.push(frame.len()))?, Received::Drained);
        assert_eq!(sizes, (1..=20).collect::<Vec<_>>());
        Ok(())
    }
}
