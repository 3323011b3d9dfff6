//! Serves files, directories and other content: segments are signed on request; metadata names the version (RDR).
//!
//! Names are those of `ndnserve` (`ndnputchunks` before 2025): `PREFIX/v=<version>/seg=<n>` with the last segment in every
//! Data, and `PREFIX/32=metadata` for the version. An Interest for a shorter name, if it allows longer ones, gets the
//! first segment. Below the name of a directory, names and listings are those of ndn6-file-server.

mod cache;
mod error;
mod object;
mod publications;
mod source;
mod tree;

use std::io;

use bytes::Bytes;
use tidegate_core::ndn::packet::{Data, Kind, Millis, Packet};
use tidegate_wire::{Certificate, InterestView, Signer};

use crate::client::{Client, ClientError};

pub use error::ServeError;
pub use object::Served;
pub use publications::{Publication, Publications};
pub use tree::ServedTree;

/// Default bytes of content per segment: with a name, a signature and link fields of 200 bytes together
/// the packet still fits one datagram of [`UDP_MTU`](crate::transport::UDP_MTU).
pub const SEGMENT_SIZE: usize = 1200;

/// Maximum bytes of content per segment: 800 are left for everything else in a packet.
pub const MAX_SEGMENT_SIZE: usize = 8000;

/// Default size of the cache of signed segments, bytes.
pub const CACHE_SIZE: usize = 64_000_000;

/// Bytes of Data that may wait for room in the socket before no more Interests are read.
const BACKLOG: usize = 256 * 1024;

/// FreshnessPeriod of metadata (RDR: 1 to 10 ms, so that caches do not hide a new version).
const METADATA_FRESHNESS: Millis = Millis(10);

/// Parameters of an object or a directory that is served.
#[derive(Clone, Debug)]
pub struct ServeSettings {
    /// Name of the object, concatenated components.
    pub prefix: Vec<u8>,
    /// Bytes of content per segment, 1..=[`MAX_SEGMENT_SIZE`].
    pub segment_size: usize,
    /// FreshnessPeriod of its Data.
    pub freshness: Millis,
    /// Signer of the segments.
    pub signer: Signer,
    /// Certificate of the signer, which is served too.
    pub certificate: Option<Certificate>,
    /// Version; `None` for the time of the file's last change, microseconds since 1970. Data have a number by which a consumer
    /// detects that a version is of other content than before: from a hash of the content if the version is given, else
    /// from inode, size and time of change. Without effect for a directory.
    pub version: Option<u64>,
}

/// Counters of what is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeCounters {
    /// Number of Interests received.
    pub interests: u64,
    /// Number of segments sent.
    pub segments: u64,
    /// Number of these segments that had been signed for an earlier Interest.
    pub cached: u64,
    /// Bytes of content sent.
    pub bytes: u64,
    /// Number of answers with the version.
    pub metadata: u64,
    /// Number of Interests without an answer.
    pub unanswered: u64,
}

impl ServeCounters {
    /// The sums of both.
    fn plus(self, other: Self) -> Self {
        Self {
            interests: self.interests + other.interests,
            segments: self.segments + other.segments,
            cached: self.cached + other.cached,
            bytes: self.bytes + other.bytes,
            metadata: self.metadata + other.metadata,
            unanswered: self.unanswered + other.unanswered,
        }
    }
}

/// What answers Interests: an object, a directory, or several of them.
pub trait Responder: std::fmt::Debug {
    /// The bytes of the Data for an Interest for `name` (concatenated components); `None` if there is none.
    ///
    /// # Errors
    /// When the content cannot be read.
    fn bytes_of(&mut self, name: &[u8], can_be_prefix: bool) -> io::Result<Option<Bytes>>;

    /// The Data for an Interest; `None` if there is none. Names are those of `client`.
    ///
    /// # Errors
    /// When the content cannot be read.
    fn answer(
        &mut self,
        requested: &Packet<Bytes>,
        client: &mut Client,
    ) -> io::Result<Option<Packet<Bytes>>> {
        let Kind::Interest(interest) = requested.header.kind else { return Ok(None) };
        let Ok(view) = InterestView::parse(&requested.body) else { return Ok(None) };
        let bytes = self.bytes_of(view.name.components(), interest.can_be_prefix)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let mut packet = client.packet(bytes).map_err(|why| io::Error::other(why.to_string()))?;
        if let Kind::Data(data) = packet.header.kind {
            // The link layer echoes the token of the Interest.
            packet.header.kind = Kind::Data(Data { token: interest.token, ..data });
        }
        Ok(Some(packet))
    }

    /// A change after which nothing can be served any more; returned once.
    fn look_for_change(&mut self) -> Option<String>;

    /// Counters from the start on.
    fn counters(&self) -> ServeCounters;

    /// Whether the name (concatenated components) may be one that this answers.
    fn has(&self, name: &[u8]) -> bool;
}

/// Answers Interests until the application is asked to stop, or the content changes: then it returns how, since nothing of
/// it can be served any more. `notify` is called with each temporary problem that differs from the last one.
///
/// # Errors
/// When the connection is lost.
pub fn serve(
    client: &mut Client,
    served: &mut dyn Responder,
    mut notify: impl FnMut(&str),
) -> Result<Option<String>, ClientError> {
    client.limit_backlog(BACKLOG);
    let mut inbox = Vec::new();
    let mut reported = String::new();
    loop {
        let outcome = client.exchange(None, &mut inbox);
        match outcome {
            Err(ClientError::Stopped) => return Ok(None),
            outcome => outcome?,
        }
        if let Some(why) = served.look_for_change() {
            return Ok(Some(format!("{why}; serving has stopped")));
        }
        let mut answered = 0;
        for requested in &inbox {
            // The rest waits until the socket has taken some.
            if client.is_backlogged() {
                break;
            }
            answered += 1;
            match served.answer(requested, client) {
                Ok(Some(data)) => client.send(&data),
                Ok(None) => {}
                Err(why) => {
                    let why = why.to_string();
                    if why != reported {
                        notify(&why);
                        reported = why;
                    }
                }
            }
        }
        inbox.drain(..answered);
    }
}
