//! Graded markers against cases worked by hand; targets, intervals and periods are the defaults.

use tidegate_core::scheme::params::Setting;

use crate::queues::bench::{Bench, data, interest, named};

/// Pops at `millis` the packet `segment` with the mark `mark`.
#[track_caller]
fn expect(bench: &mut Bench, steps: &[(u64, u32, u8)]) {
    for (millis, segment, mark) in steps {
        let popped = bench.pop(*millis);
        assert_eq!((popped.segment, popped.mark), (*segment, *mark), "at {millis} ms");
    }
}

#[test]
fn coopcon_marks_mild_after_an_interval_and_severe_at_once_spaced_by_codels_law() {
    let mut bench = Bench::new(named("coopcon-like"), &[], 100);
    bench.push_data(0, 11);
    expect(
        &mut bench,
        &[
            (5, 0, 0),   // 5 is not above 5
            (6, 1, 0),   // above from now on
            (25, 2, 0),  // 25 is not above 25, and 19 ms are no interval
            (26, 3, 2),  // severe; count 1, next at 26 + 100
            (125, 4, 0), //
            (126, 5, 2), // count 2, next at 126 + 70.7
            (197, 6, 2), // count 3, next at 197 + 57.7
            (200, 7, 0), //
            (200, 8, 0), //
            (200, 9, 0), //
            (200, 10, 0),
        ],
    );
    bench.push_data(300, 2);
    // Waiting times were last good at 5 ms; count 4, next at 306 + 50.
    expect(&mut bench, &[(306, 11, 1), (308, 12, 0)]);
    bench.push_data(310, 1);
    expect(&mut bench, &[(315, 13, 0)]); // good: the count starts over
    bench.push_data(320, 1);
    expect(&mut bench, &[(326, 14, 0)]); // above from now on
    bench.push_data(419, 3);
    // 99 ms are no interval, 100 are; count 1, next at 426 + 100.
    expect(&mut bench, &[(425, 15, 0), (426, 16, 1), (427, 17, 0)]);
}

#[test]
fn coopcon_takes_a_queue_above_four_fifths_as_severe_unless_set_otherwise() {
    for (waiting, given, mark) in [(9, 0.8, 0), (10, 0.8, 2), (10, 1.0, 0)] {
        let mut bench =
            Bench::new(named("coopcon-like"), &[("severe_occupancy", Setting::Number(given))], 10);
        bench.push_data(0, waiting);
        // One has left when its mark is decided: 8 or 9 of 10 wait.
        expect(&mut bench, &[(0, 0, mark)]);
    }
}

#[test]
fn flecom_has_four_levels_between_the_target_and_twice_as_much() {
    // A wait of s makes the mean s/8, from 0, when the first period ends; the level is ceil(4 (mean/5 ms - 1)).
    for (waited, level) in [(39, 0), (48, 1), (58, 2), (68, 3), (79, 4), (99, 4)] {
        let mut bench = Bench::new(named("flecom-like"), &[], 100);
        bench.push_data(100 - waited, 1);
        expect(&mut bench, &[(100, 0, level)]);
    }
}

#[test]
fn flecom_keeps_a_level_for_a_period_and_lowers_it_while_waiting_times_do_not_grow() {
    let mut bench = Bench::new(named("flecom-like"), &[], 100);
    bench.push_data(0, 3);
    // Means: 5, 16.9 (period ends: level 4), 27.4.
    expect(&mut bench, &[(40, 0, 0), (100, 1, 4), (101, 2, 4)]);
    for (at, level) in [
        (200, 4), // mean 24.0, still above the 16.9 of 100 ms
        (300, 3), // mean 21.0: falls
        (350, 3), // within the period
        (400, 2), //
        (510, 1), // the period ended at 500
        (900, 0), // that of 510 ended at 610, and two more passed in silence
    ] {
        bench.push_data(at, 1);
        let segment = bench.pop(at);
        assert_eq!(segment.mark, level, "at {at} ms: {segment:?}");
    }
}

#[test]
fn interests_are_never_marked_but_their_waits_count() {
    for scheme in ["coopcon-like", "flecom-like"] {
        let mut bench = Bench::new(named(scheme), &[], 100);
        bench.push(interest(), 40);
        bench.push(interest(), 40);
        bench.push(data(), 1000);
        expect(&mut bench, &[(100, 0, 0), (201, 1, 0)]);
        assert!(bench.pop(201).mark > 0, "{scheme}");
    }
}
