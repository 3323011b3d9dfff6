//! BRF: the switch at the bottleneck grants every TCP flow a rate, on its ACKs; the sender paces at it and has no
//! window.
//!
//! Paper: BRF, "bottleneck routing feedback", Sensors 24 (2024) 749. Its parts by section:
//! * §3.1 `controller`, [`detector`], [`backlog`]: congestion, detected from a port's counters;
//! * §3.2 `switch`, `class_queue`, `shares`: classes of flows and their queues; grants on ACKs in two bytes ([`rate_code`]);
//!   [`flow_table`], `flow`: state of a flow; `port`, `state_machine`: the states of Fig. 5; `sender`: `tcp_brf`;
//! * §3.3 [`predictor`]: the first grant; [`allocator`]: the others; `measure`,
//!   `round_trip`: the measured rates; [`elimination`]: the end of congestion.
//!
//! `mode = "literal"` takes the printed equations, with guards where they divide by zero, and all of the link; the
//! default corrects what contradicts the text. Rates are bytes/s as links count them, 1514 for a full segment, also
//! in grants: a sender delivers 1448 bytes for each 1514 that it is granted, which makes 95.6 % of the link's rate at
//! most.

use std::cell::RefCell;
use std::rc::Rc;

use tidegate_core::prelude::*;
use tidegate_core::tcp::Reduction;

pub mod allocator;
pub mod backlog;
mod class_queue;
pub mod rate_code;
mod controller;
pub mod detector;
pub mod elimination;
mod fallback;
mod flow;
pub mod flow_table;
mod state_machine;
mod measure;
pub mod messages;
mod port;
pub mod predictor;
mod round_trip;
mod sender;
mod shares;
mod switch;

use class_queue::ClassQueue;
use controller::BrfController;
use detector::DetectionRule;
use sender::BrfSender;
use switch::{Agent, Gate, Switch};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "brf",
    summary: "switches grant each TCP flow a rate in its ACKs; a controller detects congestion; senders pace",
    paper: "BRF: bottleneck routing feedback, Sensors 24 (2024) 749",
    provenance: Provenance::Paper,
    deviations: &[
        "Corrected are eq. 8, 11, 13, 14, 17 and 18: idle flows do not count; traffic other than TCP has a \
         share; the granted, not the measured rates are subtracted from the capacity; rates are filled up to the \
         max-min fair level; a queue lowers the rates so that it drains in `drain` RTTs; a burst scales rates down.",
        "`mode = \"literal\"` uses them as printed and implies `link_share = 1`, `detector = \"literal\"`, `count_idle \
         = true`, `udp_share = 0`, `make_before_break = false` and no `feedback_step`; each can be overridden. To use \
         only the equations as printed, set all of these to the defaults of the corrected mode. Some guards remain: \
         nothing is divided without flows; limited flows that need more than the link has are scaled down together; \
         rates stay between two segments per RTT and the link's rate; flows are classified only after enough segments; \
         traffic other than TCP passes while no packet waits.",
        "Switches allocate `link_share` of a link; with the whole link, as printed, the paper's own test for \
         congestion, more than 0.98 of the link in use, would always be true.",
        "Congestion is detected from the queue of BRF flows, also by its draining time (`detector = \"literal\"` uses \
         eq. 5 and 6 as printed, with Q as the queue's limit; literal mode implies it).",
        "The first grant (eq. 9) is a hierarchical average of past demands: the paper names no model (`initial = \
         \"average\"` grants the average share).",
        "A flow counts as application-limited after two measured rounds, where literal mode needs one, of at least \
         thirty segments each, or after half a second; grants that it may not have received yet do not count.",
        "A grant is also written before an RTT has passed when it changed by `feedback_step`, and a new flow is held \
         back for an RTT until others have made room (`make_before_break = false` admits it at once); literal mode has \
         neither.",
        "Between its own writes a switch still lowers the grants of other switches, and stores them: each switch \
         writes once per RTT, so that most ACKs carry the grant of one switch only, and the minimum of eq. 7 would be \
         lost.",
        "A SYN indicates that its sender supports grants, and so does the data of such a sender; the paper \
         does not specify how a switch detects this.",
        "The sender's reaction to losses and to late, missing and implausible grants is not in the paper: its rate \
         decays and CUBIC takes over, and its flight never exceeds twice the rate's.",
        "Flows that find the flow table of a switch full receive no grant: they share the class of the other TCP \
         flows, and count together as one of them.",
        "The sender releases single segments. A quantum, the segments of a millisecond at its rate, saves timers on a \
         live host; a simulator needs no such saving, and eight segments at once at 100 Mbit/s cause an average queue \
         of 0.38 ms that is not there otherwise (`release = \"1ms\"` restores it).",
        "A congestion mark has no effect on a granted rate; an expired rate is halved every RTT in any case, and CUBIC \
         then reacts to marks. Segments are not ECN-capable by default (`ecn = true`).",
        "A flow ends at a switch with both FINs or a reset; the end of a simulated connection sends no reset.",
        "Asymmetric paths are supported through the controller, which forwards grants to all other switches: OpenFlow \
         has no messages between switches.",
        "Priorities of flows (\"hierarchical\") are announced in the introduction and not defined anywhere: there are \
         none, unless `priorities = true` serves application-limited flows first.",
        "OpenFlow has no counter for the packets waiting in a queue, which eq. 6 needs: switches report the queue to \
         the controller (`backlog = \"estimated\"` derives it from OpenFlow's counters).",
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
            Need::of(Role::Router, Counterpart::Role(Role::Controller), "no switch is notified of a congested port").unless("control", "local"),
            Need::of(Role::Controller, Counterpart::Role(Role::Router), "no switch reports to the controller"),
        ],
        ..Whole::ALONE
    },
    ..Scheme::NONE
};

choice! {
    /// Which form of the paper's equations is used.
    pub enum Form {
        /// The equations with their errors corrected.
        Corrected = "corrected",
        /// The equations as printed, with guards against division by zero and the like.
        Literal = "literal",
    }
}

choice! {
    /// Where congestion is detected.
    pub enum Control {
        /// The network controller detects congestion from the reports of switches.
        Controller = "controller",
        /// The switch detects congestion itself.
        Local = "local",
        /// Congestion is not detected at all.
        None = "none",
    }
}

choice! {
    /// Source of the queue length at the controller.
    pub enum Backlog {
        /// The switch reports the queue of BRF flows, which OpenFlow cannot do.
        Exact = "exact",
        /// Arrivals less departures and drops, by OpenFlow's counters, of all flows.
        Estimated = "estimated",
    }
}

choice! {
    /// First grant of a new flow, never more than the average share (eq. 10).
    pub enum Initial {
        /// The demand of similar flows in the past.
        Shrinkage = "shrinkage",
        /// The average share of a flow.
        Average = "average",
    }
}

params! {
    /// Form of the paper's equations: `corrected`, with their errors corrected; `literal`, as printed, which also
    /// changes the defaults of the parameters below that mention it.
    mode: Form = Form::Corrected;
    /// Fraction of a link that is allocated to flows (eq. 18: "maximum allowed link utilization"); 1 in literal mode by
    /// default.
    link_share: f64 = 0.97, "of the link", 0.5..=1.0;
    /// A flow that sends less than this fraction of its grant is application-limited (§3.3: α).
    limited_below: f64 = 0.95, "of the grant", 0.5..=1.0;
    /// Grant of an application-limited flow as a factor on its measured rate (§3.3: β); 1.05 to 1.10 in the paper. It
    /// has to exceed 1 / `limited_below`, or such a flow does not remain application-limited; the corrected mode
    /// rejects lower values.
    headroom: f64 = 1.1, "of the measured rate", 1.0..=2.0;
    /// First grant of a new flow, at most the average share (eq. 10): `shrinkage`, the past demand of similar flows;
    /// `average`, the average share.
    initial: Initial = Initial::Shrinkage;
    /// Whether idle flows count in eq. 8 and 10; true in literal mode by default.
    count_idle: bool = false;
    /// Change of a grant that is sent at once instead of after an RTT; none in literal mode by default.
    feedback_step: f64 = 0.05, "of the grant", 0.0..=10.0;
    /// Whether a new flow is held back until others have made room for it; false in literal mode by default.
    make_before_break: bool = true;
    /// What notifies a switch of congestion: `controller`, the network controller, from the reports of the switches;
    /// `local`, the switch itself; `none`, nothing.
    control: Control = Control::Controller;
    /// Congestion test: `literal`, as printed, a port that is busy or has a queue, by packets; `robust`, by bytes, a
    /// queue of BRF flows that is too long or that grows or drops on a busy port; two polls without congestion end it.
    detector: DetectionRule = DetectionRule::Robust;
    /// Source of the controller's queue length: `exact`, reported by the switch for BRF flows, which OpenFlow cannot
    /// do; `estimated`, from OpenFlow's counters for all flows. With `control = "local"` the switch always uses the
    /// exact value.
    backlog: Backlog = Backlog::Exact;
    /// Interval between two reports of a switch, or two local checks; OpenDaylight uses 3 s.
    poll: Span = Span::from_millis(10), "time", Span::from_millis(1)..=Span::from_secs(60);
    /// Utilisation above which a port is busy (eq. 5: α).
    busy_above: f64 = 0.98, "of the link", 0.1..=2.0;
    /// Fraction of the queue limit above which a queue indicates congestion (eq. 6: β).
    full_above: f64 = 0.1, "of the queue limit", 0.0..=1.0;
    /// Draining time above which a queue indicates congestion; not in the paper.
    queue_target: Span = Span::from_millis(5), "time", Span::from_micros(100)..=Span::from_secs(10);
    /// Time in which a queue is to be drained (eq. 17: γ), in units of the longest RTT; 1 to 2 in the paper.
    drain: f64 = 2.0, "round trips", 0.5..=16.0;
    /// Minimum fraction of the rates that is kept while a queue drains; not in the paper.
    #[renamed_from("least_share")]
    min_share: f64 = 0.25, "of the class's rate", 0.0..=1.0;
    /// Fraction of the link for packets that are not TCP, including Interests and Data, while there are TCP flows;
    /// packets beyond it are dropped. With 0, the default of literal mode, they pass only while no packet waits.
    udp_share: f64 = 0.05, "of the link", 0.0..=0.9;
    /// Whether application-limited flows are served before other BRF flows, from a separate class with the rate of
    /// their grants, which congestion of the other flows does not lower.
    priorities: bool = false;
    /// Maximum number of flows in the flow table of a device.
    table_entries: u32 = 65_536, "flows", 1..=16_777_216;
    /// Size of the TCP option with the grant in every ACK; 0 if it replaces padding, as in the paper.
    ack_option: ByteCount = ByteCount::new(8), "size", ByteCount::ZERO..=ByteCount::new(40);
    /// A sender releases the segments of this time at its rate together, at least two segments and at most 64 kB; 0
    /// releases single segments. Not in the paper; 1 ms saves most of the timers of a live host.
    release: Span = Span::ZERO, "time", Span::ZERO..=Span::from_secs(1);
    /// Whether the sender's segments are ECN-capable. Marks have no effect on a granted rate; without a grant, the
    /// sender's CUBIC reacts to them.
    ecn: bool = false;
}

impl Params {
    /// Reads the parameters. Values that literal mode implies apply where none is given.
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

    /// Disables additions to the paper that were not enabled explicitly.
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
        imply(is_given("detector"), &mut self.detector, DetectionRule::Literal);
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
    let queue = |device: &DeviceSetup| ClassQueue::new(&params, device.face, device.rate, Rc::clone(&switch));
    Ok(RouterParts::default()
        .with_gates(node, |device| Gate { face: device.face, switch: Rc::clone(&switch) })
        .with_disciplines(node, queue)
        .with_agent(Agent::new(&params, Rc::clone(&switch))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, Setting)]) -> Result<Params, Vec<ParamError>> {
        Params::read(&Settings(given.iter().map(|(name, value)| ((*name).into(), value.clone())).collect()))
    }

    #[test]
    fn literal_mode_takes_out_what_the_paper_does_not_have_unless_it_is_requested() {
        let mode = ("mode", Setting::Text("literal".into()));
        let params = read(std::slice::from_ref(&mode)).expect("known");
        assert_eq!((params.link_share, params.udp_share, params.feedback_step), (1.0, 0.0, f64::INFINITY));
        assert_eq!((params.count_idle, params.make_before_break), (true, false));
        assert_eq!(params.detector, DetectionRule::Literal);
        let given = [
            mode,
            ("link_share", Setting::Number(0.97)),
            ("udp_share", Setting::Number(0.05)),
            ("feedback_step", Setting::Number(0.05)),
            ("count_idle", Setting::Bool(false)),
            ("make_before_break", Setting::Bool(true)),
            ("detector", Setting::Text("robust".into())),
        ];
        let params = read(&given).expect("known");
        assert_eq!((params.link_share, params.udp_share, params.feedback_step), (0.97, 0.05, 0.05));
        assert_eq!((params.count_idle, params.make_before_break), (false, true));
        assert_eq!(params.detector, DetectionRule::Robust);
    }

    #[test]
    fn headroom_that_would_not_keep_a_limited_flow_limited_is_refused() {
        let headroom = ("headroom", Setting::Number(1.05));
        let errors = read(std::slice::from_ref(&headroom)).expect_err("1 / 0.95 is more");
        assert_eq!(errors[0].name, "headroom");
        assert_eq!(errors[0].message, "headroom: 1.05 is not above 1 / limited_below, 1.0526");
        assert!(read(&[headroom.clone(), ("limited_below", Setting::Number(0.96))]).is_ok());
        assert!(read(&[headroom, ("mode", Setting::Text("literal".into()))]).is_ok(), "the paper's own");
    }
}
