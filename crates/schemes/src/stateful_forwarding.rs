//! Stateful forwarding: limits of Interests per upstream face, the next face above them, Nacks when none is left.
//!
//! Paper: Yi, Afanasyev, Moiseenko, Wang, Zhang & Zhang 2013 (the MIRCC study's reference 14), with the numbers of
//! Cheng Yi's code; all parts stand in [`crate::toolbox::forwarding::stateful_forwarding`]. Every Nack lowers a
//! limit, rate or window.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::stateful_forwarding::{self as parts, Decreases, Params};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "stateful-forwarding",
    summary: "routers limit Interests per face, try the next face, else return a Nack; each Nack slows the consumer down",
    paper: "Yi et al.: A Case for Stateful Forwarding Plane, Computer Communications 2013; Cheng Yi's code for ndnSIM",
    provenance: Provenance::Source,
    deviations: &parts::DEVIATIONS,
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnsimNack,
    consumer: Some(|settings| parts::consumer(settings, Decreases::Each)),
    router: Some(|settings, node| parts::router(settings, node, SCHEME.name, Decreases::Each)),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "no router sends a Nack for congestion, and the consumer reacts to losses alone"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};
