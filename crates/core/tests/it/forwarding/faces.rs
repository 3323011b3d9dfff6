//! Limits, scopes, and faces that come and go, as on a live node.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::forwarder::BodyRules;
use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::{Interest, Millis, NackReason};
use tidegate_core::units::Time;

use super::harness::{APPLICATION, Router, data, interest, interest_with, ms, nack, words};

#[test]
fn an_interest_beyond_the_limit_is_refused_as_congestion_and_one_that_is_pending_is_not() {
    let mut router = Router::with_pit_limit(2);
    for segment in 0..2 {
        assert_eq!(words(&router.receive(0, 0, interest(router.name(segment), segment + 1))), ["3 interest"]);
    }
    let refused = router.receive(0, 1, interest(router.name(2), 9));
    assert_eq!(words(&refused), ["1 nack Congestion"]);
    assert_eq!(words(&router.receive(0, 1, interest(router.name(1), 10))), [""; 0]);
    assert_eq!((router.pending(), router.forwarder.counters().refused_full), (2, 1));
    router.receive(1, 3, data(router.name(0), 0));
    assert_eq!(words(&router.receive(1, 1, interest(router.name(2), 11))), ["3 interest"]);
}

#[test]
fn a_full_table_has_some_room_for_the_management_of_the_node() {
    let mut router = Router::with_pit_limit(0);
    let prefix = router.names.intern_uri("/localhost/status").expect("valid");
    let hop = NextHop { cost: 0, face: FaceId(APPLICATION) };
    router.forwarder.fib_mut().set(prefix, vec![hop]);
    for segment in 0..64 {
        let requested = interest(Name::segment(prefix, segment), segment + 1);
        assert_eq!(words(&router.receive(0, 0, requested)), [format!("{APPLICATION} interest")]);
    }
    assert_eq!(words(&router.receive(0, 0, interest(Name::segment(prefix, 64), 99))), ["0 nack Congestion"]);
    assert_eq!(words(&router.receive(0, 0, interest(router.name(0), 100))), ["0 nack Congestion"]);
}

#[test]
fn another_selector_for_a_pending_name_counts_as_one_more_interest() {
    let mut router = Router::with_pit_limit(1);
    router.receive(0, 0, interest(router.name(0), 1));
    let other = interest_with(router.name(0), 2, |interest| interest.must_be_fresh = true);
    assert_eq!(words(&router.receive(0, 1, other)), ["1 nack Congestion"]);
    assert_eq!(router.pending(), 1);
}

#[test]
fn a_nack_carries_the_body_of_the_interest_it_refuses() {
    let mut router = Router::with_pit_limit(0);
    let refused = router.receive(0, 1, interest(router.name(2), 9));
    assert_eq!(refused[0].1.body, 2009);
    let mut router = Router::new(&[3]);
    let sent = router.receive(0, 0, interest(router.name(1), 7));
    let mut refusal = nack(&sent[0].1, NackReason::NoRoute);
    refusal.body = 4;
    assert_eq!(router.receive(1, 3, refusal)[0].1.body, 4);
}

/// A router with a route for `uri` through a device and through the application.
fn scoped(uri: &str) -> (Router, Name) {
    let mut router = Router::new(&[3]);
    let prefix = router.names.intern_uri(uri).expect("valid");
    let hops = [(1, 3), (2, APPLICATION)].map(|(cost, face)| NextHop { cost, face: FaceId(face) });
    router.forwarder.fib_mut().set(prefix, hops.to_vec());
    (router, Name::segment(prefix, 1))
}

#[test]
fn interests_under_localhost_reach_applications_on_the_node_only() {
    let (mut router, name) = scoped("/localhost/x");
    let sent = router.receive(0, APPLICATION, interest(name, 1));
    assert_eq!(words(&sent), [format!("{APPLICATION} nack NoRoute")]);
    let (mut router, name) = scoped("/localhost/x");
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))), [format!("{APPLICATION} interest")]);
}

#[test]
fn interests_under_localhop_go_one_link_far() {
    let (mut router, name) = scoped("/localhop/x");
    assert_eq!(words(&router.receive(0, APPLICATION, interest(name, 1))), ["3 interest"]);
    let (mut router, name) = scoped("/localhop/x");
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))), [format!("{APPLICATION} interest")]);
    let (mut router, name) = scoped("/localhos/x");
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))).len(), 2);
}

#[test]
fn a_face_that_is_gone_is_neither_answered_nor_requested() {
    let mut router = Router::new(&[3, 4]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))), ["3 interest", "4 interest"]);
    router.receive(0, 1, interest(name, 2));
    router.forwarder.remove_face(&mut router.packets, FaceId(0), Time::ZERO);
    router.forwarder.remove_face(&mut router.packets, FaceId(3), Time::ZERO);
    assert_eq!(words(&router.receive(1, 4, data(name, 0))), ["1 data"]);
    assert_eq!(words(&router.receive(2, 1, interest(router.name(2), 3))), ["4 interest"]);
}

#[test]
fn what_only_a_gone_face_waited_for_ends_at_once_however_long_it_requested() {
    let mut router = Router::new(&[3]);
    let forever = |interest: &mut Interest| interest.lifetime = Millis(u32::MAX);
    router.receive(0, 0, interest_with(router.name(1), 1, forever));
    router.receive(0, 0, interest_with(router.name(2), 2, forever));
    router.receive(0, 1, interest(router.name(2), 3));
    router.forwarder.remove_face(&mut router.packets, FaceId(0), ms(5));
    assert_eq!(router.forwarder.next_wake(), Some(ms(5)));
    router.wake(6);
    assert_eq!(router.reported(), ["expiry of /a/seg=1"]);
    router.wake(1000);
    assert_eq!(router.pending(), 0);
}

#[test]
fn every_name_and_token_that_a_table_holds_is_visited() {
    let mut router = Router::caching(&[3], Default::default());
    for segment in [1, 2] {
        router.receive(0, 0, interest(router.name(segment), segment));
    }
    router.receive(1, 3, data(router.name(1), 0));
    let mut seen = Vec::new();
    router.forwarder.visit_names(&router.packets, &mut |name, token| seen.push((name, token.0)));
    seen.sort_unstable();
    let (route, cached, pending) = (Name::whole(router.prefix), router.name(1), router.name(2));
    assert_eq!(seen, [(cached, 0), (pending, 0), (pending, 1002), (route, 0)]);
}

/// A router that takes the body's number, 32 times, for the digest of a Data.
fn digesting(cache: bool) -> Router {
    let mut router = Router::with(&[3], 10 * u32::from(cache), Default::default(), Default::default());
    router.forwarder.set_body_rules(BodyRules { digest: |body| [*body as u8; 32], keep: |body| *body });
    router
}

/// The name of segment 1 followed by a digest of `byte`s.
fn full_name(router: &mut Router, byte: u8) -> Name {
    let segment = router.names.child(router.prefix, 50, &[1]);
    Name::whole(router.names.child(segment, 1, &[byte; 32]))
}

#[test]
fn an_interest_for_a_digest_is_answered_by_the_data_that_has_it() {
    let mut router = digesting(false);
    let (right, wrong) = (full_name(&mut router, 77), full_name(&mut router, 78));
    router.receive(0, 0, interest(right, 1));
    router.receive(0, 1, interest(wrong, 2));
    router.receive(0, 2, interest(router.name(1), 3));
    assert_eq!(router.forwarder.pit().digest_entries(), 2);
    let mut answered = words(&router.receive(1, 3, data(router.name(1), 0)));
    answered.sort_unstable();
    assert_eq!(answered, ["0 data", "2 data"]);
    assert_eq!((router.pending(), router.forwarder.pit().digest_entries()), (1, 1));
}

#[test]
fn only_data_of_a_name_with_a_pending_digest_is_hashed() {
    let mut router = digesting(false);
    router
        .forwarder
        .set_body_rules(BodyRules { digest: |body| panic!("{body} is hashed"), keep: |body| *body });
    let pending = full_name(&mut router, 77);
    router.receive(0, 0, interest(pending, 1));
    // A name that is in the table as a whole, as that of the pending digest.
    router.names.child(router.prefix, 50, &[2]);
    router.receive(0, 1, interest(router.name(2), 2));
    assert_eq!(words(&router.receive(1, 3, data(router.name(2), 0))), ["1 data"]);
}

#[test]
fn the_content_store_answers_for_a_digest_with_no_other_data() {
    let mut router = digesting(true);
    router.receive(0, 0, interest(router.name(1), 1));
    router.receive(1, 3, data(router.name(1), 0));
    let (right, wrong) = (full_name(&mut router, 77), full_name(&mut router, 78));
    assert_eq!(words(&router.receive(2, 0, interest(right, 2))), ["0 data"]);
    assert_eq!(words(&router.receive(2, 0, interest(wrong, 3))), ["3 interest"]);
}

#[test]
fn the_content_store_keeps_bodies_by_its_own_rule() {
    let mut router = digesting(true);
    router.forwarder.set_body_rules(BodyRules { digest: |_| [0; 32], keep: |body| body + 1 });
    router.receive(0, 0, interest(router.name(1), 1));
    assert_eq!(router.receive(1, 3, data(router.name(1), 0))[0].1.body, 77);
    assert_eq!(router.receive(2, 0, interest(router.name(1), 2))[0].1.body, 78);
}
