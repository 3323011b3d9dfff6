//! The gates of one face in their order, with their side store.

use super::store::SideStore;
use super::{DataSource, Direction, FaceGate, FlowKey, GateVerdict, Releases};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::name::Name;
use crate::ndn::packet::{Header, NackReason, PacketArena};
use crate::ndn::pit::PitId;
use crate::observe::event::{Cause, Event};
use crate::scheme::control::Message;
use crate::units::{Span, Time};

/// Counters of a face's gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateStats {
    /// Interests offered to the gates.
    pub offered: u64,
    /// Interests passed on to the queue, at once or from the side store.
    pub passed: u64,
    /// Interests refused: by a gate, or because its side store was full.
    pub refused: u64,
    /// Interests dropped: by a gate, or in the side store because their PIT entry or the link ended.
    pub dropped: u64,
    /// Interests put into the side store.
    pub held: u64,
    /// Interests let out of the side store.
    pub released: u64,
    /// Interests in the side store now.
    pub waiting: u64,
}

impl GateStats {
    /// Whether every Interest is accounted for.
    pub fn balances(&self) -> bool {
        self.offered == self.passed + self.refused + self.dropped + self.waiting
    }
}

/// Outcome of an Interest at the gates of a face.
#[derive(Debug)]
pub(crate) enum Passage {
    /// It passed all; on with it to the queue.
    Passed(PacketId),
    /// A gate holds the packet until it releases it.
    Held,
    /// A gate refused the Interest, for this reason.
    Refused(NackReason, PacketId),
    /// A gate dropped the packet silently; it has ended.
    Dropped,
}

/// A gate, with its limit, which is read once, and the number of Interests it holds.
#[derive(Debug)]
struct Standing {
    gate: Box<dyn FaceGate>,
    limit: usize,
    held: usize,
}

/// The gates of one face.
#[derive(Debug)]
pub(crate) struct GateRow {
    face: FaceId,
    gates: Vec<Standing>,
    store: SideStore,
    stats: GateStats,
}

impl GateRow {
    pub fn new(face: FaceId, gates: Vec<Box<dyn FaceGate>>) -> Self {
        let standing =
            |gate: Box<dyn FaceGate>| Standing { limit: gate.held_limit().get() as usize, held: 0, gate };
        let gates = gates.into_iter().map(standing).collect();
        Self { face, gates, store: SideStore::default(), stats: GateStats::default() }
    }

    pub fn stats(&self) -> GateStats {
        GateStats { waiting: self.store.len() as u64, ..self.stats }
    }

    /// Continues with the counters of `old`, whose side store is empty.
    pub fn count_on(&mut self, old: &Self) {
        self.stats = old.stats;
    }

    /// Whether the Interest of `pending` waits in the side store.
    pub fn holds(&self, pending: PitId) -> bool {
        self.store.has(pending)
    }

    /// Headers of everything in the side store, with their flows.
    pub fn headers<'a, B>(
        &'a self,
        packets: &'a PacketArena<B>,
    ) -> impl Iterator<Item = (FlowKey, &'a Header)> {
        self.store.headers(packets)
    }

    /// Offers an Interest to the gates.
    pub fn pass<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        pending: PitId,
        packet: PacketId,
    ) -> Passage {
        self.stats.offered += 1;
        self.pass_from(cx, packets, 0, (pending, packet))
    }

    /// Passes a TCP segment to every gate; returns whether it goes on. One that does not leave counts as
    /// offered and dropped.
    pub fn admits_segment(&mut self, cx: &mut Context<'_>, segment: &mut Header, way: Direction) -> bool {
        for standing in &mut self.gates {
            match standing.gate.on_segment(cx, segment, way) {
                // Segments cannot be held, so a gate that holds lets them pass.
                GateVerdict::Admit | GateVerdict::Hold(_) => {}
                GateVerdict::Drop | GateVerdict::Nack(_) => {
                    self.stats.offered += u64::from(way == Direction::Out);
                    self.stats.dropped += u64::from(way == Direction::Out);
                    let (name, size) = (segment.label(), segment.size());
                    cx.record(Event::Dropped { face: self.face.0, name, size, cause: Cause("gate") });
                    return false;
                }
            }
        }
        true
    }

    fn pass_from<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        first: usize,
        (pending, packet): (PitId, PacketId),
    ) -> Passage {
        for place in first..self.gates.len() {
            let header = &mut packets[&packet].header;
            match self.gates[place].gate.on_interest_out(cx, pending, header) {
                GateVerdict::Admit => {}
                GateVerdict::Hold(flow) => {
                    let name = header.name;
                    return self.hold(cx, (place, flow), (pending, packet), name);
                }
                GateVerdict::Nack(reason) => {
                    self.withdraw_before(cx, place, pending);
                    self.stats.refused += 1;
                    return Passage::Refused(reason, packet);
                }
                GateVerdict::Drop => {
                    self.withdraw_before(cx, place, pending);
                    self.discard(cx, packets, packet, Cause("gate"));
                    return Passage::Dropped;
                }
            }
        }
        self.stats.passed += 1;
        Passage::Passed(packet)
    }

    fn hold(
        &mut self,
        cx: &mut Context<'_>,
        (place, flow): (usize, FlowKey),
        (pending, packet): (PitId, PacketId),
        name: Name,
    ) -> Passage {
        let Standing { gate, limit, held } = &mut self.gates[place];
        if *held >= *limit {
            // The gate has counted the Interest as held, so it is notified like those before it.
            gate.on_withdrawn(cx, pending, Some(flow));
            self.withdraw_before(cx, place, pending);
            self.stats.refused += 1;
            return Passage::Refused(NackReason::Congestion, packet);
        }
        *held += 1;
        cx.record(Event::Stored { face: self.face.0, name });
        self.stats.held += 1;
        self.store.put(place, flow, pending, packet);
        Passage::Held
    }

    /// Notifies the gates that an Interest has already passed that it does not leave.
    fn withdraw_before(&mut self, cx: &mut Context<'_>, place: usize, pending: PitId) {
        self.gates[..place].iter_mut().for_each(|gate| gate.gate.on_withdrawn(cx, pending, None));
    }

    /// Drops a packet and ends it.
    fn discard<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        cause: Cause,
    ) {
        self.stats.dropped += 1;
        let header = &packets[&packet].header;
        cx.record(Event::Dropped { face: self.face.0, name: header.name, size: header.size(), cause });
        packets.end(packet);
    }

    /// Removes the Interest of `pending` from the side store and drops it; returns whether it was there.
    pub fn withdraw<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        pending: PitId,
        cause: Cause,
    ) -> bool {
        let Some((place, flow, packet)) = self.store.remove(pending) else { return false };
        let Standing { gate, held, .. } = &mut self.gates[place];
        *held -= 1;
        gate.on_withdrawn(cx, pending, Some(flow));
        self.withdraw_before(cx, place, pending);
        self.discard(cx, packets, packet, cause);
        true
    }

    /// Drops everything in the side store; returns the PIT entries concerned.
    pub fn clear<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        cause: Cause,
    ) -> Vec<PitId> {
        let waiting = self.store.pending();
        for pending in &waiting {
            self.withdraw(cx, packets, *pending, cause);
        }
        waiting
    }

    /// Ends everything in the side store of gates that are removed.
    pub fn end_held<B: Default>(self, packets: &mut PacketArena<B>) {
        self.store.into_packets().for_each(|packet| packets.end(packet));
    }

    /// Wakes the gates that are due. Interests that they release pass the gates behind them; the outcome is
    /// appended to `passages`.
    pub fn wake<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        passages: &mut Vec<(PitId, Passage)>,
    ) {
        for place in 0..self.gates.len() {
            let gate = &mut self.gates[place].gate;
            if gate.next_wake().is_none_or(|at| at > cx.now) {
                continue;
            }
            let mut releases = Releases::default();
            gate.on_wake(cx, &mut releases);
            for (flow, count) in releases.drain() {
                for _ in 0..count {
                    let Some((pending, packet)) = self.store.take_oldest(place, flow) else { break };
                    self.gates[place].held -= 1;
                    cx.record(Event::Released { face: self.face.0, name: packets[&packet].header.name });
                    self.stats.released += 1;
                    // Only the gates behind: those before and this one have decided already.
                    let passage = self.pass_from(cx, packets, place + 1, (pending, packet));
                    passages.push((pending, passage));
                }
            }
        }
    }

    pub fn next_wake(&self) -> Option<Time> {
        self.gates.iter().filter_map(|gate| gate.gate.next_wake()).min()
    }

    pub fn on_data_in(&mut self, cx: &mut Context<'_>, pending: PitId, data: &mut Header, rtt: Option<Span>) {
        self.gates.iter_mut().for_each(|gate| gate.gate.on_data_in(cx, pending, data, rtt));
    }

    pub fn on_data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, source: DataSource) {
        self.gates.iter_mut().for_each(|gate| gate.gate.on_data_out(cx, data, source));
    }

    pub fn on_nack_in(&mut self, cx: &mut Context<'_>, pending: PitId, reason: NackReason) {
        self.gates.iter_mut().for_each(|gate| gate.gate.on_nack_in(cx, pending, reason));
    }

    pub fn on_expiry(&mut self, cx: &mut Context<'_>, pending: PitId) {
        self.gates.iter_mut().for_each(|gate| gate.gate.on_expiry(cx, pending));
    }

    /// Notifies all gates that an Interest that has left will get no answer.
    pub fn on_withdrawn(&mut self, cx: &mut Context<'_>, pending: PitId) {
        self.withdraw_before(cx, self.gates.len(), pending);
    }

    pub fn on_directive(&mut self, cx: &mut Context<'_>, directive: &dyn Message) {
        self.gates.iter_mut().for_each(|gate| gate.gate.on_directive(cx, directive));
    }
}
