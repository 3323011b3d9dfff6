//! Estimate of the duration of a batch of runs, from the start of a few of them on this machine.

use std::time::{Duration, Instant};

use tidegate_sim::run::Job;
use tidegate_sim::world::World;

use crate::commands::check::Facts;

/// Number of runs that are started, evenly spread over the batch.
const PROBES: usize = 6;
/// Maximum duration of each started run.
const PROBE_TIME: Duration = Duration::from_millis(60);
/// Parts of a run's time, after each of which the clock is read.
const PARTS: u64 = 512;

/// Approximate duration of `jobs` on `threads` threads; zero without jobs.
pub(super) fn of(jobs: &[Job<'_>], threads: usize) -> Duration {
    // Jobs of one plan are consecutive, so the paths of its flows are computed once.
    // Packet-hops are known without a run, and make runs of different length comparable.
    let mut hops: Vec<f64> = Vec::with_capacity(jobs.len());
    for (place, job) in jobs.iter().enumerate() {
        let before = place.checked_sub(1).filter(|before| std::ptr::eq(jobs[*before].plan, job.plan));
        hops.push(before.map_or_else(|| Facts::of(job.plan).packet_hops.max(1.0), |before| hops[before]));
    }
    // Evenly spread: cells of one experiment are consecutive and similar.
    let step = jobs.len().div_ceil(PROBES).max(1);
    let (mut seconds, mut probed) = (0.0, 0.0);
    for place in (step / 2..jobs.len()).step_by(step) {
        seconds += probe(jobs[place], hops[place]);
        probed += hops[place];
    }
    if probed == 0.0 {
        return Duration::ZERO;
    }
    let busy = threads.min(jobs.len()).max(1) as f64;
    Duration::from_secs_f64(seconds / probed * hops.iter().sum::<f64>() / busy)
}

/// Approximate duration of a run with about `hops` packet-hops, s.
fn probe(job: Job<'_>, hops: f64) -> f64 {
    let begun = Instant::now();
    let mut world = World::new(job.plan, job.seed);
    let part = tidegate_core::units::Span::from_nanos(job.plan.duration.as_nanos() / PARTS + 1);
    while !world.is_over() && begun.elapsed() < PROBE_TIME {
        world.step_until(world.now() + part);
    }
    let (is_over, seconds) = (world.is_over(), begun.elapsed().as_secs_f64());
    let done = world.into_record(job.plan, job.seed).packet_hops as f64;
    // A packet costs about the same throughout a run, so that the measured part is representative.
    if is_over { seconds } else { seconds * (hops / done.max(1.0)).max(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_runs_take_no_time() {
        assert_eq!(of(&[], 2), Duration::ZERO);
    }
}
