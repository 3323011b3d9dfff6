//! How long a batch of runs will take: a few of them are begun, which shows what a packet costs on this machine.

use std::time::{Duration, Instant};

use tidegate_sim::run::Job;
use tidegate_sim::world::World;

use crate::commands::check::Facts;

/// Runs that are begun, evenly spread over the batch.
const PROBES: usize = 6;
/// Time that each of them gets.
const PROBE_TIME: Duration = Duration::from_millis(60);
/// Parts into which a run's time is cut to look at the clock between them.
const PARTS: u64 = 512;

/// About how long `jobs` take on `threads` threads; zero without any.
pub(super) fn of(jobs: &[Job<'_>], threads: usize) -> Duration {
    // Jobs of one plan stand together, so its packets are counted once.
    let mut hops: Vec<f64> = Vec::with_capacity(jobs.len());
    for (place, job) in jobs.iter().enumerate() {
        let before = place.checked_sub(1).filter(|before| std::ptr::eq(jobs[*before].plan, job.plan));
        hops.push(before.map_or_else(|| Facts::of(job.plan).packet_hops.max(1.0), |before| hops[before]));
    }
    // Evenly spread: cells of one experiment stand together and are alike.
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

/// Seconds that a run of about `hops` packet-hops takes.
fn probe(job: Job<'_>, hops: f64) -> f64 {
    let begun = Instant::now();
    let mut world = World::new(job.plan, job.seed);
    let part = tidegate_core::units::Span::from_nanos(job.plan.duration.as_nanos() / PARTS + 1);
    while !world.is_over() && begun.elapsed() < PROBE_TIME {
        world.step_until(world.now() + part);
    }
    let (is_over, seconds) = (world.is_over(), begun.elapsed().as_secs_f64());
    let done = world.into_record(job.plan, job.seed).packet_hops as f64;
    // Packets cost about the same all through a run, so that its part stands for the whole.
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
