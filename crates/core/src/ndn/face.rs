//! Faces: their numbers, and their state as seen by every component of a node.

use std::cell::Cell;

use crate::scheme::signal::Class;
use crate::units::{BitRate, ByteCount, Packets, Span, Time};

/// A face of one node; devices come first, then applications.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FaceId(pub u16);

impl FaceId {
    /// The number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of the network; 0 on a live node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Limit of a queue, not counting the packet being sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Maximum number of packets.
    Packets(Packets),
    /// Maximum number of bytes.
    Bytes(ByteCount),
}

/// Observable state of a face and its queue. Maintained by core, read by schemes.
#[derive(Debug)]
// What every packet changes is one line of the cache: in a large network each line is a miss.
#[repr(C, align(64))]
pub struct FaceView {
    packets: [Cell<u32>; Class::COUNT],
    bytes: [Cell<u64>; Class::COUNT],
    pub(crate) accepted: Cell<u64>,
    pub(crate) sent_packets: Cell<u64>,
    pub(crate) sent_bytes: Cell<u64>,
    pub(crate) received_packets: Cell<u64>,
    pub(crate) received_bytes: Cell<u64>,
    limit: Limit,
    /// Sojourn time of the marked packet, and the time at which the mark expires.
    mark: Cell<Option<(Span, Time)>>,
    local: Cell<bool>,
    up: Cell<bool>,
    pub(crate) held: Cell<u32>,
    pub(crate) dropped: Cell<u64>,
    delay: Span,
    rate: Cell<BitRate>,
    /// Rate of the link's other direction.
    incoming_rate: Cell<BitRate>,
    marked: Cell<u64>,
    /// Bytes handed to the layer below that have not left yet.
    below: Cell<u64>,
}

impl FaceView {
    /// The transmitting side of a link with the given rate, propagation delay and queue limit.
    pub fn device(rate: BitRate, delay: Span, limit: Limit) -> Self {
        Self::new(rate, delay, limit, false)
    }

    /// An application on the same host.
    pub fn application() -> Self {
        Self::new(BitRate::from_bps(u64::MAX), Span::ZERO, Limit::Packets(Packets::new(u32::MAX)), true)
    }

    /// As [`device`](Self::device), but the other end runs on this node and may use names under `/localhost`.
    pub fn local_device(rate: BitRate, limit: Limit) -> Self {
        Self::new(rate, Span::ZERO, limit, true)
    }

    fn new(rate: BitRate, delay: Span, limit: Limit, local: bool) -> Self {
        Self {
            limit,
            local: Cell::new(local),
            delay,
            rate: Cell::new(rate),
            incoming_rate: Cell::new(rate),
            up: Cell::new(true),
            mark: Cell::new(None),
            marked: Cell::new(0),
            packets: Default::default(),
            bytes: Default::default(),
            held: Cell::new(0),
            accepted: Cell::new(0),
            dropped: Cell::new(0),
            sent_packets: Cell::new(0),
            sent_bytes: Cell::new(0),
            received_packets: Cell::new(0),
            received_bytes: Cell::new(0),
            below: Cell::new(0),
        }
    }

    /// Queue limit of the face's device.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// Queue limit in packets; a byte limit counts packets of 1500 bytes, at least one.
    pub fn limit_packets(&self) -> u32 {
        match self.limit {
            Limit::Packets(packets) => packets.get(),
            Limit::Bytes(bytes) => u32::try_from(bytes.get() / 1500).unwrap_or(u32::MAX).max(1),
        }
    }

    /// Queue limit in bytes; a packet limit counts 1500 bytes each, as ndnSIM reports it.
    pub fn limit_bytes(&self) -> ByteCount {
        match self.limit {
            Limit::Packets(packets) => ByteCount::new(u64::from(packets.get()) * 1500),
            Limit::Bytes(bytes) => bytes,
        }
    }

    /// Whether the face leads to an application on this node.
    #[inline]
    pub fn is_local(&self) -> bool {
        self.local.get()
    }

    /// Current sending rate of the device.
    pub fn rate(&self) -> BitRate {
        self.rate.get()
    }

    /// Rate at which the other end sends; the own sending rate if no other is set.
    pub fn incoming_rate(&self) -> BitRate {
        self.incoming_rate.get()
    }

    /// Propagation delay of the link.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Whether packets can be sent.
    #[inline]
    pub fn is_up(&self) -> bool {
        self.up.get()
    }

    /// Whether `class` has no room for a packet of `size`.
    #[inline]
    pub fn is_full_for(&self, class: Class, size: ByteCount) -> bool {
        let class = class.index();
        match self.limit {
            Limit::Packets(limit) => self.packets[class].get() >= limit.get(),
            Limit::Bytes(limit) => self.bytes[class].get() + size.get() > limit.get(),
        }
    }

    /// Packets of `class` waiting.
    #[inline]
    pub fn backlog(&self, class: Class) -> u32 {
        self.packets[class.index()].get()
    }

    /// Packets waiting in all classes.
    #[inline]
    pub fn queued_packets(&self) -> u32 {
        self.packets.iter().map(Cell::get).sum()
    }

    /// Bytes waiting in all classes.
    #[inline]
    pub fn queued_bytes(&self) -> ByteCount {
        ByteCount::new(self.bytes.iter().map(Cell::get).sum())
    }

    /// Queue length over its limit, in what the limit counts, 0..=1.
    pub fn occupancy(&self) -> f64 {
        let part = match self.limit {
            Limit::Packets(limit) => f64::from(self.queued_packets()) / f64::from(limit.get().max(1)),
            Limit::Bytes(limit) => self.queued_bytes().get() as f64 / limit.get().max(1) as f64,
        };
        part.min(1.0)
    }

    /// Bytes waiting in all classes and in the layer below: the socket of a live face.
    #[inline]
    pub fn backlog_bytes(&self) -> ByteCount {
        ByteCount::new(self.queued_bytes().get() + self.below.get())
    }

    /// Sets the number of bytes in the layer below.
    pub fn set_below(&self, bytes: ByteCount) {
        self.below.set(bytes.get());
    }

    /// Packets in the queue's side store.
    pub fn held_packets(&self) -> u32 {
        self.held.get()
    }

    /// Bulk packets put into the queue since the start.
    pub fn accepted_packets(&self) -> u64 {
        self.accepted.get()
    }

    /// Packets dropped since the start.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped.get()
    }

    /// Packets put on the wire since the start.
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets.get()
    }

    /// Bytes put on the wire since the start.
    pub fn sent_bytes(&self) -> ByteCount {
        ByteCount::new(self.sent_bytes.get())
    }

    /// Packets received since the start.
    pub fn received_packets(&self) -> u64 {
        self.received_packets.get()
    }

    /// Bytes received since the start.
    pub fn received_bytes(&self) -> ByteCount {
        ByteCount::new(self.received_bytes.get())
    }

    /// Requests the strategy to mark the next Data through this face (PCON), because a packet had a sojourn
    /// time of `sojourn`; Data at `until` or later is not marked.
    pub fn leave_mark(&self, sojourn: Span, until: Time) {
        self.mark.set(Some((sojourn, until)));
    }

    /// Withdraws the mark that was left for the strategy.
    pub fn clear_mark(&self) {
        self.mark.set(None);
    }

    /// Removes the mark that a discipline left for the strategy, which puts it on a packet. Returns the
    /// sojourn time of the discipline's packet; `None` without a valid mark.
    #[inline]
    pub fn take_mark(&self, now: Time) -> Option<Span> {
        let (sojourn, _) = self.mark.take().filter(|(_, until)| now < *until)?;
        self.marked.set(self.marked.get() + 1);
        Some(sojourn)
    }

    /// Marks taken by the strategy since the start.
    pub fn marks_taken(&self) -> u64 {
        self.marked.get()
    }

    /// Changes the sending rate.
    pub fn set_rate(&self, rate: BitRate) {
        self.rate.set(rate);
    }

    /// Changes the rate at which the other end sends.
    pub fn set_incoming_rate(&self, rate: BitRate) {
        self.incoming_rate.set(rate);
    }

    /// Sets whether the other end may use names under `/localhost`; for a connection where this is known only after it was
    /// accepted.
    pub fn set_local(&self, local: bool) {
        self.local.set(local);
    }

    /// Takes the face up or down.
    pub fn set_up(&self, up: bool) {
        self.up.set(up);
    }

    /// Counts a packet that is put into the queue.
    #[inline]
    pub(crate) fn count_in(&self, class: Class, size: ByteCount) {
        let index = class.index();
        self.packets[index].set(self.packets[index].get() + 1);
        self.bytes[index].set(self.bytes[index].get() + size.get());
        if class == Class::BULK {
            self.accepted.set(self.accepted.get() + 1);
        }
    }

    /// Counts a packet that is taken out of the queue.
    #[inline]
    pub(crate) fn count_out(&self, class: usize, size: ByteCount) {
        self.packets[class].set(self.packets[class].get() - 1);
        self.bytes[class].set(self.bytes[class].get() - size.get());
    }

    /// Counts a packet that arrived.
    #[inline]
    pub fn count_received(&self, size: ByteCount) {
        self.received_packets.set(self.received_packets.get() + 1);
        self.received_bytes.set(self.received_bytes.get() + size.get());
    }
}
