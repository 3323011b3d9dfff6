//! NFD's congestion marking up to 0.6.6: half a full queue marks at once.
//!
//! Paper: none; NFD `daemon/face/generic-link-service.cpp` (up to 0.6.6), `checkCongestionLevel`; used by
//! ndnSIM up to 2.7. A queue of 32 packets can be marked only under this rule, not under the later one.

use tidegate_core::prelude::*;

use crate::toolbox::queue::control_law;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "nfd-marking-0.6",
    summary: "marks packets from the moment the queue is half full",
    paper: "NFD up to 0.6.6, GenericLinkService",
    provenance: Provenance::Source,
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(NfdMarking06::new(Params::from_settings(settings)?)))),
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

#[derive(Debug)]
struct NfdMarking06 {
    params: Params,
    /// [`Time::MAX`] while the queue is not above the threshold.
    next_mark: Time,
    /// `None` before the first mark.
    last_mark: Option<Time>,
    /// Marks since the queue went above the threshold.
    marked: u32,
}

impl NfdMarking06 {
    fn new(params: Params) -> Self {
        Self { params, next_mark: Time::MAX, last_mark: None, marked: 0 }
    }

    fn on_congested(&mut self, now: Time) -> Verdict {
        let interval = self.params.interval;
        let rested = self.last_mark.is_none_or(|last| now >= last + interval);
        if now < self.next_mark && !rested {
            return Verdict::Pass;
        }
        // The schedule of a congested period begins with its first mark, not with the instant at which the
        // queue crossed the threshold.
        if self.marked == 0 {
            self.next_mark = now;
        }
        self.marked = self.marked.saturating_add(1);
        self.next_mark += control_law::pause(interval, self.marked);
        self.last_mark = Some(now);
        Verdict::Mark(1, Cause("nfd"))
    }
}

impl QueueDiscipline for NfdMarking06 {
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
        // A short queue would overflow before the fixed threshold, so half of its capacity counts if that is
        // less.
        let half = ByteCount::new(queue.limit_bytes().get() / 2);
        if queue.backlog_bytes() > self.params.threshold.min(half) {
            return self.on_congested(cx.now);
        }
        self.next_mark = Time::MAX;
        self.marked = 0;
        Verdict::Pass
    }
}
