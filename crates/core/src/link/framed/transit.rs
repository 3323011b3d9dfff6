//! Packets of one direction whose frames are under way.

use std::collections::VecDeque;

use super::{Cut, REASSEMBLY_TIMEOUT};
use crate::ndn::name::Name;
use crate::ndn::packet::Packet;
use crate::units::Time;

/// A packet and what is known of its parts.
#[derive(Debug)]
pub(super) struct Transit<B> {
    packet: Packet<B>,
    parts: u32,
    seen: PartSet,
    missing: u32,
    /// Frames with a part of it that wait or are on the way.
    copies: u32,
    /// Parts that the link service may have sent again.
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
    /// Sets the bit of a part; whether it was not set.
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

impl<B> Transit<B> {
    /// A packet with all its parts waiting.
    pub fn new(packet: Packet<B>, cut: &Cut) -> Self {
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

    /// A part arrives; whether the packet is whole.
    fn arrive(&mut self, now: Time, index: u32) -> bool {
        if self.touched.is_some_and(|last| now.since(last) >= REASSEMBLY_TIMEOUT) {
            (self.seen, self.missing) = (PartSet::default(), self.parts);
        }
        self.touched = Some(now);
        self.missing -= u32::from(self.seen.insert(index));
        self.missing == 0
    }
}

/// Packets by number; the lowest is the first.
#[derive(Debug)]
pub(super) struct Transits<B> {
    first: u64,
    packets: VecDeque<Option<Transit<B>>>,
    pub lost: u64,
    pub delivered: u64,
    pub in_flight: u64,
    pub lost_names: Vec<Name>,
}

impl<B> Default for Transits<B> {
    fn default() -> Self {
        Self {
            first: 0,
            packets: VecDeque::new(),
            lost: 0,
            delivered: 0,
            in_flight: 0,
            lost_names: Vec::new(),
        }
    }
}

impl<B> Transits<B> {
    /// Takes a packet in under the next number.
    pub fn add(&mut self, transit: Transit<B>) -> u64 {
        self.packets.push_back(Some(transit));
        self.in_flight += 1;
        self.first + self.packets.len() as u64 - 1
    }

    fn get(&mut self, packet: u64) -> Option<&mut Transit<B>> {
        let place = packet.checked_sub(self.first)?;
        self.packets.get_mut(place as usize)?.as_mut()
    }

    /// The service may have one more part of it sent again.
    pub fn keep(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.kept += 1);
    }

    /// The service will not have one of its parts sent again.
    pub fn release(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.kept = transit.kept.saturating_sub(1));
        self.lose_if_gone(packet);
    }

    /// One more frame with a part of it waits.
    pub fn add_copy(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.copies += 1);
    }

    /// A frame with a part of it is gone.
    pub fn drop_copy(&mut self, packet: u64) {
        self.get(packet).into_iter().for_each(|transit| transit.copies -= 1);
        self.lose_if_gone(packet);
    }

    /// A part arrives; the packet if it is whole.
    pub fn arrive(&mut self, now: Time, packet: u64, index: u32) -> Option<Packet<B>> {
        if self.get(packet)?.arrive(now, index) {
            self.delivered += 1;
            return self.take(packet);
        }
        self.drop_copy(packet);
        None
    }

    /// The service will not have any of its parts sent again; what waits or is on the way may still make it whole.
    pub fn give_up(&mut self, packet: u64) {
        let Some(transit) = self.get(packet) else { return };
        (transit.kept, transit.is_given_up) = (0, true);
        self.lose_if_gone(packet);
    }

    /// Whether a packet was given up that may yet be whole.
    pub fn is_given_up(&mut self, packet: u64) -> bool {
        self.get(packet).is_some_and(|transit| transit.is_given_up)
    }

    fn lose(&mut self, packet: u64) {
        if let Some(packet) = self.take(packet) {
            self.lost += 1;
            self.lost_names.push(packet.header.name);
        }
    }

    fn lose_if_gone(&mut self, packet: u64) {
        if self.get(packet).is_some_and(|transit| transit.copies == 0 && transit.kept == 0) {
            self.lose(packet);
        }
    }

    fn take(&mut self, packet: u64) -> Option<Packet<B>> {
        let place = packet.checked_sub(self.first)?;
        let transit = self.packets.get_mut(place as usize)?.take()?;
        self.in_flight -= 1;
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(transit.packet)
    }
}
