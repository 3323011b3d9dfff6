//! MIRCC under a coarse clock (Kato et al., FedCSIS 2020): Figures 5 to 8, Tables 4 and 5, what they rest on, and what a
//! clock costs.

mod cost;
mod depth;
mod figures;
mod kept;
mod measure;
mod others;
mod runs;
mod sensitivity;
mod tables;

use tidegate_sim::plan::Plan;

use super::{Bench, Board, Extent, judge, read_claims};
use crate::exit::Failure;
use cost::Costs;
use depth::Depths;
use kept::Kept;
use others::Others;
use runs::Phases;

const CLAIMS: &str = include_str!("../../../../scenarios/papers/mircc/claims.toml");
const FILE: (&str, &str) =
    ("dumbbell.toml", include_str!("../../../../scenarios/papers/mircc/dumbbell.toml"));

/// The paper's ticks, ms.
const TICKS_MS: [u64; 4] = [100, 250, 500, 750];

/// Ways to place the ticks beside the drawn ones.
const OTHER_PHASES: [Phases; 2] = [Phases::FirstFromStart, Phases::FromStart];

/// Everything the experiments give; of each cell one value per seed.
#[derive(Default)]
struct Results {
    /// By tick, as in the paper.
    plain: Vec<Vec<Kept>>,
    /// By tick, with smoothening.
    smooth: Vec<Vec<Kept>>,
    /// By phases, as in [`OTHER_PHASES`], then by tick without and with smoothening.
    phased: Vec<Vec<[Vec<Kept>; 2]>>,
    /// With a fine clock and intervals of 10 ms.
    fine: Vec<Kept>,
    /// With a fine clock and intervals of 100 ms.
    slow_fine: Vec<Kept>,
    depths: Depths,
    costs: Costs,
    others: Others,
}

impl Results {
    /// The paper's cell; none for a tick that is not the paper's.
    fn at(&self, tick_ms: u64, is_smooth: bool) -> &[Kept] {
        let cells = if is_smooth { &self.smooth } else { &self.plain };
        let place = TICKS_MS.iter().position(|known| *known == tick_ms);
        place.and_then(|place| cells.get(place)).map_or(&[], Vec::as_slice)
    }

    /// A measure of one of the paper's cells, per seed.
    fn measured(&self, tick_ms: u64, is_smooth: bool, measure: impl Fn(&Kept) -> f64) -> Vec<f64> {
        self.at(tick_ms, is_smooth).iter().map(measure).collect()
    }
}

/// Runs the paper's experiments and judges its claims.
pub(super) fn board(bench: &Bench<'_>) -> Result<Board, Failure> {
    let paper = read_claims(CLAIMS, "scenarios/papers/mircc/claims.toml")?;
    let results = simulate(bench)?;
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut tables = tables::all(&results);
    if bench.extent == Extent::Full {
        tables.extend(sensitivity::study(bench)?);
    }
    Ok(Board { paper, claims, figures: figures::all(&results), tables, scenarios: vec![FILE] })
}

/// Runs all cells in one batch, so that no core idles between experiments.
fn simulate(bench: &Bench<'_>) -> Result<Results, Failure> {
    let mut plans: Vec<Plan> = Vec::new();
    for is_smooth in [false, true] {
        for tick_ms in TICKS_MS {
            plans.push(runs::of_clock(bench, tick_ms, is_smooth, &[])?);
        }
    }
    for phases in OTHER_PHASES {
        for tick_ms in TICKS_MS {
            for is_smooth in [false, true] {
                plans.push(runs::of_phases(bench, tick_ms, is_smooth, phases)?);
            }
        }
    }
    plans.push(runs::fine(bench, 10)?);
    plans.push(runs::fine(bench, 100)?);
    plans.extend(depth::plans(bench)?);
    plans.extend(cost::plans(bench)?);
    plans.extend(others::plans(bench)?);
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let mut next = || kept.next().unwrap_or_default();
    Ok(Results {
        plain: TICKS_MS.iter().map(|_| next()).collect(),
        smooth: TICKS_MS.iter().map(|_| next()).collect(),
        phased: OTHER_PHASES.iter().map(|_| TICKS_MS.iter().map(|_| [next(), next()]).collect()).collect(),
        fine: next(),
        slow_fine: next(),
        depths: Depths::sorted(&mut next),
        costs: Costs::sorted(&mut next),
        others: Others::sorted(&mut next),
    })
}
