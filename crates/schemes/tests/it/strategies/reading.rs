//! What a strategy can read in a PIT entry: suppression once upstreams refused, and round trips.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;
use tidegate_schemes::toolbox::forwarding::retransmission_suppression::{Params, Step};

use crate::strategies::router::Event::{Data, Interest, Nack};
use crate::strategies::router::Router;

/// Which face answered, and its round trip.
type RoundTrips = Rc<RefCell<Vec<(u16, Option<Span>)>>>;

/// Keeps refused entries and late answers; asks the first next hop first, then all of them.
#[derive(Debug)]
struct Reader {
    suppression: Params,
    steps: Rc<RefCell<Vec<Step>>>,
    round_trips: RoundTrips,
}

impl Strategy for Reader {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let step = self.suppression.step(cx.now, arrival.entry);
        self.steps.borrow_mut().push(step);
        let faces: Vec<FaceId> = arrival.usable(cx).collect();
        match step {
            Step::Suppress => return Decision::Suppress,
            Step::First => arrival.forward(faces[0]),
            Step::Again => faces.into_iter().for_each(|face| arrival.forward(face)),
        }
        Decision::Forward
    }

    fn on_data(&mut self, cx: &mut Context<'_>, _: &mut Header, from: FaceId, _: PitId, entry: &PitEntry) {
        self.round_trips.borrow_mut().push((from.0, entry.round_trip(from, cx.now)));
    }

    fn on_nack(
        &mut self,
        _: &mut Context<'_>,
        _: NackReason,
        _: FaceId,
        _: PitId,
        _: &PitEntry,
    ) -> NackDecision {
        NackDecision::Wait
    }

    fn straggler(&self) -> Span {
        Span::from_millis(100)
    }
}

struct Bench {
    router: Router,
    steps: Rc<RefCell<Vec<Step>>>,
    round_trips: RoundTrips,
}

fn bench() -> Bench {
    let (steps, round_trips) = (Rc::default(), Rc::default());
    let suppression = Params::from_settings(&Settings::default()).expect("defaults");
    let reader = Reader { suppression, steps: Rc::clone(&steps), round_trips: Rc::clone(&round_trips) };
    Bench { router: Router::with(Box::new(reader), &[3, 4]), steps, round_trips }
}

#[test]
fn once_all_upstreams_refused_an_interest_is_a_first_one_and_keeps_the_pause() {
    let mut bench = bench();
    bench.router.follow(&[
        (0, Interest(0), &["3 interest"]),
        (1, Nack(3, NackReason::Congestion), &[]),
        (2, Interest(0), &["3 interest"]), // nobody left to wait for
        (3, Interest(0), &[]),             // 1 < 10
        (12, Interest(0), &["3 interest", "4 interest"]), // pause 20
        (13, Nack(4, NackReason::Congestion), &[]),
        (14, Interest(0), &[]), // 3 may still answer
        (15, Nack(3, NackReason::Congestion), &[]),
        (16, Interest(0), &["3 interest"]),               // again nobody
        (35, Interest(0), &[]),                           // 19 < 20: the pause stayed
        (36, Interest(0), &["3 interest", "4 interest"]), //
    ]);
    use Step::{Again, First, Suppress};
    assert_eq!(*bench.steps.borrow(), [First, First, Suppress, Again, Suppress, First, Suppress, Again]);
}

#[test]
fn a_strategy_reads_the_round_trip_of_the_face_that_answers() {
    let mut bench = bench();
    bench.router.follow(&[
        (0, Interest(0), &["3 interest"]),
        (10, Interest(1), &["3 interest", "4 interest"]), // 3 a second time
        (47, Data(4), &["0 data", "1 data"]),             // 37 ms after its own Interest
        (50, Data(3), &[]),                               // for which of the two?
        (51, Data(4), &[]),                               // no longer asked
    ]);
    let ms = Span::from_millis;
    assert_eq!(*bench.round_trips.borrow(), [(4, Some(ms(37))), (3, None), (4, None)]);
}
