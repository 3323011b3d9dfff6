//! Windows and rates, worked by hand.

use tidegate_core::ndn::packet::NackReason::{Congestion, NoRoute};
use tidegate_core::prelude::*;
use tidegate_core::scheme::congestion::LossSignal::{Nack, Timeout};

use crate::{stateful_forwarding, stateful_forwarding_rtt};
use tidegate_testkit::driver::Driver;
use tidegate_testkit::steps::{data, follow, lost, sent};

#[test]
fn every_nack_halves_the_window_or_one_per_round_trip() {
    // From 8 without slow start; what is lost left 40 ms before. The Nack at 60 left at 20, before the decrease at 50.
    let given = [("initial_window", Setting::Number(8.0)), ("slow_start", Setting::Bool(false))];
    let nack = Nack(Congestion);
    let steps = |expected: [f64; 6]| {
        let reported = [
            data(40, 0, 9),
            lost(50, 1, 9, nack),
            lost(60, 2, 9, nack),
            lost(90, 3, 9, Timeout),
            lost(91, 4, 9, nack),
            lost(200, 5, 9, Nack(NoRoute)),
        ];
        reported.into_iter().zip(expected).collect::<Vec<_>>()
    };
    let each = steps([8.125, 4.0625, 2.03125, 1.015625, 1.0, 1.0]);
    follow(&mut Driver::new(&stateful_forwarding::SCHEME, &given), &each);
    let once = steps([8.125, 4.0625, 4.0625, 4.0625, 2.03125, 2.03125]);
    follow(&mut Driver::new(&stateful_forwarding_rtt::SCHEME, &given), &once);
}

#[test]
fn slow_start_ends_with_the_first_decrease() {
    let steps = [
        (data(40, 0, 2), 2.0),
        (data(41, 1, 4), 3.0),
        (lost(42, 2, 5, Nack(Congestion)), 1.5),
        (data(43, 3, 5), 1.5 + 1.0 / 1.5),
    ];
    follow(&mut Driver::new(&stateful_forwarding::SCHEME, &[]), &steps);
}

#[test]
fn a_rate_grows_as_a_window_over_the_round_trip_would_and_halves_on_a_nack() {
    let given = [("sending", Setting::Text("rate".to_owned())), ("initial_rate", Setting::Number(50.0))];
    let mut driver = Driver::new(&stateful_forwarding::SCHEME, &given);
    let rate = |driver: &Driver| match driver.controller.pacing() {
        Pacing::Gap(gap) => 1.0 / gap.as_secs_f64(),
        other => panic!("{other:?}"),
    };
    // Round trips of 40 ms: a packet is 25/s. Slow start: 50 + 25, + 25; the Nack: 50; then 50 * 0.04 = 2 packets are
    // under way: 50 + 25/2 = 62.5, of which 2.5 packets: + 10.
    let steps = [
        (sent(0, 0), 50.0),
        (data(40, 0, 2), 75.0),
        (data(41, 1, 2), 100.0),
        (lost(42, 2, 5, Nack(Congestion)), 50.0),
        (data(43, 3, 5), 62.5),
        (data(44, 4, 5), 72.5),
    ];
    for (event, expected) in steps {
        assert_eq!(driver.handle(event), f64::INFINITY);
        assert!((rate(&driver) - expected).abs() < 1e-4, "{event:?}: {}, by hand {expected}", rate(&driver));
    }
    (0..9).for_each(|_| _ = driver.handle(lost(50, 5, 6, Timeout)));
    assert!((rate(&driver) - 1.0).abs() < 1e-6, "the floor");
}
