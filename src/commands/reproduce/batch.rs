//! Runs of a paper's experiments, all in one batch, each kept as it finishes.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tidegate_core::records::RunRecord;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::Job;

use super::Extent;
use super::finished::{Finished, RunName};
use super::forecast;
use crate::exit::{Exit, Failure};
use crate::progress::ProgressLine;
use crate::{Session, batch};

/// Runs experiments on all cores and keeps of each run what a paper asks for.
pub(super) struct Bench<'a> {
    pub(super) session: &'a Session,
    pub(super) threads: usize,
    pub(super) extent: Extent,
    purpose: Purpose<'a>,
    /// Batches so far.
    batches: Cell<usize>,
}

/// What experiments are asked for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// To run those that are not finished.
    Run(&'a Finished),
    /// To read those that are finished; none is run, and one that is missing is a failure.
    Read(&'a Finished),
    /// To count those of the first batch; none is run, and the paper gets no results.
    Count(&'a Finished, &'a RefCell<Census>),
}

/// Runs that are to be done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Census {
    pub(super) runs: usize,
    /// Of these, finished before.
    pub(super) finished: usize,
    /// What the others take, about.
    pub(super) time: Duration,
}

impl std::ops::Add for Census {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            runs: self.runs + other.runs,
            finished: self.finished + other.finished,
            time: self.time + other.time,
        }
    }
}

impl<'a> Bench<'a> {
    pub(super) fn new(session: &'a Session, threads: usize, extent: Extent, purpose: Purpose<'a>) -> Self {
        Self { session, threads, extent, purpose, batches: Cell::new(0) }
    }

    /// Every seed of every plan; one list per plan, in the order of its seeds.
    ///
    /// # Errors
    /// When the user stops it; what is finished by then is found by the next call. When runs fail, or cannot be kept.
    pub(super) fn run<T: Send + Serialize + DeserializeOwned>(
        &self,
        plans: &[Plan],
        keep: impl Fn(&Plan, RunRecord) -> T + Sync,
    ) -> Result<Vec<Vec<T>>, Failure> {
        let batch = self.batches.replace(self.batches.get() + 1);
        let (Purpose::Run(finished) | Purpose::Read(finished) | Purpose::Count(finished, _)) = self.purpose;
        let of_plan = |(place, plan): (usize, &'_ Plan)| -> Vec<RunName> {
            plan.seeds.iter().map(|seed| RunName { batch, plan: place, seed: *seed }).collect()
        };
        let names: Vec<RunName> = plans.iter().enumerate().flat_map(of_plan).collect();
        let mut kept: Vec<Option<T>> = names.iter().map(|name| finished.read(*name)).collect();
        let missing: Vec<RunName> =
            names.iter().zip(&kept).filter(|(_, kept)| kept.is_none()).map(|(name, _)| *name).collect();
        let jobs: Vec<Job<'_>> =
            missing.iter().map(|name| Job { plan: &plans[name.plan], seed: name.seed }).collect();
        let recalled = names.len() - missing.len();
        if let Purpose::Count(_, census) = self.purpose {
            let time = forecast::of(&jobs, self.threads);
            *census.borrow_mut() = Census { runs: names.len(), finished: recalled, time };
            return Err(Failure { exit: Exit::Ok, message: "only counted".to_owned() });
        }
        if matches!(self.purpose, Purpose::Read(_)) && !missing.is_empty() {
            let (missing, all) = (missing.len(), names.len());
            let why = format!("{missing} of {all} runs behind it are not kept by this build of the program");
            return Err(Failure::error(why));
        }
        let line = ProgressLine::new("runs", jobs.len(), self.session).after(recalled);
        let write = |job: usize, run: RunRecord| {
            let kept = keep(jobs[job].plan, run);
            finished.write(missing[job], &kept).map(|()| kept)
        };
        let done = batch::run(&jobs, self.threads, line, &|_, _| Ok(()), write)?;
        let mut new = done.whole(|job| missing[job].to_string())?.into_iter();
        for kept in kept.iter_mut().filter(|kept| kept.is_none()) {
            *kept = new.next();
        }
        let mut kept = kept.into_iter().flatten();
        Ok(plans.iter().map(|plan| kept.by_ref().take(plan.seeds.len()).collect()).collect())
    }
}
