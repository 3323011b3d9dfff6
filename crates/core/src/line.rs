//! One direction of a line: a packet at a time for its size over the rate, then the propagation delay.
//!
//! Loss is drawn when a packet is sent and takes the time of sending, as on a wire that breaks it. What decides
//! when the next packet is sent is the driver, which also keeps the queue in front.
//!
//! A packet larger than the line's frames goes as several, back to back, each with its own time of sending, loss
//! and jitter. It arrives with the last of them to come, and is lost with any of them.

mod frames;
mod loss;

use std::collections::VecDeque;

use crate::packet::{Header, Packet};
use crate::rng::Rng;
use crate::units::{BitRate, ByteCount, Span, Time};
pub use frames::{Cut, REASSEMBLY_TIMEOUT, SMALLEST_MTU};
use loss::Loss;
pub use loss::LossPlan;

/// What one direction of a line is like.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSetup {
    /// Rate of sending.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Extra delay U(0, jitter) per frame.
    pub jitter: Span,
    /// Whether jitter may change the order of frames.
    pub reorder: bool,
    /// Loss on the way, per frame.
    pub loss: LossPlan,
    /// Bytes of the largest frame; `None`: a packet of any size is one frame.
    pub mtu: Option<ByteCount>,
}

/// A frame on the wire.
#[derive(Debug)]
struct Flight<B> {
    arrives: Time,
    /// The packet that is whole once this frame is there.
    packet: Option<Packet<B>>,
}

/// What becomes of a packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// The line loses it.
    Lost,
    /// The line loses it, and a part of it is the next frame to arrive, at this time.
    Torn(Time),
    /// It arrives after others; the event for the first of them is pending.
    Behind,
    /// It is the next to arrive, at this time.
    First(Time),
}

/// One direction of a line and what is on it.
#[derive(Debug)]
pub struct Line<B> {
    /// A packet is being sent until then.
    pub busy_until: Time,
    delay: Span,
    lost: u64,
    delivered: u64,
    flights: VecDeque<Flight<B>>,
    /// Flights after which no packet is whole.
    parts: usize,
    /// Larger packets are cut.
    mtu: ByteCount,
    frames: FrameCounts,
    /// When the frames of the packet at hand arrive.
    arrivals: Vec<Time>,
    serialisation: Serialisation,
    jitter: Option<Jitter>,
    loss: Option<Loss>,
}

/// What cutting packets added to a line's counts of packets.
#[derive(Debug, Default)]
struct FrameCounts {
    /// Frames beyond one per packet.
    extra: u64,
    lost: u64,
    header_bytes: u64,
}

#[derive(Debug)]
struct Jitter {
    most: Span,
    reorder: bool,
    rng: Rng,
}

impl<B> Line<B> {
    /// A free line; `stream` gives its random numbers for "jitter" and for "loss".
    pub fn new(setup: &LineSetup, stream: impl Fn(&str) -> Rng) -> Self {
        let jitter = Jitter { most: setup.jitter, reorder: setup.reorder, rng: stream("jitter") };
        Self {
            busy_until: Time::ZERO,
            delay: setup.delay,
            lost: 0,
            delivered: 0,
            flights: VecDeque::new(),
            parts: 0,
            mtu: setup.mtu.unwrap_or(ByteCount::new(u64::MAX)),
            frames: FrameCounts::default(),
            arrivals: Vec::new(),
            serialisation: Serialisation::new(setup.rate),
            jitter: (setup.jitter > Span::ZERO).then_some(jitter),
            loss: Loss::new(&setup.loss, stream("loss")),
        }
    }

    /// Propagation delay.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Packets lost on the way.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Packets taken at the far end.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Packets on the way, the one being sent among them; not those already lost in part.
    pub fn in_flight(&self) -> usize {
        self.flights.len() - self.parts
    }

    /// Frames sent.
    pub fn sent_frames(&self) -> u64 {
        self.lost + self.delivered + self.in_flight() as u64 + self.frames.extra
    }

    /// Frames lost on the way.
    pub fn lost_frames(&self) -> u64 {
        self.frames.lost
    }

    /// Bytes of the headers of the frames that packets were cut into.
    pub fn header_bytes(&self) -> ByteCount {
        ByteCount::new(self.frames.header_bytes)
    }

    /// When the next frame reaches the far end; `None` while nothing is on the way.
    #[inline]
    pub fn next_arrival(&self) -> Option<Time> {
        self.flights.front().map(|flight| flight.arrives)
    }

    /// Sends from the next packet on at `rate`.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.serialisation = Serialisation::new(rate);
    }

    /// Sends a packet from `now` on, when the line must be free.
    #[inline]
    pub fn transmit(&mut self, packet: Packet<B>, now: Time) -> Carriage {
        let size = packet.header.size();
        if size > self.mtu {
            return self.transmit_cut(packet, now);
        }
        self.busy_until = now + self.serialisation.of(size);
        if self.loses_frame() {
            self.lost += 1;
            return Carriage::Lost;
        }
        let flight = Flight { arrives: self.busy_until + self.delay, packet: Some(packet) };
        match &mut self.jitter {
            None => self.append(flight),
            Some(_) => self.append_with_jitter(flight),
        }
    }

    #[inline]
    fn loses_frame(&mut self) -> bool {
        let is_lost = self.loss.as_mut().is_some_and(|loss| loss.draw());
        self.frames.lost += u64::from(is_lost);
        is_lost
    }

    /// Sends a packet as several frames.
    #[cold]
    fn transmit_cut(&mut self, packet: Packet<B>, now: Time) -> Carriage {
        let size = packet.header.size();
        let cut = Cut::of(size, self.mtu);
        self.frames.extra += cut.count - 1;
        self.frames.header_bytes += cut.total().get() - size.get();
        let pending = self.next_arrival();
        self.send_frames(&cut, now);
        let is_lost = (self.arrivals.len() as u64) < cut.count || self.pauses_too_long();
        match self.arrivals.last() {
            Some(&last) if !is_lost => self.complete(last, packet),
            _ => self.lost += 1,
        }
        match self.next_arrival() {
            first if first == pending => {
                if is_lost {
                    Carriage::Lost
                } else {
                    Carriage::Behind
                }
            }
            Some(first) if is_lost => Carriage::Torn(first),
            Some(first) => Carriage::First(first),
            None => Carriage::Lost,
        }
    }

    /// Sends the frames of a packet back to back, and notes when those arrive that the line does not lose.
    fn send_frames(&mut self, cut: &Cut, now: Time) {
        self.busy_until = now;
        self.arrivals.clear();
        for index in 0..cut.count {
            self.busy_until += self.serialisation.of(cut.size(index));
            if self.loses_frame() {
                continue;
            }
            let flight = Flight { arrives: self.busy_until + self.delay, packet: None };
            let place = self.insert(flight);
            self.parts += 1;
            self.arrivals.push(self.flights[place].arrives);
        }
        self.arrivals.sort_unstable();
    }

    /// Whether the far end gives the packet at hand up between two of its frames.
    fn pauses_too_long(&self) -> bool {
        self.arrivals.windows(2).any(|pair| pair[1].since(pair[0]) >= REASSEMBLY_TIMEOUT)
    }

    /// Puts the packet at hand into its frame that arrives at `last`, which came after all others of that time.
    fn complete(&mut self, last: Time, packet: Packet<B>) {
        let after = self.flights.partition_point(|flight| flight.arrives <= last);
        if let Some(flight) = after.checked_sub(1).and_then(|place| self.flights.get_mut(place)) {
            flight.packet = Some(packet);
            self.parts -= 1;
        }
    }

    #[inline]
    fn append(&mut self, flight: Flight<B>) -> Carriage {
        let arrives = flight.arrives;
        self.flights.push_back(flight);
        if self.flights.len() == 1 { Carriage::First(arrives) } else { Carriage::Behind }
    }

    #[cold]
    fn append_with_jitter(&mut self, flight: Flight<B>) -> Carriage {
        match self.insert(flight) {
            0 => Carriage::First(self.flights[0].arrives),
            _ => Carriage::Behind,
        }
    }

    /// Puts a frame on the wire, with jitter where there is some; its place among those on the way.
    fn insert(&mut self, mut flight: Flight<B>) -> usize {
        let mut place = self.flights.len();
        if let Some(jitter) = &mut self.jitter {
            flight.arrives += jitter.most.scale(jitter.rng.uniform());
            if jitter.reorder {
                place = self.flights.partition_point(|other| other.arrives <= flight.arrives);
            } else if let Some(last) = self.flights.back() {
                flight.arrives = flight.arrives.max(last.arrives);
            }
        }
        self.flights.insert(place, flight);
        place
    }

    /// Takes the frame that arrives at `now`: the packet that is whole with it, and when the next one arrives.
    #[inline]
    pub fn take_arrival(&mut self, now: Time) -> Option<(Option<Packet<B>>, Option<Time>)> {
        // After a frame overtook another, the event of the one overtaken finds nothing.
        if self.flights.front()?.arrives > now {
            return None;
        }
        let flight = self.flights.pop_front()?;
        match flight.packet {
            Some(_) => self.delivered += 1,
            None => self.parts -= 1,
        }
        Some((flight.packet, self.next_arrival()))
    }

    /// Headers of the packets on the way, the first to arrive first.
    pub fn on_the_way(&self) -> impl Iterator<Item = &Header> {
        self.flights.iter().filter_map(|flight| flight.packet.as_ref()).map(|packet| &packet.header)
    }

    /// Loses everything on the way; the line is free at `now`.
    pub fn cut(&mut self, now: Time) {
        self.lost += self.in_flight() as u64;
        self.frames.lost += self.flights.len() as u64;
        self.flights.clear();
        self.parts = 0;
        self.busy_until = now;
    }
}

/// Sending times, kept for the two sizes last sent: a direction mostly sees one or two.
#[derive(Debug)]
struct Serialisation {
    rate: BitRate,
    recent: [(ByteCount, Span); 2],
}

impl Serialisation {
    fn new(rate: BitRate) -> Self {
        Self { rate, recent: Default::default() }
    }

    #[inline]
    fn of(&mut self, size: ByteCount) -> Span {
        if self.recent[0].0 == size {
            return self.recent[0].1;
        }
        if self.recent[1].0 != size {
            self.recent[1] = (size, self.rate.time_to_send(size));
        }
        self.recent.swap(0, 1);
        self.recent[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::{Name, NameTable, Segment};
    use crate::packet::{Data, Kind, Millis, PitToken};
    use crate::rng::Seed;

    #[test]
    fn sending_times_are_those_of_the_rate() {
        let mut times = Serialisation::new(BitRate::from_mbps(10.0));
        for size in [1000, 50, 1000, 50, 7, 1000] {
            let size = ByteCount::new(size);
            assert_eq!(times.of(size), BitRate::from_mbps(10.0).time_to_send(size));
        }
    }

    fn packet(size: u64) -> Packet<u64> {
        let data =
            Data { freshness: Millis(0), final_segment: Segment::NONE, payload: 0, token: PitToken(0) };
        let header = Header::new(Name::whole(NameTable::ROOT), Kind::Data(data), ByteCount::new(size));
        Packet { header, body: size }
    }

    fn line(jitter: Span, reorder: bool) -> Line<u64> {
        let setup = LineSetup {
            rate: BitRate::from_mbps(8.0),
            delay: Span::from_millis(10),
            jitter,
            reorder,
            loss: LossPlan::None,
            mtu: None,
        };
        Line::new(&setup, |what| Rng::stream(Seed(3), what))
    }

    #[test]
    fn a_packet_arrives_after_its_sending_time_and_the_delay() {
        let mut line = line(Span::ZERO, false);
        let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
        assert_eq!(line.transmit(packet(1000), Time::ZERO), Carriage::First(at(11_000)));
        assert_eq!(line.busy_until, at(1000));
        // An event for the first is pending; the one for the second is asked for when the first is taken.
        assert_eq!(line.transmit(packet(500), at(1000)), Carriage::Behind);
        assert_eq!(line.next_arrival(), Some(at(11_000)));
        assert!(line.take_arrival(at(10_999)).is_none());
        let (first, next) = line.take_arrival(at(11_000)).expect("it is due");
        assert_eq!((first.map(|packet| packet.body), next), (Some(1000), Some(at(11_500))));
        assert_eq!((line.delivered(), line.in_flight()), (1, 1));
        line.cut(at(11_200));
        assert_eq!((line.lost(), line.in_flight(), line.busy_until), (1, 0, at(11_200)));
    }

    #[test]
    fn jitter_changes_the_order_only_where_it_may() {
        for reorder in [false, true] {
            let mut line = line(Span::from_millis(50), reorder);
            for number in 0..200 {
                line.transmit(packet(100 + number), Time::ZERO + Span::from_micros(200 * number));
            }
            let mut order = Vec::new();
            while let Some((packet, _)) = line.take_arrival(Time::MAX) {
                order.push(packet.expect("it was not cut").body);
            }
            assert_eq!((order.len(), order.is_sorted()), (200, !reorder));
        }
    }
}
