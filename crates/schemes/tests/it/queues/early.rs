//! Random early detection and marking at a queue that stands still, against their probabilities.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, data, interest, named, notice};

/// A queue of 100 packets that every one of `arrivals` finds to hold `standing`; what was marked and dropped.
fn stand_still(scheme: &str, given: &[(&str, Setting)], standing: u32, arrivals: u32) -> (u64, u64) {
    let mut bench = Bench::new(named(scheme), given, 100);
    bench.push_data(0, standing);
    // The average comes to rest before anything counts.
    for round in 0..arrivals + 2_000 {
        if round == 2_000 {
            bench.log.0.clear();
        }
        bench.push(data(), 1000);
        while bench.faces[0].queued_packets() > standing {
            bench.run(|queue, cx| queue.pop(cx));
        }
    }
    let count = |kind| bench.log.0.iter().filter(|(_, event)| event.kind() == kind).count() as u64;
    (count("marked"), count("dropped"))
}

#[test]
fn random_early_marking_marks_one_of_twenty_half_way_between_its_thresholds() {
    // 0.1 (0.4 - 0.2)/(0.6 - 0.2) = 0.05 of 40,000: 2000, standard deviation 43.6.
    let (marked, dropped) = stand_still("random-early-marking", &[], 40, 40_000);
    assert!((1_826..=2_174).contains(&marked), "{marked}");
    assert_eq!(dropped, 0);
}

#[test]
fn random_early_marking_leaves_a_short_queue_alone_and_marks_all_of_a_long_one() {
    assert_eq!(stand_still("random-early-marking", &[], 19, 2_000), (0, 0));
    assert_eq!(stand_still("random-early-marking", &[], 61, 2_000), (2_000, 0));
}

#[test]
fn red_marks_as_often_as_its_spread_probability_says() {
    // At 10 packets p_b = 0.1 (10 - 5)/(15 - 5) = 0.05: gaps uniform in 1..=19, so one of 10 on average. Of 40,000
    // packets 4000; a gap deviates by 5.48, so the count by 5.48/10 sqrt(4000) = 35.
    let given = [
        ("action", Setting::Text("mark".to_owned())),
        ("max_probability", Setting::Number(0.1)),
        ("weight", Setting::Number(0.02)),
    ];
    let (marked, dropped) = stand_still("red", &given, 10, 40_000);
    assert!((3_860..=4_140).contains(&marked), "{marked}");
    assert_eq!(dropped, 0);
    assert_eq!(stand_still("red", &given, 16, 1_000), (1_000, 0));
    assert_eq!(stand_still("red", &given, 4, 1_000), (0, 0));
}

/// What marks packets at random without leaving anything to chance: all above 2 packets on average, else none.
fn sharp(scheme: &str) -> Vec<(&'static str, Setting)> {
    match scheme {
        "red" => vec![
            ("action", Setting::Text("mark".to_owned())),
            ("weight", Setting::Number(0.5)),
            ("min_threshold", Setting::Number(2.0)),
            ("max_threshold", Setting::Number(2.01)),
            ("typical_packet", Setting::Text("1250B".to_owned())),
        ],
        // Of 100 packets.
        _ => vec![
            ("weight", Setting::Number(0.5)),
            ("low", Setting::Number(0.02)),
            ("high", Setting::Number(0.0201)),
        ],
    }
}

/// Marks so far.
fn marked(bench: &Bench) -> usize {
    bench.log.0.iter().filter(|(_, event)| event.kind() == "marked").count()
}

fn drain(bench: &mut Bench, down_to: u32) {
    while bench.faces[0].queued_packets() > down_to {
        bench.run(|queue, cx| queue.pop(cx));
    }
}

/// Nine packets come at once, so that the average is 7.00390625, and have left after 100 ms; another comes `idle_us`
/// later: whether it is marked.
fn is_marked_after(scheme: &str, limit: u32, idle_us: u64) -> bool {
    let mut bench = Bench::new(named(scheme), &sharp(scheme), limit);
    bench.push_data(0, 9);
    bench.now = Time::from_nanos(100_000_000);
    drain(&mut bench, 0);
    let before = marked(&bench);
    bench.now = Time::from_nanos(100_000_000 + 1000 * idle_us);
    bench.push(data(), 1000);
    marked(&bench) > before
}

#[test]
fn an_idle_queue_is_forgotten_by_typical_packets_since_the_last_one_left() {
    // A typical packet of 1250 bytes takes 1 ms: 7.0039/2^1.7 = 2.16, /2^1.9 = 1.88.
    assert_eq!([1_700, 1_900].map(|idle| is_marked_after("red", 100, idle)), [true, false]);
    // Random early marking counts by the packet that comes, 0.8 ms: /2^(1.3/0.8) = 2.27, /2^(1.5/0.8) = 1.91.
    assert_eq!([1_300, 1_500].map(|idle| is_marked_after("random-early-marking", 100, idle)), [true, false]);
    // The same packets are a smaller part of a longer queue.
    assert!(!is_marked_after("random-early-marking", 200, 1_300));
}

#[test]
fn what_is_no_bulk_is_not_marked_and_interests_only_by_red() {
    for (scheme, interests) in [("red", 1), ("random-early-marking", 0)] {
        let mut bench = Bench::new(named(scheme), &sharp(scheme), 100);
        bench.push_data(0, 9);
        let before = marked(&bench);
        assert_eq!(before, 6, "{scheme}: averages of 2.125 and more");
        bench.push(notice(), 30);
        assert_eq!(marked(&bench), before, "{scheme} marks a notice");
        bench.push(interest(), 50);
        assert_eq!(marked(&bench), before + interests, "{scheme} and an Interest");
    }
}

/// `act` 2000 times on a queue that was idle for a second, under RED without memory of the average.
fn cycles(given: [(&str, f64); 4], act: impl Fn(&mut Bench)) -> usize {
    let given = given.map(|(name, value)| (name, Setting::Number(value)));
    let given = [&given[..], &[("action", Setting::Text("mark".to_owned()))]].concat();
    let mut bench = Bench::new(named("red"), &given, 100);
    for cycle in 1..=2_000 {
        bench.now = Time::from_nanos(cycle * 1_000_000_000);
        act(&mut bench);
        drain(&mut bench, 0);
    }
    marked(&bench)
}

#[test]
fn the_gap_that_red_counts_begins_anew_below_the_lower_threshold() {
    // The third packet finds two: p_b = (2 - 1.5)/(2.5 - 1.5) = 0.5, and nothing to add to it.
    let given = [("weight", 1.0), ("min_threshold", 1.5), ("max_threshold", 2.5), ("max_probability", 1.0)];
    let found = cycles(given, |bench| (0..3).for_each(|_| bench.push(data(), 1000)));
    // Four standard deviations of 22.4.
    assert!((911..=1_089).contains(&found), "{found}");
}

#[test]
fn the_gap_that_red_counts_begins_anew_with_every_choice_above_the_upper_threshold() {
    // Averages of 0, 0.5, 1.25 (below), 2.125 (above), then with one packet waiting 1.5625: p_b = 0.95 (1.5625 - 1.3)/
    // (1.8 - 1.3) = 0.49875, and the second packet since the last choice: p_a = 0.49875/(1 - 0.49875) = 0.995.
    let given = [("weight", 0.5), ("min_threshold", 1.3), ("max_threshold", 1.8), ("max_probability", 0.95)];
    let found = cycles(given, |bench| {
        (0..4).for_each(|_| bench.push(data(), 1000));
        drain(bench, 1);
        bench.push(data(), 1000);
    });
    // 2000 for sure and 1990 more, standard deviation 3.2.
    assert!((3_977..=4_000).contains(&found), "{found}");
}
