//! The kernel's integers by hand.


use super::*;
use tidegate_testkit::ack_driver::{Ack, AckDriver};

fn linux(initial_window: f64, hystart: bool) -> AckDriver {
    let given =
        [("initial_window", Setting::Number(initial_window)), ("hystart", Setting::Bool(hystart))];
    AckDriver::new(&SCHEME, &given)
}

/// Loses a segment of its window at 1 s and leaves the recovery at once.
fn reduced() -> AckDriver {
    let mut linux = linux(100.0, false);
    assert_eq!(linux.recovery(1_000, Recovery::Enter { flight: 100 }), 70.0, "100 * 717 / 1024 = 70.02");
    linux.recovery(1_000, Recovery::Exit);
    linux
}

#[test]
fn the_pace_is_the_window_over_what_the_curve_is_above_it() {
    // K = cbrt(30 * 2^40 / 410) = 4316 units. A round trip ahead, 40 ms: t = 10 ticks = 40 units,
    // 410 * 4276^3 / 2^40 = 29: the curve is at 71, a segment above 70: one for 70 acknowledged.
    let mut linux = reduced();
    assert_eq!(linux.ack(1_100, Ack::of(69)), 70.0);
    assert_eq!(linux.ack(1_108, Ack::of(1)), 71.0);
    // 2 s later: t = 510 ticks = 2088 units, 410 * 2228^3 / 2^40 = 4: at 96, 25 above 71: 71 / 25 = 2 acknowledged each.
    assert_eq!(linux.ack(3_100, Ack::of(4)), 73.0);
}

#[test]
fn the_pace_stays_for_28_ms_while_the_window_does() {
    // At 1.1 s one per 70. Seven ticks later, t = 17 ticks = 69 units, the curve is two above the window:
    // 410 * 4247^3 / 2^40 = 28, which would be one per 35.
    let mut linux = reduced();
    linux.ack(1_100, Ack::of(1));
    assert_eq!(linux.ack(1_128, Ack::of(34)), 70.0, "seven ticks later nothing is computed anew");
    // Eight ticks later it is: 36 were acknowledged.
    assert_eq!(linux.ack(1_132, Ack::of(1)), 71.0);
}

#[test]
fn round_trips_of_the_first_second_of_an_epoch_do_not_count() {
    let mut linux = reduced();
    linux.ack(1_100, Ack::of(1));
    let min = |linux: &mut AckDriver, at_ms, rtt_ms| linux.ack(at_ms, Ack { rtt_ms, ..Ack::of(1) });
    let mut other = reduced();
    other.ack(1_100, Ack::of(1));
    for at_ms in [1_200, 1_500, 2_099] {
        // A shorter one, which a minimum would keep.
        assert_eq!(min(&mut linux, at_ms, 1), min(&mut other, at_ms, 40));
    }
    // ... but after a second it is: the curve is looked at 10 ticks less ahead from then on.
    let windows: Vec<[f64; 2]> =
        (0..400).map(|n| [min(&mut linux, 2_101 + 4 * n, 1), min(&mut other, 2_101 + 4 * n, 40)]).collect();
    assert!(windows.iter().any(|[short, long]| short != long), "{:?}", windows.last());
}

#[test]
fn losses_keep_717_of_1024_and_converge_fast() {
    let mut linux = reduced();
    assert_eq!(linux.recovery(2_000, Recovery::Enter { flight: 70 }), 49.0);
    linux.recovery(2_000, Recovery::Exit);
    // W_max is 70 * 1741 / 2048 = 59: K = cbrt(10 * 2^40 / 410) = 2993; t = 1 s + 40 ms = 260 ticks = 1064 units:
    // 410 * 1929^3 / 2^40 = 2: at 57, 8 above 49: six each. Without: 70 - 10 = 60, 49 / 11 = 4.
    linux.ack(2_100, Ack::of(1));
    assert_eq!(linux.ack(3_100, Ack::of(4)), 49.0);
    assert_eq!(linux.ack(3_101, Ack::of(1)), 50.0);
    assert_eq!(linux.recovery(4_000, Recovery::Enter { flight: 1 }), 35.0, "of the window, not of the flight");
}

#[test]
fn the_window_keeps_up_with_w_est() {
    // Ten: seven stay, K = cbrt(3 * 2^40 / 410) = 2004, t = 40 units: 410 * 1964^3 / 2^40 = 2: at 8, one each 7.
    // W_est takes 7 * 15 / 8 = 13 for a segment; 40 at once are three segments, the 40th still waits: 7 / 3 = 2.
    let mut linux = linux(10.0, false);
    linux.recovery(1_000, Recovery::Enter { flight: 10 });
    linux.recovery(1_000, Recovery::Exit);
    assert_eq!(linux.ack(1_100, Ack::of(40)), 27.0, "40 / 2 more");
}

#[test]
fn before_the_first_loss_it_grows_by_5_percent_a_round_trip() {
    let mut linux = linux(100.0, false);
    linux.recovery(1_000, Recovery::Timeout { flight: 100 });
    assert_eq!((linux.window(), linux.ssthresh()), (1.0, 70.0));
    linux.recovery(1_100, Recovery::Exit);
    // 69 take it to the threshold; of the 31 left 20 make one more, as a timeout resets W_max.
    assert_eq!(linux.ack(1_200, Ack::of(100)), 71.0);
    assert_eq!(linux.ack(1_204, Ack::of(8)), 71.0);
    assert_eq!(linux.ack(1_205, Ack::of(1)), 72.0);
}

#[test]
fn a_train_of_acks_half_a_round_trip_long_ends_slow_start() {
    let mut linux = linux(30.0, true);
    for millisecond in 0..=20 {
        linux.ack(100 + millisecond, Ack::of(1));
        assert_eq!(linux.ssthresh(), f64::INFINITY, "{millisecond}");
    }
    // 21 ms are more than half of 40 ms and the 1 ms that offload may take.
    linux.ack(121, Ack::of(1));
    assert_eq!(linux.ssthresh(), 51.0);
}

#[test]
fn a_round_trip_longer_by_an_eighth_ends_slow_start() {
    for (rtt_ms, ends) in [(45, false), (46, true)] {
        let mut linux = linux(100.0, true);
        for number in 0..100 {
            // Ten milliseconds apart they are no train.
            let rtt_ms = if number < 40 { 40 } else { rtt_ms };
            linux.ack(100 + 10 * number, Ack { rtt_ms, ..Ack::of(20) });
        }
        assert_eq!(linux.ssthresh().is_finite(), ends, "{rtt_ms} ms");
    }
}

#[test]
fn a_mark_counts_as_a_loss_and_a_needless_reduction_is_undone() {
    let given = [("initial_window", Setting::Number(100.0)), ("ecn", Setting::Bool(true))];
    let mut linux = AckDriver::new(&SCHEME, &given);
    assert_eq!(linux.ack(100, Ack { is_marked: true, ..Ack::of(1) }), 70.0);
    linux.recovery(500, Recovery::Enter { flight: 70 });
    assert_eq!(linux.recovery(510, Recovery::Spurious), 70.0);
    linux.recovery(900, Recovery::Enter { flight: 70 });
    linux.recovery(1_000, Recovery::Timeout { flight: 70 });
    assert_eq!((linux.window(), linux.ssthresh()), (1.0, 49.0), "the recovery had reduced already");
}
