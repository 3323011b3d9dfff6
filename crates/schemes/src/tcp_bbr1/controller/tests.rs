//! BBR's rules, ACK by ACK: at 8 segments per ms and 20 ms the product is 160 segments.

use super::*;
use tidegate_core::scheme::congestion::LossSample;
use tidegate_testkit::acks::{Ack, Acks};

const ENTER: Recovery = Recovery::Enter { flight: 0 };

fn with(given: &[(&str, f64)]) -> Acks<Bbr> {
    let given = given.iter().map(|(name, value)| ((*name).into(), Setting::Number(*value)));
    let params = Params::from_settings(&Settings(given.collect())).expect("valid");
    let mut acks = Acks::new(Bbr::new(params));
    acks.send(1);
    acks
}

/// Without what is added for bursts and for ACKs in lumps.
fn plain() -> Acks<Bbr> {
    with(&[("quanta", 0.0), ("aggregation_gain", 0.0)])
}

/// At the end of Startup, with a window of 400 and that much in flight: three rounds of 8 segments per ms.
fn full(mut acks: Acks<Bbr>) -> Acks<Bbr> {
    for _ in 0..4 {
        acks.wait(20.0);
        acks.ack(Ack::round(100, 8.0, 400));
    }
    assert!(acks.rule.pipe.is_full() && matches!(acks.rule.mode, Mode::Drain));
    acks
}

/// In ProbeBW with the product in flight, in the phase with this gain.
fn probing(mut acks: Acks<Bbr>, gain: f64) -> Acks<Bbr> {
    acks = full(acks);
    acks.ack(Ack::of(1, 8.0, 100));
    for _ in 0..100 {
        if acks.rule.pacing_gain == gain {
            return acks;
        }
        acks.wait(21.0);
        // Enough in flight to end the phase that probes.
        acks.ack(Ack::of(1, 8.0, 300));
    }
    panic!("no phase of gain {gain}");
}

fn pace(acks: &Acks<Bbr>) -> f64 {
    acks.rule.pace.expect("paced").per_second() / 1_000.0
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-3 * expected, "{value}, by hand {expected}");
}

#[test]
fn the_first_pace_is_the_first_window_over_the_handshake_and_does_not_fall_in_startup() {
    let mut acks = plain();
    // 2.885 x 10 / 20 ms, less a hundredth.
    near(pace(&acks), 2.885 * 0.5 * 0.99);
    acks.ack(Ack::of(1, 0.3, 9));
    near(pace(&acks), 2.885 * 0.5 * 0.99);
    acks.ack(Ack::of(1, 0.7, 9));
    near(pace(&acks), 2.885 * 0.7 * 0.99);
}

#[test]
fn the_window_grows_by_what_is_delivered_up_to_the_product_and_gain() {
    let mut acks = plain();
    assert_eq!(acks.ack(Ack::of(2, 0.5, 9)), 12.0, "less than the first window was delivered");
    assert_eq!(acks.ack(Ack::of(10, 0.5, 9)), 22.0, "22 is below 2.885 x 10, evened: 30");
    assert_eq!(acks.ack(Ack::of(10, 0.5, 9)), 32.0);
    assert_eq!(acks.ack(Ack::of(10, 0.5, 9)), 32.0, "not above, but not cut either");
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_of_growth_that_data_did_not_limit() {
    let mut acks = plain();
    let startup = |acks: &Acks<Bbr>| matches!(acks.rule.mode, Mode::Startup);
    acks.ack(Ack::round(10, 4.0, 400));
    acks.ack(Ack::round(10, 5.0, 400));
    for _ in 0..2 {
        acks.ack(Ack::round(10, 6.0, 400));
        acks.ack(Ack::of(10, 6.0, 400));
        acks.ack(Ack { is_app_limited: true, ..Ack::round(10, 6.0, 400) });
    }
    assert!(startup(&acks));
    acks.ack(Ack::round(10, 6.2, 400));
    assert!(matches!(acks.rule.mode, Mode::Drain));
    near(pace(&acks), 6.2 / 2.885 * 0.99);
}

#[test]
fn drain_ends_with_the_product_in_flight_and_probe_bandwidth_begins_with_no_draining_phase() {
    let mut acks = full(plain());
    acks.ack(Ack::of(1, 8.0, 161));
    assert!(matches!(acks.rule.mode, Mode::Drain));
    acks.ack(Ack::of(1, 8.0, 160));
    let Mode::ProbeBandwidth(cycle) = &acks.rule.mode else { panic!("{:?}", acks.rule.mode) };
    assert!(cycle.gain() >= 1.0);
    assert_eq!(acks.rule.window_gain, 2.0);
}

#[test]
fn different_draws_begin_in_different_phases() {
    let mut begun: Vec<f64> = (0..40)
        .map(|seed| {
            let mut acks = full(plain());
            acks.rule.take_streams(Streams::of(tidegate_core::rng::Seed(seed)));
            acks.ack(Ack::of(1, 8.0, 100));
            acks.rule.pacing_gain
        })
        .collect();
    begun.sort_by(f64::total_cmp);
    begun.dedup();
    assert_eq!(begun, [1.0, 1.25]);
}

#[test]
fn the_window_in_probe_bandwidth_is_twice_the_product_and_the_quanta() {
    // A burst at 8 per ms, less a hundredth, is 7.73 segments in 1/1024 s: 7; three of them and 320 make 341, evened 342.
    let acks = probing(with(&[("aggregation_gain", 0.0)]), 1.0);
    assert_eq!((acks.rule.burst(), acks.rule.bound()), (7.0, 342.0));
    // A quarter faster: 9.67; 320 + 27, evened, and two more to probe with.
    let acks = probing(with(&[("aggregation_gain", 0.0)]), 1.25);
    assert_eq!((acks.rule.burst(), acks.rule.bound()), (9.0, 350.0));
    let acks = probing(plain(), 1.0);
    assert_eq!((acks.rule.bound(), acks.rule.window), (320.0, 320.0));
}

#[test]
fn a_burst_is_one_segment_below_1200_kbps_and_at_most_what_a_super_packet_carries() {
    let mut acks = plain();
    let at = |acks: &mut Acks<Bbr>, per_second: f64| {
        acks.rule.pace = Some(PacketRate((per_second * 1e6) as u64));
        acks.rule.burst()
    };
    // 1.2 Mbit/s are 103.6 segments per second.
    assert_eq!(at(&mut acks, 103.0), 1.0);
    assert_eq!(at(&mut acks, 104.0), 2.0);
    assert_eq!(at(&mut acks, 1e6), 45.0);
}

#[test]
fn the_probing_phase_ends_with_its_target_or_a_loss_and_the_draining_one_with_the_product() {
    let mut acks = probing(plain(), 1.25);
    acks.wait(30.0);
    // 1.25 x 160 and two more to probe with.
    acks.ack(Ack::of(1, 8.0, 200));
    assert_eq!(acks.rule.pacing_gain, 1.25, "201 were in flight before");
    acks.ack(Ack::of(1, 8.0, 201));
    assert_eq!(acks.rule.pacing_gain, 0.75);
    acks.ack(Ack::of(1, 8.0, 160));
    assert_eq!(acks.rule.pacing_gain, 0.75);
    acks.ack(Ack::of(1, 8.0, 159));
    assert_eq!(acks.rule.pacing_gain, 1.0);
    let mut acks = probing(plain(), 1.25);
    acks.wait(30.0);
    acks.ack(Ack { lost: 1, ..Ack::of(1, 8.0, 20) });
    assert_eq!(acks.rule.pacing_gain, 0.75);
}

#[test]
fn a_rate_counts_for_ten_rounds() {
    let mut acks = full(plain());
    for _ in 0..10 {
        acks.ack(Ack::round(1, 6.0, 400));
    }
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000));
    acks.ack(Ack::round(1, 6.0, 400));
    assert_eq!(acks.rule.rate(), PacketRate(6_000_000_000));
    acks.ack(Ack { is_app_limited: true, ..Ack::round(1, 5.0, 400) });
    for _ in 0..20 {
        acks.ack(Ack { is_app_limited: true, ..Ack::round(1, 5.0, 400) });
    }
    assert_eq!(acks.rule.rate(), PacketRate(6_000_000_000), "the application's rate is not the path's");
    acks.ack(Ack { is_app_limited: true, ..Ack::round(1, 6.5, 400) });
    assert_eq!(acks.rule.rate(), PacketRate(6_500_000_000));
}

#[test]
fn probe_rtt_comes_ten_seconds_after_the_smallest_round_trip_and_gives_the_window_back() {
    let mut acks = probing(plain(), 1.0);
    acks.wait(10_000.0);
    acks.ack(Ack { rtt_ms: Some(21.0), ..Ack::of(1, 8.0, 159) });
    assert!(matches!(acks.rule.mode, Mode::ProbeBandwidth(_)), "ten seconds, and no more");
    acks.wait(1.0);
    assert_eq!(acks.ack(Ack { rtt_ms: Some(21.0), ..Ack::of(1, 8.0, 159) }), 4.0);
    assert_eq!(acks.rule.min.get(), Some(Span::from_millis(21)));
    acks.wait(20.0);
    acks.ack(Ack::round(155, 8.0, 4));
    acks.wait(201.0);
    acks.ack(Ack::of(1, 0.2, 4));
    assert!(matches!(acks.rule.mode, Mode::ProbeRtt(_)), "no round has ended since");
    assert_eq!(acks.ack(Ack { rtt_ms: Some(20.0), ..Ack::round(1, 0.2, 4) }), 320.0);
    assert!(matches!(acks.rule.mode, Mode::ProbeBandwidth(_)));
    assert_eq!(acks.rule.min.get(), Some(Span::from_millis(20)));
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000));
    for _ in 0..20 {
        // What ProbeRTT sent says nothing of the path.
        acks.flow.delivered -= 1;
        acks.ack(Ack::round(1, 0.2, 4));
    }
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000));
}

#[test]
fn probe_rtt_lasts_200_ms_whatever_its_rounds() {
    let mut acks = probing(plain(), 1.0);
    acks.wait(10_001.0);
    acks.ack(Ack::of(156, 8.0, 5));
    acks.wait(20.0);
    acks.ack(Ack::round(1, 8.0, 4));
    for _ in 0..10 {
        acks.wait(20.0);
        acks.ack(Ack::round(4, 0.2, 4));
        assert!(matches!(acks.rule.mode, Mode::ProbeRtt(_)));
    }
    acks.wait(1.0);
    acks.ack(Ack::round(4, 0.2, 4));
    assert!(matches!(acks.rule.mode, Mode::ProbeBandwidth(_)));
}

#[test]
fn a_flow_that_was_idle_takes_a_round_trip_without_probe_rtt_and_paces_at_the_rate() {
    let mut acks = probing(plain(), 1.25);
    acks.wait(20_000.0);
    acks.send(1);
    near(pace(&acks), 8.0 * 0.99);
    acks.ack(Ack { rtt_ms: Some(22.0), ..Ack::of(1, 8.0, 0) });
    assert!(matches!(acks.rule.mode, Mode::ProbeBandwidth(_)));
    assert_eq!(acks.rule.min.get(), Some(Span::from_millis(22)));
}

#[test]
fn the_ack_of_a_lone_short_segment_renews_no_stale_round_trip() {
    let mut acks = probing(plain(), 1.0);
    acks.ack(Ack::of(1, 8.0, 159));
    acks.wait(10_001.0);
    acks.ack(Ack { rtt_ms: Some(60.0), payload: 100, ..Ack::round(1, 8.0, 159) });
    assert_eq!(acks.rule.min.get(), Some(Span::from_millis(20)));
    assert!(matches!(acks.rule.mode, Mode::ProbeRtt(_)));
    acks.ack(Ack { rtt_ms: Some(19.0), payload: 100, ..Ack::round(1, 8.0, 159) });
    assert_eq!(acks.rule.min.get(), Some(Span::from_millis(19)));
}

#[test]
fn the_first_round_of_recovery_sends_what_is_delivered_and_its_end_gives_the_window_back() {
    let mut acks = probing(plain(), 1.0);
    acks.ack(Ack::of(1, 8.0, 200));
    acks.recovery(ENTER, 180);
    // 180 in flight and one delivered.
    assert_eq!(acks.ack(Ack { lost: 19, ..Ack::of(1, 8.0, 180) }), 181.0);
    assert_eq!(acks.ack(Ack { lost: 2, ..Ack::of(3, 8.0, 176) }), 179.0);
    // The round is over: as many more as are delivered, less what is lost.
    assert_eq!(acks.ack(Ack::round(5, 8.0, 170)), 184.0);
    assert_eq!(acks.ack(Ack { lost: 3, ..Ack::of(5, 8.0, 170) }), 186.0);
    acks.recovery(Recovery::Exit, 170);
    assert_eq!(acks.ack(Ack::of(1, 8.0, 170)), 320.0);
}

#[test]
fn a_loss_alone_changes_no_window() {
    let mut acks = probing(plain(), 1.0);
    assert_eq!(acks.ack(Ack { lost: 5, ..Ack::of(0, 8.0, 150) }), 320.0, "nothing was delivered");
}

#[test]
fn a_timeout_leaves_a_segment_and_the_old_window_comes_back_with_its_end() {
    let mut acks = probing(plain(), 1.0);
    acks.recovery(Recovery::Timeout { flight: 160 }, 0);
    assert_eq!(acks.rule.window(), 1.0);
    assert_eq!(acks.ack(Ack::of(1, 8.0, 0)), 4.0, "the floor");
    assert_eq!(acks.ack(Ack::of(2, 8.0, 0)), 6.0);
    acks.recovery(Recovery::Exit, 0);
    assert_eq!(acks.ack(Ack::of(1, 8.0, 0)), 320.0);
}

#[test]
fn a_timeout_in_startup_lowers_the_bar_and_a_spurious_recovery_counts_anew() {
    let mut acks = plain();
    for _ in 0..3 {
        acks.ack(Ack::round(10, 8.0, 400));
    }
    acks.recovery(Recovery::Timeout { flight: 400 }, 0);
    acks.ack(Ack::round(10, 8.0, 400));
    acks.ack(Ack::round(10, 8.0, 400));
    assert!(matches!(acks.rule.mode, Mode::Startup), "growth, and one round without");
    acks.recovery(Recovery::Spurious, 400);
    for _ in 0..3 {
        acks.ack(Ack::round(10, 8.0, 400));
    }
    assert!(matches!(acks.rule.mode, Mode::Startup));
    acks.ack(Ack::round(10, 8.0, 400));
    assert!(matches!(acks.rule.mode, Mode::Drain));
}

#[test]
fn a_policer_s_rate_is_kept_to_without_probing() {
    let mut acks = probing(plain(), 1.0);
    let lost = LossSample::new(160, 1);
    let round = |acks: &mut Acks<Bbr>| {
        acks.wait(20.0);
        (0..40).for_each(|_| acks.lose(0, lost));
        acks.ack(Ack { lost: 40, ..Ack::round(80, 8.0, 160) });
    };
    (0..8).for_each(|_| round(&mut acks));
    // 80 in 20 ms.
    assert_eq!(acks.rule.rate(), PacketRate(4_000_000_000));
    near(pace(&acks), 4.0 * 0.99);
    for _ in 0..47 {
        acks.wait(20.0);
        acks.ack(Ack::round(80, 8.0, 300));
        assert_eq!(acks.rule.pacing_gain, 1.0);
    }
    acks.ack(Ack::round(80, 8.0, 300));
    assert_eq!(acks.rule.rate(), PacketRate(8_000_000_000));
}

#[test]
fn acks_in_lumps_raise_the_window_once_the_pipe_was_full() {
    let mut acks = with(&[("quanta", 0.0)]);
    acks.ack(Ack::of(40, 0.5, 100));
    assert_eq!(acks.rule.bound(), 30.0, "not in Startup: 2.885 x 10, evened");
    let mut acks = probing(with(&[("quanta", 0.0)]), 1.0);
    acks.wait(500.0);
    acks.ack(Ack::of(1, 8.0, 160));
    acks.wait(1.0);
    let plain = 320.0;
    // 300 at once: no more counts than the window.
    acks.ack(Ack::of(300, 8.0, 160));
    assert!(acks.rule.bound() > plain + 280.0 && acks.rule.bound() <= 2.0 * plain, "{}", acks.rule.bound());
}
