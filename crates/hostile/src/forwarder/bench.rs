//! The node of a forwarder as its daemon drives it, with devices in place of sockets.

use bytes::Bytes;
use tidegate_core::context::{Env, NoSink, Present};
use tidegate_core::ndn::cs::{CacheSetup, UnsolicitedPolicy};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::forwarder::{BodyRules, Forwarder, ForwarderSetup};
use tidegate_core::ndn::name::{Name, NameHash, NameTable};
use tidegate_core::ndn::node::Node;
use tidegate_core::ndn::packet::{Interest, Kind, Packet, PacketArena};
use tidegate_core::ndn::pit::SharePeer;
use tidegate_core::queue::Queue;
use tidegate_core::rng::{Rng, Seed, Streams};
use tidegate_core::scheme::DeviceSetup;
use tidegate_core::scheme::params::Settings;
use tidegate_core::units::{BitRate, Packets, Span, Time};
use tidegate_live::link_service::{GenericLinkService, LinkContext};
use tidegate_live::tokens::TokenTable;
use tidegate_schemes::{SCHEMES, find};
use tidegate_wire::{DataView, FrameBatch, implicit_digest};

use super::devices::{BenchPort, Wires, discipline};
use super::{invariants, packets};

/// Settings of the forwarder under test.
#[derive(Debug)]
pub struct BenchSetup {
    pub cache: Packets,
    pub caches_unsolicited: bool,
    pub strategy: &'static str,
    pub pit_limit: usize,
    pub limit: Limit,
    /// The queues have PLR's store.
    pub has_store: bool,
    pub mtu: Option<usize>,
}

/// A forwarder and its surroundings.
pub struct Bench {
    pub now: Time,
    pub node: Node<Bytes>,
    pub packets: PacketArena<Bytes>,
    pub names: NameTable,
    pub tokens: TokenTable,
    nonces: Rng,
    pub ports: Vec<Option<BenchPort>>,
    /// Link service of the peers, which encodes what they send.
    peer: GenericLinkService,
    pub cache: usize,
    pub pit_limit: usize,
    limit: Limit,
    disciplines: Vec<&'static str>,
    mtu: Option<usize>,
}

/// More faces are not attached.
const MAX_FACES: usize = 4;

macro_rules! env {
    ($bench:expr) => {
        Env::new(&$bench.names, &mut Present::new(NoSink).at($bench.now))
    };
}

macro_rules! wires {
    ($bench:expr) => {
        &mut Wires {
            packets: &mut $bench.packets,
            ports: &mut $bench.ports,
            names: &$bench.names,
            tokens: &$bench.tokens,
        }
    };
}

pub(super) use {env, wires};

impl Bench {
    /// Three faces, the first of them local; next hops for `/a`, `/b` and both scopes.
    pub fn new(setup: &BenchSetup) -> Self {
        let strategy = find(SCHEMES, setup.strategy).and_then(|scheme| scheme.strategy).expect("a strategy");
        let strategy = strategy(&Settings::default()).expect("the defaults are sound");
        let mut forwarder = Forwarder::new(ForwarderSetup {
            cache: CacheSetup::lru(setup.cache),
            unsolicited: match setup.caches_unsolicited {
                true => UnsolicitedPolicy::Admit,
                false => UnsolicitedPolicy::Drop,
            },
            requested_only: true,
            pit_shares: true,
            pit_limit: setup.pit_limit,
            hash: NameHash::keyed(7),
            ..ForwarderSetup::new(strategy, Rng::stream(Seed(1), "probes"))
        });
        forwarder.set_body_rules(BodyRules {
            digest: |body: &Bytes| DataView::parse(body).map_or([0; 32], |data| implicit_digest(&data)),
            // A received packet shares its memory with others, which a small cached one must not keep alive.
            keep: |body| Bytes::copy_from_slice(body),
        });
        let mut bench = Self {
            now: Time::ZERO + Span::from_secs(1),
            node: Node::new(forwarder, Vec::new(), Vec::new()),
            packets: PacketArena::default(),
            names: NameTable::keyed(3),
            tokens: TokenTable::new(),
            nonces: Rng::stream(Seed(1), "nonces"),
            ports: Vec::new(),
            peer: GenericLinkService::new(None, 0),
            cache: setup.cache.get() as usize,
            pit_limit: setup.pit_limit,
            limit: setup.limit,
            disciplines: if setup.has_store { vec!["nfd-marking", "plr"] } else { vec!["nfd-marking"] },
            mtu: setup.mtu,
        };
        [true, false, false].into_iter().for_each(|is_local| bench.attach(is_local));
        for (name, face) in [(0, 1), (3, 2), (4, 0), (5, 1)] {
            bench.set_route(&packets::prefix(name), vec![NextHop { cost: 1, face: FaceId(face) }]);
        }
        bench
    }

    /// A face that was attached at some time.
    pub fn some_face(&self, choice: u8) -> FaceId {
        FaceId(u16::from(choice) % self.ports.len() as u16)
    }

    fn port(&mut self, face: FaceId) -> Option<&mut BenchPort> {
        self.ports[face.index()].as_mut()
    }

    /// Makes a face if there are not too many.
    pub fn attach(&mut self, is_local: bool) {
        if self.ports.iter().flatten().count() == MAX_FACES {
            return;
        }
        let (rate, limit) = (BitRate::from_bps(u64::MAX), self.limit);
        let view = match is_local {
            true => FaceView::local_device(rate, limit),
            false => FaceView::device(rate, Span::ZERO, limit),
        };
        let names = &self.disciplines;
        let id = self.node.attach(view, |face| {
            let device = DeviceSetup::new(face, rate, limit, Streams::of(Seed(1)));
            Queue::new(face, names.iter().map(|name| discipline(name, &device)).collect())
        });
        let id = id.expect("there are few faces");
        if !is_local {
            self.node.forwarder_mut().put_into_share(id, SharePeer(1));
        }
        let port = BenchPort::new(self.mtu);
        if id.index() == self.ports.len() {
            self.ports.push(None);
        }
        assert!(self.ports[id.index()].replace(port).is_none(), "the number of a face that is there");
    }

    /// Removes a face with its queue.
    pub fn detach(&mut self, face: FaceId) {
        if self.ports[face.index()].take().is_none() {
            return;
        }
        let view = &self.node.faces()[face.index()];
        let waiting = view.queued_packets() + view.held_packets();
        let dropped = self.node.detach(env!(self), &mut self.packets, face);
        assert_eq!(dropped, u64::from(waiting));
    }

    /// Handles a frame that arrives at a face.
    pub fn take_in(&mut self, face: FaceId, frame: &[u8]) {
        let Self { now, names, tokens, nonces, .. } = self;
        let mut context = LinkContext { now: *now, names, tokens, nonces };
        let Some(port) = &mut self.ports[face.index()] else { return };
        let Some(packet) = port.link.receive(Bytes::copy_from_slice(frame), &mut context) else { return };
        invariants::is_faithful(&self.names, &packet);
        let view = &self.node.faces()[face.index()];
        view.count_received(packet.header.size());
        let first = self.names.first_component(packet.header.name.prefix);
        if view.is_local() || first != Some((8, b"localhost")) {
            let packet = self.packets.insert(packet);
            self.node.receive(env!(self), face, packet, wires!(self));
        }
    }

    /// A packet as a peer would send it arrives.
    pub fn receive_packet(&mut self, face: FaceId, packet: &Packet<Bytes>) {
        let mut batch = FrameBatch::new();
        self.peer.send(Time::ZERO, packet, &self.names, &self.tokens, &mut batch);
        for (head, body) in batch.iter() {
            self.take_in(face, &[head, body].concat());
        }
    }

    /// The last Interest that left through `face`.
    pub fn take_requested(&mut self, face: FaceId) -> Option<Packet<Bytes>> {
        self.port(face)?.requested.take()
    }

    /// The Interest in `packet` may be answered once more.
    pub fn keep_requested(&mut self, face: FaceId, mut packet: Packet<Bytes>, interest: Interest) {
        packet.header.kind = Kind::Interest(interest);
        if let Some(port) = self.port(face) {
            port.requested = Some(packet);
        }
    }

    /// The components of a name.
    pub fn components(&self, name: Name) -> Vec<u8> {
        let mut components = Vec::new();
        self.names.write_components(name, &mut components);
        components
    }

    /// Sets the next hops of a prefix, given by its components.
    pub fn set_route(&mut self, prefix: &[u8], mut hops: Vec<NextHop>) {
        hops.retain(|hop| self.ports[hop.face.index()].is_some());
        let prefix = self.names.intern_prefix(prefix).expect("a prefix of ours");
        self.node.forwarder_mut().fib_mut().set(prefix, hops);
    }

    /// The device of `face` takes so many packets more.
    pub fn make_room(&mut self, face: FaceId, packets: u32) {
        let Some(port) = self.port(face) else { return };
        port.room += packets;
        let mut waiting = self.node.faces()[face.index()].queued_packets();
        while waiting > 0 && self.port(face).is_some_and(|port| port.room > 0) {
            self.node.service(env!(self), face, wires!(self));
            let left = self.node.faces()[face.index()].queued_packets();
            assert!(left <= waiting + 64, "{left} packets wait after {waiting}");
            if left == waiting {
                break;
            }
            waiting = left;
        }
    }

    /// The device of `face` has no room any more, or what its socket holds has changed.
    pub fn leave(&mut self, face: FaceId, below: u64) {
        if let Some(port) = self.port(face) {
            port.room = 0;
            let below = tidegate_core::units::ByteCount::new(below << 10);
            self.node.faces()[face.index()].set_below(below);
        }
    }

    /// Removes the names and tokens that are no longer used.
    pub fn forget_names(&mut self) {
        let (mut prefixes, mut tokens) = (Vec::new(), Vec::new());
        self.node.visit_names(&self.packets, &mut |name, token| {
            prefixes.push(name.prefix);
            tokens.push(token);
        });
        for requested in self.ports.iter().flatten().filter_map(|port| port.requested.as_ref()) {
            prefixes.push(requested.header.name.prefix);
        }
        self.names.sweep(prefixes.into_iter());
        self.tokens.sweep(tokens.into_iter());
        self.node.forwarder_mut().fib_mut().forget();
        invariants::names_stand(self);
    }

    /// Lets everything end: no face, nothing pending, nothing waiting.
    pub fn end(&mut self) {
        for face in (0..self.ports.len()).map(|face| FaceId(face as u16)) {
            self.detach(face);
        }
        invariants::balance(self);
        self.run(Span::from_secs(14 * 24 * 3600));
        assert_eq!(self.node.forwarder().pit().len(), 0, "something is pending for ever");
    }
}
