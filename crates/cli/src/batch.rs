//! Runs jobs on all cores; each result is stored as it finishes, until all are done or the user interrupts.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tidegate_core::observe::records::RunRecord;
use tidegate_core::rng::Seed;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{Job, RunProgress, run_batch};

use crate::Session;
use crate::exit::{Exit, Failure};
use crate::interrupt::Stop;
use crate::progress::ProgressLine;
use crate::store::{Identity, Store};

/// Result of a batch of jobs.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    /// Result of each job, in their order; `None` for those that did not finish.
    pub(crate) kept: Vec<Option<T>>,
    /// Jobs that panicked, in their order, with the messages of the panics.
    pub(crate) failed: Vec<(usize, String)>,
    /// Whether the user stopped it.
    pub(crate) is_stopped: bool,
}

/// Runs `jobs`; `keep` writes each finished run to disk, `reduce` returns the part that stays in memory.
///
/// # Errors
/// The first error of `keep` or `reduce`; no further run is started after it.
pub(crate) fn run<T: Send>(
    jobs: &[Job<'_>],
    threads: usize,
    line: ProgressLine,
    keep: &(dyn Fn(usize, &RunRecord) -> Result<(), Failure> + Sync),
    reduce: impl Fn(usize, RunRecord) -> Result<T, Failure> + Sync,
) -> Result<Batch<T>, Failure> {
    let keeper = Keeper { keep, line, stop: Stop::listen()?, received: Mutex::default() };
    let kept = run_batch(jobs, threads, &keeper, |job, run| {
        // A fault also cancels the batch: without its disk or its reduction, a further run is lost work.
        reduce(job, run).map_err(|fault| keeper.received().fault = Some(fault)).ok()
    });
    let kept: Vec<Option<T>> = kept.into_iter().map(Option::flatten).collect();
    keeper.line.clear();
    // An interruption after the last job had started changes nothing: the batch is complete.
    let is_stopped = keeper.stop.is_requested() && kept.iter().any(Option::is_none);
    let mut received = keeper.received.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Threads finish in any order; messages have to come in the order of the jobs.
    received.failed.sort();
    match received.fault {
        Some(fault) => Err(fault),
        None => Ok(Batch { kept, failed: received.failed, is_stopped }),
    }
}

impl<T> Batch<T> {
    /// All results of a batch that is of use only if every run finished; `name` is the name of a job in
    /// messages.
    ///
    /// # Errors
    /// Runs that panicked, or an interruption.
    pub(crate) fn whole(self, name: impl Fn(usize) -> String) -> Result<Vec<T>, Failure> {
        let (required, done) = (self.kept.len(), self.kept.iter().flatten().count());
        if let Some(message) = failures(&self.failed, name) {
            return Err(Failure { exit: Exit::Partial, message });
        }
        if self.is_stopped {
            return Err(interrupted(done, required));
        }
        Ok(self.kept.into_iter().flatten().collect())
    }
}

/// One run that the store must contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Required<'a> {
    /// Plan that the run belongs to.
    pub(crate) plan: &'a Plan,
    /// Identity of the plan in the store.
    pub(crate) identity: &'a Identity,
    /// Seed of the run.
    pub(crate) seed: Seed,
}

/// Runs the `required` runs into `store`, equal ones only once; `recalled` further runs were in the store
/// before.
///
/// # Errors
/// A full or unwritable store, or an interruption. Runs that panicked are returned in [`Filled`].
pub(crate) fn fill(
    session: &Session,
    store: &Store,
    required: &[Required<'_>],
    recalled: usize,
    threads: usize,
) -> Result<Filled, Failure> {
    // A page made again from stored runs of other code must not mix them with runs of this program.
    store.may_grow(required.len())?;
    // Two variants can have equal canonical scenarios. Two threads that write the same key would compute it
    // twice.
    let mut keys = BTreeSet::new();
    let places: Vec<usize> = (0..required.len())
        .filter(|place| keys.insert(required[*place].identity.key(required[*place].seed)))
        .collect();
    let job = |place: &usize| Job { plan: required[*place].plan, seed: required[*place].seed };
    let jobs: Vec<Job<'_>> = places.iter().map(job).collect();
    let line = ProgressLine::new("runs", jobs.len(), session).after(recalled);
    let keep = |job: usize, run: &RunRecord| {
        let Required { plan, identity, .. } = required[places[job]];
        store.keep(identity, plan, run)
    };
    let done = run(&jobs, threads, line, &keep, |_, _| Ok(()))?;
    if done.is_stopped {
        return Err(interrupted(done.kept.iter().flatten().count(), jobs.len()));
    }
    // Jobs are numbered without the duplicates, the caller's list has them.
    let failed = done.failed.into_iter().map(|(job, why)| (places[job], why)).collect();
    Ok(Filled { failed })
}

/// Result of filling a store with runs.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Indices of the required runs that panicked, with their messages.
    pub(crate) failed: Vec<(usize, String)>,
}

/// The failure of a batch that the user stopped.
fn interrupted(done: usize, required: usize) -> Failure {
    let message = format!(
        "interrupted: {done} of {required} runs were finished and are kept; repeat the command to continue"
    );
    Failure { exit: Exit::Interrupted, message }
}

/// One line for each failed job; `None` without any.
pub(crate) fn failures(failed: &[(usize, String)], name: impl Fn(usize) -> String) -> Option<String> {
    let line = |(job, why): &(usize, String)| format!("error: {} panicked: {why}", name(*job));
    let lines: Vec<String> = failed.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Messages of a batch from its threads.
#[derive(Default)]
struct Received {
    fault: Option<Failure>,
    failed: Vec<(usize, String)>,
}

struct Keeper<'a> {
    keep: &'a (dyn Fn(usize, &RunRecord) -> Result<(), Failure> + Sync),
    line: ProgressLine,
    stop: Stop,
    received: Mutex<Received>,
}

impl Keeper<'_> {
    fn received(&self) -> std::sync::MutexGuard<'_, Received> {
        // The lock is held for an assignment or a push only, so its content is whole after a panic.
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunProgress for Keeper<'_> {
    fn finished(&self, job: usize, run: &RunRecord) {
        if let Err(fault) = (self.keep)(job, run) {
            self.received().fault = Some(fault);
        }
        self.line.one_done();
    }

    fn failed(&self, job: usize, why: &str) {
        self.received().failed.push((job, why.to_owned()));
        self.line.one_failed();
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_requested() || self.received().fault.is_some()
    }
}
