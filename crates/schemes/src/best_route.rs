//! Forwards along the cheapest next hop; a retransmission tries the next one.
//!
//! Paper: none; NFD's `best-route` strategy, version 5, with its exponential retransmission suppression. Once all
//! next hops were used, the one used longest ago is tried again, even if it has returned a Nack.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::next_try::next_try;
use crate::toolbox::forwarding::retransmission_suppression::{DEVIATION, Params, Step};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "best-route",
    summary: "forwards Interests to the next hop of lowest cost; a retransmission tries the next one",
    paper: "NFD: best-route strategy",
    provenance: Provenance::Source,
    deviations: &["A next hop that is down is skipped, as if it did not exist; NFD would send Interests to it.", DEVIATION],
    params: Params::TABLE,
    strategy: Some(|settings| Ok(Box::new(BestRoute { suppression: Params::from_settings(settings)? }))),
    ..Scheme::NONE
};

/// The strategy; all its state is in the PIT entries.
#[derive(Debug)]
struct BestRoute {
    suppression: Params,
}

impl Strategy for BestRoute {
    fn acts_later(&self) -> bool {
        false
    }

    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        if arrival.entry.out_records().next().is_none() {
            return forward_first(cx, arrival);
        }
        self.on_further_interest(cx, arrival)
    }
}

impl BestRoute {
    #[inline(never)]
    fn on_further_interest(&self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        match self.suppression.step(cx.now, arrival.entry) {
            Step::Suppress => Decision::Suppress,
            Step::First => forward_first(cx, arrival),
            Step::Again => {
                let face = next_try(arrival.entry, || arrival.usable(cx));
                forward(arrival, face, Decision::Suppress)
            }
        }
    }
}

/// A first Interest without a next hop is refused; a retransmission only waits, because an earlier Interest may still be
/// satisfied.
fn forward_first(cx: &Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
    let face = arrival.usable(cx).next();
    forward(arrival, face, Decision::Nack(NackReason::NoRoute))
}

/// Forwards to `face`, or decides `otherwise` when there is none.
fn forward(arrival: &mut Arrival<'_>, face: Option<FaceId>, otherwise: Decision) -> Decision {
    let Some(face) = face else { return otherwise };
    arrival.forward(face);
    Decision::Forward
}
