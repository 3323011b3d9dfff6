//! Runs on all cores, each kept on disk as it finishes, until all are done or the user stops them.

use std::sync::{Mutex, PoisonError};

use tidegate_core::records::RunRecord;
use tidegate_sim::run::{Job, Progress, run_batch};

use crate::exit::{Exit, Failure};
use crate::progress::ProgressLine;
use crate::stop::Stop;

/// How a batch of jobs went.
#[derive(Debug)]
pub(crate) struct Batch<T> {
    /// What was kept of each job, in their order; `None` for those that did not finish.
    pub(crate) kept: Vec<Option<T>>,
    /// Jobs that panicked, in their order, and what they said.
    pub(crate) failed: Vec<(usize, String)>,
    /// Whether the user stopped it.
    pub(crate) is_stopped: bool,
}

/// Runs `jobs`; `keep` puts each finished one on disk, `reduce` says what of it stays in memory.
///
/// # Errors
/// The first that `keep` gives; no further run is started then.
pub(crate) fn run<T: Send>(
    jobs: &[Job<'_>],
    threads: usize,
    line: ProgressLine,
    keep: &(dyn Fn(usize, &RunRecord) -> Result<(), Failure> + Sync),
    reduce: impl Fn(RunRecord) -> T + Sync,
) -> Result<Batch<T>, Failure> {
    let keeper = Keeper { keep, line, stop: Stop::listen()?, heard: Mutex::default() };
    let kept = run_batch(jobs, threads, &keeper, |_, run| reduce(run));
    keeper.line.clear();
    let is_stopped = keeper.stop.is_asked() && kept.iter().any(Option::is_none);
    let mut heard = keeper.heard.into_inner().unwrap_or_else(PoisonError::into_inner);
    heard.failed.sort();
    match heard.fault {
        Some(fault) => Err(fault),
        None => Ok(Batch { kept, failed: heard.failed, is_stopped }),
    }
}

impl<T> Batch<T> {
    /// The failure of a batch that cannot do with less than all its runs; `again` says what the same command
    /// will do, `name` what a job is called.
    pub(crate) fn whole(self, name: impl Fn(usize) -> String) -> Result<Vec<T>, Failure> {
        let (wanted, done) = (self.kept.len(), self.kept.iter().flatten().count());
        if let Some(message) = failures(&self.failed, name) {
            return Err(Failure { exit: Exit::Partial, message });
        }
        if self.is_stopped {
            return Err(interrupted(done, wanted));
        }
        Ok(self.kept.into_iter().flatten().collect())
    }
}

/// The failure of a batch that the user stopped.
pub(crate) fn interrupted(done: usize, wanted: usize) -> Failure {
    let message =
        format!("interrupted: {done} of {wanted} runs were finished and are kept; the same command goes on");
    Failure { exit: Exit::Interrupted, message }
}

/// One line for each failed job; `None` without any.
pub(crate) fn failures(failed: &[(usize, String)], name: impl Fn(usize) -> String) -> Option<String> {
    let line = |(job, why): &(usize, String)| format!("error: {} panicked: {why}", name(*job));
    let lines: Vec<String> = failed.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// What a batch hears from its threads.
#[derive(Default)]
struct Heard {
    fault: Option<Failure>,
    failed: Vec<(usize, String)>,
}

struct Keeper<'a> {
    keep: &'a (dyn Fn(usize, &RunRecord) -> Result<(), Failure> + Sync),
    line: ProgressLine,
    stop: Stop,
    heard: Mutex<Heard>,
}

impl Keeper<'_> {
    fn heard(&self) -> std::sync::MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Keeper<'_> {
    fn finished(&self, job: usize, run: &RunRecord) {
        if let Err(fault) = (self.keep)(job, run) {
            self.heard().fault = Some(fault);
        }
        self.line.one_done();
    }

    fn failed(&self, job: usize, why: &str) {
        self.heard().failed.push((job, why.to_owned()));
        self.line.one_failed();
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_asked() || self.heard().fault.is_some()
    }
}
