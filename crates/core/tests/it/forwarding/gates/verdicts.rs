//! Interests that are admitted, refused and dropped, and what comes back.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::gate::{GateStats, GateVerdict};
use tidegate_core::ndn::packet::NackReason;
use tidegate_core::scheme::signal::Signal;
use tidegate_core::units::Span;

use super::script::{gate, gated, install, reported};
use crate::forwarding::harness::{
    APPLICATION, FLOW_CLASS, Instead, Metric, Router, Script, data, interest, interest_with, ms, nack, words,
};

const REFUSE: GateVerdict = GateVerdict::Nack(NackReason::Congestion);

fn requested_faces(router: &Router, segment: u32) -> Vec<u16> {
    let pit = router.forwarder.pit();
    let entry = pit.entry(pit.find(router.name(segment)).expect("pending"));
    entry.out_records().map(|record| record.face.0).collect()
}

#[test]
fn an_admitted_interest_leaves_with_what_the_gate_wrote_on_it_and_its_answer_gives_the_round_trip() {
    let gate = gate([]);
    let mut router = gated(&gate);
    let sent = router.receive(5, 0, interest(router.name(1), 1));
    assert_eq!(words(&sent), ["3 interest"]);
    assert_eq!(sent[0].1.header.hop.get(FLOW_CLASS), Some(7));
    let answered = router.receive(25, 3, data(router.name(1), 0));
    assert_eq!(answered[0].1.header.hop.get(Signal::STAMPING_RATE), Some(9));
    assert_eq!(
        reported(&gate),
        ["out 1".to_owned(), format!("data after {:?}", Some(Span::from_millis(20)))]
    );
}

#[test]
fn a_refused_interest_takes_the_strategys_other_face_and_leaves_no_trace_at_the_first() {
    let gate = gate([REFUSE]);
    let script = Script { after_refusals: [Instead::Face(4)].into(), ..Script::default() };
    let mut router = Router::scripted(&[3], script);
    install(&mut router, 3, &[&gate]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(1), 1))), ["4 interest"]);
    assert_eq!(requested_faces(&router, 1), [4]);
    assert_eq!(router.reported(), ["rejected by 3"]);
    assert_eq!(words(&router.receive(1, 4, data(router.name(1), 0))), ["0 data"]);
    assert_eq!(reported(&gate), ["out 1"]);
}

#[test]
fn every_face_is_tried_once_and_then_the_refusal_goes_downstream_and_the_entry_ends() {
    let gates = [gate([REFUSE; 2]), gate([REFUSE; 2])];
    let after_refusals = [Instead::Face(4), Instead::Face(3)].into();
    let mut router = Router::scripted(&[3], Script { after_refusals, ..Script::default() });
    install(&mut router, 3, &[&gates[0]]);
    install(&mut router, 4, &[&gates[1]]);
    let refused = router.receive(0, 0, interest(router.name(1), 1));
    assert_eq!(words(&refused), ["0 nack Congestion"]);
    assert_eq!(refused[0].1.body, 2001);
    assert_eq!((reported(&gates[0]).len(), reported(&gates[1]).len()), (1, 1));
    assert_eq!(router.pending(), 0);
    let stats = GateStats { offered: 1, refused: 1, ..GateStats::default() };
    assert_eq!(router.forwarder.gate_stats(FaceId(4)), stats);
}

#[test]
fn the_strategy_may_give_another_reason_or_wait() {
    let gate = gate([REFUSE; 2]);
    let after_refusals = [Instead::Nack(NackReason::NoRoute), Instead::Suppress].into();
    let mut router = Router::scripted(&[3], Script { after_refusals, ..Script::default() });
    install(&mut router, 3, &[&gate]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(1), 1))), ["0 nack NoRoute"]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(2), 2))), [""; 0]);
    assert_eq!((router.pending(), router.forwarder.counters().suppressed), (1, 1));
}

#[test]
fn a_refusal_at_one_of_two_faces_is_not_passed_on() {
    let gate = gate([REFUSE]);
    let mut router = Router::new(&[3, 4]);
    install(&mut router, 3, &[&gate]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(1), 1))), ["4 interest"]);
    assert_eq!(requested_faces(&router, 1), [4]);
}

#[test]
fn a_dropped_interest_ends_silently_with_its_entry() {
    let gate = gate([GateVerdict::Drop]);
    let mut router = gated(&gate);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(1), 1))), [""; 0]);
    assert_eq!((router.pending(), router.reported()), (0, vec![]));
    assert_eq!(router.forwarder.gate_stats(FaceId(3)).dropped, 1);
    assert_eq!(words(&router.receive(1, 0, interest(router.name(1), 2))), ["3 interest"]);
}

#[test]
fn an_interest_without_hops_left_is_not_shown_to_gates() {
    let gate = gate([]);
    let mut router = gated(&gate);
    let last = interest_with(router.name(1), 1, |interest| interest.hop_limit = Some(1));
    assert_eq!(words(&router.receive(0, 0, last)), [""; 0]);
    assert_eq!((reported(&gate).len(), router.forwarder.counters().hop_limited, router.pending()), (0, 1, 0));
}

#[test]
fn gates_in_a_row_are_consulted_in_order_and_those_before_a_refusal_are_notified_of_it() {
    let (first, second, third) = (gate([]), gate([REFUSE]), gate([]));
    let mut router = Router::new(&[3]);
    install(&mut router, 3, &[&first, &second, &third]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(1), 1))), ["0 nack Congestion"]);
    assert_eq!(reported(&first), ["out 1", "withdrawn, held false"]);
    assert_eq!((reported(&second), reported(&third)), (vec!["out 1".to_owned()], vec![]));
}

#[test]
fn data_that_leaves_gives_where_it_came_from() {
    let gate = gate([]);
    let mut router = Router::caching(&[3], Default::default());
    install(&mut router, 0, &[&gate]);
    router.receive(0, 0, interest(router.name(1), 1));
    let copy = router.receive(1, 3, data(router.name(1), 1000));
    assert_eq!(copy[0].1.header.hop.mark, 3);
    assert_eq!(router.receive(2, 0, interest(router.name(1), 2))[0].1.header.hop.mark, 3);
    router.receive(3, 0, interest(router.name(2), 3));
    router.receive(4, APPLICATION, data(router.name(2), 0));
    let sources = ["Face", "Cache", "Application"].map(|source| format!("data out from {source}"));
    assert_eq!(reported(&gate), sources);
}

#[test]
fn a_nack_that_answers_the_last_interest_is_reported_once_and_no_expiry_after_it() {
    let (near, far) = (gate([]), gate([]));
    let mut router = Router::new(&[3, 4]);
    install(&mut router, 3, &[&near]);
    install(&mut router, 4, &[&far]);
    let sent = router.receive(0, 0, interest(router.name(1), 1));
    let refusal = nack(&sent[0].1, NackReason::NoRoute);
    let mut stale = refusal.clone();
    stale.header.kind = nack(&interest(router.name(1), 99), NackReason::NoRoute).header.kind;
    router.receive(1, 3, stale);
    router.receive(1, 3, refusal);
    router.wake(1001);
    assert_eq!(reported(&near), ["out 1", "nack NoRoute"]);
    assert_eq!(reported(&far), ["out 1", "expiry"]);
}

#[test]
fn the_gate_of_a_face_that_another_was_faster_than_is_notified_that_nothing_is_waited_for() {
    let (near, far) = (gate([]), gate([]));
    let mut router = Router::new(&[3, 4]);
    install(&mut router, 3, &[&near]);
    install(&mut router, 4, &[&far]);
    router.receive(0, 0, interest(router.name(1), 1));
    router.receive(1, 3, data(router.name(1), 0));
    assert_eq!(reported(&near).len(), 2);
    assert_eq!(reported(&far), ["out 1", "withdrawn, held false"]);
}

#[test]
fn a_satisfied_entry_that_waits_for_stragglers_notifies_the_others_when_it_ends() {
    let far = gate([]);
    let straggler = Span::from_millis(100);
    let mut router = Router::scripted(&[3, 4, 5], Script { straggler, ..Script::default() });
    let late = gate([]);
    install(&mut router, 4, &[&far]);
    install(&mut router, 5, &[&late]);
    router.receive(0, 0, interest(router.name(1), 1));
    router.receive(10, 3, data(router.name(1), 0));
    router.receive(20, 5, data(router.name(1), 0));
    assert_eq!(reported(&far), ["out 1"]);
    router.wake(111);
    assert_eq!(reported(&far), ["withdrawn, held false"]);
    assert_eq!(reported(&late)[1..], [format!("data after {:?}", Some(Span::from_millis(20)))]);
}

#[test]
fn directives_reach_gates_and_the_earliest_wake_up_counts() {
    let gates = [gate([]), gate([])];
    let mut router = Router::new(&[3]);
    install(&mut router, 3, &[&gates[0]]);
    install(&mut router, 4, &[&gates[1]]);
    let directive = Metric(0.0);
    router.direct(&directive);
    for gate in &gates {
        assert_eq!(reported(gate), [format!("{directive:?}")]);
    }
    gates[0].borrow_mut().wake = Some(ms(30));
    gates[1].borrow_mut().wake = Some(ms(20));
    assert_eq!(router.forwarder.next_wake(), Some(ms(20)));
    router.wake(20);
    assert_eq!((reported(&gates[0]).len(), reported(&gates[1])), (0, vec![format!("wake at {}", ms(20))]));
    assert_eq!(router.forwarder.next_wake(), Some(ms(30)));
}
