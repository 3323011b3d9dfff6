//! MIRCC: every router computes the rate of each flow on the link towards the producer, stamps it on Data, and
//! consumers request at the lowest rate on their path.
//!
//! Paper: Kato et al., FedCSIS 2020, sections II.C and III.A. Of the original (Mahdian et al., ICN 2016) only the
//! abstract was available. Its parts:
//! * [`fair_rate`]: eq. 1 to 5;
//! * [`rate_gate`]: measures for them, polices Interests, stamps Data;
//! * the consumer is the toolbox's [`RateFollower`].
//!
//! With `multipath` (dual-class best-subflow) a flow uses several paths:
//! * [`multipath_consumer`]: asks at the primary rate on the best path, at the secondary rate on all others;
//! * [`steering_strategy`]: sends an Interest along the path that it names;
//! * [`path_table`]: the paths that a router knows;
//! * [`secondary`]: the rate of the capacity that primary Interests leave unused.

use tidegate_core::prelude::*;

use crate::toolbox::rate::rate_follower::{RateFollower, Start};
use fair_rate::Beta;
use rate_gate::Policing;

pub mod fair_rate;
pub mod multipath_consumer;
pub mod path_table;
pub mod rate_gate;
pub mod secondary;
pub mod steering_strategy;

/// Rate granted to the secondary class, milli-Interests/s.
pub const STAMPING_RATE_SECONDARY: Signal = Signal::new(908, Merge::Min);
/// Path label that the Interest is to follow; 0 requests any path, to find new ones.
pub const PATH_CHOICE: Signal = Signal::new(940, Merge::Last);
/// Primary or secondary class of the Interest: 0 or 1.
pub const FLOW_CLASS: Signal = Signal::new(944, Merge::Last);

/// [`FLOW_CLASS`] of Interests on the best path, and of all others.
const PRIMARY: u32 = 0;
const SECONDARY: u32 = 1;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "mircc",
    summary: "routers stamp the fair rate of their links on Data; consumers send at the lowest rate on the path",
    paper: "Kato et al., FedCSIS 2020; Mahdian et al.: MIRCC, ICN 2016",
    provenance: Provenance::Paper,
    deviations: &[
        "In our copy of the paper, eq. 1, 3 and 4 are damaged; they are read so that rates follow RCP below the \
         capacity and are scaled down in proportion above it (`beta` has the two readings of eq. 3 that agree \
         with the paper's tables).",
        "Rates stay between one Interest per second and the capacity, and the base rate is never negative.",
        "The capacity is the link's rate divided by the mean size of Data, instead of a number (`capacity` sets one).",
        "The first interval begins with the first Interest of a face, and the actual length of an interval counts when \
         its end comes late.",
        "The paper does not specify how the RTT is smoothed or initialised: we use weight 1/8 for each sample, \
         starting from `initial_rtt`.",
        "The paper's consumer seems to start at the rate of its link (`start = \"link\"`); ours sends one Interest and \
         starts at the rate stamped on its Data.",
        "ndnSIM 1.0 delays the leak of the bucket by a random time below 1 ms; ours leaks continuously.",
        "Of the original's multipath part we have an abstract and an outline: path labels, the discovery and expiry of \
         paths, the margin and interval of elections, and the single bucket for both classes are ours.",
        "The averages start from the first base rate and from an excess rate of 0, which the paper does not specify.",
        "The maximum stamp is 4.29 million Interests per second, so that links above 43 Gbit/s are not filled by Data \
         of 1250 bytes.",
        "An Interest counts as one packet in the bucket, whatever the size of its Data.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| {
        let params = Params::from_settings(settings)?;
        let follower = RateFollower::new(params.start, params.initial_rate);
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
    /// Routers: interval between two computations of the rate.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(100)..=Span::from_secs(100);
    /// Routers: rate of Interests whose Data fills the link; 0 derives it from the link's rate and the mean size of
    /// Data.
    capacity: f64 = 0.0, "Interests/s", 0.0..=1_000_000_000.0;
    /// Routers: assumed size of Data before the first one arrives.
    data_size: ByteCount = ByteCount::new(1_250), "size", ByteCount::new(1)..=ByteCount::new(1_000_000);
    /// Routers: fraction of the capacity that is allocated.
    utilisation: f64 = 1.0, "of the capacity", 0.01..=1.0;
    /// Routers: weight of the bucket's fill in equation 3: `constant`, 0.1; `excess-load`, the excess of the load over
    /// the capacity, at least 0.1.
    beta: Beta = Beta::ExcessLoad;
    /// Routers: weight of the latest value in the moving averages of the base and excess rate.
    weight: f64 = 0.5, "of the value", 0.01..=1.0;
    /// Routers: assumed RTT before the first Data arrives.
    #[renamed_from("first_rtt")]
    initial_rtt: Span = Span::from_millis(400), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Routers: size of the leaky bucket in Interests; it leaks at the capacity.
    depth: Packets = Packets::new(200), "packets", Packets::new(1)..=Packets::new(1_000_000);
    /// Routers: reaction to an Interest that exceeds the bucket: `drop` drops it silently; `nack` returns a congestion
    /// Nack; `off` forwards it.
    policing: Policing = Policing::Drop;
    /// Routers: whether the rate is stamped on Data.
    stamping: bool = true;
    /// Consumer, before the first stamp: `probe` sends one Interest and waits; `rate` sends at `initial_rate`; `link`
    /// sends at the rate of the consumer's fastest link.
    start: Start = Start::Probe;
    /// Consumer: initial rate with `start = "rate"`.
    #[renamed_from("first_rate")]
    initial_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000.0;
    /// Whether a flow uses several paths; has to be set for both consumers and routers.
    multipath: bool = false;
    /// Consumer, multipath: fraction of its Interests that search for new paths.
    exploring: f64 = 0.01, "of the Interests", 0.0..=0.5;
    /// Consumer, multipath: minimum excess of another path's primary rate, as a fraction, for it to become the primary
    /// path.
    margin: f64 = 0.1, "of the rate", 0.0..=10.0;
    /// Consumer, multipath: time after which a path without Data is no longer used.
    memory: Span = Span::from_secs(2), "time", Span::from_millis(1)..=Span::from_secs(600);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let paths = params.multipath.then(path_table::SharedPaths::default);
    let parts = RouterParts::default().with_gates(node, |device| {
        rate_gate::RateGate::new(params.clone(), device.face, paths.clone())
    });
    Ok(match paths {
        Some(paths) => parts.with_strategy(steering_strategy::SteeringStrategy::new(paths)),
        None => parts,
    })
}
