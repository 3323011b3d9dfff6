//! Holm's correction for many tests at once.

/// Each `p` as Holm's step-down procedure corrects it for the whole family (S. Holm, "A simple sequentially
/// rejective multiple test procedure", Scand. J. Statist. 6, 1979): comparing these with alpha keeps the chance
/// of any false finding below alpha, however the tests depend on each other.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| p[*left].total_cmp(&p[*right]).then(left.cmp(right)));
    let mut corrected = vec![0.0; p.len()];
    let mut max = 0.0f64;
    for (rank, place) in order.into_iter().enumerate() {
        // Step-down: no test is corrected to less than one with a smaller p.
        max = max.max(p[place] * (p.len() - rank) as f64).min(1.0);
        corrected[place] = max;
    }
    corrected
}

/// As [`holm`] for a family of `family` tests, of which those that could not be made have no `p`. They count like
/// tests that found nothing: how strictly the others are judged does not depend on what came out.
pub fn holm_among(p: &[Option<f64>], family: usize) -> Vec<Option<f64>> {
    let mut all: Vec<f64> = p.iter().map(|p| p.unwrap_or(1.0)).collect();
    all.resize(family.max(p.len()), 1.0);
    p.iter().zip(holm(&all)).map(|(p, corrected)| p.map(|_| corrected)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_close(values: &[f64], expected: &[f64]) {
        let is_close = values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() < 1e-12);
        assert!(values.len() == expected.len() && is_close, "{values:?}");
    }

    /// Worked by hand: sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, never falling.
    #[test]
    fn each_p_is_multiplied_by_the_tests_that_are_left() {
        assert_close(&holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
    }

    #[test]
    fn nothing_exceeds_one_and_a_single_test_is_left_alone() {
        assert_close(&holm(&[0.9, 0.8]), &[1.0, 1.0]);
        assert_close(&holm(&[0.03]), &[0.03]);
        assert_close(&holm(&[]), &[]);
    }

    #[test]
    fn a_test_that_could_not_be_made_counts_like_one_that_found_nothing() {
        assert_eq!(holm_among(&[Some(0.01), None], 4), [Some(0.04), None]);
        assert_eq!(holm_among(&[Some(0.01)], 1), [Some(0.01)]);
        assert_eq!(holm_among(&[], 3), []);
    }

    #[test]
    fn equal_p_are_corrected_alike_in_any_order() {
        assert_close(&holm(&[0.01, 0.01, 0.01]), &[0.03, 0.03, 0.03]);
        assert_close(&holm(&[0.2, 0.001, 0.2]), &[0.4, 0.003, 0.4]);
    }
}
