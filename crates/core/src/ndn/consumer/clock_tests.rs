//! The consumer under a clock with ticks: at 0, 100 and 200 ms.

use super::profile::ConsumerProfile;
use super::tests::{Bench, ms};
use super::*;
use crate::ndn::packet::NackReason;
use crate::scheme::congestion::Pacing;
use crate::units::BitRate;

/// An endless flow with this clock and a wide window, one Interest each 10 ms.
fn paced(flush: bool) -> Bench {
    let clock = Clock::coarse(Span::from_millis(100), Span::ZERO, flush);
    let bench = Bench::with(ProfileRules::of(ConsumerProfile::Own), Demand::Endless, 1e6, |setup| {
        setup.clock = clock
    });
    bench.set_pacing(Pacing::Gap(Span::from_millis(10)));
    bench
}

#[test]
fn what_falls_due_between_two_ticks_leaves_together_at_the_second() {
    let mut bench = paced(false);
    let sent = bench.run(ms(250));
    // The first starts the flow; then those due at 10, ..., 100, and at 110, ..., 200.
    let at = |time: u64| sent.iter().filter(|(at, _)| *at == time).count();
    assert_eq!((at(0), at(100), at(200), sent.len()), (1, 10, 10, 21));
}

#[test]
fn an_arrival_between_two_ticks_lets_nothing_leave_unless_it_flushes() {
    for (flush, leaving) in [(false, 0), (true, 4)] {
        let mut bench = paced(flush);
        bench.run(ms(0));
        bench.data(ms(45), 0);
        assert_eq!(bench.sends(ms(45)).len(), leaving, "flush {flush}: due at 10, 20, 30, 40");
        assert_eq!(bench.run(ms(100)).len() + leaving, 10, "flush {flush}: the tick sends the others");
    }
}

#[test]
fn a_nack_flushes_too() {
    let mut bench = paced(true);
    bench.run(ms(0));
    bench.nack(ms(45), 0, NackReason::Congestion);
    assert_eq!(bench.sends(ms(45)).len(), 4);
}

#[test]
fn what_was_due_at_the_old_rate_stays_due() {
    let mut bench = paced(false);
    bench.run(ms(0));
    bench.set_pacing(Pacing::Gap(Span::from_millis(25)));
    // Due until 45 ms at the old rate: 10, 20, 30, 40; from there on each 25 ms: 65, 90.
    bench.data(ms(45), 0);
    assert_eq!(bench.sends(ms(45)), []);
    let sent = bench.run(ms(100));
    assert_eq!(sent.len(), 6, "{sent:?}");
    assert_eq!(bench.run(ms(200)).len(), 4, "due at 115, 140, 165, 190");
}

#[test]
fn a_window_needs_no_clock() {
    let clock = Clock::coarse(Span::from_millis(100), Span::ZERO, false);
    let profile = ProfileRules::of(ConsumerProfile::Own);
    let mut bench = Bench::with(profile, Demand::Endless, 2.0, |setup| setup.clock = clock);
    assert_eq!(bench.wake(ms(0)), [0, 1]);
    bench.data(ms(45), 0);
    assert_eq!(bench.sends(ms(45)), [2]);
}

#[test]
fn a_flow_starts_when_the_application_says() {
    let clock = Clock::coarse(Span::from_millis(100), Span::ZERO, false);
    let profile = ProfileRules::of(ConsumerProfile::Own);
    let mut bench = Bench::with(profile, Demand::Endless, 2.0, |setup| {
        setup.clock = clock;
        setup.start = ms(130);
    });
    assert_eq!(bench.run(ms(140)), [(130, 0), (130, 1)]);
}

#[test]
fn a_paced_flow_waits_for_a_tick_from_its_first_interest_on() {
    let clock = Clock::coarse(Span::from_millis(100), Span::ZERO, false);
    let profile = ProfileRules::of(ConsumerProfile::Own);
    let mut bench = Bench::with(profile, Demand::Endless, 1e6, |setup| {
        setup.clock = clock;
        setup.start = ms(130);
    });
    bench.set_pacing(Pacing::Gap(Span::from_millis(10)));
    let sent = bench.run(ms(250));
    // Due at 130, 140, ..., 200.
    assert!(sent.len() == 8 && sent.iter().all(|(at, _)| *at == 200), "{sent:?}");
}

#[test]
fn a_loss_is_found_at_the_first_tick_after_its_timeout() {
    // ndnSIM's first timeout is a second, looked for every 50 ms: at 1000, so at the tick of 1050.
    let clock = Clock::coarse(Span::from_millis(150), Span::ZERO, false);
    let profile = ProfileRules::of(ConsumerProfile::Ndnsim);
    let mut bench = Bench::with(profile, Demand::Endless, 1.0, |setup| setup.clock = clock);
    assert_eq!(bench.run(ms(1_100)), [(0, 0), (1_050, 0)]);
}

#[test]
fn ticks_of_a_constant_rate_wait_for_the_clock() {
    let clock = Clock::coarse(Span::from_millis(100), Span::ZERO, false);
    // 1000 bytes each 10 ms.
    let demand = Demand::Constant { rate: BitRate::from_bps(800_000), bursts: Vec::new() };
    let mut bench =
        Bench::with(ProfileRules::of(ConsumerProfile::Own), demand, 1.0, |setup| setup.clock = clock);
    let sent = bench.run(ms(250));
    let at = |time: u64| sent.iter().filter(|(at, _)| *at == time).count();
    assert_eq!((at(0), at(100), at(200), sent.len()), (1, 10, 10, 21));
}

#[test]
fn a_wake_up_between_two_ticks_finds_no_loss() {
    // As above; a user that comes at 1020 wakes the consumer, too.
    let clock = Clock::coarse(Span::from_millis(150), Span::ZERO, false);
    let profile = ProfileRules::of(ConsumerProfile::Ndnsim);
    let mut bench = Bench::with(profile, Demand::Endless, 1.0, |setup| setup.clock = clock);
    bench.run(ms(0));
    assert_eq!(bench.wake(ms(1_020)), []);
    assert_eq!(bench.wake(ms(1_050)), [0]);
}
