//! Insertion and removal of packets, and the actions that disciplines request in addition to their verdicts.

use crate::context::Context;
use crate::ndn::face::FaceView;
use crate::ndn::packet::{Header, Packet};
use crate::observe::event::{Cause, Event};
use crate::scheme::signal::Class;
use crate::units::Time;

use super::{Actions, Held, Queue, QueuedPacket};

impl<B: Default> Queue<B> {
    /// The next packet by the choice of the discipline with lanes, or else by strict priority.
    #[inline]
    pub(super) fn take_next(&mut self, cx: &mut Context<'_>) -> Option<QueuedPacket<B>> {
        // With lanes, the classes hold nothing but notices.
        let waiting = self.take_next_by_priority(cx);
        if waiting.is_none() && self.lanes.is_some() { self.take_scheduled(cx) } else { waiting }
    }

    /// Strict priority: the highest class that is not empty.
    #[inline]
    pub(super) fn take_next_by_priority(&mut self, cx: &Context<'_>) -> Option<QueuedPacket<B>> {
        let class = (0..Class::COUNT).rev().find(|class| !self.classes[*class].is_empty())?;
        self.take_from(cx, class)
    }

    #[inline]
    fn take_from(&mut self, cx: &Context<'_>, class: usize) -> Option<QueuedPacket<B>> {
        let waiting = self.classes[class].pop_front()?;
        cx.face(self.face).count_out(class, waiting.packet.header.size());
        Some(waiting)
    }

    /// Puts a packet at the end of its class or lane, or drops it when there is no room.
    pub(super) fn append(&mut self, cx: &mut Context<'_>, view: &FaceView, packet: Packet<B>) {
        let class = packet.header.hop.class;
        if class == Class::BULK && self.lanes.is_some() {
            return self.append_to_lane(cx, packet);
        }
        if view.is_full_for(class, packet.header.size()) {
            return self.drop_packet(cx, &packet.header, Cause("queue full"));
        }
        self.count_in(view, &packet.header);
        self.classes[class.index()].push_back(QueuedPacket { packet, since: cx.now });
    }

    /// Counts a packet that is enqueued.
    #[inline]
    pub(super) fn count_in(&mut self, view: &FaceView, header: &Header) {
        view.count_in(header.hop.class, header.size());
        self.stats.peak = self.stats.peak.max(view.queued_packets());
    }

    pub(super) fn hold(&mut self, cx: &mut Context<'_>, packet: Packet<B>, until: Time) {
        self.stats.stored += 1;
        cx.record(Event::Stored { face: self.face.0, name: packet.header.name });
        self.store.push_back(Held { packet, until });
        cx.face(self.face).held.set(self.store.len() as u32);
    }

    /// Carries out the actions that the disciplines requested.
    #[inline(always)]
    pub(super) fn act(&mut self, cx: &mut Context<'_>) {
        if self.actions.is_any {
            self.act_now(cx);
        }
    }

    #[cold]
    fn act_now(&mut self, cx: &mut Context<'_>) {
        let view = cx.face(self.face);
        let Actions { release, mut notices, wake, .. } = std::mem::take(&mut self.actions);
        for mut notice in notices.drain(..) {
            self.stats.notices += 1;
            self.stats.offered += 1;
            notice.hop.class = Class::NOTICE;
            cx.record(Event::NoticeMade { face: self.face.0, name: notice.name });
            self.append(cx, view, Packet::new(notice, B::default()));
        }
        self.actions.notices = notices;
        // Expired packets go first, so that releases concern only those that may still be sent.
        self.expire(cx);
        let mut left = release;
        while left > 0 {
            let Some(held) = self.store.pop_front() else { break };
            // An expired packet behind one that stays longer, which `expire` does not reach.
            if held.until <= cx.now {
                self.drop_packet(cx, &held.packet.header, Cause("stored too long"));
                continue;
            }
            left -= 1;
            self.stats.released += 1;
            cx.record(Event::Released { face: self.face.0, name: held.packet.header.name });
            self.append(cx, view, held.packet);
        }
        view.held.set(self.store.len() as u32);
        if let Some(at) = wake {
            self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
        }
    }

    /// Drops expired packets at the head of the side store. The store is in order of arrival: a packet with a
    /// shorter stay behind a longer one waits for it.
    pub(super) fn expire(&mut self, cx: &mut Context<'_>) {
        while self.store.front().is_some_and(|held| held.until <= cx.now) {
            if let Some(held) = self.store.pop_front() {
                self.drop_packet(cx, &held.packet.header, Cause("stored too long"));
            }
        }
        cx.face(self.face).held.set(self.store.len() as u32);
    }
}
