//! System calls without a safe wrapper: many datagrams per call, the bytes that wait in a socket, and its peer's user.
//!
//! The only unsafe code of the live side. Every block says why it is sound; all of them rest on one rule:
//! the kernel gets pointers into memory that outlives the call, with the lengths of that memory.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use socket2::{SockAddr, SockAddrStorage};

use crate::control_messages::{self, ControlBuffer, ControlMessages, LocalAddress, UDP_GRO};

/// Maximum number of datagrams sent per system call, and of those that the kernel cuts out of one message.
pub(crate) const BATCH: usize = 64;

/// Maximum number of messages received per system call. Each may consist of many datagrams of one size.
pub(crate) const MESSAGES: usize = 16;

/// Size of one message's slot, bytes: the maximum that the kernel combines.
const SLOT: usize = 1 << 16;

/// Maximum size of a datagram, bytes: the largest NDN packet (8800) and its link fields.
pub(crate) const MAX: usize = 9000;

/// Maximum bytes of datagrams that are sent as one message, to be cut by the kernel or the device.
const MAX_TOGETHER: usize = 60_000;

/// Size of the largest supported socket address (IPv6), bytes.
const ADDRESS: usize = size_of::<libc::sockaddr_in6>();

/// Room for one control message with a number in it to send, aligned as the kernel's header is.
type Control = [u64; 3];

/// Memory for one batch of datagrams, used again for every batch.
pub(crate) struct Slots {
    bytes: Box<[u8]>,
    addresses: Box<[[u8; ADDRESS]; MESSAGES]>,
    controls: Box<[ControlBuffer; MESSAGES]>,
    received: Vec<MessageSlot>,
}

/// Control data of one message from the kernel.
#[derive(Clone, Copy, Debug)]
struct MessageSlot {
    len: usize,
    /// Bytes of each datagram but the last, which may be shorter.
    each: usize,
    is_truncated: bool,
    to: Option<LocalAddress>,
}

/// A datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram<'a> {
    /// Its content, truncated to [`MAX`] bytes.
    pub(crate) bytes: &'a [u8],
    /// Address of the sender; `None` if it was not requested or has another family.
    pub(crate) from: Option<SocketAddr>,
    /// Address that it was sent to; `None` unless [`report_destination`] requested it.
    pub(crate) to: Option<LocalAddress>,
    /// Whether it was truncated.
    pub(crate) is_truncated: bool,
}

impl Slots {
    pub(crate) fn new() -> Self {
        Self {
            bytes: vec![0; MESSAGES * SLOT].into_boxed_slice(),
            addresses: Box::new([[0; ADDRESS]; MESSAGES]),
            controls: Box::new([ControlBuffer([0; 64]); MESSAGES]),
            received: Vec::with_capacity(MESSAGES),
        }
    }

    /// All slots as one piece of memory, for streams.
    pub(crate) fn as_buffer(&mut self) -> &mut [u8] {
        self.received.clear();
        &mut self.bytes
    }

    /// The datagrams of the last batch.
    pub(crate) fn datagrams(&self) -> impl Iterator<Item = Datagram<'_>> {
        let slots = self.bytes.chunks_exact(SLOT).zip(&self.addresses[..]).zip(&self.received);
        slots.flat_map(|((bytes, address), slot)| {
            let from = read_address(address);
            let datagram = move |bytes: &'_ [u8]| (bytes.len().min(MAX), bytes.len() > MAX);
            // An empty datagram is one, too.
            let whole = slot.len.max(1);
            (0..whole).step_by(slot.each.max(1)).map(move |start| {
                let bytes = &bytes[start..(start + slot.each).min(slot.len)];
                let (len, is_long) = datagram(bytes);
                let is_truncated = slot.is_truncated || is_long;
                Datagram { bytes: &bytes[..len], from, to: slot.to, is_truncated }
            })
        })
    }
}

/// Receives up to [`MESSAGES`] messages that wait in a non-blocking socket; returns their number, 0 for none.
///
/// # Errors
/// Errors of the socket, such as a refusal in response to an earlier datagram.
pub(crate) fn recv_batch(socket: BorrowedFd<'_>, slots: &mut Slots, with_source: bool) -> io::Result<usize> {
    slots.received.clear();
    let mut parts: [libc::iovec; MESSAGES] = [EMPTY_PART; MESSAGES];
    let mut heads: [libc::mmsghdr; MESSAGES] = [EMPTY_HEAD; MESSAGES];
    let places = slots.bytes.chunks_exact_mut(SLOT).zip(slots.addresses.iter_mut());
    let places = places.zip(slots.controls.iter_mut());
    for ((((bytes, address), control), part), head) in places.zip(&mut parts).zip(&mut heads) {
        *part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        head.msg_hdr.msg_iov = part;
        head.msg_hdr.msg_iovlen = 1;
        // No family: nothing of an earlier batch is read if the kernel writes none.
        address[..2].fill(0);
        head.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
        head.msg_hdr.msg_controllen = control.0.len() as _;
        if with_source {
            head.msg_hdr.msg_name = address.as_mut_ptr().cast();
            head.msg_hdr.msg_namelen = ADDRESS as libc::socklen_t;
        }
    }
    // SAFETY: `heads` holds MESSAGES headers. Each points to one part, in an array that lives until the end of
    // this function, to one control buffer and at most one address; part, control buffer and address point into
    // `slots`, borrowed mutably for as long, no two into the same place, with the lengths given. Every byte
    // pattern is valid there.
    let count = unsafe {
        libc::recvmmsg(
            socket.as_raw_fd(),
            heads.as_mut_ptr(),
            MESSAGES as libc::c_uint,
            libc::MSG_DONTWAIT as _,
            ptr::null_mut(),
        )
    };
    let count = match usize::try_from(count) {
        Ok(count) => count,
        Err(_) => return nothing_waits(io::Error::last_os_error()),
    };
    slots.received.extend(heads.iter().zip(&slots.controls[..]).take(count).map(|(head, control)| {
        let len = (head.msg_len as usize).min(SLOT);
        let is_truncated = head.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
        // The kernel has written how much of the buffer it used.
        let written: usize = head.msg_hdr.msg_controllen as _;
        let written = written.min(control.0.len());
        let ControlMessages { each, to } = control_messages::read(&control.0[..written]);
        MessageSlot { len, each: each.unwrap_or(len), is_truncated, to }
    }));
    Ok(count)
}

/// Type of the control message with the size to cut datagrams to (`linux/udp.h`).
const UDP_SEGMENT: libc::c_int = 103;

/// Whether control messages are laid out as this file writes them.
pub(crate) const TOGETHER: bool = size_of::<libc::cmsghdr>() == 2 * size_of::<u64>();

/// Lets the kernel combine consecutive datagrams of one size into one message; returns whether it does.
pub(crate) fn receive_together(socket: BorrowedFd<'_>) -> bool {
    if !TOGETHER {
        return false;
    }
    set_number(socket, libc::SOL_UDP, UDP_GRO, 1).is_ok()
}

/// Requests the address that each datagram was sent to.
///
/// # Errors
/// When the socket is no datagram socket of this family.
pub(crate) fn report_destination(socket: BorrowedFd<'_>, is_v6: bool) -> io::Result<()> {
    match is_v6 {
        false => set_number(socket, libc::IPPROTO_IP, libc::IP_PKTINFO, 1),
        true => set_number(socket, libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO, 1),
    }
}

/// Sets a socket option that is one number.
fn set_number(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    name: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the option takes one `int`, and the kernel reads no more than the length given; the pointer and the length
    // are those of `value`.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of_val(&value) as libc::socklen_t,
        )
    };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn nothing_waits(why: io::Error) -> io::Result<usize> {
    match why.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(0),
        _ => Err(why),
    }
}

/// Result of handing datagrams over for sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Handed {
    /// Number of datagrams at the front that are finished, sent or failed.
    pub(crate) taken: usize,
    /// Number of finished datagrams that could not be sent.
    pub(crate) failed: usize,
    /// Whether the socket has no more room.
    pub(crate) would_block: bool,
    /// The last error of a datagram that failed.
    pub(crate) error: Option<i32>,
}

/// As [`send_batch_to`], over a connected socket.
pub(crate) fn send_batch<'a>(
    socket: BorrowedFd<'_>,
    datagrams: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    together: &mut bool,
) -> Handed {
    send_batch_to(socket, None, datagrams, together)
}

/// Sends datagrams of two parts each over a non-blocking socket to `to`, which a connected socket does not need, until it has no more room. A
/// datagram that cannot be sent (too large, peer not there, no route) is skipped; the rest is sent.
///
/// While `together`, datagrams of one size that follow each other are handed over as one message; it becomes
/// false when the system refuses that.
pub(crate) fn send_batch_to<'a>(
    socket: BorrowedFd<'_>,
    to: Option<&SockAddr>,
    datagrams: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    together: &mut bool,
) -> Handed {
    let socket = Way { socket, to };
    let mut done = Handed::default();
    let mut datagrams = datagrams.peekable();
    let mut batch: Vec<[&[u8]; 2]> = Vec::with_capacity(BATCH);
    while datagrams.peek().is_some() && !done.would_block {
        batch.clear();
        batch.extend(datagrams.by_ref().take(BATCH).map(|(head, body)| [head, body]));
        send_all_of(socket, &batch, together, &mut done);
    }
    done
}

/// A socket, and the address to send to unless it is connected.
#[derive(Clone, Copy)]
struct Way<'a> {
    socket: BorrowedFd<'a>,
    to: Option<&'a SockAddr>,
}

/// Sends `batch`, and continues after every datagram that fails.
fn send_all_of(socket: Way<'_>, batch: &[[&[u8]; 2]], together: &mut bool, done: &mut Handed) {
    let mut sent = 0;
    let mut has_tried_again = false;
    let mut grouped = *together;
    while sent < batch.len() {
        match send_some_of(socket, &batch[sent..], grouped) {
            Ok(count) => {
                sent += count;
                done.taken += count;
                has_tried_again = false;
            }
            Err(why) if why.kind() == io::ErrorKind::WouldBlock => {
                done.would_block = true;
                return;
            }
            // The error belongs to an earlier datagram: this one was not tried yet.
            Err(why) if is_about_another(&why) && !has_tried_again => has_tried_again = true,
            // Cutting may be what failed: for this batch, or for good where the device cannot do it.
            Err(why) if grouped => {
                grouped = false;
                *together = !is_about_cutting(&why);
            }
            Err(why) => {
                sent += 1;
                done.taken += 1;
                done.failed += 1;
                done.error = why.raw_os_error();
                has_tried_again = false;
            }
        }
    }
}

fn is_about_cutting(why: &io::Error) -> bool {
    let code = why.raw_os_error();
    matches!(code, Some(libc::EIO | libc::EINVAL | libc::ENOPROTOOPT | libc::EOPNOTSUPP))
}

fn is_about_another(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::Interrupted)
}

/// Sends from the front of `batch`; returns how many datagrams were taken.
fn send_some_of(Way { socket, to }: Way<'_>, batch: &[[&[u8]; 2]], together: bool) -> io::Result<usize> {
    let mut parts: [[libc::iovec; 2]; BATCH] = [[EMPTY_PART; 2]; BATCH];
    let mut controls: [Control; BATCH] = [[0; 3]; BATCH];
    let mut heads: [libc::mmsghdr; BATCH] = [EMPTY_HEAD; BATCH];
    let batch = &batch[..batch.len().min(BATCH)];
    for (datagram, parts) in batch.iter().zip(&mut parts) {
        *parts = datagram
            .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    }
    // Datagrams up to the end of each message.
    let mut ends = [0; BATCH];
    let (mut start, mut count) = (0, 0);
    let mut rest = parts.as_flattened_mut();
    while start < batch.len() {
        let run = if together { equal_in_a_row(&batch[start..]) } else { 1 };
        let (of_run, behind) = rest.split_at_mut(2 * run);
        rest = behind;
        let header = &mut heads[count].msg_hdr;
        header.msg_iov = of_run.as_mut_ptr();
        header.msg_iovlen = of_run.len() as _;
        if let Some(to) = to {
            header.msg_name = to.as_ptr().cast_mut().cast();
            header.msg_namelen = to.len();
        }
        if run > 1 {
            let size = batch[start][0].len() + batch[start][1].len();
            controls[count] = size_control(size);
            header.msg_control = controls[count].as_mut_ptr().cast();
            header.msg_controllen = size_of::<Control>() as _;
        }
        start += run;
        ends[count] = start;
        count += 1;
    }
    // SAFETY: the first `count` headers are filled in. Each points to a run of parts, all of one slice and of
    // no other run's, in an array that lives until the end of this function, and each part to a slice
    // borrowed for longer, with its length; a header with control data points to one element of `controls`, a
    // whole `cmsghdr` with its number; one with an address points to `to`, borrowed for longer, with its length. The kernel only reads through them; `cast_mut` is there because the
    // structure is shared with receiving.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            heads.as_mut_ptr(),
            count as libc::c_uint,
            (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
        )
    };
    match usize::try_from(sent) {
        // Never 0 for a batch that is not empty; if it were, going on would not end.
        Ok(0) => Err(io::ErrorKind::WriteZero.into()),
        Ok(sent) => Ok(ends[sent.min(count) - 1]),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Number of datagrams at the front that the kernel can cut out of one message: all of one size but the last,
/// which may be shorter.
fn equal_in_a_row(batch: &[[&[u8]; 2]]) -> usize {
    let size = |datagram: &[&[u8]; 2]| datagram[0].len() + datagram[1].len();
    let first = size(&batch[0]);
    let max = MAX_TOGETHER.checked_div(first).unwrap_or(1).max(1);
    let equal = batch.iter().take(max).take_while(|datagram| size(datagram) == first).count();
    let has_rest = equal < max && batch.get(equal).is_some_and(|next| (1..first).contains(&size(next)));
    equal + usize::from(has_rest)
}

/// The control message that sets the segment size of a batch to `size` bytes.
fn size_control(size: usize) -> Control {
    // `cmsghdr`: its length with the number's two bytes, level and type, the number.
    let length = size_of::<libc::cmsghdr>() + 2;
    let mut kind = [0; 8];
    kind[..4].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
    kind[4..].copy_from_slice(&UDP_SEGMENT.to_ne_bytes());
    let mut number = [0; 8];
    // A run is made of datagrams of at most `MAX_TOGETHER` bytes.
    number[..2].copy_from_slice(&(size as u16).to_ne_bytes());
    [length as u64, u64::from_ne_bytes(kind), u64::from_ne_bytes(number)]
}

/// Kinds of counters of waiting bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backlog {
    /// Datagrams and Unix streams: memory of unsent packets, including the kernel's overhead.
    Unsent,
    /// TCP: bytes that were never sent; those that wait for an acknowledgement do not count.
    NeverSent,
}

/// Bytes that wait in the socket's send buffer.
///
/// # Errors
/// If the socket has no such counter.
pub(crate) fn unsent_bytes(socket: BorrowedFd<'_>, backlog: Backlog) -> io::Result<usize> {
    /// `SIOCOUTQNSD` of `linux/sockios.h`, the same on every architecture.
    const NEVER_SENT: libc::c_ulong = 0x894B;
    let request = match backlog {
        Backlog::Unsent => libc::TIOCOUTQ as libc::c_ulong,
        Backlog::NeverSent => NEVER_SENT,
    };
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one `int` through the pointer, which is valid for it during the call.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), request as _, &raw mut bytes) };
    if code < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::try_from(bytes).unwrap_or(0))
}

/// Disables IP fragmentation: a datagram that is too large for the network interface fails, and routers drop one that is too large
/// for the path. ICMP messages, which anybody can forge, have no effect (`IP_PMTUDISC_PROBE` in ip(7)).
///
/// # Errors
/// When the socket is no datagram socket of this family.
pub(crate) fn forbid_ip_fragments(socket: BorrowedFd<'_>, is_v6: bool) -> io::Result<()> {
    let (level, name, value) = match is_v6 {
        false => (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE),
        true => (libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, libc::IPV6_PMTUDISC_PROBE),
    };
    set_number(socket, level, name, value)
}

/// Largest IP packet on the path of a connected datagram socket as far as the system knows, bytes.
///
/// # Errors
/// When the socket is no datagram socket of this family, or not connected.
pub(crate) fn path_mtu(socket: BorrowedFd<'_>, is_v6: bool) -> io::Result<usize> {
    let (level, name) = match is_v6 {
        false => (libc::IPPROTO_IP, libc::IP_MTU),
        true => (libc::IPPROTO_IPV6, libc::IPV6_MTU),
    };
    let mut mtu = [0];
    read_words(socket, (level, name), &mut mtu)?;
    Ok(mtu[0] as usize)
}

/// Datagrams that the kernel dropped at this socket, mostly because its receive buffer was full.
///
/// # Errors
/// If the kernel (before Linux 4.12) has no such counter.
pub(crate) fn dropped_datagrams(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut counts = [0_u32; libc::SK_MEMINFO_DROPS as usize + 1];
    read_words(socket, (libc::SOL_SOCKET, libc::SO_MEMINFO), &mut counts)?;
    Ok(counts[libc::SK_MEMINFO_DROPS as usize])
}

/// The address of a packet socket that receives frames of `ethertype` from the interface of this number.
pub(crate) fn packet_address(interface: u32, ethertype: u16) -> SockAddr {
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: `SockAddrStorage` has room for every kind of socket address, and zeros are a valid `sockaddr_ll`, which has
    // integers only.
    let address = unsafe { storage.view_as::<libc::sockaddr_ll>() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = ethertype.to_be();
    // Numbers of interfaces are positive `int`s.
    address.sll_ifindex = interface as libc::c_int;
    // SAFETY: the storage holds a `sockaddr_ll`, whose length is given.
    unsafe { SockAddr::new(storage, size_of::<libc::sockaddr_ll>() as libc::socklen_t) }
}

/// The Ethernet address of the interface in the address of a packet socket; `None` if the interface has another type.
pub(crate) fn hardware_address(address: &SockAddr) -> Option<[u8; 6]> {
    if i32::from(address.family()) != libc::AF_PACKET {
        return None;
    }
    // SAFETY: an address of this family is a `sockaddr_ll`, and behind the pointer is a whole storage, which is larger; every
    // byte pattern is a valid `sockaddr_ll`. The pointer is aligned for every kind of socket address.
    let address = unsafe { ptr::read(address.as_ptr().cast::<libc::sockaddr_ll>()) };
    let is_ethernet = address.sll_hatype == libc::ARPHRD_ETHER && address.sll_halen == 6;
    is_ethernet.then(|| std::array::from_fn(|at| address.sll_addr[at]))
}

/// Lets a packet socket receive frames to a group of stations.
///
/// # Errors
/// When the interface does not exist.
pub(crate) fn join_packet_group(socket: BorrowedFd<'_>, interface: u32, group: [u8; 6]) -> io::Result<()> {
    let mut address = [0; 8];
    address[..6].copy_from_slice(&group);
    let request = libc::packet_mreq {
        // Numbers of interfaces are positive `int`s.
        mr_ifindex: interface as libc::c_int,
        mr_type: libc::PACKET_MR_MULTICAST as u16,
        mr_alen: 6,
        mr_address: address,
    };
    // SAFETY: the option takes a `packet_mreq`; the pointer and the length are those of `request`.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_ADD_MEMBERSHIP,
            (&raw const request).cast(),
            size_of_val(&request) as libc::socklen_t,
        )
    };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Maximum number of supplementary groups of a peer that are read.
const MAX_GROUPS: usize = 256;

/// User and primary group of the process that connected a Unix stream, as of that moment.
///
/// # Errors
/// If the socket is no Unix stream.
pub(crate) fn peer_user(socket: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    // `ucred` has three numbers of 32 bits: process, user, group.
    let mut words = [0_u32; 3];
    read_words(socket, (libc::SOL_SOCKET, libc::SO_PEERCRED), &mut words)?;
    Ok((words[1], words[2]))
}

/// Supplementary groups of the process that connected a Unix stream, as of that moment.
///
/// # Errors
/// If the socket is no Unix stream, or the process has more than [`MAX_GROUPS`] groups.
pub(crate) fn peer_groups(socket: BorrowedFd<'_>) -> io::Result<Vec<u32>> {
    let mut words = [0_u32; MAX_GROUPS];
    let count = read_words(socket, (libc::SOL_SOCKET, libc::SO_PEERGROUPS), &mut words)?;
    Ok(words[..count].to_vec())
}

/// Reads a socket option, given by level and name, that consists of numbers of 32 bits; returns how many it has.
fn read_words(
    socket: BorrowedFd<'_>,
    (level, name): (libc::c_int, libc::c_int),
    words: &mut [u32],
) -> io::Result<usize> {
    let mut len = size_of_val(words) as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes through the pointer, which is valid for the whole slice, and
    // then the length through the other; every byte pattern is a valid number.
    let code =
        unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, words.as_mut_ptr().cast(), &raw mut len) };
    if code < 0 { Err(io::Error::last_os_error()) } else { Ok(len as usize / size_of::<u32>()) }
}

const EMPTY_PART: libc::iovec = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };

// SAFETY: a header of zeros is the empty one: no address, no parts, no control data, no flags. All its
// fields are integers and raw pointers, for which zero is valid.
const EMPTY_HEAD: libc::mmsghdr = unsafe { std::mem::zeroed() };

/// Reads an address that the kernel wrote, by the layout of `sockaddr_in` and `sockaddr_in6`.
fn read_address(bytes: &[u8; ADDRESS]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    match i32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) {
        libc::AF_INET => {
            let ip = Ipv4Addr::new(bytes[4], bytes[5], bytes[6], bytes[7]);
            Some(SocketAddr::V4(SocketAddrV4::new(ip, port)))
        }
        libc::AF_INET6 => {
            let ip: [u8; 16] = bytes[8..24].try_into().ok()?;
            let scope = u32::from_ne_bytes(bytes[24..28].try_into().ok()?);
            Some(SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::from(ip), port, 0, scope)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    fn pair() -> io::Result<(UdpSocket, UdpSocket)> {
        let (a, b) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
        a.connect(b.local_addr()?)?;
        b.connect(a.local_addr()?)?;
        Ok((a, b))
    }

    #[test]
    fn datagrams_of_two_parts_arrive_whole_in_order_and_with_their_source() -> io::Result<()> {
        let (a, b) = pair()?;
        let heads: Vec<[u8; 1]> = (0..100).map(|number| [number]).collect();
        let handed = send_batch(a.as_fd(), heads.iter().map(|head| (&head[..], &b"body"[..])), &mut true);
        assert_eq!(handed, Handed { taken: 100, ..Handed::default() });
        let mut slots = Slots::new();
        let mut seen = Vec::new();
        while recv_batch(b.as_fd(), &mut slots, true)? > 0 {
            for datagram in slots.datagrams() {
                assert_eq!((&datagram.bytes[1..], datagram.is_truncated), (&b"body"[..], false));
                assert_eq!(datagram.from, Some(a.local_addr()?));
                seen.push(datagram.bytes[0]);
            }
        }
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
        Ok(())
    }

    #[test]
    fn an_address_of_ip_version_6_is_read() -> io::Result<()> {
        let Ok(b) = UdpSocket::bind("[::1]:0") else { return Ok(()) };
        let a = UdpSocket::bind("[::1]:0")?;
        a.send_to(b"x", b.local_addr()?)?;
        let mut slots = Slots::new();
        recv_batch(b.as_fd(), &mut slots, true)?;
        assert_eq!(slots.datagrams().next().and_then(|datagram| datagram.from), Some(a.local_addr()?));
        Ok(())
    }

    #[test]
    fn a_datagram_larger_than_any_packet_is_said_to_be_cut() -> io::Result<()> {
        let (a, b) = pair()?;
        a.send(&[7; MAX + 1])?;
        let mut slots = Slots::new();
        assert_eq!(recv_batch(b.as_fd(), &mut slots, false)?, 1);
        let lengths: Vec<(usize, bool)> =
            slots.datagrams().map(|datagram| (datagram.bytes.len(), datagram.is_truncated)).collect();
        assert_eq!(lengths, [(MAX, true)]);
        assert_eq!(recv_batch(b.as_fd(), &mut slots, false)?, 0);
        assert_eq!(slots.datagrams().count(), 0);
        Ok(())
    }

    #[test]
    fn datagrams_of_one_size_go_out_and_come_in_together_and_stay_apart() -> io::Result<()> {
        let sizes = [5, 5, 5, 3, 7, 7, 0, 7, 1400, 1400, 1400, 2, 1400];
        let sent: Vec<Vec<u8>> = (0..).zip(sizes).map(|(number, size)| vec![number; size]).collect();
        for together in [false, true] {
            let (a, b) = pair()?;
            let puts_together = together && receive_together(b.as_fd());
            let halves = sent.iter().map(|bytes| bytes.split_at(bytes.len() / 2));
            let handed = send_batch(a.as_fd(), halves, &mut { together });
            assert_eq!(handed, Handed { taken: sizes.len(), ..Handed::default() });
            let (mut slots, mut seen, mut messages) = (Slots::new(), Vec::new(), 0);
            loop {
                match recv_batch(b.as_fd(), &mut slots, false)? {
                    0 => break,
                    count => messages += count,
                }
                seen.extend(slots.datagrams().map(|datagram| datagram.bytes.to_vec()));
            }
            assert_eq!(seen, sent);
            assert_eq!(messages < sizes.len(), puts_together, "{messages} messages");
        }
        Ok(())
    }

    #[test]
    fn a_run_ends_with_a_shorter_datagram_or_before_a_longer_or_an_empty_one() {
        let run = |sizes: &[usize]| {
            let bytes: Vec<Vec<u8>> = sizes.iter().map(|size| vec![0; *size]).collect();
            equal_in_a_row(&bytes.iter().map(|bytes| [&bytes[..], &[]]).collect::<Vec<_>>())
        };
        assert_eq!(run(&[5, 5, 3, 3]), 3);
        assert_eq!(run(&[5, 5, 6]), 2);
        assert_eq!(run(&[5, 5, 0, 5]), 2);
        assert_eq!(run(&[0, 0]), 1);
        assert_eq!(run(&[30_000, 30_000, 30_000]), 2);
        assert_eq!(run(&[70_000, 70_000]), 1);
    }

    #[test]
    fn a_datagram_that_is_too_large_does_not_lose_the_ones_behind_it() -> io::Result<()> {
        let (a, b) = pair()?;
        let large = vec![0; 70_000];
        let batch: [(&[u8], &[u8]); 3] = [(b"1", b""), (b"2", &large), (b"3", b"")];
        let handed = send_batch(a.as_fd(), batch.into_iter(), &mut true);
        let error = Some(libc::EMSGSIZE);
        assert_eq!(handed, Handed { taken: 3, failed: 1, would_block: false, error });
        let mut slots = Slots::new();
        recv_batch(b.as_fd(), &mut slots, false)?;
        let seen: Vec<&[u8]> = slots.datagrams().map(|datagram| datagram.bytes).collect();
        assert_eq!(seen, [b"1", b"3"]);
        Ok(())
    }

    #[test]
    fn a_peer_that_is_not_there_loses_no_more_than_what_went_to_it() -> io::Result<()> {
        let (a, b) = pair()?;
        let address = b.local_addr()?;
        drop(b);
        let nobody = send_batch(a.as_fd(), [(&b"1"[..], &b""[..])].into_iter(), &mut true);
        assert_eq!((nobody.taken, nobody.failed), (1, 0));
        let b = UdpSocket::bind(address)?;
        let handed =
            send_batch(a.as_fd(), [(&b"2"[..], &b""[..]), (&b"3"[..], &b""[..])].into_iter(), &mut true);
        assert_eq!(handed, Handed { taken: 2, ..Handed::default() });
        let mut slots = Slots::new();
        assert_eq!(recv_batch(b.as_fd(), &mut slots, false)?, 2);
        Ok(())
    }

    #[test]
    fn an_ip_fragment_is_never_made() -> io::Result<()> {
        // Loopback carries 65536 bytes; only a route of our own could be narrower, so the option is read back.
        for (address, is_v6) in [("127.0.0.1:0", false), ("[::1]:0", true)] {
            let Ok(socket) = UdpSocket::bind(address) else { continue };
            forbid_ip_fragments(socket.as_fd(), is_v6)?;
        }
        let stream = std::net::TcpListener::bind("127.0.0.1:0")?;
        assert!(forbid_ip_fragments(stream.as_fd(), true).is_err());
        Ok(())
    }

    #[test]
    fn datagrams_that_found_the_receive_buffer_full_are_counted() -> io::Result<()> {
        let (a, b) = pair()?;
        assert_eq!(dropped_datagrams(b.as_fd())?, 0);
        let handed = send_batch(a.as_fd(), (0..1_000).map(|_| (&[0; 8_000][..], &b""[..])), &mut true);
        let mut slots = Slots::new();
        let mut read = 0;
        loop {
            match recv_batch(b.as_fd(), &mut slots, false)? {
                0 => break,
                count => read += count,
            }
        }
        assert!(read < 1_000, "{read}");
        assert_eq!(handed.taken, read + dropped_datagrams(b.as_fd())? as usize);
        Ok(())
    }

    #[test]
    fn bytes_that_nobody_reads_are_counted_as_unsent_in_a_unix_stream() -> io::Result<()> {
        use std::io::Write;
        let (mut a, b) = std::os::unix::net::UnixStream::pair()?;
        assert_eq!(unsent_bytes(a.as_fd(), Backlog::Unsent)?, 0);
        a.write_all(&[0; 1000])?;
        assert!(unsent_bytes(a.as_fd(), Backlog::Unsent)? >= 1000);
        drop(b);
        assert!(unsent_bytes(a.as_fd(), Backlog::NeverSent).is_err());
        Ok(())
    }

    #[test]
    fn the_peer_of_a_unix_stream_has_this_process_as_its_user() -> io::Result<()> {
        let (a, _b) = std::os::unix::net::UnixStream::pair()?;
        let own = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        assert_eq!(peer_user(a.as_fd())?, own);
        assert!(peer_groups(a.as_fd())?.len() <= MAX_GROUPS);
        let (c, _d) = pair()?;
        assert!(peer_groups(c.as_fd()).is_err());
        Ok(())
    }
}
