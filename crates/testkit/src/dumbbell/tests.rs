//! Tests of the dumbbell itself.

use std::cell::Cell;
use std::rc::Rc;

use tidegate_core::ndn::packet::Ecn;
use tidegate_core::ndn::packet::TcpFlags;
use tidegate_core::tcp::{SenderRule, Source};
use tidegate_core::units::ByteCount;

use super::*;

fn fixed(window: f64, rtt_ms: u64) -> DumbbellFlow {
    DumbbellFlow::new(SenderRule::new(Box::new(FixedWindow(window))), rtt_ms)
}

#[test]
fn a_fixed_window_is_delivered_once_per_round_trip() {
    let mut path = Dumbbell::new(Bottleneck::wide(DumbbellLoss::None), vec![fixed(100.0, 20)]);
    let goodput = path.goodputs(1.0, 11.0)[0];
    let expected = 100.0 * PAYLOAD * 8e-6 / 0.020;
    assert!((goodput / expected - 1.0).abs() < 1e-3, "{goodput} against {expected}");
    assert_eq!((path.stats(0).retransmissions, path.lost(0)), (0, 0));
}

#[test]
fn what_a_window_has_beyond_the_path_waits_and_then_is_dropped() {
    // 10 Mbit/s for 20 ms hold 16.5 packets; 40 in flight leave 23 to wait and one on the line.
    let mut path = Dumbbell::new(Bottleneck::new(10.0, 100), vec![fixed(40.0, 20)]);
    let goodput = path.goodputs(1.0, 6.0)[0];
    assert!((goodput / (10.0 * PAYLOAD / WIRE) - 1.0).abs() < 2e-3, "{goodput}");
    let queued = path.trace(7.0, Span::from_millis(10), |path| f64::from(path.queued()));
    assert!((mean(&queued) - 23.0).abs() < 1.0, "{}", mean(&queued));
    assert_eq!((path.queue_stats().dropped, path.in_flight(0)), (0, 40));

    let mut path = Dumbbell::new(Bottleneck::new(10.0, 10), vec![fixed(40.0, 20)]);
    path.run(seconds(5.0));
    let stats = path.stats(0);
    assert!(path.queue_stats().dropped > 100 && path.queue_stats().peak == 10, "{:?}", path.queue_stats());
    // Everything that was dropped was sent again, but for what was dropped a moment ago.
    assert!(stats.retransmissions.abs_diff(path.queue_stats().dropped) <= 40 + stats.probes, "{stats:?}");
}

#[test]
fn a_loss_takes_the_rest_of_its_round_trip_and_pairs_are_lost_together() {
    // A first window of 20 segments, the handshake done; none of them is sent again in this time.
    let first_window = |loss, seed| {
        let mut path = Dumbbell::new(Bottleneck { seed, ..Bottleneck::wide(loss) }, vec![fixed(20.0, 20)]);
        path.run(seconds(0.035));
        (path.received(0) / PAYLOAD as u64, path.lost(0))
    };
    let (mut begins, mut pairs) = ([false; 20], 0);
    for seed in 0..100 {
        let (received, lost) = first_window(DumbbellLoss::RestOfRound(0.1), seed);
        assert_eq!(received + lost, 20, "what came is all before what was lost");
        begins[received.min(19) as usize] |= lost > 0;
        let (received, lost) = first_window(DumbbellLoss::Pairs(0.1), seed);
        assert_eq!((received % 2, lost % 2), (0, 0));
        pairs += lost / 2;
    }
    assert!(begins.iter().filter(|begins| **begins).count() > 10, "{begins:?}");
    // A tenth of 1000, 3 standard deviations of 9.5.
    assert!((71..=129).contains(&pairs), "{pairs}");
}

#[test]
fn loss_takes_what_it_says_before_or_behind_the_bottleneck() {
    for loses_behind in [false, true] {
        let lossy = |loss| Bottleneck { loss, loses_behind, ..Bottleneck::new(50.0, 1000) };
        let mut path = Dumbbell::new(lossy(DumbbellLoss::Every(50)), vec![fixed(20.0, 20), fixed(20.0, 40)]);
        path.run(seconds(10.0));
        for flow in 0..2 {
            let (sent, lost) = (path.stats(flow).segments, path.lost(flow));
            // Behind the bottleneck some that were sent still wait.
            assert!(sent / 50 - lost <= u64::from(loses_behind), "{lost} of {sent}");
        }
        let mut path = Dumbbell::new(lossy(DumbbellLoss::Random(0.02)), vec![fixed(20.0, 20)]);
        path.run(seconds(20.0));
        let part = path.lost(0) as f64 / path.stats(0).segments as f64;
        assert!((part / 0.02 - 1.0).abs() < 0.15, "{part}");
    }
}

#[test]
fn a_run_is_repeated_by_its_seed() {
    let run = |seed| {
        let bottleneck = Bottleneck { seed, loss: DumbbellLoss::Random(0.01), ..Bottleneck::new(10.0, 20) };
        let mut path = Dumbbell::new(bottleneck, vec![fixed(20.0, 20), fixed(20.0, 30)]);
        path.run(seconds(3.0));
        (path.stats(0), path.stats(1), path.received(0))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_step_marks_what_may_be_marked() {
    for (ecn, is_marked) in [(Ecn::NotCapable, false), (Ecn::Classic, true)] {
        let bottleneck =
            Bottleneck { disciplines: vec![Box::new(StepMark(10))], ..Bottleneck::new(10.0, 100) };
        let rule = SenderRule { ecn, ..SenderRule::new(Box::new(FixedWindow(40.0))) };
        let mut path = Dumbbell::new(bottleneck, vec![DumbbellFlow::new(rule, 20)]);
        path.run(seconds(1.0));
        assert_eq!(path.stats(0).marks > 500, is_marked, "{:?}", path.stats(0));
        assert_eq!(path.queue_stats().marked > 500, is_marked);
        assert!((path.window(0) - 40.0).abs() < 1e-9);
    }
}

/// Refuses the tenth data segment, counts both directions, and ticks.
#[derive(Debug, Default)]
struct Watch {
    seen: Rc<[Cell<u64>; 3]>,
    wake: Option<Time>,
}

impl FaceGate for Watch {
    fn on_segment(
        &mut self,
        cx: &mut Context<'_>,
        segment: &mut Header,
        direction: Direction,
    ) -> GateVerdict {
        self.wake = self.wake.or(Some(cx.now + Span::from_millis(10)));
        let Kind::Tcp(tcp) = segment.kind else { return GateVerdict::Admit };
        let counter = &self.seen[usize::from(direction == Direction::In)];
        if tcp.payload > 0 || (direction == Direction::In && !tcp.flags.has(TcpFlags::SYN)) {
            counter.set(counter.get() + 1);
        }
        let is_tenth = direction == Direction::Out && tcp.payload > 0 && counter.get() == 10;
        if is_tenth { GateVerdict::Drop } else { GateVerdict::Admit }
    }

    fn on_wake(&mut self, cx: &mut Context<'_>, _: &mut Releases) {
        self.seen[2].set(self.seen[2].get() + 1);
        self.wake = Some(cx.now + Span::from_millis(10));
    }

    fn next_wake(&self) -> Option<Time> {
        self.wake
    }
}

#[test]
fn gates_see_both_directions_may_refuse_and_wake() {
    let seen = Rc::new([Cell::new(0), Cell::new(0), Cell::new(0)]);
    let gate = Watch { seen: Rc::clone(&seen), wake: None };
    let bottleneck = Bottleneck { gates: vec![Box::new(gate)], ..Bottleneck::new(10.0, 100) };
    let flow = DumbbellFlow {
        source: Source::File(ByteCount::new(100 * 1448)),
        start: seconds(0.5),
        ..fixed(20.0, 20)
    };
    let mut path = Dumbbell::new(bottleneck, vec![flow]);
    path.run(seconds(2.0));
    // 100 segments and one again; as many ACKs as arrived, and those of the FIN.
    assert_eq!((seen[0].get(), path.refused(), path.received(0)), (101, 1, 144_800));
    assert!((100..=103).contains(&seen[1].get()), "{}", seen[1].get());
    assert!((148..=151).contains(&seen[2].get()), "{}", seen[2].get());
    let end = path.completed_at(0).expect("it ended").as_secs_f64();
    assert!((0.6..0.9).contains(&end), "{end}");
}

#[test]
fn a_slower_line_from_now_on_delivers_less() {
    let mut path = Dumbbell::new(Bottleneck::new(10.0, 100), vec![fixed(40.0, 20)]);
    let before = path.goodputs(1.0, 3.0)[0];
    path.set_rate(BitRate::from_mbps(5.0));
    let after = path.goodputs(4.0, 6.0)[0];
    assert!((before / after / 2.0 - 1.0).abs() < 0.01, "{before} then {after}");
}
