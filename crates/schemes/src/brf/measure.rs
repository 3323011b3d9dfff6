//! Measures the sending rate of a flow, and classifies it as application-limited or not (§3.3).

use tidegate_core::prelude::*;

/// Minimum number of full segments for a judgement, unless [`LONGEST`] has passed: a limited flow that is granted 1.1
/// of its rate uses 0.91 of its grant, an unlimited one all of it, give or take a segment; 0.95 separates them from
/// 25 segments on.
const SEGMENTS_JUDGED: f64 = 30.0;
/// Bytes of a full segment on the wire.
pub const SEGMENT: f64 = 1514.0;
/// Maximum time before a judgement.
const LONGEST: Span = Span::from_millis(500);
/// Number of judgements over which the rate of a limited flow is averaged, because one counts a few segments only,
/// and whose maximum is the demand of a flow.
const KEPT: usize = 4;

/// Rules by which a flow counts as limited.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// A flow that sends less than this part of its grant is limited (the paper's α).
    pub limited_below: f64,
    /// Judgements in a row that make a flow limited; one makes it unlimited again.
    pub confirmations: u32,
}

/// Meter of one flow.
#[derive(Clone, Debug, Default)]
pub struct FlowMeter {
    bytes: u64,
    /// Start of the interval; `None` until a round begins after the first data of the flow.
    since: Option<Time>,
    has_data: bool,
    /// Lowest rate that may have been in force in the interval before and in this one, bytes/s: a segment still
    /// follows a grant written an RTT ago.
    lowest: [f64; 2],
    in_force: Option<f64>,
    /// Bytes and seconds of the last judgements.
    recent: [(f64, f64); KEPT],
    judged: usize,
    below: u32,
    is_limited: bool,
}

impl FlowMeter {
    /// Counts a segment of the flow.
    pub fn count(&mut self, size: ByteCount) {
        self.bytes += size.get();
        self.has_data = true;
    }

    /// `rate` bytes/s was written on an ACK.
    pub fn note_grant(&mut self, rate: f64) {
        if self.in_force.replace(rate).is_none() {
            self.lowest = [rate, rate];
        }
        self.lowest[1] = self.lowest[1].min(rate);
    }

    /// Ends a round at `now` and judges the flow if there are enough segments; returns whether it did.
    pub fn end_round(&mut self, now: Time, rules: Rules) -> bool {
        let Some(since) = self.since else {
            if self.has_data {
                self.begin(now);
            }
            return false;
        };
        let seconds = now.since(since).as_secs_f64();
        // The sender may still use a grant of the interval before, so the lower one is the fair standard.
        let granted = self.lowest[0].min(self.lowest[1]) * seconds;
        let is_enough = |rate: f64| rate * seconds >= SEGMENTS_JUDGED * SEGMENT || now.since(since) >= LONGEST;
        if !is_enough(granted / seconds.max(1e-9)) {
            // Begins anew, because a flow that was held back before would be judged by its old low rate for
            // long.
            if is_enough(self.rate_in_force()) {
                self.begin(now);
            }
            return false;
        }
        self.recent[self.judged % KEPT] = (self.bytes as f64, seconds);
        self.judged += 1;
        let is_below = (self.bytes as f64) < rules.limited_below * granted;
        self.below = if is_below { self.below + 1 } else { 0 };
        // Several judgements to enter and one to leave: a wrong "limited" costs the flow its share, a wrong
        // "unlimited" little.
        self.is_limited = self.below >= rules.confirmations || (is_below && self.is_limited);
        self.begin(now);
        true
    }

    fn begin(&mut self, now: Time) {
        (self.bytes, self.since) = (0, Some(now));
        // The interval that ends becomes the one before.
        self.lowest = [self.lowest[1], self.rate_in_force()];
    }

    fn rate_in_force(&self) -> f64 {
        self.in_force.unwrap_or(0.0)
    }

    /// Restarts the measurement after an idle time.
    pub fn restart(&mut self) {
        let rate = self.rate_in_force();
        *self = Self { lowest: [rate; 2], in_force: self.in_force, ..Self::default() };
    }

    /// Rate measured last, bytes/s; `None` before the first judgement.
    pub fn real(&self) -> Option<f64> {
        let (bytes, seconds) = self.recent[self.judged.checked_sub(1)? % KEPT];
        Some(bytes / seconds)
    }

    /// Rate over the last judgements, bytes/s.
    pub fn average(&self) -> Option<f64> {
        let (bytes, seconds) = self.kept().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (self.judged > 0).then_some(bytes / seconds)
    }

    fn kept(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.recent.iter().copied().take(self.judged)
    }

    /// Number of judgements until now.
    pub fn judgements(&self) -> usize {
        self.judged
    }

    /// Highest of the last rates.
    pub fn demand(&self) -> Option<f64> {
        self.kept().map(|(bytes, seconds)| bytes / seconds).reduce(f64::max)
    }

    /// Whether the application limits the flow.
    pub fn is_limited(&self) -> bool {
        self.is_limited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { limited_below: 0.95, confirmations: 2 };
    const ROUND: u64 = 20;

    /// Measures rounds of 20 ms with the given numbers of full segments; the judgements after each.
    fn judge(meter: &mut FlowMeter, from: &mut u64, rounds: &[u32]) -> Vec<bool> {
        let round = |segments: &u32| {
            (0..*segments).for_each(|_| meter.count(ByteCount::new(1514)));
            *from += ROUND;
            meter.end_round(Time::ZERO + Span::from_millis(*from), RULES);
            meter.is_limited()
        };
        rounds.iter().map(round).collect()
    }

    /// A meter of a flow that is granted 50 segments per round.
    fn granted() -> FlowMeter {
        let mut meter = FlowMeter::default();
        meter.note_grant(50.0 * SEGMENT / 0.02);
        meter
    }

    #[test]
    fn two_rounds_below_make_a_flow_limited_and_one_above_frees_it() {
        let (mut meter, mut now) = (granted(), 0);
        // The first round began before the flow.
        assert_eq!(judge(&mut meter, &mut now, &[10, 50, 40, 40, 40, 50, 40]), [
            false, false, false, true, true, false, false
        ]);
        assert!((meter.real().unwrap() - 40.0 * SEGMENT / 0.02).abs() < 1.0);
        assert!((meter.demand().unwrap() - 50.0 * SEGMENT / 0.02).abs() < 1.0);
        assert!((meter.average().unwrap() - 42.5 * SEGMENT / 0.02).abs() < 1.0);
    }

    #[test]
    fn a_segment_more_or_less_separates_thirty_of_a_limited_flow_from_thirty_of_another() {
        let mut meter = FlowMeter::default();
        meter.note_grant(30.0 * SEGMENT / 0.02);
        let mut now = 0;
        assert_eq!(judge(&mut meter, &mut now, &[1, 29, 29, 30, 29]), [false; 5]);
        // 30 / 1.1 is 27.3.
        assert_eq!(judge(&mut meter, &mut now, &[28, 27, 28, 28]), [false, true, true, true]);
    }

    #[test]
    fn a_flow_is_not_judged_by_a_rate_that_it_cannot_have_received() {
        let (mut meter, mut now) = (granted(), 0);
        judge(&mut meter, &mut now, &[50, 50]);
        meter.note_grant(100.0 * SEGMENT / 0.02);
        // The round in which it was written, and the one after.
        assert_eq!(judge(&mut meter, &mut now, &[50, 50, 50, 50]), [false, false, false, true]);
        meter.note_grant(50.0 * SEGMENT / 0.02);
        assert_eq!(judge(&mut meter, &mut now, &[50]), [false], "a lower one counts at once");
    }

    #[test]
    fn a_flow_that_was_held_back_is_judged_as_soon_as_it_may_send() {
        let mut meter = FlowMeter::default();
        meter.note_grant(0.0);
        let mut now = 0;
        judge(&mut meter, &mut now, &[2, 2]);
        meter.note_grant(50.0 * SEGMENT / 0.02);
        judge(&mut meter, &mut now, &[50, 50, 50]);
        assert!((meter.real().unwrap() - 50.0 * SEGMENT / 0.02).abs() < 1.0 && !meter.is_limited());
    }

    #[test]
    fn a_slow_flow_is_judged_over_several_rounds() {
        let mut meter = FlowMeter::default();
        meter.note_grant(2.5 * SEGMENT / 0.02);
        let mut now = 0;
        // Two or three per round: single rounds would be 20 % off.
        judge(&mut meter, &mut now, &[1]);
        let limited = judge(&mut meter, &mut now, &[2, 3].repeat(12));
        assert!(limited.iter().all(|limited| !limited));
        assert!((meter.real().unwrap() / (2.5 * SEGMENT / 0.02) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_flow_held_at_almost_nothing_is_judged_after_half_a_second() {
        let mut meter = FlowMeter::default();
        meter.note_grant(1.0);
        meter.count(ByteCount::new(66));
        meter.end_round(Time::ZERO, RULES);
        assert!(!meter.end_round(Time::ZERO + Span::from_millis(499), RULES));
        assert!(meter.end_round(Time::ZERO + Span::from_millis(500), RULES));
        assert_eq!(meter.real(), Some(0.0));
    }
}
