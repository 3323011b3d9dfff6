use tidegate_core::link::line::LossPlan;
use tidegate_core::rng::Seed;
use tidegate_core::units::{BitRate, Packets, Span};

use super::*;

/// 8 Mbit/s: a byte takes a microsecond.
fn setup(delay: Span, loss: f64, queue: Limit) -> ChannelSetup {
    let loss = if loss > 0.0 { LossPlan::Bernoulli { probability: loss } } else { LossPlan::None };
    let line = LineSetup { rate: BitRate::from_mbps(8.0), delay, jitter: Span::ZERO, reorder: false, loss };
    ChannelSetup { line, mtu: None, queue }
}

fn channel(setup: &ChannelSetup) -> Channel {
    Channel::new(setup, |what| Rng::stream(Seed(1), what))
}

fn datagram(client: u64, size: usize) -> Datagram {
    Datagram { client, bytes: Bytes::from(vec![0; size]) }
}

fn at(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

fn packets(count: u32) -> Limit {
    Limit::Packets(Packets::new(count))
}

/// Everything due by `now`: the instant in microseconds, and the client.
fn due(channel: &mut Channel, now: Time) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| channel.take_due(now))
        .map(|(due, datagram)| (due.as_nanos() / 1_000, datagram.client))
        .collect()
}

#[test]
fn a_datagram_is_due_after_its_sending_time_and_the_delay() {
    let mut channel = channel(&setup(Span::from_millis(20), 0.0, packets(10)));
    assert_eq!(channel.next_due(), None);
    channel.accept(at(5), datagram(1, 1_000));
    assert_eq!(channel.next_due(), Some(at(21_005)));
    assert_eq!(due(&mut channel, at(21_004)), []);
    assert_eq!(due(&mut channel, at(21_005)), [(21_005, 1)]);
    assert_eq!((channel.next_due(), channel.delivered_bytes()), (None, ByteCount::new(1_000)));
}

#[test]
fn what_waits_is_sent_when_the_line_is_free_however_late_that_is_noticed() {
    let mut channel = channel(&setup(Span::ZERO, 0.0, packets(10)));
    for (client, size) in [(1, 1_000), (2, 500), (3, 100)] {
        channel.accept(at(0), datagram(client, size));
    }
    // Nobody looked for ten milliseconds.
    assert_eq!(due(&mut channel, at(10_000)), [(1_000, 1), (1_500, 2), (1_600, 3)]);
    assert_eq!(channel.waits().max, Span::from_micros(1_500));
}

#[test]
fn the_rate_is_that_of_the_line_and_not_above() {
    let mut channel = channel(&setup(Span::from_millis(1), 0.0, packets(2_000)));
    for _ in 0..1_000 {
        channel.accept(at(0), datagram(0, 1_250));
    }
    let times = due(&mut channel, at(10_000_000));
    // 1.25 MB at 8 Mbit/s take 1.25 s.
    assert_eq!((times.len(), times[999].0), (1_000, 1_251_000));
    assert!(times.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1_250));
}

#[test]
fn a_full_queue_drops_what_comes_last() {
    for limit in [packets(2), Limit::Bytes(ByteCount::new(2_000))] {
        let mut channel = channel(&setup(Span::ZERO, 0.0, limit));
        for client in 1..=5 {
            channel.accept(at(0), datagram(client, 1_000));
        }
        // One is being sent, two wait.
        assert_eq!(due(&mut channel, at(9_000)), [(1_000, 1), (2_000, 2), (3_000, 3)]);
        let expected = Counts { offered: 5, dropped: 2, delivered: 3, ..Counts::default() };
        assert_eq!(channel.counts(), expected);
        // There is room again as soon as one has left.
        channel.accept(at(9_000), datagram(6, 1_000));
        assert_eq!(due(&mut channel, at(10_000)), [(10_000, 6)]);
    }
}

#[test]
fn a_datagram_above_the_mtu_is_counted_and_takes_neither_queue_nor_line() {
    let mut channel = channel(&ChannelSetup { mtu: Some(1_000), ..setup(Span::ZERO, 0.0, packets(1)) });
    for (client, size) in [(1, 1_000), (2, 1_001), (3, 1_000)] {
        channel.accept(at(0), datagram(client, size));
    }
    assert_eq!(due(&mut channel, at(9_000)), [(1_000, 1), (2_000, 3)]);
    let expected = Counts { offered: 2, too_large: 1, delivered: 2, ..Counts::default() };
    assert_eq!(channel.counts(), expected);
}

#[test]
fn room_in_the_queue_is_made_at_the_instant_a_datagram_leaves() {
    let mut channel = channel(&setup(Span::from_secs(1), 0.0, packets(1)));
    channel.accept(at(0), datagram(1, 1_000));
    channel.accept(at(1), datagram(2, 1_000));
    channel.accept(at(999), datagram(3, 1_000));
    channel.accept(at(1_000), datagram(4, 1_000));
    assert_eq!(channel.counts().dropped, 1);
    assert_eq!(due(&mut channel, Time::MAX).iter().map(|(_, who)| *who).collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn the_share_that_is_lost_is_the_one_requested_and_the_same_for_the_same_seed() {
    let run = || {
        let mut channel = channel(&setup(Span::ZERO, 0.05, packets(10)));
        let mut arrived = Vec::new();
        for number in 0..100_000 {
            let now = at(number * 100);
            arrived.extend(due(&mut channel, now));
            channel.accept(now, datagram(number, 100));
        }
        arrived.extend(due(&mut channel, Time::MAX));
        (arrived, channel.counts())
    };
    let (arrived, counts) = run();
    let share = counts.lost as f64 / counts.offered as f64;
    assert!((share - 0.05).abs() < 0.003, "{share}");
    assert_eq!(counts.offered, counts.lost + counts.delivered);
    assert_eq!(run().0, arrived);
}

#[test]
fn a_lost_datagram_takes_the_line_as_long_as_any_other() {
    let mut channel = channel(&setup(Span::from_millis(3), 1.0, packets(10)));
    for _ in 0..3 {
        channel.accept(at(0), datagram(0, 1_000));
    }
    // Nothing will arrive, but the line wants to be asked when it is free.
    assert_eq!(channel.next_due(), Some(at(1_000)));
    assert_eq!(due(&mut channel, at(1_500)), []);
    assert_eq!(channel.counts(), Counts { offered: 3, lost: 2, queued: 1, ..Counts::default() });
    assert_eq!(channel.next_due(), Some(at(2_000)));
}

#[test]
fn nothing_is_made_and_nothing_vanishes() {
    let mut rng = Rng::stream(Seed(9), "arrivals");
    let mut channel = channel(&setup(Span::from_millis(2), 0.1, Limit::Bytes(ByteCount::new(6_000))));
    let (mut now, mut delivered, mut last) = (Time::ZERO, 0, Time::ZERO);
    for number in 0..50_000 {
        now += Span::from_micros(u64::from(rng.below(1_200)));
        while rng.chance(0.7) {
            let Some((due, _)) = channel.take_due(now) else { break };
            assert!(due <= now && due >= last, "order");
            (delivered, last) = (delivered + 1, due);
        }
        channel.accept(now, datagram(number, rng.below(1_500) as usize));
        let counts = channel.counts();
        let Counts { offered, dropped, lost, queued, in_flight, .. } = counts;
        assert_eq!(offered, dropped + lost + counts.delivered + queued + in_flight);
        assert_eq!((offered, counts.delivered), (number + 1, delivered));
    }
    let counts = channel.counts();
    assert!(counts.dropped > 1_000 && counts.lost > 1_000 && counts.delivered > 10_000, "{counts:?}");
}

#[test]
fn an_empty_datagram_passes_and_takes_no_time_to_send() {
    let mut channel = channel(&setup(Span::ZERO, 0.0, packets(1)));
    channel.accept(at(7), datagram(1, 0));
    assert_eq!(due(&mut channel, at(7)), [(7, 1)]);
}
