//! The side store of a face's gates: Interests that wait, first in, first out in every flow.

use std::collections::BTreeMap;

use super::FlowKey;
use crate::ndn::packet::{Header, Packet};
use crate::ndn::pit::PitId;

/// Place of a held packet: its gate in the row, its flow, its turn.
type HoldKey = (usize, FlowKey, u64);

/// Interests that gates hold, at most one for each PIT entry.
#[derive(Debug)]
pub(super) struct SideStore<B> {
    held: BTreeMap<HoldKey, (PitId, Packet<B>)>,
    places: BTreeMap<PitId, HoldKey>,
    next_turn: u64,
}

impl<B> Default for SideStore<B> {
    fn default() -> Self {
        Self { held: BTreeMap::new(), places: BTreeMap::new(), next_turn: 0 }
    }
}

impl<B> SideStore<B> {
    /// Packets of all gates.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether the Interest of `pending` waits.
    pub fn has(&self, pending: PitId) -> bool {
        self.places.contains_key(&pending)
    }

    /// Puts the Interest of `pending`, which does not wait yet, behind the others of `flow` at `gate`.
    pub fn put(&mut self, gate: usize, flow: FlowKey, pending: PitId, packet: Packet<B>) {
        let place = (gate, flow, self.next_turn);
        self.next_turn += 1;
        self.held.insert(place, (pending, packet));
        self.places.insert(pending, place);
    }

    /// Takes the oldest packet of `flow` at `gate`.
    pub fn take_oldest(&mut self, gate: usize, flow: FlowKey) -> Option<(PitId, Packet<B>)> {
        let flow = (gate, flow, 0)..=(gate, flow, u64::MAX);
        let place = *self.held.range(flow).next()?.0;
        let taken = self.held.remove(&place)?;
        self.places.remove(&taken.0);
        Some(taken)
    }

    /// Removes the Interest of `pending` out of its turn; returns its gate and flow with it.
    pub fn remove(&mut self, pending: PitId) -> Option<(usize, FlowKey, Packet<B>)> {
        let place = self.places.remove(&pending)?;
        let (_, packet) = self.held.remove(&place)?;
        Some((place.0, place.1, packet))
    }

    /// The entries whose Interests are held, by gate, flow and turn.
    pub fn pending(&self) -> Vec<PitId> {
        self.held.values().map(|(pending, _)| *pending).collect()
    }

    /// Headers of everything that waits, with their flows.
    pub fn headers(&self) -> impl Iterator<Item = (FlowKey, &Header)> {
        self.held.iter().map(|((_, flow, _), (_, packet))| (*flow, &packet.header))
    }
}
