//! BBR-CD (MILCOM 2021): Figures 5 to 7, Table I and the times of ten consumers, on two 802.11n cells.

mod figures;
mod kept;
mod measure;
mod runs;
mod sensitivity;
mod tables;

use tidegate_sim::plan::Plan;

use super::{Bench, Board, Extent, judge, read_claims};
use crate::exit::Failure;
use kept::Kept;
use runs::{CONSUMERS, Condition, OTHERS, OUTAGE_FROM_S, PAPER_LOSS, SCHEMES, Scheme};

const CLAIMS: &str = include_str!("../../../../scenarios/papers/bbr-cd/claims.toml");
const FILE: (&str, &str) = ("cell.toml", include_str!("../../../../scenarios/papers/bbr-cd/cell.toml"));

/// Packets in a burst of losses.
const BURST: f64 = 5.0;
/// What every scheme goes through with one consumer and with ten.
const CONDITIONS: [Condition; 3] =
    [Condition::Clean, Condition::Lossy(PAPER_LOSS), Condition::Bursts(PAPER_LOSS, BURST)];
/// Places in [`CONDITIONS`].
const CLEAN: usize = 0;
const LOSSY: usize = 1;
const BURSTS: usize = 2;
/// Losses of one receiver alone, and of all by the frame.
const PER_HOP: [Condition; 4] = [
    Condition::Lossy([PAPER_LOSS[0], 0.0, 0.0]),
    Condition::Lossy([0.0, PAPER_LOSS[1], 0.0]),
    Condition::Lossy([0.0, 0.0, PAPER_LOSS[2]]),
    Condition::LossyFrames(PAPER_LOSS),
];
/// Seeds of what stands beside the paper's experiments.
const SIDE_SEEDS: usize = 4;

/// Everything the experiments give; of each cell one value per seed.
#[derive(Default)]
struct Results {
    /// By scheme, topology and condition.
    grid: Vec<Vec<Vec<Vec<Kept>>>>,
    /// Ten consumers while the producer is off, by scheme.
    outage: Vec<Vec<Kept>>,
    /// As `grid`, of the other schemes.
    others: Vec<Vec<Vec<Vec<Kept>>>>,
    /// One consumer, by scheme and place of the losses.
    per_hop: Vec<Vec<Vec<Kept>>>,
}

impl Results {
    fn cell(&self, scheme: usize, topology: usize, condition: usize) -> &[Kept] {
        let cell = self.grid.get(scheme).and_then(|row| row.get(topology)?.get(condition));
        cell.map_or(&[], Vec::as_slice)
    }

    fn outage(&self, scheme: usize) -> &[Kept] {
        self.outage.get(scheme).map_or(&[], Vec::as_slice)
    }
}

/// Runs the paper's experiments and judges its claims.
pub(super) fn board(bench: &Bench<'_>) -> Result<Board, Failure> {
    let paper = read_claims(CLAIMS, "scenarios/papers/bbr-cd/claims.toml")?;
    let results = simulate(bench)?;
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut tables = tables::all(&results);
    if bench.extent == Extent::Full {
        tables.extend(sensitivity::study(bench)?);
    }
    Ok(Board { paper, claims, figures: figures::all(&results), tables, scenarios: vec![FILE] })
}

/// Both topologies under every condition.
fn grid(bench: &Bench<'_>, scheme: &Scheme) -> Result<Vec<Plan>, Failure> {
    let cells =
        CONSUMERS.into_iter().flat_map(|consumers| CONDITIONS.map(|condition| (consumers, condition)));
    cells.map(|(consumers, condition)| runs::plan(bench, scheme, consumers, condition, &[])).collect()
}

/// On fewer seeds.
fn aside(mut plan: Plan) -> Plan {
    plan.seeds.truncate(SIDE_SEEDS);
    plan
}

/// Runs all cells in one batch, so that no core idles between experiments.
fn simulate(bench: &Bench<'_>) -> Result<Results, Failure> {
    let mut plans = Vec::new();
    for scheme in &SCHEMES {
        plans.extend(grid(bench, scheme)?);
    }
    for scheme in &SCHEMES {
        plans.push(runs::plan(bench, scheme, CONSUMERS[1], Condition::Outage(OUTAGE_FROM_S), &[])?);
    }
    for scheme in &OTHERS {
        plans.extend(grid(bench, scheme)?.into_iter().map(aside));
    }
    for scheme in &SCHEMES {
        for condition in PER_HOP {
            plans.push(aside(runs::plan(bench, scheme, CONSUMERS[0], condition, &[])?));
        }
    }
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let mut next = || kept.next().unwrap_or_default();
    let grid = grids(&SCHEMES, &mut next);
    let outage = SCHEMES.iter().map(|_| next()).collect();
    let others = grids(&OTHERS, &mut next);
    let per_hop = SCHEMES.iter().map(|_| PER_HOP.iter().map(|_| next()).collect()).collect();
    Ok(Results { grid, outage, others, per_hop })
}

/// The cells of [`grid`] of each scheme, in their order.
fn grids(schemes: &[Scheme], next: &mut impl FnMut() -> Vec<Kept>) -> Vec<Vec<Vec<Vec<Kept>>>> {
    let mut grid = || CONSUMERS.iter().map(|_| CONDITIONS.iter().map(|_| next()).collect()).collect();
    schemes.iter().map(|_| grid()).collect()
}
