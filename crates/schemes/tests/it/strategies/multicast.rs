//! `multicast` against cases worked by hand; pauses and their limit are the defaults, 10 and 250 ms.

use tidegate_core::ndn::packet::NackReason::NoRoute;

use crate::strategies::router::Event::{Data, Down, Interest, Nack, Up};
use crate::strategies::router::{Router, named};

/// Downstreams 0 and 1; next hops 3, 4, 5. "3: 9 < 10" gives the time since 3 was asked and its pause.
#[test]
fn every_next_hop_is_requested_again_after_its_own_pause() {
    let mut router = Router::new(named("multicast"), &[3, 4, 5]);
    let all: &[&str] = &["3 interest", "4 interest", "5 interest"];
    router.follow(&[
        (0, Interest(3), &["4 interest", "5 interest"]), // never back to where it came from
        (4, Interest(0), &["3 interest"]),               // 3 is new; 4, 5: 4 < 10
        (9, Interest(0), &[]),                           // 3: 5 < 10; 4, 5: 9 < 10
        (10, Interest(1), &["4 interest", "5 interest"]), // 4, 5: pause 20; 3: 6 < 10
        (13, Interest(0), &[]),                          // 3: 9 < 10; 4, 5: 3 < 20
        (14, Interest(0), &["3 interest"]),              // 3: pause 20
        (29, Interest(1), &[]),                          // 3: 15 < 20; 4, 5: 19 < 20
        (34, Interest(0), all),                          // 3: 20; 4, 5: 24; all pauses 40
        (73, Interest(0), &[]),                          // 39 < 40
        (74, Interest(0), all),                          // pauses 80
        (100, Down(5), &[]),                             //
        (154, Interest(1), &["3 interest", "4 interest"]), // 3, 4: pause 160; 5 is down
        (200, Up(5), &[]),                               //
        (200, Interest(1), &["5 interest"]),             // 5: 126, pause 160; 3, 4: 46 < 160
        (313, Interest(0), &[]),                         // 3, 4: 159 < 160; 5: 113 < 160
        (314, Interest(0), &["3 interest", "4 interest"]), // 3, 4: pause 320 -> 250
        (360, Interest(0), &["5 interest"]),             // 5: pause 320 -> 250; 3, 4: 46 < 250
        (563, Interest(0), &[]),                         // 3, 4: 249 < 250; 5: 203 < 250
        (564, Interest(0), &["3 interest", "4 interest"]), // pauses stay 250
        (565, Nack(3, NoRoute), &[]),                    // 4 and 5 may still answer
        (566, Interest(0), &[]),                         // 3 refused, but 2 < 250
        (813, Interest(1), &["5 interest"]),             // 5: 453; 3, 4: 249 < 250
        (814, Interest(1), &["3 interest", "4 interest"]), // the one that refused too
        (820, Data(5), &["3 data", "0 data", "1 data"]), // in order of their first Interests
        (830, Interest(0), all),                         // a new entry: from the start
    ]);
}

#[test]
fn an_interest_without_a_usable_next_hop_is_refused() {
    for (upstreams, from, down) in [(&[][..], 0, 5), (&[3], 3, 5), (&[3], 0, 3)] {
        let mut router = Router::new(named("multicast"), upstreams);
        router.notify(0, Down(down));
        let expected = format!("{from} nack NoRoute");
        assert_eq!(router.notify(1, Interest(from)), [expected], "{upstreams:?}, {down} down");
        assert!(router.entry().is_none());
    }
}

#[test]
fn the_only_next_hop_that_is_also_the_downstream_is_refused_after_its_pause() {
    let mut router = Router::new(named("multicast"), &[3]);
    router.follow(&[
        (0, Interest(0), &["3 interest"]),
        (9, Interest(3), &[]), // 9 < 10
        (10, Interest(3), &["3 nack NoRoute"]),
        (11, Data(3), &["0 data"]),
    ]);
}
