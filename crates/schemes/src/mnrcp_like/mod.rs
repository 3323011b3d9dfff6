//! MNRCP-like: every link is divided by the number of flows on it, of Interests and of Data; consumers send at the
//! minimum share on their path, routers refuse Interests beyond it and use several paths.
//!
//! Paper: MNRCP, known from the MIRCC coarse-clock paper only (its Table II and section II.A): a reported rate that
//! is followed, numbers of Interest flows and Data flows apart, Nacks, and several paths. Every rule and number is
//! ours. Its parts:
//! * [`counting_gate`]: counts flows at a face, writes their part of its link on Data, refuses Interests beyond it;
//! * [`spreading_strategy`]: splits Interests by what next hops report, and reports their sum;
//! * [`consumer`]: follows the reported rate, half of it after a Nack.

use tidegate_core::prelude::*;

use crate::toolbox::rate::rate_follower::Start;

pub mod consumer;
pub mod counting_gate;
pub mod spreading_strategy;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "mnrcp-like",
    summary: "routers divide links by the number of flows, refuse excess Interests and add up the rates of next hops",
    paper: "MNRCP, as the MIRCC coarse-clock paper describes it (Table II, section II.A)",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Reconstructed from a line of a table and a sentence: rules and numbers are ours, and results are not MNRCP's.",
        "A flow is the prefix that its names share, and counts for `window` after its last packet; flows that send \
         less often are not always counted.",
        "The rule does not include the queue: `headroom` lets queues drain.",
        "Where Interests are split, the rates reported by the next hops are added up, as if each were for a separate \
         flow.",
        "Data from a content store carries the share of the downstream link only.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::NdnsimNack,
    consumer: Some(|settings| Ok(Box::new(consumer::MnrcpConsumer::new(&Params::from_settings(settings)?)))),
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
    /// Routers: fraction of a link that is allocated to flows.
    headroom: f64 = 0.97, "of the link", 0.01..=1.0;
    /// Routers: time for which a flow counts after its last packet.
    window: Span = Span::from_millis(100), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Routers: whether Interests beyond a flow's share of the upstream link are refused.
    police: bool = true;
    /// Routers: number of Interests by which a flow may exceed its share at once.
    burst: f64 = 50.0, "packets", 1.0..=1_000_000.0;
    /// Routers: whether Interests are split over next hops; otherwise the scenario's strategy is used.
    spread: bool = true;
    /// Routers: time for which the report of a next hop is valid.
    memory: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Consumer: whether a Nack halves the rate until the next report.
    #[renamed_from("heed_nacks")]
    react_to_nacks: bool = true;
    /// Consumer, before the first report: `probe` sends one Interest and waits; `rate` sends at `initial_rate`; `link`
    /// sends at the rate of the consumer's fastest link.
    start: Start = Start::Probe;
    /// Consumer: initial rate with `start = "rate"`.
    #[renamed_from("first_rate")]
    initial_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let gate = |device: &DeviceSetup| counting_gate::CountingGate::new(device.face, params.clone());
    let parts = RouterParts::default().with_gates(node, gate);
    if params.spread {
        return Ok(parts.with_strategy(spreading_strategy::SpreadingStrategy::new(params.memory)));
    }
    Ok(parts)
}
