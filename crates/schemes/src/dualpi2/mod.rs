//! DualPI2: a separate queue for segments with low latency, coupled to the drops of the classic queue.
//!
//! Paper: RFC 9332, appendix A; Linux `sch_dualpi2` for the weighted scheduler.

mod coupled;
#[cfg(test)]
mod tests;

use tidegate_core::prelude::*;

use coupled::{Coupled, Recurrence};

/// The catalogue entry of this scheme.
pub static SCHEME: Scheme = Scheme {
    name: "dualpi2",
    summary: "keeps the delay of ECT(1) segments low in a queue of their own, and couples their marks to the drops of all \
         others",
    paper: "RFC 9332",
    provenance: Provenance::Paper,
    deviations: &[
        "A segment is low-latency by its ECT(1), marked or not; on the wire a mark hides ECT(0), and the RFC treats \
         all marked packets as low-latency.",
        "The step is the default, where appendix A has a ramp from 0.8 to 1.2 ms: step = \"0.8ms\", ramp = \"0.4ms\".",
        "Due updates of the probability are computed when a packet arrives or leaves; the values that they depend on do not change in between.",
        "With a probability of 1 the first packet is signalled too; the counter of the pseudocode has to exceed 1.",
        "The queue's own limit replaces the 250 ms of the pseudocode.",
    ],
    params: Params::TABLE,
    discipline: Some(|settings, _| Ok(Box::new(DualPi2::new(Params::from_settings(settings)?)))),
    marking: Marking::Always,
    ..Scheme::NONE
};

choice! {
    /// Choice of the queue to serve when both have packets.
    pub enum Scheduler {
        /// The queue whose head arrived first, where low-latency packets count as `shift` older.
        TimeShifted = "time-shifted",
        /// The low-latency queue, except for a share of the classic one (Linux: c_protection).
        Weighted = "weighted",
    }
}

params! {
    /// Target queueing delay of classic packets (target).
    target: Span = Span::from_millis(15), "time", Span::from_micros(1)..=Span::from_secs(10);
    /// Interval between two updates of the probability (Tupdate).
    update: Span = Span::from_millis(16), "time", Span::from_micros(100)..=Span::from_secs(10);
    /// Integral gain of the controller (alpha).
    alpha: f64 = 0.16, "1/s", 0.0..=1_000.0;
    /// Proportional gain of the controller (beta).
    beta: f64 = 3.2, "1/s", 0.0..=10_000.0;
    /// Coupling factor: probability of a low-latency mark per unit of the base probability (k).
    coupling: f64 = 2.0, "times", 0.1..=100.0;
    /// Queueing delay of low-latency packets above which they are marked; at least the transmission time of one packet
    /// (minTh).
    step: Span = Span::from_millis(1), "time", Span::ZERO..=Span::from_secs(10);
    /// Width of the range above `step` in which the marking probability rises from 0 to 1 (range).
    ramp: Span = Span::ZERO, "time", Span::ZERO..=Span::from_secs(10);
    /// Which queue is served when both have packets: `time-shifted`, the one whose head arrived first, with low-latency
    /// packets treated as `shift` older; `weighted`, the low-latency one, except for a share of `classic_weight`.
    scheduler: Scheduler = Scheduler::TimeShifted;
    /// With scheduler = "time-shifted": time added to the age of low-latency packets (tshift), twice the target.
    shift: Span = Span::from_millis(30), "time", Span::ZERO..=Span::from_secs(10);
    /// With scheduler = "weighted": fraction of the link's rate for the classic queue while both queues have packets.
    classic_weight: f64 = 0.1, "of the link", 0.0..=1.0;
}

/// The lane of segments with ECT(1).
const LOW_LATENCY: u32 = 0;
/// The lane of all other packets.
const CLASSIC: u32 = 1;

const COUPLED: Cause = Cause("dualpi2 coupled");
const STEP: Cause = Cause("dualpi2 step");
const SQUARED: Cause = Cause("dualpi2 squared");
const OVERLOAD: Cause = Cause("dualpi2 overload");
/// Packet size by which the credit starts, and whose transmission time is the minimum threshold.
const FULL_PACKET: ByteCount = ByteCount::new(1_514);

#[derive(Debug)]
struct DualPi2 {
    params: Params,
    coupled: Coupled,
    low_latency: Recurrence,
    classic: Recurrence,
    /// Credit of the weighted scheduler, bytes times weight: above zero, the classic queue is next.
    credit: f64,
}

impl DualPi2 {
    fn new(params: Params) -> Self {
        let coupled = Coupled::new(&params);
        let mut new =
            Self { params, coupled, low_latency: Recurrence::default(), classic: Recurrence::default(), credit: 0.0 };
        new.reset_credit();
        new
    }

    fn reset_credit(&mut self) {
        self.credit = FULL_PACKET.get() as f64 * (2.0 * self.params.classic_weight - 1.0);
    }

    fn catch_up(&mut self, now: Time, lanes: &dyn Lanes) {
        self.coupled.catch_up(now, lanes.head(CLASSIC).map(|head| head.since));
    }

    /// Whether the low-latency head is served first.
    fn is_low_latency_next(&self, low: LaneHead<'_>, classic: LaneHead<'_>) -> bool {
        match self.params.scheduler {
            Scheduler::TimeShifted => low.since <= classic.since + self.params.shift,
            Scheduler::Weighted => self.credit <= 0.0,
        }
    }

    /// Charges a packet of `size` that leaves `lane` while the other lane has packets too.
    fn pay(&mut self, lane: u32, size: ByteCount) {
        let (size, weight) = (size.get() as f64, self.params.classic_weight);
        self.credit += if lane == CLASSIC { -(1.0 - weight) * size } else { weight * size };
    }

    fn low_latency_verdict(&mut self, waited: Span, threshold: Span) -> Verdict {
        let coupled = self.coupled.low_latency();
        if coupled >= 1.0 {
            // Marks alone no longer help: those packets are dropped as classic ones are.
            return match self.low_latency.is_due(self.coupled.classic()) {
                true => Verdict::Drop(OVERLOAD),
                false => Verdict::Mark(1, COUPLED),
            };
        }
        // The larger of both, as in the RFC: the step protects a queue without classic traffic, the coupling
        // a shared one.
        let own = self.own_likelihood(waited, threshold);
        let cause = if own > coupled { STEP } else { COUPLED };
        if self.low_latency.is_due(own.max(coupled)) { Verdict::Mark(1, cause) } else { Verdict::Pass }
    }

    /// The low-latency queue's own likelihood of a mark (laqm).
    fn own_likelihood(&self, waited: Span, threshold: Span) -> f64 {
        if waited <= threshold {
            return 0.0;
        }
        // Also excludes the division by a ramp of width 0 below, which makes the ramp a step.
        if waited >= threshold + self.params.ramp {
            return 1.0;
        }
        (waited - threshold).as_secs_f64() / self.params.ramp.as_secs_f64()
    }

    fn classic_verdict(&mut self, header: &Header) -> Verdict {
        if !self.classic.is_due(self.coupled.classic()) {
            return Verdict::Pass;
        }
        match self.coupled.low_latency() >= 1.0 {
            true => Verdict::Drop(OVERLOAD),
            false if header.may_be_marked() => Verdict::Mark(1, SQUARED),
            false => Verdict::Drop(SQUARED),
        }
    }
}

impl QueueDiscipline for DualPi2 {
    fn sees_arrivals(&self) -> bool {
        false
    }

    fn sees_departures(&self) -> bool {
        false
    }

    fn lanes(&self) -> u32 {
        2
    }

    fn place(
        &mut self,
        cx: &mut Context<'_>,
        packet: &Header,
        _: &FaceView,
        lanes: &dyn Lanes,
    ) -> Placement {
        self.catch_up(cx.now, lanes);
        // The credit of an earlier busy period must not decide about the next one.
        if lanes.packets(LOW_LATENCY) + lanes.packets(CLASSIC) == 0 {
            self.reset_credit();
        }
        let is_low_latency = matches!(packet.kind, Kind::Tcp(segment) if segment.ecn == Ecn::LowLatency);
        Placement::Lane(if is_low_latency { LOW_LATENCY } else { CLASSIC })
    }

    fn select(&mut self, cx: &mut Context<'_>, queue: &FaceView, lanes: &dyn Lanes) -> Selection {
        self.catch_up(cx.now, lanes);
        let (low, classic) = (lanes.head(LOW_LATENCY), lanes.head(CLASSIC));
        let both = low.zip(classic);
        // Without packets in both queues there is nothing to schedule.
        let is_low_next = both.map_or(low.is_some(), |(low, classic)| self.is_low_latency_next(low, classic));
        let (lane, head) = if is_low_next { (LOW_LATENCY, low) } else { (CLASSIC, classic) };
        let Some(head) = head else { return Selection::Until(Time::MAX) };
        let verdict = if is_low_next {
            // A packet waits at least for the one being sent; on a slow link a shorter step would mark every
            // packet.
            let threshold = self.params.step.max(queue.rate().time_to_send(FULL_PACKET));
            self.low_latency_verdict(cx.now.since(head.since), threshold)
        } else {
            self.classic_verdict(head.header)
        };
        // Credit settles between the two queues; one that is alone takes nothing from the other.
        if both.is_some() && !matches!(verdict, Verdict::Drop(_)) {
            self.pay(lane, head.header.size());
        }
        Selection::Head(lane, verdict)
    }
}
