//! Filters, timer and states of BBR-CD by hand.

use tidegate_core::prelude::*;
use tidegate_core::scheme::congestion::SendOrder;

use super::samples::{ProbeExit, SampleWatch};
use super::{BbrCd, Params, SCHEME, State};
use tidegate_testkit::bottleneck::{Bottleneck, PRODUCT};
use tidegate_testkit::driver::Driver;
use tidegate_testkit::steps::{data_after, lost, sent};

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

fn at(after: u64) -> Time {
    Time::ZERO + ms(after)
}

fn word(word: &str) -> Setting {
    Setting::Text(word.to_owned())
}

fn bbr_cd(given: &[(&str, Setting)]) -> BbrCd {
    let settings = Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect());
    BbrCd::new(Params::from_settings(&settings).expect("valid"))
}

fn timer(driver: &Driver) -> Span {
    let sent = Sent::first(0, Time::ZERO);
    driver.controller.loss_timeout(&sent).expect("BBR-CD has its own timer")
}

fn gap_us(driver: &Driver) -> u64 {
    match driver.controller.pacing() {
        Pacing::Gap(gap) => gap.as_nanos() / 1_000,
        other => panic!("{other:?}"),
    }
}

/// Interests 0 to 3 at 0, 10, 20 and 30 ms; their Data after 40, 50, 60 and, sent again, no round trip.
fn four(driver: &mut Driver) {
    for (segment, after) in [0, 10, 20, 30].into_iter().enumerate() {
        driver.handle(sent(after, segment as u32));
    }
    driver.handle(data_after(40, 0, 4, Some(40)));
    driver.handle(data_after(60, 1, 4, Some(50)));
    driver.handle(data_after(80, 2, 4, Some(60)));
    driver.handle(data_after(90, 3, 4, None));
}

#[test]
fn window_and_pace_are_the_means_of_the_filtered_samples() {
    let mut driver = Driver::new(&SCHEME, &[]);
    assert_eq!((driver.controller.window(), driver.controller.pacing()), (1.0, Pacing::Unpaced));
    four(&mut driver);
    // Rates: 1 in 40 ms, 2 in 50 ms, 3 in 60 ms: 25, 40, 50 per second, mean 38.333; round trips' mean 50 ms.
    // Product 1.916667; Startup: 2.885 * 1.916667 + 3 = 8.529583; a gap of 1 / (2.885 * 38.333 per s) = 9.042 ms.
    assert!((driver.controller.window() - 8.529_583).abs() < 1e-5, "{}", driver.controller.window());
    assert_eq!(gap_us(&driver), 9_042);
}

#[test]
fn the_largest_rate_may_stand_in_for_the_mean() {
    let mut driver = Driver::new(&SCHEME, &[("bw_agg", word("max"))]);
    four(&mut driver);
    // 50 per second: 2.885 * 2.5 + 3.
    assert!((driver.controller.window() - 10.2125).abs() < 1e-5, "{}", driver.controller.window());
}

#[test]
fn data_of_the_local_store_is_no_sample_unless_the_filter_is_off() {
    let after = |given: &[(&str, Setting)]| {
        let mut driver = Driver::new(&SCHEME, given);
        driver.handle(sent(0, 0));
        driver.handle(data_after(0, 0, 1, Some(0)));
        (driver.controller.window(), timer(&driver))
    };
    assert_eq!(after(&[]), (1.0, Span::from_secs(1)));
    assert_ne!(after(&[("local_cache_rtt", word("0ms"))]).1, Span::from_secs(1));
}

#[test]
fn interests_sent_again_are_no_samples_unless_the_filter_is_off() {
    let mean = |given: &[(&str, Setting)]| {
        let mut driver = Driver::new(&SCHEME, given);
        four(&mut driver);
        timer(&driver)
    };
    // 40, 50, 60: mean 50, deviation 8.164965 ms, ten of them.
    assert_eq!(mean(&[]).as_nanos() / 1_000, 131_649);
    // The driver's Data after a retransmission left 40 ms before: mean 47.5, deviation 8.291562 ms.
    assert_eq!(mean(&[("sample_retransmissions", Setting::Bool(true))]).as_nanos() / 1_000, 130_415);
}

#[test]
fn the_loss_timer_is_the_mean_and_alpha_deviations_but_not_less_than_the_margin() {
    let mut driver = Driver::new(&SCHEME, &[("alpha", Setting::Number(2.0))]);
    assert_eq!(timer(&driver), Span::from_secs(1), "no sample yet");
    driver.handle(data_after(40, 0, 1, Some(40)));
    assert_eq!(timer(&driver), ms(45), "no deviation");
    driver.handle(data_after(60, 1, 2, Some(60)));
    assert_eq!(timer(&driver), ms(50 + 2 * 10));
    let mut bare = Driver::new(&SCHEME, &[("min_margin", word("0ms"))]);
    bare.handle(data_after(40, 0, 1, Some(40)));
    assert_eq!(timer(&bare), ms(40));
}

#[test]
fn a_sample_leaves_after_eight_round_trips() {
    let mut driver = Driver::new(&SCHEME, &[("probe_rtt_threshold", Setting::Number(0.0))]);
    driver.handle(data_after(100, 0, 1, Some(100)));
    // The window before this sample is 800 ms: the first is as old as that and stays.
    driver.handle(data_after(900, 1, 2, Some(50)));
    assert_eq!(timer(&driver), ms(75 + 10 * 25));
    // Now 600 ms: only that of 900 ms is younger.
    driver.handle(data_after(1_500, 2, 3, Some(50)));
    assert_eq!(timer(&driver), ms(55));
}

#[test]
fn new_segments_go_first_unless_set_otherwise() {
    let order = |given: &[(&str, Setting)]| Driver::new(&SCHEME, given).controller.order();
    assert_eq!(order(&[]), SendOrder::NewFirst);
    assert_eq!(order(&[("new_first", Setting::Bool(false))]), SendOrder::RetransmissionsFirst);
}

/// One Data of 40 ms, then a loss 320 ms and a nanosecond later at the earliest: too few samples.
fn starved(given: &[(&str, Setting)]) -> Driver {
    let mut driver = Driver::new(&SCHEME, given);
    driver.handle(sent(0, 0));
    driver.handle(data_after(40, 0, 1, Some(40)));
    assert_eq!(driver.controller.next_wake(), Some(at(360) + Span::from_nanos(1)));
    driver.handle(lost(360, 1, 2, LossSignal::Timeout));
    assert_ne!(driver.controller.pacing(), Pacing::Gap(ms(250)), "the window is not over");
    driver.handle(lost(361, 1, 2, LossSignal::Timeout));
    driver
}

#[test]
fn too_few_samples_in_the_window_bring_four_interests_per_second_until_enough_have_come() {
    let mut driver = starved(&[]);
    assert_eq!((driver.controller.pacing(), driver.controller.next_wake()), (Pacing::Gap(ms(250)), None));
    for segment in 1..4 {
        driver.handle(data_after(400 + u64::from(segment) * 250, segment, segment + 1, None));
        assert_eq!(driver.controller.pacing(), Pacing::Gap(ms(250)), "{segment}");
    }
    driver.handle(data_after(1_400, 4, 5, None));
    assert_ne!(driver.controller.pacing(), Pacing::Gap(ms(250)));
    assert_eq!(driver.controller.next_wake(), Some(at(1_400 + 320) + Span::from_nanos(1)));
}

#[test]
fn in_the_papers_count_data_sent_again_ends_no_probe() {
    let mut driver = starved(&[("probe_rtt_samples", word("rtt"))]);
    for segment in 1..20 {
        driver.handle(data_after(400 + u64::from(segment) * 250, segment, segment + 1, None));
    }
    assert_eq!(driver.controller.pacing(), Pacing::Gap(ms(250)));
}

#[test]
fn in_the_papers_window_four_interests_per_second_never_suffice() {
    let mut driver = starved(&[("probe_rtt_exit", word("window"))]);
    for segment in 1..20 {
        driver.handle(data_after(400 + u64::from(segment) * 250, segment, segment + 1, Some(40)));
    }
    assert_eq!(driver.controller.pacing(), Pacing::Gap(ms(250)), "two lie in 320 ms");
}

#[test]
fn no_threshold_no_probe() {
    let mut driver = Driver::new(&SCHEME, &[("probe_rtt_threshold", Setting::Number(0.0))]);
    driver.handle(data_after(40, 0, 1, Some(40)));
    assert_eq!(driver.controller.next_wake(), None);
    driver.handle(lost(9_000, 1, 2, LossSignal::Timeout));
    assert_ne!(driver.controller.pacing(), Pacing::Gap(ms(250)));
}

#[test]
fn a_watch_is_short_an_instant_after_the_fourth_last_sample_leaves_the_window() {
    let mut watch = SampleWatch::new(4, ProbeExit::Window);
    assert_eq!(watch.runs_short_at(ms(100)), None, "no sample yet");
    for after in [0, 10, 20, 30, 200] {
        watch.note(at(after));
    }
    assert_eq!(watch.runs_short_at(ms(100)), Some(at(110) + Span::from_nanos(1)));
    assert!(watch.suffices(at(110), ms(100)) && !watch.suffices(at(111), ms(100)));
    watch.judge_from(at(150));
    assert_eq!(watch.runs_short_at(ms(100)), Some(at(250) + Span::from_nanos(1)));
}

/// A path whose flow is still in Startup, and after it.
fn started(given: &[(&str, Setting)]) -> Bottleneck<BbrCd> {
    let mut path = Bottleneck::new(bbr_cd(given));
    path.run_while(|path| matches!(path.driver.controller.state, State::Startup));
    path
}

#[test]
fn with_the_largest_rate_startup_takes_the_logarithm_of_the_product_and_four_rounds() {
    let path = started(&[("bw_agg", word("max"))]);
    assert!(f64::from(path.rounds) <= PRODUCT.log2() + 4.0, "{} rounds", path.rounds);
}

#[test]
fn with_the_papers_mean_startup_does_not_double() {
    // Growth by e^x per round trip: a rate tells of the round trip before, (1 - e^-x) e^-x / x of what leaves now, and
    // the mean of ever more samples is half the last rate, so 2.885 / 2 * (1 - e^-x) e^-x / x = 1: x = 0.246.
    let x = 0.246_f64;
    assert!((2.885 / 2.0 * (1.0 - (-x).exp()) * (-x).exp() / x - 1.0).abs() < 0.001);
    let path = started(&[]);
    let rounds = f64::from(path.rounds);
    assert!(rounds > PRODUCT.log2() + 4.0, "{rounds} rounds");
    assert!(rounds <= PRODUCT.ln() / x + 4.0, "{rounds} rounds");
}

#[test]
fn drain_ends_with_the_estimated_product_in_flight_which_a_mean_round_trip_makes_too_large() {
    for rule in ["avg", "max"] {
        let mut path = started(&[("bw_agg", word(rule))]);
        path.run_while(|path| matches!(path.driver.controller.state, State::Drain));
        assert!(matches!(path.driver.controller.state, State::ProbeBw(_)));
        let product = path.driver.controller.estimator.product();
        assert!(path.in_flight() <= product, "{rule}: {} of {product}", path.in_flight());
        assert!(product > 2.0 * PRODUCT, "{rule}: the queue of Startup counts as path, {product}");
    }
}

#[test]
fn the_phases_of_probe_bandwidth_last_a_mean_round_trip_each() {
    let mut path = started(&[]);
    let gain = |path: &Bottleneck<BbrCd>| match &path.driver.controller.state {
        State::ProbeBw(cycle) => Some(cycle.gain()),
        _ => None,
    };
    path.run_while(|path| gain(path) != Some(0.75));
    for (phase, expected) in [(0.75, 1.0), (1.0, 6.0), (1.25, 1.0)] {
        assert_eq!(gain(&path), Some(phase));
        // The mean round trip changes meanwhile, so each piece of time is measured by that of its end.
        let (mut last, mut round_trips) = (path.now, 0.0);
        path.run_while(|path| {
            let rtprop = path.driver.controller.estimator.rtprop().expect("sampled");
            round_trips += path.now.since(last).as_secs_f64() / rtprop.as_secs_f64();
            last = path.now;
            gain(path) == Some(phase)
        });
        assert!((round_trips / expected - 1.0).abs() < 0.1, "{phase}: {round_trips} round trips");
    }
}

#[test]
fn the_rates_of_probe_rtt_leave_a_packet_per_round_trip_unless_they_do_not_count() {
    let after = |counts: bool| {
        let mut driver = Driver::new(&SCHEME, &[("probe_rtt_rates", Setting::Bool(counts))]);
        // 10 Interests a millisecond apart: the last Data tells ten in 40 ms, then nothing for the window.
        for segment in 0..10 {
            driver.handle(sent(u64::from(segment), segment));
        }
        for segment in 0..10 {
            driver.handle(data_after(40 + u64::from(segment), segment, 10, Some(40)));
        }
        driver.handle(sent(100, 10));
        driver.handle(lost(500, 10, 11, LossSignal::Timeout));
        assert_eq!(driver.controller.pacing(), Pacing::Gap(ms(250)), "ProbeRTT");
        for number in 0..4 {
            driver.handle(sent(500 + 250 * number, 11 + number as u32));
            driver.handle(data_after(540 + 250 * number, 11 + number as u32, 12 + number as u32, Some(40)));
        }
        driver.controller.window()
    };
    // In Startup: 2.885 * 1 + 3; the mean of one to ten is 5.5: 2.885 * 5.5 + 3.
    assert!((after(true) - 5.885).abs() < 1e-3, "{}", after(true));
    assert!((after(false) - 18.867_5).abs() < 1e-3, "{}", after(false));
}
