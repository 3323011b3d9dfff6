//! Events that a run can record, packet by packet. Opt-in: an event that is not recorded costs one branch.

use crate::ndn::name::Name;
use crate::ndn::packet::Header;
use crate::units::{ByteCount, Span};

/// The rule of a scheme or queue that made something happen, as one word ("timeout", "queue full").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause(pub &'static str);

/// One thing that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields say what they are")]
#[non_exhaustive]
pub enum Event {
    /// A consumer sent an Interest.
    InterestSent { flow: u32, name: Name, retransmission: bool },
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
    },
    /// The sender of a TCP connection sent a segment with payload.
    SegmentSent { flow: u32, name: Name, retransmission: bool },
    /// Its receiver got bytes for the first time.
    SegmentReceived { flow: u32, name: Name },
    /// A consumer detected a loss: timeout, Nack, loss notice.
    LossDetected { flow: u32, name: Name, cause: Cause },
    /// A congestion window changed, packets.
    WindowChanged { flow: u32, window: f64, cause: Cause },
    /// A queue or gate dropped a packet.
    Dropped { face: u16, name: Name, size: ByteCount, cause: Cause },
    /// A queue marked a packet that had waited for `sojourn`, or had a strategy mark another for it.
    Marked { face: u16, name: Name, sojourn: Span, cause: Cause },
    /// A queue or gate put a packet into its side store.
    Stored { face: u16, name: Name },
    /// A queue moved a packet from its side store back, or a gate released it.
    Released { face: u16, name: Name },
    /// A queue made a loss notice.
    NoticeMade { face: u16, name: Name },
    /// A packet left through a face: onto the link of a device, or to an application.
    Sent { face: u16, header: Header },
    /// A packet came through a face: off the link of a device, or from an application.
    Received { face: u16, header: Header },
    /// The link behind a face lost a packet.
    Lost { face: u16, name: Name },
    /// The content store answered an Interest.
    CacheHit { name: Name },
    /// A lookup in the content store found nothing.
    CacheMiss { name: Name },
    /// Data satisfied a pending Interest.
    Satisfied { name: Name },
    /// A pending Interest ended without Data.
    Expired { name: Name },
    /// A router sent a report to the controller.
    Reported { kind: Cause },
    /// A directive of the controller arrived at a router.
    Directed { kind: Cause },
    /// A strategy moved a prefix from one face to another.
    PathMoved { name: Name, from: u16, to: u16, cause: Cause },
    /// The congestion state of a face changed, as a detector sees it.
    StateChanged { face: u16, state: Cause },
    /// A component of a control plane performed a number of operations, as its paper counts them.
    Worked { part: Cause, operations: u32 },
    /// A component of a scheme estimated a quantity of a face, whose true value was found later; both in the
    /// component's own unit.
    Estimated { face: u16, what: Cause, estimate: f64, truth: f64 },
    /// The entry ended for a face: one event after the one above for each downstream and upstream face.
    EndedFor { face: u16, name: Name, side: Side, satisfied: bool },
}

/// Record of a PIT entry that an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In-record: a downstream face.
    Downstream,
    /// Out-record: an upstream face.
    Upstream,
}

impl Event {
    /// The mask bit of this kind of event.
    pub const fn bit(&self) -> EventMask {
        EventMask(match self {
            Self::InterestSent { .. } | Self::SegmentSent { .. } => 1,
            Self::DataReceived { .. } | Self::SegmentReceived { .. } => 2,
            Self::LossDetected { .. } => 4,
            Self::WindowChanged { .. } => 8,
            Self::Dropped { .. } => 16,
            Self::Marked { .. } => 32,
            Self::Stored { .. } | Self::Released { .. } | Self::NoticeMade { .. } => 64,
            Self::Sent { .. } | Self::Received { .. } => EventMask::PACKETS.0,
            Self::Lost { .. } => EventMask::LOSSES.0,
            Self::CacheHit { .. } | Self::CacheMiss { .. } => EventMask::CACHE.0,
            Self::Satisfied { .. } | Self::Expired { .. } | Self::EndedFor { .. } => EventMask::PENDING.0,
            Self::Reported { .. }
            | Self::Directed { .. }
            | Self::PathMoved { .. }
            | Self::StateChanged { .. }
            | Self::Worked { .. }
            | Self::Estimated { .. } => EventMask::CONTROL.0,
        })
    }

    /// The kind in one word, as in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::InterestSent { .. } => "interest-sent",
            Self::DataReceived { .. } => "data-received",
            Self::SegmentSent { .. } => "segment-sent",
            Self::SegmentReceived { .. } => "segment-received",
            Self::LossDetected { .. } => "loss-detected",
            Self::WindowChanged { .. } => "window-changed",
            Self::Dropped { .. } => "dropped",
            Self::Marked { .. } => "marked",
            Self::Stored { .. } => "stored",
            Self::Released { .. } => "released",
            Self::NoticeMade { .. } => "notice-made",
            Self::Sent { .. } => "sent",
            Self::Received { .. } => "received",
            Self::Lost { .. } => "lost",
            Self::CacheHit { .. } => "cache-hit",
            Self::CacheMiss { .. } => "cache-miss",
            Self::Satisfied { .. } => "satisfied",
            Self::Expired { .. } => "expired",
            Self::EndedFor { .. } => "ended-for",
            Self::Reported { .. } => "reported",
            Self::Directed { .. } => "directed",
            Self::PathMoved { .. } => "path-moved",
            Self::StateChanged { .. } => "state-changed",
            Self::Worked { .. } => "worked",
            Self::Estimated { .. } => "estimated",
        }
    }
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
