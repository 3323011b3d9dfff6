//! What is kept of each run, and each claim's quantity made from it.

use tidegate_core::records::{FlowRecord, RunRecord};
use tidegate_core::units::Span;
use tidegate_report::stats::{self, Estimate};
use tidegate_report::text::{Align, TextTable, short};
use tidegate_sim::plan::Plan;

use super::invariants::{self, Invariants};
use super::{ALPHAS, LONG_WITH, LONG_WITHOUT, ROWS, Results, Setting, TRUE_ICP, WITH, WITHOUT};

/// What the claims need of one run.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    flows: Vec<FlowKept>,
    invariants: Invariants,
}

/// One flow of one run.
#[derive(Clone, Debug)]
struct FlowKept {
    retransmissions: f64,
    /// NaN while unfinished.
    completion_s: f64,
    full_delay_ms: f64,
}

impl Kept {
    pub(super) fn of(plan: &Plan, run: RunRecord) -> Self {
        Self { flows: run.flows.iter().map(FlowKept::of).collect(), invariants: invariants::of(plan, &run) }
    }
}

impl FlowKept {
    fn of(flow: &FlowRecord) -> Self {
        Self {
            retransmissions: flow.retransmissions as f64,
            completion_s: flow.completion_time().map_or(f64::NAN, Span::as_secs_f64),
            full_delay_ms: flow.full_delay.mean.as_millis_f64(),
        }
    }
}

/// A measure of one run's first flow.
pub(super) type Measure = fn(&Kept) -> f64;

/// Retransmissions of the first flow.
pub(super) fn retransmissions(run: &Kept) -> f64 {
    run.flows.first().map_or(f64::NAN, |flow| flow.retransmissions)
}

/// Completion time of the first flow, s.
pub(super) fn completion_s(run: &Kept) -> f64 {
    run.flows.first().map_or(f64::NAN, |flow| flow.completion_s)
}

/// Mean full delay of the first flow, ms.
pub(super) fn full_delay_ms(run: &Kept) -> f64 {
    run.flows.first().map_or(f64::NAN, |flow| flow.full_delay_ms)
}

/// Mean full delay of the second flow (Consumer1), ms.
pub(super) fn second_full_delay_ms(run: &Kept) -> f64 {
    run.flows.get(1).map_or(f64::NAN, |flow| flow.full_delay_ms)
}

/// Retransmissions of the second flow (Consumer1).
pub(super) fn second_retransmissions(run: &Kept) -> f64 {
    run.flows.get(1).map_or(f64::NAN, |flow| flow.retransmissions)
}

/// Retransmissions of both flows.
pub(super) fn all_retransmissions(run: &Kept) -> f64 {
    retransmissions(run) + second_retransmissions(run)
}

/// One row of the linear scenario: its runs by setting, one per seed.
pub(super) struct Linear(pub(super) Vec<(Setting, Vec<Kept>)>);

impl Linear {
    /// The measure at `setting`, per seed.
    pub(super) fn at(&self, setting: Setting, measure: Measure) -> Vec<f64> {
        let found = self.0.iter().find(|(cell, _)| *cell == setting);
        found.map_or_else(Vec::new, |(_, runs)| runs.iter().map(measure).collect())
    }

    /// Whether the row was run at `setting`.
    pub(super) fn has(&self, setting: Setting) -> bool {
        self.0.iter().any(|(cell, _)| *cell == setting)
    }

    fn runs(&self, setting: Setting) -> &[Kept] {
        self.0.iter().find(|(cell, _)| *cell == setting).map_or(&[], |(_, runs)| runs)
    }
}

/// The measure of the burst scenario without (0) or with (1) PLR, per seed.
pub(super) fn burst_at(cells: &[Vec<Kept>; 2], with: usize, measure: Measure) -> Vec<f64> {
    cells[with].iter().map(measure).collect()
}

/// Seed by seed.
fn pairs(ours: &[f64], theirs: &[f64], of: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| of(*ours, *theirs)).collect()
}

fn ratio(with: &[f64], without: &[f64]) -> Vec<f64> {
    pairs(with, without, |with, without| with / without)
}

fn decrease_percent(with: &[f64], without: &[f64]) -> Vec<f64> {
    pairs(with, without, |with, without| 100.0 * (1.0 - with / without))
}

fn difference(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    pairs(ours, theirs, |ours, theirs| ours - theirs)
}

/// Seed by seed over several lists of equal length.
fn fold(lists: &[Vec<f64>], of: fn(f64, f64) -> f64) -> Vec<f64> {
    let Some((first, rest)) = lists.split_first() else { return Vec::new() };
    rest.iter().fold(first.clone(), |sofar, list| pairs(&sofar, list, of))
}

/// The mean over the paper's four rows, seed by seed.
fn over_rows(results: &Results, of: impl Fn(&Linear) -> Vec<f64>) -> Vec<f64> {
    let lists: Vec<Vec<f64>> = results.linear[..ROWS.len()].iter().map(of).collect();
    fold(&lists, |sum, value| sum + value).iter().map(|sum| sum / ROWS.len() as f64).collect()
}

fn alpha(alpha: f64) -> Setting {
    Setting { queue: 32, alpha: Some(alpha) }
}

/// The quantity of claim `id`, one sample per seed; `None` for an id that is not known.
pub(super) fn samples(results: &Results, id: &str) -> Option<Vec<f64>> {
    let found = ROWS.iter().position(|row| id.ends_with(&format!("-{}", row.id)));
    let (claim, row) = match found {
        Some(row) => (id.strip_suffix(&format!("-{}", ROWS[row].id))?, Some(row)),
        None => (id, None),
    };
    match row {
        Some(row) => {
            linear_claim(&results.linear[row], claim).or_else(|| burst_claim(&results.burst[row], claim))
        }
        None => overall_claim(results, claim),
    }
}

fn linear_claim(row: &Linear, claim: &str) -> Option<Vec<f64>> {
    let without = row.at(WITHOUT, retransmissions);
    Some(match claim {
        "P1" => ratio(&row.at(alpha(1.0), retransmissions), &without),
        "P2" => {
            let half = decrease_percent(&row.at(alpha(0.5), retransmissions), &without);
            ratio(&half, &decrease_percent(&row.at(alpha(1.0), retransmissions), &without))
        }
        "P3" => largest_rise(row, &without),
        "P5" => {
            let base = row.at(WITHOUT, completion_s);
            let gains: Vec<Vec<f64>> = ALPHAS
                .iter()
                .map(|value| decrease_percent(&row.at(alpha(*value), completion_s), &base))
                .collect();
            // The largest mean over alpha, as the figure shows means; not each seed's own best alpha.
            gains.into_iter().max_by(|a, b| stats::mean(a).total_cmp(&stats::mean(b)))?
        }
        "P6" => decrease_percent(&row.at(WITH, completion_s), &row.at(WITHOUT, completion_s)),
        "P7" => row.at(WITHOUT, full_delay_ms),
        "P7-change" => difference(&row.at(WITH, full_delay_ms), &row.at(WITHOUT, full_delay_ms)),
        _ => return None,
    })
}

/// Largest rise of the retransmissions from one alpha to the next, over those without PLR.
fn largest_rise(row: &Linear, without: &[f64]) -> Vec<f64> {
    let rises: Vec<Vec<f64>> = ALPHAS
        .windows(2)
        .map(|step| {
            let rise = difference(
                &row.at(alpha(step[1]), retransmissions),
                &row.at(alpha(step[0]), retransmissions),
            );
            ratio(&rise, without)
        })
        .collect();
    fold(&rises, f64::max)
}

fn burst_claim(cells: &[Vec<Kept>; 2], claim: &str) -> Option<Vec<f64>> {
    let [without, with] = [0, 1].map(|with| move |measure: Measure| burst_at(cells, with, measure));
    Some(match claim {
        "P14" => decrease_percent(&with(completion_s), &without(completion_s)),
        "P15" => difference(&with(second_full_delay_ms), &without(second_full_delay_ms)),
        "F9a" => pairs(&without(retransmissions), &without(second_retransmissions), f64::min),
        "F9a-reduction" => ratio(&with(all_retransmissions), &without(all_retransmissions)),
        "F9c" => difference(&without(full_delay_ms), &with(full_delay_ms)),
        _ => return None,
    })
}

fn overall_claim(results: &Results, claim: &str) -> Option<Vec<f64>> {
    let reduction = |setting| {
        over_rows(results, |row| {
            decrease_percent(&row.at(setting, retransmissions), &row.at(WITHOUT, retransmissions))
        })
    };
    let faster = |setting| {
        over_rows(results, |row| {
            decrease_percent(&row.at(setting, completion_s), &row.at(WITHOUT, completion_s))
        })
    };
    let [case_1, case_2, case_3] = [LONG_WITHOUT, WITH, LONG_WITH];
    Some(match claim {
        "P4" => {
            let others = [0, 2, 3].map(|row: usize| results.linear[row].at(WITHOUT, retransmissions));
            ratio(&results.linear[1].at(WITHOUT, retransmissions), &fold(&others, f64::max))
        }
        "P8" => reduction(case_1),
        "P9" => reduction(case_2),
        "P10" => reduction(case_3),
        "P11-case1" => faster(case_1),
        "P11-case2" => faster(case_2),
        "P11-case3" => faster(case_3),
        "P11-order" => {
            let steps = [
                faster(case_1),
                difference(&faster(case_2), &faster(case_1)),
                difference(&faster(case_3), &faster(case_2)),
            ];
            fold(&steps, f64::min)
        }
        "P12" => invariant(results, |invariants| invariants.notices_over_storage),
        "P13" => invariant(results, |invariants| invariants.notice_excess_us),
        "F9a-order" => {
            let [bic, pcon] = [1, 3].map(|row: usize| burst_at(&results.burst[row], 0, all_retransmissions));
            difference(&pcon, &bic)
        }
        _ => return None,
    })
}

/// The worst of all rows, seed by seed.
fn invariant(results: &Results, of: fn(&Invariants) -> f64) -> Vec<f64> {
    let lists: Vec<Vec<f64>> = results
        .linear
        .iter()
        .map(|row| row.runs(WITH).iter().map(|run| of(&run.invariants)).collect())
        .collect();
    fold(&lists, f64::max)
}

/// The extra row, for which the paper has no values.
pub(super) fn tables(results: &Results) -> Vec<(String, TextTable)> {
    let Some(row) = results.linear.get(ROWS.len()) else { return Vec::new() };
    let heads = ["", "without PLR", "with PLR (alpha 0.5)"].map(|head| (head, Align::Left));
    let mut table = TextTable::new(&heads);
    let measures: [(&str, Measure); 3] = [
        ("retransmissions [packets]", retransmissions),
        ("completion time [s]", completion_s),
        ("mean full delay [ms]", full_delay_ms),
    ];
    for (name, measure) in measures {
        let cells = [WITHOUT, WITH].map(|setting| short(&Estimate::of(&row.at(setting, measure))));
        table.row([name.to_owned()].into_iter().chain(cells));
    }
    vec![(format!("{} beside the paper's ICP (linear scenario, queue 32)", TRUE_ICP.name), table)]
}
