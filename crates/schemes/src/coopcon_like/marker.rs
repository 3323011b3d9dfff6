//! The marker: Data is marked with level 1 while delays stay above a target, and with level 2 while the delay or the
//! queue is far too long, as often as CoDel's control law allows.

use tidegate_core::prelude::*;

use super::{MILD, Params, SEVERE};
use crate::toolbox::queue::control_law;

/// The discipline of one device.
#[derive(Debug)]
pub(super) struct LevelMarker {
    params: Params,
    /// Time of the first delay above the target; [`Time::MAX`] while delays are below it.
    above_since: Time,
    next_mark: Time,
    /// Number of marks since the congestion began.
    marked: u32,
}

impl LevelMarker {
    pub(super) fn new(params: Params) -> Self {
        Self { params, above_since: Time::MAX, next_mark: Time::ZERO, marked: 0 }
    }

    /// Level of congestion for a packet that waited `sojourn`; `None` while it is above the target, but not for long.
    fn level(&mut self, now: Time, sojourn: Span, queue: &FaceView) -> Option<u8> {
        // Severe congestion is marked at once, without the interval that mild congestion has to last.
        if sojourn > self.params.severe_target || queue.occupancy() > self.params.severe_occupancy {
            return Some(SEVERE);
        }
        if sojourn <= self.params.target {
            self.above_since = Time::MAX;
            return Some(0);
        }
        self.above_since = self.above_since.min(now);
        (now.since(self.above_since) >= self.params.interval).then_some(MILD)
    }

    fn mark(&mut self, now: Time, level: u8) -> Verdict {
        if now < self.next_mark {
            return Verdict::Pass;
        }
        self.marked = self.marked.saturating_add(1);
        self.next_mark = now + control_law::pause(self.params.interval, self.marked);
        Verdict::Mark(level, Cause(if level == SEVERE { "severe" } else { "mild" }))
    }
}

impl QueueDiscipline for LevelMarker {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // A notice overtakes the bulk packets, so its short wait is not a sample of the queue.
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        match self.level(cx.now, sojourn, queue) {
            Some(0) => {
                self.marked = 0;
                Verdict::Pass
            }
            // A mark on an Interest has no receiver.
            Some(level) if matches!(packet.kind, Kind::Data(_)) => self.mark(cx.now, level),
            _ => Verdict::Pass,
        }
    }
}
