//! Packets of one direction whose frames are under way.

use std::collections::VecDeque;

use super::{Cut, REASSEMBLY_TIMEOUT};
use crate::arena::PacketId;
use crate::units::Time;

/// A packet and the state of its parts.
#[derive(Debug)]
pub(super) struct Transit {
    packet: PacketId,
    parts: u32,
    seen: PartSet,
    missing: u32,
    /// Frames with a part of it that wait or are on the way.
    copies: u32,
    /// Parts that the link service may retransmit.
    kept: u32,
    /// No part of it will be retransmitted.
    is_given_up: bool,
    /// Arrival time of the last part.
    touched: Option<Time>,
}

/// One bit per part.
#[derive(Debug, Default)]
struct PartSet {
    first: u64,
    more: Vec<u64>,
}

impl PartSet {
    /// Sets the bit of a part; returns whether it was not set.
    fn insert(&mut self, index: u32) -> bool {
        let (word, bit) = (index as usize / 64, 1 << (index % 64));
        let word = match word.checked_sub(1) {
            None => &mut self.first,
            Some(place) => {
                self.more.resize(self.more.len().max(place + 1), 0);
                &mut self.more[place]
            }
        };
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Transit {
    /// A packet with all its parts waiting.
    pub fn new(packet: PacketId, cut: &Cut) -> Self {
        let parts = cut.count as u32;
        Self {
            packet,
            parts,
            seen: PartSet::default(),
            missing: parts,
            copies: parts,
            kept: 0,
            is_given_up: false,
            touched: None,
        }
    }

    /// Records a part; returns whether the packet is complete.
    fn arrive(&mut self, now: Time, index: u32) -> bool {
        if self.touched.is_some_and(|last| now.since(last) >= REASSEMBLY_TIMEOUT) {
            // The far end has discarded the parts that came before, so the packet begins anew.
            (self.seen, self.missing) = (PartSet::default(), self.parts);
        }
        self.touched = Some(now);
        self.missing -= u32::from(self.seen.insert(index));
        self.missing == 0
    }
}

/// Packets by number; the lowest is the first.
#[derive(Debug, Default)]
pub(super) struct Transits {
    first: u64,
    packets: VecDeque<Option<Transit>>,
    pub lost: u64,
    pub delivered: u64,
    pub in_flight: u64,
    /// Lost packets that have not been ended yet.
    pub gone: Vec<PacketId>,
}

impl Transits {
    /// Takes a packet in under the next number.
    pub fn add(&mut self, transit: Transit) -> u64 {
        self.packets.push_back(Some(transit));
        self.in_flight += 1;
        self.first + self.packets.len() as u64 - 1
    }

    fn get(&mut self, packet: u64) -> Option<&mut Transit> {
        let place = packet.checked_sub(self.first)?;
        self.packets.get_mut(place as usize)?.as_mut()
    }

    /// The service may retransmit one more part of it.
    pub fn keep(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.kept += 1);
    }

    /// The service will not retransmit one of its parts.
    pub fn release(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.kept = transit.kept.saturating_sub(1));
        self.lose_if_gone(packet);
    }

    /// One more frame with a part of it waits.
    pub fn add_copy(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.copies += 1);
    }

    /// A frame with a part of it is lost or has been delivered.
    pub fn drop_copy(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.copies -= 1);
        self.lose_if_gone(packet);
    }

    /// A part arrives; returns the packet if it is complete.
    pub fn arrive(&mut self, now: Time, packet: u64, index: u32) -> Option<PacketId> {
        if self.get(packet)?.arrive(now, index) {
            self.delivered += 1;
            return self.take(packet);
        }
        self.drop_copy(packet);
        None
    }

    /// The service will not retransmit any of its parts; frames that wait or are on the way may still
    /// complete it.
    pub fn give_up(&mut self, packet: u64) {
        let Some(transit) = self.get(packet) else { return };
        (transit.kept, transit.is_given_up) = (0, true);
        self.lose_if_gone(packet);
    }

    /// Whether the packet was given up and is still incomplete.
    pub fn is_given_up(&mut self, packet: u64) -> bool {
        self.get(packet).is_some_and(|transit| transit.is_given_up)
    }

    fn lose(&mut self, packet: u64) {
        if let Some(packet) = self.take(packet) {
            self.lost += 1;
            self.gone.push(packet);
        }
    }

    fn lose_if_gone(&mut self, packet: u64) {
        if self.get(packet).is_some_and(|transit| transit.copies == 0 && transit.kept == 0) {
            self.lose(packet);
        }
    }

    fn take(&mut self, packet: u64) -> Option<PacketId> {
        let place = packet.checked_sub(self.first)?;
        let transit = self.packets.get_mut(place as usize)?.take()?;
        self.in_flight -= 1;
        // Packets end out of order; the front advances over the ended ones, so that memory stays bounded.
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(transit.packet)
    }
}
