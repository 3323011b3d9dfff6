//! Face URIs (`udp4://host:port`, `tcp://host`, `ws://host`, `unix:///path`) as NFD writes them.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};
use std::path::PathBuf;

use crate::ethernet::MacAddress;
use crate::zone::{interface_number, zone};

/// Port of NDN over UDP and TCP.
pub const DEFAULT_PORT: u16 = 6363;

/// Port of NDN over WebSocket.
pub const WEBSOCKET_PORT: u16 = 9696;

/// Maximum length of a Unix socket's path, bytes: `sockaddr_un` has 108, the last of them a zero.
pub(crate) const LONGEST_PATH: usize = 107;

/// One end of a face.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaceUri {
    /// UDP unicast to an address and a port.
    Udp(SocketAddr),
    /// TCP to an address and a port.
    Tcp(SocketAddr),
    /// A WebSocket listener at an address and a port.
    WebSocket(SocketAddr),
    /// The peer of a WebSocket connection, which connected to us.
    WebSocketClient(SocketAddr),
    /// A station, or a group of stations, of the Ethernet of some interface.
    Ether(MacAddress),
    /// The end of a face over Ethernet at this machine: the name of an interface.
    Dev(String),
    /// A Unix stream socket at a path.
    Unix(PathBuf),
    /// The end of a Unix stream without a path, by its descriptor.
    Fd(i32),
}

/// Error of a face URI, as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UriError(String);

impl fmt::Display for FaceUri {
    /// The canonical form: addresses as numbers, the port always.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = |address: &SocketAddr| if address.is_ipv6() { 6 } else { 4 };
        match self {
            Self::Udp(address) => write!(f, "udp{}://{}", family(address), Authority(address)),
            Self::Tcp(address) => write!(f, "tcp{}://{}", family(address), Authority(address)),
            Self::WebSocket(address) => write!(f, "ws://{}", Authority(address)),
            Self::WebSocketClient(address) => write!(f, "wsclient://{}", Authority(address)),
            Self::Ether(address) => write!(f, "ether://[{address}]"),
            Self::Dev(name) => write!(f, "dev://{name}"),
            Self::Unix(path) => write!(f, "unix://{}", path.display()),
            Self::Fd(number) => write!(f, "fd://{number}"),
        }
    }
}

/// An address with its port; the zone of an IPv6 address is the name of its interface, as in NFD.
struct Authority<'a>(&'a SocketAddr);

impl fmt::Display for Authority<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SocketAddr::V6(address) if address.scope_id() != 0 => {
                write!(f, "[{}%{}]:{}", address.ip(), zone(address.scope_id()), address.port())
            }
            address => write!(f, "{address}"),
        }
    }
}

impl FaceUri {
    /// Whether a face to it is a link with several stations, on which everyone receives what is sent.
    pub fn is_multi_access(&self) -> bool {
        match self {
            Self::Udp(address) => address.ip().is_multicast(),
            Self::Ether(address) => address.is_group(),
            _ => false,
        }
    }

    /// Whether a face to it belongs to one network interface, which has to be given.
    pub fn needs_interface(&self) -> bool {
        matches!(self, Self::Ether(_)) || self.is_multi_access()
    }

    /// Parses a URI and resolves its host name, which may query the network.
    ///
    /// # Errors
    /// When the scheme is not udp, tcp (each with 4 or 6), ws, ether or unix, the host is unknown or has no address of
    /// the family, or the path is not absolute.
    pub fn resolve(text: &str) -> Result<Self, UriError> {
        let resolve = |written| match written {
            ParsedUri::Numeric(uri) => Ok(uri),
            ParsedUri::Host { kind, host, port, family } => look_up(host, port, family).map(kind),
        };
        ParsedUri::read(text).and_then(resolve).map_err(|why| UriError(format!("face URI {text:?}: {why}")))
    }

    /// Parses a URI whose host is a numeric address, or `localhost`, which always is the loopback address (RFC 6761, section
    /// 6.3), so that nothing has to be looked up.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve), and when the host is another name.
    pub fn literal(text: &str) -> Result<Self, UriError> {
        let literal = |written| match written {
            ParsedUri::Numeric(uri) => Ok(uri),
            ParsedUri::Host { kind, host, port, family } if numeric(host, port).is_some() => {
                look_up(host, port, family).map(kind)
            }
            ParsedUri::Host { kind, host: "localhost", port, family } => {
                let host = if family == Some(Family::V6) { "::1" } else { "127.0.0.1" };
                look_up(host, port, family).map(kind)
            }
            ParsedUri::Host { host, .. } => Err(format!(
                "host {host:?} is not a numeric address; whoever sends the command has to look the name up, as nfdc does"
            )),
        };
        ParsedUri::read(text).and_then(literal).map_err(|why| UriError(format!("face URI {text:?}: {why}")))
    }

    /// Checks the URI of a peer to connect to, without resolving its host name.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve), as far as they are visible without name resolution, and for WebSocket, over which
    /// connections are only accepted.
    pub fn check(text: &str) -> Result<(), UriError> {
        let check = |written| match written {
            ParsedUri::Host { port: 0, .. } => Err("port 0 is not that of a peer".to_owned()),
            // A numeric address needs no name resolution.
            ParsedUri::Host { host, port, family, .. } if numeric(host, port).is_some() => {
                look_up(host, port, family).map(|_| ())
            }
            _ => Ok(()),
        };
        let is_accepted_only = text.starts_with("ws://");
        let known = match is_accepted_only {
            true => Err("WebSocket connections are accepted (websocket in [listen]), not made".to_owned()),
            false => ParsedUri::read(text),
        };
        known.and_then(check).map_err(|why| UriError(format!("face URI {text:?}: {why}")))
    }
}

/// A parsed URI before its host is resolved.
enum ParsedUri<'a> {
    /// Nothing has to be looked up.
    Numeric(FaceUri),
    Host {
        kind: fn(SocketAddr) -> FaceUri,
        host: &'a str,
        port: u16,
        family: Option<Family>,
    },
}

impl<'a> ParsedUri<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err("no \"://\"; write it like \"udp4://192.0.2.1:6363\"".to_owned());
        };
        let (kind, family): (fn(SocketAddr) -> FaceUri, _) = match scheme {
            "udp" => (FaceUri::Udp, None),
            "udp4" => (FaceUri::Udp, Some(Family::V4)),
            "udp6" => (FaceUri::Udp, Some(Family::V6)),
            "tcp" => (FaceUri::Tcp, None),
            "tcp4" => (FaceUri::Tcp, Some(Family::V4)),
            "tcp6" => (FaceUri::Tcp, Some(Family::V6)),
            "ws" => (FaceUri::WebSocket, None),
            "unix" => return unix(rest).map(|path| Self::Numeric(FaceUri::Unix(path))),
            "ether" => return ether(rest).map(|address| Self::Numeric(FaceUri::Ether(address))),
            _ => {
                let known = "udp, udp4, udp6, tcp, tcp4, tcp6, ws, ether, unix";
                return Err(format!("scheme {scheme:?} is not known; known: {known}"));
            }
        };
        let default_port = if scheme == "ws" { WEBSOCKET_PORT } else { DEFAULT_PORT };
        let (host, port) = host_and_port(rest, default_port)?;
        Ok(Self::Host { kind, host, port, family })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    V4,
    V6,
}

impl Family {
    fn has(self, address: &SocketAddr) -> bool {
        address.is_ipv6() == (self == Self::V6)
    }
}

fn ether(authority: &str) -> Result<MacAddress, String> {
    let address = authority.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    address.ok_or("the address is not in brackets; write it like \"ether://[01:00:5e:00:17:aa]\"")?.parse()
}

fn unix(path: &str) -> Result<PathBuf, String> {
    if !path.starts_with('/') || path.len() < 2 || path.contains('\0') {
        return Err("the path is not absolute; write it like \"unix:///run/nfd/nfd.sock\"".to_owned());
    }
    if path.len() > LONGEST_PATH {
        return Err(format!("the path has {} bytes; a Unix socket's has at most {LONGEST_PATH}", path.len()));
    }
    Ok(PathBuf::from(path))
}

/// `host`, `host:port`, `[v6]` or `[v6]:port`, with or without a slash behind.
fn host_and_port(authority: &str, default_port: u16) -> Result<(&str, u16), String> {
    let authority = authority.strip_suffix('/').unwrap_or(authority);
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']').ok_or("no \"]\" behind the address")?;
            (host, if rest.is_empty() { None } else { Some(rest.strip_prefix(':').unwrap_or(rest)) })
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    if host.is_empty() || host.contains(['/', '?', '#', '@']) {
        return Err(format!("{host:?} is not a host"));
    }
    match port {
        None => Ok((host, default_port)),
        Some(port) => match port.parse() {
            Ok(port) => Ok((host, port)),
            Err(_) => {
                Err(format!("port {port:?} is not in 0..=65535 (IPv6 addresses are written in brackets)"))
            }
        },
    }
}

/// The address of a host that is a number, with a zone behind IPv6 addresses if there is a `%`; `None` for another host.
fn numeric(host: &str, port: u16) -> Option<Result<SocketAddr, String>> {
    let Some((address, zone)) = host.split_once('%') else {
        return host.parse::<IpAddr>().ok().map(|ip| Ok(SocketAddr::new(ip, port)));
    };
    let ip = address.parse::<Ipv6Addr>().ok()?;
    let number = interface_number(zone).ok_or_else(|| format!("there is no network interface {zone:?}"));
    Some(number.map(|number| SocketAddrV6::new(ip, port, 0, number).into()))
}

fn look_up(host: &str, port: u16, family: Option<Family>) -> Result<SocketAddr, String> {
    let fits = |address: &SocketAddr| family.is_none_or(|family| family.has(address));
    let addresses: Vec<SocketAddr> = match numeric(host, port) {
        Some(address) => vec![address?],
        None => match (host, port).to_socket_addrs() {
            Ok(addresses) => addresses.collect(),
            Err(why) => return Err(format!("host {host:?}: {why}")),
        },
    };
    addresses.into_iter().find(fits).ok_or_else(|| match family {
        Some(Family::V6) => format!("host {host:?} has no IPv6 address"),
        Some(Family::V4) => format!("host {host:?} has no IPv4 address"),
        None => format!("host {host:?} has no address"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        FaceUri::resolve(text).map_or_else(|why| format!("! {why}"), |uri| uri.to_string())
    }

    #[test]
    fn every_form_is_read_and_shown_in_its_canonical_form() {
        for (text, canonical) in [
            ("udp4://192.0.2.1:7000", "udp4://192.0.2.1:7000"),
            ("udp://192.0.2.1", "udp4://192.0.2.1:6363"),
            ("udp6://[2001:db8::1]", "udp6://[2001:db8::1]:6363"),
            ("tcp://[::1]:1", "tcp6://[::1]:1"),
            ("udp6://[fe80::1%lo]", "udp6://[fe80::1%lo]:6363"),
            ("udp6://[fe80::1%4000000000]:7000", "udp6://[fe80::1%4000000000]:7000"),
            ("tcp4://127.0.0.1/", "tcp4://127.0.0.1:6363"),
            ("ether://[01:00:5E:0:17:aa]", "ether://[01:00:5e:00:17:aa]"),
            ("ws://127.0.0.1", "ws://127.0.0.1:9696"),
            ("unix:///run/nfd/nfd.sock", "unix:///run/nfd/nfd.sock"),
        ] {
            assert_eq!(shown(text), canonical);
        }
    }

    #[test]
    fn a_host_name_is_looked_up_in_the_family_requested() {
        assert_eq!(shown("tcp4://localhost:80"), "tcp4://127.0.0.1:80");
    }

    #[test]
    fn a_literal_uri_has_a_numeric_host() {
        let uri = FaceUri::literal("udp://192.0.2.1").map(|uri| uri.to_string());
        assert_eq!(uri.as_deref(), Ok("udp4://192.0.2.1:6363"));
        let why = FaceUri::literal("udp4://host.example").expect_err("a name").to_string();
        assert_eq!(
            why,
            "face URI \"udp4://host.example\": host \"host.example\" is not a numeric address; whoever sends the command has to \
             look the name up, as nfdc does"
        );
        let zoned = FaceUri::literal("udp6://[fe80::1%lo]:7000").map(|uri| uri.to_string());
        assert_eq!(zoned.as_deref(), Ok("udp6://[fe80::1%lo]:7000"));
        for (text, canonical) in
            [("udp://localhost", "udp4://127.0.0.1:6363"), ("tcp6://localhost:7000", "tcp6://[::1]:7000")]
        {
            let uri = FaceUri::literal(text).map(|uri| uri.to_string());
            assert_eq!(uri.as_deref(), Ok(canonical));
        }
    }

    #[test]
    fn a_name_is_not_looked_up_to_check_a_uri() {
        assert_eq!(FaceUri::check("udp4://no-such-host.invalid:6363"), Ok(()));
        assert!(FaceUri::check("udp6://192.0.2.1").is_err());
        assert!(FaceUri::check("udp4://host:99999").is_err());
        let why = FaceUri::check("udp4://224.0.23.170:0").expect_err("no port").to_string();
        assert_eq!(why, "face URI \"udp4://224.0.23.170:0\": port 0 is not that of a peer");
        assert!(FaceUri::check("ws://127.0.0.1:9696").is_err());
    }

    #[test]
    fn a_path_too_long_for_the_system_is_refused_before_it_is_used() {
        let path = |len: usize| format!("unix://{}", "/".repeat(len));
        assert_eq!(shown(&path(LONGEST_PATH)), path(LONGEST_PATH));
        let why = FaceUri::check(&path(LONGEST_PATH + 1)).expect_err("too long").to_string();
        assert!(why.ends_with("the path has 108 bytes; a Unix socket's has at most 107"), "{why}");
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        for (text, why) in [
            ("localhost", "no \"://\"; write it like \"udp4://192.0.2.1:6363\""),
            ("ether://[x]", "\"x\" is not an Ethernet address; write it like \"01:00:5e:00:17:aa\""),
            (
                "ether://01:00:5e:00:17:aa",
                "the address is not in brackets; write it like \"ether://[01:00:5e:00:17:aa]\"",
            ),
            (
                "dev://eth0",
                "scheme \"dev\" is not known; known: udp, udp4, udp6, tcp, tcp4, tcp6, ws, ether, unix",
            ),
            ("udp4://1.2.3.4:x", "port \"x\" is not in 0..=65535 (IPv6 addresses are written in brackets)"),
            ("udp6://::1", "\"\" is not a host"),
            ("udp6://1.2.3.4", "host \"1.2.3.4\" has no IPv6 address"),
            ("udp6://[::1", "no \"]\" behind the address"),
            ("udp6://[fe80::1%no-such0]", "there is no network interface \"no-such0\""),
            ("tcp://", "\"\" is not a host"),
            ("unix://nfd.sock", "the path is not absolute; write it like \"unix:///run/nfd/nfd.sock\""),
        ] {
            assert_eq!(shown(text), format!("! face URI {text:?}: {why}"));
        }
    }
}
