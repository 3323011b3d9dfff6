//! Sender and receiver over a path that loses, repeats and delays segments.

use super::*;
use crate::clock::Clock;
use crate::context::{Context, Env, NoSink, Present};
use crate::ndn::name::{Name, NameTable};
use crate::ndn::packet::Kind;
use crate::rng::{Rng, Seed, Streams};
use crate::scheme::congestion::{CongestionController, Delivery, FlowView, Recovery};
use crate::units::{ByteCount, Span, Time};
use std::collections::BTreeMap;

/// Additive increase, half on a recovery, 1 after a timeout.
#[derive(Debug)]
struct Aimd(f64);

impl CongestionController for Aimd {
    fn window(&self) -> f64 {
        self.0
    }

    fn on_delivery(&mut self, _: &mut Context<'_>, delivery: &Delivery, flow: &FlowView) {
        assert!(delivery.in_flight_before <= flow.next_segment);
        if !delivery.is_source_limited {
            self.0 += f64::from(delivery.newly_acked) / self.0;
        }
    }

    fn on_recovery(&mut self, _: &mut Context<'_>, recovery: Recovery, _: &FlowView) {
        match recovery {
            Recovery::Enter { flight } => self.0 = (f64::from(flight) / 2.0).max(2.0),
            Recovery::Timeout { .. } => self.0 = 1.0,
            Recovery::Exit | Recovery::Spurious => {}
        }
    }
}

/// Impairments of a path.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// Of 1000 segments, the numbers that are lost and duplicated.
    lost: u32,
    twice: u32,
    /// Minimum delay in one direction.
    delay: Span,
    /// Up to so much longer.
    jitter: Span,
}

const CLEAN: Path = Path { lost: 0, twice: 0, delay: Span::from_millis(10), jitter: Span::ZERO };

fn receiver(ack_policy: AckPolicy, buffer: u64) -> Receiver {
    Receiver::new(ReceiverSetup {
        name: Name::whole(NameTable::ROOT),
        mss: 1448,
        buffer: ByteCount::new(buffer),
        reads_at_once: true,
        ack_policy,
        ecn: true,
        echo: EcnEcho::default(),
        ack_option: ByteCount::ZERO,
        initial_sequence: u32::MAX,
        clock: Clock::FINE,
    })
}

struct World {
    sender: Sender,
    receiver: Receiver,
    path: Path,
    rng: Rng,
    now: Time,
    /// Sequence numbers of the sender's segments that are lost, once per occurrence.
    doomed: Vec<u32>,
    /// Segments under way by arrival and order, with their direction: true to the receiver.
    under_way: BTreeMap<(Time, u64), (bool, Segment)>,
    count: u64,
    names: NameTable,
}

impl World {
    fn new(settings: SenderSettings, bytes: u64, path: Path, seed: u64) -> Self {
        Self::reducing(Reduction::Proportional, settings, bytes, path, seed)
    }

    fn reducing(reduction: Reduction, settings: SenderSettings, bytes: u64, path: Path, seed: u64) -> Self {
        let name = Name::whole(NameTable::ROOT);
        let sender = Sender::new(SenderSetup {
            flow: 0,
            name,
            rule: SenderRule { reduction, ..SenderRule::new(Box::new(Aimd(10.0))) },
            settings,
            source: Source::File(ByteCount::new(bytes)),
            start: Time::ZERO + Span::from_millis(1),
            stop: None,
            initial_sequence: (seed as u32).wrapping_mul(0x9E37_79B9),
            draws: Streams::of(Seed(seed)),
            clock: Clock::FINE,
        });
        let receiver = receiver(AckPolicy::default(), 40_000 + (seed % 5) * 100_000);
        let rng = Rng::stream(Seed(seed), "path");
        let (under_way, names) = (BTreeMap::new(), NameTable::new());
        let doomed = Vec::new();
        Self { sender, receiver, path, rng, now: Time::ZERO, doomed, under_way, count: 0, names }
    }

    fn with(
        &mut self,
        call: impl FnOnce(&mut Sender, &mut Context<'_>) -> Option<Segment>,
    ) -> Option<Segment> {
        let mut sink = NoSink;
        let mut present = Present::observed(&mut sink).at(self.now);
        let env = Env::new(&self.names, &mut present);
        call(&mut self.sender, &mut Context::new(env, &[]))
    }

    fn carry(&mut self, to_receiver: bool, segment: Segment) {
        if let (true, Kind::Tcp(tcp)) = (to_receiver, segment.header.kind)
            && let Some(at) = self.doomed.iter().position(|seq| *seq == tcp.seq && tcp.payload > 0)
        {
            self.doomed.swap_remove(at);
            return;
        }
        let Path { lost, twice, delay, jitter } = self.path;
        let draw = self.rng.below(1000);
        let copies = if draw < lost { 0 } else { 1 + u32::from(draw < lost + twice) };
        for _ in 0..copies {
            let late = jitter.scale(f64::from(self.rng.below(1000)) / 1000.0);
            self.count += 1;
            self.under_way.insert((self.now + delay + late, self.count), (to_receiver, segment));
        }
    }

    /// One instant: what is due, what arrives, what leaves.
    fn step(&mut self) -> bool {
        let arrival = self.under_way.keys().next().map(|(at, _)| *at);
        let next = [arrival, self.sender.next_wake(), self.receiver.next_wake()].into_iter().flatten().min();
        let Some(next) = next else { return false };
        self.now = self.now.max(next);
        match self.under_way.first_entry().filter(|entry| entry.key().0 <= next) {
            Some(entry) => {
                let (to_receiver, segment) = entry.remove();
                if to_receiver {
                    self.receiver.on_segment(self.now, &segment.header);
                } else {
                    self.with(|sender, cx| {
                        sender.on_segment(cx, &segment.header, &segment.options);
                        None
                    });
                }
            }
            None => {
                self.receiver.on_wake(self.now);
                self.with(|sender, cx| {
                    sender.on_wake(cx);
                    None
                });
            }
        }
        while let Some(segment) = self.with(|sender, cx| sender.poll(cx)) {
            self.carry(true, segment);
        }
        while let Some(segment) = self.receiver.poll() {
            self.carry(false, segment);
        }
        true
    }

    /// Runs until nothing is left to happen.
    fn run(&mut self) {
        for _ in 0..200_000 {
            if !self.step() {
                return;
            }
        }
        panic!("not at rest at {}: {:?}", self.now, self.sender.stats());
    }
}

fn settings(detection: Detection) -> SenderSettings {
    SenderSettings { detection, ..SenderSettings::default() }
}

#[test]
fn a_clean_path_needs_no_retransmission() {
    for detection in [Detection::RackTlp, Detection::Sack] {
        let mut world = World::new(settings(detection), 1_000_000, CLEAN, 4);
        world.run();
        let stats = world.sender.stats();
        assert_eq!((stats.retransmissions, stats.segments), (0, 1_000_000_u64.div_ceil(1448)));
        assert_eq!(world.receiver.received(), ByteCount::new(1_000_000));
        assert!(world.sender.is_closed() && world.receiver.is_closed());
    }
}

#[test]
fn every_byte_arrives_once_and_both_ends_close_whatever_the_path_does() {
    for seed in 0..60 {
        let mut draw = Rng::stream(Seed(seed), "world");
        let path = Path {
            lost: draw.below(200),
            twice: draw.below(50),
            delay: Span::from_micros(u64::from(1 + draw.below(50_000))),
            jitter: Span::from_micros(u64::from(draw.below(4) * draw.below(20_000))),
        };
        let detection = if draw.below(2) == 0 { Detection::RackTlp } else { Detection::Sack };
        let reduction = if draw.below(2) == 0 { Reduction::Proportional } else { Reduction::Immediate };
        let bytes = u64::from(draw.below(400_000));
        let timeout_rule = if draw.below(2) == 0 { TimeoutRule::Linux } else { TimeoutRule::Rfc6298 };
        let settings = SenderSettings { timeout_rule, ..settings(detection) };
        let mut world = World::reducing(reduction, settings, bytes, path, seed);
        world.run();
        assert_eq!(world.receiver.received(), ByteCount::new(bytes), "seed {seed} {path:?}");
        assert_eq!(world.sender.stats().delivered, ByteCount::new(bytes + 1), "seed {seed}");
        let view = world.sender.view();
        assert_eq!((view.in_flight, world.sender.flight(), view.remaining), (0, 0, Some(0)), "seed {seed}");
        assert!(world.sender.is_closed(), "seed {seed} {path:?}");
    }
}

#[test]
fn without_reordering_nothing_is_sent_again_that_had_arrived() {
    for detection in [Detection::RackTlp, Detection::Sack] {
        let path = Path { lost: 30, ..CLEAN };
        let mut world = World::new(settings(detection), 3_000_000, path, 9);
        world.run();
        let (stats, twice) = (world.sender.stats(), world.receiver.duplicates());
        assert!(stats.retransmissions > 40, "{stats:?}");
        // What a probe or a rescue sends again may be under way, and so with a timeout after lost ACKs of the tail.
        let blind = stats.timeouts + stats.probes + stats.rescues;
        assert!(twice <= blind, "{detection:?} {twice} twice, {stats:?}");
    }
}

#[test]
fn over_100_ms_a_retransmission_that_is_lost_too_costs_a_timeout_under_the_rfc_and_none_in_linux() {
    let timeouts = |timeout_rule| {
        let settings = SenderSettings { timeout_rule, ..SenderSettings::default() };
        // Lost, found lost after a round trip and again after a second, acknowledged after the third: 220 ms since the last
        // segment in order, and no more than 200 ms are waited.
        let path = Path { delay: Span::from_millis(55), ..CLEAN };
        let mut world = World::new(settings, 200_000, path, 0);
        // Every segment is acknowledged at once, so that round trips are alike.
        world.receiver = receiver(AckPolicy { every: 1, ..AckPolicy::default() }, 1_000_000);
        world.doomed = vec![1 + 60 * 1448; 2];
        world.run();
        let stats = world.sender.stats();
        assert_eq!((world.receiver.received(), world.doomed.len()), (ByteCount::new(200_000), 0));
        assert!(stats.retransmissions >= 2, "{stats:?}");
        stats.timeouts
    };
    assert_eq!((timeouts(TimeoutRule::Linux), timeouts(TimeoutRule::Rfc6298)), (0, 1));
}

#[test]
fn reordering_within_a_millisecond_is_reported_by_what_came_twice() {
    for detection in [Detection::RackTlp, Detection::Sack] {
        let path = Path { delay: Span::from_micros(100), jitter: Span::from_micros(300), ..CLEAN };
        let mut world = World::new(settings(detection), 3_000_000, path, 2);
        world.run();
        let stats = world.sender.stats();
        // RACK adapts its reordering window and has fewer.
        assert!(stats.recoveries > 4 && stats.spurious > stats.recoveries / 2, "{detection:?} {stats:?}");
    }
}
