//! Errors of received bytes, and of packets to be sent.

use tidegate_core::ndn::name::NameError;

/// Reason why bytes are no packet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An element is truncated.
    #[error("{needed} bytes are needed, {left} are there")]
    Truncated {
        /// Length that the element declares, bytes.
        needed: u64,
        /// Number of bytes that are left.
        left: usize,
    },
    /// A type or length is not in its shortest form.
    #[error("the number {0} is not in its shortest form")]
    NotShortest(u64),
    /// A type outside 1..=2^32-1.
    #[error("element type {0} is not in 1..=4294967295")]
    Type(u64),
    /// Number of bytes after the end of the packet.
    #[error("{0} bytes follow the end of the packet")]
    Trailing(usize),
    /// More than [`MAX_PACKET`](crate::MAX_PACKET) bytes.
    #[error("{0} bytes; a packet has at most {max}", max = crate::MAX_PACKET)]
    TooLarge(usize),
    /// An element has an invalid length.
    #[error("element {element} has {bytes} bytes; accepted: {accepted}")]
    Length {
        /// TLV-TYPE of the element.
        element: u32,
        /// Bytes of its value.
        bytes: usize,
        /// Accepted values, for messages.
        accepted: &'static str,
    },
    /// An unknown element must not be ignored.
    #[error("element {element} in element {inside} is not known and is critical")]
    Critical {
        /// TLV-TYPE of the unknown element.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// An element is repeated, or follows one that must come later.
    #[error("element {element} in element {inside} is repeated or out of order")]
    OutOfOrder {
        /// TLV-TYPE of the element in the wrong place.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// A required element is missing.
    #[error("element {inside} has no element {element}")]
    Missing {
        /// TLV-TYPE of the missing element.
        element: u32,
        /// Type of the element around it.
        inside: u32,
    },
    /// The element is not one of those permitted here.
    #[error("element {element} cannot stand here; accepted: {accepted}")]
    Unexpected {
        /// TLV-TYPE of the unexpected element.
        element: u32,
        /// Accepted elements, for messages.
        accepted: &'static str,
    },
    /// A name with more components than are accepted.
    #[error("the name has more than {0} components")]
    Components(usize),
    /// The name is not valid, with the reason.
    #[error("{0}")]
    Name(String),
    /// Interest parameters and their digest in the name do not match.
    #[error("{0}")]
    ParametersDigest(&'static str),
    /// Index and count of a fragment contradict each other, the limit, or earlier fragments.
    #[error("fragment {index} of {count}: {why}")]
    Fragment {
        /// FragIndex: number of the fragment, from 0.
        index: u64,
        /// FragCount: number of fragments of the packet.
        count: u64,
        /// Description of the problem.
        why: &'static str,
    },
}

impl From<NameError> for DecodeError {
    fn from(why: NameError) -> Self {
        Self::Name(why.to_string())
    }
}

/// Reason why a packet cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// More than [`MAX_PACKET`](crate::MAX_PACKET) bytes.
    #[error("{0} bytes; a packet has at most {max}", max = crate::MAX_PACKET)]
    TooLarge(usize),
    /// The link's frames are too small for the packet, whatever the number of fragments up to
    /// [`MAX_FRAGMENTS`](crate::MAX_FRAGMENTS).
    #[error("a packet of {packet} bytes does not fit {max} frames of {mtu} bytes", max = crate::MAX_FRAGMENTS)]
    Mtu {
        /// Bytes of the packet.
        packet: usize,
        /// Bytes of a frame.
        mtu: usize,
    },
    /// The packet's bytes are not the Interest or Data that its header declares.
    #[error("the packet's bytes are not what its header says: {0}")]
    Body(#[from] DecodeError),
    /// A TCP segment; NDN links carry none.
    #[error("a TCP segment cannot travel on an NDN link")]
    NotNdn,
    /// The name is not valid in this packet, with the reason.
    #[error("{0}")]
    Name(&'static str),
}
