//! NFD's congestion marking since 0.7.0: a queue above a fixed threshold for a whole interval marks.
//!
//! Paper: none; NFD `daemon/face/generic-link-service.cpp` (0.7.0 and later), `checkCongestionLevel`. The look at
//! the queue happens when a packet is handed to it, so a packet that then overflows has also had its look.

use tidegate_core::prelude::*;

use crate::toolbox::queue::threshold_marker::{FirstMark, ThresholdMarker};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "nfd-marking",
    summary: "marks packets while the queue stays above a fixed number of bytes",
    paper: "NFD 0.7.0 and later, GenericLinkService",
    provenance: Provenance::Source,
    params: Params::TABLE,
    discipline: Some(|settings, _| {
        let Params { threshold, interval } = Params::from_settings(settings)?;
        Ok(Box::new(ThresholdMarker::new(threshold, interval, FirstMark::AfterInterval)))
    }),
    marking: Marking::Always,
    ..Scheme::NONE
};

params! {
    /// Queue length above which the queue is congested (`default-congestion-threshold`).
    threshold: ByteCount = ByteCount::new(65_536), "size", ByteCount::ZERO..=ByteCount::new(1 << 40);
    /// Time that the queue has to stay above the threshold before the first mark; also the initial interval between
    /// marks (`base-congestion-marking-interval`).
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
}
