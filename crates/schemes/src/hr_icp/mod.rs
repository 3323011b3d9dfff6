//! HR-ICP in the form of Wang et al.: every face shapes its Interests so that they, and the Data of both directions,
//! fill the link without overflowing it; Interests beyond that are refused, and consumers halve their window on a
//! refusal.
//!
//! Paper: Wang, Rozhnova, Narayanan, Oran & Rhee 2013 for the shaper, whose rules were read in the first author's
//! ndnSIM face; the consumer is his AIMD consumer. The name is that of Carofiglio, Gallo & Muscariello 2012, who
//! shape Interests at routers first. Its parts:
//! * [`shaper`]: the gate of a face;
//! * [`rate`]: the rate from capacities, sizes and the other direction's demand;
//! * [`meter`]: packet sizes and demand at a face;
//! * [`early_refusal`]: which Interests are refused, by `queue`: [`pie`], [`codel`], or those that find no room;
//! * consumer: AIMD on Nacks, as on losses.

use tidegate_core::prelude::*;

use crate::toolbox::reaction::once_per_round_trip::OncePerRoundTrip;
use crate::toolbox::shaping::refusal::Refusal;
use crate::toolbox::window::adaptive_pipeline::AdaptivePipeline;
use crate::toolbox::window::aimd::{AimdRule, AimdWindow};

pub mod codel;
pub mod meter;
pub mod pie;
pub mod rate;
pub mod early_refusal;
pub mod shaper;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "hr-icp",
    summary: "faces shape Interests to the capacity of the link in both directions and refuse the rest; consumers halve the \
         window",
    paper: "Wang et al. 2013 (Interest shaper) and its authors' ndn-shaper-net-device-face; HR-ICP, Carofiglio et al. 2012",
    provenance: Provenance::Source,
    deviations: &[
        "The incoming demand is derived from the face's counters, less solicited Data and Nacks, when an Interest \
         leaves; the source counts Interests as they arrive.",
        "Sizes of incoming Interests are averaged over an interval; other sizes are moving averages with weight 1/8 \
         per packet.",
        "With `refusal = \"drop\"`, Interests that arrive with `limit` Interests waiting are dropped; the source \
         leaves the reaction to a refusal to the strategy.",
        "PIE's updates pause while no Interest waits and its probability is 0.",
        "The consumer halves its window, the source the number of Interests in flight; timeouts are handled like \
         Nacks. It is the first author's AIMD consumer, not the ICP of the scheme's name.",
    ],
    uses_randomness: true,
    params: Params::TABLE,
    profile: ConsumerProfile::NdnsimNack,
    consumer: Some(|settings| Ok(Box::new(consumer(&Params::from_settings(settings)?)))),
    router: Some(router),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "no router refuses an Interest, and the consumer reacts to losses alone"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Which Interests are refused.
    pub enum RefusalRule {
        /// Interests that arrive when `limit` Interests wait.
        DropTail = "drop-tail",
        /// Random Interests, with a probability that grows with the queueing delay.
        Pie = "pie",
        /// Single Interests while the queueing delay stays above the target.
        Codel = "codel",
    }
}

params! {
    /// Routers: fraction of the link's rate that is used; also the fraction of the opposite direction's capacity at
    /// which its demand counts as full.
    headroom: f64 = 0.98, "of the rate", 0.01..=1.0;
    /// Routers: time over which the demand of the opposite direction is measured.
    interval: Span = Span::from_millis(100), "time", Span::from_millis(1)..=Span::from_secs(100);
    /// Routers: whether the demand of the opposite direction is measured; otherwise it is assumed to be full.
    #[renamed_from("heed_demand")]
    measure_demand: bool = true;
    /// Routers: maximum number of Interests that wait at a face.
    limit: Packets = Packets::new(100), "packets", Packets::new(1)..=Packets::new(1_000_000);
    /// Routers: which Interests are refused: `drop-tail`, those beyond `limit`; `pie`, at random, with a probability
    /// that grows with the queueing delay; `codel`, single ones while the queueing delay stays above a target.
    queue: RefusalRule = RefusalRule::DropTail;
    /// Routers: how an Interest is refused: `nack` returns a congestion Nack; `drop` drops it silently.
    refusal: Refusal = Refusal::Nack;
    /// Routers, `pie` and `codel`: acceptable queueing delay of Interests.
    delay_target: Span = Span::from_millis(20), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Routers, `pie`: duration of a burst that is admitted before Interests are refused at random.
    burst: Span = Span::from_millis(100), "time", Span::ZERO..=Span::from_secs(10);
    /// Routers, `codel`: time that the delay has to stay above the target before the first Interest is refused.
    delay_interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Consumer: initial congestion window.
    initial_window: f64 = 1.0, "packets", 1.0..=1_000_000.0;
    /// Consumer: fraction of the window kept after a Nack or loss, at most once per window of Interests.
    beta: f64 = 0.5, "of the window", 0.1..=1.0;
}

/// The window never shrinks below this, packets (source).
const MIN_WINDOW: f64 = 2.0;

fn consumer(params: &Params) -> AdaptivePipeline<AimdWindow> {
    let rule = AimdRule {
        initial: params.initial_window,
        ssthresh: f64::INFINITY,
        step: 1.0,
        keep: params.beta,
        min: MIN_WINDOW,
        divides_by_whole_window: true,
        restarts: false,
    };
    let gate = Some(OncePerRoundTrip::default());
    AdaptivePipeline { rule: AimdWindow::new(rule), gate, ignores_marks: true, timer: None }
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    Ok(RouterParts::default().with_gates(node, |device| {
        let draws = device.streams.stream(SCHEME.name);
        shaper::HrIcpShaper::new(device.face, params.clone(), draws)
    }))
}

#[cfg(test)]
mod tests;
