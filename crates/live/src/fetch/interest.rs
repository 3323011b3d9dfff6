//! The bytes of a segment's Interest, made without going through a builder: one allocation each.

use bytes::Bytes;
use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::{Header, Interest, Kind, Packet};
use tidegate_wire::name::push_segment;
use tidegate_wire::tlv::{self, types};

/// Makes Interests for the segments of one name.
#[derive(Debug)]
pub(super) struct InterestMaker {
    /// Concatenated components of the prefix.
    prefix: Vec<u8>,
    /// Number of the segment that the consumer calls 0.
    first: u32,
    segment: Vec<u8>,
    fields: Vec<u8>,
}

impl InterestMaker {
    pub(super) fn new(prefix: &[u8], first: u32) -> Self {
        Self { prefix: prefix.to_vec(), first, segment: Vec::new(), fields: Vec::new() }
    }

    /// Concatenated components of the prefix.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The packet for an Interest that the consumer decided to send; `None` for anything else.
    pub(super) fn packet(&mut self, header: &Header) -> Option<Packet<Bytes>> {
        let Kind::Interest(interest) = header.kind else { return None };
        let name = Name::segment(header.name.prefix, header.name.segment.0.checked_add(self.first)?);
        let body = self.bytes(name, &interest);
        let mut sized =
            Header::new(name, header.kind, tidegate_core::units::ByteCount::new(body.len() as u64));
        sized.hop = header.hop;
        Some(Packet::new(sized, body))
    }

    fn bytes(&mut self, name: Name, interest: &Interest) -> Bytes {
        let Self { prefix, segment, fields, .. } = self;
        segment.clear();
        push_segment(segment, name.segment.0);
        fields.clear();
        if interest.can_be_prefix {
            tlv::write_element(fields, types::CAN_BE_PREFIX, &[]);
        }
        if interest.must_be_fresh {
            tlv::write_element(fields, types::MUST_BE_FRESH, &[]);
        }
        tlv::write_element(fields, types::NONCE, &interest.nonce.to_be_bytes());
        tlv::write_integer(fields, types::INTEREST_LIFETIME, u64::from(interest.lifetime.0));
        if let Some(hops) = interest.hop_limit {
            tlv::write_element(fields, types::HOP_LIMIT, &[hops]);
        }
        let name_len = prefix.len() + segment.len();
        let inner = tlv::element_len(types::NAME, name_len) + fields.len();
        let mut out = Vec::with_capacity(tlv::element_len(types::INTEREST, inner));
        tlv::write_header(&mut out, types::INTEREST, inner);
        tlv::write_header(&mut out, types::NAME, name_len);
        for part in [&prefix, &segment, &fields] {
            out.extend_from_slice(part);
        }
        Bytes::from(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::ndn::name::NameTable;
    use tidegate_core::ndn::packet::{Millis, PitToken};
    use tidegate_core::units::ByteCount;
    use tidegate_wire::{LpFields, decode_packet};

    #[test]
    fn an_interest_reads_back_as_the_consumer_decided_it() {
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/a/54=%01").expect("a name");
        let mut components = Vec::new();
        names.write_components(Name::whole(prefix), &mut components);
        let mut maker = InterestMaker::new(&components, 0);
        for (segment, hop_limit, flag) in [(0, None, false), (300, Some(7), true), (70_000, Some(255), false)]
        {
            let interest = Interest {
                nonce: 0xDEAD_BEEF,
                lifetime: Millis(4_000),
                token: PitToken(0),
                hop_limit,
                can_be_prefix: flag,
                must_be_fresh: flag,
            };
            let name = Name::segment(prefix, segment);
            let header = Header::new(name, Kind::Interest(interest), ByteCount::new(1));
            let packet = maker.packet(&header).expect("an Interest");
            let fields = LpFields::default();
            let read = decode_packet(&fields, packet.body.clone(), &mut names, &mut || 0).expect("valid");
            assert_eq!(read, packet);
        }
    }
}
