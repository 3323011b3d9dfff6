//! NFD's congestion marking: marks while a queue of bytes stands above a threshold, as often as CoDel's law lets it.
//!
//! Paper: none; NFD `daemon/face/generic-link-service.cpp`, `checkCongestionLevel`.

use tidegate_core::prelude::*;

use super::control_law;

/// When a congested queue is marked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstMark {
    /// After one interval above the threshold (NFD 0.7.0 and later).
    AfterInterval,
    /// At once, unless the last mark is less than one interval ago; the threshold is at most half of the queue's limit
    /// (NFD up to 0.6.6).
    AtOnce,
}

/// The discipline of one device.
#[derive(Debug)]
pub struct ThresholdMarker {
    threshold: ByteCount,
    interval: Span,
    first: FirstMark,
    /// [`Time::MAX`] while the queue is not above the threshold.
    next_mark: Time,
    /// `None` before the first mark.
    last_mark: Option<Time>,
    /// Marks since the queue went above the threshold.
    marked: u32,
}

impl ThresholdMarker {
    /// Marks while more than `threshold` waits; `interval` is the initial one between marks.
    pub fn new(threshold: ByteCount, interval: Span, first: FirstMark) -> Self {
        Self { threshold, interval, first, next_mark: Time::MAX, last_mark: None, marked: 0 }
    }

    fn on_congested(&mut self, now: Time) -> Verdict {
        match self.first {
            // The queue has to stand above the threshold for one interval before the first mark, as in NFD.
            FirstMark::AfterInterval if self.next_mark == Time::MAX => {
                self.next_mark = now + self.interval;
                return Verdict::Pass;
            }
            FirstMark::AtOnce if self.last_mark.is_none_or(|last| now >= last + self.interval) => {}
            _ if now < self.next_mark => return Verdict::Pass,
            _ => {}
        }
        // The schedule of a congested period begins with its first mark, not with the instant at which the
        // queue crossed the threshold.
        if self.first == FirstMark::AtOnce && self.marked == 0 {
            self.next_mark = now;
        }
        self.marked = self.marked.saturating_add(1);
        // Since 0.7.0 NFD divides by the root of n + 1: the second interval is already shorter, unlike in the rule
        // up to 0.6.6.
        let pauses = self.marked.saturating_add(u32::from(self.first == FirstMark::AfterInterval));
        self.next_mark += control_law::pause(self.interval, pauses);
        self.last_mark = Some(now);
        Verdict::Mark(1, Cause("nfd"))
    }
}

impl QueueDiscipline for ThresholdMarker {
    fn sees_departures(&self) -> bool {
        false
    }

    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        _: &mut Actions,
    ) -> Verdict {
        // NFD runs on NDN faces; it never handles a TCP segment that shares the link.
        if matches!(packet.kind, Kind::Tcp(_)) {
            return Verdict::Pass;
        }
        // Up to 0.6.6: a short queue would overflow before the fixed threshold, so half of its capacity counts if
        // that is less.
        let half = ByteCount::new(queue.limit_bytes().get() / 2);
        let threshold = match self.first {
            FirstMark::AfterInterval => self.threshold,
            FirstMark::AtOnce => self.threshold.min(half),
        };
        if queue.backlog_bytes() > threshold {
            return self.on_congested(cx.now);
        }
        self.next_mark = Time::MAX;
        self.marked = 0;
        Verdict::Pass
    }
}
