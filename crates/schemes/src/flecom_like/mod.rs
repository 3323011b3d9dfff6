//! FleCom-like: the trend of waiting times measures a path's congestion; routers divert or delay Interests.
//!
//! Paper: FleCom (Li et al., INFOCOM workshops 2023), of which we have the abstract and the description in the
//! ndnSieve paper: the trend of the sojourn time detects, routers choose between other paths and shaping Interests,
//! the level of congestion sizes the consumer's change of window. Every number here is ours. Its parts:
//! * [`consumer`]: a twentieth less for each level;
//! * [`trend_marker`]: levels 0 to 4 on Data, by the mean waiting time while it grows;
//! * [`flexible_strategy`]: to a next hop without congestion, else through the face's Interest shaper.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use crate::toolbox::shaping::interest_shaper::{InterestShaper, ShapedUnit, ShaperGate, ShaperSetup};

pub mod consumer;
pub mod flexible_strategy;
pub mod trend_marker;

/// Highest level of congestion.
const HIGHEST: u8 = 4;

/// Burst of a shaper: two Data packets of an ordinary size.
const DEPTH: ByteCount = ByteCount::new(3_000);
/// Assumed size of a Data packet before the first one arrives.
const EXPECTED_DATA: ByteCount = ByteCount::new(1_100);

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "flecom-like",
    summary: "congestion levels from rising queueing delays; routers divert or shape, consumers reduce the window by the \
         level",
    paper: "Li et al.: FleCom, INFOCOM workshops 2023 (abstract); the ndnSieve paper's description of it",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Reconstructed from an abstract: levels, thresholds, steps and times are ours, and results are not FleCom's.",
        "The level is kept for a period and set on every Data packet of it; the level of a path is the highest of a \
         period.",
        "A router acts once per period and path: it diverts Interests if another next hop is not congested, else it \
         shapes them.",
        "A shaper stays below the rate of its own link, instead of the congested link's, and ends when no Interest \
         waits any more.",
        "The window grows like TCP's; a loss is handled like the highest level.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(consumer::FleComConsumer::new(Params::from_settings(settings)?)))),
    router: Some(router),
    marking: Marking::Always,
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "marks have no level, and no router shapes Interests"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Consumer: initial congestion window.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: decrease of the window for each level of a mark, at most once per window of data and period; a loss
    /// counts as level 4.
    decrease_per_level: f64 = 0.05, "of the window", 0.0..=0.2;
    /// Routers: acceptable mean queueing delay; level 4 is reached at twice this value.
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Interval over which the trend of the delay is measured, and minimum interval between two actions of a router on
    /// one path or of a consumer.
    period: Span = Span::from_millis(100), "time", Span::from_millis(1)..=Span::from_secs(100);
    /// Routers: fraction of a congested next hop's share that moves to one without congestion, for each level.
    shift_per_level: f64 = 0.02, "of the share", 0.0..=0.25;
    /// Routers: time for which a path counts as congested after its last Data.
    memory: Span = Span::from_secs(1), "time", Span::ZERO..=Span::from_secs(600);
    /// Routers: whether Interests are shaped when every next hop is congested.
    shaping: bool = true;
    /// Routers: fraction of the link's rate, for each level, by which a shaper stays below it; also the fraction by
    /// which its rate grows in every period without congestion.
    shape_per_level: f64 = 0.05, "of the rate", 0.0..=0.2;
    /// Routers: maximum number of Interests that wait at a shaper; further ones are refused.
    shaper_limit: Packets = Packets::new(1_000), "packets", Packets::new(1)..=Packets::new(1_000_000);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    let mut shapers = Vec::new();
    for device in &node.devices {
        let limit = params.shaper_limit;
        let setup = ShaperSetup { measure: ShapedUnit::Data, depth: DEPTH, expected_data: EXPECTED_DATA, limit };
        let shaper = Rc::new(RefCell::new(InterestShaper::new(setup)));
        let marker = trend_marker::TrendMarker::new(params.target, params.period);
        parts.disciplines.push((device.face, Box::new(marker)));
        if params.shaping {
            parts.gates.push((device.face, Box::new(ShaperGate(Rc::clone(&shaper)))));
        }
        shapers.push((device.face, shaper));
    }
    let draws = node.streams.stream(SCHEME.name);
    Ok(parts.with_strategy(flexible_strategy::FlexibleStrategy::new(params, shapers, draws)))
}
