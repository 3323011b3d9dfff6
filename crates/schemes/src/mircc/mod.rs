//! MIRCC: every router computes the rate that each flow may have of the link towards the producer, writes it on Data,
//! and consumers ask at the lowest rate on their path.
//!
//! Paper: Kato et al., FedCSIS 2020, sections II.C and III.A. The original (Mahdian et al., ICN 2016) we know by its abstract.
//! Its parts:
//! * [`fair_rate`]: equations 1 to 5;
//! * [`rate_gate`]: measures for them, polices Interests, stamps Data;
//! * the consumer is the toolbox's [`RateFollower`].
//!
//! With `multipath` (dual-class best-subflow) a flow uses several paths:
//! * [`multipath_consumer`]: asks at the primary rate on the best path, at the secondary rate on all others;
//! * [`steering_strategy`]: sends an Interest along the path that it names;
//! * [`path_table`]: the paths that a router knows;
//! * [`secondary`]: the rate of what primary Interests leave of a link.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::{ByteCount, Packets, Span};
use tidegate_core::whole::{Counterpart, Need, Role, Whole};

use crate::toolbox::rate_follower::{RateFollower, Start};
use fair_rate::Beta;
use rate_gate::Policing;

pub mod fair_rate;
pub mod multipath_consumer;
pub mod path_table;
pub mod rate_gate;
pub mod secondary;
pub mod steering_strategy;

/// [`FlowClass`](tidegate_core::signal::Signal::FlowClass) of Interests on the best path, and of all others.
const PRIMARY: u32 = 0;
const SECONDARY: u32 = 1;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "mircc",
    summary: "routers stamp the fair rate of their links on Data; consumers ask at the lowest on the path",
    paper: "Kato et al., FedCSIS 2020; Mahdian et al.: MIRCC, ICN 2016",
    provenance: Provenance::Paper,
    deviations: &[
        "Equations 1, 3 and 4 are damaged in our copy of the paper; they are read so that rates follow RCP below the capacity and scale down in proportion above it (`beta` has the two readings of equation 3 that fit the paper's tables).",
        "Rates stay between one Interest per second and the capacity, and the base rate is never below 0.",
        "The capacity is the link's rate over the mean size of Data, in place of a number (`capacity` sets it).",
        "The first interval begins with a face's first Interest, and an interval is as long as it really was when its end comes late.",
        "The paper does not say how the round-trip time is smoothed, nor where it starts: we take an eighth of each new one, from `first_rtt` on.",
        "The paper's consumer seems to begin at the rate of its link (`start = \"link\"`); ours asks once and begins at the rate that is stamped on the answer.",
        "ndnSIM 1.0 delays the bucket's leak by a random time below 1 ms; ours leaks all the time.",
        "Of the original's multipath part we have an abstract and an outline: path labels, how paths are found and forgotten, margin and pace of elections, and that both classes share one bucket are ours.",
        "The averages begin with the first base rate and with an excess rate of 0, of which the paper does not speak.",
        "A stamp ends at 4.29 million Interests per second, so that links above 43 Gbit/s are not filled by Data of 1250 bytes.",
        "An Interest counts as one packet in the bucket, whatever the size of its Data.",
    ],
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let follower = RateFollower::new(params.start, params.first_rate);
        if params.multipath {
            return Ok(Box::new(multipath_consumer::MultipathConsumer::new(params, follower)));
        }
        Ok(Box::new(follower))
    }),
    router: Some(router),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "Data carries no rate, so the consumer stays at its initial rate").by("stamping", "true"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Routers: time between two computations of a rate.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(100)..=Span::from_secs(100);
    /// Routers: Interests per second whose Data fill the link; 0 takes the link's rate over the mean size of its Data.
    capacity: f64 = 0.0, "Interests/s", 0.0..=1_000_000_000.0;
    /// Routers: size of a Data before the first one came.
    data_size: ByteCount = ByteCount::new(1_250), "size", ByteCount::new(1)..=ByteCount::new(1_000_000);
    /// Routers: part of the capacity that is given away.
    utilisation: f64 = 1.0, "of the capacity", 0.01..=1.0;
    /// Routers: equation 3, the weight of the bucket's fill: 0.1, or the part of the load that is above the capacity if
    /// that is more.
    beta: Beta = Beta::ExcessLoad;
    /// Routers: weight of the newest value in the averages of base and excess rate.
    weight: f64 = 0.5, "of the value", 0.01..=1.0;
    /// Routers: round-trip time before the first Data came.
    first_rtt: Span = Span::from_millis(400), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Routers: Interests that the bucket holds; it leaks at the capacity.
    depth: Packets = Packets::new(200), "packets", Packets::new(1)..=Packets::new(1_000_000);
    /// Routers: what becomes of an Interest for which the bucket has no room.
    policing: Policing = Policing::Drop;
    /// Routers: whether Data get the rate.
    stamping: bool = true;
    /// Consumer: what it does before the first stamp: one Interest, `first_rate`, or the rate of its fastest link.
    start: Start = Start::Probe;
    /// Consumer: rate before the first stamp, with `start = "rate"`.
    first_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000.0;
    /// Whether a flow uses several paths: both consumers and routers have to be told.
    multipath: bool = false;
    /// Consumer with several paths: part of its Interests that look for new ones.
    exploring: f64 = 0.01, "of the Interests", 0.0..=0.5;
    /// Consumer with several paths: by how much the primary rate of another path must be higher to become the primary
    /// path's.
    margin: f64 = 0.1, "of the rate", 0.0..=10.0;
    /// Consumer with several paths: how long a path without Data is used.
    memory: Span = Span::from_secs(2), "time", Span::from_millis(1)..=Span::from_secs(600);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    let paths = params.multipath.then(path_table::SharedPaths::default);
    for device in &node.devices {
        let gate = rate_gate::RateGate::new(params.clone(), device.face, paths.clone());
        parts.gates.push((device.face, Box::new(gate)));
    }
    if let Some(paths) = paths {
        parts.strategy = Some(Box::new(steering_strategy::SteeringStrategy::new(paths)));
    }
    Ok(parts)
}
