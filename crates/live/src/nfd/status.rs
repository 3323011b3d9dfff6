//! Entries of status datasets. ndn-cxx accepts their fields in this order only.

use tidegate_wire::tlv::{self, types as wire};

use super::types::*;

/// Packets of one direction, by their kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketCounts {
    /// Number of Interest packets.
    pub interests: u64,
    /// Number of Data packets.
    pub data: u64,
    /// Number of Nack packets.
    pub nacks: u64,
}

impl PacketCounts {
    /// The sums of both counts.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            interests: self.interests + other.interests,
            data: self.data + other.data,
            nacks: self.nacks + other.nacks,
        }
    }
}

/// Status of a forwarder (`status/general`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForwarderStatus {
    /// Version of the program.
    pub version: String,
    /// Time of the start, Unix milliseconds.
    pub start_ms: u64,
    /// Time of the status, Unix milliseconds.
    pub current_ms: u64,
    /// Number of names in use.
    pub names: u64,
    /// Number of prefixes with next hops.
    pub fib: u64,
    /// Number of pending Interests.
    pub pit: u64,
    /// Number of cached Data.
    pub cs: u64,
    /// Packets received from all faces.
    pub received: PacketCounts,
    /// Packets sent to all faces.
    pub sent: PacketCounts,
    /// Number of pending Interests that Data satisfied.
    pub satisfied: u64,
    /// Number of pending Interests that ended without Data.
    pub unsatisfied: u64,
}

impl ForwarderStatus {
    /// The content of the dataset, which has no enclosing element.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::write_element(&mut out, VERSION, self.version.as_bytes());
        let integers = [
            (START_TIME, self.start_ms),
            (CURRENT_TIME, self.current_ms),
            (NAME_TREE_ENTRIES, self.names),
            (FIB_ENTRIES, self.fib),
            (PIT_ENTRIES, self.pit),
            // There is no measurements table here.
            (MEASUREMENTS_ENTRIES, 0),
            (CS_ENTRIES, self.cs),
        ];
        write_all(&mut out, &integers);
        write_packets(&mut out, &self.received, &self.sent);
        write_all(
            &mut out,
            &[(SATISFIED_INTERESTS, self.satisfied), (UNSATISFIED_INTERESTS, self.unsatisfied)],
        );
        out
    }
}

/// One face (`faces/list`, `faces/query`, notifications).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaceRecord {
    /// Number of the face.
    pub face_id: u64,
    /// Remote end of the face.
    pub uri: String,
    /// Local end of the face.
    pub local_uri: String,
    /// Time until the face is closed if it stays silent, milliseconds; `None` if it is not closed.
    pub expiration_ms: Option<u64>,
    /// Scope of the face: 0 non-local, 1 local.
    pub scope: u64,
    /// Persistency of the face: 0 persistent, 1 on demand, 2 permanent.
    pub persistency: u64,
    /// Kind of link: 0 point to point, 1 multi-access, 2 ad hoc.
    pub link_type: u64,
    /// Minimum interval between two congestion marks, nanoseconds; `None` if nothing is marked.
    pub marking_interval_ns: Option<u64>,
    /// Backlog from which on congestion is marked, bytes; `None` if nothing is marked.
    pub marking_threshold_bytes: Option<u64>,
    /// Maximum size of a packet or, with fragmentation, of a frame, bytes.
    pub mtu: Option<u64>,
    /// Packets received from the face.
    pub received: PacketCounts,
    /// Packets sent to the face.
    pub sent: PacketCounts,
    /// Bytes received from the face.
    pub received_bytes: u64,
    /// Bytes sent to the face.
    pub sent_bytes: u64,
    /// Flags: 1 local fields, 2 reliability, 4 congestion marking.
    pub flags: u64,
}

impl FaceRecord {
    /// Appends the entry of a list of faces.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        self.write_ends(&mut fields);
        write_given(&mut fields, EXPIRATION_PERIOD, self.expiration_ms);
        self.write_properties(&mut fields);
        write_given(&mut fields, MARKING_INTERVAL, self.marking_interval_ns);
        write_given(&mut fields, MARKING_THRESHOLD, self.marking_threshold_bytes);
        write_given(&mut fields, MTU, self.mtu);
        write_packets(&mut fields, &self.received, &self.sent);
        write_all(
            &mut fields,
            &[(IN_BYTES, self.received_bytes), (OUT_BYTES, self.sent_bytes), (FLAGS, self.flags)],
        );
        tlv::write_element(out, DATASET_ENTRY, &fields);
    }

    pub(super) fn write_ends(&self, out: &mut Vec<u8>) {
        tlv::write_integer(out, FACE_ID, self.face_id);
        tlv::write_element(out, URI, self.uri.as_bytes());
        tlv::write_element(out, LOCAL_URI, self.local_uri.as_bytes());
    }

    pub(super) fn write_properties(&self, out: &mut Vec<u8>) {
        let properties =
            [(FACE_SCOPE, self.scope), (PERSISTENCY, self.persistency), (LINK_TYPE, self.link_type)];
        write_all(out, &properties);
    }
}

/// One prefix of the FIB (`fib/list`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FibRecord {
    /// Prefix as concatenated components.
    pub prefix: Vec<u8>,
    /// Next hops as FaceId and cost.
    pub next_hops: Vec<(u64, u64)>,
}

impl FibRecord {
    /// Appends the entry of the FIB.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        tlv::write_element(&mut fields, wire::NAME, &self.prefix);
        for (face_id, cost) in &self.next_hops {
            let mut hop = Vec::new();
            write_all(&mut hop, &[(FACE_ID, *face_id), (COST, *cost)]);
            tlv::write_element(&mut fields, ROUTE, &hop);
        }
        tlv::write_element(out, DATASET_ENTRY, &fields);
    }
}

/// One route of a prefix in the RIB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteRecord {
    /// Number of the next hop's face.
    pub face_id: u64,
    /// Component that made the route.
    pub origin: u64,
    /// Cost of the route.
    pub cost: u64,
    /// Flags: 1 child inherit, 2 capture.
    pub flags: u64,
    /// Time until the route ends, milliseconds; `None` if it does not end by itself.
    pub expiration_ms: Option<u64>,
}

/// One prefix of the RIB (`rib/list`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RibRecord {
    /// Prefix as concatenated components.
    pub prefix: Vec<u8>,
    /// Routes of exactly this prefix.
    pub routes: Vec<RouteRecord>,
}

impl RibRecord {
    /// Appends the entry of the RIB.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut fields = Vec::new();
        tlv::write_element(&mut fields, wire::NAME, &self.prefix);
        for route in &self.routes {
            let mut inner = Vec::new();
            let RouteRecord { face_id, origin, cost, flags, expiration_ms } = *route;
            write_all(&mut inner, &[(FACE_ID, face_id), (ORIGIN, origin), (COST, cost), (FLAGS, flags)]);
            write_given(&mut inner, EXPIRATION_PERIOD, expiration_ms);
            tlv::write_element(&mut fields, ROUTE, &inner);
        }
        tlv::write_element(out, DATASET_ENTRY, &fields);
    }
}

/// State of the content store (`cs/info`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CsInfo {
    /// Maximum number of packets.
    pub capacity: u64,
    /// Flags: 1 admits Data, 2 answers Interests.
    pub flags: u64,
    /// Number of stored packets.
    pub entries: u64,
    /// Number of Interests that were answered.
    pub hits: u64,
    /// Number of Interests that were looked up without a match.
    pub misses: u64,
}

impl CsInfo {
    /// The content of the dataset.
    pub fn encode(&self) -> Vec<u8> {
        let (mut fields, mut out) = (Vec::new(), Vec::new());
        let integers = [
            (CAPACITY, self.capacity),
            (FLAGS, self.flags),
            (CS_ENTRIES, self.entries),
            (CS_HITS, self.hits),
            (CS_MISSES, self.misses),
        ];
        write_all(&mut fields, &integers);
        tlv::write_element(&mut out, DATASET_ENTRY, &fields);
        out
    }
}

/// Appends one listener to the content of `faces/channels`.
pub fn encode_channel(out: &mut Vec<u8>, local_uri: &str) {
    let mut fields = Vec::new();
    tlv::write_element(&mut fields, LOCAL_URI, local_uri.as_bytes());
    tlv::write_element(out, CHANNEL, &fields);
}

/// Appends one prefix with its strategy to the content of `strategy-choice/list`; both names are
/// concatenated components.
pub fn encode_strategy_choice(out: &mut Vec<u8>, prefix: &[u8], strategy: &[u8]) {
    let (mut fields, mut inner) = (Vec::new(), Vec::new());
    tlv::write_element(&mut fields, wire::NAME, prefix);
    tlv::write_element(&mut inner, wire::NAME, strategy);
    tlv::write_element(&mut fields, STRATEGY, &inner);
    tlv::write_element(out, DATASET_ENTRY, &fields);
}

fn write_all(out: &mut Vec<u8>, integers: &[(u32, u64)]) {
    integers.iter().for_each(|(kind, number)| tlv::write_integer(out, *kind, *number));
}

fn write_given(out: &mut Vec<u8>, kind: u32, number: Option<u64>) {
    number.into_iter().for_each(|number| tlv::write_integer(out, kind, number));
}

fn write_packets(out: &mut Vec<u8>, received: &PacketCounts, sent: &PacketCounts) {
    let integers = [
        (IN_INTERESTS, received.interests),
        (IN_DATA, received.data),
        (IN_NACKS, received.nacks),
        (OUT_INTERESTS, sent.interests),
        (OUT_DATA, sent.data),
        (OUT_NACKS, sent.nacks),
    ];
    write_all(out, &integers);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVED: PacketCounts = PacketCounts { interests: 10, data: 11, nacks: 12 };
    const SENT: PacketCounts = PacketCounts { interests: 13, data: 14, nacks: 15 };

    #[test]
    fn a_status_has_the_order_of_ndn_cxx_and_no_enclosing_element() {
        let status = ForwarderStatus {
            version: "1.0".to_owned(),
            start_ms: 1,
            current_ms: 256,
            names: 2,
            fib: 3,
            pit: 4,
            cs: 5,
            received: RECEIVED,
            sent: SENT,
            satisfied: 6,
            unsatisfied: 7,
        };
        let expected = [
            &[128, 3, b'1', b'.', b'0', 129, 1, 1, 130, 2, 1, 0, 131, 1, 2, 132, 1, 3, 133, 1, 4][..],
            &[134, 1, 0, 135, 1, 5, 144, 1, 10, 145, 1, 11, 151, 1, 12, 146, 1, 13, 147, 1, 14],
            &[152, 1, 15, 153, 1, 6, 154, 1, 7],
        ];
        assert_eq!(status.encode(), expected.concat());
    }

    #[test]
    fn a_face_has_the_order_of_ndn_cxx() {
        let face = FaceRecord {
            face_id: 300,
            uri: "a".to_owned(),
            local_uri: "b".to_owned(),
            expiration_ms: Some(9),
            scope: 1,
            persistency: 2,
            link_type: 0,
            marking_interval_ns: Some(3),
            marking_threshold_bytes: Some(4),
            mtu: Some(5),
            received: RECEIVED,
            sent: SENT,
            received_bytes: 6,
            sent_bytes: 7,
            flags: 4,
        };
        let begin = [105, 2, 1, 44, 114, 1, b'a', 129, 1, b'b'];
        let counts = [144, 1, 10, 145, 1, 11, 151, 1, 12, 146, 1, 13, 147, 1, 14, 152, 1, 15];
        let end = [148, 1, 6, 149, 1, 7, 108, 1, 4];
        let properties = [132, 1, 1, 133, 1, 2, 134, 1, 0];
        let given = [135, 1, 3, 136, 1, 4, 137, 1, 5];
        let fields = [&begin[..], &[109, 1, 9], &properties, &given, &counts, &end].concat();
        let mut out = Vec::new();
        face.encode(&mut out);
        assert_eq!(out, [&[128, fields.len() as u8][..], &fields].concat());

        out.clear();
        let (marking_interval_ns, marking_threshold_bytes) = (None, None);
        FaceRecord { expiration_ms: None, marking_interval_ns, marking_threshold_bytes, mtu: None, ..face }
            .encode(&mut out);
        let fields = [&begin[..], &properties, &counts, &end].concat();
        assert_eq!(out, [&[128, fields.len() as u8][..], &fields].concat());
    }

    #[test]
    fn an_entry_of_the_fib_has_its_next_hops_behind_the_name() {
        let mut out = Vec::new();
        FibRecord { prefix: vec![8, 1, b'a'], next_hops: vec![(1, 2), (256, 0)] }.encode(&mut out);
        let hops = [129, 6, 105, 1, 1, 106, 1, 2, 129, 7, 105, 2, 1, 0, 106, 1, 0];
        assert_eq!(out, [&[128, 22, 7, 3, 8, 1, b'a'][..], &hops].concat());
    }

    #[test]
    fn a_route_has_face_origin_cost_flags_and_its_time_if_there_is_one() {
        let mut out = Vec::new();
        let route = RouteRecord { face_id: 7, origin: 255, cost: 3, flags: 1, expiration_ms: Some(8) };
        let routes = vec![route, RouteRecord { expiration_ms: None, ..route }];
        RibRecord { prefix: vec![], routes }.encode(&mut out);
        let fields = [105, 1, 7, 111, 1, 255, 106, 1, 3, 108, 1, 1];
        let expected = [&[128, 33, 7, 0, 129, 15][..], &fields, &[109, 1, 8], &[129, 12], &fields];
        assert_eq!(out, expected.concat());
    }

    #[test]
    fn the_content_store_has_capacity_flags_entries_hits_and_misses() {
        let info = CsInfo { capacity: 1, flags: 3, entries: 2, hits: 4, misses: 5 };
        let fields = [131, 1, 1, 108, 1, 3, 135, 1, 2, 129, 1, 4, 130, 1, 5];
        assert_eq!(info.encode(), [&[128, 15][..], &fields].concat());
    }

    #[test]
    fn channels_and_strategies_have_the_bytes_of_ndn_cxx() {
        let mut out = Vec::new();
        encode_channel(&mut out, "fd://1");
        assert_eq!(out, [&[130, 8, 129, 6][..], b"fd://1"].concat());
        out.clear();
        encode_strategy_choice(&mut out, &[], &[8, 1, b's', 54, 1, 5]);
        assert_eq!(out, [128, 12, 7, 0, 107, 8, 7, 6, 8, 1, b's', 54, 1, 5]);
    }
}
