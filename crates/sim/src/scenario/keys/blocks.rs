//! Keys of content stores, servers, clocks and workloads.

use tidegate_core::cs::Policy;
use tidegate_settings::keys::Kind::{AnyOf, Bool, Count, Frequency, LongTime, Number, Packets, Time, Words};
use tidegate_settings::keys::Need::{Else, May, Must};
use tidegate_settings::keys::{Key, Keys, key, keys};

/// Objects of a catalogue; each takes 8 bytes.
const MAX_OBJECTS: i64 = 10_000_000;

static CACHE_KEYS: [Key; 3] = [
    key(
        "policy",
        Words(policy_words),
        May,
        "What leaves a full store: lru, fifo, lfu or random; lru by default.",
    ),
    key(
        "admission",
        Words(admission_words),
        May,
        "What is kept: everything (leave copy everywhere), what passed no other store since its producer or hit \
         (leave copy down), or a part; everywhere by default.",
    ),
    key("probability", Number(0.0, 1.0), May, "probabilistic: of keeping what passes."),
];

pub(in super::super) static NODE_CACHE: Keys = Keys {
    what: "a node's cache",
    own: &[key("size", Packets, May, "Most Data kept; as in [router] by default.")],
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static ROUTER_CACHE: Keys = Keys {
    what: "the routers' cache",
    own: &[
        key("size", Packets, Must, "Most Data kept by each router; 0pkt for none."),
        key(
            "placement",
            Words(placement_words),
            Else("all"),
            "Routers that have one: all, or those at the edge, which consumers are linked to.",
        ),
    ],
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static PREFIX_CACHE: Keys = Keys {
    what: "a prefix's cache",
    own: &[
        key("size", Packets, May, "Most Data kept, beside the router's store; 0pkt for none."),
        key("share", Number(0.0, 1.0), May, "Part of the router's store set aside, instead of a size."),
    ],
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static SERVICE: Keys = keys(
    "a server",
    &[
        key("time", LongTime, Must, "What each takes, or takes on average."),
        key(
            "distribution",
            Words(distribution_words),
            Else("constant"),
            "Whether all take the same, or times are exponentially distributed.",
        ),
        key("queue", Packets, May, "Most that wait while one is handled; without limit by default."),
    ],
);

/// The phase that is drawn.
pub(in super::super) const RANDOM_PHASE: &str = "random";

pub(in super::super) static CLOCK: Keys = keys(
    "a clock",
    &[
        key("period", LongTime, Must, "Time between two ticks."),
        key(
            "phase",
            AnyOf(&[Words(phase_words), Time]),
            Else("random"),
            "Any tick, from the start of the run (a period more or less is the same); random draws it for each node and seed.",
        ),
        key(
            "flush_on_arrival",
            Bool,
            Else("false"),
            "Whether an arriving Data, Nack or loss notice stands in for a tick: for forwarder, gates and queues, and for the consumer that it is for.",
        ),
    ],
);

fn phase_words() -> Vec<&'static str> {
    vec![RANDOM_PHASE]
}

pub(in super::super) static DEMAND: Keys = keys(
    "demand",
    &[
        key("model", Words(demand_words), Must, "zipf: objects of a catalogue, the popular ones more often."),
        key("objects", Count(1, MAX_OBJECTS), Must, "Objects of the catalogue, the most popular one first."),
        key(
            "exponent",
            Number(0.0, 10.0),
            Must,
            "s: object k is asked for in proportion to 1/(k + shift)^s.",
        ),
        key(
            "shift",
            Number(0.0, 1e9),
            Else("0"),
            "q of Zipf and Mandelbrot: flattens the most popular ones.",
        ),
        key("segments", Count(1, 1_000_000), Else("1"), "Segments of every object."),
        key("rate", Frequency, May, "Requests; as fast as the scheme allows by default."),
        key(
            "arrivals",
            Words(arrival_words),
            May,
            "With a rate: poisson (the default), or constant pauses between requests.",
        ),
        key(
            "requests",
            Count(1, 4_294_967_294),
            May,
            "Requests after which the flow is complete; none by default.",
        ),
    ],
);

fn policy_words() -> Vec<&'static str> {
    Policy::ALL.iter().map(|(_, word)| *word).collect()
}

fn admission_words() -> Vec<&'static str> {
    vec!["everywhere", "leave-copy-down", "probabilistic"]
}

fn placement_words() -> Vec<&'static str> {
    vec!["all", "edge"]
}

fn distribution_words() -> Vec<&'static str> {
    vec!["constant", "exponential"]
}

fn demand_words() -> Vec<&'static str> {
    vec!["zipf"]
}

fn arrival_words() -> Vec<&'static str> {
    vec!["poisson", "constant"]
}
