//! Samples of a sliding window of time: their mean, standard deviation and maximum.
//!
//! Samples are whole numbers, so that sums that grow and shrink stay exact.

use std::collections::VecDeque;

use tidegate_core::prelude::*;

/// Maximum of a sample, so that a sum of squares of as many samples as fit the memory does not overflow.
const LARGEST: u64 = 1 << 48;

/// The samples of a window, all of the same weight.
#[derive(Debug, Default)]
pub struct Recent {
    samples: VecDeque<(Time, u64)>,
    sum: u128,
    squares: u128,
}

impl Recent {
    /// Adds a sample at `now` and removes those older than `window`; a sample of exactly that age stays. Samples
    /// above 2^48 count as 2^48.
    pub fn add(&mut self, now: Time, sample: u64, window: Span) {
        let sample = sample.min(LARGEST);
        self.samples.push_back((now, sample));
        self.sum += u128::from(sample);
        self.squares += square(sample);
        while let Some((at, old)) = self.samples.front().copied()
            && at < window_start(now, window)
        {
            self.samples.pop_front();
            self.sum -= u128::from(old);
            self.squares -= square(old);
        }
    }

    /// Mean of the samples, rounded down; `None` without any.
    pub fn mean(&self) -> Option<u64> {
        let count = self.samples.len() as u128;
        (count > 0).then(|| (self.sum / count) as u64)
    }

    /// Standard deviation of the samples (of all, not of a draw); 0 without any.
    pub fn deviation(&self) -> u64 {
        let count = self.samples.len() as u128;
        if count == 0 {
            return 0;
        }
        // n^2 times the variance is a whole number and never negative.
        let scaled = count.saturating_mul(self.squares).saturating_sub(self.sum.saturating_mul(self.sum));
        ((scaled as f64).sqrt() / count as f64) as u64
    }
}

/// Maximum of the samples in a window of time, or of another quantity `At`, such as a number of round trips.
#[derive(Debug, Default)]
pub struct Max<At> {
    /// Samples that no later one reaches, the largest in front.
    samples: VecDeque<(At, u64)>,
}

impl<At: Copy + Ord> Max<At> {
    /// Adds a sample at `now`, which never decreases, and removes those before `oldest`.
    pub fn add(&mut self, now: At, sample: u64, oldest: At) {
        // An older sample that is not larger can never be the maximum again, so the deque stays sorted and
        // short.
        while self.samples.back().is_some_and(|(_, last)| *last <= sample) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        while self.samples.front().is_some_and(|(at, _)| *at < oldest) {
            self.samples.pop_front();
        }
    }

    /// Maximum of the window that ends with the last sample; `None` before the first sample.
    pub fn get(&self) -> Option<u64> {
        self.samples.front().map(|(_, sample)| *sample)
    }
}

/// Start of a window of this length that ends `now`.
pub const fn window_start(now: Time, window: Span) -> Time {
    Time::from_nanos(now.as_nanos().saturating_sub(window.as_nanos()))
}

fn square(sample: u64) -> u128 {
    u128::from(sample) * u128::from(sample)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Span = Span::from_millis(100);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn mean_and_deviation_are_those_of_the_samples_in_the_window() {
        let mut recent = Recent::default();
        assert_eq!((recent.mean(), recent.deviation()), (None, 0));
        for (ms, sample) in [(0, 2), (10, 4), (20, 4), (30, 4), (40, 5), (50, 5), (60, 7), (70, 9)] {
            recent.add(at(ms), sample, WINDOW);
        }
        // The textbook case: mean 5, deviation 2.
        assert_eq!((recent.mean(), recent.deviation()), (Some(5), 2));
        // At 130 ms the samples up to 20 ms are too old, that of 30 ms is not: 4, 5, 5, 7, 9, 30.
        recent.add(at(130), 30, WINDOW);
        assert_eq!(recent.mean(), Some(10));
        // Squares 1096, 6 * 1096 - 60^2 = 2976, root 54.55, / 6 = 9.09.
        assert_eq!(recent.deviation(), 9);
    }

    #[test]
    fn the_largest_sample_leaves_with_its_age_and_the_next_takes_its_place() {
        let mut max = Max::default();
        assert_eq!(max.get(), None);
        for (ms, sample, expected) in
            [(0, 9, 9), (50, 5, 9), (60, 7, 9), (100, 6, 9), (101, 6, 7), (161, 3, 6)]
        {
            max.add(at(ms), sample, window_start(at(ms), WINDOW));
            assert_eq!(max.get(), Some(expected), "{ms} ms");
        }
    }

    #[test]
    fn a_window_may_count_round_trips() {
        let mut max = Max::default();
        for (round, sample, expected) in [(1, 9, 9), (2, 5, 9), (3, 4, 9), (4, 1, 5), (4, 6, 6)] {
            max.add(round, sample, round.max(3) - 2);
            assert_eq!(max.get(), Some(expected), "round {round}");
        }
    }

    #[test]
    fn the_largest_samples_do_not_overflow() {
        let mut recent = Recent::default();
        for _ in 0..1_000 {
            recent.add(at(0), u64::MAX, WINDOW);
        }
        assert_eq!((recent.mean(), recent.deviation()), (Some(LARGEST), 0));
    }
}
