//! ndnSieve (Discover Applied Sciences 2024): Figures 4 to 17, Tables 4 to 8, and every number of the text.

mod figures;
mod generated;
mod invariants;
mod kept;
mod loads;
mod measure;
mod runs;
mod sensitivity;
mod tables;

use tidegate_sim::plan::Plan;

use super::{Bench, Board, Extent, judge, read_claims};
use crate::exit::Failure;
use generated::Networks;
use kept::Kept;

const CLAIMS: &str = include_str!("../../../../scenarios/papers/ndnsieve/claims.toml");

/// The paper's three scenarios, in its order.
const SCENARIOS: [Scenario; 3] = [
    Scenario {
        id: "dumbbell",
        file: "dumbbell.toml",
        text: include_str!("../../../../scenarios/papers/ndnsieve/dumbbell.toml"),
    },
    Scenario {
        id: "multipath1",
        file: "multipath1.toml",
        text: include_str!("../../../../scenarios/papers/ndnsieve/multipath1.toml"),
    },
    Scenario {
        id: "multipath2",
        file: "multipath2.toml",
        text: include_str!("../../../../scenarios/papers/ndnsieve/multipath2.toml"),
    },
];
const DUMBBELL: usize = 0;
const MULTIPATH1: usize = 1;
const MULTIPATH2: usize = 2;

/// One of the paper's scenarios.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    /// In claim ids.
    id: &'static str,
    file: &'static str,
    text: &'static str,
}

/// One row of the paper's comparisons; a row without a controller of its own leaves the scenario's without reports.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// In claim ids.
    id: &'static str,
    name: &'static str,
    /// What consumers run, as TOML.
    consumer: &'static str,
    /// What routers run, as TOML.
    routers: &'static str,
}

const SIEVE: Row = Row {
    id: "ndnsieve",
    name: "ndnSieve",
    consumer: "\"ndnsieve\"",
    routers: "[{ scheme = \"ndnsieve\" }]",
};
const SSR: Row = Row {
    id: "ssr",
    name: "ndnSieve (ssr)",
    consumer: "{ name = \"ndnsieve\", form = \"ssr\" }",
    routers: SIEVE.routers,
};
const PCON: Row = Row { id: "pcon", name: "PCON", consumer: "\"pcon\"", routers: "[\"pcon\"]" };
const COOPCON: Row = Row {
    id: "coopcon",
    name: "CoopCon (rebuilt)",
    consumer: "\"coopcon-like\"",
    routers: "[\"coopcon-like\"]",
};
const FLECOM: Row =
    Row { id: "flecom", name: "FleCom (rebuilt)", consumer: "\"flecom-like\"", routers: "[\"flecom-like\"]" };

/// The paper's four schemes and the second form of its own.
const ROWS: [Row; 5] = [SIEVE, SSR, PCON, COOPCON, FLECOM];

/// Everything the experiments give; of each cell one value per seed.
struct Results {
    /// By row and scenario.
    cells: Vec<[Vec<Kept>; 3]>,
    disturbed: Disturbed,
    networks: Networks,
}

/// Scenario 3 with a channel or controller that fails, the gentle form at consumers.
struct Disturbed {
    /// By disturbance, as in [`runs::DISTURBANCES`].
    cells: Vec<Vec<Kept>>,
    /// With all but a controller.
    uncontrolled: Vec<Kept>,
    /// With routers that only forward.
    best_route: Vec<Kept>,
}

impl Results {
    /// Runs of a row in a scenario; none for a row that is not there.
    fn at(&self, row: &str, scenario: usize) -> &[Kept] {
        let place = ROWS.iter().position(|known| known.id == row);
        place.and_then(|place| self.cells.get(place)).map_or(&[], |cells| &cells[scenario])
    }

    /// A measure of a row in a scenario, per seed.
    fn measured(&self, row: &str, scenario: usize, measure: impl Fn(&Kept) -> f64) -> Vec<f64> {
        self.at(row, scenario).iter().map(measure).collect()
    }
}

/// Runs the paper's experiments and judges its claims.
pub(super) fn board(bench: &Bench<'_>) -> Result<Board, Failure> {
    let paper = read_claims(CLAIMS, "scenarios/papers/ndnsieve/claims.toml")?;
    let results = simulate(bench)?;
    let claims = judge(&paper, bench.extent, |id| measure::samples(&results, id))?;
    let mut figures = figures::all(&results);
    let mut tables = tables::all(&results);
    if bench.extent == Extent::Full {
        let (more, text) = sensitivity::study(bench)?;
        figures.extend(more);
        tables.extend(text);
    }
    let files = SCENARIOS.iter().chain(&generated::MODELS);
    let scenarios = files.map(|scenario| (scenario.file, scenario.text)).collect();
    Ok(Board { paper, claims, figures, tables, scenarios })
}

/// Runs all cells in one batch, so that no core idles between experiments.
fn simulate(bench: &Bench<'_>) -> Result<Results, Failure> {
    let mut plans: Vec<Plan> = Vec::new();
    for row in ROWS {
        for scenario in &SCENARIOS {
            plans.push(runs::of_row(bench, scenario, row)?);
        }
    }
    plans.extend(runs::disturbed(bench)?);
    plans.extend(generated::plans(bench)?);
    let mut kept = bench.run(&plans, Kept::of)?.into_iter();
    let mut next = || kept.next().unwrap_or_default();
    Ok(Results {
        cells: ROWS.iter().map(|_| [next(), next(), next()]).collect(),
        disturbed: Disturbed {
            cells: runs::DISTURBANCES.iter().map(|_| next()).collect(),
            uncontrolled: next(),
            best_route: next(),
        },
        networks: Networks::sorted(bench, kept),
    })
}
