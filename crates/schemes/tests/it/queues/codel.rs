//! CoDel's control law against times worked out by hand; targets and intervals are the defaults, 5 and 100 ms.

use tidegate_core::prelude::*;

use crate::queues::bench::{Bench, Popped, named};

fn word(word: &str) -> Setting {
    Setting::Text(word.to_owned())
}

/// Pops at the given times (ms) and compares segment, mark and the segments dropped before it.
fn expect(bench: &mut Bench, pops: &[(u64, u32, u8, &[u32])]) {
    for (millis, segment, mark, dropped) in pops {
        let expected = Popped { segment: *segment, mark: *mark, dropped: dropped.to_vec() };
        assert_eq!(bench.pop(*millis), expected, "pop at {millis} ms");
    }
}

#[test]
fn codel_drops_at_the_times_of_its_control_law() {
    let mut bench = Bench::new(named("codel"), &[], 100);
    bench.push_data(0, 18);
    expect(
        &mut bench,
        &[
            (4, 0, 0, &[]),                  // 4 < 5: good
            (5, 1, 0, &[]),                  // above from now on; first drop at 105
            (104, 2, 0, &[]),                //
            (105, 4, 0, &[3]),               // count 1, next at 105 + 100 = 205
            (204, 5, 0, &[]),                //
            (205, 7, 0, &[6]),               // count 2, next at 205 + 70.710678 = 275.710678
            (275, 8, 0, &[]),                //
            (276, 10, 0, &[9]),              // count 3, next at 275.710678 + 57.735026 = 333.445704
            (500, 15, 0, &[11, 12, 13, 14]), // counts 4-7: 383.445704, 428.167063, 468.991892, 506.788339
        ],
    );
    bench.push_data(600, 30);
    expect(
        &mut bench,
        &[
            (601, 18, 0, &[16, 17]), // counts 8, 9: 542.143678; 18 waited 1 ms: good, and that time stays
            (606, 19, 0, &[]),       // above from now on; first drop at 706
            (705, 20, 0, &[]),       //
            (706, 22, 0, &[21]), // 9 - 1 = 8 more than last time: count 8, next at 706 + 35.355339 = 741.355339
            (741, 23, 0, &[]),   //
            (742, 25, 0, &[24]), // count 9, next at 741.355339 + 33.333333 = 774.688672
            (774, 26, 0, &[]),   //
            (775, 28, 0, &[27]), // count 10
        ],
    );
}

#[test]
fn codel_starts_over_after_sixteen_intervals_without_a_drop() {
    // Enters at 105, drops again at 205 and 276 (count 3) and is good at once, so the time of the next drop stays
    // 275.710678; 1600 ms later is 1875.710678, and a second overload drops first 105 ms after its begin.
    for (second, next_drop_after) in [(400, 71), (1_770, 71), (1_780, 100)] {
        let mut bench = Bench::new(named("codel"), &[], 100);
        bench.push_data(0, 8);
        [5, 105, 205, 276, 277].into_iter().for_each(|millis| drop(bench.pop(millis)));
        bench.push_data(second, 20);
        bench.pop(second + 5);
        assert_eq!(bench.pop(second + 105).dropped.len(), 1);
        // 3 - 1 = 2 more than last time: count 2 and a pause of 70.7 ms, or 1 and 100 ms after a long rest.
        assert_eq!(bench.pop(second + 105 + next_drop_after - 1).dropped.len(), 0, "{second}");
        assert_eq!(bench.pop(second + 105 + next_drop_after).dropped.len(), 1, "{second}");
    }
}

#[test]
fn codel_leaves_a_queue_of_one_packet_alone() {
    let mut bench = Bench::new(named("codel"), &[], 100);
    bench.push_data(0, 1);
    for round in 1..20 {
        bench.push_data(round * 50, 1);
        assert_eq!(bench.pop(round * 50 + 49).dropped, []);
    }
}

#[test]
fn a_notice_that_overtakes_the_queue_does_not_make_its_waiting_times_good() {
    for (scheme, expected) in [("codel", (2, 0, &[1][..])), ("codel-mark", (1, 1, &[][..]))] {
        let mut bench = Bench::new(named(scheme), &[], 100);
        bench.push_data(0, 20);
        bench.pop(6);
        bench.push_notice(60);
        assert_eq!(bench.pop(60).segment, 20);
        let Popped { segment, mark, dropped } = bench.pop(120);
        assert_eq!((segment, mark, &dropped[..]), expected, "{scheme}");
    }
}

#[test]
fn marking_codel_keeps_every_packet_and_marks_one_at_a_time() {
    let mut bench = Bench::new(named("codel"), &[("mark", Setting::Bool(true))], 100);
    bench.push_data(0, 40);
    expect(
        &mut bench,
        &[
            (5, 0, 0, &[]),
            (105, 1, 1, &[]), // next at 205
            (204, 2, 0, &[]),
            (205, 3, 1, &[]), // next at 275.710678
            (500, 4, 1, &[]), // next at 333.445704
            (500, 5, 1, &[]), // next at 383.445704
            (500, 6, 1, &[]), // next at 428.167063
            (500, 7, 1, &[]), // next at 468.991892
            (500, 8, 1, &[]), // next at 506.788339
            (500, 9, 0, &[]),
            (506, 10, 0, &[]),
            (507, 11, 1, &[]),
        ],
    );
}

#[test]
fn codel_mark_counts_the_next_mark_from_the_last_one_stretched_by_a_tenth() {
    let mut bench = Bench::new(named("codel-mark"), &[], 100);
    bench.push_data(0, 11);
    expect(
        &mut bench,
        &[
            (5, 0, 0, &[]),    // 5 is not above 5
            (6, 1, 0, &[]),    // above from now on
            (106, 2, 0, &[]),  // 100 is not above 100
            (107, 3, 1, &[]),  // count 1, next at 107 + 110 = 217
            (216, 4, 0, &[]),  //
            (217, 5, 1, &[]),  // count 2, next at 217 + 77.781745 = 294.781745
            (294, 6, 0, &[]),  //
            (295, 7, 1, &[]),  // count 3, next at 295 + 63.508529 = 358.508529
            (358, 8, 0, &[]),  //
            (359, 9, 1, &[]),  // count 4, next at 359 + 55 = 414
            (400, 10, 0, &[]), //
        ],
    );
    bench.push_data(410, 3);
    expect(
        &mut bench,
        &[
            (411, 11, 0, &[]), // good: the count starts over
            (416, 12, 0, &[]), // above from now on
            (517, 13, 1, &[]), // count 1, next at 517 + 110 = 627
        ],
    );
    bench.push_data(517, 10);
    expect(
        &mut bench,
        &[
            (518, 14, 0, &[]), // good
            (523, 15, 0, &[]), // above from now on
            (624, 16, 0, &[]), // above for 101 ms, but 627 has not come
            (627, 17, 1, &[]), // count 1
        ],
    );
}

#[test]
fn a_mark_left_at_the_face_is_taken_back_when_waiting_times_are_good_again() {
    let mut bench = Bench::new(named("codel-mark"), &[("carrier", word("face"))], 100);
    bench.push_data(0, 4);
    expect(&mut bench, &[(6, 0, 0, &[]), (107, 1, 0, &[])]);
    // Others wait, so it does not end by itself.
    let waited = bench.faces[0].take_mark(at(5000));
    assert_eq!((waited, bench.faces[0].take_mark(at(5000))), (Some(Span::from_millis(107)), None));
    expect(&mut bench, &[(217, 2, 0, &[]), (217, 3, 0, &[])]);
    bench.push_data(218, 1);
    expect(&mut bench, &[(219, 4, 0, &[])]);
    assert_eq!(bench.faces[0].take_mark(at(219)), None);
    assert_eq!(bench.faces[0].marks_taken(), 1);
}

#[test]
fn a_mark_left_by_the_last_packet_ends_when_the_device_finds_the_queue_empty() {
    for (asked_ms, is_there) in [(107, true), (109, false)] {
        let mut bench = Bench::new(named("codel-mark"), &[("carrier", word("face"))], 100);
        bench.push_data(0, 2);
        // The last one takes up to 1 ms to send.
        expect(&mut bench, &[(6, 0, 0, &[]), (107, 1, 0, &[])]);
        assert_eq!(bench.faces[0].take_mark(at(asked_ms)).is_some(), is_there, "{asked_ms} ms");
    }
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}
