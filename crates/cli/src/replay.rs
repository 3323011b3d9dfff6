//! Replay of a run for details: a seed of a results folder or a scenario is simulated again.

use std::path::{Path, PathBuf};

use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::{EventRecord, RunRecord, Watched};
use tidegate_core::rng::Seed;
use tidegate_pages::export::{FlowPorts, Network, NodePorts};
use tidegate_results::tables;
use tidegate_results::text::seed_list;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::watch;
use tidegate_sim::world;

use crate::exit::Failure;
use crate::plans::read_plan;
use crate::{SEMANTICS, Session};

/// A run that can be simulated again.
#[derive(Debug)]
pub(crate) struct ReplaySource {
    /// The folder of results, if it is one.
    pub(crate) folder: Option<PathBuf>,
    /// The plan of the run.
    pub(crate) plan: Plan,
    /// Seed of the run that is repeated.
    pub(crate) seed: Seed,
}

impl ReplaySource {
    /// The results in a folder or the scenario in a file; of its seeds, `seed` or the first.
    pub(crate) fn open(
        session: &Session,
        path: &Path,
        overrides: &[(String, String)],
        seed: Option<u64>,
    ) -> Result<Self, Failure> {
        let folder = path.is_dir().then(|| path.to_owned());
        let scenario = folder.as_ref().map_or(path.to_owned(), |folder| folder.join("scenario.toml"));
        if folder.is_some() && !scenario.is_file() {
            let why = format!("{} is not a results folder: it has no scenario.toml", path.display());
            return Err(Failure::error(why));
        }
        if folder.is_some() && !overrides.is_empty() {
            return Err(Failure::usage(
                "--set applies to a scenario, not to results; run the scenario with --set first",
            ));
        }
        let plan = read_plan(session, &scenario, overrides)?;
        let seed = match (seed, plan.seeds.first()) {
            // Results have the runs of their seeds only; a scenario can be run with any seed.
            (Some(seed), _) if plan.seeds.contains(&Seed(seed)) || folder.is_none() => Seed(seed),
            (Some(seed), _) => {
                let known = seed_list(&plan.seeds.iter().map(|seed| seed.0).collect::<Vec<u64>>());
                let why = format!("no run with seed {seed} in {}; its runs have {known}", path.display());
                return Err(Failure::error(why));
            }
            (None, first) => first.copied().unwrap_or(Seed(1)),
        };
        Ok(Self { folder, plan, seed })
    }

    /// Runs the seed again and passes all events of `mask` to `on_events`.
    ///
    /// # Errors
    /// Fails if the results in the folder are not those of this program's version.
    pub(crate) fn watch(
        &self,
        mask: EventMask,
        on_events: &mut dyn FnMut(&[EventRecord]),
    ) -> Result<Watched, Failure> {
        let stored = self.stored()?;
        let watched = watch(&self.plan, self.seed, mask, on_events);
        match stored {
            Some(stored) if !is_same(&stored, &watched.record) => Err(Failure::error(format!(
                "seed {} now gives results that differ from those in its folder; run the scenario again (--fresh)",
                self.seed.0
            ))),
            _ => Ok(watched),
        }
    }

    /// The record of the run in the folder, if its tables are still there.
    fn stored(&self) -> Result<Option<RunRecord>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let run = folder.join("seeds").join(self.seed.0.to_string());
        if !run.is_dir() {
            return Ok(None);
        }
        let context = tables::read_context(&run).map_err(Failure::error)?;
        if context.semantics != SEMANTICS {
            return Err(Failure::error(format!(
                "{} has results of semantics {}, this program produces semantics {SEMANTICS}; run the scenario again",
                folder.display(),
                context.semantics
            )));
        }
        tables::read_run_summary(&run).map(Some).map_err(Failure::error)
    }

    /// Names and ports for the numbers in events.
    pub(crate) fn network(&self) -> Network {
        network(&self.plan)
    }
}

/// Names and ports for the numbers in the events of a plan's runs.
pub(crate) fn network(plan: &Plan) -> Network {
    let faces = world::node_faces(plan);
    let nodes = plan.nodes.iter().zip(faces).map(|(node, faces)| NodePorts {
        name: node.name.clone(),
        devices: faces.devices,
        has_forwarder: faces.has_forwarder,
    });
    let directions = |link: &tidegate_sim::plan::LinkPlan| {
        let (a, b) = (link.a as u32, link.b as u32);
        [(a, b), (b, a)]
    };
    Network {
        nodes: nodes.collect(),
        directions: plan.links.iter().flat_map(directions).collect(),
        flows: flows(plan),
        prefixes: world::prefix_uris(plan),
    }
}

fn flows(plan: &Plan) -> Vec<FlowPorts> {
    let mut places = vec![0; plan.nodes.len()];
    let ports = |flow: &tidegate_sim::plan::FlowPlan| {
        let place = places[flow.consumer];
        places[flow.consumer] += 1;
        FlowPorts {
            name: flow.name.clone(),
            node: flow.consumer as u32,
            place,
            scheme: flow.scheme.scheme.name.to_owned(),
        }
    };
    plan.flows.iter().map(ports).collect()
}

/// Whether two runs have equal counters, which stands for equal runs: samples of the stored one are rounded.
pub(crate) fn is_same(stored: &RunRecord, now: &RunRecord) -> bool {
    let flows = |run: &RunRecord| -> Vec<[u64; 4]> {
        let counts = run.flows.iter();
        counts
            .map(|flow| {
                [flow.interests, flow.delivered_segments, flow.marks, flow.full_delay.mean.as_nanos()]
            })
            .collect()
    };
    let links = |run: &RunRecord| -> Vec<[u64; 3]> {
        run.links.iter().map(|link| [link.sent_packets, link.dropped_packets, link.lost_packets]).collect()
    };
    flows(stored) == flows(now) && links(stored) == links(now)
}
