//! The forwarder's side of gates: rows of gates by face, their decisions, and their notifications.

use super::{Forwarder, Outbox, Requested};
use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceId;
use crate::ndn::gate::{DataSource, FaceGate, GateRow, GateStats, Passage};
use crate::ndn::packet::{Header, Interest, Kind, Nack, NackReason, PacketArena};
use crate::ndn::pit::PitId;
use crate::ndn::strategy::{Decision, Target};
use crate::observe::event::Cause;
use crate::units::Time;

use super::interest::send_nack;

/// The gates of every face that has some.
#[derive(Debug)]
pub(super) struct Gates {
    /// Rows of gates by face.
    rows: Vec<Option<GateRow>>,
}

impl Gates {
    #[inline]
    pub fn row(&mut self, face: FaceId) -> Option<&mut GateRow> {
        self.rows.get_mut(face.index())?.as_mut()
    }

    /// The gates of `face`, which are not changed.
    pub fn row_of(&self, face: FaceId) -> Option<&GateRow> {
        self.rows.get(face.index())?.as_ref()
    }

    pub fn rows(&self) -> impl Iterator<Item = &GateRow> {
        self.rows.iter().flatten()
    }

    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut GateRow> {
        self.rows.iter_mut().flatten()
    }

    pub fn next_wake(&self) -> Option<Time> {
        self.rows().filter_map(GateRow::next_wake).min()
    }

    /// Removes the gates of `face`.
    pub fn remove(&mut self, face: FaceId) -> Option<GateRow> {
        self.rows.get_mut(face.index())?.take()
    }

    /// Continues the counters of the gates of the same faces.
    pub fn count_on(&mut self, old: &Self) {
        for (row, old) in self.rows.iter_mut().zip(&old.rows) {
            if let (Some(row), Some(old)) = (row, old) {
                row.count_on(old);
            }
        }
    }

    /// A copy of a Data that came from `from` leaves through `to`.
    #[inline(never)]
    pub fn data_out(&mut self, cx: &mut Context<'_>, data: &mut Header, from: FaceId, to: FaceId) {
        if let Some(row) = self.row(to) {
            let is_local = cx.face(from).is_local();
            row.on_data_out(cx, data, if is_local { DataSource::Application } else { DataSource::Face });
        }
    }
}

/// Outcome of one copy of an Interest.
enum Attempt {
    Sent,
    OutOfHops,
    Refused(NackReason),
    Dropped,
}

/// Outcome of an Interest that was offered to the targets.
pub(super) struct Offered {
    pub is_sent: bool,
    out_of_hops: bool,
    /// Decision of the strategy if no face accepts it; `None` if no gate refused.
    pub refusal: Option<Decision>,
}

/// Reason why an answer is no longer expected.
pub(super) enum Ending {
    /// The lifetime has ended.
    Expired,
    /// A Data or Nack arrived from this face.
    AnsweredBy(FaceId),
    /// The entry ended for another reason, without an answer that counts.
    Elsewhere,
}

impl<B: Clone + Default> Forwarder<B> {
    /// Sets the gates before the queue of `face`, replacing earlier ones, which must hold nothing.
    pub fn set_gates(&mut self, face: FaceId, gates: Vec<Box<dyn FaceGate>>) {
        if gates.is_empty() {
            if let Some(all) = &mut self.gates {
                all.remove(face);
            }
            return;
        }
        self.acts_later = true;
        let rows = &mut self.gates.get_or_insert_with(|| Box::new(Gates { rows: Vec::new() })).rows;
        if rows.len() <= face.index() {
            rows.resize_with(face.index() + 1, || None);
        }
        rows[face.index()] = Some(GateRow::new(face, gates));
    }

    /// Counters of the gates of `face` since they were set; zeros without gates.
    pub fn gate_stats(&self, face: FaceId) -> GateStats {
        let row = self.gates.as_ref().and_then(|gates| gates.rows.get(face.index())?.as_ref());
        row.map(GateRow::stats).unwrap_or_default()
    }

    /// Drops everything that the gates of `face` hold, because its link is down; returns the number of
    /// packets. Their PIT entries stay without them until they expire or are requested again.
    pub fn clear_held(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, face: FaceId) -> u64 {
        let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(face)) else { return 0 };
        let dropped = row.clear(cx, packets, Cause("held at link down"));
        for id in &dropped {
            self.pit.entry_mut(*id).take_back(face);
        }
        dropped.len() as u64
    }

    /// As `forward`, for a node with gates.
    #[inline(never)]
    pub(super) fn forward_gated(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        requested: Requested,
        out: &mut impl Outbox<B>,
    ) {
        let offered = self.offer(cx, from, &requested, out);
        let Requested { packet, interest, id } = requested;
        match offered.refusal {
            _ if offered.is_sent => {}
            Some(Decision::Suppress) => self.counters.suppressed += 1,
            Some(Decision::Nack(reason)) => {
                send_nack(cx, from, packet, Nack { interest, reason }, out);
                return self.end_refused(from, id);
            }
            Some(Decision::Forward) | None => {
                self.counters.hop_limited += u64::from(offered.out_of_hops);
                self.end_if_idle(id);
            }
        }
        out.packets().end(packet);
    }

    /// Sends the Interest to all targets; a face whose gates refuse is replaced by another choice of the strategy,
    /// each face tried once.
    pub(super) fn offer(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        requested: &Requested,
        out: &mut impl Outbox<B>,
    ) -> Offered {
        // Taken out, because a refusal consults the strategy again, which fills `self.targets`.
        let mut targets = std::mem::take(&mut self.targets);
        let mut offered = Offered { is_sent: false, out_of_hops: false, refusal: None };
        let mut next = 0;
        while let Some(target) = targets.get(next).copied() {
            next += 1;
            // The strategy may choose a face again that refused before, which would never end.
            if targets[..next - 1].iter().any(|tried| tried.face == target.face) {
                continue;
            }
            match self.send_gated(cx, target, requested, out) {
                Attempt::Sent => offered.is_sent = true,
                Attempt::OutOfHops => offered.out_of_hops = true,
                Attempt::Dropped => {}
                Attempt::Refused(reason) => {
                    let interest = (requested.id, &out.packets()[&requested.packet].header);
                    let decision = self.request_again(cx, target.face, from, interest, reason);
                    offered.refusal = Some(decision);
                    targets.append(&mut self.targets);
                }
            }
        }
        targets.clear();
        self.targets = targets;
        offered
    }

    /// Consults the strategy about another choice than `face`, which is added to the targets. Returns the
    /// decision if none of them accepts the Interest: if the strategy names only targets, the refusal is
    /// passed on unchanged.
    fn request_again(
        &mut self,
        cx: &mut Context<'_>,
        face: FaceId,
        from: FaceId,
        interest: (PitId, &Header),
        reason: NackReason,
    ) -> Decision {
        match self.consult_rejected(cx, face, from, interest) {
            Decision::Forward => Decision::Nack(reason),
            otherwise => {
                self.targets.clear();
                otherwise
            }
        }
    }

    /// Sends one copy through the gates of its face, if it has some.
    fn send_gated(
        &mut self,
        cx: &mut Context<'_>,
        target: Target,
        requested: &Requested,
        out: &mut impl Outbox<B>,
    ) -> Attempt {
        let Requested { packet, interest, id } = requested;
        let (interest, id) = (*interest, *id);
        let Target { face, fresh_nonce } = target;
        let nonce = if fresh_nonce { self.nonces.bits() as u32 } else { interest.nonce };
        if interest.hop_limit == Some(0) && !cx.face(face).is_local() {
            return Attempt::OutOfHops;
        }
        let mut row = self.gates.as_mut().and_then(|gates| gates.row(face));
        // One Interest per entry waits at a face; its departure will serve this request, too.
        if row.as_ref().is_some_and(|row| row.holds(id)) {
            self.counters.suppressed += 1;
            return Attempt::Sent;
        }
        let copy = out.packets().copy(packet);
        let header = &mut out.packets()[&copy].header;
        header.hop = header.hop.carried();
        header.kind = Kind::Interest(Interest { nonce, ..interest });
        let passage = match &mut row {
            None => Passage::Passed(copy),
            Some(row) => row.pass(cx, out.packets(), id, copy),
        };
        match passage {
            Passage::Refused(reason, copy) => {
                out.packets().end(copy);
                return Attempt::Refused(reason);
            }
            Passage::Dropped => return Attempt::Dropped,
            Passage::Held => self.pit.set_out_record(id, face, nonce, cx.now),
            Passage::Passed(packet) => {
                self.pit.set_out_record(id, face, nonce, cx.now);
                out.send(cx, face, packet);
            }
        }
        Attempt::Sent
    }

    /// Data for the entry came from `from`: Interests that gates hold for it are withdrawn.
    pub(super) fn data_at_gates(
        &mut self,
        cx: &mut Context<'_>,
        from: FaceId,
        id: PitId,
        packets: &mut PacketArena<B>,
        data: &PacketId,
    ) {
        let Some(gates) = &mut self.gates else { return };
        let entry = self.pit.entry(id);
        let requested = entry.out_records().map(|record| record.face);
        let holds = |face: &FaceId| gates.row(*face).is_some_and(|row| row.holds(id));
        // Collected before anything is withdrawn, which changes the out-records.
        let held: Vec<FaceId> = requested.filter(holds).collect();
        for face in held {
            if let Some(row) = gates.row(face) {
                row.withdraw(cx, packets, id, Cause("held and answered"));
            }
            self.pit.entry_mut(id).take_back(face);
        }
        let rtt = self.pit.entry(id).round_trip(from, cx.now);
        if let Some(row) = gates.row(from) {
            row.on_data_in(cx, id, &mut packets[data].header, rtt);
        }
    }

    /// Notifies the gates of every face with an outstanding answer that none is expected any more.
    pub(super) fn end_at_gates(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        id: PitId,
        how: &Ending,
    ) {
        let Some(gates) = &mut self.gates else { return };
        let is_expired = matches!(how, Ending::Expired);
        let cause = Cause(if is_expired { "held too long" } else { "held and refused" });
        for record in self.pit.entry(id).out_records() {
            let Some(row) = gates.row(record.face) else { continue };
            let was_held = row.withdraw(cx, packets, id, cause);
            // A held Interest has not left, unless an earlier one of the same entry has: only that awaits an
            // answer.
            let is_out = !was_held || record.retransmissions > 0;
            match how {
                _ if !is_out || record.nacked.is_some() => {}
                Ending::AnsweredBy(face) if *face == record.face => {}
                Ending::Expired => row.on_expiry(cx, id),
                Ending::AnsweredBy(_) | Ending::Elsewhere => row.on_withdrawn(cx, id),
            }
        }
    }

    /// Wakes the gates that are due, and sends the packets that they release.
    pub(super) fn wake_gates(&mut self, cx: &mut Context<'_>, out: &mut impl Outbox<B>) {
        let mut passages = Vec::new();
        let faces = self.gates.as_ref().map_or(0, |gates| gates.rows.len());
        for face in (0..faces).map(|index| FaceId(index as u16)) {
            // An entry that ends with one packet takes with it what other faces hold: one face after the other.
            if let Some(row) = self.gates.as_mut().and_then(|gates| gates.row(face)) {
                row.wake(cx, out.packets(), &mut passages);
            }
            for (id, passage) in passages.drain(..) {
                self.go_on_released(cx, face, id, passage, out);
            }
        }
    }

    fn go_on_released(
        &mut self,
        cx: &mut Context<'_>,
        face: FaceId,
        id: PitId,
        passage: Passage,
        out: &mut impl Outbox<B>,
    ) {
        match passage {
            Passage::Held => {}
            Passage::Passed(packet) => {
                self.pit.entry_mut(id).depart(face, cx.now);
                out.send(cx, face, packet);
            }
            Passage::Dropped => {
                self.pit.entry_mut(id).take_back(face);
                self.end_if_idle(id);
            }
            // The strategy took it for sent; for it this is the upstream's Nack, unless an earlier one is out still.
            Passage::Refused(reason, packet) => {
                let record = self.pit.entry_mut(id).out_record_mut(face);
                match (out.packets()[&packet].header.kind, record) {
                    (Kind::Interest(interest), Some(record)) if record.retransmissions == 0 => {
                        record.nacked = Some(reason);
                        self.apply_nack(cx, face, Requested { packet, interest, id }, reason, out);
                    }
                    _ => out.packets().end(packet),
                }
            }
        }
    }
}
