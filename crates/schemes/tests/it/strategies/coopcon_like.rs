//! CoopCon-like's strategy in a forwarder: only severe marks divert, and calm brings Interests back.

use tidegate_core::scheme::params::Setting;

use crate::strategies::router::Event::{Data, Interest, Marked};
use crate::strategies::router::{Router, expect_share, named};

fn router(given: &[(&str, f64)]) -> Router {
    let given: Vec<(&str, Setting)> =
        given.iter().map(|(name, value)| (*name, Setting::Number(*value))).collect();
    Router::of_part(named("coopcon-like"), &given, &[3, 4])
}

#[test]
fn mild_marks_divert_nothing_and_each_severe_one_a_fiftieth_of_the_share() {
    let mut router = router(&[("return_step", 0.0)]);
    router.follow(&[(0, Interest(0), &["3 interest"]), (1, Marked(3, 1), &["0 marked"])]);
    expect_share(&mut router, 2, 1.0);
    router.follow(&[(3, Interest(0), &["3 interest"]), (4, Marked(3, 2), &["0 marked"])]);
    expect_share(&mut router, 5, 0.98);
}

#[test]
fn without_a_change_per_mark_nothing_is_diverted() {
    let mut router = router(&[("change_per_mark", 0.0)]);
    router.follow(&[(0, Interest(0), &["3 interest"]), (1, Marked(3, 2), &["0 marked"])]);
    expect_share(&mut router, 2, 1.0);
}

/// Asks every 100 ms from `from` until `until` and answers after 10 ms through 3 and 50 ms through 4, with a mark of
/// this level.
fn talk(router: &mut Router, from: u64, until: u64, level: u8) {
    for at in (from..until).step_by(100) {
        let sent = router.notify(at, Interest(0));
        let (face, after) = if sent == ["3 interest"] { (3, 10) } else { (4, 50) };
        router.notify(at + after, if level > 0 { Marked(face, level) } else { Data(face) });
    }
}

#[test]
fn after_a_second_without_marks_a_hundredth_comes_back_to_the_fastest_in_every_second() {
    // All of it is diverted by one mark; 3 answers ten times as fast as 4.
    let mut router = router(&[("change_per_mark", 1.0)]);
    router.follow(&[(0, Interest(0), &["3 interest"]), (10, Marked(3, 2), &["0 marked"])]);
    expect_share(&mut router, 11, 0.0);
    talk(&mut router, 100, 10_100, 0);
    expect_share(&mut router, 10_100, 0.1);
    // Mild marks divert nothing, but as long as there are any nothing comes back.
    talk(&mut router, 10_200, 20_200, 1);
    expect_share(&mut router, 20_200, 0.1);
    talk(&mut router, 20_300, 30_300, 0);
    expect_share(&mut router, 30_300, 0.2);
}

#[test]
fn a_repeated_interest_goes_out_again_and_another_downstreams_waits() {
    router(&[]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (5, Interest(1), &[]),
        (7, Interest(0), &["3 interest"]),
        (9, Data(3), &["0 data", "1 data"]),
    ]);
}
