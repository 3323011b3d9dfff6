//! What a run can record, packet by packet. Opt-in: an unwanted event costs one branch.

use crate::name::Name;
use crate::units::Span;

/// The rule of a scheme or queue that made something happen, as one word ("timeout", "queue full").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause(pub &'static str);

/// One thing that happened at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields say what they are")]
pub enum Event {
    /// A consumer sent an Interest.
    InterestSent { flow: u32, name: Name, retransmission: bool },
    /// A consumer received a segment for the first time.
    DataReceived { flow: u32, name: Name, full_delay: Span, last_delay: Span, mark: u8 },
    /// A consumer heard of a loss: timeout, Nack, loss notice.
    LossDetected { flow: u32, name: Name, cause: Cause },
    /// A congestion window changed, packets.
    WindowChanged { flow: u32, window: f64, cause: Cause },
    /// A queue dropped a packet.
    Dropped { face: u16, name: Name, cause: Cause },
    /// A queue marked a packet that had waited for `sojourn`.
    Marked { face: u16, name: Name, sojourn: Span, cause: Cause },
    /// A queue put a packet into its side store.
    Stored { face: u16, name: Name },
    /// A queue moved a packet from its side store back.
    Released { face: u16, name: Name },
    /// A queue made a loss notice.
    NoticeMade { face: u16, name: Name },
}

impl Event {
    /// The mask bit of this kind of event.
    pub const fn bit(&self) -> EventMask {
        EventMask(match self {
            Self::InterestSent { .. } => 1,
            Self::DataReceived { .. } => 2,
            Self::LossDetected { .. } => 4,
            Self::WindowChanged { .. } => 8,
            Self::Dropped { .. } => 16,
            Self::Marked { .. } => 32,
            Self::Stored { .. } | Self::Released { .. } | Self::NoticeMade { .. } => 64,
        })
    }

    /// The kind in one word, as it stands in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::InterestSent { .. } => "interest-sent",
            Self::DataReceived { .. } => "data-received",
            Self::LossDetected { .. } => "loss-detected",
            Self::WindowChanged { .. } => "window-changed",
            Self::Dropped { .. } => "dropped",
            Self::Marked { .. } => "marked",
            Self::Stored { .. } => "stored",
            Self::Released { .. } => "released",
            Self::NoticeMade { .. } => "notice-made",
        }
    }
}

/// Which kinds of events a recorder wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventMask(pub u32);

impl EventMask {
    /// No events.
    pub const NONE: Self = Self(0);
    /// Every event.
    pub const ALL: Self = Self(u32::MAX);

    /// Whether `kind` is wanted.
    #[inline]
    pub const fn has(self, kind: Self) -> bool {
        self.0 & kind.0 != 0
    }
}
