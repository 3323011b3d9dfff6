//! One direction of a link: what is on the wire, and what gets lost there.

use std::collections::VecDeque;
use std::sync::Arc;

use tidegate_core::face::FaceId;
use tidegate_core::packet::Packet;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};

use crate::plan::{LinkPlan, LossPlan};

/// A packet on the wire.
#[derive(Debug)]
struct Flight<B> {
    arrives: Time,
    packet: Packet<B>,
}

/// One end of a link.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Node.
    pub node: u32,
    /// Its face.
    pub face: FaceId,
}

/// One direction of a link.
#[derive(Debug)]
pub struct Direction<B> {
    /// Transmitting end.
    pub from: End,
    /// Receiving end.
    pub to: End,
    /// The transmitter sends until then.
    pub busy_until: Time,
    /// An event at `busy_until` is pending.
    pub is_armed: bool,
    /// Earliest pending wake of the queue; [`Time::MAX`] for none.
    pub queue_wake: Time,
    /// Whether packets pass.
    pub is_up: bool,
    /// Whether the queue keeps its packets while the link is down.
    pub keeps_queue: bool,
    /// Propagation delay.
    pub delay: Span,
    /// Packets lost on the wire.
    pub lost: u64,
    /// Packets taken off the wire.
    pub delivered: u64,
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

impl<B> Direction<B> {
    /// Direction `way` (0 from a to b, 1 back) of the planned link, with its delay already varied.
    pub fn new(plan: &LinkPlan, way: usize, from: End, to: End, delay: Span, seed: Seed) -> Self {
        let stream = |what: &str| Rng::stream(seed, &format!("link/{}/{way}/{what}", plan.name));
        let jitter = Jitter { most: plan.jitter, reorder: plan.reorder, rng: stream("jitter") };
        Self {
            from,
            to,
            busy_until: Time::ZERO,
            is_armed: false,
            queue_wake: Time::MAX,
            is_up: true,
            keeps_queue: false,
            delay,
            lost: 0,
            delivered: 0,
            flights: VecDeque::new(),
            serialisation: Serialisation::new(plan.rate[way]),
            jitter: (plan.jitter > Span::ZERO).then_some(jitter),
            loss: Loss::new(&plan.loss[way], stream("loss")),
        }
    }

    /// Packets on the wire.
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Sends from the next packet on at `rate`.
    pub fn set_rate(&mut self, rate: BitRate) {
        self.serialisation = Serialisation::new(rate);
    }

    /// Puts a packet on the wire at `now`; the arrival to ask an event for, when none is pending yet.
    #[inline]
    pub fn transmit(&mut self, packet: Packet<B>, now: Time) -> Option<Time> {
        self.busy_until = now + self.serialisation.of(packet.header.size());
        if self.loss.as_mut().is_some_and(|loss| loss.draw()) {
            self.lost += 1;
            return None;
        }
        let arrives = self.busy_until + self.delay;
        match &mut self.jitter {
            None => self.append(Flight { arrives, packet }),
            Some(_) => self.append_with_jitter(arrives, packet),
        }
    }

    #[inline]
    fn append(&mut self, flight: Flight<B>) -> Option<Time> {
        let arrives = flight.arrives;
        self.flights.push_back(flight);
        (self.flights.len() == 1).then_some(arrives)
    }

    #[cold]
    fn append_with_jitter(&mut self, arrives: Time, packet: Packet<B>) -> Option<Time> {
        let jitter = self.jitter.as_mut()?;
        let mut arrives = arrives + jitter.most.scale(jitter.rng.uniform());
        if jitter.reorder {
            let place = self.flights.partition_point(|flight| flight.arrives <= arrives);
            self.flights.insert(place, Flight { arrives, packet });
            return (place == 0).then_some(arrives);
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
        Some((flight.packet, self.flights.front().map(|next| next.arrives)))
    }

    /// Loses everything on the wire.
    pub fn cut(&mut self) {
        self.lost += self.flights.len() as u64;
        self.flights.clear();
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

/// A loss process; one draw per packet, so that compared schemes meet the same losses.
#[derive(Debug)]
enum Loss {
    Bernoulli { probability: f64, rng: Rng },
    GilbertElliott { to_bad: f64, to_good: f64, loss: [f64; 2], is_bad: bool, rng: Rng },
    Trace { pattern: Arc<[bool]>, next: usize },
}

impl Loss {
    fn new(plan: &LossPlan, rng: Rng) -> Option<Self> {
        match plan {
            LossPlan::None => None,
            LossPlan::Bernoulli { probability } => Some(Self::Bernoulli { probability: *probability, rng }),
            LossPlan::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                let loss = [*loss_good, *loss_bad];
                Some(Self::GilbertElliott { to_bad: *to_bad, to_good: *to_good, loss, is_bad: false, rng })
            }
            LossPlan::Trace(pattern) if pattern.is_empty() => None,
            LossPlan::Trace(pattern) => Some(Self::Trace { pattern: pattern.clone(), next: 0 }),
        }
    }

    fn draw(&mut self) -> bool {
        match self {
            Self::Bernoulli { probability, rng } => rng.chance(*probability),
            Self::GilbertElliott { to_bad, to_good, loss, is_bad, rng } => {
                let change = if *is_bad { *to_good } else { *to_bad };
                if rng.chance(change) {
                    *is_bad = !*is_bad;
                }
                rng.chance(loss[usize::from(*is_bad)])
            }
            Self::Trace { pattern, next } => {
                let lost = pattern[*next];
                *next = (*next + 1) % pattern.len();
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(plan: &LossPlan, draws: usize) -> Vec<bool> {
        let mut loss = Loss::new(plan, Rng::stream(Seed(5), "loss")).expect("lossy");
        (0..draws).map(|_| loss.draw()).collect()
    }

    fn share(lost: &[bool]) -> f64 {
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len() as f64
    }

    #[test]
    fn bernoulli_loses_its_share() {
        let lost = losses(&LossPlan::Bernoulli { probability: 0.03 }, 200_000);
        assert!((share(&lost) - 0.03).abs() < 0.002, "{}", share(&lost));
    }

    #[test]
    fn gilbert_elliott_has_the_stationary_loss_and_bursts() {
        // Stationary share of the bad state: 0.01 / (0.01 + 0.19) = 0.05; bursts last 1 / 0.19 packets.
        let plan = LossPlan::GilbertElliott { to_bad: 0.01, to_good: 0.19, loss_good: 0.0, loss_bad: 1.0 };
        let lost = losses(&plan, 400_000);
        assert!((share(&lost) - 0.05).abs() < 0.004, "{}", share(&lost));
        let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        let length = lost.iter().filter(|lost| **lost).count() as f64 / bursts;
        assert!((length - 1.0 / 0.19).abs() < 0.3, "{length}");
    }

    #[test]
    fn a_trace_repeats() {
        let lost = losses(&LossPlan::Trace([false, true, false].into()), 6);
        assert_eq!(lost, [false, true, false, false, true, false]);
    }

    #[test]
    fn sending_times_are_those_of_the_rate() {
        let mut times = Serialisation::new(BitRate::from_mbps(10.0));
        for size in [1000, 50, 1000, 50, 7, 1000] {
            let size = ByteCount::new(size);
            assert_eq!(times.of(size), BitRate::from_mbps(10.0).time_to_send(size));
        }
    }
}
