//! Random valid histories of a consumer.

use tidegate_core::ndn::packet::NackReason;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::congestion::LossSignal;
use tidegate_core::scheme::signal::Signal;
use tidegate_core::units::{Span, Time};

use crate::driver::{DriverEvent, DriverEventKind, marked_hop};

const SIGNALS: [LossSignal; 7] = [
    LossSignal::Timeout,
    LossSignal::Expired,
    LossSignal::Gap,
    LossSignal::Notice,
    LossSignal::Nack(NackReason::Congestion),
    LossSignal::Nack(NackReason::Duplicate),
    LossSignal::Nack(NackReason::NoRoute),
];

/// One outstanding Interest: its segment and when it left; `None` for the time after a retransmission.
type Outstanding = (u32, Option<Time>);

/// A random valid history: only requested segments arrive or are lost, in any order.
pub(super) struct History {
    rng: Rng,
    now: Time,
    next_segment: u32,
    outstanding: Vec<Outstanding>,
    lost: Vec<u32>,
}

impl History {
    pub(super) fn new(seed: Seed) -> Self {
        let rng = Rng::stream(seed, "history");
        Self { rng, now: Time::ZERO, next_segment: 0, outstanding: Vec::new(), lost: Vec::new() }
    }

    /// Draws the time to the next event: mostly zero or milliseconds, seldom an hour.
    fn pause(&mut self) -> Span {
        match self.rng.below(100) {
            0 => Span::from_secs(3_600),
            1..=9 => Span::from_millis(u64::from(self.rng.below(3_000))),
            10..=50 => Span::from_micros(u64::from(self.rng.below(5_000))),
            _ => Span::ZERO,
        }
    }

    pub(super) fn next(&mut self) -> DriverEvent {
        let pause = self.pause();
        self.now += pause;
        let kind = match self.rng.below(10) {
            _ if self.outstanding.is_empty() => self.send(),
            0..=3 => self.send(),
            4..=8 => self.arrive(),
            _ => self.lose(),
        };
        DriverEvent { at: self.now, next_segment: self.next_segment, kind }
    }

    fn send(&mut self) -> DriverEventKind {
        if let Some(segment) = self.lost.pop() {
            self.outstanding.push((segment, None));
            return DriverEventKind::Sent { segment, is_retransmission: true };
        }
        let segment = self.next_segment;
        self.next_segment += 1;
        self.outstanding.push((segment, Some(self.now)));
        DriverEventKind::Sent { segment, is_retransmission: false }
    }

    /// A rate as a router may write it: ordinary, none, or the largest.
    fn stamp(&mut self) -> u32 {
        match self.rng.below(10) {
            0 => 0,
            1 => u32::MAX,
            _ => 1_000 * self.rng.below(10_000),
        }
    }

    fn any_outstanding(&mut self) -> usize {
        self.rng.below(self.outstanding.len() as u32) as usize
    }

    fn arrive(&mut self) -> DriverEventKind {
        let index = self.any_outstanding();
        let (segment, sent_at) = self.outstanding.swap_remove(index);
        let mark = if self.rng.chance(0.1) { 1 + self.rng.below(3) as u8 } else { 0 };
        let mut hop = marked_hop(mark);
        if self.rng.chance(0.2) {
            hop.put(Signal::STAMPING_RATE, self.stamp());
        }
        DriverEventKind::Data { segment, hop, rtt: sent_at.map(|sent_at| self.now.since(sent_at)) }
    }

    fn lose(&mut self) -> DriverEventKind {
        let index = self.any_outstanding();
        let signal = SIGNALS[self.rng.below(SIGNALS.len() as u32) as usize];
        let segment = self.outstanding[index].0;
        if signal != LossSignal::Notice {
            self.outstanding.swap_remove(index);
            self.lost.push(segment);
        }
        DriverEventKind::Loss { segment, signal }
    }
}
