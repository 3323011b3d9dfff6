//! BRF (Sensors 2024): Figures 8 to 12 and Table 4 over the three topologies of Figure 7, and what stands beside them.

mod figures;
mod joins;
mod kept;
mod measure;
mod rivals;
mod runs;
mod sensitivity;
mod tables;

use std::collections::BTreeMap;

use tidegate_sim::plan::Plan;

use super::{Bench, Board, Extent, judge, read_claims};
use crate::exit::Failure;
use kept::Kept;
use runs::Cell;

const CLAIMS: &str = include_str!("../../../../scenarios/papers/brf/claims.toml");

/// What the paper's experiments give; of each cell one value per seed.
#[derive(Default)]
struct Results(BTreeMap<Cell, Vec<Kept>>);

impl Results {
    /// Runs of a cell; none if it was not run.
    fn of(&self, cell: Cell) -> &[Kept] {
        self.0.get(&cell).map_or(&[], Vec::as_slice)
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
    let mut plans = cells.iter().map(|cell| cell.plan(bench, &[])).collect::<Result<Vec<Plan>, _>>()?;
    plans.extend(joins::plans(bench)?);
    if bench.extent == Extent::Full {
        plans.extend(rivals::plans(bench)?);
    }
    let mut kept = bench.run(&plans, Kept::of).into_iter();
    let results = Results(cells.into_iter().zip(kept.by_ref()).collect());
    let mut next = || kept.next().unwrap_or_default();
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut tables = tables::all(&results);
    tables.push(joins::table(&mut next));
    if bench.extent == Extent::Full {
        tables.extend(rivals::tables(&mut next));
        tables.extend(sensitivity::study(bench)?);
    }
    let scenarios = vec![runs::PATH.file, runs::ROUND_TRIPS.file, runs::SHARED.file];
    Ok(Board { paper, claims, figures: figures::all(&results), tables, scenarios })
}
