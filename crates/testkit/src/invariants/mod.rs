//! Checks that hold for every scheme, whatever its rule.
//!
//! [`check_consumer`] and [`check_sender`] are the first tests of a new scheme.

mod history;
mod parameters;
#[cfg(test)]
mod tests;

use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::Scheme;
use tidegate_core::scheme::congestion::Pacing;
use tidegate_core::scheme::params::Setting;
use tidegate_core::tcp::{Detection, SenderSettings, Source};
use tidegate_core::units::{ByteCount, Span, Time};

use crate::driver::Driver;
use crate::dumbbell::{Bottleneck, Dumbbell, DumbbellFlow, DumbbellLoss, seconds};

use history::History;

pub use parameters::{check_parameters, values};

/// Number of histories for each set of parameters.
const SEEDS: u64 = 40;
/// Number of events in a history.
const LENGTH: usize = 600;
/// Maximum number of wake-ups between two events of a history; the last of them is late.
const MAX_WAKES: usize = 8;
/// Number of paths over which a TCP sender has to transfer files.
const PATHS: u64 = 12;

/// Checks the consumer of `scheme` under random valid histories, with default parameters and with each parameter at each
/// end of its range: a window is at least 1 after every event, and finite unless a pace limits the flow; the same history
/// gives the same windows to the bit. A wake-up that is due is an event, too, and the next one must be later. Parameters are checked as [`check_parameters`] does.
///
/// # Panics
/// If that does not hold; the message has the parameters and the seed of the history.
pub fn check_consumer(scheme: &Scheme) {
    check_parameters(scheme);
    for given in corners(scheme) {
        for seed in (0..SEEDS).map(Seed) {
            windows(scheme, &given, seed);
        }
    }
    for seed in (0..SEEDS).map(Seed) {
        let again = windows(scheme, &[], seed);
        assert_eq!(windows(scheme, &[], seed), again, "{} {seed:?}: not repeatable", scheme.name);
    }
}

/// The windows of `scheme` through the history of `seed`, as bits.
fn windows(scheme: &Scheme, given: &[(&str, Setting)], seed: Seed) -> Vec<u64> {
    let mut driver = Driver::new(scheme, given);
    let mut history = History::new(seed);
    let (mut bits, mut now) = (Vec::new(), Time::ZERO);
    for number in 1..=LENGTH {
        let event = history.next();
        let place = format!("event {number} {event:?} of {seed:?}");
        for wake in 1..=MAX_WAKES {
            let Some(due) = driver.controller.next_wake().filter(|due| *due <= event.at) else { break };
            now = if wake < MAX_WAKES { due.max(now) } else { event.at };
            let window = driver.wake(now);
            check_window(scheme, given, window, &driver, &format!("the wake-up at {now} before {place}"));
            let next = driver.controller.next_wake();
            assert!(
                next.is_none_or(|next| next > now),
                "{} {given:?}: after the wake-up at {now} the next is {next:?}; it must be later",
                scheme.name
            );
            bits.push(window.to_bits());
        }
        now = event.at;
        let window = driver.handle(event);
        check_window(scheme, given, window, &driver, &place);
        bits.push(window.to_bits());
    }
    bits
}

/// Checks the window after the event `place` of a history.
fn check_window(scheme: &Scheme, given: &[(&str, Setting)], window: f64, driver: &Driver, place: &str) {
    let is_limited = window.is_finite() || driver.controller.pacing() != Pacing::Unpaced;
    assert!(window >= 1.0 && is_limited, "{} {given:?}: window {window} after {place}", scheme.name);
}

/// Default parameters, then each parameter at each end of its range.
fn corners(scheme: &Scheme) -> Vec<Vec<(&'static str, Setting)>> {
    let mut corners = vec![Vec::new()];
    for spec in scheme.params {
        let switches = || [Setting::Bool(true), Setting::Bool(false)];
        let ends = parameters::ends(spec);
        let values = ends.or_else(|| (spec.unit == "true or false").then(switches));
        corners.extend(values.into_iter().flatten().map(|value| vec![(spec.name, value)]));
    }
    corners
}

/// Checks the TCP sender of `scheme` on twelve random paths, each with three flows, losses of up to a tenth and queues of 2 to
/// 201 packets: every file arrives within ten minutes, and no window is ever below 1 segment. If the scheme has a router part,
/// the bottleneck has it.
///
/// # Panics
/// If that does not hold; the message has the seed of the path.
pub fn check_sender(scheme: &Scheme) {
    (0..PATHS).for_each(|seed| deliver_files(scheme, seed));
}

/// Files of three flows over a path drawn from `seed`.
fn deliver_files(scheme: &Scheme, seed: u64) {
    let mut draw = Rng::stream(Seed(seed), "history");
    let bottleneck = Bottleneck::new(1.0 + 50.0 * draw.uniform(), u32::MAX);
    let loss = DumbbellLoss::Random(0.1 * draw.uniform() * draw.uniform());
    let setup = Bottleneck { loss, seed, buffer: 2 + draw.below(200), ..bottleneck };
    let setup = if scheme.router.is_some() { setup.behind(scheme, &[]) } else { setup };
    let mut flows = Vec::new();
    for _ in 0..3 {
        let detection = if draw.below(2) == 0 { Detection::RackTlp } else { Detection::Sack };
        let file = Source::File(ByteCount::new(u64::from(draw.below(1_000_000))));
        flows.push(DumbbellFlow {
            settings: SenderSettings { detection, ..SenderSettings::default() },
            source: file,
            start: seconds(draw.uniform()),
            ..DumbbellFlow::of(scheme, &[], 2 + u64::from(draw.below(200)))
        });
    }
    let mut path = Dumbbell::new(setup, flows);
    for _ in 0..6_000 {
        path.run(path.now + Span::from_millis(100));
        for flow in 0..3 {
            let window = path.window(flow);
            assert!(window >= 1.0, "{} seed {seed}: window {window} at {}", scheme.name, path.now);
        }
        if (0..3).all(|flow| path.completed_at(flow).is_some()) {
            return;
        }
    }
    panic!("{} seed {seed}: not finished at {}: {:?}", scheme.name, path.now, path.stats(0));
}
