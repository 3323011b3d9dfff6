//! Lateness of timers on this machine. A live run with timers that are too late is not judged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tidegate_core::observe::histogram::DelayHistogram;
use tidegate_core::units::Span;

/// Duration of each sleep.
const SLEEP: Duration = Duration::from_millis(1);

/// Lateness, 99th percentile, above which a run is not judged: the tolerance of queue delays is 2 ms, and a
/// packet passes four processes.
pub(super) const MAX_LATE: Span = Span::from_millis(2);

/// A thread that measures the lateness of short sleeps while a run is measured.
#[derive(Debug)]
pub(super) struct LatenessWatch {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<DelayHistogram>,
}

impl LatenessWatch {
    /// Starts the measurement in a thread of its own.
    pub(super) fn start() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut late = DelayHistogram::default();
            loop {
                // Measured before the end is checked, so that the histogram is never empty.
                let begun = Instant::now();
                std::thread::sleep(SLEEP);
                let nanos = begun.elapsed().saturating_sub(SLEEP).as_nanos();
                late.add(Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)));
                if seen.load(Ordering::Relaxed) {
                    return late;
                }
            }
        });
        Self { is_over, thread }
    }

    /// Ends the measurement; returns the 99th percentile of the lateness, [`Span::MAX`] if the thread
    /// panicked.
    pub(super) fn finish(self) -> Span {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_or(Span::MAX, |late| late.summary().p99)
    }
}

/// Whether timers were so late that a run is not evidence about the code.
pub(super) fn is_too_late(p99: Span) -> bool {
    p99 > MAX_LATE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_beyond_what_queue_delays_may_differ_by_is_too_much() {
        assert!(!is_too_late(Span::from_millis(2)));
        assert!(is_too_late(Span::from_micros(2_001)));
    }
}
