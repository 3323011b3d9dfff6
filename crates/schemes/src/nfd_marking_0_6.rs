//! NFD's congestion marking up to 0.6.6: half a full queue marks at once.
//!
//! Paper: none; NFD `daemon/face/generic-link-service.cpp` (up to 0.6.6), `checkCongestionLevel`; used by
//! ndnSIM up to 2.7. A queue of 32 packets can be marked only under this rule, not under the later one.

use tidegate_core::prelude::*;

use crate::toolbox::queue::threshold_marker::{FirstMark, ThresholdMarker};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "nfd-marking-0.6",
    summary: "marks packets from the moment the queue is half full",
    paper: "NFD up to 0.6.6, GenericLinkService",
    provenance: Provenance::Source,
    params: Params::TABLE,
    discipline: Some(|settings, _| {
        let Params { threshold, interval } = Params::from_settings(settings)?;
        Ok(Box::new(ThresholdMarker::new(threshold, interval, FirstMark::AtOnce)))
    }),
    marking: Marking::Always,
    ..Scheme::NONE
};

params! {
    /// Queue length above which the queue is congested; at most half of its limit (a limit in packets counts 1500 bytes
    /// each).
    threshold: ByteCount = ByteCount::new(65_536), "size", ByteCount::ZERO..=ByteCount::new(1 << 40);
    /// Initial interval between marks, and minimum time between the first marks of two congested periods.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
}
