//! TCP senders of the catalogue through one bottleneck: closed forms, published tables, and what holds for all of them.

mod alone;
mod bbr;
mod cubic;
mod dctcp;
mod golden;
mod histories;
mod kernels;
mod quinn;
mod reno;
mod rfc9438;

use tidegate_core::prelude::*;
use tidegate_schemes::{SCHEMES, find};
use tidegate_testkit::dumbbell::{self, Bottleneck, Dumbbell, DumbbellFlow, DumbbellLoss, mean, seconds};

/// The scheme called `name`.
fn scheme(name: &str) -> &'static Scheme {
    find(SCHEMES, name).expect("registered")
}

/// Every scheme with a TCP sender.
fn senders() -> impl Iterator<Item = &'static Scheme> {
    SCHEMES.iter().copied().filter(|scheme| scheme.sender.is_some())
}

/// A word for a parameter.
fn on(is_on: bool) -> Setting {
    Setting::Bool(is_on)
}

/// Mean window over time of a flow of which every `period`-th segment is lost: over 20 losses, after `first` others.
fn deterministic_window(name: &str, given: &[(&str, Setting)], rtt_ms: u64, period: u64, first: u64) -> f64 {
    let flow = DumbbellFlow::of(scheme(name), given, rtt_ms);
    let mut path = Dumbbell::new(Bottleneck::wide(DumbbellLoss::Every(period)), vec![flow]);
    let round_trip = Span::from_millis(rtt_ms);
    let mut windows = Vec::new();
    while path.lost(0) < first + 20 {
        assert!(path.now < seconds(20_000.0), "{} losses in {}", path.lost(0), path.now);
        let begins = path.lost(0);
        path.run(path.now + round_trip);
        if begins >= first {
            windows.push(path.window(0));
        }
    }
    assert_eq!(path.stats(0).timeouts, 0, "{name}");
    mean(&windows)
}

/// Mean goodput over four seeds of a flow alone on 100 Mbit/s and 20 ms with losses before a queue of 1000 packets, from the
/// fifth to the 65th second, Mbit/s.
fn goodput_under(flow: impl Fn() -> DumbbellFlow, loss: DumbbellLoss) -> f64 {
    let goodput = |seed| {
        let bottleneck = Bottleneck { loss, seed, ..Bottleneck::new(100.0, 1000) };
        Dumbbell::new(bottleneck, vec![flow()]).goodputs(5.0, 65.0)[0]
    };
    mean(&[1, 2, 3, 4].map(goodput))
}

/// The same where each segment is lost with probability `p`.
fn random_goodput(flow: impl Fn() -> DumbbellFlow, p: f64) -> f64 {
    goodput_under(flow, DumbbellLoss::Random(p))
}
