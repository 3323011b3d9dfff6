//! A full PIT, and who is refused then.

use tidegate_core::ndn::face::FaceId;
use tidegate_core::ndn::name::Name;
use tidegate_core::ndn::packet::Packet;
use tidegate_core::units::Time;

use super::harness::{Router, data, interest, interest_with, ms, words};

const FLOOD: u16 = 0;
const HONEST: u16 = 1;

/// An Interest that stays pending for ten minutes.
fn lasting(name: Name, nonce: u32) -> Packet<u32> {
    interest_with(name, nonce, |interest| interest.lifetime.0 = 600_000)
}

/// Answers that a consumer with 20 outstanding Interests gets beside a flood, of 1000.
fn answered_beside_a_flood(has_shares: bool) -> usize {
    let mut router = Router::with_shares(5_000, has_shares);
    let mut answered = 0;
    for round in 0..50 {
        // 60,000 Interests in each second; nobody answers them.
        for flood in 0..1_200 {
            let number = 1_000_000 + round * 1_200 + flood;
            router.receive(u64::from(round) * 20, FLOOD, lasting(router.name(number), number));
        }
        let names: Vec<Name> = (0..20).map(|at| router.name(round * 20 + at)).collect();
        for (name, at) in names.iter().zip(0..) {
            router.receive(u64::from(round) * 20, HONEST, interest(*name, 100 + round * 20 + at));
        }
        for name in &names {
            answered += words(&router.receive(u64::from(round) * 20 + 10, 3, data(*name, 0))).len();
        }
        assert!(router.pending() <= 5_000);
    }
    answered
}

#[test]
fn a_flood_that_fills_the_table_denies_it_to_no_other_face() {
    assert_eq!(answered_beside_a_flood(true), 1_000);
    // Without shares nobody else gets a place once the table is full.
    assert_eq!(answered_beside_a_flood(false), 80);
}

#[test]
fn the_face_that_fills_the_table_is_refused_itself() {
    let mut router = Router::with_shares(100, true);
    for number in 0..150 {
        router.receive(0, FLOOD, lasting(router.name(number), number + 1));
    }
    let counters = *router.forwarder.counters();
    assert_eq!((router.pending(), counters.refused_full, counters.displaced), (100, 50, 0));
    let sent = router.receive(1, HONEST, interest(router.name(1_000), 1_000));
    assert_eq!(words(&sent), ["3 interest"]);
    assert_eq!((router.pending(), router.forwarder.counters().displaced), (100, 1));
    assert_eq!(router.reported().last().map(String::as_str), Some("expiry of /a/seg=0"));
    let [flood, honest] = [FLOOD, HONEST].map(|face| router.forwarder.pit().share(FaceId(face)));
    assert_eq!((flood, honest), (Some(99), Some(1)));
}

#[test]
fn an_interest_that_others_wait_for_is_not_displaced_with_its_first_face() {
    let mut router = Router::with_shares(10, true);
    (0..10).for_each(|number| drop(router.receive(0, FLOOD, lasting(router.name(number), number + 1))));
    router.receive(1, HONEST, lasting(router.name(0), 77));
    router.receive(2, 2, interest(router.name(50), 78));
    assert_eq!(words(&router.receive(3, 3, data(router.name(0), 0))), ["0 data", "1 data"]);
    assert_eq!(words(&router.receive(3, 3, data(router.name(1), 0))), [""; 0]);
}

#[test]
fn no_record_of_a_face_is_left_when_it_is_gone() {
    let mut router = Router::with_shares(1_000, true);
    for number in 0..100 {
        router.receive(0, FLOOD, lasting(router.name(number), number + 1));
        router.receive(0, HONEST, lasting(router.name(number), number + 1_001));
    }
    router.receive(1, HONEST, lasting(router.name(500), 5_000));
    router.forwarder.remove_face(&mut router.packets, FaceId(FLOOD), ms(2));
    router.wake(2);
    // Entries that the other face waits for count for it now.
    assert_eq!((router.pending(), router.forwarder.pit().share(FaceId(HONEST))), (101, Some(101)));
    router.forwarder.remove_face(&mut router.packets, FaceId(3), ms(3));
    let involved = |router: &Router, face| {
        let pit = router.forwarder.pit();
        pit.ids().filter(|id| pit.entry(*id).out_record(FaceId(face)).is_some()).count()
    };
    assert_eq!(involved(&router, 3), 0);
    assert_eq!(
        words(&router.receive(4, 3, data(router.name(0), 0))),
        [""; 0],
        "another peer behind the number"
    );
    router.forwarder.remove_face(&mut router.packets, FaceId(HONEST), ms(5));
    router.wake(5);
    assert_eq!((router.pending(), router.forwarder.next_wake()), (0, None::<Time>));
}

#[test]
fn faces_that_request_the_same_names_do_not_keep_the_table_full() {
    let mut router = Router::with_shares(40, true);
    for number in 0..40 {
        router.receive(0, FLOOD, lasting(router.name(number), number + 1));
        router.receive(0, 2, lasting(router.name(number), number + 1_001));
    }
    for number in 0..10 {
        let sent = router.receive(1, HONEST, interest(router.name(500 + number), 5_000 + number));
        assert_eq!(words(&sent), ["3 interest"], "{number}");
    }
    assert_eq!(router.pending(), 40);
}
