//! The loss-notice pipeline.

use tidegate_core::ndn::cs::UnsolicitedPolicy;
use tidegate_core::ndn::name::Name;
use tidegate_core::scheme::signal::Class;

use crate::forwarding::harness::{Router, data, interest, interest_with, loss_notice, token, words};

#[test]
fn a_notice_reaches_every_downstream_in_the_notice_class_with_its_token() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(0, 1, interest(name, 2));
    let sent = router.receive(1, 3, loss_notice(name));
    let seen: Vec<_> = sent
        .iter()
        .map(|(face, packet)| (*face, token(packet), packet.header.hop.class, packet.body))
        .collect();
    assert_eq!(seen, [(0, 1001, Class::NOTICE, 55), (1, 1002, Class::NOTICE, 55)]);
    assert_eq!(words(&sent), ["0 notice", "1 notice"]);
}

#[test]
fn a_notice_leaves_the_entry_and_its_timer_and_the_data_still_goes_through() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Admit);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    let wake = router.forwarder.next_wake();
    router.receive(1, 3, loss_notice(name));
    router.receive(2, 3, loss_notice(name));
    assert_eq!((router.pending(), router.forwarder.next_wake()), (1, wake));
    assert!(router.forwarder.cs().is_empty());
    assert_eq!(words(&router.receive(3, 3, data(name, 0))), ["0 data"]);
    assert_eq!(router.reported()[..2], ["notice 1 from 3", "notice 2 from 3"]);
}

#[test]
fn a_notice_does_not_turn_back_or_reach_who_no_longer_waits() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest_with(name, 1, |interest| interest.lifetime.0 = 10));
    router.receive(0, 1, interest(name, 2));
    router.receive(0, 3, interest(name, 3));
    assert_eq!(words(&router.receive(10, 3, loss_notice(name))), ["1 notice"]);
}

#[test]
fn a_notice_for_data_below_a_prefix_interest_reaches_it() {
    let mut router = Router::new(&[3]);
    router.receive(0, 0, interest_with(Name::whole(router.prefix), 1, |i| i.can_be_prefix = true));
    let below = router.name(0);
    assert_eq!(words(&router.receive(1, 3, loss_notice(below))), ["0 notice"]);
}

#[test]
fn a_notice_that_nobody_waits_for_ends_here() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(1, 3, loss_notice(name))), [""; 0]);
}
