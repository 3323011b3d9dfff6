//! Every consumer under random valid histories, with default parameters and at each end of each range.

use tidegate_core::congestion::{LossSignal, Pacing};
use tidegate_core::packet::NackReason;
use tidegate_core::params::Value;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::Scheme;
use tidegate_core::signal::Signal;
use tidegate_core::units::{Span, Time};

use crate::consumers;
use crate::driver::{Driver, Event, Told, marked_hop};
use crate::parameters::ends;

const SEEDS: u64 = 40;
const LENGTH: usize = 600;

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

/// What a consumer could live through: only what was asked for arrives or is lost, in any order.
struct History {
    rng: Rng,
    now: Time,
    next_segment: u32,
    outstanding: Vec<Outstanding>,
    lost: Vec<u32>,
}

impl History {
    fn new(seed: Seed) -> Self {
        let rng = Rng::stream(seed, "history");
        Self { rng, now: Time::ZERO, next_segment: 0, outstanding: Vec::new(), lost: Vec::new() }
    }

    /// Mostly nothing or milliseconds, seldom an hour.
    fn pause(&mut self) -> Span {
        match self.rng.below(100) {
            0 => Span::from_secs(3_600),
            1..=9 => Span::from_millis(u64::from(self.rng.below(3_000))),
            10..=50 => Span::from_micros(u64::from(self.rng.below(5_000))),
            _ => Span::ZERO,
        }
    }

    fn next(&mut self) -> Event {
        let pause = self.pause();
        self.now += pause;
        let told = match self.rng.below(10) {
            _ if self.outstanding.is_empty() => self.send(),
            0..=3 => self.send(),
            4..=8 => self.arrive(),
            _ => self.lose(),
        };
        Event { at: self.now, next_segment: self.next_segment, told }
    }

    fn send(&mut self) -> Told {
        if let Some(segment) = self.lost.pop() {
            self.outstanding.push((segment, None));
            return Told::Sent { segment, is_retransmission: true };
        }
        let segment = self.next_segment;
        self.next_segment += 1;
        self.outstanding.push((segment, Some(self.now)));
        Told::Sent { segment, is_retransmission: false }
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

    fn arrive(&mut self) -> Told {
        let index = self.any_outstanding();
        let (segment, sent_at) = self.outstanding.swap_remove(index);
        let mark = if self.rng.chance(0.1) { 1 + self.rng.below(3) as u8 } else { 0 };
        let mut hop = marked_hop(mark);
        if self.rng.chance(0.2) {
            hop.put(Signal::StampingRate, self.stamp());
        }
        Told::Data { segment, hop, rtt: sent_at.map(|sent_at| self.now.since(sent_at)) }
    }

    fn lose(&mut self) -> Told {
        let index = self.any_outstanding();
        let signal = SIGNALS[self.rng.below(SIGNALS.len() as u32) as usize];
        let segment = self.outstanding[index].0;
        if signal != LossSignal::Notice {
            self.outstanding.swap_remove(index);
            self.lost.push(segment);
        }
        Told::Loss { segment, signal }
    }
}

/// The windows of `scheme` through the history of `seed`, as bits.
fn windows(scheme: &Scheme, given: &[(&str, Value)], seed: Seed) -> Vec<u64> {
    let mut driver = Driver::new(scheme, given);
    let mut history = History::new(seed);
    let is_sound = |window: f64, pacing| window >= 1.0 && (window.is_finite() || pacing != Pacing::Unpaced);
    (1..=LENGTH)
        .map(|number| {
            let event = history.next();
            let window = driver.tell(event);
            assert!(
                is_sound(window, driver.controller.pacing()),
                "{} {given:?}: window {window} after event {number} {event:?} of {seed:?}",
                scheme.name
            );
            window.to_bits()
        })
        .collect()
}

/// Default parameters, then each parameter at each end of its range.
fn corners(scheme: &Scheme) -> Vec<Vec<(&'static str, Value)>> {
    let mut corners = vec![Vec::new()];
    for spec in scheme.params {
        let switches = || [Value::Bool(true), Value::Bool(false)];
        let values = ends(spec).or_else(|| (spec.unit == "true or false").then(switches));
        corners.extend(values.into_iter().flatten().map(|value| vec![(spec.name, value)]));
    }
    corners
}

#[test]
fn every_window_stays_finite_and_at_least_one_in_any_history() {
    for scheme in consumers() {
        for given in corners(scheme) {
            for seed in 0..SEEDS {
                windows(scheme, &given, Seed(seed));
            }
        }
    }
}

#[test]
fn the_same_history_gives_the_same_windows_to_the_bit() {
    for scheme in consumers() {
        for seed in (0..SEEDS).map(Seed) {
            assert_eq!(windows(scheme, &[], seed), windows(scheme, &[], seed), "{} {seed:?}", scheme.name);
        }
    }
}
