//! The marking queue (`codel-queue2.cc`): CoDel requests that the strategy mark the next Data for its link.

use tidegate_core::queue::QueueDiscipline;

use super::Params;
use crate::toolbox::queue::codel_marker::{Carrier, CodelMarker};

/// The discipline of one device.
pub(super) fn discipline(params: &Params) -> Box<dyn QueueDiscipline> {
    Box::new(CodelMarker::new(params.target, params.interval, params.stretch, Carrier::Face))
}
