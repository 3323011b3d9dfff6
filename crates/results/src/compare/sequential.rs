//! Adding seeds until intervals are narrow enough, with a correction for several looks.
//!
//! Stopping at the first look at which an interval of the usual level is narrow enough (Y. S. Chow and H.
//! Robbins, "On the asymptotic theory of fixed-width sequential confidence intervals", Ann. Math. Statist.
//! 36, 1965) covers the true value less often than by that level, since a spread that is small by chance ends
//! the search. Here the looks are fixed before the first run, and each gets an equal part of the total error
//! probability (Bonferroni's inequality), so that the intervals of the look at which it stops hold with at
//! least the level requested, whichever look that is. The cost is wider intervals: with seven looks about
//! half as wide again at 10 seeds.

use super::ALPHA;
use crate::stats::Estimate;

/// Minimum number of seeds at the first look.
pub const FEWEST: usize = 10;

/// Numbers of seeds at the looks: the first, half as many more each time, and the last.
pub fn looks(first: usize, last: usize) -> Vec<usize> {
    let mut looks = vec![first.min(last)];
    while let Some(seeds) = looks.last().copied().filter(|seeds| *seeds < last) {
        looks.push((seeds + seeds.div_ceil(2)).min(last));
    }
    looks
}

/// Confidence of each interval for this number of looks.
pub fn confidence(looks: usize) -> f64 {
    1.0 - ALPHA / looks.max(1) as f64
}

/// Half of the interval's width divided by the mean, both without sign; `None` if it is not defined (no mean,
/// or zero with an interval).
pub fn relative_half_width(estimate: &Estimate) -> Option<f64> {
    match estimate {
        Estimate { n: 0, .. } => None,
        Estimate { deterministic: true, .. } => Some(0.0),
        estimate if estimate.mean == 0.0 => None,
        estimate => Some(estimate.half_width / estimate.mean.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_grow_by_half_and_end_at_the_last() {
        assert_eq!(looks(10, 100), [10, 15, 23, 35, 53, 80, 100]);
        assert_eq!(looks(10, 10), [10]);
        assert_eq!(looks(10, 5), [5]);
        assert_eq!(looks(1, 4), [1, 2, 3, 4]);
    }

    #[test]
    fn the_looks_share_the_error_that_is_allowed() {
        assert_eq!(confidence(1), 0.95);
        assert!((confidence(7) - (1.0 - 0.05 / 7.0)).abs() < 1e-15);
        let quantile = |looks| crate::stats::t_quantile(0.5 + 0.5 * confidence(looks), 9.0);
        assert!((1.45..1.55).contains(&(quantile(7) / quantile(1))), "{}", quantile(7) / quantile(1));
    }

    #[test]
    fn a_width_over_zero_says_nothing() {
        let estimate = |mean, half_width| Estimate { mean, half_width, n: 5, deterministic: false };
        assert_eq!(relative_half_width(&estimate(-4.0, 1.0)), Some(0.25));
        assert_eq!(relative_half_width(&estimate(0.0, 1.0)), None);
        assert_eq!(relative_half_width(&Estimate::of(&[0.0; 3])), Some(0.0));
        assert_eq!(relative_half_width(&Estimate::NONE), None);
    }
}
