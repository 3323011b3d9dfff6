//! Values missing in some runs; they are reported before any conclusion from the remaining runs.

use super::{Comparison, Measured};

/// The variants under which no Data arrived in any run, then those where some runs had none.
pub(super) fn without_data(comparison: &Comparison) -> Vec<String> {
    let seeds = comparison.seeds.len();
    let counts = || comparison.labels.iter().zip(&comparison.without_data);
    let silent: Vec<&str> =
        counts().filter(|(_, runs)| **runs == seeds).map(|(label, _)| label.as_str()).collect();
    let partly = counts().filter(|(_, runs)| (1..seeds).contains(*runs));
    let partly = partly.map(|(label, runs)| format!("no Data arrived in {runs} of {seeds} runs of {label}"));
    let all = (!silent.is_empty()).then(|| format!("no Data arrived under {}", silent.join(", ")));
    all.into_iter().chain(partly).collect()
}

/// The sentences on measures without a value in some runs: one for all measures that the same runs lack.
pub(super) fn missing(comparison: &Comparison) -> Vec<String> {
    let seeds = comparison.seeds.len();
    let mut found: Vec<(Vec<usize>, Vec<&str>)> = Vec::new();
    for measured in &comparison.measures {
        let counts: Vec<usize> = measured.estimates.iter().map(|estimate| estimate.n).collect();
        match found.iter_mut().find(|(known, _)| *known == counts) {
            _ if counts.iter().all(|count| *count == seeds) => {}
            Some((_, nouns)) => nouns.push(measured.measure.noun),
            None => found.push((counts, vec![measured.measure.noun])),
        }
    }
    let sentence = |(counts, nouns): (Vec<usize>, Vec<&str>)| {
        let verb = if nouns.len() == 1 { "has" } else { "have" };
        format!(
            "{} {verb} a value in {}",
            nouns.join(", "),
            runs_with_value(&comparison.labels, &counts, seeds)
        )
    };
    found.into_iter().map(sentence).collect()
}

/// `5 of 6 runs of a, no run of b`; variants with equal counts together.
fn runs_with_value(labels: &[String], counts: &[usize], seeds: usize) -> String {
    let mut groups: Vec<(usize, Vec<&str>)> = Vec::new();
    for (label, count) in labels.iter().zip(counts) {
        match groups.iter_mut().find(|(known, _)| known == count) {
            Some((_, labels)) => labels.push(label),
            None => groups.push((*count, vec![label])),
        }
    }
    let part = |(count, labels): &(usize, Vec<&str>)| {
        let runs = match count {
            0 => "no run".to_owned(),
            1 if seeds == 1 => "the run".to_owned(),
            count => format!("{count} of {seeds} runs"),
        };
        let each = if labels.len() > 1 && *count > 0 { "each of " } else { "" };
        format!("{runs} of {each}{}", labels.join(" and "))
    };
    match groups.as_slice() {
        [(0, _)] => "no run".to_owned(),
        groups => groups.iter().map(part).collect::<Vec<String>>().join(", "),
    }
}

/// The warning about means and tests over a part of the runs; [`missing`] lists how many these are.
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
            "means and tests of {} are over the runs that have a value, which may flatter a variant",
            nouns.join(", ")
        )
    })
}
