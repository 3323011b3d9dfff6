//! PCON: CoDel's marks make consumers slow down and routers divert traffic.
//!
//! Paper: Schneider, Yi, Zhang & Zhang 2016, in the form of the authors' code for ndnSIM. Its parts:
//! * [`consumer`]: BIC, halved at every mark;
//! * [`CodelMarker`]: the queue that decides when Data for its link is to be marked (`codel-queue2.cc`);
//! * [`split_strategy`]: marks Data, and moves the Interests of a prefix away from next hops whose Data is marked.
//!
//! The part of it that ndnSIM contains, a consumer, is the scheme `pcon-ndnsim` with `nfd-marking`.

use tidegate_core::prelude::*;

use crate::toolbox::forwarding::split_ratios::InitialSplit;
use crate::toolbox::queue::codel_marker::{Carrier, CodelMarker};

pub mod consumer;
pub mod split_strategy;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "pcon",
    summary: "CoDel marks halve the consumer's BIC window and shift Interests to other next hops",
    paper: "Schneider, Yi, Zhang, Zhang: A Practical Congestion Control Scheme for NDN, ICN 2016",
    provenance: Provenance::Source,
    deviations: &[
        "A split starts with the cheapest next hop, ties by face number; the source takes the lowest face number, \
         whatever its cost.",
        "Probes are sent to usable next hops only; the source sends them even to the face that the Interest came from.",
        "Without a usable next hop the Interest is refused; the source lets it expire.",
        "A retransmitted Interest is recognised by its face, as the source's comment describes; the comparison of \
         times in the source would take every Interest for one from a new face.",
        "Each downstream's copy is marked by its own queue; in the source all copies share the mark of the last one.",
        "A congestion Nack is handled like the source's marked Nack, which is a Data packet with a tag; other Nacks do \
         not grow the window.",
        "The window never falls below its initial value; in the source it may until the next Data.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::Pcon,
    consumer: Some(|settings| Ok(Box::new(consumer::PconConsumer::new(&Params::from_settings(settings)?)))),
    router: Some(router),
    marking: Marking::Always,
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Marks, "it reacts to losses alone").unless("react_to_marks", "false"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

params! {
    /// Consumer: initial and minimum congestion window (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: fraction of the window kept after a decrease (`BETA`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Consumer: whether marked Data decreases the window; otherwise marks are ignored (`ReactToCongMarks`).
    react_to_marks: bool = true;
    /// Consumer: whether timeouts and Nacks decrease the window at most once per window of data
    /// (`UseConservativeWindowAdaptation`); marks always do.
    conservative: bool = true;
    /// Routers: acceptable standing queueing delay (CoDel's default).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Routers: time that the delay has to stay above the target before the first mark; also the initial interval
    /// between marks.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Routers: factor on the interval between marks (`codel-queue2.cc`).
    stretch: f64 = 1.1, "times the interval", 0.1..=10.0;
    /// Routers: whether an Interest that joins a congested upstream queue causes a mark on its Data.
    mark_pending: bool = true;
    /// Routers: initial split of a prefix: `shortest-path`, all Interests to the cheapest next hop; `equal`, equal
    /// shares (`INIT_SHORTEST_PATH`).
    initial_split: InitialSplit = InitialSplit::ShortestPath;
    /// Routers: fraction of a next hop's share that moves to the others for each mark from it; 0 keeps the split
    /// (`CHANGE_PER_MARK`).
    change_per_mark: f64 = 0.02, "of the share", 0.0..=1.0;
    /// Routers: share that the first next hop of an expired Interest loses (also `CHANGE_PER_MARK` in the source,
    /// but not as a fraction of the share).
    change_per_expiry: f64 = 0.02, "of all Interests", 0.0..=1.0;
    /// Routers: fraction of the Interests that are also sent to every other next hop, with their own nonces
    /// (`PROBING_PERCENTAGE`).
    probing: f64 = 0.001, "of all Interests", 0.0..=1.0;
    /// Routers: minimum interval between two changes of the split after Nacks, of any prefix
    /// (`TIME_BETWEEN_FW_UPDATE`).
    nack_pause: Span = Span::from_millis(110), "time", Span::ZERO..=Span::from_secs(60);
    /// Routers: time that a satisfied Interest stays pending, so that later Data for a probe still counts (NFD
    /// 0.3.4).
    straggler: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(10);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let strategy = split_strategy::SplitStrategy::new(params.clone(), node.streams.stream(SCHEME.name));
    let marker = |_: &DeviceSetup| {
        CodelMarker::new(params.target, params.interval, params.stretch, Carrier::Face)
    };
    Ok(RouterParts::default().with_disciplines(node, marker).with_strategy(strategy))
}
