//! Hops without nodes: calendar, queues and lines alone, with which `tidegate bench` compares its cases.

use tidegate_core::arena::PacketId;
use tidegate_core::context::{Context, Env, NoSink, Present};
use tidegate_core::link::line::{Carriage, Line, LineSetup, LossPlan};
use tidegate_core::ndn::face::{FaceId, FaceView, Limit};
use tidegate_core::ndn::name::{Name, NameTable, Segment};
use tidegate_core::ndn::packet::{Data, Header, Kind, Millis, Packet, PacketArena, PitToken};
use tidegate_core::queue::Queue;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

use crate::events::{EventKind, EventQueue};
use crate::world::Body;

/// Lines that follow each other in a ring.
const LINES: usize = 30;
/// Packets on the ring: so few that nearly all find a free line.
const PACKETS: u32 = 120;

/// One line of the ring with the queue before it.
struct Station {
    queue: Queue,
    face: [FaceView; 1],
    line: Line,
    is_armed: bool,
}

/// A ring of lines on which packets of one size go around.
struct Ring {
    stations: Vec<Station>,
    packets: PacketArena<Body>,
    events: EventQueue,
    names: NameTable,
    present: Present<NoSink>,
}

/// Carries packets over `hops` lines; returns the simulated time.
pub fn run(hops: u64) -> Span {
    let mut ring = Ring::new();
    let mut left = hops;
    while let Some((at, target)) = ring.events.take_until(Time::MAX) {
        ring.present.now = at;
        if target.kind() == EventKind::Sent {
            ring.serve(target.index());
            continue;
        }
        if left == 0 {
            break;
        }
        left -= 1;
        ring.arrive(target.index());
    }
    ring.present.now.since(Time::ZERO)
}

impl Ring {
    fn new() -> Self {
        let names = NameTable::new();
        let stations = (0..LINES as u64).map(Station::new).collect();
        let packets = PacketArena::default();
        let mut ring =
            Self { stations, packets, events: EventQueue::default(), names, present: Present::new(NoSink) };
        for (station, number) in (0..LINES).cycle().zip(0..PACKETS) {
            let packet = ring.packets.insert(packet(number));
            ring.offer(station, packet);
        }
        ring
    }

    fn arrive(&mut self, station: usize) {
        let line = &mut self.stations[station].line;
        let Some(packet) = line.take_arrival(&self.packets, self.present.now) else { return };
        if let Some(at) = line.next_arrival(&self.packets) {
            self.events.push(at, EventKind::Arrival, station);
        }
        self.offer((station + 1) % LINES, packet);
    }

    #[inline(always)]
    fn offer(&mut self, index: usize, packet: PacketId) {
        let Station { queue, face, line, .. } = &mut self.stations[index];
        let is_free = line.busy_until <= self.present.now;
        let mut cx = Context::new(Env::new(&self.names, &mut self.present), face);
        if let Some(packet) = queue.offer(&mut cx, &mut self.packets, packet, is_free) {
            self.transmit(index, packet);
        }
        self.request_service(index);
    }

    fn serve(&mut self, index: usize) {
        let Station { queue, face, is_armed, .. } = &mut self.stations[index];
        *is_armed = false;
        let mut cx = Context::new(Env::new(&self.names, &mut self.present), face);
        if let Some(packet) = queue.pop(&mut cx, &mut self.packets) {
            self.transmit(index, packet);
        }
        self.request_service(index);
    }

    #[inline(always)]
    fn transmit(&mut self, index: usize, packet: PacketId) {
        let size = self.packets[&packet].header.size();
        let line = &mut self.stations[index].line;
        if let Carriage::First(at) = line.transmit(&mut self.packets, packet, size, self.present.now) {
            self.events.push(at, EventKind::Arrival, index);
        }
    }

    #[inline(always)]
    fn request_service(&mut self, index: usize) {
        let Station { face, line, is_armed, .. } = &mut self.stations[index];
        if face[0].queued_packets() > 0 && !*is_armed {
            *is_armed = true;
            self.events.push(line.busy_until, EventKind::Sent, index);
        }
    }
}

impl Station {
    /// Delays differ, so that packets do not arrive at many stations at one instant.
    fn new(number: u64) -> Self {
        let rate = BitRate::from_mbps(100.0);
        let delay = Span::from_micros(1000 + 37 * number);
        let setup = LineSetup { rate, delay, jitter: Span::ZERO, reorder: false, loss: LossPlan::None };
        Self {
            queue: Queue::new(FaceId(0), Vec::new()),
            face: [FaceView::device(rate, delay, Limit::Packets(Packets::new(PACKETS)))],
            line: Line::new(&setup, |what| Rng::stream(Seed(1), what)),
            is_armed: false,
        }
    }
}

/// A packet of the size of a Data. With a second size the small ones would wait behind the large ones at every line.
fn packet(number: u32) -> Packet<Body> {
    let data =
        Data { freshness: Millis(0), final_segment: Segment::NONE, payload: 1000, token: PitToken(number) };
    Packet::new(
        Header::new(Name::segment(NameTable::ROOT, number), Kind::Data(data), ByteCount::new(1040)),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_takes_the_time_of_its_line_and_the_hops_are_counted() {
        // Every packet crosses a line once before the first crosses its second: 1 ms and the time to send.
        assert!(run(1) > Span::from_millis(1));
        let (short, long) = (run(60_000), run(120_000));
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        assert!((1.98..2.02).contains(&ratio), "{ratio}");
    }
}
