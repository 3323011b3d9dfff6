//! Fetches an object: any congestion controller paces the Interests by the live clock; the content is written
//! in order while it arrives.
//!
//! The consumer is core's, the same as in the simulator; this is the driver around it.

mod chain;
mod discovery;
mod driver;
mod error;
mod interest;
mod reorder;
mod samples;
mod trust;

use std::io::Write;

use tidegate_core::ndn::consumer::profile::{ConsumerProfile, ProfileOptions, ProfileRules};
use tidegate_core::observe::records::RunRecord;
use tidegate_core::scheme::congestion::CongestionController;
use tidegate_core::units::{ByteCount, Span};

use crate::client::Client;
use driver::Fetch;

pub use chain::{check_version_signer, signer_of};
pub use error::FetchError;
pub use trust::Trust;

/// Default receive window of a fetch: 640 Mbit/s over a round trip of 100 ms. Local schemes
/// without a signal of congestion fill it, and a larger one makes their round trips longer than their timers expect.
pub const RECEIVE_WINDOW: ByteCount = ByteCount::new(8_000_000);

/// Minimum share of a Data in the receive window, bytes: its cost in the tables that it passes.
const MIN_DATA_SIZE: usize = 512;

/// Segments within a receive window of `window` bytes when the largest Data has `data_size` bytes; at least 1.
fn receive_limit(window: ByteCount, data_size: usize) -> u32 {
    let segments = window.get() / data_size.max(MIN_DATA_SIZE) as u64;
    u32::try_from(segments).unwrap_or(u32::MAX).max(1)
}

/// Default time within which a forwarder that ended the connection is connected to again: enough to restart it.
pub const RECONNECT: Span = Span::from_secs(30);

/// Default number of retries of a segment before the fetch is given up.
pub const RETRIES: u32 = 15;

/// Parameters of a fetch.
#[derive(Debug)]
pub struct FetchSettings {
    /// Name of the segments without their number, version included: concatenated components.
    pub name: Vec<u8>,
    /// The segment that is fetched first; those before it are there already.
    pub first_segment: u32,
    /// The scheme's name, for records.
    pub scheme: &'static str,
    /// Window or rate rule.
    pub controller: Box<dyn CongestionController>,
    /// Timers and retransmission rules around it; see [`live_profile`].
    pub profile: ProfileRules,
    /// Signatures that are accepted.
    pub trust: Trust,
    /// Whether Interests for segments have MustBeFresh.
    pub must_be_fresh: bool,
    /// Maximum bytes of Data requested from the first missing segment on: data that waits here for reordering,
    /// and data that waits in a forwarder while the consumer pauses. Small Data count as 512 bytes.
    pub receive_window: ByteCount,
    /// Hash by which the producer named the content of segments that were fetched before, if it did.
    pub content_id: Option<u64>,
    /// Time within which a forwarder that ended the connection is connected to again; zero ends the fetch at once.
    pub reconnect: Span,
    /// Time from the start within which a forwarder without a route to the name may get one; a Nack after it ends the fetch,
    /// unless Data has arrived before.
    pub wait: Span,
}

/// Interval between two checks for lost Interests of schemes with a timer of their own: less than the round
/// trip of most paths, so that lost Interests do not occupy the window for long.
const SWEEP: Span = Span::from_millis(2);

/// The rules of `kind` on a real network: a segment is given up after `retries` and as many seconds without any Data, and one without a route is
/// requested again, since its producer may be about to announce it. `lifetime` is that of Interests; `None`
/// for the kind's own.
pub fn live_profile(kind: ConsumerProfile, retries: u32, lifetime: Option<Span>) -> ProfileRules {
    let profile = ProfileRules::of(kind);
    let sweep = if kind == ConsumerProfile::OwnAtSweep { profile.sweep.min(SWEEP) } else { profile.sweep };
    let mut options = profile.options;
    options.set(ProfileOptions::NO_ROUTE_IS_FINAL, false);
    // A forwarder without room answers at once, and all retries would end within milliseconds.
    options.set(ProfileOptions::NACK_WAITS, true);
    ProfileRules {
        sweep,
        retry_limit: Some(retries),
        patience: Span::from_secs(u64::from(retries)),
        options,
        lifetime: lifetime.or(profile.lifetime),
        ..profile
    }
}

/// Progress of a fetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FetchProgress {
    /// Time since the first Interest could leave.
    pub elapsed: Span,
    /// Number of distinct segments received.
    pub segments: u64,
    /// Number of segments of the object, once it is known.
    pub total_segments: Option<u64>,
    /// Bytes of content received.
    pub bytes: ByteCount,
    /// Congestion window in packets.
    pub window: f64,
    /// Number of outstanding Interests.
    pub in_flight: u32,
    /// Smoothed round-trip time; `None` before the first sample.
    pub rtt: Option<Span>,
    /// Number of retransmitted Interests.
    pub retransmissions: u64,
    /// Time since the last Data that was accepted, or since the start.
    pub silence: Span,
    /// Number of Data with a wrong signature.
    pub bad: u64,
    /// Whether there is a connection to the forwarder; without one the fetch tries to connect again.
    pub is_connected: bool,
}

/// Result of a fetch.
#[derive(Debug)]
pub struct Fetched {
    /// Outcome; after an error the output has the content up to the first missing segment.
    pub end: Result<(), FetchError>,
    /// The same record as of a simulated run, with one flow.
    pub record: RunRecord,
    /// Number of segments written, in order from the first one requested.
    pub segments: u32,
    /// Bytes of content written.
    pub bytes: u64,
    /// Hash by which the producer names the content, if it does.
    pub content_id: Option<u64>,
    /// Number of Data with a wrong signature.
    pub bad: u64,
    /// Number of Data whose signature was not verified.
    pub unchecked: u64,
}

/// The name of the newest version of `name`, both as concatenated components. If the forwarder has no route to it, it may get
/// one for the time `wait`.
///
/// # Errors
/// When there is no answer, only Nacks, or an answer that is not verified.
pub fn newest_version(
    client: &mut Client,
    name: &[u8],
    trust: &Trust,
    wait: Span,
) -> Result<Vec<u8>, FetchError> {
    discovery::newest_version(client, name, trust, wait)
}

/// Fetches all segments of `settings.name` and writes their content to `output` in order; `watch` receives
/// the progress ten times a second.
///
/// # Errors
/// If the name is not valid for a fetch. Every later error is in [`Fetched::end`].
pub fn fetch(
    client: &mut Client,
    settings: FetchSettings,
    output: &mut dyn Write,
    watch: &mut dyn FnMut(&FetchProgress),
) -> Result<Fetched, FetchError> {
    client.set_for_interests()?;
    let mut fetch = Fetch::new(client, settings, output)?;
    let end = fetch.run(watch);
    Ok(fetch.finish(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receive_window_counts_data_by_the_largest_and_no_less_than_512_bytes() {
        let window = ByteCount::new(880_000);
        assert_eq!([8_800, 1_000, 100, 0].map(|size| receive_limit(window, size)), [100, 880, 1_718, 1_718]);
        assert_eq!(receive_limit(ByteCount::new(10), 8_800), 1);
        assert_eq!(receive_limit(ByteCount::new(u64::MAX), 512), u32::MAX);
    }
}
