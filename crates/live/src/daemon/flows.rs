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
    /// Whether these are [`COMPONENTS`]; a name with fewer has no further ones.
    is_whole: bool,
    counters: FlowCounters,
    last: Time,
}

/// Counters of the flows through a forwarder.
#[derive(Debug, Default)]
pub(super) struct FlowTable {
    flows: Vec<Flow>,
    by_prefix: BTreeMap<Bytes, usize>,
    /// The flows of the last packets, to one of which the next one mostly belongs.
    recent: [usize; 2],
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
        self.count(&packet.body, counted, now);
    }

    #[inline]
    fn count(&mut self, packet: &[u8], counted: FlowCounters, now: Time) {
        let Some(place) = self.recent_place(packet).or_else(|| self.place_of(prefix_of(packet))) else {
            self.others.add(counted);
            return;
        };
        if self.recent[0] != place {
            self.recent = [place, self.recent[0]];
        }
        let flow = &mut self.flows[place];
        flow.counters.add(counted);
        flow.last = now;
    }

    /// The flow of a packet if it is one of the last two, found without parsing the components.
    #[inline]
    fn recent_place(&self, packet: &[u8]) -> Option<usize> {
        let name = name_of(packet)?;
        let is_it = |place: &usize| {
            let flow = self.flows.get(*place);
            // No component begins like another one: the name has the same first components.
            flow.is_some_and(|flow| flow.is_whole && name.starts_with(&flow.prefix))
        };
        self.recent.into_iter().find(is_it)
    }

    fn place_of(&mut self, prefix: &[u8]) -> Option<usize> {
        if let Some(place) = self.by_prefix.get(prefix) {
            return Some(*place);
        }
        if self.flows.len() >= MAX_FLOWS || prefix.is_empty() || prefix.len() > MAX_PREFIX {
            return None;
        }
        let prefix = Bytes::copy_from_slice(prefix);
        let (counters, last) = (FlowCounters::default(), Time::ZERO);
        self.by_prefix.insert(prefix.clone(), self.flows.len());
        let is_whole = components_in(&prefix) == COMPONENTS;
        self.flows.push(Flow { prefix, is_whole, counters, last });
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
    let name = name_of(packet).unwrap_or_default();
    let mut reader = TlvReader::new(name);
    let mut end = 0;
    for _ in 0..COMPONENTS {
        let Ok(Some(component)) = reader.next() else { break };
        end = component.end();
    }
    &name[..end]
}

fn components_in(prefix: &[u8]) -> usize {
    let mut reader = TlvReader::new(prefix);
    std::iter::from_fn(|| reader.next().ok().flatten()).count()
}

/// The components of the name of a packet; `None` if it is no Interest or Data of at most 65535 bytes.
#[inline]
fn name_of(packet: &[u8]) -> Option<&[u8]> {
    // By hand, since each packet passes here: types and lengths of the packet and of its name were checked when it was received.
    let length = |at: usize| match *packet.get(at)? {
        short @ 0..=252 => Some((usize::from(short), at + 1)),
        253 => Some((usize::from(u16::from_be_bytes([*packet.get(at + 1)?, *packet.get(at + 2)?])), at + 3)),
        _ => None,
    };
    let (_, name) = length(1)?;
    let (len, start) = length(name + 1)?;
    packet.get(start..start + len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_wire::{DataBuilder, InterestBuilder, Signer};

    const INTEREST: FlowCounters = FlowCounters { interests: 1, data: 0, bytes: 0 };

    fn name(uri: &str) -> Vec<u8> {
        name_uri::parse(uri).expect("a name")
    }

    fn interest(uri: &str) -> Bytes {
        InterestBuilder { name: &name(uri), ..InterestBuilder::default() }.build().expect("valid")
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
            table.count(&interest(uri), INTEREST, Time::ZERO + Span::from_secs(at));
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
    fn names_that_begin_alike_are_of_different_flows() {
        let mut table = FlowTable::default();
        for uri in ["/a", "/a/b", "/a/b/c", "/a", "/a/bc", "/a/b"] {
            table.count(&interest(uri), INTEREST, Time::ZERO);
        }
        assert_eq!(counted(&table), ["/a 2", "/a/b 3", "/a/bc 1"]);
    }

    #[test]
    fn a_long_prefix_takes_no_place() {
        let mut table = FlowTable::default();
        let long = format!("/{}", "x".repeat(MAX_PREFIX));
        for packet in [&interest(&long)[..], b"\x05\x02\x07\x00", b"\x05", b""] {
            table.count(packet, INTEREST, Time::ZERO);
        }
        assert_eq!(counted(&table), ["(others) 4"]);
    }
}
