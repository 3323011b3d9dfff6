//! Interests that gates hold: their order, their end, and what the rest of the forwarder sees of them.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::gate::{FlowKey, GateStats, GateVerdict};
use tidegate_core::ndn::name::PrefixId;
use tidegate_core::ndn::packet::NackReason;
use tidegate_core::units::Span;

use super::script::{Gate, gate, gated, install, reported};
use crate::forwarding::harness::{Router, Script, Sent, data, interest, ms, nack, words};

const A: FlowKey = PrefixId(100);
const B: FlowKey = PrefixId(200);
const HOLD: GateVerdict = GateVerdict::Hold(A);

fn bodies(sent: &Sent) -> Vec<u32> {
    sent.iter().map(|(_, packet)| packet.body).collect()
}

/// Wakes the router at `at_ms`, where `gate` lets `count` packets of `flow` go.
fn release(router: &mut Router, gate: &Gate, at_ms: u64, flow: FlowKey, count: u32) -> Sent {
    gate.borrow_mut().wake = Some(ms(at_ms));
    gate.borrow_mut().releases.push((flow, count));
    router.wake(at_ms)
}

/// The Interest of segment `segment` with the same number as nonce.
fn request(router: &mut Router, at_ms: u64, segment: u32) -> Sent {
    router.receive(at_ms, 0, interest(router.name(segment), segment))
}

#[test]
fn held_interests_leave_oldest_first_in_each_flow() {
    let gate = gate([A, B, A, B, A].map(GateVerdict::Hold));
    let mut router = gated(&gate);
    for segment in 1..=5 {
        assert_eq!(words(&request(&mut router, 0, segment)), [""; 0]);
    }
    assert_eq!(bodies(&release(&mut router, &gate, 1, A, 2)), [2001, 2003]);
    assert_eq!(bodies(&release(&mut router, &gate, 2, B, 1)), [2002]);
    assert_eq!(bodies(&release(&mut router, &gate, 3, A, 9)), [2005]);
    assert_eq!(bodies(&release(&mut router, &gate, 4, A, 1)), []);
    let stats = GateStats { offered: 5, passed: 4, held: 5, released: 4, waiting: 1, ..GateStats::default() };
    assert_eq!(router.forwarder.gate_stats(FaceId(3)), stats);
}

#[test]
fn a_held_interest_counts_as_sent_and_its_round_trip_begins_when_it_leaves() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    request(&mut router, 10, 1);
    let pit = router.forwarder.pit();
    let entry = pit.entry(pit.find(router.name(1)).expect("pending"));
    assert_eq!(entry.last_sent(), Some(ms(10)));
    release(&mut router, &gate, 40, A, 1);
    router.receive(45, 3, data(router.name(1), 0));
    assert_eq!(reported(&gate).last(), Some(&format!("data after {:?}", Some(Span::from_millis(5)))));
}

#[test]
fn what_is_requested_again_while_it_is_held_is_suppressed_and_leaves_once() {
    let gate = gate([HOLD]);
    let mut router = Router::scripted(&[3], Script { resends: true, ..Script::default() });
    install(&mut router, 3, &[&gate]);
    request(&mut router, 0, 1);
    assert_eq!(words(&router.receive(5, 1, interest(router.name(1), 7))), [""; 0]);
    assert_eq!((router.forwarder.counters().suppressed, reported(&gate).len()), (1, 1));
    assert_eq!(bodies(&release(&mut router, &gate, 9, A, 5)), [2001]);
    assert_eq!(words(&router.receive(10, 3, data(router.name(1), 0))), ["0 data", "1 data"]);
}

#[test]
fn an_interest_that_finds_the_store_full_is_refused_as_congestion() {
    let gate = gate([HOLD; 3]);
    gate.borrow_mut().limit = 2;
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    request(&mut router, 0, 2);
    assert_eq!(words(&request(&mut router, 0, 3)), ["0 nack Congestion"]);
    assert_eq!((router.reported(), router.pending()), (vec!["rejected by 3".to_owned()], 2));
    assert_eq!(reported(&gate)[2..], ["out 3", "withdrawn, held true"]);
    release(&mut router, &gate, 1, A, 1);
    gate.borrow_mut().verdicts.push_back(HOLD);
    assert_eq!(words(&request(&mut router, 2, 4)), [""; 0]);
}

#[test]
fn a_held_interest_whose_lifetime_ends_never_leaves_and_makes_room() {
    let gate = gate([HOLD; 2]);
    gate.borrow_mut().limit = 1;
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    assert_eq!(words(&router.wake(1000)), [""; 0]);
    assert_eq!((router.pending(), router.reported()), (0, vec!["expiry of /a/seg=1".to_owned()]));
    assert_eq!(reported(&gate), ["out 1", "withdrawn, held true"]);
    assert_eq!(bodies(&release(&mut router, &gate, 1001, A, 1)), []);
    let stats = router.forwarder.gate_stats(FaceId(3));
    assert_eq!((stats.dropped, stats.waiting, stats.balances()), (1, 0, true));
    assert_eq!(words(&request(&mut router, 1002, 2)), [""; 0]);
    assert_eq!(router.forwarder.gate_stats(FaceId(3)).waiting, 1);
}

#[test]
fn a_release_in_the_millisecond_of_the_end_comes_too_late() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    assert_eq!(bodies(&release(&mut router, &gate, 1000, A, 1)), []);
}

#[test]
fn what_another_face_answered_is_not_sent_any_more_even_while_stragglers_are_waited_for() {
    for straggler in [0, 100].map(Span::from_millis) {
        let gate = gate([HOLD]);
        let mut router = Router::scripted(&[3, 4], Script { straggler, ..Script::default() });
        install(&mut router, 3, &[&gate]);
        assert_eq!(words(&request(&mut router, 0, 1)), ["4 interest"]);
        router.receive(1, 4, data(router.name(1), 0));
        assert_eq!(reported(&gate), ["out 1", "withdrawn, held true"]);
        assert_eq!(bodies(&release(&mut router, &gate, 2, A, 1)), []);
    }
}

#[test]
fn data_for_an_interest_that_is_held_still_has_no_round_trip() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    assert_eq!(words(&router.receive(7, 3, data(router.name(1), 0))), ["0 data"]);
    assert_eq!(reported(&gate), ["out 1", "withdrawn, held true", "data after None"]);
}

#[test]
fn a_nack_for_an_interest_that_is_held_still_is_no_answer() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    let forged = nack(&interest(router.name(1), 1), NackReason::NoRoute);
    assert_eq!(words(&router.receive(1, 3, forged)), [""; 0]);
    assert_eq!(reported(&gate), ["out 1"]);
    assert_eq!(bodies(&release(&mut router, &gate, 2, A, 1)), [2001]);
}

#[test]
fn an_interest_sent_again_and_held_then_expires_for_the_first_that_left() {
    let gate = gate([GateVerdict::Admit, HOLD]);
    let mut router = Router::scripted(&[3], Script { resends: true, ..Script::default() });
    install(&mut router, 3, &[&gate]);
    request(&mut router, 0, 1);
    router.receive(5, 0, interest(router.name(1), 9));
    router.wake(1005);
    assert_eq!(reported(&gate)[2..], ["withdrawn, held true", "expiry"]);
}

#[test]
fn a_link_that_goes_down_takes_what_is_held_for_it_and_the_next_try_is_a_first() {
    let gate = gate([HOLD; 2]);
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    request(&mut router, 0, 2);
    assert_eq!((router.clear_held(1, 3), router.clear_held(1, 3), router.clear_held(1, 5)), (2, 0, 0));
    let stats = router.forwarder.gate_stats(FaceId(3));
    assert_eq!((stats.dropped, stats.waiting, router.pending()), (2, 0, 2));
    // The scripted strategy suppresses what it has sent already.
    assert_eq!(words(&router.receive(2, 0, interest(router.name(1), 9))), ["3 interest"]);
}

#[test]
fn the_gates_of_a_face_that_is_gone_go_with_what_they_hold() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    gate.borrow_mut().wake = Some(ms(3));
    request(&mut router, 0, 1);
    router.forwarder.remove_face(&mut router.packets, FaceId(3), ms(1));
    assert_eq!(router.forwarder.gate_stats(FaceId(3)), GateStats::default());
    assert_eq!(bodies(&release(&mut router, &gate, 3, A, 1)), []);
    assert_eq!(reported(&gate), ["out 1"]);
}

#[test]
fn what_is_released_passes_the_gates_behind() {
    let (holder, behind) = (gate([HOLD; 3]), gate([GateVerdict::Hold(B), GateVerdict::Drop]));
    let mut router = Router::new(&[3]);
    install(&mut router, 3, &[&holder, &behind]);
    for segment in 1..=3 {
        request(&mut router, 0, segment);
    }
    assert_eq!(bodies(&release(&mut router, &holder, 1, A, 3)), [2003]);
    assert_eq!(router.pending(), 2);
    assert_eq!(bodies(&release(&mut router, &behind, 2, B, 1)), [2001]);
    let stats = GateStats { offered: 3, passed: 2, dropped: 1, held: 4, released: 4, ..GateStats::default() };
    assert_eq!(router.forwarder.gate_stats(FaceId(3)), stats);
}

#[test]
fn what_is_released_and_refused_then_is_an_upstreams_nack_for_the_strategy() {
    let (holder, behind) = (gate([HOLD]), gate([GateVerdict::Nack(NackReason::Congestion)]));
    let mut router = Router::new(&[3]);
    install(&mut router, 3, &[&holder, &behind]);
    request(&mut router, 0, 1);
    let refused = release(&mut router, &holder, 1, A, 1);
    assert_eq!(words(&refused), ["0 nack Congestion"]);
    assert_eq!((router.reported(), router.pending()), (vec!["nack Congestion from 3".to_owned()], 0));
    assert_eq!(reported(&holder).last().map(String::as_str), Some("withdrawn, held false"));
    assert!(router.forwarder.gate_stats(FaceId(3)).balances());
}

#[test]
fn names_and_flows_of_held_interests_are_visited() {
    let gate = gate([HOLD]);
    let mut router = gated(&gate);
    request(&mut router, 0, 1);
    let mut seen = Vec::new();
    router.forwarder.visit_names(&router.packets, &mut |name, token| seen.push((name, token.0)));
    assert!(seen.contains(&(tidegate_core::ndn::name::Name::whole(A), 0)));
    assert_eq!(seen.iter().filter(|seen| **seen == (router.name(1), 1001)).count(), 2);
}

#[test]
fn data_satisfies_no_interest_that_its_face_has_not_been_sent_yet() {
    let gate = gate([HOLD]);
    let mut router = Router::requested_only(&[3], 0, Script::default());
    install(&mut router, 3, &[&gate]);
    assert_eq!(words(&request(&mut router, 0, 1)), [""; 0]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(1, 3, data(name, 0))), [""; 0]);
    assert_eq!((router.pending(), router.forwarder.counters().unrequested), (1, 1));
    release(&mut router, &gate, 2, A, 1);
    assert_eq!(words(&router.receive(3, 3, data(name, 0))), ["0 data"]);
}
