//! Runs of a paper's experiments, all in one batch.

use tidegate_core::records::RunRecord;
use tidegate_sim::plan::Plan;
use tidegate_sim::run::{Job, Progress, run_batch};

use super::Extent;
use crate::Session;
use crate::progress::ProgressLine;

/// Runs experiments on all cores and keeps of each run what a paper asks for.
pub(super) struct Bench<'a> {
    pub(super) session: &'a Session,
    pub(super) threads: usize,
    pub(super) extent: Extent,
}

impl Bench<'_> {
    /// Every seed of every plan; one list per plan, in the order of its seeds.
    pub(super) fn run<T: Send>(
        &self,
        plans: &[Plan],
        keep: impl Fn(&Plan, RunRecord) -> T + Sync,
    ) -> Vec<Vec<T>> {
        let jobs: Vec<Job<'_>> = plans
            .iter()
            .flat_map(|plan| plan.seeds.iter().map(move |seed| Job { plan, seed: *seed }))
            .collect();
        let line = Line(ProgressLine::new("runs", jobs.len(), self.session.quiet));
        let mut kept =
            run_batch(&jobs, self.threads, &line, |job, run| keep(jobs[job].plan, run)).into_iter().flatten();
        plans.iter().map(|plan| kept.by_ref().take(plan.seeds.len()).collect()).collect()
    }
}

struct Line(ProgressLine);

impl Progress for Line {
    fn finished(&self, _: usize, _: &RunRecord) {
        self.0.one_done();
    }
}
