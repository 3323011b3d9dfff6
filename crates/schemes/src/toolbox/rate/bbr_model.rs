//! Common model of BBR and its relatives: rates, rounds, minimum round trip, full pipe.
//!
//! Source: draft-cardwell-iccrg-bbr-congestion-control-00. Rates are packets per second: the size of a packet falls out
//! of window and gap alike.

use tidegate_core::prelude::*;

/// Parts of a packet per second in which rates are kept, so that they are whole numbers.
const MICRO: f64 = 1e6;
/// Highest rate kept, millionths of a packet per second: far above any link's.
const HIGHEST: f64 = 1e14;

/// A rate, millionths of a packet per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketRate(pub u64);

impl PacketRate {
    /// The rate of `packets` in `time`, which counts as at least a nanosecond.
    pub fn over(packets: u64, time: Span) -> Self {
        let seconds = time.max(Span::from_nanos(1)).as_secs_f64();
        Self((packets as f64 / seconds * MICRO).min(HIGHEST) as u64)
    }

    /// The delivery rate of a sample of TCP.
    pub fn of_sample(sample: &RateSample) -> Self {
        Self::over(sample.delivered, sample.interval)
    }

    /// This rate times `factor`, which is at least 0.
    pub fn scale(self, factor: f64) -> Self {
        Self((self.0 as f64 * factor).min(HIGHEST) as u64)
    }

    /// The rate in packets per second.
    pub fn per_second(self) -> f64 {
        self.0 as f64 / MICRO
    }

    /// Packets that come within `span`: with a round trip, the bandwidth-delay product.
    pub fn packets_in(self, span: Span) -> f64 {
        self.per_second() * span.as_secs_f64()
    }

    /// Pacing at `gain` times this rate; unpaced at rate 0, when there is no sample yet.
    pub fn pacing(self, gain: f64) -> Pacing {
        let per_second = gain * self.per_second();
        if per_second <= 0.0 {
            return Pacing::Unpaced;
        }
        Pacing::Gap(Span::from_secs_f64(1.0 / per_second).clamp(Span::from_nanos(1), LONGEST_GAP))
    }
}

/// Maximum gap between two Interests, so that a flow with a rate near 0 still measures when the rate has risen.
const LONGEST_GAP: Span = Span::from_secs(10);

/// Counter of rounds: one ends with the first Data whose Interest was sent after the end of the last round.
#[derive(Debug, Default)]
pub struct Rounds {
    /// Segments received at the end of the last round.
    ended_at: u64,
}

impl Rounds {
    /// Whether this Data ends a round.
    pub fn ends(&mut self, delivery: &Delivery, flow: &FlowView) -> bool {
        // Counted in deliveries, not in time: a round adapts to the RTT, and an idle sender ends none.
        let ends = delivery.delivered_at_send >= self.ended_at;
        if ends {
            self.ended_at = flow.delivered;
        }
        ends
    }

    /// Restarts the current round at this instant.
    pub fn restart(&mut self, flow: &FlowView) {
        self.ended_at = flow.delivered;
    }
}

/// Minimum RTT (RTprop) and the time of its last sample.
#[derive(Debug, Default)]
pub struct MinRoundTrip {
    min: Option<Span>,
    seen_at: Time,
}

impl MinRoundTrip {
    /// Minimum RTT; `None` before the first sample.
    pub const fn get(&self) -> Option<Span> {
        self.min
    }

    /// Takes a sample and returns whether the minimum RTT was older than `age`; then the sample replaces it, even if
    /// it is larger.
    pub fn take(&mut self, now: Time, rtt: Option<Span>, age: Span) -> bool {
        // An expired minimum takes any sample: a path whose RTT has grown would else keep the old value for
        // ever.
        let is_stale = self.min.is_some() && now.since(self.seen_at) > age;
        if let Some(rtt) = rtt
            && (is_stale || self.min.is_none_or(|min| rtt <= min))
        {
            self.min = Some(rtt);
            self.seen_at = now;
        }
        is_stale
    }

    /// Sets the time of the last sample to `now`; the minimum stays.
    pub fn renew(&mut self, now: Time) {
        self.seen_at = now;
    }
}

/// Detection of a full pipe: consecutive rounds in which the rate hardly grew.
#[derive(Debug)]
pub struct FullPipe {
    growth: f64,
    rounds: u32,
    reached: PacketRate,
    flat: u32,
}

impl FullPipe {
    /// Full after `rounds` rounds without a growth to `growth` times the rate.
    pub const fn new(growth: f64, rounds: u32) -> Self {
        Self { growth, rounds, reached: PacketRate(0), flat: 0 }
    }

    /// Records the end of a round with the estimate `rate`.
    pub fn end_round(&mut self, rate: PacketRate) {
        if self.is_full() {
            return;
        }
        if rate.per_second() >= self.growth * self.reached.per_second() {
            (self.reached, self.flat) = (rate, 0);
        } else {
            self.flat += 1;
        }
    }

    /// Restarts the count of flat rounds from `rate`.
    pub const fn restart(&mut self, rate: PacketRate) {
        (self.reached, self.flat) = (rate, 0);
    }

    /// Makes the next round count as growth, at any rate.
    pub const fn lower_bar(&mut self) {
        self.reached = PacketRate(0);
    }

    /// Whether the pipe was found full; stays true until a restart.
    pub const fn is_full(&self) -> bool {
        self.flat >= self.rounds
    }
}

/// Delivery rates that the rule itself holds down, in ProbeRTT; the rate sampler does not flag them as limited.
#[derive(Debug, Default)]
pub struct HeldDown {
    /// Range of delivery counts at send time whose samples are held down; `None` at first.
    delivered: Option<(u64, u64)>,
}

impl HeldDown {
    /// Marks segments sent from now on as held down, until all segments in flight now have been delivered.
    pub fn extend(&mut self, flow: &FlowView) {
        // An extension within the held-down time must keep its beginning: segments sent before are still in
        // flight.
        let since = match self.delivered {
            Some((since, until)) if until >= flow.delivered => since,
            _ => flow.delivered,
        };
        self.delivered = Some((since, flow.delivered + u64::from(flow.in_flight)));
    }

    /// Whether a segment that left after this number of deliveries was limited.
    pub fn covers(&self, delivered_at_send: u64) -> bool {
        self.delivered.is_some_and(|(since, until)| (since..=until).contains(&delivered_at_send))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_left_before_or_after_is_not_held_down() {
        let (mut held, at) = (HeldDown::default(), |delivered| {
            let mut flow = FlowView::default();
            (flow.delivered, flow.in_flight) = (delivered, 4);
            flow
        });
        assert!(!held.covers(0));
        held.extend(&at(100));
        assert_eq!([99, 100, 104, 105].map(|delivered| held.covers(delivered)), [false, true, true, false]);
        held.extend(&at(104));
        assert_eq!([99, 100, 108, 109].map(|delivered| held.covers(delivered)), [false, true, true, false]);
        held.extend(&at(200));
        assert_eq!([108, 199, 200].map(|delivered| held.covers(delivered)), [false, false, true]);
    }

    #[test]
    fn a_pipe_found_full_can_be_measured_anew() {
        let mut pipe = FullPipe::new(1.25, 2);
        pipe.end_round(PacketRate(100));
        pipe.end_round(PacketRate(100));
        pipe.lower_bar();
        pipe.end_round(PacketRate(50));
        pipe.end_round(PacketRate(60));
        assert!(!pipe.is_full(), "the round after the bar was lowered counted as growth");
        pipe.end_round(PacketRate(60));
        assert!(pipe.is_full());
        pipe.restart(PacketRate(60));
        pipe.end_round(PacketRate(60));
        assert!(!pipe.is_full());
    }

    #[test]
    fn the_least_round_trip_stays_until_it_is_too_old() {
        let (mut min, age) = (MinRoundTrip::default(), Span::from_millis(100));
        let mut take = |at_ms: u64, rtt_ms: Option<u64>| {
            let is_stale = min.take(Time::from_nanos(at_ms * 1_000_000), rtt_ms.map(Span::from_millis), age);
            (is_stale, min.get().map(|min| min.as_nanos() / 1_000_000))
        };
        assert_eq!(take(0, None), (false, None));
        assert_eq!(take(500, Some(40)), (false, Some(40)), "nothing is stale before the first");
        assert_eq!(take(550, Some(41)), (false, Some(40)));
        assert_eq!(take(560, Some(40)), (false, Some(40)), "seen again");
        assert_eq!(take(660, Some(50)), (false, Some(40)));
        assert_eq!(take(661, None), (true, Some(40)));
        assert_eq!(take(662, Some(50)), (true, Some(50)));
        assert_eq!(take(762, Some(60)), (false, Some(50)));
        min.renew(Time::from_nanos(762_000_000));
        assert!(!min.take(Time::from_nanos(862_000_000), None, age));
    }

    #[test]
    fn a_pipe_is_full_after_three_rounds_in_a_row_of_little_growth() {
        let mut pipe = FullPipe::new(1.25, 3);
        // 124 is less than 1.25 times 100; 125 is not.
        for (rate, is_full) in
            [(100, false), (124, false), (124, false), (125, false), (156, false), (1, false)]
        {
            pipe.end_round(PacketRate(rate));
            assert_eq!(pipe.is_full(), is_full, "{rate}");
        }
        pipe.end_round(PacketRate(156));
        assert!(pipe.is_full());
        pipe.end_round(PacketRate(10_000));
        assert!(pipe.is_full(), "found full once");
    }

    #[test]
    fn a_rate_gives_window_and_gap() {
        assert_eq!(PacketRate::over(10, Span::from_millis(40)), PacketRate(250_000_000));
        assert_eq!(PacketRate::over(u64::MAX, Span::ZERO), PacketRate(HIGHEST as u64));
        let rate = PacketRate(250_000_000);
        assert_eq!(rate.packets_in(Span::from_millis(40)), 10.0);
        assert_eq!(rate.pacing(2.0), Pacing::Gap(Span::from_millis(2)));
        assert_eq!(PacketRate(0).pacing(1.0), Pacing::Unpaced);
        assert_eq!(PacketRate(1).pacing(1.0), Pacing::Gap(LONGEST_GAP));
    }
}
