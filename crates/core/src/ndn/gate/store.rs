//! The side store of a face's gates: Interests that wait, first in, first out in every flow.

use std::collections::BTreeMap;

use super::FlowKey;
use crate::arena::PacketId;
use crate::ndn::packet::{Header, PacketArena};
use crate::ndn::pit::PitId;

/// Place of a held packet: its gate in the row, its flow, its turn.
type HoldKey = (usize, FlowKey, u64);

/// Interests that gates hold, at most one for each PIT entry.
#[derive(Debug, Default)]
pub(super) struct SideStore {
    held: BTreeMap<HoldKey, (PitId, PacketId)>,
    places: BTreeMap<PitId, HoldKey>,
    next_turn: u64,
}

impl SideStore {
    /// Packets of all gates.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether the Interest of `pending` waits.
    pub fn has(&self, pending: PitId) -> bool {
        self.places.contains_key(&pending)
    }

    /// Puts the Interest of `pending`, which does not wait yet, behind the others of `flow` at `gate`.
    pub fn put(&mut self, gate: usize, flow: FlowKey, pending: PitId, packet: PacketId) {
        let place = (gate, flow, self.next_turn);
        self.next_turn += 1;
        self.held.insert(place, (pending, packet));
        self.places.insert(pending, place);
    }

    /// Takes the oldest packet of `flow` at `gate`.
    pub fn take_oldest(&mut self, gate: usize, flow: FlowKey) -> Option<(PitId, PacketId)> {
        let flow = (gate, flow, 0)..=(gate, flow, u64::MAX);
        let place = *self.held.range(flow).next()?.0;
        let taken = self.held.remove(&place)?;
        self.places.remove(&taken.0);
        Some(taken)
    }

    /// Removes the Interest of `pending` out of its turn; returns its gate and flow with it.
    pub fn remove(&mut self, pending: PitId) -> Option<(usize, FlowKey, PacketId)> {
        let place = self.places.remove(&pending)?;
        let (_, packet) = self.held.remove(&place)?;
        Some((place.0, place.1, packet))
    }

    /// All packets, for their end.
    pub fn into_packets(self) -> impl Iterator<Item = PacketId> {
        self.held.into_values().map(|(_, packet)| packet)
    }

    /// The entries whose Interests are held, by gate, flow and turn.
    pub fn pending(&self) -> Vec<PitId> {
        self.held.values().map(|(pending, _)| *pending).collect()
    }

    /// Headers of everything that waits, with their flows.
    pub fn headers<'a, B>(
        &'a self,
        packets: &'a PacketArena<B>,
    ) -> impl Iterator<Item = (FlowKey, &'a Header)> {
        self.held.iter().map(|((_, flow, _), (_, packet))| (*flow, &packets[packet].header))
    }
}
