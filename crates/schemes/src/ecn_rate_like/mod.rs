//! ECN-rate-like: a router reports one rate to all flows, which follows from the upstream link's capacity, the
//! Interests sent to it and the Data that wait downstream, without a count of flows.
//!
//! Paper: the scheme that the MIRCC coarse-clock paper calls "ECN" (its Table II and section II.A): consumers follow
//! a reported rate that looks at the upstream link, still uses the Data queue downstream, and counts no flows. That
//! is all we have; the rule is that of RCP (Dukkipati et al. 2005), and every number is ours. Its parts:
//! * [`reporter`]: the gate of an upstream face;
//! * [`control`]: its rule;
//! * consumer: follows the rate that stands on Data ([`RateFollower`]).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use crate::toolbox::rate::rate_follower::{RateFollower, Start};

pub mod control;
pub mod reporter;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ecn-rate-like",
    summary: "routers report one rate for all flows, from upstream capacity and downstream Data queue, without counting \
         flows",
    paper: "the rate-based \"ECN\" of the MIRCC coarse-clock paper's Table II; RCP (Dukkipati et al. 2005)",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Reconstructed from a line of a table and two sentences: the rule is RCP's and every number ours; results are \
         not the authors'.",
        "The load of the upstream link is derived from Interests, because no more Data than the link carries can \
         arrive.",
        "The queue is the longest among the faces through which Data from upstream left in the last period; its bytes \
         count as Data.",
        "Where the downstream link is slower than the upstream one, its queue settles at alpha (u C - y) d / beta.",
        "Data from a content store carries no report.",
        "The router part reads the queues of all faces of a node, which the live forwarder does not provide: there the \
         queue counts as empty.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| {
        let Params { start, initial_rate, .. } = Params::from_settings(settings)?;
        Ok(Box::new(RateFollower::new(start, initial_rate)))
    }),
    router: Some(router),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "Data carries no rate, so the consumer stays at its initial rate"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Routers: interval between two updates of the rate.
    period: Span = Span::from_millis(20), "time", Span::from_millis(1)..=Span::from_secs(10);
    /// Routers: target utilisation of the upstream capacity (u).
    utilisation: f64 = 0.95, "of the capacity", 0.1..=1.0;
    /// Routers: weight of the unused capacity (alpha).
    alpha: f64 = 0.4, "of the distance", 0.0..=2.0;
    /// Routers: weight of the Data queue (beta).
    beta: f64 = 0.1, "of the queue per round trip", 0.0..=2.0;
    /// Consumer, before the first report: `probe` sends one Interest and waits; `rate` sends at `initial_rate`; `link`
    /// sends at the rate of the consumer's fastest link.
    start: Start = Start::Probe;
    /// Consumer: initial rate with `start = "rate"`.
    #[renamed_from("first_rate")]
    initial_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let passing = Rc::new(RefCell::new(reporter::Passing::default()));
    Ok(RouterParts::default().with_gates(node, |device| {
        reporter::Reporter::new(device.face, params.clone(), Rc::clone(&passing))
    }))
}

#[cfg(test)]
mod tests;
