//! Stateful forwarding with at most one decrease per round trip, at consumers and at routers' limits.
//!
//! Paper: "new SF", reference 15 of Kato, Enda, Yamamoto & Ohzahata 2020, who describe nothing else of it; all other
//! rules are those of `stateful-forwarding`. An Interest sent before a decrease causes no other.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::stateful_forwarding::{self as parts, Decreases, Params};

const DEVIATIONS: [&str; parts::DEVIATIONS.len() + 1] = parts::deviations_after(
    "The source describes the scheme in one sentence, one decrease per RTT; the measurement of an RTT by sending times, \
     and the same limit in routers, are ours.",
);

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "stateful-forwarding-rtt",
    summary: "as stateful-forwarding, with at most one decrease per RTT",
    paper: "new SF, as Kato et al., FedCSIS 2020, describe their reference 15; else as stateful-forwarding",
    provenance: Provenance::Source,
    deviations: &DEVIATIONS,
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnsimNack,
    consumer: Some(|settings| parts::consumer(settings, Decreases::OncePerRoundTrip)),
    router: Some(|settings, node| parts::router(settings, node, SCHEME.name, Decreases::OncePerRoundTrip)),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "no router sends a Nack for congestion, and the consumer reacts to losses alone"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};
