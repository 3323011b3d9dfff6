//! HoBHIS: a router sends the Interests of a flow upstream at the rate that brings the flow's Data queue downstream to
//! a target length, and reports that rate to consumers.
//!
//! Paper: Rozhnova & Fdida 2012, and their version of 2014 that reports the rate; the authors' ndnSIM face was read for
//! the rules. Its parts:
//! * [`shaper`]: the gate of an upstream face, which holds Interests back;
//! * [`shaping`]: the rate, from the measurements of the flow at the node;
//! * [`data_queues`]: backlog of every flow at each downstream face;
//! * [`interest_queues`]: waiting Interests, in their order;
//! * consumer: follows the rate that stands on Data ([`RateFollower`]).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;

use crate::toolbox::rate::rate_follower::{RateFollower, Start};
use crate::toolbox::shaping::refusal::Refusal;

pub mod data_queues;
pub mod interest_queues;
pub mod shaper;
pub mod shaping;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "hobhis",
    summary: "routers delay Interests by the length of the flow's downstream Data queue, and report the shaping rate",
    paper: "Rozhnova & Fdida: HoBHIS, 2012 and 2014; the authors' ndn-hobhis-net-device-face",
    provenance: Provenance::Source,
    deviations: &[
        "A flow is the prefix that its names share; in the source it is their first component.",
        "The router part reads the queues of all faces of a node, which the live forwarder does not provide: there \
         Interests are not delayed, and a link's rate is divided among the flows.",
        "The downstream faces of a flow are those through which its Data left within `memory`; the lowest of their \
         rates applies. The source keeps the first face.",
        "Flows that wait for the same downstream face take turns, and flows for different faces do not wait for each \
         other; `order = \"arrival\"` restores the single queue of the source.",
        "The gap runs from the previous Interest, so that the first Interest after a pause does not wait; it is \
         recomputed every 10 ms while it runs.",
        "The response delay is a moving average with weight 1/8, and so is the size of Data; the source in effect \
         keeps the last size.",
        "The reported rate is the shaping rate divided by the number of flows downstream; the source's code computes \
         it without reporting it, and divides it only where the upstream link limits it. `feedback = \"none\"` reports \
         nothing, as in 2012.",
    ],
    params: Params::TABLE,
    profile: ConsumerProfile::Ndnsim,
    consumer: Some(|settings| {
        let Params { start, initial_rate, .. } = Params::from_settings(settings)?;
        Ok(Box::new(RateFollower::new(start, initial_rate)))
    }),
    router: Some(router),
    whole: Whole {
        needs: &[
            Need::of(Role::Consumer, Counterpart::Role(Role::Router), "Data carries no rate, so the consumer stays at its initial rate").by("feedback", "rate"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Order in which waiting Interests are served.
    pub enum Order {
        /// Round robin over the flows of a downstream face.
        Turns = "turns",
        /// First in, first out over all flows, as in the source.
        Arrival = "arrival",
    }
}

choice! {
    /// Feedback that routers put on Data for consumers.
    pub enum Feedback {
        /// Nothing is reported (2012).
        None = "none",
        /// The shaping rate is reported on every Data packet (2014).
        Rate = "rate",
    }
}

params! {
    /// Routers: gain of the controller that brings the queue to its target, as a fraction of the difference per
    /// response delay (h).
    design: f64 = 0.1, "per response delay", 0.0..=10.0;
    /// Routers: target length of the Data queue at a downstream face, over all flows (B).
    target: f64 = 50.0, "packets", 0.0..=1_000_000.0;
    /// Routers: maximum number of Interests that wait at a face.
    limit: Packets = Packets::new(100), "packets", Packets::new(1)..=Packets::new(1_000_000);
    /// Routers: reaction to an Interest beyond `limit`: `nack` returns a congestion Nack; `drop` drops it silently.
    refusal: Refusal = Refusal::Drop;
    /// Routers: order of waiting Interests: `turns`, round robin over the flows of a downstream face; `arrival`, first
    /// in, first out over all flows, as in the source.
    order: Order = Order::Turns;
    /// Routers: feedback to consumers: `rate`, the shaping rate on every Data packet, which consumers follow (2014);
    /// `none`, nothing (2012).
    feedback: Feedback = Feedback::Rate;
    /// Routers: time for which the state of a flow is kept after its last Data.
    memory: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Consumer, before the first report: `probe` sends one Interest and waits; `rate` sends at `initial_rate`; `link`
    /// sends at the rate of the consumer's fastest link.
    start: Start = Start::Probe;
    /// Consumer: initial rate with `start = "rate"`.
    #[renamed_from("first_rate")]
    initial_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let rule = shaping::ShapingRule { design: params.design, target: params.target };
    let flows = Rc::new(RefCell::new(shaping::Flows::new(rule, params.memory)));
    Ok(RouterParts::default()
        .with_disciplines(node, |device| data_queues::Counter::new(device.face, Rc::clone(&flows)))
        .with_gates(node, |device| shaper::HobhisShaper::new(device.face, params.clone(), Rc::clone(&flows))))
}

#[cfg(test)]
mod tests;
