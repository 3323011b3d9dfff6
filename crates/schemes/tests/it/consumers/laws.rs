//! Windows against textbook laws.

use tidegate_core::prelude::*;

use tidegate_testkit::driver::{Driver, DriverEvent, DriverEventKind, RTT};

/// Mean window over the round trips of twenty cycles, every `period`-th packet lost and told at once.
fn mean_window(name: &str, period: u32) -> f64 {
    let scheme = tidegate_schemes::find(tidegate_schemes::SCHEMES, name).expect("registered");
    let mut driver = Driver::new(scheme, &[]);
    let (mut segment, mut now) = (0, Time::ZERO);
    let (mut sum, mut rounds) = (0.0, 0u32);
    while segment < 30 * period {
        let in_round = driver.controller.window() as u32;
        if segment > 10 * period {
            sum += driver.controller.window();
            rounds += 1;
        }
        now += RTT;
        for received in segment..segment + in_round {
            let is_lost = received % period == period - 1;
            let kind = if is_lost {
                DriverEventKind::Loss { segment: received, signal: LossSignal::Timeout }
            } else {
                DriverEventKind::Data { segment: received, hop: HopSignals::default(), rtt: Some(RTT) }
            };
            driver.handle(DriverEvent { at: now, next_segment: received + in_round, kind });
        }
        segment += in_round;
    }
    sum / f64::from(rounds)
}

#[test]
fn aimd_windows_follow_the_square_root_law_within_five_percent() {
    // W grows by 1 per round trip from W/2 to W: 3/8 W^2 = 1/p packets per cycle, so the mean 3/4 W is sqrt(3/(2p)).
    for name in ["ndnsim-aimd", "catchunks-aimd"] {
        for period in [1_000u32, 5_000, 20_000] {
            let law = (1.5 * f64::from(period)).sqrt();
            let mean = mean_window(name, period);
            assert!((mean / law - 1.0).abs() < 0.05, "{name}, p = 1/{period}: mean {mean:.2}, law {law:.2}");
        }
    }
}
