//! PLR (Chen et al., ICCCN 2023): Figures 7, 8 and 9 and every number of the text.

mod figures;
mod invariants;
mod measure;
mod sensitivity;

use tidegate_core::event::EventMask;
use tidegate_sim::plan::{Demand, Plan};

use super::{Bench, Board, Extent, REDUCED_SEEDS, checked, judge, read_claims};
use crate::exit::Failure;
use measure::{Kept, Linear};

const CLAIMS: &str = include_str!("../../../scenarios/papers/plr/claims.toml");
const LINEAR: &str = include_str!("../../../scenarios/papers/plr/linear.toml");
const BURST: &str = include_str!("../../../scenarios/papers/plr/burst.toml");

/// Values of alpha on the x axis of Figure 7.
const ALPHAS: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 1.0];

/// One row of the paper's comparisons.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// In claim ids.
    id: &'static str,
    /// The paper's name.
    name: &'static str,
    scheme: &'static str,
    /// Whether queues mark, as PCON needs.
    is_marked: bool,
}

/// The paper's four rows.
const ROWS: [Row; 4] = [
    Row { id: "icp", name: "ICP", scheme: "ndnsim-aimd", is_marked: false },
    Row { id: "bic", name: "BIC", scheme: "ndnsim-bic", is_marked: false },
    Row { id: "cubic", name: "CUBIC", scheme: "ndnsim-cubic", is_marked: false },
    Row { id: "pcon", name: "PCON", scheme: "pcon-ndnsim", is_marked: true },
];

/// ICP as published in 2012, which the paper's "ICP" is not; shown beside the four.
const TRUE_ICP: Row = Row { id: "icp-2012", name: "ICP (2012)", scheme: "icp", is_marked: false };

/// The rows that are run: the paper's four, then the extra one.
fn rows() -> impl Iterator<Item = Row> {
    ROWS.into_iter().chain([TRUE_ICP])
}

/// One cell of an experiment.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    queue: u32,
    /// `None` is without PLR.
    alpha: Option<f64>,
}

const WITHOUT: Setting = Setting { queue: 32, alpha: None };
const WITH: Setting = Setting { queue: 32, alpha: Some(0.5) };
const LONG_WITHOUT: Setting = Setting { queue: 64, alpha: None };
const LONG_WITH: Setting = Setting { queue: 64, alpha: Some(0.5) };

/// A row's settings in the linear scenario: Figure 7 in order of alpha, then what Figure 8 adds. The extra row
/// is run without and with PLR only.
fn linear_settings(row: Row) -> Vec<Setting> {
    if row.id == TRUE_ICP.id {
        return vec![WITHOUT, WITH];
    }
    let alphas = ALPHAS.iter().map(|alpha| Setting { queue: 32, alpha: Some(*alpha) });
    [WITHOUT].into_iter().chain(alphas).chain([LONG_WITHOUT, LONG_WITH]).collect()
}

/// Queues of the two scenarios, as paths into their files.
const LINEAR_QUEUES: [&str; 2] = ["topology.access.queue", "topology.link.queue"];
const BURST_QUEUES: [&str; 2] = ["topology.access.queue", "topology.bottleneck.queue"];

/// The experiment's file with one cell's values set.
fn plan(
    bench: &Bench<'_>,
    file: (&str, &str),
    queues: &[&str],
    row: Row,
    setting: Setting,
    more: &[(&str, &str)],
) -> Result<Plan, Failure> {
    let mut overrides = vec![("flow.0.scheme".to_owned(), format!("\"{}\"", row.scheme))];
    for queue in queues {
        overrides.push((format!("{queue}.limit"), format!("\"{}pkt\"", setting.queue)));
        if row.is_marked {
            overrides.push((format!("{queue}.disciplines"), "[\"nfd-marking-0.6\"]".to_owned()));
        }
    }
    if let Some(alpha) = setting.alpha {
        overrides.push(("router.parts".to_owned(), format!("[{{ scheme = \"plr\", alpha = {alpha:?} }}]")));
    }
    overrides.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    checked(bench.session, file, &overrides).map(|plan| shortened(plan, bench.extent))
}

/// Part of the linear scenario's packets in a quick look.
const REDUCED_PART: u32 = 10;

fn shortened(mut plan: Plan, extent: Extent) -> Plan {
    if extent != Extent::Reduced {
        return plan;
    }
    plan.seeds.truncate(REDUCED_SEEDS);
    // The bursts come at fixed times, so their long transfer has to stay as long as it is.
    if let [flow] = plan.flows.as_mut_slice()
        && let Demand::File { segments } = &mut flow.demand
    {
        *segments = (*segments / REDUCED_PART).max(1);
    }
    plan
}

fn linear(bench: &Bench<'_>, row: Row, setting: Setting, more: &[(&str, &str)]) -> Result<Plan, Failure> {
    let mut plan =
        plan(bench, ("scenarios/papers/plr/linear.toml", LINEAR), &LINEAR_QUEUES, row, setting, more)?;
    if setting == WITH {
        plan.recorded = EventMask(invariants::EVENTS);
    }
    Ok(plan)
}

fn burst(bench: &Bench<'_>, row: Row, setting: Setting) -> Result<Plan, Failure> {
    plan(bench, ("scenarios/papers/plr/burst.toml", BURST), &BURST_QUEUES, row, setting, &[])
}

/// Everything the paper's experiments give, by row and setting, one value per seed.
struct Results {
    linear: Vec<Linear>,
    burst: Vec<[Vec<Kept>; 2]>,
}

/// Runs the paper's experiments and judges its claims.
pub(super) fn board(bench: &Bench<'_>) -> Result<Board, Failure> {
    let paper = read_claims(CLAIMS, "scenarios/papers/plr/claims.toml")?;
    let results = simulate(bench)?;
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut figures = figures::all(&results);
    let mut tables = measure::tables(&results);
    if bench.extent == Extent::Full {
        let (more, table) = sensitivity::study(bench)?;
        figures.extend(more);
        tables.push(table);
    }
    let scenarios = vec![("linear.toml", LINEAR), ("burst.toml", BURST)];
    Ok(Board { paper, claims, figures, tables, scenarios })
}

/// Runs all cells in one batch, so that no core idles between experiments.
fn simulate(bench: &Bench<'_>) -> Result<Results, Failure> {
    let mut plans = Vec::new();
    for row in rows() {
        for setting in linear_settings(row) {
            plans.push(linear(bench, row, setting, &[])?);
        }
    }
    for row in ROWS {
        for setting in [LONG_WITHOUT, LONG_WITH] {
            plans.push(burst(bench, row, setting)?);
        }
    }
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let linear = rows().map(|row| Linear(linear_settings(row).into_iter().zip(kept.by_ref()).collect()));
    Ok(Results {
        linear: linear.collect(),
        burst: ROWS
            .iter()
            .map(|_| [kept.next().unwrap_or_default(), kept.next().unwrap_or_default()])
            .collect(),
    })
}
