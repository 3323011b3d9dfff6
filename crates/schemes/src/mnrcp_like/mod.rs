//! MNRCP-like: every link is divided by the number of flows on it, of Interests and of Data; consumers follow the smallest
//! part on their path, routers refuse what exceeds it and use several paths.
//!
//! Paper: MNRCP, of which we have what the MIRCC coarse-clock paper says (its Table II and section II.A): a reported
//! rate that is followed, numbers of Interest flows and Data flows apart, Nacks, and several paths. Every rule and number
//! is ours. Its parts:
//! * [`counting_gate`]: counts flows at a face, writes their part of its link on Data, refuses Interests beyond it;
//! * [`spreading_strategy`]: splits Interests by what next hops report, and reports their sum;
//! * [`consumer`]: follows the reported rate, half of it after a Nack.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::Span;
use tidegate_core::whole::{Counterpart, Need, Role, Whole};

use crate::toolbox::rate_follower::Start;

pub mod consumer;
pub mod counting_gate;
pub mod spreading_strategy;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "mnrcp-like",
    summary: "links divided by the flows of Interests and Data on them; excess is refused, next hops' rates add up",
    paper: "MNRCP, as the MIRCC coarse-clock paper describes it (Table II, section II.A)",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Rebuilt from a line of a table and a sentence: rules and numbers are ours, and results are not MNRCP's.",
        "A flow is the prefix that its names share, and counts for `window` after its last packet; flows that send less often than that are not all counted.",
        "There is no queue in the rule: `headroom` lets queues drain.",
        "Where Interests are split, the reports of the next hops are added up, as if each stood for a flow of its own.",
        "Data from a content store carry the part of the downstream link alone.",
    ],
    params: Params::TABLE,
    shell: ShellKind::NdnsimNack,
    consumer: Some(|settings| Ok(Box::new(consumer::Consumer::new(&Params::from_settings(settings)?)))),
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
    /// Routers: part of a link that is given away.
    headroom: f64 = 0.97, "of the link", 0.01..=1.0;
    /// Routers: how long a flow counts after its last packet.
    window: Span = Span::from_millis(100), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Routers: whether Interests beyond a flow's part of the upstream link are refused.
    police: bool = true;
    /// Routers: Interests of a flow that may exceed its part at once.
    burst: f64 = 50.0, "packets", 1.0..=1_000_000.0;
    /// Routers: whether Interests are split over next hops; otherwise the scenario's strategy stays.
    spread: bool = true;
    /// Routers: how long the report of a next hop counts.
    memory: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Consumer: whether a Nack halves the rate until the next report.
    heed_nacks: bool = true;
    /// Consumer: what it does before the first report.
    start: Start = Start::Probe;
    /// Consumer: first rate for `start = "rate"`.
    first_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    for device in &node.devices {
        let gate = counting_gate::CountingGate::new(device.face, params.clone());
        parts.gates.push((device.face, Box::new(gate)));
    }
    if params.spread {
        parts.strategy = Some(Box::new(spreading_strategy::SpreadingStrategy::new(params.memory)));
    }
    Ok(parts)
}
