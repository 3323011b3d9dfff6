//! The Nack pipelines.

use tidegate_core::ndn::packet::NackReason;

use crate::forwarding::harness::{
    Instead, Router, Script, Sent, data, interest, interest_in, nack, token, words,
};

/// Interests that went upstream, by face.
fn sent_to(sent: &Sent, face: u16) -> tidegate_core::ndn::packet::Packet<u32> {
    sent.iter().find(|(to, _)| *to == face).map(|(_, packet)| packet.clone()).expect("sent there")
}

#[test]
fn a_nack_returns_to_every_downstream_with_its_own_nonce_and_token() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    router.receive(0, 1, interest(name, 2));
    let returned = router.receive(1, 3, nack(&sent_to(&sent, 3), NackReason::Congestion));
    assert_eq!(words(&returned), ["0 nack Congestion", "1 nack Congestion"]);
    let seen: Vec<_> =
        returned.iter().map(|(_, packet)| (interest_in(packet).nonce, token(packet))).collect();
    assert_eq!(seen, [(1, 1001), (2, 1002)]);
    assert_eq!((router.pending(), router.forwarder.dead_nonces().len()), (0, 1));
}

#[test]
fn a_nack_for_an_earlier_nonce_is_ignored() {
    let mut router = Router::scripted(&[3], Script { resends: true, ..Script::default() });
    let name = router.name(1);
    let first = router.receive(0, 0, interest(name, 1));
    router.receive(1, 0, interest(name, 2));
    assert_eq!(words(&router.receive(2, 3, nack(&sent_to(&first, 3), NackReason::Congestion))), [""; 0]);
    assert_eq!(words(&router.receive(3, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn a_nack_from_a_face_that_was_not_used_is_ignored() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(1, 4, nack(&sent_to(&sent, 3), NackReason::NoRoute))), [""; 0]);
    assert_eq!(router.pending(), 1);
}

#[test]
fn a_nack_with_other_selectors_is_ignored() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let mut sent = sent_to(&router.receive(0, 0, interest(name, 1)), 3);
    let mut fields = interest_in(&sent);
    fields.must_be_fresh = true;
    sent.header.kind = tidegate_core::ndn::packet::Kind::Interest(fields);
    assert_eq!(words(&router.receive(1, 3, nack(&sent, NackReason::NoRoute))), [""; 0]);
    assert_eq!(router.pending(), 1);
}

#[test]
fn a_nack_waits_while_another_upstream_may_answer() {
    let mut router = Router::new(&[3, 4]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(1, 3, nack(&sent_to(&sent, 3), NackReason::NoRoute))), [""; 0]);
    assert_eq!(words(&router.receive(2, 4, data(name, 0))), ["0 data"]);
}

#[test]
fn the_least_severe_reason_returns() {
    let [congestion, duplicate, no_route] =
        [NackReason::Congestion, NackReason::Duplicate, NackReason::NoRoute];
    for (first, second, returned) in [
        (no_route, congestion, "0 nack Congestion"),
        (congestion, no_route, "0 nack Congestion"),
        (no_route, duplicate, "0 nack Duplicate"),
        (no_route, no_route, "0 nack NoRoute"),
    ] {
        let mut router = Router::new(&[3, 4]);
        let name = router.name(1);
        let sent = router.receive(0, 0, interest(name, 1));
        router.receive(1, 3, nack(&sent_to(&sent, 3), first));
        assert_eq!(words(&router.receive(2, 4, nack(&sent_to(&sent, 4), second))), [returned]);
    }
}

#[test]
fn the_last_open_upstream_is_reported_alone_when_it_is_a_downstream_too() {
    let mut router = Router::new(&[3, 4]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    router.receive(1, 4, interest(name, 2));
    let returned = router.receive(2, 3, nack(&sent_to(&sent, 3), NackReason::NoRoute));
    assert_eq!(words(&returned), ["4 nack NoRoute"]);
    assert_eq!(interest_in(&returned[0].1).nonce, 2);
    assert_eq!(
        words(&router.receive(3, 4, nack(&sent_to(&sent, 4), NackReason::NoRoute))),
        ["0 nack NoRoute"]
    );
    assert_eq!(router.pending(), 0);
}

#[test]
fn a_retransmission_takes_back_the_nack_of_its_upstream() {
    let mut router = Router::scripted(&[3, 4], Script { resends: true, ..Script::default() });
    let name = router.name(1);
    let first = router.receive(0, 0, interest(name, 1));
    router.receive(1, 3, nack(&sent_to(&first, 3), NackReason::NoRoute));
    let second = router.receive(2, 0, interest(name, 2));
    assert_eq!(words(&router.receive(3, 4, nack(&sent_to(&second, 4), NackReason::NoRoute))), [""; 0]);
    assert_eq!(words(&router.receive(4, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn a_downstream_that_no_longer_waits_is_notified_of_no_nack() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    router.receive(500, 1, interest(name, 2));
    let returned = router.receive(1000, 3, nack(&sent_to(&sent, 3), NackReason::NoRoute));
    assert_eq!(words(&returned), ["1 nack NoRoute"]);
}

fn elsewhere(instead: Instead) -> Router {
    let after_refusals = [instead].into();
    Router::scripted(&[3], Script { asks_elsewhere: true, after_refusals, ..Script::default() })
}

#[test]
fn a_refused_interest_goes_elsewhere_as_it_was_and_its_answer_comes_back() {
    let mut router = elsewhere(Instead::Face(4));
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    let again = router.receive(1, 3, nack(&sent_to(&sent, 3), NackReason::Congestion));
    assert_eq!(words(&again), ["4 interest"]);
    assert_eq!(interest_in(&again[0].1), interest_in(&sent[0].1));
    assert_eq!(router.reported(), ["nack Congestion from 3", "rejected by 3"]);
    assert_eq!(words(&router.receive(2, 4, data(name, 0))), ["0 data"]);
    assert_eq!(router.pending(), 0);
}

#[test]
fn where_there_is_no_other_way_every_downstream_receives_the_strategys_reason() {
    let mut router = elsewhere(Instead::Nack(NackReason::NoRoute));
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    router.receive(0, 1, interest(name, 2));
    let returned = router.receive(1, 3, nack(&sent_to(&sent, 3), NackReason::Congestion));
    assert_eq!(words(&returned), ["0 nack NoRoute", "1 nack NoRoute"]);
    assert_eq!((router.pending(), router.forwarder.dead_nonces().len()), (0, 1));
}

#[test]
fn nobody_is_tried_elsewhere_for_a_downstream_that_no_longer_waits() {
    let mut router = elsewhere(Instead::Face(4));
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(1000, 3, nack(&sent_to(&sent, 3), NackReason::Congestion))), [""; 0]);
    assert_eq!(router.pending(), 0);
}
