//! HyStart++: slow start continues at a quarter of its rate once the RTT grows, and ends if that lasts.
//!
//! Paper: RFC 9406, sections 4.2 and 4.3, with the constants recommended there.

use tidegate_core::units::Span;

/// Minimum and maximum rise of the RTT that ends slow start, and that rise as a fraction of the RTT (MIN_RTT_THRESH,
/// MAX_RTT_THRESH, 1 / MIN_RTT_DIVISOR).
const MIN_RISE: Span = Span::from_millis(4);
const MAX_RISE: Span = Span::from_millis(16);
const RISE_PART: f64 = 1.0 / 8.0;
/// Minimum number of samples before the RTT of a round is evaluated (N_RTT_SAMPLE).
const SAMPLES: u32 = 8;
/// Number of rounds of conservative slow start (CSS_ROUNDS).
const ROUNDS: u32 = 5;
/// Factor by which conservative slow start is slower than slow start (CSS_GROWTH_DIVISOR).
const DIVISOR: f64 = 4.0;

/// Growth of slow start after an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Growth by this fraction of the acknowledged segments.
    Part(f64),
    /// Slow start ends: the threshold becomes the window.
    Over,
}

/// State of conservative slow start (RFC 9406, section 4.2).
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// Minimum RTT of the round in which it began.
    baseline: Span,
    /// Rounds that have ended since, including the one in which it began.
    rounds: u32,
}

/// The first slow start of one sender.
#[derive(Clone, Debug, Default)]
pub struct HyStartPlus {
    /// First segment of the next round.
    round_end: u32,
    /// Minimum RTT of the last round and of this one; `None` without samples.
    last: Option<Span>,
    current: Option<Span>,
    samples: u32,
    conservative: Option<Conservative>,
}

impl HyStartPlus {
    /// Handles an ACK that delivers `segment`, with its RTT sample if there is one; `next_segment` is sent next.
    pub fn on_ack(&mut self, segment: u32, next_segment: u32, rtt: Option<Span>) -> Pace {
        // A round ends with the first segment that left after the last round had ended (RFC 9406, section
        // 4.2).
        if segment >= self.round_end && self.end_round(next_segment) {
            return Pace::Over;
        }
        if let Some(rtt) = rtt {
            self.current = Some(self.current.map_or(rtt, |current| current.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= SAMPLES {
            self.judge();
        }
        Pace::Part(if self.conservative.is_some() { 1.0 / DIVISOR } else { 1.0 })
    }

    /// Begins a round; whether conservative slow start has lasted long enough.
    fn end_round(&mut self, next_segment: u32) -> bool {
        self.round_end = next_segment;
        (self.last, self.current, self.samples) = (self.current.take(), None, 0);
        let Some(conservative) = &mut self.conservative else { return false };
        conservative.rounds += 1;
        conservative.rounds >= ROUNDS
    }

    fn judge(&mut self) {
        let Some(current) = self.current else { return };
        match self.conservative {
            // The RTT fell again, so its rise was no queue: slow start resumes (RFC 9406, section 4.2).
            Some(Conservative { baseline, .. }) if current < baseline => self.conservative = None,
            Some(_) => {}
            None => {
                // The first round has no round to compare with.
                let Some(last) = self.last else { return };
                // The lower bound keeps jitter from ending slow start on short paths, the upper one lets long
                // paths react in time.
                let rise = last.scale(RISE_PART).min(MAX_RISE).max(MIN_RISE);
                if current >= last + rise {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of ten segments each, in each the round trip given in milliseconds; the pace after each, if slow start
    /// does not end.
    fn paces(rtts: &[u64]) -> Vec<Pace> {
        let mut start = HyStartPlus::default();
        let mut round = |(number, rtt): (usize, &u64)| {
            let first = number as u32 * 10;
            let ack = |segment| start.on_ack(segment, segment + 10, Some(Span::from_millis(*rtt)));
            let paces: Vec<Pace> = (first..first + 10).map(ack).collect();
            if paces.contains(&Pace::Over) { Pace::Over } else { paces[9] }
        };
        rtts.iter().enumerate().map(&mut round).collect()
    }

    #[test]
    fn a_rise_of_an_eighth_slows_down_and_five_rounds_end_it() {
        let (full, quarter) = (Pace::Part(1.0), Pace::Part(0.25));
        // An eighth of 80 ms is 10 ms.
        assert_eq!(paces(&[80, 89, 98]), [full, full, full]);
        let mut start = vec![80, 90, 91, 92, 93, 94];
        assert_eq!(paces(&start), [full, quarter, quarter, quarter, quarter, quarter]);
        start.push(95);
        assert_eq!(paces(&start)[6], Pace::Over, "the round in which it began is the first of five");
    }

    #[test]
    fn a_rise_below_4_ms_never_counts_and_one_of_16_ms_always_does() {
        assert_eq!(paces(&[8, 11])[1], Pace::Part(1.0));
        assert_eq!(paces(&[8, 12])[1], Pace::Part(0.25));
        assert_eq!(paces(&[400, 415])[1], Pace::Part(1.0));
        assert_eq!(paces(&[400, 416])[1], Pace::Part(0.25));
    }

    #[test]
    fn a_round_trip_below_the_one_that_slowed_it_down_resumes() {
        assert_eq!(paces(&[80, 90, 90, 89])[2..], [Pace::Part(0.25), Pace::Part(1.0)]);
    }

    #[test]
    fn fewer_than_eight_samples_give_nothing() {
        let mut start = HyStartPlus::default();
        for segment in 0..40 {
            let rtt = Span::from_millis(if segment < 10 { 80 } else { 200 });
            // Seven samples a round.
            let sample = (segment % 10 < 7).then_some(rtt);
            assert_eq!(start.on_ack(segment, (segment / 10 + 1) * 10, sample), Pace::Part(1.0), "{segment}");
        }
    }
}
