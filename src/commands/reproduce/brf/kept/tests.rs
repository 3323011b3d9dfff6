use super::*;

/// Two flows, sampled each second: what they had delivered, in segments of a megabit.
fn kept(delivered: [&[u32]; 2]) -> Kept {
    let flow = |(start_s, delivered): (f64, &[u32])| FlowKept {
        start_s,
        segment_bits: 1e6,
        delivered: delivered.to_vec(),
        paced: delivered.iter().map(|segments| *segments as f32).collect(),
        rtt_ms: delivered.iter().map(|segments| 20.0 + *segments as f32).collect(),
        in_flight: delivered.to_vec(),
        ..FlowKept::default()
    };
    let samples = delivered[0].len();
    Kept {
        flows: [0.0, 2.0].into_iter().zip(delivered).map(flow).collect(),
        period_s: 1.0,
        queued_bytes: (0..samples as u32).map(|row| 1000 * row).collect(),
        dropped: (1..=samples as u32).collect(),
        sent_bytes: (1..=samples as u64).map(|row| 1514 * 9 * row).collect(),
        ..Kept::default()
    }
}

#[test]
fn goodputs_are_differences_of_what_was_delivered() {
    let kept = kept([&[0, 10, 20, 30], &[0, 0, 5, 15]]);
    assert_eq!(kept.goodput_mbps(0, 0.0, 4.0), 7.5);
    assert_eq!(kept.goodput_mbps(0, 2.0, 4.0), 10.0);
    // The first sample with Data is the second.
    assert_eq!(kept.throughput_mbps(0), 10.0);
    assert_eq!(kept.throughput_mbps(1), 10.0);
    assert!((kept.share(1) - 15.0 / 45.0).abs() < 1e-12);
    assert_eq!(kept.goodputs(1, 2.0), [(1.0, 0.0), (3.0, 7.5)]);
}

#[test]
fn flows_have_converged_when_a_window_from_then_on_is_fair() {
    // From 3 s on both get ten a second.
    let fair = kept([&[10, 30, 40, 50, 60, 70], &[0, 0, 1, 11, 21, 31]]);
    assert_eq!(fair.converged_s(0.95, 2.0), 1.0);
    let unfair = kept([&[10, 30, 50, 70, 90, 110], &[0, 0, 1, 2, 3, 4]]);
    assert_eq!(unfair.converged_s(0.95, 2.0), 2.0, "the last window begins at 4 s");
    assert_eq!(unfair.converged_s(0.5, 2.0), 0.0, "half is what one of two flows alone makes");
}

#[test]
fn rates_agree_once_they_are_near_each_other_for_a_second() {
    let kept = kept([&[100, 100, 50, 50, 50, 50], &[0, 0, 10, 50, 52, 50]]);
    // The second flow starts at 2 s; rates are equal at 4 s and one second later.
    assert_eq!(kept.agreed_ms(1, 0.0), 2000.0);
    assert_eq!(kept.agreed_ms(1, 0.5), 1500.0);
    assert_eq!(kept.agreed_ms(0, 0.0), 1000.0, "alone");
    let brief = self::kept([&[100, 100, 50, 50, 50, 50, 50], &[0, 0, 50, 10, 50, 50, 50]]);
    assert_eq!(brief.agreed_ms(1, 0.0), 3000.0, "equal at 3 s, and for good from 5 s on");
}

#[test]
fn drops_are_a_part_of_what_came_to_the_bottleneck() {
    let mut kept = kept([&[0, 0, 0, 0], &[0, 0, 0, 0]]);
    // One packet dropped for nine sent in each second.
    assert_eq!(kept.dropped_percent(0.0), 10.0);
    assert_eq!(kept.dropped_percent(2.0), 10.0);
    // Ten more in the last one: 12 for the 18 sent in the last two.
    kept.dropped[3] += 10;
    assert_eq!(kept.dropped_percent(2.0), 40.0);
    assert_eq!(kept.max_queued(0.0, 4.0), 3000.0);
    assert_eq!(kept.queued_above_s(1500.0, 0.0, 4.0), 2.0);
}

#[test]
fn delays_are_round_trips_above_the_empty_one() {
    let kept = kept([&[0, 4, 2, 6, 3, 1, 5], &[0, 0, 0, 0, 0, 0, 0]]);
    assert_eq!(kept.delays(20.0, 2.0, 0.0, 6.0), [(2.0, 4.0), (4.0, 6.0), (6.0, 1.0)]);
    // Low at 3 s and at 6 s.
    assert_eq!(kept.between_dips_s(2, 1.0), 3.0);
    assert!(kept.between_dips_s(0, 1.0).is_nan());
}
