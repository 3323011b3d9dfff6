//! Results of a comparison in sentences.

use super::{BaselineChange, Comparison, Finding, Judgement, Measured, Ratio, Tested, coverage};
use crate::measures::{RUN_MEASURES, RunMeasure};
use crate::stats::ROUNDING;
use crate::text::{number, number_with_error, with_unit};

/// Measures in sentences if none were selected; the table has all.
const TOLD: [&str; 8] = [
    "goodput_mbps",
    "completion_s",
    "full_delay_ms",
    "full_delay_p95_ms",
    "queue_delay_ms",
    "jain",
    "retransmissions",
    "dropped_packets",
];

/// What was found, in sentences: what has no value in some runs, then of each variant beside the reference what differs
/// and what may not.
pub fn summary(comparison: &Comparison) -> Vec<String> {
    let others = (0..comparison.labels.len()).filter(|index| *index != comparison.reference);
    let of_pairs = others.flat_map(|index| summary_of(comparison, index));
    coverage::missing(comparison).into_iter().chain(of_pairs).collect()
}

fn summary_of(comparison: &Comparison, index: usize) -> Vec<String> {
    let Comparison { labels, reference, measures, .. } = comparison;
    let (ours, theirs) = (&labels[index], &labels[*reference]);
    let is_told =
        |measured: &&Measured| measures.len() <= TOLD.len() || TOLD.contains(&measured.measure.name);
    let finding = |measured: &Measured| measured.pairs[index].as_ref().map(|tested| tested.finding);
    let is_known = measures.iter().any(|measured| finding(measured).is_some());
    if is_known && measures.iter().all(|measured| measured.is_same(index, *reference)) {
        let (same, runs) = (same(comparison), every_run(comparison.seeds.len()));
        return vec![format!("{ours} and {theirs} {same} in {runs}")];
    }
    let has =
        |of: Finding| measures.iter().filter(is_told).filter(move |measured| finding(measured) == Some(of));
    let different = measures.iter().filter(is_told).filter(|measured| {
        matches!(finding(measured), Some(Finding::Significant | Finding::Fixed | Finding::Untested))
    });
    let mut sentences: Vec<String> =
        different.filter_map(|measured| pair_sentence(measured, index, labels, *reference)).collect();
    let (corrected, unclear): (Vec<&Measured>, Vec<&Measured>) = has(Finding::Unclear)
        .partition(|measured| measured.pairs[index].as_ref().is_some_and(Tested::is_undone_by_correction));
    let with_ranges = |measures: &[&Measured]| {
        let with_range = |measured: &&Measured| {
            let range = measured.pairs[index].as_ref().and_then(|tested| range(&tested.pair.ratio));
            range.map_or(measured.measure.noun.to_owned(), |range| {
                format!("{} ({range})", measured.measure.noun)
            })
        };
        measures.iter().map(with_range).collect::<Vec<String>>().join(", ")
    };
    if !unclear.is_empty() {
        let unclear = with_ranges(&unclear);
        sentences.push(format!("no clear difference between {ours} and {theirs} in {unclear}"));
    }
    if !corrected.is_empty() {
        sentences.push(format!(
            "no clear difference between {ours} and {theirs} after the correction for {} tests, although each \
             interval taken alone leaves out equality: {}",
            comparison.family,
            with_ranges(&corrected)
        ));
    }
    let coinciding: Vec<String> = has(Finding::Coinciding)
        .filter_map(|measured| {
            let tested = measured.pairs[index].as_ref()?;
            Some(format!("{} ({})", measured.measure.noun, difference(measured, tested, true)))
        })
        .collect();
    if !coinciding.is_empty() {
        let measures = coinciding.join(", ");
        sentences.push(format!(
            "not tested between {ours} and {theirs}, as all differences are equal: {measures}"
        ));
    }
    sentences
}

/// Sentence about two variants that are equal in all measures, or in the selected ones.
fn same(comparison: &Comparison) -> String {
    let is_compared = |measure: &RunMeasure| comparison.measured(measure.name).is_some();
    if RUN_MEASURES.iter().all(|measure| measure.is_of_finite_flows() || is_compared(measure)) {
        return "give the same results".to_owned();
    }
    let compared = comparison.measures.iter().filter(|measured| !measured.pairs.iter().all(Option::is_none));
    let nouns: Vec<&str> = compared.map(|measured| measured.measure.noun).collect();
    format!("have the same {}", nouns.join(" and "))
}

fn every_run(runs: usize) -> &'static str {
    if runs == 1 { "the one run" } else { "every run" }
}

/// `0.97 to 1.05 times`.
fn range(ratio: &Ratio) -> Option<String> {
    let Ratio::Between { low, high, .. } = ratio else { return None };
    Some(format!("{} to {} times", number(*low), number(*high)))
}

/// One sentence about variant `index` of `measured` compared with the reference; `None` for the reference itself.
pub fn pair_sentence(
    measured: &Measured,
    index: usize,
    labels: &[String],
    reference: usize,
) -> Option<String> {
    let tested = measured.pairs.get(index)?.as_ref()?;
    let (ours, theirs) = (labels[index].as_str(), labels[reference].as_str());
    let sentence = found(measured, tested, ours, theirs);
    Some(match tested.left_out {
        0 => sentence,
        left_out => format!("{sentence}, in {} of {} runs", tested.pair.n, tested.pair.n + left_out),
    })
}

/// Result for `ours` compared with `theirs`, in the runs that have both.
fn found(measured: &Measured, tested: &Tested, ours: &str, theirs: &str) -> String {
    match tested.finding {
        Finding::Equal if tested.pair.ours == 0.0 => {
            format!("{ours} and {theirs} have no {}", measured.measure.noun)
        }
        Finding::Equal => {
            let (noun, runs) = (measured.measure.noun, every_run(tested.pair.n));
            format!("{ours} and {theirs} have the same {noun} in {runs}")
        }
        Finding::Coinciding => {
            let (noun, runs) = (measured.measure.noun, tested.pair.n);
            let difference = difference(measured, tested, false);
            format!(
                "{ours} has {difference} {noun} than {theirs} in each of {runs} runs (not tested: all differences are \
                 equal)"
            )
        }
        Finding::Unclear => unclear(measured, tested, ours, theirs),
        Finding::Significant | Finding::Fixed | Finding::Untested => {
            different(measured, tested, ours, theirs)
        }
    }
}

fn unclear(measured: &Measured, tested: &Tested, ours: &str, theirs: &str) -> String {
    let range = range(&tested.pair.ratio).unwrap_or_else(|| {
        let difference = &tested.pair.difference;
        let (low, high) = (number(difference.low()), number(difference.high()));
        format!("difference {}", with_unit(format!("{low} to {high}"), measured.measure.unit))
    });
    let reason = match tested.is_undone_by_correction() {
        true => {
            "; this interval taken alone leaves out equality, the correction for the number of tests decides"
        }
        false => "",
    };
    format!("no clear difference in {} between {ours} and {theirs} ({range}{reason})", measured.measure.noun)
}

fn different(measured: &Measured, tested: &Tested, ours: &str, theirs: &str) -> String {
    let noun = measured.measure.noun;
    let amount = |mean: f64| with_unit(number(mean), unit_beside(measured.measure));
    let said = match (tested.pair.ours == 0.0, times(&tested.pair.ratio)) {
        (true, _) => format!("{ours} has no {noun}, {theirs} {}", amount(tested.pair.theirs)),
        (false, Some((factor, is_more))) => {
            format!("{ours} has {factor} times {} {noun} than {theirs}", measured.measure.word(is_more))
        }
        (false, None) => {
            format!("{ours} has {} {noun} than {theirs}", difference(measured, tested, false))
        }
    };
    match (tested.judged(measured.measure.better), tested.finding) {
        (_, Finding::Untested) => format!("{said} (one run: no interval)"),
        (Some(verdict), Finding::Fixed) => format!("{said} in every run ({verdict})"),
        (None, Finding::Fixed) => format!("{said} in every run"),
        (Some(verdict), _) => format!("{said} ({verdict})"),
        (None, _) => said,
    }
}

/// `12 ± 3 ms more`, with the unit where the measure's name does not say what is counted, or `with_all_units`.
fn difference(measured: &Measured, tested: &Tested, with_all_units: bool) -> String {
    let estimate = &tested.pair.difference;
    let (mean, half_width) = number_with_error(estimate.mean.abs(), estimate.half_width);
    let shown = match estimate.has_interval() {
        true => format!("{mean} ± {half_width}"),
        false => number(estimate.mean.abs()),
    };
    let unit = if with_all_units { measured.measure.unit } else { unit_beside(measured.measure) };
    format!("{} {}", with_unit(shown, unit), measured.measure.word(estimate.mean > 0.0))
}

/// The unit of a number that is followed by the measure's name: `52 more retransmissions`, not packets of them.
fn unit_beside(measure: &RunMeasure) -> &'static str {
    if measure.unit == "packets" { "" } else { measure.unit }
}

/// `1.23 ± 0.05` and whether that is more: how many times, always at least one; `None` without a ratio that has an
/// interval, and for a ratio of zero.
pub fn times(ratio: &Ratio) -> Option<(String, bool)> {
    let Ratio::Between { value, low, high } = *ratio else { return None };
    if value <= 0.0 {
        return None;
    }
    if value >= 1.0 {
        return Some((factor(value, low, high), true));
    }
    // The ratio the other way round; its interval is open where this one reaches zero.
    Some((factor(1.0 / value, 1.0 / high, 1.0 / low), false))
}

/// The factor with its interval: after `±` if both sides are about as wide, else both ends.
fn factor(value: f64, low: f64, high: f64) -> String {
    let (below, above) = (value - low, high - value);
    // Means of equal runs differ by rounding only.
    if above.max(below) <= ROUNDING * value {
        return number(value);
    }
    if !high.is_finite() {
        return format!("{} (at least {})", number(value), number(low));
    }
    let half_width = 0.5 * (below + above);
    if (above - below).abs() <= 0.2 * half_width {
        let (value, half_width) = number_with_error(value, half_width);
        return format!("{value} ± {half_width}");
    }
    let (value, _) = number_with_error(value, half_width);
    let ends = [low, high].map(|end| number_with_error(end, half_width).0);
    format!("{value} ({} to {})", ends[0], ends[1])
}

/// One sentence about a variant compared with its baseline.
pub fn judgement_sentence(judgement: &Judgement) -> String {
    let Judgement { label, measure, tested, change, .. } = judgement;
    let (before, now) = (number(tested.pair.theirs), number(tested.pair.ours));
    let relative = match judgement.relative {
        Some(relative) => format!(" ({:+.2} %)", 100.0 * relative),
        None => String::new(),
    };
    if matches!(change, BaselineChange::Gone | BaselineChange::New) {
        let [then, now] = judgement.coverage.map(|(n, runs)| format!("{n} of {runs} runs"));
        return format!("{label}: {} {}: a value in {then} then, in {now} now", measure.noun, change.word());
    }
    let from_to = with_unit(format!("from {before} to {now}"), measure.unit);
    format!("{label}: {} {}: {from_to}{relative}", measure.noun, change.word())
}
