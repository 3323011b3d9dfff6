//! Count of recent samples, by which ProbeRTT of BBR-CD begins and ends.

use std::collections::VecDeque;

use tidegate_core::prelude::*;

choice! {
    /// Data packets that count as samples for ProbeRTT.
    pub enum CountedSamples {
        /// Every Data packet that arrives.
        Arrivals = "arrivals",
        /// Data that gave a round-trip time (the paper).
        Rtt = "rtt",
    }
}

choice! {
    /// Condition on which ProbeRTT ends.
    pub enum ProbeExit {
        /// Enough samples have arrived since it began.
        SinceEntry = "since-entry",
        /// Enough samples lie in the window (the paper).
        Window = "window",
    }
}

/// A sample as old as the window still lies in it; an instant later it does not.
const INSTANT: Span = Span::from_nanos(1);

/// Times of the last samples, to detect when there are too few.
#[derive(Debug)]
pub struct SampleWatch {
    threshold: usize,
    exit: ProbeExit,
    /// At most `threshold` times, the oldest first.
    times: VecDeque<Time>,
    /// Windows that began earlier are not judged; `None` before the first sample.
    judged_from: Option<Time>,
}

impl SampleWatch {
    /// A watch that requires `threshold` samples.
    pub const fn new(threshold: u32, exit: ProbeExit) -> Self {
        Self { threshold: threshold as usize, exit, times: VecDeque::new(), judged_from: None }
    }

    /// Records that a sample arrived at `now`.
    pub fn note(&mut self, now: Time) {
        self.judged_from.get_or_insert(now);
        self.times.push_back(now);
        // Only the oldest of the required samples matters, so no more than `threshold` times are kept.
        if self.times.len() > self.threshold {
            self.times.pop_front();
        }
    }

    /// Time at which a window of length `window` has too few samples unless others arrive; `None` for never.
    pub fn runs_short_at(&self, window: Span) -> Option<Time> {
        let judged = self.judged_from.filter(|_| self.threshold > 0)?;
        // The window is short of samples once the oldest required one leaves it; with fewer samples, once it
        // has lasted for a whole length.
        let oldest = self.oldest_required().unwrap_or(Time::ZERO);
        Some(judged.max(oldest) + window + INSTANT)
    }

    /// Whether ProbeRTT may end.
    pub fn suffices(&self, now: Time, window: Span) -> bool {
        self.oldest_required().is_some_and(|oldest| match self.exit {
            ProbeExit::SinceEntry => true,
            ProbeExit::Window => now.since(oldest) <= window,
        })
    }

    /// Removes the samples from before ProbeRTT if its end depends on new ones only.
    pub fn begin_probe(&mut self) {
        if self.exit == ProbeExit::SinceEntry {
            // Samples from before ProbeRTT would end it in the instant in which it begins.
            self.times.clear();
        }
    }

    /// Begins the next window at `now`, when ProbeRTT ends.
    pub fn judge_from(&mut self, now: Time) {
        self.judged_from = Some(now);
    }

    /// Time of the oldest of the last `threshold` samples; `None` while there are fewer.
    fn oldest_required(&self) -> Option<Time> {
        self.times.front().copied().filter(|_| self.times.len() == self.threshold)
    }
}
