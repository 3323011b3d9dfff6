//! Insertion and removal of packets, and the actions that disciplines request in addition to their verdicts.

use crate::arena::PacketId;
use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::{Header, Packet, PacketArena};
use crate::observe::event::{Cause, Event};
use crate::scheme::signal::Class;
use crate::units::Time;

use super::{Actions, Queue, QueuedPacket};

impl Queue {
    /// The next packet by the choice of the discipline with lanes, or else by strict priority.
    #[inline]
    pub(super) fn take_next<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
    ) -> Option<QueuedPacket> {
        // With lanes, the classes hold nothing but notices.
        let waiting = self.take_next_by_priority(cx, packets);
        if waiting.is_none() && self.lanes.is_some() { self.take_scheduled(cx, packets) } else { waiting }
    }

    /// Strict priority: the highest class that is not empty.
    #[inline]
    pub(super) fn take_next_by_priority<B>(
        &mut self,
        cx: &Context<'_>,
        packets: &PacketArena<B>,
    ) -> Option<QueuedPacket> {
        let class = (0..Class::COUNT).rev().find(|class| !self.classes[*class].is_empty())?;
        let (packet, since) = self.classes[class].pop_front(packets)?;
        cx.face(self.face).count_out(class, packets[&packet].header.size());
        Some(QueuedPacket { packet, since })
    }

    /// Puts a packet at the end of its class or lane, or drops it when there is no room.
    pub(super) fn append<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        view: &FaceView,
        packets: &mut PacketArena<B>,
        packet: PacketId,
    ) {
        let header = &packets[&packet].header;
        let class = header.hop.class;
        if class == Class::BULK && self.lanes.is_some() {
            return self.append_to_lane(cx, packets, packet);
        }
        if view.is_full_for(class, header.size()) {
            return self.discard(cx, packets, packet, Cause("queue full"));
        }
        self.count_in(view, header);
        self.classes[class.index()].push_back(packets, packet, cx.now);
    }

    /// Drops a packet and ends it.
    pub(super) fn discard<B: Default>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        cause: Cause,
    ) {
        self.drop_packet(cx, &packets[&packet].header, cause);
        packets.end(packet);
    }

    /// Counts a packet that is enqueued.
    #[inline]
    pub(super) fn count_in(&mut self, view: &FaceView, header: &Header) {
        view.count_in(header.hop.class, header.size());
        self.stats.peak = self.stats.peak.max(view.queued_packets());
    }

    pub(super) fn hold<B>(
        &mut self,
        cx: &mut Context<'_>,
        packets: &mut PacketArena<B>,
        packet: PacketId,
        until: Time,
    ) {
        self.stats.stored += 1;
        cx.record(Event::Stored { face: self.face.0, name: packets[&packet].header.name });
        self.store.push_back(packets, packet, until);
        let view = cx.face(self.face);
        view.held.set(view.held.get() + 1);
    }

    /// Carries out the actions that the disciplines requested.
    #[inline(always)]
    pub(super) fn act<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>) {
        if self.actions.is_any {
            self.act_now(cx, packets);
        }
    }

    #[cold]
    fn act_now<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>) {
        let view = cx.face(self.face);
        let Actions { release, mut notices, wake, .. } = std::mem::take(&mut self.actions);
        for mut notice in notices.drain(..) {
            self.stats.notices += 1;
            self.stats.offered += 1;
            notice.hop.class = Class::NOTICE;
            cx.record(Event::NoticeMade { face: self.face.0, name: notice.name });
            let notice = packets.insert(Packet::new(notice, B::default()));
            self.append(cx, view, packets, notice);
        }
        self.actions.notices = notices;
        // Expired packets go first, so that releases concern only those that may still be sent.
        self.expire(cx, packets);
        let mut left = release;
        while left > 0 {
            let Some((held, until)) = self.store.pop_front(packets) else { break };
            view.held.set(view.held.get() - 1);
            // An expired packet behind one that stays longer, which `expire` does not reach.
            if until <= cx.now {
                self.discard(cx, packets, held, Cause("stored too long"));
                continue;
            }
            left -= 1;
            self.stats.released += 1;
            cx.record(Event::Released { face: self.face.0, name: packets[&held].header.name });
            self.append(cx, view, packets, held);
        }
        if let Some(at) = wake {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// Drops expired packets at the head of the side store. The store is in order of arrival: a packet with a
    /// shorter stay behind a longer one waits for it.
    pub(super) fn expire<B: Default>(&mut self, cx: &mut Context<'_>, packets: &mut PacketArena<B>) {
        let view = cx.face(self.face);
        while let Some((held, _)) = self.store.pop_until(packets, cx.now) {
            view.held.set(view.held.get() - 1);
            self.discard(cx, packets, held, Cause("stored too long"));
        }
    }
}
