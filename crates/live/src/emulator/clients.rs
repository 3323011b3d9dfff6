//! Clients of the link by address: at most a configured number; idle ones are removed.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use tidegate_core::units::{Span, Time};

/// Maximum number of simultaneous clients.
pub const MAX: usize = 256;
/// Time without a datagram in either direction after which a client may be replaced by a new one.
const SPARE: Span = Span::from_secs(10);
/// Time without a datagram in either direction after which a client is removed.
pub const IDLE: Span = Span::from_secs(120);

/// Table of clients, each with the driver's state for it.
#[derive(Debug)]
pub struct Clients<S> {
    by_number: BTreeMap<u64, Client<S>>,
    by_address: BTreeMap<SocketAddr, u64>,
    next: u64,
}

#[derive(Debug)]
struct Client<S> {
    address: SocketAddr,
    active: Time,
    kept: S,
}

impl<S> Default for Clients<S> {
    fn default() -> Self {
        Self { by_number: BTreeMap::new(), by_address: BTreeMap::new(), next: 1 }
    }
}

impl<S> Clients<S> {
    /// Number of connected clients now.
    pub fn count(&self) -> usize {
        self.by_number.len()
    }

    /// Number of the client at `address`.
    pub fn find(&self, address: SocketAddr) -> Option<u64> {
        self.by_address.get(&address).copied()
    }

    /// State of client `number`, which is marked active at `now`.
    pub fn touch(&mut self, number: u64, now: Time) -> Option<&mut S> {
        let client = self.by_number.get_mut(&number)?;
        client.active = now;
        Some(&mut client.kept)
    }

    /// Whether there is room for a client that comes at `now`, if need be in the place of the one idle longest;
    /// `retire` gets what was kept for that one.
    pub fn make_room(&mut self, now: Time, retire: impl FnOnce(S)) -> bool {
        if self.count() < MAX {
            return true;
        }
        let longest = self.by_number.iter().min_by_key(|(_, client)| client.active);
        let spare =
            longest.filter(|(_, client)| now.since(client.active) >= SPARE).map(|(number, _)| *number);
        spare.and_then(|number| self.remove(number)).map(retire).is_some()
    }

    /// Number of the next client that is [added](Self::add); numbers are never used again.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// Adds a client that is active at `now`, under [`next_number`](Self::next_number).
    pub fn add(&mut self, now: Time, address: SocketAddr, kept: S) -> u64 {
        let number = self.next;
        self.next += 1;
        self.by_address.insert(address, number);
        self.by_number.insert(number, Client { address, active: now, kept });
        number
    }

    /// Removes clients that were idle too long at `now`; `retire` receives the state of each.
    pub fn expire(&mut self, now: Time, retire: impl FnMut(S)) {
        let is_over = |client: &Client<S>| now.since(client.active) >= IDLE;
        let over: Vec<u64> =
            self.by_number.iter().filter(|(_, client)| is_over(client)).map(|(number, _)| *number).collect();
        over.into_iter().filter_map(|number| self.remove(number)).for_each(retire);
    }

    fn remove(&mut self, number: u64) -> Option<S> {
        let client = self.by_number.remove(&number)?;
        self.by_address.remove(&client.address);
        Some(client.kept)
    }

    /// Iterates over the state of all clients.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.by_number.values().map(|client| &client.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: usize) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port as u16))
    }

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    #[test]
    fn a_client_is_known_by_its_address_until_it_was_idle_too_long() {
        let mut clients = Clients::default();
        let (a, b) = (clients.add(at(0), address(1), "a"), clients.add(at(0), address(2), "b"));
        assert_eq!((clients.find(address(1)), clients.find(address(3))), (Some(a), None));
        assert_eq!(clients.touch(b, at(100)), Some(&mut "b"));
        let mut retired = Vec::new();
        clients.expire(at(120), |kept| retired.push(kept));
        assert_eq!(retired, ["a"]);
        assert_eq!((clients.find(address(1)), clients.find(address(2))), (None, Some(b)));
        assert_eq!(clients.touch(a, at(120)), None);
        assert_eq!(clients.add(at(121), address(1), "again"), 3);
    }

    #[test]
    fn strangers_take_only_the_places_of_idle_clients() {
        let mut clients = Clients::default();
        for port in 0..MAX {
            assert!(clients.make_room(at(0), drop));
            clients.add(at(0), address(port), ());
        }
        clients.touch(1, at(3));
        assert!(!clients.make_room(at(9), drop));
        assert!(clients.make_room(at(10), drop));
        assert_eq!((clients.count(), clients.find(address(1))), (MAX - 1, None));
        assert_eq!(clients.find(address(0)), Some(1));
    }
}
