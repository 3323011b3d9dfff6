//! Why a fetch ends without the whole object.

use std::fmt;
use std::io;

use tidegate_core::ndn::packet::NackReason;

use crate::client::ClientError;

/// Why a fetch ends without the whole object.
#[derive(Debug)]
#[non_exhaustive]
pub enum FetchError {
    /// The connection cannot be used.
    Client(ClientError),
    /// The name is not valid for a fetch.
    Name(String),
    /// There is no answer to version discovery.
    NoAnswer {
        /// Number of "connection refused" errors of the system (UDP).
        refusals: u64,
    },
    /// The forwarder has no route to the name.
    NoRoute,
    /// The forwarder refuses for another reason.
    Refused(NackReason),
    /// The answer with the version is no good.
    Metadata(String),
    /// A segment did not arrive within all retries.
    GaveUp {
        /// The first segment that is missing.
        segment: u32,
        /// Number of retries of a segment.
        retries: u32,
        /// Data that came and were not to be trusted.
        bad: u64,
    },
    /// The producer named two last segments (FinalBlockId).
    Contradiction {
        /// The segment whose FinalBlockId differs from that of earlier ones.
        segment: u32,
        /// The last segment, as they said.
        said: u32,
        /// The last segment according to this segment.
        now: u32,
    },
    /// The producer reports that there is no such segment (ContentType Nack).
    NotThere {
        /// The segment.
        segment: u32,
    },
    /// The content cannot be written.
    Output(io::Error),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(why) => write!(f, "{why}"),
            Self::Name(why) => write!(f, "the name cannot be asked for: {why}"),
            Self::NoAnswer { refusals: 0 } => f.write_str(
                "no answer to the Interest for the version (32=metadata); its producer may be gone",
            ),
            Self::NoAnswer { .. } => f.write_str("no program listens at the other end"),
            Self::NoRoute => {
                f.write_str("the forwarder has no route to the name: no producer has registered it")
            }
            Self::Refused(reason) => write!(f, "the forwarder answered with Nack {reason:?}"),
            Self::Metadata(why) => write!(f, "the answer with the version is no good: {why}"),
            Self::GaveUp { segment, retries, bad } => {
                write!(f, "no Data for segment {segment} after {retries} retransmissions")?;
                match bad {
                    0 => f.write_str("; its producer may be gone"),
                    bad => write!(f, "; the signatures of {bad} Data that came do not hold"),
                }
            }
            Self::Contradiction { segment, said, now } => write!(
                f,
                "the producer contradicts itself: segment {segment} says that the last one is {now}, those before \
                 said {said}"
            ),
            Self::NotThere { segment } => write!(f, "the producer has no segment {segment}"),
            Self::Output(why) => write!(f, "cannot write the content: {why}"),
        }
    }
}

impl std::error::Error for FetchError {}

impl From<ClientError> for FetchError {
    fn from(why: ClientError) -> Self {
        Self::Client(why)
    }
}
