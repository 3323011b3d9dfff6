//! A peer of a forwarder that sends whatever it likes, and packets to send.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use tidegate_wire::tlv::{self, TlvReader, types};
use tidegate_wire::{InterestBuilder, name};

use support::running::{Forwarder, Way, patience};

/// Wait for one answer over UDP before it is asked for again.
const LOST: Duration = Duration::from_millis(500);

enum Line {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// One end of a connection to a forwarder.
pub struct Peer {
    line: Line,
    /// Received, not yet whole.
    incoming: Vec<u8>,
    requested: u32,
}

impl Peer {
    /// Connects; over UDP nothing is sent yet.
    pub fn connect(forwarder: &Forwarder, way: Way) -> Self {
        match way {
            Way::Udp => {
                let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
                socket.connect(forwarder.address(way)).expect("an address");
                Self::over_udp(socket)
            }
            Way::Tcp => {
                let stream = TcpStream::connect(forwarder.address(way)).expect("it listens");
                stream.set_read_timeout(Some(patience())).expect("a timeout can be set");
                Self::over(Line::Tcp(stream))
            }
            Way::Unix => Self::over_unix(Path::new(forwarder.address(way))),
        }
    }

    /// Over the Unix socket in a file.
    pub fn over_unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).expect("it listens");
        stream.set_read_timeout(Some(patience())).expect("a timeout can be set");
        Self::over(Line::Unix(stream))
    }

    /// Over a connected socket.
    pub fn over_udp(socket: UdpSocket) -> Self {
        socket.set_read_timeout(Some(LOST)).expect("a timeout can be set");
        Self::over(Line::Udp(socket))
    }

    fn over(line: Line) -> Self {
        Self { line, incoming: Vec::new(), requested: 0 }
    }

    /// Sends bytes: a datagram, or the next part of the stream. A forwarder that has ended the connection is
    /// no fault of the test.
    pub fn send(&mut self, bytes: &[u8]) {
        // An error of an earlier datagram may be told now, or that the connection has ended.
        let _ = match &mut self.line {
            Line::Udp(socket) => socket.send(bytes).map(|_| ()),
            Line::Tcp(stream) => stream.write_all(bytes),
            Line::Unix(stream) => stream.write_all(bytes),
        };
    }

    /// The next frame; `None` when the connection has ended, or over UDP when nothing came for a while.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(len) = whole_element(&self.incoming) {
                return Some(self.incoming.drain(..len).collect());
            }
            let mut buffer = [0; 1 << 16];
            let read = match &mut self.line {
                Line::Udp(socket) => match socket.recv(&mut buffer) {
                    Ok(len) => return Some(buffer[..len].to_vec()),
                    Err(_) => return None,
                },
                Line::Tcp(stream) => stream.read(&mut buffer),
                Line::Unix(stream) => stream.read(&mut buffer),
            };
            match read {
                Ok(0) => return None,
                Ok(len) => self.incoming.extend_from_slice(&buffer[..len]),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::ConnectionReset => return None,
                Err(why) => panic!("nothing comes: {why}"),
            }
        }
    }

    /// Sends nothing more and waits until the forwarder has read everything and ended the connection too.
    pub fn end(mut self) {
        let reported = match &self.line {
            Line::Udp(_) => return,
            Line::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Line::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
        if reported.is_ok() {
            while self.receive().is_some() {}
        }
    }

    /// Everything that the forwarder sent on what it was sent so far: what comes before the answer to an
    /// Interest that has no route.
    #[track_caller]
    pub fn answers(&mut self) -> Vec<Vec<u8>> {
        let until = Instant::now() + patience();
        let mut answers = Vec::new();
        loop {
            self.requested += 1;
            let marker = uri(&["no-route", &self.requested.to_string()]);
            self.send(&interest(&marker));
            while let Some(frame) = self.receive() {
                if nack_about(&frame) == Some(marker.clone()) {
                    return answers;
                }
                answers.push(frame);
            }
            assert!(matches!(self.line, Line::Udp(_)), "the forwarder ended the connection");
            assert!(Instant::now() < until, "no answer");
        }
    }
}

fn whole_element(bytes: &[u8]) -> Option<usize> {
    let element = TlvReader::new(bytes).next().ok().flatten()?;
    Some(element.end())
}

/// A name of generic components, without the enclosing Name.
pub fn uri(components: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    components.iter().for_each(|component| name::push_component(&mut bytes, 8, component.as_bytes()));
    bytes
}

/// An Interest for exactly this name.
pub fn interest(name: &[u8]) -> Vec<u8> {
    InterestBuilder { name, ..InterestBuilder::default() }.build().expect("valid").to_vec()
}

/// An element of these parts.
pub fn element(kind: u32, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    tlv::write_element(&mut bytes, kind, &parts.concat());
    bytes
}

/// A link frame: fields, then the packet or its part.
pub fn frame(fields: &[&[u8]], fragment: &[u8]) -> Vec<u8> {
    element(types::LP_PACKET, &[&fields.concat(), &element(types::FRAGMENT, &[fragment])])
}

/// The value of the link field of this type; `None` when there is none.
pub fn field(frame: &[u8], kind: u32) -> Option<Vec<u8>> {
    let outer = TlvReader::new(frame).only().ok().filter(|outer| outer.kind == types::LP_PACKET)?;
    let mut fields = outer.inside();
    while let Ok(Some(field)) = fields.next() {
        if field.kind == kind {
            return Some(field.value.to_vec());
        }
    }
    None
}

/// The packet in a frame.
pub fn packet(frame: &[u8]) -> Vec<u8> {
    if frame.first() == Some(&(types::LP_PACKET as u8)) {
        field(frame, types::FRAGMENT).unwrap_or_default()
    } else {
        frame.to_vec()
    }
}

/// The name (components) of the Interest or Data in a frame.
pub fn name_in(frame: &[u8]) -> Option<Vec<u8>> {
    let packet = packet(frame);
    let outer = TlvReader::new(&packet).only().ok()?;
    let name = outer.inside().next().ok().flatten().filter(|name| name.kind == types::NAME)?;
    Some(name.value.to_vec())
}

fn nack_about(frame: &[u8]) -> Option<Vec<u8>> {
    field(frame, types::NACK)?;
    name_in(frame)
}
