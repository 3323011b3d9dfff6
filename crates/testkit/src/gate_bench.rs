//! A node with two devices around gates, without forwarder or clock.

use tidegate_core::context::{Context, Env, Present, Sink};
use tidegate_core::ndn::face::{FaceView, Limit, NodeId};
use tidegate_core::ndn::name::{Name, NameTable, PrefixId, Segment};
use tidegate_core::ndn::packet::{Data, Header, Interest, Kind, Millis, PitToken};
use tidegate_core::observe::event::{Event, EventMask};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// The surroundings of a node with two devices of 10 Mbit/s, each with room for 100 packets.
#[derive(Debug)]
pub struct GateBench {
    /// Names of the packets.
    pub names: NameTable,
    /// Views of the node's devices, by face.
    pub faces: Vec<FaceView>,
    /// Events of the kind [`EventMask::CONTROL`], in the order recorded.
    pub events: Vec<Event>,
}

/// Sink that keeps every event in a list.
#[derive(Debug)]
struct EventList<'a>(&'a mut Vec<Event>);

impl Sink for EventList<'_> {
    fn record(&mut self, _: Time, _: NodeId, event: Event) {
        self.0.push(event);
    }
}

impl Default for GateBench {
    fn default() -> Self {
        Self::new()
    }
}

impl GateBench {
    /// Two devices and no events.
    pub fn new() -> Self {
        let limit = Limit::Packets(Packets::new(100));
        let device = || FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit);
        Self { names: NameTable::new(), faces: vec![device(), device()], events: Vec::new() }
    }

    /// Calls `part` at `at_us` microseconds.
    pub fn at<T>(&mut self, at_us: u64, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        self.at_time(micros(at_us), part)
    }

    /// Calls `part` at `now`.
    pub fn at_time<T>(&mut self, now: Time, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let Self { names, faces, events } = self;
        let (mask, sink) = (EventMask::CONTROL, &mut EventList(events));
        let mut present = Present::observed(sink).at(now).with_mask(mask);
        let env = Env::new(names, &mut present);
        part(&mut Context::new(env, faces))
    }
}

/// The instant `at_us` microseconds after the start.
pub fn micros(at_us: u64) -> Time {
    Time::ZERO + Span::from_micros(at_us)
}

/// An Interest of 40 bytes for `segment` below `prefix`.
pub fn interest(prefix: PrefixId, segment: u32) -> Header {
    let (nonce, lifetime, token) = (1, Millis(1000), PitToken(0));
    let interest =
        Interest { nonce, lifetime, token, hop_limit: None, can_be_prefix: false, must_be_fresh: false };
    Header::new(Name::segment(prefix, segment), Kind::Interest(interest), ByteCount::new(40))
}

/// A Data of `size` bytes for `segment` below `prefix`.
pub fn data(prefix: PrefixId, segment: u32, size: u64) -> Header {
    let payload = size as u32;
    let data = Data { freshness: Millis(0), final_segment: Segment::NONE, payload, token: PitToken(0) };
    Header::new(Name::segment(prefix, segment), Kind::Data(data), ByteCount::new(size))
}
