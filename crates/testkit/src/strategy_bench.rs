//! A forwarder under one strategy, with six faces and one name that every downstream requests.
//!
//! ```
//! use tidegate_core::prelude::*;
//! use tidegate_testkit::strategy_bench::{StrategyBench, StrategyEvent::{Data, Interest}};
//!
//! /// Forwards to the cheapest next hop.
//! #[derive(Debug)]
//! struct Cheapest;
//!
//! impl Strategy for Cheapest {
//!     fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
//!         let Some(face) = arrival.usable(cx).next() else { return Decision::Nack(NackReason::NoRoute) };
//!         arrival.forward(face);
//!         Decision::Forward
//!     }
//! }
//!
//! let mut router = StrategyBench::with(Box::new(Cheapest), &[3, 4]);
//! router.follow(&[(0, Interest(0), &["3 interest"]), (5, Data(3), &["0 data"])]);
//! ```

use tidegate_core::arena::PacketId;
use tidegate_core::context::{Env, NoSink, Present};
use tidegate_core::ndn::face::Limit;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::forwarder::{Forwarder, ForwarderSetup, Outbox};
use tidegate_core::ndn::packet::{Data, Interest, Millis, Nack, Packet, PacketArena, PitToken};
use tidegate_core::prelude::*;

/// An event at the router; the number is a face.
#[derive(Clone, Copy, Debug)]
pub enum StrategyEvent {
    /// An Interest of 4 s with a nonce of its own arrives.
    Interest(u16),
    /// Data for the name arrives.
    Data(u16),
    /// Data with a congestion mark of this level.
    Marked(u16, u8),
    /// The queue of the face requests a mark.
    Congested(u16),
    /// The last Interest that went there is refused.
    Nack(u16, NackReason),
    /// The link of the face goes down.
    Down(u16),
    /// The link of the face comes up again.
    Up(u16),
}

#[derive(Debug)]
struct Collected<'a> {
    packets: &'a mut PacketArena<()>,
    sent: Vec<(u16, Header)>,
}

impl Outbox<()> for Collected<'_> {
    fn packets(&mut self) -> &mut PacketArena<()> {
        self.packets
    }

    fn send(&mut self, _: &mut Context<'_>, face: FaceId, packet: PacketId) {
        self.sent.push((face.0, self.packets.take(packet).header));
    }
}

/// A router with one strategy and one PIT entry at most.
#[derive(Debug)]
pub struct StrategyBench {
    names: NameTable,
    faces: Vec<FaceView>,
    forwarder: Forwarder<()>,
    packets: PacketArena<()>,
    name: Name,
    nonces: u32,
    /// The last Interest that went to each face.
    requested: [Option<Interest>; 6],
}

impl StrategyBench {
    /// A router under the strategy `scheme`; `upstreams` cost 1, 2, 3... in this order.
    ///
    /// # Panics
    /// If the scheme is no strategy.
    pub fn new(scheme: &Scheme, upstreams: &[u16]) -> Self {
        let make = scheme.strategy.expect("a strategy");
        Self::with(make(&Settings::default()).expect("valid settings"), upstreams)
    }

    /// A router with the strategy that `scheme` brings as a router part.
    ///
    /// # Panics
    /// If the scheme brings no strategy, or a setting is wrong.
    pub fn of_part(scheme: &Scheme, given: &[(&str, Setting)], upstreams: &[u16]) -> Self {
        let make = scheme.router.expect("a router part");
        let node = NodeSetup::new(NodeId(0), Vec::new(), Streams::of(Seed(1)));
        let parts = make(&crate::settings(given), &node).expect("valid settings");
        Self::with(parts.strategy.expect("a strategy"), upstreams)
    }

    /// A router with the strategy and the gates that `scheme` brings.
    ///
    /// # Panics
    /// If the scheme brings no strategy, or a setting is wrong.
    pub fn of_gated_part(scheme: &Scheme, given: &[(&str, Setting)], upstreams: &[u16]) -> Self {
        let make = scheme.router.expect("a router part");
        let streams = Streams::of(Seed(1));
        let limit = Limit::Packets(Packets::new(100));
        let device = |face| DeviceSetup::new(FaceId(face), BitRate::from_mbps(10.0), limit, streams);
        let node = NodeSetup::new(NodeId(0), (0..6).map(device).collect(), streams);
        let parts = make(&crate::settings(given), &node).expect("valid settings");
        let mut router = Self::with(parts.strategy.expect("a strategy"), upstreams);
        for (face, gate) in parts.gates {
            router.forwarder.set_gates(face, vec![gate]);
        }
        router
    }

    /// A router under `strategy`; `upstreams` cost 1, 2, 3... in this order.
    pub fn with(strategy: Box<dyn Strategy>, upstreams: &[u16]) -> Self {
        let mut names = NameTable::new();
        let prefix = names.intern_uri("/a").expect("valid");
        let mut forwarder = Forwarder::new(ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes")));
        let hops = (1..).zip(upstreams).map(|(cost, face)| NextHop { cost, face: FaceId(*face) });
        forwarder.fib_mut().set(prefix, hops.collect());
        let limit = Limit::Packets(Packets::new(100));
        let device = |_| FaceView::device(BitRate::from_mbps(10.0), Span::ZERO, limit);
        let faces = (0..6).map(device).collect();
        Self {
            names,
            faces,
            forwarder,
            packets: PacketArena::default(),
            name: Name::segment(prefix, 1),
            nonces: 0,
            requested: [None; 6],
        }
    }

    /// PIT entry of the name, while an Interest is pending.
    pub fn entry(&self) -> Option<&PitEntry> {
        let pit = self.forwarder.pit();
        pit.find(self.name).map(|id| pit.entry(id))
    }

    /// Carries out `event` and returns the packets that leave, as "3 interest", in order.
    ///
    /// # Panics
    /// If the event is a Nack from a face that received no Interest.
    pub fn notify(&mut self, at_ms: u64, event: StrategyEvent) -> Vec<String> {
        let (from, kind) = match event {
            StrategyEvent::Interest(from) => {
                self.nonces += 1;
                (from, Kind::Interest(interest(self.nonces)))
            }
            StrategyEvent::Data(from) | StrategyEvent::Marked(from, _) => (from, data()),
            StrategyEvent::Nack(from, reason) => {
                let interest = self.requested[usize::from(from)].expect("was asked");
                (from, Kind::Nack(Nack { interest, reason }))
            }
            StrategyEvent::Down(face) | StrategyEvent::Up(face) => {
                self.faces[usize::from(face)].set_up(matches!(event, StrategyEvent::Up(_)));
                return Vec::new();
            }
            StrategyEvent::Congested(face) => {
                self.faces[usize::from(face)].leave_mark(Span::from_millis(6), Time::MAX);
                return Vec::new();
            }
        };
        let mut header = Header::new(self.name, kind, ByteCount::new(100));
        if let StrategyEvent::Marked(_, level) = event {
            header.hop.mark = level;
        }
        let packet = self.packets.insert(Packet::new(header, ()));
        let mut sink = NoSink;
        let mut present = Present::observed(&mut sink).at(Time::ZERO + Span::from_millis(at_ms));
        let env = Env::new(&self.names, &mut present);
        let mut out = Collected { packets: &mut self.packets, sent: Vec::new() };
        let mut cx = Context::new(env, &self.faces);
        self.forwarder.on_wake(&mut cx, &mut out);
        self.forwarder.receive(&mut cx, FaceId(from), packet, &mut out);
        let sent = out.sent;
        sent.iter().map(|(face, header)| self.word(*face, header)).collect()
    }

    fn word(&mut self, face: u16, header: &Header) -> String {
        match header.kind {
            Kind::Interest(interest) => {
                self.requested[usize::from(face)] = Some(interest);
                format!("{face} interest")
            }
            Kind::Data(_) if header.hop.mark > 0 => format!("{face} marked"),
            Kind::Data(_) => format!("{face} data"),
            Kind::Nack(nack) => format!("{face} nack {:?}", nack.reason),
            kind @ (Kind::LossNotice(_) | Kind::Tcp(_)) => panic!("nobody sent {kind:?}"),
        }
    }

    /// Carries out each event and compares the packets that leave.
    ///
    /// # Panics
    /// If packets other than the expected ones leave.
    #[track_caller]
    pub fn follow(&mut self, steps: &[(u64, StrategyEvent, &[&str])]) {
        for (number, (at_ms, event, expected)) in (1..).zip(steps) {
            assert_eq!(self.notify(*at_ms, *event), *expected, "event {number} at {at_ms} ms: {event:?}");
        }
    }
}

/// Number of draws behind each measured share.
pub const DRAWS: u32 = 40_000;

/// Checks that of [`DRAWS`] Interests at this instant, each answered at once, the fraction to face 3 of two next hops is
/// `expected` within four standard deviations.
///
/// # Panics
/// If the fraction differs by more.
#[track_caller]
pub fn expect_share(router: &mut StrategyBench, at_ms: u64, expected: f64) {
    expect_share_spaced(router, at_ms, 0, expected);
}

/// As [`expect_share`], with `pause_ms` between one Interest and the next.
///
/// # Panics
/// As [`expect_share`].
#[track_caller]
pub fn expect_share_spaced(router: &mut StrategyBench, at_ms: u64, pause_ms: u64, expected: f64) {
    let mut chosen = 0;
    for turn in 0..u64::from(DRAWS) {
        let at = at_ms + turn * pause_ms;
        let sent = router.notify(at, StrategyEvent::Interest(0));
        let face = if sent == ["3 interest"] { 3 } else { 4 };
        chosen += u32::from(face == 3);
        assert_eq!(router.notify(at, StrategyEvent::Data(face)), ["0 data"], "{sent:?}");
    }
    let share = f64::from(chosen) / f64::from(DRAWS);
    let deviation = (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt();
    assert!((share - expected).abs() <= 4.0 * deviation, "{share}, by hand {expected} ± {deviation:.5}");
}

fn interest(nonce: u32) -> Interest {
    let (lifetime, token) = (Millis(4000), PitToken(nonce));
    Interest { nonce, lifetime, token, hop_limit: None, can_be_prefix: false, must_be_fresh: false }
}

fn data() -> Kind {
    let (freshness, token) = (Millis(0), PitToken(0));
    Kind::Data(Data { freshness, final_segment: Segment::NONE, payload: 50, token })
}
