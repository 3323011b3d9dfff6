//! The Data pipelines.

use tidegate_core::ndn::cs::UnsolicitedPolicy;
use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::PitToken;
use tidegate_core::rng::{Rng, Seed};
use tidegate_core::scheme::signal::{Class, Signal};
use tidegate_core::units::Span;

use crate::forwarding::harness::{Metric, Router, Script, data, interest, interest_with, token, words};

#[test]
fn data_reaches_every_downstream_with_its_own_token_and_an_untouched_body() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    for (face, nonce) in [(0, 1), (1, 2), (2, 3), (4, 4)] {
        router.receive(0, face, interest(name, nonce));
    }
    let sent = router.receive(1, 3, data(name, 0));
    let seen: Vec<_> = sent.iter().map(|(face, packet)| (*face, token(packet), packet.body)).collect();
    assert_eq!(seen, [(0, 1001, 77), (1, 1002, 77), (2, 1003, 77), (4, 1004, 77)]);
    assert_eq!(router.pending(), 0);
}

#[test]
fn data_never_returns_to_the_face_it_came_from() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(1, 3, interest(name, 2));
    assert_eq!(words(&router.receive(2, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn a_downstream_that_no_longer_waits_gets_nothing() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest_with(name, 1, |interest| interest.lifetime.0 = 10));
    router.receive(0, 1, interest(name, 2));
    assert_eq!(words(&router.receive(10, 3, data(name, 0))), ["1 data"]);
}

#[test]
fn a_downstream_still_gets_data_in_the_last_millisecond_of_its_lifetime() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(999, 3, data(name, 0))), ["0 data"]);
}

#[test]
fn a_retransmission_renews_its_downstream_and_token() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(900, 0, interest(name, 2));
    router.wake(1000);
    let sent = router.receive(1_500, 3, data(name, 0));
    assert_eq!(sent.iter().map(|(face, packet)| (*face, token(packet))).collect::<Vec<_>>(), [(0, 1002)]);
}

#[test]
fn data_that_nobody_requested_is_dropped() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Drop);
    let name = router.name(1);
    assert_eq!(words(&router.receive(0, 3, data(name, 0))), [""; 0]);
    assert_eq!((router.forwarder.cs().len(), router.forwarder.counters().unsolicited), (0, 1));
}

#[test]
fn data_that_nobody_requested_is_cached_where_the_policy_permits_it() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Admit);
    let name = router.name(1);
    router.receive(0, 3, data(name, 0));
    assert_eq!((router.forwarder.cs().len(), router.forwarder.counters().unsolicited), (1, 1));
    assert_eq!(words(&router.receive(1, 0, interest(name, 1))), ["0 data"]);
}

#[test]
fn a_prefix_interest_is_answered_by_data_below_it() {
    for below in ["/a/seg=9", "/a/b/c/seg=0", "/a/b"] {
        let mut router = Router::new(&[3]);
        let answer = router.names.intern_uri(below).expect("valid");
        let answer = router.names.name_of(answer);
        let requested = Name::whole(router.prefix);
        router.receive(0, 0, interest_with(requested, 1, |interest| interest.can_be_prefix = true));
        assert_eq!(words(&router.receive(1, 3, data(answer, 0))), ["0 data"], "{below}");
        assert_eq!(router.pending(), 0);
    }
}

#[test]
fn data_for_a_prefix_interest_is_cached() {
    let mut router = Router::caching(&[3], UnsolicitedPolicy::Drop);
    let requested = Name::whole(router.prefix);
    router.receive(0, 0, interest_with(requested, 1, |interest| interest.can_be_prefix = true));
    let answer = router.name(2);
    router.receive(1, 3, data(answer, 0));
    assert_eq!(words(&router.receive(2, 0, interest(answer, 2))), ["0 data"]);
}

#[test]
fn a_prefix_interest_for_a_segment_is_answered_by_data_below_the_segment() {
    let mut router = Router::new(&[3]);
    let below = router.names.intern_uri("/a/seg=4/x").expect("valid");
    let name = router.name(4);
    router.receive(0, 0, interest_with(name, 1, |interest| interest.can_be_prefix = true));
    assert_eq!(words(&router.receive(1, 3, data(Name::whole(below), 0))), ["0 data"]);
}

#[test]
fn an_exact_interest_is_not_answered_by_data_below_it() {
    let mut router = Router::new(&[3]);
    router.receive(0, 0, interest(Name::whole(router.prefix), 1));
    let below = router.name(1);
    assert_eq!(words(&router.receive(1, 3, data(below, 0))), [""; 0]);
    assert_eq!(router.pending(), 1);
}

#[test]
fn a_downstream_that_requested_twice_with_one_token_gets_one_data() {
    for (second_token, copies) in [(1001, 1), (1002, 2)] {
        let mut router = Router::new(&[3]);
        let name = router.name(1);
        router.receive(0, 0, interest(name, 1));
        router.receive(
            0,
            0,
            interest_with(name, 2, |interest| {
                interest.must_be_fresh = true;
                interest.token = PitToken(second_token);
            }),
        );
        assert_eq!(router.receive(1, 3, data(name, 0)).len(), copies, "token {second_token}");
    }
}

#[test]
fn mark_and_signals_travel_downstream_in_the_bulk_class() {
    let mut router = Router::new(&[3]);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    let mut answer = data(name, 0);
    answer.header.hop.mark = 2;
    answer.header.hop.class = Class::NOTICE;
    answer.header.hop.hops = 4;
    answer.header.hop.put(Signal::STAMPING_RATE, 900);
    let sent = router.receive(1, 3, answer);
    let hop = sent[0].1.header.hop;
    assert_eq!((hop.mark, hop.class, hop.hops), (2, Class::BULK, 5));
    assert_eq!(hop.get(Signal::STAMPING_RATE), Some(900));
    assert_eq!(router.reported(), ["data from 3 mark 2 satisfied false"]);
}

#[test]
fn a_strategy_raises_the_mark_of_one_downstream_alone() {
    let mut router = Router::scripted(&[3], Script { marks: Some((1, 3)), ..Script::default() });
    let name = router.name(1);
    for face in [0, 1, 2] {
        router.receive(0, face, interest(name, u32::from(face)));
    }
    let mut answer = data(name, 0);
    answer.header.hop.mark = 1;
    let sent = router.receive(1, 3, answer);
    let marks: Vec<_> = sent.iter().map(|(face, packet)| (*face, packet.header.hop.mark)).collect();
    assert_eq!(marks, [(0, 1), (1, 3), (2, 1)]);
}

#[test]
fn a_satisfied_entry_that_is_kept_is_notified_of_later_data_but_passes_none_on() {
    let script = Script { straggler: Span::from_millis(100), ..Script::default() };
    let mut router = Router::scripted(&[3, 4], script);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(10, 3, data(name, 0))), ["0 data"]);
    assert_eq!(words(&router.receive(50, 4, data(name, 0))), [""; 0]);
    assert_eq!(
        router.reported(),
        ["data from 3 mark 0 satisfied false", "data from 4 mark 0 satisfied true"]
    );
    router.wake(109);
    assert_eq!(router.pending(), 1);
    router.wake(110);
    assert_eq!((router.pending(), router.forwarder.counters().expired), (0, 0));
    assert!(router.forwarder.dead_nonces().is_empty());
}

#[test]
fn an_entry_counts_as_satisfied_once_whatever_observes_the_answer() {
    let script = Script { straggler: Span::from_millis(100), ..Script::default() };
    let mut scripted = Router::scripted(&[3, 4], script);
    for mut router in [Router::new(&[3]), Router::caching(&[3], UnsolicitedPolicy::Drop)] {
        let name = router.name(1);
        router.receive(0, 0, interest(name, 1));
        router.receive(10, 3, data(name, 0));
        router.receive(20, 3, data(name, 0));
        assert_eq!(router.forwarder.counters().satisfied, 1);
    }
    let name = scripted.name(1);
    scripted.receive(0, 0, interest(name, 1));
    scripted.receive(10, 3, data(name, 0));
    scripted.receive(50, 4, data(name, 0));
    assert_eq!(scripted.forwarder.counters().satisfied, 1);
}

#[test]
fn directives_reach_the_strategy() {
    let mut router = Router::new(&[3]);
    let directive = Metric(2.5);
    router.direct(&directive);
    assert_eq!(router.reported(), [format!("{directive:?}")]);
}

#[test]
fn data_at_the_end_of_the_lifetime_is_not_returned_though_no_timer_has_run() {
    let mut router = Router::new(&[3]);
    for (segment, at, returned) in [(0, 999, 1), (1, 1000, 0)] {
        let name = router.name(segment);
        router.receive(0, 1, interest(name, 1 + segment));
        let sent = router.receive(at, 3, data(name, 0));
        assert_eq!(words(&sent).len(), returned, "at {at} ms");
    }
}

/// All entries with their numbers, and what else a Data may change.
fn state(router: &Router) -> String {
    let (forwarder, pit) = (&router.forwarder, router.forwarder.pit());
    let entries: Vec<_> = pit.ids().map(|id| (id, pit.entry(id))).collect();
    let (counters, nonces) = (forwarder.counters(), forwarder.dead_nonces().len());
    format!("{entries:?} {counters:?} {nonces} {:?}", forwarder.next_wake())
}

#[test]
fn a_strategy_that_only_chooses_next_hops_gets_fewer_calls_and_everything_else_is_the_same() {
    // With two upstreams an entry never is simple enough for fewer calls.
    for (seed, upstreams) in (0..10).map(|seed| (seed, if seed < 7 { &[3][..] } else { &[3, 4] })) {
        let script = |only_chooses| Script { only_chooses, ..Script::default() };
        let mut routers = [false, true].map(|only_chooses| Router::scripted(upstreams, script(only_chooses)));
        let mut draws = Rng::stream(Seed(seed), "packets");
        let mut at = 0;
        for step in 0..1_000 {
            at += u64::from(draws.below(20));
            // More segments than a new ring of the PIT has places.
            let [kind, face, nonce, segment, lifetime] = [8, 5, 100, 30, 2_000].map(|end| draws.below(end));
            let [is_prefix, is_fresh] = [0.001, 0.1].map(|probability| draws.chance(probability));
            let freshness = draws.below(12_000);
            let [with_calls, without] = routers.each_mut().map(|router| {
                let name = router.name(segment);
                let request = interest_with(name, nonce, |interest| {
                    interest.lifetime.0 = lifetime;
                    (interest.can_be_prefix, interest.must_be_fresh) = (is_prefix, is_fresh);
                });
                let sent = match kind {
                    0 => router.wake(at),
                    1..4 => router.receive(at, face as u16, data(name, freshness)),
                    _ => router.receive(at, face as u16, request),
                };
                (sent, state(router))
            });
            assert_eq!(with_calls, without, "seed {seed} step {step}");
        }
        let is_data = |word: &&String| word.starts_with("data");
        let [with_calls, without] = routers.map(|router| router.reported().iter().filter(is_data).count());
        assert!(without < with_calls * 3 / 4 || upstreams.len() > 1, "{without} of {with_calls} calls");
    }
}

#[test]
fn a_strategy_that_waits_for_stragglers_gets_every_data() {
    let straggler = Span::from_millis(100);
    let mut router = Router::scripted(&[3], Script { only_chooses: true, straggler, ..Script::default() });
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(1, 3, data(name, 0))), ["0 data"]);
    assert_eq!((router.pending(), router.reported().len()), (1, 1));
    router.receive(2, 4, data(name, 0));
    assert_eq!(router.reported().len(), 2);
}

#[test]
fn the_strategy_of_one_prefix_gets_its_data_beside_one_that_only_chooses() {
    let mut router = Router::scripted(&[3], Script { only_chooses: true, ..Script::default() });
    router.set_strategy(Script::default());
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(1, 3, data(name, 0));
    assert_eq!(router.reported().len(), 1);
}

#[test]
fn data_also_answers_an_interest_for_its_prefix_where_the_strategy_only_chooses() {
    let mut router = Router::scripted(&[3], Script { only_chooses: true, ..Script::default() });
    let (whole, name) = (Name::whole(router.prefix), router.name(5));
    router.receive(0, 1, interest_with(whole, 1, |interest| interest.can_be_prefix = true));
    router.receive(0, 2, interest(name, 2));
    let mut sent = words(&router.receive(1, 3, data(name, 0)));
    sent.sort_unstable();
    assert_eq!(sent, ["1 data", "2 data"]);
    assert_eq!(router.pending(), 0);
}
