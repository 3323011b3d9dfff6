//! Two variants of a scenario, run with the same seeds: difference, ratio, test.
//!
//! Runs with one seed use the same random numbers, so that common variation cancels in their difference. The
//! test is the paired t test of the differences. The interval of the ratio of the means is Fieller's (E. C.
//! Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16, 1954) for paired data: the
//! ratios r for which the paired t test of x - r y would not reject. So it includes 1 exactly if the test is
//! not significant, refers to the two means that are shown, and it allows single zeros, which logarithms of
//! ratios do not.

use tidegate_core::math::square;

use crate::stats::{Estimate, mean, median, paired_differences, standard_deviation, t_quantile, t_two_sided};

/// One variant compared with another, for one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Seeds with a value in both.
    pub n: usize,
    /// Mean of the variant over these seeds.
    pub ours: f64,
    /// Mean of the other variant over these seeds.
    pub theirs: f64,
    /// Mean of ours minus theirs, with its interval.
    pub difference: Estimate,
    /// Ratio of the two means.
    pub ratio: Ratio,
    /// Whether neither variant varies between the seeds, so that chance has no effect.
    pub is_constant: bool,
    /// Probability of differences as large by chance alone; `None` if the differences do not vary.
    pub p: Option<f64>,
    /// Mean difference over the standard deviation of the differences (Cohen's d for paired data).
    pub effect: Option<f64>,
    /// Number of seeds in which ours is smaller.
    pub smaller: usize,
    /// Number of seeds in which ours is larger.
    pub larger: usize,
}

/// Ratio of two non-negative means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ratio {
    /// A ratio with its interval; both ends are equal if nothing varies.
    Between {
        /// Value of the ratio.
        value: f64,
        /// Lower end, at least zero.
        low: f64,
        /// Upper end, at least `low`.
        high: f64,
    },
    /// The other mean is not significantly above zero, so that the ratio has no interval.
    Open {
        /// Value of the ratio.
        value: f64,
    },
    /// The other mean is zero.
    None,
}

/// Conclusion about a variant against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Equal in every seed, even if there is only one.
    Equal,
    /// Neither varies between the seeds, and they differ.
    Fixed,
    /// They vary, but differ by the same value in every seed: there is no spread for a test.
    Coinciding,
    /// They differ by more than chance explains.
    Significant,
    /// Chance may explain the difference.
    Unclear,
    /// Fewer than two seeds have values, so that no test is possible.
    Untested,
}

impl Pair {
    /// `ours` compared with `theirs`, value by value; intervals have this `confidence`.
    pub fn of(ours: &[f64], theirs: &[f64], confidence: f64) -> Self {
        let differences = paired_differences(ours, theirs);
        let difference = Estimate::at(&differences, confidence);
        let n = differences.len();
        let spread = standard_deviation(&differences);
        let varies = difference.has_interval();
        let standardised = (n > 1 && varies).then(|| difference.mean / spread);
        Self {
            n,
            ours: mean(ours),
            theirs: mean(theirs),
            difference,
            ratio: Ratio::of(ours, theirs, confidence),
            is_constant: [ours, theirs].iter().all(|values| Estimate::of(values).deterministic),
            p: standardised.map(|effect| t_two_sided(effect * (n as f64).sqrt(), (n - 1) as f64)),
            effect: standardised,
            smaller: differences.iter().filter(|difference| **difference < 0.0).count(),
            larger: differences.iter().filter(|difference| **difference > 0.0).count(),
        }
    }

    /// Conclusion, given the corrected `p` of this pair.
    pub fn finding(&self, corrected: Option<f64>) -> Finding {
        match corrected {
            _ if self.n > 0 && self.smaller + self.larger == 0 => Finding::Equal,
            _ if self.n < 2 => Finding::Untested,
            None if self.is_constant => Finding::Fixed,
            None => Finding::Coinciding,
            Some(p) if p < super::ALPHA => Finding::Significant,
            Some(_) => Finding::Unclear,
        }
    }
}

impl Ratio {
    fn of(ours: &[f64], theirs: &[f64], confidence: f64) -> Self {
        let n = ours.len() as f64;
        let (x, y) = (mean(ours), mean(theirs));
        // Fieller's interval needs a denominator above zero; measures are not negative.
        if y <= 0.0 || !x.is_finite() || !y.is_finite() {
            return Self::None;
        }
        let value = x / y;
        if ours.len() < 2 {
            return Self::Open { value };
        }
        let covariance = |a: &[f64], b: &[f64], (a_mean, b_mean): (f64, f64)| {
            let products = a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean));
            products.sum::<f64>() / (n - 1.0)
        };
        let factor = square(t_quantile(0.5 + 0.5 * confidence, n - 1.0)) / n;
        // The ratios r between the roots of a r^2 - 2 b r + c.
        let (xx, yy) = (covariance(ours, ours, (x, x)), covariance(theirs, theirs, (y, y)));
        let xy = covariance(ours, theirs, (x, y));
        let (a, b) = (y * y - factor * yy, x * y - factor * xy);
        // b^2 - a c without its largest terms, whose difference is zero: where hardly anything varies, their
        // rounding would be all that is left.
        let spread = x * x * yy - 2.0 * x * y * xy + y * y * xx;
        // Rounding may make it slightly negative if nothing varies.
        let root = (factor * (spread + factor * (xy * xy - xx * yy))).max(0.0).sqrt();
        // The other mean is not significantly above zero: the ratios have no upper limit.
        if a <= 0.0 {
            return Self::Open { value };
        }
        Self::Between { value, low: ((b - root) / a).max(0.0), high: (b + root) / a }
    }

    /// Value of the ratio, if it is defined.
    pub fn value(&self) -> Option<f64> {
        match *self {
            Self::Between { value, .. } | Self::Open { value } => Some(value),
            Self::None => None,
        }
    }
}

/// Minimum distance of an outlier from the other differences, as a fraction of the values.
const MIN_OUTLIER: f64 = 0.01;

/// Indices of differences that are far from the others: their modified z-score is above 3.5 (B. Iglewicz and
/// D. C. Hoaglin, "How to detect and handle outliers", 1993), and they are a hundredth of `size` away, the
/// magnitude of the values that differ.
pub fn outliers(differences: &[f64], size: f64) -> Vec<usize> {
    let centre = median(differences.to_vec());
    let deviation = median(differences.iter().map(|value| (value - centre).abs()).collect());
    let is_far = |value: f64| {
        let distance = (value - centre).abs();
        0.6745 * distance > 3.5 * deviation && distance > MIN_OUTLIER * size
    };
    // Where more than half agree to the bit, every other one would be far.
    let found = differences.iter().enumerate().filter(|(_, value)| deviation > 0.0 && is_far(**value));
    found.map(|(place, _)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
    }

    /// Student's own example ("The probable error of a mean", 1908): hours of sleep gained with two drugs.
    const SLEEP: [[f64; 10]; 2] = [
        [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
        [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
    ];

    #[test]
    fn the_paired_test_is_that_of_students_sleep_data() {
        let pair = Pair::of(&SLEEP[0], &SLEEP[1], 0.95);
        assert_close(pair.difference.mean, -1.58, 1e-12);
        assert_close(pair.effect.expect("it varies") * 10f64.sqrt(), -4.0621, 5e-5);
        assert_close(pair.p.expect("it varies"), 0.002833, 5e-7);
        assert_close(pair.difference.half_width, 0.880, 5e-4);
        assert_eq!((pair.n, pair.smaller, pair.larger), (10, 9, 0));
    }

    #[test]
    fn the_ends_of_the_ratio_are_where_the_paired_test_begins_to_reject() {
        let ours = [11.0, 12.5, 13.0, 11.8, 12.1, 12.9];
        let theirs = [9.0, 10.5, 10.1, 9.7, 9.9, 11.2];
        let Ratio::Between { value, low, high } = Ratio::of(&ours, &theirs, 0.95) else { panic!("bounded") };
        assert!(low < value && value < high);
        for end in [low, high] {
            let scaled = theirs.map(|value| value * end);
            assert_close(Pair::of(&ours, &scaled, 0.95).p.expect("it varies"), 0.05, 1e-9);
        }
    }

    #[test]
    fn the_ratio_of_what_does_not_vary_has_no_width() {
        let pair = Pair::of(&[3.0; 4], &[2.0; 4], 0.95);
        assert_eq!(pair.ratio, Ratio::Between { value: 1.5, low: 1.5, high: 1.5 });
        assert_eq!((pair.p, pair.effect, pair.finding(None)), (None, None, Finding::Fixed));
        assert_eq!(Pair::of(&[3.0; 4], &[3.0; 4], 0.95).finding(None), Finding::Equal);
    }

    #[test]
    fn zeros_leave_a_difference_but_no_ratio() {
        let pair = Pair::of(&[3.0, 5.0, 4.0], &[0.0; 3], 0.95);
        assert_eq!((pair.ratio, pair.difference.mean), (Ratio::None, 4.0));
        // One retransmission in one seed: the mean cannot be told from zero.
        let pair = Pair::of(&[3.0, 5.0, 4.0], &[0.0, 0.0, 1.0], 0.95);
        assert_eq!(pair.ratio, Ratio::Open { value: 12.0 });
        let Ratio::Between { value, low, .. } = Ratio::of(&[0.0, 0.0, 0.0], &[3.0, 5.0, 4.0], 0.95) else {
            panic!("bounded")
        };
        assert_eq!((value, low), (0.0, 0.0));
    }

    #[test]
    fn one_seed_is_not_tested() {
        let pair = Pair::of(&[3.0], &[2.0], 0.95);
        assert_eq!((pair.ratio, pair.p), (Ratio::Open { value: 1.5 }, None));
        assert_eq!(pair.finding(None), Finding::Untested);
    }

    #[test]
    fn what_is_far_from_the_others_is_found() {
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 9.0, 0.95], 10.0), [4]);
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 9.0, 0.95], 1000.0), [0usize; 0]);
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 1.2, 0.95], 1.0), [0usize; 0]);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 2.0], 1.0), [0usize; 0]);
        assert_eq!(outliers(&[], 1.0), [0usize; 0]);
    }
}
