//! Congestion marks of streams by the time that packets wait, beside NFD's marks by bytes: the threshold in bytes is half a
//! second of a slow connection, and never reached by Interests.

use tidegate_core::context::Context;
use tidegate_core::ndn::face::FaceView;
use tidegate_core::ndn::packet::Header;
use tidegate_core::observe::event::Cause;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::units::{Span, Time};

/// Time in the queue from which on a packet is late (RFC 8289, section 4.3).
const TARGET: Span = Span::from_millis(5);

/// Time for which packets have to be late before the first mark, and between the first two marks (RFC 8289, section 4.2).
const INTERVAL: Span = Span::from_millis(100);

/// NFD's marking and marks by time, for the queue of a stream.
#[derive(Debug)]
pub(super) struct StreamMarking {
    by_bytes: Box<dyn QueueDiscipline>,
    /// Time of the next mark while packets are late; `None` while they are not.
    next: Option<Time>,
    /// Marks since packets have been late.
    marks: u32,
}

impl StreamMarking {
    /// The marks of `by_bytes`, and those by time.
    pub fn new(by_bytes: Box<dyn QueueDiscipline>) -> Self {
        Self { by_bytes, next: None, marks: 0 }
    }

    /// Whether a packet that leaves at `now` after `sojourn` in the queue is marked. Marks come at increasing frequency, like those
    /// of CoDel.
    fn is_due(&mut self, now: Time, sojourn: Span) -> bool {
        if sojourn < TARGET {
            self.next = None;
            self.marks = 0;
            return false;
        }
        let next = *self.next.get_or_insert(now + INTERVAL);
        if now < next {
            return false;
        }
        self.marks += 1;
        self.next = Some(now + INTERVAL.scale(f64::from(self.marks).sqrt().recip()));
        true
    }
}

impl QueueDiscipline for StreamMarking {
    fn on_enqueue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        self.by_bytes.on_enqueue(cx, packet, queue, actions)
    }

    fn on_dequeue(
        &mut self,
        cx: &mut Context<'_>,
        packet: &mut Header,
        sojourn: Span,
        queue: &FaceView,
        actions: &mut Actions,
    ) -> Verdict {
        match self.by_bytes.on_dequeue(cx, packet, sojourn, queue, actions) {
            Verdict::Pass if self.is_due(cx.now, sojourn) => Verdict::Mark(1, Cause("time in queue")),
            verdict => verdict,
        }
    }

    fn on_clear(&mut self) {
        self.by_bytes.on_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of marks, milliseconds, of a packet each millisecond that waited as long as `sojourn_ms` of it says.
    fn marks(sojourn_ms: impl Fn(u64) -> u64) -> Vec<u64> {
        #[derive(Debug)]
        struct Nothing;
        impl QueueDiscipline for Nothing {}
        let mut marking = StreamMarking::new(Box::new(Nothing));
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        (0..500).filter(|now| marking.is_due(at(*now), Span::from_millis(sojourn_ms(*now)))).collect()
    }

    #[test]
    fn the_first_mark_comes_after_an_interval_of_late_packets_and_further_ones_ever_faster() {
        assert_eq!(marks(|_| 5), [100, 200, 271, 329, 379, 424, 465]);
    }

    #[test]
    fn a_packet_that_is_not_late_ends_the_series() {
        assert!(marks(|_| 4).is_empty());
        assert_eq!(marks(|now| if now == 99 { 0 } else { 9 }), [200, 300, 371, 429, 479]);
    }
}
