//! Congestion marking of a face that exists: commands turn it on and off, and change interval and threshold.

use tidegate_core::context::Context;
use tidegate_core::ndn::face::{FaceId, FaceView};
use tidegate_core::ndn::packet::Header;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::scheme::DeviceSetup;
use tidegate_core::scheme::params::{Setting, Settings};

use super::super::face::{Face, FaceMarking, Line};
use super::super::faces::{DEFAULT_MARKING_INTERVAL, DEFAULT_MARKING_THRESHOLD, marking};
use super::super::start::UNLIMITED;
use super::super::stream_marking::StreamMarking;
use super::super::{Daemon, management::faces::CONGESTION_MARKING};
use crate::nfd::ControlParameters;

/// Takes the place of a marking that was turned off.
#[derive(Debug)]
struct NoMarking;

impl QueueDiscipline for NoMarking {
    fn on_enqueue(&mut self, _: &mut Context<'_>, _: &mut Header, _: &FaceView, _: &mut Actions) -> Verdict {
        Verdict::Pass
    }

    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }
}

impl Daemon {
    /// The marking that a face is to have after `requested`; `None` for none.
    pub(super) fn requested_marking(
        &self,
        face: &Face,
        requested: &ControlParameters,
    ) -> Option<FaceMarking> {
        let is_named = requested.mask.unwrap_or(0) & CONGESTION_MARKING != 0;
        let is_on = match is_named {
            true => requested.flags.unwrap_or(0) & CONGESTION_MARKING != 0,
            false => face.marking.is_some(),
        };
        let configured = marking(&self.config.face_defaults).map(|(marking, _)| marking);
        let base = face.marking.or(configured).unwrap_or(FaceMarking {
            interval_ns: DEFAULT_MARKING_INTERVAL.as_nanos(),
            threshold_bytes: DEFAULT_MARKING_THRESHOLD.get(),
        });
        is_on.then(|| FaceMarking {
            interval_ns: requested.marking_interval_ns.unwrap_or(base.interval_ns),
            threshold_bytes: requested.marking_threshold_bytes.unwrap_or(base.threshold_bytes),
        })
    }

    /// Whether a face can have this marking.
    pub(super) fn can_mark(&self, id: FaceId, marking: Option<FaceMarking>) -> bool {
        marking.is_none_or(|marking| self.marker(id, marking).is_some())
    }

    /// Gives the queue of a face this marking; packets that wait stay.
    pub(super) fn set_marking(&mut self, id: FaceId, marking: Option<FaceMarking>) {
        let marker = marking.and_then(|marking| self.marker(id, marking));
        let Some(face) = &mut self.faces[id.index()] else { return };
        if face.marking == marking {
            return;
        }
        if matches!(face.line, Line::Far(_)) {
            // The queue is at the owner of the face.
            face.marking = marking;
            return;
        }
        let marker = marker.unwrap_or_else(|| Box::new(NoMarking));
        let place = face.marking_place.unwrap_or(usize::MAX);
        face.marking_place = Some(self.node.set_discipline(id, place, marker));
        face.marking = marking;
    }

    /// The discipline that marks; `None` if it cannot have these settings, or is not built in.
    fn marker(&self, id: FaceId, marking: FaceMarking) -> Option<Box<dyn QueueDiscipline>> {
        let make = self.config.marking?.discipline?;
        let text = |name: &str, value: String| (name.to_owned(), Setting::Text(value));
        let settings = Settings(vec![
            text("interval", format!("{}ns", marking.interval_ns)),
            text("threshold", format!("{}B", marking.threshold_bytes)),
        ]);
        let limit = self.node.faces()[id.index()].limit();
        let made = make(&settings, &DeviceSetup::new(id, UNLIMITED, limit, self.streams)).ok()?;
        let is_ruled = self.faces[id.index()].as_ref().is_some_and(|face| face.pressure.is_ruling);
        Some(if is_ruled { Box::new(StreamMarking::new(made)) } else { made })
    }
}
