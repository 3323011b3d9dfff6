//! Batches of runs on all cores: results come in plan order whatever the number of threads.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tidegate_core::observe::event::EventMask;
use tidegate_core::observe::records::{EventRecord, RunRecord, Watched};
use tidegate_core::rng::Seed;
use tidegate_core::units::Span;

use crate::plan::Plan;
use crate::world::World;

/// Number of intervals of a run between which a cancellation is checked.
const PARTS: u64 = 256;

/// Runs `plan` once with `seed`.
///
/// # Panics
/// If a scheme panics, or if a plan was changed after its check so that it does not fit together any more: the number of a
/// node, link or flow that it does not have, a parameter out of its range.
pub fn run(plan: &Plan, seed: Seed) -> RunRecord {
    let mut world = World::new(plan, seed);
    world.run();
    world.into_record(plan, seed)
}

/// As [`run`]; gives up as soon as `is_unwanted` returns true, and returns `None`.
fn run_unless(plan: &Plan, seed: Seed, is_unwanted: impl Fn() -> bool) -> Option<RunRecord> {
    // At least a nanosecond, so that every step moves the run forward.
    let part = Span::from_nanos(plan.duration.as_nanos() / PARTS + 1);
    let mut world = World::new(plan, seed);
    while !world.is_over() {
        if is_unwanted() {
            return None;
        }
        world.step_until(world.now() + part);
    }
    Some(world.into_record(plan, seed))
}

/// Simulated time between two deliveries of the events of a watched run.
const LOOK: Span = Span::from_millis(1);

/// Runs `plan` once and passes every event of `mask` in order to `receive`, a few at a time; none are recorded.
///
/// Equal seeds give equal runs, so this provides details that the records of a run omit.
pub fn watch(plan: &Plan, seed: Seed, mask: EventMask, receive: &mut dyn FnMut(&[EventRecord])) -> Watched {
    let mut world = World::new(plan, seed);
    world.listen(mask);
    while !world.is_over() {
        world.step_until(world.now() + LOOK);
        let events = world.take_events();
        if !events.is_empty() {
            receive(&events);
        }
    }
    world.into_watched(plan, seed)
}

/// One run of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Plan of the run.
    pub plan: &'a Plan,
    /// Seed of the run.
    pub seed: Seed,
}

/// Receives every run of a batch when it finishes.
pub trait RunProgress: Sync {
    /// The job with this place in the batch has finished.
    fn finished(&self, place: usize, record: &RunRecord);

    /// The job with this place in the batch has panicked with the message `why`.
    ///
    /// # Panics
    /// By default, so that the batch fails as the run did.
    fn failed(&self, place: usize, why: &str) {
        panic!("run {place} of the batch panicked: {why}");
    }

    /// Whether no further run may start, and those under way are given up.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores the progress of a batch.
#[derive(Debug, Default)]
pub struct Quiet;

impl RunProgress for Quiet {
    fn finished(&self, _: usize, _: &RunRecord) {}
}

/// Runs every job on `threads` threads. The results are in the order of the jobs, `None` for those that a
/// cancelled batch did not finish and those that failed. `keep` converts an outcome into its result.
pub fn run_batch<T: Send>(
    jobs: &[Job<'_>],
    threads: usize,
    progress: &dyn RunProgress,
    keep: impl Fn(usize, RunRecord) -> T + Sync,
) -> Vec<Option<T>> {
    let results: Vec<Mutex<Option<T>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(place) else { return };
            if progress.is_cancelled() {
                return stop.store(true, Ordering::Relaxed);
            }
            // Everything the run has touched is dropped with it.
            let ended =
                catch_unwind(AssertUnwindSafe(|| run_unless(job.plan, job.seed, || progress.is_cancelled())));
            let record = match ended {
                Ok(Some(record)) => record,
                Ok(None) => return stop.store(true, Ordering::Relaxed),
                Err(payload) => {
                    progress.failed(place, panic_message(&*payload));
                    continue;
                }
            };
            progress.finished(place, &record);
            *results[place].lock().unwrap_or_else(std::sync::PoisonError::into_inner) =
                Some(keep(place, record));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.len().max(1)) {
            scope.spawn(work);
        }
        // The calling thread works, too: with one thread none is spawned.
        work();
    });
    results
        .into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner))
        .collect()
}

fn panic_message(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}
