//! Long-term sampling: detection of a policer, which admits a fixed rate and drops the rest.
//!
//! Two consecutive intervals, each from a loss to a loss, with heavy losses and nearly the same rate indicate one.

use tidegate_core::prelude::*;

use super::Params;
use crate::toolbox::rate::bbr_model::PacketRate;

/// Shortest interval, rounds; the longest is four times that.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 4 * MIN_ROUNDS;
/// Rates that differ by at most this part are the same.
const SAME_PART: f64 = 0.125;
/// Rates that differ by at most this are the same, bytes per second (4 kbit/s).
const SAME_BYTES: f64 = 500.0;
/// Number of rounds for which a policer's rate is used.
const HOLD_ROUNDS: u32 = 48;
/// Minimum length of an interval for a rate sample.
const SHORTEST: Span = Span::from_millis(1);

/// Input from an ACK or a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolicerInput {
    pub(super) now: Time,
    /// Segments delivered by now.
    pub(super) delivered: u64,
    /// Segments detected as lost by now.
    pub(super) lost: u64,
    /// Whether this ACK showed some of them to be lost.
    pub(super) has_lost: bool,
    pub(super) is_app_limited: bool,
    pub(super) ends_round: bool,
    /// Whether the flow is in ProbeBW.
    pub(super) is_probing: bool,
    /// Bytes of a segment.
    pub(super) segment: ByteCount,
}

/// Result of an ACK or timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    /// A policer was found.
    Found,
    /// Its rate was used long enough.
    Over,
}

#[derive(Debug)]
pub(super) struct Policer {
    is_required: bool,
    min_loss: f64,
    margin: f64,
    /// Rate of the last interval, or of the policer.
    rate: Option<PacketRate>,
    is_found: bool,
    is_sampling: bool,
    since: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

impl Policer {
    pub(super) fn new(params: &Params) -> Self {
        Self {
            is_required: params.finds_policers,
            min_loss: params.policer_loss,
            margin: params.pacing_margin,
            rate: None,
            is_found: false,
            is_sampling: false,
            since: Time::ZERO,
            delivered: 0,
            lost: 0,
            rounds: 0,
        }
    }

    /// Rate of the policer; `None` while none is found.
    pub(super) fn rate(&self) -> Option<PacketRate> {
        self.rate.filter(|_| self.is_found)
    }

    /// Forgets the policer's rate and all samples.
    pub(super) fn reset(&mut self) {
        (self.rate, self.is_found, self.is_sampling) = (None, false, false);
    }

    pub(super) fn on_ack(&mut self, seen: &PolicerInput) -> Change {
        if !self.is_required {
            return Change::Nothing;
        }
        if self.is_found {
            return self.keep(seen);
        }
        if !self.is_sampling {
            // Before the first loss a policer still had tokens and admitted more than its rate.
            if !seen.has_lost {
                return Change::Nothing;
            }
            self.begin(seen);
            self.is_sampling = true;
        }
        // The rate of an interval in which the application paused would be too low.
        if seen.is_app_limited {
            self.reset();
            return Change::Nothing;
        }
        self.rounds += u32::from(seen.ends_round);
        if self.rounds > MAX_ROUNDS {
            self.reset();
        } else if self.rounds >= MIN_ROUNDS && seen.has_lost {
            return self.end(seen);
        }
        Change::Nothing
    }

    fn keep(&mut self, seen: &PolicerInput) -> Change {
        // As in Linux, rounds count in ProbeBW only.
        self.rounds += u32::from(seen.is_probing && seen.ends_round);
        if self.rounds < HOLD_ROUNDS {
            return Change::Nothing;
        }
        self.reset();
        Change::Over
    }

    fn begin(&mut self, seen: &PolicerInput) {
        (self.since, self.rounds) = (seen.now, 0);
        (self.delivered, self.lost) = (seen.delivered, seen.lost);
    }

    /// Ends the interval at a loss, if it is long enough and enough was lost.
    fn end(&mut self, seen: &PolicerInput) -> Change {
        let (lost, delivered) = (seen.lost - self.lost, seen.delivered - self.delivered);
        let length = seen.now.since(self.since);
        // Few losses do not indicate a policer, and too short an interval gives no rate; the interval
        // continues.
        if delivered == 0 || (lost as f64) < self.min_loss * delivered as f64 || length < SHORTEST {
            return Change::Nothing;
        }
        let rate = PacketRate::over(delivered, length);
        match self.rate.filter(|last| self.is_same(rate, *last, seen.segment)) {
            Some(last) => {
                self.rate = Some(PacketRate(u64::midpoint(rate.0, last.0)));
                (self.is_found, self.rounds) = (true, 0);
                Change::Found
            }
            // Two intervals have to agree; this one becomes the first of the next pair.
            None => {
                self.rate = Some(rate);
                self.begin(seen);
                Change::Nothing
            }
        }
    }

    fn is_same(&self, rate: PacketRate, last: PacketRate, segment: ByteCount) -> bool {
        let apart = PacketRate(rate.0.abs_diff(last.0)).per_second();
        // Linux compares pacing rates, which include the margin.
        let bytes = apart * segment.get() as f64 * (1.0 - self.margin);
        apart <= SAME_PART * last.per_second() || bytes <= SAME_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policer() -> Policer {
        Policer::new(&Params::from_settings(&Settings::default()).expect("defaults"))
    }

    /// At the end of round `round` of 10 ms: so much delivered and lost by then.
    fn seen(round: u64, delivered: u64, lost: u64, has_lost: bool) -> PolicerInput {
        PolicerInput {
            now: Time::ZERO + Span::from_millis(10 * round),
            delivered,
            lost,
            has_lost,
            is_app_limited: false,
            ends_round: true,
            is_probing: true,
            segment: ByteCount::new(1_448),
        }
    }

    /// Tells rounds `from..to`, each of which delivers `per_round` and loses `lost` of them more.
    fn rounds(policer: &mut Policer, from: u64, to: u64, per_round: u64, lost: u64) -> Vec<(u64, Change)> {
        let reported = (from..to).map(|n| (n, policer.on_ack(&seen(n, n * per_round, n * lost, lost > 0))));
        reported.filter(|(_, change)| *change != Change::Nothing).collect()
    }

    #[test]
    fn rates_are_the_same_up_to_an_eighth_or_four_kbit_per_second_and_no_further() {
        let policer = policer();
        let segment = ByteCount::new(1_448);
        let over = |delivered: u64| PacketRate::over(delivered, Span::from_secs(1));
        let is_same = |rate: u64, last: u64| policer.is_same(over(rate), over(last), segment);
        assert!(is_same(900, 800) && is_same(700, 800));
        assert!(!is_same(902, 800) && !is_same(698, 800));
        // 4 kbit/s are 500 bytes/s: five segments of 100 bytes, 5.05 with the margin of 1 %.
        let small = ByteCount::new(100);
        assert!(policer.is_same(over(9), over(4), small) && !policer.is_same(over(10), over(4), small));
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer_s_and_its_rate_is_kept_for_48_rounds() {
        let mut policer = policer();
        // The first loss begins an interval in round 0, which counts itself; the loss of the fourth ends it.
        // The next one needs four rounds more.
        assert_eq!(rounds(&mut policer, 0, 8, 100, 20), [(7, Change::Found)]);
        assert_eq!(policer.rate(), Some(PacketRate::over(100, Span::from_millis(10))));
        assert_eq!(rounds(&mut policer, 8, 100, 100, 0), [(55, Change::Over)]);
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn losses_below_the_threshold_show_no_policer() {
        // 50/256 is 19.53 of 100.
        assert!(rounds(&mut policer(), 0, 12, 100, 19).is_empty());
        assert!(rounds(&mut policer(), 0, 1000, 100, 0).is_empty());
    }

    #[test]
    fn intervals_of_different_rates_show_none() {
        let mut policer = policer();
        for round in 0..16_u64 {
            // 3, 10, 18, 26 per millisecond in the four intervals.
            let delivered = 10 * round * round;
            assert_eq!(policer.on_ack(&seen(round, delivered, delivered / 4, true)), Change::Nothing, "{round}");
        }
    }

    #[test]
    fn sampling_ends_with_lack_of_data_and_after_sixteen_rounds_without_a_loss() {
        let mut policer = policer();
        rounds(&mut policer, 0, 4, 100, 20);
        assert!(policer.rate.is_some() && policer.is_sampling);
        policer.on_ack(&PolicerInput { is_app_limited: true, ..seen(4, 400, 80, true) });
        assert!(policer.rate.is_none() && !policer.is_sampling);
        rounds(&mut policer, 10, 11, 100, 20);
        rounds(&mut policer, 11, 26, 100, 0);
        assert!(policer.is_sampling, "16 rounds");
        rounds(&mut policer, 26, 27, 100, 0);
        assert!(!policer.is_sampling);
    }

    #[test]
    fn a_policer_is_not_looked_for_when_disabled() {
        let mut policer = Policer { is_required: false, ..policer() };
        assert!(rounds(&mut policer, 0, 20, 100, 50).is_empty());
    }
}
