//! Connections over WebSocket (RFC 6455), which browsers open: one binary message is one frame, as in NFD and NDNts.

mod messages;

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use bytes::Bytes;
use socket2::Socket;

use crate::listen::watch_peer;
use crate::stream::NOT_SENT;
use crate::sys::{self, Backlog};
use crate::udp::Received;
use crate::uri::FaceUri;

pub use messages::{MAX_READ, MAX_UNSENT, MessageStream};

/// A connection that a peer opened.
#[derive(Debug)]
pub struct WebSocketFace {
    socket: Arc<Socket>,
    messages: MessageStream<SharedSocket>,
    local: FaceUri,
    remote: FaceUri,
    is_loopback: bool,
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
        let socket = Arc::new(socket);
        Ok(Self {
            messages: MessageStream::accepted(SharedSocket(Arc::clone(&socket))),
            socket,
            local: FaceUri::WebSocket(local),
            remote: FaceUri::WebSocketClient(remote),
            is_loopback: local.ip().to_canonical().is_loopback() && remote.ip().to_canonical().is_loopback(),
        })
    }

    /// Reads as [`MessageStream::receive`].
    ///
    /// # Errors
    /// As there.
    pub fn receive(&mut self, take: impl FnMut(Bytes)) -> io::Result<Received> {
        self.messages.receive(take)
    }

    /// Sends as [`MessageStream::send`].
    ///
    /// # Errors
    /// As there.
    pub fn send<'a>(
        &mut self,
        frames: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> io::Result<(usize, bool)> {
        self.messages.send(frames)
    }

    /// Bytes that were never sent, in the socket and before it.
    pub fn unsent_bytes(&self) -> usize {
        if !self.messages.is_open() {
            return 0;
        }
        let below = sys::unsent_bytes(self.as_fd(), Backlog::NeverSent).unwrap_or(0);
        self.messages.unsent_bytes() + below
    }

    /// Whether the peer counts as being on this machine: both ends have loopback addresses (NFD), and it is no page of
    /// another site in a browser of this machine. `false` before the handshake.
    pub fn is_local(&self) -> bool {
        self.is_loopback && self.messages.is_of_this_machine()
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

/// The socket below the messages.
#[derive(Debug)]
struct SharedSocket(Arc<Socket>);

impl Read for SharedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for SharedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::MAX_ELEMENT;
    use crate::listen::StreamListener;
    use crate::transport::Transport;
    use std::net::TcpStream;
    use std::thread::JoinHandle;
    use tungstenite::client::IntoClientRequest;
    use tungstenite::{Message, WebSocket};

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
