//! Forwards along the cheapest next hop; a retransmission tries the next one.
//!
//! Paper: none; NFD's `best-route` strategy with its exponential retransmission suppression.

use tidegate_core::context::Context;
use tidegate_core::face::FaceId;
use tidegate_core::packet::NackReason;
use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::strategy::{Arrival, Decision, Strategy};

use crate::toolbox::retransmission_suppression::{RetransmissionSuppression, Step};
use tidegate_core::units::{Span, Time};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "best-route",
    summary: "the cheapest next hop; a retransmission tries the next one",
    paper: "NFD: best-route strategy",
    provenance: Provenance::Source,
    params: Params::TABLE,
    strategy: Some(|settings| Ok(Box::new(BestRoute::new(&Params::from_settings(settings)?)))),
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
struct BestRoute {
    suppression: RetransmissionSuppression,
}

impl BestRoute {
    fn new(params: &Params) -> Self {
        let Params { suppression, suppression_limit, suppression_growth } = *params;
        let suppression =
            RetransmissionSuppression { first: suppression, limit: suppression_limit, growth: suppression_growth };
        Self { suppression }
    }
}

impl Strategy for BestRoute {
    fn on_interest(&mut self, cx: &mut Context<'_>, arrival: &mut Arrival<'_>) -> Decision {
        match self.suppression.step(cx.now, arrival.entry) {
            Step::Suppress => Decision::Suppress,
            Step::First => match arrival.usable(cx).next() {
                Some(face) => forward(arrival, face),
                None => Decision::Nack(NackReason::NoRoute),
            },
            Step::Again => match next_try(cx, arrival) {
                Some(face) => forward(arrival, face),
                None => Decision::Suppress,
            },
        }
    }
}

fn forward(arrival: &mut Arrival<'_>, face: FaceId) -> Decision {
    arrival.forward(face);
    Decision::Forward
}

/// The cheapest next hop not asked yet, else the one asked longest ago.
fn next_try(cx: &Context<'_>, arrival: &Arrival<'_>) -> Option<FaceId> {
    let asked_at = |face: FaceId| arrival.entry.out_record(face).map_or(Time::ZERO, |record| record.sent_at);
    let unused = arrival.usable(cx).find(|face| arrival.entry.out_record(*face).is_none());
    unused.or_else(|| arrival.usable(cx).min_by_key(|face| asked_at(*face)))
}
