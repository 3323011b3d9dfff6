//! CCTCP, simplified: a TCP window and timer for each node that satisfies Interests of a flow.
//!
//! Paper: Saino, Cocora & Pavlou 2013 (CCTCP). With caches on the path one RTT does not predict the next, unless the
//! source is known in advance. In the paper Interests list the chunks to be requested next, and routers that
//! hold one announce it; here the source writes its number on the Data, and the source of the last Data is
//! assumed for the next one.
//!
//! * [`consumer`]: a window per source;
//! * [`source`]: one source: window, timer, number of outstanding Interests;
//! * [`signer`]: writes the number of its source on Data.

use tidegate_core::prelude::*;

pub mod consumer;
pub mod signer;
pub mod source;

/// Number of the node that returned the Data, at least 1.
pub const ROUTER_ID: Signal = Signal::new(916, Merge::Last);
/// Consumer's clock, which the source returns, microseconds.
pub const TIMESTAMP_ECHO: Signal = Signal::new(932, Merge::Last);

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "cctcp-like",
    summary: "a separate TCP window and timer for each node that returns Data; the next segment is expected from the last source",
    paper: "Saino, Cocora & Pavlou 2013 (CCTCP)",
    provenance: Provenance::Reconstruction,
    deviations: &[
        "Interests do not list the chunks to come and routers do not announce them: the source of the last Data packet \
         is assumed for the next one.",
        "Data without a source label is attributed to the neighbour of the first router that receives it, or to source \
         0.",
        "A timeout resets the window to the initial one, with slow start up to half of the old window, once for all \
         Interests outstanding at that time; the timer is that of ndn-cxx, one for each source.",
        "A congestion Nack, which does not occur in the paper, is handled like a timeout.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Own,
    consumer: Some(|settings| Ok(Box::new(consumer::CctcpConsumer::new(Params::from_settings(settings)?)))),
    router: Some(router),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "Data does not name its source, so all sources share one window").unless("per_source", "false"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Initial congestion window of each source.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Whether each source has its own window and timer.
    per_source: bool = true;
    /// Whether Interests carry a timestamp, so that retransmitted segments give RTT samples too.
    timestamps: bool = true;
    /// Minimum retransmission timeout of a source.
    #[renamed_from("least_timeout")]
    min_timeout: Span = Span::from_millis(200), "time", Span::from_micros(1)..=Span::from_secs(60);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    Params::from_settings(settings)?;
    Ok(RouterParts::default().with_gates(node, |device| signer::Signer::new(node.node, device.neighbour)))
}
