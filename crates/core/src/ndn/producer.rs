//! The producer of one prefix: answers every Interest for one of its segments with Data.

use crate::context::Context;
use crate::ndn::name::{Name, PrefixId, Segment};
use crate::ndn::packet::{Data, Header, Interest, Kind, Millis, wire_size};
use crate::units::{ByteCount, Span};

/// Serves one object, all segments of one size.
#[derive(Clone, Debug)]
pub struct Producer {
    prefix: PrefixId,
    payload: u32,
    freshness: Millis,
    final_segment: Segment,
}

impl Producer {
    /// A producer of `payload` bytes of content per Data (at most 2^32-1), fresh for `freshness` in whole
    /// milliseconds, up to the segment `final_segment`; `None` for an object without end.
    pub fn new(prefix: PrefixId, payload: ByteCount, freshness: Span, final_segment: Option<u32>) -> Self {
        Self {
            prefix,
            payload: u32::try_from(payload.get()).unwrap_or(u32::MAX),
            freshness: Millis::from_span(freshness),
            final_segment: final_segment.map_or(Segment::NONE, Segment),
        }
    }

    /// Prefix of the segments that it serves.
    #[inline]
    pub fn prefix(&self) -> PrefixId {
        self.prefix
    }

    /// The Data for an Interest; `None` for any other packet, name or segment.
    pub fn answer(&self, cx: &Context<'_>, header: &Header) -> Option<Header> {
        let Kind::Interest(interest) = &header.kind else { return None };
        if !self.serves(header.name) {
            return None;
        }
        let size = wire_size::data(cx.names.encoded_len(header.name), self.payload);
        let mut data = Header::new(header.name, self.data(interest), size);
        data.hop = header.hop.echoed();
        Some(data)
    }

    fn serves(&self, name: Name) -> bool {
        // NONE is the largest number, so an object without end has no segment beyond its last.
        name.prefix == self.prefix && name.segment != Segment::NONE && name.segment <= self.final_segment
    }

    fn data(&self, interest: &Interest) -> Kind {
        Kind::Data(Data {
            freshness: self.freshness,
            final_segment: self.final_segment,
            payload: self.payload,
            token: interest.token,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Env, NoSink, Present};
    use crate::ndn::name::NameTable;
    use crate::ndn::packet::PitToken;
    use crate::scheme::signal::{HopSignals, Merge, Signal};

    const FLOW_CLASS: Signal = Signal::new(944, Merge::Last);
    const TIMESTAMP_ECHO: Signal = Signal::new(932, Merge::Last);

    /// The answer of a producer of `/file`, 1000 bytes per segment, last segment 9.
    fn answer(name: impl Fn(&mut NameTable) -> Name, hop: HopSignals) -> Option<Header> {
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/file").expect("valid");
        let name = name(&mut names);
        let interest = Interest {
            nonce: 1,
            lifetime: Millis(4000),
            token: PitToken(77),
            hop_limit: None,
            can_be_prefix: true,
            must_be_fresh: false,
        };
        let mut header = Header::new(name, Kind::Interest(interest), ByteCount::new(30));
        header.hop = hop;
        let mut sink = NoSink;
        let mut present = Present::observed(&mut sink);
        let env = Env::new(&names, &mut present);
        let producer = Producer::new(prefix, ByteCount::new(1000), Span::from_micros(2500), Some(9));
        producer.answer(&Context::new(env, &[]), &header)
    }

    fn segment(number: u32) -> impl Fn(&mut NameTable) -> Name {
        move |names| Name::segment(names.intern_uri("/file").expect("valid"), number)
    }

    #[test]
    fn a_segment_is_answered_with_content_token_freshness_and_the_last_segment() {
        let data = answer(segment(9), HopSignals::default()).expect("served");
        let expected =
            Data { freshness: Millis(2), final_segment: Segment(9), payload: 1000, token: PitToken(77) };
        assert_eq!(data.kind, Kind::Data(expected));
        // Name 2 + 6 (/file) + 3 (segment 9) = 11, overhead 26.
        assert_eq!(data.size(), ByteCount::new(1037));
    }

    #[test]
    fn other_prefixes_the_prefix_itself_and_segments_beyond_the_last_get_no_answer() {
        assert!(answer(segment(10), HopSignals::default()).is_none());
        assert!(answer(|names| Name::whole(segment(0)(names).prefix), HopSignals::default()).is_none());
        let other = |names: &mut NameTable| Name::segment(names.intern_uri("/other").expect("valid"), 0);
        assert!(answer(other, HopSignals::default()).is_none());
    }

    #[test]
    fn only_echoed_signals_come_back() {
        let mut hop = HopSignals::default();
        hop.raise_mark(1);
        hop.put(TIMESTAMP_ECHO, 123);
        hop.put(FLOW_CLASS, 5);
        let data = answer(segment(0), hop).expect("served");
        assert_eq!(data.hop.get(TIMESTAMP_ECHO), Some(123));
        assert_eq!((data.hop.get(FLOW_CLASS), data.hop.mark), (None, 0));
    }
}
