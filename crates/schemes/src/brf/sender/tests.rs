use super::*;
use tidegate_testkit::ack_driver::{Ack, AckDriver};
use tidegate_testkit::gate_bench::GateBench;
use crate::brf::rate_code::GRANTED_RATE;

const RTT: Span = Span::from_millis(40);

/// A sender behind a link of 10 Mbps, and a flow with a round trip of 40 ms.
struct Bench {
    gates: GateBench,
    sender: BrfSender,
    flow: FlowView,
}

impl Bench {
    fn new() -> Self {
        let mut flow = FlowView::default();
        (flow.smoothed_rtt, flow.in_flight) = (Some(RTT), 5);
        Self { gates: GateBench::new(), sender: BrfSender::new(Span::ZERO), flow }
    }

    /// As [`new`](Self::new), granted 1 Mbyte/s at 0 ms.
    fn granted() -> Self {
        let mut bench = Self::new();
        bench.receive(0, rate_code::encode(1e6).into());
        bench.deliver(40);
        bench
    }

    fn receive(&mut self, at_ms: u64, value: u32) {
        let mut hop = HopSignals::default();
        hop.put(GRANTED_RATE, value);
        let Self { gates, sender, flow } = self;
        gates.at(at_ms * 1000, |cx| sender.on_feedback(cx, &hop, flow));
    }

    fn send(&mut self, at_ms: u64) -> HopSignals {
        let mut hop = HopSignals::default();
        let Self { gates, sender, flow } = self;
        let sent = Sent::first(0, Time::ZERO + Span::from_millis(at_ms));
        gates.at(at_ms * 1000, |cx| sender.on_sent(cx, &sent, &mut hop, flow));
        hop
    }

    fn deliver(&mut self, at_ms: u64) {
        self.deliver_marked(at_ms, 0);
    }

    fn deliver_marked(&mut self, at_ms: u64, mark: u8) {
        let delivery = Delivery::of_data(0, ByteCount::new(1448), Time::ZERO, Time::ZERO + RTT)
            .with_mark(mark)
            .with_in_flight_before(5);
        let Self { gates, sender, flow } = self;
        gates.at(at_ms * 1000, |cx| sender.on_delivery(cx, &delivery, flow));
    }

    fn recover(&mut self, at_ms: u64, recovery: Recovery) {
        let Self { gates, sender, flow } = self;
        gates.at(at_ms * 1000, |cx| sender.on_recovery(cx, recovery, flow));
    }

    fn lose(&mut self, count: u32) {
        let loss = Loss::new(0, Time::ZERO, LossSignal::Gap);
        let Self { gates, sender, flow } = self;
        (0..count).for_each(|_| gates.at(0, |cx| sender.on_loss(cx, &loss, flow)));
    }

    fn wake(&mut self, at_ms: u64) {
        let Self { gates, sender, flow } = self;
        gates.at(at_ms * 1000, |cx| sender.on_wake(cx, flow));
    }

    /// Rate on the wire, Mbyte/s; `None` where CUBIC rules.
    fn rate(&self) -> Option<f64> {
        match self.sender.pacing() {
            Pacing::Rate(rate) => Some((rate.as_bps() as f64 / 8e6 * SEGMENT / 1448.0 * 1e4).round() / 1e4),
            _ => None,
        }
    }

    fn next_wake_ms(&self) -> Option<u64> {
        self.sender.next_wake().map(|at| at.since(Time::ZERO).as_nanos() / 1_000_000)
    }
}

#[test]
fn the_syn_and_data_say_that_grants_are_understood() {
    let mut bench = Bench::new();
    let mut hop = HopSignals::default();
    bench.sender.on_open(&mut hop);
    assert_eq!((hop.get(GRANTED_RATE), bench.send(0).get(GRANTED_RATE)), (Some(0), Some(0)));
}

#[test]
fn without_a_grant_it_is_cubic_and_the_first_grant_ends_that() {
    let mut bench = Bench::new();
    assert_eq!((bench.rate(), bench.sender.window()), (None, 10.0));
    bench.deliver(40);
    assert_eq!(bench.sender.window(), 11.0, "slow start");
    bench.recover(50, Recovery::Enter { flight: 11 });
    assert!((bench.sender.window() - 7.7).abs() < 1e-9);
    bench.receive(60, 0);
    assert_eq!(bench.rate(), None, "nothing was assigned");
    bench.receive(70, rate_code::encode(1e6).into());
    assert_eq!((bench.rate(), bench.sender.ssthresh()), (Some(1.0), None));
}

#[test]
fn without_a_grant_its_window_is_that_of_tcp_cubic() {
    let known = |name: &str| crate::SCHEMES.iter().find(|scheme| scheme.name == name).expect("registered");
    let mut cubic = AckDriver::new(known("tcp-cubic"), &[]);
    let mut ours = AckDriver::new(known("brf"), &[]);
    let mut both = |each: &mut dyn FnMut(&mut AckDriver) -> f64| {
        let windows = [each(&mut cubic), each(&mut ours)];
        assert_eq!((windows[0], cubic.ssthresh()), (windows[1], ours.ssthresh()));
        windows[0]
    };
    // Slow start that a rise of the round trip slows down and ends, a loss, a curve beyond W_max, a timeout.
    let mut at_ms = 0;
    for rtt_ms in [40, 40, 60, 60, 60, 60, 60, 60, 60] {
        for _ in 0..10 {
            at_ms += 4;
            both(&mut |driver| driver.ack(at_ms, Ack { rtt_ms, ..Ack::of(1) }));
        }
    }
    let flight = both(&mut |driver| driver.recovery(at_ms, Recovery::Enter { flight: 60 })) as u32;
    both(&mut |driver| driver.recovery(at_ms + 40, Recovery::Exit));
    for step in 1..200 {
        both(&mut |driver| driver.ack(at_ms + 40 * step, Ack::of(2)));
    }
    let last = both(&mut |driver| driver.recovery(at_ms + 9_000, Recovery::Timeout { flight }));
    assert_eq!(last, 1.0);
    both(&mut |driver| driver.ack(at_ms + 9_500, Ack::of(1)));
}

#[test]
fn cubic_goes_on_from_what_the_rate_kept_in_flight_as_from_w_max() {
    let mut bench = Bench::granted();
    bench.receive(50, rate_code::encode(1.2e6).into());
    bench.wake(5_000);
    // Five halvings: 10 segments per 40 ms.
    let (from, ssthresh) = (bench.sender.window(), bench.sender.ssthresh());
    assert!((from - 10.0).abs() < 1e-9 && ssthresh == Some(from), "{from} {ssthresh:?}");
    bench.deliver(5_000);
    assert!((bench.sender.window() - 10.1).abs() < 1e-9, "no slow start: {}", bench.sender.window());
}

#[test]
fn a_grant_is_followed_up_and_down_at_once_and_losses_change_nothing() {
    let mut bench = Bench::granted();
    bench.recover(50, Recovery::Enter { flight: 20 });
    assert_eq!(bench.rate(), Some(1.0));
    for (at, rate) in [(60, 0.2), (61, 1.2), (62, 0.05)] {
        bench.receive(at, rate_code::encode(rate * 1e6).into());
        assert_eq!(bench.rate(), Some(rate));
    }
}

#[test]
fn the_rate_counts_wire_bytes_so_that_payload_is_paced_at_1448_of_1514() {
    let bench = Bench::granted();
    let Pacing::Rate(rate) = bench.sender.pacing() else { panic!("paced") };
    assert_eq!(rate.as_bps(), (8e6 * 1448.0 / 1514.0) as u64);
}

#[test]
fn the_fuse_is_twice_what_the_rate_keeps_in_flight() {
    let bench = Bench::granted();
    // 1 Mbyte/s for 40 + 25 ms.
    assert!((bench.sender.window() - 2.0 * 1e6 * 0.065 / 1514.0).abs() < 1e-6);
}

#[test]
fn an_absurd_grant_counts_as_the_link_and_the_fuse_holds() {
    let mut bench = Bench::granted();
    for value in [65_529, 65_535, 12_008] {
        bench.receive(50, value);
        assert_eq!(bench.rate(), Some(1.25), "10 Mbps");
        assert!(bench.sender.window() <= 2.0 * 1.25e6 * 0.065 / 1514.0 + 1e-9);
    }
    bench.receive(60, 70_000);
    bench.receive(60, u32::MAX);
    assert_eq!(bench.rate(), Some(1.25), "no code of two bytes: nothing was said");
}

#[test]
fn a_hold_or_a_forged_crawl_does_not_stop_the_sender_for_ever() {
    let mut bench = Bench::granted();
    bench.receive(50, rate_code::HOLD.into());
    assert_eq!((bench.rate(), bench.sender.window()), (None, 2.0), "two segments per round trip");
    bench.deliver(55);
    assert_eq!(bench.sender.window(), 2.0, "not CUBIC");
    bench.receive(60, rate_code::encode(1.0).into());
    assert_eq!(bench.rate(), Some(0.0015), "a segment per second");
    assert!(bench.sender.window() >= 10.0);
    // No ACK is without a grant for longer than three of its segments take.
    assert_eq!(bench.next_wake_ms(), Some(60 + 3_000));
}

#[test]
fn a_grant_that_is_not_renewed_decays_and_cubic_takes_over() {
    let mut bench = Bench::granted();
    // 10 segments per 40 ms are 0.3785 Mbyte/s.
    assert_eq!(bench.next_wake_ms(), Some(200));
    let mut course = Vec::new();
    for at in [200, 240, 280, 320, 360] {
        bench.wake(at);
        course.push(bench.rate().unwrap());
    }
    assert_eq!(course, [0.5, 0.3785, 0.3785, 0.3785, 0.3785]);
    bench.wake(400);
    // 0.3785 Mbyte/s for 40 ms.
    assert!(bench.rate().is_none() && (bench.sender.window() - 10.0).abs() < 1e-9);
    bench.receive(450, rate_code::encode(8e5).into());
    assert_eq!(bench.rate(), Some(0.8), "back with the first grant");
}

#[test]
fn a_late_wake_up_makes_up_for_every_step_it_missed() {
    let mut bench = Bench::granted();
    bench.wake(5_000);
    assert_eq!(bench.rate(), None);
}

#[test]
fn a_stale_rate_never_rises() {
    let mut bench = Bench::new();
    bench.receive(0, rate_code::encode(1e5).into());
    bench.deliver(40);
    bench.wake(5_000);
    assert!(bench.rate().is_none() && bench.sender.window() <= 4.0, "2.6 segments per round trip");
}

#[test]
fn a_timeout_keeps_a_fresh_grant_halves_an_old_one_and_ends_a_stale_one() {
    let timeout = Recovery::Timeout { flight: 5 };
    let mut bench = Bench::granted();
    bench.recover(39, timeout);
    assert_eq!(bench.rate(), Some(1.0));
    bench.recover(100, timeout);
    assert_eq!(bench.rate(), Some(0.5));
    bench.wake(200);
    bench.recover(210, timeout);
    assert_eq!(bench.rate(), None);
    bench.recover(220, timeout);
    assert_eq!(bench.sender.window(), 1.0, "as any TCP");
}

#[test]
fn a_rest_of_a_second_forgets_the_grant_and_a_shorter_one_keeps_it() {
    let mut bench = Bench::granted();
    bench.flow.in_flight = 0;
    bench.wake(200);
    assert_eq!(bench.next_wake_ms(), None, "nothing can come");
    bench.flow.in_flight = 1;
    bench.send(800);
    assert_eq!((bench.rate(), bench.next_wake_ms()), (Some(1.0), Some(1_000)));
    bench.send(2_000);
    assert_eq!(bench.rate(), Some(0.3785), "ten segments over a round trip");
}

#[test]
fn the_first_grant_of_a_flow_that_begins_late_is_not_forgotten() {
    let mut bench = Bench::new();
    bench.receive(5_000, rate_code::encode(1e6).into());
    bench.flow.in_flight = 1;
    bench.send(5_000);
    assert_eq!(bench.rate(), Some(1.0));
}

#[test]
fn heavy_loss_without_a_grant_counts_as_a_stale_one() {
    let mut bench = Bench::granted();
    bench.flow.smoothed_rtt = Some(Span::from_millis(10));
    bench.deliver(45);
    for at in 46..86 {
        bench.send(at);
    }
    bench.lose(9);
    bench.deliver(86);
    assert_eq!(bench.rate(), Some(1.0), "under a quarter");
    for at in 87..127 {
        bench.send(at);
    }
    bench.lose(11);
    bench.deliver(127);
    // Ten segments per 10 ms are more than the link's rate: the floor is what it had.
    assert!(matches!(bench.sender.mode, Mode::Stale { halvings: 1, .. }), "more than a quarter");
}

#[test]
fn heavy_loss_under_grants_is_the_radios() {
    let mut bench = Bench::granted();
    for round in 1..20u64 {
        bench.receive(round * 40, rate_code::encode(1e6).into());
        for step in 0..40 {
            bench.send(round * 40 + step);
        }
        bench.lose(16);
        bench.deliver(round * 40 + 39);
        bench.wake(round * 40 + 39);
    }
    assert_eq!(bench.rate(), Some(1.0));
}

#[test]
fn marks_mean_nothing_to_a_rate_that_is_granted_and_cubic_answers_them() {
    let mut bench = Bench::granted();
    bench.deliver_marked(60, 1);
    assert_eq!(bench.rate(), Some(1.0));
    // Stale, it halves each round trip as it is.
    bench.wake(200);
    bench.deliver_marked(210, 1);
    assert_eq!(bench.rate(), Some(0.5));
    let mut bench = Bench::new();
    bench.deliver(40);
    let before = bench.sender.window();
    bench.deliver_marked(41, 1);
    assert!(bench.sender.window() < before, "{} of {before}", bench.sender.window());
}

#[test]
fn what_is_released_together_is_between_two_segments_and_64_kb() {
    let mut bench = Bench::granted();
    assert_eq!(bench.sender.burst(), 1, "not asked for");
    for (release_ms, segments) in [(1, 2), (10, 6), (50, 33), (1_000, 43)] {
        bench.sender.release = Span::from_millis(release_ms);
        assert_eq!(bench.sender.burst(), segments, "{release_ms} ms at 1 Mbyte/s");
    }
    bench.wake(5_000);
    assert_eq!((bench.rate(), bench.sender.burst()), (None, 1), "CUBIC is not paced");
}
