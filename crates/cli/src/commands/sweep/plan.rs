//! Plan of a sweep: points, seeds, and for every run whether it is in the store.

use std::path::PathBuf;

use tidegate_core::rng::Seed;
use tidegate_sim::plan::Plan;

use crate::code::code;
use crate::command_line::{quoted, word};
use crate::commands::{Overrides, read_plan};
use crate::exit::Failure;
use crate::parameter_grid::{self, Axis, GridPoint};
use crate::results::file_name;
use crate::store::{Found, Store};
use crate::{SEMANTICS, Session};

/// Arguments of every action of a sweep.
#[derive(Debug, clap::Args)]
pub(super) struct SweepArguments {
    /// Scenario file in TOML format.
    pub(super) scenario: PathBuf,
    /// Overrides that all points have.
    #[command(flatten)]
    pub(super) overrides: Overrides,
    /// Values of a key, such as `flow.*.scheme=icp,fixed`; may be given several times, and extends the scenario's
    /// `[sweep]`.
    #[arg(long, value_name = "KEY=V1,V2,...", value_parser = |text: &str| parameter_grid::parse_axis("--grid", text))]
    pub(super) grid: Vec<Axis>,
    /// Whole schemes, as for `compare --schemes`; they are applied before the values of --grid.
    #[arg(long, value_name = "A,B,...", value_parser = |text: &str| parameter_grid::parse_schemes("--schemes", text))]
    pub(super) schemes: Option<Axis>,
    /// Run even if a role lacks a role that it depends on, such as a consumer without its router part.
    #[arg(long)]
    pub(super) allow_incomplete: bool,
    /// Number of seeds of each point, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(super) seeds: Option<u64>,
    /// Directory under which results are written.
    #[arg(long, short, value_name = "DIR", default_value = "results")]
    pub(super) out: PathBuf,
    /// Directory of finished runs; `store` in the directory of results by default.
    #[arg(long, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,
}

impl SweepArguments {
    /// Path of the store.
    pub(super) fn store(&self) -> PathBuf {
        self.store.clone().unwrap_or_else(|| self.out.join("store"))
    }

    /// Arguments that select this sweep, as they follow `tidegate sweep run` and the like.
    pub(super) fn command_line(&self) -> String {
        let mut line = word(&self.scenario.display().to_string());
        for (key, value) in &self.overrides.set {
            line.push_str(&format!(" --set {}", quoted(&format!("{key}={value}"))));
        }
        if let Some(axis) = &self.schemes {
            line.push_str(&format!(" --schemes {}", quoted(axis.written().trim_start_matches("scheme="))));
        }
        for axis in &self.grid {
            line.push_str(&format!(" --grid {}", quoted(&axis.written())));
        }
        if let Some(seeds) = self.seeds {
            line.push_str(&format!(" --seeds {seeds}"));
        }
        if self.allow_incomplete {
            line.push_str(" --allow-incomplete");
        }
        if let Some(store) = &self.store {
            line.push_str(&format!(" --store {}", quoted(&store.display().to_string())));
        }
        line
    }
}

/// A sweep without errors in any point.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The scenario as it is written, overrides applied.
    pub(super) base: Plan,
    /// Keys that are varied, with their values.
    pub(super) axes: Vec<Axis>,
    /// Points of the grid, in order.
    pub(super) points: Vec<GridPoint>,
    /// Seeds of every point, in order.
    pub(super) seeds: Vec<Seed>,
}

/// Keys that cannot be swept, with the reason.
const NOT_SWEPT: [(&str, &str); 3] = [
    ("scenario.seeds", "use --seeds for the number of seeds of each point"),
    ("scenario.first_seed", "all points have the same seeds"),
    ("scenario.name", "it does not affect any run"),
];

impl Sweep {
    /// Reads the scenario and every point; a scenario without a grid is an error.
    pub(super) fn read(session: &Session, arguments: &SweepArguments) -> Result<Self, Failure> {
        let sweep = Self::read_any(session, arguments)?;
        if sweep.axes.is_empty() {
            let hint = "give --schemes A,B,..., --grid KEY=V1,V2,... or write [sweep] into the scenario";
            return Err(Failure::usage(format!("there is nothing to sweep; {hint}")));
        }
        Ok(sweep)
    }

    /// As [`read`](Self::read), but a scenario without a grid is accepted as one point.
    pub(super) fn read_any(session: &Session, arguments: &SweepArguments) -> Result<Self, Failure> {
        for (place, Axis { key, .. }) in arguments.grid.iter().enumerate() {
            // A second axis of a key would replace the first.
            if arguments.grid[..place].iter().any(|before| before.key == *key) {
                let rule = "write all its values into one --grid";
                return Err(Failure::usage(format!("{key} is given twice; {rule}")));
            }
            parameter_grid::refuse_set(&format!("--grid {key}"), key, &arguments.overrides.set)?;
        }
        if let Some(Axis { key, .. }) = &arguments.schemes {
            parameter_grid::refuse_set("--schemes", key, &arguments.overrides.set)?;
        }
        let mut base = arguments.overrides.set.clone();
        if let Some(seeds) = arguments.seeds {
            base.push(("scenario.seeds".to_owned(), seeds.to_string()));
        }
        let plan = read_plan(session, &arguments.scenario, &base)?;
        let mut axes = parameter_grid::axes(&arguments.scenario, &plan, &arguments.grid);
        if let Some(schemes) = &arguments.schemes {
            axes.retain(|axis| axis.key != schemes.key);
            // Before the grid: a whole scheme replaces the roles whose parameters the grid may set.
            axes.insert(0, schemes.clone());
        }
        parameter_grid::refuse_overlap(&axes)?;
        for axis in &axes {
            if let Some((key, why)) = NOT_SWEPT.iter().find(|(key, _)| *key == axis.key) {
                return Err(Failure::usage(format!("{key} cannot be swept: {why}")));
            }
        }
        let points = parameter_grid::points(session, &arguments.scenario, &base, &axes)?;
        Ok(Self { seeds: plan.seeds.clone(), base: plan, axes, points })
    }

    /// Number of runs: points times seeds.
    pub(super) fn len(&self) -> usize {
        self.points.len() * self.seeds.len()
    }

    /// Point and seed of run number `run`, from 0; the seed changes fastest.
    pub(super) fn run(&self, run: usize) -> (&GridPoint, Seed) {
        (&self.points[run / self.seeds.len()], self.seeds[run % self.seeds.len()])
    }

    /// Whether each run is in `store`.
    pub(super) fn look(&self, store: &Store) -> Vec<Found> {
        (0..self.len()).map(|run| self.look_at(store, run)).collect()
    }

    /// Reads from the store whether the run with this number is finished.
    pub(super) fn look_at(&self, store: &Store, run: usize) -> Found {
        let (point, seed) = self.run(run);
        store.look(&point.identity, seed)
    }

    /// `rate=10Mbps, scheme=icp, seed 3`.
    pub(super) fn run_name(&self, run: usize) -> String {
        let (point, seed) = self.run(run);
        format!("{}, seed {}", self.point_name(point), seed.0)
    }

    /// Name of a point in tables, such as `rate=10Mbps, scheme=icp`.
    pub(super) fn point_name(&self, point: &GridPoint) -> String {
        let parts = self.axes.iter().zip(&point.values).map(|(axis, value)| format!("{}={value}", axis.key));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Name of the results folder, which depends on points, seeds, code and semantics.
    pub(super) fn folder_name(&self) -> String {
        let mut hash = blake3::Hasher::new();
        let mut add = |text: &str| {
            // With the length, two texts hash differently from their concatenation split elsewhere.
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(&SEMANTICS.to_string());
        add(code());
        add(&self.base.text);
        self.axes.iter().for_each(|axis| add(&axis.key));
        for point in &self.points {
            point.values.iter().for_each(|value| add(value));
            add(&point.identity.hash);
        }
        self.seeds.iter().for_each(|seed| add(&seed.0.to_string()));
        format!("{}-sweep-{}", file_name(&self.base.name), &hash.finalize().to_hex()[..8])
    }
}
