//! The Interest pipelines.

use tidegate_core::ndn::cs::UnsolicitedPolicy;
use tidegate_core::ndn::packet::NackReason;
use tidegate_core::scheme::signal::Signal;
use tidegate_core::units::Span;

use crate::forwarding::harness::{
    APPLICATION, Router, Script, data, interest, interest_in, interest_with, ms, token, words,
};
use crate::forwarding::harness::{FLOW_CLASS, FLOW_RTT, TIMESTAMP_ECHO};

#[test]
fn two_downstreams_share_one_upstream_interest() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))), ["3 interest"]);
    assert_eq!(words(&router.receive(1, 1, interest(name, 2))), [""; 0]);
    assert_eq!(router.pending(), 1);
    assert_eq!(router.forwarder.counters().suppressed, 1);
}

#[test]
fn an_interest_without_a_route_is_refused_and_leaves_no_entry() {
    let mut router = Router::new(&[]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 0, interest(name, 1))), ["0 nack NoRoute"]);
    assert_eq!(router.pending(), 0);
    router.wake(2000);
    assert_eq!(router.forwarder.next_wake(), None);
}

#[test]
fn an_interest_refused_by_the_strategy_leaves_the_other_downstream_waiting() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.script.borrow_mut().refuses = Some(NackReason::Congestion);
    assert_eq!(words(&router.receive(1, 1, interest(name, 2))), ["1 nack Congestion"]);
    assert_eq!(words(&router.receive(2, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn a_nonce_from_another_face_is_a_loop() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 7));
    let refused = router.receive(1, 1, interest(name, 7));
    assert_eq!(words(&refused), ["1 nack Duplicate"]);
    assert_eq!((interest_in(&refused[0].1).nonce, token(&refused[0].1)), (7, 1007));
    assert_eq!(router.forwarder.counters().loops, 1);
}

#[test]
fn an_interest_that_comes_back_from_its_upstream_is_a_loop() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 7));
    assert_eq!(words(&router.receive(1, 3, interest(name, 7))), ["3 nack Duplicate"]);
}

#[test]
fn a_nonce_repeated_by_the_same_downstream_is_no_loop() {
    let script = Script { resends: true, ..Script::default() };
    let mut router = Router::scripted(&[3], script);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 7));
    assert_eq!(words(&router.receive(500, 0, interest(name, 7))), ["3 interest"]);
}

#[test]
fn nonces_of_an_unanswered_entry_are_remembered_for_six_seconds() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 7));
    router.wake(1000);
    assert_eq!(router.forwarder.dead_nonces().len(), 1);
    assert_eq!(words(&router.receive(6_999, 1, interest(name, 7))), ["1 nack Duplicate"]);
    assert_eq!(words(&router.receive(7_000, 1, interest(name, 7))), ["3 interest"]);
    assert!(router.forwarder.dead_nonces().is_empty());
}

#[test]
fn nonces_of_an_answered_entry_are_forgotten() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 7));
    router.receive(1, 3, data(name, 0));
    assert!(router.forwarder.dead_nonces().is_empty());
    assert_eq!(words(&router.receive(2, 1, interest(name, 7))), ["3 interest"]);
}

#[test]
fn an_answered_must_be_fresh_entry_is_remembered_only_if_its_data_goes_stale_within_six_seconds() {
    for (freshness_ms, remembered) in [(5_999, 1), (6_000, 0)] {
        let mut router = Router::new(&[3]);
        let name = router.name(1);
        router.receive(0, 0, interest_with(name, 7, |interest| interest.must_be_fresh = true));
        router.receive(1, 3, data(name, freshness_ms));
        assert_eq!(router.forwarder.dead_nonces().len(), remembered, "freshness {freshness_ms} ms");
    }
}

#[test]
fn an_interest_with_no_hops_left_goes_nowhere() {
    let mut router = Router::new(&[3, APPLICATION]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 0, interest_with(name, 1, |i| i.hop_limit = Some(0)))), [""; 0]);
    assert_eq!((router.pending(), router.forwarder.counters().hop_limited), (0, 1));
}

#[test]
fn the_last_hop_reaches_applications_only() {
    let mut router = Router::new(&[3, APPLICATION]);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest_with(name, 1, |i| i.hop_limit = Some(1)));
    assert_eq!(words(&sent), ["6 interest"]);
    assert_eq!(interest_in(&sent[0].1).hop_limit, Some(0));
}

#[test]
fn an_interest_that_ends_here_leaves_no_entry() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 0, interest_with(name, 1, |i| i.hop_limit = Some(1)))), [""; 0]);
    assert_eq!((router.pending(), router.forwarder.counters().hop_limited), (0, 1));
}

#[test]
fn every_node_takes_one_hop_off_a_limit_that_was_given() {
    let mut router = Router::new(&[3]);
    for (segment, given, left) in
        [(1, Some(2), Some(1)), (2, Some(254), Some(253)), (3, Some(255), Some(254)), (4, None, None)]
    {
        let name = router.name(segment);
        let sent = router.receive(0, 0, interest_with(name, 1, |i| i.hop_limit = given));
        assert_eq!(interest_in(&sent[0].1).hop_limit, left);
    }
}

#[test]
fn interests_of_one_name_with_other_selectors_are_pending_side_by_side() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    for (nonce, can_be_prefix, must_be_fresh) in
        [(1, false, false), (2, true, false), (3, false, true), (4, true, true)]
    {
        let sent = router.receive(
            0,
            0,
            interest_with(name, nonce, |interest| {
                interest.can_be_prefix = can_be_prefix;
                interest.must_be_fresh = must_be_fresh;
            }),
        );
        assert_eq!(words(&sent), ["3 interest"]);
    }
    assert_eq!(router.pending(), 4);
    assert_eq!(router.receive(1, 3, data(name, 0)).len(), 4);
    assert_eq!(router.pending(), 0);
    assert_eq!(router.forwarder.pit().prefix_entries(), 0);
}

#[test]
fn a_cache_hit_carries_no_signals_but_echoes_and_the_token_of_its_interest() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Drop);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    let mut marked = data(name, 0);
    marked.header.hop.mark = 1;
    marked.header.hop.put(Signal::STAMPING_RATE, 9);
    router.receive(1, 3, marked);
    let mut again = interest(name, 5);
    again.header.hop.put(TIMESTAMP_ECHO, 7);
    again.header.hop.put(FLOW_CLASS, 8);
    let hit = router.receive(2, 1, again);
    assert_eq!(words(&hit), ["1 data"]);
    let hop = &hit[0].1.header.hop;
    assert_eq!((hop.mark, hop.get(Signal::STAMPING_RATE), hop.get(FLOW_CLASS)), (0, None, None));
    assert_eq!(hop.get(TIMESTAMP_ECHO), Some(7), "the store answers as a producer does");
    assert_eq!((token(&hit[0].1), hit[0].1.body), (1005, 77));
    assert_eq!((router.pending(), router.forwarder.counters().cache_hits), (0, 1));
    assert_eq!(router.reported().last().map(String::as_str), Some("content hit"));
}

#[test]
fn a_cached_data_under_a_segment_name_answers_its_prefix_interest() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Admit);
    let below = router.names.intern_uri("/a/seg=4/x").expect("valid");
    let below = router.names.name_of(below);
    router.receive(0, 3, data(below, 0));
    let name = router.name(4);
    let hit = router.receive(1, 0, interest_with(name, 1, |interest| interest.can_be_prefix = true));
    assert_eq!(words(&hit), ["0 data"]);
}

#[test]
fn an_unanswered_entry_ends_with_its_last_downstream_and_the_strategy_is_notified_of_it() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(400, 1, interest(name, 2));
    router.wake(1399);
    assert_eq!(router.pending(), 1);
    router.wake(1400);
    assert_eq!((router.pending(), router.forwarder.counters().expired), (0, 1));
    assert_eq!(router.reported(), ["expiry of /a/seg=1"]);
    assert_eq!(router.forwarder.next_wake(), None);
}

#[test]
fn the_longest_lifetime_a_peer_can_choose_is_pending_and_not_over() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest_with(name, 1, |interest| interest.lifetime.0 = u32::MAX));
    router.wake(1_000_000);
    assert_eq!(words(&router.receive(1_000_000, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn an_interest_with_a_lifetime_of_zero_ends_within_a_millisecond() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(5, 0, interest_with(name, 1, |interest| interest.lifetime.0 = 0));
    assert!(router.forwarder.next_wake().is_some_and(|at| at <= ms(6)));
    router.wake(6);
    assert_eq!(router.pending(), 0);
}

#[test]
fn signals_and_body_of_an_interest_go_upstream() {
    let mut router = Router::new(&[3]);
    let mut requested = interest(router.name(1), 1);
    requested.header.hop.put(FLOW_RTT, 500);
    requested.header.hop.hops = 2;
    let sent = router.receive(0, 0, requested);
    let hop = sent[0].1.header.hop;
    assert_eq!((hop.get(FLOW_RTT), hop.hops, sent[0].1.body), (Some(500), 3, 2001));
}

#[test]
fn probes_carry_nonces_of_their_own() {
    let script = Script { fresh_nonces: true, ..Script::default() };
    let mut router = Router::scripted(&[3, 4], script);
    let name = router.name(1);
    let sent = router.receive(0, 0, interest(name, 1));
    let nonces: Vec<u32> = sent.iter().map(|(_, packet)| interest_in(packet).nonce).collect();
    assert_eq!(nonces.len(), 2);
    assert!(nonces[0] != nonces[1] && !nonces.contains(&1), "{nonces:?}");
}

#[test]
fn a_probe_that_comes_back_from_its_upstream_is_a_loop() {
    let script = Script { fresh_nonces: true, ..Script::default() };
    let mut router = Router::scripted(&[3], script);
    let name = router.name(1);
    let probe = interest_in(&router.receive(0, 0, interest(name, 1))[0].1).nonce;
    assert_eq!(words(&router.receive(1, 3, interest(name, probe))), ["3 nack Duplicate"]);
}

#[test]
fn a_strategy_is_woken_at_the_time_it_requested() {
    let mut router = Router::scripted(&[3], Script { wake: Some(ms(30)), ..Script::default() });
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(router.forwarder.next_wake(), Some(ms(30)));
    router.wake(29);
    assert_eq!(router.reported(), [""; 0]);
    router.wake(30);
    assert_eq!(router.reported(), ["wake at 0.030000s"]);
    assert_eq!(router.forwarder.next_wake(), Some(ms(1000)));
}

#[test]
fn an_interest_after_the_answer_opens_a_kept_entry_again() {
    let script = Script { straggler: Span::from_millis(100), resends: true, ..Script::default() };
    let mut router = Router::scripted(&[3, 4], script);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(10, 3, data(name, 0));
    assert_eq!(words(&router.receive(20, 1, interest(name, 2))), ["3 interest", "4 interest"]);
    router.wake(200);
    assert_eq!(words(&router.receive(200, 4, data(name, 0))), ["1 data"]);
}
