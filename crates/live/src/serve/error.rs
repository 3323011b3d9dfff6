//! Why a file cannot be served.

use std::fmt;
use std::io;

use tidegate_wire::EncodeError;

use super::MAX_SEGMENT_SIZE;
use crate::client::ClientError;

/// Why a file cannot be served.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The file cannot be read.
    File(io::Error),
    /// It is no regular file.
    NotAFile,
    /// It has more segments than can be numbered.
    TooLarge {
        /// Bytes of the file.
        bytes: u64,
    },
    /// Segments cannot be of this size.
    SegmentSize(usize),
    /// A segment does not fit a packet; the name or the key's name is too long.
    Segment(EncodeError),
    /// The connection cannot be used.
    Client(ClientError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(why) => write!(f, "{why}"),
            Self::NotAFile => f.write_str("it is no regular file"),
            Self::TooLarge { bytes } => {
                write!(f, "its {bytes} bytes take more than 2^32 segments; larger segments would do")
            }
            Self::SegmentSize(size) => {
                write!(f, "segments of {size} bytes; 1 to {MAX_SEGMENT_SIZE} may be")
            }
            Self::Segment(why) => write!(f, "a segment does not fit a packet: {why}"),
            Self::Client(why) => write!(f, "{why}"),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<ClientError> for ServeError {
    fn from(why: ClientError) -> Self {
        Self::Client(why)
    }
}
