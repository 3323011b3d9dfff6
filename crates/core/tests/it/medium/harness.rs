//! A driver of a medium for tests.

use tidegate_core::link::medium::{Frame, FrameOutcome, Medium, MediumSetup, Sent};
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::units::{ByteCount, Span, Time};

/// A medium whose radios draw from the streams of `seed`.
pub fn medium(setup: &MediumSetup, radios: usize, seed: u64) -> Medium {
    Medium::new(setup, radios, |name| Rng::stream(Seed(seed), name)).expect("a set-up without faults")
}

/// What was told about a frame, and when.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub at: Time,
    pub tag: u64,
    pub outcome: FrameOutcome,
}

/// Calls the medium at its times until nothing is left to do.
pub fn run_until_idle(medium: &mut Medium) -> Vec<Told> {
    let (mut reported, mut out) = (Vec::new(), Vec::new());
    while let Some(at) = medium.next_event() {
        medium.on_event(at, &mut out);
        reported.extend(out.drain(..).map(|Sent { tag, outcome, .. }| Told { at, tag, outcome }));
    }
    reported
}

/// What stations did that always had frames for radio 0.
#[derive(Debug)]
pub struct Saturated {
    pub medium: Medium,
    /// Frames delivered, by station.
    pub delivered: Vec<u64>,
    /// Until the last of them was.
    pub lasted: Span,
}

/// Runs `stations` stations that always have frames of `size` for radio 0, for `span` and until the next is delivered.
pub fn saturate(setup: &MediumSetup, stations: usize, size: u64, span: Span, seed: u64) -> Saturated {
    let mut medium = medium(setup, stations + 1, seed);
    let frame = Frame { to: 0, size: ByteCount::new(size), tag: 0 };
    for from in (1..=stations).flat_map(|from| [from; 2]) {
        medium.offer(Time::ZERO, from, frame);
    }
    let mut delivered = vec![0; stations];
    let mut sent: Vec<Sent> = Vec::new();
    let mut now = Time::ZERO;
    let mut is_delivered = false;
    while now.since(Time::ZERO) < span || !is_delivered {
        now = medium.next_event().expect("saturated stations go on");
        medium.on_event(now, &mut sent);
        is_delivered = sent.iter().any(|reported| reported.outcome == FrameOutcome::Delivered);
        for reported in sent.drain(..) {
            delivered[reported.from - 1] += u64::from(reported.outcome == FrameOutcome::Delivered);
            medium.offer(now, reported.from, frame);
        }
    }
    Saturated { medium, delivered, lasted: now.since(Time::ZERO) }
}
