//! States of BBR on a path of constant delay.

use super::*;
use tidegate_testkit::bottleneck::{Bottleneck, PRODUCT};
use tidegate_testkit::driver::{Driver, RTT};
use tidegate_testkit::steps::{data_after, sent};

fn bbr(given: &[(&str, f64)]) -> Bottleneck<Bbr> {
    let given = given.iter().map(|(name, value)| ((*name).into(), Setting::Number(*value)));
    Bottleneck::new(Bbr::new(Params::from_settings(&Settings(given.collect())).expect("valid")))
}

fn state(path: &Bottleneck<Bbr>) -> &State {
    &path.driver.controller.state
}

fn window(path: &Bottleneck<Bbr>) -> f64 {
    path.driver.controller.window()
}

/// Runs until the first ProbeBW begins.
fn to_probe_bandwidth(path: &mut Bottleneck<Bbr>) {
    path.run_while(|path| !matches!(state(path), State::ProbeBw(_)));
}

#[test]
fn startup_takes_the_logarithm_of_the_product_and_five_rounds() {
    // Doubling from one packet per round trip; three rounds tell that it does not grow any more. The first round brings
    // the first rate, and the second the same: its Interest left when the first Data came, alone. (BBR-CD's rates,
    // which run from the Interest, save that round.)
    let mut path = bbr(&[]);
    path.run_while(|path| path.rounds < 2);
    assert_eq!(path.driver.controller.rate(), PacketRate::over(1, RTT));
    path.run_while(|path| matches!(state(path), State::Startup));
    assert!(f64::from(path.rounds) <= PRODUCT.log2() + 5.0, "{} rounds", path.rounds);
    assert!(path.driver.controller.rate().per_second() > 0.95 * 1_600.0, "it has found the rate");
    let mut patient = bbr(&[("full_rounds", 6.0)]);
    patient.run_while(|path| matches!(state(path), State::Startup));
    assert_eq!(patient.rounds, path.rounds + 3);
    let mut hasty = bbr(&[("full_growth", 2.5)]);
    hasty.run_while(|path| matches!(state(path), State::Startup));
    assert!(hasty.rounds < path.rounds, "doubling is not enough for it");
}

#[test]
fn drain_ends_with_the_product_and_the_quanta_in_flight() {
    let mut path = bbr(&[]);
    path.run_while(|path| matches!(state(path), State::Startup));
    assert!(path.in_flight() > 1.5 * PRODUCT, "Startup filled the queue: {}", path.in_flight());
    let begun = path.now;
    to_probe_bandwidth(&mut path);
    assert!(path.in_flight() <= path.driver.controller.target(1.0));
    // The rate is at most the path's, and its round trip the shortest.
    assert!(path.driver.controller.target(1.0) <= PRODUCT * 1.01 + 3.0);
    // What stood in the queue goes at 1 - 1/2.885 of the rate: 2.885 - 1 products at most, in 2.9 round trips.
    assert!(path.now.since(begun) <= RTT * 4, "{}", path.now.since(begun));
}

#[test]
fn the_window_of_probe_bandwidth_is_twice_the_product_and_the_quanta() {
    for (given, expected) in [
        (vec![], 2.0 * PRODUCT + 3.0),
        (vec![("cwnd_gain", 1.5)], 1.5 * PRODUCT + 3.0),
        (vec![("quanta", 9.0)], 2.0 * PRODUCT + 9.0),
    ] {
        let mut path = bbr(&given);
        path.run_while(|path| path.now < Time::ZERO + Span::from_secs(3));
        assert!((window(&path) - expected).abs() <= 0.01 * expected, "{} for {expected}", window(&path));
    }
}

#[test]
fn a_smallest_round_trip_of_ten_seconds_ago_is_measured_with_four_packets_for_a_fifth_of_a_second() {
    let mut path = bbr(&[]);
    let mut before = 0.0;
    path.run_while(|path| {
        let is_probing = matches!(state(path), State::ProbeRtt(_));
        before = if is_probing { before } else { window(path) };
        !is_probing
    });
    let begun = path.now;
    assert!(begun >= Time::ZERO + Span::from_secs(10), "{}", begun.as_secs_f64());
    path.run_while(|path| path.in_flight() > 4.0);
    let emptied = path.now;
    assert!(emptied.since(begun) <= RTT * 3, "the window is four at once");
    path.run_while(|path| matches!(state(path), State::ProbeRtt(_)));
    let lasted = path.now.since(emptied);
    assert!(lasted >= Span::from_millis(200) && lasted <= Span::from_millis(200) + RTT, "{lasted}");
    assert_eq!(path.driver.controller.rtprop.get(), Some(RTT));
    assert!(window(&path) >= before - 1.0, "the window before it comes back: {}", window(&path));
}

/// When the first ProbeRTT began, and the path at its end.
fn probed(given: &[(&str, &str)]) -> (Time, Bottleneck<Bbr>) {
    let given = given.iter().map(|(name, value)| ((*name).into(), Setting::Text((*value).to_owned())));
    let params = Params::from_settings(&Settings(given.collect())).expect("valid");
    let mut path = Bottleneck::new(Bbr::new(params));
    path.run_while(|path| !matches!(state(path), State::ProbeRtt(_)));
    let begun = path.now;
    path.run_while(|path| matches!(state(path), State::ProbeRtt(_)));
    (begun, path)
}

#[test]
fn probe_rtt_lasts_a_round_with_four_packets_however_short_it_should_be() {
    let (_, mut path) = probed(&[("probe_rtt_time", "0ns")]);
    assert_eq!(path.driver.controller.rtprop.get(), Some(RTT), "a packet has met an empty queue");
    path.run_while(|path| path.now < Time::ZERO + Span::from_secs(15));
    assert!(matches!(state(&path), State::ProbeBw(_)));
}

#[test]
fn what_probe_rtt_holds_down_is_no_rate() {
    // Longer than the window of rates: a hundred per second would be the largest.
    let (_, mut path) = probed(&[("probe_rtt_time", "600ms")]);
    let end = path.now;
    path.run_while(|path| {
        let rate = path.driver.controller.rate().per_second();
        assert!((1_550.0..=1_650.0).contains(&rate), "{rate}");
        path.now < end + RTT * 20
    });
}

#[test]
fn length_window_and_age_of_probe_rtt_are_parameters() {
    let probe = |given: &[(&str, &str)]| {
        let (begun, path) = probed(given);
        (begun, path.now.since(begun))
    };
    let usual = probe(&[]);
    let long = probe(&[("probe_rtt_time", "600ms")]);
    assert_eq!(long.0, usual.0);
    assert!(long.1 >= usual.1 + Span::from_millis(400) - RTT, "{} for {}", long.1, usual.1);
    let early = probe(&[("rtprop_age", "2s")]);
    assert!(early.0 < usual.0);
}

#[test]
fn losses_are_found_by_the_mean_round_trip_and_its_deviations_or_by_the_profile() {
    let sent = Sent::first(0, Time::ZERO);
    let mut path = bbr(&[]);
    assert_eq!(path.driver.controller.loss_timeout(&sent), Some(Span::from_secs(1)));
    path.run_while(|path| path.rounds < 2);
    assert_eq!(path.driver.controller.loss_timeout(&sent), Some(RTT + Span::from_millis(5)), "no deviation");
    let given = [("loss_timer".into(), Setting::Text("profile".to_owned()))];
    let profile = Bbr::new(Params::from_settings(&Settings(given.into_iter().collect())).expect("valid"));
    assert_eq!(profile.loss_timeout(&sent), None);
}

#[test]
fn a_path_shorter_than_the_minimum_round_trip_gets_the_window_of_that() {
    let given = [("min_round_trip".to_owned(), Setting::Text("80ms".to_owned()))];
    let mut path = Bottleneck::new(Bbr::new(Params::from_settings(&Settings(given.into())).expect("valid")));
    path.run_while(|path| path.now < Time::ZERO + Span::from_secs(3));
    let expected = 2.0 * 2.0 * PRODUCT + 3.0;
    assert!((window(&path) - expected).abs() <= 0.01 * expected, "{} for {expected}", window(&path));
}

#[test]
fn on_a_shorter_path_rates_are_kept_for_ten_of_the_minimum_round_trips() {
    // Four Data within a millisecond, and then one every ten.
    let kept = |min_round_trip: &str| {
        let given = [("min_round_trip".to_owned(), Setting::Text(min_round_trip.to_owned()))];
        let params = Params::from_settings(&Settings(given.into())).expect("valid");
        let mut driver = Driver::of(Box::new(Bbr::new(params)));
        for segment in 0..4 {
            driver.handle(sent(0, segment));
        }
        for segment in 0..4 {
            driver.handle(data_after(1, segment, 4, Some(1)));
        }
        for segment in 4..14 {
            driver.handle(sent(u64::from(segment) * 10, segment));
            driver.handle(data_after(u64::from(segment) * 10 + 1, segment, segment + 1, Some(1)));
        }
        driver.controller.rate().per_second()
    };
    assert_eq!(kept("20ms"), 4_000.0);
    assert_eq!(kept("0ms"), 1_000.0);
}

#[test]
fn data_of_a_retransmitted_interest_overtakes_with_rack_only() {
    let timeout = |rule: &str| {
        let given = [("loss_timer", Setting::Text(rule.into())), ("min_margin", Setting::Text("1s".into()))];
        let mut driver = Driver::new(&super::super::SCHEME, &given);
        for event in [sent(0, 0), data_after(40, 0, 1, Some(40)), sent(50, 1), sent(90, 2)] {
            driver.handle(event);
        }
        // The driver takes it for sent 40 ms ago, as long as the minimum RTT.
        driver.handle(data_after(130, 2, 3, None));
        driver.controller.loss_timeout(&Sent::first(1, Time::ZERO + Span::from_millis(50)))
    };
    assert_eq!([timeout("order"), timeout("rack")], [Some(Span::from_millis(1_040)), Some(Span::ZERO)]);
}

#[test]
fn the_pace_is_not_below_its_minimum() {
    let gap = |min_pace: f64| {
        let given = [("min_pace", Setting::Number(min_pace))];
        let mut driver = Driver::new(&super::super::SCHEME, &given);
        // One Data in 40 ms, and none of four further Interests for ten seconds.
        for event in [sent(0, 0), data_after(40, 0, 1, Some(40)), sent(50, 1), data_after(10_000, 1, 2, None)] {
            driver.handle(event);
        }
        for segment in 2..30 {
            let at = 10_000 * u64::from(segment);
            driver.handle(sent(at, segment));
            driver.handle(data_after(at + 40, segment, segment + 1, Some(40)));
        }
        driver.controller.pacing()
    };
    assert_eq!(gap(2.0), Pacing::Gap(Span::from_millis(20)));
    assert!(matches!(gap(0.0), Pacing::Gap(gap) if gap > Span::from_millis(20)), "{:?}", gap(0.0));
}

#[test]
fn an_interest_that_another_overtook_by_a_quarter_of_a_round_trip_is_lost_at_once() {
    let given = [("loss_timer", Setting::Text("order".to_owned())), ("min_margin", Setting::Text("1s".to_owned()))];
    let mut driver = Driver::new(&super::super::SCHEME, &given);
    for event in [sent(0, 0), sent(10, 1), sent(20, 2), data_after(60, 2, 3, Some(40))] {
        driver.handle(event);
    }
    let timeout = |at_ms: u64| {
        let at = Time::ZERO + Span::from_millis(at_ms);
        driver.controller.loss_timeout(&Sent::first(0, at))
    };
    assert_eq!([timeout(9), timeout(10)], [Some(Span::ZERO), Some(Span::from_millis(1_040))]);
}
