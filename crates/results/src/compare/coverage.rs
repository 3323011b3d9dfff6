//! Values missing in some runs; they are reported before any conclusion from the remaining runs.

use super::{Comparison, Measured};

/// The variants under which no Data arrived in any run, then those where some runs had none.
pub(super) fn without_data(comparison: &Comparison) -> Vec<String> {
    let seeds = comparison.seeds.len();
    let counts = || comparison.labels.iter().zip(&comparison.without_data);
    // Variants without any Data are named in one sentence.
    let silent: Vec<&str> =
        counts().filter(|(_, runs)| **runs == seeds).map(|(label, _)| label.as_str()).collect();
    let partly = counts().filter(|(_, runs)| (1..seeds).contains(*runs));
    let partly = partly.map(|(label, runs)| format!("no Data arrived in {runs} of {seeds} runs of {label}"));
    let all = (!silent.is_empty()).then(|| format!("no Data arrived with {}", silent.join(", ")));
    all.into_iter().chain(partly).collect()
}

/// The warning about means and tests over a part of the runs.
pub(super) fn survivors(comparison: &Comparison) -> Option<String> {
    let seeds = comparison.seeds.len();
    // What no run of any variant has is no mean of survivors.
    let is_partial = |measured: &&Measured| {
        let counts = || measured.estimates.iter().map(|estimate| estimate.n);
        counts().any(|n| n > 0) && counts().any(|n| n < seeds)
    };
    let nouns: Vec<&str> =
        comparison.measures.iter().filter(is_partial).map(|measured| measured.measure.noun).collect();
    (!nouns.is_empty()).then(|| {
        format!(
            "means and tests of {} are over the runs that have a value, which may bias them in favour of a variant",
            nouns.join(", ")
        )
    })
}
