//! Timers of a forwarder. Cancelled timers stay in the queue and are ignored when they fire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_core::ndn::face::FaceId;
use tidegate_core::units::Time;

/// Action of a timer that fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The shaper of a face releases the next packet.
    Send(FaceId),
    /// The queue discipline of a face requested a call.
    Queue(FaceId),
    /// Frames of a face have to be sent again, or acknowledgements on their own.
    Link(FaceId),
    /// The time for a stream to catch up has passed.
    Pressure(FaceId),
    /// Requests for certificates are made again, or take too long.
    Certificates,
    /// Entries of the forwarder's tables expire.
    Forwarder,
    /// Idle faces, expired routes and lost connections are checked.
    Housekeeping,
}

/// Pending timers in order of their times; the forwarder's is apart.
#[derive(Debug, Default)]
pub(super) struct Timers {
    pending: BinaryHeap<Reverse<(Time, Due)>>,
    /// Time of the forwarder's only timer. In the heap, each replaced timer would stay until its time, which
    /// may be far in the future.
    forwarder: Option<Time>,
}

impl Timers {
    /// Schedules `due` at `at`; the forwarder's timer replaces its earlier one.
    pub fn set(&mut self, at: Time, due: Due) {
        match due {
            Due::Forwarder => self.forwarder = Some(at),
            _ => self.pending.push(Reverse((at, due))),
        }
    }

    /// Time of the next timer; `None` without timers.
    pub fn next(&self) -> Option<Time> {
        self.pending.peek().map(|Reverse((at, _))| *at).into_iter().chain(self.forwarder).min()
    }

    /// Removes a timer that is due by `now`, earliest first, and returns it with its time.
    pub fn take(&mut self, now: Time) -> Option<(Time, Due)> {
        let at = self.next().filter(|at| *at <= now)?;
        if self.forwarder == Some(at) {
            self.forwarder = None;
            return Some((at, Due::Forwarder));
        }
        self.pending.pop().map(|Reverse(timer)| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::units::Span;

    #[test]
    fn timers_fire_in_the_order_of_their_times_and_not_before() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut timers = Timers::default();
        timers.set(at(2), Due::Send(FaceId(1)));
        timers.set(at(9), Due::Housekeeping);
        timers.set(at(3), Due::Forwarder);
        timers.set(at(5), Due::Forwarder);
        assert_eq!(timers.next(), Some(at(2)));
        assert_eq!(timers.take(at(1)), None);
        assert_eq!(timers.take(at(6)), Some((at(2), Due::Send(FaceId(1)))));
        assert_eq!(timers.take(at(6)), Some((at(5), Due::Forwarder)));
        assert_eq!(timers.take(at(6)), None);
    }
}
