//! Control messages that the kernel delivers with a datagram: the size of datagrams that were put together, and the address that the
//! datagram was sent to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Room for the control messages of one datagram: 24 bytes for a size, and 40 for an address of IPv6.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct ControlBuffer(pub(crate) [u8; 64]);

/// Type of the control message with the size of datagrams received as one (`linux/udp.h`).
pub(crate) const UDP_GRO: libc::c_int = 104;

/// Length of `cmsghdr`: the length of the message as a `size_t`, level and type.
const HEADER: usize = size_of::<usize>() + 8;

/// What the control messages of a datagram state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControlMessages {
    /// Size of each datagram, bytes, if the kernel put several together.
    pub(crate) each: Option<usize>,
    /// Address that the datagram was sent to, if it was requested.
    pub(crate) to: Option<LocalAddress>,
}

/// An address of this machine, and the number of the interface that a datagram arrived on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalAddress {
    ip: IpAddr,
    interface: u32,
}

impl LocalAddress {
    /// The address with a port; those of IPv6 that are valid on one link name the interface.
    pub(crate) fn with_port(self, port: u16) -> SocketAddr {
        match self.ip {
            IpAddr::V4(ip) => SocketAddr::V4(SocketAddrV4::new(ip, port)),
            IpAddr::V6(ip) => {
                let scope = if ip.is_unicast_link_local() { self.interface } else { 0 };
                SocketAddr::V6(SocketAddrV6::new(ip, port, 0, scope))
            }
        }
    }
}

/// Reads the control messages at the beginning of a buffer; unknown ones are ignored.
pub(crate) fn read(mut rest: &[u8]) -> ControlMessages {
    let mut found = ControlMessages::default();
    while let Some((level, kind, content, behind)) = split(rest) {
        match (level, kind) {
            (libc::SOL_UDP, UDP_GRO) => {
                found.each = word(content, 0).and_then(|size| usize::try_from(i32::from_ne_bytes(size)).ok());
            }
            (libc::IPPROTO_IP, libc::IP_PKTINFO) => found.to = read_v4(content),
            (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO) => found.to = read_v6(content),
            _ => {}
        }
        rest = behind;
    }
    found.each = found.each.filter(|size| *size > 0);
    found
}

/// Level, type and content of the first message, and the messages behind it.
fn split(bytes: &[u8]) -> Option<(libc::c_int, libc::c_int, &[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<{ size_of::<usize>() }>()?;
    let length = usize::from_ne_bytes(*length);
    let (level, kind) = (word(rest, 0)?, word(rest, 4)?);
    let content = bytes.get(HEADER..length)?;
    let behind = bytes.get(length.next_multiple_of(size_of::<usize>())..).unwrap_or_default();
    Some((i32::from_ne_bytes(level), i32::from_ne_bytes(kind), content, behind))
}

fn word(bytes: &[u8], at: usize) -> Option<[u8; 4]> {
    bytes.get(at..at + 4)?.try_into().ok()
}

/// `in_pktinfo`: the interface, the address of this machine, the destination in the header.
fn read_v4(content: &[u8]) -> Option<LocalAddress> {
    let interface = u32::from_ne_bytes(word(content, 0)?);
    // That of this machine: the destination may be a broadcast address.
    Some(LocalAddress { ip: IpAddr::V4(Ipv4Addr::from(word(content, 4)?)), interface })
}

/// `in6_pktinfo`: the destination in the header, the interface.
fn read_v6(content: &[u8]) -> Option<LocalAddress> {
    let ip: [u8; 16] = content.get(..16)?.try_into().ok()?;
    let interface = u32::from_ne_bytes(word(content, 16)?);
    let ip = Ipv6Addr::from(ip);
    (!ip.is_multicast()).then_some(LocalAddress { ip: IpAddr::V6(ip), interface })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: libc::c_int, kind: libc::c_int, content: &[u8]) -> Vec<u8> {
        let mut bytes = (HEADER + content.len()).to_ne_bytes().to_vec();
        bytes
            .extend(level.to_ne_bytes().into_iter().chain(kind.to_ne_bytes()).chain(content.iter().copied()));
        bytes.resize(bytes.len().next_multiple_of(size_of::<usize>()), 0);
        bytes
    }

    fn of_v4() -> Vec<u8> {
        message(
            libc::IPPROTO_IP,
            libc::IP_PKTINFO,
            &[3_u32.to_ne_bytes(), [192, 0, 2, 7], [192, 0, 2, 255]].concat(),
        )
    }

    #[test]
    fn a_size_and_an_address_are_read_in_either_order() {
        let size = message(libc::SOL_UDP, UDP_GRO, &1_200_i32.to_ne_bytes());
        let address: SocketAddr = "192.0.2.7:6363".parse().expect("an address");
        for all in [[size.clone(), of_v4()].concat(), [of_v4(), size].concat()] {
            let found = read(&all);
            assert_eq!((found.each, found.to.map(|to| to.with_port(6363))), (Some(1_200), Some(address)));
        }
    }

    #[test]
    fn an_address_valid_on_one_link_names_its_interface() {
        let shown = |ip: &str| {
            let octets = ip.parse::<Ipv6Addr>().expect("an address").octets();
            let content = [&octets[..], &5_u32.to_ne_bytes()].concat();
            let found = read(&message(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, &content));
            found.to.map(|to| to.with_port(1).to_string())
        };
        assert_eq!(shown("fe80::1").as_deref(), Some("[fe80::1%5]:1"));
        assert_eq!(shown("2001:db8::1").as_deref(), Some("[2001:db8::1]:1"));
        assert_eq!(shown("ff02::1234"), None);
    }

    #[test]
    fn damaged_messages_are_no_messages() {
        let whole = of_v4();
        for len in 0..HEADER + 12 {
            assert_eq!(read(&whole[..len]).to, None, "{len} bytes");
        }
        assert_eq!(read(&[0; 64]), ControlMessages::default());
        assert_eq!(read(&[255; 64]), ControlMessages::default());
    }
}
