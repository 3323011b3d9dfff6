//! One forwarder with six devices and an application, a strategy that writes down what it is told, and an outbox.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use tidegate_core::arena::PacketId;
use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::ndn::cs::{CacheSetup, UnsolicitedPolicy};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::forwarder::{Forwarder, ForwarderSetup, Outbox, Steering};
use tidegate_core::ndn::name::{Name, NameHash, NameTable, PrefixId, Segment};
use tidegate_core::ndn::packet::{
    Data, Header, Interest, Kind, LossNotice, Millis, Nack, NackReason, Packet, PacketArena, PitToken,
};
use tidegate_core::ndn::pit::{PitEntry, PitId};
use tidegate_core::ndn::strategy::{Arrival, Decision, NackDecision, Strategy};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::control::Message;
use tidegate_core::scheme::signal::{Merge, Signal};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// A signal that travels with the Interest.
pub const FLOW_CLASS: Signal = Signal::new(944, Merge::Last);
/// Another one.
pub const FLOW_RTT: Signal = Signal::new(952, Merge::Last);
/// A signal that the answerer returns.
pub const TIMESTAMP_ECHO: Signal = Signal::new(932, Merge::Last);

/// Face of the application; 0 to 5 are devices.
pub const APPLICATION: u16 = 6;

/// How the strategy behaves and what it was told.
#[derive(Debug, Default)]
pub struct Script {
    /// An Interest for a name that is pending upstream already goes out again.
    pub resends: bool,
    /// The strategy need not be notified of Data, and does not wake.
    pub only_chooses: bool,
    /// Every target gets a nonce of its own.
    pub fresh_nonces: bool,
    pub straggler: Span,
    pub refuses: Option<NackReason>,
    /// After every Nack another upstream is asked.
    pub asks_elsewhere: bool,
    /// Answers to refusals of gates and to Nacks, first one first; then the refusal goes on as it came.
    pub after_refusals: VecDeque<Instead>,
    /// Face whose copies of Data are marked with this level.
    pub marks: Option<(u16, u8)>,
    pub wake: Option<Time>,
    /// Words for what it was told, in order.
    pub reported: Vec<String>,
}

/// What the strategy does when a gate refused an Interest.
#[derive(Clone, Copy, Debug)]
pub enum Instead {
    /// Sends it through this face.
    Face(u16),
    Suppress,
    /// Sends it through every usable face.
    Usable,
    Nack(NackReason),
}

#[derive(Debug)]
struct Scripted(Rc<RefCell<Script>>);

impl Scripted {
    fn note(&self, word: String) {
        self.0.borrow_mut().reported.push(word);
    }
}

impl Strategy for Scripted {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let script = self.0.borrow();
        if let Some(reason) = script.refuses {
            return Decision::Nack(reason);
        }
        if arrival.entry.out_records().next().is_some() && !script.resends {
            return Decision::Suppress;
        }
        let faces: Vec<FaceId> = arrival.usable(cx).collect();
        for face in &faces {
            arrival.forward(*face);
        }
        for target in arrival.targets.iter_mut() {
            target.fresh_nonce = script.fresh_nonces;
        }
        if faces.is_empty() { Decision::Nack(NackReason::NoRoute) } else { Decision::Forward }
    }

    fn on_data(&mut self, _: &mut Context<'_>, data: &mut Header, from: FaceId, _: PitId, entry: &PitEntry) {
        self.note(format!("data from {} mark {} satisfied {}", from.0, data.hop.mark, entry.is_satisfied()));
    }

    fn on_data_out(&mut self, _: &mut Context<'_>, data: &mut Header, to: FaceId) {
        if let Some((_, level)) = self.0.borrow().marks.filter(|(face, _)| FaceId(*face) == to) {
            data.hop.raise_mark(level);
        }
    }

    fn on_nack(
        &mut self,
        _: &mut Context<'_>,
        reason: NackReason,
        from: FaceId,
        _: PitId,
        entry: &PitEntry,
    ) -> NackDecision {
        self.note(format!("nack {reason:?} from {}", from.0));
        if self.0.borrow().asks_elsewhere { NackDecision::Elsewhere } else { entry.nack_decision() }
    }

    fn on_rejected(&mut self, cx: &mut Context<'_>, face: FaceId, arrival: &mut Arrival<'_>) -> Decision {
        self.note(format!("rejected by {}", face.0));
        match self.0.borrow_mut().after_refusals.pop_front() {
            Some(Instead::Face(face)) => arrival.forward(FaceId(face)),
            Some(Instead::Usable) => {
                let faces: Vec<FaceId> = arrival.usable(cx).collect();
                faces.into_iter().for_each(|face| arrival.forward(face));
            }
            Some(Instead::Suppress) => return Decision::Suppress,
            Some(Instead::Nack(reason)) => return Decision::Nack(reason),
            None => {}
        }
        Decision::Forward
    }

    fn on_loss_notice(&mut self, _: &mut Context<'_>, from: FaceId, _: PitId, entry: &PitEntry) {
        self.note(format!("notice {} from {}", entry.notices(), from.0));
    }

    fn on_expiry(&mut self, cx: &mut Context<'_>, _: PitId, entry: &PitEntry) {
        self.note(format!("expiry of {}", cx.names.uri(entry.name())));
    }

    fn on_content_hit(&mut self, _: &mut Context<'_>, _: &Header) {
        self.note("content hit".to_owned());
    }

    fn on_directive(&mut self, _: &mut Context<'_>, directive: &dyn Message) {
        self.note(format!("{directive:?}"));
    }

    fn on_wake(&mut self, cx: &mut Context<'_>) {
        self.0.borrow_mut().wake = None;
        self.note(format!("wake at {}", cx.now));
    }

    fn next_wake(&self) -> Option<Time> {
        self.0.borrow().wake
    }

    fn acts_later(&self) -> bool {
        !self.0.borrow().only_chooses
    }

    fn straggler(&self) -> Span {
        self.0.borrow().straggler
    }
}

/// What left, in order: face and packet.
pub type Sent = Vec<(u16, Packet<u32>)>;

struct Collected<'a> {
    packets: &'a mut PacketArena<u32>,
    sent: Sent,
}

impl Outbox<u32> for Collected<'_> {
    fn packets(&mut self) -> &mut PacketArena<u32> {
        self.packets
    }

    fn send(&mut self, _: &mut Context<'_>, face: FaceId, packet: PacketId) {
        self.sent.push((face.0, self.packets.take(packet)));
    }
}

/// A router whose packets carry a number as body.
pub struct Router {
    pub names: NameTable,
    pub faces: Vec<FaceView>,
    pub forwarder: Forwarder<u32>,
    /// Packets that gates hold; all others are gone after each call.
    pub packets: PacketArena<u32>,
    pub script: Rc<RefCell<Script>>,
    pub prefix: PrefixId,
}

impl Router {
    /// A router without cache that sends Interests under `/a` through `upstreams`.
    pub fn new(upstreams: &[u16]) -> Self {
        Self::with(upstreams, 0, UnsolicitedPolicy::Drop, Script::default())
    }

    pub fn scripted(upstreams: &[u16], script: Script) -> Self {
        Self::with(upstreams, 0, UnsolicitedPolicy::Drop, script)
    }

    pub fn caching(upstreams: &[u16], unsolicited: UnsolicitedPolicy) -> Self {
        Self::with(upstreams, 10, unsolicited, Script::default())
    }

    /// A router that accepts Data from faces alone that the Interest was sent to, with a cache of `cache` packets.
    pub fn requested_only(upstreams: &[u16], cache: u32, script: Script) -> Self {
        let mut router = Self::with(upstreams, 0, UnsolicitedPolicy::Drop, script);
        let strategy = Box::new(Scripted(router.script.clone()));
        router.forwarder = Forwarder::new(ForwarderSetup {
            cache: CacheSetup::lru(Packets::new(cache)),
            unsolicited: UnsolicitedPolicy::Admit,
            requested_only: true,
            ..ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes"))
        });
        let hops = upstreams.iter().map(|face| NextHop { cost: 1, face: FaceId(*face) }).collect();
        router.forwarder.fib_mut().set(router.prefix, hops);
        router
    }

    pub fn with(upstreams: &[u16], cache: u32, unsolicited: UnsolicitedPolicy, script: Script) -> Self {
        let script = Rc::new(RefCell::new(script));
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/a").expect("valid");
        let strategy = Box::new(Scripted(script.clone()));
        let mut forwarder = Forwarder::new(ForwarderSetup {
            cache: CacheSetup::lru(Packets::new(cache)),
            unsolicited,
            ..ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes"))
        });
        let hops = upstreams.iter().map(|face| NextHop { cost: 1, face: FaceId(*face) }).collect();
        forwarder.fib_mut().set(prefix, hops);
        let device =
            || FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, Limit::Packets(Packets::new(100)));
        let mut faces: Vec<FaceView> = (0..APPLICATION).map(|_| device()).collect();
        faces.push(FaceView::application());
        Self { names, faces, forwarder, packets: PacketArena::default(), script, prefix }
    }

    /// Serves everything under `/a` by a further strategy, whose script replaces that of the default one here.
    pub fn set_strategy(&mut self, script: Script) {
        self.script = Rc::new(RefCell::new(script));
        self.forwarder.set_strategy(self.prefix, Box::new(Scripted(self.script.clone())));
    }

    /// A router that keeps at most `limit` Interests pending.
    pub fn with_pit_limit(limit: usize) -> Self {
        let mut router = Self::new(&[3]);
        let strategy = Box::new(Scripted(router.script.clone()));
        let setup = ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes"));
        router.forwarder =
            Forwarder::new(ForwarderSetup { pit_limit: limit, hash: NameHash::keyed(5), ..setup });
        router.forwarder.fib_mut().set(router.prefix, vec![NextHop { cost: 1, face: FaceId(3) }]);
        router
    }

    /// A router that keeps at most `limit` Interests pending, by shares of faces if `has_shares`.
    pub fn with_shares(limit: usize, has_shares: bool) -> Self {
        let mut router = Self::new(&[3]);
        let strategy = Box::new(Scripted(router.script.clone()));
        router.forwarder = Forwarder::new(ForwarderSetup {
            pit_limit: limit,
            pit_shares: has_shares,
            requested_only: true,
            ..ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes"))
        });
        router.forwarder.fib_mut().set(router.prefix, vec![NextHop { cost: 1, face: FaceId(3) }]);
        router
    }

    /// Segment `segment` under `/a`.
    pub fn name(&self, segment: u32) -> Name {
        Name::segment(self.prefix, segment)
    }

    fn call<T>(&mut self, at: Time, part: impl FnOnce(&mut Forwarder<u32>, &mut Context<'_>) -> T) -> T {
        let mut sink = NoSink;
        let mut present = Present::observed(&mut sink).at(at);
        let env = Env::new(&self.names, &mut present);
        part(&mut self.forwarder, &mut Context::new(env, &self.faces))
    }

    /// Passes a packet in at `at_ms`; what leaves.
    pub fn receive(&mut self, at_ms: u64, from: u16, packet: Packet<u32>) -> Sent {
        self.collect(at_ms, |forwarder, cx, out| {
            let packet = out.packets.insert(packet);
            forwarder.receive(cx, FaceId(from), packet, out);
        })
    }

    /// As [`receive`](Self::receive), with what the packet requests beside its name.
    pub fn receive_steered(
        &mut self,
        at_ms: u64,
        from: u16,
        packet: Packet<u32>,
        steering: Steering,
    ) -> Sent {
        self.collect(at_ms, |forwarder, cx, out| {
            let packet = out.packets.insert(packet);
            forwarder.receive_steered(cx, FaceId(from), packet, steering, out);
        })
    }

    /// Wakes the forwarder at `at_ms`; what leaves.
    pub fn wake(&mut self, at_ms: u64) -> Sent {
        self.collect(at_ms, |forwarder, cx, out| forwarder.on_wake(cx, out))
    }

    fn collect(
        &mut self,
        at_ms: u64,
        part: impl FnOnce(&mut Forwarder<u32>, &mut Context<'_>, &mut Collected<'_>),
    ) -> Sent {
        let mut packets = std::mem::take(&mut self.packets);
        let mut out = Collected { packets: &mut packets, sent: Vec::new() };
        self.call(ms(at_ms), |forwarder, cx| part(forwarder, cx, &mut out));
        let sent = out.sent;
        self.packets = packets;
        self.expect_no_leak();
        sent
    }

    /// Every packet has ended but those that gates hold.
    fn expect_no_leak(&self) {
        let held = (0..APPLICATION).map(|face| self.forwarder.gate_stats(FaceId(face)).waiting);
        assert_eq!(self.packets.count() as u64, held.sum::<u64>(), "packets that have not ended");
    }

    pub fn direct(&mut self, directive: &dyn Message) {
        self.call(Time::ZERO, |forwarder, cx| forwarder.on_directive(cx, directive));
    }

    /// Drops what the gates of `face` hold; the number of packets.
    pub fn clear_held(&mut self, at_ms: u64, face: u16) -> u64 {
        let mut packets = std::mem::take(&mut self.packets);
        let cleared =
            self.call(ms(at_ms), |forwarder, cx| forwarder.clear_held(cx, &mut packets, FaceId(face)));
        self.packets = packets;
        self.expect_no_leak();
        cleared
    }

    pub fn reported(&self) -> Vec<String> {
        self.script.borrow().reported.clone()
    }

    pub fn pending(&self) -> usize {
        self.forwarder.pit().len()
    }
}

/// `at` milliseconds after the start.
pub fn ms(at: u64) -> Time {
    Time::ZERO + Span::from_millis(at)
}

/// An Interest of one second; its token is its nonce plus 1000, its body its nonce plus 2000.
pub fn interest(name: Name, nonce: u32) -> Packet<u32> {
    interest_with(name, nonce, |_| {})
}

pub fn interest_with(name: Name, nonce: u32, change: impl FnOnce(&mut Interest)) -> Packet<u32> {
    let mut interest = Interest {
        nonce,
        lifetime: Millis(1000),
        token: PitToken(nonce + 1000),
        hop_limit: None,
        can_be_prefix: false,
        must_be_fresh: false,
    };
    change(&mut interest);
    Packet::new(Header::new(name, Kind::Interest(interest), ByteCount::new(40)), nonce + 2000)
}

/// Data that is fresh for `freshness_ms`, with body 77.
pub fn data(name: Name, freshness_ms: u32) -> Packet<u32> {
    let kind = Kind::Data(Data {
        freshness: Millis(freshness_ms),
        final_segment: Segment::NONE,
        payload: 1024,
        token: PitToken(0),
    });
    Packet::new(Header::new(name, kind, ByteCount::new(1100)), 77)
}

/// The Nack to an Interest that was sent upstream.
pub fn nack(refused: &Packet<u32>, reason: NackReason) -> Packet<u32> {
    let kind = Kind::Nack(Nack { interest: interest_in(refused), reason });
    Packet::new(Header::new(refused.header.name, kind, ByteCount::new(40)), 0)
}

pub fn loss_notice(name: Name) -> Packet<u32> {
    let kind = Kind::LossNotice(LossNotice { token: PitToken(0) });
    Packet::new(Header::new(name, kind, ByteCount::new(30)), 55)
}

/// The Interest fields of an Interest or Nack.
pub fn interest_in(packet: &Packet<u32>) -> Interest {
    match packet.header.kind {
        Kind::Interest(interest) => interest,
        Kind::Nack(nack) => nack.interest,
        _ => panic!("no Interest in {packet:?}"),
    }
}

/// The token a packet carries.
pub fn token(packet: &Packet<u32>) -> u32 {
    match packet.header.kind {
        Kind::Interest(interest) => interest.token.0,
        Kind::Data(data) => data.token.0,
        Kind::Nack(nack) => nack.interest.token.0,
        Kind::LossNotice(notice) => notice.token.0,
        Kind::Tcp(_) => 0,
    }
}

/// Each packet as "face kind", a Nack with its reason.
pub fn words(sent: &Sent) -> Vec<String> {
    let kind = |packet: &Packet<u32>| match packet.header.kind {
        Kind::Interest(_) => "interest".to_owned(),
        Kind::Data(_) => "data".to_owned(),
        Kind::Nack(nack) => format!("nack {:?}", nack.reason),
        Kind::LossNotice(_) => "notice".to_owned(),
        Kind::Tcp(_) => "tcp".to_owned(),
    };
    sent.iter().map(|(face, packet)| format!("{face} {}", kind(packet))).collect()
}

/// A directive of no scheme; its number tells directives apart in records.
#[derive(Debug)]
#[expect(dead_code, reason = "the number is read through Debug")]
pub struct Metric(pub f64);

impl Message for Metric {
    fn kind(&self) -> &'static str {
        "metric"
    }
}
