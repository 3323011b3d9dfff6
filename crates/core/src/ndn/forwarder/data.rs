//! The Data pipelines: incoming, unsolicited, outgoing.

use super::gates::{Ending, Gates};
use super::{Forwarder, Outbox, Served, Steering, record_end};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::cs::{UnsolicitedPolicy, set_token};
use crate::ndn::dead_nonce;
use crate::ndn::face::FaceId;
use crate::ndn::name::{IMPLICIT_DIGEST, Name};
use crate::ndn::packet::{Header, Kind, Packet, PitToken};
use crate::ndn::pit::{PitEntry, PitId};
use crate::ndn::strategy::Strategy;
use crate::observe::event::EventMask;
use crate::units::Span;

/// A PIT entry that a Data satisfies.
struct Matched<'a> {
    id: PitId,
    /// Downstreams that another entry has answered already: one that asked twice with one token gets one Data. `None` if
    /// there is no other entry.
    served: Option<&'a mut Vec<(FaceId, PitToken)>>,
}

impl<B: Clone + Default> Forwarder<B> {
    #[inline(never)]
    pub(super) fn on_data(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        let header = &mut out.packets()[&packet].header;
        // The common case: one downstream, and nothing that observes the answer.
        if !self.acts_later
            && self.is_plain
            && !self.cs.is_enabled()
            && !cx.records(EventMask::PENDING)
            && let Some(record) = self.pit.take_only(header.name)
        {
            self.counters.satisfied += 1;
            if !record.is_pending(cx.now) || record.face == from {
                return out.packets().end(packet);
            }
            header.hop = header.hop.carried();
            set_token(header, record.token);
            return out.send(cx, record.face, packet);
        }
        self.on_observed_data(cx, from, packet, out);
    }

    /// As [`on_data`](Self::on_data), for any entries and with all who observe the answer.
    #[inline(never)]
    fn on_observed_data(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        match self.pit.find_only(out.packets()[&packet].header.name) {
            Ok(id) if !self.is_requested(id, from) => {
                self.counters.unrequested += 1;
                out.packets().end(packet);
            }
            // The common case needs no list.
            Ok(id) => {
                if self.cs.is_enabled() {
                    self.keep(cx, &mut out.packets()[&packet]);
                }
                self.satisfy(cx, from, packet, Matched { id, served: None }, out);
            }
            Err(exact) => self.satisfy_all(cx, from, packet, exact, out),
        }
    }

    /// Offers the Data to the content store.
    #[inline]
    fn keep(&mut self, cx: &Context<'_>, packet: &mut Packet<B>) {
        if self.steering == Some(Steering::NoCache) {
            return;
        }
        self.cs.insert(packet, cx.names, cx.now);
        packet.header.hop.passed_store = true;
    }

    /// Every entry that the Data satisfies: of its own name, and of any prefix with CanBePrefix.
    pub(super) fn matches(&self, cx: &Context<'_>, name: Name) -> Vec<PitId> {
        let mut found = Vec::new();
        found.extend(self.with_siblings(self.pit.find(name)));
        if self.pit.prefix_entries() == 0 {
            return found;
        }
        for ancestor in cx.names.names_above(name.prefix) {
            // `on_data` may have found the entry of the name itself, which matches without CanBePrefix.
            if ancestor != name {
                let entries = self.with_siblings(self.pit.find(ancestor));
                found.extend(entries.filter(|id| self.pit.entry(*id).selector().can_be_prefix));
            }
        }
        found
    }

    /// Whether `from` may answer the entry: always, or if an Interest for it has left through that face.
    #[inline]
    fn is_requested(&self, id: PitId, from: FaceId) -> bool {
        !self.requested_only || self.has_left(id, from)
    }

    fn has_left(&self, id: PitId, face: FaceId) -> bool {
        let Some(record) = self.pit.entry(id).out_record(face) else { return false };
        // The record of an Interest is made before a gate holds it. If it is a retransmission, the first has left.
        let row = self.gates.as_ref().and_then(|gates| gates.row_of(face));
        record.retransmissions > 0 || !row.is_some_and(|row| row.holds(id))
    }

    /// Keeps the entries that `from` may answer; returns false, and counts the answer, if that leaves none of some.
    #[inline]
    pub(super) fn keep_requested(&mut self, found: &mut Vec<PitId>, from: FaceId) -> bool {
        if !self.requested_only || found.is_empty() {
            return true;
        }
        found.retain(|id| self.has_left(*id, from));
        self.counters.unrequested += u64::from(found.is_empty());
        !found.is_empty()
    }

    /// All entries of the name of `first`.
    fn with_siblings(&self, first: Option<PitId>) -> impl Iterator<Item = PitId> + '_ {
        std::iter::successors(first, |id| self.pit.next_sibling(*id))
    }

    /// The first entry that names the Data by its digest. Other Data is not hashed, which would cost more than all else.
    fn digest_match(&self, cx: &Context<'_>, packet: &Packet<B>) -> Option<PitId> {
        let rules = self.body.as_ref().filter(|_| self.pit.digest_entries() > 0)?;
        let prefix =
            cx.names.prefix_of(packet.header.name).filter(|prefix| self.pit.has_digest_of(*prefix))?;
        let full = cx.names.find_child(prefix, IMPLICIT_DIGEST, &(rules.digest)(&packet.body))?;
        self.pit.find(Name::whole(full))
    }

    #[cold]
    fn satisfy_all(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        exact: Option<PitId>,
        out: &mut impl Outbox<B>,
    ) {
        let mut found = Vec::new();
        // Without either nothing can match, and the search along the name is spared for unsolicited Data.
        if exact.is_some() || self.pit.has_special_entries() {
            let data = &out.packets()[&packet];
            found = self.matches(cx, data.header.name);
            found.extend(self.with_siblings(self.digest_match(cx, data)));
        }
        if found.is_empty() {
            self.counters.unsolicited += 1;
        }
        if !self.keep_requested(&mut found, from) {
            return out.packets().end(packet);
        }
        if self.cs.is_enabled() && (!found.is_empty() || self.unsolicited == UnsolicitedPolicy::Admit) {
            self.keep(cx, &mut out.packets()[&packet]);
        }
        let mut served = Vec::new();
        for id in found {
            let matched = Matched { id, served: Some(&mut served) };
            let copy = out.packets().copy(&packet);
            self.satisfy(cx, from, copy, matched, out);
        }
        out.packets().end(packet);
    }

    /// Answers one entry: every downstream that still waits gets a copy, the last one the packet itself.
    #[inline(always)]
    fn satisfy(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        matched: Matched<'_>,
        out: &mut impl Outbox<B>,
    ) {
        let Matched { id, served } = matched;
        // A straggler finds an entry that was counted before.
        self.counters.satisfied += u64::from(!self.pit.entry(id).is_satisfied());
        if cx.records(EventMask::PENDING) {
            record_end(cx, self.pit.entry(id), true);
        }
        if self.gates.is_some() {
            self.data_at_gates(cx, from, id, out.packets(), &packet);
        }
        let header = &mut out.packets()[&packet].header;
        let entry = self.pit.entry(id);
        let served_by = self.fib.route(entry.name().prefix, cx).strategy;
        let Served { strategy, straggler, .. } = &mut self.strategies[usize::from(served_by.0)];
        let straggler = *straggler;
        strategy.on_data(cx, header, from, id, entry);

        // After the strategy, which may change the hop signals of the Data for all downstreams.
        header.hop = header.hop.carried();
        let is_soon_stale = needs_dead_nonce(header, entry);
        match (entry.only_in_record(), served) {
            (Some(record), None) => {
                if record.is_pending(cx.now) && record.face != from {
                    let to = (record.face, record.token);
                    Answering { strategy: &mut **strategy, gates: &mut self.gates, from, out }
                        .answer(cx, packet, to);
                } else {
                    out.packets().end(packet);
                }
            }
            (_, served) => self.answer_many(cx, from, packet, Matched { id, served }, out),
        }

        if is_soon_stale {
            self.remember_nonces(cx, id);
        }
        if straggler == Span::ZERO {
            if self.gates.is_some() {
                self.end_at_gates(cx, out.packets(), id, &Ending::AnsweredBy(from));
            }
            return self.pit.end(id);
        }
        // A strategy that waits for stragglers keeps the entry, without downstreams and without the face that
        // answered.
        self.pit.entry_mut(id).remove_out_record(from);
        if !self.pit.entry(id).is_satisfied() {
            self.pit.keep_satisfied(id, cx.now, straggler);
        }
    }

    /// Sends a copy to every downstream that still waits, and the packet itself to the last.
    #[inline(never)]
    fn answer_many(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        matched: Matched<'_>,
        out: &mut impl Outbox<B>,
    ) {
        let Matched { id, mut served } = matched;
        let entry = self.pit.entry(id);
        let served_by = self.fib.route(entry.name().prefix, cx).strategy;
        let strategy = &mut *self.strategies[usize::from(served_by.0)].strategy;
        let mut answering = Answering { strategy, gates: &mut self.gates, from, out };
        let (mut last, now) = (None, cx.now);
        for record in entry.in_records().filter(|record| record.is_pending(now) && record.face != from) {
            let to = (record.face, record.token);
            if let Some(served) = served.as_deref_mut() {
                if served.contains(&to) {
                    continue;
                }
                served.push(to);
            }
            if let Some(to) = last.replace(to) {
                let copy = answering.out.packets().copy(&packet);
                answering.answer(cx, copy, to);
            }
        }
        match last {
            Some(to) => answering.answer(cx, packet, to),
            None => answering.out.packets().end(packet),
        }
    }
}

/// What takes part in the answer to one downstream.
struct Answering<'a, O> {
    strategy: &'a mut dyn Strategy,
    gates: &'a mut Option<Box<Gates>>,
    from: FaceId,
    out: &'a mut O,
}

impl<O> Answering<'_, O> {
    #[inline(always)]
    fn answer<B>(&mut self, cx: &mut Context<'_>, packet: PacketId, (to, token): (FaceId, PitToken))
    where
        O: Outbox<B>,
    {
        let header = &mut self.out.packets()[&packet].header;
        set_token(header, token);
        self.strategy.on_data_out(cx, header, to);
        if let Some(gates) = self.gates {
            gates.data_out(cx, header, self.from, to);
        }
        self.out.send(cx, to, packet);
    }
}

/// NFD's rule: a satisfied entry's nonces matter only where fresh Data was asked for and the Data goes
/// stale before the list forgets; otherwise a looping Interest meets the cached Data.
#[inline]
fn needs_dead_nonce(header: &Header, entry: &PitEntry) -> bool {
    let Kind::Data(data) = header.kind else { return false };
    entry.selector().must_be_fresh && data.freshness.span() < dead_nonce::LIFETIME
}
