//! A node with two devices around gates, without forwarder or clock.

use tidegate_core::context::{Context, Env, NoRoutes, Sink};
use tidegate_core::event::{Event, EventMask};
use tidegate_core::face::{FaceView, Limit, NodeId};
use tidegate_core::name::{Name, NameTable, PrefixId, Segment};
use tidegate_core::packet::{Data, Header, Interest, Kind, Millis, PitToken};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// The node's surroundings: devices of 10 Mbps with room for 100 packets.
pub struct GateBench {
    pub names: NameTable,
    pub faces: Vec<FaceView>,
    /// Of control, as parts recorded them.
    pub events: Vec<Event>,
}

/// Keeps events.
#[derive(Debug)]
struct Kept<'a>(&'a mut Vec<Event>);

impl Sink for Kept<'_> {
    fn record(&mut self, _: Time, _: NodeId, event: Event) {
        self.0.push(event);
    }
}

impl GateBench {
    pub fn new() -> Self {
        let limit = Limit::Packets(Packets::new(100));
        let device = || FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit);
        Self { names: NameTable::new(), faces: vec![device(), device()], events: Vec::new() }
    }

    /// Calls `part` at `at_us` microseconds.
    pub fn at<T>(&mut self, at_us: u64, part: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let Self { names, faces, events } = self;
        let (node, mask, sink) = (NodeId(0), EventMask::CONTROL, &mut Kept(events));
        let env = Env { now: micros(at_us), node, names, routes: &NoRoutes, sink, mask };
        part(&mut Context::new(env, faces))
    }
}

/// This many microseconds after the start.
pub fn micros(at_us: u64) -> Time {
    Time::ZERO + Span::from_micros(at_us)
}

/// An Interest of 40 bytes.
pub fn interest(prefix: PrefixId, segment: u32) -> Header {
    let (nonce, lifetime, token) = (1, Millis(1000), PitToken(0));
    let interest =
        Interest { nonce, lifetime, token, hop_limit: None, can_be_prefix: false, must_be_fresh: false };
    Header::new(Name::segment(prefix, segment), Kind::Interest(interest), ByteCount::new(40))
}

/// A Data of `size` bytes.
pub fn data(prefix: PrefixId, segment: u32, size: u64) -> Header {
    let payload = size as u32;
    let data = Data { freshness: Millis(0), final_segment: Segment::NONE, payload, token: PitToken(0) };
    Header::new(Name::segment(prefix, segment), Kind::Data(data), ByteCount::new(size))
}
