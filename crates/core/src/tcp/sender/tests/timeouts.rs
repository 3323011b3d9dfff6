use super::bench::Bench;
use crate::tcp::Source;
use crate::tcp::sender::{Detection, SenderSettings, TimeoutRule};
use crate::units::{ByteCount, Span, Time};

fn settings(timeout_rule: TimeoutRule, detection: Detection) -> SenderSettings {
    SenderSettings { timeout_rule, detection, ..SenderSettings::default() }
}

/// Ten segments left at 120 ms, after a handshake of 20 ms; nothing but the timer finds a retransmission lost.
fn ten(rule: TimeoutRule) -> Bench {
    let mut bench = Bench::new(10.0, Source::Endless, settings(rule, Detection::Sack)).open(u16::MAX);
    assert_eq!(bench.sent().len(), 10);
    bench
}

fn ms(millis: f64) -> Span {
    Span::from_millis(1).scale(millis)
}

/// When the sender wakes next, ms.
fn timer(bench: &Bench) -> f64 {
    bench.sender.next_wake().expect("something is under way").since(Time::ZERO).as_millis_f64()
}

/// A timeout from now on, ms.
fn whole_timeout(bench: &Bench) -> f64 {
    (bench.now + bench.sender.view().rto).since(Time::ZERO).as_millis_f64()
}

#[test]
fn with_every_ack_lost_the_timer_fires_again_and_again_and_waits_twice_as_long_up_to_two_minutes() {
    // With a probe of the last segment at 160 ms, which the timer starts anew with; 20 ms and 200 ms, or 200 ms.
    for (rule, detection, first, timeout) in [
        (TimeoutRule::Linux, Detection::Sack, 120.0, 220.0),
        (TimeoutRule::Linux, Detection::RackTlp, 160.0, 220.0),
        (TimeoutRule::Rfc6298, Detection::Sack, 120.0, 200.0),
        (TimeoutRule::Rfc6298, Detection::RackTlp, 160.0, 200.0),
    ] {
        let file = Source::File(ByteCount::new(2000));
        let mut bench = Bench::new(10.0, file, settings(rule, detection)).open(u16::MAX);
        assert_eq!(bench.sent(), [0, 1]);
        let mut left = bench.run_to(700_000);
        left.retain(|(_, number)| *number == 0);
        let (mut at, mut wait) = (first, timeout);
        let mut expected = Vec::new();
        while at + wait <= 700_000.0 {
            expected.push((at + wait, 0));
            (at, wait) = (at + wait, f64::min(2.0 * wait, 120_000.0));
        }
        assert!(expected.len() > 12 && wait == 120_000.0);
        assert_eq!(left, expected, "{rule:?} {detection:?}");
    }
}

#[test]
fn in_linux_the_first_segment_has_its_whole_timeout_from_when_it_left_last() {
    let mut bench = ten(TimeoutRule::Linux);
    assert_eq!(timer(&bench), 340.0);
    bench.set(141);
    bench.ack(0, &[(1, 2)], 120);
    assert_eq!((bench.sent(), timer(&bench)), (vec![10], 340.0), "1 left after 0");
    bench.ack(0, &[(1, 4)], 120);
    assert_eq!(bench.sent()[0], 0);
    assert_eq!(timer(&bench), whole_timeout(&bench));
    bench.set(150);
    bench.ack(0, &[(1, 6)], 120);
    assert_eq!(timer(&bench), whole_timeout(&bench), "4 and 5 left before 0 left again");
}

#[test]
fn under_the_rfc_the_timer_runs_from_when_data_was_last_acknowledged_in_order() {
    let mut bench = ten(TimeoutRule::Rfc6298);
    assert_eq!(timer(&bench), 320.0);
    for (at, end) in [(141, 2), (141, 4), (150, 6)] {
        bench.set(at);
        bench.ack(0, &[(1, end)], 120);
        bench.sent();
        assert_eq!(timer(&bench), 320.0);
    }
    assert_eq!(bench.sender.stats().retransmissions, 1);
    bench.ack(6, &[], 141);
    assert_eq!(timer(&bench), whole_timeout(&bench));
}

#[test]
fn data_that_comes_through_behind_a_lost_retransmission_does_not_put_the_timer_off() {
    let mut bench = ten(TimeoutRule::Linux);
    bench.set(141);
    bench.ack(0, &[(1, 10)], 120);
    assert_eq!(bench.sent()[0], 0);
    let due = timer(&bench);
    let mut end = 10;
    while bench.now + bench.sender.view().smoothed_rtt.expect("a sample") < Time::ZERO + ms(due) {
        bench.now += ms(20.0);
        // Everything that left after segment 0 did.
        end = bench.sender.view().next_segment.max(end);
        bench.ack(0, &[(1, end)], 120);
        assert!(!bench.sent().contains(&0));
        assert_eq!(timer(&bench), due, "at {}", bench.now);
    }
    assert!(end > 15, "{end}");
    assert_eq!(bench.run_to(due as u64 + 1)[0].1, 0);
    assert_eq!(bench.sender.stats().timeouts, 1);
}
