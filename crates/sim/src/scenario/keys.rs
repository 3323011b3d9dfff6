//! Every key of the format, declared once: for reading, for error messages and for the JSON Schema.

use tidegate_core::consumer::rto::EstimatorKind;
use tidegate_core::consumer::shell::{NoticeReaction, RetransmitOrder, ShellKind, TimeoutReading, Tracking};
use tidegate_core::tcp::{Detection, TimeoutRule};
use tidegate_settings::keys::Kind::{
    Any, AnyOf, Bool, Comparison, Count, False, List, LongTime, Name, Number, Open, Packets, Rate,
    Scheme as SchemeOf, Size, Table, Text, Time, Words,
};
use tidegate_settings::keys::Need::{Else, May, Must};
use tidegate_settings::keys::{
    CONSUMER, CONTROLLER, Format, Key, Keys, LINK_SERVICE, ROUTER_PART, SCHEME as WHOLE, STRATEGY,
    TCP_SENDER, key, keys,
};
use tidegate_settings::queue::QUEUE;

mod blocks;

pub(super) use blocks::{CLOCK, DEMAND, NODE_CACHE, PREFIX_CACHE, RANDOM_PHASE, ROUTER_CACHE, SERVICE};

use super::import::Format as TopologyFormat;
use super::{timeline, topology};
use crate::plan::NextHopRule;

/// The format of scenarios.
pub(super) static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: SYNONYMS };

/// What other programs and papers call some keys.
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

/// Nodes, flows and the like in one scenario; the document as a whole may be limited further.
const MANY: i64 = 1_000_000;
/// Bytes in an NDN packet's content here.
const LARGEST_PAYLOAD: u64 = 65_536;

pub(super) static ROOT: Keys = keys(
    "the scenario",
    &[
        key("format", Count(1, 1), Must, "Version of this format: 1."),
        key("scenario", Table(&SCENARIO), Must, "What is run, and how often."),
        key("topology", Table(&TOPOLOGY), May, "A built-in topology, or what all links of this file share."),
        key(
            "node",
            AnyOf(&[List(&Table(&NODE)), Open(&Table(&NODE_CHANGES))]),
            May,
            "Nodes, or changes to nodes of a built-in topology by name.",
        ),
        key(
            "link",
            AnyOf(&[List(&Table(&LINK)), Open(&Table(&LINK_CHANGES))]),
            May,
            "Links, or changes to links of a built-in topology by name.",
        ),
        key("medium", Open(&Table(&MEDIUM)), May, "802.11 media by name, for links to share."),
        key("router", Table(&ROUTER), May, "What every router has."),
        key("controller", Table(&CONTROLLER_KEYS), May, "The network controller; none by default."),
        key("flow", List(&Table(&FLOW)), May, "Who asks whom for what."),
        key("tcp", List(&Table(&TCP)), May, "TCP connections."),
        key("event", List(&Table(&EVENT)), May, "What changes during the run."),
        key(
            "expect",
            Open(&AnyOf(&[Comparison, List(&Comparison)])),
            May,
            "Expectations on measures of all flows, averaged over the seeds.",
        ),
        key(
            "sweep",
            Open(&List(&Any)),
            May,
            "Values to try for each key, for `tidegate sweep`: every combination is a point.",
        ),
    ],
);

pub(super) static SCENARIO: Keys = keys(
    "[scenario]",
    &[
        key("name", Text, Must, "Name in tables and titles."),
        key("duration", LongTime, Must, "Simulated time."),
        key("seeds", Count(1, 100_000), Else("1"), "How many seeds are run."),
        key(
            "first_seed",
            Count(0, i64::MAX - 100_000),
            Else("1"),
            "The first of them; the others follow it.",
        ),
        key("stop_when_complete", Bool, Else("false"), "End once every finite flow is complete."),
        key("sample", AnyOf(&[LongTime, False]), Else("10ms"), "Pause between samples; false for none."),
        key("events", List(&Words(timeline::event_words)), May, "Events that are kept; none by default."),
        key("vary", Table(&VARY), May, "What differs between seeds beside random loss."),
        key(
            "scheme",
            SchemeOf(&WHOLE),
            May,
            "A whole scheme: each of its roles that the scenario does not write out, with what belongs to it.",
        ),
    ],
);

pub(super) static VARY: Keys = keys(
    "vary",
    &[
        key("start", Bool, Else("false"), "Every flow starts later by U(0, base round-trip time)."),
        key("delay", Number(0.0, 0.999), Else("0"), "Every link's delay changes once by up to this part."),
    ],
);

pub(super) static TOPOLOGY: Keys = keys(
    "[topology]",
    &[
        key(
            "builtin",
            Words(topology::names),
            May,
            "Built-in topology; else a file, or [[node]] and [[link]].",
        ),
        key("file", Text, May, "A topology that another program wrote, relative to the scenario's file."),
        key("format", Words(formats), May, "Format of the file; by its name or content unless given."),
        key("latencies", Text, May, "rocketfuel: a second file, with the delays of the links in ms."),
        key("pairs", Count(1, MANY), May, "dumbbell: consumers, and producers."),
        key("routers", Count(1, MANY), May, "linear: routers in the chain."),
        key("consumers", Count(1, MANY), May, "star: consumers."),
        key("producers", Count(1, MANY), May, "star: producers, 1 by default."),
        key("depth", Count(1, 64), May, "tree: levels of links below the root."),
        key("fanout", Count(1, MANY), May, "tree: children of each router."),
        key("rows", Count(1, MANY), May, "grid: rows of routers."),
        key("columns", Count(1, MANY), May, "grid: routers in each row."),
        key("hops", Count(1, MANY), May, "parking-lot: bottlenecks in a row."),
        key("paths", Count(1, MANY), May, "multipath: paths, each to a producer of its own."),
        key("nodes", Count(2, MANY), May, "waxman, barabasi-albert: routers."),
        key(
            "alpha",
            Number(0.001, 1.0),
            May,
            "waxman: how far links reach, as a part of the largest distance.",
        ),
        key("beta", Number(0.001, 1.0), May, "waxman: probability of a link over no distance."),
        key(
            "links",
            Count(1, MANY),
            May,
            "barabasi-albert: links that each router brings to those before it.",
        ),
        key(
            "seed",
            Count(0, i64::MAX),
            May,
            "waxman, barabasi-albert: what is drawn; 1 by default, one seed one network.",
        ),
        key(
            "plane",
            Time,
            May,
            "waxman, barabasi-albert: delay along a side of the square on which routers lie; links without `delay` have that of their length.",
        ),
        key("link", Table(&LINK_CHANGES), May, "What all links share."),
        key("access", Table(&LINK_CHANGES), May, "Links of hosts, in place of `link`."),
        key("bottleneck", Table(&LINK_CHANGES), May, "Bottleneck links, in place of `link`."),
    ],
);

fn formats() -> Vec<&'static str> {
    TopologyFormat::ALL.iter().map(|(_, name)| *name).collect()
}

/// One 802.11 channel and its radios.
pub(super) static MEDIUM: Keys = keys(
    "[medium.NAME]",
    &[
        key("mcs", Count(0, 31), Else("6"), "Modulation and coding of HT, eight for each number of streams."),
        key("width", Words(|| vec!["20MHz", "40MHz"]), Else("20MHz"), "Width of the channel."),
        key("short_guard", Bool, Else("false"), "Whether symbols last 3.6 us, not 4 us."),
        key("basic_rate", Rate, Else("24Mbps"), "Rate of ACKs: 6, 9, 12, 18, 24, 36, 48 or 54 Mbps."),
        key(
            "access",
            Words(|| vec!["edca", "dcf"]),
            Else("edca"),
            "How radios get at the medium: with QoS as HT has it, or without.",
        ),
        key("aifsn", Count(1, 15), Else("3"), "edca: slots of AIFS behind its SIFS."),
        key("cw_min", Count(0, 65_535), Else("15"), "First contention window, slots."),
        key("cw_max", Count(0, 65_535), Else("1023"), "Largest contention window, slots."),
        key("attempts", Count(1, 255), Else("7"), "Transmissions of a frame before it is given up."),
        key("slot", Time, Else("9us"), "A slot."),
        key("sifs", Time, Else("16us"), "Time between a frame and its ACK."),
        key("overhead", Size(1_000), Else("38B"), "What the MAC adds to a frame: header, FCS, LLC."),
        key(
            "aggregate",
            Size(65_535),
            May,
            "Most bytes of frames to one receiver in one transmission (A-MPDU); by default one frame.",
        ),
    ],
);

static LINK_KEYS: [Key; 12] = [
    key("rate", Rate, May, "Rate of each direction; needed, unless there is a medium."),
    key("delay", Time, May, "Propagation delay; needed, unless there is a medium."),
    key("medium", Text, May, "The [medium.NAME] that both directions share with all its other links."),
    key("jitter", Time, Else("0s"), "Extra delay U(0, jitter) per frame."),
    key("reorder", Bool, Else("false"), "Whether jitter may change the order of frames."),
    key(
        "mtu",
        Size(65_535),
        May,
        "Largest frame, 128 bytes or more; larger packets go as several frames. By default a packet of any size is one frame, on a medium 1500B, and there 2304B is the most.",
    ),
    key(
        "link_service",
        SchemeOf(&LINK_SERVICE),
        May,
        "What both ends do about lost frames: belrp or wldr. By default nothing.",
    ),
    key("cost", Count(1, 4_294_967_295), Else("1"), "Cost for routing."),
    key("loss", AnyOf(&[Words(loss_words), Table(&LOSS)]), Else("none"), "Loss of both directions."),
    key("queue", Table(&QUEUE), May, "Queue of both directions."),
    key("forward", Table(&DIRECTION), May, "From the first end to the second only."),
    key("backward", Table(&DIRECTION), May, "From the second end to the first only."),
];

pub(super) static LINK_CHANGES: Keys = Keys { what: "a link", own: &[], shared: &[&LINK_KEYS] };

pub(super) static LINK: Keys = Keys {
    what: "[[link]]",
    own: &[
        key("name", Name, May, "Name; the ends with a dash between by default."),
        key("ends", List(&Name), Must, "The two nodes."),
    ],
    shared: &[&LINK_KEYS],
};

pub(super) static DIRECTION: Keys = keys(
    "a direction of a link",
    &[
        key("rate", Rate, May, "Rate."),
        key("loss", AnyOf(&[Words(loss_words), Table(&LOSS)]), May, "Loss."),
        key("queue", Table(&QUEUE), May, "Queue."),
    ],
);

pub(super) static LOSS: Keys = keys(
    "loss",
    &[
        key("model", Words(loss_words), Must, "How loss is drawn, per packet."),
        key("probability", Number(0.0, 1.0), May, "bernoulli: of every packet; bursts: of every burst."),
        key("to_bad", Number(0.0, 1.0), May, "gilbert-elliott: good to bad, per packet."),
        key("to_good", Number(0.0, 1.0), May, "gilbert-elliott: bad to good, per packet."),
        key(
            "loss_good",
            Number(0.0, 1.0),
            May,
            "gilbert-elliott: of a packet in the good state; 0 by default.",
        ),
        key(
            "loss_bad",
            Number(0.0, 1.0),
            May,
            "gilbert-elliott: of a packet in the bad state; 1 by default.",
        ),
        key("good", Time, May, "spells: mean time between them."),
        key("bad", Time, May, "spells: mean length of one, in which everything is lost."),
        key(
            "most",
            Count(1, 1 << 16),
            May,
            "bursts: packets that follow each other without a pause and are lost together, at most.",
        ),
        key("pattern", Text, May, "trace: one digit per packet, 1 loses it; starts again at its end."),
        key("file", Text, May, "trace: a file with the pattern."),
    ],
);

fn loss_words() -> Vec<&'static str> {
    vec!["none", "bernoulli", "gilbert-elliott", "spells", "bursts", "trace"]
}

static NODE_KEYS: [Key; 7] = [
    key(
        "cache",
        AnyOf(&[Packets, Table(&NODE_CACHE)]),
        May,
        "Content store; of routers as in [router], of hosts none by default.",
    ),
    key("service", AnyOf(&[LongTime, Table(&SERVICE)]), May, "Service time, in place of [router]'s."),
    key(
        "clock",
        AnyOf(&[LongTime, Table(&CLOCK)]),
        May,
        "How finely the node tells time: what waits for a time to come waits for the first tick after it; without it nothing waits longer than it has to. A time alone is the period.",
    ),
    key("unsolicited", Bool, May, "Whether Data that nobody asked for is cached."),
    key("strategy", SchemeOf(&STRATEGY), May, "Forwarding strategy, in place of [router]'s."),
    key("parts", List(&SchemeOf(&ROUTER_PART)), May, "Router parts, in place of [router]'s."),
    key("position", List(&Number(0.0, 1.0)), May, "Place in a drawing, across and down."),
];

pub(super) static NODE_CHANGES: Keys = Keys { what: "a node", own: &[], shared: &[&NODE_KEYS] };

pub(super) static NODE: Keys = Keys {
    what: "[[node]]",
    own: &[
        key("name", Name, Must, "Name."),
        key("router", Bool, May, "Whether it is a router; by default if it has several links."),
    ],
    shared: &[&NODE_KEYS],
};

pub(super) static ROUTER: Keys = keys(
    "[router]",
    &[
        key("strategy", SchemeOf(&STRATEGY), Else("best-route"), "Forwarding strategy of every node."),
        key(
            "cache",
            AnyOf(&[Packets, Table(&ROUTER_CACHE)]),
            Else("0pkt"),
            "Content store of every router; 0pkt for none.",
        ),
        key(
            "service",
            AnyOf(&[LongTime, Table(&SERVICE)]),
            May,
            "What every packet off a link takes, one after the other, before a router forwards it; nothing by default.",
        ),
        key(
            "clock",
            AnyOf(&[LongTime, Table(&CLOCK)]),
            May,
            "How finely every router tells time, as at a node; each draws a phase of its own.",
        ),
        key("unsolicited", Bool, Else("false"), "Whether Data that nobody asked for is cached."),
        key("parts", List(&SchemeOf(&ROUTER_PART)), May, "Router parts of schemes on every router."),
        key(
            "next_hops",
            Words(next_hop_rules),
            Else("nearer"),
            "Neighbours that Interests may be sent to: those nearer to a producer, or all with a way that does not come back.",
        ),
        key("prefix", List(&Table(&ROUTER_PREFIX)), May, "What differs for a prefix."),
    ],
);

pub(super) static CONTROLLER_KEYS: Keys = keys(
    "[controller]",
    &[
        key(
            "scheme",
            SchemeOf(&CONTROLLER),
            Must,
            "What controls; routers need the parts that report to it.",
        ),
        key(
            "delay",
            Time,
            Else("1ms"),
            "What every message takes, either way, on a channel beside the links.",
        ),
        key("loss", Number(0.0, 1.0), Else("0"), "Part of the messages that is lost, either way."),
    ],
);

pub(super) static ROUTER_PREFIX: Keys = keys(
    "[[router.prefix]]",
    &[
        key("prefix", Text, Must, "The prefix; of several that fit a name the longest counts."),
        key("strategy", SchemeOf(&STRATEGY), May, "Its strategy on every node, in place of the node's."),
        key(
            "cache",
            AnyOf(&[Packets, Table(&PREFIX_CACHE)]),
            May,
            "A content store for it alone on every router that has one; 0pkt keeps nothing of it.",
        ),
    ],
);

pub(super) static FLOW: Keys = keys(
    "[[flow]]",
    &[
        key("name", Text, May, "Name; consumer:prefix by default."),
        key(
            "repeat",
            Count(1, MANY),
            Else("1"),
            "Flows made of this table; {i} in names counts them from 1.",
        ),
        key("consumer", Text, Must, "Node that asks."),
        key("producer", AnyOf(&[Text, List(&Text)]), Must, "Node, or nodes, that answer."),
        key("prefix", Text, Must, "Prefix of the segments."),
        key("scheme", SchemeOf(&CONSUMER), May, "Consumer scheme; that of `scenario.scheme` by default."),
        key(
            "shell",
            AnyOf(&[Words(shell_words), Table(&SHELL)]),
            May,
            "Timers and retransmission habits; the scheme's by default.",
        ),
        key("size", Size(u64::MAX), May, "Bytes of content to fetch."),
        key("segments", Count(1, 4_294_967_294), May, "Segments to fetch, instead of a size."),
        key(
            "rate",
            Rate,
            May,
            "Constant rate of content to ask for, instead of a size, whatever the window.",
        ),
        key("bursts", List(&Table(&BURST)), May, "With a rate: when to ask; always by default."),
        key("demand", Table(&DEMAND), May, "Objects of a catalogue to ask for, instead of a size."),
        key("payload", Size(LARGEST_PAYLOAD), Else("1024B"), "Content of each Data."),
        key(
            "size_rule",
            Words(size_rules),
            Else("ceil"),
            "Segments of a size: ceil, or ndnSIM's floor(1 + size/payload).",
        ),
        key("start", Time, Else("0s"), "First Interest."),
        key("stop", LongTime, May, "No Interest leaves from then on."),
        key(
            "processing",
            AnyOf(&[LongTime, Table(&SERVICE)]),
            May,
            "What a producer takes for every Interest, one after the other; nothing by default.",
        ),
        key("freshness", Time, Else("10s"), "Freshness period of each Data."),
        key("must_be_fresh", Bool, Else("false"), "Whether Interests ask for fresh Data."),
    ],
);

pub(super) static TCP: Keys = keys(
    "[[tcp]]",
    &[
        key("name", Text, May, "Name; sender>receiver:port by default."),
        key(
            "repeat",
            Count(1, MANY),
            Else("1"),
            "Connections made of this table; {i} in names counts them from 1.",
        ),
        key("sender", Text, Must, "Node that opens the connection and sends."),
        key("receiver", Text, Must, "Node that takes the data."),
        key(
            "port",
            Count(1, 65_535),
            Else("80"),
            "Port of the receiver; routers may learn what a port asks for.",
        ),
        key(
            "scheme",
            SchemeOf(&TCP_SENDER),
            May,
            "Congestion control of the sender; that of `scenario.scheme` by default.",
        ),
        key("size", Size(u64::MAX), May, "Bytes to send, in whole segments; without end by default."),
        key("rate", Rate, May, "Rate at which the application writes, instead of a size."),
        key("start", Time, Else("0s"), "The SYN leaves."),
        key("stagger", Time, Else("0s"), "Each repetition starts so much later than the one before."),
        key("stop", LongTime, May, "Nothing leaves the sender from then on."),
        key("mss", Size(65_000), Else("1448B"), "Most payload of a segment."),
        key("detection", Words(detections), Else("rack-tlp"), "How losses are found: RFC 8985 or RFC 6675."),
        key(
            "min_timeout",
            LongTime,
            Else("200ms"),
            "Smallest retransmission timeout, where RFC 6298 asks for 1 s; Linux adds it to the smoothed round trip.",
        ),
        key("rto", Words(timeout_rules), Else("linux"), "What makes the retransmission timeout."),
        key(
            "burst",
            Count(1, 1_000),
            Else("1"),
            "Segments that leave together, as with offloading; without pacing as soon as a third of the window is free.",
        ),
        key("ack_every", Count(1, 1_000), Else("2"), "Segments per ACK."),
        key("ack_delay", Time, Else("40ms"), "Longest wait of an ACK."),
        key("quick_acks", Count(0, MANY), Else("16"), "Segments at the start that are acknowledged at once."),
        key(
            "receiver_ecn",
            Bool,
            Else("true"),
            "Whether the receiver takes part in ECN, if the scheme asks for it.",
        ),
        key("receive_buffer", Size(1 << 30), Else("1GB"), "Memory of the receiver for what comes early."),
    ],
);

pub(super) static DETECTIONS: &[(Detection, &str)] =
    &[(Detection::RackTlp, "rack-tlp"), (Detection::Sack, "sack")];

pub(super) static TIMEOUT_RULES: &[(TimeoutRule, &str)] =
    &[(TimeoutRule::Linux, "linux"), (TimeoutRule::Rfc6298, "rfc6298")];

fn timeout_rules() -> Vec<&'static str> {
    TIMEOUT_RULES.iter().map(|(_, word)| *word).collect()
}

fn detections() -> Vec<&'static str> {
    DETECTIONS.iter().map(|(_, word)| *word).collect()
}

fn next_hop_rules() -> Vec<&'static str> {
    NextHopRule::ALL.iter().map(|(_, word)| *word).collect()
}

fn size_rules() -> Vec<&'static str> {
    vec!["ceil", "ndnsim"]
}

pub(super) static BURST: Keys = keys(
    "a burst",
    &[key("at", Time, Must, "Its start, from the run's start."), key("for", LongTime, Must, "Its length.")],
);

pub(super) static SHELL: Keys = keys(
    "shell",
    &[
        key("kind", Words(shell_words), May, "Whose habits the others change; the scheme's by default."),
        key("estimator", Words(estimator_words), May, "Round-trip time estimator."),
        key(
            "min_timeout",
            LongTime,
            May,
            "Smallest timeout once there is a sample; the estimator's by default.",
        ),
        key(
            "backoff_limit",
            Count(1, 65_536),
            May,
            "Largest factor by which ndnSIM's timeout backs off; 64 by default, 8 for the shell pcon.",
        ),
        key(
            "variations",
            Count(1, 1_000),
            May,
            "Variations that the timeout adds to the smoothed round-trip time; 8 by default for ndn-tools, 4 for ndnSIM and NDNts.",
        ),
        key("sweep", LongTime, May, "Pause between two looks for timed-out Interests."),
        key("reading", Words(reading_words), May, "When the timeout of an Interest is read."),
        key("tracking", Words(tracking_words), May, "How outstanding Interests are counted and losses told."),
        key("retransmit", Words(retransmit_words), May, "Order of retransmissions."),
        key(
            "retry_limit",
            AnyOf(&[Count(0, 4_294_967_295), Words(none_word)]),
            May,
            "Retransmissions of one segment.",
        ),
        key("lifetime", AnyOf(&[LongTime, Words(auto_word)]), May, "Of an Interest; auto: timeout + 1 s."),
        key("nack_is_loss", Bool, May, "Whether a congestion Nack is answered like a timeout."),
        key("whole_window", Bool, May, "Whether only whole packets of the window count."),
        key("one_over", Bool, May, "Whether one more Interest leaves when the window is exactly full."),
        key("notice", Words(notice_words), May, "What a loss notice does."),
        key("hop_limit", Count(1, 255), May, "Hop limit of every Interest."),
    ],
);

fn none_word() -> Vec<&'static str> {
    vec!["none"]
}

fn auto_word() -> Vec<&'static str> {
    vec!["auto"]
}

fn shell_words() -> Vec<&'static str> {
    ShellKind::ALL.iter().map(|(_, word)| *word).collect()
}

/// Words of enums that carry none themselves.
macro_rules! words {
    ($list:ident, $all:ident: $type:ty = $($value:expr, $word:literal;)*) => {
        pub(super) static $all: &[($type, &str)] = &[$(($value, $word)),*];

        fn $list() -> Vec<&'static str> {
            $all.iter().map(|(_, word)| *word).collect()
        }
    };
}

words! { estimator_words, ESTIMATORS: EstimatorKind =
    EstimatorKind::Ndnsim, "ndnsim";
    EstimatorKind::NdnTools, "ndn-tools";
    EstimatorKind::Ndnts, "ndnts";
    EstimatorKind::Range, "range";
}

words! { reading_words, READINGS: TimeoutReading =
    TimeoutReading::AtSend, "at-send";
    TimeoutReading::AtSweep, "at-sweep";
}

words! { tracking_words, TRACKINGS: Tracking =
    Tracking::Loose, "loose";
    Tracking::Exact, "exact";
}

words! { retransmit_words, RETRANSMIT_ORDERS: RetransmitOrder =
    RetransmitOrder::BySegment, "by-segment";
    RetransmitOrder::ByLoss, "by-loss";
}

words! { notice_words, NOTICES: NoticeReaction =
    NoticeReaction::Reduce, "reduce";
    NoticeReaction::Ignore, "ignore";
}

pub(super) static EVENT: Keys = keys(
    "[[event]]",
    &[
        key("at", Time, Must, "When."),
        key("link", Text, May, "Link that changes."),
        key("node", Text, May, "Node that changes, instead of a link."),
        key(
            "controller",
            Words(state_words),
            May,
            "The controller stops, or a new one starts, instead of a link.",
        ),
        key("rate", Rate, May, "New rate of both directions of the link."),
        key("state", Words(state_words), May, "Goes down or comes up."),
        key(
            "restart",
            Bool,
            May,
            "true: a node restarts at once and forgets what its queues, caches and parts of schemes know; links stay up.",
        ),
        key("keep_queue", Bool, May, "With a link's state down: its queues keep their packets."),
        key(
            "silent",
            Bool,
            May,
            "With state down: routing and the forwarders around do not hear of it, and go on sending into nothing.",
        ),
    ],
);

fn state_words() -> Vec<&'static str> {
    vec!["down", "up"]
}
