//! Packets that request more of a forwarder than their names do.

use tidegate_core::ndn::cs::UnsolicitedPolicy;
use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::fib::NextHop;
use tidegate_core::ndn::forwarder::Steering;
use tidegate_core::ndn::packet::NackReason;

use crate::forwarding::harness::{Instead, Router, Script, data, interest, nack, words};

#[test]
fn an_interest_with_a_hint_takes_the_next_hops_of_the_delegation() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let delegation = router.names.intern_uri("/delegation/of/it").expect("valid");
    let given = router.names.intern_uri("/delegation").expect("valid");
    router.forwarder.fib_mut().set(given, vec![NextHop { cost: 0, face: FaceId(4) }]);
    let steering = Steering::Route(delegation);
    assert_eq!(words(&router.receive_steered(0, 0, interest(name, 1), steering)), ["4 interest"]);
    // Data has no hint; what is pending is found by its name.
    assert_eq!(words(&router.receive(1, 4, data(name, 0))), ["0 data"]);
    assert_eq!(words(&router.receive(2, 0, interest(name, 2))), ["3 interest"]);
}

#[test]
fn an_interest_whose_delegation_has_no_route_is_refused() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let delegation = router.names.intern_uri("/elsewhere").expect("valid");
    let refused = router.receive_steered(0, 0, interest(name, 1), Steering::Route(delegation));
    assert_eq!(words(&refused), ["0 nack NoRoute"]);
}

#[test]
fn an_interest_for_one_next_hop_takes_no_other() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    let to = |face| Steering::NextHop(face);
    assert_eq!(words(&router.receive_steered(0, 0, interest(name, 1), to(Some(FaceId(5))))), ["5 interest"]);
    assert_eq!(
        words(&router.receive_steered(1, 0, interest(router.name(2), 2), to(None))),
        ["0 nack NoRoute"]
    );
}

#[test]
fn a_refused_interest_with_a_hint_goes_another_way_of_its_delegation() {
    let script =
        Script { asks_elsewhere: true, after_refusals: [Instead::Usable].into(), ..Script::default() };
    let mut router = Router::scripted(&[3], script);
    let name = router.name(1);
    let delegation = router.names.intern_uri("/delegation").expect("valid");
    router.forwarder.fib_mut().set(delegation, vec![NextHop { cost: 0, face: FaceId(4) }]);
    let sent = interest(name, 1);
    let steering = Steering::Route(delegation);
    router.receive_steered(0, 0, sent.clone(), steering);
    let elsewhere = router.receive_steered(1, 4, nack(&sent, NackReason::NoRoute), steering);
    assert_eq!(words(&elsewhere), ["4 interest"]);
}

#[test]
fn data_that_must_not_be_cached_is_forwarded_and_not_kept() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Drop);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive_steered(1, 3, data(name, 0), Steering::NoCache)), ["0 data"]);
    assert_eq!(words(&router.receive(2, 0, interest(name, 2))), ["3 interest"]);
    router.receive(3, 3, data(name, 0));
    assert_eq!(words(&router.receive(4, 0, interest(name, 3))), ["0 data"]);
}
