//! Random histories: nothing is lost or told twice, order is kept, and a driver's lateness changes nothing.

use std::collections::BTreeMap;

use crate::medium::harness::medium;
use tidegate_core::link::medium::{Access, Frame, FrameOutcome, Medium, MediumSetup, Sent};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{BitRate, ByteCount, Span, Time};

const HISTORIES: u64 = 300;
const OPERATIONS: u32 = 400;

/// Waiting frames as offered, by radio and receiver.
#[derive(Default)]
struct Model {
    waiting: BTreeMap<(usize, usize), Vec<u64>>,
    reported: u64,
}

impl Model {
    fn notify(&mut self, sent: &Sent, seed: u64) {
        let waiting = self.waiting.entry((sent.from, sent.to)).or_default();
        assert!(!waiting.is_empty(), "seed {seed}: {sent:?} was not offered");
        assert_eq!(waiting.remove(0), sent.tag, "seed {seed}: {sent:?} is out of order");
        self.reported += 1;
    }
}

fn random_setup(rng: &mut Rng) -> MediumSetup {
    let cw_min = [0, 1, 7, 15][rng.below(4) as usize];
    MediumSetup {
        mcs: rng.below(32) as u8,
        width_mhz: if rng.chance(0.5) { 20 } else { 40 },
        short_guard: rng.chance(0.5),
        basic_rate: BitRate::from_mbps([6.0, 24.0][rng.below(2) as usize]),
        access: if rng.chance(0.5) { Access::Dcf } else { Access::Edca { aifsn: 1 + rng.below(15) as u8 } },
        cw_min,
        cw_max: cw_min + rng.below(100) as u16,
        attempts: 1 + rng.below(8) as u8,
        aggregate: rng.chance(0.5).then(|| ByteCount::new(u64::from(1 + rng.below(65_535)))),
        ..Default::default()
    }
}

fn random_frame(rng: &mut Rng, radios: usize, tag: u64) -> (usize, Frame) {
    let from = rng.below(radios as u32) as usize;
    let to = (from + 1 + rng.below(radios as u32 - 1) as usize) % radios;
    (from, Frame { to, size: ByteCount::new(u64::from(rng.below(9000))), tag })
}

#[test]
fn whatever_is_offered_is_reported_once_and_in_order() {
    for seed in 0..HISTORIES {
        let mut rng = Rng::stream(Seed(seed), "history");
        let radios = 2 + rng.below(6) as usize;
        let mut medium = medium(&random_setup(&mut rng), radios, seed);
        let (mut model, mut now, mut out) = (Model::default(), Time::ZERO, Vec::new());
        for tag in 0..u64::from(OPERATIONS) {
            match rng.below(10) {
                0..=4 => {
                    let (from, frame) = random_frame(&mut rng, radios, tag);
                    model.waiting.entry((from, frame.to)).or_default().push(tag);
                    medium.offer(now, from, frame);
                }
                5..=7 => {
                    now = medium.next_event().unwrap_or(now).max(now);
                    medium.on_event(now, &mut out);
                }
                // Early, late, or between.
                8 => {
                    now += Span::from_nanos(rng.bits() >> (44 + rng.below(16)));
                    medium.on_event(now, &mut out);
                }
                _ if rng.chance(0.2) => {
                    let (from, frame) = random_frame(&mut rng, radios, tag);
                    medium.on_event(now, &mut out);
                    medium.forget(from, frame.to, &mut out);
                    assert_eq!(medium.waiting(from, frame.to), 0, "seed {seed}");
                }
                _ => now += Span::from_nanos(rng.bits() >> 46),
            }
            out.drain(..).for_each(|sent| model.notify(&sent, seed));
        }
        medium.on_event(now, &mut out);
        out.drain(..).for_each(|sent| model.notify(&sent, seed));
        for ((from, to), waiting) in &model.waiting {
            assert_eq!(medium.waiting(*from, *to), waiting.len(), "seed {seed}");
        }
        medium.on_event(Time::MAX, &mut out);
        out.drain(..).for_each(|sent| model.notify(&sent, seed));
        assert!(model.waiting.values().all(Vec::is_empty), "seed {seed}: all end");
        assert_eq!(medium.next_event(), None, "seed {seed}");
        assert!(model.reported > 50, "seed {seed}: {} is no history", model.reported);
    }
}

/// Offers the frames of a random history; the driver is late by up to `late`. What was told, and when the medium was idle.
fn course(seed: u64, late: Span) -> (Vec<Sent>, Medium) {
    let mut rng = Rng::stream(Seed(seed), "course");
    let setup = random_setup(&mut rng);
    let mut medium = medium(&setup, 5, seed);
    let mut lateness = Rng::stream(Seed(seed), "lateness");
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    for tag in 0..300 {
        now += Span::from_nanos(1 + u64::from(rng.below(1_000_000)));
        let wait = |lateness: &mut Rng| late.scale(lateness.uniform());
        while let Some(due) =
            medium.next_event().map(|due| due + wait(&mut lateness)).filter(|due| *due < now)
        {
            medium.on_event(due, &mut out);
        }
        let (from, frame) = random_frame(&mut rng, 5, tag);
        medium.offer(now, from, frame);
    }
    medium.on_event(Time::MAX, &mut out);
    (out, medium)
}

#[test]
fn the_same_seed_gives_the_same_course_and_a_late_driver_receives_the_same() {
    let mut outcomes = [0, 0];
    for seed in 0..HISTORIES {
        let (reported, medium) = course(seed, Span::ZERO);
        for late in [Span::ZERO, Span::from_micros(50), Span::from_millis(20), Span::from_secs(100)] {
            let (again, other) = course(seed, late);
            assert_eq!(reported, again, "seed {seed}, late by {late}");
            assert_eq!(medium.airtime(), other.airtime(), "seed {seed}, late by {late}");
        }
        for sent in reported {
            outcomes[usize::from(sent.outcome == FrameOutcome::GivenUp)] += 1;
        }
    }
    assert!(outcomes.iter().all(|count| *count > 100), "{outcomes:?}");
}

#[test]
fn called_early_nothing_happens() {
    let mut medium = medium(&MediumSetup::default(), 2, 1);
    medium.offer(Time::from_nanos(9_000), 0, Frame { to: 1, size: ByteCount::new(1500), tag: 1 });
    let mut out = Vec::new();
    let mut events = Vec::new();
    while let Some(due) = medium.next_event() {
        medium.on_event(Time::from_nanos(due.as_nanos() - 1), &mut out);
        assert_eq!((out.len(), medium.next_event()), (0, Some(due)));
        medium.on_event(due, &mut out);
        out.clear();
        events.push(due);
    }
    assert_eq!(events, [9_000, 301_000].map(Time::from_nanos));
}

#[test]
fn a_late_driver_returns_what_has_passed() {
    let mut medium = medium(&MediumSetup::default(), 2, 1);
    let frame = |tag| Frame { to: 1, size: ByteCount::new(1500), tag };
    medium.offer(Time::from_nanos(9_000), 0, frame(1));
    let late = Time::ZERO + Span::from_millis(10);
    medium.offer(late, 0, frame(2));
    assert_eq!(medium.next_event(), Some(Time::from_nanos(301_000)));
    let mut out = Vec::new();
    medium.on_event(late, &mut out);
    assert_eq!(out.iter().map(|sent| sent.tag).collect::<Vec<_>>(), [1]);
}
