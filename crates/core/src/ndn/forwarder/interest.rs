//! The Interest pipelines: incoming, loop, content store hit and miss, outgoing.

use super::{BodyRules, Digest, Forwarder, Outbox, Requested, Steering};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::cs::set_token;
use crate::ndn::face::FaceId;
use crate::ndn::fib::{Fib, FibEntry, NextHop, Scope};
use crate::ndn::gate::DataSource;
use crate::ndn::name::{IMPLICIT_DIGEST, Name, Segment};
use crate::ndn::packet::{Header, Interest, Kind, Nack, NackReason, Packet, PacketArena};
use crate::ndn::pit::{Pit, PitId, Recorded};
use crate::ndn::strategy::{Arrival, Decision, Target};
use crate::observe::event::Event;
use crate::scheme::signal::HopSignals;
use crate::units::Time;

/// A face that has no pending Interests.
const NO_FACE: FaceId = FaceId(u16::MAX);

/// Number of Interests under `/localhost` that may be pending beyond the limit.
const RESERVED: usize = 64;

/// Why an Interest does not go through the tables.
enum Objection {
    OutOfHops,
    Loop,
    /// The PIT is full.
    Full,
}

/// What is to be done with an Interest that has an entry.
enum Decided {
    /// It leaves unchanged through this face, as its entry has recorded.
    Send(FaceId),
    /// The decision of the strategy is to be carried out.
    Else(PitId, Decision),
}

impl<B: Clone + Default> Forwarder<B> {
    #[inline(never)]
    pub(super) fn on_interest(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        let header = &mut out.packets()[&packet].header;
        if let Some(objection) = self.objection(cx, header) {
            return self.on_objection::<false>(cx, from, (packet, objection), out);
        }
        if !self.cs.is_enabled() && self.is_plain {
            let name = header.name;
            // Most Interests are the first of their entry, and nothing on this node can answer them.
            let decided = self
                .decide::<false>(cx, from, header, |pit, interest, now| pit.begin(name, from, interest, now));
            match decided {
                Some(Decided::Send(face)) => return out.send(cx, face, packet),
                Some(Decided::Else(id, decision)) => {
                    return self.carry_out(cx, from, (packet, id), out, decision);
                }
                None => {}
            }
        }
        self.on_any_interest::<false>(cx, from, packet, out);
    }

    /// As [`on_interest`](Self::on_interest), for an Interest with a steering.
    pub(super) fn on_steered_interest(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        match self.objection(cx, &mut out.packets()[&packet].header) {
            Some(objection) => self.on_objection::<true>(cx, from, (packet, objection), out),
            None => self.on_any_interest::<true>(cx, from, packet, out),
        }
    }

    /// Why an Interest is dropped or refused whatever the tables have about its name.
    #[inline(always)]
    fn objection(&mut self, cx: &Context<'_>, header: &mut Header) -> Option<Objection> {
        let Kind::Interest(interest) = &mut header.kind else { return None };
        if interest.hop_limit.is_some() && !decrement_hop_limit(interest) {
            return Some(Objection::OutOfHops);
        }
        let (nonce, name) = (interest.nonce, header.name);
        if !self.dead_nonces.is_empty() && self.dead_nonces.has(name, nonce, cx.now) {
            return Some(Objection::Loop);
        }
        (self.pit.len() >= self.pit_limit && !self.has_room(cx, header)).then_some(Objection::Full)
    }

    /// Drops or refuses an Interest, unless room can be made for it.
    #[cold]
    fn on_objection<const IS_STEERED: bool>(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        (packet, objection): (PacketId, Objection),
        out: &mut impl Outbox<B>,
    ) {
        match objection {
            Objection::OutOfHops => {
                self.counters.hop_limited += 1;
                out.packets().end(packet);
            }
            Objection::Loop => {
                self.counters.loops += 1;
                refuse(cx, from, packet, NackReason::Duplicate, out);
            }
            Objection::Full if self.make_room(cx, from, out.packets()) => {
                self.on_any_interest::<IS_STEERED>(cx, from, packet, out);
            }
            Objection::Full => {
                self.counters.refused_full += 1;
                refuse(cx, from, packet, NackReason::Congestion, out);
            }
        }
    }

    /// As [`on_interest`](Self::on_interest) for an Interest that is not refused, with any entry and store.
    #[inline(never)]
    fn on_any_interest<const IS_STEERED: bool>(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: PacketId,
        out: &mut impl Outbox<B>,
    ) {
        let Header { name, kind: Kind::Interest(ref interest), .. } = out.packets()[&packet].header else {
            return out.packets().end(packet);
        };
        let (id, is_new) = self.pit.find_or_insert(name, interest.into());
        let entry = self.pit.entry(id);
        if !is_new && entry.is_loop(interest.nonce, from) {
            self.counters.loops += 1;
            return refuse(cx, from, packet, NackReason::Duplicate, out);
        }
        // As in NFD, the store is searched only if no downstream waits: before, it did not have the Data.
        if entry.in_records().next().is_none() {
            if self.cs.is_enabled() && self.answer_from_cache(cx, from, &packet, out) {
                if is_new {
                    // A hit needs no entry; it was only inserted to look for a loop and for downstreams.
                    self.pit.remove(id);
                }
                return out.packets().end(packet);
            }
            // A satisfied entry is kept for a while after its Data; this Interest is a new request.
            self.pit.reopen(id);
        }
        if is_new
            && self.body.is_some()
            && digest_in(cx, name).is_some()
            && let Some(data) = cx.names.parent(name.prefix)
        {
            self.pit.note_digest(id, data);
        }
        let header = &mut out.packets()[&packet].header;
        let decided = self.decide::<IS_STEERED>(cx, from, header, |pit, interest, now| {
            Some(pit.record((id, is_new), from, interest, now))
        });
        match decided {
            Some(Decided::Send(face)) => out.send(cx, face, packet),
            Some(Decided::Else(id, decision)) => self.carry_out(cx, from, (packet, id), out, decision),
            None => out.packets().end(packet),
        }
        self.pit.join_upstreams(id);
    }

    /// Ends the oldest entry of the face with the largest share, if that is not `from` itself: a peer whose Interests fill
    /// the table must not deny it to others.
    #[cold]
    fn make_room(&mut self, cx: &mut Context<'_>, from: FaceId, packets: &mut PacketArena<B>) -> bool {
        let Some(id) = self.pit.displaceable(from) else { return false };
        self.counters.displaced += 1;
        self.end_entry(cx, packets, id);
        true
    }

    /// Whether a full table may take the Interest nevertheless: one for an existing entry needs no room.
    #[cold]
    fn has_room(&self, cx: &Context<'_>, header: &Header) -> bool {
        let Kind::Interest(interest) = &header.kind else { return true };
        self.pit.find_selected(header.name, interest.into()).is_some() || self.is_reserved(cx, header.name)
    }

    /// Whether an Interest of this name may exceed the limit, so that a node with a full table can still be
    /// managed.
    fn is_reserved(&self, cx: &Context<'_>, name: Name) -> bool {
        self.pit.len() < self.pit_limit.saturating_add(RESERVED)
            && Scope::of(name.prefix, cx.names) == Scope::Host
    }

    /// Ends the oldest entries of the faces with the largest shares, until `len` entries are left or none counts for a face.
    pub(crate) fn shorten_pit(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, len: usize) {
        while self.pit.len() > len {
            let Some(id) = self.pit.displaceable(NO_FACE) else { return };
            self.counters.displaced += 1;
            self.end_entry(cx, packets, id);
        }
    }

    /// Consults the strategy about an Interest, which `record` puts in its entry; `None` if it has no entry.
    #[inline(always)]
    fn decide<const IS_STEERED: bool>(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        header: &mut Header,
        record: impl for<'a> FnOnce(&'a mut Pit, &Interest, Time) -> Option<Recorded<'a>>,
    ) -> Option<Decided> {
        let Kind::Interest(interest) = &header.kind else { return None };
        let (nonce, is_limited) = (interest.nonce, interest.hop_limit.is_some());
        let Recorded { id, entry, route, is_repeated } = record(&mut self.pit, interest, cx.now)?;
        let route = self.fib.route_by(route, header.name.prefix, cx);
        let strategy = route.strategy;
        let hops = match IS_STEERED {
            true => steered_hops(cx, from, header, (&mut self.fib, self.steering, &mut self.near)),
            false => hops_in_scope(cx, from, route, &mut self.near),
        };
        self.targets.clear();
        let decision = self.strategies[usize::from(strategy.0)].strategy.on_interest(
            cx,
            &mut Arrival {
                interest: header,
                from,
                pending: id,
                entry: &mut *entry,
                is_repeated,
                hops,
                targets: &mut self.targets,
            },
        );
        if decision == Decision::Forward && self.gates.is_none() {
            header.hop = header.hop.carried();
            if let [Target { face, fresh_nonce: false }] = self.targets[..]
                && !is_limited
            {
                entry.set_out_record(face, nonce, cx.now);
                return Some(Decided::Send(face));
            }
        }
        Some(Decided::Else(id, decision))
    }

    /// Carries out a decision, for any targets, hop limits and gates.
    #[inline(never)]
    fn carry_out(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        (packet, id): (PacketId, PitId),
        out: &mut impl Outbox<B>,
        decision: Decision,
    ) {
        let Kind::Interest(interest) = out.packets()[&packet].header.kind else {
            return out.packets().end(packet);
        };
        match decision {
            Decision::Suppress => {
                self.counters.suppressed += 1;
                out.packets().end(packet);
            }
            Decision::Forward if self.gates.is_none() => {
                self.forward_copies(cx, Requested { packet, interest, id }, out);
            }
            Decision::Forward => self.forward_gated(cx, from, Requested { packet, interest, id }, out),
            Decision::Nack(reason) => {
                refuse(cx, from, packet, reason, out);
                self.end_refused(from, id);
            }
        }
    }

    /// Consults the strategy about an Interest that the face `refused_by` did not take; the faces it selects become the
    /// targets.
    pub(super) fn consult_rejected(
        &mut self,
        cx: &mut Context<'_>,
        refused_by: FaceId,
        from: FaceId,
        (id, interest): (PitId, &Header),
    ) -> Decision {
        let route = self.fib.route(interest.name.prefix, cx);
        let strategy = route.strategy;
        let hops = match self.steering {
            Some(_) => steered_hops(cx, from, interest, (&mut self.fib, self.steering, &mut self.near)),
            None => hops_in_scope(cx, from, route, &mut self.near),
        };
        self.targets.clear();
        self.strategies[usize::from(strategy.0)].strategy.on_rejected(
            cx,
            refused_by,
            &mut Arrival {
                interest,
                from,
                pending: id,
                entry: self.pit.entry_mut(id),
                is_repeated: false,
                hops,
                targets: &mut self.targets,
            },
        )
    }

    /// Ends the wait of the downstream `from`, which was sent a Nack.
    pub(super) fn end_refused(&mut self, from: FaceId, id: PitId) {
        self.pit.entry_mut(id).remove_in_record(from);
        self.end_if_idle(id);
    }

    /// Sends the Interest to all targets; the last copy is the packet itself.
    fn forward_copies(&mut self, cx: &mut Context<'_>, requested: Requested, out: &mut impl Outbox<B>) {
        let Requested { packet, interest, id } = requested;
        let Some((last, others)) = self.targets.split_last() else {
            out.packets().end(packet);
            return self.end_if_idle(id);
        };
        let mut nonce_for = |target: &Target| {
            if target.fresh_nonce { self.nonces.bits() as u32 } else { interest.nonce }
        };
        let mut sent = false;
        for target in others {
            let interest = Interest { nonce: nonce_for(target), ..interest };
            let copy = Requested { packet: out.packets().copy(&packet), interest, id };
            sent |= send_interest(cx, &mut self.pit, target.face, copy, out);
        }
        let interest = Interest { nonce: nonce_for(last), ..interest };
        sent |= send_interest(cx, &mut self.pit, last.face, Requested { packet, interest, id }, out);
        if !sent {
            self.counters.hop_limited += 1;
            self.end_if_idle(id);
        }
    }

    /// Removes an entry that no upstream can answer.
    pub(super) fn end_if_idle(&mut self, id: PitId) {
        let entry = self.pit.entry(id);
        if entry.out_records().next().is_none() {
            self.pit.remove(id);
        }
    }

    fn answer_from_cache(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        packet: &PacketId,
        out: &mut impl Outbox<B>,
    ) -> bool {
        let header = &out.packets()[packet].header;
        let Kind::Interest(interest) = header.kind else { return false };
        let Some(mut found) = self.find_cached(cx, header.name, interest) else {
            self.note_miss(cx, header.name);
            return false;
        };
        // Hop signals are not stored; the Data echoes those of this Interest.
        found.header.hop = header.hop.echoed();
        cx.record(Event::CacheHit { name: header.name });
        self.counters.cache_hits += 1;
        let strategy = self.fib.route(header.name.prefix, cx).strategy;
        let strategy = &mut self.strategies[usize::from(strategy.0)].strategy;
        strategy.on_content_hit(cx, &found.header);
        strategy.on_data_out(cx, &mut found.header, from);
        set_token(&mut found.header, interest.token);
        if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(from)) {
            row.on_data_out(cx, &mut found.header, DataSource::Cache);
        }
        let found = out.packets().insert(found);
        out.send(cx, from, found);
        true
    }

    /// Counts a cache miss, unless no Data under the name can be cached.
    #[inline]
    fn note_miss(&mut self, cx: &mut Context<'_>, name: Name) {
        if self.cs.keeps(name.prefix, cx.names) {
            self.counters.cache_misses += 1;
            cx.record(Event::CacheMiss { name });
        }
    }

    #[inline(always)]
    fn find_cached(&mut self, cx: &Context<'_>, name: Name, interest: Interest) -> Option<Packet<B>> {
        let Some(BodyRules { digest: digest_of, .. }) = self.body else {
            return self.cs.lookup(name, &interest, cx.names, cx.now);
        };
        let Some((data_name, digest)) = digest_in(cx, name) else {
            return self.cs.lookup(name, &interest, cx.names, cx.now);
        };
        // A digest is that of one Data, whose full name precedes it.
        let exactly = Interest { can_be_prefix: false, ..interest };
        let found = self.cs.lookup(data_name, &exactly, cx.names, cx.now)?;
        (digest_of(&found.body) == digest).then_some(found)
    }
}

/// Takes one hop off the limit; false if none is left. As in NFD, an Interest that arrives with 0 is dropped, and one
/// that arrives with 1 stays on this node.
#[cold]
fn decrement_hop_limit(interest: &mut Interest) -> bool {
    let left = interest.hop_limit.and_then(|limit| limit.checked_sub(1));
    interest.hop_limit = left;
    left.is_some()
}

/// The next hops that an Interest from `from` may take; `near` holds them if not every one may be.
#[inline(always)]
fn hops_in_scope<'a>(
    cx: &Context<'_>,
    from: FaceId,
    route: &'a FibEntry,
    near: &'a mut Vec<NextHop>,
) -> &'a [NextHop] {
    if route.scope == Scope::Global {
        return &route.hops;
    }
    near.clear();
    near.extend_from_slice(&route.hops);
    keep_in_scope(cx, from, route.scope, near);
    near
}

/// As [`hops_in_scope`], for an Interest with a steering.
#[cold]
fn steered_hops<'a>(
    cx: &Context<'_>,
    from: FaceId,
    interest: &Header,
    (fib, steering, near): (&mut Fib, Option<Steering>, &'a mut Vec<NextHop>),
) -> &'a [NextHop] {
    let own = interest.name.prefix;
    near.clear();
    match steering {
        Some(Steering::NextHop(face)) => near.extend(face.map(|face| NextHop { cost: 0, face })),
        Some(Steering::Route(prefix)) => near.extend_from_slice(&fib.route(prefix, cx).hops),
        Some(Steering::NoCache) | None => near.extend_from_slice(&fib.route(own, cx).hops),
    }
    let scope = Scope::of(own, cx.names);
    if scope != Scope::Global {
        keep_in_scope(cx, from, scope, near);
    }
    near
}

/// Keeps the next hops that an Interest from `from` may take under `/localhost` and `/localhop`.
#[cold]
fn keep_in_scope(cx: &Context<'_>, from: FaceId, scope: Scope, near: &mut Vec<NextHop>) {
    // NFD: what an application sends under `/localhop` may cross one link; everything else under both stays
    // on this node.
    let is_free = scope == Scope::Hop && cx.face(from).is_local();
    near.retain(|hop| is_free || cx.face(hop.face).is_local());
}

/// The name of the Data and its digest, if `name` ends in one.
#[inline]
fn digest_in(cx: &Context<'_>, name: Name) -> Option<(Name, Digest)> {
    if name.segment != Segment::NONE {
        return None;
    }
    let (IMPLICIT_DIGEST, digest) = cx.names.last_component(name.prefix)? else { return None };
    let data_name = cx.names.name_of(cx.names.parent(name.prefix)?);
    Some((data_name, digest.try_into().ok()?))
}

/// Sends one copy; false when its hops are used up.
fn send_interest<B: Default>(
    cx: &mut Context<'_>,
    pit: &mut Pit,
    face: FaceId,
    requested: Requested,
    out: &mut impl Outbox<B>,
) -> bool {
    let Requested { packet, interest, id } = requested;
    // With a hop limit of zero, only an application on this node can receive the Interest.
    if interest.hop_limit == Some(0) && !cx.face(face).is_local() {
        out.packets().end(packet);
        return false;
    }
    pit.set_out_record(id, face, interest.nonce, cx.now);
    out.packets()[&packet].header.kind = Kind::Interest(interest);
    out.send(cx, face, packet);
    true
}

/// Sends an Interest back as a Nack.
#[cold]
fn refuse<B: Default>(
    cx: &mut Context<'_>,
    to: FaceId,
    packet: PacketId,
    reason: NackReason,
    out: &mut impl Outbox<B>,
) {
    match out.packets()[&packet].header.kind {
        Kind::Interest(interest) => send_nack(cx, to, packet, Nack { interest, reason }, out),
        _ => out.packets().end(packet),
    }
}

/// Sends the refused Interest back as a Nack.
pub(super) fn send_nack<B>(
    cx: &mut Context<'_>,
    to: FaceId,
    refused: PacketId,
    nack: Nack,
    out: &mut impl Outbox<B>,
) {
    let header = &mut out.packets()[&refused].header;
    header.kind = Kind::Nack(nack);
    header.hop = HopSignals::default();
    out.send(cx, to, refused);
}
