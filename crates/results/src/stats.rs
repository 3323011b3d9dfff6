//! Mean, standard deviation and 95 % Student-t intervals of small samples.

use tidegate_core::math;

/// Values that differ by less than this fraction of the largest are equal: their last bits are rounding
/// errors of sums and quotients, far below the resolution of any measure (a nanosecond in a quarter of an
/// hour is a thousand times as much).
pub const ROUNDING: f64 = 1e-12;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Mean of the samples; NaN if `n` is 0.
    pub mean: f64,
    /// Half of the interval's width, in the unit of the mean; 0 if deterministic, infinite for one sample.
    pub half_width: f64,
    /// Number of samples in the estimate.
    pub n: usize,
    /// Whether there are at least two samples, all equal up to [`ROUNDING`]: the result does not vary and has
    /// no interval.
    pub deterministic: bool,
}

impl Estimate {
    /// The estimate without samples.
    pub const NONE: Self = Self { mean: f64::NAN, half_width: f64::NAN, n: 0, deterministic: false };

    /// Mean and 95 % t-interval of `samples`; [`Estimate::NONE`] when empty or when one is not finite.
    pub fn of(samples: &[f64]) -> Self {
        Self::at(samples, 0.95)
    }

    /// As [`Estimate::of`] with the given `confidence`, 0..1.
    pub fn at(samples: &[f64], confidence: f64) -> Self {
        let n = samples.len();
        if n == 0 || samples.iter().any(|sample| !sample.is_finite()) {
            return Self::NONE;
        }
        if n == 1 {
            return Self { mean: samples[0], half_width: f64::INFINITY, n, deterministic: false };
        }
        // The mean of equal samples can differ from them in its last bit.
        let rounding = ROUNDING * max(samples);
        if samples.iter().all(|sample| (sample - samples[0]).abs() <= rounding) {
            return Self { mean: samples[0], half_width: 0.0, n, deterministic: true };
        }
        let quantile = t_quantile(0.5 + 0.5 * confidence, (n - 1) as f64);
        let half_width = quantile * standard_deviation(samples) / (n as f64).sqrt();
        Self { mean: mean(samples), half_width, n, deterministic: false }
    }

    /// As [`Estimate::of`], over the values of `samples` that are present; `n` is their number.
    pub fn of_present(samples: impl IntoIterator<Item = Option<f64>>) -> Self {
        Self::of(&samples.into_iter().flatten().collect::<Vec<f64>>())
    }

    /// Lower end of the interval.
    pub fn low(&self) -> f64 {
        self.mean - self.half_width
    }

    /// Upper end of the interval.
    pub fn high(&self) -> f64 {
        self.mean + self.half_width
    }

    /// Whether the interval has a finite width above zero.
    pub fn has_interval(&self) -> bool {
        self.n > 1 && !self.deterministic
    }
}

/// Arithmetic mean; NaN for no samples.
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// Median: of an even number of values the mean of the middle two; NaN for no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        even if even % 2 == 0 => 0.5 * (values[middle - 1] + values[middle]),
        _ => values[middle],
    }
}

/// Standard deviation of a sample (divisor n - 1); NaN for fewer than two samples.
pub fn standard_deviation(samples: &[f64]) -> f64 {
    if samples.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(samples);
    let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
    (squares / (samples.len() - 1) as f64).sqrt()
}

/// Estimate of the mean of `ours[i] - theirs[i]`: for runs paired by a common seed.
///
/// [`Estimate::NONE`] when the lengths differ.
pub fn paired_difference(ours: &[f64], theirs: &[f64]) -> Estimate {
    paired_difference_at(ours, theirs, 0.95)
}

/// As [`paired_difference`] with the given `confidence`, 0..1.
pub fn paired_difference_at(ours: &[f64], theirs: &[f64], confidence: f64) -> Estimate {
    if ours.len() != theirs.len() {
        return Estimate::NONE;
    }
    Estimate::at(&paired_differences(ours, theirs), confidence)
}

/// `ours[i] - theirs[i]` without rounding errors: those closer to each other than [`ROUNDING`] of the largest
/// value are equal, and those that close to zero are zero.
pub fn paired_differences(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    let mut differences: Vec<f64> = ours.iter().zip(theirs).map(|(our, their)| our - their).collect();
    let rounding = ROUNDING * max(ours).max(max(theirs));
    let mut order: Vec<usize> = (0..differences.len()).collect();
    order.sort_by(|left, right| differences[*left].total_cmp(&differences[*right]));
    let mut shared = 0.0;
    for place in order {
        match differences[place] {
            value if value.abs() <= rounding => shared = 0.0,
            value if (value - shared).abs() > rounding => shared = value,
            _ => {}
        }
        differences[place] = shared;
    }
    differences
}

/// The largest of the absolute values; 0 for none.
fn max(values: &[f64]) -> f64 {
    values.iter().map(|value| value.abs()).fold(0.0, f64::max)
}

/// The quantile of Student's t with `freedom` degrees of freedom for `probability`.
///
/// `probability` in 0..1, `freedom` positive; NaN otherwise. Exact to about 1e-12, relative.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    if !(probability > 0.0 && probability < 1.0 && freedom > 0.0) {
        return f64::NAN;
    }
    if probability < 0.5 {
        return -t_quantile(1.0 - probability, freedom);
    }
    let mut high = 1.0;
    // The second condition ends the search for quantiles beyond the range of `f64`.
    while t_cumulative(high, freedom) < probability && high < 1e300 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Bisection: 200 halvings reach the resolution of f64 from any start.
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if t_cumulative(middle, freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Probability that the absolute value of Student's t with `freedom` degrees of freedom is at least that of
/// `t`.
pub fn t_two_sided(t: f64, freedom: f64) -> f64 {
    // Squared by halves: t * t may overflow where the quotient does not.
    regularised_beta(1.0 / (1.0 + t / freedom * t), 0.5 * freedom, 0.5)
}

/// Probability that Student's t with `freedom` degrees of freedom is below `t`; `t` not negative.
fn t_cumulative(t: f64, freedom: f64) -> f64 {
    1.0 - 0.5 * t_two_sided(t, freedom)
}

/// Regularised incomplete beta function I_x(a, b), 0..=1.
fn regularised_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The continued fraction converges fast on this side of the mean only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - regularised_beta(1.0 - x, b, a);
    }
    let log_front = a * math::ln(x) + b * math::ln_1p(-x) + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    math::exp(log_front) * beta_fraction(x, a, b) / a
}

/// The continued fraction of the incomplete beta function, by the modified Lentz method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    // Replaces zeros, by which the next step would divide.
    const TINY: f64 = 1e-300;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Natural logarithm of the gamma function for positive arguments (Stirling's series above 15).
fn ln_gamma(x: f64) -> f64 {
    let (mut shifted, mut product) = (x, 1.0);
    // Γ(x + 1) = x Γ(x) moves the argument to where the series is exact.
    while shifted < 15.0 {
        product *= shifted;
        shifted += 1.0;
    }
    let inverse = 1.0 / shifted;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (shifted - 0.5) * math::ln(shifted) - shifted + 0.5 * math::ln(2.0 * std::f64::consts::PI) + series
        - math::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
    }

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        let of = |values: &[f64]| median(values.to_vec());
        assert_eq!([of(&[9.0, 1.0, 2.0]), of(&[9.0, 1.0, 2.0, 4.0])], [2.0, 3.0]);
        assert!(of(&[]).is_nan());
    }

    #[test]
    fn t_quantiles_are_the_table_values() {
        let table =
            [(1.0, 12.7062), (2.0, 4.3027), (4.0, 2.7764), (9.0, 2.2622), (29.0, 2.0452), (120.0, 1.9799)];
        for (freedom, expected) in table {
            assert_close(t_quantile(0.975, freedom), expected, 5e-5);
        }
        assert_close(t_quantile(0.995, 9.0), 3.2498, 5e-5);
        assert_close(t_quantile(0.95, 5.0), 2.0150, 5e-5);
        assert_close(t_quantile(0.025, 9.0), -2.2622, 5e-5);
        assert_close(t_quantile(0.975, 1e7), 1.959_964, 5e-6);
        assert!(t_quantile(1.0, 3.0).is_nan() && t_quantile(0.9, 0.0).is_nan());
    }

    #[test]
    fn the_closed_forms_of_one_and_two_degrees_of_freedom_are_met() {
        let quarter = 0.4 * std::f64::consts::PI;
        assert_close(t_quantile(0.9, 1.0), quarter.tan(), 1e-11);
        let p: f64 = 0.9;
        let two = (2.0 * p - 1.0) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();
        assert_close(t_quantile(0.9, 2.0), two, 1e-11);
    }

    #[test]
    fn two_sided_probabilities_are_those_of_the_closed_forms_and_of_the_quantiles() {
        assert_close(t_two_sided(1.0, 1.0), 0.5, 1e-12);
        // One degree of freedom is Cauchy's distribution; two have t / sqrt(2 + t^2).
        assert_close(t_two_sided(40.0, 1.0), 1.0 - 2.0 / std::f64::consts::PI * 40f64.atan(), 1e-12);
        assert_close(t_two_sided(-3.0, 2.0), 1.0 - 3.0 / 11f64.sqrt(), 1e-12);
        for freedom in [1.0, 4.0, 9.0, 99.0] {
            assert_close(t_two_sided(t_quantile(0.975, freedom), freedom), 0.05, 1e-12);
        }
        assert!(t_two_sided(1e200, 9.0) < 1e-300 && t_two_sided(0.0, 9.0) == 1.0);
    }

    /// NIST/SEMATECH e-Handbook, 1.3.5.2: ZARR13.DAT has mean 9.261460, s 0.022789, n 195, ±0.003219.
    #[test]
    fn the_interval_follows_from_mean_deviation_and_count() {
        let half_width = t_quantile(0.975, 194.0) * 0.022_789 / 195f64.sqrt();
        assert_close(half_width, 0.003_219, 1e-6);
    }

    #[test]
    fn ten_samples_give_the_textbook_interval() {
        let samples = [23.0, 25.0, 21.0, 24.0, 26.0, 22.0, 25.0, 24.0, 23.0, 27.0];
        let estimate = Estimate::of(&samples);
        assert_eq!((estimate.mean, estimate.n), (24.0, 10));
        assert_close(standard_deviation(&samples), 1.825_742, 1e-6);
        assert_close(estimate.half_width, 1.306_06, 1e-4);
    }

    #[test]
    fn pairing_removes_what_both_runs_share() {
        let ours = [10.0, 20.0, 30.0, 40.0];
        let theirs = [9.0, 18.0, 29.0, 38.0];
        let paired = paired_difference(&ours, &theirs);
        assert_eq!(paired.mean, 1.5);
        assert_close(paired.half_width, 3.182_446 * 0.577_350 / 2.0, 1e-5);
        assert_eq!(paired_difference(&ours, &theirs[1..]).n, 0);
    }

    #[test]
    fn equal_samples_are_deterministic_and_keep_their_bits() {
        let estimate = Estimate::of(&[0.1; 3]);
        assert_eq!(estimate, Estimate { mean: 0.1, half_width: 0.0, n: 3, deterministic: true });
        assert_eq!(estimate.to_string(), "0.1 (deterministic)");
    }

    #[test]
    fn one_sample_says_nothing_about_spread() {
        let estimate = Estimate::of(&[5.0]);
        assert!(!estimate.deterministic && estimate.half_width.is_infinite());
        assert_eq!(estimate.to_string(), "5 (1 run)");
    }

    #[test]
    fn samples_that_are_not_finite_give_no_estimate() {
        assert_eq!(Estimate::of(&[1.0, f64::NAN]).n, 0);
        assert_eq!(Estimate::of(&[f64::INFINITY, 1.0]).n, 0);
        assert_eq!(Estimate::of(&[]).to_string(), "-");
    }
}
