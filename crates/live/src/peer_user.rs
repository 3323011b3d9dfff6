//! The user at the other end of a connection on this machine.
//!
//! For Unix streams the kernel keeps it from the moment of the connection. For TCP it is that of the peer's socket
//! in `/proc/net/tcp`, as long as the connection is established: a socket that its process has closed belongs to
//! nobody, and is listed as root's.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;

use crate::sys;

/// Tables of the kernel with the TCP sockets of both families; a peer may use IPv4 through either.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// State of an established connection in these tables.
const ESTABLISHED: &str = "01";

/// A user of this machine, with its groups as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerUser {
    /// Number of the user.
    pub uid: u32,
    /// Numbers of its groups; empty for TCP.
    pub groups: Vec<u32>,
}

impl PeerUser {
    /// The user that connected a Unix stream; `None` if the system does not report it.
    pub fn of_unix(socket: impl AsFd) -> Option<Self> {
        let (uid, group) = sys::peer_user(socket.as_fd()).ok()?;
        // Groups that cannot be read grant nothing.
        let mut groups = sys::peer_groups(socket.as_fd()).unwrap_or_default();
        groups.push(group);
        Some(Self { uid, groups })
    }

    /// The user whose socket at `peer` is connected to `own`; `None` if there is no such socket on this machine.
    pub fn of_tcp(peer: SocketAddr, own: SocketAddr) -> Option<Self> {
        let files = TABLES.iter().filter_map(|table| std::fs::File::open(table).ok());
        let mut users = files.filter_map(|file| find_user(BufReader::new(file), peer, own));
        users.next().map(|uid| Self { uid, groups: Vec::new() })
    }
}

/// The user of the connection from `peer` to `own` in a table of the kernel.
fn find_user(table: impl BufRead, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    // The first line has the names of the columns.
    let lines = table.lines().map_while(Result::ok).skip(1);
    lines.filter_map(|line| user_in(&line, peer, own)).next()
}

/// The user in a line, if it is that of the connection.
fn user_in(line: &str, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
    let mut columns = line.split_ascii_whitespace().skip(1);
    let ends = (read_address(columns.next()?)?, read_address(columns.next()?)?);
    let state = columns.next()?;
    let (uid, inode) = (columns.nth(3)?.parse().ok()?, columns.nth(1)?);
    // An inode of 0 is a socket without a process.
    (ends == (canonical(peer), canonical(own)) && state == ESTABLISHED && inode != "0").then_some(uid)
}

fn canonical(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

/// Address and port from hexadecimal digits: words of 32 bits in the order of this machine, then the port.
fn read_address(text: &str) -> Option<(IpAddr, u16)> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(address.get(at * 8..at * 8 + 8)?, 16).ok();
    let bytes = |at: usize| word(at).map(u32::to_ne_bytes);
    let ip = match address.len() {
        8 => IpAddr::from(Ipv4Addr::from(bytes(0)?)),
        32 => {
            let words = [bytes(0)?, bytes(1)?, bytes(2)?, bytes(3)?];
            let mut all = [0; 16];
            all.iter_mut().zip(words.iter().flatten()).for_each(|(to, from)| *to = *from);
            IpAddr::from(Ipv6Addr::from(all))
        }
        _ => return None,
    };
    Some((ip.to_canonical(), port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    const HEAD: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    #[cfg(target_endian = "little")]
    #[test]
    fn the_user_is_that_of_the_established_connection_with_both_addresses() {
        let line = |local: &str, state: &str, uid: u32, inode: u32| {
            format!(
                "   0: {local} 0100007F:18EB {state} 00000000:00000000 00:00000000 00000000  {uid}        0 {inode} 1 0000\n"
            )
        };
        let find = |lines: &[String]| {
            let table = HEAD.to_owned() + &lines.concat();
            find_user(table.as_bytes(), address("127.0.0.1:4660"), address("127.0.0.1:6379"))
        };
        assert_eq!(
            find(&[line("0100007F:1235", "01", 7, 5), line("0100007F:1234", "01", 1000, 5)]),
            Some(1000)
        );
        // A socket that its process has closed is listed as root's.
        assert_eq!(find(&[line("0100007F:1234", "04", 0, 0)]), None);
        assert_eq!(find(&[line("0100007F:1234", "04", 0, 5)]), None);
        assert_eq!(find(&[line("0100007F:1234", "01", 0, 0)]), None);
        assert_eq!(find(&[line("0200007F:1234", "01", 0, 5)]), None);
        assert_eq!(find(&["nonsense\n".to_owned(), "1: 2 3\n".to_owned()]), None);
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn an_ipv4_address_in_ipv6_form_is_the_same_address() {
        let mapped = "0000000000000000FFFF00000100007F:1234";
        assert_eq!(read_address(mapped), read_address("0100007F:1234"));
        assert_eq!(
            read_address("00000000000000000000000001000000:0001"),
            Some((Ipv6Addr::LOCALHOST.into(), 1))
        );
        for bad in ["", "0100007F", "01:1", "0100007F:zz", "0100007é:1"] {
            assert_eq!(read_address(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_unix_stream_of_this_process_has_its_user_and_its_group() {
        let (near, _far) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let user = PeerUser::of_unix(&near).expect("reported");
        assert_eq!(user.uid, rustix::process::geteuid().as_raw());
        assert!(user.groups.contains(&rustix::process::getegid().as_raw()), "{user:?}");
    }

    #[test]
    fn a_connection_of_this_process_has_its_user() {
        let uid = rustix::process::geteuid().as_raw();
        for any in ["127.0.0.1:0", "[::1]:0"] {
            // A system without IPv6 has only the first.
            let Ok(listener) = TcpListener::bind(any) else { continue };
            let near = TcpStream::connect(listener.local_addr().expect("bound")).expect("listening");
            let (own, peer) = (near.peer_addr().expect("connected"), near.local_addr().expect("bound"));
            assert_eq!(PeerUser::of_tcp(peer, own).map(|user| user.uid), Some(uid), "{any}");
            assert_eq!(PeerUser::of_tcp(peer, address("127.0.0.1:1")), None);
        }
    }
}
