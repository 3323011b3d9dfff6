//! CoopCon-like: consumers react to mild congestion; routers divert traffic only when it is severe.
//!
//! Paper: CoopCon (Li et al., TNSM 2023), of which we have the abstract and the description in the ndnSieve paper:
//! AQM and consumers co-operate, routers redirect in severe congestion only, consumers adjust their window gradually,
//! the optimal path is used resiliently. Every number here is ours. Its parts:
//! * [`consumer`]: a packet less for a mild mark, a fifth less for a severe one;
//! * [`marker`]: two levels of marks by waiting time and queue length;
//! * [`divert_strategy`]: moves Interests away from severe marks and, once calm, back to the fastest next hop.

use tidegate_core::prelude::*;

pub mod consumer;
pub mod divert_strategy;
pub mod marker;

/// Mark of mild congestion.
const MILD: u8 = 1;
/// Mark of severe congestion.
const SEVERE: u8 = 2;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "coopcon-like",
    summary: "mild marks reduce the consumer's window slightly; severe marks make routers divert Interests",
    paper: "Li et al.: CoopCon, IEEE TNSM 2023 (abstract); the ndnSieve paper's description of it",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Reconstructed from an abstract: levels, thresholds, steps and times are ours, and results are not CoopCon's.",
        "The level depends on the queueing delay, as in CoDel, and on the queue length; marks of both levels are \
         spaced by CoDel's control law.",
        "Interests are diverted by PCON's rule for marked Data; they return to the next hop with the lowest RTT.",
        "The window grows like TCP's; a loss is handled like a severe mark.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(consumer::CoopConConsumer::new(Params::from_settings(settings)?)))),
    router: Some(router),
    marking: Marking::Always,
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "marks have no level, and no router diverts Interests"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Consumer: initial congestion window.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: decrease of the window after a mild mark, at most once per window of data.
    mild_step: f64 = 1.0, "packets", 0.0..=1_000.0;
    /// Consumer: fraction of the window kept after a severe mark or a loss, at most once per window of data.
    severe_keep: f64 = 0.8, "of the window", 0.1..=1.0;
    /// Routers: acceptable standing queueing delay.
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Routers: time that the delay has to stay above the target before congestion is mild; also the initial interval
    /// between marks.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Routers: queueing delay above which congestion is severe at once.
    severe_target: Span = Span::from_millis(25), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Routers: queue occupancy above which congestion is severe at once; 1 disables this test.
    severe_occupancy: f64 = 0.8, "of the queue limit", 0.0..=1.0;
    /// Routers: fraction of a next hop's share that moves to the others for each severe mark from it; 0 never diverts.
    change_per_mark: f64 = 0.02, "of the share", 0.0..=1.0;
    /// Routers: time without a mark on the Data of a prefix before its Interests begin to return to the fastest next
    /// hop.
    calm: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Routers: fraction of the Interests that returns to the fastest next hop per `calm` interval; 0 returns none.
    return_step: f64 = 0.01, "of all Interests", 0.0..=1.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let draws = node.streams.stream(SCHEME.name);
    let strategy = divert_strategy::DivertStrategy::new(params.clone(), draws);
    let marker = |_: &DeviceSetup| marker::LevelMarker::new(params.clone());
    Ok(RouterParts::default().with_disciplines(node, marker).with_strategy(strategy))
}
