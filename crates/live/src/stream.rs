//! TCP and Unix streams: TLV elements one after the other, without further framing.

use std::io::{self, IoSlice, Read};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::framing::Splitter;
use crate::reception::{CHUNK, Reception};
use crate::sys::{self, Backlog};
use crate::udp::Received;
use crate::uri::FaceUri;

/// Size of a Unix stream's send buffer, bytes. The kernel accounts twice as much with its overhead, which is what streams of other
/// programs have (`net.core.wmem_default`): 0.5 ms at 3 Gbit/s. A smaller one costs a switch between the processes for each few packets.
pub const SEND_BUFFER: usize = 104 * 1024;

/// The same for an application that only sends Interests: they are small, and a thousand of them in the
/// kernel are a queue without management.
const INTEREST_BUFFER: usize = 8 * 1024;

/// Size of the receive buffer of TCP from this machine, bytes. For other peers the kernel decides, for long
/// paths.
const LOCAL_RECEIVE_BUFFER: usize = 64 * 1024;

/// Target number of packets per read: the driver handles them all before any other socket.
const READ: usize = 64;

/// Minimum size of a read, bytes.
const MIN_READ: usize = 4 * 1024;

/// Maximum bytes in TCP that were never sent; those that wait for their acknowledgement do not count,
/// so that a long path can still be filled. Further frames wait in our queue, where they are managed.
pub const NOT_SENT: u32 = 32 * 1024;

/// Maximum number of frames per system call; each has two parts.
const BATCH: usize = 64;

/// A connected Unix or TCP stream.
#[derive(Debug)]
pub struct StreamFace {
    socket: Socket,
    backlog: Backlog,
    local: FaceUri,
    remote: FaceUri,
    is_local: bool,
    incoming: Splitter,
    /// Moving average of the length of received packets, bytes.
    packet_len: usize,
    /// Rest of a frame of which a part was sent: at most one frame.
    tail: BytesMut,
}

impl StreamFace {
    /// Begins a TCP connection; frames sent before it is established have to wait, and a failure is reported
    /// by [`receive`](Self::receive).
    ///
    /// # Errors
    /// When the system refuses at once.
    pub fn connect_tcp(remote: SocketAddr) -> io::Result<Self> {
        let socket = tcp_socket(remote)?;
        socket.set_nonblocking(true)?;
        match socket.connect(&remote.into()) {
            Err(why) if why.raw_os_error() != Some(libc::EINPROGRESS) => Err(why),
            _ => Self::of_tcp(socket, remote),
        }
    }

    /// Establishes a TCP connection and waits for it for at most `patience`.
    ///
    /// # Errors
    /// When it is refused or not answered in time.
    pub fn connect_tcp_now(remote: SocketAddr, patience: Duration) -> io::Result<Self> {
        let socket = tcp_socket(remote)?;
        socket.connect_timeout(&remote.into(), patience)?;
        socket.set_nonblocking(true)?;
        Self::of_tcp(socket, remote)
    }

    /// Connects to the Unix socket at `path`.
    ///
    /// # Errors
    /// When there is no listener.
    pub fn connect_unix(path: &Path) -> io::Result<Self> {
        let socket = Socket::from(UnixStream::connect(path)?);
        let local = FaceUri::Fd(socket.as_raw_fd());
        Self::of_unix(socket, local, FaceUri::Unix(path.to_owned()))
    }

    /// As [`connect_unix`](Self::connect_unix), but never blocks.
    ///
    /// # Errors
    /// When there is no listener, or its backlog is full.
    pub fn connect_unix_at_once(path: &Path) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        socket.connect(&SockAddr::unix(path)?)?;
        let local = FaceUri::Fd(socket.as_raw_fd());
        Self::of_unix(socket, local, FaceUri::Unix(path.to_owned()))
    }

    /// The two ends of a stream within this process.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = UnixStream::pair()?;
        let end = |stream| {
            let socket = Socket::from(stream);
            let uri = FaceUri::Fd(socket.as_raw_fd());
            Self::of_unix(socket, uri.clone(), uri)
        };
        Ok((end(a)?, end(b)?))
    }

    /// An accepted TCP connection.
    pub(crate) fn of_tcp(socket: Socket, remote: SocketAddr) -> io::Result<Self> {
        // Interests are small; Nagle's algorithm would hold each back until the one before it was
        // acknowledged.
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_notsent_lowat(NOT_SENT)?;
        let local = socket.local_addr()?.as_socket().unwrap_or(remote);
        let is_local = remote.ip().is_loopback();
        if is_local {
            socket.set_recv_buffer_size(LOCAL_RECEIVE_BUFFER)?;
        }
        Ok(Self::new(socket, Backlog::NeverSent, FaceUri::Tcp(local), FaceUri::Tcp(remote), is_local))
    }

    /// A connected Unix stream.
    pub(crate) fn of_unix(socket: Socket, local: FaceUri, remote: FaceUri) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_send_buffer_size(SEND_BUFFER)?;
        Ok(Self::new(socket, Backlog::Unsent, local, remote, true))
    }

    fn new(socket: Socket, backlog: Backlog, local: FaceUri, remote: FaceUri, is_local: bool) -> Self {
        let (incoming, tail) = (Splitter::new(), BytesMut::new());
        let packet_len = MIN_READ / READ;
        Self { socket, backlog, local, remote, is_local, incoming, packet_len, tail }
    }

    /// Whether the connection is established; `false` while it is being made.
    ///
    /// # Errors
    /// When it failed.
    pub fn is_connected(&self) -> io::Result<bool> {
        if let Some(why) = self.socket.take_error()? {
            return Err(why);
        }
        match self.socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(why) if why.kind() == io::ErrorKind::NotConnected => Ok(false),
            Err(why) => Err(why),
        }
    }

    /// Limits the bytes that wait in the socket, for an application that sends Interests only.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_for_interests(&self) -> io::Result<()> {
        match self.backlog {
            Backlog::NeverSent => self.socket.set_tcp_notsent_lowat(INTEREST_BUFFER as u32),
            _ => self.socket.set_send_buffer_size(INTEREST_BUFFER),
        }
    }

    /// Reads waiting bytes, about `READ` packets and at most one chunk, and passes every complete element to
    /// `take`.
    ///
    /// # Errors
    /// When the connection broke, or the peer sent what is no element or one larger than any packet: then
    /// nothing after it can be parsed, and the face has to be closed.
    pub fn receive(&mut self, memory: &mut Reception, mut take: impl FnMut(Bytes)) -> io::Result<Received> {
        // Bounds the work of one turn in packets: a fixed number of bytes would be 800 Interests or 8 Data.
        let max = (READ * self.packet_len).clamp(MIN_READ, CHUNK);
        let Reception { slots, chunks } = memory;
        let buffer = &mut slots.as_buffer()[..max];
        let count = match (&self.socket).read(buffer) {
            Ok(0) => return Ok(Received::Closed),
            Ok(count) => count,
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(Received::Drained),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => return Ok(Received::More),
            Err(why) => return Err(why),
        };
        let mut packets = 0;
        let pushed = self.incoming.push(&buffer[..count], |packet| {
            packets += 1;
            take(chunks.keep(packet));
        });
        pushed.map_err(invalid)?;
        // Half the weight on the newest read: a stream that turns from Interests to Data adapts within few
        // reads.
        self.packet_len = (self.packet_len + count / packets.max(1)) / 2;
        Ok(if count == max { Received::More } else { Received::Drained })
    }

    /// Sends frames of two parts each until the socket has no more room; returns how many were taken, and
    /// whether the rest has to wait for room. A frame sent in part counts as taken; its rest goes first.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn send<'a>(
        &mut self,
        mut frames: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> io::Result<(usize, bool)> {
        let mut taken = 0;
        if !self.flush()? {
            return Ok((taken, true));
        }
        loop {
            let mut parts = [IoSlice::new(&[]); 2 * BATCH];
            let mut used = 0;
            for (head, body) in frames.by_ref().take(BATCH) {
                parts[used] = IoSlice::new(head);
                parts[used + 1] = IoSlice::new(body);
                used += 2;
            }
            if used == 0 {
                return Ok((taken, false));
            }
            let (count, is_full) = self.send_parts(&parts[..used])?;
            taken += count;
            if is_full {
                return Ok((taken, true));
            }
        }
    }

    /// Sends pairs of parts; returns how many pairs were taken, and whether the socket is full.
    fn send_parts(&mut self, parts: &[IoSlice<'_>]) -> io::Result<(usize, bool)> {
        let Some(mut sent) = self.write(parts)? else { return Ok((0, true)) };
        for (taken, frame) in parts.chunks_exact(2).enumerate() {
            let len = frame[0].len() + frame[1].len();
            // The kernel counts bytes and the queue counts frames.
            if sent >= len {
                sent -= len;
                continue;
            }
            if sent == 0 {
                return Ok((taken, true));
            }
            for part in frame {
                // The peer could not parse anything after half a frame, so its rest is kept and goes first.
                let from = sent.min(part.len());
                self.tail.extend_from_slice(&part[from..]);
                sent -= from;
            }
            return Ok((taken + 1, true));
        }
        Ok((parts.len() / 2, false))
    }

    /// Sends the rest of the last frame; returns whether nothing is left.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn flush(&mut self) -> io::Result<bool> {
        while !self.tail.is_empty() {
            let parts = [IoSlice::new(&self.tail)];
            match send_over(&self.socket, &parts)? {
                Some(sent) => drop(self.tail.split_to(sent)),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
        send_over(&self.socket, parts)
    }

    /// Bytes in the socket's send buffer and left of the last frame.
    pub fn unsent_bytes(&self) -> usize {
        sys::unsent_bytes(self.socket.as_fd(), self.backlog).unwrap_or(0) + self.tail.len()
    }

    /// Whether the peer is on this machine, in NFD's sense: a Unix socket, or TCP from a loopback address.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// URI of the local end.
    pub fn local(&self) -> &FaceUri {
        &self.local
    }

    /// URI of the remote end.
    pub fn remote(&self) -> &FaceUri {
        &self.remote
    }
}

impl AsFd for StreamFace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Bytes sent; `None` when there is no room.
fn send_over(socket: &Socket, parts: &[IoSlice<'_>]) -> io::Result<Option<usize>> {
    loop {
        match socket.send_vectored_with_flags(parts, libc::MSG_NOSIGNAL) {
            Ok(sent) => return Ok(Some(sent)),
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
}

fn tcp_socket(address: SocketAddr) -> io::Result<Socket> {
    Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))
}

fn invalid(why: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn receive_all(face: &mut StreamFace, memory: &mut Reception) -> io::Result<Vec<Bytes>> {
        let mut all = Vec::new();
        while face.receive(memory, |frame| all.push(frame))? == Received::More {}
        Ok(all)
    }

    fn element(len: usize) -> Vec<u8> {
        let [high, low] = (len as u16).to_be_bytes();
        let mut bytes = if len < 253 { vec![0x06, low] } else { vec![0x06, 253, high, low] };
        bytes.extend((0..len).map(|at| at as u8));
        bytes
    }

    #[test]
    fn elements_come_out_whole_however_the_stream_was_cut() -> io::Result<()> {
        let stream: Vec<u8> = [element(3), element(300), element(8800), element(1)].concat();
        for cut in [1, 2, 3, 7, 500, 4096] {
            let (near, far) = UnixStream::pair()?;
            let mut face = StreamFace::of_unix(Socket::from(far), FaceUri::Fd(0), FaceUri::Fd(0))?;
            let (mut near, mut memory, mut seen) = (near, Reception::new(), Vec::new());
            for piece in stream.chunks(cut) {
                near.write_all(piece)?;
                seen.extend(receive_all(&mut face, &mut memory)?);
            }
            let lengths: Vec<usize> = seen.iter().map(Bytes::len).collect();
            assert_eq!(lengths, [5, 304, 8804, 3], "cut into {cut}");
            assert_eq!(seen.concat(), stream, "cut into {cut}");
        }
        Ok(())
    }

    #[test]
    fn what_is_no_element_ends_the_stream_with_an_error() -> io::Result<()> {
        for bad in [&[0x06, 254, 0, 0, 255, 255][..], &[0], &[0x06, 253, 0, 1, 0]] {
            let (mut near, far) = UnixStream::pair()?;
            let mut face = StreamFace::of_unix(Socket::from(far), FaceUri::Fd(0), FaceUri::Fd(0))?;
            near.write_all(&element(2))?;
            near.write_all(bad)?;
            let mut seen = Vec::new();
            let error = face.receive(&mut Reception::new(), |frame| seen.push(frame));
            assert_eq!(error.expect_err("malformed").kind(), io::ErrorKind::InvalidData, "{bad:?}");
            assert_eq!(seen, [element(2)]);
        }
        Ok(())
    }

    #[test]
    fn frames_that_find_no_room_wait_and_arrive_in_order() -> io::Result<()> {
        let (mut near, mut far) = StreamFace::pair()?;
        let frames: Vec<(Vec<u8>, Vec<u8>)> = (0..200)
            .map(|number| {
                let mut whole = element(100 + number * 37);
                let body = whole.split_off(4);
                (whole, body)
            })
            .collect();
        let (mut sent, mut has_blocked, mut seen) = (0, false, Vec::new());
        let mut memory = Reception::new();
        while sent < frames.len() || !near.flush()? {
            let rest = frames[sent..].iter().map(|(head, body)| (&head[..], &body[..]));
            let (taken, is_full) = near.send(rest)?;
            sent += taken;
            has_blocked |= is_full;
            if is_full {
                assert!(near.tail.len() <= 8800);
                seen.extend(receive_all(&mut far, &mut memory)?);
            }
        }
        seen.extend(receive_all(&mut far, &mut memory)?);
        assert!(has_blocked);
        assert_eq!(seen.len(), 200);
        let whole: Vec<u8> = frames.into_iter().flat_map(|(head, body)| [head, body].concat()).collect();
        assert_eq!(seen.concat(), whole);
        Ok(())
    }

    #[test]
    fn a_peer_that_left_is_reported_by_receiving_and_by_sending() -> io::Result<()> {
        let (mut near, far) = StreamFace::pair()?;
        drop(far);
        assert_eq!(near.receive(&mut Reception::new(), |_| ())?, Received::Closed);
        assert!(near.send([(&b"x"[..], &b""[..])].into_iter()).is_err());
        Ok(())
    }

    #[test]
    fn a_connection_that_nobody_takes_fails_when_it_is_used() -> io::Result<()> {
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        assert!(StreamFace::connect_tcp_now(address, Duration::from_secs(1)).is_err());
        let mut face = StreamFace::connect_tcp(address)?;
        let (mut poll, clock) = (crate::poll::Poll::new()?, crate::clock::MonotonicClock::new());
        poll.register(&face, 0, crate::poll::SocketInterest::Read)?;
        assert!(poll.wait(None, &clock)?[0].is_readable);
        assert!(face.receive(&mut Reception::new(), |_| ()).is_err());
        Ok(())
    }
}
