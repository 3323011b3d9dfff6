//! Each claim's quantity, made of what is kept of the runs.

use super::invariants::Invariants;
use super::kept::Kept;
use super::{COOPCON, DUMBBELL, FLECOM, MULTIPATH1, MULTIPATH2, PCON, Results, SCENARIOS, SIEVE, SSR, runs};

/// The scheme's pause between two changes of a prefix's path, s.
const DWELL_S: f64 = 5.0;

/// Seed by seed.
pub(super) fn ratio(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

/// The quantity of claim `id`, one sample per seed; `None` for an id that is not known.
pub(super) fn samples(results: &Results, id: &str) -> Option<Vec<f64>> {
    let parts: Vec<&str> = id.split('-').collect();
    Some(match parts.as_slice() {
        ["S1", scenario, form] => gain(results, form_row(form)?, place(scenario)?),
        ["S2", form] => results.measured(form_row(form)?, DUMBBELL, Kept::throughput),
        ["S3", form] => {
            let variation = |row| results.measured(row, DUMBBELL, |run| run.variation(2.0));
            ratio(&variation(form_row(form)?), &variation(PCON.id))
        }
        ["S4", form] => results.measured(form_row(form)?, DUMBBELL, |run| run.fairness(0.0)),
        ["S5", scenario, rival] => over_rival(results, rival, place(scenario)?, Kept::delay),
        ["S5", scenario, "c1", rival] => over_rival(results, rival, place(scenario)?, |run| delay_of(run, 0)),
        ["S5", scenario, "c2", rival] => over_rival(results, rival, place(scenario)?, |run| delay_of(run, 1)),
        ["S6", scenario, row] => results.measured(row, place(scenario)?, |run| run.dropped),
        ["S8", "ndnsieve"] => results.measured(SIEVE.id, MULTIPATH1, Kept::share_of_261_after_move),
        ["S8", row] => results.measured(row, MULTIPATH1, share_of_261),
        ["S9", row] => results.measured(row, MULTIPATH1, Kept::throughput),
        ["T6", rival] => over_rival(results, rival, MULTIPATH1, deviation),
        ["T7", row] => results.measured(row, MULTIPATH2, |run| run.fairness(3.0)),
        ["H", _] => Vec::new(), // TODO(seam): generated topologies.
        ["N", which] => disturbed(results, which)?,
        _ => return single(results, id),
    })
}

/// Claims that are one of a kind.
fn single(results: &Results, id: &str) -> Option<Vec<f64>> {
    Some(match id {
        "S7-count" => results.measured(SIEVE.id, MULTIPATH1, |run| run.moves.len() as f64),
        "S7-first" => results.measured(SIEVE.id, MULTIPATH1, first_move),
        "S10" => results.measured(SIEVE.id, MULTIPATH2, first_move),
        "S11" => ratio(
            &results.measured(FLECOM.id, MULTIPATH2, Kept::peak),
            &results.measured(COOPCON.id, MULTIPATH2, Kept::throughput),
        ),
        "S12" => results.measured(COOPCON.id, MULTIPATH2, share_of_261),
        "S13" => invariant(results, |found| found.unsieved),
        "S14" => invariant(results, |found| found.odd_steps),
        "E6" => invariant(results, |found| found.detection),
        "E7" => invariant(results, |found| found.filtered),
        "E8" => invariant(results, |found| found.calculated),
        _ => return None,
    })
}

fn place(scenario: &str) -> Option<usize> {
    SCENARIOS.iter().position(|known| known.id == scenario)
}

/// The row of a form of ndnSieve's consumer.
fn form_row(form: &str) -> Option<&'static str> {
    match form {
        "literal" => Some(SIEVE.id),
        "ssr" => Some(SSR.id),
        _ => None,
    }
}

/// Throughput of a row over PCON's.
pub(super) fn gain(results: &Results, row: &str, scenario: usize) -> Vec<f64> {
    let throughput = |row| results.measured(row, scenario, Kept::throughput);
    ratio(&throughput(row), &throughput(PCON.id))
}

/// A measure of ndnSieve over that of a rival.
fn over_rival(results: &Results, rival: &str, scenario: usize, of: fn(&Kept) -> f64) -> Vec<f64> {
    ratio(&results.measured(SIEVE.id, scenario, of), &results.measured(rival, scenario, of))
}

/// Mean full delay of a flow, ms.
fn delay_of(run: &Kept, flow: usize) -> f64 {
    run.delays.get(flow).map_or(f64::NAN, |delays| delays.mean)
}

/// Standard deviation of the first flow's full delay, ms.
fn deviation(run: &Kept) -> f64 {
    run.delays.first().map_or(f64::NAN, |delays| delays.deviation)
}

/// Part of R1's Data from interface 261 over the whole run.
fn share_of_261(run: &Kept) -> f64 {
    run.share_of_261(0.0, f64::INFINITY)
}

/// Time of the first path change, s; NaN without one.
fn first_move(run: &Kept) -> f64 {
    run.moves.first().map_or(f64::NAN, |first| first.at.as_secs_f64())
}

/// The worst of the three scenarios, seed by seed; a run without a trace is no success.
fn invariant(results: &Results, of: fn(&Invariants) -> f64) -> Vec<f64> {
    let traced = |run: &Kept| run.invariants.as_ref().map_or(f64::NAN, of);
    let lists: Vec<Vec<f64>> =
        (0..SCENARIOS.len()).map(|scenario| results.measured(SIEVE.id, scenario, traced)).collect();
    let seeds = lists.iter().map(Vec::len).min().unwrap_or(0);
    let worst = |seed: usize| lists.iter().map(|list| list[seed]).fold(f64::NEG_INFINITY, worse);
    (0..seeds).map(worst).collect()
}

/// The larger one; one that is not a number is worse than any.
fn worse(left: f64, right: f64) -> f64 {
    if left.is_nan() || right.is_nan() { f64::NAN } else { left.max(right) }
}

fn disturbed(results: &Results, which: &str) -> Option<Vec<f64>> {
    let disturbed = &results.disturbed;
    if which == "dwell" {
        let seeds = disturbed.cells.iter().map(Vec::len).min().unwrap_or(0);
        let most = |seed: usize| {
            disturbed.cells.iter().map(|runs| runs[seed].moves_within(DWELL_S)).fold(0.0, f64::max)
        };
        return Some((0..seeds).map(most).collect());
    }
    let place = runs::DISTURBANCES.iter().position(|known| *known == which)?;
    // Best route is at its best once with ndnSieve's marks, once with none.
    let both = disturbed.uncontrolled.iter().zip(&disturbed.best_route);
    let best: Vec<f64> = both.map(|(marked, bare)| marked.throughput().max(bare.throughput())).collect();
    Some(ratio(&disturbed.cells[place].iter().map(Kept::throughput).collect::<Vec<f64>>(), &best))
}

#[cfg(test)]
mod tests {
    use super::super::{CLAIMS, Disturbed};
    use super::*;

    #[test]
    fn every_claim_of_the_file_has_a_quantity_and_no_other() {
        let disturbed = || Disturbed {
            cells: runs::DISTURBANCES.iter().map(|_| Vec::new()).collect(),
            uncontrolled: Vec::new(),
            best_route: Vec::new(),
        };
        let results = Results { cells: Vec::new(), disturbed: disturbed() };
        let paper = tidegate_report::claims::parse(CLAIMS, "claims.toml").expect("the file is good");
        for claim in &paper.claims {
            assert_eq!(samples(&results, &claim.id), Some(Vec::new()), "{}", claim.id);
        }
        for unknown in ["S1-dumbbell", "S1-nowhere-literal", "S2-bic", "N-never", "S99", ""] {
            assert_eq!(samples(&results, unknown), None, "{unknown}");
        }
    }
}
