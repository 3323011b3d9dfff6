//! Every key of the file, declared once: for reading, for error messages and for the JSON Schema.

use tidegate_settings::keys::Kind::{Bool, Count, Limit, List, LongTime, Name, Packets, Rate, Scheme, Size};
use tidegate_settings::keys::Kind::{Table, Text};
use tidegate_settings::keys::Need::{Else, May, Must};
use tidegate_settings::keys::{DISCIPLINE, Format, Key, Keys, ROUTER_PART, STRATEGY, key, keys};

/// Largest UDP payload, bytes: a whole NDN packet. Larger datagrams are not received either.
const LARGEST_MTU: u64 = 8_800;

/// The format of the forwarder's file.
pub(super) static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: SYNONYMS };

/// What other programs call some keys.
static SYNONYMS: &[(&str, &str)] = &[
    ("bandwidth", "rate"),
    ("cs", "cache"),
    ("fib", "route"),
    ("metric", "cost"),
    ("nexthop", "face"),
    ("remote", "uri"),
    ("timeout", "idle"),
    ("unix_stream", "unix"),
];

pub(super) static ROOT: Keys = keys(
    "the configuration",
    &[
        key("format", Count(1, 1), Must, "Version of this format: 1."),
        key("forwarder", Table(&FORWARDER), May, "Tables and the strategy."),
        key("listen", Table(&LISTEN), May, "Where peers and applications are heard."),
        key("face_defaults", Table(&FACE_DEFAULTS), May, "What every face gets unless it says otherwise."),
        key("face", List(&Table(&FACE)), May, "Faces made at the start."),
        key("route", List(&Table(&ROUTE)), May, "Routes made at the start."),
        key("strategy", List(&Table(&PREFIX_STRATEGY)), May, "What differs for a prefix."),
    ],
);

pub(super) static FORWARDER: Keys = keys(
    "[forwarder]",
    &[
        key("cache", Packets, Else("65536pkt"), "Content store; 0pkt for none."),
        key("unsolicited", Bool, Else("false"), "Whether Data that nobody asked for is cached."),
        key("pit", Packets, Else("1000000pkt"), "Interests that may be pending at once."),
        key(
            "lifetime",
            LongTime,
            Else("5min"),
            "Longest time that an Interest stays pending here, whatever its own lifetime.",
        ),
        key("strategy", Scheme(&STRATEGY), Else("best-route"), "Forwarding strategy."),
        key("max_faces", Count(1, 60_000), Else("1024"), "Faces at once, on-demand ones among them."),
    ],
);

pub(super) static LISTEN: Keys = keys(
    "[listen]",
    &[
        key("udp", List(&Text), May, "UDP addresses; 0.0.0.0:6363 and [::]:6363 by default, [] for none."),
        key("tcp", List(&Text), May, "TCP addresses; 0.0.0.0:6363 and [::]:6363 by default, [] for none."),
        key("unix", List(&Text), May, "Unix sockets; /run/nfd/nfd.sock by default, [] for none."),
    ],
);

static FACE_KEYS: [Key; 4] = [
    key(
        "mtu",
        Size(LARGEST_MTU),
        May,
        "Largest UDP payload; larger packets go in fragments; 1400B by default.",
    ),
    key("queue", Table(&QUEUE), May, "The queue in front of the socket."),
    key("rate", Rate, May, "Rate of the shaper; none by default."),
    key("parts", List(&Scheme(&ROUTER_PART)), May, "Router parts of schemes; none by default."),
];

pub(super) static FACE_DEFAULTS: Keys = Keys {
    what: "[face_defaults]",
    own: &[key(
        "idle",
        LongTime,
        Else("10min"),
        "An on-demand UDP face without traffic goes after this time.",
    )],
    shared: &[&FACE_KEYS],
};

pub(super) static QUEUE: Keys = keys(
    "queue",
    &[
        key(
            "limit",
            Limit,
            May,
            "What the queue holds; 1000pkt by default. Of a stream without limit and rate: 16MiB, and peers that ask \
             for more than it carries are not read from until it has caught up.",
        ),
        key("disciplines", List(&Scheme(&DISCIPLINE)), May, "Asked in this order; nfd-marking by default."),
    ],
);

pub(super) static FACE: Keys = Keys {
    what: "[[face]]",
    own: &[
        key("name", Name, May, "Name for routes; the URI by default."),
        key("uri", Text, Must, "Where it leads: udp4, udp6, tcp4, tcp6 or unix."),
    ],
    shared: &[&FACE_KEYS],
};

pub(super) static ROUTE: Keys = keys(
    "[[route]]",
    &[
        key("prefix", Text, Must, "Names that it leads to begin with this."),
        key("face", Text, Must, "Next hop: the name of a face, or a URI."),
        key("cost", Count(0, 4_294_967_295), Else("0"), "The cheapest is taken first."),
    ],
);

pub(super) static PREFIX_STRATEGY: Keys = keys(
    "[[strategy]]",
    &[key("prefix", Text, Must, "The prefix."), key("strategy", Scheme(&STRATEGY), Must, "Its strategy.")],
);
