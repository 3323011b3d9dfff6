//! CoDel with marks: packets whose delay stays too long are marked, or request a mark on another packet.
//!
//! Paper: PCON (Schneider et al. 2016), `codel-queue2.cc` of the authors' ns-3. Unlike RFC 8289 the time of
//! the next mark counts from the last mark, is stretched by a factor, and survives a good period.

use tidegate_core::prelude::*;

use crate::toolbox::queue::control_law;

choice! {
    /// Packet that carries the mark.
    pub enum Carrier {
        /// The packet that waited too long carries the mark.
        Packet = "packet",
        /// The next packet that a strategy sends to this face carries the mark, if the strategy supports it (PCON).
        Face = "face",
    }
}

/// The discipline of one device.
#[derive(Debug)]
pub struct CodelMarker {
    target: Span,
    interval: Span,
    pause: Span,
    carrier: Carrier,
    /// Time of the first delay above the target; [`Time::MAX`] while delays are below it.
    above_since: Time,
    next_mark: Time,
    /// Marks since waiting times were last good.
    marked: u32,
}

impl CodelMarker {
    /// Marks once packets have waited longer than `target` for `interval`, then every `stretch` intervals over the
    /// square root of the number of marks.
    pub fn new(target: Span, interval: Span, stretch: f64, carrier: Carrier) -> Self {
        Self {
            target,
            interval,
            pause: interval.scale(stretch),
            carrier,
            above_since: Time::MAX,
            next_mark: Time::ZERO,
            marked: 0,
        }
    }

    fn on_good_again(&mut self, queue: &FaceView) {
        self.above_since = Time::MAX;
        self.marked = 0;
        if self.carrier == Carrier::Face {
            queue.clear_mark();
        }
    }

    fn on_above(&mut self, now: Time, size: ByteCount, sojourn: Span, queue: &FaceView) -> Verdict {
        // `Time::MAX` while delays are good, so the first delay above the target sets it and later ones leave
        // it.
        self.above_since = self.above_since.min(now);
        if now.since(self.above_since) <= self.interval || now < self.next_mark {
            return Verdict::Pass;
        }
        self.mark(now, size, sojourn, queue)
    }

    #[inline(never)]
    fn mark(&mut self, now: Time, size: ByteCount, sojourn: Span, queue: &FaceView) -> Verdict {
        self.marked = self.marked.saturating_add(1);
        // From this mark, as in the source; RFC 8289 adds to the scheduled time and may catch up with several
        // signals in a row.
        self.next_mark = now + control_law::pause(self.pause, self.marked);
        match self.carrier {
            Carrier::Packet => Verdict::Mark(1, Cause("codel")),
            Carrier::Face => {
                queue.leave_mark(sojourn, mark_ends(now, size, queue));
                Verdict::Pass
            }
        }
    }
}

/// Expiry of a mark that a packet of `size` leaves when it is put on the wire. A device that finds its queue empty
/// after that packet takes the mark back, as in the source.
fn mark_ends(now: Time, size: ByteCount, queue: &FaceView) -> Time {
    if queue.queued_packets() > 0 { Time::MAX } else { now + queue.rate().time_to_send(size) }
}

impl QueueDiscipline for CodelMarker {
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
        if sojourn > self.target {
            return self.on_above(cx.now, packet.size(), sojourn, queue);
        }
        if self.above_since != Time::MAX {
            self.on_good_again(queue);
        }
        Verdict::Pass
    }
}
