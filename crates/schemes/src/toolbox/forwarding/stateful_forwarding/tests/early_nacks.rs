//! Early Nacks against RED's law, on the queue of the face that an Interest came from.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::name::NameHash;
use tidegate_core::ndn::packet::NackReason::Congestion;
use tidegate_core::ndn::packet::Packet;
use tidegate_core::ndn::pit::{Pit, Selector};
use tidegate_core::prelude::*;
use tidegate_testkit::standalone_queue::StandaloneQueue;

use super::super::early_nack::{EarlyNack, QueueWatch};
use super::super::ranked_strategy::RankedStrategy;
use crate::toolbox::queue::average_queue::AverageQueue;
use crate::toolbox::queue::red_law::RedLaw;
use tidegate_testkit::gate_bench::{GateBench, data as data_packet, interest};

/// The queue of face 0, and early Nacks by its latest length.
fn watched_queue() -> (StandaloneQueue<()>, EarlyNack) {
    let average = Rc::new(RefCell::new(AverageQueue::new(1.0)));
    let law = RedLaw { min_threshold: 5.0, max_threshold: 15.0, max_probability: 0.2, gentle: false };
    let mut early_nack = EarlyNack::new(law, Rng::stream(Seed(1), "early"));
    early_nack.watch(FaceId(0), Rc::clone(&average));
    let watch = QueueWatch { average, typical_packet: ByteCount::new(500) };
    (StandaloneQueue::new(FaceId(0), vec![Box::new(watch)]), early_nack)
}

fn fill(queue: &mut StandaloneQueue<()>, cx: &mut Context<'_>, packets: u32) {
    for segment in 0..packets {
        queue.push(cx, Packet::new(data_packet(NameTable::ROOT, segment, 1_000), ()));
    }
}

/// Part of the Interests refused when so many packets wait, the last of which found one fewer, which is the average.
fn refused(waiting: u32, popped: u32) -> f64 {
    const INTERESTS: u32 = 20_000;
    let bench = &mut GateBench::new();
    let (mut queue, mut early_nack) = watched_queue();
    bench.at(0, |cx| {
        fill(&mut queue, cx, waiting);
        (0..popped).for_each(|_| assert!(queue.pop(cx).is_some()));
        assert!(!early_nack.refuses(cx, FaceId(1)), "another face's queue");
        let chosen = (0..INTERESTS).filter(|_| early_nack.refuses(cx, FaceId(0))).count();
        chosen as f64 / f64::from(INTERESTS)
    })
}

#[test]
fn early_nacks_follow_reds_law_on_the_way_back() {
    assert_eq!(refused(5, 0), 0.0, "average 4");
    assert_eq!(refused(16, 0), 1.0, "average 15");
    assert_eq!(refused(11, 9), refused(11, 0), "average 10, and two packets wait still");
    assert_eq!(refused(11, 10), 0.0, "one packet is no queue");
    // 0.2 (10 - 5)/10 = 0.1, spread: gaps uniform on 1 to 9, mean 5, variance 80/12; 4 000 of them.
    let deviation = 0.2 * (80.0_f64 / 12.0 / 4_000.0).sqrt() / 5.0;
    let part = refused(11, 0);
    assert!((part - 0.2).abs() < 4.0 * deviation, "{part}, by hand 0.2 ± {deviation}");
}

/// What becomes of an Interest from face 0 with next hop 1.
fn requested(strategy: &mut RankedStrategy, cx: &mut Context<'_>, is_repeated: bool) -> Decision {
    let mut pit = Pit::new(NameHash::LOCALITY);
    let interest = interest(NameTable::ROOT, 1);
    let selector = Selector { can_be_prefix: false, must_be_fresh: false };
    let (pending, _) = pit.find_or_insert(interest.name, selector);
    let hops = &[NextHop { cost: 1, face: FaceId(1) }];
    let (entry, targets) = (pit.entry_mut(pending), &mut Vec::new());
    let (interest, from) = (&interest, FaceId(0));
    strategy.on_interest(cx, &mut Arrival { interest, from, pending, entry, is_repeated, hops, targets })
}

#[test]
fn what_is_requested_again_is_not_refused_early() {
    let bench = &mut GateBench::new();
    let (mut queue, early_nack) = watched_queue();
    bench.at(0, |cx| {
        fill(&mut queue, cx, 16);
        let mut strategy = RankedStrategy::new(Some(early_nack), true);
        assert_eq!(requested(&mut strategy, cx, false), Decision::Nack(Congestion));
        assert_eq!(requested(&mut strategy, cx, true), Decision::Forward);
    });
}
