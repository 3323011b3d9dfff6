//! Forwards along every next hop.
//!
//! Paper: none; NFD's `multicast` strategy with its exponential retransmission suppression.

use tidegate_core::context::Context;
use tidegate_core::face::FaceId;
use tidegate_core::packet::NackReason;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::strategy::{Arrival, Decision, Strategy};
use tidegate_core::units::Span;

use crate::toolbox::retransmission_suppression::{RetransmissionSuppression, Step};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "multicast",
    summary: "every next hop",
    paper: "NFD: multicast strategy",
    provenance: Provenance::Source,
    params: Params::TABLE,
    strategy: Some(|settings| Ok(Box::new(Multicast::new(&Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Shortest pause before a retransmission goes upstream.
    suppression: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Longest pause before a retransmission goes upstream.
    suppression_limit: Span = Span::from_millis(250), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Growth of the pause with every retransmission let through.
    suppression_growth: f64 = 2.0, "factor", 1.0..=100.0;
}

/// The strategy; all its state stands in the PIT entries.
#[derive(Debug)]
struct Multicast {
    suppression: RetransmissionSuppression,
}

impl Multicast {
    fn new(params: &Params) -> Self {
        let Params { suppression, suppression_limit, suppression_growth } = *params;
        let suppression =
            RetransmissionSuppression { first: suppression, limit: suppression_limit, growth: suppression_growth };
        Self { suppression }
    }
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
