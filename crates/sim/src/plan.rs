//! A checked scenario: names resolved, units read, schemes known. Nothing can fail after this, unless a program changes the
//! plan.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tidegate_core::ndn::consumer::profile::ProfileRules;
use tidegate_core::observe::event::EventMask;
use tidegate_core::rng::Seed;
use tidegate_core::tcp::{AckPolicy, SenderSettings};
use tidegate_core::units::{BitRate, ByteCount, Packets, Span, Time};

/// Whole scheme of `[scenario]`; roles that the scenario sets explicitly take precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenOut {
    /// Name of the scheme.
    pub scheme: &'static str,
    /// Keys with another scheme, such as `flow.0.scheme`.
    pub keys: Vec<String>,
    /// Whether it fills any role.
    pub fills: bool,
}

/// A scenario that can be run.
///
/// A plan of a [`Parser`](crate::scenario::Parser) or a [`Builder`](crate::builder::Builder) was checked. Its fields are
/// public, and a change of them is not checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name of the scenario.
    pub name: String,
    /// The scenario's text with overrides applied, as stored with the results.
    pub text: String,
    /// Canonical text of everything that can change a run, one line per value.
    pub canonical: String,
    /// Files that the text names, each with its content, as often as they were read.
    pub files: Vec<(String, String)>,
    /// `[sweep]`, in the order written.
    pub sweep: Vec<SweepAxis>,
    /// Roles that overriding whole schemes replaced and removed, one line each.
    pub replaced: Vec<String>,
    /// Names of earlier versions in the text or its overrides, one sentence each with its place.
    pub renamed: Vec<String>,
    /// The table that prevents the scheme of `[scenario]` from filling roles, if there is one.
    pub written_out: Option<WrittenOut>,
    /// Simulated time of each run.
    pub duration: Span,
    /// Whether the run ends once every finite flow is complete.
    pub stop_when_complete: bool,
    /// Seeds of the runs.
    pub seeds: Vec<Seed>,
    /// Differences between the runs of several seeds.
    pub variation: Variation,
    /// Nodes by their number.
    pub nodes: Vec<NodePlan>,
    /// Links between the nodes.
    pub links: Vec<LinkPlan>,
    /// Media that links share.
    pub media: Vec<MediumPlan>,
    /// Flows and TCP connections.
    pub flows: Vec<FlowPlan>,
    /// The network controller; `None` for none.
    pub controller: Option<ControllerPlan>,
    /// Rule that selects next hops among the neighbours.
    pub next_hops: NextHopRule,
    /// Changes during the run, in order of time.
    pub events: Vec<EventPlan>,
    /// Interval between samples; `None` for no samples.
    pub sampling: Option<Span>,
    /// Kinds of events that are recorded.
    pub recorded: EventMask,
    /// Expectations on the results.
    pub expectations: Vec<Expectation>,
}

/// Values to try for one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepAxis {
    /// Path of the key, spelled as for an override.
    pub key: String,
    /// Values, at least one.
    pub values: Vec<SweepValue>,
}

/// One value to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepValue {
    /// Value in TOML syntax.
    pub written: String,
    /// Line of the scenario's text, from 1.
    pub line: usize,
    /// Column of it in characters, from 1.
    pub column: usize,
}

/// Variation between seeds, in addition to random loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variation {
    /// Whether the start of every flow is delayed by U(0, base RTT).
    pub start: bool,
    /// Maximum relative change of every link's delay, drawn once per run, 0..1.
    pub delay: f64,
}

/// Plan of one node.
#[derive(Clone, Debug)]
pub struct NodePlan {
    /// Name of the node.
    pub name: String,
    /// Whether it is a router: it has a forwarder even with a single link.
    pub is_router: bool,
    /// Place in a drawing, 0..=1 each; `None` leaves it to the drawing.
    pub position: Option<(f64, f64)>,
    /// Content store of the node.
    pub cache: CachePlan,
    /// Separate content stores of prefixes.
    pub prefix_caches: Vec<(String, CachePlan)>,
    /// Whether unsolicited Data is cached.
    pub cache_unsolicited: bool,
    /// Forwarding strategy of every prefix that has none configured.
    pub strategy: SchemeUse,
    /// Forwarding strategies of name prefixes.
    pub prefix_strategies: Vec<(String, SchemeUse)>,
    /// Router roles of schemes, such as PLR's.
    pub parts: Vec<SchemeUse>,
    /// Service time of every packet that arrives over a link, before the forwarder handles it; `None` for none.
    pub service: Option<ServicePlan>,
    /// Times at which its timers fire; `None` for exact timers.
    pub clock: Option<ClockPlan>,
}

impl CachePlan {
    /// Whether its decisions are random.
    pub fn is_random(&self) -> bool {
        let drawn = matches!(self.admission, Admission::Probability(part) if part > 0.0 && part < 1.0);
        drawn || self.policy == Policy::Random
    }
}

impl fmt::Display for CachePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy =
            Policy::ALL.iter().find(|(policy, _)| *policy == self.policy).map_or("", |(_, word)| word);
        write!(f, "{} ({policy}", self.size)?;
        match self.admission {
            Admission::Everywhere => f.write_str(")"),
            Admission::LeaveCopyDown => f.write_str(", leave copy down)"),
            Admission::Probability(probability) => write!(f, ", stores with probability {probability})"),
        }
    }
}

impl fmt::Display for ServicePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.time {
            ServiceTime::Constant(span) => write!(f, "{span} each")?,
            ServiceTime::Exponential(span) => write!(f, "{span} each on average (exponential)")?,
        }
        self.queue.map_or(Ok(()), |queue| write!(f, ", with a queue of {queue}"))
    }
}

impl fmt::Display for ClockPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tick every {}", self.period)?;
        match self.phase {
            Some(phase) => write!(f, " from {phase} on")?,
            None => f.write_str(" with random phase")?,
        }
        f.write_str(if self.flush_on_arrival { " and when Data or a Nack arrives" } else { "" })
    }
}

impl ServicePlan {
    /// Whether times are drawn.
    pub fn is_random(&self) -> bool {
        matches!(self.time, ServiceTime::Exponential(_))
    }
}

/// A network controller and how routers reach it: a channel separate from the links.
#[derive(Clone, Debug)]
pub struct ControllerPlan {
    /// Scheme of the controller.
    pub scheme: SchemeUse,
    /// Delay of every message, in either direction.
    pub delay: Span,
    /// Fraction of the messages that is lost, in either direction, 0..=1.
    pub loss: f64,
}

/// Selection of a node's next hops for a prefix among its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NextHopRule {
    /// Neighbours that are nearer to a producer: no choice makes a loop.
    #[default]
    Nearer,
    /// All neighbours from which a path leads to a producer without returning here, as ndnSIM's
    /// `CalculateAllPossibleRoutes` finds them. Two such choices in a row may still make a loop, which the
    /// forwarders detect.
    All,
}

impl NextHopRule {
    /// Each rule with its word in scenarios.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Nearer, "nearer"), (Self::All, "all")];
}

/// Plan of one content store.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CachePlan {
    /// Capacity of the store; zero for no store.
    pub size: Packets,
    /// Replacement policy of a full store.
    pub policy: Policy,
    /// Admission policy of the store.
    pub admission: Admission,
}

/// A single server that handles packets one by one, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServicePlan {
    /// Service time of each packet.
    pub time: ServiceTime,
    /// Maximum number of packets that wait while one is handled; `None` for no limit.
    pub queue: Option<Packets>,
}

/// A clock with ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPlan {
    /// Time between two ticks, above zero.
    pub period: Span,
    /// First tick, counted from the start of the run; `None` for one drawn from U(0, period).
    pub phase: Option<Span>,
    /// Whether an arriving Data, Nack or loss notice fires the timers already due.
    pub flush_on_arrival: bool,
}

/// Distribution of the service time of one packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ServiceTime {
    /// The same time for every packet.
    Constant(Span),
    /// Exponentially distributed with this mean.
    Exponential(Span),
}

/// A link; index 0 of each pair is the direction from `a` to `b`.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Name, `a-b` unless given.
    pub name: String,
    /// One end, an index into the nodes.
    pub a: usize,
    /// Number of the node at the second end.
    pub b: usize,
    /// Rate of each direction.
    pub rate: [BitRate; 2],
    /// Propagation delay of the link.
    pub delay: Span,
    /// Maximum additional delay, uniformly distributed, of each frame.
    pub jitter: Span,
    /// Whether jitter may reorder frames.
    pub reorder: bool,
    /// Maximum size of a frame, bytes, at least [`MIN_MTU`](tidegate_core::link::framed::MIN_MTU); `None` if
    /// a packet of any size is one frame.
    pub mtu: Option<ByteCount>,
    /// Number of the medium that both directions share with others; `None` for a wire.
    pub medium: Option<usize>,
    /// Link service that recovers lost frames at both ends.
    pub link_service: Option<SchemeUse>,
    /// Loss of each direction.
    pub loss: [LossPlan; 2],
    /// Queue of each direction.
    pub queue: [QueuePlan; 2],
    /// Cost of the link in routing.
    pub cost: u32,
}

impl LinkPlan {
    /// Bytes that a packet of `size` puts on the wire, with the headers of its frames if it is divided.
    pub fn bytes_on_wire(&self, size: ByteCount) -> ByteCount {
        let labels = self.service().map(|service| service.label_bytes());
        if self.mtu.is_none() && labels.is_none() {
            return size;
        }
        let cut = Cut::of(size, self.mtu.unwrap_or(ByteCount::new(u64::from(u32::MAX))), labels);
        ByteCount::new(cut.total().get() + cut.count * labels.unwrap_or_default().get())
    }

    /// One end's link service, if the link has one.
    pub fn service(&self) -> Option<Box<dyn LinkService>> {
        let used = self.link_service.as_ref()?;
        let make = used.scheme.link_service.expect("the plan gives links only schemes of links");
        Some(make(&used.settings).expect("settings were checked with the plan"))
    }
}

/// An 802.11 channel. The ends of its links are its radios.
#[derive(Clone, Debug, PartialEq)]
pub struct MediumPlan {
    /// Name of the medium.
    pub name: String,
    /// Rates and access rules of the medium.
    pub setup: MediumSetup,
}

/// Plan of one flow. Its [`FlowSettings`] read as fields of its own; the first change of one copies them, so that other
/// flows keep theirs.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Name, `consumer:prefix` unless given.
    pub name: String,
    /// Index of its `[[flow]]` among those of the scenario.
    pub table: usize,
    /// Consumer, an index into the nodes.
    pub consumer: usize,
    /// Producers of the prefix, indices into the nodes; at least one.
    pub producers: Vec<usize>,
    /// Name prefix of the segments.
    pub prefix: String,
    /// Settings that all flows of its table share.
    pub settings: Arc<FlowSettings>,
    /// Time of the first Interest, before variation.
    pub start: Time,
    /// Settings of a TCP connection: its consumer receives, its only producer sends, and segments take the
    /// place of Data. Other settings of Interests and Data have no meaning then.
    pub tcp: Option<Box<TcpPlan>>,
}

/// Settings of a flow that do not depend on its number among the repetitions.
#[derive(Clone, Debug)]
pub struct FlowSettings {
    /// Congestion control of the consumer.
    pub scheme: SchemeUse,
    /// Consumer profile of the flow.
    pub profile: ProfileRules,
    /// Data that the flow requests.
    pub demand: Demand,
    /// Content bytes of every Data.
    pub payload: ByteCount,
    /// Freshness period of every Data.
    pub freshness: Span,
    /// Processing time of each producer for every Interest; `None` for none.
    pub processing: Option<ServicePlan>,
    /// Whether Interests carry MustBeFresh.
    pub must_be_fresh: bool,
    /// Time from which no Interest is sent.
    pub stop: Option<Time>,
}

impl Deref for FlowPlan {
    type Target = FlowSettings;

    fn deref(&self) -> &FlowSettings {
        &self.settings
    }
}

impl DerefMut for FlowPlan {
    fn deref_mut(&mut self) -> &mut FlowSettings {
        Arc::make_mut(&mut self.settings)
    }
}

/// Settings of a TCP connection in addition to those of a flow.
#[derive(Clone, Debug)]
pub struct TcpPlan {
    /// Prefix of the segments towards the receiver; the flow's prefix leads to the sender.
    pub data_prefix: String,
    /// Settings of the sender around its controller.
    pub settings: SenderSettings,
    /// Whether the receiver takes part in ECN.
    pub receiver_ecn: bool,
    /// Policy by which the receiver acknowledges.
    pub ack_policy: AckPolicy,
    /// Memory of the receiver.
    pub buffer: ByteCount,
}

use tidegate_core::link::framed::Cut;
pub use tidegate_core::link::line::LossPlan;
use tidegate_core::link::medium::MediumSetup;
use tidegate_core::link::service::LinkService;
pub use tidegate_core::ndn::consumer::Demand;
pub use tidegate_core::ndn::cs::{Admission, Policy};
pub use tidegate_settings::queue::QueuePlan;
pub use tidegate_settings::uses::SchemeUse;

/// A change at a time during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPlan {
    /// Time of the change.
    pub at: Time,
    /// The change at that time.
    pub change: Change,
}

/// A change during the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// Both directions of a link go down; packets on the wire and, unless retained, in the queues are lost.
    LinkDown {
        /// Index into the links.
        link: usize,
        /// Whether queues retain their packets.
        keep_queue: bool,
        /// Whether routing and the forwarders at its ends are not notified.
        silent: bool,
    },
    /// The link comes back.
    LinkUp {
        /// Index into the links.
        link: usize,
    },
    /// The rate of both directions changes from the next packet on.
    LinkRate {
        /// Index into the links.
        link: usize,
        /// Rate of both directions from then on.
        rate: BitRate,
    },
    /// A node stops: its applications send nothing and all its links are down.
    NodeOff {
        /// Index into the nodes.
        node: usize,
        /// Whether routing and its neighbours are not notified.
        silent: bool,
    },
    /// The node comes back.
    NodeOn {
        /// Index into the nodes.
        node: usize,
    },
    /// The node restarts at once: its queues are emptied, pending Interests end, its content store and all that schemes
    /// keep there are lost. Its links stay up and its applications run on.
    NodeRestart {
        /// Index into the nodes.
        node: usize,
    },
    /// The controller stops: messages to it are lost, and so is its state.
    ControllerDown,
    /// A new controller starts.
    ControllerUp,
}

/// Measures of all flows and links together that `[expect]` may name.
///
/// * `jain`: Jain's index of the flows' goodputs; `goodput_mbps`: the payload of all flows over one interval for all;
/// * `completion_s`: mean over the finite flows, defined once all are complete;
/// * `full_delay_ms`: mean per segment, from its first Interest to its Data; `full_delay_p95_ms`: the flows' 95th
///   percentiles, averaged by what they delivered;
/// * `queue_delay_ms`: mean waiting time in the queue where it is longest;
/// * `retransmissions`, `timeouts`, `marks`, `loss_notices`: sums over the flows;
/// * `dropped_packets` (by queues and gates), `lost_packets` (on links): sums over the links;
/// * `utilisation`: of the busiest direction of a link, 0..=1.
pub const MEASURES: &[&str] = &[
    "completion_s",
    "dropped_packets",
    "full_delay_ms",
    "full_delay_p95_ms",
    "goodput_mbps",
    "jain",
    "loss_notices",
    "lost_packets",
    "marks",
    "queue_delay_ms",
    "retransmissions",
    "timeouts",
    "utilisation",
];

/// An expectation on a measure, averaged over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Name of a measure, one of [`MEASURES`].
    pub measure: &'static str,
    /// Operator of the comparison with the bound.
    pub comparison: ComparisonOperator,
    /// Bound with which the measure is compared.
    pub bound: f64,
}

/// Operator that compares a measure with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOperator {
    /// The value is at least the bound.
    AtLeast,
    /// The value is at most the bound.
    AtMost,
    /// The value is greater than the bound.
    Above,
    /// The value is less than the bound.
    Below,
}
