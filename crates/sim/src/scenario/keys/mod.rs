//! Every key of the format, declared once: for reading, for error messages and for the JSON Schema.

use tidegate_core::ndn::consumer::profile::{
    ConsumerProfile, NoticeReaction, RetransmitOrder, TimeoutReading, Tracking,
};
use tidegate_core::ndn::consumer::rto::EstimatorKind;
use tidegate_core::tcp::{Detection, TimeoutRule};
use tidegate_settings::key_rows;
use tidegate_settings::keys::KeyKind::{
    Any, AnyOf, Bool, Comparison, Count, False, List, LongTime, Name, Number, Open, Packets, Rate,
    Scheme as SchemeOf, Size, Table, Text, Time, Words,
};
use tidegate_settings::keys::KeyNeed::{Else, May, Must};
use tidegate_settings::keys::{
    CONSUMER, CONTROLLER, Format, Key, Keys, LINK_SERVICE, ROUTER_PART, SCHEME as WHOLE, STRATEGY, TCP_SENDER,
};
use tidegate_settings::queue::QUEUE;

mod blocks;

pub(super) use blocks::{CLOCK, DEMAND, NODE_CACHE, PREFIX_CACHE, RANDOM_PHASE, ROUTER_CACHE, SERVICE};

use super::import::TopologyFormat;
use super::{timeline, topology};
use crate::plan::NextHopRule;

/// The format of scenarios.
pub(super) static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: SYNONYMS };

/// Names that other programs and papers use for some keys.
static SYNONYMS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("capacity", "rate"),
    ("from", "consumer"),
    ("latency", "delay"),
    ("metric", "cost"),
    ("packets", "segments"),
    ("repeat", "seeds"),
    ("repetitions", "seeds"),
    ("seed", "first_seed"),
    ("time", "at"),
    ("to", "producer"),
    ("type", "builtin"),
    ("until", "stop"),
];

/// Maximum number of nodes, flows and the like in one scenario; the limits of a document can be lower.
const MANY: i64 = 1_000_000;
/// Bytes in an NDN packet's content here.
const MAX_PAYLOAD: u64 = 65_536;

/// The words of a list of values.
fn words_of<T>(all: &[(T, &'static str)]) -> Vec<&'static str> {
    all.iter().map(|(_, word)| *word).collect()
}

pub(super) static DETECTIONS: &[(Detection, &str)] =
    &[(Detection::RackTlp, "rack-tlp"), (Detection::Sack, "sack")];
pub(super) static ESTIMATORS: &[(EstimatorKind, &str)] = &[
    (EstimatorKind::Ndnsim, "ndnsim"),
    (EstimatorKind::NdnTools, "ndn-tools"),
    (EstimatorKind::Ndnts, "ndnts"),
    (EstimatorKind::Range, "range"),
];
pub(super) static READINGS: &[(TimeoutReading, &str)] =
    &[(TimeoutReading::AtSend, "at-send"), (TimeoutReading::AtSweep, "at-sweep")];
pub(super) static TRACKINGS: &[(Tracking, &str)] = &[(Tracking::Loose, "loose"), (Tracking::Exact, "exact")];
pub(super) static RETRANSMIT_ORDERS: &[(RetransmitOrder, &str)] =
    &[(RetransmitOrder::BySegment, "by-segment"), (RetransmitOrder::ByLoss, "by-loss")];
pub(super) static NOTICES: &[(NoticeReaction, &str)] =
    &[(NoticeReaction::Reduce, "reduce"), (NoticeReaction::Ignore, "ignore")];
pub(super) static TIMEOUT_RULES: &[(TimeoutRule, &str)] =
    &[(TimeoutRule::Linux, "linux"), (TimeoutRule::Rfc6298, "rfc6298")];

pub(super) static ROOT: Keys = key_rows! { "the scenario" =>
    format: Count(1, 1), Must, "Version of this format: 1.";
    scenario: Table(&SCENARIO), Must, "Name, duration and seeds of the runs.";
    topology: Table(&TOPOLOGY), May,
        "A built-in or imported topology, or defaults for all links of this file.";
    node: AnyOf(&[List(&Table(&NODE)), Open(&Table(&NODE_CHANGES))]), May,
        "Nodes; or, by name, settings for nodes of a built-in topology.";
    link: AnyOf(&[List(&Table(&LINK)), Open(&Table(&LINK_CHANGES))]), May,
        "Links; or, by name, settings for links of a built-in topology.";
    medium: Open(&Table(&MEDIUM)), May, "802.11 media by name, which links can share.";
    router: Table(&ROUTER), May, "Settings of every router.";
    controller: Table(&CONTROLLER_KEYS), May, "The network controller; none by default.";
    flow: List(&Table(&FLOW)), May,
        "Flows of Interests and Data between a consumer and one or more producers.";
    tcp: List(&Table(&TCP)), May, "TCP connections.";
    event: List(&Table(&EVENT)), May, "Changes of links, nodes and the controller during the run.";
    expect: Open(&AnyOf(&[Comparison, List(&Comparison)])), May,
        "Expected values of measures over all flows, averaged over the seeds.";
    sweep: Open(&List(&Any)), May,
        "Values of each key for `tidegate sweep`: every combination is a point.";
};

pub(super) static SCENARIO: Keys = key_rows! { "[scenario]" =>
    name: Text, Must, "Name of the scenario in tables and titles.";
    duration: LongTime, Must, "Simulated time of each run.";
    seeds: Count(1, 100_000), Else("1"), "Number of seeds, each of which gives one run.";
    first_seed: Count(0, i64::MAX - 100_000), Else("1"),
        "First seed; the following ones are consecutive.";
    stop_when_complete: Bool, Else("false"),
        "Whether a run ends as soon as every finite flow is complete.";
    sample: AnyOf(&[LongTime, False]), Else("10ms"), "Interval between samples; false for no samples.";
    events: List(&Words(timeline::event_words)), May, "Events that are recorded; none by default.";
    vary: Table(&VARY), May, "Random variation between seeds, in addition to random loss.";
    scheme: SchemeOf(&WHOLE), May,
        "Scheme that fills each of its roles for which the scenario names no other, with its companions.";
};

pub(super) static VARY: Keys = key_rows! { "vary" =>
    start: Bool, Else("false"), "Whether the start of every flow is delayed by U(0, base RTT).";
    delay: Number(0.0, 0.999), Else("0"),
        "Maximum relative change of every link's delay, drawn once per run.";
};

pub(super) static TOPOLOGY: Keys = key_rows! { "[topology]" =>
    builtin: Words(topology::names), May,
        "Built-in topology, instead of a file or of [[node]] and [[link]].";
    file: Text, May,
        "File with a topology in the format of another program, relative to the scenario's file.";
    format: Words(|| words_of(&TopologyFormat::ALL)), May, "Format of the file; by default detected from its name or content.";
    latencies: Text, May, "rocketfuel: file with the delays of the links in ms.";
    pairs: Count(1, MANY), May, "dumbbell: number of consumers, and of producers.";
    routers: Count(1, MANY), May, "linear: number of routers in the chain.";
    consumers: Count(1, MANY), May, "star: number of consumers.";
    producers: Count(1, MANY), May, "star: number of producers, 1 by default.";
    depth: Count(1, 64), May, "tree: number of levels of links below the root.";
    fanout: Count(1, MANY), May, "tree: number of children of each router.";
    rows: Count(1, MANY), May, "grid: number of rows of routers.";
    columns: Count(1, MANY), May, "grid: number of routers in each row.";
    hops: Count(1, MANY), May, "parking-lot: number of consecutive bottlenecks.";
    paths: Count(1, MANY), May, "multipath: number of paths, each to a separate producer.";
    nodes: Count(2, MANY), May, "waxman, barabasi-albert: number of routers.";
    alpha: Number(0.001, 1.0), May,
        "waxman: decay length of the link probability, as a fraction of the maximum distance.";
    beta: Number(0.001, 1.0), May, "waxman: probability of a link at distance zero.";
    links: Count(1, MANY), May, "barabasi-albert: number of links from each new router to earlier ones.";
    seed: Count(0, i64::MAX), May,
        "waxman, barabasi-albert: seed of the network, independent of the seed of a run; 1 by default.";
    plane: Time, May,
        "waxman, barabasi-albert: propagation delay along one side of the square in which routers are placed; the delay of links without `delay` follows from their length.";
    link: Table(&LINK_CHANGES), May, "Defaults for all links.";
    access: Table(&LINK_CHANGES), May, "Links of hosts, instead of `link`.";
    bottleneck: Table(&LINK_CHANGES), May, "Bottleneck links, instead of `link`.";
};

/// One 802.11 channel and its radios.
pub(super) static MEDIUM: Keys = key_rows! { "[medium.NAME]" =>
    mcs: Count(0, 31), Else("6"),
        "HT modulation and coding scheme; eight values for each number of spatial streams.";
    width: Words(|| vec!["20MHz", "40MHz"]), Else("20MHz"), "Width of the channel.";
    short_guard: Bool, Else("false"),
        "Whether the guard interval is short: symbols of 3.6 us instead of 4 us.";
    basic_rate: Rate, Else("24Mbps"), "Transmission rate of ACKs: 6, 9, 12, 18, 24, 36, 48 or 54 Mbps.";
    access: Words(|| vec!["edca", "dcf"]), Else("edca"),
        "Channel access: `edca`, with QoS, as in HT; `dcf`, without QoS.";
    aifsn: Count(1, 15), Else("3"), "edca: number of slots in AIFS after SIFS (AIFSN).";
    cw_min: Count(0, 65_535), Else("15"), "Minimum contention window, in slots.";
    cw_max: Count(0, 65_535), Else("1023"), "Maximum contention window, in slots.";
    attempts: Count(1, 255), Else("7"),
        "Maximum number of transmissions of a frame before it is discarded.";
    slot: Time, Else("9us"), "Duration of a slot.";
    sifs: Time, Else("16us"), "Short interframe space: time between a frame and its ACK.";
    overhead: Size(1_000), Else("38B"), "Bytes that the MAC adds to a frame: header, FCS and LLC.";
    aggregate: Size(65_535), May,
        "Maximum size of an aggregate of frames to one receiver in one transmission (A-MPDU); by default one frame.";
};

static LINK_KEYS: [Key; 12] = key_rows! {
    rate: Rate, May, "Transmission rate of each direction; required, unless `medium` is given.";
    delay: Time, May, "Propagation delay; required, unless `medium` is given.";
    medium: Text, May,
        "Name of the [medium.NAME] that both directions share with all other links of that medium.";
    jitter: Time, Else("0s"), "Maximum additional delay, uniformly distributed, of each frame.";
    reorder: Bool, Else("false"), "Whether jitter may reorder frames.";
    mtu: Size(65_535), May,
        "Maximum frame size, at least 128B; larger packets are fragmented. By default unlimited; on a medium 1500B by default and 2304B at most.";
    link_service: SchemeOf(&LINK_SERVICE), May,
        "Recovery of lost frames at both ends: belrp or wldr. By default none.";
    cost: Count(1, 4_294_967_295), Else("1"), "Cost of the link in routing.";
    loss: AnyOf(&[Words(loss_words), Table(&LOSS)]), Else("none"), "Loss model of both directions.";
    queue: Table(&QUEUE), May, "Queue of each direction.";
    forward: Table(&DIRECTION), May, "Settings for the direction from the first end to the second only.";
    backward: Table(&DIRECTION), May, "Settings for the direction from the second end to the first only.";
};

pub(super) static LINK_CHANGES: Keys = Keys { what: "a link", own: &[], shared: &[&LINK_KEYS] };

pub(super) static LINK: Keys = Keys {
    what: "[[link]]",
    own: &key_rows! {
        name: Name, May, "Name of the link; by default its ends, joined by a dash.";
        ends: List(&Name), Must, "Names of the two nodes.";
    },
    shared: &[&LINK_KEYS],
};

pub(super) static DIRECTION: Keys = key_rows! { "a direction of a link" =>
    rate: Rate, May, "Transmission rate of this direction.";
    loss: AnyOf(&[Words(loss_words), Table(&LOSS)]), May, "Loss model of this direction.";
    queue: Table(&QUEUE), May, "Queue of this direction.";
};

pub(super) static LOSS: Keys = key_rows! { "loss" =>
    model: Words(loss_words), Must, "Loss model.";
    probability: Number(0.0, 1.0), May, "Loss probability: bernoulli, of each packet; bursts, of each burst.";
    to_bad: Number(0.0, 1.0), May,
        "gilbert-elliott: transition probability from the good to the bad state, per packet.";
    to_good: Number(0.0, 1.0), May,
        "gilbert-elliott: transition probability from the bad to the good state, per packet.";
    loss_good: Number(0.0, 1.0), May,
        "gilbert-elliott: loss probability of a packet in the good state; 0 by default.";
    loss_bad: Number(0.0, 1.0), May,
        "gilbert-elliott: loss probability of a packet in the bad state; 1 by default.";
    good: Time, May, "spells: mean time between two spells of loss, exponentially distributed.";
    bad: Time, May,
        "spells: mean duration of a spell, exponentially distributed, in which every packet is lost.";
    max_packets was most: Count(1, 1 << 16), May,
        "bursts: maximum number of back-to-back packets that are lost together.";
    pattern: Text, May, "trace: one digit per packet, 1 for a loss; repeated from its end.";
    file: Text, May, "trace: file with the pattern.";
};

fn loss_words() -> Vec<&'static str> {
    vec!["none", "bernoulli", "gilbert-elliott", "spells", "bursts", "trace"]
}

static NODE_KEYS: [Key; 7] = key_rows! {
    cache: AnyOf(&[Packets, Table(&NODE_CACHE)]), May,
        "Content store; by default that of [router] for routers, and none for hosts.";
    service: AnyOf(&[LongTime, Table(&SERVICE)]), May,
        "Service time of packets, instead of that of [router].";
    clock: AnyOf(&[LongTime, Table(&CLOCK)]), May,
        "Granularity of the node's timers: a timer fires at the first tick after its time; by default exactly at its time. A time alone is the period.";
    unsolicited: Bool, May, "Whether unsolicited Data is cached.";
    strategy: SchemeOf(&STRATEGY), May, "Forwarding strategy, instead of that of [router].";
    router_parts was parts: List(&SchemeOf(&ROUTER_PART)), May, "Router parts of schemes, instead of those of [router].";
    position: List(&Number(0.0, 1.0)), May,
        "Position in drawings: fractions of the width from the left and of the height from the top.";
};

pub(super) static NODE_CHANGES: Keys = Keys { what: "a node", own: &[], shared: &[&NODE_KEYS] };

pub(super) static NODE: Keys = Keys {
    what: "[[node]]",
    own: &key_rows! {
        name: Name, Must, "Name of the node.";
        router: Bool, May, "Whether the node is a router; by default if it has several links.";
    },
    shared: &[&NODE_KEYS],
};

pub(super) static ROUTER: Keys = key_rows! { "[router]" =>
    strategy: SchemeOf(&STRATEGY), Else("best-route"), "Forwarding strategy of every node.";
    cache: AnyOf(&[Packets, Table(&ROUTER_CACHE)]), Else("0pkt"),
        "Content store of every router; 0pkt for none.";
    service: AnyOf(&[LongTime, Table(&SERVICE)]), May,
        "Service time of each packet received from a link before a router forwards it, one packet at a time; none by default.";
    clock: AnyOf(&[LongTime, Table(&CLOCK)]), May,
        "Granularity of every router's timers, as for a node; each router draws its own phase.";
    unsolicited: Bool, Else("false"), "Whether unsolicited Data is cached.";
    router_parts was parts: List(&SchemeOf(&ROUTER_PART)), May,
        "Router parts of schemes on every router: gates, strategies and agents.";
    next_hops: Words(|| words_of(&NextHopRule::ALL)), Else("nearer"),
        "Next hops in the FIB: `nearer`, neighbours that are nearer to a producer; `all`, every neighbour with a loop-free path.";
    prefix: List(&Table(&ROUTER_PREFIX)), May, "Settings for a name prefix.";
};

pub(super) static CONTROLLER_KEYS: Keys = key_rows! { "[controller]" =>
    scheme: SchemeOf(&CONTROLLER), Must,
        "Scheme of the controller; routers need the router parts that report to it.";
    delay: Time, Else("1ms"),
        "Delay of every message in both directions, on a channel separate from the links.";
    loss: Number(0.0, 1.0), Else("0"), "Loss probability of messages in both directions.";
};

pub(super) static ROUTER_PREFIX: Keys = key_rows! { "[[router.prefix]]" =>
    prefix: Text, Must, "Name prefix; the longest matching prefix applies.";
    strategy: SchemeOf(&STRATEGY), May,
        "Forwarding strategy of the prefix on every node, instead of the node's.";
    cache: AnyOf(&[Packets, Table(&PREFIX_CACHE)]), May,
        "Separate content store for the prefix on every router that has one; 0pkt for none.";
};

pub(super) static FLOW: Keys = key_rows! { "[[flow]]" =>
    name: Text, May, "Name of the flow; consumer:prefix by default.";
    repeat: Count(1, MANY), Else("1"),
        "Number of flows created from this table; {i} in names is replaced by their number, from 1.";
    consumer: Text, Must, "Node of the consumer.";
    producer: AnyOf(&[Text, List(&Text)]), Must, "Node, or nodes, of the producers.";
    prefix: Text, Must, "Name prefix of the segments.";
    scheme: SchemeOf(&CONSUMER), May,
        "Congestion control of the consumer; by default that of `scenario.scheme`.";
    profile was shell: AnyOf(&[Words(|| words_of(&ConsumerProfile::ALL)), Table(&PROFILE)]), May,
        "Consumer profile: timers and retransmission rules of a consumer program; by default that of the scheme.";
    size: Size(u64::MAX), May, "Size of the content to fetch.";
    segments: Count(1, 4_294_967_294), May, "Number of segments to fetch, instead of a size.";
    rate: Rate, May, "Constant rate of content to request, instead of a size, independent of the window.";
    bursts: List(&Table(&BURST)), May,
        "With a rate: intervals in which content is requested; always by default.";
    demand: Table(&DEMAND), May, "Objects of a catalogue to request, instead of a size.";
    payload: Size(MAX_PAYLOAD), Else("1024B"), "Payload of each Data packet.";
    size_rule: Words(|| vec!["ceil", "ndnsim"]), Else("ceil"),
        "Number of segments of a size: `ceil`, ceil(size / payload); `ndnsim`, floor(1 + size / payload).";
    start: Time, Else("0s"), "Time of the first Interest.";
    stop: LongTime, May, "Time after which no Interest is sent.";
    processing: AnyOf(&[LongTime, Table(&SERVICE)]), May,
        "Service time of the producer for each Interest, one at a time; none by default.";
    freshness: Time, Else("10s"), "Freshness period of each Data packet.";
    must_be_fresh: Bool, Else("false"), "Whether Interests carry MustBeFresh.";
};

pub(super) static TCP: Keys = key_rows! { "[[tcp]]" =>
    name: Text, May, "Name of the connection; sender>receiver:port by default.";
    repeat: Count(1, MANY), Else("1"),
        "Number of connections created from this table; {i} in names is replaced by their number, from 1.";
    sender: Text, Must, "Node that opens the connection and sends data.";
    receiver: Text, Must, "Node that receives the data.";
    port: Count(1, 65_535), Else("80"), "Port of the receiver; routers may estimate the demand of new connections by port.";
    scheme: SchemeOf(&TCP_SENDER), May,
        "Congestion control of the sender; by default that of `scenario.scheme`.";
    size: Size(u64::MAX), May, "Bytes to send, rounded up to whole segments; unlimited by default.";
    rate: Rate, May, "Rate at which the application writes, instead of a size.";
    start: Time, Else("0s"), "Time at which the SYN is sent.";
    stagger: Time, Else("0s"), "Interval between the starts of consecutive repetitions.";
    stop: LongTime, May, "Time after which the sender sends nothing.";
    mss: Size(65_000), Else("1448B"), "Maximum segment size (payload).";
    detection: Words(|| words_of(DETECTIONS)), Else("rack-tlp"),
        "Loss detection: `rack-tlp`, RFC 8985; `sack`, RFC 6675.";
    min_timeout: LongTime, Else("200ms"),
        "Minimum retransmission timeout (RFC 6298 requires 1 s); with `rto = \"linux\"`, the minimum distance from the smoothed RTT.";
    rto: Words(|| words_of(TIMEOUT_RULES)), Else("linux"),
        "Computation of the retransmission timeout: as in Linux, or RFC 6298.";
    burst: Count(1, 1_000), Else("1"),
        "Number of segments sent back to back, as with segmentation offload; without pacing, as soon as a third of the window is free.";
    ack_every: Count(1, 1_000), Else("2"), "Number of segments per ACK.";
    ack_delay: Time, Else("40ms"), "Maximum delay of an ACK.";
    quick_acks: Count(0, MANY), Else("16"),
        "Number of segments at the start that are acknowledged immediately.";
    receiver_ecn: Bool, Else("true"), "Whether the receiver supports ECN, if the scheme requests it.";
    receive_buffer: Size(1 << 30), Else("1GB"), "Receive buffer for out-of-order segments.";
};

pub(super) static BURST: Keys = key_rows! { "a burst" =>
    at: Time, Must, "Start time, from the start of the run.";
    for: LongTime, Must, "Duration.";
};

pub(super) static PROFILE: Keys = key_rows! { "profile" =>
    kind: Words(|| words_of(&ConsumerProfile::ALL)), May,
        "Consumer profile that the other keys modify; by default that of the scheme.";
    estimator: Words(|| words_of(ESTIMATORS)), May, "RTT estimator for the retransmission timeout.";
    min_timeout: LongTime, May,
        "Minimum retransmission timeout after the first RTT sample; by default that of the estimator.";
    backoff_limit: Count(1, 65_536), May,
        "Maximum backoff factor of ndnSIM's timeout; 64 by default, 8 for the profile pcon.";
    variations: Count(1, 1_000), May,
        "Multiple of the RTT variation that the timeout adds to the smoothed RTT; 8 by default for ndn-tools, 4 for ndnSIM and NDNts.";
    sweep: LongTime, May, "Interval between two checks for timed-out Interests.";
    reading: Words(|| words_of(READINGS)), May,
        "Time at which the timeout of an Interest is computed: when it is sent, or at each check.";
    tracking: Words(|| words_of(TRACKINGS)), May,
        "How outstanding Interests and losses are counted: `loose`, as in ndnSIM: every Data frees a place in the window, and each timed-out Interest is a separate loss; `exact`, as in ndn-tools: only Data of outstanding Interests counts, and Interests that time out together are one loss.";
    retransmit: Words(|| words_of(RETRANSMIT_ORDERS)), May,
        "Order of retransmissions: `by-segment`, lowest segment first; `by-loss`, in order of detection.";
    retry_limit: AnyOf(&[Count(0, 4_294_967_295), Words(|| vec!["none"])]), May,
        "Maximum number of retransmissions of one segment.";
    lifetime: AnyOf(&[LongTime, Words(|| vec!["auto"])]), May,
        "Interest lifetime; auto for the retransmission timeout plus 1 s.";
    nack_is_loss: Bool, May, "Whether a congestion Nack is handled like a timeout.";
    whole_window: Bool, May, "Whether the window is rounded down to whole packets.";
    one_over: Bool, May, "Whether one more Interest is sent when the window is exactly full.";
    notice: Words(|| words_of(NOTICES)), May,
        "Reaction to a loss notice: `reduce`, as to a loss; `ignore`, none.";
    hop_limit: Count(1, 255), May, "Hop limit of every Interest.";
};

pub(super) static EVENT: Keys = key_rows! { "[[event]]" =>
    at: Time, Must, "Time of the change.";
    link: Text, May, "Name of the link.";
    node: Text, May, "Name of the node, instead of a link.";
    controller: Words(state_words), May,
        "Controller state, instead of a link: `down` stops it, `up` starts a new one.";
    rate: Rate, May, "New rate of both directions of the link.";
    state: Words(state_words), May, "New state of the link or node.";
    restart: Bool, May,
        "true: the node restarts at once and loses the state of its queues, caches and router parts; links stay up.";
    keep_queue: Bool, May, "With state down, for a link: whether its queues keep their packets.";
    silent: Bool, May,
        "With state down: whether routing and neighbouring forwarders are not notified and continue to send packets, which are lost.";
};

fn state_words() -> Vec<&'static str> {
    vec!["down", "up"]
}
