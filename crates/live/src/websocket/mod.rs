//! Connections over WebSocket (RFC 6455), which browsers open: one binary message is one frame, as in NFD and NDNts.
//!
//! The crate `tungstenite` makes the handshake and the messages. It writes into memory of ours, which the socket takes as it
//! has room, so that the bytes that wait are known to the queue above.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Bytes, BytesMut};
use socket2::Socket;
use tungstenite::error::ProtocolError;
use tungstenite::handshake::MidHandshake;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

use crate::framing::MAX_ELEMENT;
use crate::listen::watch_peer;
use crate::stream::NOT_SENT;
use crate::sys::{self, Backlog};
use crate::udp::Received;
use crate::uri::FaceUri;

/// Maximum bytes that one call reads, so that other sockets have their turn.
const MAX_READ: usize = 16 * 1024;

/// Size of the buffer between socket and messages, bytes; every connection has one.
const READ_BUFFER: usize = 4 * 1024;

/// Bytes that may wait for room in the socket; further frames wait in the face's queue.
const MAX_UNSENT: usize = 32 * 1024;

/// A connection that a peer opened.
#[derive(Debug)]
pub struct WebSocketFace {
    socket: Arc<Socket>,
    state: Connection,
    local: FaceUri,
    remote: FaceUri,
    is_loopback: bool,
    /// Whether the handshake has shown that no page of another site is at the other end.
    is_trusted: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Connection {
    Handshake(Box<MidHandshake<ServerHandshake<Wire, OriginCheck>>>),
    Open(Box<WebSocket<Wire>>),
    Failed,
}

impl WebSocketFace {
    /// An accepted connection, before its handshake.
    ///
    /// # Errors
    /// When the system refuses an option of the socket.
    pub(crate) fn accepted(socket: Socket, remote: SocketAddr) -> io::Result<Self> {
        watch_peer(&socket)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_notsent_lowat(NOT_SENT)?;
        let local = socket.local_addr()?.as_socket().unwrap_or(remote);
        let is_trusted = Arc::new(AtomicBool::new(false));
        let socket = Arc::new(socket);
        let wire = Wire { socket: Arc::clone(&socket), unsent: BytesMut::new(), left_to_read: 0 };
        let check = OriginCheck(Arc::clone(&is_trusted));
        let handshake = ServerHandshake::start(wire, check, Some(config()));
        Ok(Self {
            socket,
            state: Connection::Handshake(Box::new(handshake)),
            local: FaceUri::WebSocket(local),
            remote: FaceUri::WebSocketClient(remote),
            is_loopback: local.ip().to_canonical().is_loopback() && remote.ip().to_canonical().is_loopback(),
            is_trusted,
        })
    }

    /// Reads at most 16 KiB, continues the handshake, answers pings, and passes the content of every complete message to
    /// `take`.
    ///
    /// # Errors
    /// When the connection broke, or the peer violated the protocol or sent a message larger than any packet.
    pub fn receive(&mut self, mut take: impl FnMut(Bytes)) -> io::Result<Received> {
        self.state = match std::mem::replace(&mut self.state, Connection::Failed) {
            Connection::Handshake(mut handshake) => {
                handshake.get_mut().get_mut().left_to_read = MAX_READ;
                shake_hands(*handshake)?
            }
            other => other,
        };
        let Connection::Open(connection) = &mut self.state else { return Ok(Received::Drained) };
        connection.get_mut().left_to_read = MAX_READ;
        // Until nothing is left in the buffer, about which the system knows nothing.
        loop {
            match connection.read() {
                Ok(Message::Binary(frame)) => take(frame),
                // As in NFD, where it fails as a packet; there it is counted.
                Ok(Message::Text(text)) => take(Bytes::from(text)),
                Ok(_) => {}
                Err(Error::Io(why)) if why.kind() == io::ErrorKind::WouldBlock => break,
                Err(Error::Io(why)) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(Received::Closed),
                // The peer left without closing the connection.
                Err(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => {
                    return Ok(Received::Closed);
                }
                Err(why) => return Err(io_error(why)),
            }
        }
        let is_drained = connection.get_ref().left_to_read > 0;
        Ok(if is_drained { Received::Drained } else { Received::More })
    }

    /// Sends frames of two parts each until the socket has no more room; returns how many were taken, and whether the rest
    /// has to wait for room.
    ///
    /// # Errors
    /// When the connection broke, or the peer has closed it.
    pub fn send<'a>(
        &mut self,
        mut frames: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> io::Result<(usize, bool)> {
        // Nobody has requested anything over this connection yet.
        let Connection::Open(connection) = &mut self.state else { return Ok((frames.count(), false)) };
        let mut taken = 0;
        loop {
            if !flush(connection)? {
                return Ok((taken, true));
            }
            while connection.get_ref().unsent.len() < MAX_UNSENT {
                let Some((head, body)) = frames.next() else {
                    return Ok((taken, !flush(connection)?));
                };
                connection.write(Message::binary([head, body].concat())).map_err(io_error)?;
                taken += 1;
            }
        }
    }

    /// Bytes that were never sent, in the socket and before it.
    pub fn unsent_bytes(&self) -> usize {
        let Connection::Open(connection) = &self.state else { return 0 };
        let below = sys::unsent_bytes(self.as_fd(), Backlog::NeverSent).unwrap_or(0);
        connection.get_ref().unsent.len() + below
    }

    /// Whether the peer counts as being on this machine: both ends have loopback addresses (NFD), and it is no page of
    /// another site in a browser of this machine. `false` before the handshake.
    pub fn is_local(&self) -> bool {
        self.is_loopback && self.is_trusted.load(Ordering::Relaxed)
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

impl AsFd for WebSocketFace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for WebSocketFace {
    fn drop(&mut self) {
        if let Connection::Open(connection) = &mut self.state {
            // As much as the socket takes at once: nobody waits for a peer that is left.
            let _ = connection.close(None);
        }
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        // Each message goes to our memory at once.
        .write_buffer_size(0)
        // Answers to pings of a peer that reads nothing would fill the memory.
        .max_write_buffer_size(MAX_UNSENT)
        .max_message_size(Some(MAX_ELEMENT))
        .max_frame_size(Some(MAX_ELEMENT))
}

/// Continues a handshake as far as the peer has sent its request.
fn shake_hands(handshake: MidHandshake<ServerHandshake<Wire, OriginCheck>>) -> io::Result<Connection> {
    match handshake.handshake() {
        Ok(connection) => Ok(Connection::Open(Box::new(connection))),
        Err(HandshakeError::Interrupted(handshake)) => Ok(Connection::Handshake(Box::new(handshake))),
        Err(HandshakeError::Failure(why)) => Err(io_error(why)),
    }
}

/// Sends what waits; returns whether nothing is left.
fn flush(connection: &mut WebSocket<Wire>) -> io::Result<bool> {
    match connection.flush() {
        Ok(()) => Ok(true),
        Err(Error::Io(why)) if why.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(why) => Err(io_error(why)),
    }
}

fn io_error(why: Error) -> io::Error {
    match why {
        Error::Io(why) => why,
        Error::ConnectionClosed | Error::AlreadyClosed => io::ErrorKind::ConnectionAborted.into(),
        why => io::Error::new(io::ErrorKind::InvalidData, why),
    }
}

/// The socket below the messages.
#[derive(Debug)]
struct Wire {
    socket: Arc<Socket>,
    /// Bytes for which the socket had no room.
    unsent: BytesMut,
    /// Bytes that may be read in this turn.
    left_to_read: usize,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.left_to_read);
        if len == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = (&*self.socket).read(&mut buffer[..len])?;
        self.left_to_read -= count;
        Ok(count)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unsent.len() >= MAX_UNSENT {
            self.flush()?;
        }
        self.unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.send_with_flags(&self.unsent, libc::MSG_NOSIGNAL) {
                Ok(sent) => drop(self.unsent.split_to(sent)),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) => return Err(why),
            }
        }
        Ok(())
    }
}

/// Notes whether a handshake is that of a program, or of a page that this machine itself serves. Browsers name the site of
/// the page in `Origin` (RFC 6454): without this check any page that a user opens could send commands to the forwarder.
#[derive(Debug)]
struct OriginCheck(Arc<AtomicBool>);

impl Callback for OriginCheck {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let origin = request.headers().get("Origin").map(|origin| origin.to_str().unwrap_or_default());
        self.0.store(origin.is_none_or(is_of_this_machine), Ordering::Relaxed);
        Ok(response)
    }
}

/// Whether an origin, `scheme://host` or `scheme://host:port`, has a loopback address as its host.
fn is_of_this_machine(origin: &str) -> bool {
    let host = origin.split_once("://").map_or("", |(_, authority)| authority);
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listen::StreamListener;
    use crate::transport::Transport;
    use std::net::TcpStream;
    use std::thread::JoinHandle;
    use tungstenite::client::IntoClientRequest;

    type Client = WebSocket<TcpStream>;

    /// A client, whose handshake has the header `Origin` if one is given.
    fn connect(address: SocketAddr, origin: Option<&'static str>) -> JoinHandle<Client> {
        std::thread::spawn(move || {
            let mut request = format!("ws://{address}/").into_client_request().expect("a URI");
            if let Some(origin) = origin {
                request.headers_mut().insert("Origin", origin.parse().expect("a header"));
            }
            let stream = TcpStream::connect(address).expect("it listens");
            tungstenite::client(request, stream).expect("accepted").0
        })
    }

    /// Both ends of a connection.
    fn pair(origin: Option<&'static str>) -> (WebSocketFace, Client) {
        let listener = StreamListener::websocket(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let FaceUri::WebSocket(address) = *listener.uri() else { panic!("{}", listener.uri()) };
        let client = connect(address, origin);
        let mut face = loop {
            match listener.accept_transport().expect("listening") {
                Some(Transport::WebSocket(face)) => break face,
                Some(other) => panic!("{other:?}"),
                None => std::thread::yield_now(),
            }
        };
        while !client.is_finished() {
            face.receive(|_| panic!("nothing was sent")).expect("connected");
            std::thread::yield_now();
        }
        (face, client.join().expect("no panic"))
    }

    /// Receives until `count` frames are there, or the connection ends.
    fn frames(face: &mut WebSocketFace, count: usize) -> io::Result<Vec<Bytes>> {
        let mut all = Vec::new();
        while all.len() < count && face.receive(|frame| all.push(frame))? != Received::Closed {}
        Ok(all)
    }

    #[test]
    fn one_binary_message_is_one_frame_in_both_directions() -> Result<(), Box<dyn std::error::Error>> {
        let (mut face, mut client) = pair(None);
        assert!(face.remote().to_string().starts_with("wsclient://127.0.0.1:"), "{}", face.remote());
        let sent: Vec<Vec<u8>> = [1, 125, 126, 8_800].map(|len| vec![7; len]).to_vec();
        for frame in &sent {
            client.send(Message::binary(frame.clone()))?;
        }
        assert_eq!(frames(&mut face, 4)?, sent);
        let parts = sent.iter().map(|frame| frame.split_at(frame.len() / 2));
        assert_eq!(face.send(parts)?, (4, false));
        for frame in sent {
            assert_eq!(client.read()?, Message::binary(frame));
        }
        Ok(())
    }

    #[test]
    fn many_messages_of_one_segment_are_all_received() -> Result<(), Box<dyn std::error::Error>> {
        let (mut face, mut client) = pair(None);
        for number in 0..2_000u32 {
            client.write(Message::binary(number.to_be_bytes().to_vec()))?;
        }
        client.flush()?;
        let received = frames(&mut face, 2_000)?;
        assert!(received.iter().zip(0u32..).all(|(frame, number)| frame[..] == number.to_be_bytes()));
        Ok(())
    }

    #[test]
    fn a_ping_is_answered_and_a_close_ends_the_connection() -> Result<(), Box<dyn std::error::Error>> {
        let (mut face, mut client) = pair(None);
        client.send(Message::Ping(Bytes::from_static(b"x")))?;
        client.send(Message::binary(vec![1]))?;
        assert_eq!(frames(&mut face, 1)?, [&[1][..]]);
        face.receive(|_| ())?;
        assert_eq!(client.read()?, Message::Pong(Bytes::from_static(b"x")));
        client.close(None)?;
        assert_eq!(frames(&mut face, 1)?, [&[][..]; 0]);
        Ok(())
    }

    #[test]
    fn few_pings_of_a_peer_that_reads_nothing_wait_to_be_answered() -> io::Result<()> {
        let (mut face, client) = pair(None);
        let mut peer = client.get_ref();
        peer.set_nonblocking(true)?;
        // 26 MB; the mask of a ping is zero.
        let pings = [&[0x89, 0x80 | 125, 0, 0, 0, 0][..], &[7; 125]].concat().repeat(200_000);
        let mut sent = 0;
        while sent < pings.len() {
            sent += peer.write(&pings[sent..]).unwrap_or(0);
            face.receive(|_| ())?;
        }
        let (mut answered, mut in_vain, mut buffer) = (0, 0, vec![0; 1 << 16]);
        while in_vain < 1_000 {
            in_vain += 1;
            if let Ok(taken) = peer.read(&mut buffer) {
                (answered, in_vain) = (answered + taken, 0);
            }
            face.receive(|_| ())?;
        }
        // What is more than the sockets have room for has waited in the memory of the face.
        assert!(answered < pings.len() / 2, "{answered} bytes of answers");
        Ok(())
    }

    #[test]
    fn a_message_larger_than_any_packet_is_an_error() -> Result<(), Box<dyn std::error::Error>> {
        let (mut face, mut client) = pair(None);
        client.send(Message::binary(vec![0; MAX_ELEMENT + 1]))?;
        let why = frames(&mut face, 1).expect_err("too large").kind();
        assert_eq!(why, io::ErrorKind::InvalidData);
        Ok(())
    }

    #[test]
    fn what_is_no_handshake_is_an_error() -> io::Result<()> {
        let listener = StreamListener::websocket(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let FaceUri::WebSocket(address) = *listener.uri() else { panic!("{}", listener.uri()) };
        let mut client = TcpStream::connect(address)?;
        client.write_all(b"GET / HTTP/1.1\r\n\r\n")?;
        let Some(Transport::WebSocket(mut face)) = listener.accept_transport()? else { panic!("waits") };
        let why = frames(&mut face, 1).expect_err("no key");
        assert_eq!(why.kind(), io::ErrorKind::InvalidData, "{why}");
        assert!(face.receive(|_| ()).is_ok() && !face.is_local());
        Ok(())
    }

    #[test]
    fn a_peer_that_does_not_read_makes_frames_wait() -> Result<(), Box<dyn std::error::Error>> {
        let (mut face, mut client) = pair(None);
        let frame = vec![7; 8_000];
        let mut sent = 0;
        while let (1, false) = face.send([(&frame[..], &[][..])].into_iter())? {
            sent += 1;
        }
        assert!(face.unsent_bytes() > 0);
        let (taken, is_full) = face.send([(&frame[..], &[][..])].into_iter())?;
        assert!(taken == 0 && is_full, "{taken} {is_full}");
        for _ in 0..sent {
            assert_eq!(client.read()?.len(), 8_000);
            flush_of(&mut face)?;
        }
        Ok(())
    }

    fn flush_of(face: &mut WebSocketFace) -> io::Result<()> {
        face.send(std::iter::empty()).map(|_| ())
    }

    #[test]
    fn pages_of_other_sites_are_not_local() {
        for (origin, is_local) in [
            (None, true),
            (Some("http://localhost:8080"), true),
            (Some("http://[::1]:80"), true),
            (Some("https://127.0.0.1"), true),
            (Some("https://example.com"), false),
            (Some("https://localhost.example.com"), false),
            (Some("null"), false),
        ] {
            assert_eq!(pair(origin).0.is_local(), is_local, "{origin:?}");
        }
    }
}
