//! Data and loss notices through faces that the Interest was not sent to.

use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::Packet;
use tidegate_core::units::Span;

use crate::forwarding::harness::{Router, Script, data, interest, interest_with, loss_notice, words};

/// A strategy that chooses faces alone, for which the shortest way of Data through the forwarder exists.
fn only_chooses() -> Script {
    Script { only_chooses: true, ..Script::default() }
}

fn forged(name: Name) -> Packet<u32> {
    let (header, _) = data(name, 60_000).into_parts();
    Packet::new(header, 666)
}

#[test]
fn data_satisfies_no_interest_that_was_not_sent_to_its_face() {
    for (cache, script) in [(0, only_chooses()), (0, Script::default()), (10, only_chooses())] {
        let mut router = Router::requested_only(&[3], cache, script);
        let name = router.name(1);
        router.receive(0, 0, interest(name, 1));
        // Neither from a stranger nor from the downstream itself.
        for face in [4, 0] {
            assert_eq!(words(&router.receive(1, face, forged(name))), [""; 0]);
        }
        assert_eq!((router.pending(), router.forwarder.counters().unrequested), (1, 2));
        let sent = router.receive(2, 3, data(name, 60_000));
        assert_eq!((words(&sent), sent[0].1.body), (vec!["0 data".to_owned()], 77));
    }
}

#[test]
fn forged_data_for_a_pending_interest_is_never_cached() {
    let mut router = Router::requested_only(&[3], 10, Script::default());
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    router.receive(1, 4, forged(name));
    assert_eq!(router.forwarder.cs().len(), 0);
    router.receive(2, 3, data(name, 60_000));
    router.receive(3, 0, interest_with(name, 2, |interest| interest.must_be_fresh = true));
    router.receive(4, 0, interest(router.name(2), 3));
    // The cached Data is that of the producer, also after another attempt.
    router.receive(5, 4, forged(router.name(2)));
    assert_eq!(router.receive(6, 1, interest(name, 4))[0].1.body, 77);
}

#[test]
fn a_forged_notice_reaches_no_downstream() {
    let mut router = Router::requested_only(&[3], 0, Script::default());
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    assert_eq!(words(&router.receive(1, 4, loss_notice(name))), [""; 0]);
    assert_eq!((router.reported().len(), router.forwarder.counters().unrequested), (0, 1));
    assert_eq!(words(&router.receive(2, 3, loss_notice(name))), ["0 notice"]);
}

#[test]
fn every_face_that_was_sent_the_interest_may_answer() {
    for upstream in [3, 4, 5] {
        let mut router = Router::requested_only(&[3, 4, 5], 0, only_chooses());
        let name = router.name(1);
        assert_eq!(router.receive(0, 0, interest(name, 1)).len(), 3);
        assert_eq!(words(&router.receive(1, upstream, data(name, 0))), ["0 data"], "through {upstream}");
    }
}

#[test]
fn a_face_answers_once_while_others_may_still_answer() {
    let script = Script { straggler: Span::from_millis(50), ..Script::default() };
    let mut router = Router::requested_only(&[3, 4], 0, script);
    let name = router.name(1);
    router.receive(0, 0, interest(name, 1));
    [3, 3, 4, 4].into_iter().for_each(|face| drop(router.receive(1, face, data(name, 0))));
    let reported = ["data from 3 mark 0 satisfied false", "data from 4 mark 0 satisfied true"];
    assert_eq!(router.reported(), reported);
    assert_eq!(router.forwarder.counters().unrequested, 2);
}

#[test]
fn data_below_a_prefix_satisfies_only_the_interests_that_its_face_was_sent() {
    let mut router = Router::requested_only(&[3], 0, Script::default());
    let below = router.name(0);
    router.receive(0, 0, interest_with(Name::whole(router.prefix), 1, |i| i.can_be_prefix = true));
    assert_eq!(words(&router.receive(1, 5, data(below, 0))), [""; 0]);
    assert_eq!(words(&router.receive(2, 3, data(below, 0))), ["0 data"]);
}
