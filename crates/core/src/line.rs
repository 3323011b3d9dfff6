//! One direction of a line: a packet at a time for its size over the rate, then the propagation delay.
//!
//! Loss is drawn when a packet is sent and takes the time of sending, as on a wire that breaks it. What decides
//! when the next packet is sent is the driver, which also keeps the queue in front.

mod loss;

use std::collections::VecDeque;

use crate::packet::{Header, Packet};
use crate::rng::Rng;
use crate::units::{BitRate, ByteCount, Span, Time};
use loss::Loss;
pub use loss::LossPlan;

/// What one direction of a line is like.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSetup {
    /// Rate of sending.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Extra delay U(0, jitter) per packet.
    pub jitter: Span,
    /// Whether jitter may change the order of packets.
    pub reorder: bool,
    /// Loss on the way.
    pub loss: LossPlan,
}

/// A packet on the wire.
#[derive(Debug)]
struct Flight<B> {
    arrives: Time,
    packet: Packet<B>,
}

/// What becomes of a packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// The line loses it.
    Lost,
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
    serialisation: Serialisation,
    jitter: Option<Jitter>,
    loss: Option<Loss>,
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

    /// Packets on the way, the one being sent among them.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// When the next packet reaches the far end; `None` while nothing is on the way.
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
        self.busy_until = now + self.serialisation.of(packet.header.size());
        if self.loss.as_mut().is_some_and(|loss| loss.draw()) {
            self.lost += 1;
            return Carriage::Lost;
        }
        let arrives = self.busy_until + self.delay;
        match &mut self.jitter {
            None => self.append(Flight { arrives, packet }),
            Some(_) => self.append_with_jitter(arrives, packet),
        }
    }

    #[inline]
    fn append(&mut self, flight: Flight<B>) -> Carriage {
        let arrives = flight.arrives;
        self.flights.push_back(flight);
        if self.flights.len() == 1 { Carriage::First(arrives) } else { Carriage::Behind }
    }

    #[cold]
    fn append_with_jitter(&mut self, mut arrives: Time, packet: Packet<B>) -> Carriage {
        let Some(jitter) = &mut self.jitter else { return self.append(Flight { arrives, packet }) };
        arrives += jitter.most.scale(jitter.rng.uniform());
        if jitter.reorder {
            let place = self.flights.partition_point(|flight| flight.arrives <= arrives);
            self.flights.insert(place, Flight { arrives, packet });
            return if place == 0 { Carriage::First(arrives) } else { Carriage::Behind };
        }
        if let Some(last) = self.flights.back() {
            arrives = arrives.max(last.arrives);
        }
        self.append(Flight { arrives, packet })
    }

    /// Takes the packet that arrives at `now`, and when the next one does.
    #[inline]
    pub fn take_arrival(&mut self, now: Time) -> Option<(Packet<B>, Option<Time>)> {
        // After a packet overtook another, the event of the one overtaken finds nothing.
        if self.flights.front()?.arrives > now {
            return None;
        }
        let flight = self.flights.pop_front()?;
        self.delivered += 1;
        Some((flight.packet, self.next_arrival()))
    }

    /// Headers of the packets on the way, the first to arrive first.
    pub fn on_the_way(&self) -> impl Iterator<Item = &Header> {
        self.flights.iter().map(|flight| &flight.packet.header)
    }

    /// Loses everything on the way; the line is free at `now`.
    pub fn cut(&mut self, now: Time) {
        self.lost += self.flights.len() as u64;
        self.flights.clear();
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
        assert_eq!((first.body, next), (1000, Some(at(11_500))));
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
                order.push(packet.body);
            }
            assert_eq!((order.len(), order.is_sorted()), (200, !reorder));
        }
    }
}
