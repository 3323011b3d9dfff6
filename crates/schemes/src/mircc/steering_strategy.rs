//! Sends an Interest along the path of its label. One with the label for any path takes a next hop by its nonce, so
//! that all paths are found; one without a label takes the cheapest next hop.

use tidegate_core::prelude::*;

use super::path_table::SharedPaths;
use crate::toolbox::forwarding::next_try::next_try;
use crate::toolbox::forwarding::path_label::mix;
use crate::mircc::PATH_CHOICE;

/// The strategy of one node.
#[derive(Debug)]
pub(super) struct SteeringStrategy {
    paths: SharedPaths,
}

impl SteeringStrategy {
    pub(super) fn new(paths: SharedPaths) -> Self {
        Self { paths }
    }

    /// The next hop of the path `label`, if it is known and can be used.
    fn along(&self, cx: &Context<'_>, arrival: &Arrival<'_>, label: u32) -> Option<FaceId> {
        let face = self.paths.borrow().face_of(label)?;
        arrival.usable(cx).find(|usable| *usable == face)
    }
}

/// Chooses any next hop by a hash. The number of hops crossed is part of it, so that routers along a path choose
/// independently.
fn any(cx: &Context<'_>, arrival: &Arrival<'_>) -> Option<FaceId> {
    let Kind::Interest(interest) = arrival.interest.kind else { return None };
    let hash = mix(interest.nonce, u32::from(arrival.interest.hop.hops)) >> 16;
    let place = (hash as usize).checked_rem(arrival.usable(cx).count())?;
    arrival.usable(cx).nth(place)
}

impl Strategy for SteeringStrategy {
    fn acts_later(&self) -> bool {
        false
    }

    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let is_pending = arrival.entry.out_records().next().is_some();
        // Another downstream requests the same name: the pending Interest will bring the Data for both.
        if is_pending && !arrival.is_repeated {
            return Decision::Suppress;
        }
        let face = match arrival.interest.hop.get(PATH_CHOICE) {
            None => next_try(arrival.entry, || arrival.usable(cx)),
            // A path that has disappeared is replaced by any next hop, so that the Interest is not lost with
            // it.
            Some(label) => self.along(cx, arrival, label).or_else(|| any(cx, arrival)),
        };
        match face {
            Some(face) => {
                arrival.forward(face);
                Decision::Forward
            }
            None if is_pending => Decision::Suppress,
            None => Decision::Nack(NackReason::NoRoute),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mircc::path_table::ANY;
    use tidegate_core::ndn::face::Limit;
    use tidegate_core::ndn::fib::NextHop;
    use tidegate_core::ndn::name::NameHash;
    use tidegate_core::ndn::pit::{Pit, Selector};
    use tidegate_testkit::gate_bench::{GateBench, interest};

    /// The faces, of next hops 1 and 2 (1 is the cheaper one), that an Interest from face 0 takes.
    fn request(bench: &mut GateBench, paths: &SharedPaths, choice: Option<u32>, nonce: u32, hops: u8) -> Vec<u16> {
        let mut strategy = SteeringStrategy::new(SharedPaths::clone(paths));
        let mut header = interest(NameTable::ROOT, 1);
        if let Kind::Interest(interest) = &mut header.kind {
            interest.nonce = nonce;
        }
        header.hop.hops = hops;
        choice.map(|label| header.hop.put(PATH_CHOICE, label));
        let mut pit = Pit::new(NameHash::LOCALITY);
        let (pending, _) =
            pit.find_or_insert(header.name, Selector { can_be_prefix: false, must_be_fresh: false });
        let hops = [1, 2].map(|face| NextHop { cost: u32::from(face), face: FaceId(face) });
        let mut targets = Vec::new();
        let mut arrival = Arrival {
            interest: &header,
            from: FaceId(0),
            pending,
            entry: pit.entry_mut(pending),
            is_repeated: false,
            hops: &hops,
            targets: &mut targets,
        };
        let decision = bench.at(0, |cx| strategy.on_interest(cx, &mut arrival));
        assert_eq!(decision == Decision::Forward, !targets.is_empty());
        targets.iter().map(|target| target.face.0).collect()
    }

    fn bench() -> (GateBench, SharedPaths) {
        let mut bench = GateBench::new();
        bench.faces.push(FaceView::device(BitRate::from_mbps(1.0), Span::ZERO, Limit::Packets(Packets::new(1))));
        (bench, SharedPaths::default())
    }

    #[test]
    fn a_known_label_is_followed_while_its_face_is_up_and_no_label_takes_the_cheapest() {
        let (mut bench, paths) = bench();
        let labels = [1, 2].map(|face| paths.borrow_mut().learn(ANY, FaceId(face)));
        for nonce in 0..50 {
            let mut request = |choice| request(&mut bench, &paths, choice, nonce, 1);
            assert_eq!([request(Some(labels[0])), request(Some(labels[1])), request(None)], [[1], [2], [1]]);
        }
        bench.faces[2].set_up(false);
        assert_eq!(request(&mut bench, &paths, Some(labels[1]), 1, 1), [1]);
        bench.faces[1].set_up(false);
        assert_eq!(request(&mut bench, &paths, Some(labels[1]), 1, 1), []);
    }

    #[test]
    fn an_unknown_label_takes_every_next_hop_in_turn_and_routers_choose_apart() {
        let (mut bench, paths) = bench();
        let mut counts = [[0; 2]; 2];
        for nonce in 0..4_000 {
            let [here, beyond] = [1, 2].map(|hops| request(&mut bench, &paths, Some(ANY), nonce, hops)[0]);
            counts[usize::from(here) - 1][usize::from(beyond) - 1] += 1;
        }
        // A quarter each, within a tenth.
        assert!(counts.iter().flatten().all(|count| (900..=1_100).contains(count)), "{counts:?}");
    }
}
