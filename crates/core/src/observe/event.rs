//! Events that a run can record, packet by packet. Opt-in: an event that is not recorded costs one branch.

use crate::ndn::name::Name;
use crate::ndn::packet::Header;
use crate::units::{ByteCount, Span};

/// The rule of a scheme or queue that made something happen, as one word ("timeout", "queue full").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause(pub &'static str);

/// Declares [`Event`]; each row is a kind with its fields, its word in tables and its bit in masks.
macro_rules! events {
    ($($(#[$doc:meta])* $kind:ident {
        $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)?
    } = $word:literal, $bit:expr;)*) => {
        /// An event at a node.
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(missing_docs, reason = "the fields say what they are")]
        #[non_exhaustive]
        pub enum Event {
            $($(#[$doc])* $kind { $($(#[$field_doc])* $field: $type),* },)*
        }

        impl Event {
            /// Word and mask bit of every kind of event.
            pub const KINDS: &[(&str, EventMask)] = &[$(($word, $bit)),*];

            /// The bit of this kind of event in masks.
            pub const fn bit(&self) -> EventMask {
                match self { $(Self::$kind { .. } => $bit),* }
            }

            /// The kind as one word, as in tables.
            pub const fn kind(&self) -> &'static str {
                match self { $(Self::$kind { .. } => $word),* }
            }
        }
    };
}

events! {
    /// A consumer sent an Interest.
    InterestSent { flow: u32, name: Name, retransmission: bool } = "interest-sent", EventMask(1);
    /// A consumer received a segment for the first time.
    DataReceived {
        flow: u32,
        name: Name,
        full_delay: Span,
        last_delay: Span,
        mark: u8,
        /// Number of retransmissions of the segment.
        retransmissions: u16,
        /// Links that the Data crossed.
        hops: u8,
    } = "data-received", EventMask(2);
    /// The sender of a TCP connection sent a segment with payload.
    SegmentSent { flow: u32, name: Name, retransmission: bool } = "segment-sent", EventMask(1);
    /// Its receiver got bytes for the first time.
    SegmentReceived { flow: u32, name: Name } = "segment-received", EventMask(2);
    /// A consumer detected a loss: timeout, Nack, loss notice.
    LossDetected { flow: u32, name: Name, cause: Cause } = "loss-detected", EventMask(4);
    /// A congestion window changed, packets.
    WindowChanged { flow: u32, window: f64, cause: Cause } = "window-changed", EventMask(8);
    /// A queue or gate dropped a packet.
    Dropped { face: u16, name: Name, size: ByteCount, cause: Cause } = "dropped", EventMask(16);
    /// A queue marked a packet that had waited for `sojourn`, or had a strategy mark another for it.
    Marked { face: u16, name: Name, sojourn: Span, cause: Cause } = "marked", EventMask(32);
    /// A queue or gate put a packet into its side store.
    Stored { face: u16, name: Name } = "stored", EventMask(64);
    /// A queue moved a packet from its side store back, or a gate released it.
    Released { face: u16, name: Name } = "released", EventMask(64);
    /// A queue made a loss notice.
    NoticeMade { face: u16, name: Name } = "notice-made", EventMask(64);
    /// A packet left through a face: onto the link of a device, or to an application.
    Sent { face: u16, header: Header } = "sent", EventMask::PACKETS;
    /// A packet came through a face: off the link of a device, or from an application.
    Received { face: u16, header: Header } = "received", EventMask::PACKETS;
    /// The link behind a face lost a packet.
    Lost { face: u16, name: Name } = "lost", EventMask::LOSSES;
    /// The content store answered an Interest.
    CacheHit { name: Name } = "cache-hit", EventMask::CACHE;
    /// A lookup in the content store found nothing.
    CacheMiss { name: Name } = "cache-miss", EventMask::CACHE;
    /// Data satisfied a pending Interest.
    Satisfied { name: Name } = "satisfied", EventMask::PENDING;
    /// A pending Interest ended without Data.
    Expired { name: Name } = "expired", EventMask::PENDING;
    /// A router sent a report to the controller.
    Reported { kind: Cause } = "reported", EventMask::CONTROL;
    /// A directive of the controller arrived at a router.
    Directed { kind: Cause } = "directed", EventMask::CONTROL;
    /// A strategy moved a prefix from one face to another.
    PathMoved { name: Name, from: u16, to: u16, cause: Cause } = "path-moved", EventMask::CONTROL;
    /// The congestion state of a face changed, as a detector sees it.
    StateChanged { face: u16, state: Cause } = "state-changed", EventMask::CONTROL;
    /// A component of a control plane performed a number of operations, as its paper counts them.
    Worked { part: Cause, operations: u32 } = "worked", EventMask::CONTROL;
    /// A component of a scheme estimated a quantity of a face, whose true value was found later; both in the
    /// component's own unit.
    Estimated { face: u16, what: Cause, estimate: f64, truth: f64 } = "estimated", EventMask::CONTROL;
    /// The entry ended for a face: one event after the one above for each downstream and upstream face.
    EndedFor { face: u16, name: Name, side: Side, satisfied: bool } = "ended-for", EventMask::PENDING;
}

/// Record of a PIT entry that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In-record: a downstream face.
    Downstream,
    /// Out-record: an upstream face.
    Upstream,
}

/// Set of event kinds that a recorder selects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(pub u32);

impl EventMask {
    /// The empty set: no event is recorded.
    pub const NONE: Self = Self(0);
    /// The set of all kinds of events.
    pub const ALL: Self = Self(u32::MAX);
    /// Events of consumers: Interests, Data, losses, windows.
    pub const CONSUMERS: Self = Self(1 | 2 | 4 | 8);
    /// Events of queues: drops, marks, stores, notices.
    pub const QUEUES: Self = Self(16 | 32 | 64);
    /// Every packet on every face: several events for each packet and hop.
    pub const PACKETS: Self = Self(128);
    /// Losses of packets on links.
    pub const LOSSES: Self = Self(256);
    /// Content store hits and misses.
    pub const CACHE: Self = Self(512);
    /// Ends of pending Interests.
    pub const PENDING: Self = Self(1024);
    /// Reports, directives and their effects: congestion states, moved paths, counted work, estimates.
    pub const CONTROL: Self = Self(2048);

    /// Events that a table can hold: all but [`PACKETS`](Self::PACKETS) and [`PENDING`](Self::PENDING).
    pub const RECORDED: Self = Self::CONSUMERS.union(Self::QUEUES).union(Self::LOSSES).union(Self::CACHE);

    /// Union of both sets of kinds.
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains `kind`.
    #[inline]
    pub const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}
