//! Forwards along every next hop.
//!
//! Paper: none; NFD's `multicast` strategy with its exponential retransmission suppression.

use tidegate_core::context::Context;
use tidegate_core::face::FaceId;
use tidegate_core::packet::NackReason;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::strategy::{Arrival, Decision, Strategy};

use crate::toolbox::retransmission_suppression::{Params, Step};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "multicast",
    summary: "every next hop",
    paper: "NFD: multicast strategy",
    provenance: Provenance::Source,
    params: Params::TABLE,
    strategy: Some(|settings| Ok(Box::new(Multicast { suppression: Params::from_settings(settings)? }))),
    ..Scheme::NONE
};

/// The strategy; all its state stands in the PIT entries.
#[derive(Debug)]
struct Multicast {
    suppression: Params,
}

impl Strategy for Multicast {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        if self.suppression.step(cx.now, arrival.entry) == Step::Suppress {
            return Decision::Suppress;
        }
        let faces: Vec<FaceId> = arrival.usable(cx).collect();
        if faces.is_empty() {
            return Decision::Nack(NackReason::NoRoute);
        }
        for face in faces {
            arrival.forward(face);
        }
        Decision::Forward
    }
}
