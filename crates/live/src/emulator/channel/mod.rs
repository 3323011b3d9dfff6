//! One direction of an emulated link: a drop-tail queue in front of a line. No sockets, no clock.
//!
//! The driver may call late, without an effect on the results: a datagram that waited leaves the queue at the
//! instant the line became free, whenever that is computed, so that lateness never adds up along a queue.

use bytes::Bytes;
use tidegate_core::arena::PacketId;
use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::link::line::{Line, LineSetup};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::name::{Name, NameTable, Segment};
use tidegate_core::ndn::packet::{Data, Header, Kind, Millis, Packet, PacketArena, PitToken};
use tidegate_core::observe::records::DelaySummary;
use tidegate_core::queue::Queue;
use tidegate_core::rng::Rng;
use tidegate_core::units::{ByteCount, Time};

/// Parameters of one direction of a link.
#[derive(Clone, Debug)]
pub struct ChannelSetup {
    /// Rate, delay and loss.
    pub line: LineSetup,
    /// Maximum payload of a datagram, bytes; `None` for no maximum of its own.
    pub mtu: Option<usize>,
    /// Limit of the queue in front of it, not counting the datagram being sent.
    pub queue: Limit,
}

/// A datagram and its client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the client that sent it or receives it.
    pub client: u64,
    /// Payload of the UDP datagram.
    pub bytes: Bytes,
}

/// Datagrams by outcome: `offered` is the sum of all others but `too_large`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Datagrams offered to the queue.
    pub offered: u64,
    /// Larger than the MTU, so that they were not offered.
    pub too_large: u64,
    /// Dropped, because the queue was full.
    pub dropped: u64,
    /// Lost on the line.
    pub lost: u64,
    /// Delivered at the far end.
    pub delivered: u64,
    /// Number of datagrams now in the queue.
    pub queued: u64,
    /// On the line now.
    pub in_flight: u64,
}

/// One direction of the emulated link.
#[derive(Debug)]
pub struct Channel {
    face: [FaceView; 1],
    queue: Queue,
    line: Line,
    packets: PacketArena<Datagram>,
    mtu: usize,
    too_large: u64,
    names: NameTable,
    delivered: ByteCount,
}

impl Channel {
    /// An empty direction; `stream` gives its random numbers by their purpose.
    pub fn new(setup: &ChannelSetup, stream: impl Fn(&str) -> Rng) -> Self {
        Self {
            face: [FaceView::device(setup.line.rate, setup.line.delay, setup.queue)],
            queue: Queue::new(FaceId(0), Vec::new()),
            line: Line::new(&setup.line, stream),
            mtu: setup.mtu.unwrap_or(usize::MAX),
            too_large: 0,
            packets: PacketArena::default(),
            names: NameTable::new(),
            delivered: ByteCount::ZERO,
        }
    }

    /// Accepts a datagram that arrived at `now`; one that is larger than the MTU is dropped, and uses neither queue nor line.
    pub fn accept(&mut self, now: Time, datagram: Datagram) {
        if datagram.bytes.len() > self.mtu {
            self.too_large += 1;
            return;
        }
        self.advance(now);
        let packet = self.packets.insert(packet(datagram));
        let is_free = self.line.busy_until <= now;
        let offer = |queue: &mut Queue, cx: &mut Context<'_>, packets: &mut PacketArena<Datagram>| {
            queue.offer(cx, packets, packet, is_free)
        };
        if let Some(packet) = self.with_queue(now, offer) {
            self.transmit(packet, now);
        }
    }

    /// Time of the next event: a datagram reaches the far end, or the line takes the next one.
    pub fn next_due(&self) -> Option<Time> {
        let waits = self.face[0].queued_packets() > 0;
        // What waits arrives after what is on the way, so that sending it can wait until then.
        self.line.next_arrival(&self.packets).or(waits.then_some(self.line.busy_until))
    }

    /// Removes a datagram that was due at the far end by `now`, and returns it with its due time.
    pub fn take_due(&mut self, now: Time) -> Option<(Time, Datagram)> {
        self.advance(now);
        let due = self.line.next_arrival(&self.packets).filter(|due| *due <= now)?;
        let packet = self.line.take_arrival(&self.packets, now)?;
        let packet = self.packets.take(packet);
        self.delivered += packet.header.size();
        Some((due, packet.into_parts().1))
    }

    /// Counts of datagrams by outcome, so far.
    pub fn counts(&self) -> Counts {
        let stats = self.queue.stats();
        Counts {
            offered: stats.offered,
            too_large: self.too_large,
            dropped: stats.dropped,
            lost: self.line.lost(),
            delivered: self.line.delivered(),
            queued: u64::from(self.face[0].queued_packets()),
            in_flight: self.line.in_flight(&self.packets) as u64,
        }
    }

    /// Bytes delivered at the far end.
    pub fn delivered_bytes(&self) -> ByteCount {
        self.delivered
    }

    /// Distribution of waiting times in the queue.
    pub fn waits(&self) -> DelaySummary {
        self.queue.stats().delays.summary()
    }

    /// Passes to the line every datagram that it would have taken from the queue until `now`, each at its
    /// instant.
    fn advance(&mut self, now: Time) {
        while self.line.busy_until <= now && self.face[0].queued_packets() > 0 {
            let free = self.line.busy_until;
            let Some(packet) = self.with_queue(free, |queue, cx, packets| queue.pop(cx, packets)) else {
                return;
            };
            self.transmit(packet, free);
        }
    }

    fn transmit(&mut self, packet: PacketId, now: Time) {
        let size = self.packets[&packet].header.size();
        self.line.transmit(&mut self.packets, packet, size, now);
    }

    fn with_queue<T>(
        &mut self,
        now: Time,
        act: impl FnOnce(&mut Queue, &mut Context<'_>, &mut PacketArena<Datagram>) -> T,
    ) -> T {
        let sink = &mut NoSink;
        let mut present = Present::observed(sink).at(now);
        let env = Env::new(&self.names, &mut present);
        act(&mut self.queue, &mut Context::new(env, &self.face), &mut self.packets)
    }
}

/// A datagram in the form that the queue and the line accept: a packet of which only the size counts.
fn packet(datagram: Datagram) -> Packet<Datagram> {
    let opaque = Data {
        freshness: Millis::default(),
        final_segment: Segment::NONE,
        payload: 0,
        token: PitToken::default(),
    };
    let size = ByteCount::new(datagram.bytes.len() as u64);
    Packet::new(Header::new(Name::whole(NameTable::ROOT), Kind::Data(opaque), size), datagram)
}

#[cfg(test)]
mod tests;
