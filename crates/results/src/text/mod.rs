//! Plain text: numbers, aligned tables, and the summaries a command prints, also as JSON.

mod facts;
mod media;
mod nodes;
mod rows;
mod screen;
mod sweep;
mod table;

use rows::Row;

pub use facts::Facts;
pub use screen::Screen;
pub use sweep::sweep_rows;
pub use table::{Align, TextTable};

use std::fmt;

use tidegate_core::observe::records::{FlowRecord, RunRecord};

use crate::claims::{Band, ClaimVerdict, Judged, Paper, Published};
use crate::measures;
use crate::stats::Estimate;
use serde_json::{Value, json};

/// Whether a flow is a TCP connection, by a prefix that only those have.
pub fn is_tcp(flow: &FlowRecord) -> bool {
    flow.prefix.starts_with("/tcp/")
}

/// Unit that the flows send: "Interest", "segment", or "packet" for a mix of both.
pub fn sent_by<'a>(flows: impl IntoIterator<Item = &'a FlowRecord>) -> &'static str {
    sent_by_kinds(flows.into_iter().map(is_tcp))
}

/// As [`sent_by`], for flows of which `are_tcp` are TCP connections.
pub fn sent_by_kinds(are_tcp: impl Iterator<Item = bool>) -> &'static str {
    let mut kinds: Vec<bool> = are_tcp.collect();
    kinds.sort_unstable();
    kinds.dedup();
    match kinds[..] {
        [true] => "segment",
        [_, _, ..] => "packet",
        _ => "Interest",
    }
}

/// A number for readers: four significant digits, all digits of the integer part, no trailing zeros.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    // As decimals these would be mostly zeros, of which a reader loses count.
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= MAX_DECIMAL) {
        return format!("{value:.2e}");
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    trimmed(value, usize::try_from(3 - magnitude).unwrap_or(0))
}

/// A count with its thousands apart: `12,345`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let apart = |(place, digit): (usize, char)| {
        let is_first_of_three = place > 0 && (digits.len() - place).is_multiple_of(3);
        is_first_of_three.then_some(',').into_iter().chain([digit])
    };
    digits.chars().enumerate().flat_map(apart).collect()
}

/// A count with its noun, which gets an `s` unless the count is 1: `1 seed`, `3 seeds`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Numbers from here on have exponents; a whole number below it is exact.
const MAX_DECIMAL: f64 = 1e15;
/// Maximum number of significant digits of a measure's mean; a ten-thousandth of a mean is not relevant.
const MAX_MEAN_DIGITS: usize = 5;
/// The same for a factor or difference: a factor near 1 differs from it in its last digits.
const MAX_DIGITS: usize = 6;

/// Mean and half width with the same decimals: as many as give the half width two significant digits, at most six
/// significant digits of the mean. Where these do not resolve the half width, it is rounded up to the last digit shown,
/// so that the interval shown holds the true one. Numbers below 1e-4 and from 1e15 on have exponents.
pub fn number_with_error(mean: f64, half_width: f64) -> (String, String) {
    with_error(mean, half_width, MAX_DIGITS)
}

/// As [`number_with_error`], with at most `max_digits` significant digits of the mean.
fn with_error(mean: f64, half_width: f64, max_digits: usize) -> (String, String) {
    if !(half_width.is_finite() && half_width > 0.0) {
        return (number(mean), number(half_width));
    }
    let max = mean.abs().max(half_width);
    if max < 1e-4 || (MAX_DECIMAL..f64::INFINITY).contains(&max) {
        let exponent = magnitude(max, max_digits);
        let unit = 10f64.powi(exponent);
        let (mean, half_width) = with_error(mean / unit, half_width / unit, max_digits);
        return (format!("{mean}e{exponent}"), format!("{half_width}e{exponent}"));
    }
    let required = 1 - magnitude(half_width, 2);
    let max = max_digits as i32 - 1 - magnitude(max, max_digits);
    let decimals = usize::try_from(required.min(max)).unwrap_or(0);
    let last = 10f64.powi(-(decimals as i32));
    let half_width = if max < required - 1 { (half_width / last + 0.5).ceil() * last } else { half_width };
    (fixed(mean, decimals), fixed(half_width, decimals))
}

/// The power of ten of a positive value after rounding to `digits` significant digits.
fn magnitude(value: f64, digits: usize) -> i32 {
    let shown = format!("{value:.*e}", digits - 1);
    shown.rsplit_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0)
}

impl fmt::Display for Estimate {
    /// `12.31 ± 0.42`; without an interval `12.31 (deterministic)` or `12.31 (1 run)`; `-` without samples.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.n {
            0 => f.pad("-"),
            1 => f.pad(&format!("{} (1 run)", number(self.mean))),
            _ if self.deterministic => f.pad(&format!("{} (deterministic)", number(self.mean))),
            _ => {
                let (mean, half_width) = with_error(self.mean, self.half_width, MAX_MEAN_DIGITS);
                f.pad(&format!("{mean} ± {half_width}"))
            }
        }
    }
}

fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // A rounded-away minus sign would read as an effect.
    if text.starts_with('-') && text.chars().all(|digit| matches!(digit, '-' | '0' | '.')) {
        return text[1..].to_owned();
    }
    text
}

fn trimmed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A measure of one flow of a run; `None` where it has no value.
type FlowMeasure = fn(&RunRecord, &FlowRecord) -> Option<f64>;
/// A measure of a run.
type RunMeasure = fn(&RunRecord) -> Option<f64>;

const FLOW_MEASURES: [(&str, FlowMeasure); 6] = [
    ("goodput_mbps", |run, flow| measures::goodput_mbps(flow, run.ended)),
    ("completion_s", |_, flow| flow.completion_time().map(|time| time.as_secs_f64())),
    ("full_delay_mean_ms", |_, flow| {
        (flow.full_delay.count > 0).then(|| flow.full_delay.mean.as_millis_f64())
    }),
    ("retransmissions", |_, flow| Some(flow.retransmissions as f64)),
    ("timeouts", |_, flow| Some(flow.timeouts as f64)),
    ("marks", |_, flow| Some(flow.marks as f64)),
];

const RUN_MEASURES: [(&str, RunMeasure); 3] = [
    ("jain_index", measures::run_jain_index),
    ("total_goodput_mbps", measures::total_goodput_mbps),
    ("dropped_packets", |run| Some(run.links.iter().map(|link| link.dropped_packets).sum::<u64>() as f64)),
];

/// Estimate of a measure of flow `index` over those of `runs` in which it has a value.
fn flow_estimate(runs: &[RunRecord], index: usize, of: FlowMeasure) -> Estimate {
    Estimate::of_present(runs.iter().map(|run| of(run, run.flows.get(index)?)))
}

fn flow_rows(runs: &[RunRecord]) -> Vec<Row<'_>> {
    let flows = runs.first().map_or(&[][..], |run| run.flows.as_slice());
    let values = |index: usize| FLOW_MEASURES.map(|(name, of)| (name, flow_estimate(runs, index, of)));
    let all = flows.iter().enumerate();
    all.map(|flow| Row { name: &flow.1.name, scheme: Some(&flow.1.scheme), values: values(flow.0).to_vec() })
        .collect()
}

fn run_estimate(runs: &[RunRecord], of: RunMeasure) -> Estimate {
    Estimate::of_present(runs.iter().map(of))
}

/// As [`short`], for an estimate over those of `runs` runs in which the measure has a value; with their
/// number if these are not all: `17.6 ± 1.4 (5 of 6 runs)`.
pub fn over_runs(estimate: &Estimate, runs: usize) -> String {
    let shown = short(estimate);
    if (1..runs).contains(&estimate.n) { format!("{shown} ({} of {runs} runs)", estimate.n) } else { shown }
}

/// [`over_runs`] as JSON: an estimate with the number of all `runs`, of which it is over `n`.
pub fn over_runs_json(estimate: &Estimate, runs: usize) -> Value {
    let mut entries = estimate_entries(estimate);
    entries.push(("runs", Value::from(runs)));
    Value::from_iter(entries)
}

/// Warning about a mean over some of the runs only.
fn survivors(what: &str, n: usize, runs: usize) -> String {
    format!("{what} has a value in {n} of {runs} runs; its mean is over these runs only, which may bias it")
}

/// An estimate for a table in which all rows have the same number of runs: no remark next to the number.
pub fn short(estimate: &Estimate) -> String {
    match estimate.n {
        0 => "-".to_owned(),
        _ if !estimate.has_interval() => number(estimate.mean),
        _ => estimate.to_string(),
    }
}

/// Summary of the runs of one scenario: a table of flows, one of nodes with content stores or servers if there are
/// any, one of shared media, then fairness, total and drops.
///
/// With several runs each number is the mean with its 95 % interval; a result that did not vary has none.
pub fn run_summary(runs: &[RunRecord], screen: Screen) -> String {
    let Some(first) = runs.first() else { return "no runs\n".to_owned() };
    let table = rows::table("flow", &flow_rows(runs), runs.len());
    let mut text = format!("{}, {}\n\n{}\n", first.scenario, seeds(runs), table.render(screen));
    text.push_str(&nodes::table(runs, screen));
    text.push_str(&media::table(runs, screen));
    for (name, of) in RUN_MEASURES {
        text.push_str(&format!("{name}: {}\n", over_runs(&run_estimate(runs, of), runs.len())));
    }
    if runs.len() > 1 {
        text.push_str(&format!("mean ± 95 % interval over {} runs", runs.len()));
        text.push_str(if is_any_constant(runs) { "; no interval: the same in every run\n" } else { "\n" });
    }
    for warning in partly_missing(runs) {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

/// Whether a measure of the summary has the same value in several runs, so that it has no interval.
fn is_any_constant(runs: &[RunRecord]) -> bool {
    let flows = 0..runs.first().map_or(0, |run| run.flows.len());
    let of_flows = flows.flat_map(|index| FLOW_MEASURES.map(|(_, of)| flow_estimate(runs, index, of)));
    of_flows.chain(RUN_MEASURES.map(|(_, of)| run_estimate(runs, of))).any(|estimate| estimate.deterministic)
}

/// A sentence for each measure that some of the runs have and some have not.
pub fn partly_missing(runs: &[RunRecord]) -> Vec<String> {
    let is_partial = |estimate: &Estimate| (1..runs.len()).contains(&estimate.n);
    let flows = runs.first().map_or(&[][..], |run| run.flows.as_slice());
    let of_flows = FLOW_MEASURES.into_iter().filter_map(|(name, of)| {
        let all = flows.iter().enumerate().map(|(index, flow)| (flow, flow_estimate(runs, index, of)));
        let mut partial = all.filter(|(_, estimate)| is_partial(estimate));
        let (flow, estimate) = partial.next()?;
        Some(match partial.count() {
            0 => survivors(&format!("{name} of {}", flow.name), estimate.n, runs.len()),
            more => format!(
                "{name} of {} flows has a value in some of the runs only; the means are over these runs only, which may bias them",
                more + 1
            ),
        })
    });
    let of_runs = RUN_MEASURES.into_iter().filter_map(|(name, of)| {
        let estimate = run_estimate(runs, of);
        is_partial(&estimate).then(|| survivors(name, estimate.n, runs.len()))
    });
    of_flows.chain(of_runs).collect()
}

/// The seeds in words: `seed 7`, `seeds 1 to 10`, `seeds 3, 9, 4`.
pub fn seeds(runs: &[RunRecord]) -> String {
    seed_list(&runs.iter().map(|run| run.seed).collect::<Vec<u64>>())
}

/// As [`seeds`], for the given list.
pub fn seed_list(seeds: &[u64]) -> String {
    let consecutive = seeds.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(1));
    match seeds {
        [] => "no runs".to_owned(),
        [seed] => format!("seed {seed}"),
        [first, .., last] if consecutive && seeds.len() > 2 => format!("seeds {first} to {last}"),
        _ => format!("seeds {}", seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// [`run_summary`] as JSON: flows, nodes and run measures with `mean`, `half_width`, `n`, `deterministic`, `runs`.
pub fn run_summary_json(runs: &[RunRecord]) -> Value {
    let mut entries = vec![
        ("scenario", runs.first().map_or(Value::Null, |run| run.scenario.as_str().into())),
        ("seeds", runs.iter().map(|run| Value::from(run.seed)).collect::<Value>()),
        ("flows", rows::json(&flow_rows(runs), runs.len())),
    ];
    entries.push(("nodes", rows::json(&nodes::rows(runs), runs.len())));
    entries.push(("media", rows::json(&media::rows(runs), runs.len())));
    entries
        .extend(RUN_MEASURES.map(|(name, of)| (name, over_runs_json(&run_estimate(runs, of), runs.len()))));
    entries.push(("warnings", partly_missing(runs).into_iter().collect::<Value>()));
    Value::from_iter(entries)
}

/// An estimate as JSON; numbers that are not finite are `null`.
pub fn estimate_json(estimate: &Estimate) -> Value {
    Value::from_iter(estimate_entries(estimate))
}

fn estimate_entries(estimate: &Estimate) -> Vec<(&'static str, Value)> {
    vec![
        ("mean", Value::from(estimate.mean)),
        ("half_width", Value::from(estimate.half_width)),
        ("n", Value::from(estimate.n)),
        ("deterministic", Value::from(estimate.deterministic)),
    ]
}

/// `value unit`, or the value alone without a unit.
pub fn with_unit(value: impl std::fmt::Display, unit: &str) -> String {
    if unit.is_empty() { value.to_string() } else { format!("{value} {unit}") }
}

/// The published value with its unit; words have none.
pub fn published(judged: &Judged) -> String {
    match &judged.claim.published {
        Published::Number(_) => with_unit(&judged.claim.published, &judged.claim.unit),
        Published::Text(text) => text.clone(),
    }
}

/// Minimum width for a table of claims, in columns; on narrower screens its cells would have single words in
/// each line.
const WIDE_ENOUGH_FOR_CLAIMS: usize = 140;

/// The claims as a table or, on a narrow screen, as a list, then how often each verdict was given and which contradict
/// the record.
pub fn claims_table(claims: &[Judged], screen: Screen) -> String {
    let shown = match screen.width {
        Some(width) if width < WIDE_ENOUGH_FOR_CLAIMS => {
            claims.iter().map(|judged| claim_entry(judged, screen)).collect()
        }
        _ => claims_as_table(claims).render(screen),
    };
    format!("{shown}\n{}\n{}", verdict_counts(claims), contradictions(claims))
}

/// Our estimate with its unit.
fn ours(judged: &Judged) -> String {
    if judged.estimate.n == 0 { "-".to_owned() } else { with_unit(judged.estimate, &judged.claim.unit) }
}

/// Table of the claims and our results, one claim in each row.
pub fn claims_as_table(claims: &[Judged]) -> TextTable {
    let left = |name| (name, Align::Left);
    let right = |name| (name, Align::Right);
    let mut table = TextTable::new(&[
        left("id"),
        left("where"),
        left("quantity"),
        right("published"),
        right("ours ± CI"),
        right("band"),
        left("verdict"),
    ]);
    for judged in claims {
        let claim = &judged.claim;
        table.row([
            claim.id.clone(),
            claim.place.clone(),
            claim.quantity.clone(),
            published(judged),
            ours(judged),
            claim.band.to_string(),
            judged.word().to_owned(),
        ]);
    }
    table
}

/// A claim in three lines: id and verdict, quantity and place, and the numbers.
fn claim_entry(judged: &Judged, screen: Screen) -> String {
    let claim = &judged.claim;
    let verdict = match judged.verdict {
        Some(ClaimVerdict::Agrees) => screen.green(judged.word()),
        Some(ClaimVerdict::Direction | ClaimVerdict::Undecided) => screen.yellow(judged.word()),
        Some(ClaimVerdict::Differs) => screen.red(judged.word()),
        None => screen.dim(judged.word()),
    };
    let lines = [
        format!("{}: {verdict}\n", screen.bold(&claim.id)),
        format!("  {} ({})\n", claim.quantity, claim.place),
        format!("  published {}; ours {}; band {}\n", published(judged), ours(judged), claim.band),
    ];
    screen.fold(&lines.concat())
}

/// One line per verdict that differs from the one on record; empty if there is none.
fn contradictions(claims: &[Judged]) -> String {
    let line = |judged: &Judged| {
        let recorded = judged.claim.recorded.filter(|_| judged.contradicts_record())?;
        Some(format!("{}: {} is not the verdict on record, {recorded}\n", judged.claim.id, judged.word()))
    };
    claims.iter().filter_map(line).collect()
}

/// `3 agree, 1 direction, 0 undecided, 2 differ`, with `n reduced` when there are any; claims that are not the paper's
/// are counted apart.
pub fn verdict_counts(claims: &[Judged]) -> String {
    let (ours, of_paper): (Vec<&Judged>, Vec<&Judged>) =
        claims.iter().partition(|judged| judged.claim.is_ours);
    match ours.len() {
        0 => counts(&of_paper),
        all => format!("{}; {all} claims of ours: {}", counts(&of_paper), counts(&ours)),
    }
}

fn counts(claims: &[&Judged]) -> String {
    let count = |verdict| claims.iter().filter(|judged| judged.verdict == verdict).count();
    let mut parts = vec![
        format!("{} agree", count(Some(ClaimVerdict::Agrees))),
        format!("{} direction", count(Some(ClaimVerdict::Direction))),
        format!("{} undecided", count(Some(ClaimVerdict::Undecided))),
        format!("{} differ", count(Some(ClaimVerdict::Differs))),
    ];
    match count(None) {
        0 => {}
        reduced => parts.push(format!("{reduced} reduced, without verdict")),
    }
    parts.join(", ")
}

/// The claims of a paper as JSON; an open end of a band is `null`.
pub fn claims_json(paper: &Paper, claims: &[Judged]) -> Value {
    let verdict = |verdict: Option<ClaimVerdict>| Value::from(verdict.map(ClaimVerdict::word));
    let claim = |judged: &Judged| {
        let claim = &judged.claim;
        json!({
            "id": claim.id.as_str(),
            "where": claim.place.as_str(),
            "quantity": claim.quantity.as_str(),
            "unit": claim.unit.as_str(),
            "published": match &claim.published {
                Published::Number(value) => Value::from(*value),
                Published::Text(text) => text.as_str().into(),
            },
            "band": band_json(&claim.band),
            "earlier_band": claim.earlier_band.as_ref().map_or(Value::Null, band_json),
            "band_reason": claim.band_reason.as_deref(),
            "ours": estimate_json(&judged.estimate),
            "verdict": verdict(judged.verdict),
            "recorded": verdict(claim.recorded),
            "is_ours": claim.is_ours,
            "note": claim.note.as_deref(),
        })
    };
    json!({
        "scheme": paper.scheme.as_str(),
        "title": paper.title.as_str(),
        "claims": claims.iter().map(claim).collect::<Value>(),
    })
}

fn band_json(band: &Band) -> Value {
    json!([Value::from(band.low), Value::from(band.high)])
}

#[cfg(test)]
mod tests {
    use tidegate_core::units::{ByteCount, Time};

    use super::*;

    #[test]
    fn numbers_keep_four_significant_digits_and_every_whole_one() {
        let shown = [21.8, 0.0, 1234567.8, 0.123456, -3.0, 1e-9, f64::INFINITY, 99.999, -1e300].map(number);
        assert_eq!(shown, ["21.8", "0", "1234568", "0.1235", "-3", "1.00e-9", "inf", "100", "-1.00e300"]);
    }

    #[test]
    fn a_mean_has_the_decimals_of_its_interval() {
        let pair = |mean, half_width| number_with_error(mean, half_width);
        assert_eq!(pair(12.345678, 0.0456), ("12.346".into(), "0.046".into()));
        assert_eq!(pair(12345.6, 321.0), ("12346".into(), "321".into()));
        assert_eq!(pair(1e300, 2e299), ("1.00e300".into(), "0.20e300".into()));
        assert_eq!(pair(-0.001, 0.5), ("0.00".into(), "0.50".into()));
        assert_eq!(pair(1234567.8, 3.21), ("1234568".into(), "4".into()));
    }

    #[test]
    fn a_mean_has_no_digits_beyond_the_fifth_however_narrow_its_interval() {
        let shown = |mean, half_width| Estimate { mean, half_width, n: 5, deterministic: false }.to_string();
        assert_eq!(shown(0.999_999_985, 3e-10), "1.0000 ± 0.0001");
        assert_eq!(shown(9.876_543_21, 0.000_03), "9.8765 ± 0.0001");
        assert_eq!(shown(12.345_678, 0.0456), "12.346 ± 0.046");
        assert_eq!(shown(123_456.7, 0.2), "123457 ± 1");
    }

    #[test]
    fn an_interval_too_narrow_to_be_shown_is_rounded_up_to_the_last_digit_of_the_mean() {
        let pair = |mean, half_width| number_with_error(mean, half_width);
        assert_eq!(pair(0.999_999_985, 3e-10), ("1.00000".into(), "0.00001".into()));
        assert_eq!(pair(12.345_678_9, 1e-9), ("12.3457".into(), "0.0001".into()));
        assert_eq!(pair(12.345_678_9, 0.000_02), ("12.3457".into(), "0.0001".into()));
        assert_eq!(pair(2.5e-8, 3e-9), ("2.50e-8".into(), "0.30e-8".into()));
        assert_eq!(pair(1e-9, 4e-7), ("0.0e-7".into(), "4.0e-7".into()));
        for (mean, half_width) in [(0.999_999_985, 3e-10), (1.000_000_4, 5e-7), (98.765_432, 1.3e-6)] {
            let (shown, width) = pair(mean, half_width);
            let [shown, width] = [shown, width].map(|text| text.parse::<f64>().expect("a number"));
            assert!(
                shown - width <= mean - half_width && mean + half_width <= shown + width,
                "{shown} {width}"
            );
        }
    }

    #[test]
    fn a_mean_over_some_of_the_runs_says_of_how_many() {
        let run = |seed, completed: Option<u64>| {
            let completed = completed.map(|seconds| Time::from_nanos(seconds * 1_000_000_000));
            let flow = FlowRecord {
                name: "file".to_owned(),
                segments: Some(9),
                delivered_payload: ByteCount::new(9000),
                completed,
                ..FlowRecord::default()
            };
            RunRecord {
                seed,
                ended: Time::from_nanos(20_000_000_000),
                flows: vec![flow],
                ..RunRecord::default()
            }
        };
        let stated = run_summary(&[run(1, Some(10)), run(2, Some(10)), run(3, None)], Screen::PLAIN);
        assert!(stated.contains("10 (2 of 3 runs)"), "{stated}");
        let warning = "warning: completion_s of file has a value in 2 of 3 runs; its mean is over these runs only, which may bias it";
        assert!(stated.ends_with(&format!("{warning}\n")), "{stated}");
        let json = run_summary_json(&[run(1, Some(10)), run(3, None)]).to_string();
        assert!(json.contains("\"n\":1,\"deterministic\":false,\"runs\":2"), "{json}");
        let two = |seed, completed| {
            let mut run = run(seed, completed);
            run.flows.push(run.flows[0].clone());
            run
        };
        let stated = run_summary(&[two(1, Some(10)), two(2, None)], Screen::PLAIN);
        assert!(
            stated.contains("warning: completion_s of 2 flows has a value in some of the runs only"),
            "{stated}"
        );
        for none_or_all in [[run(1, None), run(2, None)], [run(1, Some(3)), run(2, Some(4))]] {
            let stated = run_summary(&none_or_all, Screen::PLAIN);
            assert!(!stated.contains("of 2 runs") && !stated.contains("warning"), "{stated}");
        }
    }
}
