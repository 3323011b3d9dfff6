//! Keys of content stores, servers, clocks and workloads.

use tidegate_core::ndn::cs::Policy;
use tidegate_settings::key_rows;
use tidegate_settings::keys::KeyKind::{
    AnyOf, Bool, Count, Frequency, LongTime, Number, Packets, Time, Words,
};
use tidegate_settings::keys::KeyNeed::{Else, May, Must};
use tidegate_settings::keys::{Key, Keys};

/// Objects of a catalogue; each takes 8 bytes.
const MAX_OBJECTS: i64 = 10_000_000;

static CACHE_KEYS: [Key; 3] = key_rows! {
    policy: Words(|| super::words_of(&Policy::ALL)), May, "Replacement policy: lru, fifo, lfu or random; lru by default.";
    admission: Words(|| vec!["everywhere", "leave-copy-down", "probabilistic"]), May,
        "Admission policy: `everywhere`, all Data (leave copy everywhere); `leave-copy-down`, Data that passed no other store since its producer or cache hit; `probabilistic`, a random fraction. Default: everywhere.";
    probability: Number(0.0, 1.0), May, "probabilistic: probability that a Data packet is stored.";
};

pub(in super::super) static NODE_CACHE: Keys = Keys {
    what: "a node's cache",
    own: &key_rows! {
        size: Packets, May, "Capacity in Data packets; by default that of [router].";
    },
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static ROUTER_CACHE: Keys = Keys {
    what: "the routers' cache",
    own: &key_rows! {
        size: Packets, Must, "Capacity of each router's store in Data packets; 0pkt for none.";
        placement: Words(|| vec!["all", "edge"]), Else("all"),
            "Routers with a content store: `all`; or `edge`, those linked to consumers.";
    },
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static PREFIX_CACHE: Keys = Keys {
    what: "a prefix's cache",
    own: &key_rows! {
        size: Packets, May, "Capacity in Data packets, in addition to the router's store; 0pkt for none.";
        share: Number(0.0, 1.0), May, "Fraction of the router's store that is reserved, instead of a size.";
    },
    shared: &[&CACHE_KEYS],
};

pub(in super::super) static SERVICE: Keys = key_rows! { "a server" =>
    time: LongTime, Must, "Service time, or its mean.";
    distribution: Words(|| vec!["constant", "exponential"]), Else("constant"), "Distribution of the service time.";
    queue: Packets, May, "Maximum number of waiting packets while one is served; unlimited by default.";
};

/// The phase that is drawn.
pub(in super::super) const RANDOM_PHASE: &str = "random";

pub(in super::super) static CLOCK: Keys = key_rows! { "a clock" =>
    period: LongTime, Must, "Interval between two ticks.";
    phase: AnyOf(&[Words(|| vec![RANDOM_PHASE]), Time]), Else("random"),
        "Time of any tick, from the start of the run, modulo the period; `random` draws it for each node and seed.";
    flush_on_arrival: Bool, Else("false"),
        "Whether an arriving Data packet, Nack or loss notice fires all due timers of the forwarder, gates and queues, and of the receiving consumer.";
};

pub(in super::super) static DEMAND: Keys = key_rows! { "demand" =>
    model: Words(|| vec!["zipf"]), Must, "Popularity model: zipf.";
    objects: Count(1, MAX_OBJECTS), Must, "Number of objects in the catalogue, ordered by popularity.";
    exponent: Number(0.0, 10.0), Must,
        "Exponent s: object k is requested with a probability proportional to 1/(k + shift)^s.";
    shift: Number(0.0, 1e9), Else("0"),
        "Shift q of the Zipf-Mandelbrot distribution, which flattens the head of the popularity.";
    segments: Count(1, 1_000_000), Else("1"), "Number of segments of every object.";
    rate: Frequency, May, "Rate of requests; as fast as the scheme allows by default.";
    arrivals: Words(|| vec!["poisson", "constant"]), May,
        "With a rate: Poisson arrivals (the default), or constant intervals between requests.";
    requests: Count(1, 4_294_967_294), May,
        "Number of requests after which the flow is complete; unlimited by default.";
};
