//! CoDel: drops (or marks) packets while waiting times stay above a target.
//!
//! Paper: RFC 8289, the pseudocode of its section 5; the loop over several packets is one decision per packet here.

use tidegate_core::context::Context;
use tidegate_core::event::Cause;
use tidegate_core::face::FaceView;
use tidegate_core::packet::Header;
use tidegate_core::params;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::signal::Class;
use tidegate_core::units::{ByteCount, Span, Time};

use crate::toolbox::control_law;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "codel",
    summary: "drops packets while waiting times stay above a target",
    paper: "RFC 8289",
    provenance: Provenance::Paper,
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(Codel::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

params! {
    /// Waiting time that is still good (TARGET).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time above the target before the first drop, and first pause (INTERVAL).
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Whether packets are marked in place of dropped.
    mark: bool = false;
}

#[derive(Debug)]
struct Codel {
    params: Params,
    /// When a queue that stays above the target has done so for an interval; [`Time::MAX`] while it is good.
    first_above: Time,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// A drop was made and the time of the next one is not known before the following packet.
    next_is_open: bool,
    /// Largest packet seen; a queue of that size is as good as empty.
    largest: ByteCount,
}

impl Codel {
    fn new(params: Params) -> Self {
        Self {
            params,
            first_above: Time::MAX,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
            next_is_open: false,
            largest: ByteCount::ZERO,
        }
    }

    fn leave_drop_state(&mut self) {
        self.dropping = false;
        self.next_is_open = false;
    }

    fn on_above(&mut self, now: Time) -> Verdict {
        if self.first_above == Time::MAX {
            self.first_above = now + self.params.interval;
        }
        if now < self.first_above {
            self.leave_drop_state();
            return Verdict::Pass;
        }
        if !self.dropping {
            return self.enter_drop_state(now);
        }
        if std::mem::take(&mut self.next_is_open) {
            self.drop_next += control_law::pause(self.params.interval, self.count);
        }
        if now < self.drop_next { Verdict::Pass } else { self.drop_again() }
    }

    /// Starts near the rate that held the queue last time, if that was not long ago.
    fn enter_drop_state(&mut self, now: Time) -> Verdict {
        self.dropping = true;
        let grown = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < self.params.interval * 16;
        self.count = if grown > 1 && recent { grown } else { 1 };
        self.last_count = self.count;
        self.drop_next = now + control_law::pause(self.params.interval, self.count);
        self.verdict()
    }

    fn drop_again(&mut self) -> Verdict {
        self.count = self.count.saturating_add(1);
        if self.params.mark {
            self.drop_next += control_law::pause(self.params.interval, self.count);
        } else {
            self.next_is_open = true;
        }
        self.verdict()
    }

    fn verdict(&self) -> Verdict {
        if self.params.mark { Verdict::Mark(1, Cause("codel")) } else { Verdict::Drop(Cause("codel")) }
    }
}

impl QueueDiscipline for Codel {
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
        // A notice overtakes the bulk packets, so its short wait says nothing about them.
        if packet.hop.class != Class::BULK {
            return Verdict::Pass;
        }
        self.largest = self.largest.max(packet.size());
        if sojourn >= self.params.target && queue.queued_bytes() > self.largest {
            return self.on_above(cx.now);
        }
        self.first_above = Time::MAX;
        self.leave_drop_state();
        Verdict::Pass
    }
}
