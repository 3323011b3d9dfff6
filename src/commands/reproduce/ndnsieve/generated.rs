//! What CoopCon's and FleCom's abstracts say of them, tried on drawn networks.

use tidegate_core::rng::Seed;
use tidegate_report::figure::{BarSeries, Figure, FigureKind};
use tidegate_report::stats::{self, Estimate};
use tidegate_sim::plan::Plan;

use super::kept::Kept;
use super::{Bench, Extent, PCON, ROWS, Row, Scenario, measure, runs};
use crate::exit::Failure;

/// One file per model of networks.
pub(super) const MODELS: [Scenario; 2] = [
    Scenario {
        id: "Waxman",
        file: "generated-waxman.toml",
        text: include_str!("../../../../scenarios/papers/ndnsieve/generated-waxman.toml"),
    },
    Scenario {
        id: "Barabási-Albert",
        file: "generated-barabasi-albert.toml",
        text: include_str!("../../../../scenarios/papers/ndnsieve/generated-barabasi-albert.toml"),
    },
];

/// Networks of each model.
const NETWORKS: u64 = 10;
/// Networks in a quick look.
const REDUCED_NETWORKS: u64 = 1;

/// Runs by row and model, one per network.
#[derive(Default)]
pub(super) struct Networks(Vec<[Vec<Kept>; 2]>);

/// Plans of all rows, models and networks, one run each: the network and what varies in it have the same seed.
pub(super) fn plans(bench: &Bench<'_>) -> Result<Vec<Plan>, Failure> {
    let mut plans = Vec::new();
    for row in ROWS {
        for model in &MODELS {
            for network in 1..=networks(bench) {
                plans.push(plan(bench, model, row, network)?);
            }
        }
    }
    Ok(plans)
}

fn networks(bench: &Bench<'_>) -> u64 {
    if bench.extent == Extent::Reduced { REDUCED_NETWORKS } else { NETWORKS }
}

fn plan(bench: &Bench<'_>, model: &Scenario, row: Row, network: u64) -> Result<Plan, Failure> {
    let mut plan = runs::with(bench, model, row, &[("topology.seed", &network.to_string())])?;
    plan.seeds = vec![Seed(network)];
    Ok(plan)
}

impl Networks {
    /// Sorts the runs of [`plans`].
    pub(super) fn sorted(bench: &Bench<'_>, mut kept: impl Iterator<Item = Vec<Kept>>) -> Self {
        let count = networks(bench) as usize;
        let mut next = || kept.by_ref().take(count).flatten().collect();
        Self(ROWS.iter().map(|_| [next(), next()]).collect())
    }

    fn throughput(&self, row: &str, model: usize) -> Vec<f64> {
        let place = ROWS.iter().position(|known| known.id == row);
        let runs = place.and_then(|place| self.0.get(place)).map_or(&[][..], |models| &models[model]);
        runs.iter().map(Kept::throughput).collect()
    }

    /// Total throughput of a row over PCON's: for each seed the mean over its networks.
    pub(super) fn gain(&self, row: &str) -> Vec<f64> {
        let gains = [0, 1]
            .map(|model| measure::ratio(&self.throughput(row, model), &self.throughput(PCON.id, model)));
        gains[0].iter().zip(&gains[1]).map(|(one, other)| stats::mean(&[*one, *other])).collect()
    }

    /// Total throughput by model, one series per row.
    pub(super) fn figure(&self) -> Figure {
        let series = |row: Row| BarSeries {
            name: row.name.to_owned(),
            values: [0, 1].map(|model| Some(Estimate::of(&self.throughput(row.id, model)))).to_vec(),
            published: vec![None; MODELS.len()],
        };
        Figure {
            id: "generated".to_owned(),
            title: "Total throughput on drawn networks".to_owned(),
            caption:
                "Twenty routers, ten flows, links of 10 Mbit/s; ten networks of each model, one run each."
                    .to_owned(),
            x_label: String::new(),
            y_label: "content [Mbit/s]".to_owned(),
            kind: FigureKind::Bars {
                groups: MODELS.iter().map(|model| model.id.to_owned()).collect(),
                series: ROWS.into_iter().map(series).collect(),
            },
        }
    }
}
