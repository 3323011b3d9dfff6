//! Reasons why content cannot be served.

use std::io;

use tidegate_wire::EncodeError;

use super::MAX_SEGMENT_SIZE;

/// Reason why a file cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The file cannot be read.
    #[error(transparent)]
    File(io::Error),
    /// It is no regular file.
    #[error("it is not a regular file")]
    NotAFile,
    /// It is no directory.
    #[error("it is not a directory")]
    NotADirectory,
    /// It has more segments than can be numbered.
    #[error("its {bytes} bytes take more than 2^32 segments; use larger segments")]
    TooLarge {
        /// Bytes of the file.
        bytes: u64,
    },
    /// Segments cannot be of this size.
    #[error("a segment size of {0} bytes; 1 to {max} are possible", max = MAX_SEGMENT_SIZE)]
    SegmentSize(usize),
    /// A segment does not fit a packet; the name or the key's name is too long.
    #[error("a segment does not fit a packet: {0}")]
    Segment(EncodeError),
}
