//! Connections to the metrics: few, short, and never waited for.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use tidegate_core::units::{Span, Time};

use super::http::{self, Asked, MAX_REQUEST};
use super::render;
use crate::daemon::status::StatusLine;

/// Maximum number of connections at once.
pub(in crate::daemon) const MAX_PEERS: usize = 8;

/// Time within which a client has to send its request and read the response.
const DEADLINE: Span = Span::from_secs(10);

/// A listener for scrapers, and their connections.
#[derive(Debug)]
pub(in crate::daemon) struct MetricsServer {
    listener: TcpListener,
    peers: [Option<Peer>; MAX_PEERS],
}

/// A connection, which carries one request and its response.
#[derive(Debug)]
struct Peer {
    socket: TcpStream,
    request: Vec<u8>,
    /// Response; empty until the request is complete.
    response: Vec<u8>,
    /// Number of bytes of the response that are sent.
    sent: usize,
    accepted_at: Time,
}

/// State of a connection after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::daemon) enum Progress {
    /// The rest of the request is to be received.
    Receives,
    /// The rest of the response is to be sent.
    Sends,
    /// The connection is closed.
    Closed,
}

impl MetricsServer {
    /// Listens at `address`.
    ///
    /// # Errors
    /// When the address is not available.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, peers: Default::default() })
    }

    /// The listening socket, to watch it.
    pub fn listener(&self) -> &TcpListener {
        &self.listener
    }

    /// Address at which the metrics are served.
    ///
    /// # Errors
    /// When the system does not report it.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Accepts one connection and returns its number; `None` if no further one waits. If there is no place, it takes that of the
    /// oldest connection that has not sent its request yet, so that silent clients keep nobody out; if there is none, it is
    /// closed.
    ///
    /// # Errors
    /// When the system has no descriptor left; the connection stays pending.
    pub fn accept(&mut self, now: Time) -> io::Result<Option<usize>> {
        loop {
            let socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(why) if is_temporary(&why) => return Ok(None),
                Err(why) => return Err(why),
            };
            let Some(place) = self.place() else { continue };
            if socket.set_nonblocking(true).is_err() {
                continue;
            }
            let peer = Peer { socket, request: Vec::new(), response: Vec::new(), sent: 0, accepted_at: now };
            self.peers[place] = Some(peer);
            return Ok(Some(place));
        }
    }

    /// A free place, or that of the oldest connection without a complete request.
    fn place(&self) -> Option<usize> {
        let silent = |(place, peer): (usize, &Option<Peer>)| {
            let peer = peer.as_ref().filter(|peer| peer.response.is_empty())?;
            Some((peer.accepted_at, place))
        };
        let free = self.peers.iter().position(Option::is_none);
        free.or_else(|| Some(self.peers.iter().enumerate().filter_map(silent).min()?.1))
    }

    /// Handles an event of the connection `place`; `status` is called for a request for metrics.
    pub fn on_event(&mut self, place: usize, status: impl FnOnce() -> Vec<StatusLine>) -> Progress {
        let Some(peer) = self.peers.get_mut(place).and_then(Option::as_mut) else { return Progress::Closed };
        let progress = peer.proceed(status).unwrap_or(Progress::Closed);
        if progress == Progress::Closed {
            self.peers[place] = None;
        }
        progress
    }

    /// The socket of the connection `place`, to watch it; `None` if it is closed.
    pub fn socket(&self, place: usize) -> Option<&TcpStream> {
        self.peers.get(place)?.as_ref().map(|peer| &peer.socket)
    }

    /// Closes connections that have taken too long.
    pub fn expire(&mut self, now: Time) {
        for peer in &mut self.peers {
            peer.take_if(|peer| now.since(peer.accepted_at) > DEADLINE);
        }
    }
}

impl Peer {
    fn proceed(&mut self, status: impl FnOnce() -> Vec<StatusLine>) -> io::Result<Progress> {
        if self.response.is_empty() {
            if self.receive()? {
                return Ok(Progress::Closed);
            }
            match http::read(&self.request) {
                Asked::Incomplete => return Ok(Progress::Receives),
                asked => self.response = response(asked, status),
            }
        }
        self.send()
    }

    /// Receives what is there of the request; returns whether the client has closed the connection.
    fn receive(&mut self) -> io::Result<bool> {
        let mut buffer = [0; MAX_REQUEST];
        let room = MAX_REQUEST - self.request.len();
        match self.socket.read(&mut buffer[..room]) {
            Ok(len) => {
                self.request.extend_from_slice(&buffer[..len]);
                Ok(len == 0)
            }
            Err(why) if is_temporary(&why) => Ok(false),
            Err(why) => Err(why),
        }
    }

    fn send(&mut self) -> io::Result<Progress> {
        while self.sent < self.response.len() {
            match self.socket.write(&self.response[self.sent..]) {
                Ok(len) => self.sent += len,
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                Err(why) if why.kind() == io::ErrorKind::WouldBlock => return Ok(Progress::Sends),
                Err(why) => return Err(why),
            }
        }
        Ok(Progress::Closed)
    }
}

fn is_temporary(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn response(asked: Asked, status: impl FnOnce() -> Vec<StatusLine>) -> Vec<u8> {
    match asked {
        Asked::Metrics { exposition, is_head } => {
            let body = render(&status(), exposition);
            http::response("200 OK", exposition.content_type(), &body, is_head)
        }
        Asked::Refused(status) => http::response(status, "text/plain", &format!("{status}\n"), false),
        Asked::Incomplete => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> (MetricsServer, SocketAddr) {
        let server = MetricsServer::bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let address = server.local().expect("bound");
        (server, address)
    }

    fn connect(server: &mut MetricsServer, address: SocketAddr, now: Time) -> (TcpStream, Option<usize>) {
        let client = TcpStream::connect(address).expect("listening");
        // The connection is established by the system before or shortly after `connect` returns.
        let place = std::iter::repeat_with(|| server.accept(now).expect("descriptors")).flatten().next();
        (client, place)
    }

    fn status() -> Vec<StatusLine> {
        vec![StatusLine::new("forwarder").with("cache_hits", 3)]
    }

    /// Handles events until the connection is closed or more of the request is needed.
    fn settle(server: &mut MetricsServer, place: usize, client: &TcpStream) -> Progress {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
        loop {
            let progress = server.on_event(place, status);
            let has_more = client.peek(&mut [0]).is_ok();
            if progress == Progress::Closed || has_more || std::time::Instant::now() > until {
                return progress;
            }
        }
    }

    #[test]
    fn a_request_gets_the_metrics_and_the_connection_ends() {
        let (mut server, address) = server();
        let (mut client, place) = connect(&mut server, address, Time::ZERO);
        let place = place.expect("a place");
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("connected");
        assert_eq!(settle(&mut server, place, &client), Progress::Closed);
        let mut text = String::new();
        client.read_to_string(&mut text).expect("the response ends");
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("tidegate_cache_hits_total 3\n"),
            "{text}"
        );
    }

    #[test]
    fn silent_clients_keep_nobody_out_and_end_in_time() {
        let (mut server, address) = server();
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let silent: Vec<_> =
            (0..MAX_PEERS as u64).map(|number| connect(&mut server, address, at(number))).collect();
        assert!(silent.iter().all(|(_, place)| place.is_some()));
        // In turn, each in the place of the oldest.
        for number in 0..2 {
            let (mut client, place) = connect(&mut server, address, at(100 + number));
            assert_eq!(place, silent[number as usize].1);
            client.write_all(b"GET /metrics HTTP/1.1\r\n").expect("connected");
        }
        server.expire(at(100) + DEADLINE);
        assert_eq!(server.peers.iter().flatten().count(), 2);
        server.expire(at(101) + DEADLINE + Span::from_nanos(1));
        assert!(server.peers.iter().all(Option::is_none));
    }
}
