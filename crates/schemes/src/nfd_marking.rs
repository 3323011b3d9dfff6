//! NFD's congestion marking since 0.7.0: a queue above a fixed threshold for a whole interval marks.
//!
//! Paper: none; NFD `daemon/face/generic-link-service.cpp` (0.7.0 and later), `checkCongestionLevel`. The look at
//! the queue happens when a packet is handed to it, so a packet that then overflows has also had its look.

use tidegate_core::prelude::*;

use crate::toolbox::queue::control_law;

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "nfd-marking",
    summary: "marks packets while the queue stays above a fixed number of bytes",
    paper: "NFD 0.7.0 and later, GenericLinkService",
    provenance: Provenance::Source,
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(NfdMarking::new(Params::from_settings(settings)?)))),
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

#[derive(Debug)]
struct NfdMarking {
    params: Params,
    /// [`Time::MAX`] while the queue is not above the threshold.
    next_mark: Time,
    /// Marks since the queue went above the threshold.
    marked: u32,
}

impl NfdMarking {
    fn new(params: Params) -> Self {
        Self { params, next_mark: Time::MAX, marked: 0 }
    }

    fn on_congested(&mut self, now: Time) -> Verdict {
        // The queue has to stand above the threshold for one interval before the first mark, as in NFD.
        if self.next_mark == Time::MAX {
            self.next_mark = now + self.params.interval;
            return Verdict::Pass;
        }
        if now < self.next_mark {
            return Verdict::Pass;
        }
        self.marked = self.marked.saturating_add(1);
        // NFD divides by the root of n + 1: the second interval is already shorter, unlike in the rule up to
        // 0.6.6.
        self.next_mark += control_law::pause(self.params.interval, self.marked.saturating_add(1));
        Verdict::Mark(1, Cause("nfd"))
    }
}

impl QueueDiscipline for NfdMarking {
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
        if queue.backlog_bytes() > self.params.threshold {
            return self.on_congested(cx.now);
        }
        self.next_mark = Time::MAX;
        self.marked = 0;
        Verdict::Pass
    }
}
