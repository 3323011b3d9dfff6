//! ndnSieve: routers distinguish mild from severe congestion; a controller moves mildly congested traffic to another
//! path, and consumers react to severe congestion.
//!
//! Paper: "ndnSieve" (Discover Applied Sciences, 2024, doi 10.1007/s42452-024-05903-4). Its parts by section:
//! * §4.1 [`detector`]: load of every face (eq. 1 and 2), states, marks while severe, signals and reports;
//! * §4.2 [`controller`]: congestion status filter, shunt node, costs (eq. 3); [`metric_strategy`]: the routers' half;
//! * §4.3 [`consumer`]: one packet more or less per Data (eq. 4 and 5).
//!
//! Tables 2 and 3 of the paper are pictures: the states are rebuilt from its prose, the thresholds were chosen. All
//! of them are parameters, and the defaults of those that were fitted say so.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use consumer::SieveConsumer;
use controller::SieveController;
use detector::{Agent, Detector};
use local_information::LocalInformation;
use metric_strategy::MetricStrategy;

use crate::toolbox::forwarding::retransmission_suppression::Params as Suppression;

pub mod consumer;
pub mod controller;
pub mod detector;
mod gic;
mod local_information;
pub mod messages;
pub mod metric_strategy;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "ndnsieve",
    summary: "a controller moves mildly congested prefixes to other paths; consumers react to severe congestion",
    paper: "ndnSieve: an SDN-based hybrid congestion control for NDN, Discover Applied Sciences 2024",
    provenance: Provenance::Paper,
    deviations: &[
        "Damping: a prefix stays on a path for `dwell`, the new path costs at most 1 - `hysteresis` of the old one, \
         and after a move no other is made at that router for `hold` polls; the paper has none of these (`dwell = \
         \"0s\"`, `hysteresis = 0`, `hold = 0`).",
        "The text does not give values for the states and thresholds (Tables 2 and 3): `th1` and `th2` are chosen, \
         `th2` to fit the throughput in the dumbbell.",
        "A timeout does not change the window: the paper leaves this to future work.",
        "The format of the messages is ours: the paper names only their content.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| Ok(Box::new(SieveConsumer::new(Params::from_settings(settings)?)))),
    router: Some(router),
    controller: Some(|settings| Ok(Box::new(SieveController::new(Params::from_settings(settings)?)))),
    marking: Marking::If("mark", "true"),
    whole: Whole {
        all_next_hops: true,
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "severe congestion is not marked, and the window grows until packets are lost").by("mark", "true"),
            Need::of(Role::Router, Counterpart::Role(Role::Controller), "nothing receives the routers' reports, and no prefix is moved to another path"),
            Need::of(Role::Controller, Counterpart::Role(Role::Router), "no router reports to the controller"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Window rule of the consumers.
    pub enum Form {
        /// eq. 4 and 5: one packet more for an unmarked Data, one less for a marked one.
        Literal = "literal",
        /// Slow start until the first mark; then one more per window of unmarked Data, one less per round trip with
        /// marks.
        Ssr = "ssr",
    }
}

params! {
    /// How consumers adapt the window (§4.3): `literal`, eq. 4 and 5, one packet more for each unmarked and one less
    /// for each marked Data; `ssr`, slow start until the first mark, then one packet more per window of unmarked Data
    /// and one less per RTT with marks.
    form: Form = Form::Literal;
    /// Congestion window before the first Data arrives.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Utilisation above which a face is congested (Table 2; chosen).
    th1: f64 = 0.9, "of the capacity", 0.01..=10.0;
    /// Queue occupancy above which congestion is severe (Table 2; fitted to the throughput in the dumbbell: 20 of 200
    /// packets).
    th2: f64 = 0.1, "of the queue limit", 0.0..=1.0;
    /// Interval over which arrivals are measured; not in the paper, fitted: with 100 ms, marks come after queues of 200
    /// packets have overflowed, and the paper reports no loss.
    window: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(10);
    /// Weight of the latest interval in the moving average of the utilisation; 1 uses it alone.
    weight: f64 = 0.5, "of the average", 0.01..=1.0;
    /// Interval between two checks of all faces, each of which signals at most once (§5.1: detection period; chosen).
    period: Span = Span::from_millis(100), "time", Span::from_millis(1)..=Span::from_secs(10);
    /// Interval between two reports of a router (§4.1: Tp).
    poll: Span = Span::from_millis(500), "time", Span::from_millis(10)..=Span::from_secs(60);
    /// Minimum time that a prefix stays on a path; 0 s as printed.
    dwell: Span = Span::from_secs(5), "time", Span::ZERO..=Span::from_secs(3600);
    /// Fraction by which another path has to be cheaper; 0 as printed.
    hysteresis: f64 = 0.5, "of the cost", 0.0..=1.0;
    /// Polls after a move during which no other prefix is moved at that router, since the reported loads are still old;
    /// 0 as printed.
    hold: u32 = 2, "polls", 0..=1000;
    /// Whether routers mark Data while a face is severely congested.
    mark: bool = true;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let suppression = Suppression::from_settings(&Settings::default())?;
    let local = Rc::new(RefCell::new(LocalInformation::new(node)));
    Ok(RouterParts::default()
        .with_disciplines(node, |device| Detector::new(&params, device.face, Rc::clone(&local)))
        .with_strategy(MetricStrategy::new(suppression, params.dwell, Rc::clone(&local)))
        .with_agent(Agent::new(params.clone(), node, local)))
}
