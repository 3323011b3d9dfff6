//! Stateful forwarding: routers limit Interests per upstream face, try the next face, and answer with Nacks.
//!
//! Source: Yi et al., A Case for Stateful Forwarding Plane (Computer Communications 2013), in the form of Cheng Yi's
//! code for ndnSIM (`CongestionControl` over `PerOutFaceLimits`) and of ndnSIM 1.0's `Limits`. Its parts:
//! * [`limit`] and [`limit_gate`]: how many Interests may go to an upstream face;
//! * [`early_nack`]: random early Nacks while the queue of Data towards a downstream is long;
//! * [`ranked_strategy`]: the next face, or a Nack downstream;
//! * [`mod@consumer`]: AIMD, to which a Nack is a loss.
//!
//! Two schemes are made of them, which differ in [`Decreases`].

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::congestion::CongestionController;
use tidegate_core::gate::FaceGate;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, RouterParts};
use tidegate_core::units::{ByteCount, Span};
use tidegate_core::{choice, params};

use crate::toolbox::average_queue::AverageQueue;
use crate::toolbox::once_per_flight::OncePerFlight;
use crate::toolbox::red_law::RedLaw;

pub mod consumer;
pub mod early_nack;
pub mod limit;
pub mod limit_gate;
pub mod ranked_strategy;
#[cfg(test)]
mod tests;

use early_nack::{EarlyNack, QueueWatch};
use limit::{FaceLimit, Measure};
use limit_gate::LimitGate;

/// What the parts do differently from the sources.
pub const DEVIATIONS: [&str; 10] = [
    "Faces are ranked by the cost of the route alone, without the paper's colours and round-trip times.",
    "A limit never falls below min_limit, nor a burst below min_burst; in the source both may reach 0, after which nothing is sent any more: set both to 0 for that.",
    "The dynamic burst changes the burst alone; in the source every Data then also sets the limit back to the link's.",
    "Only congestion Nacks lower a limit; in the source every valid Nack does.",
    "An Interest that is sent again while it is pending has its place in a pending limit already.",
    "An Interest that is sent again while it is pending is not refused early; in the source it may be.",
    "Data in the content store are sent whatever the queue; the source sends early Nacks before it looks for them.",
    "Early Nacks are counted per downstream as RED does, from the first Interest above the lower threshold on; the source counts all downstreams together and lets that first one pass.",
    "When all upstreams but one refused and that one waits for an answer itself, it alone is told, as in NFD.",
    "When all faces are above their limits, an Interest that is pending already is suppressed, not refused.",
];

/// [`DEVIATIONS`] after one more.
pub const fn deviations_after(first: &'static str) -> [&'static str; DEVIATIONS.len() + 1] {
    let mut all = [first; DEVIATIONS.len() + 1];
    let mut place = 0;
    while place < DEVIATIONS.len() {
        all[place + 1] = DEVIATIONS[place];
        place += 1;
    }
    all
}

choice! {
    /// What an upstream face's limit counts.
    pub enum LimitKind {
        /// Interests per second, with a burst.
        Rate = "rate",
        /// Interests that are pending.
        Pending = "pending",
        /// Nothing: there is no limit.
        None = "none",
    }
}

choice! {
    /// How Data and congestion Nacks move a limit.
    pub enum Adaptation {
        /// A step up per Data, one down per Nack (Yi's code).
        Code = "code",
        /// A step over the limit up per Data, down to a part of it per Nack (the paper).
        Aimd = "aimd",
        /// The limit stays what the link can bring (ndnSIM 1.0).
        None = "none",
    }
}

choice! {
    /// What the consumer adapts.
    pub enum Sending {
        /// A window of pending Interests.
        Window = "window",
        /// A rate of Interests.
        Rate = "rate",
    }
}

params! {
    /// Consumer: what it adapts.
    sending: Sending = Sending::Window;
    /// Consumer: first window, where it keeps one.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: first rate, where it keeps one.
    initial_rate: f64 = 10.0, "Interests/s", 1.0..=1_000_000.0;
    /// Consumer: growth per Data in slow start and per round trip after it; a rate grows by as much over the smoothed
    /// round-trip time.
    increase: f64 = 1.0, "packets", 0.01..=100.0;
    /// Consumer: part of window or rate kept after a Nack or timeout.
    keep: f64 = 0.5, "of window or rate", 0.1..=0.99;
    /// Consumer: whether it begins with slow start, until the first decrease.
    slow_start: bool = true;
    /// Routers: what an upstream face's limit counts.
    limit: LimitKind = LimitKind::Rate;
    /// Routers: how Data and congestion Nacks move a limit. It begins at, and never exceeds, what the link can bring.
    adaptation: Adaptation = Adaptation::Code;
    /// Routers: step of a limit per Data; in "aimd" over the limit.
    limit_increase: f64 = 1.0, "Interests/s or pending Interests", 0.0..=1_000.0;
    /// Routers: part of a limit kept per congestion Nack, in "aimd".
    limit_keep: f64 = 0.5, "of the limit", 0.1..=0.99;
    /// Routers: lowest limit.
    min_limit: f64 = 1.0, "Interests/s or pending Interests", 0.0..=1_000_000.0;
    /// Routers: a Data with its Interest, by which the link's rate is divided (ndnSIM 1.0: 1100 B and 40 B).
    expected_data: ByteCount = ByteCount::new(1140), "size", ByteCount::new(1)..=ByteCount::new(65_536);
    /// Routers: for how long a burst may take the limit's rate at once; a pending limit is at most the link's rate for
    /// this long (ndnSIM 1.0).
    burst: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(100);
    /// Routers: smallest burst.
    min_burst: f64 = 1.0, "Interests", 0.0..=1_000_000.0;
    /// Routers: whether rtt_multiplier times the face's mean round-trip time, once known, takes the place of burst
    /// (`EnableDynamicLimit`).
    dynamic_burst: bool = true;
    /// Routers: see dynamic_burst (`RttMultiplier`).
    rtt_multiplier: f64 = 1.0, "round trips", 0.01..=100.0;
    /// Routers: whether an Interest refused by one upstream goes to the others that are left.
    retry_elsewhere: bool = true;
    /// Routers: whether Interests are refused by RED's law on the queue that their Data would join (`EnableREN`).
    early_nack: bool = true;
    /// Routers: average queue below which none is (`MinTh`).
    min_threshold: f64 = 5.0, "packets", 0.0..=1_000_000.0;
    /// Routers: average queue from which on all are (`MaxTh`); not above min_threshold, it makes a step there.
    max_threshold: f64 = 15.0, "packets", 0.0..=1_000_000.0;
    /// Routers: probability at the upper threshold, before the spreading (`MaxP`).
    max_probability: f64 = 0.02, "probability", 0.0..=1.0;
    /// Routers: weight of the latest queue in the average (`QW`).
    weight: f64 = 0.002, "of the latest queue", 0.000001..=1.0;
    /// Routers: a typical packet, by which idle time is counted (`MeanPktSize`).
    typical_packet: ByteCount = ByteCount::new(500), "size", ByteCount::new(1)..=ByteCount::new(65_536);
}

/// What of a Nack counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decreases {
    /// Every Nack.
    Each,
    /// Those alone whose Interests left after the last decrease: one per round trip.
    OncePerRoundTrip,
}

impl Decreases {
    fn gate(self) -> Option<OncePerFlight> {
        (self == Self::OncePerRoundTrip).then(OncePerFlight::default)
    }
}

/// The consumer.
///
/// # Errors
/// Everything that is wrong with the settings.
pub fn consumer(
    settings: &Settings,
    decreases: Decreases,
) -> Result<Box<dyn CongestionController>, Vec<ParamError>> {
    Ok(Box::new(consumer::Consumer::new(&Params::from_settings(settings)?, decreases.gate())))
}

/// The parts on one router; `name` is the scheme's, by which it draws.
///
/// # Errors
/// Everything that is wrong with the settings.
pub fn router(
    settings: &Settings,
    node: &NodeSetup,
    name: &str,
    decreases: Decreases,
) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    let measure = match params.limit {
        LimitKind::Rate => Some(Measure::Rate),
        LimitKind::Pending => Some(Measure::Pending),
        LimitKind::None => None,
    };
    for (device, measure) in node.devices.iter().flat_map(|device| Some(device).zip(measure)) {
        let limit = FaceLimit::new(params.clone(), measure, decreases.gate());
        let gate: Box<dyn FaceGate> = Box::new(LimitGate::new(device.face, params.expected_data, limit));
        parts.gates.push((device.face, gate));
    }
    let early_nack = params.early_nack.then(|| watched(&params, node, name, &mut parts));
    parts.strategy = Some(Box::new(ranked_strategy::RankedStrategy::new(early_nack, params.retry_elsewhere)));
    Ok(parts)
}

/// Early Nacks by the queues of all devices, whose averages disciplines keep.
fn watched(params: &Params, node: &NodeSetup, name: &str, parts: &mut RouterParts) -> EarlyNack {
    let Params { min_threshold, max_threshold, max_probability, typical_packet, .. } = *params;
    let law = RedLaw { min_threshold, max_threshold, max_probability, gentle: false };
    let mut early_nack = EarlyNack::new(law, node.streams.stream(name));
    for device in &node.devices {
        let average = Rc::new(RefCell::new(AverageQueue::new(params.weight)));
        early_nack.watch(device.face, Rc::clone(&average));
        parts.disciplines.push((device.face, Box::new(QueueWatch { average, typical_packet })));
    }
    early_nack
}
