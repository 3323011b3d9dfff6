//! BBRv3's rules, ACK by ACK: at 8 segments per ms and 20 ms the product is 160 segments.

use super::*;
use tidegate_core::scheme::congestion::LossSample;
use tidegate_testkit::acks::{Ack, Acks};

const ENTER: Recovery = Recovery::Enter { flight: 0 };

fn new() -> Acks<Bbr> {
    let mut acks = Acks::new(Bbr::new(Params::from_settings(&Settings::default()).expect("defaults")));
    acks.send(1);
    acks
}

fn state(acks: &Acks<Bbr>) -> State {
    acks.rule.state
}

fn pace(acks: &Acks<Bbr>) -> f64 {
    acks.rule.pace.expect("paced").per_second() / 1_000.0
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-3 * expected, "{value}, by hand {expected}");
}

/// At the begin of Drain, with a window of 320.
fn full() -> Acks<Bbr> {
    let mut acks = new();
    for _ in 0..4 {
        acks.wait(20.0);
        acks.ack(Ack::round(1, 8.0, 400));
    }
    assert_eq!(state(&acks), State::Drain);
    acks.rule.window = 320.0;
    acks
}

/// In ProbeBW_CRUISE with 160 in flight.
fn cruising() -> Acks<Bbr> {
    let mut acks = full();
    acks.ack(Ack::of(1, 8.0, 160));
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(state(&acks), State::Cruise);
    acks
}

/// At the begin of ProbeBW_UP.
fn up() -> Acks<Bbr> {
    let mut acks = cruising();
    climb(&mut acks);
    acks
}

/// From ProbeBW_CRUISE to ProbeBW_UP.
fn climb(acks: &mut Acks<Bbr>) {
    climb_at(acks, 8.0);
}

/// The same while so many segments per ms are delivered; no ProbeRTT is due.
fn climb_at(acks: &mut Acks<Bbr>, rate: f64) {
    acks.wait(3_001.0);
    acks.rule.trips.renew(acks.now);
    acks.ack(Ack::of(1, rate, 160));
    acks.ack(Ack::round(1, rate, 160));
    assert_eq!(state(acks), State::Up);
}

/// Of a segment that left with so many in flight; so many were lost since.
fn lost(in_flight_at_send: u32, lost: u64) -> LossSample {
    LossSample::new(in_flight_at_send, lost)
}

#[test]
fn the_first_pace_is_that_of_the_first_window_and_startup_s_is_2_77_times_the_rate() {
    let mut acks = new();
    near(pace(&acks), 2.77 * 0.5);
    acks.ack(Ack::of(1, 0.3, 9));
    near(pace(&acks), 2.77 * 0.5);
    acks.ack(Ack::of(1, 0.7, 9));
    near(pace(&acks), 2.77 * 0.7 * 0.99);
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_of_growth_of_the_sample() {
    let mut acks = new();
    acks.ack(Ack::round(1, 8.0, 400));
    acks.ack(Ack::round(1, 6.0, 400));
    acks.ack(Ack { is_app_limited: true, ..Ack::round(1, 6.0, 400) });
    acks.ack(Ack::round(1, 9.95, 400));
    assert_eq!(state(&acks), State::Startup);
    acks.ack(Ack::round(1, 9.95, 400));
    assert_eq!(state(&acks), State::Drain);
    near(pace(&acks), 0.5 * 9.95 * 0.99);
}

#[test]
fn startup_ends_after_a_round_of_recovery_that_lost_too_much_in_six_places() {
    let after = |ranges: u32, step: u32, sample: (u32, u64), recovers: bool| {
        let mut acks = new();
        acks.ack(Ack::round(1, 8.0, 400));
        (0..ranges).for_each(|n| acks.lose(n * step, lost(100, 1)));
        if recovers {
            acks.recovery(ENTER, 300);
        }
        acks.ack(Ack { sample, ..Ack::round(1, 8.0, 300) });
        (state(&acks), acks.rule.long_term.in_flight)
    };
    assert_eq!(after(6, 2, (100, 3), true), (State::Drain, 160.0));
    let no = (State::Startup, f64::INFINITY);
    assert_eq!(after(5, 2, (100, 3), true), no, "five places");
    assert_eq!(after(6, 1, (100, 3), true), no, "one place");
    assert_eq!(after(6, 2, (100, 2), true), no, "no more than 2 %");
    assert_eq!(after(6, 2, (100, 3), false), no, "no recovery");
}

#[test]
fn drain_ends_with_the_product_in_flight_or_after_three_rounds() {
    let mut acks = full();
    acks.ack(Ack::of(1, 8.0, 161));
    assert_eq!(state(&acks), State::Drain);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(state(&acks), State::Cruise, "there is nothing to be brought down any more");
    let mut acks = full();
    (0..3).for_each(|_| _ = acks.ack(Ack::round(1, 8.0, 300)));
    assert_eq!(state(&acks), State::Drain);
    acks.ack(Ack::round(1, 8.0, 300));
    assert_eq!(state(&acks), State::Down);
    near(pace(&acks), 0.9 * 8.0 * 0.99);
}

#[test]
fn a_cycle_goes_down_cruises_two_to_three_seconds_refills_for_a_round_and_goes_up_for_three() {
    let mut acks = cruising();
    near(pace(&acks), 8.0 * 0.99);
    acks.wait(1_990.0);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(state(&acks), State::Cruise);
    acks.wait(1_011.0);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(state(&acks), State::Refill);
    near(pace(&acks), 8.0 * 0.99);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(state(&acks), State::Refill, "no round yet");
    acks.ack(Ack::round(1, 8.0, 160));
    assert_eq!(state(&acks), State::Up);
    near(pace(&acks), 1.25 * 8.0 * 0.99);
    acks.rule.excess = Max::default();
    // 2.25 x 160 and two more.
    assert_eq!(acks.rule.bound(), 362.0);
    for _ in 0..2 {
        acks.ack(Ack::round(1, 8.0, 200));
    }
    assert_eq!(state(&acks), State::Up);
    acks.ack(Ack::round(1, 8.0, 200));
    assert_eq!(state(&acks), State::Down);
    acks.rule.excess = Max::default();
    assert_eq!(acks.rule.bound(), 320.0);
}

#[test]
fn the_wait_is_drawn_between_two_and_three_seconds() {
    let waits: Vec<f64> = (0..40)
        .map(|seed| {
            let mut acks = full();
            acks.rule.take_streams(Streams::of(tidegate_core::rng::Seed(seed)));
            acks.ack(Ack::of(1, 8.0, 100));
            let mut waited = 0.0;
            while state(&acks) != State::Refill {
                acks.wait(10.0);
                waited += 10.0;
                acks.ack(Ack::of(1, 8.0, 100));
            }
            waited
        })
        .collect();
    assert!(waits.iter().all(|wait| (2_000.0..=3_010.0).contains(wait)), "{waits:?}");
    assert!(waits.iter().any(|wait| *wait < 2_250.0) && waits.iter().any(|wait| *wait > 2_750.0), "{waits:?}");
}

#[test]
fn a_probe_comes_after_63_rounds_at_the_latest_and_sooner_with_a_small_product() {
    let rounds = |rate: f64| {
        let mut acks = cruising();
        acks.rule.rates = Max::default();
        acks.rule.rates.add(acks.rule.cycle, (rate * 1e9) as u64, 0);
        let mut rounds = 0;
        while state(&acks) == State::Cruise {
            acks.ack(Ack::round(1, 0.1, 10));
            rounds += 1;
        }
        rounds
    };
    // One round may be drawn away.
    assert!((62..=63).contains(&rounds(8.0)), "{}", rounds(8.0));
    // A product of 30.
    assert!((29..=30).contains(&rounds(1.5)), "{}", rounds(1.5));
}

#[test]
fn a_probe_that_loses_too_much_bounds_what_is_in_flight_and_goes_down() {
    let mut acks = up();
    acks.lose(1, lost(200, 4));
    assert_eq!((state(&acks), acks.rule.long_term.in_flight), (State::Up, f64::INFINITY), "2 % are borne");
    acks.lose(3, lost(201, 5));
    // 200 before it and 4 lost: just the threshold.
    assert_eq!((state(&acks), acks.rule.long_term.in_flight), (State::Down, 200.0));
    acks.lose(5, lost(150, 50));
    assert_eq!(acks.rule.long_term.in_flight, 200.0, "one answer per probe");
    let ack = |in_flight| Ack { sample: (100, 0), ..Ack::of(1, 8.0, in_flight) };
    acks.ack(ack(200));
    assert_eq!((state(&acks), acks.rule.window()), (State::Down, 200.0));
    // Down to the product of 160, but also to 0.85 of the bound.
    acks.rule.long_term.in_flight = 180.0;
    acks.ack(ack(154));
    assert_eq!(state(&acks), State::Down);
    acks.ack(ack(153));
    assert_eq!((state(&acks), acks.rule.window()), (State::Cruise, 153.0));
}

#[test]
fn losses_of_what_data_limited_end_the_probe_without_a_bound() {
    let mut acks = up();
    let mut limited = lost(20, 5);
    limited.is_app_limited = true;
    acks.lose(1, limited);
    assert_eq!((state(&acks), acks.rule.long_term.in_flight), (State::Down, f64::INFINITY));
}

#[test]
fn the_bound_falls_to_seven_tenths_of_the_product_at_most() {
    let mut acks = up();
    acks.lose(1, lost(20, 5));
    assert_eq!(acks.rule.long_term.in_flight, 0.7 * 160.0);
}

#[test]
fn where_losses_cross_the_threshold_is_found_within_a_burst() {
    let acks = new();
    // 100 before it and one lost: (2 - 1) / 0.98 more cross it.
    near(acks.rule.in_flight_at_loss(101, 2), 100.0 + 1.0 / 0.98);
    assert_eq!(acks.rule.in_flight_at_loss(101, 20), 100.0);
}

#[test]
fn the_probe_after_a_lossy_one_is_short_and_if_it_loses_little_repeated_at_once() {
    let mut acks = up();
    acks.lose(1, lost(201, 5));
    acks.ack(Ack::round(1, 8.0, 150));
    acks.ack(Ack::of(1, 8.0, 150));
    assert_eq!(state(&acks), State::Cruise);
    climb(&mut acks);
    let ack = |in_flight| Ack { sample: (100, 0), ..Ack::of(1, 8.0, in_flight) };
    acks.ack(ack(199));
    assert_eq!(state(&acks), State::Up);
    acks.ack(ack(200));
    assert_eq!(state(&acks), State::Down, "as much as was too much");
    acks.ack(Ack { ends_round: true, ..ack(190) });
    assert_eq!(state(&acks), State::Refill);
    acks.ack(Ack { ends_round: true, ..ack(200) });
    acks.ack(ack(210));
    assert_eq!(state(&acks), State::Up, "this one stays");
}

#[test]
fn a_probe_held_by_its_bound_raises_it_and_does_not_end_for_lack_of_growth() {
    let mut acks = up();
    acks.rule.long_term.in_flight = 200.0;
    let bound = |acks: &Acks<Bbr>| acks.rule.long_term.in_flight;
    let mut course = Vec::new();
    for _ in 0..4 {
        acks.ack(Ack { sample: (190, 0), ..Ack::round(1, 8.0, 199) });
        acks.rule.window = bound(&acks);
        acks.send(acks.rule.window as u32);
        for _ in 0..bound(&acks) as u32 {
            acks.ack(Ack { sample: (190, 0), ..Ack::of(1, 8.0, 199) });
        }
        course.push(bound(&acks));
    }
    assert_eq!(state(&acks), State::Up);
    // At first one per 324 acknowledged, which 200 are not; then two per window for these and for the next 200; four; eight.
    assert_eq!(course, [200.0, 204.0, 208.0, 216.0]);
}

#[test]
fn what_left_with_more_in_flight_and_lost_little_raises_the_bound() {
    let mut acks = cruising();
    acks.rule.long_term.in_flight = 150.0;
    acks.ack(Ack { sample: (170, 4), ..Ack::of(1, 8.0, 160) });
    assert_eq!(acks.rule.long_term.in_flight, 150.0);
    acks.ack(Ack { sample: (170, 3), ..Ack::of(1, 8.0, 160) });
    assert_eq!(acks.rule.long_term.in_flight, 170.0);
}

#[test]
fn a_lossy_round_of_cruising_lowers_rate_and_window_until_the_next_probe() {
    let mut acks = cruising();
    acks.ack(Ack::round(1, 7.0, 160));
    acks.lose(1, lost(160, 1));
    let window = acks.ack(Ack::of(1, 7.0, 150));
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000), "not before the round ends");
    acks.ack(Ack::round(1, 7.0, 150));
    // 7 per ms were delivered, in samples of 140; seven tenths of the window are more.
    assert_eq!(acks.rule.rate(), PacketRate(7_000_000_000));
    near(acks.rule.window(), 0.7 * window);
    near(pace(&acks), 7.0 * 0.99);
    acks.ack(Ack::round(1, 4.0, 150));
    assert_eq!(acks.rule.rate(), PacketRate(7_000_000_000), "no loss since");
    acks.wait(3_001.0);
    acks.ack(Ack::of(1, 7.0, 150));
    assert_eq!((state(&acks), acks.rule.rate()), (State::Refill, PacketRate(8_000_000_000)));
}

#[test]
fn losses_of_a_refill_lower_nothing_at_its_rate() {
    let mut acks = cruising();
    acks.wait(3_001.0);
    acks.ack(Ack::of(1, 8.0, 160));
    acks.lose(1, lost(160, 1));
    acks.ack(Ack::round(1, 7.0, 150));
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000));
}

#[test]
fn a_rate_counts_for_this_cycle_and_the_next() {
    let mut acks = cruising();
    for expected in [8, 6] {
        climb_at(&mut acks, 6.0);
        (0..3).for_each(|_| _ = acks.ack(Ack::round(1, 6.0, 160)));
        assert_eq!(state(&acks), State::Down);
        acks.ack(Ack::round(1, 6.0, 100));
        acks.ack(Ack::of(1, 6.0, 100));
        assert_eq!(state(&acks), State::Cruise);
        assert_eq!(acks.rule.max_rate(), PacketRate(expected * 1_000_000_000));
    }
}

#[test]
fn probe_rtt_comes_every_five_seconds_with_half_the_product_and_ends_in_cruise() {
    let mut acks = cruising();
    acks.wait(4_900.0);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_ne!(state(&acks), State::ProbeRtt);
    acks.wait(101.0);
    let window = acks.rule.window();
    assert_eq!(acks.ack(Ack { rtt_ms: Some(25.0), ..Ack::of(1, 8.0, 160) }), 80.0);
    assert_eq!((state(&acks), acks.rule.trips.min()), (State::ProbeRtt, Some(Span::from_millis(20))));
    near(pace(&acks), 8.0 * 0.99);
    acks.ack(Ack::round(1, 8.0, 81));
    acks.wait(10.0);
    acks.ack(Ack::of(1, 8.0, 80));
    acks.wait(200.0);
    acks.ack(Ack::round(1, 4.0, 80));
    assert_eq!(state(&acks), State::ProbeRtt, "200 ms, and no more");
    acks.wait(0.1);
    assert!(acks.ack(Ack::of(1, 4.0, 80)) >= window);
    assert_eq!(state(&acks), State::Cruise);
    assert_eq!(acks.rule.max_rate(), PacketRate(8_000_000_000));
}

#[test]
fn a_flow_that_was_idle_skips_probe_rtt_and_paces_at_the_rate() {
    let mut acks = up();
    acks.wait(20_000.0);
    acks.send(1);
    near(pace(&acks), 8.0 * 0.99);
    acks.ack(Ack::of(1, 8.0, 0));
    assert_ne!(state(&acks), State::ProbeRtt);
}

#[test]
fn recovery_keeps_the_window_and_a_timeout_leaves_a_segment_until_its_end() {
    let mut acks = cruising();
    let window = acks.rule.window();
    acks.recovery(ENTER, 150);
    assert_eq!(acks.rule.window(), window);
    acks.recovery(Recovery::Timeout { flight: 150 }, 0);
    assert_eq!(acks.rule.window(), 1.0);
    assert_eq!(acks.ack(Ack::of(1, 8.0, 0)), 4.0);
    acks.recovery(Recovery::Exit, 0);
    assert_eq!(acks.rule.window(), window);
}

#[test]
fn a_spurious_recovery_gives_back_bounds_and_probe() {
    let mut acks = up();
    acks.lose(1, lost(201, 5));
    acks.recovery(ENTER, 150);
    assert_eq!((state(&acks), acks.rule.long_term.in_flight), (State::Down, 200.0));
    acks.recovery(Recovery::Spurious, 150);
    assert_eq!((state(&acks), acks.rule.long_term.in_flight), (State::Refill, f64::INFINITY));

    let mut acks = new();
    acks.ack(Ack::round(1, 8.0, 400));
    (0..6).for_each(|n| acks.lose(2 * n, lost(100, 1)));
    acks.recovery(ENTER, 300);
    acks.ack(Ack { sample: (100, 3), ..Ack::round(1, 8.0, 300) });
    acks.recovery(Recovery::Spurious, 300);
    assert_eq!((state(&acks), acks.rule.was_full), (State::Startup, false));
}

#[test]
fn a_burst_is_a_millisecond_of_the_pace_two_segments_and_64_kb_the_bounds() {
    let mut acks = new();
    let at = |acks: &mut Acks<Bbr>, per_second: f64| {
        acks.rule.pace = Some(PacketRate((per_second * 1e6) as u64));
        acks.rule.burst()
    };
    assert_eq!([at(&mut acks, 100.0), at(&mut acks, 8_000.0)], [2.0, 8.0]);
    near(at(&mut acks, 1e6), 65_536.0 / 1_448.0);
}
