//! PCON: marks spread by CoDel tell consumers to slow down and routers to send elsewhere.
//!
//! Paper: Schneider, Yi, Zhang & Zhang 2016, in the form of the authors' code for ndnSIM. Its parts:
//! * [`consumer`]: BIC, halved at every mark;
//! * [`marker`]: the queue that decides when Data for its link is to be marked;
//! * [`split_strategy`]: puts marks on, and moves Interests of a prefix away from next hops that send them.
//!
//! What ndnSIM ships of it is the scheme `pcon-ndnsim`, a consumer alone, with `nfd-marking`.

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::Span;
use tidegate_core::whole::{Counterpart, Marking, Need, Role, Whole};

use crate::toolbox::split_ratios::InitialSplit;

pub mod consumer;
pub mod marker;
pub mod split_strategy;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "pcon",
    summary: "CoDel marks halve the consumer's BIC window and move Interests to other next hops",
    paper: "Schneider, Yi, Zhang, Zhang: A Practical Congestion Control Scheme for NDN, ICN 2016",
    provenance: Provenance::Source,
    deviations: &[
        "A split begins on the cheapest next hop, ties by face number; the source takes the lowest face number, whatever it costs.",
        "Probes go to usable next hops alone; the source sends them even to where the Interest came from.",
        "Without a usable next hop the Interest is refused; the source lets it expire.",
        "A repeated Interest is told by its face, as the source's comment has it; its comparison of times would take every Interest for one from a new face.",
        "Each downstream's copy is marked by its own queue; in the source all copies share the last one's mark.",
        "A congestion Nack counts as the source's marked Nack, which is a Data with a tag; other Nacks do not grow the window.",
        "The window never falls below its first value; in the source it may until the next Data.",
    ],
    draws: true,
    params: Params::TABLE,
    shell: ShellKind::Pcon,
    consumer: Some(|settings| Ok(Box::new(consumer::Consumer::new(&Params::from_settings(settings)?)))),
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
    /// Consumer: first window and floor of all (`Window`).
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: part of the window kept on a decrease (`BETA`).
    beta: f64 = 0.5, "of the window", 0.1..=0.99;
    /// Consumer: whether a marked Data decreases the window; else it counts as an unmarked one (`ReactToCongMarks`).
    react_to_marks: bool = true;
    /// Consumer: whether timeouts and Nacks decrease the window once per window of data only
    /// (`UseConservativeWindowAdaptation`); marks always count.
    conservative: bool = true;
    /// Routers: waiting time that is still good (CoDel's default).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Routers: time above the target before the first mark, and first pause.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Routers: factor on every pause between marks (`codel-queue2.cc`).
    stretch: f64 = 1.1, "times the interval", 0.1..=10.0;
    /// Routers: whether a congested upstream queue has the Data of an Interest that joins it marked.
    mark_pending: bool = true;
    /// Routers: split that a prefix begins with (`INIT_SHORTEST_PATH`).
    initial_split: InitialSplit = InitialSplit::ShortestPath;
    /// Routers: part of a next hop's share that goes to the others for each mark it sends; 0 keeps the split
    /// (`CHANGE_PER_MARK`).
    change_per_mark: f64 = 0.02, "of the share", 0.0..=1.0;
    /// Routers: taken off the share of an unanswered Interest's first next hop (`CHANGE_PER_MARK` too, but not
    /// of the share).
    change_per_expiry: f64 = 0.02, "of all Interests", 0.0..=1.0;
    /// Routers: Interests that also go to every other next hop, with nonces of their own (`PROBING_PERCENTAGE`).
    probing: f64 = 0.001, "of all Interests", 0.0..=1.0;
    /// Routers: shortest pause between two changes of the split for Nacks, of any prefix
    /// (`TIME_BETWEEN_FW_UPDATE`).
    nack_pause: Span = Span::from_millis(110), "time", Span::ZERO..=Span::from_secs(60);
    /// Routers: how long an answered Interest stays pending, so that a probe's later answer still counts (NFD 0.3.4).
    straggler: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(10);
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let strategy = split_strategy::SplitStrategy::new(params.clone(), node.streams.stream(SCHEME.name));
    let mut parts = RouterParts { strategy: Some(Box::new(strategy)), ..RouterParts::default() };
    parts.disciplines.extend(node.devices.iter().map(|device| (device.face, marker::discipline(&params))));
    Ok(parts)
}
