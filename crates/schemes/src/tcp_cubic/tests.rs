//! RFC 9438 by hand.


use super::*;
use tidegate_testkit::ack_driver::{Ack, AckDriver};

/// Without HyStart++, as these cases are not about slow start.
fn cubic(given: &[(&str, Setting)]) -> AckDriver {
    let mut all = vec![("hystart", Setting::Bool(false))];
    all.extend_from_slice(given);
    AckDriver::new(&SCHEME, &all)
}

/// A window of 100 segments that loses one at 1 s and leaves the recovery at once.
fn reduced(given: &[(&str, Setting)]) -> AckDriver {
    let mut given = given.to_vec();
    given.push(("initial_window", Setting::Number(100.0)));
    let mut cubic = cubic(&given);
    assert_eq!(cubic.recovery(1_000, Recovery::Enter { flight: 100 }), 70.0);
    assert_eq!(cubic.recovery(1_000, Recovery::Exit), 70.0);
    cubic
}

fn close(seen: f64, by_hand: f64) {
    assert!((seen - by_hand).abs() < 1e-5, "{seen}, by hand {by_hand}");
}

#[test]
fn the_curve_is_read_a_round_trip_ahead_from_the_begin_of_the_epoch() {
    // W_max = 100, K = cbrt(30 / 0.4) = 4.217163. The epoch begins with the first ACK after the recovery, at 1.1 s.
    //  t = 0: W(0) = 70 is below Reno's estimate of 70 + 0.529412 / 70 = 70.007563
    //  t = 2: W(2) = 95.6; W(2.04) = 0.4 (-2.177163)^3 + 100 = 95.872063; + 25.864500 / 70.007563 = 70.377016
    //  t = 8: W(8.04) = 0.4 (3.822837)^3 + 100 = 122.346897, clamped to 1.5 * 70.377016; + 0.5 = 70.877016
    let mut cubic = reduced(&[]);
    close(cubic.ack(1_100, Ack::of(1)), 70.007_563);
    close(cubic.ack(3_100, Ack::of(1)), 70.377_016);
    close(cubic.ack(9_100, Ack::of(1)), 70.877_016);
}

#[test]
fn reno_sets_the_pace_where_the_curve_lies_below_its_window() {
    // W_max = 10, K = cbrt(3 / 0.4) = 1.957434; W(0) = 7. A round trip of 40 ms, the curve hardly moves meanwhile.
    //  7 acknowledged at t = 0: the estimate is 7 + 0.529412 * 7 / 7 = 7.529412 > W(0) = 7.
    //  again: 7.529412 + 0.529412 * 7 / 7.529412 = 8.021599
    let mut cubic = cubic(&[]);
    cubic.recovery(1_000, Recovery::Enter { flight: 10 });
    cubic.recovery(1_000, Recovery::Exit);
    close(cubic.ack(1_040, Ack::of(7)), 7.529_412);
    close(cubic.ack(1_040, Ack::of(7)), 8.021_599);
    // 40 more at once: 8.021599 + 0.529412 * 40 / 8.021599 = 10.661531. That has passed the window before the loss, from
    // which on it grows as Reno's: + 5 / 10.661531 = 11.130506.
    close(cubic.ack(1_040, Ack::of(40)), 10.661_531);
    close(cubic.ack(1_040, Ack::of(5)), 11.130_506);
}

#[test]
fn a_loss_below_the_last_w_max_lowers_w_max() {
    // Peaks 100, then 70: W_max = 70 * 1.7 / 2 = 59.5; window 49; K = cbrt(10.5 / 0.4) = 2.971961.
    // t = 0: Reno's estimate, 49.010804. t = 1: W(1.04) = 0.4 (-1.931961)^3 + 59.5 = 56.615603;
    // + 7.604799 / 49.010804 = 49.165970. Without: W_max = 70, K = cbrt(21 / 0.4) = 3.744436,
    // W(1.04) = 0.4 (-2.704436)^3 + 70 = 62.087928; 49.277626.
    for (on, by_hand) in [(true, 49.165_970), (false, 49.277_626)] {
        let mut cubic = reduced(&[("fast_convergence", Setting::Bool(on))]);
        cubic.recovery(2_000, Recovery::Enter { flight: 70 });
        cubic.recovery(2_000, Recovery::Exit);
        close(cubic.ack(2_100, Ack::of(1)), 49.010_804);
        close(cubic.ack(3_100, Ack::of(1)), by_hand);
    }
}

#[test]
fn after_a_timeout_the_curve_begins_flat_where_slow_start_ends() {
    let mut cubic = cubic(&[("initial_window", Setting::Number(20.0))]);
    cubic.recovery(1_000, Recovery::Timeout { flight: 20 });
    assert_eq!((cubic.window(), cubic.ssthresh()), (1.0, 14.0));
    cubic.recovery(1_100, Recovery::Exit);
    assert_eq!(cubic.ack(1_100, Ack::of(8)), 9.0);
    // The ACK of 8 takes it to the threshold with 5; 3 are left for the epoch that begins: K = 0, W_max = 14.
    // Reno's estimate 14 + 0.529412 * 3 / 14 = 14.113445 > W(0) = 14.
    close(cubic.ack(1_200, Ack::of(8)), 14.113_445);
    // t = 3: W = 0.4 * 27 + 14 = 24.8; W(3.04) = 25.237786, clamped to 1.5 * 14.113445 = 21.170168; + 0.5.
    close(cubic.ack(4_200, Ack::of(1)), 14.613_445);
}

#[test]
fn time_in_which_the_source_is_the_limit_does_not_count() {
    let limited = Ack { is_source_limited: true, ..Ack::of(1) };
    let mut cubic = reduced(&[]);
    cubic.ack(1_100, Ack::of(1));
    close(cubic.ack(1_200, limited), 70.007_563);
    cubic.ack(5_100, limited);
    // Limited from 1.2 to 5.2 s: t = 0.1, W(0.14) = 0.4 (-4.077163)^3 + 100 = 72.889700; then t = 2 as above.
    close(cubic.ack(5_200, Ack::of(1)), 70.048_732);
    close(cubic.ack(7_100, Ack::of(1)), 70.417_380);
}

#[test]
fn hystart_leaves_slow_start_and_the_curve_begins_flat() {
    let mut cubic = AckDriver::new(&SCHEME, &[("initial_window", Setting::Number(40.0))]);
    // Rounds of 40, 120, ... in ACKs of eight, whose round trip rises from 40 to 80 ms.
    let (mut at, mut rounds) = (100, 0);
    while cubic.ssthresh().is_infinite() {
        let rtt_ms = 40 + 10 * rounds.min(4);
        rounds += 1;
        for _ in 0..(cubic.window() as u32).div_ceil(8) {
            if cubic.ssthresh().is_infinite() {
                cubic.ack(at, Ack { rtt_ms, ..Ack::of(8) });
            }
        }
        at += rtt_ms;
        assert!(rounds < 20, "{cubic:?}");
    }
    let window = cubic.window();
    assert_eq!(cubic.ssthresh(), window);
    // t = 0: Reno's estimate, which grows as Reno's from the start: cwnd_prior is the window.
    let next = cubic.ack(at, Ack::of(1));
    close(next, window + 1.0 / window);
}

#[test]
fn a_needless_reduction_is_undone_with_its_curve() {
    let mut cubic = reduced(&[]);
    cubic.ack(1_100, Ack::of(1));
    cubic.recovery(2_000, Recovery::Timeout { flight: 70 });
    close(cubic.recovery(2_100, Recovery::Spurious), 70.007_563);
    close(cubic.ack(3_100, Ack::of(1)), 70.377_016);
}

#[test]
fn a_mark_counts_as_a_loss_once_per_round_trip() {
    let marked = Ack { is_marked: true, ..Ack::of(1) };
    let given = [("ecn", Setting::Bool(true)), ("initial_window", Setting::Number(100.0))];
    let mut cubic = cubic(&given);
    close(cubic.ack(1_000, marked), 70.0);
    close(cubic.ack(1_010, marked), 70.0);
    close(cubic.ack(1_100, Ack::of(1)), 70.007_563);
}

#[test]
fn an_ack_of_two_makes_one_step_in_the_literal_form() {
    // t = 2, as in the first case: one step of 0.369453, or two.
    for (form, by_hand) in [("per-ack", 70.377_016), ("per-segment", 70.746_469)] {
        let mut cubic = reduced(&[("growth", Setting::Text(form.to_owned()))]);
        cubic.ack(1_100, Ack::of(1));
        close(cubic.ack(3_100, Ack::of(2)), by_hand);
    }
}
