//! A queue without a node.

use std::ops::Deref;

use tidegate_core::arena::PacketId;
use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::packet::{Header, Packet, PacketArena};
use tidegate_core::queue::{Queue, QueueDiscipline};

/// A queue with an arena of its own; packets go in and come out as values.
#[derive(Debug)]
pub struct StandaloneQueue<B> {
    queue: Queue,
    packets: PacketArena<B>,
}

impl<B: Default> StandaloneQueue<B> {
    /// An empty queue of `face` with `disciplines`, consulted in this order.
    pub fn new(face: FaceId, disciplines: Vec<Box<dyn QueueDiscipline>>) -> Self {
        Self { queue: Queue::new(face, disciplines), packets: PacketArena::default() }
    }

    /// As [`Queue::offer`], for a packet by value.
    pub fn offer(&mut self, cx: &mut Context<'_>, packet: Packet<B>, is_free: bool) -> Option<Packet<B>> {
        let packet = self.packets.insert(packet);
        let next = self.queue.offer(cx, &mut self.packets, packet, is_free);
        self.take(next)
    }

    /// As [`Queue::push`], for a packet by value.
    pub fn push(&mut self, cx: &mut Context<'_>, packet: Packet<B>) {
        let packet = self.packets.insert(packet);
        self.queue.push(cx, &mut self.packets, packet);
    }

    /// As [`Queue::pop`], with the packet taken out.
    pub fn pop(&mut self, cx: &mut Context<'_>) -> Option<Packet<B>> {
        let next = self.queue.pop(cx, &mut self.packets);
        self.take(next)
    }

    /// Runs what is due now, as [`Queue::on_wake`].
    pub fn on_wake(&mut self, cx: &mut Context<'_>) {
        self.queue.on_wake(cx, &mut self.packets);
    }

    /// Drops everything that waits, as [`Queue::clear`].
    pub fn clear(&mut self, cx: &mut Context<'_>) -> u64 {
        self.queue.clear(cx, &mut self.packets)
    }

    /// Headers of everything that waits or is stored.
    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        self.queue.headers(&self.packets)
    }

    /// Number of packets that have not ended: all of them are in the queue.
    pub fn living(&self) -> usize {
        self.packets.count()
    }

    fn take(&mut self, packet: Option<PacketId>) -> Option<Packet<B>> {
        packet.map(|packet| self.packets.take(packet))
    }
}

impl<B> Deref for StandaloneQueue<B> {
    type Target = Queue;

    fn deref(&self) -> &Queue {
        &self.queue
    }
}
