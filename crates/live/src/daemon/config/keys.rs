//! Every key of the file, declared once: for reading, for error messages and for the JSON Schema.

use tidegate_settings::key_rows;
use tidegate_settings::keys::KeyKind::{
    Bool, Count, Limit, List, LongTime, Name, Packets, Rate, Scheme, Size,
};
use tidegate_settings::keys::KeyKind::{Table, Text};
use tidegate_settings::keys::KeyNeed::{Else, May, Must};
use tidegate_settings::keys::{DISCIPLINE, Format, Key, Keys, ROUTER_PART, STRATEGY};

/// Maximum UDP payload, bytes: a whole NDN packet. Larger datagrams are not received either.
const MAX_MTU: u64 = 8_800;

/// Maximum size of the content store, bytes: 1 TiB.
const MAX_CACHE: u64 = 1 << 40;

/// Maximum memory that can be configured, bytes.
const MAX_MEMORY: u64 = 1 << 40;

/// The format of the forwarder's file.
pub(super) static FORMAT: Format = Format { root: &ROOT, version: 1, synonyms: SYNONYMS };

/// Names that other programs use for some keys.
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

pub(super) static ROOT: Keys = key_rows! { "the configuration" =>
    format: Count(1, 1), Must, "Version of this format: 1.";
    forwarder: Table(&FORWARDER), May, "Tables and forwarding strategy.";
    management: Table(&MANAGEMENT), May, "Commands from applications and operators.";
    listen: Table(&LISTEN), May,
        "Addresses and sockets on which faces of peers and applications are accepted.";
    face_defaults: Table(&FACE_DEFAULTS), May, "Defaults for all faces.";
    face: List(&Table(&FACE)), May, "Faces created at the start.";
    route: List(&Table(&ROUTE)), May, "Routes created at the start.";
    strategy: List(&Table(&PREFIX_STRATEGY)), May, "Settings for a name prefix.";
};

pub(super) static FORWARDER: Keys = key_rows! { "[forwarder]" =>
    threads: Count(1, 16), Else("1"),
        "Number of threads. Names are divided among them, and so are faces; each has its part of `cache`, `cache_size`, `pit` and `max_memory`.";
    cache: Packets, Else("65536pkt"), "Content store; 0pkt for none.";
    cache_size: Size(MAX_CACHE), Else("128MiB"), "Maximum size of all Data in the content store.";
    unsolicited: Bool, Else("false"), "Whether unsolicited Data is cached.";
    pit: Packets, Else("1000000pkt"), "Maximum number of pending Interests.";
    max_memory: Size(MAX_MEMORY), Else("1GiB"),
        "Maximum memory of names, PIT tokens, pending Interests, dead nonces, fragments and frames that may be sent again, together; beyond it Interests end before their time.";
    lifetime: LongTime, Else("5min"),
        "Maximum time that an Interest stays pending, whatever its lifetime.";
    strategy: Scheme(&STRATEGY), Else("best-route"), "Forwarding strategy.";
    regions: List(&Text), May,
        "Producer regions of this forwarder (network_region of NFD): a forwarding hint with one of these names, or a prefix of it, ends here; none by default.";
    metrics: Text, May,
        "Loopback address at which counters are served over HTTP under /metrics, in the formats of Prometheus and OpenMetrics, such as 127.0.0.1:9695; none by default.";
    max_faces: Count(1, 60_000), Else("1024"), "Maximum number of faces, including on-demand faces.";
    faces_per_address: Count(1, 60_000), Else("256"),
        "Maximum number of faces of peers at one IPv4 address or in one IPv6 network of 64 bits, except for local faces.";
};

pub(super) static MANAGEMENT: Keys = key_rows! { "[management]" =>
    groups: List(&Text), May,
        "Groups, by name or number, whose members may send commands over Unix sockets, besides root and the user of the forwarder; none by default.";
    group_commands: List(&Text), May,
        "Modules whose commands members of `groups` may send: faces, fib, rib, cs, strategy-choice; [\"rib\"] by default, so that they register prefixes. They cannot change faces and routes of other users.";
    key: List(&Table(&COMMAND_KEY)), May,
        "Keys whose signed commands are accepted from all applications on this machine, and those for routes to themselves from neighbours.";
    certificates: Text, May,
        "Folder with certificates in base64 (files *.cert) of keys that are accepted because of others: those that lead to a key with `certified`, or to an anchor of `trust_schema`; relative to the folder of this file.";
    trust_schema: Text, May,
        "File of a trust schema: a key that may sign a prefix by its rules may register routes to it, as a [[management.key]] with the module rib. Certificates are those of its anchors and in `certificates`. Relative to the folder of this file.";
    localhop: Bool, Else("false"),
        "Whether neighbours may register routes to themselves under /localhop/nfd/rib. They are not authenticated: any of them can attract any prefix.";
};

pub(super) static COMMAND_KEY: Keys = key_rows! { "[[management.key]]" =>
    certificate: Text, Must, "File with the NDN certificate of the key in base64, as `tidegate key export` and `ndnsec cert-dump` write it; relative to the folder of this file.";
    commands: List(&Text), May, "Modules whose commands it may send: faces, fib, rib, cs, strategy-choice; all by default, none with [].";
    certified: Bool, Else("false"), "Whether keys of identities under that of this key may send them, too, which it has certified directly or through at most four certificates; all of them are in the folder `certificates` of [management].";
};

pub(super) static LISTEN: Keys = key_rows! { "[listen]" =>
    udp: List(&Text), May, "UDP addresses; 0.0.0.0:6363 and [::]:6363 by default, [] for none.";
    tcp: List(&Text), May, "TCP addresses; 0.0.0.0:6363 and [::]:6363 by default, [] for none.";
    websocket: List(&Text), May,
        "WebSocket addresses, on which browsers connect, such as 0.0.0.0:9696 (NFD's port); none by default. Names under /localhost are for programs and pages of this machine only.";
    local_tcp: Bool, Else("true"),
        "Whether TCP and WebSocket connections from this machine may use /localhost, such as to register prefixes; UDP never may.";
    unix: List(&Text), May, "Unix sockets; /run/nfd/nfd.sock by default, [] for none.";
    unix_mode: Text, Else("0666"), "Permissions of Unix sockets in octal; by default every user of the machine may connect, as with NFD.";
};

static FACE_KEYS: [Key; 6] = key_rows! {
    mtu: Size(MAX_MTU), May, "Maximum payload of UDP datagrams and Ethernet frames; larger packets are fragmented. By default 1400B, and up to 8800B over UDP where `path_mtu` finds that the path carries them.";
    path_mtu: Bool, May, "Whether probes find out how large UDP datagrams to a peer may be, for which the peer has to confirm them; true by default. Without effect on a face with `mtu`.";
    queue: Table(&QUEUE), May, "Queue in front of the socket.";
    rate: Rate, May, "Rate of the traffic shaper; unlimited by default.";
    reliability: Bool, May,
        "Whether frames over UDP are acknowledged and sent again up to three times (NDNLPv2 reliability); both ends need it; false by default.";
    router_parts was parts: List(&Scheme(&ROUTER_PART)), May, "Router parts of schemes; none by default.";
};

pub(super) static FACE_DEFAULTS: Keys = Keys {
    what: "[face_defaults]",
    own: &key_rows! {
        idle: LongTime, Else("10min"), "Time without traffic after which an on-demand UDP face is closed.";
    },
    shared: &[&FACE_KEYS],
};

pub(super) static QUEUE: Keys = key_rows! { "queue" =>
    limit: Limit, May,
        "Maximum length of the queue; 1000pkt by default. For a stream without limit and rate: 64MiB, and the forwarder stops reading from peers whose Interests exceed its capacity until it has caught up.";
    disciplines: List(&Scheme(&DISCIPLINE)), May,
        "Queue disciplines, applied in this order; nfd-marking by default.";
};

pub(super) static FACE: Keys = Keys {
    what: "[[face]]",
    own: &key_rows! {
        name: Name, May, "Name used in routes; the URI by default.";
        uri: Text, Must, "Remote endpoint: udp4, udp6, tcp4, tcp6, unix or ether; multicast groups are udp4://224.0.23.170:56363, udp6://[ff02::1234]:56363 and ether://[01:00:5e:00:17:aa] in NFD.";
        interface: Text, May, "Network interface of a multicast or Ethernet face, which needs one, such as eth0.";
    },
    shared: &[&FACE_KEYS],
};

pub(super) static ROUTE: Keys = key_rows! { "[[route]]" =>
    prefix: Text, Must, "Name prefix of the route.";
    face: Text, Must, "Next hop: the name of a face, or a URI.";
    cost: Count(0, 4_294_967_295), Else("0"), "Cost; the next hop of lowest cost is preferred.";
};

pub(super) static PREFIX_STRATEGY: Keys = key_rows! { "[[strategy]]" =>
    prefix: Text, Must, "Name prefix.";
    strategy: Scheme(&STRATEGY), Must, "Forwarding strategy of the prefix.";
};
