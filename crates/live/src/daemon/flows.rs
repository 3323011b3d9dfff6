//! Traffic by name: Interests and Data of each pair of first components, for a bounded number of them.

use std::collections::BTreeMap;

use bytes::Bytes;
use tidegate_core::ndn::packet::{Kind, Packet};
use tidegate_core::units::{Span, Time};
use tidegate_wire::tlv::TlvReader;

use super::status::StatusLine;
use crate::name_uri;

/// Components of a name that decide to which flow a packet belongs.
const COMPONENTS: usize = 2;

/// Maximum number of flows that are counted one by one; all others are counted together.
const MAX_FLOWS: usize = if cfg!(test) { 3 } else { 256 };

/// Maximum bytes of the components of a flow; packets of longer ones are counted with all others.
const MAX_PREFIX: usize = 128;

/// Time without packets after which a flow gives its place to another one.
const IDLE: Span = Span::from_secs(60);

/// Prefix of the line for flows that are not counted one by one.
const OTHERS: &str = "(others)";

/// Counters of a flow since its first packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FlowCounters {
    /// Number of Interests received from peers.
    interests: u64,
    /// Number of Data sent to peers.
    data: u64,
    /// Bytes of these Data.
    bytes: u64,
}

impl FlowCounters {
    fn add(&mut self, other: Self) {
        self.interests += other.interests;
        self.data += other.data;
        self.bytes += other.bytes;
    }

    fn line(&self, prefix: &str) -> StatusLine {
        StatusLine::new("flow")
            .with("prefix", prefix)
            .with("interests", self.interests)
            .with("data", self.data)
            .with("bytes", self.bytes)
    }
}

#[derive(Debug)]
struct Flow {
    /// First components of its names, concatenated.
    prefix: Bytes,
    counters: FlowCounters,
    last: Time,
}

/// Counters of the flows through a forwarder.
#[derive(Debug, Default)]
pub(super) struct FlowTable {
    flows: Vec<Flow>,
    by_prefix: BTreeMap<Bytes, usize>,
    /// The flow of the last packet, to which the next one mostly belongs.
    recent: usize,
    others: FlowCounters,
}

impl FlowTable {
    /// Counts an Interest that was received, or a Data that is sent.
    #[inline]
    pub fn record(&mut self, packet: &Packet<Bytes>, now: Time) {
        let counted = match packet.header.kind {
            Kind::Interest(_) => FlowCounters { interests: 1, ..FlowCounters::default() },
            Kind::Data(_) => FlowCounters { data: 1, bytes: packet.body.len() as u64, interests: 0 },
            _ => return,
        };
        self.count(prefix_of(&packet.body), counted, now);
    }

    fn count(&mut self, prefix: &[u8], counted: FlowCounters, now: Time) {
        match self.place_of(prefix) {
            Some(place) => {
                let flow = &mut self.flows[place];
                flow.counters.add(counted);
                flow.last = now;
                self.recent = place;
            }
            None => self.others.add(counted),
        }
    }

    fn place_of(&mut self, prefix: &[u8]) -> Option<usize> {
        if self.flows.get(self.recent).is_some_and(|flow| flow.prefix == prefix) {
            return Some(self.recent);
        }
        if let Some(place) = self.by_prefix.get(prefix) {
            return Some(*place);
        }
        if self.flows.len() >= MAX_FLOWS || prefix.is_empty() || prefix.len() > MAX_PREFIX {
            return None;
        }
        let prefix = Bytes::copy_from_slice(prefix);
        let (counters, last) = (FlowCounters::default(), Time::ZERO);
        self.by_prefix.insert(prefix.clone(), self.flows.len());
        self.flows.push(Flow { prefix, counters, last });
        Some(self.flows.len() - 1)
    }

    /// Frees the places of idle flows if all are taken. Their packets are counted with all others from now on.
    pub fn make_room(&mut self, now: Time) {
        if self.flows.len() < MAX_FLOWS {
            return;
        }
        let others = &mut self.others;
        self.flows.retain(|flow| {
            let is_kept = now.since(flow.last) < IDLE;
            if !is_kept {
                others.add(flow.counters);
            }
            is_kept
        });
        self.by_prefix = self.flows.iter().map(|flow| flow.prefix.clone()).zip(0..).collect();
    }

    /// One line for each flow, in the order of their prefixes, and one for all others if there are some.
    pub fn lines(&self) -> impl Iterator<Item = StatusLine> {
        let flows = self
            .by_prefix
            .iter()
            .map(|(prefix, place)| self.flows[*place].counters.line(&name_uri::show(prefix)));
        let others = (self.others != FlowCounters::default()).then(|| self.others.line(OTHERS));
        flows.chain(others)
    }
}

/// The first components of the name of a packet; empty if it has none.
fn prefix_of(packet: &[u8]) -> &[u8] {
    let first = |bytes| TlvReader::new(bytes).next().ok().flatten();
    let name = first(packet).and_then(|packet| first(packet.value)).map_or(&[][..], |name| name.value);
    let mut reader = TlvReader::new(name);
    let mut end = 0;
    for _ in 0..COMPONENTS {
        let Ok(Some(component)) = reader.next() else { break };
        end = component.end();
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::{DataBuilder, InterestBuilder, Signer};

    const INTEREST: FlowCounters = FlowCounters { interests: 1, data: 0, bytes: 0 };

    fn name(uri: &str) -> Vec<u8> {
        name_uri::parse(uri).expect("a name")
    }

    /// Prefix and number of Interests of each line.
    fn counted(table: &FlowTable) -> Vec<String> {
        let line = |line: StatusLine| {
            ["prefix", "interests"].map(|key| line.get(key).unwrap_or("").to_owned()).join(" ")
        };
        table.lines().map(line).collect()
    }

    #[test]
    fn a_packet_belongs_to_the_first_two_components_of_its_name() {
        let interest = |uri: &str| {
            InterestBuilder { name: &name(uri), ..InterestBuilder::default() }.build().expect("valid")
        };
        for (uri, prefix) in [("/a/b/v=5/seg=1", "/a/b"), ("/a", "/a"), ("/a/v=5", "/a/v=5")] {
            assert_eq!(name_uri::show(prefix_of(&interest(uri))), prefix);
            let data = DataBuilder { name: &name(uri), ..DataBuilder::default() }
                .sign(&Signer::Digest)
                .expect("small");
            assert_eq!(name_uri::show(prefix_of(&data)), prefix);
        }
        assert_eq!((prefix_of(b""), prefix_of(&[5, 9, 1])), (&[][..], &[][..]));
    }

    #[test]
    fn flows_beyond_the_limit_are_counted_together_until_one_is_idle() {
        let mut table = FlowTable::default();
        let count = |table: &mut FlowTable, uri: &str, at: u64| {
            table.count(&name(uri), INTEREST, Time::ZERO + Span::from_secs(at));
        };
        for uri in ["/a", "/b", "/c", "/d", "/b", "/e"] {
            count(&mut table, uri, 1);
        }
        assert_eq!(counted(&table), ["/a 1", "/b 2", "/c 1", "(others) 2"]);
        count(&mut table, "/a", 30);
        table.make_room(Time::ZERO + Span::from_secs(61));
        assert_eq!(counted(&table), ["/a 2", "(others) 5"]);
        for uri in ["/e", "/a"] {
            count(&mut table, uri, 62);
        }
        assert_eq!(counted(&table), ["/a 3", "/e 1", "(others) 5"]);
    }

    #[test]
    fn a_long_prefix_takes_no_place() {
        let mut table = FlowTable::default();
        table.count(&[8; MAX_PREFIX + 1], INTEREST, Time::ZERO);
        table.count(&[], INTEREST, Time::ZERO);
        assert_eq!(counted(&table), ["(others) 2"]);
    }
}
