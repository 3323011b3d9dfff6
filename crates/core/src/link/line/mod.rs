//! One direction of a line: a packet or frame at a time for its size over the rate, then the propagation
//! delay.
//!
//! Loss is drawn when a packet is sent, and a lost packet takes its time of sending, as on a wire that breaks
//! it. The driver decides when the next one is sent, and keeps the queue in front.

mod loss;

use crate::arena::{Arena, List, PacketId, Stored};
use crate::rng::Rng;
use crate::units::{BitRate, ByteCount, Span, Time};
use loss::Loss;
pub use loss::LossPlan;

/// Parameters of one direction of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineSetup {
    /// Sending rate of this direction.
    pub rate: BitRate,
    /// Propagation delay of this direction.
    pub delay: Span,
    /// Maximum of the extra delay, uniform in 0..`jitter`, of each packet.
    pub jitter: Span,
    /// Whether jitter may change the order.
    pub reorder: bool,
    /// Loss on this direction.
    pub loss: LossPlan,
}

/// Fate of a transmitted packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// The line loses it.
    Lost,
    /// It arrives after others; the event for the first of them is pending.
    Behind,
    /// It is the next to arrive, at this time.
    First(Time),
}

/// One direction of a line and what is on it: packets, or frames with parts of them, all in one arena.
#[derive(Debug)]
pub struct Line {
    /// Time until which a packet is being sent.
    pub busy_until: Time,
    delay: Span,
    /// Size and start time of the last transmission.
    sending: (ByteCount, Time),
    /// Bytes that had not left when the line was last cut.
    cut_off: u64,
    /// Rates with the times from which they hold.
    rates: Vec<(Time, BitRate)>,
    lost: u64,
    delivered: u64,
    /// What is on the line, each with the time of its arrival.
    flights: List,
    serialisation: Serialisation,
    /// Loss and jitter; most lines have neither.
    noise: Option<Box<Noise>>,
}

/// Loss and jitter of a line.
#[derive(Debug)]
struct Noise {
    loss: Option<Loss>,
    jitter: Option<Jitter>,
}

#[derive(Debug)]
struct Jitter {
    max: Span,
    reorder: bool,
    rng: Rng,
}

impl Line {
    /// A free line; `stream` gives its random numbers for "jitter" and for "loss".
    pub fn new(setup: &LineSetup, stream: impl Fn(&str) -> Rng) -> Self {
        let jitter = Jitter { max: setup.jitter, reorder: setup.reorder, rng: stream("jitter") };
        let jitter = (setup.jitter > Span::ZERO).then_some(jitter);
        let loss = Loss::new(&setup.loss, stream("loss"));
        let is_noisy = jitter.is_some() || loss.is_some();
        Self {
            busy_until: Time::ZERO,
            delay: setup.delay,
            sending: (ByteCount::ZERO, Time::ZERO),
            cut_off: 0,
            rates: vec![(Time::ZERO, setup.rate)],
            lost: 0,
            delivered: 0,
            flights: List::default(),
            serialisation: Serialisation::new(setup.rate),
            noise: is_noisy.then(|| Box::new(Noise { loss, jitter })),
        }
    }

    /// Propagation delay of this direction.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// Number of packets lost on the line.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of packets received at the far end.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Number of packets on the line, including the one being sent.
    pub fn in_flight<T>(&self, arena: &Arena<T>) -> usize {
        self.flights.count(arena)
    }

    /// Time at which the next packet reaches the far end; `None` if none is on the line.
    #[inline]
    pub fn next_arrival<T>(&self, arena: &Arena<T>) -> Option<Time> {
        self.flights.first_time(arena)
    }

    /// The next to arrive, and when.
    #[inline]
    pub fn next<'a, T>(&self, arena: &'a Arena<T>) -> Option<(Time, &'a T)> {
        self.flights.first(arena).map(|(load, at)| (at, load))
    }

    /// Sets the rate from the next packet on.
    pub fn set_rate(&mut self, rate: BitRate, now: Time) {
        self.serialisation = Serialisation::new(rate);
        // The packet that is being sent keeps the rate with which it began.
        let from = self.busy_until.max(now);
        // Of several changes while one packet is being sent the last holds.
        if self.rates.last().is_some_and(|(since, _)| *since >= from) {
            self.rates.pop();
        }
        self.rates.push((from, rate));
    }

    /// Mean rate from the start to `now`, rounded up; a change counts from the time at which it takes effect.
    /// The current rate at time zero.
    pub fn mean_rate(&self, now: Time) -> BitRate {
        let ends = self.rates.iter().skip(1).map(|(since, _)| (*since).min(now)).chain([now]);
        let bit_nanos = self.rates.iter().zip(ends).map(|((since, rate), end)| {
            u128::from(rate.as_bps()) * u128::from(end.as_nanos().saturating_sub(since.as_nanos()))
        });
        match (u128::from(now.as_nanos()), self.rates.last()) {
            (0, last) => last.map_or(BitRate::from_bps(0), |(_, rate)| *rate),
            (nanos, _) => {
                BitRate::from_bps(u64::try_from(bit_nanos.sum::<u128>().div_ceil(nanos)).unwrap_or(u64::MAX))
            }
        }
    }

    /// Bytes given to [`transmit`](Self::transmit) that have not left by `now`, and those that a cut has
    /// prevented from leaving.
    pub fn unsent(&self, now: Time) -> ByteCount {
        let (size, begun) = self.sending;
        let rest = match self.busy_until > now {
            false => 0,
            true => {
                let (left, whole) = (self.busy_until.since(now), self.busy_until.since(begun));
                let part = u128::from(size.get()) * u128::from(left.as_nanos());
                // Rounded up, so that a byte counts as sent only when all of it has left.
                part.div_ceil(u128::from(whole.as_nanos().max(1))) as u64
            }
        };
        ByteCount::new(self.cut_off + rest.min(size.get()))
    }

    /// Sends `load` of `size` from `now` on; the line must be free. What it loses is ended.
    #[inline(always)]
    pub fn transmit<T: Stored>(
        &mut self,
        arena: &mut Arena<T>,
        load: PacketId,
        size: ByteCount,
        now: Time,
    ) -> Carriage {
        self.busy_until = now + self.serialisation.of(size);
        self.sending = (size, now);
        self.carry_from(arena, load, now, self.busy_until)
    }

    /// Carries a load that another medium has sent by `sent` to the far end.
    pub fn carry<T: Stored>(&mut self, arena: &mut Arena<T>, load: PacketId, sent: Time) -> Carriage {
        self.carry_from(arena, load, sent, sent)
    }

    #[inline(always)]
    fn carry_from<T: Stored>(
        &mut self,
        arena: &mut Arena<T>,
        load: PacketId,
        begun: Time,
        sent: Time,
    ) -> Carriage {
        if self.noise.is_some() {
            return self.append_with_noise(arena, load, begun, sent);
        }
        self.append(arena, load, sent + self.delay)
    }

    #[inline(always)]
    fn append<T>(&mut self, arena: &mut Arena<T>, load: PacketId, arrives: Time) -> Carriage {
        let is_first = self.flights.push_back(arena, load, arrives);
        if is_first { Carriage::First(arrives) } else { Carriage::Behind }
    }

    #[cold]
    fn append_with_noise<T: Stored>(
        &mut self,
        arena: &mut Arena<T>,
        load: PacketId,
        begun: Time,
        sent: Time,
    ) -> Carriage {
        let mut arrives = sent + self.delay;
        let Some(Noise { loss, jitter }) = self.noise.as_deref_mut() else {
            return self.append(arena, load, arrives);
        };
        if loss.as_mut().is_some_and(|loss| loss.draw(begun, sent)) {
            self.lost += 1;
            arena.end(load);
            return Carriage::Lost;
        }
        let Some(jitter) = jitter else { return self.append(arena, load, arrives) };
        arrives += jitter.max.scale(jitter.rng.uniform());
        if jitter.reorder {
            // At equal times the packet that was sent first arrives first.
            let is_first = self.flights.insert_by_time(arena, load, arrives);
            return if is_first { Carriage::First(arrives) } else { Carriage::Behind };
        }
        // Without reordering a packet waits for the one before it, whatever its own jitter.
        let last = self.flights.last_time(arena);
        self.append(arena, load, last.map_or(arrives, |last| arrives.max(last)))
    }

    /// Removes the packet that arrives at `now`.
    #[inline]
    pub fn take_arrival<T>(&mut self, arena: &Arena<T>, now: Time) -> Option<PacketId> {
        // After one overtook another, the event of the one overtaken finds nothing.
        let (load, _) = self.flights.pop_until(arena, now)?;
        self.delivered += 1;
        Some(load)
    }

    /// Packets on the line, in order of arrival.
    pub fn on_the_way<'a, T>(&self, arena: &'a Arena<T>) -> impl Iterator<Item = &'a T> + use<'a, T> {
        self.flights.iter(arena).map(|(load, _)| load)
    }

    /// Loses everything on the way; the line is free at `now`.
    pub fn cut<T: Stored>(&mut self, arena: &mut Arena<T>, now: Time) {
        while let Some((load, _)) = self.flights.pop_front(arena) {
            self.lost += 1;
            arena.end(load);
        }
        // Before `busy_until` changes, from which the bytes that have not left are computed.
        self.cut_off = self.unsent(now).get();
        self.busy_until = now;
        if let Some((since, _)) = self.rates.last_mut() {
            // A rate that was to follow the lost packet holds at once.
            *since = (*since).min(now);
        }
    }
}

/// Transmission times of the last two sizes: a direction usually has one or two.
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
    use crate::rng::Seed;

    #[test]
    fn sending_times_are_those_of_the_rate() {
        let mut times = Serialisation::new(BitRate::from_mbps(10.0));
        for size in [1000, 50, 1000, 50, 7, 1000] {
            let size = ByteCount::new(size);
            assert_eq!(times.of(size), BitRate::from_mbps(10.0).time_to_send(size));
        }
    }

    /// A line and the numbers on it.
    struct Loaded {
        line: Line,
        arena: Arena<u64>,
    }

    impl Loaded {
        fn transmit(&mut self, load: u64, size: ByteCount, now: Time) -> Carriage {
            let load = self.arena.insert(load);
            self.line.transmit(&mut self.arena, load, size, now)
        }

        fn take_arrival(&mut self, now: Time) -> Option<u64> {
            let load = self.line.take_arrival(&self.arena, now)?;
            Some(self.arena.take(load))
        }

        fn next_arrival(&self) -> Option<Time> {
            self.line.next_arrival(&self.arena)
        }
    }

    fn line(jitter: Span, reorder: bool) -> Loaded {
        let setup = LineSetup {
            rate: BitRate::from_mbps(8.0),
            delay: Span::from_millis(10),
            jitter,
            reorder,
            loss: LossPlan::None,
        };
        Loaded { line: Line::new(&setup, |what| Rng::stream(Seed(3), what)), arena: Arena::default() }
    }

    #[test]
    fn a_packet_arrives_after_its_sending_time_and_the_delay() {
        let mut line = line(Span::ZERO, false);
        let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
        assert_eq!(line.transmit(1000, ByteCount::new(1000), Time::ZERO), Carriage::First(at(11_000)));
        assert_eq!(line.line.busy_until, at(1000));
        // An event for the first is pending; the one for the second is asked for when the first is taken.
        assert_eq!(line.transmit(500, ByteCount::new(500), at(1000)), Carriage::Behind);
        assert_eq!(line.next_arrival(), Some(at(11_000)));
        assert!(line.take_arrival(at(10_999)).is_none());
        assert_eq!((line.take_arrival(at(11_000)), line.next_arrival()), (Some(1000), Some(at(11_500))));
        assert_eq!((line.line.delivered(), line.line.in_flight(&line.arena)), (1, 1));
        line.line.cut(&mut line.arena, at(11_200));
        assert_eq!(
            (line.line.lost(), line.line.in_flight(&line.arena), line.line.busy_until),
            (1, 0, at(11_200))
        );
    }

    #[test]
    fn what_has_not_left_is_a_part_of_the_packet_that_is_being_sent() {
        let mut line = line(Span::ZERO, false);
        let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
        line.transmit(1000, ByteCount::new(1000), at(0));
        let unsent = |line: &Loaded, micros| line.line.unsent(at(micros)).get();
        assert_eq!([0, 250, 999, 1000, 2000].map(|micros| unsent(&line, micros)), [1000, 750, 1, 0, 0]);
        line.transmit(1000, ByteCount::new(1000), at(2000));
        line.line.cut(&mut line.arena, at(2400));
        assert_eq!([2400, 9000].map(|micros| unsent(&line, micros)), [600, 600]);
        line.transmit(1000, ByteCount::new(1000), at(3000));
        assert_eq!([3500, 9000].map(|micros| unsent(&line, micros)), [1100, 600]);
    }

    #[test]
    fn a_rate_holds_from_the_end_of_the_packet_that_is_being_sent() {
        let at = |micros: u64| Time::ZERO + Span::from_micros(micros);
        let mbps = BitRate::from_mbps;
        let mut line = line(Span::ZERO, false);
        assert_eq!(line.line.mean_rate(Time::ZERO), mbps(8.0));
        line.transmit(1000, ByteCount::new(1000), at(0));
        line.line.set_rate(mbps(2.0), at(100));
        assert_eq!(
            [500, 1000, 3000].map(|micros| line.line.mean_rate(at(micros))),
            [mbps(8.0), mbps(8.0), mbps(4.0)]
        );
        // Changed again meanwhile: 2 Mbit/s never held.
        line.line.set_rate(mbps(4.0), at(200));
        assert_eq!(line.line.mean_rate(at(2000)), mbps(6.0));
        // A cut frees the line, so that the rate holds at once.
        line.line.cut(&mut line.arena, at(500));
        assert_eq!(line.line.mean_rate(at(1000)), mbps(6.0));
    }

    #[test]
    fn of_packets_that_arrive_together_the_first_sent_is_first() {
        // A jitter below 2 ns rounds to few values, so most of the packets tie.
        let mut line = line(Span::from_nanos(2), true);
        for number in 0..200 {
            let load = line.arena.insert(number);
            line.line.carry(&mut line.arena, load, Time::ZERO);
        }
        let mut arrived = Vec::new();
        while let Some(at) = line.next_arrival() {
            arrived.extend(line.take_arrival(at).map(|number| (at, number)));
        }
        assert_eq!(arrived.len(), 200);
        assert!(arrived.is_sorted(), "{arrived:?}");
    }

    #[test]
    fn jitter_changes_the_order_only_where_it_may() {
        for reorder in [false, true] {
            let mut line = line(Span::from_millis(50), reorder);
            for number in 0..200 {
                let size = ByteCount::new(100 + number);
                line.transmit(number, size, Time::ZERO + Span::from_micros(200 * number));
            }
            let mut order = Vec::new();
            while let Some(number) = line.take_arrival(Time::MAX) {
                order.push(number);
            }
            assert_eq!((order.len(), order.is_sorted()), (200, !reorder));
        }
    }
}
