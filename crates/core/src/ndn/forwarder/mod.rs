//! The forwarder: NFD's pipelines over one PIT, FIB and content store, and one for TCP segments over the FIB alone.

mod data;
mod gates;
mod interest;
mod loss_notice;
mod nack;
mod segment;

use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::cs::{CacheSetup, Stores, UnsolicitedPolicy};
use crate::ndn::dead_nonce::DeadNonceList;
use crate::ndn::face::FaceId;
use crate::ndn::fib::{Fib, NextHop, StrategyId};
use crate::ndn::name::{Name, NameHash, PrefixId};
use crate::ndn::packet::{Interest, Kind, PacketArena, PitToken};
use crate::ndn::pit::{Pit, PitEntry, PitId, SharePeer};
use crate::ndn::strategy::{Strategy, Target};
use crate::observe::event::{Event, EventMask, Side};
use crate::rng::Rng;
use crate::scheme::control::Message;
use crate::units::{Packets, Span, Time};
use gates::{Ending, Gates};

/// SHA-256 of a whole Data, which may be the last component of an Interest's name.
pub type Digest = [u8; 32];

/// Operations on bodies that have bytes.
#[derive(Debug)]
pub struct BodyRules<B> {
    /// The digest of a Data by its body, for Interests that name their Data by it.
    pub digest: fn(&B) -> Digest,
    /// Converts a body for long storage, so that it holds no more memory than its own.
    pub keep: fn(&B) -> B,
}

/// Takes the packets a forwarder sends.
pub trait Outbox<B> {
    /// The arena of the packets.
    fn packets(&mut self) -> &mut PacketArena<B>;

    /// Sends `packet` through `face`.
    fn send(&mut self, cx: &mut Context<'_>, face: FaceId, packet: PacketId);
}

/// Counters of a forwarder since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForwarderCounters {
    /// Interests answered by the content store.
    pub cache_hits: u64,
    /// Interests that were looked up in the content store without a match.
    pub cache_misses: u64,
    /// Interests refused because their nonce was seen before.
    pub loops: u64,
    /// Interests whose hop limit was exhausted.
    pub hop_limited: u64,
    /// Interests that waited for the answer to an earlier one.
    pub suppressed: u64,
    /// Data without a matching PIT entry.
    pub unsolicited: u64,
    /// Data and loss notices for pending Interests that were not sent to the face they arrived through, with
    /// [`requested_only`](ForwarderSetup::requested_only).
    pub unrequested: u64,
    /// Entries that Data satisfied.
    pub satisfied: u64,
    /// Entries that ended unsatisfied.
    pub expired: u64,
    /// Interests refused because the PIT was full.
    pub refused_full: u64,
    /// Entries that ended because the PIT was full, and an Interest arrived from a face with fewer entries.
    pub displaced: u64,
    /// TCP segments without a usable next hop.
    pub unroutable: u64,
}

/// Settings of a forwarder.
#[derive(Debug)]
pub struct ForwarderSetup {
    /// Content store of every prefix that has none configured.
    pub cache: CacheSetup,
    /// Treatment of Data without a matching PIT entry.
    pub unsolicited: UnsolicitedPolicy,
    /// Whether Data and loss notices are dropped unless the Interest was sent to the face they arrive through. Any peer
    /// could satisfy the Interests of others, and fill the content store, without it.
    pub requested_only: bool,
    /// Strategy of every prefix that has none configured.
    pub strategy: Box<dyn Strategy>,
    /// Source of nonces for probes.
    pub nonces: Rng,
    /// Maximum number of pending Interests; one more is refused as congestion, unless it is one of a few
    /// under `/localhost`.
    pub pit_limit: usize,
    /// Whether an Interest that finds the PIT full displaces the oldest entry of the face that has the most, if its own
    /// face has fewer; the end of a face then costs the number of its entries, not of all.
    pub pit_shares: bool,
    /// Hashing of names in tables and of nonces.
    pub hash: NameHash,
}

impl ForwarderSetup {
    /// No content store, no limit on pending Interests, and Data may arrive through any face.
    pub fn new(strategy: Box<dyn Strategy>, nonces: Rng) -> Self {
        Self {
            cache: CacheSetup::lru(Packets::new(0)),
            unsolicited: UnsolicitedPolicy::Drop,
            requested_only: false,
            strategy,
            nonces,
            pit_limit: usize::MAX,
            pit_shares: false,
            hash: NameHash::LOCALITY,
        }
    }
}

/// What a packet requests of the forwarder beside its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steering {
    /// An Interest: the next hops of another name, that of a delegation in its forwarding hint.
    Route(PrefixId),
    /// An Interest: this next hop only; `None` for a face that does not exist (NDNLPv2, NextHopFaceId).
    NextHop(Option<FaceId>),
    /// A Data: no content store keeps it (NDNLPv2, CachePolicy).
    NoCache,
}

/// A strategy, and its answers to what is queried once.
#[derive(Debug)]
struct Served {
    strategy: Box<dyn Strategy>,
    straggler: Span,
    acts_later: bool,
}

impl Served {
    fn by(strategy: Box<dyn Strategy>) -> Self {
        let straggler = strategy.straggler();
        let acts_later = strategy.acts_later() || straggler > Span::ZERO;
        Self { strategy, straggler, acts_later }
    }
}

/// One node's forwarding plane. `B` is the body of packets, which it never looks into.
#[derive(Debug)]
pub struct Forwarder<B> {
    fib: Fib,
    pit: Pit,
    pit_limit: usize,
    cs: Stores<B>,
    unsolicited: UnsolicitedPolicy,
    requested_only: bool,
    dead_nonces: DeadNonceList,
    strategies: Vec<Served>,
    /// Whether packets may take the short ways, on which bodies and faces are not looked at.
    is_plain: bool,
    /// Whether a strategy acts on more than Interests, or a face has ever had a gate.
    acts_later: bool,
    nonces: Rng,
    /// Operations that only bodies with bytes support.
    body: Option<BodyRules<B>>,
    counters: ForwarderCounters,
    targets: Vec<Target>,
    /// Next hops left by the scope of an Interest.
    near: Vec<NextHop>,
    expired: Vec<PitId>,
    /// What the packet that is being processed requests.
    steering: Option<Steering>,
    /// Gates before the queues of faces; most nodes have none.
    gates: Option<Box<Gates>>,
}

/// An Interest with its PIT entry, on its way through the pipelines.
struct Requested {
    /// The packet; that of a Nack when the Interest came back.
    packet: PacketId,
    /// Fields of the Interest.
    interest: Interest,
    /// Its entry in the PIT.
    id: PitId,
}

impl<B: Clone + Default> Forwarder<B> {
    /// A forwarder with empty tables.
    pub fn new(setup: ForwarderSetup) -> Self {
        let served = Served::by(setup.strategy);
        let mut pit = Pit::new(setup.hash);
        if setup.pit_shares {
            pit.count_shares();
        }
        Self {
            fib: Fib::new(setup.hash),
            pit,
            pit_limit: setup.pit_limit,
            cs: Stores::new(setup.cache, setup.hash),
            unsolicited: setup.unsolicited,
            requested_only: setup.requested_only,
            dead_nonces: DeadNonceList::new(setup.hash),
            is_plain: !setup.requested_only && !setup.pit_shares,
            acts_later: served.acts_later,
            strategies: vec![served],
            nonces: setup.nonces,
            body: None,
            counters: ForwarderCounters::default(),
            targets: Vec::new(),
            near: Vec::new(),
            expired: Vec::new(),
            steering: None,
            gates: None,
        }
    }

    /// Sets the operations on bodies. Without them Interests that name their Data by its digest get no
    /// answer, and the content store shares bodies with their senders.
    pub fn set_body_rules(&mut self, rules: BodyRules<B>) {
        self.cs.set_keep(rules.keep);
        self.body = Some(rules);
        self.is_plain = false;
    }

    /// Serves everything under `prefix` by `strategy`.
    pub fn set_strategy(&mut self, prefix: PrefixId, strategy: Box<dyn Strategy>) {
        let id = self.add_strategy(strategy);
        self.fib.set_strategy(prefix, id);
    }

    /// Adds a strategy, which serves the prefixes for which the FIB has its number. It stays until the forwarder
    /// ends.
    ///
    /// # Panics
    /// When there are 2^16 strategies.
    pub fn add_strategy(&mut self, strategy: Box<dyn Strategy>) -> StrategyId {
        let id = StrategyId(u16::try_from(self.strategies.len()).expect("fewer than 2^16 strategies"));
        let served = Served::by(strategy);
        self.acts_later |= served.acts_later;
        self.strategies.push(served);
        id
    }

    /// Gives Data under `prefix` a separate content store.
    pub fn set_cache(&mut self, prefix: PrefixId, setup: CacheSetup) {
        self.cs.narrow(prefix, setup);
    }

    /// The FIB of this forwarder.
    pub fn fib(&self) -> &Fib {
        &self.fib
    }

    /// The FIB, to add and remove routes.
    pub fn fib_mut(&mut self) -> &mut Fib {
        &mut self.fib
    }

    /// The PIT of this forwarder.
    pub fn pit(&self) -> &Pit {
        &self.pit
    }

    /// Nonces of Interests that left the PIT.
    pub fn dead_nonces(&self) -> &DeadNonceList {
        &self.dead_nonces
    }

    /// Changes the maximum number of pending Interests; entries beyond it stay.
    pub fn set_pit_limit(&mut self, limit: usize) {
        self.pit_limit = limit;
    }

    /// The pending Interests of a new face count together with those of all faces of `peer`, if they are counted
    /// ([`pit_shares`](ForwarderSetup::pit_shares)).
    pub fn put_into_share(&mut self, face: FaceId, peer: SharePeer) {
        self.pit.put_into_share(face, peer);
    }

    /// The content stores of this forwarder.
    pub fn cs(&self) -> &Stores<B> {
        &self.cs
    }

    /// The content stores of this forwarder, to change them.
    pub fn cs_mut(&mut self) -> &mut Stores<B> {
        &mut self.cs
    }

    /// Counters since the start.
    pub fn counters(&self) -> &ForwarderCounters {
        &self.counters
    }

    /// Takes a packet that arrived through `from`.
    #[inline]
    pub fn receive(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        match out.packets()[&packet].header.kind {
            Kind::Interest(_) => self.on_interest(cx, from, packet, out),
            Kind::Data(_) => self.on_data(cx, from, packet, out),
            _ => self.receive_other(cx, from, packet, out),
        }
    }

    /// Takes a packet that is neither an Interest nor Data. Apart, so that these two are found by comparisons and not by a table.
    #[inline(never)]
    fn receive_other(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        match out.packets()[&packet].header.kind {
            Kind::Interest(_) | Kind::Data(_) => out.packets().end(packet),
            Kind::Nack(nack) => self.on_nack(cx, from, packet, nack, out),
            Kind::LossNotice(_) => self.on_loss_notice(cx, from, packet, out),
            Kind::Tcp(_) => self.on_segment(cx, from, packet, out),
        }
    }

    /// As [`receive`](Self::receive), for a packet that requests more. A Nack has the steering of its Interest, which counts
    /// if it is sent another way; an Interest that a gate holds loses it.
    pub fn receive_steered(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        steering: Steering,
        out: &mut impl Outbox<B>,
    ) {
        self.steering = Some(steering);
        match out.packets()[&packet].header.kind {
            Kind::Interest(_) => self.on_steered_interest(cx, from, packet, out),
            _ => self.receive(cx, from, packet, out),
        }
        self.steering = None;
    }

    /// Time at which [`on_wake`](Self::on_wake) is due; `None` for never.
    #[inline(always)]
    pub fn next_wake(&self) -> Option<Time> {
        let wake = if self.acts_later { self.next_wake_of_all() } else { self.pit.wake() };
        (wake != Time::MAX).then_some(wake)
    }

    #[inline(never)]
    fn next_wake_of_all(&self) -> Time {
        let strategies = self.strategies.iter().filter_map(|served| served.strategy.next_wake());
        let gates = self.gates.iter().filter_map(|gates| gates.next_wake());
        strategies.chain(gates).fold(self.pit.wake(), Time::min)
    }

    /// Ends the entries that have expired, and wakes the strategies and gates that are due.
    pub fn on_wake(&mut self, cx: &mut Context<'_>, out: &mut impl Outbox<B>) {
        let mut expired = std::mem::take(&mut self.expired);
        self.pit.take_expired(cx.now, &mut expired);
        expired.drain(..).for_each(|id| self.end_entry(cx, out.packets(), id));
        self.expired = expired;
        for Served { strategy, .. } in &mut self.strategies {
            if strategy.next_wake().is_some_and(|at| at <= cx.now) {
                strategy.on_wake(cx);
            }
        }
        self.wake_gates(cx, out);
    }

    /// Passes a directive of the controller to every strategy and gate.
    pub fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        for Served { strategy, .. } in &mut self.strategies {
            strategy.on_directive(cx, directive);
        }
        if let Some(gates) = &mut self.gates {
            gates.rows_mut().for_each(|row| row.on_directive(cx, directive));
        }
    }

    fn end_entry(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, id: PitId) {
        if !self.pit.entry(id).is_satisfied() {
            self.end_unsatisfied(cx, packets, id);
        } else {
            self.end_at_gates(cx, packets, id, &Ending::Elsewhere);
            self.pit.remove(id);
        }
    }

    /// Ends everything that is pending as unsatisfied, drops what gates hold, and adopts tables, strategies
    /// and gates of `fresh`; counters stay. Returns the number of packets dropped.
    pub fn restart(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, mut fresh: Self) -> u64 {
        let faces = (0..cx.faces.len()).map(|face| FaceId(face as u16));
        // While the old gates are still there, so that they are notified of every end.
        let dropped = faces.map(|face| self.clear_held(cx, packets, face)).sum();
        let pending: Vec<PitId> = self.pit.ids().collect();
        pending.into_iter().for_each(|id| self.end_entry(cx, packets, id));
        if let (Some(gates), Some(old)) = (&mut fresh.gates, &self.gates) {
            gates.count_on(old);
        }
        if let Some(rules) = &self.body {
            fresh.cs.set_keep(rules.keep);
        }
        let Self { fib, cs, dead_nonces, strategies, acts_later, gates, .. } = fresh;
        (self.fib, self.cs, self.dead_nonces) = (fib, cs, dead_nonces);
        (self.strategies, self.acts_later, self.gates) = (strategies, acts_later, gates);
        dropped
    }

    /// Notifies the strategy and the dead nonce list, and removes the entry.
    fn end_unsatisfied(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, id: PitId) {
        self.counters.expired += 1;
        self.end_at_gates(cx, packets, id, &Ending::Expired);
        let entry = self.pit.entry(id);
        if cx.records(EventMask::PENDING) {
            record_end(cx, entry, false);
        }
        let strategy = self.fib.route(entry.name().prefix, cx).strategy;
        self.strategies[usize::from(strategy.0)].strategy.on_expiry(cx, id, entry);
        self.remember_nonces(cx, id);
        self.pit.remove(id);
    }

    /// Removes a face with its gates and what they hold: no downstream, no upstream and no route refers to it
    /// any more, and its number may be given to another face. Entries without any other downstream end with
    /// the next [`on_wake`](Self::on_wake), so that they do not fill the PIT for their whole lifetime.
    pub fn remove_face(&mut self, packets: &mut PacketArena<B>, face: FaceId, now: Time) {
        self.fib.remove_face(face);
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.remove(face)) {
            row.end_held(packets);
        }
        self.pit.remove_face(face, now);
    }

    /// Calls `each` with every name in a table, and the token that is stored with it.
    pub fn visit_names(&self, packets: &PacketArena<B>, each: &mut dyn FnMut(Name, PitToken)) {
        for prefix in self.fib.prefixes().chain(self.cs.prefixes()) {
            each(Name::whole(prefix), PitToken::default());
        }
        for entry in self.pit.ids().map(|id| self.pit.entry(id)) {
            each(entry.name(), PitToken::default());
            entry.in_records().for_each(|record| each(entry.name(), record.token));
        }
        self.cs.names().for_each(|name| each(name, PitToken::default()));
        let rows = self.gates.iter().flat_map(|gates| gates.rows());
        for (flow, header) in rows.flat_map(|row| row.headers(packets)) {
            each(Name::whole(flow), PitToken::default());
            each(header.name, header.token());
        }
    }

    fn remember_nonces(&mut self, cx: &Context<'_>, id: PitId) {
        let entry = self.pit.entry(id);
        for record in entry.out_records() {
            self.dead_nonces.insert(entry.name(), record.nonce, cx.now);
        }
    }
}

/// Records that an entry ended, in total and for each downstream and upstream face.
#[cold]
fn record_end(cx: &mut Context<'_>, entry: &PitEntry, satisfied: bool) {
    let name = entry.name();
    cx.record(if satisfied { Event::Satisfied { name } } else { Event::Expired { name } });
    let mut ended = |face: FaceId, side| cx.record(Event::EndedFor { face: face.0, name, side, satisfied });
    entry.in_records().for_each(|record| ended(record.face, Side::Downstream));
    entry.out_records().for_each(|record| ended(record.face, Side::Upstream));
}
