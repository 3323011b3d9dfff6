//! CoDel that marks, as PCON's routers use it: packets that keep waiting too long carry a mark.
//!
//! Paper: PCON (Schneider et al. 2016), `codel-queue2.cc` of the authors' ns-3. Unlike RFC 8289 the time of
//! the next mark counts from the last mark, is stretched by 1.1, and survives a good period.

use tidegate_core::context::Context;
use tidegate_core::event::Cause;
use tidegate_core::face::FaceView;
use tidegate_core::packet::Header;
use tidegate_core::queue::{Actions, QueueDiscipline, Verdict};
use tidegate_core::scheme::{Provenance, Scheme};
use tidegate_core::signal::Class;
use tidegate_core::units::{Span, Time};
use tidegate_core::{choice, params};

use crate::toolbox::control_law;

/// The catalogue entry.
pub static SCHEME: Scheme = Scheme {
    name: "codel-mark",
    summary: "marks packets while waiting times stay above a target",
    paper: "Schneider, Yi, Zhang, Zhang: A Practical Congestion Control Scheme for NDN, ICN 2016",
    provenance: Provenance::Source,
    deviations: &["The packet that waited carries the mark, so that no strategy is needed (`carrier = \"face\"`)."],
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(CodelMark::new(Params::from_settings(settings)?)))),
    ..Scheme::NONE
};

choice! {
    /// What carries the mark.
    pub enum Carrier {
        /// The packet that waited too long.
        Packet = "packet",
        /// The next packet that a strategy sends to this face, if it asks (PCON).
        Face = "face",
    }
}

params! {
    /// Waiting time that is still good (`codel-queue2.cc`, CoDel's default).
    target: Span = Span::from_millis(5), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Time above the target before the first mark, and first pause.
    interval: Span = Span::from_millis(100), "time", Span::from_micros(1)..=Span::from_secs(100);
    /// Factor on every pause (`codel-queue2.cc`).
    stretch: f64 = 1.1, "times the interval", 0.1..=10.0;
    /// What carries the mark.
    carrier: Carrier = Carrier::Packet;
}

#[derive(Debug)]
struct CodelMark {
    target: Span,
    interval: Span,
    pause: Span,
    carrier: Carrier,
    /// [`Time::MAX`] while waiting times are good.
    above_since: Time,
    next_mark: Time,
    /// Marks since waiting times were last good.
    marked: u32,
}

impl CodelMark {
    fn new(params: Params) -> Self {
        let Params { target, interval, stretch, carrier } = params;
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
            queue.take_mark();
        }
    }

    fn on_above(&mut self, now: Time, queue: &FaceView) -> Verdict {
        self.above_since = self.above_since.min(now);
        if now.since(self.above_since) <= self.interval || now < self.next_mark {
            return Verdict::Pass;
        }
        self.marked = self.marked.saturating_add(1);
        self.next_mark = now + control_law::pause(self.pause, self.marked);
        match self.carrier {
            Carrier::Packet => Verdict::Mark(1, Cause("codel")),
            Carrier::Face => {
                queue.leave_mark();
                Verdict::Pass
            }
        }
    }
}

impl QueueDiscipline for CodelMark {
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
        if sojourn > self.target {
            return self.on_above(cx.now, queue);
        }
        if self.above_since != Time::MAX {
            self.on_good_again(queue);
        }
        Verdict::Pass
    }
}
