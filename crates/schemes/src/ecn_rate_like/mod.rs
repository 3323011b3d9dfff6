//! ECN-rate-like: a router reports one rate to all flows, which follows from the upstream link's capacity, what is asked
//! of it and the Data that wait downstream, without knowing how many flows there are.
//!
//! Paper: the scheme that the MIRCC coarse-clock paper calls "ECN" (its Table II and section II.A): consumers follow a
//! reported rate that looks at the upstream link, still uses the Data queue downstream, and counts no flows. That is all
//! we have; the rule is that of RCP (Dukkipati et al. 2005), and every number is ours. Its parts:
//! * [`reporter`]: the gate of an upstream face;
//! * [`control`]: its rule;
//! * consumer: follows the rate that stands on Data ([`RateFollower`]).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::Span;
use tidegate_core::whole::{Counterpart, Need, Role, Whole};

use crate::toolbox::rate_follower::{RateFollower, Start};

pub mod control;
pub mod reporter;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "ecn-rate-like",
    summary: "routers report one rate for all flows, by upstream capacity and downstream Data queue, without counting",
    paper: "the rate-based \"ECN\" of the MIRCC coarse-clock paper's Table II; RCP (Dukkipati et al. 2005)",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Rebuilt from a line of a table and two sentences: the rule is RCP's and every number ours; results are not the authors'.",
        "What is asked of the upstream link is told from Interests, because more Data than the link carries cannot come.",
        "The queue is the longest among the faces through which the upstream's Data left in the last period; its bytes count as Data.",
        "Where the link downstream is slower than the one upstream, its queue rests at alpha (u C - y) d / beta.",
        "Data from a content store carry no report.",
        "Its parts look at all faces of a node, which the live forwarder does not show them: there no queue is seen.",
    ],
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| {
        let Params { start, first_rate, .. } = Params::from_settings(settings)?;
        Ok(Box::new(RateFollower::new(start, first_rate)))
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
    /// Routers: time between two changes of the rate.
    period: Span = Span::from_millis(20), "time", Span::from_millis(1)..=Span::from_secs(10);
    /// Routers: part of the upstream capacity that is aimed at (u).
    utilisation: f64 = 0.95, "of the capacity", 0.1..=1.0;
    /// Routers: how much unused capacity counts (alpha).
    alpha: f64 = 0.4, "of the distance", 0.0..=2.0;
    /// Routers: how much the Data queue counts (beta).
    beta: f64 = 0.1, "of the queue per round trip", 0.0..=2.0;
    /// Consumer: what it does before the first report.
    start: Start = Start::Probe;
    /// Consumer: first rate for `start = "rate"`.
    first_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    let passing = Rc::new(RefCell::new(reporter::Passing::default()));
    for device in &node.devices {
        let reporter = reporter::Reporter::new(device.face, params.clone(), Rc::clone(&passing));
        parts.gates.push((device.face, Box::new(reporter)));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
