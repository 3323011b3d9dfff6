//! `best-route` against cases worked by hand; pauses and their limit are the defaults, 10 and 250 ms.

use tidegate_core::ndn::packet::NackReason::{Congestion, Duplicate, NoRoute};

use crate::strategies::router::Event::{Data, Down, Interest, Nack, Up};
use crate::strategies::router::{Router, named};

/// Downstreams 0 and 1; next hops 3, 4, 5 from the cheapest. "Asked" gives when each was last asked.
#[test]
fn retransmissions_walk_through_the_next_hops_with_doubled_pauses() {
    let mut router = Router::new(named("best-route"), &[3, 4, 5]);
    router.follow(&[
        (0, Interest(0), &["3 interest"]),    // first: the cheapest; pause 10
        (9, Interest(0), &[]),                // 9 < 10
        (9, Interest(1), &[]),                // the pause is the entry's, not the downstream's
        (10, Interest(0), &["4 interest"]),   // cheapest not asked; pause 20
        (29, Interest(1), &[]),               // 19 < 20
        (30, Interest(1), &["5 interest"]),   // the other downstream moves on too; pause 40
        (69, Interest(0), &[]),               // 39 < 40
        (70, Interest(0), &["3 interest"]),   // all asked (0, 10, 30): the one at 0; pause 80
        (149, Down(4), &[]),                  //
        (149, Interest(0), &[]),              // 79 < 80
        (150, Interest(0), &["5 interest"]),  // asked (70, 10, 30), but 4 is down; pause 160
        (200, Up(4), &[]),                    //
        (309, Interest(1), &[]),              // 159 < 160
        (310, Interest(1), &["4 interest"]),  // asked (70, 10, 150); pause 320 -> 250
        (559, Interest(0), &[]),              // 249 < 250
        (560, Interest(0), &["3 interest"]),  // asked (70, 310, 150); pause stays 250
        (809, Interest(4), &[]),              // 249 < 250
        (810, Interest(4), &["5 interest"]),  // asked (560, 310, 150)
        (1060, Interest(4), &["3 interest"]), // asked (560, 310, 810): 4 is oldest, but it asks; 3
        (1061, Nack(3, NoRoute), &[]),        // 4 and 5 may still answer
        (1309, Interest(0), &[]),             // 249 < 250: the refused one counts
        (1310, Interest(0), &["4 interest"]), // asked (1060, 310, 810)
        (1560, Interest(0), &["5 interest"]), // asked (1060, 1310, 810)
        (1810, Interest(0), &["3 interest"]), // asked (1060, 1310, 1560): the refusal does not spare it
        (1820, Nack(5, Duplicate), &[]),      // 3 and 4 may still answer
        (1821, Nack(3, NoRoute), &["4 nack Duplicate"]), // 4 is left and asks itself: told alone, least severe
        (1830, Data(4), &["0 data", "1 data"]),          //
        (1840, Interest(1), &["3 interest"]),            // a new entry: from the start
        (1849, Interest(1), &[]),                        // 9 < 10
        (1850, Data(3), &["1 data"]),                    //
    ]);
}

#[test]
fn an_interest_without_a_usable_next_hop_is_refused() {
    for (upstreams, from, down) in [(&[][..], 0, 5), (&[3], 3, 5), (&[3], 0, 3)] {
        let mut router = Router::new(named("best-route"), upstreams);
        router.notify(0, Down(down));
        let expected = format!("{from} nack NoRoute");
        assert_eq!(router.notify(1, Interest(from)), [expected], "{upstreams:?}, {down} down");
        assert!(router.entry().is_none());
    }
}

#[test]
fn a_retransmission_without_a_usable_next_hop_waits_and_still_moves_the_pause_on() {
    let mut router = Router::new(named("best-route"), &[3]);
    router.follow(&[
        (0, Interest(0), &["3 interest"]),
        (10, Interest(3), &[]), // may go, but 3 is where it came from; pause 20
        (19, Interest(0), &[]), // 19 < 20
        (20, Interest(0), &["3 interest"]),
        (25, Data(3), &["0 data"]),
    ]);
}

#[test]
fn after_every_upstream_refused_the_cheapest_is_tried_at_once() {
    let mut router = Router::new(named("best-route"), &[3, 4]);
    router.follow(&[
        (0, Interest(0), &["3 interest"]),
        (10, Interest(0), &["4 interest"]),
        (11, Nack(3, Congestion), &[]),
        (12, Nack(4, NoRoute), &["0 nack Congestion"]),
        (13, Interest(0), &["3 interest"]),
    ]);
}
