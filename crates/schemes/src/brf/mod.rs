//! BRF: the switch at the bottleneck grants every TCP flow a rate, on its ACKs; the sender paces at it and has no window.
//!
//! Paper: BRF, "bottleneck routing feedback", Sensors 24 (2024) 749. Its parts by section:
//! * §3.1 `controller`, [`detector`], [`backlog`]: congestion, found in a port's counters (eq. 5, 6);
//! * §3.2 `switch`, `class_queue`, `shares`: classes of flows and their queues (eq. 8); grants on ACKs in two bytes ([`code`], eq. 7);
//!   [`flow_table`], `flow`: what is kept of a flow; `port`, `machine`: the states of Fig. 5; `sender`: `tcp_brf`;
//! * §3.3 [`predictor`]: the first grant (eq. 9, 10); [`allocator`]: the others (eq. 11 to 14); `measure`,
//!   `round_trip`: what they are made of (eq. 15); [`elimination`]: the way out of congestion (eq. 16 to 18).
//!
//! `mode = "literal"` takes the printed equations, with guards where they divide by zero, and all of the link; the default
//! mends what contradicts the text. Rates are bytes/s as links count them, 1514 for a full segment, also in grants: a
//! sender delivers 1448 bytes for each 1514 that it is granted, which makes 95.6 % of the link's rate at most.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::packet::Ecn;
use tidegate_core::params::{ParamError, Settings};
use tidegate_core::scheme::{NodeSetup, Provenance, RouterParts, Scheme};
use tidegate_core::tcp::{Reduction, SenderRule};
use tidegate_core::units::{ByteCount, Span};
use tidegate_core::{choice, params};
use tidegate_core::whole::{Counterpart, Need, Role, Whole};

pub mod allocator;
pub mod backlog;
mod class_queue;
pub mod code;
mod controller;
pub mod detector;
pub mod elimination;
mod fallback;
mod flow;
pub mod flow_table;
mod machine;
mod measure;
mod port;
pub mod predictor;
mod round_trip;
mod sender;
mod shares;
mod switch;

use class_queue::ClassQueue;
use controller::BrfController;
use detector::Detection;
use sender::BrfSender;
use switch::{Agent, Gate, Switch};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "brf",
    summary: "switches grant each TCP flow a rate on its ACKs; a controller finds congestion, senders pace",
    paper: "BRF: bottleneck routing feedback, Sensors 24 (2024) 749",
    provenance: Provenance::Paper,
    deviations: &[
        "Equations 8, 11, 13, 14, 17 and 18 are mended: idle flows do not count, what is not TCP has a share, grants and not measured rates are what is given away, rates are filled up to the max-min fair level, a queue lowers rates and the sum of the rates drains it in `drain` round trips, a burst scales rates down.",
        "`mode = \"literal\"` takes them as printed and implies `link_share = 1`, `detector = \"literal\"`, `count_idle = true`, `udp_share = 0`, `make_before_break = false` and no `feedback_step`; each may be given beside it, the equations alone are literal with all of them given as they are by default. Guards stay: without flows nothing is divided, limited flows that want more than there is are scaled down together, rates keep between two segments per round trip and the link's, judgements wait for enough segments, and what is not TCP passes while no packet waits.",
        "Switches give out `link_share` of a link; at all of it, as printed, the paper's own test for congestion, more than 0.98 of the link in use, is always true.",
        "Congestion is told from the queue of BRF flows, by time too (`detector = \"literal\"` takes eq. 5 and 6 as printed, with Q as the queue's limit; literal mode implies it).",
        "The first grant (eq. 9) is a hierarchical average of past demands: the paper names no model (`initial = \"average\"` grants the average share).",
        "Two measured rounds, not one as in literal mode, make a flow limited by its application, of at least thirty segments each, or half a second; grants that it may not have heard of do not count.",
        "A grant is also written before a round trip has passed when it moved by `feedback_step`, and a newcomer is held back for a round trip until others have made room (`make_before_break = false` admits it at once); literal mode has neither.",
        "Between its writings a switch still lowers what another one wrote, and remembers what another one granted: each writes once per round trip, so that most ACKs carry the word of one switch only and the minimum of eq. 7 would be lost.",
        "A SYN tells whether its sender understands grants, and data of such a sender does too; the paper does not say how a switch would know.",
        "What the sender does about losses, late, absent and absurd grants is not in the paper: its rate decays and CUBIC takes over, and its flight never exceeds twice the rate's.",
        "Flows that find a switch's table full are granted nothing: they go with the other TCP flows, and count together as one of them.",
        "The sender releases segment by segment. A quantum, what its rate brings in a millisecond, spares a live host its timers; a simulator has none to spare, and eight segments at once at 100 Mbit/s make a queue of 0.38 ms on average where there is none (`release = \"1ms\"` brings it).",
        "A congestion mark means nothing to a rate that is granted; one that has run out halves each round trip anyway, and its CUBIC answers marks. None are asked for by default (`ecn = true`).",
        "A flow ends at a switch with both FINs or a reset; no end of a simulated connection resets it.",
        "Asymmetric paths are served through the controller, which passes grants on to all other switches: OpenFlow has no messages between switches.",
        "Priorities of flows (\"hierarchical\") are announced in the introduction and defined nowhere: there are none, unless `priorities = true` serves limited flows first.",
        "OpenFlow has no counter for what waits in a queue, which eq. 6 asks for: switches report it to the controller (`backlog = \"estimated\"` makes do with what OpenFlow counts).",
    ],
    params: Params::TABLE,
    sender: Some(|settings| {
        let params = Params::read(settings)?;
        let rule = SenderRule::new(Box::new(BrfSender::new(params.release)));
        let ecn = if params.ecn { Ecn::Classic } else { Ecn::NotCapable };
        // There is no window to reduce to.
        Ok(SenderRule { reduction: Reduction::Immediate, ecn, ack_option: params.ack_option, ..rule })
    }),
    router: Some(router),
    controller: Some(|settings| Ok(Box::new(BrfController::new(&Params::read(settings)?)))),
    whole: Whole {
        needs: &[
            Need::of(Role::Sender, Counterpart::Role(Role::Router), "no switch grants the sender a rate"),
            Need::of(Role::Router, Counterpart::Role(Role::Controller), "no switch learns that a port is congested").unless("control", "local"),
            Need::of(Role::Controller, Counterpart::Role(Role::Router), "no switch reports to the controller"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Which form of the paper's equations is used.
    pub enum Form {
        /// With their errors mended.
        Corrected = "corrected",
        /// As printed, with guards.
        Literal = "literal",
    }
}

choice! {
    /// Who tells a switch of congestion.
    pub enum Control {
        /// The network controller, from what switches report.
        Controller = "controller",
        /// The switch itself.
        Local = "local",
        /// Nobody.
        None = "none",
    }
}

choice! {
    /// What the controller knows of a queue.
    pub enum Backlog {
        /// What waits of BRF flows: the switch reports it, which OpenFlow cannot.
        Exact = "exact",
        /// What came less what left and was dropped, by OpenFlow's counters, of all flows.
        Estimated = "estimated",
    }
}

choice! {
    /// What a new flow is granted first, never more than the average share (eq. 10).
    pub enum Initial {
        /// What flows like it wanted before.
        Shrinkage = "shrinkage",
        /// The average share.
        Average = "average",
    }
}

params! {
    /// Which form of the paper's equations is used; the literal one also changes the defaults below that say so.
    mode: Form = Form::Corrected;
    /// Part of a link that is given out (eq. 18: "maximum allowed link utilization"); by default 1 in literal mode.
    link_share: f64 = 0.97, "of the link", 0.5..=1.0;
    /// A flow that sends less than this part of its grant is limited by its application (§3.3: α).
    limited_below: f64 = 0.95, "of the grant", 0.5..=1.0;
    /// Grant of a limited flow over what it sends (§3.3: β); 1.05 to 1.10 in the paper, and above 1 / `limited_below`, or a
    /// limited flow does not stay one; the corrected form refuses less.
    headroom: f64 = 1.1, "of the measured rate", 1.0..=2.0;
    /// What a new flow is granted first.
    initial: Initial = Initial::Shrinkage;
    /// Whether flows that rest count in eq. 8 and 10, as they do by default in literal mode.
    count_idle: bool = false;
    /// Move of a grant that is told at once, not after a round trip; by default none in literal mode.
    feedback_step: f64 = 0.05, "of the grant", 0.0..=10.0;
    /// Whether a new flow is held back until others have made room for it; by default not in literal mode.
    make_before_break: bool = true;
    /// Who tells a switch of congestion.
    control: Control = Control::Controller;
    /// How congestion is told from load; by default as printed in literal mode.
    detector: Detection = Detection::Robust;
    /// What the controller knows of a queue; the switch itself (`control = "local"`) knows it all.
    backlog: Backlog = Backlog::Exact;
    /// Pause between two reports of a switch, or two looks of its own; 3 s is OpenDaylight's.
    poll: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Utilisation above which a port is busy (eq. 5: α).
    busy_above: f64 = 0.98, "of the link", 0.1..=2.0;
    /// Part of the queue limit above which a queue stands (eq. 6: β).
    full_above: f64 = 0.1, "of the queue limit", 0.0..=1.0;
    /// Queue, in time to send it, above which it stands; not in the paper.
    queue_target: Span = Span::from_millis(5), "time", Span::from_micros(100)..=Span::from_secs(10);
    /// Time in which a standing queue is to be gone (eq. 17: γ), in longest round trips; 1 to 2 in the paper.
    drain: f64 = 2.0, "round trips", 0.5..=16.0;
    /// Part of the rates that stays while a queue drains; not in the paper.
    min_share: f64 = 0.25, "of the class's rate", 0.0..=1.0;
    /// Share of the link for packets that are not TCP, Interests and Data among them, while there are TCP flows; what exceeds it
    /// is dropped. With 0, by default in literal mode, they pass only while no packet waits.
    udp_share: f64 = 0.05, "of the link", 0.0..=0.9;
    /// Whether flows that their application limits are served before other BRF flows, from a class of their own with the rate
    /// of their grants, which congestion of the others does not lower.
    priorities: bool = false;
    /// Most flows that a switch remembers per device.
    table_entries: u32 = 65_536, "flows", 1..=16_777_216;
    /// Bytes that the option with the grant adds to every ACK; 0 if it takes the place of padding, as the paper has it.
    ack_option: ByteCount = ByteCount::new(8), "size", ByteCount::ZERO..=ByteCount::new(40);
    /// A sender releases together what its rate brings in this time, two segments at least and 64 kB at most; 0 for single
    /// segments. Not in the paper; 1 ms spares a live host most of its timers.
    release: Span = Span::ZERO, "time", Span::ZERO..=Span::from_secs(1);
    /// Whether the sender's segments may be marked. While it is granted a rate, marks mean nothing to it; its CUBIC answers
    /// them.
    ecn: bool = false;
}

impl Params {
    /// Reads the parameters. What literal mode implies holds where nothing else is given.
    fn read(settings: &Settings) -> Result<Self, Vec<ParamError>> {
        let mut params = Self::from_settings(settings)?;
        match params.mode {
            Form::Literal => params.imply_printed(|name| settings.get(name).is_some()),
            Form::Corrected if params.headroom * params.limited_below <= 1.0 => {
                let Self { headroom, limited_below, .. } = params;
                let message = format!("headroom: {headroom} is not above 1 / limited_below, {:.4}", 1.0 / limited_below);
                return Err(vec![ParamError { name: "headroom".to_owned(), message }]);
            }
            Form::Corrected => {}
        }
        Ok(params)
    }

    /// Takes out what the paper does not have, where it is not asked for by name.
    fn imply_printed(&mut self, is_given: impl Fn(&str) -> bool) {
        fn imply<T>(is_given: bool, value: &mut T, printed: T) {
            if !is_given {
                *value = printed;
            }
        }
        imply(is_given("link_share"), &mut self.link_share, 1.0);
        imply(is_given("count_idle"), &mut self.count_idle, true);
        imply(is_given("udp_share"), &mut self.udp_share, 0.0);
        imply(is_given("feedback_step"), &mut self.feedback_step, f64::INFINITY);
        imply(is_given("make_before_break"), &mut self.make_before_break, false);
        imply(is_given("detector"), &mut self.detector, Detection::Literal);
    }

    fn detection_rules(&self) -> detector::Rules {
        detector::Rules {
            detection: self.detector,
            utilisation: self.busy_above,
            occupancy: self.full_above,
            target: self.queue_target,
            backlog: self.backlog,
        }
    }

    fn measure_rules(&self) -> measure::Rules {
        let confirmations = if self.mode == Form::Literal { 1 } else { 2 };
        measure::Rules { limited_below: self.limited_below, confirmations }
    }
}

fn router(settings: &Settings, node: &NodeSetup) -> Result<RouterParts, Vec<ParamError>> {
    let params = Params::read(settings)?;
    let switch = Rc::new(RefCell::new(Switch::new(&params, node)));
    let mut parts = RouterParts {
        agent: Some(Box::new(Agent::new(&params, Rc::clone(&switch)))),
        ..RouterParts::default()
    };
    for device in &node.devices {
        let face = device.face;
        parts.gates.push((face, Box::new(Gate { face, switch: Rc::clone(&switch) })));
        let queue = ClassQueue::new(&params, face, device.rate, Rc::clone(&switch));
        parts.disciplines.push((face, Box::new(queue)));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::params::Value;

    fn read(given: &[(&str, Value)]) -> Result<Params, Vec<ParamError>> {
        Params::read(&Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()))
    }

    #[test]
    fn literal_mode_takes_out_what_the_paper_does_not_have_unless_it_is_asked_for() {
        let mode = ("mode", Value::Text("literal".into()));
        let params = read(std::slice::from_ref(&mode)).expect("known");
        assert_eq!((params.link_share, params.udp_share, params.feedback_step), (1.0, 0.0, f64::INFINITY));
        assert_eq!((params.count_idle, params.make_before_break), (true, false));
        assert_eq!(params.detector, Detection::Literal);
        let given = [
            mode,
            ("link_share", Value::Number(0.97)),
            ("udp_share", Value::Number(0.05)),
            ("feedback_step", Value::Number(0.05)),
            ("count_idle", Value::Bool(false)),
            ("make_before_break", Value::Bool(true)),
            ("detector", Value::Text("robust".into())),
        ];
        let params = read(&given).expect("known");
        assert_eq!((params.link_share, params.udp_share, params.feedback_step), (0.97, 0.05, 0.05));
        assert_eq!((params.count_idle, params.make_before_break), (false, true));
        assert_eq!(params.detector, Detection::Robust);
    }

    #[test]
    fn headroom_that_would_not_keep_a_limited_flow_limited_is_refused() {
        let headroom = ("headroom", Value::Number(1.05));
        let errors = read(std::slice::from_ref(&headroom)).expect_err("1 / 0.95 is more");
        assert_eq!(errors[0].name, "headroom");
        assert_eq!(errors[0].message, "headroom: 1.05 is not above 1 / limited_below, 1.0526");
        assert!(read(&[headroom.clone(), ("limited_below", Value::Number(0.96))]).is_ok());
        assert!(read(&[headroom, ("mode", Value::Text("literal".into()))]).is_ok(), "the paper's own");
    }
}
