//! Zones of IPv6 link-local addresses: network interfaces, by name or number (RFC 4007, section 11).

use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::{AddressFamily, SocketType, socket};

/// The number of the interface that a zone names; `None` if there is no such interface.
pub(crate) fn interface_number(zone: &str) -> Option<u32> {
    if let Ok(number) = zone.parse() {
        return Some(number);
    }
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None).ok()?;
    name_to_index(any, zone).ok()
}

/// The zone of an interface: its name, or its number if it has none any more.
pub(crate) fn zone(number: u32) -> String {
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None);
    let name = any.ok().and_then(|any| index_to_name(any, number).ok());
    name.unwrap_or_else(|| number.to_string())
}
