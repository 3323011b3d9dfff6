//! What was found, in words.

use super::{Finding, Judgement, Measured, Ratio, Tested};
use crate::measures::Better;
use crate::text::{number, number_with_error, with_unit};

/// One sentence about variant `index` of `measured` beside the reference; `None` for the reference itself.
pub fn pair_sentence(
    measured: &Measured,
    index: usize,
    labels: &[String],
    reference: usize,
) -> Option<String> {
    let tested = measured.pairs.get(index)?.as_ref()?;
    let (ours, theirs) = (labels[index].as_str(), labels[reference].as_str());
    Some(match tested.finding {
        Finding::Equal if tested.pair.ours == 0.0 => {
            format!("{ours} and {theirs} have no {}", measured.measure.noun)
        }
        Finding::Equal => format!("{ours} and {theirs} have the same {} in every run", measured.measure.noun),
        Finding::Unclear => unclear(measured, tested, ours, theirs),
        Finding::Significant | Finding::Fixed | Finding::Untested => {
            different(measured, tested, ours, theirs)
        }
    })
}

fn unclear(measured: &Measured, tested: &Tested, ours: &str, theirs: &str) -> String {
    let range = match tested.pair.ratio {
        Ratio::Between { low, high, .. } => format!("{} to {} times", number(low), number(high)),
        Ratio::Open { .. } | Ratio::None => {
            let difference = &tested.pair.difference;
            let (low, high) = (number(difference.low()), number(difference.high()));
            format!("difference {}", with_unit(format!("{low} to {high}"), measured.measure.unit))
        }
    };
    format!("no clear difference in {} between {ours} and {theirs} ({range})", measured.measure.noun)
}

fn different(measured: &Measured, tested: &Tested, ours: &str, theirs: &str) -> String {
    let (noun, unit) = (measured.measure.noun, measured.measure.unit);
    let amount = |mean: f64| with_unit(number(mean), unit);
    let said = match (tested.pair.ours == 0.0, times(&tested.pair.ratio)) {
        (true, _) => format!("{ours} has no {noun}, {theirs} {}", amount(tested.pair.theirs)),
        (false, Some((factor, word))) => format!("{ours} has {factor} times {word} {noun} than {theirs}"),
        (false, None) => {
            let (word, difference) = more_or_less(tested.pair.difference.mean);
            let (mean, half_width) = number_with_error(difference, tested.pair.difference.half_width);
            let shown = match tested.pair.difference.has_interval() {
                true => with_unit(format!("{mean} ± {half_width}"), unit),
                false => amount(difference),
            };
            format!("{ours} has {shown} {word} {noun} than {theirs}")
        }
    };
    match (judged(measured.measure.better, tested), tested.finding) {
        (_, Finding::Untested) => format!("{said} (one run: no interval)"),
        (Some(verdict), _) => format!("{said} ({verdict})"),
        (None, _) => said,
    }
}

fn more_or_less(difference: f64) -> (&'static str, f64) {
    if difference < 0.0 { ("less", -difference) } else { ("more", difference) }
}

/// `better` or `worse`, if the measure knows that and the means differ.
pub(super) fn judged(better: Better, tested: &Tested) -> Option<&'static str> {
    let (ours, theirs) = (tested.pair.ours, tested.pair.theirs);
    let is_more = match better {
        Better::Neither => return None,
        _ if ours == theirs => return None,
        Better::More => ours > theirs,
        Better::Less => ours < theirs,
    };
    Some(if is_more { "better" } else { "worse" })
}

/// `1.23 ± 0.05` and `more` or `less`: how many times, always at least one; `None` without a ratio that has an
/// interval, and for a ratio of zero.
pub fn times(ratio: &Ratio) -> Option<(String, &'static str)> {
    let Ratio::Between { value, low, high } = *ratio else { return None };
    if value <= 0.0 {
        return None;
    }
    if value >= 1.0 {
        return Some((factor(value, low, high), "more"));
    }
    // The ratio the other way round; its interval is open where this one reaches zero.
    Some((factor(1.0 / value, 1.0 / high, 1.0 / low), "less"))
}

/// The factor with its interval: after `±` if both sides are about as wide, else both ends.
fn factor(value: f64, low: f64, high: f64) -> String {
    let (below, above) = (value - low, high - value);
    if above == 0.0 && below == 0.0 {
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

/// One sentence about a variant beside its baseline.
pub fn judgement_sentence(judgement: &Judgement) -> String {
    let Judgement { label, measure, tested, change, .. } = judgement;
    let (before, now) = (number(tested.pair.theirs), number(tested.pair.ours));
    let relative = match judgement.relative {
        Some(relative) => format!(" ({:+.2} %)", 100.0 * relative),
        None => String::new(),
    };
    let from_to = with_unit(format!("from {before} to {now}"), measure.unit);
    format!("{label}: {} {}: {from_to}{relative}", measure.noun, change.word())
}
