//! PCON's split strategy in a forwarder: what it sends where, what it marks, and what moves its split.

use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
use tidegate_core::scheme::params::Setting;

use crate::strategies::router::Event::{self, Congested, Data, Down, Interest, Marked, Nack};
use crate::strategies::router::{DRAWS, Router, expect_share_spaced, named};

fn router(given: &[(&str, f64)]) -> Router {
    let given: Vec<(&str, Setting)> =
        given.iter().map(|(name, value)| (*name, Setting::Number(*value))).collect();
    Router::of_part(named("pcon"), &given, &[3, 4])
}

/// Asked so far apart that nothing is pending.
#[track_caller]
fn expect_share(router: &mut Router, from_ms: u64, expected: f64) {
    expect_share_spaced(router, from_ms, 200, expected);
}

/// An Interest sent everywhere (`probing` is 1), answered as `answers` say, all within 50 ms.
fn request_everywhere(router: &mut Router, at_ms: u64, answers: &[(u64, Event)]) {
    assert_eq!(router.notify(at_ms, Interest(0)).len(), 2);
    for (after_ms, answer) in answers {
        router.notify(at_ms + after_ms, *answer);
    }
}

#[test]
fn everything_goes_to_the_cheapest_next_hop_until_a_mark_comes_back() {
    let mut router = router(&[("probing", 0.0)]);
    expect_share(&mut router, 0, 1.0);
    let mut at = 10_000_000;
    for expected in [0.98, 0.98 * 0.98] {
        router.follow(&[(at, Interest(0), &["3 interest"]), (at + 1, Marked(3, 1), &["0 marked"])]);
        expect_share(&mut router, at + 1_000, expected);
        at += 10_000_000;
    }
}

#[test]
fn with_no_change_per_mark_the_split_stays() {
    let mut router = router(&[("probing", 0.0), ("change_per_mark", 0.0)]);
    router.follow(&[(0, Interest(0), &["3 interest"]), (1, Marked(3, 1), &["0 marked"])]);
    expect_share(&mut router, 1_000, 1.0);
}

#[test]
fn one_interest_in_a_thousand_is_probed_with_and_none_without() {
    let both = |router: &mut Router| {
        let requested = (1..=u64::from(DRAWS)).filter(|turn| {
            let sent = router.notify(turn * 200, Interest(0));
            router.notify(turn * 200 + 1, Data(3));
            sent == ["3 interest", "4 interest"]
        });
        requested.count()
    };
    // 40 of 40,000 expected; four standard deviations are 25.
    let probes = both(&mut router(&[]));
    assert!((15..=65).contains(&probes), "{probes}");
    assert_eq!(both(&mut router(&[("probing", 0.0)])), 0);
}

#[test]
fn a_probes_late_answer_counts_while_the_entry_stays() {
    // Half and half; the answer that comes second is marked: 0.5 - 0.02 * 0.5 for its sender.
    for (straggler, at_ms, expected) in [("100ms", 90, 0.51), ("100ms", 110, 0.5), ("0ms", 90, 0.5)] {
        let given = [
            ("probing", Setting::Number(1.0)),
            ("straggler", Setting::Text(straggler.to_owned())),
            ("initial_split", Setting::Text("equal".to_owned())),
        ];
        let mut router = Router::of_part(named("pcon"), &given, &[3, 4]);
        request_everywhere(&mut router, 0, &[(1, Data(3)), (at_ms, Marked(4, 1))]);
        let mut chosen_first = 0;
        for turn in 1..=u64::from(DRAWS) {
            let at = 1_000 + turn * 200;
            // The face that the split chose comes first, the probe second.
            chosen_first += u32::from(router.notify(at, Interest(0))[0] == "3 interest");
            router.notify(at + 1, Data(3));
        }
        let share = f64::from(chosen_first) / f64::from(DRAWS);
        assert!((share - expected).abs() <= 4.0 * 0.0025, "{straggler}, {at_ms} ms: {share}, {expected}");
    }
}

#[test]
fn a_queues_mark_goes_onto_the_next_data_for_its_own_link_once() {
    let mut router = router(&[("probing", 0.0)]);
    router.follow(&[
        (0, Congested(0), &[]),
        (1, Interest(1), &["3 interest"]),
        (2, Data(3), &["1 data"]), // another link's queue
        (200, Interest(0), &["3 interest"]),
        (201, Data(3), &["0 marked"]),
        (400, Interest(0), &["3 interest"]),
        (401, Data(3), &["0 data"]), // taken
    ]);
}

#[test]
fn an_interest_that_joins_a_congested_queue_has_its_data_marked() {
    let cases: [(bool, &[&str]); 2] = [(true, &["0 marked"]), (false, &["0 data"])];
    for (mark_pending, answer) in cases {
        let given = [("probing", Setting::Number(0.0)), ("mark_pending", Setting::Bool(mark_pending))];
        let mut router = Router::of_part(named("pcon"), &given, &[3, 4]);
        router.follow(&[
            (0, Congested(3), &[]),
            (1, Interest(0), &["3 interest"]),
            (2, Data(3), answer),
            (200, Interest(0), &["3 interest"]),
            (201, Data(3), &["0 data"]),
        ]);
        // That mark is about the Interest's own queue: no reason to send elsewhere.
        expect_share(&mut router, 1_000, 1.0);
    }
}

#[test]
fn a_repeated_interest_goes_out_again_and_another_downstreams_waits() {
    router(&[("probing", 0.0)]).follow(&[
        (0, Interest(0), &["3 interest"]),
        (5, Interest(1), &[]),
        (6, Interest(1), &["3 interest"]),
        (7, Interest(0), &["3 interest"]),
        (9, Data(3), &["0 data", "1 data"]),
    ]);
}

#[test]
fn the_only_next_hop_that_is_up_gets_everything_and_without_one_interests_are_refused() {
    router(&[]).follow(&[
        (0, Down(3), &[]),
        (1, Interest(0), &["4 interest"]),
        (2, Data(4), &["0 data"]),
        (200, Interest(4), &["4 nack NoRoute"]),
        (300, Down(4), &[]),
        (301, Interest(0), &["0 nack NoRoute"]),
    ]);
}

#[test]
fn a_congestion_nack_moves_the_split_at_most_every_110_ms_and_no_other_nack_does() {
    // Asked every 1 ms and refused: at 0, 110, 220 ms the split moves; NoRoute never moves it.
    for (reason, until, expected) in
        [(Congestion, 109, 0.98), (Congestion, 110, 0.9604), (Congestion, 221, 0.941192), (NoRoute, 221, 1.0)]
    {
        let mut router = router(&[("probing", 0.0)]);
        for at in 0..=until {
            let sent = router.notify(at, Interest(0));
            let face = if sent == ["3 interest"] { 3 } else { 4 };
            if face == 3 {
                router.notify(at, Nack(3, reason));
            } else {
                router.notify(at, Data(4));
            }
        }
        expect_share(&mut router, 1_000, expected);
    }
}

#[test]
fn an_expired_interest_takes_two_hundredths_of_everything_off_its_next_hop() {
    for (change, expected) in [(0.02, 0.98), (0.0, 1.0), (0.3, 0.7)] {
        let mut router = router(&[("probing", 0.0), ("change_per_expiry", change)]);
        router.follow(&[(0, Interest(0), &["3 interest"])]);
        expect_share(&mut router, 10_000, expected);
    }
    // Two next hops that stay silent both count, but against the first.
    let mut router = router(&[("probing", 1.0)]);
    request_everywhere(&mut router, 0, &[]);
    let first = (1..=u64::from(DRAWS)).filter(|turn| {
        let at = 10_000 + turn * 200;
        let is_first = router.notify(at, Interest(0))[0] == "3 interest";
        router.notify(at + 1, Data(3));
        is_first
    });
    let share = first.count() as f64 / f64::from(DRAWS);
    assert!((share - 0.96).abs() <= 4.0 * 0.00098, "{share}");
}
