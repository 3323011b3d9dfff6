//! BRF (Sensors 2024): Figures 8 to 12 and Table 4 over the three topologies of Figure 7, and what stands beside them.

mod choices;
mod figures;
mod joins;
mod kept;
mod measure;
mod rivals;
mod runs;
mod sensitivity;
mod tables;
mod whole;

use std::collections::BTreeMap;

use tidegate_sim::plan::Plan;

use super::{Bench, Board, Extent, judge, read_claims};
use crate::exit::Failure;
use kept::Kept;
use runs::Cell;

const CLAIMS: &str = include_str!("../../../../scenarios/papers/brf/claims.toml");

/// What the paper's experiments give; of each cell one value per seed.
#[derive(Default)]
struct Results {
    cells: BTreeMap<Cell, Vec<Kept>>,
    /// What Figure 7a's round trip has beyond the assumed one, ms.
    further_ms: f64,
}

impl Results {
    /// Runs of a cell; none if it was not run.
    fn of(&self, cell: Cell) -> &[Kept] {
        self.cells.get(&cell).map_or(&[], Vec::as_slice)
    }

    /// A measure of a cell's runs.
    fn each(&self, cell: Cell, measure: impl Fn(&Kept) -> f64) -> Vec<f64> {
        self.of(cell).iter().map(measure).collect()
    }
}

/// Runs the paper's experiments and judges its claims.
pub(super) fn board(bench: &Bench<'_>) -> Result<Board, Failure> {
    let paper = read_claims(CLAIMS, "scenarios/papers/brf/claims.toml")?;
    // All in one batch, so that no core idles between experiments.
    let cells = Cell::all();
    let mut kept = bench.run(&plans(bench, &cells)?, Kept::of)?.into_iter();
    let results = Results { cells: cells.into_iter().zip(kept.by_ref()).collect(), further_ms: 0.0 };
    let mut next = || kept.next().unwrap_or_default();
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut tables = tables::all(&results);
    tables.push(joins::table(&mut next));
    if bench.extent == Extent::Full {
        tables.extend(rivals::tables(&mut next));
        tables.extend(choices::tables(&mut next));
        tables.extend(sensitivity::study(bench)?);
        tables.push(whole::table(bench, &paper, &results)?);
    }
    let scenarios = vec![runs::PATH.file, runs::ROUND_TRIPS.file, runs::SHARED.file];
    Ok(Board { paper, claims, figures: figures::all(&results), tables, scenarios })
}

fn plans(bench: &Bench<'_>, cells: &[Cell]) -> Result<Vec<Plan>, Failure> {
    let mut plans = cells.iter().map(|cell| cell.plan(bench, &[])).collect::<Result<Vec<Plan>, _>>()?;
    plans.extend(joins::plans(bench)?);
    if bench.extent == Extent::Full {
        plans.extend(rivals::plans(bench)?);
        plans.extend(choices::plans(bench)?);
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::super::batch::Purpose;
    use super::super::finished::Finished;
    use super::*;
    use tidegate_report::text::Screen;

    use crate::{Format, Session};

    #[test]
    fn every_run_of_the_full_study_is_a_good_scenario() {
        let session = Session {
            format: Format::Text,
            quiet: true,
            screen: Screen::PLAIN,
            schemes: tidegate_schemes::SCHEMES.to_vec(),
        };
        let folder = std::env::temp_dir().join(format!("tidegate-brf-plans-{}", std::process::id()));
        let finished = Finished::open(&folder, "test", Extent::Full).expect("a folder");
        let bench = Bench::new(&session, 1, Extent::Full, Purpose::Run(&finished));
        for plans in [plans(&bench, &Cell::all()), sensitivity::plans(&bench), whole::plans(&bench)] {
            let plans = plans.expect("no scenario is refused");
            assert!(plans.len() > 100, "{}", plans.len());
            assert!(plans.iter().all(|plan| !plan.flows.is_empty() && !plan.seeds.is_empty()));
        }
        std::fs::remove_dir_all(folder).expect("ours");
    }
}
