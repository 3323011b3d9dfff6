//! The handshake and the messages of a WebSocket over any stream of bytes.
//!
//! The crate `tungstenite` makes them. It writes into memory of ours, which the stream below takes as it has room, so that the
//! bytes that wait are known to the queue above.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Bytes, BytesMut};
use tungstenite::error::ProtocolError;
use tungstenite::handshake::MidHandshake;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response, ServerHandshake};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};

use crate::framing::MAX_ELEMENT;
use crate::udp::Received;

/// Maximum bytes that one call reads, so that other connections have their turn.
pub const MAX_READ: usize = 16 * 1024;

/// Size of the buffer between stream and messages, bytes; every connection has one.
const READ_BUFFER: usize = 4 * 1024;

/// Bytes that may wait for room in the stream; further frames wait in the face's queue.
pub const MAX_UNSENT: usize = 32 * 1024;

/// The server's end of a WebSocket over a stream that does not block.
#[derive(Debug)]
pub struct MessageStream<S: Read + Write> {
    state: Connection<S>,
    /// Whether the handshake has shown that no page of another site is at the other end.
    is_trusted: Arc<AtomicBool>,
}

type Handshake<S> = MidHandshake<ServerHandshake<Wire<S>, OriginCheck>>;

#[derive(Debug)]
enum Connection<S: Read + Write> {
    Handshake(Box<Handshake<S>>),
    Open(Box<WebSocket<Wire<S>>>),
    Failed,
}

impl<S: Read + Write> MessageStream<S> {
    /// An accepted connection, before its handshake.
    pub fn accepted(stream: S) -> Self {
        let is_trusted = Arc::new(AtomicBool::new(false));
        let wire = Wire { stream, unsent: BytesMut::new(), left_to_read: 0 };
        let check = OriginCheck(Arc::clone(&is_trusted));
        let handshake = ServerHandshake::start(wire, check, Some(config()));
        Self { state: Connection::Handshake(Box::new(handshake)), is_trusted }
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

    /// Sends frames of two parts each until the stream has no more room; returns how many were taken, and whether the rest
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

    /// Whether the handshake has ended well.
    pub fn is_open(&self) -> bool {
        matches!(self.state, Connection::Open(_))
    }

    /// Bytes for which the stream had no room.
    pub fn unsent_bytes(&self) -> usize {
        match &self.state {
            Connection::Open(connection) => connection.get_ref().unsent.len(),
            _ => 0,
        }
    }

    /// Whether the handshake was that of a program, or of a page that this machine itself serves. `false` before the handshake.
    pub fn is_of_this_machine(&self) -> bool {
        self.is_trusted.load(Ordering::Relaxed)
    }
}

impl<S: Read + Write> Drop for MessageStream<S> {
    fn drop(&mut self) {
        if let Connection::Open(connection) = &mut self.state {
            // As much as the stream takes at once: nobody waits for a peer that is left.
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
fn shake_hands<S: Read + Write>(handshake: Handshake<S>) -> io::Result<Connection<S>> {
    match handshake.handshake() {
        Ok(connection) => Ok(Connection::Open(Box::new(connection))),
        Err(HandshakeError::Interrupted(handshake)) => Ok(Connection::Handshake(Box::new(handshake))),
        Err(HandshakeError::Failure(why)) => Err(io_error(why)),
    }
}

/// Sends what waits; returns whether nothing is left.
fn flush<S: Read + Write>(connection: &mut WebSocket<Wire<S>>) -> io::Result<bool> {
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

/// The stream below the messages.
#[derive(Debug)]
struct Wire<S> {
    stream: S,
    /// Bytes for which the stream had no room.
    unsent: BytesMut,
    /// Bytes that may be read in this turn.
    left_to_read: usize,
}

impl<S: Read> Read for Wire<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let len = buffer.len().min(self.left_to_read);
        if len == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = self.stream.read(&mut buffer[..len])?;
        self.left_to_read -= count;
        Ok(count)
    }
}

impl<S: Write> Write for Wire<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unsent.len() >= MAX_UNSENT {
            self.flush()?;
        }
        self.unsent.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
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
