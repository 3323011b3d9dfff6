//! CoDel that marks, as PCON's routers use it: packets that keep waiting too long carry a mark.
//!
//! Paper: PCON (Schneider et al. 2016), `codel-queue2.cc` of the authors' ns-3. Unlike RFC 8289 the time of
//! the next mark counts from the last mark, is stretched by 1.1, and survives a good period.

use tidegate_core::params;
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::units::Span;
use tidegate_core::whole::Marking;

use crate::toolbox::codel_marker::{Carrier, CodelMarker};

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "codel-mark",
    summary: "marks packets while waiting times stay above a target",
    paper: "Schneider, Yi, Zhang, Zhang: A Practical Congestion Control Scheme for NDN, ICN 2016",
    provenance: Provenance::Source,
    deviations: &["The packet that waited carries the mark, so that no strategy is needed (`carrier = \"face\"`)."],
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(Params::from_settings(settings)?.marker()))),
    marking: Marking::Always,
    ..Scheme::NONE
};

params! {
    /// Waiting time that is still good (`codel-queue2.cc`, CoDel's default).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time above the target before the first mark, and first pause.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Factor on every pause (`codel-queue2.cc`).
    stretch: f64 = 1.1, "times the interval", 0.1..=10.0;
    /// What carries the mark.
    carrier: Carrier = Carrier::Packet;
}

impl Params {
    fn marker(self) -> CodelMarker {
        let Self { target, interval, stretch, carrier } = self;
        CodelMarker::new(target, interval, stretch, carrier)
    }
}
