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

use tidegate_core::prelude::*;

use crate::toolbox::queue::average_queue::AverageQueue;
use crate::toolbox::queue::red_law::RedLaw;
use crate::toolbox::reaction::once_per_flight::OncePerFlight;

pub mod consumer;
pub mod early_nack;
pub mod limit;
pub mod limit_gate;
pub mod ranked_strategy;
#[cfg(test)]
mod tests;

use early_nack::{EarlyNack, QueueWatch};
use limit::{FaceLimit, LimitUnit};
use limit_gate::LimitGate;

/// Deviations of the parts from the sources.
pub const DEVIATIONS: [&str; 10] = [
    "Faces are ranked by the cost of the route only, without the paper's colours and RTTs.",
    "A limit never falls below min_limit, nor a burst below min_burst; in the source both may reach 0, after which \
     nothing is sent any more: set both to 0 to restore this.",
    "The dynamic burst changes only the burst; in the source every Data packet then also resets the limit to the \
     link's.",
    "Only congestion Nacks lower a limit; in the source every valid Nack does.",
    "A retransmission of a pending Interest does not count again towards a limit on pending Interests.",
    "A retransmission of a pending Interest is not refused early; in the source it may be.",
    "Data in the content store is sent whatever the queue length; the source sends early Nacks before the lookup.",
    "Early Nacks are counted per downstream as in RED, from the first Interest above the lower threshold on; the \
     source counts all downstreams together and does not count that first one.",
    "When all upstreams but one have refused and that one itself waits for an answer, the Nack is sent to it alone, as \
     in NFD.",
    "When all faces are above their limits, a retransmission of a pending Interest is suppressed, not refused.",
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
        /// The number of pending Interests.
        Pending = "pending",
        /// There is no limit at all.
        None = "none",
    }
}

choice! {
    /// How Data and congestion Nacks move a limit.
    pub enum Adaptation {
        /// One step up per Data packet and one down per Nack (Yi's code).
        Code = "code",
        /// Step / limit up per Data packet, a fraction kept per Nack (the paper).
        Aimd = "aimd",
        /// The limit stays at the capacity of the link (ndnSIM 1.0).
        None = "none",
    }
}

choice! {
    /// What the consumer adapts.
    pub enum Sending {
        /// A congestion window of pending Interests.
        Window = "window",
        /// A rate of Interests.
        Rate = "rate",
    }
}

params! {
    /// Consumer: what it adapts: `window`, a congestion window; `rate`, a rate of Interests.
    sending: Sending = Sending::Window;
    /// Consumer: initial congestion window, with sending = "window".
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: initial rate, with sending = "rate".
    initial_rate: f64 = 10.0, "Interests/s", 1.0..=1_000_000.0;
    /// Consumer: growth per Data packet in slow start, and per RTT in congestion avoidance; a rate grows by this number
    /// of packets per smoothed RTT.
    increase: f64 = 1.0, "packets", 0.01..=100.0;
    /// Consumer: fraction of the window or rate kept after a Nack or timeout.
    keep: f64 = 0.5, "of window or rate", 0.1..=0.99;
    /// Consumer: whether it begins with slow start, until the first decrease.
    slow_start: bool = true;
    /// Routers: quantity that is limited on an upstream face: `rate`, Interests per second, with a burst; `pending`,
    /// pending Interests; `none`, no limit.
    limit: LimitKind = LimitKind::Rate;
    /// Routers: how Data and congestion Nacks change a limit, which starts at, and never exceeds, the capacity of the
    /// link: `code`, one step up per Data and down per Nack (Yi's code); `aimd`, step / limit up per Data, a fraction
    /// kept per Nack (the paper); `none`, constant (ndnSIM 1.0).
    adaptation: Adaptation = Adaptation::Code;
    /// Routers: increase of a limit per Data packet; with adaptation = "aimd", divided by the limit.
    limit_increase: f64 = 1.0, "Interests/s or pending Interests", 0.0..=1_000.0;
    /// Routers: with adaptation = "aimd": fraction of a limit kept after a congestion Nack.
    limit_keep: f64 = 0.5, "of the limit", 0.1..=0.99;
    /// Routers: minimum limit of a face.
    #[renamed_from("least_limit")]
    min_limit: f64 = 1.0, "Interests/s or pending Interests", 0.0..=1_000_000.0;
    /// Routers: assumed size of a Data packet and its Interest, by which the link's rate is divided (ndnSIM 1.0: 1100 B
    /// and 40 B).
    expected_data: ByteCount = ByteCount::new(1140), "size", ByteCount::new(1)..=ByteCount::new(65_536);
    /// Routers: a burst may use the limit's rate of this time at once; a pending limit is at most the link's rate times
    /// this time (ndnSIM 1.0).
    burst: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(100);
    /// Routers: minimum burst of a face.
    #[renamed_from("least_burst")]
    min_burst: f64 = 1.0, "Interests", 0.0..=1_000_000.0;
    /// Routers: whether rtt_multiplier times the mean RTT of the face, once measured, replaces burst
    /// (`EnableDynamicLimit`).
    dynamic_burst: bool = true;
    /// Routers: factor on the RTT with dynamic_burst (`RttMultiplier`).
    rtt_multiplier: f64 = 1.0, "round trips", 0.01..=100.0;
    /// Routers: whether an Interest refused by one upstream is sent to the remaining upstreams.
    retry_elsewhere: bool = true;
    /// Routers: whether Interests are refused by RED's rule on the queue that their Data would join (`EnableREN`).
    early_nack: bool = true;
    /// Routers: average queue length below which no Interest is refused early (`MinTh`).
    min_threshold: f64 = 5.0, "packets", 0.0..=1_000_000.0;
    /// Routers: average queue length above which all Interests are refused (`MaxTh`); a value up to min_threshold makes a
    /// step there.
    max_threshold: f64 = 15.0, "packets", 0.0..=1_000_000.0;
    /// Routers: refusal probability at max_threshold, before refusals are spread uniformly (`MaxP`).
    max_probability: f64 = 0.02, "probability", 0.0..=1.0;
    /// Routers: weight of the latest queue length in the moving average (`QW`).
    weight: f64 = 0.002, "of the latest queue", 0.000001..=1.0;
    /// Routers: typical packet size, by which the average decays during idle time (`MeanPktSize`).
    typical_packet: ByteCount = ByteCount::new(500), "size", ByteCount::new(1)..=ByteCount::new(65_536);
}

/// Nacks that decrease a limit, rate or window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decreases {
    /// Every Nack that arrives.
    Each,
    /// Only those whose Interests were sent after the last decrease: one per RTT.
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
    Ok(Box::new(consumer::StatefulForwardingConsumer::new(
        &Params::from_settings(settings)?,
        decreases.gate(),
    )))
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
        LimitKind::Rate => Some(LimitUnit::Rate),
        LimitKind::Pending => Some(LimitUnit::Pending),
        LimitKind::None => None,
    };
    // Without a kind of limit (`none`) no gate is made at all, so that Interests pass unchanged.
    for (device, measure) in node.devices.iter().flat_map(|device| Some(device).zip(measure)) {
        let limit = FaceLimit::new(params.clone(), measure, decreases.gate());
        let gate: Box<dyn FaceGate> = Box::new(LimitGate::new(device.face, params.expected_data, limit));
        parts.gates.push((device.face, gate));
    }
    let early_nack = params.early_nack.then(|| watched(&params, node, name, &mut parts));
    Ok(parts.with_strategy(ranked_strategy::RankedStrategy::new(early_nack, params.retry_elsewhere)))
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
