//! Forwards along every next hop; each has a separate suppression interval before it is used again.
//!
//! Paper: none; NFD's `multicast` strategy, version 3. Version 4 never refuses: without a next hop the Interest
//! waits there until it expires.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::retransmission_suppression::{DEVIATION, Params, Step};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "multicast",
    summary: "forwards Interests to every next hop",
    paper: "NFD: multicast strategy",
    provenance: Provenance::Source,
    deviations: &["A next hop that is down is skipped, as if it did not exist; NFD would send Interests to it.", DEVIATION],
    params: Params::TABLE,
    strategy: Some(|settings| Ok(Box::new(Multicast { suppression: Params::from_settings(settings)? }))),
    ..Scheme::NONE
};

/// The strategy; all its state is in the out-records.
#[derive(Debug)]
struct Multicast {
    suppression: Params,
}

impl Strategy for Multicast {
    fn acts_later(&self) -> bool {
        false
    }

    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        let mut waits = false;
        for hop in arrival.hops.iter().filter(|hop| cx.face(hop.face).is_up()) {
            match self.suppression.step_upstream(cx.now, arrival.entry, hop.face) {
                Step::Suppress => waits = true,
                // Sending the Interest back where it came from would make a loop of two nodes.
                Step::First | Step::Again if hop.face == arrival.from => {}
                Step::First | Step::Again => arrival.forward(hop.face),
            }
        }
        match (arrival.targets.is_empty(), waits) {
            (false, _) => Decision::Forward,
            // Nothing was sent, but an upstream that was used a short while ago may still answer, so a Nack
            // would be premature.
            (true, true) => Decision::Suppress,
            (true, false) => Decision::Nack(NackReason::NoRoute),
        }
    }
}
