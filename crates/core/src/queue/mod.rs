//! The queue of a transmitting device: class FIFOs, lanes, a side store, and the disciplines that manage
//! them.
//!
//! Disciplines decide, the queue acts: a discipline has access to headers and the face, never to a body.

mod discipline;
mod insertion;
mod lanes;
mod stats;
#[cfg(test)]
mod tests;
mod verdicts;

use crate::arena::{List, PacketId};
use crate::context::Context;
use crate::ndn::face::{FaceId, FaceView};
use crate::ndn::packet::{Header, PacketArena};
use crate::observe::event::Cause;
use crate::scheme::control::Message;
use crate::scheme::signal::Class;
use crate::units::{ByteCount, Span, Time};

pub use discipline::{Actions, Placement, QueueDiscipline, Selection, Verdict};
pub use lanes::{LaneHead, Lanes};
pub use stats::QueueStats;

use lanes::LaneStore;
use verdicts::Admission;

/// A packet in a class or lane, with its arrival time.
#[derive(Debug)]
struct QueuedPacket {
    packet: PacketId,
    since: Time,
}

/// The queue of one device. What it holds is counted in the face's [`FaceView`].
#[derive(Debug)]
pub struct Queue {
    face: FaceId,
    /// Packets of each class with their arrival times.
    classes: [List; Class::COUNT],
    /// The side store: packets with the times until which they stay at most.
    store: List,
    disciplines: Vec<Box<dyn QueueDiscipline>>,
    sees_arrivals: bool,
    sees_departures: bool,
    /// Lanes for bulk packets, in place of their class, if a discipline has lanes.
    lanes: Option<Box<LaneStore>>,
    actions: Actions,
    wake: Option<Time>,
    stats: QueueStats,
}

impl Queue {
    /// An empty queue of `face` with `disciplines`, consulted in this order.
    pub fn new(face: FaceId, disciplines: Vec<Box<dyn QueueDiscipline>>) -> Self {
        Self {
            face,
            classes: Default::default(),
            store: List::default(),
            sees_arrivals: disciplines.iter().any(|discipline| discipline.sees_arrivals()),
            sees_departures: disciplines.iter().any(|discipline| discipline.sees_departures()),
            lanes: LaneStore::of(&disciplines).map(Box::new),
            disciplines,
            actions: Actions::default(),
            wake: None,
            stats: QueueStats::default(),
        }
    }

    /// Counters since the start.
    pub fn stats(&self) -> &QueueStats {
        &self.stats
    }

    /// Time at which [`on_wake`](Self::on_wake) is due; `None` for never.
    #[inline]
    pub fn next_wake(&self) -> Option<Time> {
        self.wake
    }

    /// Whether the discipline with lanes, when last consulted, postponed all waiting packets.
    #[inline]
    pub fn is_held_back(&self) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.is_held_back)
    }

    /// Takes in, drops or stores a packet. Returns the next packet for a device that `is_free`: the packet
    /// itself if nothing waits, which then bypasses the queue.
    pub fn offer<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        is_free: bool,
    ) -> Option<PacketId> {
        let view = cx.face(self.face);
        self.offer_at(cx, view, packets, packet, is_free).map(|(packet, _)| packet)
    }

    /// The same for a driver that has looked the face up, with the size of the packet that leaves.
    #[inline(always)]
    pub(crate) fn offer_at<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        view: &FaceView,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        is_free: bool,
    ) -> Option<(PacketId, ByteCount)> {
        if !is_free {
            self.push(cx, packets, packet);
            return None;
        }
        let header = &mut packets[&packet].header;
        if !self.lets_pass(view, header) {
            return self.exchange(cx, packets, packet);
        }
        // The usual case: the packet does not move through the queue.
        self.stats.offered += 1;
        let admission = self.admit(cx, view, header);
        if !matches!(admission, Admission::Pass) {
            self.keep_back(cx, packets, packet, admission);
            return None;
        }
        if header.hop.class == Class::BULK {
            view.accepted.set(view.accepted.get() + 1);
        }
        let size = header.size();
        let is_sent = self.depart(cx, view, header, Span::ZERO);
        self.act(cx, packets);
        if !is_sent {
            packets.end(packet);
            return None;
        }
        Some((packet, size))
    }

    /// Takes in a packet for a busy device: [`offer`](Self::offer) without a packet that leaves.
    pub fn push<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>, packet: PacketId) {
        self.stats.offered += 1;
        let view = cx.face(self.face);
        match self.admit(cx, view, &mut packets[&packet].header) {
            Admission::Pass => self.append(cx, view, packets, packet),
            admission => return self.keep_back(cx, packets, packet, admission),
        }
        self.act(cx, packets);
    }

    /// Stores a packet that does not pass, or ends it.
    #[cold]
    fn keep_back<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        admission: Admission,
    ) {
        match admission {
            Admission::Hold(until) => self.hold(cx, packets, packet, until),
            Admission::Pass | Admission::Dropped => packets.end(packet),
        }
        self.act(cx, packets);
    }

    /// Takes a packet in and the next one out.
    #[cold]
    fn exchange<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
    ) -> Option<(PacketId, ByteCount)> {
        self.push(cx, packets, packet);
        self.take(cx, packets)
    }

    /// Whether a packet may bypass the queue: nothing waits, and there is room for it.
    #[inline(always)]
    fn lets_pass(&self, view: &FaceView, header: &Header) -> bool {
        // A queue with limit 0 or a packet above a byte limit has to be dropped, although nothing waits.
        view.queued_packets() == 0
            && self.lanes.is_none()
            && !view.is_full_for(header.hop.class, header.size())
    }

    /// Headers of everything that waits or is stored.
    pub fn headers<'a, B>(&'a self, packets: &'a PacketArena<B>) -> impl Iterator<Item = &'a Header> {
        let listed = |list: &List| list.iter(packets).map(|(packet, _)| &packet.header);
        let in_lanes = self.lanes.iter().flat_map(|lanes| lanes.iter());
        let in_lanes = in_lanes.map(|waiting| &packets[&waiting.packet].header);
        self.classes.iter().flat_map(listed).chain(in_lanes).chain(listed(&self.store))
    }

    /// Removes the next packet; `None` if nothing waits or the scheduler postpones it.
    pub fn pop<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
    ) -> Option<PacketId> {
        self.take(cx, packets).map(|(packet, _)| packet)
    }

    /// As [`pop`](Self::pop), with the size of the packet.
    #[inline(always)]
    pub(crate) fn take<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
    ) -> Option<(PacketId, ByteCount)> {
        loop {
            let QueuedPacket { packet, since } = self.take_next(cx, packets)?;
            let (view, header) = (cx.face(self.face), &mut packets[&packet].header);
            let size = header.size();
            let is_sent = self.depart(cx, view, header, cx.now.since(since));
            self.act(cx, packets);
            if is_sent {
                return Some((packet, size));
            }
            packets.end(packet);
        }
    }

    /// Runs what is due now; packets may wait afterwards where none did before.
    pub fn on_wake<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>) {
        self.release_lanes();
        // The call may serve another purpose, such as the end of a decision to wait.
        if self.wake.is_none_or(|wake| wake > cx.now) {
            return;
        }
        // Before the disciplines, whose next requests `act` takes in.
        self.wake = None;
        self.expire(cx, packets);
        let view = cx.face(self.face);
        for discipline in &mut self.disciplines {
            discipline.on_wake(cx, view, &mut self.actions);
        }
        self.act(cx, packets);
    }

    /// Passes a directive of the network controller to every discipline.
    pub fn on_directive<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        directive: &dyn Message,
    ) {
        for discipline in &mut self.disciplines {
            discipline.on_directive(cx, directive, &mut self.actions);
        }
        self.act(cx, packets);
    }

    /// Puts `discipline` in the place of the one at `place`, or behind the last one if there is none; returns its place.
    /// Packets that wait stay. Both disciplines must do without lanes.
    pub fn set_discipline(&mut self, place: usize, discipline: Box<dyn QueueDiscipline>) -> usize {
        let place = place.min(self.disciplines.len());
        match self.disciplines.get_mut(place) {
            Some(present) => *present = discipline,
            None => self.disciplines.push(discipline),
        }
        self.sees_arrivals = self.disciplines.iter().any(|discipline| discipline.sees_arrivals());
        self.sees_departures = self.disciplines.iter().any(|discipline| discipline.sees_departures());
        place
    }

    /// Drops everything that waits, stored packets included; returns the number of packets dropped.
    pub fn clear<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>) -> u64 {
        self.drop_all(cx, packets, Cause("link down"))
    }

    /// Drops everything that waits, and replaces the disciplines, with their state, by those of `fresh`, in which nothing
    /// waits. Returns the number of packets dropped. Counters are retained.
    pub fn restart<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        fresh: Self,
    ) -> u64 {
        let dropped = self.drop_all(cx, packets, Cause("restart"));
        let stats = std::mem::take(&mut self.stats);
        *self = Self { stats, ..fresh };
        dropped
    }

    fn drop_all<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        cause: Cause,
    ) -> u64 {
        let before = self.stats.dropped;
        while let Some(waiting) =
            self.take_next_by_priority(cx, packets).or_else(|| self.take_from_any_lane(cx, packets))
        {
            self.discard(cx, packets, waiting.packet, cause);
        }
        while let Some((held, _)) = self.store.pop_front(packets) {
            self.discard(cx, packets, held, cause);
        }
        cx.face(self.face).held.set(0);
        self.disciplines.iter_mut().for_each(|discipline| discipline.on_clear());
        self.stats.dropped - before
    }
}
