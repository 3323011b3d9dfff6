//! FleCom-like's strategy in a forwarder: levels divert to next hops without congestion, once per period.

use tidegate_core::scheme::params::Setting;

use crate::strategies::router::Event::{Interest, Marked};
use crate::strategies::router::{Router, expect_share, named};

fn router(given: &[(&str, f64)]) -> Router {
    let given: Vec<(&str, Setting)> =
        given.iter().map(|(name, value)| (*name, Setting::Number(*value))).collect();
    Router::of_part(named("flecom-like"), &given, &[3, 4])
}

/// Asks again and again, until an Interest goes to `face`; only then is it answered.
fn reach(router: &mut Router, at_ms: u64, face: u16) {
    while router.notify(at_ms, Interest(0)) != [format!("{face} interest")] {}
}

#[test]
fn each_level_diverts_a_fiftieth_of_the_share_at_most_once_per_period() {
    for (level, expected) in [(1, 0.98), (2, 0.96), (4, 0.92), (9, 0.92)] {
        let mut router = router(&[]);
        router.follow(&[(0, Interest(0), &["3 interest"]), (1, Marked(3, level), &["0 marked"])]);
        expect_share(&mut router, 2, expected);
    }
    let mut router = router(&[("shift_per_level", 0.25)]);
    for at in [0, 50, 101] {
        reach(&mut router, at, 3);
        router.notify(at, Marked(3, 1));
    }
    // At 0 and 101 ms, the levels of 50 and 101 being one.
    expect_share(&mut router, 101, 0.5625);
}

#[test]
fn nothing_is_diverted_to_a_next_hop_that_is_congested_too_until_that_is_long_ago() {
    // Both are congested at 0 ms; 3 is so again later.
    for (later, expected) in [(900, 0.75), (1_200, 0.5625)] {
        let mut router = router(&[("shift_per_level", 0.25)]);
        for (at, face) in [(0, 3), (0, 4), (later, 3)] {
            reach(&mut router, at, face);
            router.notify(at, Marked(face, 1));
        }
        expect_share(&mut router, later, expected);
    }
}

#[test]
fn without_a_shift_per_level_nothing_is_diverted() {
    let mut router = router(&[("shift_per_level", 0.0)]);
    router.follow(&[(0, Interest(0), &["3 interest"]), (1, Marked(3, 4), &["0 marked"])]);
    expect_share(&mut router, 2, 1.0);
}
