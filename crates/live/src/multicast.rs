//! Multicast over UDP: one face to all forwarders of a link, on one interface.
//!
//! The socket is bound to the group, and receives from every member; own datagrams do not come back.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use bytes::Bytes;
use rustix::net::netdevice::name_to_index;
use socket2::{Domain, InterfaceIndexOrAddress, SockAddr, Socket, Type};

use crate::reception::Reception;
use crate::sys::{self, Backlog, Handed};
use crate::udp::{self, Faults, Received};

/// A member of a group on one interface.
#[derive(Debug)]
pub struct MulticastFace {
    socket: Socket,
    group: SocketAddr,
    local: SocketAddr,
    interface: String,
    /// Whether the system cuts datagrams of one size out of one message.
    sends_together: bool,
    faults: Faults,
}

impl MulticastFace {
    /// Joins `group` on `interface`.
    ///
    /// # Errors
    /// When there is no such interface, or it has no address of the group's family.
    pub fn join(group: SocketAddr, interface: &str) -> io::Result<Self> {
        let socket = udp::socket(group)?;
        let index = name_to_index(&socket, interface).map_err(|_| no_interface(interface))?;
        // Other programs of this machine may be members of the same group.
        socket.set_reuse_address(true)?;
        socket.bind_device(Some(interface.as_bytes()))?;
        let group = on_link(group, index);
        socket.bind(&group.into())?;
        match group {
            SocketAddr::V4(group) => {
                socket.join_multicast_v4_n(group.ip(), &InterfaceIndexOrAddress::Index(index))?;
                socket.set_multicast_loop_v4(false)?;
            }
            SocketAddr::V6(group) => {
                socket.join_multicast_v6(group.ip(), index)?;
                socket.set_multicast_if_v6(index)?;
                socket.set_multicast_loop_v6(false)?;
            }
        }
        let local = source_address(group, interface)?;
        let (interface, sends_together) = (interface.to_owned(), sys::TOGETHER);
        Ok(Self { socket, group, local, interface, sends_together, faults: Faults::default() })
    }

    /// Receives one batch of datagrams.
    ///
    /// # Errors
    /// When the socket or its interface cannot be used any more.
    pub fn receive(&mut self, memory: &mut Reception, mut take: impl FnMut(Bytes)) -> io::Result<Received> {
        let count = sys::recv_batch(self.socket.as_fd(), &mut memory.slots, false)?;
        for datagram in memory.slots.datagrams() {
            if datagram.is_truncated {
                self.faults.oversized += 1;
            } else {
                take(memory.chunks.keep(datagram.bytes));
            }
        }
        Ok(if count < sys::MESSAGES { Received::Drained } else { Received::More })
    }

    /// Sends frames of two parts each until the socket has no more room; returns how many were taken, and whether the rest
    /// has to wait for room.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> (usize, bool) {
        let group = SockAddr::from(self.group);
        let Handed { taken, failed, would_block, .. } =
            sys::send_batch_to(self.socket.as_fd(), Some(&group), frames, &mut self.sends_together);
        self.faults.unsent += failed as u64;
        (taken, would_block)
    }

    /// Memory of frames in the socket's send buffer, with the kernel's overhead, bytes; 0 if it is not available.
    pub fn unsent_bytes(&self) -> usize {
        sys::unsent_bytes(self.socket.as_fd(), Backlog::Unsent).unwrap_or(0)
    }

    /// Address that datagrams leave from, with the port of the group.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Address of the group.
    pub fn group(&self) -> SocketAddr {
        self.group
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

impl AsFd for MulticastFace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// An address of IPv6 needs the link on which it is valid.
fn on_link(group: SocketAddr, index: u32) -> SocketAddr {
    match group {
        SocketAddr::V6(mut group) => {
            group.set_scope_id(index);
            SocketAddr::V6(group)
        }
        SocketAddr::V4(_) => group,
    }
}

/// Address that the system chooses for datagrams to the group.
fn source_address(group: SocketAddr, interface: &str) -> io::Result<SocketAddr> {
    let probe = udp::socket(group)?;
    probe.bind_device(Some(interface.as_bytes()))?;
    probe.connect(&group.into())?;
    let mut local = udp::address_of(&probe)?;
    local.set_port(group.port());
    Ok(local)
}

/// Checks that this machine has a network interface.
///
/// # Errors
/// When it has none of this name.
pub(crate) fn check_interface(name: &str) -> io::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    name_to_index(&socket, name).map(|_| ()).map_err(|_| no_interface(name))
}

pub(crate) fn no_interface(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no network interface {name:?}"))
}
