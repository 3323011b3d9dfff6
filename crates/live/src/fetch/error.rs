//! Reasons why a fetch ends without the whole object.

use std::io;

use tidegate_core::ndn::packet::NackReason;
use tidegate_wire::signature_type;

use crate::client::ClientError;

/// Reason why a fetch ends without the whole object.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The connection cannot be used.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The name is not valid for a fetch.
    #[error("the name cannot be requested: {0}")]
    Name(String),
    /// There is no answer to version discovery.
    #[error("{}", no_answer(*refusals))]
    NoAnswer {
        /// Number of "connection refused" errors of the system (UDP).
        refusals: u64,
    },
    /// The forwarder has no route to the name.
    #[error("the forwarder has no route to the name: no producer has registered it")]
    NoRoute,
    /// The forwarder refuses for another reason.
    #[error("the forwarder returned a Nack, {0:?}")]
    Refused(NackReason),
    /// The answer with the version is no good.
    #[error("the version metadata is invalid: {0}")]
    Metadata(String),
    /// The first Data has a signature that cannot be verified, since no key is given.
    #[error(
        "the Data has {} (SignatureType {kind}), which cannot be verified without a key: --verify-key gives the key, \
         --no-verify accepts Data of any origin",
        signature_name(*kind)
    )]
    Unverifiable {
        /// SignatureType of the Data.
        kind: u64,
    },
    /// No certificates lead from the Data to a trust anchor.
    #[error("not trusted: {0}")]
    Untrusted(String),
    /// A segment did not arrive within all retries.
    #[error("no Data for segment {segment} after {retries} retransmissions; {}", no_data(*bad, *nacks))]
    GaveUp {
        /// The first segment that is missing.
        segment: u32,
        /// Number of retries of a segment.
        retries: u32,
        /// Number of Data received that were not trusted.
        bad: u64,
        /// Number of Nacks received.
        nacks: u64,
    },
    /// The producer named two last segments (FinalBlockId).
    #[error(
        "the Data of the producer is inconsistent: the final segment is {now} according to segment {segment}, and \
         {stated} according to earlier segments"
    )]
    Contradiction {
        /// The segment whose FinalBlockId differs from that of earlier ones.
        segment: u32,
        /// The last segment according to earlier ones.
        stated: u32,
        /// The last segment according to this segment.
        now: u32,
    },
    /// Segments of one version are of two contents.
    #[error(
        "the version was served with two different contents: segment {segment} is of another one than earlier segments; \
         caches may have Data of both, so that the producer has to serve its file as a new version"
    )]
    Mixed {
        /// The segment whose content differs from that of earlier ones.
        segment: u32,
    },
    /// The producer reports that there is no such segment (ContentType Nack).
    #[error("the producer has no segment {segment}")]
    NotThere {
        /// Number of the segment, from 0.
        segment: u32,
    },
    /// The content cannot be written.
    #[error("cannot write the content: {0}")]
    Output(io::Error),
}

/// Name of a type of signature, with its article.
fn signature_name(kind: u64) -> &'static str {
    match kind {
        signature_type::SHA256_WITH_RSA => "an RSA signature",
        signature_type::SHA256_WITH_ECDSA => "an ECDSA signature",
        signature_type::ED25519 => "an Ed25519 signature",
        _ => "a signature of an unknown type",
    }
}

/// Probable reason for no answer to version discovery, by the number of refusals.
fn no_answer(refusals: u64) -> &'static str {
    match refusals {
        0 => "no Data for the Interest for the version (32=metadata); the producer may be unreachable",
        _ => "no program listens at the other end",
    }
}

/// Probable reason for a missing segment, by the numbers of Data received that do not verify and of Nacks.
fn no_data(bad: u64, nacks: u64) -> String {
    match (bad, nacks) {
        (0, 0) => "its producer may be unreachable".to_owned(),
        (0, nacks) => {
            format!("{nacks} Interests were refused by a Nack: the forwarder has no room or no route")
        }
        (bad, _) => format!("{bad} received Data packets have invalid signatures"),
    }
}
