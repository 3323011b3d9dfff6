//! Frames directly over Ethernet: to one station, or to the group of all NDN stations of a link (NFD).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;

use bytes::Bytes;
use rustix::net::netdevice::name_to_index;
use socket2::{Domain, Socket, Type};

use crate::framing::element_len;
use crate::multicast::no_interface;
use crate::reception::Reception;
use crate::sys::{self, Backlog, Handed};
use crate::udp::{Faults, RECEIVE_BUFFER, Received, SEND_BUFFER};

/// EtherType of NDN (IEEE registration of NDN).
const ETHERTYPE: u16 = 0x8624;

/// Bytes of a header: destination, source, EtherType.
const HEADER: usize = 14;

/// Address of a station or of a group of stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacAddress(pub [u8; 6]);

impl MacAddress {
    /// Whether it is that of a group, the broadcast address included.
    pub const fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FromStr for MacAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not an Ethernet address; write it like \"01:00:5e:00:17:aa\"");
        let mut octets = [0; 6];
        let mut words = text.split([':', '-']);
        for octet in &mut octets {
            let word = words.next().filter(|word| (1..=2).contains(&word.len())).ok_or_else(wrong)?;
            *octet = u8::from_str_radix(word, 16).map_err(|_| wrong())?;
        }
        if words.next().is_some() { Err(wrong()) } else { Ok(Self(octets)) }
    }
}

/// A face to one station or to a group, on one interface.
#[derive(Debug)]
pub struct EthernetFace {
    socket: Socket,
    remote: MacAddress,
    own: MacAddress,
    interface: String,
    faults: Faults,
}

impl EthernetFace {
    /// A face to `remote` on `interface`; joins a group.
    ///
    /// # Errors
    /// When the process lacks the capability CAP_NET_RAW, or there is no such interface, or it is down.
    pub fn open(remote: MacAddress, interface: &str) -> io::Result<Self> {
        // Without a protocol it receives nothing until it is bound to its interface.
        let socket = Socket::new(Domain::PACKET, Type::RAW, None).map_err(permission)?;
        socket.set_nonblocking(true)?;
        socket.set_send_buffer_size(SEND_BUFFER)?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        let index = name_to_index(&socket, interface).map_err(|_| no_interface(interface))?;
        socket.bind(&sys::packet_address(index, ETHERTYPE))?;
        // That of an interface that is down.
        if let Some(why) = socket.take_error()? {
            return Err(why);
        }
        let own = sys::hardware_address(&socket.local_addr()?).map(MacAddress);
        let own = own.ok_or_else(|| not_ethernet(interface))?;
        if remote.is_group() {
            sys::join_packet_group(socket.as_fd(), index, remote.0)?;
        }
        Ok(Self { socket, remote, own, interface: interface.to_owned(), faults: Faults::default() })
    }

    /// Receives one batch of Ethernet frames, and passes the content of those from the peer or to the group to `take`.
    ///
    /// # Errors
    /// When the interface is down or gone.
    pub fn receive(&mut self, memory: &mut Reception, mut take: impl FnMut(Bytes)) -> io::Result<Received> {
        let count = sys::recv_batch(self.socket.as_fd(), &mut memory.slots, false)?;
        for datagram in memory.slots.datagrams() {
            let Some((header, content)) = datagram.bytes.split_first_chunk::<HEADER>() else { continue };
            if !is_for(self.remote, self.own, header) {
                continue;
            }
            if datagram.is_truncated {
                self.faults.oversized += 1;
            } else {
                take(memory.chunks.keep(without_padding(content)));
            }
        }
        Ok(if count < sys::MESSAGES { Received::Drained } else { Received::More })
    }

    /// Sends frames of two parts each until the socket has no more room; returns how many were taken, and whether the rest
    /// has to wait for room.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> (usize, bool) {
        let header = header(self.remote, self.own);
        let framed: Vec<(Vec<u8>, &[u8])> =
            frames.map(|(head, body)| ([&header, head].concat(), body)).collect();
        let frames = framed.iter().map(|(head, body)| (&head[..], *body));
        let Handed { taken, failed, would_block, .. } =
            sys::send_batch(self.socket.as_fd(), frames, &mut false);
        self.faults.unsent += failed as u64;
        (taken, would_block)
    }

    /// Memory of frames in the socket's send buffer, with the kernel's overhead, bytes; 0 if it is not available.
    pub fn unsent_bytes(&self) -> usize {
        sys::unsent_bytes(self.socket.as_fd(), Backlog::Unsent).unwrap_or(0)
    }

    /// Address of the peer or of the group.
    pub fn remote(&self) -> MacAddress {
        self.remote
    }

    /// Name of the interface.
    pub fn interface(&self) -> &str {
        &self.interface
    }

    /// Errors so far that did not end the socket.
    pub fn faults(&self) -> Faults {
        self.faults
    }
}

impl AsFd for EthernetFace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn header(to: MacAddress, from: MacAddress) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..6].copy_from_slice(&to.0);
    header[6..12].copy_from_slice(&from.0);
    header[12..].copy_from_slice(&ETHERTYPE.to_be_bytes());
    header
}

/// Whether a frame with this header belongs to the face from `own` to `remote`.
fn is_for(remote: MacAddress, own: MacAddress, header: &[u8; HEADER]) -> bool {
    let (to, from) = (&header[..6], &header[6..12]);
    match remote.is_group() {
        true => to == remote.0 && from != own.0,
        false => to == own.0 && from == remote.0,
    }
}

/// The first element: Ethernet fills short frames up to 46 bytes. What is no element is left as it is, to be counted.
fn without_padding(content: &[u8]) -> &[u8] {
    match element_len(content) {
        Ok(Some(len)) => content.get(..len).unwrap_or(content),
        _ => content,
    }
}

fn permission(why: io::Error) -> io::Error {
    if why.kind() != io::ErrorKind::PermissionDenied {
        return why;
    }
    let text = "Ethernet faces need the capability CAP_NET_RAW (root, or AmbientCapabilities=CAP_NET_RAW of a service)";
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

fn not_ethernet(interface: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{interface:?} is no Ethernet interface"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: MacAddress = MacAddress([0x01, 0, 0x5e, 0, 0x17, 0xaa]);
    const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);
    const PEER: MacAddress = MacAddress([2, 0, 0, 0, 0, 2]);

    #[test]
    fn an_address_is_read_in_both_notations_and_shown_in_one() {
        for text in ["01:00:5e:00:17:aa", "1:0:5E:0:17:AA", "01-00-5e-00-17-aa"] {
            assert_eq!(text.parse().map(|address: MacAddress| address.to_string()), Ok(GROUP.to_string()));
        }
        for text in ["", "01:00:5e:00:17", "01:00:5e:00:17:aa:00", "01:00:5e:00:17:xx", "001:0:0:0:0:0"] {
            assert!(text.parse::<MacAddress>().is_err(), "{text}");
        }
        assert!(GROUP.is_group() && MacAddress([255; 6]).is_group() && !PEER.is_group());
    }

    #[test]
    fn a_frame_belongs_to_the_face_of_its_peer_or_of_its_group() {
        let other = MacAddress([2, 0, 0, 0, 0, 3]);
        for (remote, to, from, is_ours) in [
            (PEER, OWN, PEER, true),
            (PEER, OWN, other, false),
            (PEER, other, PEER, false),
            (PEER, GROUP, PEER, false),
            (GROUP, GROUP, PEER, true),
            (GROUP, GROUP, OWN, false),
            (GROUP, OWN, PEER, false),
        ] {
            assert_eq!(is_for(remote, OWN, &header(to, from)), is_ours, "{remote} {to} {from}");
        }
    }

    #[test]
    fn padding_is_removed_and_damage_is_kept() {
        assert_eq!(without_padding(&[6, 2, 7, 0, 0, 0, 0]), [6, 2, 7, 0]);
        assert_eq!(without_padding(&[6, 9, 7]), [6, 9, 7]);
        assert_eq!(without_padding(&[0, 0]), [0, 0]);
    }

    #[test]
    fn an_interface_that_does_not_exist_is_named() {
        let why = match EthernetFace::open(PEER, "no-such0") {
            // Without the capability nothing else is found out.
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
                assert!(why.to_string().contains("CAP_NET_RAW"), "{why}");
                return;
            }
            other => other.expect_err("no interface"),
        };
        assert_eq!(why.to_string(), "there is no network interface \"no-such0\"");
    }
}
