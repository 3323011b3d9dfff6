//! CoDel that marks, as PCON's routers use it: packets that keep waiting too long carry a mark.
//!
//! Paper: PCON (Schneider et al. 2016), `codel-queue2.cc` of the authors' ns-3. Unlike RFC 8289 the time of
//! the next mark counts from the last mark, is stretched by 1.1, and survives a good period.

use tidegate_core::prelude::*;

use crate::toolbox::queue::codel_marker::{Carrier, CodelMarker};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "codel-mark",
    summary: "marks packets while the queueing delay stays above a target",
    paper: "Schneider, Yi, Zhang, Zhang: A Practical Congestion Control Scheme for NDN, ICN 2016",
    provenance: Provenance::Source,
    deviations: &["The delayed packet itself carries the mark, so that no special strategy is needed; `carrier = \"face\"` \
         restores the source's behaviour."],
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(Params::from_settings(settings)?.marker()))),
    marking: Marking::Always,
    ..Scheme::NONE
};

params! {
    /// Acceptable standing queueing delay (`codel-queue2.cc`, CoDel's default).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time that the delay has to stay above the target before the first mark; also the initial interval between marks.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Factor on the interval between marks (`codel-queue2.cc`).
    stretch: f64 = 1.1, "times the interval", 0.1..=10.0;
    /// Which packet carries the mark: `packet`, the one that waited too long; `face`, the next one that a strategy
    /// sends to this face, if the strategy supports it (PCON).
    carrier: Carrier = Carrier::Packet;
}

impl Params {
    fn marker(self) -> CodelMarker {
        let Self { target, interval, stretch, carrier } = self;
        CodelMarker::new(target, interval, stretch, carrier)
    }
}
