//! HoBHIS: a router sends the Interests of a flow upstream at the rate that brings the flow's Data queue downstream to
//! a target length, and tells consumers that rate.
//!
//! Paper: Rozhnova & Fdida 2012, and their version of 2014 that reports the rate; the authors' ndnSIM face was read for
//! the rules. Its parts:
//! * [`shaper`]: the gate of an upstream face, which holds Interests back;
//! * [`shaping`]: the rate, from what the node knows of the flow;
//! * [`data_queues`]: what waits of every flow at each downstream face;
//! * [`lines`]: Interests that wait, in their order;
//! * consumer: follows the rate that stands on Data ([`RateFollower`]).

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::consumer::shell::ShellKind;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::units::{Packets, Span};
use tidegate_core::{choice, params};
use tidegate_core::whole::{Counterpart, Need, Role, Whole};

use crate::toolbox::rate_follower::{RateFollower, Start};
use crate::toolbox::refusal::Refusal;

pub mod data_queues;
pub mod lines;
pub mod shaper;
pub mod shaping;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "hobhis",
    summary: "routers hold Interests back by the Data queue that the flow has downstream, and report the rate",
    paper: "Rozhnova & Fdida: HoBHIS, 2012 and 2014; the authors' ndn-hobhis-net-device-face",
    provenance: Provenance::Source,
    deviations: &[
        "A flow is the prefix that its names share; in the source it is their first component.",
        "Its parts look at all faces of a node, which the live forwarder does not show them: there Interests are not held, and a link's rate is divided among flows.",
        "A flow's downstream face is one through which its Data left within `memory`; of several the slowest rate counts. The source keeps the first one.",
        "Flows that wait for one downstream face take turns, and those for different faces do not wait for each other; `order = \"arrival\"` restores the one line of the source.",
        "The gap begins with the Interest before, so that the first one after a pause does not wait; it is reckoned anew every 10 ms while it runs.",
        "The response delay is a mean with weight 1/8; so is the size of Data, of which the source in effect keeps the last.",
        "What is reported is the shaping rate over the number of flows downstream; the source's code keeps it without reporting, and divides it only where the upstream link limits it. `feedback = \"none\"` reports nothing, as in 2012.",
    ],
    params: Params::TABLE,
    shell: ShellKind::Ndnsim,
    consumer: Some(|settings| {
        let Params { start, first_rate, .. } = Params::from_settings(settings)?;
        Ok(Box::new(RateFollower::new(start, first_rate)))
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
    /// Who goes first of the Interests that wait.
    pub enum Order {
        /// The flows of a downstream face take turns.
        Turns = "turns",
        /// The oldest of all (source).
        Arrival = "arrival",
    }
}

choice! {
    /// What consumers hear.
    pub enum Feedback {
        /// Nothing (2012).
        None = "none",
        /// The rate, on every Data (2014).
        Rate = "rate",
    }
}

params! {
    /// Routers: how fast the queue is brought to its target (h), as a part of the distance per response delay.
    design: f64 = 0.1, "per response delay", 0.0..=10.0;
    /// Routers: Data of all flows that shall wait at a downstream face (B).
    target: f64 = 50.0, "packets", 0.0..=1_000_000.0;
    /// Routers: most Interests that wait at a face.
    limit: Packets = Packets::new(100), "packets", Packets::new(1)..=Packets::new(1_000_000);
    /// Routers: how an Interest beyond that is refused.
    refusal: Refusal = Refusal::Drop;
    /// Routers: who goes first.
    order: Order = Order::Turns;
    /// Routers: what they tell consumers, who follow it.
    feedback: Feedback = Feedback::Rate;
    /// Routers: how long a flow is remembered after its last Data.
    memory: Span = Span::from_secs(1), "time", Span::from_millis(1)..=Span::from_secs(600);
    /// Consumer: what it does before the first report.
    start: Start = Start::Probe;
    /// Consumer: first rate for `start = "rate"`.
    first_rate: f64 = 100.0, "Interests/s", 0.001..=1_000_000_000.0;
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::from_settings(settings)?;
    let mut parts = RouterParts::default();
    let rule = shaping::Rule { design: params.design, target: params.target };
    let flows = Rc::new(RefCell::new(shaping::Flows::new(rule, params.memory)));
    for device in &node.devices {
        let counter = data_queues::Counter::new(device.face, Rc::clone(&flows));
        parts.disciplines.push((device.face, Box::new(counter)));
        let shaper = shaper::Shaper::new(device.face, params.clone(), Rc::clone(&flows));
        parts.gates.push((device.face, Box::new(shaper)));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests;
