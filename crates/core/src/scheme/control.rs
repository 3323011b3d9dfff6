//! Messages between routers and a network controller: small vocabularies, and the traits of both ends.
//!
//! A message can be late or lost; it carries its sending time, and every role must work without it.

use crate::context::Context;
use crate::ndn::face::{FaceId, NodeId};
use crate::ndn::name::{Name, PrefixId};
use crate::observe::event::{Cause, Event};
use crate::units::{BitRate, ByteCount, Packets, Span, Time};

/// A report of a router to the controller.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Report {
    /// Devices of the router and routes of its FIB. Repeated periodically, so that a controller that
    /// starts late or missed it receives them.
    Topology {
        /// Its devices.
        ports: Vec<Port>,
        /// Next hops of the prefixes that it forwards.
        routes: Vec<Route>,
    },
    /// Load of every device.
    Links(Vec<FaceLoad>),
    /// A face is congested.
    Congestion {
        /// Its load.
        load: FaceLoad,
        /// Bytes by prefix that left through it lately, the most first; never empty.
        prefixes: Vec<(PrefixId, ByteCount)>,
    },
    /// Counters of the queue of every device.
    Queues(Vec<QueueLoad>),
    /// Rate granted to a flow whose answers do not pass the router, for routers that they pass.
    Grant(FlowGrant),
}

impl Report {
    /// The kind in one word, as it stands in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Topology { .. } => "topology",
            Self::Links(_) => "links",
            Self::Congestion { .. } => "congestion",
            Self::Queues(_) => "queues",
            Self::Grant(_) => "grant",
        }
    }
}

/// A device as its router reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// The face.
    pub face: FaceId,
    /// The node at the other end; `None` when it is not known.
    pub neighbour: Option<NodeId>,
    /// Sending rate.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Whether the link is up.
    pub is_up: bool,
}

/// Ways of a prefix at one router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The prefix.
    pub prefix: PrefixId,
    /// Next hops, the one in use first.
    pub faces: Vec<FaceId>,
    /// Faces through which Data of it left lately.
    pub downstream: Vec<FaceId>,
}

/// Load of one face.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaceLoad {
    /// The face.
    pub face: FaceId,
    /// Offered load over capacity, at least 0; may exceed 1.
    pub utilisation: f64,
    /// Queue length over its limit, 0..=1.
    pub occupancy: f64,
}

/// Counters of one device's queue, as a controller polls them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLoad {
    /// The face.
    pub face: FaceId,
    /// Sending rate.
    pub rate: BitRate,
    /// Packets sent since the start.
    pub sent_packets: u64,
    /// Bytes sent since the start.
    pub sent: ByteCount,
    /// Bytes handed to the queue since the start, what it dropped among them.
    pub arrived: ByteCount,
    /// Packets dropped since the start.
    pub dropped: u64,
    /// Packets that wait.
    pub waiting: Packets,
    /// Packets that may wait.
    pub limit: Packets,
    /// Waiting bytes of flows whose rates the router grants.
    pub governed: ByteCount,
    /// Packets of such flows dropped since the start.
    pub governed_dropped: u64,
}

/// Rate granted to a flow by one router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowGrant {
    /// The router.
    pub origin: NodeId,
    /// Rises with each message of the router; an older one is to be ignored.
    pub sequence: u32,
    /// Name of the flow's data.
    pub flow: Name,
    /// The rate.
    pub rate: BitRate,
}

/// Congestion of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// None.
    Clear,
    /// The queue holds this number of bytes.
    Queue(ByteCount),
    /// The arrival rate exceeds the capacity, but there is no queue yet.
    Burst,
}

/// A directive of the controller to a router.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Directive {
    /// Costs of the faces for a prefix, unitless, at least 0; the lowest is used.
    Metrics {
        /// The prefix.
        prefix: PrefixId,
        /// Costs by face.
        costs: Vec<(FaceId, f64)>,
    },
    /// Congestion of a face as the controller sees it. Said again as long as there is some.
    Congestion {
        /// The face.
        face: FaceId,
        /// State of the congestion.
        state: Congestion,
    },
    /// Another router grants a rate to a flow whose answers may pass this one.
    Grant(FlowGrant),
}

impl Directive {
    /// The kind in one word, as it stands in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Metrics { .. } => "metrics",
            Self::Congestion { .. } => "congestion",
            Self::Grant(_) => "grant",
        }
    }
}

/// A network controller.
pub trait NetworkController: std::fmt::Debug {
    /// A report of `from`, sent at `sent_at`, arrived.
    fn on_report(&mut self, now: Time, from: NodeId, sent_at: Time, report: &Report, orders: &mut Orders);

    /// The requested wake-up time has come.
    fn on_wake(&mut self, now: Time, orders: &mut Orders) {
        let _ = (now, orders);
    }

    /// Time of the next wake-up; `None` for never.
    fn next_wake(&self) -> Option<Time> {
        None
    }
}

/// Directives and records that a controller produces in a call.
#[derive(Debug, Default)]
pub struct Orders {
    /// Directives, with the router that each is for.
    pub directives: Vec<(NodeId, Directive)>,
    /// Operations counted by component, for the cost of control.
    pub work: Vec<(Cause, u32)>,
    /// Events about routers that the controller detected, for the record.
    pub found: Vec<(NodeId, Event)>,
}

impl Orders {
    /// Sends a directive.
    pub fn direct(&mut self, to: NodeId, directive: Directive) {
        self.directives.push((to, directive));
    }

    /// Counts operations of a part.
    pub fn count(&mut self, part: Cause, operations: u32) {
        self.work.push((part, operations));
    }

    /// Records an event about a router.
    pub fn find(&mut self, about: NodeId, event: Event) {
        self.found.push((about, event));
    }
}

/// A scheme's part on a router that talks to the controller.
pub trait RouterAgent: std::fmt::Debug {
    /// The requested wake-up time has come; reports are sent through the context.
    fn on_wake(&mut self, cx: &mut Context<'_>);

    /// Handles a directive of the network controller.
    fn on_directive(&mut self, cx: &mut Context<'_>, directive: &Directive) {
        let _ = (cx, directive);
    }

    /// Time of the next wake-up; `None` for never.
    fn next_wake(&self) -> Option<Time>;
}
