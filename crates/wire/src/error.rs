//! Errors of received bytes, and of packets to be sent.

use std::fmt;

use tidegate_core::ndn::name::NameError;

/// Why bytes are no packet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeError {
    /// An element is cut short: bytes needed and bytes left.
    Truncated {
        /// Length that the element declares, bytes.
        needed: u64,
        /// Bytes that are there.
        left: usize,
    },
    /// A type or length is not in its shortest form.
    NotShortest(u64),
    /// A type outside 1..=2^32-1.
    Type(u64),
    /// Number of bytes after the end of the packet.
    Trailing(usize),
    /// More than [`MAX_PACKET`](crate::MAX_PACKET) bytes.
    TooLarge(usize),
    /// An element has a length that it cannot have.
    Length {
        /// Its type.
        element: u32,
        /// Bytes of its value.
        bytes: usize,
        /// Accepted values, for messages.
        accepted: &'static str,
    },
    /// An element that is not known, and must not be ignored.
    Critical {
        /// Its type.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// An element is repeated, or follows one that must come later.
    OutOfOrder {
        /// Its type.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// An element that must be there is not.
    Missing {
        /// Its type.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// The element is not one of those permitted here.
    Unexpected {
        /// Its type.
        element: u32,
        /// Accepted elements, for messages.
        accepted: &'static str,
    },
    /// The name cannot be one, and why.
    Name(String),
    /// Interest parameters and their digest in the name do not go together.
    ParametersDigest(&'static str),
    /// Index and count of a fragment contradict each other, the limit, or the fragments before.
    Fragment {
        /// FragIndex.
        index: u64,
        /// FragCount.
        count: u64,
        /// Description of the problem.
        why: &'static str,
    },
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed, left } => write!(f, "{needed} bytes are needed, {left} are there"),
            Self::NotShortest(number) => write!(f, "the number {number} is not in its shortest form"),
            Self::Type(kind) => write!(f, "element type {kind} is not in 1..=4294967295"),
            Self::Trailing(bytes) => write!(f, "{bytes} bytes follow the end of the packet"),
            Self::TooLarge(bytes) => write!(f, "{bytes} bytes; a packet has at most {}", crate::MAX_PACKET),
            Self::Length { element, bytes, accepted } => {
                write!(f, "element {element} has {bytes} bytes; accepted: {accepted}")
            }
            Self::Critical { element, inside } => {
                write!(f, "element {element} in element {inside} is not known and is critical")
            }
            Self::OutOfOrder { element, inside } => {
                write!(f, "element {element} in element {inside} is repeated or out of order")
            }
            Self::Missing { element, inside } => write!(f, "element {inside} has no element {element}"),
            Self::Unexpected { element, accepted } => {
                write!(f, "element {element} cannot stand here; accepted: {accepted}")
            }
            Self::Name(why) => f.write_str(why),
            Self::ParametersDigest(why) => f.write_str(why),
            Self::Fragment { index, count, why } => write!(f, "fragment {index} of {count}: {why}"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl From<NameError> for DecodeError {
    fn from(why: NameError) -> Self {
        Self::Name(why.to_string())
    }
}

/// Why a packet cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// More than [`MAX_PACKET`](crate::MAX_PACKET) bytes.
    TooLarge(usize),
    /// The link's frames are too small for the packet, whatever the number of fragments up to
    /// [`MAX_FRAGMENTS`](crate::MAX_FRAGMENTS).
    Mtu {
        /// Bytes of the packet.
        packet: usize,
        /// Bytes of a frame.
        mtu: usize,
    },
    /// The packet's bytes are not the Interest or Data that its header declares.
    Body(DecodeError),
    /// A TCP segment; NDN links carry none.
    NotNdn,
    /// The name is not valid in this packet, with the reason.
    Name(&'static str),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge(bytes) => write!(f, "{bytes} bytes; a packet has at most {}", crate::MAX_PACKET),
            Self::Mtu { packet, mtu } => {
                let most = crate::MAX_FRAGMENTS;
                write!(f, "a packet of {packet} bytes does not fit {most} frames of {mtu} bytes")
            }
            Self::Body(why) => write!(f, "the packet's bytes are not what its header says: {why}"),
            Self::NotNdn => f.write_str("a TCP segment cannot travel on an NDN link"),
            Self::Name(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for EncodeError {}

impl From<DecodeError> for EncodeError {
    fn from(why: DecodeError) -> Self {
        Self::Body(why)
    }
}
